#!/usr/bin/env python3
"""analyze, query, explain and diff as people meet them: odd files, odd questions, the same answer in every dialect.

Traces come from the encoders of tests/trace, which share no code with the loader. Prints TAP.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("", "trace")]
import scenarios  # noqa: E402
from decode import fields  # noqa: E402
from dialects import DIALECTS  # noqa: E402
from tap import run_cases  # noqa: E402
from wire import msg, num, text  # noqa: E402

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
COMMANDS = ("analyze", "query", "explain")
CASES = []
FOLDER = tempfile.TemporaryDirectory()
DIR = pathlib.Path(FOLDER.name)


def case(function):
    CASES.append(function)
    return function


def run(*args, **kwargs):
    result = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, timeout=60, **kwargs)
    assert result.returncode in (0, 1, 2), f"{args}: exit {result.returncode}: {result.stderr}"
    assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, result.stderr.decode()
    return result


def succeed(*args, **kwargs):
    result = run(*args, **kwargs)
    assert result.returncode == 0 and not result.stderr, f"{args}: exit {result.returncode}: {result.stderr}"
    return result.stdout.decode()


def ask(file, name, *args):
    return json.loads(succeed("analyze", file, name, "--json", "--limit", 100000, *args))


def refused(*args, code=(1,), **kwargs):
    """One sentence on stderr, nothing on stdout; returns the sentence."""
    result = run(*args, **kwargs)
    assert result.returncode in code and not result.stdout, f"{args}: exit {result.returncode}: {result.stdout}"
    lines = result.stderr.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("schedscope: "), lines
    return lines[0]


def trace(scenario, dialect="traced_verbose"):
    path = DIR / f"{scenario.name}-{dialect}.pftrace"
    if not path.exists():
        path.write_bytes(DIALECTS[dialect].encode(scenario))
    return path


def busy():
    """Enough events for percentiles, in all parts of the time."""
    scenario = scenarios.storm(seed=5, nr=3000)
    scenario.name = "busy"
    return scenario


# Single findings.

def packet(*parts):
    return msg(1, *parts)


def ftrace(cpu, *events):
    return packet(num(10, 1), msg(1, num(1, cpu), *events))


def event(ts, pid, member, *parts):
    return msg(2, num(1, ts), num(2, pid), msg(member, *parts))


def switch(ts, prev, prev_comm, next_tid, next_comm):
    return event(ts, prev, 4, text(1, prev_comm), num(2, prev), num(3, 120), num(4, 1 if prev else 0),
                 text(5, next_comm), num(6, next_tid), num(7, 120))


@case
def the_last_run_of_a_task_that_is_freed_first_is_its_own():
    """As kernels without ftrace report it: destroyed while it runs."""
    path = DIR / "freed"
    path.write_bytes(b"".join(packet(num(8, ts), msg(117, num(1, 0), text(2, "short"), num(3, 77), num(4, state)))
                              for ts, state in ((10**9, 1), (10**9 + 5, 2), (10**9 + 10, 3), (2 * 10**9 + 10, 8))))
    rows = ask(path, "process_runtime")["processes"]
    assert [(row["comm"], row["total_runtime_ns"]) for row in rows] == [("short", 10**9)], rows
    for ts in (15 * 10**8, 2 * 10**9):  # before its last switch, and at the same time
        path.write_bytes(ftrace(0, switch(10**9, 0, "swapper/0", 77, "short"),
                                event(ts, 0, 240, text(1, "short"), num(2, 77), num(3, 120)),
                                switch(2 * 10**9, 77, "short", 0, "swapper/0")))
        rows = ask(path, "process_runtime")["processes"]
        assert [(row["pid"], row["comm"], row["total_runtime_ns"]) for row in rows] == [(77, "short", 10**9)], rows


@case
def probes_are_shown_by_name():
    path = DIR / "probes"
    path.write_bytes(ftrace(0, *(event(100 + i, 5, 542, text(1, name), num(2, 3))
                                 for i, name in enumerate(("do_exit", "do_fork", "do_exit")))))
    rows = json.loads(succeed("query", path, "-e", "probe", "--json"))["events"]
    assert [row["fields"]["probe"] for row in rows] == ["do_exit", "do_fork", "do_exit"], rows
    assert json.loads(succeed("query", path, "-w", "probe=do_fork", "--json"))["total_matched"] == 1
    groups = json.loads(succeed("query", path, "-e", "probe", "--group-by", "probe", "--json"))["aggregation"]["groups"]
    assert sorted((g["value"] if "value" in g else g["key"], g["count"]) for g in groups) == [("do_exit", 2), ("do_fork", 1)]


@case
def functions_are_shown_by_name():
    path = DIR / "callers"
    interned = msg(12, msg(26, num(1, 9), text(2, "folio_wait_bit")))
    path.write_bytes(packet(num(10, 1), num(13, 1), interned)
                     + packet(num(10, 1), num(13, 2), msg(1, num(1, 0), event(100, 0, 18, num(1, 5), num(2, 9), num(3, 1)),
                                                          event(200, 0, 18, num(1, 6), num(2, 0xffff1234), num(3, 0)))))
    rows = json.loads(succeed("query", path, "-e", "sched_blocked_reason", "--json"))["events"]
    assert rows[0]["fields"]["caller"] == "folio_wait_bit", rows
    assert "ffff1234" in str(rows[1]["fields"]["caller"]) or rows[1]["fields"]["caller"] == 0xffff1234, rows
    assert "folio_wait_bit" in succeed("query", path, "-e", "sched_blocked_reason")


# Files that are none.

@case
def what_is_no_trace_is_refused_in_a_sentence():
    whole = trace(scenarios.three()).read_bytes()
    files = {"empty": (b"", "empty"), "text": (b"hello, this is text\n", "not a trace"),
             "zeros": (bytes(5000), "not a trace"), "cut": (whole[:3], "ends within its first packet"),
             "claim": (b"\x0a\xff\xff\xff\xff\x07" + bytes(10), "ends within its first packet"),
             "perf": (b"PERFILE2" + bytes(100), "perf record"), "json": (b'{"traceEvents":[]}', "JSON")}
    for name, (data, words) in files.items():
        path = DIR / name
        path.write_bytes(data)
        for command in COMMANDS:
            assert words in refused(command, path), (command, name)
        assert words in refused("diff", path, path)
    assert "folder" in refused("analyze", DIR)
    assert "cannot open" in refused("query", DIR / "nowhere")


@case
def what_never_ends_is_refused_at_once():
    for command in COMMANDS:
        assert "not a trace" in refused(command, "/dev/zero")
    with open("/dev/zero", "rb") as zeros:
        assert "not a trace" in refused("analyze", "-", stdin=zeros)


@case
def a_pipe_is_a_file_like_any_other():
    path = trace(busy())
    pipe = DIR / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        there = json.loads(succeed("analyze", "-", "wakeup_latency", "--json", stdin=cat.stdout))
    with subprocess.Popen(f"cat {path} >{pipe}", shell=True):
        named = json.loads(succeed("analyze", pipe, "wakeup_latency", "--json"))
    assert there == named == json.loads(succeed("analyze", path, "wakeup_latency", "--json"))


@case
def a_cut_file_answers_up_to_there():
    whole = trace(busy()).read_bytes()
    path = DIR / "half.pftrace"
    path.write_bytes(whole[:len(whole) // 2])
    result = ask(path, "summary")
    assert any("truncated" in row["what"] for row in result["damage"]), result["damage"]
    for command in COMMANDS:
        assert succeed(command, path)
    succeed("analyze", path, "--all", "--json")
    succeed("diff", path, path)


@case
def a_file_of_random_damage_never_breaks_anything():
    import random
    whole = trace(scenarios.storm(seed=3)).read_bytes()
    for seed in range(12):
        rng = random.Random(seed)
        data = bytearray(whole)
        for _ in range(40):
            data[rng.randrange(20, len(data))] = rng.randrange(256)
        path = DIR / "damaged"
        path.write_bytes(data)
        for args in (("analyze", path, "--all", "--json"), ("query", path, "--all", "--json"),
                     ("explain", path, "--json", "--limit", 1000), ("diff", path, path, "--all", "--json")):
            result = run(*args)
            if result.returncode == 0:
                json.loads(result.stdout)


# Little to report.

@case
def little_in_a_trace_is_little_to_report():
    for scenario in (scenarios.one_event(), scenarios.switch_only(), scenarios.waking_only(), scenarios.nothing()):
        path = trace(scenario)
        for command in COMMANDS:
            assert run(command, path).returncode in (0, 1)
        json.loads(succeed("analyze", path, "--all", "--json"))
        json.loads(succeed("analyze", path, "--json"))
        assert succeed("analyze", path, "--list")
    assert "sched_switch" in refused("analyze", trace(scenarios.waking_only()), "cpu_utilization")
    assert json.loads(succeed("query", trace(scenarios.nothing()), "--json"))["total_matched"] == 0


@case
def one_switch_is_one_switch():
    path = trace(scenarios.one_event())
    assert ask(path, "cpu_utilization")["span_ns"] == 0
    rows = json.loads(succeed("query", path, "--json"))["events"]
    assert len(rows) == 1 and rows[0]["event_type"] == "sched_switch", rows


# Questions that nothing answers.

@case
def what_the_trace_does_not_have_is_said_and_is_a_failure():
    path = trace(busy())
    for args, why in ((("--cpu", 9999), "has no CPU 9999"), (("--comm", "nobody*"), "is named 'nobody*'"),
                      (("--comm", "/^nob[o]dy/"), "is named '/^nob[o]dy/'"), (("--tid", 4294967294), "has no thread 4294967294"),
                      (("--pid", 4294967294), "has no process 4294967294")):
        for command in (("query", path), ("query", path, "--json"), ("analyze", path), ("analyze", path, "process_runtime", "--json"),
                        ("analyze", path, "--all"), ("explain", path), ("explain", path, "--json"), ("export", path),
                        ("report", path, "-o", f"{path}.html")):
            assert why in refused(*command, *args, code=(1,)), (command, args)
        json.loads(succeed("diff", path, path, "--json", *args))  # it may be in one of them alone
    assert "is not within the trace" in refused("explain", path, "--at", "100s", code=(1,))
    assert "is not after the start" in refused("query", path, "--to", "@1", code=(2,))


@case
def an_expression_between_slashes_chooses_names():
    path = trace(busy())
    names = {row[0] if isinstance(row, list) else row["name"] for row in
             json.loads(succeed("query", path, "--sql", "SELECT DISTINCT name FROM thread WHERE tid > 0 AND name > ''", "--json"))["rows"]}
    name = max(filter(str.isalnum, names), key=len)
    for pattern in (name, name[:-1] + "?", name[:2] + "*", f"/^{name[:-1]}.$/"):
        assert json.loads(succeed("query", path, "--json", "-c", pattern))["total_matched"], pattern
        json.loads(succeed("analyze", path, "process_runtime", "--json", "-c", pattern))
    assert "is wrong after" in refused("analyze", path, "-c", "/(/", code=(2,))


@case
def a_time_after_the_end_is_refused():
    """Also one that is beyond the end of all times."""
    path = trace(busy())
    for when in ("100s", "18446744073s"):
        assert "after the end" in refused("query", path, "--from", when, code=(2,))


@case
def wrong_questions_are_refused():
    path = trace(busy())
    assert "--to is not after --from" in refused("analyze", path, "--from", "2us", "--to", "1us", code=(2,))
    assert "is not a time" in refused("query", path, "--from", "noon", code=(2,))
    assert "is not an analysis" in refused("analyze", path, "nonsense", code=(2,))
    assert "is not an event" in refused("query", path, "-e", "nonsense", code=(2,))
    refused("query", path, "-w", "prio<", code=(2,))
    refused("query", path, "--select", "no_such_field", code=(2,))
    refused("analyze", path, "--limit", 0, code=(2,))
    refused("analyze", path, "--limit", 1 << 32, code=(2,))
    refused("query", path, "--tid", (1 << 32) - 1, code=(2,))
    assert "no file is named" in refused("analyze", code=(2,))
    assert "two files" in refused("diff", path, code=(2,))


@case
def a_huge_limit_is_no_limit():
    path = trace(busy())
    for args in (("analyze", path, "--all"), ("query", path), ("explain", path), ("diff", path, path)):
        json.loads(succeed(*args, "--json", "--limit", (1 << 32) - 1))
    assert json.loads(succeed("query", path, "--json", "--offset", (1 << 64) - 1))["events"] == []


@case
def a_reader_that_leaves_is_no_error():
    path = trace(busy())
    for args in (("analyze", path, "--all"), ("query", path, "--all"), ("explain", path, "-n", "1000")):
        with subprocess.Popen([SCHEDSCOPE, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stdout.readline()
            child.stdout.close()
            talk = child.stderr.read()
        assert child.returncode in (0, -13, 141), (args, child.returncode, talk)
        assert b"Sanitizer" not in talk, talk


@case
def names_cannot_drive_the_terminal():
    bad = "\x1b]0;x\x07\x1b[1m\n\r\u202e"
    s = scenarios.Scenario("control", {0: 11}, [scenarios.Task(11, 11, bad), scenarios.Task(12, 12, b"\x1b[2J\x9b1m")])
    for at in range(1000, 60_000, 1000):
        s.wake(at, 0, 12 if s.current[0] == 11 else 11)
        s.switch(at + 300, 0, 12 if s.current[0] == 11 else 11)
    path = trace(s)
    shown = [("analyze", path), ("analyze", path, "--all"), ("query", path), ("query", path, "--format", "csv"),
             ("explain", path, "--chain"), ("diff", path, path, "--all"), ("explain", path, "--svg", DIR / "x.svg")]
    for args in shown:
        text = run(*args).stdout.replace(b"\r\n", b"\n")  # CSV ends lines so
        assert not any(byte < 32 and byte != 10 or byte == 127 for byte in text), (args, text[:600])
        assert b"\x9b" not in text.replace("\u009b".encode(), b""), args
    assert not any(byte < 32 and byte != 10 for byte in (DIR / "x.svg").read_bytes())
    rows = json.loads(succeed("query", path, "-e", "sched_waking", "--json", "--all"))["events"]
    assert {row["fields"]["comm"] for row in rows if row["pid"] == 11} == {bad}, rows[:2]


# The same answer for every recorder.

def known_runtime(scenario):
    """tid -> (time of the slices with both ends in the trace, the same with the one that is open at its end)."""
    out = {}
    for start, end, _, tid, _ in scenario.slices():
        if start is not None and tid:
            closed, all_of_it = out.get(tid, (0, 0))
            out[tid] = (closed + (end - start if end else 0), all_of_it + (end or scenario.end) - start)
    return out


def known_waits(scenario):
    """The length of each wait of a task that slept, was woken and came on.

    The first waking counts; of a task of which nothing was seen before, the last one: it may have run."""
    unknown, asleep, woken, out = set(scenario.tasks) - set(scenario.first.values()), set(), {}, []
    for event in scenario.events:
        if event["kind"] == "wake" and event["wakee"] in asleep | unknown:
            asleep.discard(event["wakee"])
            woken[event["wakee"]] = event["ts"]
        elif event["kind"] == "switch":
            unknown.discard(event["to"])
            if event["to"] in woken:
                out.append(event["ts"] - woken.pop(event["to"]))
            if not event["state"].startswith("R"):
                asleep.add(event["prev"])
    return sorted(out)


def dialects_of(*without):
    return [name for name in DIALECTS if name not in without]


@case
def runtime_is_the_same_in_every_dialect():
    for seed in (1, 5):
        scenario = scenarios.storm(seed=seed)
        known = known_runtime(scenario)
        for dialect in dialects_of():
            result = ask(trace(scenario, dialect), "process_runtime")
            reported = {row["pid"]: row["total_runtime_ns"] for row in result["processes"]}
            for tid, (least, most) in known.items():
                assert least <= reported.get(tid, 0) <= most, (dialect, tid, reported.get(tid), least, most)
            assert all(row["cpu_time_percent"] <= 100 for row in result["processes"]), dialect


@case
def cpus_with_gaps_and_large_tids_are_all_there():
    scenario = scenarios.storm(seed=5)
    large = {tid for tid in scenario.tasks if tid > 1 << 22}
    for dialect in dialects_of():
        path = trace(scenario, dialect)
        cpus = ask(path, "cpu_utilization")
        rows = {row["cpu_id"]: row for row in cpus["top_utilized_cpus"]}
        assert sorted(rows) == [0, 3, 17], (dialect, sorted(rows))
        for row in rows.values():
            assert row["active_time_ns"] + row["idle_time_ns"] + row["unknown_time_ns"] == cpus["span_ns"], row
        runtime = ask(path, "process_runtime")
        assert large <= {row["pid"] for row in runtime["processes"]}, dialect
        assert (sum(row["total_runtime_ns"] for row in runtime["processes"]) + runtime["unattributed_runtime_ns"]
                == sum(row["active_time_ns"] for row in rows.values())), dialect
        tid = max(large)
        assert json.loads(succeed("query", path, "--tid", tid, "--json"))["total_matched"] > 0, dialect


@case
def processes_keep_their_names():
    """W28: what a tree of processes says does not wipe out the descriptors."""
    scenario = scenarios.three()
    for dialect in ("own", "traced_verbose", "scxtop", "wprof"):
        rows = ask(trace(scenario, dialect), "process_runtime", "--per-process")["processes"]
        names = {row["pid"]: row["comm"] for row in rows}
        assert names[203] == "gamma" and names[17] == "kworker/0:1", (dialect, names)
        assert names[100] in ("proc100", "alpha", "beta", "beta2"), (dialect, names)
        threads = ask(trace(scenario, dialect), "process_runtime")["processes"]
        assert {row["pid"]: row["comm"] for row in threads}[101] == "alpha", (dialect, threads)


def packets_of(data):
    """Each packet with its tag and length."""
    at = 0
    while at < len(data):
        length, shift, body = 0, 0, at + 1
        assert data[at] == 0x0a
        while True:
            length |= (data[body] & 0x7f) << shift
            shift += 7
            body += 1
            if data[body - 1] < 0x80:
                break
        yield data[at:body + length], data[body:body + length]
        at = body + length


@case
def descriptors_may_come_last():
    """W56: those of tracks, and trees of processes, behind all that they describe."""
    scenario = scenarios.storm(seed=5)
    for dialect in ("wprof", "scxtop", "traced_verbose"):
        path = trace(scenario, dialect)
        packets = list(packets_of(path.read_bytes()))
        late = [whole for whole, body in packets if {60, 2} & {number for number, _ in fields(body)}]
        moved = DIR / f"late-{dialect}"
        moved.write_bytes(b"".join(whole for whole, _ in packets if whole not in late) + b"".join(late))
        assert late and moved.read_bytes() != path.read_bytes(), dialect
        for name in ("process_runtime", "wakeup_latency", "task_states"):
            assert ask(moved, name) == ask(path, name), (dialect, name)


@case
def wakeups_across_cpus_pair():
    """W36, W37: in the order of time, from wakings alone."""
    scenario = scenarios.storm(seed=5)
    known = known_waits(scenario)
    for dialect in ("own", "traced_verbose", "traced_compact", "systing"):
        result = ask(trace(scenario, dialect), "wakeup_latency")
        assert result["total_wakeups"] == len(known), (dialect, result["total_wakeups"], len(known))
        assert result["global_stats"]["max_latency_ns"] == known[-1], dialect
        assert result["global_stats"]["avg_latency_ns"] == sum(known) // len(known), dialect
        assert result["global_stats"]["p50_latency_ns"] == known[(len(known) + 1) // 2 - 1], dialect


@case
def preemptions_have_two_encodings():
    """W40: R and R+ are both a task that is still runnable."""
    scenario = scenarios.storm(seed=5)
    known = sum(1 for _, _, prev, to, state in scenario.switches() if prev and to and state.startswith("R"))
    for dialect in ("own", "traced_verbose", "traced_compact", "systing", "scxtop"):
        result = ask(trace(scenario, dialect), "preemptions")
        # The task that runs when a compact trace begins is unknown.
        unknown = 0 if DIALECTS[dialect].has_first_prev else len(scenario.cpus)
        assert known - unknown <= result["total_preemptions"] <= known, (dialect, result["total_preemptions"], known)


@case
def what_lacks_is_said_not_answered_empty():
    """W35, W49: what does not apply is named with its reason; what applies is in the batch."""
    path = trace(busy(), "wprof")
    listed = json.loads(succeed("analyze", path, "--list", "--json"))["analyses"]
    batch = json.loads(succeed("analyze", path, "--all", "--json"))
    for entry in listed:
        assert entry["applies"] or entry["missing"], entry
        if not entry["applies"]:
            assert entry["id"] not in batch
            refused("analyze", path, entry["id"])
    assert {"cpu_utilization", "process_runtime", "wakeup_latency", "task_states", "preemptions", "wakeup_chains",
            "latency_breakdown"} <= set(batch)


# Shapes.

@case
def rows_come_as_table_json_lines_and_csv():
    path = trace(busy())
    args = ("query", path, "-e", "sched_switch", "--all")
    rows = json.loads(succeed(*args, "--json"))["events"]
    known = busy().switches()
    assert ([(row["cpu"], row["fields"]["prev_pid"], row["fields"]["next_pid"]) for row in rows]
            == [(cpu, prev, to) for _, cpu, prev, to, _ in known])
    lines = [json.loads(line) for line in succeed(*args, "--format", "jsonl").splitlines()]
    assert lines == rows
    table = list(csv.DictReader(succeed(*args, "--format", "csv").splitlines()))
    assert [int(row["next_pid"]) for row in table] == [to for _, _, _, to, _ in known]
    lines = succeed(*args).splitlines()
    assert lines[0] == f"{len(known)} events: sched_switch" and lines[2].split()[:3] == ["timestamp", "cpu", "prev_pid"], lines[:3]
    start = rows[0]["timestamp"]
    assert [(line.split()[0], int(line.split()[1]), int(line.split()[2])) for line in lines[3:]] == [
        (f"{(row['timestamp'] - start) / 1e9:.9f}s", row["cpu"], row["fields"]["prev_pid"]) for row in rows], lines[:5]


@case
def events_of_many_types_show_their_fields():
    text = succeed("query", trace(scenarios.three()), "-n", 4)
    assert "sched_waking pid=102 comm=beta prio=120 target_cpu=0 waker_pid=101 waker_comm=alpha\n" in text, text
    assert "prev_comm=swapper" in text and "next_pid=102" in text, text
    assert text.startswith("26 events, of which these are the first 4 (--all shows all)\n\n     timestamp cpu event and its fields\n"), text


@case
def groups_and_sums_are_of_all_that_match():
    """W33, W34: whatever --limit shows."""
    path = trace(busy())
    known = busy().switches()
    result = json.loads(succeed("query", path, "-e", "sched_switch", "--group-by", "cpu", "--json", "-n", 1))
    groups = result["aggregation"]["groups"]
    assert result["total_matched"] == len(known)
    assert len(groups) == 1 and groups[0]["count"] == max(sum(1 for row in known if row[1] == cpu) for cpu in (0, 3, 17))
    result = json.loads(succeed("query", path, "-e", "sched_switch", "--cpu", 3, "-w", "next_pid=0", "--json", "-n", 1))
    assert result["total_matched"] == sum(1 for _, cpu, _, to, _ in known if cpu == 3 and to == 0)
    assert len(result["events"]) == 1


@case
def a_trace_does_not_differ_from_itself():
    path = trace(busy())
    result = json.loads(succeed("diff", path, path, "--json"))
    assert result["changes"] == [] if "changes" in result else "better" not in json.dumps(result), result


sys.exit(run_cases(CASES))
