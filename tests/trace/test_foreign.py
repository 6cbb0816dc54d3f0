#!/usr/bin/env python3
"""Recordings of perf, trace-cmd and tracefs, end to end: our answers hold the numbers of the programs that made them. Prints TAP.

tests/data/{perf,tracecmd,ftrace,together}/*.truth.json hold what `perf script`, `perf sched timehist`, `perf sched latency` and `trace-cmd report`
find in the same files (tests/data/make_truth.py). Counts are exact, sums within 0.1 %. Times are compared of tasks that are born and end in the
recording, and of which no switch is missing; counts of events are compared for all.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import traceback

DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data"
FOLDERS = ("perf", "tracecmd", "ftrace", "together")
SUFFIX = ".truth.json"
FILES = sorted(path for folder in FOLDERS for path in (DATA / folder).glob(f"*{SUFFIX}"))
RELATIVE = 0.001
TIMEHIST_NS = 1000  # its sums are printed to the microsecond
TEXT_NS = 1000      # so are single times in text
NO_TIMES = ("counter", "tsc", "uptime")  # these clocks count events, cycles or ticks
# Text that a program has made of another recording holds what that holds.
SHOWN = {"report-R-t-guest-7.2-v7-zstd.txt.gz": "tracecmd/guest-7.2-v7-zstd.dat",
         "report-guest-7.2-v7-zstd.txt.gz": "tracecmd/guest-7.2-v7-zstd.dat",
         "report-guest-7.2-v7-buffers.txt.gz": "tracecmd/guest-7.2-v7-buffers.dat",
         "report-N-t-guest-6.1-v6.txt.gz": "tracecmd/guest-6.1-v6.dat.gz",
         "report-l-arm64-6.12-v7-zstd.txt.gz": "tracecmd/arm64-6.12-v7-zstd.dat",
         "perf-script-host-sched.txt.gz": "perf/host-sched.data.gz",
         "perf-script-fields-host-sched-g.txt.gz": "perf/host-sched-g.data.gz"}
FOLDER = tempfile.TemporaryDirectory()
CASES = []


def has_no_time(path):
    return any(word in path.name for word in NO_TIMES)


def recording(truth_path):
    """What is a folder is kept as an archive."""
    path = truth_path.with_name(truth_path.name.removesuffix(SUFFIX))
    return unpacked(path) if path.suffixes[-2:] == [".tar", ".xz"] else path


@functools.cache
def unpacked(path):
    with tarfile.open(path) as archive:
        archive.extractall(FOLDER.name)
    return pathlib.Path(FOLDER.name) / path.name.replace(".tar.xz", ".data")


def clocks_that_are_no_time(path):
    """Counts of events, of cycles or of ticks: refused with a sentence that names another clock, never taken for times."""
    done = subprocess.run([os.environ["SCHEDSCOPE"], "analyze", path], capture_output=True, check=False, text=True)
    assert done.returncode == 1 and "mono" in done.stderr and len(done.stderr.splitlines()) <= 2, done.stderr or done.stdout[:300]


def of_each(needs=lambda truth: True):
    """A case for each file whose truth has what it needs."""
    return lambda function: add_cases(function, needs)


def add_cases(function, needs):
    pairs = [(recording(path), path) for path in FILES]
    pairs += [(DATA / "ftrace" / name, DATA / f"{source}{SUFFIX}") for name, source in SHOWN.items()]
    for path, truth in pairs:
        if not has_no_time(path) and needs(truth_of(truth)):
            name = f"{function.__name__}: {path.parent.name}/{path.name}"
            CASES.append((name, lambda f=function, p=path, t=truth: f(p, truth_of(t))))
    return function


@functools.cache
def truth_of(path):
    return json.loads(path.read_text())


@functools.cache
def ask(*words):
    done = subprocess.run([os.environ["SCHEDSCOPE"], *map(str, words), "--json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace").strip()
    return json.loads(done.stdout)


def groups(path, event, field):
    """How many events of a kind there are, by a field."""
    answer = ask("query", path, "-e", event, "--group-by", field, "-n", "1000000")
    return {group["value"]: group["count"] for group in answer["aggregation"]["groups"]}


@functools.cache
def our_events():
    """Names of all events that there are."""
    out = subprocess.run([os.environ["SCHEDSCOPE"], "query", "--fields"], capture_output=True, check=True, text=True).stdout
    return {line.split()[0] for line in out.splitlines() if ", " in line or len(line.split()) == 2}


def near(got, want, what, absolute=0):
    assert got is not None, f"{what}: absent, want {want}"
    limit = max(abs(want) * RELATIVE, absolute)
    assert abs(got - want) <= limit, f"{what}: got {got}, want {want} +- {limit:g}"


def rounded(path, nr):
    """By how much sums of so many may be off in text that shows another file."""
    return TEXT_NS * nr if path.name in SHOWN else 0


def by_tid(rows):
    """The rows of an analysis; a tid that was used twice has two."""
    found = {}
    for row in rows:
        found.setdefault(row["pid"], []).append(row)
    return found


def sums(path):
    """Of each thread, from two analyses."""
    states = by_tid(ask("analyze", path, "task_states", "--limit", "1000000")["processes"])
    runtimes = by_tid(ask("analyze", path, "process_runtime", "--limit", "1000000")["processes"])
    return states, runtimes


def whole_tasks(truth):
    return {int(tid): task for tid, task in truth["tasks"].items() if task["is_whole"]}


def has_switches(truth):
    return truth["events"].get("sched_switch", 0) > 0


@of_each()
def every_event_is_there(path, truth):
    counts = ask("analyze", path)["capabilities"]["event_counts"]
    want = {name: nr for name, nr in truth["events"].items() if name in our_events()}
    got = {name: counts.get(name, 0) for name in want}
    # perf has records of its own of forks. They may count where there is no event of the same: before the events were switched on.
    if got.get("sched_process_fork") == want.get("sched_process_fork", 0) + truth.get("fork_records", 0):
        got["sched_process_fork"] = want["sched_process_fork"]
    assert got == want, f"got {got}, want {want}"


@of_each(lambda truth: {"sched_waking", "sched_migrate_task"} & truth["events"].keys())
def wakings_and_migrations_of_every_task(path, truth):
    for event, field in (("sched_waking", "wakings"), ("sched_migrate_task", "migrations")):
        if event not in truth["events"]:
            continue
        got = groups(path, event, "pid")
        for tid, task in truth["tasks"].items():
            assert got.get(tid, 0) == task[field], f"{event} of {tid} {task['comm']}: got {got.get(tid, 0)}, want {task[field]}"


@of_each(lambda truth: has_switches(truth) and not truth["gaps"] and whole_tasks(truth))
def times_of_whole_tasks(path, truth):
    states, runtimes = sums(path)
    for tid, want in whole_tasks(truth).items():
        what = f"{want['comm']} {tid}"
        assert len(states.get(tid, [])) == 1, f"{what}: {len(states.get(tid, []))} rows"
        (state,), (runtime,) = states[tid], runtimes[tid]
        counts = {"runs": runtime["num_switches"], "waits": state["scheduler_latency_count"]}
        assert counts == {name: want[name] for name in counts}, f"{what}: got {counts}, want {want}"
        got = {"run": state["running_time_ns"], "wait": state["runnable_time_ns"],
               "sleep": state["sleeping_time_ns"] + state["blocked_time_ns"]}
        for name, ns in got.items():
            near(ns, want[f"{name}_ns"], f"{name} time of {what}", rounded(path, want[f"{name}s"]))
        assert runtime["total_runtime_ns"] == state["running_time_ns"], f"{what}: two analyses differ"


@of_each(lambda truth: has_switches(truth) and whole_tasks(truth))
def names_of_tasks(path, truth):
    states, _ = sums(path)
    for tid, want in whole_tasks(truth).items():
        assert want["comm"] in [row["comm"] for row in states[tid]], f"{tid}: got {states[tid][0]['comm']}, want {want['comm']}"


@of_each(lambda truth: truth.get("timehist") and not truth["gaps"] and whole_tasks(truth))
def run_times_are_those_of_timehist(path, truth):
    _, runtimes = sums(path)
    compared = 0
    for tid, want in whole_tasks(truth).items():
        theirs = truth["timehist"].get(str(tid))
        if not theirs:
            continue
        compared += 1
        ours, what = runtimes[tid][0], f"{want['comm']} {tid}"
        # It does not know which task left its CPU if the task had no number any more.
        nr = theirs["switched_in"] + want.get("last_runs", 0)
        assert ours["num_switches"] == nr, f"runs of {what}: got {ours['num_switches']}, want {nr}"
        near(ours["total_runtime_ns"] - want.get("last_run_ns", 0), theirs["run_ns"], f"run time of {what}", TIMEHIST_NS + rounded(path, want["runs"]))
    assert compared, "nothing was compared"


@of_each()
def losses_are_reported(path, truth):
    """What was overwritten before the first event of a CPU is not lost: the recording begins later."""
    lost = ask("analyze", path)["lost_events"]
    if truth["gaps"]:
        assert lost is None or lost >= max(truth["lost"], 1), f"got {lost}, want {truth['lost']}"
    else:
        assert lost == 0, f"got {lost}, want none"


def all_that_recorded_the_same_seconds_agree():
    """By our own recorder, perf and ftrace: how often each task ran, waited and was woken. Times are compared on a real machine, in tests/live."""
    whole = whole_tasks(truth_of(DATA / f"together/together.data.gz{SUFFIX}"))
    answers = {}
    for name in ("together.pftrace.gz", "together.data.gz", "together.dat", "together.txt.gz"):
        states, runtimes = sums(DATA / "together" / name)
        wakings = groups(DATA / "together" / name, "sched_waking", "pid")
        answers[name] = {tid: (states[tid][0]["scheduler_latency_count"], runtimes[tid][0]["num_switches"], wakings.get(str(tid), 0))
                         for tid in whole}
    ours = answers.pop("together.pftrace.gz")
    assert len(ours) >= 15, f"{len(ours)} tasks"
    for name, answer in answers.items():
        assert answer == ours, f"{name}: {answer}, and {ours} by our own"


def damaged_files_are_read_as_far_as_they_go(path, nr_whole):
    """Or refused with a sentence; what is read is told to be not all."""
    done = subprocess.run([os.environ["SCHEDSCOPE"], "analyze", path, "--json"], capture_output=True, check=False, text=True)
    if done.returncode:
        assert done.returncode == 1 and 0 < len(done.stderr.splitlines()) <= 2, done.stderr
        return
    answer = json.loads(done.stdout)
    assert answer["incomplete"] or answer["lost_events"], "nothing says that the file is damaged"
    assert answer["total_events"] <= nr_whole, f"{answer['total_events']} events of {nr_whole}"


for damaged in ("host-killed", "host-truncated"):
    CASES.append((f"damaged_files_are_read_as_far_as_they_go: perf/{damaged}.data.gz",
                  lambda d=damaged: damaged_files_are_read_as_far_as_they_go(DATA / f"perf/{d}.data.gz", 2000)))
CASES.append(("all_that_recorded_the_same_seconds_agree: together", all_that_recorded_the_same_seconds_agree))
for odd in filter(has_no_time, map(recording, FILES)):
    CASES.append((f"clocks_that_are_no_time: {odd.parent.name}/{odd.name}", lambda p=odd: clocks_that_are_no_time(p)))


def run_cases(of):
    """Those of one recording, in a process of its own: each answer is asked for once."""
    done = []
    for name, function in CASES:
        if name.partition(": ")[2] != of or not wanted(name):
            continue
        try:
            function()
            done.append((name, []))
        except Exception:  # pylint: disable=broad-except
            done.append((name, traceback.format_exc().splitlines()[-3:]))
    return done


def wanted(name):
    return not sys.argv[1:] or any(word in name for word in sys.argv[1:])


def main():
    names = [name for name, _ in CASES if wanted(name)]
    print(f"1..{len(names)}")
    number = failed = 0
    with concurrent.futures.ProcessPoolExecutor(max_workers=2) as pool:
        for done in pool.map(run_cases, dict.fromkeys(name.partition(": ")[2] for name in names)):
            for name, wrong in done:
                number += 1
                failed += bool(wrong)
                print(f"{'not ok' if wrong else 'ok'} {number} {name}")
                print("".join(f"# {line[:900]}\n" for line in wrong), end="", flush=True)
    sys.exit(failed > 0 or not names)


if __name__ == "__main__":
    main()
