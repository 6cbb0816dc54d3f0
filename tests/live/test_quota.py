#!/usr/bin/env python3
"""Waits that a quota or the hypervisor makes, in recordings, against cpu.stat of the cgroup and /proc/stat."""
import contextlib
import os
import pathlib
import time

from live import (IS_EMULATED, PERIOD_US, QUOTA_US, TICK_NS, Disturbed, NotHere, Work, ask, case, cpu_cgroups, cpu_hierarchy, expect,
                  expect_between, expect_near, main, scratch, set_quota, throttled_by_kernel)
from test_record import Record

WORK_MS = 3000
# For the kernel it ends when a CPU takes the interrupt by which it is told of a refill: emulated ones do up to 12 ms later.
FAR = 0.04 if IS_EMULATED else 0.01


def union(intervals):
    """The length of what they cover together."""
    total, until = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class Throttled:
    """Two hogs on each of two CPUs share a quota; others may have the CPUs meanwhile."""

    def __init__(self, is_busy, *options):
        if not {0, 1} <= os.sched_getaffinity(0):
            raise NotHere("needs CPUs 0 and 1")
        with scratch() as folder, cpu_cgroups("quota") as (group,), contextlib.ExitStack() as others:
            set_quota(group)
            self.path = "/" + os.path.relpath(group, cpu_hierarchy())
            with Record(os.path.join(folder, "t"), *options) as ours:
                works = [Work("hogs", nr=1, ms=WORK_MS + 1000, cpu=cpu) for cpu in (0, 1) if is_busy]
                for work in works:
                    others.callback(work.kill)
                hogs = [Work("hogs", cgroup=group, nr=2, ms=WORK_MS, cpu=cpu) for cpu in (0, 1)]
                self.accounts = [hog.account() for hog in hogs]
                self.kernel_ns, self.kernel_timers = throttled_by_kernel(group)
                summary = ours.finish()
            self.victims = {row["pid"]: row for row in ask("analyze", ours.path, "blame", "--by", "thread", "-n", "10000")["victims"]}
            # Those that start the hogs may be throttled, too.
            throttled = [tid for tid, row in self.victims.items() if row["throttled_ns"]]
            self.waits = {tid: ask("explain", ours.path, "--tid", str(tid), "-n", "100")["waits"] for tid in throttled}
            self.told = ask("query", ours.path, "-e", "throttled", "--all")["events"]
            self.begun = ask("query", ours.path, "-e", "throttle", "--all")["events"]
            self.wasted = {tid: ask("analyze", ours.path, "wasted_cores", "--tid", str(tid)) for tid in throttled}
        if summary["lost"]:
            raise Disturbed(f"{summary['lost']} records were lost")

    def tids(self):
        """Of the hogs with the quota."""
        return [task["tid"] for account in self.accounts for task in account["tasks"]]

    def throttlings(self):
        """{CPU: [(start, end)]}. By task it begins with the wait; by cgroup and CPU, the recording says it."""
        found = {}
        for event in self.told:
            found.setdefault(event["fields"]["throttled_cpu"], []).append((event["fields"]["start_ns"], event["timestamp"]))
        if self.told:
            return found
        for wait in (wait for waits in self.waits.values() for wait in waits):
            for part in wait["parts"]:
                if part["kind"] == "throttled":
                    found.setdefault(part["cpu"], []).append((wait["start_timestamp"], wait["start_timestamp"] + part["ns"]))
        return found

    def check(self):
        """What holds whoever has the CPUs."""
        found = self.throttlings()
        # Those that start the hogs are bound to no CPU.
        expect({0, 1} <= set(found), f"throttled on CPUs {sorted(found)}")
        expect(self.kernel_ns > 0.5e9, f"the kernel throttled for {self.kernel_ns} ns only")
        self.check_seen()
        expect_near("throttled time of the cgroup", sum(map(union, found.values())), self.kernel_ns, relative=FAR)
        for tid in self.tids():
            nr = sum(wait["throttled_ns"] > 0 for wait in self.waits[tid])
            expect(nr > 5, f"{tid} was throttled {nr} times")
            if self.told:
                self.check_by_cpu(self.waits[tid], found)
        for waits in self.waits.values():
            for part in (part for wait in waits for part in wait["parts"] if part["kind"] == "throttled"):
                expect((part["cgroup"], part["quota_ns"], part["period_ns"]) == (self.path, 1000 * QUOTA_US, 1000 * PERIOD_US), f"{part}")
                # The kernel also counts those in which others had the CPUs, so that no hog was taken off one.
                expect_between("periods in which it was throttled", part["throttled_periods"], 0.7 * self.kernel_timers,
                               self.kernel_timers + 1)
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
        """A hog was throttled whenever it waited for a CPU on which its cgroup was."""
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


def check_by_cgroup(is_busy):
    got = Throttled(is_busy, "--quota-by-cpu")
    expect(got.told, "no throttling of a CPU")
    got.check()


@case
def throttled_time_is_that_of_the_kernel_where_cpus_are_idle():
    Throttled(is_busy=False).check()


@case
def throttled_time_is_that_of_the_kernel_where_cpus_are_busy():
    Throttled(is_busy=True).check()


@case
def before_linux_6_18_it_is_that_of_the_cgroup_and_the_idle_cpu():
    check_by_cgroup(is_busy=False)


@case
def before_linux_6_18_it_is_that_of_the_cgroup_and_the_busy_cpu():
    check_by_cgroup(is_busy=True)


def stolen_ns():
    """By the kernel, of all CPUs."""
    words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(words[8]) * TICK_NS


@case
def stolen_time_is_that_of_proc_stat():
    with scratch() as folder:
        with Record(os.path.join(folder, "t")) as ours:
            keep = Work("keep", ms=5000)  # a CPU that never switches tells nothing
            start, before = time.clock_gettime_ns(time.CLOCK_BOOTTIME), stolen_ns()
            time.sleep(4)
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
