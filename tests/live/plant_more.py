#!/usr/bin/env python3
"""Plants one more problem for some seconds: plant_more.py NAME [SECONDS]. Root, two CPUs.

At the end it prints what its tasks know of themselves, as JSON: their own clocks and the kernel's counters, none of them ours.
Nothing remains: processes, cgroups and settings of the network go when it ends.
"""
import ctypes
import fcntl
import json
import mmap
import os
import pathlib
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from live import cpu_hierarchy, remove_cgroup
from plant import WORKLOAD, busy, child, named, work_for

CLERKS, CLERK_MS, HERD_S = 32, 2, 0.06
ITEM_MS = 20
FEW_SHARES, MANY_SHARES = 2, 1024  # of version 1; a weight of 100 in version 2 is as much as 1024 here
LISTENERS, PORT = 60, 9
BURST, BURST_PAUSE_S = 16, 0.0002
METER_MS, CALIBRATION = 2, 50_000
LIBC = ctypes.CDLL(None, use_errno=True)

_cleanups = []
_told, _tell = os.pipe()


def call(name, *args):
    """A function of the C library that returns 0, or sets errno."""
    if getattr(LIBC, name)(*args):
        raise OSError(ctypes.get_errno(), name)


def member(name, work, cpus=None, before=None):
    """A process that does this and then tells what the kernel counted for it meanwhile; work() may return more facts.

    All that is told has to fit into a pipe: it is read at the end.
    """
    def counters():
        ran, waited, slices = map(int, pathlib.Path("/proc/self/schedstat").read_text(encoding="ascii").split())
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {"run_ns": ran, "wait_ns": waited, "slices": slices, "voluntary": usage.ru_nvcsw, "involuntary": usage.ru_nivcsw}

    def account():
        first = counters()
        facts = work() or {}
        told = {"comm": name, "tid": os.getpid(), **{key: value - first[key] for key, value in counters().items()}, **facts}
        os.write(_tell, json.dumps(told).encode() + b"\n")
    return child(name, account, cpus, before)


def weight(end):
    """A tenant with one task, and one with a task per CPU, all always busy: the first one's cgroup has little weight."""
    v1_own = next((line.split(":", 2)[2] for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
                   if "cpu" in line.split(":")[1].split(",")), "")

    def group(name, shares):
        path = pathlib.Path(cpu_hierarchy() + v1_own, f"{name}-{os.getpid()}")
        path.mkdir()
        _cleanups.append(lambda: remove_cgroup(path))
        if (path / "cpu.shares").exists():
            (path / "cpu.shares").write_text(str(shares), encoding="ascii")
        else:
            if not (path / "cpu.weight").exists():  # cgroups have the controllers that the one above gives them
                (path.parent / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
            (path / "cpu.weight").write_text(str(max(1, shares * 100 // 1024)), encoding="ascii")
        return lambda: (path / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
    poor, rich = group("bronze", FEW_SHARES), group("gold", MANY_SHARES)
    return [member("invoices", lambda: busy(end), {0, 1}, poor)] + [member("encoder", lambda: busy(end), {0, 1}, rich) for _ in range(2)]


def inversion(end):
    """A thread of nice -10 waits for a lock; its holder, of nice 10, waits for a CPU behind others."""
    ms = int(1000 * (end - time.monotonic()))
    with subprocess.Popen([WORKLOAD, "inversion", f"ms={ms}"], stdout=subprocess.PIPE, text=True) as work:
        tasks = json.loads(work.stdout.read())["tasks"]
    for task in tasks:
        os.write(_tell, json.dumps(task).encode() + b"\n")
    return []


def pipe(end):
    """A report waits in read() for a feeder, which computes for 20 ms per item. Each has a CPU."""
    source, sink = os.pipe()

    def feed():
        while time.monotonic() < end:
            work_for(ITEM_MS)
            os.write(sink, bytes(64))

    def report():
        os.close(sink)
        asleep_ns = 0
        while True:
            start = time.monotonic_ns()
            got = os.read(source, 64)
            asleep_ns += time.monotonic_ns() - start
            if not got:
                return {"asleep_ns": asleep_ns}
            work_for(1)
    pids = [member("feeder", feed, {1}), member("report", report, {0})]
    os.close(sink)
    return pids


def herd(end):
    """A cache expires for 32 clerks at once: all are woken by one call, and each has 2 ms of work for two CPUs."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)  # a barrier, and the number of the last round
    address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
    attributes = ctypes.create_string_buffer(64)
    LIBC.pthread_barrierattr_init(attributes)
    LIBC.pthread_barrierattr_setpshared(attributes, 1)
    LIBC.pthread_barrier_init(ctypes.c_void_p(address), attributes, CLERKS + 1)
    last = ctypes.c_uint64.from_buffer(shared, 256)
    meet = lambda: LIBC.pthread_barrier_wait(ctypes.c_void_p(address))  # noqa: E731

    def clerk():
        rounds = 0
        while True:
            meet()
            if last.value == rounds + 1:  # the number of the round: a late clerk is not misled by the next one
                return {"rounds": rounds}
            work_for(CLERK_MS)
            rounds += 1

    def expire():
        rounds = 0
        while not last.value:
            time.sleep(HERD_S)
            if time.monotonic() >= end:
                last.value = rounds + 1
            rounds += 1
            meet()
    return [member("clerk", clerk, {0, 1}) for _ in range(CLERKS)] + [member("expiry", expire, {0, 1})]


def count(steps):
    """An amount of work, however long it takes."""
    for _ in range(steps):
        pass


def timed(steps):
    """How long it takes on a CPU, ns."""
    start = time.thread_time_ns()
    count(steps)
    return time.thread_time_ns() - start


def softirq_thread_ns():
    """How long the thread of CPU 0 has run that takes over where softirqs come too fast."""
    path = next(path.parent for path in pathlib.Path("/proc").glob("[0-9]*/comm") if path.read_text(encoding="utf-8") == "ksoftirqd/0\n")
    return int((path / "schedstat").read_text(encoding="ascii").split()[0])


def flood(end):
    """Packets of a sender on CPU 1 are received by softirqs of CPU 0, where a meter has work to do."""
    call("unshare", 0x40020000)  # CLONE_NEWNET, CLONE_NEWNS: the loopback device and its settings are our own
    call("mount", b"none", b"/", None, 0x44000, None)  # MS_REC, MS_PRIVATE
    folder = tempfile.mkdtemp(prefix="plant-")
    _cleanups.append(lambda: (call("umount2", folder.encode(), 2), os.rmdir(folder)))
    call("mount", b"sysfs", folder.encode(), b"sysfs", 0, None)
    pathlib.Path(folder, "class/net/lo/queues/rx-0/rps_cpus").write_text("1", encoding="ascii")
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(out, 0x8914, struct.pack("16sH14x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
    out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    listeners = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(LISTENERS)]
    for listener in listeners:  # each packet is delivered to all of them; nobody reads
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        listener.bind(("127.255.255.255", PORT))

    def send():
        sent = 0
        while time.monotonic() < end:
            for _ in range(BURST):
                sent += out.sendto(bytes(64), ("127.255.255.255", PORT)) > 0
            time.sleep(BURST_PAUSE_S)
        return {"sent": sent}

    def meter():
        start, rounds, of_thread = time.monotonic_ns(), 0, softirq_thread_ns()
        while time.monotonic() < end:
            count(steps)
            rounds += 1
        return {"mean_ns": (time.monotonic_ns() - start) / rounds, "softirq_thread_ns": softirq_thread_ns() - of_thread}

    steps = METER_MS * 1_000_000 * CALIBRATION // min(timed(CALIBRATION) for _ in range(10))
    return [member("meter", meter, {0}), member("flooder", send, {1})]


PROBLEMS = {plant.__name__: plant for plant in (weight, inversion, pipe, herd, flood)}


def accounts():
    """What was told, all of it."""
    text = b""
    while select.select([_told], [], [], 0)[0]:
        text += os.read(_told, 1 << 16)
    return [json.loads(line) for line in text.splitlines()]


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in PROBLEMS:
        sys.exit(f"plant_more.py NAME [SECONDS]; NAME is one of: {', '.join(PROBLEMS)}")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    named("plant")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    before = pathlib.Path("/proc/stat").read_text(encoding="ascii")
    try:
        for pid in PROBLEMS[sys.argv[1]](time.monotonic() + seconds):
            if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
                sys.exit(f"a task of {sys.argv[1]} failed")
    finally:
        for cleanup in _cleanups:
            cleanup()
    print(json.dumps({"tasks": accounts(), "stat": [before, pathlib.Path("/proc/stat").read_text(encoding="ascii")]}))


if __name__ == "__main__":
    main()
