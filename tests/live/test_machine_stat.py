#!/usr/bin/env python3
"""The numbers on the screen are those of `stat --json` over the same seconds.

Workloads are frozen before both begin and after both have seen enough: then every one of their events is in both, and
counts are equal, not nearly so. Lengths are measured by the programs of each, which run one after the other at the same
event: both ends of a time move by what the others take, some microseconds when their code is cold, and by as much as the
machine under a virtual one takes away between them (/proc/stat: steal).
"""
import os
import time

from live import IS_EMULATED, Meanwhile, Stat, Work, case, expect, expect_between, expect_near, main, part, rows
from test_machine import Screen, sched, tids
from test_zoom import freeze, pingpong, thaw, wait_for_names

STATES = ("interruptible", "uninterruptible", "other")
# Between the readings of the clock by three programs, one of them interrupted; an emulated CPU may stand still there.
CLOCK_NS = 1e7 if IS_EMULATED else 3e4
MEAN_NS = 5e4 if IS_EMULATED else 3e3  # the same, on average: what the programs before take
BUCKET = 0.125  # of a value: how far it may move within its bucket, or into the next


def parts_of(report, tid, paths):
    """The parts of a thread's rows that count anything; a path begins with the group."""
    parts = []
    for group, *path in paths:
        found = rows(report, group, tid=tid)
        expect(len(found) <= 1, f"{len(found)} rows of {tid} in {group}")
        parts += [part(row, *path) for row in found]
    return [one for one in parts if one["count"]]


# What the screen calls it, and of which parts of stat's report it is the sum. The screen's latency begins with sched_waking.
FIELDS = {
    "latency": (("waking",), ("latency", "by_cause", "new")),
    "preempted": (("latency", "by_cause", "preempted"),),
    "slice": (("slice", "voluntary"), ("slice", "involuntary")),
}
WOKEN = ("latency", "by_cause", "woken")


def expect_dist(what, got, parts, stolen):
    """One refresh's distribution against stat's parts."""
    expect_near(f"{what}: count", got["count"], sum(one["count"] for one in parts))
    if not parts:
        return
    expect_near(f"{what}: max", got["max_ns"], max(one["max_us"] for one in parts) * 1000, absolute=CLOCK_NS,
                less=stolen, more=stolen)
    total = sum(one["count"] * one["mean_us"] for one in parts) * 1000
    expect_near(f"{what}: mean", got["mean_ns"], total / got["count"], relative=0.02, absolute=MEAN_NS,
                less=stolen / got["count"], more=stolen / got["count"])
    if len(parts) > 1:
        return  # percentiles of a sum do not follow from those of its parts
    for percentile, clock_ns in (("p50", MEAN_NS), ("p99", CLOCK_NS)):
        want = parts[0][f"{percentile}_us"] * 1000
        expect_near(f"{what}: {percentile}", got[f"{percentile}_ns"], want, absolute=want * BUCKET + clock_ns,
                    less=stolen, more=stolen)


def thread(refresh, tid):
    return next((t for t in refresh["threads"] if t["tid"] == tid), None)


def expect_sleeps(report, row, tid, stolen):
    """Sleeps end with the waking on the screen and with the wakeup in stat: with the wait that follows they are the same."""
    sleeps = parts_of(report, tid, [("sleep", "by_state", state) for state in STATES])
    waits = parts_of(report, tid, [WOKEN, ("latency", "by_cause", "new")])
    total = sum(one["count"] * one["mean_us"] * 1000 for one in sleeps + waits)
    mine = sum(row[field]["count"] * row[field].get("mean_ns", 0) for field in ("sleep", "latency"))
    nr = sum(one["count"] for one in sleeps)
    expect_between(f"sleeps of {tid}", row["sleep"]["count"], nr - sum(one["count"] for one in waits), nr)
    expect_near(f"sleeps and waits of {tid}", mine, total, relative=0.02, absolute=MEAN_NS * (nr + 1), less=stolen, more=stolen)


def expect_same(report, one, many, tid, stolen):
    """One long refresh, and many short ones, against stat; how many distributions were compared in full."""
    compared = 0
    for field, paths in FIELDS.items():
        parts = parts_of(report, tid, paths)
        expect_dist(f"{field} of {tid}", thread(one, tid)[field], parts, stolen)
        seen = [thread(refresh, tid) for refresh in many]
        expect(all(seen), f"{tid} is not always there")
        expect_near(f"{field} of {tid} over all refreshes", sum(t[field]["count"] for t in seen),
                    sum(part["count"] for part in parts))
        if parts:
            expect_near(f"longest {field} of {tid} over all refreshes", max(t[field].get("max_ns", 0) for t in seen),
                        max(part["max_us"] for part in parts) * 1000, absolute=CLOCK_NS, less=stolen, more=stolen)
        compared += len(parts) == 1
    expect_sleeps(report, thread(one, tid), tid, stolen)
    moved = rows(report, "migration", tid=tid)
    expect_near(f"moves of {tid}", thread(one, tid)["migrations_per_s"] * one["interval_s"],
                sum(row["total"] for row in moved), relative=0.05, absolute=0.1)
    return compared


def compare(pids, threads, seconds=2, refreshes=8):
    """Runs frozen processes under stat and two screens, one refreshing once, the other often."""
    with Screen() as once, Screen() as often:
        once.attached()
        often.attached()
        with Stat("--by", "tid", "-g", "latency,waking,slice,sleep,migration", "-d") as stat:
            once.refresh()
            often.refresh()
            meanwhile = Meanwhile()
            thaw(*pids)
            many = []
            for _ in range(refreshes):
                time.sleep(seconds / refreshes)
                many.append(often.refresh())
            freeze(*pids)
            time.sleep(0.1)
            one = once.refresh()
            many.append(often.refresh())
            report = stat.finish()
    stolen = meanwhile.taken_ns()
    compared = sum(expect_same(report, one, many, tid, stolen) for tid in threads)
    expect(compared >= len(threads), f"only {compared} distributions of {len(threads)} threads could be compared")
    return report, one


@case
def sleepers_and_hogs_are_the_same_on_the_screen_and_in_stat():
    works = [Work("sleep", nr=2, rounds=1000000, us=2000), Work("hogs", nr=2, ms=600000)]
    try:
        wait_for_names(works[0], "napper", 2)
        wait_for_names(works[1], "hog", 2)
        freeze(*(work.pid for work in works))
        threads = [tid for work in works for tid in tids(work.pid) if tid != work.pid]
        before = {tid: sched(os.path.basename(os.path.realpath(f"/proc/{tid}")), tid) for tid in threads}
        meanwhile = Meanwhile()
        report, one = compare([work.pid for work in works], threads)
        taken = meanwhile.taken_ns()
        for tid in threads:
            row = thread(one, tid)
            # And both are what the kernel accounts for: time on the CPU.
            ran = sched(row["tgid"], tid)[0] - before[tid][0]
            slices = row["slice"]["count"] * (row["slice"]["mean_ns"] if row["slice"]["count"] else 0)
            expect_near(f"time on the CPU of {tid}", slices, ran, relative=0.1, absolute=2e7, more=taken)
        expect(report["lost"]["total"] == 0, f"lost: {report['lost']}")
    finally:
        for work in works:
            work.kill()


@case
def a_pingpong_is_the_same_on_the_screen_and_in_stat():
    with pingpong() as players:
        freeze(*players)
        compare(players, players)


@case
def cpus_have_waits_and_moves_as_stat_and_threads_say():
    """Nothing can be frozen here: stat's reports on both sides of each refresh say what it may have seen."""
    with Screen() as screen:
        screen.attached()
        with Stat("--by", "tid", "-g", "latency,slice,sleep,migration", "-d", interval="100ms") as stat:
            work = Work("migrate", rounds=10000000)  # longer than all this
            try:
                time.sleep(0.5)
                before = stat.objects()[-1]
                screen.refresh()
                stat.out.wait_for(len(stat.out.lines) + 1)
                first = stat.objects()[-1]
                time.sleep(3)
                last = stat.objects()[-1]
                refresh = screen.refresh()
                after = stat.finish()
            finally:
                work.kill()

    def expect_seen(what, got, count):
        # A CPU that has just been read goes on while others are.
        expect_between(what, got, 0.9 * (count(last) - count(first)) - 20, 1.1 * (count(after) - count(before)) + 20)

    for cpu in refresh["cpus"]:
        expect_seen(f"waits on CPU {cpu['cpu']}", cpu["wait"]["count"],
                    lambda report, nr=cpu["cpu"]: next(row["count"] for row in report["groups"]["cpu_latency"] if row["cpu"] == nr))
    arrived = sum(cpu["migrations_per_s"] for cpu in refresh["cpus"]) * refresh["interval_s"]
    expect(arrived > 10, f"{arrived} moves")
    expect_seen("moves to all CPUs", arrived, lambda report: report["events"]["migrate"])


if __name__ == "__main__":
    main()
