#!/usr/bin/env python3
"""Recordings of many hosts: their facts, side by side, and sets of them compared. Prints TAP.

Traces come from the encoders of tests/trace, which share no code with the loader.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("", "trace")]
import encode  # noqa: E402
import scenarios  # noqa: E402
from tap import run_cases  # noqa: E402

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
CASES = []
FOLDER = tempfile.TemporaryDirectory()
DIR = pathlib.Path(FOLDER.name)


def case(function):
    CASES.append(function)
    return function


def run(*args, code=0):
    done = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, f"{args}: exit {done.returncode}: {done.stderr}"
    return done


def ask(*args):
    return json.loads(run(*args, "--json").stdout)


def refused(*args, code=2):
    """The one sentence."""
    done = run(*args, code=code)
    assert not done.stdout and done.stderr.count("\n") == 1, done.stdout + done.stderr
    return done.stderr


def slowed(seed, factor):
    """A storm whose times are as many times as long: so are its waits."""
    story = scenarios.storm(seed=seed, nr=1500)
    for event in story.events:
        for key in ("ts", "end"):
            if isinstance(event.get(key), int):
                event[key] = int(event[key] * factor)
    return story


def trace(name, seed=1, factor=1, boot="0f9b", **labels):
    path = DIR / f"{name}.pftrace"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        facts = {"boot_id": boot, **{f"metadata.{key}": value for key, value in labels.items()}}
        path.write_bytes(encode.own(slowed(seed, factor)) + encode.attributes(**facts))
    return path


@case
def facts_of_a_recording_are_shown():
    path = trace("facts", role="web", build="1234")
    found = ask("analyze", path)
    assert found["boot_id"] == "0f9b" and found["metadata"] == {"role": "web", "build": "1234"}, found["metadata"]
    assert "host" in found
    shown = run("analyze", path).stdout
    assert "role=web, build=1234" in shown, shown
    plain = trace("plain")
    assert ask("analyze", plain)["metadata"] == {} and "metadata:" not in run("analyze", plain).stdout


@case
def they_survive_a_conversion():
    path = trace("facts", role="web", build="1234")
    copy = DIR / "copy.pftrace"
    run("convert", path, copy)
    found = ask("analyze", copy)
    assert found["boot_id"] == "0f9b" and found["metadata"] == {"role": "web", "build": "1234"}, found


@case
def hostile_facts_are_harmless():
    labels = {f"k{i}": "v" for i in range(100)}
    labels["esc\x1b[31m"] = "\x1b]0;title\x07\u202e" + "x" * 5000
    path = trace("hostile", **dict(reversed(labels.items())))
    assert len(ask("analyze", path)["metadata"]) == 16
    for out in (run("analyze", path).stdout, run("analyze", path, trace("plain")).stdout,
                run("analyze", path, trace("plain"), "wakeup_latency").stdout):
        assert "\x1b" not in out and "\u202e" not in out, out


@case
def several_are_put_side_by_side():
    files = [trace("side1", seed=1, host="web1"), trace("side2", seed=2, host="web2", role="db"), trace("side3", seed=3, host="web1")]
    found = ask("analyze", *files)
    assert found["hosts"] == 2 and [row["host"] for row in found["recordings"]] == ["web1", "web2", "web1"], found
    assert found["recordings"][1]["metadata"] == "host=web2, role=db"
    for path, row in zip(files, found["recordings"]):
        alone, summary = ask("analyze", path, "wakeup_latency"), ask("analyze", path)
        assert row["wakeups"] == alone["total_wakeups"] > 0
        assert row["p99_latency_ns"] == alone["global_stats"]["p99_latency_ns"]
        assert row["max_latency_ns"] == alone["global_stats"]["max_latency_ns"]
        assert row["total_lost_ns"] == summary["total_lost_ns"] and row["cpus"] == summary["num_cpus"]
        assert row["lost_events"] == summary["lost_events"]
        busy = [cpu["busy_percent"] for cpu in summary["cpus"] if cpu["busy_percent"] is not None]
        assert abs(row["busy_percent"] - sum(busy) / len(busy)) < 0.11, row
    shown = run("analyze", *files).stdout
    assert "web2" in shown and "host=web2, role=db" in shown, shown


@case
def analyses_of_several_are_those_of_each():
    files = [trace("side1", seed=1, host="web1"), trace("side2", seed=2, host="web2", role="db")]
    found = ask("analyze", *files, "wakeup_latency", "task_states")["recordings"]
    for path, row in zip(files, found):
        assert row["recording"]["file"] == str(path), row["recording"]
        assert row["wakeup_latency"] == ask("analyze", path, "wakeup_latency")
        assert row["task_states"] == ask("analyze", path, "task_states")
    assert found[1]["recording"]["metadata"] == {"host": "web2", "role": "db"}


@case
def wrong_lists_of_files_are_refused():
    one, two = trace("side1", seed=1, host="web1"), trace("side2", seed=2, host="web2", role="db")
    assert "--all is of one recording, and 2 are named" in refused("analyze", one, two, "--all")
    assert "--list is of one recording" in refused("analyze", one, two, "--list")
    assert "'nonsense' is not an analysis" in refused("analyze", one, two, "nonsense")
    assert "gone.pftrace" in refused("analyze", one, DIR / "gone.pftrace", code=1)
    assert "is not an analysis" in refused("analyze", one, "wakeup_latency", two)


def fleet(side, factor, hosts=5, times=1):
    for host in range(hosts):
        for again in range(times):
            trace(f"{side}/h{host}-{again}", seed=100 + 10 * host + again, factor=factor * (1 + 0.01 * host), host=f"h{host}")
    return DIR / side / "*.pftrace"


@case
def a_change_on_all_hosts_is_proved():
    found = ask("diff", "--a", fleet("before", 1), "--b", fleet("after", 4))
    assert found["unit"] == "host" and found["a"]["hosts"] == found["b"]["hosts"] == 5, found
    rows = {row["metric"]: row for row in found["overall"]}
    wait = rows["wakeup_latency_mean_us"]
    assert wait["verdict"] == "worse" and 250 < wait["change_percent"] < 350, wait
    assert rows["switches_per_sec"]["verdict"] == "less", rows["switches_per_sec"]
    shown = run("diff", "--a", DIR / "before/*.pftrace", "--b", DIR / "after/*.pftrace").stdout
    assert shown.startswith("B is worse: ") and "all tasks: mean wakeup latency rose 300.0 %" in shown and "each host is one value" in " ".join(shown.split()), shown


@case
def equal_fleets_do_not_differ():
    found = ask("diff", "--a", fleet("before", 1), "--b", fleet("same", 1))
    assert found["changes_found"] == 0 and all(row["verdict"] != "worse" for row in found["overall"]), found["summary"]


@case
def a_host_is_one_value_however_often_it_was_recorded():
    found = ask("diff", "--a", fleet("often", 1, hosts=3, times=3), "--b", fleet("after", 4))
    assert found["unit"] == "host" and found["a"]["recordings"] == 9 and found["a"]["hosts"] == 3, found["a"]
    # The mean over hosts of the means of their recordings, from diffs of two recordings each.
    means = {}
    for host in range(3):
        for again in range(3):
            path = DIR / f"often/h{host}-{again}.pftrace"
            rows = {row["metric"]: row for row in ask("diff", path, path)["overall"]}
            means.setdefault(host, []).append(rows["wakeup_latency_mean_us"]["a"])
    wanted = sum(sum(values) / len(values) for values in means.values()) / 3
    got = next(row["a"] for row in found["overall"] if row["metric"] == "wakeup_latency_mean_us")
    assert abs(got - wanted) < 0.02 * wanted, (got, wanted)


@case
def few_hosts_are_said_to_be_few():
    found = ask("diff", "--a", fleet("few", 1, hosts=2, times=2), "--b", fleet("after", 4))
    assert found["unit"] == "recording" and "fewer than 3 hosts" in found["note"], found["note"]
    found = ask("diff", "--a", DIR / "few/h0-0.pftrace", "--b", DIR / "after/*.pftrace")
    assert found["unit"] == "part" and "fewer than 3 recordings" in found["note"], found["note"]


@case
def wrong_sets_are_refused():
    before, after = fleet("before", 1), fleet("after", 4)
    assert "--b is missing" in refused("diff", "--a", before)
    assert "--a is missing" in refused("diff", "--b", before)
    assert "no file matches" in refused("diff", "--a", DIR / "none/*", "--b", after, code=1)
    assert "quote patterns" in refused("diff", "--a", before, "--b", after, DIR / "before/h0-0.pftrace")
    assert "twice" in refused("diff", "--a", before, "--a", DIR / "before/h0-0.pftrace", "--b", after, code=1)
    assert "two files are compared" in refused("diff")


@case
def wrong_starts_and_labels_are_refused():
    assert "is not a time to start at" in refused("record", "--start-at", "soon")
    assert "is over" in refused("record", "--start-at", "2020-01-01T00:00:00Z")
    assert "is not between" in refused("record", "--start-at", "/1ms")
    assert "is not KEY=VALUE" in refused("record", "--metadata", "web")
    assert "role is given twice" in refused("record", "--metadata", "role=a", "--metadata", "role=b")
    assert "a flight recorder keeps the last seconds" in refused("record", "--keep", "1s", "--start-at", "/1s")


sys.exit(run_cases(CASES))
