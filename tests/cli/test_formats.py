#!/usr/bin/env python3
"""Every command that takes a FILE, and the MCP server, on a recording of each format: what they say agrees. Prints TAP."""
import fcntl
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data"
SCHEDSCOPE = os.environ["SCHEDSCOPE"]
sys.path.insert(0, str(DATA.parent / "mcp"))
from trace_client import Client  # noqa: E402  (it is not in this folder)

FORMATS = {
    "perf.data": "perf/arm64-6.18-sched.data.gz",
    "perf.data of a pipe, zstd": "perf/host-pipe.data.zst",
    "perf.data of the other byte order": "perf/swapped-host-sched.data.gz",
    "perf.data, packed records": "perf/guest-6.1-zstd.data",
    "perf script": "ftrace/perf-script-host-sched.txt.gz",
    "trace.dat 6": "tracecmd/arm64-6.12-v6.dat.gz",
    "trace.dat 7": "tracecmd/arm64-7.2-v7-zstd.dat",
    "trace.dat 7, several buffers": "tracecmd/guest-7.2-v7-buffers.dat",
    "text of tracefs": "ftrace/arm64-6.18-mono.txt.gz",
    "text of trace-cmd": "ftrace/report-guest-7.2-v7-zstd.txt.gz",
    "systrace": "ftrace/host-systrace.html.gz",
    "Perfetto": "perfetto/e-guest-eevdf.pftrace.gz",
    "our own": "together/together.pftrace.gz",
}
# What a recording lacks, and the command that records it: of the tool at hand, where that can.
ABSENT = {
    "perf/host-switches.data.gz": "wakeups (perf record -a -e 'sched:sched_waking'), migrations (perf record -a -e 'sched:sched_migrate_task'), "
                                  "interrupts (perf record -a -e 'irq:*'), throttling, steal (schedscope record)",
    "tracecmd/guest-6.1-v6.dat.gz": "interrupts (trace-cmd record -e irq), throttling, steal (schedscope record)",
    "ftrace/arm64-6.18-mono.txt.gz": "throttling, steal (schedscope record)",
    "together/together.pftrace.gz": None,
}
SECONDS = 60


def run(*words, **options):
    done = subprocess.run([SCHEDSCOPE, *map(str, words)], capture_output=True, timeout=SECONDS, check=False, **options)
    assert done.returncode == 0 and b"Sanitizer" not in done.stderr, (words, done.returncode, done.stderr.decode()[-500:])
    return done.stdout


def ask(*words, **options):
    return json.loads(run(*words, "--json", **options))


def switches(path):
    return ask("query", path, "-e", "sched_switch", "--limit", "1")["total_matched"]


def the_screen_plays(path):
    """`top FILE`, on a terminal: it plays the recording, and ends when it is told to."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(SCHEDSCOPE, [SCHEDSCOPE, "top", str(path), "-r", "100"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
    shown, end, is_told = b"", time.monotonic() + SECONDS, False
    while time.monotonic() < end:
        try:
            ready, _, _ = select.select([fd], [], [], 0.2)
            shown += os.read(fd, 65536) if ready else b""
        except OSError:  # it has ended
            break
        if not is_told and (b"plays" in shown or b"paused" in shown):
            is_told = True
            os.write(fd, b"q")
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    assert is_told and status == 0, (is_told, status, shown[-300:])


def every_command_reads(path):
    summary = ask("analyze", path)
    assert summary["total_events"] > 100 and summary["num_cpus"] >= 1, summary
    assert switches(path) == summary["capabilities"]["event_counts"]["sched_switch"] > 50
    with open(path, "rb") as stream:  # where standard input is a file; test_convert.py has pipes
        assert ask("analyze", "-", stdin=stream)["total_events"] == summary["total_events"]
    assert ask("query", path, "--sql", "select count(*) as nr from sched_slice")["rows"][0]["nr"] > 50
    explained = ask("explain", path)
    assert explained["waits"] and explained["waits"][0]["sentences"], explained
    assert "All tasks together: no change" in ask("diff", path, path)["summary"]
    assert json.loads(run("export", path, "process_runtime"))
    assert len(json.loads(run("export", "--chrome", path))["traceEvents"]) > 50


def the_server_loads(path):
    summary = ask("analyze", path)
    with tempfile.TemporaryDirectory() as folder, Client("--allow-path", DATA, "--allow-path", folder) as c:
        got = c.call("load_perfetto_trace", file_path=str(path), trace_id="t")
        assert got["total_events"] == summary["total_events"] and got["num_cpus"] == summary["num_cpus"], (got, summary)
        assert "findings" in c.call("summary", trace_id="t")
        page = pathlib.Path(folder) / "report.md"
        c.call("report", trace_id="t", output_path=str(page))
        assert page.stat().st_size > 500
        assert c.call("explain", trace_id="t")["waits"]


def what_is_absent_is_told_with_its_command(path):
    assert ask("analyze", path)["not_in_file"] == ABSENT[str(path.relative_to(DATA))], ask("analyze", path)["not_in_file"]


def main():
    cases = [(function, name, DATA / path) for name, path in FORMATS.items()
             for function in (every_command_reads, the_screen_plays, the_server_loads)]
    cases += [(what_is_absent_is_told_with_its_command, path, DATA / path) for path in ABSENT]
    failed = 0
    print(f"1..{len(cases)}")
    for number, (function, name, path) in enumerate(cases, 1):
        try:
            function(path)
            print(f"ok {number} - {function.__name__}: {name}", flush=True)
        except Exception:  # whatever goes wrong is this case's failure
            failed += 1
            print(f"not ok {number} - {function.__name__}: {name}")
            print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()), flush=True)
    return failed != 0


sys.exit(main())
