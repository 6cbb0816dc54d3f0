#!/usr/bin/env python3
"""Pressure of a recording against the kernel's own account, /proc/pressure/cpu and cpu.pressure of cgroups."""
import contextlib
import json
import os
import pathlib
import time

from live import (SCHEDSCOPE, Disturbed, NotHere, Work, case, cgroups, cpu_cgroups, cpu_hierarchy, expect, expect_near, main,
                  move, need_live, output, run, scratch, set_quota)
from test_record import Record

PRESSURE = pathlib.Path("/proc/pressure/cpu")
SECONDS = 6  # three periods of the kernel


def total():
    """(now, ns of the line some until now); None where the kernel has no PSI.

    The kernel adds up its CPUs, weighted by the ticks in which they had tasks, every 2 s and whenever somebody reads: one who
    reads often leaves periods in which a CPU that is busy for less than a tick weighs nothing.
    """
    try:
        some = PRESSURE.read_text(encoding="ascii").splitlines()[0]
    except OSError:
        return None
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME), 1000 * int(some.rsplit("=", 1)[1])


@case
def pressure_is_that_of_the_kernel():
    need_live()
    if not total():
        raise NotHere("the kernel does not account pressure")
    with scratch() as folder, Record(pathlib.Path(folder, "p.pftrace")) as ours:
        hogs = [Work("spin", ms=(SECONDS + 4) * 1000, cpu=0) for _ in range(2)]
        time.sleep(1)
        first, before = total()
        time.sleep(SECONDS)
        last, after = total()
        for hog in hogs:
            hog.kill()
        summary = ours.finish()
        out = run("analyze", ours.path, "pressure", "--from", f"@{first}", "--to", f"@{last}", "--json")
    if summary["lost"]:
        raise Disturbed(f"{summary['lost']:.0f} events were lost")
    expect(out.returncode == 0, out.stderr)
    got = json.loads(out.stdout)
    expect_near("pressure, ns", got["some_ns"], after - before, relative=0.05)
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
