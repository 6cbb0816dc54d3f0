#!/usr/bin/env python3
"""Waits that a quota or the hypervisor makes, in recordings, against cpu.stat of the cgroup and /proc/stat."""
import contextlib
import os
import pathlib
import re
import time

from live import (IS_EMULATED, PERIOD_US, QUOTA_US, TICK_NS, Disturbed, NotHere, Work, ask, case, cpu_cgroups, cpu_hierarchy, expect,
                  expect_between, expect_near, main, once, scratch, set_quota, throttled_by_kernel)
from test_record import Record

WORK_MS = 3000
FEW_TIMERS = 20  # of 30: the hogs do not even use up their quota
TRACING = pathlib.Path("/sys/kernel/tracing")
PROBE = "schedscope_test/unthrottle"
LATE = 1.25  # periods between two timers


def union(intervals):
    """The length of what they cover together."""
    total, until = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class Unthrottlings:
    """How late they are, where CPUs are emulated.

    A timer ends a throttling, and so do we. The kernel counts until it has called unthrottle_cfs_rq(), since Linux 6.3 by an
    interrupt of that CPU: microseconds later, but milliseconds where one thread of the host runs the CPUs in turn.
    """

    def __init__(self):
        self._folder = TRACING / "instances" / f"schedscope-{os.getpid()}"
        self.late_ns = 0
        self.nr_late_timers = 0

    def __enter__(self):
        if IS_EMULATED:
            self._tell("kprobe_events", f"p:{PROBE} unthrottle_cfs_rq")
            self._folder.mkdir()
            (self._folder / "trace_clock").write_text("boot", encoding="ascii")
            for event in ("timer/hrtimer_expire_entry", PROBE):
                (self._folder / "events" / event / "enable").write_text("1", encoding="ascii")
        return self

    @staticmethod
    def _tell(name, text):
        file = os.open(TRACING / name, os.O_WRONLY | os.O_APPEND)  # open() would look for its end, and it has none
        os.write(file, text.encode())
        os.close(file)

    def read(self):
        """All until now: from the last timer of a quota to each, and the timers that came too late."""
        timer_s = period_s = None
        for line in (self._folder / "trace").read_text(encoding="utf-8").splitlines() if IS_EMULATED else ():
            found = re.search(r" (\d+\.\d+): (\w+): .*?(function=sched_cfs_(?:period|slack)_timer|$)", line)
            if found and found[2] == "unthrottle" and timer_s:
                self.late_ns += round(1e9 * (float(found[1]) - timer_s))
            elif found and found[3]:
                timer_s = float(found[1])
                if "period" in found[3]:
                    self.nr_late_timers += period_s is not None and timer_s - period_s > LATE * PERIOD_US / 1e6
                    period_s = timer_s

    def __exit__(self, *_):
        if IS_EMULATED:
            self._folder.rmdir()
            self._tell("kprobe_events", f"-:{PROBE}")


class Hogs:
    """Two hogs on each of two CPUs share a quota; others may have the CPUs meanwhile. Recorded in both ways at the same time."""

    def __init__(self, is_busy):
        if not {0, 1} <= os.sched_getaffinity(0):
            raise NotHere("needs CPUs 0 and 1")
        with scratch() as folder, cpu_cgroups("quota") as (group,), Unthrottlings() as ends, contextlib.ExitStack() as others:
            set_quota(group)
            self.path = "/" + os.path.relpath(group, cpu_hierarchy())
            with Record(os.path.join(folder, "task")) as by_task, Record(os.path.join(folder, "cpu"), "--quota-by-cpu") as by_cpu:
                works = [Work("hogs", nr=1, ms=WORK_MS + 1000, cpu=cpu) for cpu in (0, 1) if is_busy]
                for work in works:
                    others.callback(work.kill)
                hogs = [Work("hogs", cgroup=group, nr=2, ms=WORK_MS, cpu=cpu) for cpu in (0, 1)]
                self.accounts = [hog.account() for hog in hogs]
                self.read_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                self.kernel_ns, self.kernel_timers = throttled_by_kernel(group)
                ends.read()
                self.ends = ends
                summaries = [by_task.finish(), by_cpu.finish()]
            self.by_task, self.by_cpu = Throttled(self, by_task.path), Throttled(self, by_cpu.path)
        if any(summary["lost"] for summary in summaries):
            raise Disturbed(f"{[summary['lost'] for summary in summaries]} records were lost")


class Throttled:
    """What a recording of the hogs says."""

    def __init__(self, hogs, path):
        self.path, self.accounts, self.read_ns, self.ends = hogs.path, hogs.accounts, hogs.read_ns, hogs.ends
        self.kernel_ns, self.kernel_timers = hogs.kernel_ns, hogs.kernel_timers
        self.victims = {row["pid"]: row for row in ask("analyze", path, "blame", "--by", "thread", "-n", "10000")["victims"]}
        # Those that start the hogs may be throttled, too.
        throttled = [tid for tid, row in self.victims.items() if row["throttled_ns"]]
        self.waits = {tid: ask("explain", path, "--tid", str(tid), "-n", "100")["waits"] for tid in throttled}
        self.told = ask("query", path, "-e", "throttled", "--all")["events"]
        self.begun = ask("query", path, "-e", "throttle", "--all")["events"]
        self.wasted = {tid: ask("analyze", path, "wasted_cores", "--tid", str(tid)) for tid in throttled}

    def tids(self):
        """Of the hogs with the quota."""
        return [task["tid"] for account in self.accounts for task in account["tasks"]]

    def throttlings(self):
        """{CPU: [(start, end)]}. By task it begins with the wait; by cgroup and CPU, the recording says it.

        Those that ended before the kernel was asked, which counts no others.
        """
        found = {}
        for event in (event for event in self.told if event["timestamp"] < self.read_ns):
            found.setdefault(event["fields"]["throttled_cpu"], []).append((event["fields"]["start_ns"], event["timestamp"]))
        if self.told:
            return found
        for wait in (wait for waits in self.waits.values() for wait in waits):
            for part in wait["parts"]:
                if part["kind"] == "throttled" and wait["start_timestamp"] + part["ns"] < self.read_ns:
                    found.setdefault(part["cpu"], []).append((wait["start_timestamp"], wait["start_timestamp"] + part["ns"]))
        return found

    def check(self):
        """What holds whoever has the CPUs."""
        found = self.throttlings()
        # Those that start the hogs are bound to no CPU.
        expect({0, 1} <= set(found), f"throttled on CPUs {sorted(found)}")
        expect(self.kernel_ns > 0.5e9, f"the kernel throttled for {self.kernel_ns} ns only")
        self.check_seen()
        expect_near("throttled time of the cgroup", sum(map(union, found.values())) + self.ends.late_ns, self.kernel_ns, relative=0.01)
        print(f"# throttled: {sum(map(union, found.values()))} ns, {self.ends.late_ns} until CPUs heard of the end; kernel {self.kernel_ns}")
        if self.kernel_timers < FEW_TIMERS:
            raise Disturbed(f"others had the CPUs: throttled in {self.kernel_timers} periods of {1000 * WORK_MS // PERIOD_US}")
        for tid in self.tids():
            nr = sum(wait["throttled_ns"] > 0 for wait in self.waits[tid])
            expect(nr > 5, f"{tid} was throttled {nr} times")
            if self.told:
                self.check_by_cpu(self.waits[tid], found)
        for waits in self.waits.values():
            for part in (part for wait in waits for part in wait["parts"] if part["kind"] == "throttled"):
                expect((part["cgroup"], part["quota_ns"], part["period_ns"]) == (self.path, 1000 * QUOTA_US, 1000 * PERIOD_US), f"{part}")
                # The kernel also counts those in which others had the CPUs, so that no hog was taken off one.
                # A timer that comes late, as on an emulated CPU, makes one period longer, which we take for two.
                expect_between("periods in which it was throttled", part["throttled_periods"], 0.7 * self.kernel_timers,
                               self.kernel_timers + 1, more=self.ends.nr_late_timers)
                expect(part["throttled_periods"] <= part["passed_periods"], f"{part}")
            for wait in waits:
                expect(sum(part["ns"] for part in wait["parts"]) == wait["wait_ns"], f"parts of {wait}")
        self.check_others()

    def check_seen(self):
        """Nobody traces what happens in threads of pid 1 on some machines: a timer that comes upon one, a switch from one to a hog."""
        hidden = [event for event in self.begun if not any(
            wait["start_timestamp"] <= event["timestamp"] <= wait["end_timestamp"] for wait in self.waits.get(event["pid"], []))]
        if self.told:
            times = sorted(event["timestamp"] for event in self.told)
            missed = self.kernel_timers - 1 - sum(b - a > 500 * PERIOD_US for a, b in zip(times, times[1:]))
        else:
            missed = len({event["timestamp"] // (1000 * PERIOD_US) for event in hidden})
        expect(missed <= self.kernel_timers // 8, f"{missed} of {self.kernel_timers} times at which the quota ran out have no end in the recording")
        if missed > 0:
            raise Disturbed(f"{missed} of {self.kernel_timers} throttlings ended in a thread of pid 1")

    @staticmethod
    def check_by_cpu(waits, found):
        """A hog was throttled whenever it waited for a CPU on which its cgroup was; it may be moved before it binds itself to one."""
        waits = [wait for wait in waits if all(part["cpu"] == wait["cpu"] for part in wait["parts"] if part["kind"] == "throttled")]
        want = [union((max(start, wait["start_timestamp"]), min(end, wait["end_timestamp"])) for start, end in found.get(wait["cpu"], ())
                      if start < wait["end_timestamp"] and end > wait["start_timestamp"]) for wait in waits]
        expect_near("throttled time of waits", sum(wait["throttled_ns"] for wait in waits), sum(want), relative=0.01)

    def check_others(self):
        """The throttled time is in no other column, and no CPU could have run them then."""
        for tid, waits in self.waits.items():
            row = self.victims[tid]
            blamed = sum(culprit["wait_ns"] for culprit in row["blames"])
            expect(row["throttled_ns"] >= sum(wait["throttled_ns"] for wait in waits), f"{row}")
            expect(blamed <= row["wait_ns"] - row["throttled_ns"], f"{row}")
            expect(self.wasted[tid]["total_wait_ns"] <= row["wait_ns"] - row["throttled_ns"], f"{self.wasted[tid]}")


@once
def with_idle_cpus():
    return Hogs(is_busy=False)


@once
def with_busy_cpus():
    return Hogs(is_busy=True)


def check_by_cgroup(got):
    expect(got.told, "no throttling of a CPU")
    got.check()


@case
def throttled_time_is_that_of_the_kernel_where_cpus_are_idle():
    with_idle_cpus().by_task.check()


@case
def throttled_time_is_that_of_the_kernel_where_cpus_are_busy():
    with_busy_cpus().by_task.check()


@case
def before_linux_6_18_it_is_that_of_the_cgroup_and_the_idle_cpu():
    check_by_cgroup(with_idle_cpus().by_cpu)


@case
def before_linux_6_18_it_is_that_of_the_cgroup_and_the_busy_cpu():
    check_by_cgroup(with_busy_cpus().by_cpu)


def stolen_ns():
    """By the kernel, of all CPUs."""
    words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(words[8]) * TICK_NS


@case
def stolen_time_is_that_of_proc_stat():
    with scratch() as folder:
        with Record(os.path.join(folder, "t")) as ours:
            keep = Work("keep", ms=3500)  # a CPU that never switches tells nothing
            start, before = time.clock_gettime_ns(time.CLOCK_BOOTTIME), stolen_ns()
            time.sleep(3)
            end, kernel_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME), stolen_ns() - before
            keep.account()
            ours.finish()
        rows = ask("query", ours.path, "-e", "steal", "--all")["events"]
        blame = ask("analyze", ours.path, "blame")
    if blame["stolen_ns"] is None:
        raise NotHere("the kernel does not keep steal in the clock of run queues")
    found = sum(row["fields"]["ns"] for row in rows if start <= row["timestamp"] < end)
    # Ticks are whole, and a slice at each end of the time lies in it in part.
    expect_near("stolen time", found, kernel_ns, relative=0.05, absolute=3 * TICK_NS * os.cpu_count())


if __name__ == "__main__":
    main()
