#!/usr/bin/env python3
"""`serve --parquet` on this machine, with blame and a flight recorder: its files against its pages and this machine, by the queries that ship. Prints TAP."""
import collections
import contextlib
import json
import os
import pathlib
import sys
import time

from live import WAIT_S, Disturbed, NotHere, Work, case, cpu_cgroups, expect, expect_between, main, need_live, scratch, wait_until_attached
from test_serve_live import children_of, dump_with, path_of, sleeper, starve

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "serve"))
from columns_ask import ask, files  # noqa: E402  (they are not in this folder)
import footer  # noqa: E402
from serve import Daemon, value, wait_for  # noqa: E402
from serve import Skip as ServeSkip  # noqa: E402

WRITTEN = "schedscope_parquet_written_time_seconds"
KINDS = {"sched_delay": "cause", "slice": "end", "sleep": "state", "cgroup_sched_delay": "cgroup", "cpu_idle": None}
BLAME, COVERED = "schedscope_blame_seconds_total", "schedscope_blame_covered_seconds_total"
ROUNDING_S = 1e-6

Measured = collections.namedtuple("Measured", "folder first last until_ns dump tid name groups")


def written_after(daemon, then_s):
    """A page of when everything up to then is in files."""
    return wait_for("the files", lambda: (page := daemon.samples()) and page.get((WRITTEN, ()), 0) >= then_s and page, WAIT_S)


def compete(groups, ends):
    for group in groups:
        ends.callback(Work("hogs", cgroup=group, nr=1, ms=int(3000 * WAIT_S), cpu=0).kill)


def has_blame(daemon, groups):
    page = daemon.samples()
    victim, culprit = groups
    return page if page.get((BLAME, (("culprit", culprit), ("victim", victim))), 0) > 0.3 else None


@contextlib.contextmanager
def measured():
    """Two cgroups that compete, and a task that is kept from its CPU until the flight recorder makes a dump of it."""
    need_live()
    name = f"late-{os.getpid() % 100000}"
    with scratch() as folder, cpu_cgroups("columns-a", "columns-b") as groups, sleeper(1, name) as tid, contextlib.ExitStack() as ends:
        os.mkdir(f"{folder}/dumps")
        trigger = f"wakeup-latency>300ms,comm={name}"
        words = ["--blame", "--buckets", "all", "--keep", f"{folder}/dumps", "--keep-time", "1s", "--trigger", trigger, "--parquet", f"{folder}/out",
                 "--every", "1s", "--host", "here", "--metadata", "role=test"]
        with Daemon(*words) as daemon:
            recorder = wait_for("the recorder", lambda: [pid for keeper in children_of(daemon.process.pid) for pid in children_of(keeper)])[0]
            wait_until_attached(recorder)
            compete(groups, ends)
            dump = wait_for("the dump", lambda: starve(1) and dump_with(f"{folder}/dumps", name), 60, 0)
            paths = list(map(path_of, groups))
            wait_for("blame", lambda: has_blame(daemon, paths))
            first = daemon.samples()
            now_s = time.time()
            last = written_after(daemon, now_s)
            expect(daemon.stop() == 0, f"{daemon.said}")
        yield Measured(f"{folder}/out", first, last, round(value(last, WRITTEN) * 1e9), dump.name, tid, name, paths)


def query(m, *queries):
    try:
        return ask(m.folder, *queries, more=("-dumps", "-blame"))
    except ServeSkip as why:
        raise NotHere(str(why)) from why


def check_histograms(m, rows):
    """Counts and sums up to a moment lie between those of a page before it and one after it."""
    checked = set()
    for metric, kind, cgroup, count, ns in rows:
        name, label = f"schedscope_{metric}_seconds", kind or cgroup
        if metric not in KINDS or label == "other":
            continue
        labels = {KINDS[metric]: label} if label else {}
        key = tuple(labels.items())
        if (f"{name}_count", key) not in m.first:
            continue  # a cgroup that had no name of its own then
        expect_between(f"{metric} {label}", int(count), m.first[f"{name}_count", key], m.last[f"{name}_count", key])
        expect_between(f"{metric} {label}, in s", int(ns) / 1e9, m.first[f"{name}_sum", key] - ROUNDING_S, m.last[f"{name}_sum", key] + ROUNDING_S)
        checked.add(metric)
    expect(checked == set(KINDS), f"only {checked} were compared")


def check_blame(m, rows):
    pairs = {(victim, culprit): int(ns) / 1e9 for victim, culprit, ns in rows}
    victim, culprit = m.groups
    for a, b in ((victim, culprit), (culprit, victim)):
        labels = {"victim": a, "culprit": b}
        expect_between(f"blame of {b}", pairs[a, b], value(m.first, BLAME, **labels) - ROUNDING_S, value(m.last, BLAME, **labels) + ROUNDING_S)
    expect(pairs[victim, culprit] > 0.3, f"{pairs}")


def check_files(m):
    """One after the other without a gap, each whole, and nothing besides."""
    names = files(m.folder)
    expect(not any(pathlib.Path(name).name.startswith(".") for name in names), f"{names}")
    for table in ("latency_hist", "blame"):
        notes = [footer.read(pathlib.Path(m.folder) / name)["notes"] for name in names if name.startswith(f"{table}/")]
        times = sorted((int(n["schedscope.from_ns"]), int(n["schedscope.to_ns"])) for n in notes)
        expect(len(times) >= 3 and all(b == c for (_, b), (c, _) in zip(times, times[1:])), f"{table}: a gap in {times}")
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        expect(all((n["schedscope.kernel"], n["schedscope.boot_id"], n["schedscope.host"]) == (os.uname().release, boot, "here") for n in notes), f"{notes[0]}")
        expect(all(json.loads(n["schedscope.labels"]) == {"role": "test"} for n in notes), f"{notes[0]}")


@case
def files_of_a_machine_are_what_its_pages_say():
    """Histograms, blame and dumps, by DuckDB; a wait leads to its dump."""
    with measured() as m:
        until = f"to_ns <= {m.until_ns + 1000}"
        hists, blame, covered, dumps, worst = query(
            m, f"SELECT metric, kind, cgroup, sum(count)::BIGINT, sum(sum_ns)::BIGINT FROM latency_hist WHERE {until} GROUP BY ALL",
            f"SELECT victim, culprit, sum(wait_ns)::BIGINT FROM blame WHERE {until} AND victim IS NOT NULL GROUP BY ALL",
            f"SELECT sum(covered_ns)::BIGINT FROM blame WHERE {until}", "SELECT name, trigger, tid FROM dumps",
            "SELECT wait_ns, comm, tid, dump FROM hist_worst_waits_with_dumps()")
        check_files(m)
        check_histograms(m, hists)
        check_blame(m, blame)
        expect_between("covered, in s", int(covered[0][0]) / 1e9, value(m.first, COVERED) - ROUNDING_S, value(m.last, COVERED) + ROUNDING_S)
        expect([m.dump, "wakeup-latency", str(m.tid)] in dumps, f"{dumps}, not {m.dump} of {m.tid}")
        late = [row for row in worst if row[2] == str(m.tid) and int(row[0]) > 3e8]
        if not late:
            raise Disturbed(f"others waited longer: {worst[:3]}")
        expect(any(row[1] == m.name and row[3] == m.dump for row in late), f"{late}, not {m.dump}")


main()
