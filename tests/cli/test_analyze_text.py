#!/usr/bin/env python3
"""Answers for people: the text of analyses on a terminal. Prints TAP.

The most used ones are held to files of tests/golden, byte for byte; UPDATE_GOLDEN=1 writes these. All analyses of all
recordings in tests/data are held to what no text may have.
"""
import concurrent.futures
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
SOURCE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests")]
from tap import run_cases  # noqa: E402

DATA = SOURCE / "tests" / "data"
GOLDEN = SOURCE / "tests" / "golden"
TOGETHER = "together/together.pftrace.gz"
MOST_USED = ["summary", "bottlenecks", "blame", "wakeup_latency", "task_states", "cpu_utilization", "process_runtime", "preemptions",
             "runqueue_depth", "migration_patterns", "pressure", "wasted_cores", "explain"]
OF_CALLS = ["sleeps", "locks"]  # take a recording with system calls
RECORDINGS = ("*.pftrace.gz", "*.pb.gz", "*.data*", "*.dat", "*.dat.gz", "*.txt.gz", "*.html.gz", "*.tar.xz")
CASES = []


def case(function):
    CASES.append(function)
    return function


def on_terminal(columns, rows, *args):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1"}
    with subprocess.Popen([SCHEDSCOPE, *map(str, args)], stdout=slave, stderr=subprocess.PIPE, env=env, cwd=DATA) as child:
        os.close(slave)
        data = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            data += more
        errors = child.stderr.read()
    os.close(master)
    return child.returncode, data.decode().replace("\r\n", "\n"), errors.decode()


def compare(name, text):
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, f"{name} differs; this is what came out:\n{text}"


@case
def the_most_used_answers_are_as_they_were():
    for names, file in ((MOST_USED, TOGETHER), (OF_CALLS, "perf/host-syscalls.data.gz")):
        for name in names:
            code, text, errors = on_terminal(80, 24, "analyze", file, name)
            assert code == 0 and not errors, (name, errors)
            compare(f"analyze-{name}.txt", text)


@case
def what_lost_nothing_may_sleep_and_the_way_to_see_it_is_shown():
    nothing = re.compile(r"no task lost much time; waits for a CPU: [\d.]+[mu]s in all")
    for file, name, command in ((TOGETHER, "ksoftirqd/1", "next: schedscope record --events default,sleep  # what do tasks sleep for?"),
                                ("perf/host-syscalls.data.gz", "rcu_preempt", "next: schedscope analyze perf/host-syscalls.data.gz sleeps")):
        code, text, errors = on_terminal(80, 24, "analyze", file, "-c", name)
        lines = text.splitlines()
        assert code == 0 and not errors and nothing.fullmatch(lines[0]) and lines[1] == command and len(lines) < 24, (errors, text)


@case
def a_comparison_begins_with_its_verdict():
    code, text, errors = on_terminal(80, 24, "diff", "perfetto/e-guest-eevdf.pftrace.gz", "perfetto/e-guest-scx-vtime.pftrace.gz")
    assert code == 0 and not errors, errors
    compare("diff.txt", text)


def recordings():
    files = {path for pattern in RECORDINGS for path in DATA.rglob(pattern) if not path.name.endswith(".json")}
    return sorted(path.relative_to(DATA) for path in files)


def keys_of(value):
    """All names of members with an underscore, but those that are names of events or analyses."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    own = {key for key in value if "_" in key}
    return own.union(*(keys_of(member) for member in value.values()))


def texts_of(value):
    """All texts, in which such names may be by chance: of events, analyses, functions, tasks."""
    if isinstance(value, str):
        return {value}
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set().union(*map(texts_of, members)) if members else set()


def faults(file):
    """What people should not see of this recording: (line, why)."""
    code, answers, errors = on_terminal(80, 24, "analyze", file, "--all")
    if code:
        assert code == 1 and len(errors.splitlines()) == 1, (file, errors)  # not a recording, or one without a clock
        return []
    every = json.loads(subprocess.run([SCHEDSCOPE, "analyze", file, "--all", "--json"], capture_output=True, check=True, cwd=DATA).stdout)
    data = {text for name, one in every.items() for key, member in one.items() if key != "note" for text in texts_of(member)}
    names = keys_of(every) - set(every) - set(every.get("summary", {}).get("capabilities", {}).get("event_counts", {}))
    found = []
    for line in answers.splitlines():
        if line.startswith("== "):
            continue
        words = set(re.findall(r"[a-z0-9]+(?:_[a-z0-9]+)+", line))
        if len(line) > 80:
            found.append((line, "wider than the terminal"))
        if re.search(r"(?<![0-9a-fx.])[0-9]{10,}", line) and not any(re.search("[0-9]{10}", text) and text in line for text in data):
            found.append((line, "a number of ten digits"))
        if "analysis type" in line or (words & names and not any(word in text for word in words & names for text in data)):
            found.append((line, "a key of JSON"))
    return found


@case
def no_analysis_of_any_recording_shows_stamps_keys_or_long_lines():
    files = recordings()
    assert len(files) > 60, files
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = {str(file): some for file, some in zip(files, pool.map(faults, files)) if some}
    assert not found, "\n".join(f"{file}: {why}: {line}" for file, some in found.items() for line, why in some[:5])


if __name__ == "__main__":
    sys.exit(run_cases(CASES))
