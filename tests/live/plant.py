#!/usr/bin/env python3
"""Plants one of the problems of docs/debugging.md for some seconds: plant.py NAME [SECONDS]. Root, two CPUs.

Tasks are called as in that document. Nothing remains: processes, cgroups and files go when it ends.
"""
import ctypes
import mmap
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
WORKLOAD = os.environ.get("WORKLOAD", str(HERE.parent.parent / "build/tests/live/workload"))
QUOTA_US, PERIOD_US = 20000, 100000
PRIORITY = 50
FILE_BYTES = 64 << 20


def named(name):
    """The name of this thread."""
    pathlib.Path("/proc/self/comm").write_text(name, encoding="ascii")


def work_for(ms):
    """CPU time of this thread."""
    end = time.thread_time_ns() + ms * 1_000_000
    while time.thread_time_ns() < end:
        pass


def busy(end):
    while time.monotonic() < end:
        pass


def serve(end):
    """Some work, and a nap."""
    while time.monotonic() < end:
        work_for(1)
        time.sleep(0.002)


def child(name, work, cpus=None, before=None):
    """A process that does this until the end."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        named(name)
        if cpus:
            os.sched_setaffinity(0, cpus)
        if before:
            before()
        work()
        status = 0
    finally:
        os._exit(status)  # pylint: disable=protected-access
    return None


def busy_percent(seconds=0.5):
    """How busy the CPUs are already: others that lose more time than the planted task rank before it."""
    def times():
        words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        return int(words[3]) + int(words[4]), sum(map(int, words))
    first = times()
    time.sleep(seconds)
    idle, total = (b - a for a, b in zip(first, times()))
    return 100 * (total - idle) / max(1, total)


def neighbour(end):
    """A server shares its CPU with two batch jobs."""
    return [child("server", lambda: serve(end), {0})] + [child("batch", lambda: busy(end), {0}) for _ in range(2)]


def fifo(end):
    """A real-time task leaves a tenth of its CPU to a worker."""
    def urgent():
        while time.monotonic() < end:
            work_for(90)
            time.sleep(0.01)
    policy = lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))  # noqa: E731
    return [child("worker", lambda: busy(end), {0}), child("urgent", urgent, {0}, policy)]


def affinity(end):
    """Three workers may use CPU 0 only, while CPU 1 is idle."""
    return [child("pinned", lambda: busy(end), {0}) for _ in range(3)]


def storm(end):
    """A shell starts one process after the other."""
    def script():
        while time.monotonic() < end:
            subprocess.run(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"], check=False)
    return [child("spawner", script)]


def fsync(end):
    """A database writes out each of its records."""
    def write():
        with tempfile.TemporaryFile(dir="/var/tmp") as file:
            while time.monotonic() < end:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
    return [child("db", write)]


def fault(end):
    """A reader touches pages of a mapped file that are not in memory."""
    file = tempfile.TemporaryFile(dir="/var/tmp")  # pylint: disable=consider-using-with
    _cleanups.append(file.close)
    file.write(os.urandom(1 << 20) * (FILE_BYTES >> 20))
    file.flush()
    os.fsync(file.fileno())

    def read():
        pages = mmap.mmap(file.fileno(), FILE_BYTES, prot=mmap.PROT_READ)
        pages.madvise(mmap.MADV_RANDOM)
        while time.monotonic() < end:
            pages.madvise(mmap.MADV_DONTNEED)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            for at in range(0, FILE_BYTES, 1 << 16):
                _ = pages[at]
                if time.monotonic() >= end:
                    break
    return [child("reader", read)]


def quota(end):
    """Two workers have a fifth of a CPU together."""
    mount = next((words[1] for words in map(str.split, pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines())
                  if words[2] == "cgroup" and "cpu" in words[3].split(",")), None)
    v2 = next((words[1] for words in map(str.split, pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines())
               if words[2] == "cgroup2"), None)
    group = pathlib.Path(mount or v2, f"build-{os.getpid()}")
    group.mkdir()
    _cleanups.append(group.rmdir)
    if mount:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
        (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US), encoding="ascii")
    else:
        if not (group / "cpu.max").exists():  # cgroups have the controllers that the one above gives them
            (group.parent / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
        (group / "cpu.max").write_text(f"{QUOTA_US} {PERIOD_US}", encoding="ascii")

    def enter():
        (group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
    return [child("worker", lambda: busy(end), {cpu}, enter) for cpu in (0, 1)]


def convoy(end):
    """Threads queue for a lock that one of them holds for long."""
    ms = int(1000 * (end - time.monotonic()))
    return [subprocess.Popen([WORKLOAD, "convoy", f"rounds={max(1, ms // 5)}"], stdout=subprocess.DEVNULL).pid]


# What an answer that names the cause says; names of tasks are those above.
NAMED = {
    "neighbour": [r"server \(\d+\) waited .* behind batch"],
    "quota": [r"worker \(2 tasks\) waited .* throttled \(quota of cgroup /build-\d+, 20\.0ms per 100ms"],
    "fifo": [r"worker \(\d+\) waited .* behind urgent \(FIFO 50\)"],
    "convoy": [r"(waiter|holder) \(\d+\).* slept .* for the lock at 0x[0-9a-f]+ while it was held by (waiter|holder)"],
    "storm": [r"sh \(\d+ tasks\) started \d+ tasks that lived less than 100ms"],
    "fsync": [r"db \(\d+\) was blocked for .* in fsync \(data to reach the disk\)"],
    "fault": [r"reader \(\d+\) was blocked for .* in page faults"],
    "affinity": [r"pinned \(3 tasks\) waited", r"CPU 1 was idle, but its affinity forbids it"],
    "steal": [r"the hypervisor (stole|had)"],
    "stall": [r"the kernel threw the sched_ext scheduler vm_stall out"],
}
# What has to be recorded for that, if it is more than the default.
EVENTS = {"convoy": "default,sleep", "fsync": "default,sleep", "fault": "default,sleep"}
PROBLEMS = {plant.__name__: plant for plant in (neighbour, quota, fifo, convoy, storm, fsync, fault, affinity)}
_cleanups = []


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in PROBLEMS:
        sys.exit(f"plant.py NAME [SECONDS]; NAME is one of: {', '.join(PROBLEMS)}")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    named("plant")
    try:
        for pid in PROBLEMS[sys.argv[1]](time.monotonic() + seconds):
            os.waitpid(pid, 0)
    finally:
        for cleanup in _cleanups:
            cleanup()


if __name__ == "__main__":
    main()
