#!/usr/bin/env python3
"""The same workload, recorded at the same time by perf, by ftrace and by `schedscope record`: our answers about all of the files agree.

The tasks compared are born and end while all of them record. What differs is the moment at which each of them reads the clock. Some virtual machines
hide the switches of pid 1's threads; as many may be missing in one of the files, and the recording is made again then.
"""
import collections
import os
import pathlib
import shutil
import subprocess
import time

import pair
from live import (IS_EMULATED, TICK_NS, Disturbed, Meanwhile, NotHere, Skip, Work, ask, case, expect, expect_near, main, need_live, once, scratch, unseen_switches,
                  workload)
from test_record import Record

TRACING = pathlib.Path("/sys/kernel/tracing")
EVENTS = (*pair.EVENTS, "sched_process_fork", "sched_process_exec")
BUFFER_KB = 32768
RELATIVE = 0.01
# Stamps of one event, ours and theirs, lie up to two microseconds apart when caches are cold: what is shorter cannot agree one by one.
COMPARED_NS = 200_000
TIMES = (("run_ns", "runs"), ("wait_ns", "waits"), ("sleep_ns", "waits"))
FILES = ("perf", "dat", "text")


class Ftrace:
    """An instance of tracefs: its own buffers, so that nothing else is disturbed. It records from the constructor until stop()."""

    def __init__(self):
        pair.mount_tracefs()
        self.name = f"schedscope-{os.getpid()}"
        self.folder = TRACING / "instances" / self.name
        try:
            self.folder.mkdir()
        except OSError as error:
            raise NotHere(f"no instance of tracefs: {error}") from error
        self._write("trace_clock", "boot")
        self._write("buffer_size_kb", BUFFER_KB)
        for event in EVENTS:
            self._write(f"events/sched/{event}/enable", 1)
        self._write("trace", "")

    def _write(self, name, value):
        (self.folder / name).write_text(f"{value}\n", encoding="ascii")

    def stop(self, text, dat):
        """Leaves its events as text, and as a file of trace-cmd; these are the same events."""
        self._write("tracing_on", 0)
        lost = sum(int(line.split()[1]) for stats in self.folder.glob("per_cpu/*/stats")
                   for line in stats.read_text(encoding="ascii").splitlines() if line.startswith("overrun:"))
        with open(text, "wb") as out, open(self.folder / "trace", "rb") as trace:
            shutil.copyfileobj(trace, out)
        done = subprocess.run(["trace-cmd", "extract", "-B", self.name, "-o", dat], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"trace-cmd extract: {done.stderr}")
        if lost:
            raise Disturbed(f"ftrace overwrote {lost} events")

    def remove(self):
        """Nothing is left of it."""
        if self.folder.exists():
            self.folder.rmdir()


def record(folder):
    """The accounts of workloads, the paths of all files, what was taken meanwhile, and how many switches the kernel may have hidden."""
    paths = {name: os.path.join(folder, name) for name in ("ours", *FILES)}
    ftrace = None
    keeper = Work("keep", ms=60000)
    try:
        with Record(paths["ours"], "--events", "default,wakeup") as ours:  # the others have wakeups, too
            ftrace = Ftrace()
            perf = pair.Recording(paths["perf"], EVENTS)
            meanwhile, unseen = Meanwhile(), -unseen_switches()
            accounts = [workload("pingpong", rounds=5000), workload("hogs", nr=3, ms=500), workload("sleep", nr=4, rounds=100, us=2000),
                        workload("futex", rounds=3000), workload("migrate", rounds=200), workload("dsleep", rounds=20, us=5000)]
            time.sleep(0.1)  # the last ones leave their CPUs
            # Not a tick more, as elsewhere: it would be more than most of the sums, and an error of ours a disturbance.
            taken_ns, unseen = meanwhile.taken_ns() - TICK_NS, unseen + unseen_switches()
            perf.stop()
            ftrace.stop(paths["text"], paths["dat"])
            lost = ours.finish()["lost"]
    finally:
        keeper.kill()
        if ftrace:
            ftrace.remove()
    if lost:
        raise Disturbed(f"record lost {lost:g} events")
    return accounts, paths, taken_ns, unseen


@once
def session():
    """What is said of each task by each file: {file: {tid: sums}}, the tasks, and the last two of record()."""
    need_live()
    if not shutil.which("trace-cmd"):
        raise (NotHere if IS_EMULATED else Skip)("no trace-cmd")
    with scratch() as folder:
        accounts, paths, taken_ns, unseen = record(folder)
        tasks = [task for account in accounts for task in account["tasks"]]
        sums = {name: sums_of(path) for name, path in paths.items()}
    return sums, tasks, taken_ns, unseen


def sums_of(path):
    """Of each thread of a file."""
    found = {}
    for row in ask("analyze", path, "task_states", "--limit", "1000000")["processes"]:
        found[row["pid"]] = {"runs": row["voluntary_switches"] + row["involuntary_switches"], "run_ns": row["running_time_ns"],
                             "waits": row["scheduler_latency_count"], "wait_ns": row["runnable_time_ns"],
                             "sleep_ns": row["sleeping_time_ns"] + row["blocked_time_ns"]}
    for group in ask("query", path, "-e", "sched_waking", "--group-by", "pid", "-n", "1000000")["aggregation"]["groups"]:
        if int(group["value"]) in found:
            found[int(group["value"])]["wakings"] = group["count"]
    return found


def each_task(name, check):
    """Calls check(what, ours, theirs) for each task of the workloads."""
    sums, tasks, _, _ = session()
    expect(len(tasks) >= 10, f"{len(tasks)} tasks")
    for task in tasks:
        tid, what = task["tid"], f"{task['comm']} {task['tid']} by {name}"
        expect(tid in sums["ours"] and tid in sums[name], f"no {what}")
        check(what, sums["ours"][tid], sums[name][tid])


def expect_same(what, theirs, ours):
    """Where the kernel hides switches, a difference of as many says nothing."""
    text, unseen = f"{what}: {theirs}, and {ours} by ours", session()[3]
    if 0 < abs(theirs - ours) <= unseen:
        raise Disturbed(f"{text}; {unseen} switches of pid 1 meanwhile")
    expect(theirs == ours, text)


def compare(name):
    def counts(what, ours, theirs):
        for key in ("runs", "waits", "wakings"):
            expect_same(f"{key} of {what}", theirs.get(key, 0), ours.get(key, 0))

    def times(what, ours, theirs):
        for key, number in TIMES:
            total_ns[key] += ours[key], theirs[key]
            if ours[number] and ours[key] / ours[number] >= COMPARED_NS:
                near(f"{key} of {what}", theirs[key], ours[key])
                nr_compared[key] += 1

    def near(what, theirs, ours):
        taken_ns = session()[2]
        expect_near(what, theirs, ours, relative=RELATIVE, less=taken_ns, more=taken_ns)

    total_ns, nr_compared = {key: [] for key, _ in TIMES}, collections.Counter()
    each_task(name, counts)
    each_task(name, times)
    for key, _ in TIMES:
        expect(nr_compared[key] >= 2, f"{key} of only {nr_compared[key]} tasks could be compared")
        near(f"{key} of all by {name}", sum(total_ns[key][1::2]), sum(total_ns[key][::2]))


@case
def a_file_of_perf_says_what_ours_says():
    compare("perf")


@case
def a_file_of_trace_cmd_says_what_ours_says():
    compare("dat")


@case
def text_of_ftrace_says_what_ours_says():
    compare("text")


def aliases():
    """{function of the kernel: one name for all that share an address}: which of them perf takes depends on their order."""
    by_address, same = {}, {}
    with open("/proc/kallsyms") as lines:
        for address, kind, name in (line.split()[:3] for line in lines):
            if kind in "tTwW":
                by_address.setdefault(address, []).append(name)
    for names in by_address.values():
        joined = set().union(*(same.get(name, {name}) for name in names))
        same.update(dict.fromkeys(joined, joined))
    return {name: min(joined) for name, joined in same.items()}


def summed(pairs):
    """Functions of several files may have the same name, and a function several names."""
    first, sums = aliases(), collections.Counter()
    for name, share in pairs:
        sums[first.get(name, name)] += share
    return sums


def shares_by_perf(path):
    """{function of the kernel: % of the samples in it}, as perf report has it; those of libraries go by other ones of their names there."""
    out = subprocess.run(["perf", "report", "-i", path, "--no-children", "--stdio", "-g", "none", "-s", "symbol", "-w", "200"], check=True,
                         capture_output=True, text=True, timeout=120).stdout
    rows = [line.split() for line in out.splitlines() if line.strip() and not line.startswith("#")]
    return summed((row[2], float(row[0].rstrip("%"))) for row in rows if row[1] == "[k]")


@case
def functions_of_a_file_of_perf_are_those_of_perf_report():
    need_live()
    with scratch() as folder:
        path = os.path.join(folder, "perf.data")
        subprocess.run(["perf", "record", "-q", "-g", "-F", "499", "-e", "cpu-clock", "-o", path, "--", "sh", "-c", "ls -lR /usr/lib >/dev/null 2>&1"],
                       check=True, capture_output=True, timeout=120)
        theirs = shares_by_perf(path)
        ours = ask("analyze", path, "flamegraph", "--limit", "1000")
    mine = summed((row["function"], row["self_percent"]) for row in ours["functions"] if row["mode"] == "kernel")
    named = {name: share for name, share in theirs.items() if not name.startswith("0x") and share >= 0.5}
    expect(len(named) >= 10, f"perf knows only {sorted(named)}")
    for name, share in named.items():
        expect(abs(mine[name] - share) <= 0.02, f"{name}: {mine[name]} % here, {share} % of perf report")


if __name__ == "__main__":
    main()
