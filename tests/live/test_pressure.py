#!/usr/bin/env python3
"""Pressure of a recording against the kernel's own account, /proc/pressure/cpu and cpu.pressure of cgroups."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

from live import (LONG_S, SCHEDSCOPE, Disturbed, NotHere, Work, case, cgroups, cpu_cgroups, cpu_hierarchy, expect, expect_near, main,
                  move, need_live, output, scratch, set_quota)
from test_record import Record

PRESSURE = pathlib.Path("/proc/pressure/cpu")
SECONDS = 10


def total_us():
    """Of the line some; None where the kernel has no PSI."""
    try:
        some = PRESSURE.read_text(encoding="ascii").splitlines()[0]
    except OSError:
        return None
    return int(some.rsplit("=", 1)[1])


def changes(process):
    """When the kernel added to its total, and what that was then: it does so every 2 s."""
    seen, last = [], total_us()
    while process.poll() is None:
        time.sleep(0.01)
        now = total_us()
        if now != last:
            seen.append((time.clock_gettime_ns(time.CLOCK_BOOTTIME), now))
            last = now
    return seen


@case
def pressure_is_that_of_the_kernel():
    need_live()
    if total_us() is None:
        raise NotHere("the kernel does not account pressure")
    with scratch() as folder:
        path = str(pathlib.Path(folder, "p.pftrace"))
        # They are killed when it has ended; a slow CPU takes many seconds to begin with it.
        hogs = [Work("spin", ms=(SECONDS + LONG_S) * 1000, cpu=0) for _ in range(2)]
        recorder = subprocess.Popen([SCHEDSCOPE, "record", "-o", path, "--duration", f"{SECONDS}s"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = changes(recorder)
        for hog in hogs:
            hog.kill()
        expect(recorder.returncode == 0, "record failed")
        summary = json.loads(output([SCHEDSCOPE, "analyze", path, "--json"]).stdout)
        start = summary["start_timestamp"]
        end = start + 1e6 * summary["trace_duration_ms"]
        seen = [at for at in seen if start <= at[0] <= end]
        if len(seen) < 3:
            raise Disturbed(f"{len(seen)} changes of the kernel's total within the recording")
        (first, before), (last, after) = seen[0], seen[-1]
        got = json.loads(output([SCHEDSCOPE, "analyze", path, "pressure", "--from", f"@{first}", "--to", f"@{last}",
                                 "--json"]).stdout)
        if summary["lost_events"]:
            raise Disturbed(f"{summary['lost_events']} events were lost")
        expect_near("pressure, ns", got["some_ns"], 1000 * (after - before), relative=0.05)
        expect(got["stalled"] and got["stalled"][0]["behind"], "nobody was stalled behind a task")


def expect_pressure_of_cgroup(has_quota, strangers):
    """Two hogs of a cgroup on CPU 0, beside others. The kernel accounts cgroups of version 2 only: they are in one of those, too."""
    with scratch() as folder, cpu_cgroups("pressed") as (group,), contextlib.ExitStack() as stack:
        mount = cpu_hierarchy()
        v2 = group
        if not os.path.exists(os.path.join(group, "cpu.pressure")):
            v2 = stack.enter_context(cgroups("pressed-too"))[0]
        account = pathlib.Path(v2, "cpu.pressure")
        if not account.exists():
            raise NotHere("the kernel does not account the pressure of cgroups")
        if has_quota:
            set_quota(group)
        with Record(os.path.join(folder, "t")) as ours:
            others = [Work("hogs", nr=1, ms=4000, cpu=0) for _ in range(strangers)]
            works = [Work("hogs", cgroup=group, nr=2, ms=3000, cpu=0)]
            if v2 != group:
                move(works[0].pid, v2)
            for work in works + others:
                work.account()
            time.sleep(2.1)  # the kernel's own interval
            kernel = {line.split()[0]: 1000 * int(line.rsplit("=", 1)[1]) for line in account.read_text(encoding="ascii").splitlines()}
            summary = ours.finish()
        if summary["lost"]:
            raise Disturbed(f"{summary['lost']} records were lost")
        path = "/" + os.path.relpath(group, mount) if mount else "/" + os.path.basename(group)
        alone = json.loads(output([SCHEDSCOPE, "analyze", ours.path, "pressure", "--cgroup", path, "--json"]).stdout)
        rows = json.loads(output([SCHEDSCOPE, "analyze", ours.path, "pressure", "--by", "cgroup", "--json"]).stdout)["stalled"]
    row = next(row for row in rows if row["cgroup"] == path)
    for got in (alone, row):
        for kind in ("some", "full"):
            expect_near(f"{kind} of the cgroup, ns", got[f"{kind}_ns"], kernel[kind], relative=0.05)
    expect(kernel["full"] > 0.5e9, f"{kernel}")


@case
def some_and_full_of_a_cgroup_are_those_of_the_kernel():
    expect_pressure_of_cgroup(has_quota=False, strangers=1)


@case
def a_quota_presses_as_in_the_kernel():
    expect_pressure_of_cgroup(has_quota=True, strangers=0)


if __name__ == "__main__":
    main()
