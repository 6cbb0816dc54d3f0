#!/usr/bin/env python3
"""Real recordings by wprof: counts and sums must be those that two independent programs found. Prints TAP."""
import collections
import gzip
import json
import os
import pathlib
import sys
import traceback

from test_dialects import all_ok

DATA = pathlib.Path(os.environ["WPROF_DATA"])
TRUTH = json.loads((DATA / "truth.json").read_text())
IDLE_PID = 2_000_000_000
SOFTIRQS = ["hi", "timer", "net-tx", "net-rx", "block", "irq-poll", "tasklet", "sched", "hrtimer", "rcu"]
# The kernel's letters for what wprof spells out; both sleeps that a signal may or may not end are D.
REASONS = {"interruptible_sleep": 1, "preempted": 0x100, "runnable": 0, "killable_sleep": 2, "idle": 0x80,
           "exit_dead": 0x10, "exit_zombie": 0x20, "uninterruptible_sleep": 2, "stopped": 4, "parked": 0x40}
READS = {}
CASES = []


def case(function):
    for name in TRUTH:
        CASES.append((f"{function.__name__}_{name}", lambda f=function, n=name: f(n, read(n), TRUTH[n])))
    return function


def alone(function):
    CASES.append((function.__name__, function))
    return function


def read(name):
    if not READS:
        READS.update(zip(TRUTH, all_ok([(DATA / f"{n}.pb.gz").read_bytes() for n in TRUTH])))
    return READS[name]


def events(truth, category, kind="INSTANT"):
    return truth["events"].get(f"{category} {kind}", 0)


@case
def every_switch_once(_name, got, truth):
    switches = got.of("SWITCH")
    assert len(switches) == truth["oncpu"]["n"] == events(truth, "ONCPU", "END")
    by_cpu = collections.Counter(row["cpu"] for row in switches)
    # Each CPU has one slice more than switches, the one that ran before; it is open at the end if it ever ran.
    assert all(by_cpu[row["cpu"]] == row["n"] - 1 or row["open"] == 0 for row in truth["by_cpu"])
    assert got.info["producer"] == "wprof"


def run_times(got):
    """{tid, or (idle, cpu): [slices, ns]}, from what the switches say; open slices have no length."""
    times, since = collections.defaultdict(lambda: [0, 0]), {}
    for row in got.of("SWITCH", "LOST"):
        if row["kind"] == "LOST":
            since.pop(row["cpu"], None)  # the running task is unknown
            continue
        cpu, prev = row["cpu"], row["prev"]
        start, tid = since.get(cpu, (0, prev))
        assert tid == prev, "a chain breaks"
        slot = times[prev or ("idle", cpu)]
        slot[0] += 1
        slot[1] += row["ts"] - start
        since[cpu] = (row["ts"], row["next"])
    for cpu, (_, tid) in since.items():
        times[tid or ("idle", cpu)][0] += 1
    return times


@case
def the_run_time_of_each_thread_to_the_nanosecond(_name, got, truth):
    want = collections.defaultdict(lambda: [0, 0])
    for row in truth["threads"]:
        key = ("idle", row["tid"] - 1) if row["pid"] == IDLE_PID else row["tid"]
        want[key][0] += row["n"]
        want[key][1] += row["dur"]
    times = run_times(got)
    assert {key: tuple(value) for key, value in times.items()} == {key: tuple(value) for key, value in want.items()}
    assert sum(value[1] for value in times.values()) == truth["oncpu"]["dur"]


@case
def every_wake_once(_name, got, truth):
    assert len(got.of("WAKEUP_NEW")) == events(truth, "WAKER_NEW")
    lost = got.damage().get("flow_step_without_start", 0)
    assert len(got.of("WAKING")) + lost == events(truth, "WAKER")
    # Only wakes of threads that never ran here may be nameless.
    assert lost <= truth["flows"].get("WAKER INSTANT x1", 0)


@case
def why_each_one_stopped(name, got, truth):
    if name.startswith("old"):
        return  # knew two reasons only
    want = collections.Counter()
    for row in truth["reasons"]:
        if row["reason"]:
            want[REASONS[row["reason"]]] += row["n"]
    states = collections.Counter(row["state"] for row in got.of("SWITCH") if row["prev"])
    assert states == want, (states, want)


def spans(got, begin, end, key):
    """(number, ns) by key, of what begins and ends on a CPU like brackets."""
    found, stacks = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list)
    for row in got.of(begin, end):
        if row["kind"] == begin:
            stacks[row["cpu"], key(row)].append(row["ts"])
        else:
            slot = found[key(row)]
            slot[0] += 1
            slot[1] += row["ts"] - stacks[row["cpu"], key(row)].pop()
    return {key: tuple(value) for key, value in found.items()}


def truth_spans(truth, category):
    return {name.split(" | ")[1]: (span["n"], span["dur"])
            for name, span in truth["spans"].items() if name.startswith(category + " | ")}


@case
def interrupts_and_work(_name, got, truth):
    irqs = spans(got, "IRQ_ENTRY", "IRQ_EXIT", lambda row: "HARDIRQ")
    assert irqs == truth_spans(truth, "HARDIRQ")
    softirqs = spans(got, "SOFTIRQ_ENTRY", "SOFTIRQ_EXIT", lambda row: "SOFTIRQ:" + SOFTIRQS[row["vector"]])
    assert softirqs == truth_spans(truth, "SOFTIRQ")
    ipis = spans(got, "IPI_ENTRY", "IPI_EXIT", lambda row: "IPI:" + row["reason"])
    assert ipis == truth_spans(truth, "IPI")
    work = spans(got, "WORK_START", "WORK_END", lambda row: row["tid"])
    want = truth_spans(truth, "WQ").values()
    assert sum(n for n, _ in work.values()) == sum(n for n, _ in want)
    assert sum(ns for _, ns in work.values()) == sum(ns for _, ns in want)
    assert len(got.of("IPI_SEND")) == events(truth, "IPI_SEND")


@case
def waits_in_queues(_name, got, truth):
    found = collections.defaultdict(lambda: [0, 0])
    for row in got.of("DSQ_LEAVE"):
        found[row["dsq"]][0] += 1
        found[row["dsq"]][1] += row["ts"] - row["start"]
    want = collections.defaultdict(lambda: [0, 0])
    for name, (n, ns) in truth_spans(truth, "SCX_DSQ").items():
        slot = want[int(name.rsplit("_", 1)[1], 16)]
        slot[0] += n
        slot[1] += ns
    assert found == want


@case
def layers_and_queues_of_runs(_name, got, truth):
    def reported(key):
        return {row["v"]: row["n"] for row in truth["scx"] if row["category"] == "ONCPU" and row["key"] == key}

    layers, queues = reported("debug.scx_layer_id"), reported("debug.scx_dsq_id")
    runs = got.of("SCX_RUN")
    unknown = sum(layers.values()) - len(runs)  # 0 with 0
    assert 0 <= unknown <= min(layers.get(0, 0), queues.get(0, 0))
    by_layer = collections.Counter(row["layer"] for row in runs)
    assert by_layer == collections.Counter({k: n for k, n in {**layers, 0: layers.get(0, 0) - unknown}.items() if n > 0})
    low = collections.Counter(row["dsq"] & 0xffffffff for row in runs)
    assert low == collections.Counter({k: n for k, n in {**queues, 0: queues.get(0, 0) - unknown}.items() if n > 0})


@case
def lives(_name, got, truth):
    for kind, category in (("FORK", "FORKING"), ("EXEC", "EXEC"), ("EXIT", "EXIT"), ("FREE", "FREE"), ("RENAME", "RENAME")):
        assert len(got.of(kind)) == events(truth, category), kind


@case
def stacks_where_they_were_taken(name, got, truth):
    samples, want = got.info["samples"], truth["stacks"]
    assert samples["cpu"] == want.get("TIMER INSTANT", 0) + want.get("PMU INSTANT", 0)
    assert samples["offcpu"] == want.get("ONCPU END", 0)
    assert samples["waker"] == want.get("WAKER INSTANT", 0) + want.get("WAKER_NEW INSTANT", 0)
    has_table = bool(want) and name != "guest-d2-overflow"
    assert (samples["frames"] > 0) == has_table
    assert bool(got.damage().get("callstack_unknown", 0)) == (bool(want) and not has_table)


@case
def categories_are_counted(_name, got, truth):
    want = collections.Counter()
    for key, n in truth["events"].items():
        want[key.rsplit(" ", 1)[0]] += n
    want[""] = want.pop("(none)")
    assert {key: n for key, n in got.info["categories"].items() if n} == want


@alone
def with_and_without_ftrace_it_is_the_same_recording():
    a, b = read("host-a"), read("host-b")
    assert a.switches() == b.switches()
    assert len(a.switches()) == 13_207
    assert (len(b.of("WAKING")), len(b.of("WAKEUP_NEW"))) == (8_166, 326)
    assert set(a.wakes()) <= set(b.wakes()) and len(a.wakes()) >= 8_166 + 326 - 1
    for kind, number in (("IRQ_ENTRY", 4_827), ("SOFTIRQ_ENTRY", 1_047)):
        assert len(a.of(kind)) == len(b.of(kind)) == number


@alone
def counters_of_slices():
    got = read("guest-d3-pmu")
    assert len(got.info["pmu"]) >= 3 and {len(row["values"]) for row in got.of("PMU")} == {len(got.info["pmu"]) - 1}
    # The same sums, by a decoder of its own.
    sums = collections.Counter()
    for key, value in pmu_of_file((DATA / "guest-d3-pmu.pb.gz")):
        sums[key] += value
    for i, name in enumerate(got.info["pmu"][1:]):
        assert sum(row["values"][i] for row in got.of("PMU")) == round(sums["pmu:" + name]), name


def pmu_of_file(path):
    """(key, value) of the counters on ends of slices."""
    from decode import fields, one
    import struct
    names, oncpu = {}, None
    for _, packet in fields(gzip.decompress(path.read_bytes())):
        head = one(packet)
        for number, entry in fields(head.get(12, b"")):
            entry = one(entry)
            if number == 3:
                names[entry[1]] = entry[2].decode("utf-8", "replace")
            elif number == 1 and entry[2] == b"ONCPU":
                oncpu = entry[1]
        event = list(fields(head.get(11, b"")))
        if dict(event).get(9) != 2 or dict(event).get(3) != oncpu:
            continue
        for number, value in event:
            annotation = one(value) if number == 4 else {}
            name = names.get(annotation.get(1), "")
            if name.startswith("pmu:"):
                yield name, struct.unpack("<d", annotation[5])[0]


def main():
    print(f"1..{len(CASES)}")
    failed = 0
    for number, (name, function) in enumerate(CASES, 1):
        try:
            function()
            print(f"ok {number} {name}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} {name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line[:600]}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
