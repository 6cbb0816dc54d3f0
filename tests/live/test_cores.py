#!/usr/bin/env python3
"""Core scheduling: of two tasks with different cookies on the two CPUs of one core, one waits beside an idle CPU.

A task that spins has the CPU or waits for it: its run delay in /proc/PID/schedstat is all of its waiting.
"""
import ctypes
import os
import pathlib
import re

from live import IS_EMULATED, NotHere, case, delay_of, expect, expect_near, main, scratch
from test_limits import Spinner, waits_of
from test_record import Record

PR_SCHED_CORE, CREATE, OF_THREAD = 62, 1, 0
MOST = 0.75 if IS_EMULATED else 0.9  # of its waits: both CPUs are idle while the core changes hands


def siblings():
    """Two CPUs of one core."""
    for cpu in sorted(os.sched_getaffinity(0)):
        path = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cpus = [int(word) for word in re.split("[,-]", path.read_text(encoding="ascii").strip())]
        if len(cpus) == 2 and set(cpus) <= os.sched_getaffinity(0):
            return cpus
    raise NotHere("no core has two CPUs")


def give_cookie(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SCHED_CORE, CREATE, pid, OF_THREAD, 0):
        raise NotHere(f"no core scheduling: {os.strerror(ctypes.get_errno())}")


def record_pair(has_cookies):
    """What is said of a task beside another one on its core, by tid, and how long it waited by the kernel."""
    one, two = siblings()
    with scratch() as folder, Spinner(cpus={one}) as task, Spinner(cpus={two}) as other:
        if has_cookies:
            give_cookie(task.pid)
            give_cookie(other.pid)
        with Record(os.path.join(folder, "t")) as ours:
            before = delay_of(task.pid)
            other.tell()
            task.tell()
            task.wait()
            delay_ns = delay_of(task.pid) - before
            ours.finish()
        sums, waits = waits_of(ours.path, task.pid)
        return sums, waits, other.pid, delay_ns, one


@case
def the_task_that_has_the_core_is_named():
    sums, waits, other, delay_ns, cpu = record_pair(True)
    expect_near("waits", sums["wait_ns"], delay_ns, relative=0.02)
    expect(delay_ns > 0.5e9, f"it waited {delay_ns / 1e6} ms only: do they share the core?")
    forced = sum(wait.get("forced_idle_ns", 0) for wait in waits)
    expect(forced > MOST * sum(wait["wait_ns"] for wait in waits), f"{forced} ns of the {len(waits)} longest: {waits[:1]}")
    for wait in waits:
        expect(wait["task_ns"] < 0.2 * wait["wait_ns"], f"a task is blamed: {wait}")
    part = waits[0]["parts"][0]
    expect(part["forced_by_tid"] == other and part["kind"] == "idle", f"{part}")
    expect(part["text"].startswith(f"while core scheduling kept CPU {cpu} idle because of "), part["text"])


@case
def without_cookies_nothing_is_forced():
    _, waits, _, _, _ = record_pair(False)
    expect(not any("forced_idle_ns" in wait for wait in waits), f"{waits[:1]}")


if __name__ == "__main__":
    main()
