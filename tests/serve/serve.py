"""What the tests of `serve` share: TAP, a daemon under test, pages and the samples in them."""
import gzip
import http.client
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE = pathlib.Path(os.environ.get("SCHEDSCOPE_SOURCE", pathlib.Path(__file__).resolve().parent.parent.parent))
SCHEDSCOPE = os.environ.get("SCHEDSCOPE", str(SOURCE / "build/schedscope"))
CAN_MEASURE = os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux")
WAIT_S = 40
ACCEPT = {
    "text": "text/plain;version=0.0.4",
    "openmetrics": "application/openmetrics-text;version=1.0.0",
    "protobuf": "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
}
LABEL = re.compile(r'(\w+)="((?:\\.|[^"\\])*)"')
LABELS = r'\{((?:\w+="(?:\\.|[^"\\])*",?)*)\}'
SAMPLE = re.compile(rf'^(\w+)(?:{LABELS})? (\S+)(?: # {LABELS} (\S+) (\S+))?$')
_cases = []


class Skip(Exception):
    """Why a case cannot run here."""


def case(function):
    _cases.append(function)
    return function


def expect(is_so, why):
    if not is_so:
        raise AssertionError(why)


def main():
    print(f"1..{len(_cases)}")
    failed = 0
    for nr, function in enumerate(_cases, 1):
        name = function.__name__
        try:
            function()
            print(f"ok {nr} - {name}", flush=True)
        except Skip as why:
            print(f"ok {nr} - {name} # SKIP {why}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
            print(f"not ok {nr} - {name}", flush=True)
    sys.exit(1 if failed else 0)


def recording(folder, name="together/together.pftrace.gz"):
    """A recording of the tests, unpacked: its path."""
    path = pathlib.Path(folder) / pathlib.Path(name).name.removesuffix(".gz")
    if not path.exists():
        with gzip.open(SOURCE / "tests/data" / name) as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
    return str(path)


class Daemon:
    """`schedscope serve` on a free port."""

    def __init__(self, *words, listen="127.0.0.1:0", env=None, before=None):
        self.process = subprocess.Popen([SCHEDSCOPE, "serve", "--listen", listen, *words], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}, preexec_fn=before)
        self.said = []
        self.port = self.wait_for_port() if listen != "off" else None

    def read_line(self, wait_s):
        ready, _, _ = select.select([self.process.stderr], [], [], wait_s)
        line = self.process.stderr.readline() if ready else ""
        if line:
            self.said.append(line)
        return line

    def wait_for_port(self):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            line = self.read_line(1)
            found = re.search(r"metrics are at http://.*:(\d+)/metrics", line)
            if found:
                return int(found.group(1))
            if not line and self.process.poll() is not None:
                break
        self.process.kill()
        raise AssertionError(f"no port: {self.said}")

    def ask(self, path="/metrics", method="GET", body=None, **headers):
        """status, headers, body"""
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        conn.request(method, path, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = conn.getresponse()
        result = answer.status, answer.headers, answer.read()
        conn.close()
        return result

    def page(self, form="text"):
        status, _, body = self.ask(Accept=ACCEPT[form])
        expect(status == 200, f"{status}: {body[:200]}")
        return body if form == "protobuf" else body.decode()

    def samples(self, form="text"):
        return samples_of(self.page(form))

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        code = self.process.wait(WAIT_S)
        self.said += self.process.stderr.readlines()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), text)


def samples_of(text):
    """{(name, ((label, value), ...)): value} of a page of text; labels are sorted."""
    out = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = SAMPLE.match(line)
        expect(found, f"not a sample: {line}")
        key = found.group(1), tuple(sorted((name, unescape(text)) for name, text in LABEL.findall(found.group(2) or "")))
        expect(key not in out, f"twice: {line}")
        out[key] = float(found.group(3))
    return out


def value(samples, name, **labels):
    return samples[name, tuple(sorted(labels.items()))]


def buckets(samples, name, **labels):
    """[(le, count)] of a histogram."""
    rows = []
    for (sample, pairs), count in samples.items():
        pairs = dict(pairs)
        le = pairs.pop("le", None)
        if sample == name + "_bucket" and pairs == labels:
            rows.append((float(le), count))
    return sorted(rows)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_for(what, is_so, wait_s=WAIT_S, pause_s=0.1):
    """The first answer of is_so() that is true."""
    end = time.monotonic() + wait_s
    while time.monotonic() < end:
        answer = is_so()
        if answer:
            return answer
        time.sleep(pause_s)
    raise AssertionError(f"{what}: not within {wait_s} s")


def folder():
    return tempfile.TemporaryDirectory(prefix="schedscope-serve-")
