#!/usr/bin/env python3
"""Waits for locks of the kernel, `record --events lock`: threads that write to one file wait for its lock, and for nothing else."""
import json
import os
import subprocess
import sys

from live import IS_EMULATED, NotHere, ask, case, expect, expect_between, main, queried, scratch
from test_record import Record

THREADS = 4
# Each write takes the lock of the file's inode for as long as it takes to copy 4 MB; writes let go of Python's own lock.
WORK = """import json, os, sys, threading, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
data, tids, inside, end = b"x" * (4 << 20), [], [], time.monotonic() + float(sys.argv[2])
def write():
    tids.append(threading.get_native_id())
    ns = 0
    while time.monotonic() < end:
        before = time.monotonic_ns()
        os.pwrite(fd, data, 0)
        ns += time.monotonic_ns() - before
    inside.append(ns)
threads = [threading.Thread(target=write) for _ in range(int(sys.argv[3]))]
start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps({"pid": os.getpid(), "tids": tids, "inside": sum(inside),
                  "whole": time.clock_gettime_ns(time.CLOCK_BOOTTIME) - start}))"""


@case
def writers_of_one_file_wait_for_its_lock_and_for_each_other():
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--events", "default,sleep,lock") as ours:
            out = subprocess.run([sys.executable, "-c", WORK, os.path.join(folder, "file"), "1", str(THREADS)], check=True,
                                 capture_output=True, text=True, timeout=60)
            ours.finish()
        work = json.loads(out.stdout)
        if not queried(ours.path, "-e", "lock"):
            raise NotHere("the kernel reports no waits for locks")
        report = ask("analyze", ours.path, "locks", "--pid", str(work["pid"]))
        sleeps = ask("analyze", ours.path, "sleeps", "--pid", str(work["pid"]))
        rows = queried(ours.path, "-e", "lock")
    lock = report["kernel_locks"][0]
    expect(lock["type"] == "rwsem", f"{lock}")
    expect(lock["waiters"] == THREADS, f"{lock['waiters']} waiters, {THREADS} threads")
    # A write sleeps for nothing but the lock. It may spin for it before; four emulated CPUs did so for longer, and it slept for 13 %.
    asleep = sum(reason["sleep_ns"] for reason in sleeps["reasons"] if reason["syscall"] == "pwrite64")
    expect(asleep > (0.05 if IS_EMULATED else 0.2) * work["whole"], f"no contention: {asleep} ns asleep, {work}")
    expect_between("time of all waits", lock["wait_ns"], asleep, work["inside"])
    # They release it to each other.
    expect({row["pid"] for row in lock["held_by"][:THREADS]} <= {*work["tids"], None}, f"{lock['held_by']}, threads {work['tids']}")
    expect(lock["held_by"][0]["pid"] in work["tids"], f"{lock['held_by']}")
    own = [row for row in rows if row["pid"] in work["tids"]]
    expect(all(row["start_ns"] <= row["end_ns"] <= row["timestamp"] for row in own), "a wait ends before it begins")
    waits = {}
    for row in own:
        if row["lock_type"] == "rwsem":
            waits.setdefault(row["pid"], []).append((row["start_ns"], row["end_ns"]))
    for tid, spans in waits.items():
        spans.sort()
        expect(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), f"{tid} waits for two locks at once")


@case
def without_contention_nothing_is_recorded_of_a_task():
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--events", "default,lock") as ours:
            out = subprocess.run([sys.executable, "-c", WORK, os.path.join(folder, "file"), "0.5", "1"], check=True,
                                 capture_output=True, text=True, timeout=60)
            ours.finish()
        tid, = json.loads(out.stdout)["tids"]
        rows = [row for row in queried(ours.path, "-e", "lock") if row["pid"] == tid and row["lock_type"] == "rwsem"]
    expect(len(rows) < 10, f"one writer waited {len(rows)} times: {rows[:3]}")


if __name__ == "__main__":
    main()
