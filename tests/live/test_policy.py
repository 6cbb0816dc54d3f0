#!/usr/bin/env python3
"""Policies, priorities and CPUs of tasks that change while they are recorded, against what the test itself sets."""
import contextlib
import os
import subprocess
import sys
import time

from live import WAIT_S, Disturbed, Meanwhile, NotHere, ask, case, expect, main, queried, scratch, switches_of
from test_record import Record

NAPS = "import time\nprint(flush=True)\nwhile True: time.sleep(0.001)"
# Has CPU 0 for 20 ms of every 50.
HOG = """import os, time
os.sched_setaffinity(0, {0})
print(flush=True)
while True:
    until = time.monotonic() + 0.02
    while time.monotonic() < until: pass
    time.sleep(0.03)"""
PAUSE = 0.2  # naps end a thousand times a second: a change is seen long before, but on a slow CPU
SWITCHES = 3  # the first may be under way


@contextlib.contextmanager
def child(script):
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()  # it has come to its loop
            yield process.pid
        finally:
            process.kill()


def let_run(pid, seconds=PAUSE):
    """For so long, and until it has left its CPU a few times."""
    before, end, meanwhile = switches_of(pid)[pid], time.monotonic() + WAIT_S, Meanwhile(pid)
    time.sleep(seconds)
    while switches_of(pid)[pid] < before + SWITCHES:
        if time.monotonic() > end:
            delayed_s = meanwhile.delayed_ns() / 1e9
            expect(delayed_s > WAIT_S / 2, f"{pid} does not run, and waited for its CPU for only {delayed_s:.1f} s")
            raise Disturbed(f"other tasks kept {pid} from its CPU for {delayed_s:.1f} s")
        time.sleep(0.01)


def events_of(path, event, pid):
    return queried(path, "-e", event, "--pid", str(pid))


def without_repetition(words):
    return [word for i, word in enumerate(words) if i == 0 or word != words[i - 1]]


def change(pid, function, *args):
    """Lets it run after a change: (before, after, what was taken from it and what it waited until it had run)."""
    meanwhile, before = Meanwhile(pid), boot_ns()
    function(*args)
    after = boot_ns()
    let_run(pid)
    return before, after, meanwhile.delayed_ns()


def seen_within(times, rows, what):
    """Each change is recorded after it was made, at the next switch."""
    for (before_ns, after_ns, delayed_ns), row in zip(times, rows):
        late = row["timestamp"] - after_ns
        expect(before_ns <= row["timestamp"] and late < 0.15e9 + delayed_ns, f"{what}: {late / 1e6} ms late, {delayed_ns / 1e6} delayed")


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@case
def policies_are_recorded_as_they_change():
    steps = [("FIFO", os.SCHED_FIFO, 50, 49), ("RR", os.SCHED_RR, 50, 49), ("RR", os.SCHED_RR, 7, 92),
             ("BATCH", os.SCHED_BATCH, 0, 120), ("IDLE", os.SCHED_IDLE, 0, 120), ("NORMAL", os.SCHED_OTHER, 0, 120)]
    times = []
    with scratch() as folder, child(NAPS) as pid:
        with Record(os.path.join(folder, "t")) as ours:
            let_run(pid)
            for _, policy, priority, _ in steps:
                times.append(change(pid, os.sched_setscheduler, pid, policy, os.sched_param(priority)))
            times.append(change(pid, os.setpriority, os.PRIO_PROCESS, pid, 5))
            ours.finish()
        rows = events_of(ours.path, "policy", pid)
        classes = {row["class"]: row for row in ask("analyze", ours.path, "process_runtime", "--by", "class", "--pid",
                                                    str(pid), "-n", "100")["processes"]}
    told = [(row["policy"], row["prio"]) for row in rows]
    expect(told == [("NORMAL", 120)] + [(name, prio) for name, _, _, prio in steps] + [("NORMAL", 125)], f"{told}")
    seen_within(times, rows[1:], "policy")
    expect(set(classes) == {"real-time", "fair", "idle"}, f"classes {set(classes)}")


@case
def cpus_are_recorded_as_they_change():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise NotHere("needs CPUs 0 and 1")
    everywhere = os.sched_getaffinity(0)
    steps, times = [{0}, {1}, {0, 1}, {1}, everywhere], []
    with scratch() as folder, child(NAPS) as pid:
        with Record(os.path.join(folder, "t")) as ours:
            let_run(pid)
            for cpus in steps:
                times.append(change(pid, os.sched_setaffinity, pid, cpus))
            ours.finish()
        rows = events_of(ours.path, "affinity", pid)
    masks = without_repetition([int(str(row["cpu_mask"]), 0) for row in rows])
    bits = [sum(1 << cpu for cpu in cpus) for cpus in [everywhere, *steps]]
    expect(masks == without_repetition([mask & (1 << 64) - 1 for mask in bits]), f"{masks}, expected {bits}")
    # The first row says what was so until then, the second the first change.
    changes = [row for i, row in enumerate(rows) if i and row["cpu_mask"] != rows[i - 1]["cpu_mask"]]
    seen_within([t for i, t in enumerate(times) if bits[i + 1] != bits[i]], changes, "CPUs")


@case
def a_new_task_is_described_when_it_is_created():
    # FIFO is inherited, and reset where the parent has asked for that.
    script = """import os, sys, time
for policy in (os.SCHED_FIFO, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK):
    os.sched_setscheduler(0, policy, os.sched_param(3))
    pid = os.fork()
    if not pid: os._exit(0)
    print(pid, flush=True)
    os.waitpid(pid, 0)"""
    with scratch() as folder:
        with Record(os.path.join(folder, "t")) as ours:
            out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
            ours.finish()
        fifo, plain = (events_of(ours.path, "policy", int(pid)) for pid in out.stdout.split())
        births = {row["child_pid"]: row["timestamp"] for row in queried(ours.path, "-e", "sched_process_fork")}
    expect([(row["policy"], row["prio"]) for row in fifo] == [("FIFO", 96)], f"{fifo}")
    expect([(row["policy"], row["prio"]) for row in plain] == [("NORMAL", 120)], f"{plain}")
    for row in fifo + plain:
        expect(0 <= row["timestamp"] - births[row["pid"]] < 1e6, f"{row} of a task of {births[row['pid']]}")


@case
def the_policy_of_a_culprit_is_named():
    if 0 not in os.sched_getaffinity(0):
        raise NotHere("needs CPU 0")
    with scratch() as folder, child(HOG) as hog, child(NAPS) as victim:
        os.sched_setaffinity(victim, {0})
        with Record(os.path.join(folder, "t")) as ours:
            for policy, priority in ((os.SCHED_FIFO, 50), (os.SCHED_RR, 20)):
                os.sched_setscheduler(hog, policy, os.sched_param(priority))
                let_run(hog, 0.6)
            os.sched_setscheduler(hog, os.SCHED_OTHER, os.sched_param(0))
            ours.finish()
        waits = ask("explain", ours.path, "--tid", str(victim), "-n", "40")["waits"]
    told = {part["class"] for wait in waits for part in wait["parts"]
            if part["kind"] == "task" and part["tid"] == hog and part["ns"] > 5e6}
    expect({"FIFO 50", "RR 20"} <= told, f"classes of the hog: {told}")


if __name__ == "__main__":
    main()
