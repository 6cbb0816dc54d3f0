#!/usr/bin/env python3
"""What single waits went to, `explain`: one of a task that is moved, and those of a task among many of one name."""
import contextlib
import os
import subprocess
import sys
import time

from live import Disturbed, NotHere, Work, ask, case, expect, expect_between, main, scratch
from test_record import Record

MOVED_S = 0.03
CROWD, PROCESSES = 200, 10
VICTIM = "import os, sys\nopen('/proc/self/comm', 'w').write('victim')\nprint(flush=True)\nsys.stdin.readline()\nprint(flush=True)"
SPINNER = "open('/proc/self/comm', 'w').write('victim')\nprint(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def bound(script):
    """A process that is bound to CPU 0 and has come to where it prints a line."""
    process = subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def not_of_tasks(wait):
    """What a machine takes from whoever has a CPU."""
    return sum(wait[key] or 0 for key in ("irq_ns", "softirq_ns", "stolen_ns"))


@case
def a_task_that_is_moved_waited_for_the_one_on_its_first_cpu():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise NotHere("needs CPUs 0 and 1")
    with scratch() as folder, bound(VICTIM) as victim:
        with Record(os.path.join(folder, "t")) as ours:
            hog = Work("spin", ms=600, cpu=0, fifo=1)
            time.sleep(0.2)  # it has the CPU, which nobody of the fair class takes from it
            victim.stdin.write("\n")
            victim.stdin.flush()
            time.sleep(MOVED_S)
            os.sched_setaffinity(victim.pid, {1})
            victim.stdout.readline()
            hog.account()
            ours.finish()
        wait = ask("explain", ours.path, "--tid", str(victim.pid), "-n", "1")["waits"][0]
    expect([stay["cpu"] for stay in wait["stay_list"]] == [0, 1], f"stays {wait['stay_list']}")
    first = wait["stay_list"][0]["wait_ns"]
    expect(first > 0.8e9 * MOVED_S, f"it was moved after {first} ns")
    behind = {part["comm"]: part["ns"] for part in wait["parts"] if part["kind"] == "task" and part["cpu"] == 0}
    expect_between("behind the hog on its first CPU", behind.get("spinner", 0), 0.99 * first, first, less=not_of_tasks(wait))
    expect("behind spinner" in " ".join(wait["sentences"]), f"{wait['sentences']}")


@case
def a_crowd_of_one_name_is_one_culprit():
    if 0 not in os.sched_getaffinity(0):
        raise NotHere("needs CPU 0")
    with scratch() as folder, bound(SPINNER) as victim:
        with Record(os.path.join(folder, "t")) as ours:
            crowds = [Work("hogs", nr=CROWD // PROCESSES, ms=3000, cpu=0) for _ in range(PROCESSES)]
            for crowd in crowds:
                crowd.account()
            ours.finish()
        wait = ask("explain", ours.path, "--tid", str(victim.pid), "-n", "1")["waits"][0]
        ran = ask("analyze", ours.path, "process_runtime", "--cpu", "0", "-n", "1000")["processes"]
    part = wait["parts"][0]
    if wait["wait_ns"] < 5e7:
        raise Disturbed(f"its longest wait was of {wait['wait_ns']} ns")
    expect((part["kind"], part["comm"]) == ("task", "hog"), f"{part}")
    expect(part["tasks"] > CROWD / 4, f"{part['tasks']} of {CROWD} had the CPU")
    crowded = {row["comm"]: row["total_runtime_ns"] for row in ran if row["comm"] not in ("hog", "victim")}
    if sum(crowded.values()) > 0.2e9:
        raise Disturbed(f"others ran for {sum(crowded.values())} ns: {sorted(crowded, key=crowded.get)[-3:]}")
    expect_between("behind the crowd", part["ns"], 0.9 * wait["wait_ns"], wait["wait_ns"], less=not_of_tasks(wait))
    expect(f"behind {part['tasks']} tasks called hog" in " ".join(wait["sentences"]), f"{wait['sentences']}")


if __name__ == "__main__":
    main()
