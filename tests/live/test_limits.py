#!/usr/bin/env python3
"""Deadline tasks that use up their runtime, and real-time tasks that have to let others run, against what the kernel counts.

A task that spins has the CPU or waits for it: its run delay in /proc/PID/schedstat is all of its waiting.
"""
import ctypes
import os
import subprocess
import sys

from live import (IS_EMULATED, WAIT_S, Disturbed, NotHere, ask, case, delay_of, expect, expect_near, main, queried, runs_of, scratch,
                  unseen_switches)
from test_record import Record

RUNTIME_NS, PERIOD_NS = 20_000_000, 100_000_000
SECONDS = 12 if IS_EMULATED else 3
MOST = 0.95  # of its waits; the others are between its periods and its switch-in, and behind the kernel's own tasks
SPIN = """import sys, time
print(flush=True)
sys.stdin.readline()
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until: pass"""
# Does a little in each period, and yields the rest of it.
YIELD = """import os, sys, time
print(flush=True)
sys.stdin.readline()
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until: os.sched_yield()"""
SCHED_DEADLINE = 6
SYS_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}


class Attr(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("policy", ctypes.c_uint32), ("flags", ctypes.c_uint64), ("nice", ctypes.c_int32),
                ("priority", ctypes.c_uint32), ("runtime", ctypes.c_uint64), ("deadline", ctypes.c_uint64),
                ("period", ctypes.c_uint64)]


def give_deadline(pid):
    machine = os.uname().machine
    if machine not in SYS_SCHED_SETATTR:
        raise NotHere(f"the number of sched_setattr on {machine} is not known here")
    attr = Attr(ctypes.sizeof(Attr), SCHED_DEADLINE, 0, 0, 0, RUNTIME_NS, PERIOD_NS, PERIOD_NS)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(SYS_SCHED_SETATTR[machine], pid, ctypes.byref(attr), 0):
        raise NotHere(f"no deadline for a task: {os.strerror(ctypes.get_errno())}")


class Kernel:
    """How long a task has waited, and how often it has come to a CPU, from now on."""

    def __init__(self, pid):
        self.pid = pid
        self.start = self._now()
        self.delay_ns = self.runs = self.unseen = 0

    def _now(self):
        return delay_of(self.pid), runs_of(self.pid), unseen_switches()

    def read(self):
        self.delay_ns, self.runs, self.unseen = (now - start for now, start in zip(self._now(), self.start))

    def check(self, sums):
        """Holds the sum of its waits against that; one whose end was in a thread of pid 1, which some machines hide, is not in it."""
        hidden = self.runs - sums["waits"]
        expect(hidden <= self.unseen, f"{sums['waits']} waits of {self.runs}, and only {self.unseen} switches of pid 1")
        if hidden > 0:
            raise Disturbed(f"{hidden} of {self.runs} waits ended in a thread of pid 1")
        expect_near("waits", sums["wait_ns"], self.delay_ns, relative=0.02)


class Spinner:
    """A process that begins when it is told to, and waits to be looked at when it has ended its loop."""

    def __init__(self, script=SPIN, cpus=None):
        self.process = subprocess.Popen([sys.executable, "-c", script + "\nprint(flush=True)\nsys.stdin.readline()", str(SECONDS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.process.stdout.readline()  # it has started
        if cpus:
            os.sched_setaffinity(self.pid, cpus)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate(timeout=WAIT_S)

    def tell(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def wait(self):
        self.process.stdout.readline()


def waits_of(path, pid):
    """All waits of a task by cause, in ns, and its longest ones."""
    sums = ask("analyze", path, "blame", "--tid", str(pid))
    return sums["victims"][0], ask("explain", path, "--tid", str(pid), "-n", "20")["waits"]


def longest_throttling(waits):
    return max((part for wait in waits for part in wait["parts"] if part["kind"] == "throttled"), key=lambda part: part["ns"])


def record_deadline(script):
    """What is said of a deadline task, and what the kernel counted."""
    with scratch() as folder, Spinner(script) as task:
        give_deadline(task.pid)
        with Record(os.path.join(folder, "t")) as ours:
            kernel = Kernel(task.pid)
            task.tell()
            task.wait()
            kernel.read()
            ours.finish()
        sums, waits = waits_of(ours.path, task.pid)
        return sums, waits, queried(ours.path, "-e", "throttle", "--tid", str(task.pid)), kernel


@case
def a_deadline_task_that_used_up_its_runtime_is_throttled():
    sums, waits, events, kernel = record_deadline(SPIN)
    expect(kernel.delay_ns > 0.5e9 * SECONDS, f"the kernel let it run: it waited only {kernel.delay_ns / 1e9:.2f} s")
    kernel.check(sums)
    expect(sums["throttled_ns"] > MOST * sums["wait_ns"], f"{sums}")
    long = [wait for wait in waits if wait["wait_ns"] > (PERIOD_NS - RUNTIME_NS) / 2]
    expect(len(long) >= 10, f"{len(long)} waits for the next period")
    for wait in long:
        part = longest_throttling([wait])
        expect(part["limit"] == "deadline" and part["ns"] > (PERIOD_NS - RUNTIME_NS) / 3, f"{wait}")
        expect((part["quota_ns"], part["period_ns"]) == (RUNTIME_NS, PERIOD_NS), f"{part}")
        expect(part["text"] == "throttled (its deadline runtime, 20.0ms per 100ms, was used up)", part["text"])
    # Periods follow each other without a gap.
    begins = [int(event["until_ns"]) for event in events]
    for first, second in zip(begins, begins[1:]):
        nr = round((second - first) / PERIOD_NS)
        expect(nr >= 1 and abs(second - first - nr * PERIOD_NS) < PERIOD_NS / 20, f"periods begin at {begins}")


@case
def one_that_yields_lost_nothing():
    sums, waits, events, _ = record_deadline(YIELD)
    expect(len(events) >= 5 * SECONDS, f"{len(events)} events")
    expect(sums["throttled_ns"] > MOST * sums["wait_ns"], f"{sums}")
    part = longest_throttling(waits)
    expect(part["limit"] == "yield" and part["text"] == "throttled (it had yielded until its next deadline period)", f"{part}")


@case
def real_time_tasks_that_had_their_share_are_throttled():
    if 0 not in os.sched_getaffinity(0):
        raise NotHere("needs CPU 0")
    with scratch() as folder, Spinner(cpus={0}) as hog, Spinner(cpus={0}) as fair:
        with Record(os.path.join(folder, "t")) as ours:
            os.sched_setscheduler(hog.pid, os.SCHED_FIFO, os.sched_param(50))
            kernel = Kernel(hog.pid)
            fair.tell()
            hog.tell()
            hog.wait()
            kernel.read()
            os.sched_setscheduler(hog.pid, os.SCHED_OTHER, os.sched_param(0))
            ours.finish()
        sums, waits = waits_of(ours.path, hog.pid)
    if kernel.delay_ns < 0.01e9 * SECONDS:
        raise NotHere(f"the kernel takes nothing from real-time tasks: {kernel.delay_ns / 1e6:.1f} ms in {SECONDS} s")
    kernel.check(sums)
    expect(sums["throttled_ns"] > MOST * sums["wait_ns"], f"{sums}")
    part = longest_throttling(waits)
    expect(part["limit"] == "real_time", f"{part}")
    expect(part["text"] == "throttled (real-time tasks had used up their share of the CPU)", part["text"])


if __name__ == "__main__":
    main()
