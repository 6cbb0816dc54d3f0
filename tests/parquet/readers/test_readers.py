#!/usr/bin/env python3
"""Files of export --parquet by readers that are not ours, and the queries that ship.

Exports recordings, asks `schedscope query --sql` for the rows of each table, and hands both to cases.mjs, whose TAP is this program's. Where npm cannot
be reached there is nothing to run, and the plan says so; under CI that is a failure.
"""
import functools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from packages import ROOT, chdb_node, chdb_root, install, is_emulated, place

sys.path[1:1] = [str(ROOT / "tests/report/browser")]
from samples import cgroups, hostile  # noqa: E402  pylint: disable=wrong-import-position

SCHEDSCOPE = os.environ.get("SCHEDSCOPE", str(ROOT / "build/schedscope"))
SAMPLE = os.environ.get("PARQUET_SAMPLE", str(ROOT / "build/tests/parquet/write_sample"))
DATA = ROOT / "tests/data"
FILES = {
    "own": DATA / "together/together.pftrace.gz",
    "sched_ext": DATA / "perfetto/e-guest-scx-vtime.pftrace.gz",
    "counters": DATA / "wprof/guest-d3-pmu.pb.gz",
    "stacks": DATA / "perf/host-callgraph.data.gz",
    "text": DATA / "ftrace/guest-7.2-mono-tgid.txt.gz",
}
# Which hosts have which recordings, in the fleet: web-1 has two; one name needs escapes, one recording tells no time.
FLEET = [("web-1", "own"), ("web-1", "sched_ext"), ("web-2", "own"), ("db 1/ü", "sched_ext"), ("web-3", "own"), ("web-3", "stacks"), ("web-2", "cgroups"), ("web-2", "sched_ext")]
RUN_S = 3600 if is_emulated() else 240


def run(*words):
    done = subprocess.run([SCHEDSCOPE, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


@functools.lru_cache(maxsize=None)
def ask(path, sql):
    """The answer, which callers share and do not change."""
    return json.loads(run("query", path, "--json", "--all", "--sql", sql))


@functools.lru_cache(maxsize=None)
def tables():
    return list(json.loads(run("query", "--tables", "--json"))["tables"])


def text(value):
    return None if value is None else str(value)


def only_file(folder):
    (path,) = folder.rglob("*.parquet")
    return path


def export(path, folder, host=None):
    run("export", "--parquet", folder, *(["--host", host] if host else []), path)


def tell(name, path, folder):
    """A recording in a folder of its own, with the rows of its tables as SQL has them."""
    out = folder / name
    export(path, out)
    told = {"name": name, "tables": {}}
    for table in tables():
        file = only_file(out / table)
        answer = ask(path, f'SELECT * FROM "{table}"')
        columns = answer["columns"]
        rows = [[file.stem, *(text(row[c]) for c in columns)] for row in answer["rows"]]
        truth = folder / f"{name}.{table}.json"
        truth.write_text(json.dumps({"columns": ["capture", *columns], "rows": rows}), encoding="utf-8")
        told["tables"][table] = {"path": str(file), "truth": str(truth)}
    row = ask(path, "SELECT * FROM trace")["rows"][0]
    told["notes"] = {"schedscope.schema_version": "1", "schedscope.lost_events": str(row["lost_events"]), "schedscope.start_ts": str(row["start_ts"])}
    if row["kernel"]:
        told["notes"]["schedscope.kernel"] = row["kernel"]
    return told


def tell_sample(folder):
    """A file of the writer with what recordings have too little of (tests/parquet/write_sample.c)."""
    path, truth = folder / "sample.parquet", folder / "sample.json"
    path.unlink(missing_ok=True)
    subprocess.run([SAMPLE, path], check=True, timeout=60)
    columns = ["number", "plain", "few", "many", "half", "flag", "name", "label", "nothing"]
    rows = [[str(i * i * 37 - 1000), None if i % 11 == 3 else str(-(2**63) + i), None if i % 1000 < 500 else str(i % 7 * 1000), str(i * 1000003),
             None if i % 5 == 0 else f"{i}.5", None if i % 13 == 0 else ("true" if i % 3 == 0 else "false"),
             None if i % 4 == 1 else ("odd" if i % 2 else ""), f"label-{i}", None] for i in range(150000)]
    truth.write_text(json.dumps({"columns": columns, "rows": rows}), encoding="utf-8")
    return {"name": "a sample of the writer", "tables": {"sample": {"path": str(path), "truth": str(truth)}}, "notes": None}


def percentile(values, p):
    """By nearest rank."""
    return sorted(values)[math.ceil(p * len(values)) - 1]


def waits(host, path):
    """What the view fleet_wait has of one recording."""
    rows = ask(path, """SELECT w.id, w.dur, w.ts, w.comm, c.path AS cgroup, t.kernel, t.unix_start_ns + (w.ts - t.start_ts) AS unix_ns
        FROM wait w JOIN trace t LEFT JOIN cgroup c ON c.cgroup_id = w.cgroup_id WHERE w.is_open = 0""")["rows"]
    return [dict(row, host=host, path=path) for row in rows]


def delays(rows, key):
    """A row per key: the answer of a delay_by_ view, without hosts."""
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return [(value, len({r["host"] for r in group}), len(group), percentile([r["dur"] for r in group], 0.5),
             percentile([r["dur"] for r in group], 0.99), max(r["dur"] for r in group), sum(r["dur"] for r in group))
            for value, group in sorted(groups.items(), key=lambda item: (item[0] is not None, item[0]))]


NAMES = ["hosts", "waits", "p50_ns", "p99_ns", "max_ns", "total_ns"]


def delay_queries(rows):
    for key in ("cgroup", "kernel"):
        sql = f"SELECT {key}, {', '.join(NAMES)} FROM delay_by_{key} ORDER BY {key} NULLS FIRST"
        yield {"name": f"delay_by_{key}", "duckdb": sql, "clickhouse": sql, "answer": {"columns": [key, *NAMES], "rows": delays(rows, key)}}
    names = NAMES[1:]
    sql = f"SELECT host, {', '.join(names)} FROM delay_by_host ORDER BY host"
    answer = [(host, *rest) for host, _, *rest in delays(rows, "host")]
    yield {"name": "delay_by_host", "duckdb": sql, "clickhouse": sql, "answer": {"columns": ["host", *names], "rows": answer}}


def mostly(row):
    """The cause that took most of a wait, by 'query'."""
    causes = ask(row["path"], f"SELECT kind, culprit, sum(dur) AS ns FROM wait_part WHERE wait_id = {row['id']} GROUP BY 1, 2")["rows"]
    return max(c["ns"] for c in causes)


def worst_query(rows):
    worst = sorted(rows, key=lambda r: -r["dur"])[:100]
    sql = "SELECT dur, mostly_ns FROM worst_waits ORDER BY dur DESC, mostly_ns LIMIT 12"
    known = {}
    answer = []
    for row in worst:
        key = (row["path"], row["id"])
        known[key] = known.get(key) or mostly(row)
        answer.append((row["dur"], known[key]))
        if len(answer) > 40:
            break
    answer = sorted(answer, key=lambda a: (-a[0], a[1]))[:12]
    return {"name": "worst_waits", "duckdb": sql, "clickhouse": sql, "answer": {"columns": ["dur", "mostly_ns"], "rows": answer}}


def pairs(rows, side):
    """p99 of each host before and after, of those that have both."""
    hosts = {}
    for row in rows:
        if side(row) is not None:
            hosts.setdefault(row["host"], ([], []))[side(row)].append(row["dur"])
    return [(percentile(b, 0.99), percentile(a, 0.99)) for b, a in hosts.values() if a and b]


def rollout_queries(rows, since_s, old, new):
    """The means; of the interval, which draws hosts, that it holds the mean and lies within the differences of single hosts."""
    cases = {
        "since": (lambda r: None if r["unix_ns"] is None else int(r["unix_ns"] >= since_s * 10**9), f"since := to_timestamp({since_s})::TIMESTAMP",
                  f"since = {since_s}, old_kernel = '', new_kernel = ''"),
        "kernels": (lambda r: {old: 0, new: 1}.get(r["kernel"]), f"old_kernel := '{old}', new_kernel := '{new}'",
                    f"since = 0, old_kernel = '{old}', new_kernel = '{new}'"),
    }
    for name, (side, duckdb, clickhouse) in cases.items():
        both = pairs(rows, side)
        diffs = [a - b for b, a in both]
        assert diffs, f"no host has both sides: {name}"
        columns = ["hosts", "before_ns", "after_ns", "diff_ns", "is_within"]
        select = f"""SELECT hosts, before_ns, after_ns, diff_ns,
            CASE WHEN low_ns <= diff_ns AND diff_ns <= high_ns AND low_ns >= {min(diffs)} AND high_ns <= {max(diffs)} THEN 1 ELSE 0 END AS is_within FROM """
        answer = [(len(both), sum(b for b, _ in both) / len(both), sum(a for _, a in both) / len(both), sum(diffs) / len(diffs), 1)]
        yield {"name": f"rollout by {name}", "duckdb": select + f"rollout({duckdb})", "clickhouse": select + f"rollout({clickhouse}, p = 0.99, draws = 200)",
               "answer": {"columns": columns, "rows": answer}}


def count_queries(fleet, paths):
    """Every view of a table has all rows of all recordings, and each file its day and host."""
    for table in tables():
        nr = sum(ask(paths[name], f'SELECT count(*) AS n FROM "{table}"')["rows"][0]["n"] for _, name in fleet)
        yield {"name": f"the view {table} has the rows of all recordings", "duckdb": f"SELECT count(*) AS n FROM {table}",
               "answer": {"columns": ["n"], "rows": [(nr,)]}}
    dates = {name: ask(paths[name], "SELECT unix_start_ns AS ns FROM trace")["rows"][0]["ns"] for _, name in fleet}
    rows = sorted((host, sum(1 for h, n in fleet if h == host), sum(1 for h, n in fleet if h == host and dates[n])) for host in {h for h, _ in fleet})
    yield {"name": "hosts and days come from the folders", "duckdb": "SELECT host, count(*) AS captures, count(date) AS dated FROM trace GROUP BY host ORDER BY host",
           "clickhouse": "SELECT host, count() AS captures, countIf(date != '') AS dated FROM fleet_trace GROUP BY host ORDER BY host",
           "answer": {"columns": ["host", "captures", "dated"], "rows": rows}}


def alike():
    """Views with their columns, in both dialects, large ones as sums; keys are what is '' in ClickHouse where it is not known."""
    keys = ["date", "host"]
    order = "host NULLS FIRST, date NULLS FIRST, capture"
    rows = "id, ts, dur, cpu, utid, cause, queue_dur, waker, tid, comm, kernel, machine, boot_id, cgroup, unix_ns"
    counts = "count(*) AS n, CAST(sum(ts) AS VARCHAR) AS ts_sum, CAST(sum(dur) AS VARCHAR) AS dur_sum"
    views = {
        "fleet_wait": ("fleet_wait", rows, f"WHERE id % 16 = 0 ORDER BY {order}, id"),
        "trace": ("fleet_trace", "start_ts, unix_start_ns, boot_id, kernel, machine, lost_events", f"ORDER BY {order}"),
        "cgroup": ("fleet_cgroup", "cgroup_id, path", f"ORDER BY {order}, cgroup_id"),
        "wait": ("fleet_wait_row", f"is_open, {counts}", f"GROUP BY date, host, capture, is_open ORDER BY {order}, is_open"),
        "wait_part": ("fleet_wait_part", f"kind, culprit, {counts}", f"GROUP BY date, host, capture, kind, culprit ORDER BY {order}, kind, culprit NULLS FIRST"),
        "worst_waits": ("worst_waits", "id, dur, ts, unix_ns, comm, tid, cpu, cause, cgroup, kernel, mostly, culprit, mostly_ns", "ORDER BY dur DESC, host NULLS FIRST, capture, id"),
    }
    for duckdb, (clickhouse, columns, rest) in views.items():
        yield {"name": clickhouse, "keys": keys, "duckdb": f"SELECT date::VARCHAR AS date, host, capture, {columns} FROM {duckdb} {rest}",
               "clickhouse": f"SELECT date, host, capture, {columns} FROM {clickhouse} {rest}".replace("AS VARCHAR", "AS Nullable(String)")}


def make_fleet(folder, paths):
    """The same recordings on several hosts, in one folder, and what the queries must say of them."""
    out = folder / "fleet"
    for host, name in FLEET:
        export(paths[name], out, host)
    rows = [row for host, name in FLEET for row in waits(host, paths[name])]
    kernels = {name: ask(paths[name], "SELECT kernel FROM trace")["rows"][0]["kernel"] for name in ("own", "sched_ext")}
    times = sorted(row["unix_ns"] for row in rows if row["unix_ns"] and row["kernel"] == kernels["own"])
    since_s = times[len(times) // 2] // 10**9
    queries = [*count_queries(FLEET, paths), *delay_queries(rows), worst_query(rows), *rollout_queries(rows, since_s, kernels["own"], kernels["sched_ext"])]
    return str(out), queries


def make_known(folder):
    paths = dict(FILES)
    for name, make in {"hostile": hostile, "cgroups": cgroups}.items():
        paths[name] = folder / f"{name}.pftrace"
        paths[name].write_bytes(make())
    fleet, queries = make_fleet(folder, paths)
    known = {"recordings": [tell_sample(folder), *(tell(name, path, folder) for name, path in paths.items())], "dir": fleet, "queries": queries, "alike": list(alike()),
             "duckdb": str(ROOT / "share/schedscope/sql/duckdb.sql"), "clickhouse": str(ROOT / "share/schedscope/sql/clickhouse.sql")}
    (folder / "known.json").write_text(json.dumps(known), encoding="utf-8")


def main():
    """Command line: [FOLDER [READER...]]. With a folder, what is handed over stays in it."""
    packages = place()
    reason = install(packages)
    if reason:
        print(f"Bail out! {reason}" if os.environ.get("CI") else f"1..0 # SKIP {reason}")
        return int(bool(os.environ.get("CI")))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else name)
        folder.mkdir(exist_ok=True)
        make_known(folder)
        node, packages = chdb_node() if chdb_root() else ([shutil.which("node")], packages)
        return subprocess.run([*node, packages / "cases.mjs", folder / "known.json", *sys.argv[2:]], timeout=RUN_S, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
