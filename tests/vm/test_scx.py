#!/usr/bin/env python3
"""test_scx.py KERNEL[-k] [WORD...]: what schedscope says of sched_ext, against the accounts of the schedulers themselves.

guest_scx.py records them in a virtual machine, where time is a count of instructions, so that a busy host does not
show. Only tasks that are born and end while the recording runs are compared. With -k, the kernel's functions are watched
by kprobes, as where there is no fentry.
"""
import collections
import json
import pathlib
import sys

import vm
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("mcp", "trace")]
import decode  # noqa: E402
from live import case, expect, expect_between, expect_near, main, once, run
from trace_client import leading_answers  # noqa: E402

KERNEL, _, WAY = sys.argv.pop(1).partition("-")
END = f"-{WAY}" if WAY else ""
GUEST = vm.Guest(KERNEL, "guest_scx.py", *(name + END for name in ("fifo", "vtime", "layered", "ways", "changes")))
GLOBAL, LOCAL, BYPASS = ((1 << 63) | n for n in (1, 2, 3))
QUEUES = {"fifo": {GLOBAL}, "vtime": set(range(100, 116)), "layered": {200, 201},
          "ways": set(range(300, 304))}
PLAIN = ("fifo", "vtime", "layered")  # all slices are the same
SLICE_NS, MOVED_NS = 20_000_000, 7_000_000
OFF, ON, EJECTED = 0, 1, 2
# Why a scheduler ends: the process that began it ended it, it exits, it says that it failed, a task did not run.
TAKEN_BACK, LEFT, FAILED, STALLED = 64, 65, 1025, 1026
REASONS = {TAKEN_BACK: "unregistered from user space", LEFT: "unregistered from BPF", FAILED: "scx_bpf_error",
           STALLED: "runnable task stall"}


def answer(path, command, *words):
    """What schedscope says, as JSON."""
    out = run(command, str(path), *words, "--json", timeout=120)
    expect(out.returncode == 0, f"{command} {words}: {out.stderr}")
    return json.loads(out.stdout)


def events(path, name):
    """All events of a name: their fields, in the order of time."""
    return [{**row, **row["fields"]} for row in answer(path, "query", "-e", name, "-a")["events"]]


class Seen:
    """One scheduler: its account, and what schedscope has seen."""

    def __init__(self, name):
        reported = json.loads(GUEST.path(f"{name}{END}.json").read_text(encoding="ascii"))
        self.trace = GUEST.path(f"{name}{END}.pftrace")
        self.account, self.tids = reported["account"], set(reported["tids"])
        expect(" 0 lost" in reported["talk"], f"events were lost: {reported['talk']}")
        expect(self.account["lost"] == 0, "the scheduler lost count")
        self.own = {(row["tid"], row["dsq"]): row for row in self.account["tasks"]
                    if row["tid"] in self.tids and row["dsq"] in QUEUES[name]}
        self.stays = collections.defaultdict(list)
        for row in events(self.trace, "dsq_leave"):
            if row["pid"] in self.tids and int(row["dsq_id"]) in QUEUES[name]:
                self.stays[row["pid"], int(row["dsq_id"])].append(row)
        expect(sum(row["inserts"] for row in self.own.values()) >= 50, "the tasks hardly came by the queues")


SEEN = {name: once(lambda name=name: Seen(name)) for name in QUEUES}


def counts_agree(name):
    seen = SEEN[name]()
    expect(seen.own.keys() == seen.stays.keys(), f"{set(seen.own) ^ set(seen.stays)} on one side only")
    for key, own in seen.own.items():
        stays = seen.stays[key]
        moved = sum(stay["is_moved"] for stay in stays)
        ran = len(stays) - moved - sum(stay["is_dequeued"] for stay in stays)
        expect(ran == own["runs"], f"task and queue {key}: {ran} stays ended on a CPU, expected {own}")
        expect((len(stays), moved) == (own["inserts"], own["moves"]),
               f"task and queue {key}: {len(stays)} stays, {moved} of them moved on, expected {own}")


def latencies_agree(name):
    seen = SEEN[name]()
    for dsq in {dsq for _, dsq in seen.own}:
        want = sum(own["wait_ns"] for key, own in seen.own.items() if key[1] == dsq)
        got = sum(stay["timestamp"] - stay["start_timestamp"] for key, stays in seen.stays.items() if key[1] == dsq
                  for stay in stays)
        # An emulated CPU may stand still anywhere. The scheduler hears of the run before the switch that ends the wait: by how
        # much, the program behind ours says. When a task was placed, it knows only between two readings of the clock.
        early = sum(own["early_ns"][1] for key, own in seen.own.items() if key[1] == dsq)
        placing = sum(own["placing_ns"] for key, own in seen.own.items() if key[1] == dsq)
        expect_near(f"wait in queue {dsq}", got, want, relative=0.05, absolute=100_000, less=placing, more=early + placing)


@case
def a_global_fifo_is_counted_exactly():
    counts_agree("fifo")


@case
def queues_by_vtime_are_counted_exactly():
    counts_agree("vtime")


@case
def queues_of_layers_and_moves_between_them_are_counted_exactly():
    counts_agree("layered")
    expect(any(own["moves"] for own in SEEN["layered"]().own.values()), "nothing was moved")


@case
def every_way_into_a_queue_is_counted_exactly():
    counts_agree("ways")
    seen = SEEN["ways"]()
    expect(min(seen.account["ways"][:7]) >= 5, f"ways: {seen.account['ways']}")
    hows, local = collections.defaultdict(set), collections.Counter()
    for (_, dsq), stays in seen.stays.items():
        hows[dsq] |= {stay["vtime"] is not None for stay in stays}
    for row in events(seen.trace, "dsq_leave"):
        local[row["pid"]] += int(row["dsq_id"]) == LOCAL
    for own in seen.account["tasks"]:
        # The kernel puts tasks there by itself too.
        expect(own["dsq"] != LOCAL or own["tid"] not in seen.tids or local[own["tid"]] >= own["inserts"], f"{local}, {own}")
    expect([hows[dsq] for dsq in range(300, 304)] == [{False}, {True}, {False}, {True}], f"which have a vtime: {hows}")
    for key, own in seen.own.items():
        if key[1] in (301, 303):
            got = (seen.stays[key][0]["vtime"], seen.stays[key][-1]["vtime"])
            expect(got == (own["first_vtime"], own["last_vtime"]), f"task and queue {key}: {got}, expected {own}")


@case
def slices_set_by_an_iterator_are_seen():
    seen = SEEN["ways"]()
    given = collections.Counter()
    for row in events(seen.trace, "scx_run"):
        if row["pid"] in seen.tids:
            given[row["pid"], int(row["dsq_id"])] += row["slice_ns"]
    for key, own in seen.own.items():
        expect(given[key] == own["slice_ns"], f"task and queue {key}: {given[key]} given, expected {own}")
    short = [own["slice_ns"] / own["runs"] for (_, dsq), own in seen.own.items() if dsq == 302 and own["runs"]]
    expect(short and set(short) == {MOVED_NS}, f"slices of those that were moved: {short}")


@case
def waits_in_queues_are_those_of_the_scheduler():
    for name in PLAIN:  # "ways" sees the end of a stay late: it walks through a queue first
        latencies_agree(name)


@case
def the_analyses_say_the_same_as_the_events():
    for name in QUEUES:
        seen = SEEN[name]()
        for tid in sorted(seen.tids)[:2]:
            report = answer(seen.trace, "analyze", "dsq_summary", "dsq_latency", "--tid", str(tid))
            text = json.dumps(report)
            expect(f"vm_{name}" in text, f"the name of the scheduler is not reported: {text[:300]}")
            rows = {int(row["dsq_id"]): row for row in find(report, "per_dsq")}
            for (owner, dsq), stays in seen.stays.items():
                if owner == tid:
                    total_us = sum(s["timestamp"] - s["start_timestamp"] for s in stays) / 1000
                    expect(rows[dsq]["event_count"] == len(stays), f"{name}: {rows[dsq]}, expected {len(stays)}")
                    expect_near("mean wait", rows[dsq]["latency_avg_us"], total_us / len(stays), 0.001, 0.01)


def find(report, key):
    """The value of a key, wherever it is."""
    if isinstance(report, dict):
        if key in report:
            return report[key]
        report = list(report.values())
    if isinstance(report, list):
        for part in report:
            found = find(part, key)
            if found is not None:
                return found
    return None


@case
def vtimes_are_those_that_the_scheduler_gave():
    seen = SEEN["vtime"]()
    for key, own in seen.own.items():
        got = (seen.stays[key][0]["vtime"], seen.stays[key][-1]["vtime"])
        expect(got == (own["first_vtime"], own["last_vtime"]), f"task and queue {key}: {got}, expected {own}")


@case
def queues_without_order_have_no_vtime():
    for name in ("fifo", "layered"):
        for stays in SEEN[name]().stays.values():
            expect(all(stay["vtime"] is None for stay in stays), f"{name}: {stays[0]}")
        reported = [row for row in events(SEEN[name]().trace, "scx_run") if row["vtime"] is not None]
        expect(not reported, f"{name}: {reported[:1]}")


@case
def slices_are_those_that_the_scheduler_gave():
    for name in PLAIN:
        seen = SEEN[name]()
        runs = [row for row in events(seen.trace, "scx_run")
                if row["pid"] in seen.tids and int(row["dsq_id"]) in QUEUES[name]]
        expect(len(runs) == sum(own["runs"] for own in seen.own.values()), f"{name}: {len(runs)} runs")
        other = [row for row in runs if row["slice_ns"] != SLICE_NS]
        expect(not other, f"{name}: {len(other)} of {len(runs)} have another slice: {other[:1]}")


@case
def depths_are_those_that_the_scheduler_counts():
    for name in ("vtime", "layered"):
        seen, compared = SEEN[name](), 0
        own = {int(number): depths for number, depths in seen.account["max_depth"].items()}
        for row in find(answer(seen.trace, "analyze", "dsq_latency"), "per_dsq"):
            dsq = int(row["dsq_id"])
            if (dsq % 64) in own:
                # What the kernel said when a spinner came, and the scheduler's own count, which is ahead of the queue.
                expect_between(f"{name}: depth of {dsq}", row["max_queue_depth"], max(own[dsq % 64][0], 1), own[dsq % 64][1])
                compared += 1
        expect(compared >= 2, f"{name}: {compared} queues compared")


@case
def only_queues_that_there_are_show_up():
    for name in QUEUES:
        ids = {int(row["dsq_id"]) for kind in ("dsq_leave", "dsq_depth", "scx_run")
               for row in events(SEEN[name]().trace, kind) if row["dsq_id"] is not None}
        expect(ids <= QUEUES[name] | {GLOBAL, LOCAL, BYPASS}, f"{name}: {sorted(map(hex, ids))}")


@case
def schedulers_that_come_go_and_are_thrown_out_are_followed():
    trace = GUEST.path(f"changes{END}.pftrace")
    states = [(row["state"], row["name"]) for row in events(trace, "scx_state")]
    expect(states == [(ON, "vm_fifo"), (OFF, "vm_fifo"), (ON, "vm_stall"), (EJECTED, "vm_stall"), (ON, "vm_fail"),
                      (EJECTED, "vm_fail"), (ON, "vm_leave"), (OFF, "vm_leave")], f"{states}")
    last = max(row["timestamp"] for row in events(trace, "scx_state"))
    late = [row for row in events(trace, "scx_run") if row["timestamp"] > last + 1_000_000_000]
    expect(not late, f"runs by sched_ext after its end: {late[:1]}")


@case
def the_first_lines_name_a_scheduler_that_was_thrown_out():
    out = run("analyze", str(GUEST.path(f"changes{END}.pftrace")), timeout=120)
    first = "\n".join(out.stdout.splitlines()[:3])
    words = "the kernel threw the sched_ext scheduler vm_stall out"
    expect(words in first, first)
    answers = leading_answers(str(GUEST.path(f"changes{END}.pftrace")), [words])
    expect(words in answers, f"the server does not say it: {answers}")
    waits = answer(GUEST.path(f"changes{END}.pftrace"), "explain", "-c", "stallme", "-n", "1")["waits"]
    expect(waits and waits[0]["wait_ns"] > 1_000_000_000, f"{waits}")
    expect(any("The sched_ext scheduler vm_stall had not run it when the kernel threw it out" in sentence
               for sentence in waits[0]["sentences"]), f"{waits[0]['sentences']}")


@case
def the_flight_recorder_dumps_when_a_scheduler_is_thrown_out():
    names = json.loads(GUEST.path(f"changes{END}.json").read_text(encoding="ascii"))["dumps"]
    expect([name.partition("-scx-eject-")[2] for name in names] == ["vm_stall.pftrace", "vm_fail.pftrace"], f"{names}")


@case
def why_a_scheduler_exited_is_reported_as_by_the_kernel():
    reported = json.loads(GUEST.path(f"changes{END}.json").read_text(encoding="ascii"))["accounts"]
    kinds = {name: account["exit_kind"] for name, account in reported.items()}
    expect(kinds == {"fifo": TAKEN_BACK, "stall": STALLED, "fail": FAILED, "leave": LEFT}, f"{kinds}")
    for row in events(GUEST.path(f"changes{END}.pftrace"), "scx_state"):
        own = reported[row["name"].removeprefix("vm_")]
        if row["state"] == ON:
            expect(row["exit_kind"] is None and row["reason"] is None and row["message"] is None, f"{row}")
            continue
        expect(row["exit_kind"] == own["exit_kind"] and row["reason"] == REASONS[own["exit_kind"]], f"{row}, expected {own}")
        expect((row["message"] or "", row["exit_code"] or 0) == (own["exit_message"], own["exit_code"]),
               f"{row}, expected {own}")
    for name, words in (("stall", "stallme["), ("fail", "cannot go on with 4660"), ("leave", "that was all")):
        expect(words in reported[name]["exit_message"], f"{name}: {reported[name]['exit_message']}")
    expect(reported["leave"]["exit_code"] == 4660, f"{reported['leave']}")


@case
def slices_are_used_as_the_scheduler_measures():
    narrow = 0
    for name in PLAIN:
        seen = SEEN[name]()
        for tid in sorted(seen.tids):
            rows = {int(row["dsq_id"]): row for row in find(answer(seen.trace, "analyze", "dsq_latency", "--tid", str(tid)),
                                                            "per_dsq")}
            for (owner, dsq), own in seen.own.items():
                if owner != tid or not own["runs"]:
                    continue
                expect(rows[dsq]["runs"] == own["runs"], f"{name}: {rows[dsq]}, expected {own}")
                expect_near("slice given", rows[dsq]["slice_given_avg_us"], SLICE_NS / 1000, absolute=0.01)
                # A task that stops may go on at once, without a switch, or come back after the kernel's own work: what
                # it used up to its first stop, and the time to its last one before the next insertion. The scheduler
                # hears of both a moment before the switch, and walks through its queues in between. How long that was say
                # two programs beside it at the tracepoint of the switch, one before ours and one after: an emulated
                # CPU may stand still anywhere in it.
                expect_between(f"{name}: slice used", rows[dsq]["slice_used_avg_us"],
                               (own["ran_ns"] - own["early_ns"][1]) / own["runs"] / 1000 * 0.99 - 10,
                               (own["held_ns"] - own["early_ns"][0] + own["late_ns"][1]) / own["runs"] / 1000 * 1.01 + 10)
                narrow += own["held_ns"] <= 1.02 * own["ran_ns"]
    expect(narrow >= 3, f"only in {narrow} cases the scheduler knows well what was used")


@case
def what_the_kernel_counts_is_recorded():
    for name in QUEUES:
        SEEN[name]()
        counts = json.loads(GUEST.path(f"{name}{END}.json").read_text(encoding="ascii"))["counts"]
        rows = events(GUEST.path(f"{name}{END}.pftrace"), "scx_event")
        if counts[0] is None:
            expect(GUEST.kernel == "6.12" and not rows, f"{name}: {rows[:1]}")
            continue
        latest = {row["name"]: row["value"] for row in rows}
        expect(latest.keys() == {key.removeprefix("SCX_EV_").lower() for key in counts[0]}, f"{name}: {latest.keys()}")
        for key in counts[0]:
            values = [row["value"] for row in rows if row["name"] == key.removeprefix("SCX_EV_").lower()]
            expect(values == sorted(set(values)), f"{key}: {values}")  # only what has changed
            # After the work the recorder read once more at least; it may have read before the first of our reads ended.
            expect_between(f"{name}: {key}", values[0], int(counts[0][key]), int(counts[1][key]))
            expect_between(f"{name}: {key}", values[-1], int(counts[1][key]), int(counts[2][key]))


@case
def layers_are_those_that_the_scheduler_keeps():
    seen = SEEN["layered"]()
    runs = collections.Counter((row["pid"], row["layer_id"]) for row in events(seen.trace, "scx_run")
                               if row["pid"] in seen.tids and int(row["dsq_id"]) in QUEUES["layered"])
    own = {(tid, layer): number for tid in seen.tids
           for layer, number in zip((0, 1, None), seen.account["layer_runs"].get(str(tid), [])) if number}
    expect(dict(runs) == own, f"runs by layer: {dict(runs)}, expected {own}")
    expect({layer for _, layer in own} == {0, 1}, f"{own}")
    # What kprobes see is nothing to look up layers by; the switch is.
    stays = {row["layer_id"] for stays in seen.stays.values() for row in stays if not WAY or not row["is_moved"]}
    expect(stays == {0, 1}, f"layers of stays: {stays}")
    report = answer(seen.trace, "analyze", "scx_layer_behavior")
    shown = {row["layer_id"] for row in find(report, "layers")}
    expect({0, 1} <= shown <= {0, 1, None}, f"layers: {shown}")
    for name in ("fifo", "vtime"):
        reported = {row["layer_id"] for row in events(SEEN[name]().trace, "scx_run")}
        expect(reported == {None}, f"{name} has layers {reported}")


@case
def queues_and_tasks_have_tracks_in_the_trace():
    for name in QUEUES:
        seen = SEEN[name]()
        trace = decode.Trace(seen.trace.read_bytes())
        depths = {row["name"].split()[1]: row for row in trace.tracks.values()
                  if (row["name"] or "").startswith("DSQ ") and row["name"].endswith(" depth")}
        want = {"GLOBAL" if dsq == GLOBAL else f"{dsq:#x}" for _, dsq in seen.own}
        expect(want <= depths.keys(), f"{name}: tracks {depths.keys()}, expected {want}")
        expect(all(trace.tracks[row["parent"]]["name"] == "sched_ext" for row in depths.values()), "they belong nowhere")
        stays = collections.Counter()
        for row in trace.track_events:
            if row["track"]["name"] == "scx" and row["type"] == "begin":
                stays[trace.tracks[row["track"]["parent"]]["thread"][1], row["name"].rpartition("_")[2]] += 1
        for (tid, dsq), own in seen.own.items():
            expect(stays[tid, f"{dsq:#x}"] == own["inserts"], f"{name}: {tid} in {dsq:#x}: {stays[tid, f'{dsq:#x}']}, {own}")


main()
