#!/usr/bin/env python3
"""test_dsq.py KERNEL[-k] [WORD...]: dispatch queues of sched_ext, added up in the kernel by `stat -g dsq` and for the screen,
against the accounts of the schedulers themselves.

guest_dsq.py runs both in a virtual machine, where time is a count of instructions. Queues of the schedulers' own must agree
exactly, for all tasks. The kernel's queues it uses itself, too, while schedulers come and go. With -k, the kernel's
functions are watched by kprobes, as where there is no fentry.
"""
import collections
import json
import sys

import vm
from live import case, expect, expect_between, main, once

KERNEL, _, WAY = sys.argv.pop(1).partition("-")
GUEST = vm.Guest(KERNEL, "guest_dsq.py", *filter(None, [WAY]), "fifo", "vtime", "layered", "refresh", "change", "off", "crowded", "asked", "served")
GLOBAL, LOCAL, BYPASS = ((1 << 63) | n for n in (1, 2, 3))
KERNEL_MADE = {GLOBAL, LOCAL, BYPASS}
QUEUES = {"fifo": set(), "vtime": set(range(100, 116)), "layered": {200, 201}}
SECOND_LAYER = 201
SLICE_US = 20_000
ROUNDED = 0.001  # sums are a mean times a count
STALLED = 1026  # why the kernel ends a scheduler: a task did not run


def left(name):
    """What the guest left."""
    return json.loads(GUEST.path(f"{name}.json").read_text(encoding="ascii"))


class Seen:
    """A scheduler: its own account per queue and per task, and the rows of stat."""

    def __init__(self, name):
        data = left(name)
        self.tids = data["tids"]
        self.account = data["account"]
        self.report = data["report"]
        self.talk = data["talk"]
        self.own = add_up(self.account, "dsq")
        self.tasks = add_up(self.account, "tid")
        self.queues = {int(row["dsq_id"], 16): row for row in self.report["groups"]["dsq"]}
        expect(self.account["lost"] == 0, f"{name}: the scheduler could not count {self.account['lost']}")
        expect(self.report["lost"]["total"] == 0, f"{name}: lost {self.report['lost']}")

    def own_queues(self):
        """Queues that only the scheduler uses: (id, its account, our row)."""
        return [(dsq, own, self.queues[dsq]) for dsq, own in self.own.items() if dsq not in KERNEL_MADE]


def add_up(account, key):
    """The account by queue or by task."""
    sums = collections.defaultdict(collections.Counter)
    for row in account["tasks"]:
        for field in ("inserts", "moves", "runs", "wait_ns", "ran_ns", "held_ns", "placing_ns"):
            sums[row[key]][field] += row[field]
        # Our program is there before the scheduler, so it sees a switch before the first of the scheduler's own does.
        for field in ("early_ns", "late_ns"):
            sums[row[key]][field] += row[field][0]
    return sums


SEEN = {name: once(lambda name=name: Seen(name)) for name in QUEUES}


def total_us(dist):
    """Sum of a distribution."""
    return dist["mean_us"] * dist["count"] if dist["count"] else 0


def expect_waits(what, got_us, own, more_us=0):
    """Between two readings of the clock each, the scheduler knows when a task was placed and when the switch to it came: an
    emulated CPU may stand still there. What the kernel did by itself, which is not in the account, is more_us."""
    wait, placing, early = (own[field] / 1e3 for field in ("wait_ns", "placing_ns", "early_ns"))
    expect_between(what, got_us, (1 - ROUNDED) * wait - placing, (1 + ROUNDED) * wait + placing + early + more_us)


def expect_used(what, got_us, own, more_us=0):
    """A task that stops may go on at once, without a switch: at least up to its first stop, at most up to its last one before
    the next insertion, each with what lies between the scheduler's word and the switch."""
    expect_between(what, got_us, (1 - ROUNDED) * (own["ran_ns"] - own["early_ns"]) / 1e3,
                   (1 + ROUNDED) * (own["held_ns"] + own["late_ns"]) / 1e3 + more_us)


@case
def the_way_is_the_one_that_was_asked_for():
    for name in ("vtime", "refresh"):
        number = left(name)["kprobes"]
        expect(number == (5 if WAY else 0), f"{name}: {number} programs by kprobe")


def expect_exact(name, seen):
    """Counts of all queues of the scheduler's own."""
    expect(seen.own_queues(), f"{name}: no queues")
    for dsq, own, row in seen.own_queues():
        got = (row["inserts"], row["dispatches"], row["moved_out"])
        expect(got == (own["inserts"], own["runs"], own["moves"]), f"{name}, queue {dsq}: {got}, expected {own}")
        expect(row["latency"]["count"] == row["dispatches"], f"{name}, queue {dsq}: {row['latency']}")
        expect(row["queued"] == 0, f"{name}, queue {dsq}: {row['queued']} are still in it")


@case
def insertions_dispatches_and_moves_agree_exactly():
    for name in ("vtime", "layered"):
        expect_exact(name, SEEN[name]())


@case
def moves_between_queues_have_two_ends():
    rows = SEEN["layered"]().queues.values()
    moves = sum(own["moves"] for own in SEEN["layered"]().own.values())
    expect(moves > 0, "nothing was moved")
    # The kernel, too, moves tasks, from its own queue into one of the scheduler's, when that is there.
    into, out = sum(row["moved_in"] for row in rows), sum(row["moved_out"] for row in rows)
    expect(into == out >= moves, f"{into} moves in, {out} out, the scheduler made {moves}")


@case
def the_global_queue_has_all_that_was_put_there():
    seen = SEEN["fifo"]()
    row, own = seen.queues[GLOBAL], seen.own[GLOBAL]
    # Coming and going, the kernel itself uses it.
    expect_between("insertions", row["inserts"], own["inserts"], own["inserts"] + 64)
    expect_between("dispatches", row["dispatches"], own["runs"], own["runs"] + 64)
    others = row["dispatches"] - own["runs"]
    expect_waits("waits", total_us(row["latency"]), own, more_us=others * row["latency"]["max_us"])
    expect_used("time used", total_us(row["used"]), own, more_us=others * row["used"]["max_us"])


@case
def direct_dispatch_is_distinguished():
    for name in QUEUES:
        row, own = SEEN[name]().queues[LOCAL], SEEN[name]().own[LOCAL]
        expect(row["dsq"] == "local" and row["queued"] is None, f"{name}: {row}")
        # The kernel puts a task that was preempted there, too.
        expect(row["inserts"] >= own["inserts"] > 0, f"{name}: {row['inserts']}, the scheduler put {own['inserts']} there")


@case
def waits_agree():
    for name in ("vtime", "layered"):
        for dsq, own, row in SEEN[name]().own_queues():
            if dsq != SECOND_LAYER:  # whose waits end in the first
                expect_waits(f"{name}: waits in {dsq}", total_us(row["latency"]), own)


@case
def slices_given_and_used_agree():
    for name in ("vtime", "layered"):
        for dsq, own, row in SEEN[name]().own_queues():
            if not row["dispatches"]:
                continue
            slices = {row["slice"][key] for key in ("min_us", "mean_us", "max_us")}
            expect(slices == {SLICE_US} and row["endless_slices"] == 0, f"{name}: slices of {dsq}: {row['slice']}")
            expect_used(f"{name}: time used of {dsq}", total_us(row["used"]), own)


@case
def vtime_goes_on_as_the_scheduler_says():
    for dsq, own, row in SEEN["vtime"]().own_queues():
        tasks = [task for task in SEEN["vtime"]().account["tasks"] if task["dsq"] == dsq]
        delta = row["vtime_delta"]
        expect(delta["count"] == own["inserts"] - 1, f"{dsq}: {delta}, {own['inserts']} insertions")
        spans = {last["last_vtime"] - first["first_vtime"] for first in tasks for last in tasks}
        expect(delta["sum"] in spans, f"{dsq}: went on by {delta['sum']}, which no first and last insertion explains")
        expect(0 <= delta["behind"] <= delta["count"], f"{dsq}: {delta}")
        expect(delta["max_ahead"] >= delta["mean"] >= -delta["max_behind"], f"{dsq}: {delta}")


@case
def queues_without_order_have_no_vtime():
    for name in ("fifo", "layered"):
        for row in SEEN[name]().queues.values():
            expect(row["vtime_delta"] is None, f"{name}: {row}")


@case
def depths_are_those_that_the_scheduler_counts():
    for name in ("vtime", "layered"):
        for dsq, _, row in SEEN[name]().own_queues():
            # What the kernel said when a task came, and the scheduler's own count, which is ahead of the queue.
            queued, own = SEEN[name]().account["max_depth"][str(dsq % 64)]
            expect_between(f"{name}: depth of {dsq}", row["depth"]["max"], max(queued, 1), own)
            expect(row["depth"]["count"] == row["inserts"], f"{name}: {row['depth']}")


@case
def only_queues_that_there_are_show_up():
    for name, ids in QUEUES.items():
        got = set(SEEN[name]().queues)
        expect(got <= ids | KERNEL_MADE, f"{name}: {sorted(map(hex, got))}")
        reported = {row["dsq_id"] for row in SEEN[name]().report["groups"]["dsq_tasks"]}
        expect({int(dsq, 16) for dsq in reported} <= ids | KERNEL_MADE, f"{name}: {reported}")


@case
def tasks_have_what_they_got():
    for name in QUEUES:
        seen = SEEN[name]()
        for tid in seen.tids:
            # A row for each name that it had.
            rows = [row for row in seen.report["groups"]["dsq_tasks"] if row["tid"] == tid]
            own, runs = seen.tasks[tid], sum(row["runs"] for row in rows)
            expect(runs == sum(row["count"] for row in rows), f"{name}, task {tid}: {rows}")
            # The kernel puts a task that was preempted into the queue of its CPU by itself.
            expect_between(f"{name}: runs of {tid}", runs, own["runs"], own["runs"] + 32)
            # The account counts the wait before a move, too; what the kernel does by itself is not in it.
            if not own["moves"]:
                local = seen.own[LOCAL]
                more = total_us(seen.queues[LOCAL]["latency"]) - (local["wait_ns"] - local["placing_ns"]) / 1e3
                expect_waits(f"{name}: waits of {tid}", sum(map(total_us, rows)), own, more_us=max(more, 0))
            expect(all(row["mean_slice_us"] == SLICE_US for row in rows if row["dsq"] != "local"), f"{name}: {rows}")
            expect(rows[0]["mean_used_us"] > 0, f"{name}, task {tid}: {rows}")


@case
def without_a_scheduler_it_says_so_and_waits_for_one():
    talk = SEEN["vtime"]().talk
    expect("no sched_ext scheduler is loaded" in talk, talk)
    expect(SEEN["vtime"]().report["sched_ext"]["state"] == "disabled", f"{SEEN['vtime']().report['sched_ext']}")


def runs_of(names):
    """Without repetitions in a row."""
    return [name for i, name in enumerate(names) if i == 0 or name != names[i - 1]]


@case
def schedulers_that_come_go_and_are_thrown_out_are_followed():
    reported = left("change")
    expect(reported["exit_kind"] == STALLED, f"ended by {reported['exit_kind']}, expected the watchdog")
    names = runs_of([report["sched_ext"]["scheduler"] for report in reported["reports"]])
    expect(names == [None, "vm_fifo", None, "vm_stall", None, "vm_vtime", None], f"{names}")
    for report in reported["reports"]:
        ids = {int(row["dsq_id"], 16) for row in report["groups"]["dsq"]}
        if report["sched_ext"]["scheduler"] in ("vm_fifo", "vm_stall"):
            expect(ids <= KERNEL_MADE, f"{report['sched_ext']}: {ids}")
    last = {int(row["dsq_id"], 16) for row in reported["reports"][-1]["groups"]["dsq"]}
    expect(last & QUEUES["vtime"], f"the last report has not the queues of the last scheduler: {last}")
    sequence = runs_of([report["sched_ext"]["enable_seq"] for report in reported["reports"]])
    expect(sequence == sorted(sequence) and len(sequence) == 4, f"{sequence}")


@case
def the_screen_sees_the_same_queues():
    reported = left("refresh")
    own = add_up(reported["account"], "dsq")
    sums = collections.Counter()
    for refresh in reported["refreshes"]:
        for dsq in refresh["dsqs"]:
            sums[int(dsq["id"])] += dsq["latency"]["count"]
    # While a CPU reads a map for us, the kernel runs no kprobe of ours there, and counts it: interrupts queue tasks, too.
    missed = reported["refreshes"][-1]["lost"]
    expect(WAY or not missed, f"{missed} lost")
    for dsq, counts in own.items():
        if dsq not in KERNEL_MADE:
            expect_between(f"runs from queue {dsq} in all refreshes", sums[dsq], counts["runs"] - missed, counts["runs"])
    expect(set(sums) <= QUEUES["vtime"] | KERNEL_MADE, f"{sums}")
    middle = reported["refreshes"][1]
    for dsq in middle["dsqs"]:
        if dsq["latency"]["count"]:
            expect(dsq["latency"]["p50_ns"] <= dsq["latency"]["p90_ns"] <= dsq["latency"]["p99_ns"] <=
                   dsq["latency"]["max_ns"], f"{dsq}")
        expect((dsq["vtime_delta"] is None) == (int(dsq["id"]) in KERNEL_MADE) or dsq["inserts"] < 2, f"{dsq}")


@case
def the_screen_knows_the_queue_of_a_task():
    reported = left("refresh")
    for tid in reported["tids"]:
        rows = [task for refresh in reported["refreshes"][:4] for task in refresh["threads"] if task["tid"] == tid]
        dsqs = {int(row["dsq"]) for row in rows if row["dsq"] is not None}
        expect(dsqs and dsqs <= QUEUES["vtime"] | KERNEL_MADE, f"task {tid}: {dsqs}")
        rows = [row for refresh in reported["refreshes"][:4] for row in refresh["scx"]["tasks"] if row["tid"] == tid]
        expect(rows and all(row["latency"]["count"] for row in rows), f"task {tid}: {rows[:1]}")


@case
def the_screen_shows_what_the_scheduler_says_of_itself():
    said = [refresh["scx"]["stats"] for refresh in left("refresh")["refreshes"] if refresh["scx"]["stats"]]
    expect(said, f"nothing: {[refresh['scx']['no_stats'] for refresh in left('refresh')['refreshes']]}")
    expect(all(isinstance(json.loads(text), dict) and text.startswith("{\n  ") for text in said), said[0][:200])
    # The one that has no server is not taken for one that has.
    reasons = [refresh["scx"]["no_stats"] for refresh in left("change")["refreshes"] if refresh["scheduler"]]
    expect(any(reason and "no scheduler serves statistics" in reason for reason in reasons), f"{reasons}")


@case
def the_screen_has_the_counters_of_the_kernel_where_there_are_any():
    refreshes = left("refresh")["refreshes"]
    if GUEST.kernel == "6.12":
        expect(all(not refresh["scx"]["counters"] for refresh in refreshes), "counters that this kernel does not have")
        return
    names = set(refreshes[1]["scx"]["counters"])
    expect({"select_cpu_fallback", "dispatch_keep_last"} <= names, f"{names}")
    values = [refresh["scx"]["counters"]["dispatch_keep_last"]["value"] for refresh in refreshes[:4]]
    expect(values == sorted(values), f"{values}")


@case
def the_screen_follows_schedulers():
    refreshes = left("change")["refreshes"]
    names = [refresh["scheduler"] for refresh in refreshes]
    expect(names == [None, "vm_fifo", None, "vm_stall", None, "vm_vtime", None], f"{names}")
    expect(refreshes[4]["scx"]["last"] and "vm_stall" in refreshes[4]["scx"]["last"], f"{refreshes[4]['scx']}")
    sequence = [refresh["scx"]["enable_seq"] for refresh in refreshes]
    expect(sequence == sorted(sequence) and sequence[-1] - sequence[0] == 3, f"{sequence}")


@case
def a_scheduler_of_some_tasks_has_those_and_no_others():
    reported = left("asked")
    with_it, without = ({row["tid"]: row["class"] for row in refresh["threads"]} for refresh in reported["refreshes"])
    expect((with_it[reported["normal"]], with_it[reported["asking"]]) == ("fair", "ext"), f"{with_it}")
    expect((without[reported["normal"]], without[reported["asking"]]) == ("fair", "fair"), f"{without}")
    own = add_up(reported["account"], "tid")
    expect(set(own) == {reported["asking"]}, f"the scheduler had {list(own)}")
    tasks = {row["tid"]: row for row in reported["report"]["groups"]["dsq_tasks"]}
    expect(set(tasks) == {reported["asking"]}, f"stat has queues of {list(tasks)}")


def samples(page):
    """{series: value} of a page."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in page.splitlines() if line and line[0] != "#"}


@case
def metrics_are_those_of_the_scheduler():
    """Of the queues that only the scheduler uses: as many as ran, as long as they were in them."""
    if WAY:
        return  # serve has no option for kprobes
    reported = left("served")
    expect(reported["code"] == 0, f"{reported['talk']}")
    within, after = map(samples, reported["pages"])
    own = [row for dsq, row in add_up(reported["account"], "dsq").items() if dsq not in KERNEL_MADE]
    runs, wait, placing, early = (sum(row[field] for row in own) for field in ("runs", "wait_ns", "placing_ns", "early_ns"))
    name = 'schedscope_dsq_latency_seconds_{}{{queue="user"}}'
    expect(after[name.format("count")] == runs > 50, f"{after[name.format('count')]} stays, expected {runs}")
    expect_between("seconds in queues", after[name.format("sum")], (wait - placing) / 1e9 - 1e-6, (wait + placing + early) / 1e9 + 1e-6)
    expect(within["schedscope_scx_enabled"] == 1 and after["schedscope_scx_enabled"] == 0, "whether one is in charge")
    info = [series for series in within if series.startswith("schedscope_scx_scheduler_info{")]
    expect(len(info) == 1 and not any("scx_scheduler_info{" in series for series in after), f"{info}")
    expect(after["schedscope_scx_enables_total"] >= 1, f"{after['schedscope_scx_enables_total']} schedulers since boot")


@case
def where_functions_cannot_be_watched_one_sentence_says_so():
    reported, sentence = left("off"), "dispatch queues cannot be traced on this kernel"
    expect(reported["code"] == 1 and sentence in reported["talk"] and len(reported["talk"].splitlines()) <= 2, f"{reported}")
    expect(sentence in (reported["refresh"]["scx"]["reason"] or ""), f"{reported['refresh']['scx']}")


@case
def where_no_more_watchers_find_room_kprobes_serve_by_themselves():
    reported = left("crowded")
    expect(reported["watchers"] >= 30, f"only {reported['watchers']} watchers made it full")
    expect(reported["kprobes"] == 5 and reported["recorded_by"] >= 5, f"{reported['kprobes']} and {reported['recorded_by']} kprobes")
    expect_exact("crowded", Seen("crowded"))


main()
