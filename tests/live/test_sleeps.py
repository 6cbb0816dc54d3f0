#!/usr/bin/env python3
"""Why tasks sleep, `record --events sleep`: workloads know in which system call they do, on which lock, and who has it."""
import json
import os

from live import SCHEDSCOPE, Work, case, expect, expect_between, expect_near, main, output, run, scratch
from test_record import Record


def recorded(kind, *analyses, **options):
    """Runs a workload while it is recorded: its account, and the named analyses of its process."""
    with scratch() as folder:
        path = os.path.join(folder, "trace.pftrace")
        with Record(path, "--events", "default,sleep") as record:
            account = Work(kind, **options).account()
            summary = record.finish()
        reports = []
        for analysis in analyses:
            out = run("analyze", path, analysis, "--json", "-n", "100000", "--by", "thread")
            expect(out.returncode == 0, f"{analysis}: {out.stderr}")
            reports.append(json.loads(out.stdout))
    expect(summary["lost"] == 0, f"lost: {summary}")
    return account, *reports


def reasons_of(report, tid):
    """{system call: row} of a thread."""
    rows = [row for row in report["sleepers"] if row["pid"] == tid]
    expect(len(rows) == 1, f"{len(rows)} rows of {tid}")
    return {reason["syscall"]: reason for reason in rows[0]["reasons"]}


@case
def naps_are_for_a_timer():
    it, report = recorded("sleep", "sleeps", nr=2, rounds=200, us=1000)
    for task in it["tasks"]:
        reasons = reasons_of(report, task["tid"])
        expect(reasons["clock_nanosleep"]["for"] == "a timer", f"{reasons}")
        # A thread that is preempted on its way to sleep may find the timer over.
        expect_between(f"naps of {task['tid']}", reasons["clock_nanosleep"]["sleeps"], 200 - task["involuntary"], 200,
                       less=2 * it["unseen"])
        expect_between("their time", reasons["clock_nanosleep"]["sleep_ns"], 200 * 0.9e6, task["sum_ns"] * 1.001,
                       less=2 * it["unseen"] * 2e6)


@case
def both_ends_of_a_pipe_sleep_in_read():
    it, report = recorded("pingpong", "sleeps", rounds=2000)
    for task, other in zip(it["tasks"], reversed(it["tasks"])):
        reasons = reasons_of(report, task["tid"])
        # Where others have the CPU for a while, a byte is there before it is asked for.
        expect_near(f"reads of {task['comm']}", reasons["read"]["sleeps"], task["voluntary"], absolute=5 + 2 * it["unseen"])
        expect(reasons["read"]["sleeps"] > 100, f"{reasons}")
        row = next(row for row in report["sleepers"] if row["pid"] == task["tid"])
        expect(row["ended_by"][0]["waker_pid"] == other["tid"], f"ended by {row['ended_by']}, expected {other['tid']}")


@case
def a_parent_that_waits_for_its_child_to_exec_does_so_uninterruptibly():
    it, report = recorded("dsleep", "sleeps", rounds=10, us=2000)
    reasons = reasons_of(report, it["tasks"][0]["tid"])
    found = [name for name in reasons if name in ("vfork", "clone", "clone3")]
    expect(len(found) == 1, f"{reasons}")
    expect_near("vforks", reasons[found[0]]["sleeps"], 10, absolute=it["unseen"])


@case
def a_convoy_names_its_lock_and_its_holder():
    rounds = 20
    it, report = recorded("convoy", "locks", nr=5, rounds=rounds, us=5000)
    holder, address = it["tasks"][0], it["tasks"][1]["sum_ns"]
    lock = next(row for row in report["locks"] if row["tgid"] == it["pid"])  # that with the most time comes first
    expect(int(lock["futex"], 16) == address, f"{lock['futex']}, expected {address:#x}")
    expect(lock["waiters"] == 4, f"{lock['waiters']} waiters")
    expect(lock["held_by"][0]["pid"] == holder["tid"] and lock["held_by"][0]["comm"] == "holder", f"{lock['held_by']}")
    # Four wait while it has the lock, a little less than that: they come to the lock a moment later.
    held = 4 * holder["sum_ns"]
    expect_between("time charged to the holder", lock["held_by"][0]["sleep_ns"], 0.9 * held, 1.1 * held,
                   less=4 * it["taken_ns"]["all"], more=4 * it["taken_ns"]["all"])
    expect_near("its releases", lock["held_by"][0]["releases"], rounds, absolute=it["unseen"])


@case
def without_the_group_nothing_is_guessed():
    with scratch() as folder:
        path = os.path.join(folder, "trace.pftrace")
        out = output([SCHEDSCOPE, "record", "-o", path, "--", "true"])
        expect(out.returncode == 0, out.stderr)
        out = run("analyze", path, "locks")
        expect(out.returncode == 1 and "--events default,sleep" in out.stderr, f"exit {out.returncode}: {out.stderr}")


if __name__ == "__main__":
    main()
