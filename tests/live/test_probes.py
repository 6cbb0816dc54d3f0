#!/usr/bin/env python3
"""Probes of the user's choice and sampled recordings: what is in the trace, against programs that count for themselves."""
import bisect
import collections
import os
import pathlib
import re
import signal
import statistics
import subprocess
import time

import test_record
from live import (IS_EMULATED, LONG_S, WORKLOAD, Disturbed, Work, case, cpu_cgroups, expect, expect_between, expect_near, main,
                  move, need_live, run, scratch, unseen_switches)
from test_record import Record, decoded, expect_refusal, summary_of

TARGET = os.environ.get("PROBE_TARGET", str(pathlib.Path(WORKLOAD).with_name("probe_target")))
UPROBE = f"{TARGET}:probe_me"
HITS = re.compile(r", (\d+) probe hits")
EARLY_MOST = 0.1  # wakings of tasks that have not left their CPU, of which only the wakeup is recorded
HAS_KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")


class Target:
    """A program that will call the function on command."""

    def __init__(self, rounds, threads=1, slow=-1):
        self.process = subprocess.Popen([TARGET, str(rounds), str(threads), "wait", str(slow)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())

    def go(self):
        """Lets it call, and waits for its end."""
        self.process.communicate("\n", timeout=LONG_S)
        expect(self.process.returncode == 0, f"{TARGET}: {self.process.returncode}")


def hits(trace):
    """Instants of probes: by (category, name), a list of (time, tid, address)."""
    found = collections.defaultdict(list)
    for event in trace.track_events:
        if event["category"] in ("uprobe", "uretprobe", "tracepoint", "kprobe", "probe"):
            found[event["category"], event["name"]].append(
                (event["ts"], event["track"]["thread"][1], event["args"].get("ip")))
    return found


def expect_calls(*options):
    with scratch() as folder:
        path = os.path.join(folder, "t")
        done = run("record", "-o", path, "--uprobes", UPROBE, "--uprobes", f"ret:{UPROBE}", *options, "--", TARGET,
                   "3000", "4")
        summary, trace = summary_of(done.stderr, done.returncode), decoded(path)
    found = hits(trace)
    entries, returns = found["uprobe", "probe_target:probe_me"], found["uretprobe", "probe_target:probe_me%return"]
    expect(len(found) == 2, f"probes called {list(found)}")
    expect(summary["lost"] == 0 and int(HITS.search(summary["text"])[1]) == 24000, summary["text"])
    for what in entries, returns:
        calls = collections.Counter(tid for _, tid, _ in what)
        expect(sorted(calls.values()) == [3000] * 4, f"calls {calls}")
        expect(len({ip for *_, ip in what}) == 1, "one function, several addresses")
    # In each thread, calls and returns take turns, in the order of time.
    for thread in {tid for _, tid, _ in entries}:
        story = sorted([(ts, 0) for ts, tid, _ in entries if tid == thread] +
                       [(ts, 1) for ts, tid, _ in returns if tid == thread])
        expect([kind for _, kind in story] == [0, 1] * 3000, "calls and returns do not take turns")


@case
def each_call_and_each_return_is_a_hit():
    expect_calls()


@case
def each_call_and_each_return_is_a_hit_with_a_ring_per_cpu():
    expect_calls("--rings", "cpu")


@case
def a_program_that_runs_already_is_hit_too_and_a_filter_limits_it():
    with scratch() as folder, cpu_cgroups("probed") as (group,):
        targets = [Target(700, 2), Target(900), Target(500)]
        move(targets[2].pid, group)
        paths = [os.path.join(folder, name) for name in ("all", "pid", "cgroup")]
        with Record(paths[0], "--uprobes", UPROBE) as everybody, \
                Record(paths[1], "--uprobes", UPROBE, "-p", str(targets[1].pid)) as by_pid, \
                Record(paths[2], "--uprobes", UPROBE, "--cgroup", os.path.basename(group)) as by_cgroup:
            for target in targets:
                target.go()
            by_pid.wait()
            for record in everybody, by_cgroup:
                record.finish()
        got = [hits(decoded(path)).get(("uprobe", "probe_target:probe_me"), []) for path in paths]
    expect([len(calls) for calls in got] == [2 * 700 + 900 + 500, 900, 500], f"hits {[len(c) for c in got]}")
    expect({tid for _, tid, _ in got[1]} == {targets[1].pid}, "hits of another process")
    expect({tid for _, tid, _ in got[2]} == {targets[2].pid}, "hits of another cgroup")


@case
def hits_that_found_no_room_are_counted():
    with scratch() as folder:
        target = Target(30000)
        with Record(os.path.join(folder, "t"), "--ring-kib", "64", "--uprobes", UPROBE) as ours:
            ours.process.send_signal(signal.SIGSTOP)
            target.go()
            ours.process.send_signal(signal.SIGCONT)
            summary = ours.finish()
        trace = decoded(ours.path)
    lost = trace.attributes.get("lost.PROBE", 0)
    recorded = len(hits(trace)["uprobe", "probe_target:probe_me"])
    expect(lost > 1000, f"lost {lost}")
    expect(recorded + lost == 30000, f"{recorded} recorded, {lost} lost")
    expect(int(HITS.search(summary["text"])[1]) == 30000, summary["text"])


@case
def tracepoints_are_found_by_name_and_hit_as_often_as_they_are_passed():
    need_live()
    with scratch() as folder:
        path = os.path.join(folder, "t")
        done = run("record", "-o", path, "--tracepoints", "sched:sched_process_exec,sched:sched_process_fork", "--",
                   "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; :")
        summary_of(done.stderr, done.returncode)
        trace = decoded(path)
    found = hits(trace)
    expect(sorted(found) == [("tracepoint", "sched:sched_process_exec"), ("tracepoint", "sched:sched_process_fork")],
           f"probes called {sorted(found)}")
    # Against the records of the same moments that are always there.
    events = [event for of_cpu in trace.events.values() for event in of_cpu]
    for name, other, who in (("exec", "sched_process_exec", "arg_pid"), ("fork", "task_newtask", "pid")):
        hit = collections.Counter(tid for _, tid, _ in found["tracepoint", f"sched:sched_process_{name}"])
        want = collections.Counter(event[who] for event in events if event["name"] == other)
        expect(sum(want.values()) >= 10 and hit == want, f"{name}: hits {hit}, records {want}")


@case
def what_cannot_be_probed_is_named_and_nothing_starts():
    need_live()
    command = ("-o", "t", "--", "touch", "started")
    expect_refusal(1, f"'{TARGET}' has no function 'nobody'", "--uprobes", f"{TARGET}:nobody", *command)
    expect_refusal(1, "cannot probe '/no/such/file'", "--uprobes", "/no/such/file:main", *command)
    expect_refusal(1, "found no 'libnone.so'", "--uprobes", "libnone.so:main", *command)
    expect_refusal(1, "no tracepoint 'sched:nothing'", "--tracepoints", "sched:nothing", *command)
    expect_refusal(1, "no function 'no_such_function'" if HAS_KPROBES else "this kernel has no kprobes", "-k",
                   "no_such_function", *command)
    expect_refusal(2, "'main' is not a uprobe", "--uprobes", "main", *command)
    expect_refusal(2, "'sched_switch' is not a tracepoint", "--tracepoints", "sched_switch", *command)
    expect_refusal(2, "'a b' is not a kprobe", "-k", "a b", *command)
    expect_refusal(2, "65 probes are more", "-k", ",".join(["f"] * 65), *command)
    expect_refusal(2, "--sample", "--sample", "0", *command)


@case
def sched_ext_is_left_out_where_there_is_none():
    need_live()
    with scratch() as folder:
        done = run("record", "-o", os.path.join(folder, "t"), "--events", "scx", "-d", "100")
        expect(done.returncode == 0, done.stderr)
        missing = "not available: this kernel has no sched_ext" in done.stderr
    expect(missing != os.path.exists("/sys/kernel/sched_ext"), f"said {done.stderr}")


@case
def kprobes_are_hit_as_often_as_the_function_runs():
    need_live()
    if not HAS_KPROBES:
        expect_refusal(1, "cannot probe 'wake_up_new_task': this kernel has no kprobes", "-k", "wake_up_new_task",
                       "-o", "t", "-d", "100")
        return
    with scratch() as folder:
        path = os.path.join(folder, "t")
        done = run("record", "-o", path, "-k", "wake_up_new_task", "--", "sh", "-c", "for i in 1 2 3 4; do /bin/true; done")
        summary_of(done.stderr, done.returncode)
        events = [event for of_cpu in decoded(path).events.values() for event in of_cpu]
    probed = collections.Counter(event["pid"] for event in events if event["name"] == "kprobe_event")
    forked = collections.Counter(event["pid"] for event in events if event["name"] == "task_newtask")
    expect(probed == forked and sum(forked.values()) >= 4, f"hits {probed}, forks {forked}")


def stories(trace, tids):
    """Of each tid, its events in the order of time: (time, waking | wakeup | in | out)."""
    story = collections.defaultdict(list)
    for at, name, about in test_record.our_tasks(trace):
        if name == "sched_switch":
            for tid, what in zip(about, ("out", "in")):
                if tid in tids:
                    story[tid].append((at, what))
        elif name == "sched_waking" and about[0] in tids:
            story[about[0]].append((at, "waking"))
    return {tid: sorted(events) for tid, events in story.items()}


def latencies(story):
    """By the time of each waking, how long until the switch-in that comes of it."""
    return {before[0]: after[0] - before[0] for before, after in zip(story, story[1:])
            if (before[1], after[1]) == ("waking", "in")}


def expect_same_waits(whole, some):
    """The waits of a sample are those that the whole recording has of the same wakeups.

    To be recorded twice makes a wait longer, by microseconds where the CPU is emulated: the others are no measure.
    """
    times, pairs = sorted(whole), []
    for at, wait in some.items():
        after = bisect.bisect(times, at)
        nearest = min(times[max(after - 1, 0):after + 1], key=lambda one: abs(one - at))
        pairs.append((wait, whole[nearest]))
    got, want = (statistics.median(one) for one in zip(*pairs))
    expect_near("median wait of those sampled, ns", got, want, relative=0.1, absolute=1000)


def expect_sampled(*options):
    """One ping-pong, recorded whole and sampled at the same time."""
    with scratch() as folder:
        with Record(os.path.join(folder, "all"), *options) as whole, \
                Record(os.path.join(folder, "some"), "--sample", "8", *options) as sampled:
            unseen = -unseen_switches()
            account = Work("pingpong", rounds=20000).account()
            unseen += unseen_switches()
            summary = sampled.finish()
            expect(whole.finish()["lost"] == summary["lost"] == 0, "lost events")
        traces = decoded(whole.path), decoded(sampled.path)
    tids = {task["tid"] for task in account["tasks"]}
    both = [stories(trace, tids) for trace in traces]
    expect("one wakeup in 8 sampled" in summary["text"], summary["text"])
    expect(traces[1].attributes["sampling_one_in"] == 8, f"attributes {traces[1].attributes}")
    expect(traces[1].attributes["filter"] == "one wakeup in 8", f"attributes {traces[1].attributes}")
    expect("sampling_one_in" not in traces[0].attributes, "a whole recording that claims to be sampled")
    for tid in tids:
        # Each waking with its switches, and no others: who was left out is not shown on a CPU either.
        kinds = [what for _, what in both[1][tid]]
        starts = [i for i, what in enumerate(kinds) if what == "waking"]
        broken = sum(kinds[i:i + 3] != ["waking", "in", "out"] for i in starts[:-1])
        expect(broken <= unseen, f"{broken} of {len(starts)} stories of {tid} are not whole, {unseen} unseen")
        expect_between(f"switches of {tid}", len(kinds) - len(starts), 2 * len(starts) - 2 - 2 * unseen,
                       2 * len(starts) + EARLY_MOST * len(starts))
        wakings = [sum(what == "waking" for _, what in story[tid]) for story in both]
        slept = next(task["voluntary"] for task in account["tasks"] if task["tid"] == tid)
        if slept < 4000:  # where the pair is kept from its CPU, most rounds need no waking
            raise Disturbed(f"{tid} slept only {slept} times, too few to compare")
        expect(wakings[0] >= 3000, f"only {wakings[0]} wakings of {tid}")
        # Gaps of 1 to 15: a deviation of 4.3 each.
        expect_near(f"wakings of {tid}", wakings[1], wakings[0] / 8,
                    absolute=6 * 4.3 / 8 * (wakings[0] / 8) ** 0.5 + 0.02 * wakings[0] / 8)
        expect_same_waits(*(latencies(story[tid]) for story in both))
    if not IS_EMULATED:  # see expect_same_waits(): elsewhere a sample stands for all
        whole, some = (statistics.median(wait for story in one.values() for wait in latencies(story).values()) for one in both)
        expect_near("median wait of a sample, ns", some, whole, relative=0.1, absolute=1000)


@case
def one_wakeup_in_eight_is_recorded_with_its_whole_story():
    expect_sampled()


@case
def one_wakeup_in_eight_is_recorded_with_its_whole_story_with_a_ring_per_cpu():
    expect_sampled("--rings", "cpu")


@case
def a_sampled_recording_of_a_process_has_no_others():
    """It goes on until it has slept often enough, by the kernel's count, however long it takes to attach."""
    with scratch() as folder:
        target = Work("sleep", nr=4, rounds=1000000, us=2000)
        try:
            outer = -test_record.sleeps_of(target.pid)
            with Record(os.path.join(folder, "t"), "-p", str(target.pid), "--sample", "4") as ours:
                inner = -test_record.sleeps_of(target.pid)
                while inner + test_record.sleeps_of(target.pid) < 3200:
                    time.sleep(0.05)
                tids = set(map(int, os.listdir(f"/proc/{target.pid}/task")))
                inner += test_record.sleeps_of(target.pid)
                outer += test_record.sleeps_of(target.pid)
                target.kill()
                summary = ours.wait()
        finally:
            target.kill()
        trace = decoded(ours.path)
    expect(len(tids) == 5, f"threads {tids}")
    for at, name, about in test_record.our_tasks(trace):
        if name in ("sched_switch", "sched_waking"):
            expect(not tids.isdisjoint(about), f"{name} of {about} at {at}")
    # Gaps of 1 to 7, each with a deviation of 2: a twelfth is five times that of their mean.
    expect_between("wakings", summary["wakings"], inner / 4 * 11 / 12, outer / 4 * 13 / 12)


if __name__ == "__main__":
    main()
