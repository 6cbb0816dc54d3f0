#!/usr/bin/env python3
"""Cgroups in recordings, in the hierarchy that has the controller cpu, against what /proc says and what was done."""
import json
import os
import pathlib
import time

from live import (NotHere, Work, case, cpu_cgroup_of, cpu_cgroups, cpu_hierarchy, expect, expect_between, main, move,
                  remove_cgroup, run, scratch)
from test_record import Record, decoded

TOLD, STATED = 1, 2


class Cgroups:
    """What a trace says of them."""

    def __init__(self, trace):
        events = sorted((event for row in trace.events.values() for event in row), key=lambda event: event["ts"])
        self.paths, self.moves = {}, {}
        for event in events:
            if event["name"] == "cgroup_mkdir":
                self.paths[event["arg_id"]] = event["arg_path"]
                expect(event["arg_cname"] == event["arg_path"].rsplit("/", 1)[1], f"{event}")
            elif event["name"] == "cgroup_attach_task":
                expect(event["arg_ours"] in (TOLD, TOLD | STATED), f"{event}")
                self.moves.setdefault(event["arg_pid"], []).append(event)

    def of(self, tid):
        """(stated, path) of a thread, one after the other."""
        return [(event["arg_ours"] == TOLD | STATED, self.paths.get(event["arg_dst_id"])) for event in self.moves.get(tid, [])]


def threads():
    """All of this machine, and their cgroups; but for those of pid 1, which some kernels hide from BPF."""
    tids = [int(task.name) for process in pathlib.Path("/proc").glob("[0-9]*") if process.name != "1"
            for task in process.glob("task/*")]
    return {tid: cpu_cgroup_of(tid) for tid in tids}


def path_of(cgroup):
    """As the kernel and traces have it."""
    return "/" + os.path.relpath(cgroup, cpu_hierarchy())


@case
def every_thread_that_is_there_has_the_cgroup_that_proc_shows():
    with scratch() as folder, cpu_cgroups("there") as (group,):
        work = Work("sleep", cgroup=group, nr=3, rounds=300, us=50000)
        time.sleep(0.3)
        before = threads()
        with Record(os.path.join(folder, "t")) as ours:
            ours.finish()
        after = threads()
        work.kill()
        trace = decoded(ours.path)
    told = Cgroups(trace)
    lasting = {tid: path for tid, path in before.items() if path is not None and after.get(tid) == path}
    expect(len(lasting) > 20, f"only {len(lasting)} threads")
    expect(sum(path == path_of(group) for path in lasting.values()) >= 4, "the workload is not in its cgroup")
    for tid, path in lasting.items():
        expect(told.of(tid) == [(True, path)], f"{tid}: {told.of(tid)}, /proc: {path}")
    walked = {"/" + os.path.relpath(where, cpu_hierarchy()) for where, _, _ in os.walk(cpu_hierarchy())} - {"/."}
    expect(walked <= set(told.paths.values()), f"{walked - set(told.paths.values())}")


@case
def a_process_that_is_moved_takes_all_its_threads_with_it():
    with scratch() as folder, cpu_cgroups("from", "to") as (home, abroad):
        work = Work("sleep", cgroup=home, nr=3, rounds=300, us=50000)
        other = Work("sleep", cgroup=home, nr=1, rounds=300, us=50000)
        time.sleep(0.3)
        tids = {int(task.name) for task in pathlib.Path(f"/proc/{work.pid}/task").iterdir()}
        with Record(os.path.join(folder, "t")) as ours:
            before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            move(work.pid, abroad)
            moved = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            ours.finish()
        work.kill()
        other.kill()
        trace = decoded(ours.path)
    told = Cgroups(trace)
    expect(len(tids) == 4, f"{tids}")
    for tid in tids:
        expect(told.of(tid) == [(True, path_of(home)), (False, path_of(abroad))], f"{tid}: {told.of(tid)}")
        expect_between("time of the move", told.moves[tid][1]["ts"], before, moved)
    expect(told.of(other.pid) == [(True, path_of(home))], f"{told.of(other.pid)}")


@case
def a_cgroup_that_is_made_meanwhile_has_a_name_and_children_are_born_in_it():
    made = os.path.join(cpu_hierarchy() or "", f"schedscope-made-{os.getpid()}")
    with scratch() as folder, cpu_cgroups("home") as (home,):
        with Record(os.path.join(folder, "t")) as ours:
            os.mkdir(made)
            try:
                work = Work("storm", cgroup=made, nr=3, us=1000)
                account = work.account()
            finally:
                remove_cgroup(made)
            os.mkdir(os.path.join(home, "below"))
            os.rmdir(os.path.join(home, "below"))
            ours.finish()
        told = Cgroups(decoded(ours.path))
    expect(told.of(work.pid)[-1] == (False, path_of(made)), f"{told.of(work.pid)}")
    expect(path_of(home) + "/below" in told.paths.values(), f"{told.paths}")
    children = [task["tid"] for task in account.get("tasks", []) if task["tid"] != work.pid]
    expect(not any(told.of(tid) for tid in children), "a child that is where its parent is needs no word")


@case
def one_thread_that_is_moved_leaves_the_others_where_they_are():
    """In version 1 each thread has its own cgroup; in version 2 this takes threaded cgroups."""
    with scratch() as folder, cpu_cgroups("all", "one") as (home, abroad):
        tasks = pathlib.Path(abroad, "tasks")
        if not tasks.exists():
            raise NotHere("the controller cpu is in version 2, where a process is moved as a whole")
        work = Work("sleep", cgroup=home, nr=3, rounds=300, us=50000)
        time.sleep(0.3)
        tids = sorted(int(task.name) for task in pathlib.Path(f"/proc/{work.pid}/task").iterdir())
        with Record(os.path.join(folder, "t")) as ours:
            tasks.write_text(str(tids[2]), encoding="ascii")
            ours.finish()
        work.kill()
        told = Cgroups(decoded(ours.path))
    for tid in tids:
        expect(told.of(tid) == [(True, path_of(home))] + [(False, path_of(abroad))] * (tid == tids[2]), f"{tid}: {told.of(tid)}")


@case
def other_hierarchies_are_not_mixed_in():
    """What is moved there stays where it is here."""
    other = next((f"/sys/fs/cgroup/{name}" for name in ("freezer", "unified") if os.path.isdir(f"/sys/fs/cgroup/{name}")
                  and f"/sys/fs/cgroup/{name}" != cpu_hierarchy()), None)
    if not other:
        raise NotHere("there is one hierarchy of cgroups")
    group = os.path.join(other, f"schedscope-other-{os.getpid()}")
    with scratch() as folder:
        work = Work("sleep", nr=1, rounds=300, us=50000)
        time.sleep(0.2)
        with Record(os.path.join(folder, "t")) as ours:
            os.mkdir(group)
            try:
                move(work.pid, group)
                ours.finish()
            finally:
                work.kill()
                remove_cgroup(group)
        told = Cgroups(decoded(ours.path))
    expect([stated for stated, _ in told.of(work.pid)] == [True], f"{told.of(work.pid)}")
    expect(path_of(group) not in told.paths.values(), "a cgroup of another hierarchy")


@case
def what_a_task_did_counts_for_the_cgroup_in_which_it_did_it():
    """Two hogs of one CPU are moved while they run: their time is divided at that moment, and nothing is lost or counted twice."""
    with scratch() as folder, cpu_cgroups("early", "late") as (early, late):
        with Record(os.path.join(folder, "t")) as ours:
            work = Work("hogs", cgroup=early, nr=2, ms=900, cpu=1)
            time.sleep(0.5)
            move(work.pid, late)
            moved = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            account = work.account()
            ours.finish()

        def rows(*args):
            return json.loads(run("analyze", ours.path, "process_runtime", "--json", *args).stdout)["processes"]
        by = {row["cgroup"]: row["total_runtime_ns"] for row in rows("--by", "cgroup", "-p", str(work.pid))}
        threads_ns = sum(row["total_runtime_ns"] for row in rows("-p", str(work.pid)))
        only = sum(row["total_runtime_ns"] for row in rows("--cgroup", path_of(late), "-p", str(work.pid)))
        before = sum(row["total_runtime_ns"] for row in rows("-p", str(work.pid), "--to", f"@{moved}"))
        blame = json.loads(run("analyze", ours.path, "blame", "--by", "cgroup", "--cgroup", os.path.basename(late), "--json").stdout)
        refused = run("analyze", ours.path, "blame", "--cgroup", "/no-such-cgroup")
    expect(len(account["tasks"]) == 2, f"{account}")
    expect(sum(by.values()) == threads_ns, f"{by}, and by thread {threads_ns}")
    expect(only == by[path_of(late)], f"{only} with the filter, {by}")
    expect_between("time in the first cgroup, ns", by[path_of(early)], before - 20_000_000, before + 20_000_000,
                   more=account["taken_ns"][1])
    expect([row["cgroup"] for row in blame["victims"]] == [path_of(late)], f"{blame['victims']}")
    expect(refused.returncode == 1 and "no cgroup of the recording matches" in refused.stderr, f"{refused}")


if __name__ == "__main__":
    main()
