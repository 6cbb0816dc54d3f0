#!/usr/bin/env python3
"""Who wakes: tasks and interrupts in recordings, against workloads of which it is known and against perf's call stacks.

A sleeper shares its CPU with a busy loop: each waking comes in the timer's interrupt, upon the loop, which has nothing to
do with it. A receiver on the loopback device is woken in the softirq of received packets, upon the sender.
"""
import contextlib
import json
import os
import re
import subprocess
import sys

import pair
from live import LONG_S, NotHere, Work, case, expect, expect_near, main, need_live, run, scratch
from test_zoom import wait_for_names

SECONDS = 2
RECEIVER = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind(('127.0.0.1', 0))\n" \
           "print(s.getsockname()[1], flush=True)\nwhile True: s.recv(9)"
SENDER = "import socket, sys, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
         "while True:\n s.sendto(b'x', ('127.0.0.1', int(sys.argv[1])))\n time.sleep(0.002)"


@contextlib.contextmanager
def napper():
    """The tid of a sleeper (2 ms) on the CPU of a busy loop, and that of the loop."""
    need_live()
    nap, hog = Work("sleep", nr=1, rounds=1000000, us=2000), Work("hogs", nr=1, ms=600000)
    try:
        tid, busy = wait_for_names(nap, "napper", 1)[0], wait_for_names(hog, "hog", 1)[0]
        os.sched_setaffinity(tid, os.sched_getaffinity(busy))
        yield tid, busy
    finally:
        nap.kill()
        hog.kill()


@contextlib.contextmanager
def receiver():
    """The tid of one that sleeps until a packet comes, 500 times a second."""
    need_live()
    to = subprocess.Popen([sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE, text=True)
    port = to.stdout.readline().strip()
    by = subprocess.Popen([sys.executable, "-c", SENDER, port])
    try:
        yield to.pid, by.pid
    finally:
        for process in (by, to):
            process.kill()
            process.communicate()


def said(*args):
    """What the program prints, if it is content."""
    out = run(*args, timeout=LONG_S)
    expect(out.returncode == 0, f"{args}: exit {out.returncode}: {out.stderr}")
    return out.stdout


def record(folder, *options):
    path = os.path.join(folder, "t.pftrace")
    said("record", "-o", path, "-d", f"{SECONDS}s", *options)
    return path


def wakers_of(path, tid):
    """{waker: wakings} of a thread; a waker is the name of an interrupt, or a tid."""
    out = said("analyze", path, "wakeup_relations", "--tid", str(tid), "--json", "--limit", "1000")
    found = {}
    for row in json.loads(out)["relationships"]:
        if row["wakee_pid"] == tid:
            by = row["waker_interrupt"] or row["waker_pid"]
            found[by] = found.get(by, 0) + row["wakeup_count"]
    return found


def expect_by(found, name, least=100):
    total = sum(found.values())
    expect(total >= least, f"woken {total} times: {found}")
    expect(found.get(name, 0) >= 0.99 * total, f"{found.get(name, 0)} of {total} by the {name}: {found}")


def expect_explained(path, tid, words, interrupted):
    """The longest waits of the thread in sentences, and its chains."""
    out = said("explain", path, "--tid", str(tid), "--chain", "--limit", "20")
    woken = re.findall(r"was woken by (.*?) [0-9.]+[a-z]+ after the start", out)
    # Of 20 it may be another: a signal, or what the machine does besides.
    expect(len(woken) >= 5 and sum(by == words for by in woken) >= 0.9 * len(woken), f"woken by {woken}")
    expect(f"woken by {words}\n" in out, f"no chain begins with it:\n{out}")
    expect(not re.search(rf"woken by \S+ \({interrupted}\)", out), f"the interrupted task is said to wake:\n{out}")


@case
def a_sleeper_beside_a_busy_loop_is_woken_by_the_timer():
    with scratch() as folder, napper() as (tid, busy):
        path = record(folder)
        expect_by(wakers_of(path, tid), "timer interrupt")
        expect_explained(path, tid, "the timer interrupt", busy)


@case
def the_timer_is_found_without_preempt_count_too():
    with scratch() as folder, napper() as (tid, busy):
        path = record(folder, "--count-interrupts")
        expect_by(wakers_of(path, tid), "timer interrupt")
        expect_explained(path, tid, "the timer interrupt", busy)


@case
def without_events_of_interrupts_they_are_named_as_well():
    with scratch() as folder, napper() as (tid, _):
        path = record(folder, "--events", "sched")
        expect_by(wakers_of(path, tid), "timer interrupt")


@case
def a_receiver_is_woken_by_the_softirq_of_packets():
    for options in ((), ("--count-interrupts",)):
        with scratch() as folder, receiver() as (tid, by):
            path = record(folder, *options)
            expect_by(wakers_of(path, tid), "net-rx softirq")
            expect_explained(path, tid, "the network receive softirq", by)


def expect_timer_stacks(path):
    """Lines of a folded file: the timer's stacks belong to no task."""
    with open(path, encoding="utf-8") as file:
        stacks = [line for line in file if "hrtimer_interrupt" in line]
    expect(len(stacks) > 0, "no stack of the timer")
    others = [line for line in stacks if not line.startswith("interrupt;")]
    expect(not others, f"{len(others)} of {len(stacks)} are said to be a task's: {others[:2]}")


@case
def stacks_of_wakers_are_not_those_of_interrupted_tasks():
    with scratch() as folder, napper():
        folded = os.path.join(folder, "out.folded")
        path = record(folder, "--stacks=waker")
        said("analyze", path, "flamegraph", "--category", "waker", "--folded", folded)
        expect_timer_stacks(folded)
        said("profile", "--wakers", "--duration", str(SECONDS), "--folded", folded)
        expect_timer_stacks(folded)


def perf_wakings(path, tid):
    """(all wakings of a thread, those in a timer's interrupt, those in the softirq of packets), by their call stacks."""
    total = timer = packets = 0
    out = subprocess.run(["perf", "script", "-i", path, "-F", "event,trace,ip,sym"], capture_output=True, text=True,
                         errors="replace", check=True, timeout=LONG_S).stdout
    for event in out.split("\n\n"):
        if f"pid={tid} " in event:
            total += 1
            timer += "hrtimer_interrupt" in event or "hrtimer_run_queues" in event
            packets += "net_rx_action" in event
    return total, timer, packets


class Stacks(pair.Recording):
    """perf's recording of wakings with call stacks."""

    def __init__(self, path):
        super().__init__(path, ["sched_waking"], "-g")


@case
def stacks_of_perf_say_the_same():
    if not pair.perf_fits():
        raise NotHere("perf is for another kernel")
    with scratch() as folder, napper() as (nap, _), receiver() as (to, _):
        data = os.path.join(folder, "perf.data")
        perf = Stacks(data)
        path = record(folder)
        perf.stop()
        for tid, name, place in ((nap, "timer interrupt", 1), (to, "net-rx softirq", 2)):
            counts, found = perf_wakings(data, tid), wakers_of(path, tid)
            expect(counts[0] > 100, f"perf has seen {counts[0]} wakings")
            # perf recorded a little longer, so shares are compared.
            expect_near(f"share of the {name}", found.get(name, 0) / sum(found.values()), counts[place] / counts[0],
                        absolute=0.01)


if __name__ == "__main__":
    main()
