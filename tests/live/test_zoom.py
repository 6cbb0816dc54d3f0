#!/usr/bin/env python3
"""One thread, closely (machine/parts/zoom): who wakes it, who held its CPU, its waits; against workloads and the kernel.

The numbers are held against what the kernel counts by itself: voluntary switches (/proc/TID/status), time on a CPU and
waiting for one (/proc/TID/schedstat). So they hold on a busy machine, too.
"""
import contextlib
import os
import signal
import time

from live import (ENDLESS_MS, SLOW, WAIT_S, Disturbed, Meanwhile, Work, case, expect, expect_between, expect_near, main, need_live,
                  open_files, unseen_switches)
from test_machine import ATTACH_S, Screen, sched, stop, tids

TASKS, LATENCY, ZOOM = 2, 4, 8192


def zoom_into(screen, tid, needs=TASKS | ZOOM):
    """Refreshes until the thread is shown; the first refresh that has it."""
    need_live()
    end = time.monotonic() + ATTACH_S
    while True:
        zoom = screen.refresh(f"{needs} {tid}")["zoom"]
        expect(zoom and zoom["missing"] is None, f"no zoom: {zoom and zoom['missing']}")
        expect(zoom["tid"] == tid, f"zoom of {zoom['tid']}")
        if zoom["seconds"] > 0 and not zoom["is_loading"]:
            return zoom
        expect(time.monotonic() < end, "the programs are not loaded")
        time.sleep(0.05)


def refresh(screen, tid, needs=TASKS | ZOOM):
    return screen.refresh(f"{needs} {tid}")["zoom"]


def voluntary(tid):
    """Switches out asleep, as the kernel counts them."""
    with open(f"/proc/{tid}/status", encoding="utf-8", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))


def state(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def freeze(*pids):
    """Stops processes, and waits until all their threads are: nothing of them happens from then on."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + WAIT_S
    for pid in pids:
        while not all(state(pid, tid) == "T" for tid in tids(pid)):
            expect(time.monotonic() < end, f"{pid} does not stop")
            time.sleep(0.01)


def thaw(*pids):
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def named(pid, comm):
    """The threads of that name."""
    found = []
    for tid in tids(pid):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8", errors="replace") as file:
            if file.read().strip() == comm:
                found.append(tid)
    return found


def wait_for_names(work, comm, number, pid=None):
    """The threads of that name, once there are so many: a name that comes later begins another row."""
    end = time.monotonic() + WAIT_S
    while len(named(pid or work.pid, comm)) < number:
        expect(time.monotonic() < end, f"{work.kind} has no {number} threads {comm}")
        time.sleep(0.01)
    return named(pid or work.pid, comm)


def waker(zoom, tid, source="thread"):
    """How many waits a thread began."""
    return sum(w["wait"]["count"] for w in zoom["wakers"] if w["tid"] == tid and w["from"] == source)


def expect_whole(zoom):
    """Each wait has a task on the CPU, from its beginning to its end; wakers began all waits but those of preemption."""
    for wait in zoom["last"]:
        held = sum(holder["ns"] for holder in wait["holders"]) + wait["others_ns"]
        expect(abs(held - wait["wait_ns"]) <= 1000, f"held for {held} of {wait}")  # clocks of two CPUs
    began = sum(w["wait"]["count"] for w in zoom["wakers"])
    expect_near("waits by their wakers", began, zoom["woken"]["count"] + zoom["new"]["count"], absolute=2)
    waited = sum(zoom[cause]["count"] * zoom[cause]["mean_ns"] for cause in ("woken", "new", "preempted")
                 if zoom[cause]["count"])
    held = sum(rival["ns"] for rival in zoom["rivals"]) + zoom["other_rivals_ns"]
    # The wait that goes on has holders already; so have those of which a machine that hides switches hid the end.
    waited += zoom["cut_ns"]
    expect_between("time held", held, waited * 0.9999 - 1e4, waited * 1.0001 + 2e7)
    expect_near("shares", sum(rival["share"] for rival in zoom["rivals"]), 1 if held else 0, absolute=0.01)


@contextlib.contextmanager
def pingpong():
    """(left, right): two processes of one thread each."""
    work = Work("pingpong", rounds=1 << 40, ms=ENDLESS_MS)
    try:
        left = wait_for_names(work, "pp-left", 1)[0]
        with open(f"/proc/{left}/task/{left}/children", encoding="ascii") as file:
            right = int(file.read())
        yield left, wait_for_names(work, "pp-right", 1, right)[0]
    finally:
        stop(work)


def expect_partner(screen, mine, other):
    """As many wakeups as the thread has slept, by its partner. Frozen meanwhile, they leave the CPUs to the loading."""
    freeze(mine, other)
    zoom_into(screen, mine)
    unseen = unseen_switches()
    before, slept = refresh(screen, mine), voluntary(mine)
    thaw(mine, other)
    time.sleep(1.5)
    freeze(mine, other)
    after, slept = refresh(screen, mine), voluntary(mine) - slept
    # Signals wake it, too, and stop it at each edge; some machines hide a few switches.
    slack = 6 + unseen_switches() - unseen
    thaw(mine, other)
    woken = after["woken"]["count"] - before["woken"]["count"]
    expect(slept > 100, f"slept {slept} times")
    expect_near("wakeups", woken, slept, absolute=slack)
    expect_near("wakeups by the partner", waker(after, other) - waker(before, other), slept, absolute=slack)
    expect(after["wakers"][0]["tid"] == other, f"woken most often by {after['wakers'][0]}")
    expect(after["wakers"][0]["comm"] in ("pp-left", "pp-right"), f"by {after['wakers'][0]}")
    expect_whole(after)


@case
def players_of_a_pingpong_wake_each_other_as_often_as_they_sleep():
    with Screen() as screen, pingpong() as (left, right):
        expect_partner(screen, left, right)
        expect_partner(screen, right, left)  # another thread: all begins anew


@case
def two_hogs_on_one_cpu_wait_for_each_other():
    """One that never sleeps waits whenever it does not run: who ran then is known from the other's account.

    Both are frozen while the accounts are read, so that no slice is under way.
    """
    work = Work("hogs", nr=2, ms=600000)
    try:
        hogs = wait_for_names(work, "hog", 2)
        with Screen() as screen:
            for mine, other in (hogs, reversed(hogs)):
                freeze(work.pid)
                zoom_into(screen, mine)
                before, ran, waited = refresh(screen, mine), sched(work.pid, other)[0], sched(work.pid, mine)[1]
                meanwhile = Meanwhile()
                thaw(work.pid)
                time.sleep(2)
                freeze(work.pid)
                after = refresh(screen, mine)
                ran, waited = sched(work.pid, other)[0] - ran, sched(work.pid, mine)[1] - waited
                thaw(work.pid)
                # One of both is woken, and stops, a moment before the other. What the host has taken meanwhile is no run
                # time to the kernel, but the CPU was held.
                slack, taken = 5e6, meanwhile.taken_ns()
                held = {r["tid"]: r["ns"] for r in after["rivals"]}.get(other, 0)
                held -= {r["tid"]: r["ns"] for r in before["rivals"]}.get(other, 0)
                all_held = sum(r["ns"] for r in after["rivals"]) - sum(r["ns"] for r in before["rivals"])
                expect(ran > 1e7, f"the other hog ran {ran} ns")
                expect_near("held by the other", held, ran, relative=0.05, absolute=slack, more=taken)
                expect_near("waited", all_held, waited, relative=0.05, absolute=slack, less=taken, more=taken)
                expect(held >= 0.95 * min(ran, all_held) - slack, f"{held} of {all_held} by the other, which ran {ran}")
                expect(sum(w["cause"] == "woken" for w in after["last"]) <= 4, "a hog that sleeps")
                expect(any(h["tid"] == other for w in after["last"] for h in w["holders"]), "never behind the other")
                expect_whole(after)
    finally:
        work.kill()


def nap_for_a_while(screen, tid):
    """Two seconds of a sleeper: the zoom. Each nap that the kernel counts meanwhile ends with a wakeup."""
    before = zoom_into(screen, tid)
    unseen, slept = unseen_switches(), voluntary(tid)
    time.sleep(2)
    slept = voluntary(tid) - slept
    zoom = refresh(screen, tid)
    woken = zoom["woken"]["count"] - before["woken"]["count"]
    expect(woken >= slept - 1 - (unseen_switches() - unseen), f"woken {woken} times of {slept}")
    if slept <= 100:
        raise Disturbed(f"{slept} naps in two seconds: others had its CPU")
    return zoom


def expect_timer(zoom):
    """All but the first are woken by the timer's interrupt, by name."""
    by_timer = sum(w["wait"]["count"] for w in zoom["wakers"] if w["tid"] == 0 and w["interrupt"] == "timer interrupt")
    expect(by_timer >= 0.99 * zoom["woken"]["count"] - 1, f"{by_timer} of {zoom['woken']['count']}: {zoom['wakers']}")


def nap_beside_hog(*options):
    """A sleeper on the CPU of a busy loop, which the timer interrupts to wake it: the zoom."""
    nap, hog = Work("sleep", nr=1, rounds=100000, us=2000), Work("hogs", nr=1, ms=600000)
    try:
        tid = wait_for_names(nap, "napper", 1)[0]
        cpu = os.sched_getaffinity(wait_for_names(hog, "hog", 1)[0])
        expect(len(cpu) == 1, f"the hog may run on {cpu}")
        os.sched_setaffinity(tid, cpu)
        with Screen(*options) as screen:
            return nap_for_a_while(screen, tid)
    finally:
        nap.kill()
        hog.kill()


@case
def a_sleeper_is_woken_by_the_timer_not_by_the_interrupted_task():
    work = Work("sleep", nr=1, rounds=100000, us=5000)
    try:
        tid = wait_for_names(work, "napper", 1)[0]
        with Screen() as screen:
            meanwhile = Meanwhile(work.pid)
            zoom = nap_for_a_while(screen, tid)
            delayed = meanwhile.delayed_ns()
        # The timer is set before it leaves its CPU, for which an emulated one takes its time.
        least = 5e6 - max(1e5, sched(work.pid, tid)[0] / voluntary(tid))
        expect_timer(zoom)
        expect_near("sleeps", zoom["sleeps"]["S"]["count"], zoom["woken"]["count"], absolute=1)
        mean = zoom["sleeps"]["S"]["ns"] / zoom["sleeps"]["S"]["count"]
        expect_between("length of a nap", mean, least, 2e7, more=delayed / zoom["sleeps"]["S"]["count"])
        for wait in zoom["last"]:
            expect(wait["cause"] == "preempted" or wait["from"] in ("hardirq", "softirq"), f"woken by {wait}")
        expect(any(least <= wait["sleep_ns"] for wait in zoom["last"]), "no nap is remembered")
        expect_whole(zoom)
    finally:
        work.kill()


@case
def beside_a_busy_loop_the_timer_wakes_a_sleeper():
    expect_timer(nap_beside_hog())


@case
def the_timer_is_known_without_preempt_count_as_well():
    expect_timer(nap_beside_hog("counted=1"))


def waited(part):
    """In all; nothing has no mean."""
    return part["count"] * part["mean_ns"] if part["count"] else 0


@case
def waits_are_those_that_the_screen_counts_by_itself():
    """The zoom and the counters of all threads see the same events: the same waits, with the same lengths."""
    needs = TASKS | LATENCY | ZOOM
    with Screen() as screen, pingpong() as (left, right):
        freeze(left, right)
        zoom_into(screen, left, needs)
        screen.attached()
        before = screen.refresh(f"{needs} {left}")["zoom"]
        meanwhile = Meanwhile()
        thaw(left, right)
        time.sleep(1)
        freeze(left, right)
        seen = screen.refresh(f"{needs} {left}")
        taken = meanwhile.taken_ns()
        thaw(left, right)
    row = next(t for t in seen["threads"] if t["tid"] == left)
    for mine, theirs in (("woken", "latency"), ("preempted", "preempted")):
        got = seen["zoom"][mine]
        count = got["count"] - before[mine]["count"]
        expect(row[theirs]["count"] > 100 // SLOW, f"{row[theirs]['count']} waits {mine}")
        expect_near(f"waits {mine}", count, row[theirs]["count"])
        total = waited(got) - waited(before[mine])
        # Two programs on one event read the clock one after the other; a virtual machine may stand still between.
        expect_near(f"time {mine}", total, row[theirs]["count"] * row[theirs]["mean_ns"], relative=0.2,
                    less=taken, more=taken)


@case
def a_thread_that_ends_is_reported_and_its_last_numbers_stay():
    work = Work("sleep", nr=1, rounds=300, us=5000)
    tid = wait_for_names(work, "napper", 1)[0]
    with Screen() as screen:
        expect(not zoom_into(screen, tid)["is_ended"], "ended before it began")
        work.account()
        zoom = refresh(screen, tid)
        expect(zoom["is_ended"], "the end is not reported")
        expect(zoom["comm"] == "napper", f"its name was {zoom['comm']}")
        expect(zoom["woken"]["count"] > 10 and zoom["wakers"] and zoom["last"], f"nothing stays of it: {zoom}")
        time.sleep(0.3)
        again = refresh(screen, tid)
        expect(again["is_ended"], "it lives again")
        for key in ("woken", "preempted", "sleeps", "wakers", "rivals", "last", "seconds"):
            expect(again[key] == zoom[key], f"{key}: {zoom[key]}, then {again[key]}")
        expect(links(screen) == 0, "its programs are still attached")


def links(screen):
    """How many attachments of BPF programs it holds."""
    return sum("link_type:" in text for text in open_files(screen.process.pid))


@case
def what_is_not_shown_is_not_attached():
    with Screen() as screen:
        screen.refresh(TASKS)
        expect(links(screen) == 0, "attached without need")
        zoom_into(screen, os.getpid())
        expect(links(screen) > 0, "not attached in spite of need")
        expect(screen.refresh(TASKS)["zoom"] is None, "a zoom that was not requested")
        expect(links(screen) == 0, "still attached")


@case
def without_bpf_a_sentence_says_so():
    with Screen("proc=1") as screen:
        zoom = screen.refresh(f"{TASKS | ZOOM} {os.getpid()}")["zoom"]
        expect("/proc, as asked" in zoom["missing"], zoom["missing"])
        expect(zoom["comm"] and not zoom["wakers"] and not zoom["rivals"], f"{zoom}")


if __name__ == "__main__":
    main()
