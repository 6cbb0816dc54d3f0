#!/usr/bin/env python3
"""Recordings of other programs, end to end: the tables and analyses hold the numbers that others found. Prints TAP.

tests/data/perfetto/*.truth.json and tests/data/wprof/truth*.json hold what Perfetto's trace_processor and an
independent decoder answer. Where our numbers differ on purpose, the difference is computed here from the raw
events and must be exact; docs/recordings.md says why.
"""
import bisect
import collections
import concurrent.futures
import gzip
import json
import math
import pathlib
import sys
import tempfile
import traceback

import tp_model
from decode import fields
from recordings import DATA, PERFETTO, TABLES, Recording, recording, states_of
from wire import num, text

WPROF = json.loads((DATA / "wprof/truth-tp.json").read_text())
WPROF_RAW = json.loads((DATA / "wprof/truth.json").read_text())
SOFTIRQS = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
IRQ, SOFTIRQ, IPI, WORK = range(4)
WOKEN, NEW, PREEMPTED = range(3)
CPU_IDLE_STATE = 1
GAP_START = 0
NO_LAYER = 0xffffffff
CASES = []


def of_perfetto(function):
    for name in PERFETTO:
        CASES.append((f"{function.__name__}: {name}", lambda f=function, n=name: f(recording(n), perfetto_truth(n))))
    return function


def of_wprof(function):
    for name in WPROF:
        CASES.append((f"{function.__name__}: {name}", lambda f=function, n=name: f(n, recording(n), WPROF[n])))
    return function


def of_all(function):
    for name in [*PERFETTO, *WPROF]:
        CASES.append((f"{function.__name__}: {name}", lambda f=function, n=name: f(recording(n))))
    return function


def alone(function):
    CASES.append((function.__name__, function))
    return function


def perfetto_truth(name):
    return json.loads((DATA / "perfetto" / f"{name}.pftrace.truth.json").read_text())


def same(got, want, what=""):
    assert got == want, f"{what}: got {got}, want {want}"


def add(counter, key, number):
    slot = counter[key]
    slot[0] += 1
    slot[1] += number


def sums():
    return collections.defaultdict(lambda: [0, 0])


# ---- Perfetto's recorder ----------------------------------------------------------------------------------------


def first_rows(rec):
    """Of each CPU what began with its first switch: we know who came on, trace_processor makes no slice of it."""
    first = {}
    for row in [*rec.slice, *rec.idle]:
        if row.cpu not in first or row.start < first[row.cpu].start:
            first[row.cpu] = row
    return set(map(id, first.values()))


def is_open_slice(row):
    return row.how == 3


UNFINISHED = {"e-guest-scx-stall": "the recorder's last flush failed",
              "k-host-killed": "the recorder did not finish the file"}


@of_perfetto
def cpus_that_end_early_are_unknown_from_there_on(rec, _truth):
    """A recorder that failed to flush, or was killed, says so; each CPU is known up to its last event and no further."""
    name, last = rec.path.name.split(".")[0], {}
    for kind, cpu, _, ts, _ in tp_model.parse(rec.records()):
        if kind not in ("TASK_INFO", "LOST", "STRING"):
            last[cpu] = max(ts, last.get(cpu, 0))
    end, summary = rec.extent[0].end, rec.analyze("summary")
    early = {cpu: ts for cpu, ts in last.items() if ts < end} if name in UNFINISHED else {}
    assert (summary["incomplete"] or "").startswith(UNFINISHED.get(name, "")), summary["incomplete"]
    assert bool(summary["incomplete"]) == (name in UNFINISHED)
    ends = {row["cpu_id"]: row["end_timestamp"] for row in summary["cpus_that_end_early"]}
    same(sorted(ends), sorted(early), "CPUs")
    for cpu, ts in ends.items():
        assert early[cpu] <= ts < end  # events of kinds that we do not read come behind
        assert any(g.task is None and (g.cpu, g.start, g.end) == (cpu, ts + 1, end) for g in rec.gap), cpu
        assert not [row for row in (*rec.slice, *rec.idle) if row.cpu == cpu and row.end > ts + 1], cpu
    assert not early or not [row for row in rec.wait if row.is_open], "whether they still waited is not known"


@of_perfetto
def slices_of_cpus(rec, truth):
    skip = first_rows(rec)
    want = {row["cpu"]: (row["busy_slices"], row["busy_ns_closed"], row["idle_slices"], row["idle_ns_closed"])
            for row in truth["tp"]["per_cpu"]}
    busy, idle = sums(), sums()
    for row in rec.slice:
        if id(row) not in skip:
            add(busy, row.cpu, 0 if is_open_slice(row) else row.end - row.start)
    for row in rec.idle:
        if id(row) not in skip:
            add(idle, row.cpu, 0 if row.is_open else row.end - row.start)
    same({cpu: (*busy[cpu], *idle[cpu]) for cpu in want}, want)
    # Nothing else is left out: one row per switch, all CPUs, and the open ones are those of the truth.
    same(len(rec.slice) + len(rec.idle), truth["wire"]["events_total_incl_compact"]["sched_switch"], "rows")
    still = {row.cpu: (row.task[1], row.start) for row in rec.slice if is_open_slice(row)}
    still.update({row.cpu: (0, row.start) for row in rec.idle if row.is_open})
    reported = {row["cpu"]: (row["last_open_slice_tid"], row["last_open_slice_ts"]) for row in truth["tp"]["per_cpu"]}
    same(still, reported, "open")


@of_perfetto
def runtime_of_every_thread(rec, truth):
    skip = first_rows(rec)
    got, extra = sums(), sums()
    for row in rec.slice:
        ns = row.end - row.start
        if id(row) not in skip:
            add(got, row.task[1], 0 if is_open_slice(row) else ns)
        if id(row) in skip or is_open_slice(row):
            add(extra, row.task[1], ns)
            extra[row.task[1]][0] -= id(row) not in skip
    want = {tid: [n, ns] for tid, _, ns, n, _ in truth["tp"]["all_threads_runtime"]}
    same(got, want)
    # What the analysis says is that, and what the file has besides: first slices, and open ones up to the end.
    shown = sums()
    for row in rec.analyze("process_runtime")["processes"]:
        shown[row["pid"]][0] += row["num_switches"]
        shown[row["pid"]][1] += row["total_runtime_ns"]
    both = {tid: [got[tid][i] + extra[tid][i] for i in (0, 1)] for tid in {*got, *extra}}
    same(shown, both, "analysis")


@of_perfetto
def names_of_threads(rec, truth):
    """The last name. trace_processor keeps that of the process tree, in which the kernel escapes backslashes."""
    got = collections.defaultdict(set)
    for row in rec.analyze("process_runtime")["processes"]:
        got[row["pid"]].add(plain_name(row["comm"]))
    renamed = {int.from_bytes(bytes.fromhex(line.split(" ")[4][:8]), "little") for line in rec.records()
               if line.startswith("RENAME ")}
    for tid, _, _, _, name in truth["tp"]["all_threads_runtime"]:
        want = plain_name(bytes.fromhex(name).decode("utf-8", "replace").replace("\\\\", "\\"))
        assert want in got[tid] or tid in renamed, (tid, want, got[tid])


def plain_name(name):
    """What is not UTF-8 is replaced, by one sign or by several."""
    return "".join(c for c in name if c != "\ufffd" and not 0xdc80 <= ord(c) <= 0xdcff)


@of_perfetto
def why_slices_end(rec, truth):
    skip = first_rows(rec)
    got = collections.Counter(tp_model.letter(row.state) if not is_open_slice(row) else "(null)"
                              for row in rec.slice if id(row) not in skip)
    got.update("R" if not row.is_open else "(null)" for row in rec.idle if id(row) not in skip)
    same(got, truth["tp"]["end_states"])
    prios = collections.Counter(str(row.prio) for row in rec.slice if id(row) not in skip)
    want = collections.Counter(truth["tp"]["priorities"])
    for row in truth["tp"]["per_cpu"]:
        want["120"] -= row["idle_slices"]
    same(prios, +want, "priorities")


@of_perfetto
def their_rules_give_their_numbers(rec, truth):
    """From the records of our reader, by the rules of the README: whatever differs below does not come from reading."""
    states = states_of(rec)
    got = collections.defaultdict(lambda: [0, 0, 0])
    for row in states.rows:
        slot = got[row.state]
        slot[0] += 1
        slot[1] += row.end is None
        slot[2] += row.end - row.start if row.end is not None else 0
    same(got, {row["state"]: [row["rows"], row["open_rows"], row["sum_ns_closed"]] for row in truth["tp"]["thread_state"]})
    same(states.spurious, truth["tp"]["spurious_sched_wakeup"]["rows"], "spurious")


def end_key(row):
    return row.task[1], row.end


def between(events, since, until):
    return events[bisect.bisect_left(events, (since, "")):bisect.bisect_right(events, (until, "~"))]


def hidden_run(rec, tid, since, until):
    """Two wakings or wakeups, or an exit, with no switch of the task between: it ran, and the kernel did not report it."""
    counts = collections.Counter(kind for _, kind in between(rec.wakes(tid), since, until - 1))
    return counts["OUT"] == counts["IN"] == 0 and (counts["WAKING"] > 1 or counts["WAKEUP"] > 1 or counts["EXIT"] > 0)


def early_waking(rec, wait):
    """The time of a waking that came while the task was on a CPU, for the sleep that follows; None if there is none."""
    events = rec.wakes(wait.task[1])
    i = bisect.bisect_left(events, (wait.waking, "OUT"))
    if not wait.waking or i == len(events) or events[i] != (wait.waking, "OUT"):
        return None
    found = None
    while i and events[i - 1][1] != "IN":
        i -= 1
        if events[i][1] == "WAKEUP":
            return found
        if events[i][1] == "WAKING":
            found = events[i][0]
    return found


def compare_waits(rec):
    """Each of our waits beside the row of theirs that ends with the same switch-in. (same, by reason, only theirs)"""
    states = states_of(rec)
    ends = {(row.tid, row.end): row for row in states.rows if row.end is not None}
    theirs = {key: row for key, row in ends.items() if row.state in ("R", "R+") and row.next == "Running"}
    firsts = {}
    for kind, cpu, _, ts, words in tp_model.parse(rec.records()):
        if kind == "SWITCH":
            firsts.setdefault(cpu, (words[1], ts))
    equal, reasons = [], collections.defaultdict(list)
    for row in rec.wait:
        if row.is_open:
            continue
        their = theirs.pop(end_key(row), None)
        start = row.waking or row.wakeup
        if their and their.start == start and (their.waker is None) == (row.cause == PREEMPTED):
            equal.append((row, their))
        else:
            reasons[why_not(rec, states, firsts, ends, row, their)].append((row, their))
    return equal, reasons, theirs


def why_not(rec, states, firsts, ends, row, their):
    tid, start = row.task[1], row.waking or row.wakeup
    if row.cause == NEW and their and their.irq == "new":
        assert their.start <= row.wakeup
        return "new: ours begins with the wakeup, theirs with the fork"
    if row.cause == PREEMPTED and their and their.after == "R+":
        before = ends[tid, their.start]
        assert before.state == "R+" and before.start == row.wakeup, (row, their)
        return "preempted, and woken meanwhile: theirs is cut in two"
    if their and their.start < start and hidden_run(rec, tid, their.start, row.end):
        return "it must have run meanwhile: theirs spans that"
    if their:
        return f"unexplained: {row} {their}"
    if (row.waking, tid) in states.skipped_wakings:
        return "the waking came before the first switch of its CPU"
    if firsts.get(row.cpu) == (tid, row.end):
        return "it ended with the first switch of its CPU"
    if not row.waking:
        return "only the wakeup is known"
    if early_waking(rec, row):
        return "woken on its way to sleep: theirs ignores the waking"
    return f"unexplained: {row}"


@of_perfetto
def every_wait_is_theirs_or_has_a_reason(rec, truth):
    equal, reasons, only_theirs = compare_waits(rec)
    strange = [key for key in reasons if key.startswith("unexplained")]
    assert not strange, strange[:5]
    for (tid, _), row in only_theirs.items():
        assert hidden_run(rec, tid, row.start, row.end), f"only theirs: {row}"
    breaks = rec.breaks[0]
    cut = [their for _, their in reasons["it must have run meanwhile: theirs spans that"]] + [*only_theirs.values()]
    # Of a task that queued on a CPU whose records had ended, nothing is known since it began to wait.
    ends = [row["end_timestamp"] for row in rec.analyze("summary")["cpus_that_end_early"]]
    unknown = sum(any(row.end > ts for ts in ends) for row in cut)
    assert len(cut) - unknown <= breaks.missed_run + breaks.dropped_waits, (len(cut), unknown, breaks)
    assert len(equal) >= 0.85 * len(rec.wait), "most of them are the same"
    # Their samples, from our rows: ours where equal, theirs where the reason says so.
    samples = [row.end - row.waking for row, _ in equal if row.cause == WOKEN]
    samples += [their.end - their.start for pairs in reasons.values() for _, their in pairs
                if their and their.state == "R" and their.waker is not None]
    samples += [row.end - row.start for row in only_theirs.values() if row.state == "R" and row.waker is not None]
    check_samples(sorted(samples), truth["tp"]["wakeup_latency"])
    preempted = [row.end - row.wakeup for row, their in equal if row.cause == PREEMPTED and their.state == "R+"]
    want = truth["tp"]["preempted_R+"]
    same((len(preempted), sum(preempted)), (want["followed_by_Running_n"] or 0, want["followed_by_Running_sum_ns"] or 0), "R+")


def interpolated(samples, share):
    rank = share * (len(samples) - 1)
    low = samples[math.floor(rank)]
    return low + (samples[math.ceil(rank)] - low) * (rank - math.floor(rank))


@of_perfetto
def percentiles_of_latency_differ_by_these_samples_alone(rec, truth):
    """docs/definitions.md, "Beside trace_processor": from one recording both numbers, and the way from one to the other.

    Ours are the samples of the analysis, by nearest rank. Exchanging those that have a reason to differ, and
    interpolating, gives theirs."""
    equal, reasons, only_theirs = compare_waits(rec)
    pairs = [pair for some in reasons.values() for pair in some]
    ours = sorted(row.end - (row.waking or row.wakeup) for row, _ in [*equal, *pairs] if row.cause != PREEMPTED)
    stats = rec.analyze("wakeup_latency")["global_stats"]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        same(stats[f"{name}_latency_ns"], ours[max(1, math.ceil(share * len(ours) - 1e-9)) - 1] if ours else None, name)
    theirs = collections.Counter(ours)
    for row, their in pairs:
        if row.cause != PREEMPTED:
            theirs[row.end - (row.waking or row.wakeup)] -= 1
    for their in [their for _, their in pairs if their] + [*only_theirs.values()]:
        if their.state == "R" and their.waker is not None:
            theirs[their.end - their.start] += 1
    theirs = sorted((+theirs).elements())
    want = truth["tp"]["wakeup_latency"]
    same(len(theirs), want["n"], "samples")
    for key in (k for k in want if k[0] == "p"):
        there = interpolated(theirs, int(key[1:]) / 100)
        assert abs(there - want[key]) < 1e-6 * max(1, there) + 0.01, (key, there, want[key])


def check_samples(samples, want):
    same((len(samples), sum(samples)), (want["n"], want.get("sum", want.get("sum_ns"))), "samples")
    same((samples[0], samples[-1]), (want.get("min", want.get("min_ns")), want.get("max", want.get("max_ns"))), "extremes")
    for key in (k for k in want if k[0] == "p"):
        there = interpolated(samples, int(key[1:]) / 100)
        assert abs(there - want[key]) < 1e-6 * max(1, there) + 0.01, (key, there, want[key])


def why_sleep(rec, their, row, gaps):
    """How a sleep of ours (or none) agrees with theirs."""
    events = rec.wake_set(their.tid)
    if row and row.end == their.end:
        return "same"
    if row and (row.end, "WAKEUP") in events and (their.end, "WAKING") in events and row.end > their.end:
        assert all(kind != "WAKEUP" for _, kind in between(rec.wakes(their.tid), their.end, row.end - 1)), (their, row)
        return "till the wakeup"
    if their.next == "Running" and ((row and (row.end, "WAKEUP") in events and row.end < their.end) or
                                    (not row and (their.tid, their.end, their.start) in rec.wait_keys())):
        return "woken on its way to sleep"
    if row and their.next == "R" and row.end < their.end and (row.end, "WAKEUP") in events:
        return "the waking was not recorded, or skipped"
    return "unknown" if (their.tid, their.start) in gaps else None


@of_perfetto
def every_sleep_is_theirs_or_has_a_reason(rec, _truth):
    """Theirs ends with the waking; ours, where it is known, with the wakeup. What is missing in between is unknown."""
    ours = {(row.task[1], row.start): row for row in rec.sleep}
    gaps = {(row.task[1], row.start) for row in rec.gap if row.task}
    nr = collections.Counter()
    for their in states_of(rec).rows:
        if their.end is None or their.state in ("R", "R+", "Running", "X", "Z"):
            continue
        row = ours.pop((their.tid, their.start), None)
        why = why_sleep(rec, their, row, gaps)
        assert why, (their, row)
        nr[why] += 1
        assert not row or tp_model.letter(row.state) == their.state, (their, row)
    assert nr["same"] + nr["till the wakeup"] >= 0.9 * sum(nr.values()) - 3, nr
    breaks = rec.breaks[0]
    assert nr["unknown"] <= breaks.missing_wakeup + breaks.missed_run, (nr, breaks)
    # Those that only we have: theirs is open, or it began with what the first switch of a CPU put there.
    theirs_open = {(r.tid, r.start) for r in states_of(rec).rows if r.end is None}
    skip = first_rows(rec)
    firsts = {(row.task[1], row.end) for row in rec.slice if id(row) in skip}
    rest = [key for key, row in ours.items() if not row.is_open and key not in theirs_open and key not in firsts]
    assert not rest, rest[:5]


@of_perfetto
def interrupts_softirqs_and_work(rec, truth):
    got = sums()
    for row in rec.span:
        if row.kind == IRQ:
            add(got, ("cpu_irq", row.cpu, f"IRQ ({row.name})"), row.end - row.start)  # names of 15 bytes
        elif row.kind == SOFTIRQ:
            add(got, ("cpu_softirq", row.cpu, SOFTIRQS[row.id]), row.end - row.start)
    want = {}
    for row in truth["tp"]["slices_by_track"]:
        if row["track_type"] in ("cpu_irq", "cpu_softirq"):
            cpu = int(row["track_name"].rsplit(" ", 1)[1])
            name = row["slice_name"]
            if name.startswith("IRQ ("):
                name = f"IRQ ({name[5:-1][:15]})"
            if row["n"] > row["open"]:
                want[row["track_type"], cpu, name] = [row["n"] - row["open"], row["sum_ns_closed"]]
    same(got, want)
    work = [row.end - row.start for row in rec.span if row.kind == WORK]
    reported = [row for row in truth["tp"]["slices_by_type"] if row["track_type"] == "thread_execution"]
    same((len(work), sum(work)), (reported[0]["n"] - reported[0]["open"], reported[0]["sum_ns_closed"]) if reported else (0, 0), "work")


@of_perfetto
def counts_of_events(rec, truth):
    wire = truth["wire"]["events_total_incl_compact"]
    same(len(rec.migration), wire.get("sched_migrate_task", 0), "migrations")
    same(len([r for r in rec.counter if r.kind == CPU_IDLE_STATE]), wire.get("cpu_idle", 0), "cpu_idle")
    per_cpu = collections.Counter(r.cpu for r in rec.counter if r.kind == CPU_IDLE_STATE)
    same(per_cpu, {r["cpu"]: r["values"] for r in truth["tp"]["cpu_idle_counter_per_cpu"]}, "cpu_idle per CPU")
    same(len(rec.migration), truth["tp"]["migrations"]["sched_migrate_task"], "migrations")
    moves = count_moves(rec, first_rows(rec))
    same(moves, truth["tp"]["migrations"]["cpu_changes_between_slices"], "changes of CPU")
    if rec.migration:
        same(rec.analyze("migration_patterns")["total_migrations"], len(rec.migration), "analysis")
    # What can be asked for in a query is what was recorded.
    for name in ("sched_switch", "sched_waking", "sched_wakeup", "irq_handler_entry", "softirq_entry", "cpu_idle"):
        if wire.get(name):
            same(query_count(rec, name), wire[name], name)


def count_moves(rec, skip):
    last, moves = {}, 0
    for row in sorted((r for r in rec.slice if id(r) not in skip), key=lambda r: r.start):
        moves += last.get(row.task, row.cpu) != row.cpu
        last[row.task] = row.cpu
    return moves


def query_count(rec, event):
    out = rec.ask("SCHEDSCOPE", "query", "-e", event, "-n", "1", "--json")
    return json.loads(out)["total_matched"]


# ---- wprof ------------------------------------------------------------------------------------------------------


@of_wprof
def slices_of_wprof(name, rec, truth):
    """Slices that wprof made up, for tasks that ran when it began, are unknown here: they were not seen to begin."""
    if name == "guest-d2-overflow":
        return
    start = {row.cpu: row.end - row.start for row in rec.gap if row.task is None and row.reason == GAP_START}
    busy, idle = sums(), sums()
    for row in rec.slice:
        add(busy, row.cpu, 0 if is_open_slice(row) else row.end - row.start)
    for row in rec.idle:
        add(idle, row.cpu, 0 if row.is_open else row.end - row.start)
    for row in truth["oncpu_by_cpu"]:
        cpu = row["cpu"]
        same(busy[cpu][0] + idle[cpu][0], row["n"] - 1, "slices")
        same(busy[cpu][1] + idle[cpu][1] + start[cpu], row["dur"], "ns")
        # On one of these CPUs the idle task may have been the one that ran at the start.
        assert (idle[cpu][0], idle[cpu][1]) in ((row["idle_n"], row["idle_dur"]), (row["idle_n"] - 1, row["idle_dur"] - start[cpu]))


@of_wprof
def runtime_of_every_thread_of_wprof(name, rec, _truth):
    if name == "guest-d2-overflow":
        return
    start = {row.cpu: row.end - row.start for row in rec.gap if row.task is None and row.reason == GAP_START}
    got = sums()
    for row in rec.slice:
        add(got, row.task[1], 0 if is_open_slice(row) else row.end - row.start)
    firsts = {}
    for kind, cpu, _, _, words in tp_model.parse(rec.records()):
        if kind == "SWITCH":
            firsts.setdefault(cpu, words[0])
    for cpu, tid in firsts.items():
        if tid:
            add(got, tid, start[cpu])
    want = sums()
    for row in WPROF_RAW[name]["threads"]:
        if row["pid"] != 2_000_000_000:
            want[row["tid"]][0] += row["n"]
            want[row["tid"]][1] += row["dur"]
    same(got, want)


@of_wprof
def their_rules_on_wprof(name, rec, truth):
    if not truth["thread_state_by_state"]:
        return
    states = states_of(rec)
    got = collections.defaultdict(lambda: [0, 0, 0])
    for row in states.rows:
        slot = got[row.state]
        slot[0] += 1
        slot[1] += row.waker is not None
        slot[2] += row.end - row.start if row.end is not None else 0
    want = {row["state"]: [row["n"], row["with_waker"], row["dur"]] for row in truth["thread_state_by_state"]}
    if name.startswith("old"):
        # It writes the raw state of the task, which trace_processor reads as that of an old kernel.
        for theirs, ours in (("K", "X"), ("DW", "D"), ("TW", "T")):
            row = want.pop(theirs)
            want[ours] = [a + b for a, b in zip(want.get(ours, [0, 0, 0]), row)]
    same(got, want)
    samples = sorted(r.end - r.start for r in states.rows if r.state == "R" and r.waker is not None and r.end is not None)
    check_samples(samples, truth["wakeup_latency_from_thread_state"][0])


def first_waking(rec, wait):
    """The first waking since the task last came on a CPU."""
    events = rec.wakes(wait.task[1])
    i = bisect.bisect_left(events, (wait.end, "IN"))
    found = None
    while i and events[i - 1][1] != "IN":
        i -= 1
        if events[i][1] == "WAKING":
            found = events[i][0]
    return found


@of_wprof
def delays_as_wprof_has_them(name, rec, truth):
    """wprof counts from the first waking since the task came on a CPU, even if it was still on it then; a task that
    was preempted counts as woken if that came before it left, and as preempted if it came later."""
    if name == "guest-d2-overflow":
        return
    closed = [row for row in rec.wait if not row.is_open]
    theirs = [(row, first_waking(rec, row)) for row in closed if row.cause != NEW]
    delays = {"woken": [row.end - ts for row, ts in theirs if ts and (row.cause == WOKEN or ts < row.wakeup)],
              "woken_new": [row.end - row.wakeup for row in closed if row.cause == NEW]}
    for row in truth["waking_reason"]:
        if row["reason"] in delays:
            found = sorted(delays[row["reason"]])
            same((len(found), sum(found)), (row["n"], round(row["sum_us"] * 1000)), row["reason"])
            same(found[-1], round(row["max_us"] * 1000), "max")
    # Ours is that, or it begins when the task leaves the CPU, or with the waking that came when it slept.
    nr = collections.Counter()
    for row, ts in theirs:
        if row.cause == WOKEN:
            known = rec.wake_set(row.task[1])
            is_early = any(kind == "OUT" for _, kind in between(rec.wakes(row.task[1]), ts, row.end))
            nr[row.waking == ts, is_early] += 1
            assert (row.waking, "WAKING") in known or (is_early and (row.waking, "OUT") in known), row
    assert not nr[False, False], nr
    assert nr[True, False] >= 0.9 * sum(nr.values()), nr


@of_wprof
def interrupts_and_queues_of_wprof(name, rec, _truth):
    """Spans by name; of dispatch queues paired by their task, not by their nesting, as trace_processor does."""
    got = sums()
    for row in rec.span:
        ns = row.end - row.start
        if row.kind == IRQ:
            add(got, "HARDIRQ | HARDIRQ", ns)
        elif row.kind == SOFTIRQ:
            add(got, "SOFTIRQ | SOFTIRQ:" + SOFTIRQS[row.id].lower().replace("_", "-"), ns)
        elif row.kind == IPI:
            add(got, "IPI | IPI:" + row.name, ns)
        elif row.kind == WORK:
            add(got, "WQ", ns)
    for row in rec.dsq:
        # In the queue since before the recording: wprof writes that it came at 0, the start of all time.
        add(got, f"SCX_DSQ {row.dsq:#x}", row.end - (row.start if row.has_start else 0))
    want = sums()
    for key, span in WPROF_RAW[name]["spans"].items():
        if key.startswith("WQ"):
            key = "WQ"
        elif key.startswith("SCX_DSQ"):
            key = "SCX_DSQ " + hex(int(key.rsplit("_", 1)[1], 16))
        want[key][0] += span["n"]
        want[key][1] += span["dur"]
    same(got, want)


@alone
def layers_of_slices():
    rec, truth = recording("guest-d2-layers"), WPROF["guest-d2-layers"]
    reported = {row["v"]: row["n"] for row in truth["scx_values"]
            if row["category"] == "ONCPU" and row["key"] == "debug.scx_layer_id"}
    got = collections.Counter(row.layer for row in rec.run if row.layer != NO_LAYER)
    # 0 with 0 says that the task never was in a queue: unknown, and not layer 0.
    unknown = sum(reported.values()) - sum(got.values())
    assert 0 < unknown < reported[0]
    same({**got, 0: got[0] + unknown}, reported)
    # The layer is the pid modulo 3; that of kernel threads is 3.
    for row in rec.run:
        assert row.layer in (3, row.task[1] % 3), row
    # Each belongs to a slice that begins then.
    begins = {(row.start, row.cpu, row.task) for row in rec.slice}
    assert all((row.ts, row.cpu, row.task) in begins for row in rec.run)


@alone
def counters_of_slices():
    from test_wprof import pmu_of_file
    rec = recording("guest-d3-pmu")
    want = collections.Counter()
    for key, number in pmu_of_file(rec.path):
        want[key.removeprefix("pmu:")] += number
    got = collections.Counter()
    for row in rec.pmu:
        got[row.name] += row.value
    same(got, {key: round(number) for key, number in want.items()})
    ends = {(row.end, row.cpu, row.task) for row in rec.slice} | {(row.end, row.cpu, None) for row in rec.idle}
    firsts = {row.cpu: row.end for row in rec.gap if row.task is None and row.reason == GAP_START}
    assert all((row.ts, row.cpu, row.task) in ends or firsts[row.cpu] == row.ts for row in rec.pmu)


@alone
def an_aborted_recorder_leaves_what_it_wrote():
    rec = recording("guest-d2-overflow")
    same(len(rec.dsq), WPROF_RAW["guest-d2-overflow"]["spans"]["SCX_DSQ | DSQ:dispatch_vtime_0x7"]["n"], "queues")
    # Its switches are fewer than the slices it began: who runs after a break is unknown, not guessed.
    for cpu in rec.cpu:
        same(cpu.busy + cpu.idle + cpu.unknown, rec.length(), "span")
    assert rec.breaks[0].prev_mismatch + rec.breaks[0].lost_slices > 0
    assert rec.analyze("cpu_utilization")["cpus_analyzed"] > 0


def filtered(data, wanted):
    """The file as wprof's process filter would have written it: of the threads that are not wanted no event is left."""
    threads, parents, out = {}, {}, []
    packets = [body for nr, body in fields(data) if nr == 1]
    for body in packets:
        desc = {}
        for nr, value in fields(body):
            desc = dict(fields(value)) if nr == 60 else desc
        if 4 in desc:
            threads[desc[1]] = dict(fields(desc[4]))[2]
        parents[desc.get(1)] = desc.get(5)
    for body in packets:
        parts = list(fields(body))
        event = dict(fields(next((value for nr, value in parts if nr == 11), b"")))
        track = event.get(11)
        while track is not None and track not in threads:
            track = parents.get(track)
        if event and track is not None and threads[track] not in wanted:
            # Strings that later events use may stand in the packet of one that is left out.
            parts = [(nr, value) for nr, value in parts if nr != 11]
        body = b"".join(text(nr, value) if isinstance(value, bytes) else num(nr, value) for nr, value in parts)
        out.append(text(1, body))
    return b"".join(out)


@alone
def a_filter_of_wprof_loses_no_wait():
    """Of the tasks that a filter lets through, each wait is as long as without it, however many others ran meanwhile."""
    whole, waits = recording("host-a"), collections.defaultdict(list)
    for row in whole.wait:
        if not row.is_open:
            waits[row.task[1]].append((row.waking or row.wakeup, row.end))
    wanted = set(sorted(waits, key=lambda tid: -len(waits[tid]))[:3])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "filtered.pb"
        path.write_bytes(filtered(gzip.decompress((DATA / "wprof/host-a.pb.gz").read_bytes()), wanted))
        part = Recording(path)
        kept = collections.defaultdict(list)
        for row in part.wait:
            if not row.is_open and row.task[1] in wanted:
                kept[row.task[1]].append((row.waking or row.wakeup, row.end))
        summary = part.analyze("summary")
    assert sum(len(waits[tid]) for tid in wanted) > 500, "too few to show anything"
    for tid in wanted:
        lost = set(waits[tid]) - set(kept[tid])
        assert len(lost) <= 1, (tid, len(waits[tid]), len(kept[tid]), sorted(lost)[:3])  # the one at the beginning
        assert not set(kept[tid]) - set(waits[tid]), "waits that were none"
    same(summary["recorded_tasks"], "the tasks that its filters let through")
    same(sum(row.end - row.start for row in part.idle), 0, "idle: others may have run")


def last_names(data):
    """{tid: the name of its last slice, if it kept that}, from the bytes: a slice is called as its task was then."""
    names, categories, threads, parents, last = {}, {}, {}, {}, {}
    packets = [dict(fields(body)) for nr, body in fields(data) if nr == 1]
    for packet in packets:
        for nr, entry in fields(packet.get(12, b"")):
            if nr in (1, 2):
                entry = dict(fields(entry))
                (categories if nr == 1 else names)[entry[1]] = entry[2]
        desc = dict(fields(packet.get(60, b"")))
        if 4 in desc:
            threads[desc[1]] = dict(fields(desc[4]))
        parents[desc.get(1)] = desc.get(5)
    for packet in packets:
        event = dict(fields(packet.get(11, b"")))
        category = event.get(22) or categories.get(event.get(3))
        track = event.get(11)
        thread = threads.get(track, threads.get(parents.get(track), {}))
        if category == b"ONCPU" and event.get(9) == 1 and thread and thread.get(1) != 2_000_000_000:  # idle
            last[thread[2]] = event.get(23) or names[event[10]]
        elif category in (b"EXEC", b"RENAME") and thread:
            last.pop(thread[2], None)  # the slice began under the name before
    return last


@of_wprof
def tasks_are_called_by_their_last_name(name, rec, _truth):
    """A task that called exec is another program afterwards; a pattern finds it by each of its names."""
    want = {tid: comm.decode("utf-8", "replace") for tid, comm in
            last_names(gzip.decompress((DATA / f"wprof/{name}.pb.gz").read_bytes())).items()}
    shown = {row["pid"]: row["comm"] for row in rec.analyze("process_runtime")["processes"]}
    assert len(shown.keys() & want.keys()) > len(shown) // 2, (len(shown), len(want))
    wrong = {tid: (shown[tid], want[tid]) for tid in shown if tid in want and shown[tid] != want[tid]}
    assert not wrong, (len(shown), wrong)


# ---- both, and each other ---------------------------------------------------------------------------------------


@of_all
def time_adds_up(rec):
    for row in rec.cpu:
        same(row.busy + row.idle + row.unknown, rec.length(), f"CPU {row.cpu}")
        same(row.busy, sum(s.end - s.start for s in rec.slice if s.cpu == row.cpu), "busy")
        same(row.idle, sum(s.end - s.start for s in rec.idle if s.cpu == row.cpu), "idle")
        same(row.unknown, sum(s.end - s.start for s in rec.gap if s.task is None and s.cpu == row.cpu), "unknown")
    use = rec.analyze("cpu_utilization")
    same(use["span_ns"], rec.length(), "span")
    reported = {row["cpu_id"]: (row["active_time_ns"], row["idle_time_ns"], row["unknown_time_ns"]) for row in use["top_utilized_cpus"]}
    same(reported, {row.cpu: (row.busy, row.idle, row.unknown) for row in rec.cpu if row.busy or row.idle}, "analysis")
    same(sum(row["total_switches"] for row in use["top_utilized_cpus"]), len(rec.slice) + len(rec.idle), "switches")


@of_all
def tasks_add_up(rec):
    runtime = rec.analyze("process_runtime")
    same(sum(row["total_runtime_ns"] for row in runtime["processes"]), sum(row.busy for row in rec.cpu), "all tasks")
    same(runtime["total_runtime_ns"], sum(row.busy for row in rec.cpu), "all tasks")
    assert all(row["cpu_time_percent"] <= 100 and row["total_runtime_ns"] <= rec.length() for row in runtime["processes"])
    by_process = rec.analyze("process_runtime", "--per-process")
    same(by_process["total_runtime_ns"], runtime["total_runtime_ns"], "per process")
    same(sum(row["total_runtime_ns"] for row in by_process["processes"]), runtime["total_runtime_ns"], "per process")
    # No task does two things at a time.
    lives = collections.defaultdict(list)
    for row in [*rec.slice, *rec.sleep, *(g for g in rec.gap if g.task)]:
        lives[row.task].append((row.start, row.end))
    for row in rec.wait:
        lives[row.task].append((row.wakeup or row.waking, row.end))
    for task, rows in lives.items():
        rows.sort()
        assert all(a[1] <= b[0] for a, b in zip(rows, rows[1:])), (task, rows[:5])


@of_all
def states_are_those_of_the_tables(rec):
    want = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    for i, rows in enumerate((rec.slice, rec.wait, [r for r in rec.sleep if not r.state & 2 or r.state & 1],
                              [r for r in rec.sleep if r.state & 2 and not r.state & 1], [r for r in rec.gap if r.task])):
        for row in rows:
            start = row.start if hasattr(row, "start") else row.wakeup or row.waking
            want[row.task[1]][i] += row.end - start
    got = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    for row in rec.analyze("task_states")["processes"]:
        for i, key in enumerate(("running", "runnable", "sleeping", "blocked", "unknown")):
            got[row["pid"]][i] += row[key + "_time_ns"]
    # The analysis has no row for a task of which only a gap is known.
    same(got, {tid: times for tid, times in want.items() if tid in got}, "states")
    assert all(not any(times[:4]) for tid, times in want.items() if tid not in got)


def nearest(samples, percent):
    return samples[max(1, math.ceil(percent / 100 * len(samples))) - 1] if samples else None


@of_all
def latencies_are_those_of_the_table(rec):
    if not rec.wait:
        return
    answer = rec.analyze("wakeup_latency")
    closed = [row for row in rec.wait if not row.is_open]
    woken = sorted(row.end - (row.waking or row.wakeup) for row in closed if row.cause != PREEMPTED)
    waits = sorted(row.end - row.wakeup for row in closed if row.cause == PREEMPTED)
    same(answer["total_wakeups"], len(woken), "wakeups")
    still = [row.cause == PREEMPTED for row in rec.wait if row.is_open]
    same(answer["still_waiting"], still.count(False), "open")
    same(answer["preempted_wait"]["still_waiting"], still.count(True), "preempted and open")
    same(answer["new_tasks"], sum(row.cause == NEW for row in closed), "new")
    for samples, stats, suffix in ((woken, answer["global_stats"], "_latency_ns"), (waits, answer["preempted_wait"], "_wait_ns")):
        if samples:
            got = [stats[key + suffix] for key in ("min", "max", "avg", "p50", "p95", "p99", "p999")]
            same(got, [samples[0], samples[-1], sum(samples) // len(samples), *(nearest(samples, p) for p in (50, 95, 99, 99.9))])
    same((answer["preempted_wait"]["count"], answer["preempted_wait"]["total_ns"] or 0), (len(waits), sum(waits)), "preempted")
    same(rec.analyze("correlation")["total_correlations"], len(woken), "correlation")


@of_all
def spans_and_queues_in_analyses(rec):
    """The analyses add up the rows that were held against the truth above."""
    answers = rec.analyze("--all")
    for name, kind, keys in (("irq_analysis", IRQ, ("total_interrupts", None)),
                             ("softirq_analysis", SOFTIRQ, ("total_events", "total_duration_ns")),
                             ("ipi_analysis", IPI, ("total_ipis", "total_duration_ns")),
                             ("workqueue", WORK, ("total_works", "total_duration_ns"))):
        rows = [row for row in rec.span if row.kind == kind]
        want = [len(rows), sum(row.end - row.start for row in rows)]
        if name in answers:
            same([answers[name][key] for key in keys if key], want[:2 if keys[1] else 1], name)
        else:
            assert not rows, name
    if "irq_analysis" in answers:
        irqs = sums()
        for row in rec.span:
            if row.kind == IRQ:
                add(irqs, row.name, row.end - row.start)
        got = sums()
        for row in answers["irq_analysis"]["top_irqs"]:
            got[row["handler"]][0] += row["count"]
            got[row["handler"]][1] += row["total_duration_ns"]
        same(got, irqs, "interrupts")
    idle = [row for row in rec.counter if row.kind == CPU_IDLE_STATE]
    same(answers.get("cpu_idle", {}).get("total_transitions", 0), len(idle), "cpu_idle")
    queues = sums()
    for row in rec.dsq:
        add(queues, row.dsq, row.end - row.start)
    same({int(row["dsq_id"]): [row["event_count"], row["total_wait_ns"] or 0] for row in answers.get("dsq_summary", {}).get("dsqs", [])},
         queues, "queues")
    ends = {(row.end, row.cpu, row.task) for row in rec.slice}
    counters = sums()
    for row in rec.pmu:
        if (row.ts, row.cpu, row.task) in ends:
            add(counters, row.name, row.value)
    same({row["name"]: [row["slices"], row["total"]] for row in answers.get("perf_counters", {}).get("counters", [])}, counters, "counters")


# Absent by design: what the recording does not have, or what nothing was found for.
UNREPORTED = {("summary", "capabilities", "has_process_stats"), ("summary", "lost_events"), ("summary", "machine"), ("summary", "host"), ("summary", "boot_id"), ("summary", "damage", "of"),
          ("discover", "analyzers", "missing"), ("scx_layer_behavior", "layer_filter"), ("dsq_latency", "scheduler_name"),
          ("dsq_latency", "per_dsq", "slice_given_avg_us"), ("dsq_latency", "per_dsq", "slice_used_avg_us"),
          ("dsq_summary", "summary", "scheduler_name"), ("oncpu_slices", "processes", "layer_id"),
          ("oncpu_slices", "processes", "dsq_id"), ("oncpu_slices", "processes", "dsq_name"), ("oncpu_slices", "by_dsq", "dsq_name"),
          ("workqueue", "by_function", "function"), ("workqueue", "by_function", "name"),
          ("softirq_analysis", "by_process", "pid"), ("ipi_analysis", "sent_by_target", "target_cpu"),
          ("explain", "waits", "parts", "cpu"), ("explain", "waits", "parts", "class"), ("explain", "waits", "stay_list", "cpu"),
          ("blame", "victims", "pid"), ("blame", "victims", "blames", "pid"), ("blame", "culprits", "pid"),  # of names
          ("pressure", "stalled", "pid"), ("pressure", "stalled", "behind", "pid"),
          ("wakeup_chains", "chains", "chain", "schedule_ts"),  # of a wait that is not over
          *((kind, "bottlenecks", *path) for kind in ("scheduling_bottlenecks", "summary")
            for path in (("pid",), ("causes", "pid"), ("causes", "class")))}
MAY_BE_NULL = {"by", "incomplete", "waker_pid", "waker_comm", "waker_interrupt", "woken_by", "pid_filter", "tid_filter", "kernel", "host", "boot_id", "scheduler", "start_unix_timestamp", "tgid"}


def numbers_that_are_null(node):
    """Paths of them. Millions of numbers are not null: those cost no call."""
    found, todo = [], [((), node)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, list):
            todo += [(path, child) for child in node if isinstance(child, (dict, list))]
            continue
        for key, child in node.items():
            if isinstance(child, (dict, list)):
                todo.append(((*path, key), child))
            elif child is None and key not in MAY_BE_NULL:
                found.append((*path, key))
    return found


@of_all
def all_analyses_answer(rec):
    answers = rec.analyze("--all")
    listed = json.loads(rec.ask("SCHEDSCOPE", "analyze", "--list", "--json"))["analyses"]
    timelines = {"cpu_timeline", "process_timeline"}  # of one CPU or process, so that none is part of all
    same(sorted(answers), sorted(row["id"] for row in listed if row["applies"] and row["id"] not in timelines))
    assert all(row["missing"] for row in listed if not row["applies"])
    for name, answer in answers.items():
        same(answer["analysis_type"], name)
    strange = collections.Counter(path for path in numbers_that_are_null(answers) if not is_null_for_a_reason(rec, path))
    assert not strange, strange


# Parts of waits that are known only if such events were recorded.
PARTS = {"queue_ns": lambda rec: rec.dsq, "irq_ns": lambda rec: any(row.kind in (IRQ, IPI) for row in rec.span),
         "softirq_ns": lambda rec: any(row.kind == SOFTIRQ for row in rec.span),
         "waking_ns": lambda rec: rec.migration and any(row.waking for row in rec.wait),
         "throttled_ns": lambda rec: False, "stolen_ns": lambda rec: False}  # only our recorder measures them


def is_null_for_a_reason(rec, path):
    """Percentiles of no samples; distances without a topology; shares of nothing."""
    text = ".".join(path)
    if path in UNREPORTED or (not rec.wait and path in (("compound_delay", "compound_delay"), ("scx_layer_behavior", "layers", "wait_ns"))):
        return True
    if path[0] in ("explain", "blame") and path[-1] in PARTS:
        return not PARTS[path[-1]](rec)
    if "thresholds" in path or "outliers" in path:  # of methods that were not asked for, and of no samples
        return path[-1] in ("std_dev", "mad") or not rec.wait
    has_places = any(cpu["llc"] >= 0 for cpu in rec.info()["cpus"])
    if not has_places and any(word in text for word in ("llc", "numa", "node", "topology")):
        return True
    if any(word in path[-1] for word in ("_latency_ns", "_timeslice_ns", "_wait_ns", "percent_of_total")):
        return True
    if path[-1] == "max_at_ns":  # of a CPU that was not seen in use
        return any(not row.busy for row in rec.cpu)
    return path[-1] in ("min_ns", "max_ns", "avg_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "worst", "from", "comm")


def put_field(number, payload):
    return text(number, payload) if isinstance(payload, bytes) else num(number, payload)


def without_waking(data, ts):
    """The same trace without the one sched_waking of that time."""
    out, nr = bytearray(), 0
    for number, packet in fields(data):
        kept = bytearray()
        for key, payload in fields(packet):
            if key == 1 and isinstance(payload, bytes):
                bundle = bytearray()
                for inner, event in fields(payload):
                    is_it = inner == 2 and isinstance(event, bytes) and dict(fields(event)).get(1) == ts and 20 in dict(fields(event))
                    nr += is_it
                    if not is_it:
                        bundle += put_field(inner, event)
                payload = bytes(bundle)
            kept += put_field(key, payload)
        out += put_field(number, bytes(kept))
    return bytes(out), nr


@alone
def with_and_without_ftrace_it_is_the_same():
    """host-a and host-b are one recording; b has a waking more, of which a does not have the wakee."""
    a, b = recording("host-a"), recording("host-b")
    same(a.info()["damage"], {"flow_step_without_start": 1})
    only = sorted(set(wakings(b)) - set(wakings(a)))
    same(len(only), 1, "wakings that only b has")
    assert not set(wakings(a)) - set(wakings(b))
    data, nr = without_waking(gzip.decompress(b.path.read_bytes()), only[0][0])
    same(nr, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "b.pb"
        path.write_bytes(data)
        c = Recording(path)
        for table in TABLES:
            same(plain_rows(c, table), plain_rows(a, table), table)
        left, right = c.analyze("--all"), a.analyze("--all")
        for answers in (left, right):
            answers["summary"].pop("file")
            answers["summary"].pop("file_bytes")
            answers["summary"].pop("capabilities")  # what the file holds, not what happened
            answers["summary"].pop("damage")
            for wait in answers["explain"]["waits"]:  # tracks have no priorities
                wait.pop("sentences")
                for part in wait["parts"]:
                    part.pop("text")
                    part.pop("class", None)
        for name in right:
            same(in_order(left[name]), in_order(right[name]), name)


def wakings(rec):
    return [(ts, words[0]) for kind, _, _, ts, words in tp_model.parse(rec.records()) if kind == "WAKING"]


def plain_rows(rec, table):
    """Rows by tid: indices of tasks are in the order in which they were met. Tracks have no priorities."""
    def plain(row):
        fields_of = row._asdict()
        fields_of.pop("prio", None)
        return tuple(v[1] if isinstance(v, tuple) else v for v in fields_of.values())
    return collections.Counter(map(plain, rec.tables[table]))


def in_order(node):
    """Lists as sets: of equal ranks the order is that of indices."""
    if isinstance(node, dict):
        return {key: in_order(child) for key, child in node.items()}
    if isinstance(node, list):
        return sorted((in_order(child) for child in node), key=lambda n: json.dumps(n, sort_keys=True))
    return node


def recording_of(name):
    return name.partition(": ")[2]


def wanted(name):
    return not sys.argv[1:] or any(word in name for word in sys.argv[1:])


def run_cases(of):
    """Those of one recording, in a process of its own: it is read once. [(name, what went wrong)]"""
    done = []
    for name, function in CASES:
        if recording_of(name) != of or not wanted(name):
            continue
        try:
            function()
            done.append((name, []))
        except Exception:  # pylint: disable=broad-except
            done.append((name, traceback.format_exc().splitlines()[-3:]))
    return done


def main():
    names = [name for name, _ in CASES if wanted(name)]
    print(f"1..{len(names)}")
    number = failed = 0
    with concurrent.futures.ProcessPoolExecutor(max_workers=2) as pool:
        for done in pool.map(run_cases, dict.fromkeys(map(recording_of, names))):
            for name, wrong in done:
                number += 1
                failed += bool(wrong)
                print(f"{'not ok' if wrong else 'ok'} {number} {name}")
                print("".join(f"# {line[:900]}\n" for line in wrong), end="", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
