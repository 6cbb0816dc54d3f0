#!/usr/bin/env python3
"""`serve --parquet` over recordings, by DuckDB: sums over files are those of /metrics, to the last one; the queries that ship. Prints TAP.

ClickHouse (chdb) answers the same queries where it can be loaded. Needs no rights; as root the files are made through the broker.
"""
import ctypes
import errno
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

from columns_ask import ask, files, packages  # the first: it says where the next two are
import footer
from packages import has_chdb
from serve import SCHEDSCOPE, SOURCE, WAIT_S, Daemon, buckets, case, expect, folder, main, recording, value, wait_for

FOLDER = folder()
TRACE = recording(FOLDER.name)
OTHER = recording(FOLDER.name, "perfetto/e-guest-scx-vtime.pftrace.gz")
METRICS = {"sched_delay": "cause", "waking_delay": None, "slice": "end", "sleep": "state", "cpu_idle": None}


def serve_all(path, trace, *words, host="web-1"):
    """A recording at once into files: the page that showed all of it."""
    with Daemon("--speed", "0", "--buckets", "all", "--parquet", str(path), "--host", host, *words, trace) as daemon:
        samples = daemon.samples()
        expect(daemon.stop() == 0, f"{daemon.said}")
    return samples


def open_folder(path):
    """Nothing that a daemon without rights could not use, were it started without."""
    pathlib.Path(path).mkdir(exist_ok=True)
    return path


def same_as_page(path, samples):
    """Counts of all slots, and sums, of every histogram."""
    rows, = ask(path, "SELECT metric, kind, cgroup, low_ns, sum(count)::BIGINT, sum(sum_ns)::BIGINT FROM latency_hist GROUP BY ALL ORDER BY ALL")
    hists = {}
    for metric, kind, cgroup, low, count, ns in rows:
        hists.setdefault((metric, kind or cgroup), []).append((int(low), int(count), int(ns)))
    shown = 0
    for (metric, label), slots in hists.items():
        name = f"schedscope_{metric}_seconds"
        key = "cgroup" if metric.startswith("cgroup_") else METRICS[metric]
        labels = {key: label} if key else {}
        expect(value(samples, name + "_count", **labels) == sum(count for _, count, _ in slots), f"{metric} {label}: the count")
        ns = sum(ns for _, _, ns in slots)
        expect(round(value(samples, name + "_sum", **labels) * 1e9) == ns, f"{metric} {label}: {ns} ns, {value(samples, name + '_sum', **labels)} s")
        for le, count in buckets(samples, name, **labels):
            below = sum(c for low, c, _ in slots if math.isinf(le) or low < round(le * 1e9))
            expect(count == below, f"{metric} {label}: {below} below {le}, {count} in the page")
        shown += 1
    pages = {(name, pairs) for name, pairs in samples if name.endswith("_seconds_count")}
    expect(shown >= len({p for p in pages if samples[p]}), f"{shown} of {len(pages)} histograms")


@case
def sums_over_rows_are_those_of_the_page():
    with folder() as path:
        samples = serve_all(path, TRACE)
        expect(value(samples, "schedscope_sched_delay_seconds_count", cause="woken") > 1000, "too little to tell")
        expect(value(samples, "schedscope_parquet_failures_total", table="latency_hist") == 0, "failures")
        same_as_page(path, samples)


@case
def sums_over_intervals_are_those_of_the_page():
    with folder() as path, Daemon("--speed", "3", "--buckets", "all", "--parquet", path, "--every", "1s", "--host", "h", TRACE) as daemon:
        with Daemon("--speed", "0", TRACE) as whole:
            end_s = value(whole.samples(), "schedscope_replay_position_seconds")
        samples = wait_for("the end", lambda: (s := daemon.samples()) and value(s, "schedscope_replay_position_seconds") == end_s and s)
        expect(daemon.stop() == 0, f"{daemon.said}")
        same_as_page(path, samples)
        notes = [footer.read(pathlib.Path(path) / name)["notes"] for name in files(path)]
        times = [(int(n["schedscope.from_ns"]), int(n["schedscope.to_ns"])) for n in notes]
        expect(len(times) > 1 and all(a < b for a, b in times), f"{times}")
        expect([a for a, _ in times[1:]] == [b for _, b in times[:-1]], f"a gap: {times}")
        expect(all(b % 10**9 < 9 * 10**8 for _, b in times[:-1]), f"not at whole seconds: {times}")


@case
def a_file_that_cannot_be_written_is_made_up_for():
    with folder() as path:
        out = pathlib.Path(path) / "out"
        out.mkdir()
        (out / "latency_hist").write_text("in the way")
        with Daemon("--speed", "1", "--buckets", "all", "--parquet", str(out), "--every", "1s", TRACE) as daemon:
            wait_for("a second failure", lambda: value(daemon.samples(), "schedscope_parquet_failures_total", table="latency_hist") >= 2)
            expect(files(out) == ["latency_hist"], f"{files(out)}")
            (out / "latency_hist").unlink()
            wait_for("a file", lambda: value(daemon.samples(), "schedscope_parquet_files_total", table="latency_hist") >= 1)
            expect("schedscope_parquet_written_time_seconds" in {name for name, _ in daemon.samples()}, "up to when")
            shutil.rmtree(out)
            failed = value(daemon.samples(), "schedscope_parquet_failures_total", table="latency_hist")
            wait_for("the folder to be missed", lambda: value(daemon.samples(), "schedscope_parquet_failures_total", table="latency_hist") > failed)
            out.mkdir()
            out.chmod(0o755)
            wait_for("a file again", lambda: files(out))
            expect(daemon.stop() == 0, f"{daemon.said}")
        said = [line for line in daemon.said if "cannot" in line]
        expect(len(said) == 2 and all("it is tried again" in line for line in said), f"{daemon.said}")


def die_at(size):
    """For a child: the kernel ends it (SIGXFSZ) within the write that would make a file larger."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


@case
def a_daemon_that_dies_while_it_writes_leaves_no_torn_file():
    with folder() as path:
        for size in (1, 100, 2000):
            with Daemon("--speed", "0", "--parquet", path, "--host", "h", TRACE, before=die_at(size)) as daemon:
                code = daemon.stop()
                expect(code == -signal.SIGXFSZ, f"it was to die at {size} bytes: {code} {daemon.said}")
            torn = files(path)
            expect(torn and all(pathlib.Path(name).name.startswith(".") for name in torn), f"{size}: {torn}")
        samples = serve_all(path, TRACE, host="h")
        whole = [name for name in files(path) if name not in torn]
        expect(len(whole) == 1 and footer.read(pathlib.Path(path) / whole[0])["rows"] > 100, f"{whole}")
        rows, = ask(path, "SELECT sum(count)::BIGINT FROM latency_hist WHERE metric = 'sched_delay' AND kind = 'woken'")
        expect(int(rows[0][0]) == value(samples, "schedscope_sched_delay_seconds_count", cause="woken"), f"{rows}: those that were torn are read")


def without_openat2():
    """For a child: as under a unit with RestrictSUIDSGID=, that call is not implemented."""
    libc = ctypes.CDLL(None, use_errno=True)
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050000 | errno.ENOSYS), (0x06, 0, 0, 0x7FFF0000)]  # its number is that of all machines
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
    for words in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)):  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP
        if libc.prctl(*map(ctypes.c_ulong, words)):
            raise OSError(ctypes.get_errno(), "no filter")


@case
def it_writes_where_a_filter_refuses_openat2():
    with folder() as path:
        open_folder(path)
        os.mkdir(f"{path}/out")
        os.chmod(f"{path}/out", 0o777)
        with Daemon("--speed", "0", "--parquet", f"{path}/out", "--every", "1s", "--host", "h", TRACE, before=without_openat2) as daemon:
            wait_for("files", lambda: daemon.samples().get(("schedscope_parquet_files_total", (("table", "latency_hist"),)), 0) >= 1)
            expect(daemon.stop() == 0 and not any("cannot" in line for line in daemon.said), f"{daemon.said}")
        expect(files(f"{path}/out"), "no file")


@case
def nothing_hidden_is_left_and_others_can_read():
    with folder() as path:
        os.umask(0o022)
        serve_all(path, TRACE, "--metadata", "role=web", "--metadata", 'say="hi"', host="../a b")
        name, = files(path)
        expect(name.startswith("latency_hist/date=") and "/host=..%2Fa%20b/" in name and name.endswith("Z.parquet"), name)
        expect((pathlib.Path(path) / name).stat().st_mode & 0o777 == 0o644, "its mode")
        told = footer.read(pathlib.Path(path) / name)
        notes = told["notes"]
        expect(notes["schedscope.table"] == "latency_hist" and notes["schedscope.host"] == "../a b" and notes["schedscope.schema_version"] == "1", f"{notes}")
        expect(json.loads(notes["schedscope.labels"]) == {"role": "web", "say": '"hi"'}, f"{notes}")
        expect(told["columns"]["metric"]["encodings"] == {"RLE_DICTIONARY", "PLAIN", "RLE"} or "RLE_DICTIONARY" in told["columns"]["metric"]["encodings"], f"{told['columns']['metric']}")
        rows, = ask(path, "SELECT DISTINCT host, kernel, labels->>'say' FROM latency_hist")
        expect(rows == [["../a b", "7.2.13-scxvm", '"hi"']], f"{rows}")


@case
def the_page_lists_the_columns_of_the_files():
    with folder() as path:
        serve_all(path, TRACE)
        name, = files(path)
        columns = footer.read(pathlib.Path(path) / name)["columns"]
    text = (SOURCE / "docs/parquet.md").read_text().partition("\n### latency_hist\n")[2].partition("\n### ")[0]
    told = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    expect(told == list(columns), f"docs/parquet.md: {told}, not {list(columns)}")


def percentile(slots, p, longest):
    """By nearest rank, within the slot by proportion: of [(low, high, count)], p in hundredths of a percent."""
    rank = -(-sum(count for _, _, count in slots) * p // 10000)
    before = 0
    for low, high, count in slots:
        if before + count >= rank:
            return min(low + (rank - before) * (high - low) // count, high - 1, longest)
        before += count
    return None


def slots_of(samples, name, **labels):
    """[(low, high, count)] in ns, of bounds of all slots."""
    low, before, out = 0, 0, []
    for le, count in buckets(samples, name, **labels):
        high = low + 1 if math.isinf(le) else round(le * 1e9)
        if count > before:
            out.append((low, high, int(count - before)))
        low, before = high, count
    return out


def added(*lists):
    slots = {}
    for low, high, count in (slot for one in lists for slot in one):
        slots[low, high] = slots.get((low, high), 0) + count
    return [(low, high, count) for (low, high), count in sorted(slots.items())]


def delays(samples):
    return added(*(slots_of(samples, "schedscope_sched_delay_seconds", cause=cause) for cause in ("woken", "preempted", "new")))


def longest(trace):
    rows = json.loads(subprocess.run([SCHEDSCOPE, "query", "--sql", "SELECT max(queue_dur) AS ns FROM wait WHERE is_open = 0", "--json", trace],
                                     check=True, capture_output=True, text=True).stdout)["rows"]
    return rows[0]["ns"]


def make_fleet(path):
    """Three hosts; two of them change their kernel, and their label: the pages of each, and when the change was."""
    pages = {}
    for host, trace, build in (("web-1", TRACE, 41), ("web-2", TRACE, 41), ("db 1/ü", OTHER, 41)):
        pages[host, build] = serve_all(path, trace, "--metadata", f"build={build}", host=host)
    time.sleep(1.1)
    since_s = int(time.time())
    for host in ("web-1", "web-2"):
        pages[host, 42] = serve_all(path, OTHER, "--metadata", "build=42", host=host)
    return pages, since_s


def rollouts(since_s):
    """The ways to ask for one, in both dialects."""
    no_kernels, no_label = "old_kernel = '', new_kernel = ''", "label = '', old_value = '', new_value = ''"
    kernels = [json.loads(subprocess.run([SCHEDSCOPE, "query", "--sql", "SELECT kernel FROM trace", "--json", trace],
                                         check=True, capture_output=True, text=True).stdout)["rows"][0]["kernel"] for trace in (TRACE, OTHER)]
    return {
        "since": (f"since := to_timestamp({since_s})::TIMESTAMP", f"since = {since_s}, {no_kernels}, {no_label}"),
        "label": ("label := 'build', old_value := '41', new_value := '42'", f"since = 0, {no_kernels}, label = 'build', old_value = '41', new_value = '42'"),
        "kernel": (f"old_kernel := '{kernels[0]}', new_kernel := '{kernels[1]}'", f"since = 0, old_kernel = '{kernels[0]}', new_kernel = '{kernels[1]}', {no_label}"),
    }


def known_answers(pages, since_s):
    """Each query in both dialects, and its answer, worked out from the pages."""
    tops = {41: longest(TRACE), 42: longest(OTHER)}
    top = {key: tops[42] if key[0] == "db 1/ü" else tops[key[1]] for key in pages}
    hosts = sorted({host for host, _ in pages})
    by_host = []
    for host in hosts:
        keys = [key for key in pages if key[0] == host]
        slots = added(*(delays(pages[key]) for key in keys))
        most = max(top[key] for key in keys)
        by_host.append([host, sum(c for _, _, c in slots), percentile(slots, 5000, most), percentile(slots, 9900, most), most])
    everything = added(*map(delays, pages.values()))
    fleet = [[3, sum(c for _, _, c in everything), *(percentile(everything, p, max(tops.values())) for p in (5000, 9900))]]
    yield ("hist_by_host", "SELECT host, waits, p50_ns, p99_ns, max_ns FROM hist_by_host() ORDER BY host",
           "SELECT key AS host, waits, p50_ns, p99_ns, max_ns FROM hist_by(what = 'host', since = 0, until = 0) ORDER BY host", by_host)
    yield ("hist_fleet", "SELECT hosts, waits, p50_ns, p99_ns FROM hist_fleet()", "SELECT hosts, waits, p50_ns, p99_ns FROM hist_by(what = 'fleet', since = 0, until = 0)", fleet)
    late = added(*(delays(pages[host, 42]) for host in ("web-1", "web-2")))
    answer = [[2, sum(c for _, _, c in late), percentile(late, 9900, tops[42])]]
    yield ("hist_fleet since", f"SELECT hosts, waits, p99_ns FROM hist_fleet(since := to_timestamp({since_s})::TIMESTAMP)",
           f"SELECT hosts, waits, p99_ns FROM hist_by(what = 'fleet', since = {since_s}, until = 0)", answer)
    pair = [percentile(delays(pages["web-1", build]), 9900, 2**62) for build in (41, 42)]
    diff = pair[1] - pair[0]
    answer = [[2, *pair, diff, diff, diff]]  # both hosts have the same: so have all draws
    for name, (duckdb, clickhouse) in rollouts(since_s).items():
        yield (f"hist_rollout by {name}", f"FROM hist_rollout({duckdb})", f"SELECT * FROM hist_rollout({clickhouse}, p = 9900, draws = 100)", answer)


def compare(name, got, wanted):
    expect(len(got) == len(wanted), f"{name}: {got}, not {wanted}")
    for a, b in zip(got, wanted):
        is_same = all(x == y if isinstance(y, str) else x is not None and abs(float(x) - y) <= 1e-9 * abs(y) for x, y in zip(a, b))
        expect(is_same and len(a) == len(b), f"{name}: {a}, not {b}")


@case
def the_queries_that_ship_say_what_the_pages_say():
    with folder() as path:
        pages, since_s = make_fleet(path)
        known = list(known_answers(pages, since_s))
        answers = ask(path, *(duckdb for _, duckdb, _, _ in known),
                      "SELECT cgroup, hosts, waits, p99_ns, total_ns FROM hist_by_cgroup()", "SELECT kernel, hosts, waits FROM hist_by_kernel()",
                      "SELECT sum(waits)::BIGINT FROM hist_by_hour()", "SELECT host, wait_ns, comm, cause FROM hist_worst_waits() LIMIT 1")
        for (name, _, _, wanted), got in zip(known, answers):
            compare(name, got, wanted)
        check_others(pages, answers[len(known):])
        if has_chdb():
            compare_engines(path, known, since_s)


def both(since_s):
    """Every query that ships, with all its columns, in both dialects."""
    names = "waits, p50_ns, p99_ns, max_ns, total_ns"
    since = f"to_timestamp({since_s})::TIMESTAMP"
    for duckdb, clickhouse in (("", "since = 0, until = 0"), (f", since := {since}", f"since = {since_s}, until = 0"), (f", until := {since}", f"since = 0, until = {since_s}")):
        for what in ("fleet", "host", "kernel", "cgroup", "hour"):
            yield (f"SELECT key, hosts, {names} FROM hist_by('{what}'{duckdb}) ORDER BY key", f"SELECT key, hosts, {names} FROM hist_by(what = '{what}', {clickhouse}) ORDER BY key")
        named = "cause, comm, tid, cpu, kernel, dump"
        for query in ("hist_worst_waits", "hist_worst_waits_with_dumps"):
            yield (f"SELECT host, wait_ns, epoch_us(ended), {named} FROM {query}({duckdb[2:]})", f"SELECT host, wait_ns, toUnixTimestamp64Micro(ended), {named} FROM {query}({clickhouse})")
        yield f"FROM blame_by_cgroup({duckdb[2:]})", f"SELECT * FROM blame_by_cgroup({clickhouse})"
    # The draws differ by engine: what they are about does not.
    for duckdb, clickhouse in rollouts(since_s).values():
        columns = "SELECT hosts, before_ns, after_ns, diff_ns, low_ns <= diff_ns AND diff_ns <= high_ns FROM hist_rollout"
        yield f"{columns}({duckdb}, p := 5000)", f"{columns}({clickhouse}, p = 5000, draws = 100)"


def same_value(a, b):
    if a == b or {a, b} in ({"true", "1"}, {"false", "0"}):
        return True
    try:
        return abs(float(a) - float(b)) <= 1e-9 * abs(float(b))
    except (TypeError, ValueError):
        return False


def add_tables(path):
    """Blame, which recordings do not have, of each slot of a cgroup; dumps of most long waits of a host, as if they had come after the interval."""
    tables = {
        "blame": """SELECT from_ns, cgroup AS victim, CASE low_ns % 3 WHEN 0 THEN '(idle)' ELSE '/b' END AS culprit, count * 1000 AS wait_ns, 0 AS covered_ns
            FROM latency_hist WHERE host = 'web-1' AND cgroup IS NOT NULL UNION ALL
            SELECT DISTINCT from_ns, NULL, NULL, 0, to_ns - from_ns FROM latency_hist WHERE host = 'web-1'""",
        "dumps": """SELECT from_ns, 'late-' || max_tid || '.pftrace' AS name, 'wakeup-latency' AS trigger, max_tid AS tid, max_at_ns + 2000000000 AS begun_ns
            FROM latency_hist WHERE host = 'web-1' AND metric = 'sched_delay' AND max_ns IS NOT NULL AND kind != 'preempted'""",
    }
    for table, rows in tables.items():
        (pathlib.Path(path) / table / "date=2026-11-18/host=web-1").mkdir(parents=True)
        ask(path, f"COPY ({rows}) TO '{table}/date=2026-11-18/host=web-1/a.parquet' (FORMAT parquet)")


def compare_engines(path, known, since_s):
    pairs = list(both(since_s))
    add_tables(path)
    more = ("-dumps", "-blame")
    wanted = ask(path, *(duckdb for duckdb, _ in pairs), more=more)
    answers = ask(path, *(clickhouse for _, _, clickhouse, _ in known), *(clickhouse for _, clickhouse in pairs), engine="chdb", more=more)
    for (name, _, _, rows), got in zip(known, answers):
        compare(f"{name}, ClickHouse", got, rows)
    for (query, _), rows, got in zip(pairs, wanted, answers[len(known):]):
        expect(rows, f"{query}: no rows")
        expect(len(rows) == len(got), f"{query}: {len(rows)} rows, {len(got)} by ClickHouse")
        for a, b in zip(rows, got):
            expect(len(a) == len(b) and all(map(same_value, a, b)), f"{query}: {a}, by ClickHouse {b}")
    print(f"# ClickHouse: {len(known)} known answers, {len(pairs)} queries with {sum(map(len, wanted))} rows as DuckDB has them")


def check_others(pages, answers):
    by_cgroup, by_kernel, by_hour, worst = answers
    name = "schedscope_cgroup_sched_delay_seconds"
    for cgroup, _, waits, _, total in by_cgroup:
        wanted = sum(v for page in pages.values() for (n, pairs), v in page.items() if n == name + "_count" and dict(pairs)["cgroup"] == cgroup)
        expect(int(waits) == wanted, f"{cgroup}: {waits} waits, not {wanted}")
        ns = sum(round(v * 1e9) for page in pages.values() for (n, pairs), v in page.items() if n == name + "_sum" and dict(pairs)["cgroup"] == cgroup)
        expect(int(total) == ns, f"{cgroup}: {total} ns, not {ns}")
    everything = sum(c for page in pages.values() for _, _, c in delays(page))
    expect(sum(int(waits) for _, _, waits in by_kernel) == int(by_hour[0][0]) == everything, f"{by_kernel}, {by_hour}, {everything}")
    expect(int(worst[0][1]) == max(longest(TRACE), longest(OTHER)), f"{worst}")


@case
def the_longest_waits_name_their_dumps():
    """Of tables that a daemon could have written: dumps that the interval knew, that came later, and of others."""
    ns, day = 10**9, 1794960000
    waits = f"""COPY (SELECT {day * ns} AS from_ns, {(day + 300) * ns} AS to_ns, 'b' AS boot_id, 'k' AS kernel, NULL::VARCHAR AS labels, 'sched_delay' AS metric,
        'woken' AS kind, NULL::VARCHAR AS cgroup, 0 AS low_ns, 1000 AS high_ns, 1 AS count, 1 AS sum_ns, * FROM (VALUES (9000, {(day + 10) * ns}, 7, 1, 'a', 'known.pftrace'),
        (8000, {(day + 20) * ns}, 8, 1, 'b', NULL), (7000, {(day + 200) * ns}, 8, 1, 'b', NULL)) v(max_ns, max_at_ns, max_tid, max_cpu, max_comm, dump))
        TO 'latency_hist/date=2026-11-18/host=h/a.parquet' (FORMAT parquet)"""
    dumps = f"""COPY (SELECT {day * ns} AS from_ns, * FROM (VALUES ('late.pftrace', 8, {(day + 22) * ns}), ('near.pftrace', 8, {(day + 40) * ns}), ('other.pftrace', 9, {(day + 20) * ns}))
        v(name, tid, begun_ns)) TO 'dumps/date=2026-11-18/host=h/a.parquet' (FORMAT parquet)"""
    blame = f"""COPY (SELECT {day * ns} AS from_ns, * FROM (VALUES ('/a', '/b', {3 * ns}, 0), ('/a', '(idle)', {1 * ns}, 0), (NULL, NULL, 0, {10 * ns}))
        v(victim, culprit, wait_ns, covered_ns)) TO 'blame/date=2026-11-18/host=h/a.parquet' (FORMAT parquet)"""
    with folder() as path:
        for table in ("latency_hist", "dumps", "blame"):
            (pathlib.Path(path) / table / "date=2026-11-18/host=h").mkdir(parents=True)
        work = {"dir": path, "queries": [waits, dumps, blame]}
        done = subprocess.run([shutil.which("node"), packages() / "ask.mjs", "duckdb"], input=json.dumps(work), capture_output=True, text=True, timeout=WAIT_S, check=False)
        expect(done.returncode == 0 and "error" not in done.stdout, done.stdout + done.stderr)
        rows, without, blamed = ask(path, "SELECT wait_ns, dump FROM hist_worst_waits_with_dumps()", "SELECT wait_ns, dump FROM hist_worst_waits()", "FROM blame_by_cgroup()",
                                    more=("-dumps", "-blame"))
    expect(rows == [["9000", "known.pftrace"], ["8000", "late.pftrace"], ["7000", None]], f"{rows}")
    expect(without == [["9000", "known.pftrace"], ["8000", None], ["7000", None]], f"{without}")
    expect(blamed == [["/a", "/b", "1", str(3 * ns), "0.3"], ["/a", "(idle)", "1", str(ns), "0.1"]], f"{blamed}")


def refuse(words, why, code=2):
    done = subprocess.run([SCHEDSCOPE, "serve", *words], capture_output=True, text=True, timeout=WAIT_S, check=False)
    expect(done.returncode == code and why in done.stderr and not done.stdout, f"{words}: {done.returncode} {done.stderr}")


@case
def wrong_words_are_refused():
    refuse(["--host", "x", TRACE], "are about Parquet files")
    refuse(["--every", "5m", TRACE], "is about files")
    refuse(["--parquet", FOLDER.name, "--every", "0.5s", TRACE], "the least is 1s")
    refuse(["--parquet", FOLDER.name, "--every", "5 minutes", TRACE], "is not a time")
    refuse(["--parquet", FOLDER.name, "--metadata", "nonsense", TRACE], "is not KEY=VALUE")
    refuse(["--parquet", FOLDER.name, "--host", "x" * 100, TRACE], "1 to 80 bytes")
    refuse(["--parquet", "/nonexistent/there", TRACE], "cannot write into the folder", 1)


main()
