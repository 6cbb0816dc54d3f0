#!/usr/bin/env python3
"""Who keeps whom waiting, while it lasts: `stat --blame`, and the waits in progress of `stat`.

A victim of the class idle is bound to CPU 1. A task of the fifo class and an ordinary one leave it nothing there.
"""
import contextlib
import os
import subprocess
import time

from live import (WAIT_S, WORKLOAD, Disturbed, Stat, Work, case, cpu_cgroup_of, cpu_cgroups, expect, expect_between, expect_near,
                  main, once, run, set_quota, switches_of, throttled_by_kernel, wait_for_switches)

SPIN_MS = 1900
HOLDERS = {"spinner", "hog"}


@contextlib.contextmanager
def victim(name):
    """Sleeps for 5 ms at a time on CPU 1, and runs only when nothing else wants to."""
    words = ["chrt", "-i", "0", "taskset", "-c", "1", WORKLOAD, "crowd", "nr=1", "us=5000", "ms=60000", f"name={name}"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + WAIT_S
        while len(switches_of(process.pid)) < 2:
            expect(time.monotonic() < end, "no victim")
            time.sleep(0.01)
        wait_for_switches(process.pid)
        yield process
    finally:
        process.kill()
        process.wait()


def starve(stat):
    """Starves the victim for two seconds; the reports that were made meanwhile."""
    hog = Work("hogs", nr=1, ms=SPIN_MS + 600, cpu=1)
    time.sleep(0.2)  # it runs: what the fifo class leaves to others is its own
    spinner = Work("spin", ms=SPIN_MS, cpu=1, fifo=1)
    first = len(stat.out.lines)
    spinner.account()
    reports = stat.objects()[first:]
    hog.account()
    return reports


@once
def starved():
    """The reports of both commands while a victim starves, and its name."""
    name = f"victim-{os.getpid()}"
    with Stat(interval="250ms") as plain, Stat("--blame", interval="250ms") as blame, victim(name):
        reports = starve(plain)
        last = blame.objects()
        expect(blame.process.poll() is None, "it has ended")
        return name, reports, last, plain.finish(), blame.finish()


@case
def a_wait_that_lasts_is_reported_with_its_age():
    name, reports, _, _, _ = starved()
    waits = [wait for report in reports for wait in report["open_waits"] if wait["comm"] == name]
    expect(len(waits) >= 4, f"{len(waits)} of {len(reports)} reports say that it waits")
    ages = [wait["wait_us"] / 1e6 for wait in waits]
    expect(sum(a >= b for a, b in zip(ages, ages[1:])) <= 1, f"it ran more than once: {ages}")
    expect_between("the longest age in s", max(ages), 0.6, 2.6)
    expect({wait["cpu"] for wait in waits} == {1}, f"{waits}")
    expect(not any(wait["is_throttled"] for wait in waits), f"{waits}")
    expect({wait["running_comm"] for wait in waits} <= HOLDERS | {None}, f"{waits}")
    expect("spinner" in {wait["running_comm"] for wait in waits}, f"{waits}")


@case
def who_keeps_it_waiting_is_named_while_it_waits():
    name, _, reports, _, _ = starved()
    rows = [row for report in reports if report["blame"] for row in report["blame"]["victims"] if row["comm"] == name]
    waited = sum(row["wait_ns"] for row in rows)
    by = {}
    for row in rows:
        expect(row["wait_ns"] == sum(row[key] or 0 for key in row if key.endswith("_ns") and key not in ("wait_ns", "max_wait_ns")),
               f"the parts are not the wait: {row}")
        for blamed in row["blames"]:
            by[blamed["comm"]] = by.get(blamed["comm"], 0) + blamed["wait_ns"]
    expect_between("waited in s", waited / 1e9, 1.2, 3.5)
    expect(by.get("spinner", 0) >= 0.75e6 * SPIN_MS and max(by, key=by.get) == "spinner", f"{by} of {waited}")


@case
def intervals_follow_one_another():
    _, _, _, _, last = starved()
    expect(last["schema"] == "schedscope-stat-blame/1" and last["lost"] == 0 and last["events"] > 100, f"{last}")
    expect(last["note"] is None and last["blame"]["aggregation_mode"] == "per_comm", f"{last}")


@case
def a_quota_is_not_the_fault_of_another_task():
    """A hog is throttled for most of 80 ms in each 100: by cgroup, as much as the kernel says."""
    with cpu_cgroups("blame") as (group,):
        set_quota(group)
        with Stat("--blame", "--by", "cgroup", interval="500ms") as blame:
            hog = Work("hogs", cgroup=group, nr=1, ms=2500, cpu=1)
            time.sleep(1)
            path = cpu_cgroup_of(hog.pid)
            hog.account()
            kernel_ns = throttled_by_kernel(group)[0]
            time.sleep(1)
            reports = blame.objects()
    rows = [row for report in reports if report["blame"] for row in report["blame"]["victims"] if row["cgroup"] == path]
    expect(rows, f"{path} is not in {[row['cgroup'] for report in reports if report['blame'] for row in report['blame']['victims']]}")
    expect_near("throttled for", sum(row["throttled_ns"] for row in rows), kernel_ns, relative=0.05, absolute=60e6)
    if kernel_ns < 0.5e9:
        raise Disturbed(f"others had the CPU: throttled for {kernel_ns} ns only")


@case
def a_task_that_a_quota_keeps_waiting_is_called_throttled():
    """1 ms in a second: what it waits for lasts until the period ends."""
    with cpu_cgroups("open") as (group,):
        set_quota(group, quota_us=1000, period_us=1000000)
        with Stat(interval="200ms") as stat:
            hog = Work("hogs", cgroup=group, nr=1, ms=100, cpu=1)
            time.sleep(2.5)
            waits = [wait for report in stat.objects() for wait in report["open_waits"]]
            hog.kill()
    throttled = [wait for wait in waits if wait["is_throttled"]]
    expect(throttled and max(wait["wait_us"] for wait in throttled) > 400_000, f"{waits}")
    expect({wait["comm"] for wait in throttled} <= {"hog", "workload", "sh"}, f"{waits}")


@case
def victims_are_chosen_and_text_is_a_table():
    name = f"chosen-{os.getpid()}"
    with victim(name):
        Work("spin", ms=400, cpu=1, fifo=1)
        out = run("stat", "--blame", "-r", "1", "-i", "1", "-c", f"/^{name}$/", "--by", "tid")
    expect(out.returncode == 0 and out.stderr == "", f"{out.returncode} {out.stderr}")
    lines = [line for line in out.stdout.splitlines() if "/" in line.split(" ")[0]]
    expect(lines and all(line.startswith(f"{name}/") for line in lines), out.stdout)
    expect("VICTIM" in out.stdout and "events " in out.stdout, out.stdout)


@case
def what_does_not_go_with_it_is_refused():
    for words in (("-g", "slice"), ("--outliers", "5"), ("--histogram",), ("--cgroup", "a", "--cgroup", "b")):
        out = run("stat", "--blame", *words)
        expect(out.returncode == 2 and "--blame" in out.stderr, f"{words}: {out.returncode} {out.stderr}")


main()
