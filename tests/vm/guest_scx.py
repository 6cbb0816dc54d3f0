#!/usr/bin/env python3
"""Runs in a virtual machine: records our schedulers at work, and leaves traces and the schedulers' accounts in /run/out.

The schedulers (sched.bpf.c) count what they do in maps of their own, which their loader prints. test_scx.py compares,
outside, where it is quicker.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

OUT = pathlib.Path("/run/out")
SCHEDSCOPE, SCHED, OBJECT = os.environ["SCHEDSCOPE"], os.environ["VM_SCHED"], os.environ["VM_SCHED_OBJECT"]
WAIT_S = 600  # of the guest's clock, which jumps ahead while all wait for the host
SPIN_S = 1.0


class Scheduler:
    """One of our schedulers, in charge once the object exists."""

    def __init__(self, name, *words):
        self.process = subprocess.Popen([SCHED, OBJECT, name, *words], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "on\n":
            raise RuntimeError(f"the scheduler {name} does not start")

    def be_last(self):
        """It sees each switch once more from now on, after all that watch it so far."""
        self.process.send_signal(signal.SIGUSR1)
        if self.process.stdout.readline() != "last\n":
            raise RuntimeError("the scheduler does not watch switches")

    def wait(self):
        """Its account, once it was thrown out."""
        return json.loads(self.process.communicate(timeout=WAIT_S)[0])

    def end(self):
        """Its account."""
        self.process.terminate()
        return self.wait()


class Record:
    """A running `schedscope record` of all and sched_ext."""

    def __init__(self, name, *more):
        self.path = f"/tmp/{name}.pftrace"
        words = [SCHEDSCOPE, "record", "--force", "-o", self.path, "--events", "all,scx", *more]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        size = self._more_than(0)  # the head is there before the first event
        self._more_than(size)

    def _more_than(self, size):
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            now = os.path.getsize(self.path) if os.path.exists(self.path) else 0
            if now > size:
                return now
            time.sleep(0.02)
        raise RuntimeError(f"no trace: {self.process.communicate()[1]}")

    def end(self):
        """Its words."""
        self.process.send_signal(signal.SIGINT)
        talk = self.process.communicate(timeout=WAIT_S)[1]
        if self.process.returncode:
            raise RuntimeError(f"record: {talk}")
        OUT.joinpath(os.path.basename(self.path)).write_bytes(pathlib.Path(self.path).read_bytes())
        return talk


class Flight:
    """A flight recorder that waits for a scheduler to be thrown out."""

    def __init__(self, name, *more):
        self.folder = pathlib.Path(f"/tmp/{name}-dumps")
        self.folder.mkdir()
        self.process = subprocess.Popen([SCHEDSCOPE, "record", "-o", str(self.folder), "--keep", "2s", "--after", "50ms",
                                         "--cooldown", "0s", "--trigger", "scx-eject", *more])
        deadline = time.monotonic() + WAIT_S
        while "CapPrm:\t0000000000000000" not in pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii"):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("the flight recorder does not start")
            time.sleep(0.02)

    def end(self):
        """The names of its dumps, by time."""
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(WAIT_S):
            raise RuntimeError("the flight recorder failed")
        return [path.name for path in sorted(self.folder.iterdir(), key=os.path.getmtime)]


def spin(number, name="spin"):
    """Processes that want a CPU all the time, half of them niced; their ids, after their end."""
    os.symlink("/bin/sh", f"/tmp/{name}")
    work = [subprocess.Popen([*(["nice", "-n", "5"] if i % 2 else []), f"/tmp/{name}", "-c", "while :; do :; done"])
            for i in range(number)]
    time.sleep(SPIN_S)
    for process in work:
        process.kill()
        process.wait()
    os.unlink(f"/tmp/{name}")
    return [process.pid for process in work]


def kernel_counts():
    """What the kernel counts about the scheduler in charge; None where it counts nothing."""
    path = pathlib.Path("/sys/kernel/sched_ext/root/events")
    return dict(line.split() for line in path.read_text(encoding="ascii").splitlines()) if path.exists() else None


def observe(name):
    """Six spinners under one scheduler; "NAME-k": seen by kprobes."""
    scheduler = Scheduler(name.removesuffix("-k"))
    before = kernel_counts()
    record = Record(name, *(["--scx-by-kprobe"] if name.endswith("-k") else []))
    scheduler.be_last()
    tids = spin(6)
    middle = kernel_counts()
    time.sleep(0.3)
    talk = record.end()
    return {"talk": talk, "tids": tids, "counts": [before, middle, kernel_counts()], "account": scheduler.end()}


def end_by_itself(name):
    """A scheduler that goes, or is thrown out, when it meets a certain task; its account."""
    scheduler = Scheduler(name)
    held = subprocess.Popen(["/tmp/stallme", "0.1"])
    account = scheduler.wait()
    held.wait(WAIT_S)
    return account


def observe_changes(case):
    """None, one, none, one that holds a task back until the kernel throws it out, others that go: in one recording."""
    if not os.path.exists("/tmp/stallme"):
        os.symlink("/bin/sleep", "/tmp/stallme")
    more = ["--scx-by-kprobe"] if case.endswith("-k") else []
    record, flight = Record(case, *more), Flight(case, *more)
    time.sleep(0.2)
    fifo = Scheduler("fifo")
    time.sleep(0.2)
    accounts = {"fifo": fifo.end()}
    time.sleep(0.2)
    for name in ("stall", "fail", "leave"):
        accounts[name] = end_by_itself(name)
        time.sleep(0.2)
    spin(2, "after")
    return {"talk": record.end(), "accounts": accounts, "dumps": flight.end()}


def main():
    for name in sys.argv[1:]:
        start = time.monotonic()
        result = observe_changes(name) if name.startswith("changes") else observe(name)
        OUT.joinpath(f"{name}.json").write_text(json.dumps(result), encoding="ascii")
        print(f"{name}: {time.monotonic() - start:.1f} s: {result['talk'].strip()}", file=sys.stderr)


if __name__ == "__main__":
    main()
