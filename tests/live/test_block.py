#!/usr/bin/env python3
"""Block requests, `record --events block`, against /proc/diskstats, and the sleeps that they end."""
import json
import os
import pathlib
import subprocess
import sys

from live import NotHere, ask, case, expect, expect_between, expect_near, main, queried, scratch, unseen_switches
from test_record import Record

PAGE = 4096
READ, WRITE, FLUSH = 3, 7, 18  # columns of /proc/diskstats: requests that have completed

# Reads or writes a file past the cache, or touches it through a mapping, one page after the other, and says what it knows.
WORK = """import json, mmap, os, resource, sys, time
path, way, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
def columns():
    rows = [line.split() for line in open("/proc/diskstats")]
    return next([int(word) for word in row[3:]] for row in rows if row[:2] == sys.argv[4].split(":"))
page = mmap.mmap(-1, 4096)
page.write(b"x" * 4096)
fd = os.open(path, os.O_RDWR | (os.O_DIRECT if way in ("read", "write") else 0))
if way == "fault":
    file = mmap.mmap(fd, 0)
    file.madvise(mmap.MADV_RANDOM)
before, start = columns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
usage = resource.getrusage(resource.RUSAGE_SELF)
for i in range(rounds):
    if way == "read": os.preadv(fd, [page], 4096 * i)
    elif way == "write": os.pwritev(fd, [page], 4096 * i)
    elif way == "fsync":
        os.pwrite(fd, b"%d" % i, 4096 * i)
        os.fdatasync(fd)
    else: file[4096 * i]
then, usage = usage, resource.getrusage(resource.RUSAGE_SELF)
after, end = columns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
print(json.dumps({"pid": os.getpid(), "start": start, "end": end, "faults": usage.ru_majflt - then.ru_majflt,
                  "slept": usage.ru_nvcsw - then.ru_nvcsw,
                  "done": [b - a for a, b in zip(before, after)]}))"""


def disk_of(folder):
    """major:minor of the disk that has the folder."""
    number = os.stat(folder).st_dev
    sysfs = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not sysfs.exists():
        raise NotHere("the folder is on no disk")
    sysfs = sysfs.resolve()
    return (sysfs.parent if (sysfs / "partition").exists() else sysfs).joinpath("dev").read_text(encoding="ascii").strip()


def recorded(way, rounds, *analyses):
    """What the work knows of itself, the number of the disk, all requests, and analyses."""
    with scratch() as folder:
        disk = disk_of(folder)
        file = os.path.join(folder, "file")
        with open(file, "wb") as out:
            out.write(b"y" * (PAGE * rounds))
            out.flush()
            os.fsync(out.fileno())
            os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with Record(os.path.join(folder, "t"), "--events", "default,sleep,block") as ours:
            unseen = unseen_switches()
            out = subprocess.run([sys.executable, "-c", WORK, file, way, str(rounds), disk], check=True,
                                 capture_output=True, text=True, timeout=120)
            unseen = unseen_switches() - unseen
            summary = ours.finish()
        rows = queried(ours.path, "-e", "block_rq")
        answers = [ask("analyze", ours.path, *words) for words in analyses]
    expect(summary["lost"] == 0, f"lost: {summary}")
    return json.loads(out.stdout) | {"unseen": unseen}, disk, rows, *answers


def steps(rows, disk, work, step):
    """The requests of a disk that came to that step while it worked."""
    major, minor = map(int, disk.split(":"))
    return [row for row in rows if row["step"] == step and row["dev"] == major << 20 | minor
            and work["start"] <= row["timestamp"] <= work["end"]]


def direct(way, letter, column):
    rounds = 300
    work, disk, rows, sums = recorded(way, rounds, ("block_io",))
    completed = [row for row in steps(rows, disk, work, 2) if letter in row["rwbs"]]
    known = work["done"][column - 3]
    expect(known >= rounds, f"{known} requests")
    # One may complete while the file is read. Some machines hide an interrupt that comes upon a thread of pid 1, or upon what
    # such a thread leaves behind.
    expect_near(f"completed {way}s", len(completed), known, absolute=2, less=work["unseen"])
    own = [row for row in steps(rows, disk, work, 1) if row["pid"] == work["pid"] and letter in row["rwbs"]]
    expect(len(own) == rounds and all(row["nr_sector"] == PAGE // 512 for row in own), f"{len(own)} issued: {own[:2]}")
    mine = next(row for row in sums["by_device"] if row["device"] == disk)
    expect(mine[f"{way}_count"] >= rounds and mine[f"{way}_bytes"] >= rounds * PAGE, f"{mine}")


@case
def direct_reads_are_those_of_the_kernel():
    direct("read", "R", READ)


@case
def direct_writes_are_those_of_the_kernel():
    direct("write", "W", WRITE)


@case
def flushes_are_those_of_the_kernel():
    work, disk, rows = recorded("fsync", 50)
    known = work["done"][FLUSH - 3] if len(work["done"]) > FLUSH - 3 else 0
    if not known:
        raise NotHere("the disk has no cache to flush")
    flushes = [row for row in steps(rows, disk, work, 2) if row["nr_sector"] == 0 and "F" in row["rwbs"]]
    expect_near("flushes", len(flushes), known, absolute=2, less=work["unseen"])


def sleeper(report, pid):
    row, = [row for row in report["sleepers"] if row["pid"] == pid]
    return row


SLEEPS = ("sleeps", "--by", "thread", "-n", "100000")
FEW = 20


def least_sleeps(work):
    """By the kernel's count: where a disk is quick, the data may come before a task has left its CPU, which then does not sleep."""
    if work["slept"] < FEW:
        raise NotHere(f"the disk is so quick that its reader slept {work['slept']} times")
    return 0.95 * work["slept"] - 3


@case
def a_sleep_that_a_request_ends_names_the_disk():
    rounds = 300
    work, disk, _, report = recorded("read", rounds, SLEEPS)
    row = sleeper(report, work["pid"])
    reads = next(reason for reason in row["reasons"] if reason["syscall"] in ("preadv", "preadv2"))
    expect_between("sleeps in reads", reads["sleeps"], least_sleeps(work), rounds)
    ended = {entry["device"]: entry for entry in row["block_io"]}
    expect(set(ended) == {disk}, f"{ended}")
    # Where another CPU than that of the interrupt takes the request back, a function call wakes.
    expect_between("of these for the disk", ended[disk]["sleeps"], reads["sleeps"] * 0.9, reads["sleeps"] + 30)
    expect(ended[disk]["for"] == f"block I/O on {disk}", f"{ended}")


@case
def a_page_fault_that_reads_from_the_disk_is_no_system_call():
    rounds = 200
    work, disk, _, report = recorded("fault", rounds, SLEEPS)
    expect(work["faults"] >= rounds * 0.9, f"{work['faults']} faults")
    row = sleeper(report, work["pid"])
    faults = next(reason for reason in row["reasons"] if reason["syscall"] is None and "page fault" in reason["for"])
    # The start of Python has faults, too.
    expect_between("sleeps in page faults", faults["sleeps"], least_sleeps(work), work["faults"] + 60)
    ended = {entry["device"]: entry for entry in row["block_io"]}
    expect_between("of these for the disk", ended[disk]["sleeps"], faults["sleeps"] * 0.9, faults["sleeps"] + 60)


if __name__ == "__main__":
    main()
