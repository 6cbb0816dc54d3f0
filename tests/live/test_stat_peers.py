#!/usr/bin/env python3
"""`schedscope stat` against other tools that watch the same seconds.

One recording by perf serves two peers: our own pairing of its raw events (pair.py) and `perf sched timehist`.
The tasks compared are born and die while all of them watch, so nothing has to be cut. On some virtual
machines perf is blind in the idle task of a CPU and in threads of pid 1: a spinner of the idle class keeps
the CPUs from idling, and a tolerance of 0.2 % is for the rest.
"""
import os
import time

import pair
import peer_timehist
from live import (Disturbed, Meanwhile, Stat, Work, boot_minus_monotonic_ns, case, expect, expect_between, expect_near, main,
                  need_live, once, part, row, rows, scratch, unseen_switches, workload)
from peer_runqlat import Runqlat, slot_of

STORM = f"storm-{os.getpid()}"
ALL = "latency,slice,sleep,migration,waking"
# Ours and perf's stamps of one event lie a moment apart, either way; when caches are cold, a longer one.
STAMP_US = 1.0
COLD_STAMP_US = 8.0
# A host may take the CPU away between two stamps of one event: seen in the longest sample and in the mean of
# few. A moment of this length is nothing; for longer ones see expect_sum_near().
STOLEN_US = 100.0


def record():
    """The workloads' accounts, our reports, when perf recorded, its events in pairs, timehist's delays."""
    need_live()
    with scratch() as folder:
        keeper = Work("keep", ms=60000)
        try:
            with Stat("--by", "tid", "-d", "-g", ALL) as stat:
                recording = pair.Recording(os.path.join(folder, "perf.data"))
                unseen = -unseen_switches()
                meanwhile = Meanwhile()
                start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                accounts = [
                    workload("pingpong", rounds=20000),
                    workload("futex", rounds=10000),
                    workload("hogs", nr=3, ms=1000),
                    workload("storm", nr=3000, us=100, name=STORM),
                    workload("depth", nr=2, rounds=100),
                    workload("yield", rounds=5000),
                    workload("sleep", nr=4, rounds=300, us=2000),
                    workload("migrate", rounds=400),
                    workload("dsleep", rounds=40, us=5000),
                ]
                end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                unseen += unseen_switches()
                taken_us = meanwhile.taken_ns() / 1e3
                recording.stop()
                report = stat.finish()
                reports = stat.objects()
        finally:
            keeper.kill()
        pairs = pair.Pairs(recording.events())
        delays = peer_timehist.read(recording.path)
    return {"accounts": accounts, "report": report, "reports": reports, "window": (start, end),
            "pairs": pairs, "timehist": delays, "unseen": unseen, "taken_us": taken_us}


@once
def session():
    """The recording that all cases use; one that was disturbed is replaced by another."""
    try:
        return record()
    except pair.LostEvents as error:  # others keep the machine too busy for perf
        raise Disturbed(f"perf: {error}") from error


def expect_sum_near(what, ours, theirs, limit, count=1):
    """Within the limit; else the difference of the sum behind both shows whether what was taken from the CPUs may explain it.

    A stolen moment does not come back at the same place in the next recording; an error of ours does.
    """
    difference, taken_us = abs(ours - theirs), session()["taken_us"]
    if difference > limit:
        text = f"{what}: {ours}, perf has {theirs} +- {limit:g}"
        if difference * count <= taken_us:
            raise Disturbed(f"{text}; {taken_us:g} us were taken meanwhile")
        raise AssertionError(text)


def tasks():
    """The tasks that did anything often enough to be compared."""
    return [task for account in session()["accounts"] for task in account["tasks"]
            if account["work"] != "storm"]


def expect_max(what, ours, theirs):
    """Within 5 %. Where perf missed samples, it may have missed the longest."""
    is_blind = theirs["count"] < ours["count"]
    if is_blind and ours["max_us"] > theirs["max_us"]:
        return
    expect_sum_near(f"{what} max_us", ours["max_us"], theirs["max_us"], max(theirs["max_us"] * 0.05, STOLEN_US))


def expect_percentile(what, ours, theirs, limit, samples):
    """Within the limit; else so many samples lie elsewhere as perf has between both: stolen time may have moved them, or not."""
    if abs(ours - theirs) > limit:
        low, high = (theirs, ours - limit) if ours > theirs else (ours + limit, theirs)
        nr_moved = sum(low <= sample[0] / 1e3 <= high for sample in samples)
        expect_sum_near(what, ours, theirs, limit, max(nr_moved, 1))


def compare(what, ours, samples):
    """Counts within 0.2 %, maxima within 5 %, the mean and the percentiles within a bucket."""
    theirs = pair.summary(samples)
    if theirs is None:
        expect(ours["count"] <= 2, f"{what}: {ours['count']} here, none there")
        return
    expect_near(f"{what} count", ours["count"], theirs["count"], relative=0.002, absolute=2)
    if min(ours["count"], theirs["count"]) < 20:
        return  # a sample that one of them missed would decide
    expect_max(what, ours, theirs)
    stamp = STAMP_US if theirs["count"] >= 1000 else COLD_STAMP_US
    expect_sum_near(f"{what} mean_us", ours["mean_us"], theirs["mean_us"], max(theirs["mean_us"] * 0.05, stamp),
                    theirs["count"])
    for key in ("p50_us", "p90_us"):
        slot = 1 if theirs[key] < 32 else 10 if theirs[key] < 512 else theirs[key] / 8
        expect_percentile(f"{what} {key}", ours[key], theirs[key], slot + stamp, samples)


def each_task(group, path, *metrics):
    """Compares a part of a group's rows with samples of perf, for each task."""
    compared = 0
    for task in tasks():
        samples = session()["pairs"].merged(task["comm"], *metrics, tid=task["tid"])
        found = rows(session()["report"], group, tid=task["tid"], comm=task["comm"])
        expect(len(found) <= 1, f"{len(found)} rows of {task['comm']} {task['tid']} in {group}")
        ours = part(found[0] if found else {"count": 0}, *path)
        compare(f"{group} {'.'.join(path)} of {task['comm']} {task['tid']}", ours, samples)
        compared += len(samples) >= 20
    expect(compared >= 2, f"only {compared} tasks had {metrics} to compare")


@case
def queue_delays_agree_with_the_pairing_of_raw_events():
    each_task("latency", (), "woken", "preempted", "new")


@case
def delays_of_woken_tasks_agree():
    each_task("latency", ("by_cause", "woken"), "woken")


@case
def delays_of_preempted_tasks_agree():
    each_task("latency", ("by_cause", "preempted"), "preempted")


@case
def slices_agree():
    each_task("slice", ("voluntary",), "voluntary")
    each_task("slice", ("involuntary",), "involuntary")


@case
def sleeps_agree_by_state():
    each_task("sleep", ("by_state", "interruptible"), "S")
    each_task("sleep", ("by_state", "uninterruptible"), "D")


@case
def waking_delays_agree():
    each_task("waking", (), "waking")


@case
def migrations_agree():
    pairs, compared = session()["pairs"], 0
    for task in tasks():
        theirs = pairs.migrations[task["tid"], task["comm"]]
        found = rows(session()["report"], "migration", tid=task["tid"], comm=task["comm"])
        ours = found[0]["total"] if found else 0
        expect_near(f"migrations of {task['comm']}", ours, theirs, absolute=1)
        compared += theirs >= 20
    expect(compared >= 1, "nothing migrated")


@case
def the_maximum_happened_when_and_where_perf_saw_it():
    shift, compared = boot_minus_monotonic_ns(), 0
    for task in tasks():
        samples = session()["pairs"].merged(task["comm"], "woken", "preempted", "new", tid=task["tid"])
        ours = row(session()["report"], "latency", tid=task["tid"], comm=task["comm"])
        near = [sample for sample in samples if abs(sample[1] + shift - ours["max_time_ns"]) < 100_000
                and abs(sample[0] / 1e3 - ours["max_us"]) < STOLEN_US]
        if near:
            compared += 1
            expect(ours["max_cpu"] in [cpu for _, _, cpu in near], f"{task['comm']}: another CPU than perf's")
    expect(compared >= len(tasks()) - 2, f"perf saw the longest waits of {compared} of {len(tasks())} tasks")


@case
def waking_delays_agree_with_timehist():
    compared = 0
    for task in tasks():
        theirs = session()["timehist"][task["tid"]]
        ours = rows(session()["report"], "waking", tid=task["tid"])
        if len(theirs) < 100:
            continue
        compared += 1
        # timehist knows no names: all lives of the tid count.
        count, longest = sum(one["count"] for one in ours), max((one["max_us"] for one in ours), default=0)
        # It forgets a waking that finds the task still in the queue: as many as were preempted at most. And one that finds it
        # on its CPU, on the way to sleep: a CPU that is stolen there is found so by every waker. What is less than
        # a microsecond looks like no delay: on a fast CPU, half of them.
        pairs = session()["pairs"]
        brief = sum(sample[0] < 1000 for sample in pairs.merged(task["comm"], "waking", tid=task["tid"]))
        expect_near(f"waking delays of {task['comm']}", count, len(theirs), relative=0.002, absolute=3,
                    more=task["involuntary"] + pairs.early_wakings[task["tid"]] + brief)
        expect_max(f"longest of {task['comm']}", {"count": count, "max_us": longest},
                   {"count": len(theirs), "max_us": max(theirs)})
    expect(compared >= 5, f"only {compared} tasks to compare")


@case
def short_lives_are_counted():
    found = rows(session()["report"], "latency", comm=STORM)
    news = sum(part(one, "by_cause", "new")["count"] for one in found)
    expect_between("new tasks of the storm", news, 3000 - session()["unseen"], 3000)


@case
def exits_agree():
    """Between the first and the last of our reports that came while perf recorded."""
    shift, window = boot_minus_monotonic_ns(), session()["window"]
    reports = [one for one in session()["reports"] if window[0] < one["time_ns"] < window[1]]
    expect(len(reports) >= 2, f"{len(reports)} reports while perf recorded")
    start, end = reports[0], reports[-1]
    theirs = sum(start["time_ns"] < at + shift <= end["time_ns"] for at in session()["pairs"].exits)
    expect(theirs >= 100, f"perf saw {theirs} exits only")
    # A task's last switch comes a moment after its exit event, and a drain takes a moment.
    expect_near("exits", end["events"]["exit"] - start["events"]["exit"], theirs, relative=0.002, absolute=10)


@case
def the_whole_machine_agrees_with_runqlat():
    with Stat("-g", "latency", "-d") as stat:
        # What goes on besides, for the moments in which only one of both watches.
        besides = sum(one["count"] for one in rows(stat.objects()[0], "cpu_latency"))
        runqlat = Runqlat()
        for _ in range(2):
            workload("pingpong", rounds=100000)
            workload("hogs", nr=3, ms=1000)
        slots = runqlat.finish()
        report = stat.finish()
    cpus = rows(report, "cpu_latency")
    expect(len(cpus) == os.cpu_count(), f"{len(cpus)} CPUs in the report")
    ours, theirs = sum(one["count"] for one in cpus), sum(slots.values())
    expect_near("waits of the whole machine", ours, theirs, relative=0.01, absolute=3 * besides)
    busiest = max(cpus, key=lambda one: one["count"])
    for share, key in ((0.5, "p50_us"), (0.9, "p90_us")):
        low, high = slot_of(slots, share)
        expect(low / 2 <= busiest[key] <= 2 * high + 1, f"{key} {busiest[key]}, runqlat has {low} to {high}")


if __name__ == "__main__":
    main()
