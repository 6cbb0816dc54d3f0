#!/usr/bin/env python3
"""export --chrome: valid JSON whose slices, flows and counters are those of the raw events. Prints TAP."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("", "trace")]
import scenarios  # noqa: E402
from dialects import DIALECTS  # noqa: E402
from tap import run_cases  # noqa: E402

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data"
FILES = [DATA / "perfetto/e-guest-eevdf.pftrace.gz", DATA / "wprof/guest-d2-layers.pb.gz"]
CPUS, INTERRUPTS, COUNTERS = 4194305, 4194306, 4194307
CASES = []


def case(function):
    CASES.append(function)
    return function


def run(*args):
    result = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, timeout=120)
    assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, result.stderr.decode()
    return result


def chrome(path, *args):
    result = run("export", "--chrome", path, *args)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return json.loads(result.stdout)


def query(path, *args):
    lines = run("query", path, "-a", "--format", "jsonl", *args).stdout.decode().splitlines()
    return [{**event, **event.get("fields", {})} for event in map(json.loads, lines)]


def ns(us):
    return round(us * 1000)


def of(trace, phase, pid=None):
    return [e for e in trace["traceEvents"] if e["ph"] == phase and pid in (None, e["pid"])]


@case
def slices_of_cpus_are_the_switches():
    for path in FILES:
        trace = chrome(path)
        start = int(trace["otherData"]["start_ns"])
        on, runs = {}, set()
        for e in query(path, "-e", "sched_switch"):
            cpu, prev = e["cpu"], on.pop(e["cpu"], None)
            if prev and prev[0] == e["prev_pid"]:
                runs.add((cpu, prev[0], prev[1] - start, e["timestamp"] - prev[1]))
            if e["next_pid"]:
                on[cpu] = (e["next_pid"], e["timestamp"])
        shown = {(e["tid"], e["args"]["tid"], ns(e["ts"]), ns(e["dur"])) for e in of(trace, "X", CPUS)}
        assert len(runs) > 1000 and runs <= shown, (path.name, len(runs - shown), sorted(runs - shown)[:3])
        # What is more: those that begin before the first switch, or end with the recording, or after a loss.
        assert len(shown - runs) < 0.01 * len(runs) + 20, (path.name, len(shown - runs))


@case
def states_of_a_thread_follow_each_other():
    for path in FILES:
        trace = chrome(path)
        tracks, running = collections.defaultdict(list), collections.Counter()
        for e in of(trace, "X"):
            if e["pid"] < CPUS:
                tracks[e["tid"]].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"]))
                running[e["tid"]] += ns(e["dur"]) if e["name"] == "Running" else 0
        for states in tracks.values():
            states.sort()
            assert all(a[1] <= b[0] for a, b in zip(states, states[1:])), "states overlap"
        assert {"Running", "Runnable", "Sleeping"} <= {s[2] for states in tracks.values() for s in states}
        by_cpu = collections.Counter()
        for e in of(trace, "X", CPUS):
            by_cpu[e["args"]["tid"]] += ns(e["dur"])
        assert running == by_cpu, path.name


@case
def flows_are_wakeups_by_tasks():
    path = FILES[0]
    trace = chrome(path)
    start = int(trace["otherData"]["start_ns"])
    begins, ends = {e["id"]: e for e in of(trace, "s")}, {e["id"]: e for e in of(trace, "f")}
    assert len(begins) > 100 and set(begins) == set(ends)
    wakings = {(e["timestamp"] - start, e["waker_pid"], e["pid"]) for e in query(path, "-e", "sched_waking")}
    wakings |= {(e["timestamp"] - start, e["waker_pid"], e["pid"]) for e in query(path, "-e", "sched_wakeup_new")}
    runs = {(ns(e["ts"]), e["tid"]) for e in of(trace, "X") if e["name"] == "Running"}
    for nr, begin in begins.items():
        assert (ns(begin["ts"]), begin["tid"], ends[nr]["tid"]) in wakings, begin
        assert (ns(ends[nr]["ts"]), ends[nr]["tid"]) in runs and ends[nr]["bp"] == "e"


@case
def interrupts_and_counters_are_counted():
    path = FILES[0]
    trace = chrome(path)
    counts = json.loads(run("analyze", path, "--json").stdout)["capabilities"]["event_counts"]
    shown = collections.Counter(e["name"].split(" ")[0] for e in of(trace, "X", INTERRUPTS))
    assert 0 <= counts["softirq_exit"] - shown["softirq"] <= 4, (shown, counts)
    assert 0 <= counts["irq_handler_exit"] - shown["irq"] <= 4, (shown, counts)
    assert len(of(trace, "C")) == counts.get("cpu_idle", 0) + counts.get("cpu_frequency", 0)


@case
def names_are_there_and_escaped():
    for path in FILES:
        trace = chrome(path)
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in of(trace, "M") if e["name"] == "thread_name"}
        used = {(e["pid"], e["tid"]) for e in of(trace, "X")}
        assert names[(CPUS, 0)] == "CPU 0" and len(used - set(names)) < 0.2 * len(used)
        assert any(e["name"] == "process_name" and e["pid"] < CPUS for e in of(trace, "M"))
    odd = "".join(e["args"]["name"] for e in of(chrome(FILES[1]), "M"))
    assert "\t" in odd and "\u20ac" in odd and "\ufffd" in odd, "tab, euro, bytes that are not UTF-8"


@case
def a_cut_and_a_file():
    whole, part = chrome(FILES[0]), chrome(FILES[0], "--from", "100ms", "--to", "200ms")
    for e in of(part, "X", CPUS):
        assert ns(e["ts"]) < 200_000_000 and ns(e["ts"]) + ns(e["dur"]) > 100_000_000
    inside = [e for e in of(whole, "X", CPUS)
              if ns(e["ts"]) < 200_000_000 and ns(e["ts"]) + ns(e["dur"]) > 100_000_000]
    assert len(inside) == len(of(part, "X", CPUS)) > 10
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        result = run("export", "--chrome", FILES[0], "-o", out)
        assert result.returncode == 0 and json.loads(out.read_text()) == whole
        empty = pathlib.Path(folder) / "empty.pftrace"
        nothing = scenarios.three()
        empty.write_bytes(DIALECTS["traced_verbose"].encode(nothing))
        assert chrome(empty)["traceEvents"]


@case
def what_has_no_place_is_refused():
    for words in (("--cpu", 1), ("--comm", "x"), ("--per-process",), ("-n", 3)):
        result = run("export", "--chrome", FILES[0], *words)
        assert result.returncode == 2 and not result.stdout and b"--chrome" in result.stderr, words
    assert run("export", "--chrome", FILES[0], "wakeup_latency").returncode == 2
    assert run("export", "--chrome", FILES[0], "-o", "/dev/full").returncode == 1


sys.exit(run_cases(CASES))
