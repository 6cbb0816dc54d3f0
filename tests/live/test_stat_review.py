#!/usr/bin/env python3
"""What `schedscope stat` once did wrong: each case failed before its correction.

Filters and identities that change while it measures, signals while its output is not read, and options.
"""
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time

from live import (IS_EMULATED, SCHEDSCOPE, SLOW, WAIT_S, WORKLOAD, Disturbed, Meanwhile, NotHere, Stat, Work, as_nobody, case, cgroup2, cpu_cgroups,
                  expect, expect_between, expect_near, expect_sentence, expect_usage_error, is_before, main, measure, move,
                  need_live, output, part, row, rows, run, scratch, workload)

TABLES = ("latency", "waking", "sleep", "slice")
ALL = ",".join(TABLES)


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def named(path):
    """A pattern for exactly this cgroup."""
    return f"^{os.path.basename(path)}$"


def asleep(of_row):
    """How often it slept as it wanted to."""
    return part(of_row, "by_state", "interruptible")["count"]


class Unread:
    """A stat whose reports are not read: its pipe is full after a moment."""

    def __init__(self, *args):
        need_live()
        self.end, write_end = os.pipe()
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
        self.process = subprocess.Popen([SCHEDSCOPE, "stat", "--json", "-d", "-v", "-g", ALL, *args], stdout=write_end,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        os.close(write_end)
        while (line := self.process.stderr.readline()) and b"attached" not in line:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.end)
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def wait_until_full(self):
        """Until a report has begun and cannot go on."""
        waiting, deadline = bytearray(4), time.monotonic() + 10
        while int.from_bytes(waiting, sys.byteorder) < 4096 and time.monotonic() < deadline:
            time.sleep(0.05)
            fcntl.ioctl(self.end, termios.FIONREAD, waiting)

    def is_over(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def signal(self, how):
        self.process.send_signal(how)

    def expect_end(self, what):
        expect(self.is_over(5), f"{what}: still running 5 s later")
        expect(self.process.returncode == 0, f"{what}: exit {self.process.returncode}")

    def read(self):
        """All that comes, as lines."""
        data = b""
        while piece := os.read(self.end, 65536):
            data += piece
        return data.decode().splitlines()


@case
def a_second_signal_ends_it_though_the_last_report_is_not_read():
    for first, second in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)):
        with Unread("-i", "100") as stat:
            time.sleep(0.6)  # some tasks have samples
            stat.signal(first)
            expect(not stat.is_over(0.4), "the report fits into the pipe: this tests nothing")
            stat.signal(second)
            stat.expect_end(f"{first.name} and {second.name}")


@case
def signals_end_it_while_a_report_cannot_be_written():
    with Unread("-i", "200ms") as stat:
        stat.wait_until_full()
        stat.signal(signal.SIGTERM)
        if not stat.is_over(0.4):
            stat.signal(signal.SIGTERM)
        stat.expect_end("two signals during a blocked write")


@case
def a_reader_that_wakes_up_after_a_signal_gets_whole_reports():
    """The signal comes while a report is half written; what is read then is JSON all the same."""
    with Unread("-i", "200ms") as stat:
        stat.wait_until_full()
        stat.signal(signal.SIGINT)
        time.sleep(0.3)
        lines = stat.read()
        stat.expect_end("a signal during a blocked write")
    reports = [json.loads(line) for line in lines]
    expect(len(reports) >= 2, f"{len(reports)} reports: the blocked one and the last are missing")
    expect(rows(reports[-1], "latency"), "an empty last report")


def wait_until_it_takes(number, pid):
    """Until the signal is caught or blocked; soon after the start."""
    end = time.monotonic() + WAIT_S
    while True:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigBlk", "SigCgt"))]
        if any(mask & 1 << number - 1 for mask in masks):
            return
        expect(time.monotonic() < end, f"it does not take {number}")
        time.sleep(0.001)


@case
def a_signal_gives_exit_0_at_any_time():
    """Also while programs are being loaded: from the moment on that it takes signals at all."""
    need_live()
    for how in (signal.SIGINT, signal.SIGTERM):
        for delay in (0, 0.05, 0.1, 0.2, 0.4):
            process = subprocess.Popen([SCHEDSCOPE, "stat", "--json"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            wait_until_it_takes(how, process.pid)
            time.sleep(delay)
            process.send_signal(how)
            out, err = process.communicate(timeout=WAIT_S)
            expect(process.returncode == 0, f"{how.name} after {delay} s: exit {process.returncode}: {err}")
            expect(json.loads(out.splitlines()[-1])["schema"], "no last report")


@case
def time_away_from_the_cgroup_is_no_sample():
    """Tasks that leave while they sleep or wait, and come back in the middle of a sleep or a wait."""
    with cpu_cgroups("away-a", "away-b") as (home, abroad):
        with Stat("--cgroup", named(home), "-g", ALL, "--by", "tid", "-d", interval="100ms") as stat:
            works = [Work("hogs", cgroup=home, nr=3, ms=3200 * SLOW),
                     Work("sleep", cgroup=home, nr=8, rounds=1000 * SLOW, us=3000)]
            time.sleep(0.5 * SLOW)
            for work in works:
                move(work.pid, abroad)
            left = now_ns()
            time.sleep(1.5 * SLOW)
            back = now_ns()
            for work in works:
                move(work.pid, home)
            tids = [task["tid"] for work in works for task in work.account()["tasks"]]
            last = stat.finish()
            reports = stat.objects()
    away = [one for one in reports if left + 50e6 < one["time_ns"] < back]
    expect(len(away) >= 5, f"{len(away)} reports while the tasks were away")
    for group in TABLES:
        for tid in tids:
            counts = [sum(one["count"] for one in rows(report, group, tid=tid)) for report in (away[0], away[-1], last)]
            expect(counts[0] == counts[1], f"{group} of {tid}: {counts[1] - counts[0]} samples while away")
        total = sum(one["count"] for one in rows(last, group)) - sum(one["count"] for one in rows(away[-1], group))
        expect(total > 20, f"{group}: {total} samples after the return")
        # After the return all hogs may wait for most of a second on a busy machine: the kernel places their cgroup so. What must not
        # be is a sample that has time away in it. Other threads of theirs slept all the time, here and there: that is one sleep.
        for one in (one for one in rows(last, group) if one["count"] and one["tid"] in tids):
            began = one["max_time_ns"] - one["max_us"] * 1e3
            expect(one["max_time_ns"] < left + 50e6 or began > back - 1e6,
                   f"{group} of {one['tid']}: a sample of {one['max_us']} us from {(began - left) / 1e6} ms after leaving, back after {(back - left) / 1e6} ms")


@case
def a_thread_that_execs_keeps_its_samples():
    """It becomes the leader: the kernel changes its id."""
    with scratch() as folder:
        link = os.path.join(folder, f"tx-{os.getpid()}")
        os.symlink(WORKLOAD, link)
        it, report = measure(lambda: workload("thread-exec", rounds=30, naps=20, us=1000, link=link), "-g", ALL)
    task = it["tasks"][0]
    expect_between("naps after exec", asleep(row(report, "sleep", comm=task["comm"])),
                   0.95 * task["count"] - it["unseen"], 1.05 * task["count"])
    woken = part(row(report, "latency", comm=task["comm"]), "by_cause", "woken")["count"]
    expect_between("wakeups after exec", woken, 0.95 * task["count"] - it["unseen"], 1.2 * task["count"])
    expect(not any(report["lost"].values()), f"lost: {report['lost']}")


@case
def other_cgroups_that_come_and_go_do_not_split_a_task():
    with cpu_cgroups("come-keep") as (keep,):
        with Stat("--cgroup", f"^schedscope-come-.*{os.getpid()}$", "-C", "-g", ALL, interval="100ms") as stat:
            work = Work("sleep", cgroup=keep, nr=1, rounds=300, us=5000)
            for i in range(12):
                with cpu_cgroups(f"come-{i}", f"come-{i}-too"):
                    time.sleep(0.1)
            it = work.account()
            report = stat.finish()
    tid = it["tasks"][0]["tid"]
    for group in TABLES:
        one = row(report, group, tid=tid, comm="napper")
        expect(one["nr_tasks"] == 1, f"{group}: {one['nr_tasks']} tasks in the row of one thread")
    expect_near("naps", asleep(row(report, "sleep", tid=tid, comm="napper")), 300, absolute=2 + it["unseen"])


@case
def holders_outside_the_filter_are_named():
    need_live()
    victim = Work("hogs", nr=1, ms=600000)
    try:
        with Stat("-p", str(victim.pid), "--outliers", "1000") as stat:
            it = workload("hogs", nr=3, ms=1500)
            stat.finish()
            reports = stat.objects()
    finally:
        victim.kill()
    outliers = [one for report in reports for one in rows(report, "outliers")
                if it["start_ns"] < one["time_ns"] < it["end_ns"]]
    expect(len(outliers) >= 10, f"{len(outliers)} long waits")
    expect(all(one["tgid"] == victim.pid for one in outliers), "waits of others")
    waited = sum(one["wait_us"] for one in outliers)
    held = sum(by["held_us"] for one in outliers for by in one["held_by"])
    by_hogs = sum(by["held_us"] for one in outliers for by in one["held_by"] if by["comm"] == "hog")
    if len({by["tid"] for one in outliers for by in one["held_by"] if by["comm"] != "hog"}) > 20 and by_hogs < 0.3 * held:
        raise Disturbed("many other tasks had the CPUs")
    expect(by_hogs >= 0.3 * held, f"{held} us of waits are explained, {by_hogs} us by the hogs")
    # A CPU's last 512 slices are remembered: too few for a wait in which others switch all the time.
    rate = reports[-1]["events"]["switch"] / reports[-1]["elapsed_s"]
    expect(held >= 0.8 * waited or rate > 20000, f"{waited} us of waits, {held} us explained, {rate:.0f} switches/s")


@case
def rates_and_intervals_do_not_disturb_each_other():
    """Migration rates are per second, whatever the interval between reports."""
    need_live()
    slow = subprocess.Popen([SCHEDSCOPE, "stat", "--json", "-g", "migration", "-i", "2.5", "-r", "5.2"],
                            stdout=subprocess.PIPE, text=True)
    meanwhile = Meanwhile(slow.pid)
    with Stat("-g", "migration", "-c", "^mover$", interval="200ms") as stat:
        end = time.monotonic() + 2.6
        total = 0
        while time.monotonic() < end:
            total += workload("migrate", rounds=200)["tasks"][0]["count"]
        report = stat.finish()
    delayed_s = meanwhile.delayed_ns() / 1e9
    out = slow.communicate(timeout=WAIT_S)[0]
    one = row(report, "migration", comm="mover")
    expect(one["samples"] >= 1, f"no rates: {one}")
    expect(one["p50_per_s"] and one["mean_per_s"] and one["max_per_s"] >= 100, f"no rates: {one}")
    expect_near("migrations", one["total"], total, relative=0.02)
    elapsed = [json.loads(line)["elapsed_s"] for line in out.splitlines()]
    expect(len(elapsed) == 3, f"reports at {elapsed}")
    for got, want in zip(elapsed, (2.5, 5.0, 5.2)):
        expect_near("time of a report", got, want, absolute=0.2, more=delayed_s)


@case
def a_new_cgroup_is_counted_beside_global_names():
    need_live()
    args = ("--cgroup", f"^schedscope-late-.*{os.getpid()}$", "--global-comm", "^nobody-has-this$")
    with cgroup2(), Stat(*args, "-g", ALL, "--by", "tid", "--outliers", "2000") as stat, cpu_cgroups("late-one") as (path,):
        hogs = Work("hogs", cgroup=path, nr=3, ms=1000)
        it = Work("sleep", cgroup=path, nr=1, rounds=100, us=5000).account()
        hogs.account()
        report = stat.finish()
        reports = stat.objects()
    naps = asleep(row(report, "sleep", tid=it["tasks"][0]["tid"], comm="napper"))
    expect_near("naps in the new cgroup", naps, 100, absolute=3 + it["unseen"])
    outliers = [one for one_report in reports for one in rows(one_report, "outliers")]
    expect(len(outliers) >= 5, f"{len(outliers)} long waits of three hogs on a CPU")
    expect({one["comm"] for one in outliers} <= {"hog", "napper", "workload", "sh"}, f"strangers: {outliers}")


@case
def a_storm_finds_room_for_every_task():
    name = f"fs-{os.getpid()}"
    it, report = measure(lambda: workload("storm", nr=3000, us=50, name=name), "-g", "most,waking", "-c", f"^{name}$")
    # Before Linux 6.2 a task's storage cannot be reached while its CPU makes or frees another.
    expect(report["lost"]["no_task_storage"] <= (15 if is_before(6, 2) else 2), f"lost: {report['lost']}")
    new = part(row(report, "latency", comm=name), "by_cause", "new")["count"]
    expect_between("new tasks", new, 3000 - it["unseen"] - report["lost"]["no_task_storage"], 3000)


@case
def a_process_whose_leader_is_renamed_is_one_row():
    it, report = measure(lambda: workload("leader", naps=50, us=5000, nr=3), "--by", "tgid", "-g", ALL)
    naps = sum(task["count"] for task in it["tasks"])
    for group in TABLES:
        row(report, group, tgid=it["pid"])
    # The leader waits for its threads in the end.
    expect_between("naps", asleep(row(report, "sleep", tgid=it["pid"])), naps - 2 - it["unseen"], naps + 10)


LONG, SHORT = "aaaaaaaaaaaaaaa", "b"


@case
def a_thread_that_changes_its_name_keeps_all_samples():
    """One row per name, however often it returns to it."""
    with Stat("-g", ALL, "--by", "tid", interval="200ms") as stat:
        # Long enough to fall asleep: an emulated CPU may stand still on its way there.
        it = workload("names", **({"rounds": 1000, "us": 20000} if IS_EMULATED else {"rounds": 20000, "us": 20}))
        report = stat.finish()
    tid = it["tasks"][0]["tid"]
    for group in TABLES:
        names = {one["comm"] for one in rows(report, group, tid=tid)}
        # Born with the name of its process.
        expect({LONG, SHORT} <= names <= {LONG, SHORT, "workload"}, f"{group}: {names}")
    for task in it["tasks"]:
        expect(task["voluntary"] > task["count"] / 2, f"hardly ever asleep: {task}")
        expect_near(f"naps of {task['comm']}", asleep(row(report, "sleep", tid=tid, comm=task["comm"])), task["voluntary"],
                    absolute=3 + it["unseen"])


@case
def a_name_is_never_torn():
    """Another thread changes it, beside the events of its owner."""
    it, report = measure(lambda: workload("renamed", rounds=400000, us=20), "-g", ALL)
    task = it["tasks"][0]
    for group in TABLES:
        found = [one for one in rows(report, group) if one["comm"] != "workload" and task["tid"] in one["tids"]]
        expect({one["comm"] for one in found} == {LONG, SHORT}, f"{group}: {[one['comm'] for one in found]}")
    naps = sum(asleep(row(report, "sleep", comm=name)) for name in (LONG, SHORT))
    expect_near("naps under both names", naps, task["voluntary"], absolute=5 + it["unseen"])


@case
def everybody_has_a_name():
    """Those too that run on some CPU while the programs are loaded, and schedscope itself."""
    need_live()
    keeper = Work("keep", ms=600000)
    try:
        with Stat("-g", ALL, "--by", "tid", interval="200ms") as stat:
            time.sleep(0.5)
            report = stat.finish()
    finally:
        keeper.kill()
    for group in TABLES:
        nameless = [one["tid"] for one in rows(report, group) if not one["comm"]]
        expect(not nameless, f"{group}: no name for {nameless}, schedscope is {stat.process.pid}")
    row(report, "slice", tid=stat.process.pid, comm="schedscope")


@case
def schedstat_needs_no_bpf():
    need_live()
    out = as_nobody(["stat", "--json", "-r", "0.3", "-g", "schedstat"])
    expect("cap_bpf" not in out.stderr.lower(), f"BPF is not needed here: {out.stderr}")
    if not os.path.exists("/proc/schedstat"):
        expect_sentence(out, "CONFIG_SCHEDSTATS")
    elif out.returncode:
        expect_sentence(out, "schedstats")


@case
def a_process_id_is_refused_inside_a_pid_namespace():
    need_live()
    if not os.path.exists("/proc/self/ns/pid"):
        raise NotHere("the kernel has no pid namespaces")
    for option in ("-p", "--tid"):
        out = output(["unshare", "-pf", "--mount-proc", SCHEDSCOPE, "stat", "-r", "1", option, "1"])
        expect_sentence(out, "namespace")
        expect(len(out.stderr.splitlines()) == 1, f"more than a sentence: {out.stderr}")


@case
def short_waits_can_be_hidden():
    limit = 1000
    args = ("-C", "-c", "^(hog|napper)$")
    with Stat(*args) as every, Stat(*args, "-l", str(limit)) as few:
        # One after the other: nappers would cut the waits of hogs into many short ones.
        Work("hogs", nr=4, ms=1500).account()
        Work("sleep", nr=3, rounds=300, us=3000).account()
        everything, shown = every.finish(), {one["tid"]: one for one in rows(few.finish(), "latency")}
    expect(all(one["p50_us"] >= limit for one in shown.values()), f"below the limit: {list(shown.values())}")
    hidden = 0
    for one in rows(everything, "latency"):
        if 0.8 * limit <= one["p50_us"] <= 1.25 * limit:
            continue  # the other may have seen a sample more
        is_short = one["p50_us"] < limit
        hidden += is_short
        expect((one["tid"] not in shown) == is_short, f"median {one['p50_us']} us, shown: {one['tid'] in shown}")
    if not hidden or not shown:  # other tasks cut the waits of hogs, too
        raise Disturbed(f"{hidden} rows hidden, {len(shown)} shown: this tests nothing")


@case
def rows_are_sorted_and_cut_as_asked():
    need_live()
    with Stat("--sort", "count", "--by", "tid") as count, Stat("--sort", "name", "--by", "tid") as name, \
            Stat("--top", "1", "--by", "tid") as top:
        workload("sleep", nr=4, rounds=100, us=3000)
        by_count, by_name, one_each = (rows(stat.finish(), "latency") for stat in (count, name, top))
    counts = [one["count"] for one in by_count]
    names = [one["comm"].encode() for one in by_name]
    expect(len(counts) > 4 and counts == sorted(counts, reverse=True), f"by count: {counts}")
    expect(len(names) > 4 and names == sorted(names), f"by name: {names}")
    classes = [one["severity"] for one in one_each]
    expect(1 <= len(classes) < len(names) and len(classes) == len(set(classes)), f"--top 1: {classes}")


@case
def a_cgroup_filter_counts_no_other_task():
    with cpu_cgroups("only-a", "only-b") as (ours, other):
        with Stat("--cgroup", named(ours), "-g", ALL, "--by", "tid") as stat:
            wanted = Work("sleep", cgroup=ours, nr=2, rounds=100)
            stranger = Work("sleep", cgroup=other, nr=2, rounds=100)
            it = wanted.account()
            stranger.account()
            report = stat.finish()
    tids = {task["tid"] for task in it["tasks"]}
    for group in TABLES:
        seen = {one["tid"] for one in rows(report, group)}
        expect(tids <= seen <= tids | {it["pid"]}, f"{group}: {rows(report, group)}")
    for tid in tids:
        naps = asleep(row(report, "sleep", tid=tid, comm="napper"))
        expect_near("naps", naps, 100, absolute=2 + it["unseen"])


@case
def patterns_may_ignore_case():
    it, report = measure(lambda: workload("sleep", nr=2, rounds=50), "-c", "(?i)^NAP+er$", "-g", "sleep", "--by", "tid")
    found = rows(report, "sleep")
    expect({one["tid"] for one in found} == {task["tid"] for task in it["tasks"]}, f"rows: {found}")
    with Stat("-c", "^NAPPER$", "-g", "sleep") as stat:
        workload("sleep", nr=1, rounds=5)
        stat.process.send_signal(signal.SIGINT)
        expect(stat.process.wait(WAIT_S) == 1, "case is ignored without being asked for")
        stat.out.wait_for_end()
        expect(not rows(stat.objects()[-1], "sleep"), "case is ignored without being asked for")


@case
def names_that_nothing_has_are_a_failure():
    need_live()
    for words, why in ((("--cgroup", "no-such-cgroup"), "no cgroup matched 'no-such-cgroup'"),
                       (("-c", "no-such-name"), "nothing was seen of a thread whose name matches 'no-such-name'")):
        done = run("stat", "-r", "0.2", *words)
        expect(done.returncode == 1 and why in done.stderr, f"{words}: exit {done.returncode}: {done.stderr}")


@case
def a_name_is_a_part_a_glob_or_an_expression():
    """One load for all of them; only the last needs a word about how it is written now."""
    need_live()
    load = Work("sleep", nr=1, rounds=1000, us=5000)
    try:
        for pattern, is_announced in (("nappe", False), ("nap*", False), ("/^nap.er$/", False), ("^napper$", True)):
            done = run("stat", "-r", "0.5", "--json", "-g", "sleep", "-c", pattern)
            expect(done.returncode == 0, f"{pattern}: exit {done.returncode}: {done.stderr}")
            report = json.loads(done.stdout.splitlines()[-1])
            expect({one["comm"] for one in rows(report, "sleep")} == {"napper"}, f"{pattern}: {rows(report, 'sleep')}")
            expect(("write '/^napper$/'" in done.stderr) == is_announced, f"{pattern}: {done.stderr}")
        expect(run("stat", "-r", "0.3", "-c", "appe*").returncode == 1, "a glob is about the whole name")
    finally:
        load.account()


@case
def contradictions_and_wrong_values_are_usage_errors():
    need_live()
    expect_usage_error("--detailed", "--by", "comm", "-d")
    expect_usage_error("--no-collapse", "--by", "tgid", "-C")
    expect_usage_error("--by cgroup", "--by", "cgroup", "-d")
    for option, value in (("-i", "0"), ("-r", "0"), ("--top", "0"), ("--outliers", "0"), ("-p", "0"), ("-l", "x"),
                          ("--sort", "colour")):
        expect_usage_error(value, option, value)
    expect_usage_error("surplus", "surplus")


if __name__ == "__main__":
    main()
