#!/usr/bin/env python3
"""Why tasks sleep, `record --events sleep`: workloads know in which system call they do, on which lock, and who has it."""
import json
import os

from live import IS_EMULATED, SCHEDSCOPE, Work, case, expect, expect_between, expect_near, main, output, run, scratch
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
        # By the kernel's count: a thread that is kept from its CPU on the way to sleep finds the timer over, and does not.
        slept = min(task["voluntary"], 200)
        expect(slept >= (195 if IS_EMULATED else 200) - task["involuntary"], f"{task}")
        expect_between(f"naps of {task['tid']}", reasons["clock_nanosleep"]["sleeps"], slept, 200, less=2 * it["unseen"])
        expect_between("their time", reasons["clock_nanosleep"]["sleep_ns"], slept * 0.9e6, task["sum_ns"] * 1.001,
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


def explained(path, *args):
    out = run("explain", path, "--json", *map(str, args))
    expect(out.returncode == 0, out.stderr)
    return json.loads(out.stdout)


def sleeps_on_the_lock(**options):
    """A convoy: its account, the explained sleeps of its first waiter on the lock, and how they are drawn."""
    with scratch() as folder:
        path, picture = os.path.join(folder, "trace.pftrace"), os.path.join(folder, "why.svg")
        with Record(path, "--events", "default,sleep") as record:
            account = Work("convoy", **options).account()
            summary = record.finish()
        waiter = account["tasks"][1]
        call = f"futex({waiter['sum_ns']:#x})"
        report = explained(path, "--sleeps", "--tid", waiter["tid"], "-n", 100)
        sleeps = [sleep for sleep in report["sleeps"] if sleep["call"] == call]
        expect(sleeps, f"no sleep in {call}: {[sleep['call'] for sleep in report['sleeps']]}")
        # A moment within one finds it without being told that it is asleep.
        at = (sleeps[0]["start_timestamp"] + sleeps[0]["end_timestamp"]) // 2
        found = explained(path, "--tid", waiter["tid"], "--at", f"@{at}")
        expect(found["sleeps"][0]["start_timestamp"] == sleeps[0]["start_timestamp"], f"{found}")
        tree = run("explain", path, "--sleeps", "--tid", str(waiter["tid"]), "--chain", "-n", "1", "--svg", picture)
        expect(tree.returncode == 0 and "holder" in tree.stdout, f"{tree.stdout}{tree.stderr}")
        with open(picture, encoding="utf-8") as file:
            expect("holder" in file.read(), "no holder in the picture")
    expect(summary["lost"] == 0, f"lost: {summary}")
    return account, sleeps


@case
def the_chain_of_a_convoy_ends_with_the_timer_of_the_holder():
    rounds = 20
    it, sleeps = sleeps_on_the_lock(nr=2, rounds=rounds, us=5000)
    holder = it["tasks"][0]
    # One that is kept from its CPU may come to the lock too late to wait for it.
    expect_between("sleeps on the lock", len(sleeps), rounds - it["tasks"][1]["involuntary"], rounds, less=it["unseen"])
    for sleep in sleeps:
        expect(sleep["held_by"][0]["tid"] == holder["tid"] and len(sleep["held_by"]) == 1, f"{sleep['held_by']}")
        naps = [entry for entry in sleep["chain"] if entry["kind"] == "sleep" and entry["tid"] == holder["tid"]]
        expect(len(naps) == 1 and "in clock_nanosleep until" in naps[0]["text"], f"{sleep['chain']}")
    expect_between("what the holder napped meanwhile",
                   sum(entry["ns"] for sleep in sleeps for entry in sleep["chain"][1:] if entry["kind"] == "sleep"),
                   0.9 * len(sleeps) * 5e6, holder["sum_ns"], less=it["taken_ns"]["all"] + 5e6 * it["tasks"][1]["involuntary"])


@case
def the_chain_of_a_convoy_leads_to_what_the_holder_waited_for():
    rounds, us = 5, 20000
    it, sleeps = sleeps_on_the_lock(nr=2, rounds=rounds, us=us, cpu=1)
    holder, rival = it["tasks"][0], it["tasks"][-1]
    expect(rival["comm"] == "rival", f"{rival}")
    # One that is kept from its CPU may come to the lock too late to wait for it.
    expect_between("sleeps on the lock", len(sleeps), rounds - it["tasks"][1]["involuntary"], rounds, less=it["unseen"])
    taken = it["taken_ns"]["all"]
    behind = smallest = 0
    for sleep in sleeps:
        expect(sleep["held_by"][0]["tid"] == holder["tid"], f"{sleep['held_by']}")
        below = [entry for entry in sleep["chain"] if entry["depth"] == 2]
        ran, waited = (sum(entry["ns"] for entry in below if entry["kind"] == kind) for kind in ("run", "wait"))
        # It burned that much of a CPU with the lock, and waited for the rest. What is shorter than a 20th of the sleep has no entry.
        small = sleep["sleep_ns"] / 20
        expect_between("what the holder ran", ran, 0.9 * us * 1000, 1.05 * us * 1000, less=taken + small, more=taken)
        expect_between("what it ran and waited", ran + waited, 0.95 * sleep["sleep_ns"], sleep["sleep_ns"], less=taken + small)
        behind += sum(entry["ns"] for entry in below if f"behind rival ({rival['tid']}" in entry["text"])
        smallest += small
    # Both have the same share of that CPU, whatever others take of it.
    burned = len(sleeps) * us * 1000
    expect_between("behind its rival", behind, 0.5 * burned, 1.6 * burned, less=taken + smallest, more=taken)


@case
def without_the_group_nothing_is_guessed():
    with scratch() as folder:
        path = os.path.join(folder, "trace.pftrace")
        out = output([SCHEDSCOPE, "record", "-o", path, "--", "sleep", "0.05"])
        expect(out.returncode == 0, out.stderr)
        report = explained(path, "--sleeps", "--comm", "sleep", "-n", 1)
        expect(report["sleeps"][0]["syscall"] is None, f"{report}")
        expect(any("record --events default,sleep" in sentence for sentence in report["sleeps"][0]["sentences"]), f"{report}")
        out = run("analyze", path, "locks")
        expect(out.returncode == 1 and "--events default,sleep" in out.stderr, f"exit {out.returncode}: {out.stderr}")


if __name__ == "__main__":
    main()
