#!/usr/bin/env python3
"""The first sentence of a report names the cause of planted problems. tools/report-planted plants them on a machine; here are those that are made by hand."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ("live", "trace")]

from by_hand import BY_HAND  # noqa: E402  pylint: disable=wrong-import-position
from encode import BOOT, attributes, own  # noqa: E402  pylint: disable=wrong-import-position
from plant import NAMED  # noqa: E402  pylint: disable=wrong-import-position
from scenarios import Scenario, Task  # noqa: E402  pylint: disable=wrong-import-position
from verdict import sentences  # noqa: E402  pylint: disable=wrong-import-position
from wire import msg, num, packet, text  # noqa: E402  pylint: disable=wrong-import-position

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
MS = 1_000_000


def neighbour():
    """A server wants 1 ms of every 10, and is woken while one of two batch jobs has 4 ms left. The jobs wait for each other all the time, which is longer."""
    world = Scenario("neighbour", {0: 0, 1: 0}, [Task(101, 101, "server"), Task(102, 102, "batch"), Task(103, 103, "batch")])
    world.wake(MS, 0, 102)
    world.wake(MS, 0, 103)
    world.switch(2 * MS, 0, 102)
    for i in range(100):
        at, other = (2 + 10 * i) * MS, 103 - i % 2
        world.wake(at + MS, 0, 101)
        world.switch(at + 5 * MS, 0, 101, "R")
        world.switch(at + 6 * MS, 0, other, "S")
    return own(world)


def sharing(is_idle):
    """Three tasks that may use CPU 0 only take turns of 4 ms; CPU 1 is idle, or another task has it."""
    world = Scenario("affinity", {0: 0, 1: 0}, [Task(tid, tid, "pinned") for tid in (101, 102, 103)] + [Task(104, 104, "other")])
    for tid in (104, 101, 102, 103):
        world.wake(MS, int(tid == 104), tid)
    world.switch(MS, 1, 104)
    world.switch(2 * MS, 0, 101)
    if is_idle:
        world.switch(2 * MS, 1, 0)
    for i in range(1, 250):
        world.switch((2 + 4 * i) * MS, 0, 101 + i % 3, "R")
    if not is_idle:
        world.switch(1002 * MS, 1, 0)
    return own(world, False) + b"".join(bound(tid, 7000 + tid, "0") for tid in (101, 102, 103)) + attributes(records=len(world.events))


def bound(tid, uuid, cpus):
    """The CPUs of a task, from the start on."""
    return (packet(num(10, 1), msg(60, num(1, uuid), msg(4, num(1, tid), num(2, tid), text(5, "pinned")))) +
            packet(num(10, 1), num(8, BOOT), num(58, 6), msg(11, num(9, 3), num(11, uuid), text(22, "affinity"), msg(4, text(10, "cpus_allowed"), text(6, cpus)))))


def affinity():
    return sharing(is_idle=True)


def crowd():
    return sharing(is_idle=False)


def fifo():
    """A real-time task has 90 ms of every 100."""
    world = Scenario("fifo", {0: 0, 1: 0}, [Task(101, 101, "worker"), Task(102, 102, "urgent", prio=49)])
    world.wake(MS, 0, 101)
    world.switch(2 * MS, 0, 101)
    for i in range(20):
        at = (10 + 100 * i) * MS
        world.wake(at, 0, 102)
        world.switch(at + 10_000, 0, 102, "R")
        world.switch(at + 90 * MS, 0, 101, "S")
    return own(world)


# Where it is said in other words: policies of tasks are not in that recording, only their priorities; of a crowd no CPU is idle.
OTHER_WORDS = {"fifo": [r"worker \(\d+\) waited .* behind urgent \(real-time priority 50\)"],
               "crowd": [r"^pinned \(3 tasks\) waited [\d.]+s for a CPU: [\d.]+s behind each other; longest wait"]}
PLANTED = {**BY_HAND, "neighbour": neighbour, "fifo": fifo, "affinity": affinity, "crowd": crowd}


def check(folder, name):
    trace, page = folder / f"{name}.pftrace", folder / f"{name}.html"
    trace.write_bytes(PLANTED[name]())
    done = subprocess.run([SCHEDSCOPE, "report", trace, "-o", page], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said = sentences(page)
    assert said and len(said) <= 7, said
    for pattern in OTHER_WORDS.get(name) or NAMED[name]:
        assert re.search(pattern, said[0]), f"{pattern!r} is not in {said}"


def main():
    failed = 0
    print(f"1..{len(PLANTED)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(PLANTED, 1):
            try:
                check(pathlib.Path(folder), name)
                print(f"ok {number} - {name}", flush=True)
            except Exception:  # whatever goes wrong is this case's failure
                failed = 1
                print(f"not ok {number} - {name}" + "".join("\n# " + line for line in traceback.format_exc().splitlines()), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
