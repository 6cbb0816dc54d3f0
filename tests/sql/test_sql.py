#!/usr/bin/env python3
"""query --sql on recordings: what SQL says of them is what `analyze` and `query` say. Prints TAP."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import traceback

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
OWN = DATA / "together" / "together.pftrace.gz"  # interrupts, softirqs, migrations, forks, policies
SCX = DATA / "perfetto" / "e-guest-scx-vtime.pftrace.gz"
EEVDF = DATA / "perfetto" / "e-guest-eevdf.pftrace.gz"
PERF = DATA / "perf" / "host-sched.data.gz"
STACKS = DATA / "ftrace" / "perf-script-guest-7.2-callgraph.txt.gz"  # has its names itself
CALLS = DATA / "perf" / "host-syscalls.data.gz"
PMU = DATA / "wprof" / "guest-d3-pmu.pb.gz"
CGROUPS = DATA / "perf" / "guest-6.1-cgroups.data.gz"
ALL = "100000"
CASES = []
ANSWERS = {}


def case(function):
    CASES.append(function)
    return function


def run(*args, **kwargs):
    result = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, timeout=120, **kwargs)
    assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, result.stderr.decode()
    return result


def sql(file, query, *args, **kwargs):
    result = run("query", file, "--json", "--all", "--sql", query, *args, **kwargs)
    assert result.returncode == 0 and not result.stderr, f"{query}: {result.stderr.decode()}"
    return [tuple(row.values()) for row in json.loads(result.stdout)["rows"]]


def one(file, query):
    (row,) = sql(file, query)
    return row[0] if len(row) == 1 else row


def refused(*args, code=1):
    """One sentence on stderr, nothing on stdout."""
    result = run(*args)
    assert result.returncode == code and not result.stdout, f"{args}: exit {result.returncode}: {result.stdout}"
    lines = result.stderr.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("schedscope: "), lines
    return lines[0]


def ask(file, name, *args):
    key = (file, name, args)
    if key not in ANSWERS:
        result = run("analyze", file, name, "--json", "--limit", ALL, *args)
        assert result.returncode == 0, result.stderr
        ANSWERS[key] = json.loads(result.stdout)
    return ANSWERS[key]


def events(file, *args):
    """What `query` counts."""
    result = run("query", file, "--json", "--agg", "count", *args)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["aggregation"]["result"]


def same(got, expected):
    got, expected = sorted(got, key=repr), sorted(expected, key=repr)
    assert got and got == expected, f"{len(got)} rows, {len(expected)} expected: " + ", ".join(
        [f"{g} != {e}" for g, e in zip(got, expected) if g != e][:3])


# Times of tasks

@case
def time_on_a_cpu_of_each_task_is_that_of_process_runtime():
    for file in (OWN, SCX, PERF):
        same(sql(file, "SELECT t.tid, sum(s.dur), count(*) FROM sched_slice s JOIN thread t USING (utid) GROUP BY t.utid"),
             [(p["pid"], p["total_runtime_ns"], p["num_switches"])
              for p in ask(file, "process_runtime")["processes"] if p["num_switches"]])


@case
def percentiles_of_slices_are_those_of_process_runtime():
    same(sql(OWN, """SELECT tid, min(dur), max(dur), percentile(dur, 50), percentile(dur, 95), percentile(dur, 99),
                     percentile(dur, 99.9) FROM sched_slice WHERE NOT is_open GROUP BY utid"""),
         [tuple(p[k] for k in ("pid", "min_timeslice_ns", "max_timeslice_ns", "p50_timeslice_ns", "p95_timeslice_ns",
                               "p99_timeslice_ns", "p999_timeslice_ns"))
          for p in ask(OWN, "process_runtime")["processes"] if p["min_timeslice_ns"] is not None])


@case
def time_of_processes_is_that_of_process_runtime():
    same(sql(OWN, """SELECT p.pid, sum(s.dur) FROM sched_slice s JOIN thread t USING (utid) JOIN process p USING (upid)
                     GROUP BY p.upid"""),
         [(p["pid"], p["total_runtime_ns"]) for p in ask(OWN, "process_runtime", "--by", "process")["processes"]
          if p["num_switches"]])


@case
def time_by_name_is_that_of_process_runtime():
    same(sql(OWN, "SELECT name, sum(dur) FROM sched_slice JOIN thread USING (utid) GROUP BY name"),
         [(p["comm"], p["total_runtime_ns"]) for p in ask(OWN, "process_runtime", "--by", "comm")["processes"]
          if p["num_switches"]])


@case
def states_of_each_task_are_those_of_task_states():
    same(sql(OWN, """
        SELECT t.tid,
               coalesce((SELECT sum(dur) FROM sched_slice s WHERE s.utid = t.utid), 0),
               coalesce((SELECT sum(queue_dur) FROM wait w WHERE w.utid = t.utid), 0),
               coalesce((SELECT sum(dur) FROM sleep l WHERE l.utid = t.utid AND state != 'D'), 0),
               coalesce((SELECT sum(dur) FROM sleep l WHERE l.utid = t.utid AND state = 'D'), 0),
               coalesce((SELECT sum(dur) FROM gap g WHERE g.utid = t.utid), 0) AS unknown
        FROM thread t WHERE unknown OR EXISTS (SELECT 1 FROM sched_slice s WHERE s.utid = t.utid)"""),
         [tuple(p[k] for k in ("pid", "running_time_ns", "runnable_time_ns", "sleeping_time_ns", "blocked_time_ns",
                               "unknown_time_ns")) for p in ask(OWN, "task_states")["processes"]])


@case
def switches_are_voluntary_or_not_as_in_task_states():
    same(sql(OWN, """SELECT tid, sum(end_state NOT IN ('R', 'R+')), sum(end_state IN ('R', 'R+')) FROM sched_slice
                     WHERE NOT is_open GROUP BY utid"""),
         [(p["pid"], p["voluntary_switches"], p["involuntary_switches"]) for p in ask(OWN, "task_states")["processes"]
          if p["voluntary_switches"] + p["involuntary_switches"]])


@case
def scheduling_delays_are_those_of_task_states():
    same(sql(OWN, """SELECT tid, count(*), max(queue_dur), percentile(queue_dur, 99) FROM wait WHERE NOT is_open
                     GROUP BY utid"""),
         [(p["pid"], p["scheduler_latency_count"], p["max_scheduler_latency_ns"], p["p99_scheduler_latency_ns"])
          for p in ask(OWN, "task_states")["processes"] if p["scheduler_latency_count"]])


# Waits

@case
def the_sum_of_waits_is_that_of_blame():
    for file in (OWN, SCX, EEVDF, PERF):
        blame = ask(file, "blame")
        assert one(file, "SELECT count(*), sum(dur), max(dur) FROM wait") == (
            blame["waits"], blame["wait_ns"], blame["max_wait_ns"]), file


@case
def parts_of_each_wait_add_up_to_it():
    for file in (OWN, SCX, EEVDF, PERF):
        assert one(file, """SELECT count(*) FROM (SELECT w.id, w.dur, sum(p.dur) AS parts FROM wait w
                            JOIN wait_part p ON p.wait_id = w.id GROUP BY w.id HAVING parts != w.dur)""") == 0
        assert one(file, "SELECT count(DISTINCT wait_id) FROM wait_part") == one(
            file, "SELECT count(*) FROM wait WHERE dur > 0")


@case
def parts_follow_each_other_without_a_gap():
    assert one(EEVDF, """SELECT count(*) FROM (SELECT ts, dur, lead(ts) OVER (PARTITION BY wait_id ORDER BY ts) AS next
                         FROM wait_part) WHERE next IS NOT NULL AND next != ts + dur""") == 0


@case
def sums_of_the_kinds_of_parts_are_those_of_blame():
    for file in (OWN, SCX, PERF):
        blame = ask(file, "blame")
        for kind, ns in sql(file, "SELECT kind, sum(dur) FROM wait_part GROUP BY kind"):
            assert blame[kind + "_ns"] == ns, f"{file}: {kind}"


@case
def waits_of_each_name_by_kind_are_those_of_blame():
    same(sql(OWN, """SELECT t.name, count(DISTINCT wait_id), sum(dur), sum(iif(kind = 'task', dur, 0)),
                     sum(iif(kind = 'idle', dur, 0)), sum(iif(kind = 'softirq', dur, 0)), sum(iif(kind = 'waking', dur, 0))
                     FROM wait_part p JOIN thread t USING (utid) GROUP BY t.name"""),
         [tuple(v[k] for k in ("comm", "waits", "wait_ns", "task_ns", "idle_ns", "softirq_ns", "waking_ns"))
          for v in ask(OWN, "blame")["victims"]])


@case
def culprits_are_those_of_blame():
    for file in (OWN, EEVDF):
        same(sql(file, """SELECT t.name, sum(p.dur) FROM wait_part p JOIN thread t ON t.utid = p.culprit_utid
                          WHERE kind = 'task' GROUP BY t.name"""),
             [(c["comm"], c["caused_wait_ns"]) for c in ask(file, "blame")["culprits"]])


@case
def threads_as_victims_and_culprits_are_those_of_blame():
    # There only the worst culprits of each victim are listed.
    pairs = {(v["pid"], b["pid"]): b["wait_ns"] for v in ask(OWN, "blame", "--by", "thread")["victims"]
             for b in v["blames"]}
    same([row for row in sql(OWN, """SELECT p.tid, c.tid, sum(p.dur) FROM wait_part p JOIN thread c
                                     ON c.utid = p.culprit_utid WHERE kind = 'task' GROUP BY p.utid, c.utid""")
          if row[:2] in pairs], [(*key, ns) for key, ns in pairs.items()])


@case
def wakeup_latency_is_that_of_waits_of_woken_and_new_tasks():
    for file in (OWN, EEVDF):
        got = ask(file, "wakeup_latency")
        stats = got["global_stats"]
        assert one(file, """SELECT count(*), min(dur), max(dur), percentile(dur, 50), percentile(dur, 95),
                            percentile(dur, 99), percentile(dur, 99.9) FROM wait WHERE cause != 'preempted' AND NOT is_open
                            """) == (got["total_wakeups"], *(stats[k + "_latency_ns"] for k in (
                                "min", "max", "p50", "p95", "p99", "p999"))), file


@case
def waits_after_preemption_are_those_of_preemptions():
    got = ask(OWN, "preemptions")
    assert one(OWN, "SELECT count(*) FROM wait WHERE cause = 'preempted' AND NOT is_open") == got["total_preemptions"]
    same(sql(OWN, """SELECT tid, count(*), sum(dur), max(dur), count(DISTINCT waker_utid) FROM wait WHERE
                     cause = 'preempted' AND NOT is_open GROUP BY utid"""),
         [tuple(p[k] for k in ("pid", "preempted_count", "total_wait_ns", "max_wait_ns", "total_unique_preemptors"))
          for p in got["processes"]])


@case
def latencies_per_cpu_are_those_of_wakeup_latency():
    same(sql(OWN, "SELECT cpu, count(*), percentile(dur, 99) FROM wait WHERE cause != 'preempted' AND NOT is_open GROUP BY cpu"),
         [(c["cpu_id"], c["count"], c["p99_latency_ns"]) for c in ask(OWN, "wakeup_latency")["worst_cpus_by_avg_latency"]])


@case
def the_worst_wait_is_the_one_that_wakeup_latency_names():
    worst = ask(OWN, "wakeup_latency")["worst"]
    assert one(OWN, """SELECT tid, dur, ts + dur, cpu, waker, waker_utid FROM wait WHERE cause != 'preempted' AND NOT is_open
                       ORDER BY dur DESC LIMIT 1""") == (worst["pid"], worst["latency_ns"], worst["schedule_timestamp"],
                                                         worst["cpu"], worst["waker_interrupt"], None)


@case
def waits_that_have_not_ended_are_open():
    got = ask(OWN, "wakeup_latency")
    assert one(OWN, "SELECT count(*) FROM wait WHERE is_open AND cause != 'preempted'") == got["still_waiting"] > 0


# Wakeups, migrations, counts of events

@case
def who_wakes_whom_is_that_of_wakeup_relations():
    # Wakers that are unknown and those that may be an interrupt have rows of their own there.
    same(sql(OWN, """SELECT w.tid, k.tid, count(*) FROM wait k JOIN thread w ON w.utid = k.waker_utid
                     WHERE k.cause != 'preempted' AND NOT k.is_open GROUP BY k.waker_utid, k.utid"""),
         [(r["waker_pid"], r["wakee_pid"], r["wakeup_count"]) for r in ask(OWN, "wakeup_relations")["relationships"]
          if r["waker_pid"] is not None])


@case
def interrupts_that_wake_are_those_of_wakeup_relations():
    same(sql(OWN, """SELECT waker, tid, count(*) FROM wait WHERE cause != 'preempted' AND NOT is_open AND waker_utid IS NULL
                     AND waker IS NOT NULL GROUP BY waker, utid"""),
         [(r["waker_interrupt"], r["wakee_pid"], r["wakeup_count"]) for r in ask(OWN, "wakeup_relations")["relationships"]
          if r["waker_interrupt"] is not None])


@case
def wakeups_are_the_events_that_query_counts():
    assert one(OWN, "SELECT count(*) FROM wakeup WHERE NOT is_new") == events(OWN, "-e", "sched_waking")
    assert one(OWN, "SELECT count(*) FROM wakeup WHERE is_new") == events(OWN, "-e", "sched_wakeup_new")


@case
def migrations_are_those_of_query_and_migration_patterns():
    for file in (OWN, SCX):
        got = ask(file, "migration_patterns")
        assert one(file, "SELECT count(*) FROM migration") == got["total_migrations"] == events(
            file, "-e", "sched_migrate_task")
        same(sql(file, "SELECT tid, count(*) FROM migration GROUP BY utid"),
             [(p["pid"], p["migration_count"]) for p in got["top_migrating_processes"]])


@case
def slices_begin_and_end_with_the_switches_of_query():
    from_ns, to_ns = one(EEVDF, "SELECT start_ts + dur / 4, start_ts + dur / 2 FROM trace")
    # Each switch to a task begins a slice, with what was recorded before the first event of a CPU left out.
    assert one(EEVDF, f"SELECT count(*) FROM sched_slice WHERE cpu = 1 AND ts >= {from_ns} AND ts < {to_ns}") == events(
        EEVDF, "-e", "sched_switch", "-w", "next_pid!=0", "--cpu", "1", "--from", f"@{from_ns}", "--to", f"@{to_ns}")


@case
def switches_of_one_task_are_those_of_query():
    (tid, nr), = sql(EEVDF, "SELECT tid, count(*) FROM sched_slice GROUP BY tid ORDER BY 2 DESC LIMIT 1")
    assert nr == events(EEVDF, "-e", "sched_switch", "-w", f"next_pid={tid}")


# CPUs

@case
def time_of_cpus_is_that_of_cpu_utilization():
    cpus = [(c["cpu_id"], c["active_time_ns"], c["idle_time_ns"], c["unknown_time_ns"])
            for c in ask(OWN, "cpu_utilization")["top_utilized_cpus"]]
    same(sql(OWN, """SELECT cpu, sum(dur), (SELECT sum(dur) FROM idle i WHERE i.cpu = s.cpu),
                     (SELECT sum(dur) FROM gap g WHERE g.cpu = s.cpu) FROM sched_slice s GROUP BY cpu"""), cpus)


@case
def slices_idle_times_and_gaps_tile_each_cpu():
    same(sql(SCX, """SELECT cpu, sum(dur) = (SELECT dur FROM trace) FROM (SELECT cpu, dur FROM sched_slice UNION ALL
                     SELECT cpu, dur FROM idle UNION ALL SELECT cpu, dur FROM gap WHERE cpu IS NOT NULL) GROUP BY cpu"""),
         [(cpu, 1) for cpu in range(one(SCX, "SELECT cpus FROM trace"))])


# Spans, counters, samples

@case
def interrupts_are_those_of_irq():
    same(sql(OWN, "SELECT object, name, count(*), sum(dur), max(dur) FROM span WHERE kind = 'irq' GROUP BY object"),
         [(str(i["irq"]), i["handler"], i["count"], i["total_duration_ns"], i["percentiles"]["max"])
          for i in ask(OWN, "irq")["top_irqs"]])


@case
def softirqs_are_those_of_softirq():
    same(sql(OWN, "SELECT name, count(*), sum(dur), percentile(dur, 99) FROM span WHERE kind = 'softirq' GROUP BY name"),
         [(s["softirq_name"], s["count"], s["total_duration_ns"], s["percentiles"]["p99"])
          for s in ask(OWN, "softirq")["by_type"]])


@case
def counters_of_slices_are_those_of_perf_counters():
    same(sql(PMU, "SELECT t.tid, p.name, sum(value) FROM pmu p JOIN thread t USING (utid) GROUP BY t.utid, p.name"),
         [(p["pid"], name, total) for p in ask(PMU, "perf_counters")["by_process"]
          for name, total in p["counters"].items()])


@case
def samples_and_their_leaves_are_those_of_flamegraph():
    profile = ask(STACKS, "flamegraph")
    assert one(STACKS, "SELECT count(*) FROM sample WHERE kind = 'cpu' AND tid") == profile["total_samples"]
    # What has no name is called by its address there.
    same(sql(STACKS, """SELECT s.name, s.module, count(*) FROM sample JOIN stack s USING (stack_id) WHERE depth = 0
                        AND kind = 'cpu' AND tid AND s.name IS NOT NULL GROUP BY s.name, s.module"""),
         [(f["function"], f["module"], f["self_samples"]) for f in profile["functions"]
          if f["self_samples"] and not f["function"].startswith("0x") and f["function"] != "unknown"])


@case
def sleeps_by_call_are_those_of_sleeps():
    same(sql(CALLS, """SELECT syscall, count(*), sum(dur) FROM sleep WHERE syscall IS NOT NULL GROUP BY syscall"""),
         [(s["syscall"], s["sleeps"], s["sleep_ns"]) for s in ask(CALLS, "sleeps")["reasons"] if s["syscall"]])


@case
def a_task_is_in_its_cgroup():
    same(sql(CGROUPS, """SELECT path, sum(dur) FROM sched_slice LEFT JOIN cgroup USING (cgroup_id)
                         WHERE cgroup_id IS NOT NULL GROUP BY path"""),
         [(p["cgroup"], p["total_runtime_ns"]) for p in ask(CGROUPS, "process_runtime", "--by", "cgroup")["processes"]
          if p["cgroup"] != "unknown"])


# How rows are found does not show: a plus sign keeps SQLite from using what the tables offer.

@case
def conditions_find_the_same_rows_with_and_without_an_index():
    tables = json.loads(run("query", "--tables", "--json").stdout)["tables"]
    for name, table in tables.items():
        columns = table["columns"]
        for column in ("id", "wait_id", "stack_id", "utid", "upid", "cgroup_id", "cpu", "ts"):
            if column not in columns:
                continue
            (value,) = sql(OWN, f"SELECT {column} FROM {name} WHERE {column} IS NOT NULL LIMIT 1 OFFSET 7") or [(3,)]
            conditions = [f"{column} {op} {constant}" for op in
                          (("=", "<", ">", "<=", ">=") if column == "ts" else ("=",)) for constant in
                          (value[0], float(value[0]), value[0] + 0.5, "NULL", -1, 2**63 - 1, 1e30, -1e30, 0)]
            got = sql(OWN, "SELECT " + ", ".join(f"""(SELECT count(*) FROM {name} WHERE {c}) =
                                                     (SELECT count(*) FROM {name} WHERE +{c})""" for c in conditions))
            wrong = [c for c, is_same in zip(conditions, got[0]) if not is_same]
            assert not wrong, f"{name}: {wrong}"


@case
def groups_and_orders_are_those_that_sorting_makes():
    queries = []
    for table, keys in (("sched_slice", ("comm", "cpu", "end_state", "priority", "utid")),
                        ("wait", ("waker", "cause", "waker_utid", "comm")), ("sleep", ("reason", "waker", "state")),
                        ("wakeup", ("target_cpu", "is_new", "waker")), ("span", ("kind", "name", "cpu")),
                        ("gap", ("reason", "cpu", "utid"))):
        for key in (keys[:1], keys[1:2], keys[:2], keys[:3]):
            plain, sorted_ = ", ".join(key), ", ".join(f"+{k}" for k in key)
            # Rows with their places in both orders, one after the other.
            for ours, theirs in (
                    (f"SELECT {plain}, count(*), sum(ts % 1000) FROM {table} GROUP BY {plain}",
                     f"SELECT {plain}, count(*), sum(ts % 1000) FROM {table} GROUP BY {sorted_} ORDER BY {sorted_}"),
                    (f"SELECT {plain}, ts FROM {table} WHERE cpu = 1 ORDER BY {plain}",
                     f"SELECT {plain}, ts FROM {table} WHERE cpu = 1 ORDER BY {sorted_}"),
                    (f"SELECT DISTINCT {plain} FROM {table} ORDER BY {plain}",
                     f"SELECT {plain} FROM {table} GROUP BY {sorted_} ORDER BY {sorted_}")):
                queries.append((ours, theirs))
    for ours, theirs in queries:
        assert sql(OWN, ours) == sql(OWN, theirs), ours


# The command line

@case
def tables_are_listed():
    text = run("query", "--tables").stdout.decode()
    for word in ("thread: ", "wait_part: ", "\n  utid ", "percentile(x, p)"):
        assert word in text, word
    tables = json.loads(run("query", "--tables", "--json").stdout)["tables"]
    for name, table in tables.items():
        got = run("query", PERF, "--format", "csv", "--sql", f"SELECT * FROM {name} LIMIT 1")
        assert got.stdout.decode().splitlines()[0] == ",".join(table["columns"]), name


@case
def every_shape_has_the_same_rows():
    query = "SELECT tid, comm, sum(dur) AS ns FROM wait GROUP BY utid ORDER BY ns DESC, tid LIMIT 7"
    rows = [tuple(map(str, row)) for row in sql(OWN, query)]
    text = run("query", OWN, "--format", "csv", "--sql", query).stdout.decode()
    assert [tuple(r) for r in csv.reader(io.StringIO(text))] == [("tid", "comm", "ns"), *rows]
    lines = run("query", OWN, "--format", "jsonl", "--sql", query).stdout.decode().splitlines()
    assert [tuple(map(str, json.loads(line).values())) for line in lines] == rows
    table = run("query", OWN, "--sql", query).stdout.decode().splitlines()
    assert [tuple(line.split()) for line in table] == [("tid", "comm", "ns"), *rows]


@case
def a_query_may_come_from_standard_input():
    assert json.loads(run("query", OWN, "--json", "--sql", "-", input=b"SELECT 1 AS x -- a comment\n;\n").stdout)["rows"] == [
        {"x": 1}]
    assert "both be standard input" in refused("query", "-", "--sql", "-", code=2)


@case
def rows_beyond_the_limit_are_said():
    got = json.loads(run("query", OWN, "--json", "--limit", 5, "--sql", "SELECT ts FROM wakeup").stdout)
    assert got["row_count"] == 5 and got["truncated"] and got["truncated_by"] == "rows" and len(got["rows"]) == 5
    got = json.loads(run("query", OWN, "--json", "--limit", 5, "--sql", "SELECT ts FROM wakeup LIMIT 5").stdout)
    assert got["row_count"] == 5 and "truncated" not in got
    assert run("query", OWN, "--sql", "SELECT ts FROM wakeup").stdout.decode().endswith(
        "the first 100 rows: --all shows the rest, LIMIT or WHERE fewer\n")
    assert run("query", OWN, "--sql", "SELECT ts FROM wakeup WHERE 0").stdout == b"no rows\n"


@case
def what_is_wrong_is_said_in_a_sentence():
    assert "no file is named" in refused("query", "--sql", "SELECT 1", code=2)
    assert "--sql does not go with --where" in refused("query", PERF, "--sql", "SELECT 1", "-w", "x=1", code=2)
    assert "--sql does not go with a filter" in refused("query", PERF, "--sql", "SELECT 1", "--pid", "1", code=2)
    assert "no such column: duration; wait has id, ts, dur, " in refused("query", PERF, "--sql", "SELECT duration FROM wait")
    assert "no such table: slices; tables are trace, thread, " in refused("query", PERF, "--sql", "SELECT * FROM slices")
    assert 'near "FORM": syntax error' in refused("query", PERF, "--sql", "SELECT * FORM wait")
    assert "the query is empty" in refused("query", PERF, "--sql", " -- nothing")
    assert "longer than 20000 bytes" in refused("query", PERF, "--sql", "SELECT 1" + " " * 20000)


@case
def unknown_is_null():
    # perf's recordings of the scheduler say nothing of cgroups, system calls and policies.
    assert one(PERF, "SELECT count(cgroup_id), count(policy), count(*) > 0 FROM sched_slice") == (0, 0, 1)
    assert one(PERF, "SELECT count(syscall), count(arg), count(device) FROM sleep") == (0, 0, 0)
    assert one(PERF, "SELECT count(*) FROM thread WHERE start_ts = 0 OR end_ts = 0 OR pid = 0") == 0


def main():
    failed = 0
    words = sys.argv[1:]
    cases = [c for c in CASES if not words or any(w in c.__name__ for w in words)]
    print(f"1..{len(cases)}")
    for number, function in enumerate(cases, 1):
        try:
            function()
            print(f"ok {number} - {function.__name__}")
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"not ok {number} - {function.__name__}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
        sys.stdout.flush()
    return failed > 0


sys.exit(main())
