#!/usr/bin/env python3
"""tests/trace/test_tracedat.py: files of trace-cmd (tests/data/tracecmd), as the reader sees them, against 'trace-cmd report' of the
same files: how many events of each name, and of those that become records when, on which CPU and of which tasks each was.

$READ_DUMP is the program that prints what the reader makes of a file. FILE...: those instead of the ones in tests/data.
"""
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

NO_TIMES = ("tsc", "counter", "uptime")  # clocks that are refused
DATA = pathlib.Path(__file__).resolve().parent.parent / "data/tracecmd"
LINE = re.compile(r"^(?: (\S+): )?\s*(.+)-(\d+)\s+\[(\d+)\]\s+(?:\S{4,5}\s+)?(\d+)(?:\.(\d+))?:\s+(\S+?):\s*(.*)")
SWITCH = re.compile(r"^(.*):(\d+) \[(\d+)\] (\S+) ==> (.*):(\d+) \[(\d+)\]")
WAKE = (re.compile(r"pid=(\d+) prio=(\d+) target_cpu=(\d+)"), re.compile(r":(\d+) \[(\d+)\] CPU:(\d+)"))
# Records that hold one event each, by the name of the event. A fork has two events, and one record.
RECORDS = {
    "sched_switch": "SWITCH", "sched_waking": "WAKING", "sched_wakeup": "WAKEUP", "sched_wakeup_new": "WAKEUP_NEW",
    "sched_migrate_task": "MIGRATE", "sched_process_exec": "EXEC", "sched_process_exit": "EXIT", "task_rename": "RENAME",
    "softirq_entry": "SOFTIRQ_ENTRY", "softirq_exit": "SOFTIRQ_EXIT", "irq_handler_entry": "IRQ_ENTRY",
    "irq_handler_exit": "IRQ_EXIT",
}


def said(pid, name, text):
    """Numbers of an event's own, as far as trace-cmd prints them: tids and priorities."""
    if name == "sched_switch":
        found = SWITCH.match(text)
        return (int(found[2]), int(found[6]), int(found[3]), int(found[7]))
    if name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
        found = next(match for match in (pattern.search(text) for pattern in WAKE) if match)
        return (int(found[1]), pid, int(found[3]), int(found[2]))
    return ()


def held(kind, body):
    """The same of a record."""
    if kind == "SWITCH":
        prev, after, _, prev_prio, prio = struct.unpack_from("<IIIhh", body)
        return (prev, after, prev_prio, prio)
    if kind in ("WAKING", "WAKEUP", "WAKEUP_NEW"):
        return struct.unpack_from("<IIIh", body)
    return ()


def report(path):
    """All events, (ns, cpu, name, numbers), and how often it says that some were dropped."""
    with tempfile.NamedTemporaryFile() as plain:
        plain.write(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
        plain.flush()
        out = subprocess.run(["trace-cmd", "report", "-t", "--nodate", "-i", plain.name], capture_output=True, text=True, errors="replace", check=False).stdout
    events, drops = [], 0
    for line in out.splitlines():
        drops += line.endswith("EVENTS DROPPED]")
        found = LINE.match(line)
        if found:
            # Of some clocks it prints nanoseconds without a point.
            ns = int(found[5]) * 10 ** 9 + int(found[6]) if found[6] else int(found[5])
            events.append((ns, int(found[4]), found[7], said(int(found[3]), found[7], found[8])))
    return events, drops


def dump(path):
    """What the reader made of it: the info, and records as (ns, cpu, kind, numbers)."""
    out = subprocess.run([os.environ["READ_DUMP"], path, "records"], capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    records = []
    for line in lines[:-1]:
        kind, cpu, _, ns, body = (line + " ").split(" ")[:5]
        records.append((int(ns), int(cpu), kind, held(kind, bytes.fromhex(body))))
    return json.loads(lines[-1]), records


def check(path):
    """What is wrong, as sentences."""
    theirs, drops = report(path)
    info, records = dump(path)
    counts = collections.Counter(name for _, _, name, _ in theirs)
    wrong = [f"{name}: {info['events'].get(name, 0)} events, trace-cmd has {counts.get(name, 0)}"
             for name in sorted(set(counts) | set(info["events"])) if info["events"].get(name, 0) != counts.get(name, 0)]
    if not theirs:
        wrong.append("trace-cmd reports no events")
    for name, kind in RECORDS.items():
        want = sorted((ns, cpu, numbers) for ns, cpu, event, numbers in theirs if event == name)
        have = sorted((ns, cpu, numbers) for ns, cpu, record, numbers in records if record == kind)
        differing = sum(a != b for a, b in zip(want, have)) + abs(len(want) - len(have))
        if differing:
            wrong.append(f"{name}: {differing} of {len(want)} at another time or CPU, or of other tasks")
    # What was dropped before the first page of a CPU is no loss: its data begins there.
    losses = info["damage"].pop("ftrace_cpu_has_data_loss", 0)
    if losses != drops and not (losses == 0 and info["valid_from_ns"]):
        wrong.append(f"{losses} losses, trace-cmd has {drops}")
    if info["damage"]:
        wrong.append(f"damage: {info['damage']}")
    return wrong, len(theirs)


def main():
    files = [pathlib.Path(arg) for arg in sys.argv[1:]] or sorted([*DATA.glob("*.dat"), *DATA.glob("*.dat.gz")])
    files = [path for path in files if not any(word in path.name for word in NO_TIMES)]
    if not shutil.which("trace-cmd") or not files:
        print("1..0 # SKIP no " + ("recordings" if shutil.which("trace-cmd") else "trace-cmd"))
        return
    print(f"1..{len(files)}")
    for number, path in enumerate(files, 1):
        wrong, nr = check(path)
        name = path.name.partition(".dat")[0].replace("-", "_")
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}_has_the_{nr}_events_that_trace_cmd_reports")
        for line in wrong:
            print(f"# {line}")


main()
