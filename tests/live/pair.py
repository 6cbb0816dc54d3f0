#!/usr/bin/env python3
"""An independent account of the scheduler: pairs the raw events of `perf record` by the definitions.

Shares no code with schedscope. Used by the tests as a module; by hand, pair.py SECONDS [COMM...] prints
what the tasks of these names did.

  queue delay  sched_wakeup (woken), sched_wakeup_new (new) or a switch-out still runnable (preempted),
               to the next switch-in; the first start counts, and a wakeup of a running task starts none
  waking       the first sched_waking since the task slept, to the next switch-in; one that came while the
               task was on a CPU counts from its next sleeping switch-out; if sched_wakeup follows
               without a switch-out between, it starts nothing
  slice        switch-in to switch-out; involuntary if still runnable
  sleep        switch-out in a sleeping state to the next wakeup; S, D, other

Only tasks that are born while perf records are exact. The perf events of a kernel may be silent in some
contexts (in threads of pid 1, on some virtual machines), so only tasks of one's own should be compared.
"""
import collections
import ctypes
import math
import os
import re
import shutil
import subprocess
import sys
import time

from live import IS_EMULATED

EVENTS = ("sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_waking", "sched_process_exit",
          "sched_migrate_task")
LINE = re.compile(r"\s*(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+): (.*)")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> "
                    r"next_comm=(.*) next_pid=(\d+) next_prio=-?\d+")
WAKEUP = re.compile(r"comm=(.*) pid=(\d+) prio=-?\d+(?: |$)")
DEAD = set("XZx")
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 16384, 1 << 18


def mount_tracefs():
    """perf needs tracefs: mounts it for this process and its children alone, unless it is mounted."""
    if os.path.exists("/sys/kernel/tracing/events/sched"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.unshare(CLONE_NEWNS) or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
            or libc.mount(b"tracefs", b"/sys/kernel/tracing", b"tracefs", 0, None)):
        raise OSError(ctypes.get_errno(), "cannot mount tracefs: " + os.strerror(ctypes.get_errno()))


def perf_fits():
    """On a guest of another kernel than it is made for, perf counts other things; a guest may have none."""
    if not IS_EMULATED:
        return True
    if not shutil.which("perf"):
        return False
    words = subprocess.run(["perf", "--version"], capture_output=True, text=True, check=False).stdout.split()
    return bool(words) and words[-1].split(".")[:2] == os.uname().release.split(".")[:2]


class LostEvents(RuntimeError):
    """perf could not keep up with the machine: the recording proves nothing."""


class Recording:
    """`perf record` of the whole machine; it records from the end of the constructor until stop()."""

    def __init__(self, path, events=EVENTS, *options):
        mount_tracefs()
        self.path = path
        control, perf_control = os.pipe(), os.pipe()
        names = ",".join("sched:" + name for name in events)
        self._process = subprocess.Popen(
            ["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", "8192", "-D", "-1", "-e", names, *options,
             "-o", path, f"--control=fd:{control[0]},{perf_control[1]}"],
            pass_fds=(control[0], perf_control[1]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        os.close(control[0])
        os.close(perf_control[1])
        self._control, self._answer = control[1], perf_control[0]
        self._ask(b"enable\n")

    def _ask(self, command):
        os.write(self._control, command)
        if not os.read(self._answer, 64).startswith(b"ack"):
            raise RuntimeError("perf record: " + self._process.communicate()[1])

    def stop(self):
        """Ends the recording and waits until the file is complete."""
        self._ask(b"disable\n")
        self._ask(b"stop\n")
        talk = self._process.communicate(timeout=60)[1]
        os.close(self._control)
        os.close(self._answer)
        if self._process.returncode:
            raise RuntimeError(f"perf record: exit {self._process.returncode}: {talk}")

    def events(self):
        """(time_ns, cpu, name, fields) of each event in order of time."""
        script = subprocess.Popen(["perf", "script", "-i", self.path, "--ns", "--show-lost-events", "-F",
                                   "tid,cpu,time,event,trace"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, errors="replace")
        for line in script.stdout:
            found = LINE.match(line)
            if found:
                _, cpu, seconds, fraction, name, fields = found.groups()
                yield int(seconds) * 1000000000 + int(fraction), int(cpu), name, fields
            elif "LOST" in line:
                raise LostEvents("perf lost events: " + line.strip())
        if script.wait():
            raise RuntimeError("perf script failed")


class Task:
    """What is known of one task between two events."""

    __slots__ = ("on_cpu", "wait", "cause", "asleep", "state", "waking", "is_waking_early")

    def __init__(self):
        self.on_cpu = self.wait = self.cause = self.asleep = self.state = self.waking = None
        self.is_waking_early = False


class Pairs:
    """Samples of each (tid, comm): samples[tid, comm][metric] = [(ns, end_ns, cpu)]."""

    METRICS = ("woken", "new", "preempted", "voluntary", "involuntary", "S", "D", "other", "waking")

    def __init__(self, events):
        self.samples = collections.defaultdict(lambda: collections.defaultdict(list))
        self.exits = []                          # times of sched_process_exit
        self.migrations = collections.Counter()  # by (tid, comm)
        self.early_wakings = collections.Counter()  # by tid: that came while the task was on a CPU, before it slept
        self._tasks = collections.defaultdict(Task)
        for at, cpu, name, fields in events:
            getattr(self, "_on_" + name)(at, cpu, fields)

    def _add(self, tid, comm, metric, start, at, cpu):
        self.samples[tid, comm][metric].append((at - start, at, cpu))

    def _on_sched_waking(self, at, _cpu, fields):
        task = self._tasks[int(WAKEUP.match(fields)[2])]
        if task.waking is None:
            task.waking, task.is_waking_early = at, task.on_cpu is not None

    def _on_sched_wakeup(self, at, cpu, fields):
        comm, tid = WAKEUP.match(fields).groups()
        self._wakeup(at, cpu, comm, int(tid), "woken")

    def _on_sched_wakeup_new(self, at, cpu, fields):
        comm, tid = WAKEUP.match(fields).groups()
        self._tasks[int(tid)] = Task()
        self._wakeup(at, cpu, comm, int(tid), "new")

    def _wakeup(self, at, cpu, comm, tid, cause):
        task = self._tasks[tid]
        if task.asleep is not None:
            self._add(tid, comm, task.state, task.asleep, at, cpu)
            task.asleep = None
        if task.on_cpu is not None:
            task.waking = None
        elif task.wait is None:
            task.wait, task.cause = at, cause

    def _on_sched_switch(self, at, cpu, fields):
        prev_comm, prev, state, next_comm, next_tid = SWITCH.match(fields).groups()
        if prev != "0":
            self._switch_out(at, cpu, prev_comm, int(prev), state)
        if next_tid != "0":
            self._switch_in(at, cpu, next_comm, int(next_tid))

    def _switch_out(self, at, cpu, comm, tid, state):
        task = self._tasks[tid]
        is_runnable = state in ("R", "R+")
        if task.on_cpu is not None:
            kind = "involuntary" if is_runnable else "voluntary"
            self._add(tid, comm, kind, task.on_cpu, at, cpu)
        else:  # its switch-in was not seen: what it waited for ended unseen too
            task.waking = None
        task.on_cpu = task.wait = None
        if is_runnable:
            task.wait, task.cause = at, "preempted"
        elif state[0] in DEAD:
            del self._tasks[tid]
        else:
            task.asleep, task.state = at, state[0] if state[0] in "SD" else "other"
            if task.waking is not None and task.is_waking_early:
                task.waking, task.is_waking_early = max(task.waking, at), False
                self.early_wakings[tid] += 1

    def _switch_in(self, at, cpu, comm, tid):
        task = self._tasks[tid]
        if task.wait is not None:
            self._add(tid, comm, task.cause, task.wait, at, cpu)
        if task.waking is not None and not task.is_waking_early:
            self._add(tid, comm, "waking", task.waking, at, cpu)
            task.waking = None
        task.on_cpu, task.wait, task.asleep = at, None, None

    def _on_sched_process_exit(self, at, _cpu, _fields):
        self.exits.append(at)

    def _on_sched_migrate_task(self, _at, _cpu, fields):
        comm, tid = WAKEUP.match(fields).groups()
        self.migrations[int(tid), comm] += 1

    def merged(self, comm, *metrics, tid=None):
        """The samples of these metrics of all tasks of that name, or of one of them."""
        return [sample for (a_tid, a_comm), of in self.samples.items()
                if a_comm == comm and tid in (None, a_tid) for metric in metrics for sample in of[metric]]


def percentile(ordered, share):
    """Nearest rank: element ceil(share * n), at least the first."""
    return ordered[max(1, math.ceil(share * len(ordered))) - 1]


def summary(samples):
    """Count and extremes of samples, as a report has them; None for no samples."""
    if not samples:
        return None
    lengths = sorted(sample[0] for sample in samples)
    longest = max(samples)
    return {"count": len(lengths), "min_us": lengths[0] / 1e3, "max_us": lengths[-1] / 1e3,
            "mean_us": sum(lengths) / len(lengths) / 1e3, "p50_us": percentile(lengths, .50) / 1e3,
            "p90_us": percentile(lengths, .90) / 1e3, "p99_us": percentile(lengths, .99) / 1e3,
            "max_time_ns": longest[1], "max_cpu": longest[2]}


def main():
    """Records for some seconds, prints a line per task and metric."""
    path = f"/tmp/pair-{os.getpid()}.data"
    recording = Recording(path)
    try:
        time.sleep(float(sys.argv[1]))
        recording.stop()
        pairs = Pairs(recording.events())
    finally:
        os.unlink(path)
    for (tid, comm), of in sorted(pairs.samples.items()):
        for metric in Pairs.METRICS:
            if of[metric] and (len(sys.argv) < 3 or comm in sys.argv[2:]):
                s = summary(of[metric])
                print(f"{tid:8} {comm:16} {metric:12} " + " ".join(f"{k}={s[k]:.1f}" for k in list(s)[:7]))


if __name__ == "__main__":
    main()
