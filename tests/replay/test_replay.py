"""Real recordings as `schedscope top FILE` sees them: one interval has the numbers of the analyses, many add up to it."""
import collections
import json
import os
import pathlib
import subprocess
import tempfile

import live

DUMP = os.environ["REPLAY_DUMP"]
DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data"
TRACES = sorted([*(DATA / "perfetto").glob("*.gz"), *(DATA / "wprof").glob("*.pb.gz")])
RATES = ("voluntary_per_s", "involuntary_per_s", "migrations_per_s")
DISTS = ("latency", "preempted", "slice", "sleep")
NOBODY = [] if os.geteuid() else live.NOBODY


def refreshes(path, interval_ms, *steps):
    """What replay_dump shows."""
    words = [DUMP, str(path), str(interval_ms), *map(str, steps)]
    done = subprocess.run(words, check=True, capture_output=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def analyze(path, name):
    """What an analysis answers, with all its rows."""
    words = [live.SCHEDSCOPE, "analyze", str(path), name, "--json", "-n", "1000000"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, timeout=120).stdout)


def near(value, wanted, slack=1e-6):
    """Whether two numbers are the same but for rounding."""
    return abs(value - wanted) <= slack * max(1, abs(wanted))


def sums(machines):
    """Times and counts of each thread, over all intervals; tids may come back."""
    of = collections.defaultdict(collections.Counter)
    for machine in machines:
        for task in machine["tasks"]:
            mine = of[task["tid"]]
            seconds = machine["interval_s"]
            mine["run_ns"] += task["run"] * seconds * 1e9
            mine["wait_ns"] += task["wait"] * seconds * 1e9
            for key in RATES:
                mine[key] += round(task[key] * seconds)
            for key in DISTS:
                mine[key] += task[key]["count"]
    return of


@live.case
def one_interval_has_the_numbers_of_the_analyses():
    for path in TRACES:
        whole, = refreshes(path, 0)
        of = sums([whole])
        states = collections.defaultdict(collections.Counter)
        for row in analyze(path, "task_states")["processes"]:
            mine = states[row["pid"]]
            for key in ("running_time_ns", "runnable_time_ns", "voluntary_switches", "involuntary_switches",
                        "scheduler_latency_count"):
                mine[key] += row[key]
        for tid, row in states.items():
            mine = of[tid]
            assert near(mine["run_ns"], row["running_time_ns"], 1e-5), (path, tid, mine, row)
            assert near(mine["wait_ns"], row["runnable_time_ns"], 1e-5), (path, tid, mine, row)
            assert mine["voluntary_per_s"] == row["voluntary_switches"], (path, tid, mine, row)
            assert mine["involuntary_per_s"] == row["involuntary_switches"], (path, tid, mine, row)
            assert mine["latency"] + mine["preempted"] == row["scheduler_latency_count"], (path, tid, mine, row)
        for tid, mine in of.items():
            assert tid in states or not (mine["run_ns"] or mine["wait_ns"]), (path, tid, mine)


@live.case
def cpus_have_those_too():
    for path in TRACES:
        whole, = refreshes(path, 0)
        cpus = {row["cpu"]: row for row in whole["cpus"]}
        answer = analyze(path, "cpu_utilization")
        assert answer["top_utilized_cpus"], path
        for row in answer["top_utilized_cpus"]:
            known = row["active_time_ns"] + row["idle_time_ns"]
            mine = cpus[row["cpu_id"]]
            assert near(mine["busy"], row["active_time_ns"] / known), (path, mine, row)
            assert round(mine["switches_per_s"] * whole["interval_s"]) == row["total_switches"], (path, mine, row)
        latency = analyze(path, "wakeup_latency")
        assert whole["heat"] == latency["total_wakeups"] == sum(task["latency"]["count"] for task in whole["tasks"]), path
        moved = analyze(path, "migration_patterns")["total_migrations"]
        assert sum(round(row["migrations_per_s"] * whole["interval_s"]) for row in cpus.values()
                   if row["migrations_per_s"] is not None) == moved, path


@live.case
def queues_have_those_too():
    seen = 0
    for path in TRACES:
        whole, = refreshes(path, 0)
        try:
            answer = analyze(path, "dsq_latency")
        except subprocess.CalledProcessError:
            continue  # it does not apply
        counts = {row["id"]: row for row in whole["dsqs"]}
        total = sum(round(row["dispatches_per_s"] * whole["interval_s"]) for row in counts.values())
        assert total == answer["total_events"], (path, total, answer["total_events"])
        for row in answer["per_dsq"]:
            mine = counts[int(row["dsq_id"], 0) if isinstance(row["dsq_id"], str) else row["dsq_id"]]
            if row["latency_p99_us"] is not None:
                assert near(mine["latency"]["p99"] / 1000, row["latency_p99_us"], 1e-3), (path, mine, row)
                seen += 1
    assert seen > 1


@live.case
def intervals_add_up_to_the_whole():
    for path in TRACES:
        whole, parts = sums(refreshes(path, 0)), sums(refreshes(path, 37))
        for tid, mine in whole.items():
            for key, value in mine.items():
                assert near(parts[tid][key], value, 1e-5), (path, tid, key, parts[tid][key], value)
        assert set(parts) == set(whole), path


@live.case
def going_back_shows_what_was_played():
    for path in TRACES:
        played = refreshes(path, 50)
        steps = [len(played) - 1, -3, 2, -(len(played) // 2), 1, 0, -len(played)]
        at, sought = 0, refreshes(path, 50, *steps)
        for step, machine in zip(steps, sought[1:]):
            at = max(0, min(len(played) - 1, at + step))
            wanted = json.loads(json.dumps(played[at]))
            for mine, other in zip(machine["cpus"], wanted["cpus"]):  # the past comes by and by
                past = mine.pop("history")
                assert past and past == other.pop("history")[-len(past):], (path, at)
            assert machine == wanted, (path, at)


@live.case
def off_a_terminal_it_is_the_summary_of_the_file():
    path = str(TRACES[0])
    for words in ([path], ["--process-id", "1", path]):
        top = subprocess.run([*NOBODY, live.SCHEDSCOPE, "top", *words], capture_output=True, timeout=60, check=True)
        other = subprocess.run([live.SCHEDSCOPE, "analyze", path], capture_output=True, timeout=60, check=True)
        assert top.stdout == other.stdout and b"\033" not in top.stdout


@live.case
def bad_files_are_refused_as_analyze_does():
    with tempfile.TemporaryDirectory() as folder:
        empty, text = pathlib.Path(folder) / "empty", pathlib.Path(folder) / "text"
        empty.touch()
        text.write_text("this is no trace\n" * 100)
        for path in ("/nonexistent", folder, str(empty), str(text)):
            mine, theirs = (subprocess.run([live.SCHEDSCOPE, name, path], capture_output=True, text=True, timeout=60, check=False)
                            for name in ("top", "analyze"))
            assert mine.returncode == theirs.returncode == 1, (mine, theirs)
            assert mine.stderr == theirs.stderr and mine.stderr, (mine, theirs)
        two = subprocess.run([live.SCHEDSCOPE, "top", "a", "b"], capture_output=True, text=True, timeout=60, check=False)
        assert two.returncode == 2 and "one file" in two.stderr, two


if __name__ == "__main__":
    raise SystemExit(live.main())
