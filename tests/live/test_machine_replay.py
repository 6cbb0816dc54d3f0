#!/usr/bin/env python3
"""A live screen and `top FILE` show the same: the same workload, seen by a screen while it is recorded.

Workloads are frozen before both begin and after both have seen enough: then every one of their events is in both, and
counts are equal. Lengths are measured by the programs of each, one after the other at the same event, as in
test_machine_stat.py. A screen adds up in slots where a recording has each duration, so percentiles may differ by a slot. What a
machine hides (live.unseen_switches) ends a slice for the one and leaves a gap to the other.

Shares of time are those of an interval, whose ends fall anywhere into slices and waits. The recording is replayed in short cells, which
are added up over each interval of the screen.
"""
import contextlib
import json
import os
import tempfile
import time

from live import (Disturbed, Meanwhile, Work, case, delay_of, expect, expect_near, main, need_live, output, unseen_switches,
                  wait_for_switches)
from test_machine import Screen, sched, task, tids
from test_machine_stat import CLOCK_NS, MEAN_NS
from test_record import Record
from test_zoom import freeze, pingpong, stop, thaw, wait_for_names

DUMP = os.environ["REPLAY_DUMP"]
DISTS = ("latency", "preempted", "slice", "sleep")
MANY = 50  # durations: of fewer, the middle is moved by whatever the machine took from one of them
CELL_MS = 2
RATES = ("voluntary_per_s", "involuntary_per_s", "migrations_per_s")


def slot_ns(ns):
    """How wide the slot of a duration is (docs/definitions.md)."""
    us = int(ns / 1000)
    return 1000 * (1 if us < 32 else 10 if us < 512 else 2 ** (us.bit_length() - 1) // 8)


def expect_dist(what, live, replayed, stolen, unseen):
    """A distribution of the screen against that of the recording."""
    expect_near(f"{what}: count", live["count"], replayed["count"], absolute=unseen)
    if live["count"] < MANY:
        return
    expect_near(f"{what}: mean", live["mean_ns"], replayed["mean"], relative=0.02, absolute=MEAN_NS / 2,
                less=stolen / live["count"], more=stolen / live["count"])
    for name, clock_ns in (("p50", MEAN_NS), ("p99", CLOCK_NS)):
        want = replayed[name]
        expect_near(f"{what}: {name}", live[f"{name}_ns"], want, absolute=slot_ns(want) + clock_ns, less=stolen, more=stolen)
    # The longest of thousands of short ones may be the one in which an interrupt came between both clocks.
    with contextlib.suppress(Disturbed):
        expect_near(f"{what}: max", live["max_ns"], replayed["max"], absolute=CLOCK_NS, less=stolen, more=stolen)


def expect_row(what, live, replayed, seconds, stolen, unseen):
    """All that a row has of an interval; seconds are those of the screen's and of the recording's."""
    for name in DISTS:
        # A sleep ends with a wakeup, which a thread of pid 1 hides like a switch when an interrupt of it wakes.
        expect_dist(f"{name} of {what}", live[name], replayed[name], stolen, unseen * (2 if name == "sleep" else 1))
    for name in RATES:  # of the time between two drains, which a refresh is not exactly as long as
        expect_near(f"{name} of {what}", live[name] * seconds[0], replayed[name] * seconds[1], relative=0.002,
                    absolute=0.1 + unseen)


def compare(pids, threads, seconds=2):
    """Runs frozen processes under a screen and a recorder; both rows of each thread and process."""
    need_live()
    with tempfile.TemporaryDirectory() as folder, Screen() as screen:
        path = f"{folder}/trace.pftrace"
        screen.attached()
        with Record(path) as record:
            unseen = unseen_switches()
            screen.refresh()
            meanwhile = Meanwhile()
            thaw(*pids)
            time.sleep(seconds)
            freeze(*pids)
            time.sleep(0.1)
            refresh = screen.refresh()
            unseen = unseen_switches() - unseen
            record.finish()
        replay = json.loads(output([DUMP, path, "0"]).stdout)
    stolen = meanwhile.taken_ns()
    expect(replay["lost"] == 0, f"the recorder lost {replay['lost']} events")
    lengths = (refresh["interval_s"], replay["interval_s"])
    found = {}
    for table, of_replay, ids in (("threads", "tasks", threads), ("processes", "processes", pids)):
        for tid in ids:
            live_row = task(refresh, table, tid)
            replayed = next(row for row in replay[of_replay] if row["tid"] == tid)
            # The row of a process is the sum of its threads, each of which may lack as many.
            nr = len(tids(tid)) if table == "processes" else 1
            expect_row(f"{table} {tid}", live_row, replayed, lengths, stolen, unseen * nr)
            found[table, tid] = live_row
    return found


class Cells:
    """What a replay in short intervals shows of the tasks of a process."""

    def __init__(self, path, pid):
        lines = output([DUMP, "--process", str(pid), path, str(CELL_MS)]).stdout.splitlines()
        self.cells = [json.loads(line) for line in lines]
        expect(self.cells[0]["lost"] == 0, f"the recorder lost {self.cells[0]['lost']} events")

    def share(self, table, tid, name, begin_ns, end_ns):
        """Of the time between two moments; a cell at an end counts for the part that is inside."""
        expect(self.cells[0]["start_ns"] < begin_ns and end_ns < self.cells[-1]["end_ns"], "the recording is too short")
        total = 0
        for cell in self.cells:
            to_ns = cell["position_ns"]
            from_ns = to_ns - cell["interval_s"] * 1e9
            inside = min(to_ns, end_ns) - max(from_ns, begin_ns)
            if inside > 0:
                total += inside * sum(row[name] or 0 for row in cell[table] if row["tid"] == tid)
        return total / (end_ns - begin_ns)


class Moment:
    """A refresh, and what else is known of that moment."""

    def __init__(self, screen, pid):
        delay = delay_of(screen.process.pid)
        self.machine = screen.refresh()
        self.ns = self.machine["boot_ns"]
        # The answers of the kernel belong to one moment, but come one after the other: later if it has to wait for its CPU.
        self.late_ns = delay_of(screen.process.pid) - delay
        self.unseen = unseen_switches()
        self.run = {tid: sched(pid, tid)[0] for tid in tids(pid)}
        self.run_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def rows(self, table, pid):
        return [row for row in self.machine[table] if row["tgid"] == pid]


def expect_interval(pid, before, now, cells):
    """RUN% and WAIT% on the screen, of a process and its threads, are those of the replay.

    They may differ by a cell at each end, and by what happened while an answer was late. Where the machine hid switches, the
    screen has the kernel's account of what ran, and each wait may be missing in one of both.
    """
    length_ns = now.ns - before.ns
    expect_near("length of the interval", now.machine["interval_s"], length_ns / 1e9, absolute=1e-5)
    for table, of_replay in (("threads", "tasks"), ("processes", "processes")):
        for row in now.rows(table, pid):
            slack = (2 * CELL_MS * 1e6 + now.late_ns + before.late_ns) * row["nr_threads"] / length_ns
            waits = [row[name]["max_ns"] for name in ("latency", "preempted") if row[name]["count"]]
            members = [row["tid"]] if table == "threads" else list(now.run)
            kernels = sum(now.run[tid] - before.run[tid] for tid in members) / (now.run_ns - before.run_ns)
            want = {name: cells.share(of_replay, row["tid"], name, before.ns, now.ns) for name in ("run", "wait")}
            hidden = {"run": abs(kernels - want["run"]), "wait": (now.unseen - before.unseen) * max(waits, default=0) / length_ns}
            for name in ("run", "wait"):
                taken = hidden[name] if now.unseen != before.unseen else 0
                expect_near(f"{name} of {row['comm']} {row['tid']}", row[name], want[name], absolute=slack, less=taken, more=taken)


def expect_shares(pid, least, nices=(), nr=6, seconds=0.4):
    """RUN% and WAIT% of each interval, of a process and its threads, against the replay of the same time.

    A recording knows of a thread what happened since its first event in it, so it becomes nice only then.
    """
    need_live()
    with tempfile.TemporaryDirectory() as folder, Screen(command=("nice", "-n", "-20")) as screen:
        path = f"{folder}/trace.pftrace"
        screen.attached()
        with Record(path) as record:
            wait_for_switches(pid, 2)  # one may be hidden
            for tid, nice in zip(sorted(set(tids(pid)) - {pid}), nices):
                os.setpriority(os.PRIO_PROCESS, tid, nice)
            moments = [Moment(screen, pid)]
            for _ in range(nr):
                time.sleep(seconds)
                moments.append(Moment(screen, pid))
            time.sleep(0.1)
            freeze(pid)
            record.finish()
        cells = Cells(path, pid)
    for before, now in zip(moments, moments[1:]):
        expect_interval(pid, before, now, cells)
    run, wait = (sum(now.rows("processes", pid)[0][name] for now in moments[1:]) / nr for name in ("run", "wait"))
    expect(run > least[0] and wait > least[1], f"it ran {run} and waited {wait} of the time: the case shows nothing")


@case
def a_turn_between_two_cpus_is_the_same_live_and_replayed():
    """What lies between waking and wakeup counts: a CPU that is idle has to be woken first."""
    work = Work("futex", rounds=1000000000)
    try:
        wait_for_names(work, "futex-0", 1)
        wait_for_names(work, "futex-1", 1)
        freeze(work.pid)
        threads = tids(work.pid)
        found = compare([work.pid], threads)
        counts = [found["threads", tid]["latency"]["count"] for tid in threads]
        expect(sum(counts) > 30, f"only {counts} waits")
    finally:
        stop(work)


@case
def sleepers_and_hogs_are_the_same_live_and_replayed():
    works = [Work("sleep", nr=2, rounds=1000000, us=2000), Work("hogs", nr=2, ms=600000)]
    try:
        wait_for_names(works[0], "napper", 2)
        wait_for_names(works[1], "hog", 2)
        freeze(*(work.pid for work in works))
        threads = [tid for work in works for tid in tids(work.pid)]
        found = compare([work.pid for work in works], threads)
        expect(any(found["threads", tid]["preempted"]["count"] for tid in threads), "nothing was preempted")
    finally:
        for work in works:
            stop(work)


@case
def a_pingpong_is_the_same_live_and_replayed():
    with pingpong() as players:
        freeze(*players)
        compare(players, players)


@case
def shares_of_hogs_are_the_same_live_and_replayed():
    """They always run or wait on one CPU, the last one for whole intervals, which no event of it begins or ends."""
    work = Work("hogs", nr=3, ms=600000)
    try:
        wait_for_names(work, "hog", 3)
        expect_shares(work.pid, least=(0.1, 0.5), nices=(-20, 0, 19))
    finally:
        stop(work)


@case
def shares_of_sleepers_are_the_same_live_and_replayed():
    work = Work("sleep", nr=4, rounds=1000000, us=200)
    try:
        wait_for_names(work, "napper", 4)
        expect_shares(work.pid, least=(0.01, 0.001))
    finally:
        stop(work)


if __name__ == "__main__":
    main()
