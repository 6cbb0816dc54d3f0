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

    def wait(self):
        """Its account, once it was thrown out."""
        return json.loads(self.process.communicate(timeout=WAIT_S)[0])

    def end(self):
        """Its account."""
        self.process.terminate()
        return self.wait()


class Record:
    """A running `schedscope record` of all and sched_ext."""

    def __init__(self, name):
        self.path = f"/tmp/{name}.pftrace"
        words = [SCHEDSCOPE, "record", "-o", self.path, "--events", "all,scx"]
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


def observe(name):
    """Six spinners under one scheduler."""
    scheduler = Scheduler(name)
    record = Record(name)
    tids = spin(6)
    talk = record.end()
    return {"talk": talk, "tids": tids, "account": scheduler.end()}


def observe_changes():
    """None, one, none, one that holds a task back until the kernel throws it out, none: in one recording."""
    record = Record("changes")
    time.sleep(0.2)
    fifo = Scheduler("fifo")
    time.sleep(0.2)
    fifo.end()
    time.sleep(0.2)
    stall = Scheduler("stall")
    os.symlink("/bin/sleep", "/tmp/stallme")
    held = subprocess.Popen(["/tmp/stallme", "0.1"])
    account = stall.wait()
    held.wait(WAIT_S)
    spin(2, "after")
    return {"talk": record.end(), "account": account}


def main():
    for name in sys.argv[1:]:
        start = time.monotonic()
        result = observe_changes() if name == "changes" else observe(name)
        OUT.joinpath(f"{name}.json").write_text(json.dumps(result), encoding="ascii")
        print(f"{name}: {time.monotonic() - start:.1f} s: {result['talk'].strip()}", file=sys.stderr)


if __name__ == "__main__":
    main()
