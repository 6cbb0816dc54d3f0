#!/usr/bin/env python3
"""`schedscope stat` against workloads that know their own scheduling.

The account of a workload comes from the kernel's counters of its threads (context switches, run time, wait
time, slices), which other code keeps than the tracepoints, and from its own clock. A thread's account begins
with its name and ends a moment before its life, so counts may differ by the few switches in between.
"""
import concurrent.futures
import os
import time

from live import (IS_EMULATED, WAIT_S, WORKLOAD, Disturbed, NotHere, Stat, Work, case, cpu_cgroups, expect, expect_between,
                  expect_near, has_cpu_alone, main, measure, need_live, once, part, row, rows, run, scratch, storage_misses,
                  truth_of, workload)

LAST_PID = "/proc/sys/kernel/ns_last_pid"
EDGE = 4  # switches between the account and birth, naming and death of a thread
ALL = "latency,slice,sleep,migration,waking"
STATES = ("interruptible", "uninterruptible", "other")


@once
def session():
    """One run for all workloads that do not disturb each other: {name: account}, the final report."""
    with scratch() as folder:
        link = os.path.join(folder, "exec-after")
        os.symlink(WORKLOAD, link)

        def work():
            return {
                "pingpong": workload("pingpong", rounds=20000),
                "futex": workload("futex", rounds=5000),
                "hogs": workload("hogs", nr=3, ms=1500),
                "yield": workload("yield", rounds=10000),
                "migrate": workload("migrate", rounds=200),
                "depth": workload("depth", nr=3, rounds=60),
                "sleep": workload("sleep", nr=3, rounds=100, us=5000),
                "once": workload("sleep", nr=1, rounds=1, us=30000),
                "dsleep": workload("dsleep", rounds=20, us=10000),
                "rename": workload("rename", before=20, after=40),
                "exec": workload("exec", link=link, before=20, after=40),
                **({"reuse": workload("reuse", before=5, after=7, gap_us=200000)} if os.path.exists(LAST_PID) else {}),
            }

        return measure(work, "--by", "tid", "-d", "-g", ALL)


def account(name):
    return session()[0][name]


def row_of(group, task):
    return row(session()[1], group, tid=task["tid"], comm=task["comm"])


def total_us(distribution):
    return distribution["mean_us"] * distribution["count"] if distribution["count"] else 0.0


def expect_switches(task, unseen):
    """Delays, slices and their causes as often as the kernel itself counted."""
    latency, slices = row_of("latency", task), row_of("slice", task)
    who = f"{task['comm']} {task['tid']}"
    for what, got, want in (
            ("waits", latency["count"], task["slices"]),
            ("preempted waits", part(latency, "by_cause", "preempted")["count"], task["involuntary"]),
            ("woken waits", part(latency, "by_cause", "woken")["count"], task["voluntary"]),
            ("voluntary slices", part(slices, "voluntary")["count"], task["voluntary"]),
            ("involuntary slices", part(slices, "involuntary")["count"], task["involuntary"])):
        expect_near(f"{who} {what}", got, want, absolute=EDGE + unseen + storage_misses(session()[1]))


def expect_order(what, distribution):
    """Every distribution is consistent in itself."""
    values = [distribution[key] for key in ("min_us", "p50_us", "p90_us", "p99_us", "max_us")]
    expect(values == sorted(values), f"{what}: not in order: {values}")
    expect_between(f"{what} mean", distribution["mean_us"], values[0], values[-1])


@case
def nothing_is_lost():
    storage_misses(session()[1])


@case
def a_ping_pong_pair_counts_as_often_as_the_kernel_switched_it():
    for task in account("pingpong")["tasks"]:
        expect_switches(task, account("pingpong")["unseen"])
        expect_between("typical delay", row_of("latency", task)["p50_us"], 0.1, 20)


@case
def each_wakeup_has_one_depth():
    """Twice as many would be a program attached twice."""
    for task in account("pingpong")["tasks"]:
        woken = part(row_of("latency", task), "by_cause", "woken")["count"]
        expect_near("depths", row_of("depth", task)["count"], woken, absolute=1)


@case
def hogs_wait_for_the_slices_of_the_others():
    tasks = account("hogs")["tasks"]
    for task in tasks:
        expect_switches(task, account("hogs")["unseen"])
        waits = part(row_of("latency", task), "by_cause", "preempted")
        slices = part(row_of("slice", task), "involuntary")
        expect_near("hog's wait", total_us(waits), task["wait_ns"] / 1e3, relative=0.01,
                    absolute=(1 + account("hogs")["unseen"]) * waits["max_us"])
        # What is taken of a slice is no run time to the kernel; the way out comes after the account.
        least = 0.995 * task["run_ns"] / 1e3 - account("hogs")["unseen"] * slices["max_us"]
        expect_between("hog's run time", row_of("slice", task)["run_us"], least,
                       1.03 * task["run_ns"] / 1e3 + 30000, more=account("hogs")["taken_ns"][1] / 1e3)
        if has_cpu_alone(account("hogs")):
            expect_near("mean wait in slices of the others", waits["mean_us"],
                        (len(tasks) - 1) * slices["mean_us"], relative=0.15)


@case
def a_hog_is_preempted_always_and_says_so():
    for task in account("hogs")["tasks"]:
        switches = task["involuntary"] + task["voluntary"]
        # It leaves for good once, and may have to wait for others on its way.
        expect_near("preempt_pct", row_of("slice", task)["preempt_pct"], 100 * task["involuntary"] / switches,
                    absolute=100 * 2 / switches)


@case
def futex_hand_offs_across_cpus_count_each_turn():
    for task in account("futex")["tasks"]:
        expect_switches(task, account("futex")["unseen"])
        waking = row_of("waking", task)
        expect_near("waking delays", waking["count"], task["voluntary"],
                    absolute=EDGE + account("futex")["unseen"])
        woken = part(row_of("latency", task), "by_cause", "woken")
        # The way from the waker's CPU is part of the waking delay only.
        expect(waking["mean_us"] >= woken["mean_us"], "a waking delay is never shorter than its queue delay")


@case
def yielding_is_involuntary():
    for task in account("yield")["tasks"]:
        expect_switches(task, account("yield")["unseen"])


@case
def moves_between_cpus_are_counted_exactly():
    task = account("migrate")["tasks"][0]
    expect_near("migrations", row_of("migration", task)["total"], task["count"], absolute=1)


@case
def the_depth_of_a_busy_queue_includes_the_woken_task():
    diver = truth_of(account("depth"), "diver")
    hogs = len(account("depth")["tasks"]) - 1
    depth = row_of("depth", diver)
    expect_near("wakeups", depth["count"], diver["voluntary"], absolute=EDGE)
    # Others may be in the queue too, but not as a rule.
    highest = hogs + 2 if has_cpu_alone(account("depth")) else 63
    expect_between("typical depth", depth["p50"], hogs + 1, highest)


def late_us(task):
    """How much shorter than asked for a nap may be: the timer is set a moment before the thread leaves its CPU.

    That moment is part of a slice, or of two if it is preempted meanwhile. An emulated CPU stands still for milliseconds
    while the others have their turns.
    """
    if not IS_EMULATED:
        return 100
    longest, preempted = row_of("slice", task)["max_us"], part(row_of("latency", task), "by_cause", "preempted")
    return max(100, longest + (longest + preempted["max_us"] if preempted["count"] else 0))


def taken_us(name, task):
    """How much of a nap may have gone in that moment: what was taken from the CPUs and, if it was preempted, its waits."""
    return (account(name)["taken_ns"]["all"] + (task["wait_ns"] if task["involuntary"] else 0)) / 1e3


def expect_naps(what, got, task, unseen):
    """As many as it took. One that is preempted on its way may find the timer over; of others the wakeup may be unseen."""
    expect_near(what, got, task["count"], absolute=1, less=task["involuntary"] + unseen)


@case
def sleeps_are_as_long_as_asked_for():
    for task in account("sleep")["tasks"]:
        asleep = part(row_of("sleep", task), "by_state", "interruptible")
        expect_naps("naps", asleep["count"], task, account("sleep")["unseen"])
        waits, slices = row_of("latency", task), row_of("slice", task)
        # Any nap may be one of those that were not seen as one, the shortest, too.
        shortest = task["max_ns" if task["involuntary"] or account("sleep")["unseen"] else "min_ns"]
        expect_between("shortest nap", asleep["min_us"], 5000 - late_us(task), shortest / 1e3, less=taken_us("sleep", task))
        expect_between("longest nap", asleep["max_us"], 5000, task["max_ns"] / 1e3)
        outside = task["sum_ns"] / 1e3 - total_us(asleep) - total_us(waits)
        # The waits before the first nap and after the last are no part of any.
        least = -2 * waits["max_us"] / task["count"]
        # It ran, by the kernel's account; on an emulated CPU by ours: hogs show how exact that is.
        most = max(60, (slices["run_us"] if IS_EMULATED else task["run_ns"] / 1e3) / task["count"])
        # A nap whose wakeup was not traced is neither, as a whole; so is what was taken from the CPU.
        unseen_us = max(0, task["count"] - asleep["count"]) * task["max_ns"] / 1e3
        if account("sleep")["unseen"]:  # a wait whose end was not traced is missing; the kernel knows how long all were
            unseen_us += max(0, task["wait_ns"] / 1e3 - total_us(waits))
        expect_between("time of a nap neither asleep nor waiting", outside / task["count"], least, most,
                       more=(account("sleep")["taken_ns"]["all"] / 1e3 + unseen_us) / task["count"])
        expect_order("naps", asleep)


@case
def a_single_sample_is_every_percentile():
    task = account("once")["tasks"][0]
    asleep = part(row_of("sleep", task), "by_state", "interruptible")
    expect(asleep["count"] == 1, f"naps: {asleep['count']}, expected 1")
    for key in ("min_us", "p50_us", "p90_us", "p99_us"):
        expect_near(key, asleep[key], asleep["max_us"], relative=1e-6)
    expect_between("nap", asleep["max_us"], 30000 - late_us(task), task["max_ns"] / 1e3, less=taken_us("once", task))


@case
def uninterruptible_sleep_is_kept_apart():
    task = account("dsleep")["tasks"][0]
    asleep = part(row_of("sleep", task), "by_state", "uninterruptible")
    expect_near("waits in vfork", asleep["count"], task["count"], absolute=1)
    expect_between("mean", asleep["mean_us"], 10000, task["sum_ns"] / task["count"] / 1e3,
                   less=taken_us("dsleep", task) / task["count"])


@case
def samples_stay_with_the_name_that_earned_them():
    for task in account("rename")["tasks"]:
        naps = part(row_of("sleep", task), "by_state", "interruptible")["count"]
        expect_naps(f"naps of {task['comm']}", naps, task, account("rename")["unseen"])
        expect_near(f"waits of {task['comm']}", row_of("latency", task)["count"], task["slices"], absolute=2,
                    less=account("rename")["unseen"])


@case
def exec_starts_a_new_row():
    after = account("exec")["tasks"][0]
    before = row(session()[1], "sleep", tid=after["tid"], comm="exec-before")
    less = account("exec")["unseen"] + after["involuntary"]
    expect_near("naps before", part(before, "by_state", "interruptible")["count"], 20, absolute=1, less=less)
    naps = part(row_of("sleep", after), "by_state", "interruptible")["count"]
    expect_near("naps after", naps, 40, absolute=1, less=less)


@case
def a_reused_tid_inherits_nothing():
    if not os.path.exists(LAST_PID):
        raise NotHere(f"no {LAST_PID}: a kernel without CONFIG_CHECKPOINT_RESTORE")
    old, new = account("reuse")["tasks"]
    expect(old["tid"] == new["tid"], "the workload did not reuse a tid")
    for task in (old, new):
        asleep = part(row_of("sleep", task), "by_state", "interruptible")
        expect_naps(f"naps of {task['comm']}", asleep["count"], task, account("reuse")["unseen"])
        # The gap between both lives is no sleep.
        expect_between("longest nap", asleep["max_us"], 2000 - late_us(task), task["max_ns"] / 1e3,
                       less=taken_us("reuse", task))


@case
def the_maximum_has_a_time_and_a_cpu():
    it = account("sleep")
    for task in it["tasks"]:
        asleep = row_of("sleep", task)
        expect_between("time of the maximum", asleep["max_time_ns"], it["start_ns"], it["end_ns"])
        expect_between("its CPU", asleep["max_cpu"], 0, os.cpu_count() - 1)
    for task in account("pingpong")["tasks"]:
        expect(row_of("slice", task)["max_cpu"] == 1, "the pair ran on CPU 1 only")


@case
def every_distribution_is_in_order():
    for group in ("latency", "slice", "sleep", "waking", "cpu_latency", "cpu_idle"):
        table = rows(session()[1], group)
        expect(table or group == "cpu_idle", f"{group} is empty")  # a busy machine is never idle
        for one in table:
            if one["count"]:
                expect_order(f"{group} {one.get('comm', one.get('cpu'))}", one)


@case
def causes_add_up():
    for one in rows(session()[1], "latency"):
        parts = sum(part(one, "by_cause", cause)["count"] for cause in ("woken", "preempted", "new"))
        expect(parts == one["count"], f"{one['comm']}: {parts} by cause, {one['count']} in all")
    for one in rows(session()[1], "sleep"):
        parts = sum(part(one, "by_state", state)["count"] for state in STATES)
        expect(parts == one["count"], f"{one['comm']}: {parts} by state, {one['count']} in all")
    for one in rows(session()[1], "slice"):
        parts = part(one, "voluntary")["count"] + part(one, "involuntary")["count"]
        expect(parts == one["count"], f"{one['comm']}: {parts} slices by kind, {one['count']} in all")


@case
def tid_0_is_not_a_task():
    for group in ("latency", "slice", "sleep", "waking"):
        expect(not rows(session()[1], group, tid=0), f"the idle task is in {group}")


@case
def five_thousand_short_lives_are_all_seen():
    name = f"storm-{os.getpid()}"
    it, report = measure(lambda: workload("storm", nr=5000, us=100, name=name), "-g", "latency,slice",
                         "-c", f"^{name}$")
    unseen = it["unseen"] + storage_misses(report)
    expect(it["tasks"][0]["count"] == 5000, "the storm did not run")
    latency = row(report, "latency", comm=name)
    expect_between("new tasks", part(latency, "by_cause", "new")["count"], 5000 - unseen, 5000)
    expect(latency["count"] >= 5000 - unseen, "each life has one wait at least")
    expect_between("tasks, with the parent", latency["nr_tasks"], 5001 - unseen, 5001)
    # The parent was born under another name, and each of them leaves the CPU for good once.
    slices = row(report, "slice", comm=name)["count"]
    expect(slices >= 5001 - unseen, f"{slices} slices, but each life has one at least")


@case
def more_threads_than_any_table_are_seen_in_full():
    nr = 12000
    name = f"crowd-{os.getpid()}"
    start = time.monotonic_ns()
    it, report = measure(lambda: workload("crowd", nr=nr, us=300000, ms=1500, name=name), "-c", f"^{name}$")
    length_ns = time.monotonic_ns() - start
    unseen = it["unseen"] + storage_misses(report)
    latency = row(report, "latency", comm=name)
    expect_between("new threads", part(latency, "by_cause", "new")["count"], nr - unseen, nr)
    # Each nap is a wakeup; threads that end may wait for each other besides. One that is preempted on its way to sleep may be
    # in the queue for longer than its nap, and needs no wakeup then: as many as the kernel has preempted at most.
    woken = part(latency, "by_cause", "woken")["count"]
    queued, naps = it["tasks"][0]["involuntary"], it["tasks"][0]["count"]
    # Naps end all the time, also by an interrupt that comes upon a thread of pid 1, or when its CPU comes back to one: not traced.
    hidden = naps * (it["unseen_ns"] + it["taken_ns"]["all"]) / length_ns
    expect_between("wakeups", woken, naps - unseen - queued, 1.2 * naps, less=hidden)
    if queued >= 0.05 * naps:
        raise Disturbed(f"{queued} threads were preempted in {naps} naps: they hide too much")


@case
def a_task_that_never_leaves_its_cpu_is_shown_while_it_runs():
    with Stat("-g", "slice", "--by", "tid", "-d", "-c", "^spinner$") as stat:
        spinner = Work("spin", ms=3300, fifo=1)
        time.sleep(3.1)
        seen = [one for report in stat.objects() for one in rows(report, "slice", comm="spinner")]
        it = spinner.account()
        report = stat.finish()
    expect(len(seen) >= 3, f"{len(seen)} reports show the running spinner, expected 3 or more")
    ran = [(one["run_us"] + (one["open_slice_us"] or 0)) / 1e6 for one in seen]
    expect(ran == sorted(ran) and ran[-1] >= 2, f"its run time does not grow as it should: {ran}")
    last = row(report, "slice", comm="spinner")
    expect_near("run time", last["run_us"], it["tasks"][0]["run_ns"] / 1e3, relative=0.01, more=it["taken_ns"][1] / 1e3)


@case
def a_move_to_another_cgroup_starts_a_new_row():
    with cpu_cgroups("a", "b") as dirs:
        it, report = measure(lambda: workload("cgroup", a=dirs[0], b=dirs[1], before=20, after=40),
                             "-g", "sleep", "--by", "cgroup", "--top", "1000")
    for path, task in zip(dirs, it["tasks"]):
        found = [r for r in rows(report, "sleep") if (r.get("cgroup") or "").endswith(os.path.basename(path))]
        expect(len(found) == 1, f"{len(found)} rows for {path}")
        naps = part(found[0], "by_state", "interruptible")["count"]
        expect_naps(f"naps in {path}", naps, task, it["unseen"])


@case
def intervals_add_up_to_the_whole():
    """Two programs at once, one with cumulative reports, one with those of each interval alone."""
    args = ("-g", "latency,slice", "--by", "tid", "-d", "-c", "^pp-")
    with Stat(*args) as whole, Stat(*args, "--interval-only") as parts:
        accounts = []
        while len(parts.out.lines) < 4:  # however fast the machine is
            accounts.append(workload("pingpong", rounds=50000))
        total = whole.finish()
        parts.finish()
        reports = parts.objects()
    for task in (task for account in accounts for task in account["tasks"]):
        for group in ("latency", "slice"):
            want = row(total, group, tid=task["tid"], comm=task["comm"])["count"]
            got = sum(one["count"] for report in reports
                      for one in rows(report, group, tid=task["tid"], comm=task["comm"]))
            expect(got == want, f"{group} of {task['comm']}: {got} in the intervals, {want} in all")


def sleepers(nr):
    """A workload that goes on until it is ended, and the tids of its threads: however long it takes to attach."""
    work = Work("sleep", nr=nr, rounds=1000000, us=5000)
    deadline = time.monotonic() + WAIT_S
    while len(os.listdir(f"/proc/{work.pid}/task")) <= nr:
        expect(time.monotonic() < deadline, "the sleepers do not start")
        time.sleep(0.01)
    return work, {int(name) for name in os.listdir(f"/proc/{work.pid}/task")} - {work.pid}


@case
def a_process_filter_takes_all_its_threads_and_no_others():
    need_live()
    (chosen, tids), (other, _) = sleepers(3), sleepers(1)
    try:
        with Stat("-p", str(chosen.pid), "--by", "tid", "-d", "-g", "latency,waking") as stat:
            time.sleep(1)
            report = stat.finish()
    finally:
        chosen.kill()
        other.kill()
    for group in ("latency", "waking"):
        seen = {one["tid"] for one in rows(report, group)}
        expect(tids <= seen, f"{group}: threads {tids - seen} are missing")
        expect(seen <= tids | {chosen.pid}, f"{group}: strangers {seen - tids}")


@case
def a_thread_filter_takes_one_thread():
    need_live()
    work, tids = sleepers(3)
    tid = max(tids)
    try:
        with Stat("--tid", str(tid), "--by", "tid", "-d") as stat:
            time.sleep(1)
            report = stat.finish()
    finally:
        work.kill()
    expect({one["tid"] for one in rows(report, "latency")} == {tid}, f"rows: {rows(report, 'latency')}")


@case
def long_waits_are_reported_with_the_task_on_the_cpu():
    with Stat("--outliers", "2000", "-c", "^hog$") as stat:
        it = workload("hogs", nr=3, ms=1500)
        stat.finish()
        reports = stat.objects()
    hogs = {task["tid"] for task in it["tasks"]}
    outliers = [one for report in reports for one in rows(report, "outliers")]
    expect(len(outliers) >= 10, f"{len(outliers)} long waits of the hogs")
    for one in outliers:
        expect(one["wait_us"] >= 2000, f"too short: {one}")
        expect(one["cpu"] == 1 and one["tid"] in hogs, f"not a hog on CPU 1: {one}")
        # A thread may have to wait on its way out, after it was joined.
        expect(it["start_ns"] <= one["time_ns"] <= it["end_ns"] + 1e9, f"not at that time: {one}")
        expect(one["tid"] not in [by["tid"] for by in one["held_by"]], f"it held the CPU itself: {one}")
        reported = sum(by["held_us"] for by in one["held_by"]) + one["idle_us"] + one["unexplained_us"]
        expect_near("the wait's parts", reported, one["wait_us"], relative=0.01, absolute=5)
    held = sum(by["held_us"] for one in outliers for by in one["held_by"] if by["tid"] in hogs)
    waited = sum(one["wait_us"] for one in outliers)
    expect(held >= 0.8 * waited or not has_cpu_alone(it),
           f"the hogs waited {waited} us, but for each other {held} us only")


@case
def the_final_report_always_comes():
    """-r N -i M: one report per interval, and one for the rest."""
    need_live()
    asked = ((2, 1, 2), (2, 2, 1), (3, 2, 2), (1, 5, 1))
    with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
        outs = pool.map(lambda words: run("stat", "--json", "-r", str(words[0]), "-i", str(words[1])), asked)
    for (seconds, interval, reports), out in zip(asked, outs):
        expect(out.returncode == 0, f"exit {out.returncode}: {out.stderr}")
        expect(len(out.stdout.splitlines()) == reports,
               f"-r {seconds} -i {interval}: {len(out.stdout.splitlines())} reports, expected {reports}")


if __name__ == "__main__":
    main()
