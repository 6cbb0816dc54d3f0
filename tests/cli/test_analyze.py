#!/usr/bin/env python3
"""The commands on recordings as people meet them, on a trace whose every number is known by heart. Prints TAP."""
import csv
import fcntl
import gzip
import io
import json
import os
import pathlib
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import xml.etree.ElementTree

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
SOURCE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests" / "trace"), str(SOURCE / "tests")]
from encode import BOOT, own  # noqa: E402
from wire import msg, num, packet, text as words  # noqa: E402
from scenarios import Scenario, Task  # noqa: E402
from tap import run_cases  # noqa: E402

MS = 1_000_000
SINGLE = {"cpu_timeline": ["--cpu", "0"], "process_timeline": ["--pid", "100"]}  # want one to be named
CASES = []
FOLDER = tempfile.TemporaryDirectory()
DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests" / "data"
FILE = os.path.join(FOLDER.name, "late.pftrace")


def story(end=None):
    """20 ms: hog keeps CPU 0 while web, woken by db on CPU 1, waits 10 ms for it; CPU 1 sits idle."""
    s = Scenario("late", {0: 0, 1: 0}, [Task(100, 100, "hog"), Task(200, 200, "web"), Task(300, 300, "db")])
    s.last_cpu[200] = 0
    s.switch(0, 0, 100)
    s.switch(1 * MS, 1, 300)
    s.wake(2 * MS, 1, 200)
    s.switch(4 * MS, 1, 0, "S")
    s.switch(12 * MS, 0, 200, "R+")
    s.switch(15 * MS, 0, 100, "S")
    s.switch(20 * MS, 0, 0, "S")
    return own(s, end)


def case(function):
    CASES.append(function)
    return function


def run(*args, **kwargs):
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    return subprocess.run([SCHEDSCOPE, *args], capture_output=True, timeout=60, env=env, **kwargs)


def succeed(*args, **kwargs):
    result = run(*args, **kwargs)
    assert result.returncode == 0, f"{args}: exit {result.returncode}: {result.stderr}"
    assert result.stderr == b"", result.stderr
    return result.stdout.decode()


def as_json(*args, **kwargs):
    return json.loads(succeed(*args, **kwargs))


def expect_refused(args, line, code, **kwargs):
    result = run(*args, **kwargs)
    assert result.stdout == b"", result.stdout
    assert result.stderr.decode() == f"schedscope: {line}\n", f"{args}: {result.stderr!r}"
    assert result.returncode == code, f"{args}: exit {result.returncode}"


def file(name, data):
    path = os.path.join(FOLDER.name, name)
    pathlib.Path(path).write_bytes(data)
    return path


def on_terminal(rows, columns, *args, colors=False):
    """What a terminal of that size shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", "NO_COLOR": "" if colors else "1"}
    with subprocess.Popen([SCHEDSCOPE, *args], stdout=slave, stderr=slave, env=env) as child:
        os.close(slave)
        data = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            data += more
        assert child.wait() == 0
    os.close(master)
    return data.decode().replace("\r\n", "\n").splitlines()


def applicable():
    """What applies to the trace without more being asked for."""
    return [name for name in as_json("analyze", FILE, "--json")["applicable_analyses"] if name not in SINGLE]


READ = "Perfetto traces, perf.data, trace.dat and their text are read"

@case
def the_summary_is_one_screen():
    text = succeed("analyze", FILE)
    lines = text.splitlines()
    assert lines[:4] == [
        "web (200) waited 10.0ms for a CPU, 80 % of it while CPU 1 was idle, and it may use it: 10.0ms behind hog",
        "hog (100) waited 3.00ms for a CPU, 100 % of it while CPU 1 was idle, and it may use it: 3.00ms behind web",
        "try:  the scheduler left it waiting beside an idle CPU: look at wasted_cores",
        f"next: schedscope explain {FILE} --tid 200 --at 0.002s"], lines
    why = succeed(*lines[3].split()[2:])
    assert "It waited all of it behind hog (100) on CPU 0." in why, why
    lines = lines[4:]
    assert lines[0] == f"{FILE}: 20.0ms of 2 CPUs, by schedscope, 2026-09-21 14:13:20 UTC", lines[0]
    assert lines[1] == "Linux 6.12.0 aarch64, 7 events of 3 threads (3 processes)", lines[1]
    assert lines[2] == "0.0 MB; no lost events reported", lines[2]
    assert "   0 ███████████████████████████ 100.0%   hog                 100  17.0ms  85.0%" in lines, text
    assert "   1 ████······················?  15.0%   db                  300  3.00ms  15.0%" in lines, text
    assert "web                 200  10.0ms  at 0.002s, CPU 0, woken by db" in lines, text
    assert "hog                 100  3.00ms  at 0.012000s, CPU 0, preempted by web" in lines, text
    assert any(line.startswith("blame ") for line in lines), text


@case
def a_small_terminal_gets_a_screen_that_fits():
    for rows, columns in ((24, 80), (50, 200), (24, 50), (12, 40)):
        lines = on_terminal(rows, columns, "analyze", FILE)
        assert max(len(line) for line in lines) <= columns, (columns, lines)
        assert rows == 12 or len(lines) < rows, (rows, len(lines))
        assert any("web" in line and "10.0ms" in line for line in lines), lines


@case
def the_total_is_the_sum_of_its_parts():
    """Of recordings by others, which hold events that are not read, and tracks that become events."""
    files = sorted([*DATA.glob("perfetto/*.pftrace.gz"), *DATA.glob("wprof/*.pb.gz")])
    assert len(files) > 8, files
    for file in files:
        j = as_json("analyze", file, "--json")
        counts = j["capabilities"]["event_counts"]
        assert sum(counts.values()) == j["total_events"] == j["capabilities"]["total_events"], (file, counts)
        assert as_json("query", file, "--agg", "count", "--json")["total_matched"] == j["total_events"], file
        assert sorted(counts) == sorted(j["capabilities"]["available_events"]), file


@case
def an_analysis_that_does_not_apply_leaves_no_half_object():
    for wanted in (["summary", "dsq_summary"], ["dsq_summary", "summary"], ["wakeup_latency", "block_io", "summary"]):
        result = run("analyze", FILE, *wanted, "--json")
        assert result.returncode == 1 and result.stdout == b"", (wanted, result)
        assert result.stderr.startswith(b"schedscope: ") and result.stderr.count(b"\n") == 1, result.stderr


@case
def the_summary_for_programs():
    j = as_json("analyze", FILE, "--json")
    assert (j["trace_duration_ms"], j["num_cpus"], j["num_processes"], j["total_events"]) == (20.0, 2, 3, 7), j
    assert j["is_scx_trace"] is False and j["trace_source"] == "schedscope" and j["lost_events"] == 0
    caps = j["capabilities"]
    assert caps["event_counts"] == {"sched_switch": 6, "sched_waking": 1}, caps
    assert sorted(caps["available_events"]) == ["sched_switch", "sched_waking"]
    assert caps["time_range"] == [BOOT, BOOT + 20 * MS] and caps["clock_sources"] == ["boottime"]
    assert caps["has_process_tree"] and caps["has_system_info"] and not caps["has_sched_ext"]
    cpus = [(c["cpu_id"], c["busy_percent"], c["idle_percent"], c["unknown_percent"]) for c in j["cpus"]]
    assert cpus == [(0, 100.0, 0.0, 0.0), (1, 15.0, 80.0, 5.0)], cpus
    assert [(t["comm"], t["runtime_ns"]) for t in j["busiest_tasks"]] == [
        ("hog", 17 * MS), ("db", 3 * MS), ("web", 3 * MS)], j["busiest_tasks"]
    waits = [(w["comm"], w["wait_ns"], w["cause"], w["by"], w["after_start_ns"]) for w in j["longest_waits"]]
    assert waits == [("web", 10 * MS, "woken", "db", 2 * MS), ("hog", 3 * MS, "preempted", "web", 12 * MS)], waits
    assert j["applicable_analyzers"] == len(j["applicable_analyses"])
    assert sum(map(len, j["analyzers_by_category"].values())) == j["applicable_analyzers"]
    missing = {m["id"]: m["missing"] for m in j["inapplicable_analyses"]}
    assert not missing.keys() & set(j["applicable_analyses"])
    assert all(why.startswith("needs ") for why in missing.values()), missing


@case
def filters_hold_for_the_summary_too():
    j = as_json("analyze", FILE, "--json", "--from", "10ms", "--to", "16ms", "-c", "hog")
    assert [(t["comm"], t["runtime_ns"]) for t in j["busiest_tasks"]] == [("hog", 3 * MS)], j["busiest_tasks"]
    assert [(w["comm"], w["wait_ns"]) for w in j["longest_waits"]] == [("hog", 3 * MS)]
    cpus = [(c["cpu_id"], c["busy_percent"], c["idle_percent"]) for c in j["cpus"]]
    assert cpus == [(0, 100.0, 0.0), (1, 0.0, 100.0)], cpus


@case
def analyses_can_be_listed_chosen_and_all_be_run():
    ids = [a["id"] for a in as_json("analyze", "--list", "--json")["analyses"]]
    assert {"summary", "cpu_utilization", "wakeup_latency", "explain"} <= set(ids)
    for name in ids:
        assert f"\n  {name} " in "\n" + succeed("analyze", "--list"), name
    every = as_json("analyze", FILE, "--all", "--json")
    assert list(every) == applicable(), list(every)
    two = as_json("analyze", FILE, "wakeup_latency", "cpu_utilization", "--json")
    assert list(two) == ["wakeup_latency", "cpu_utilization"]
    assert two["wakeup_latency"]["histogram"] == [
        {"at_least_ns": 10 * MS, "below_ns": 20 * MS, "count": 1}], two["wakeup_latency"]
    listed = as_json("analyze", "--list", FILE, "--json")["analyses"]
    assert {a["id"] for a in listed if a["applies"]} == set(every) | SINGLE.keys()


@case
def every_analysis_has_a_text_that_fits_80_columns():
    for name in as_json("analyze", FILE, "--json")["applicable_analyses"]:
        lines = on_terminal(24, 80, "analyze", FILE, name, *SINGLE.get(name, []))
        assert lines, name
        long = [line for line in lines if len(line) > 80]
        assert not long, (name, long)


@case
def only_a_terminal_that_wants_colours_gets_them():
    for name in ("summary", "bottlenecks", "blame"):
        assert any("\033[1m" in line for line in on_terminal(40, 80, "analyze", FILE, name, colors=True)), name
        assert not any("\033" in line for line in on_terminal(40, 80, "analyze", FILE, name)), name
        assert "\033" not in succeed("analyze", FILE, name), name


@case
def events_can_be_asked_for():
    j = as_json("query", FILE, "--json", "-e", "sched_switch", "--cpu", "0")
    assert [e["timestamp"] - BOOT for e in j["events"]] == [0, 12 * MS, 15 * MS, 20 * MS], j
    rows = list(csv.DictReader(io.StringIO(succeed("query", FILE, "-a", "--format", "csv"))))
    assert len(rows) == 7 and rows[2]["event_type"] == "sched_waking" and rows[2]["pid"] == "200", rows
    lines = [json.loads(line) for line in succeed("query", FILE, "-a", "--format", "jsonl").splitlines()]
    assert len(lines) == 7 and lines[0]["timestamp"] == BOOT
    groups = as_json("query", FILE, "--json", "-e", "sched_switch", "--group-by", "next_comm")["aggregation"]["groups"]
    assert sum(group["count"] for group in groups) == 6, groups


@case
def filtered_time_is_unknown_never_idle():
    """Only hog was asked for: web's wait of 10 ms is known, what CPU 1 did from 4 ms on is not."""
    path = file("filtered.pftrace", story({"filter": "pid 100"}))
    summary = as_json("analyze", path, "--json")
    assert summary["recorded_tasks"] == "pid 100"
    cpus = [(row["cpu_id"], row["busy_percent"], row["idle_percent"], row["unknown_percent"]) for row in summary["cpus"]]
    assert cpus == [(0, 100.0, 0.0, 0.0), (1, 15.0, 0.0, 85.0)], cpus
    assert "filtered: pid 100; other CPU time is unknown" in succeed("analyze", path)
    for name in ("cpu_utilization", "wasted_cores", "runqueue_depth"):
        assert name not in summary["applicable_analyses"]
        expect_refused(["analyze", path, name], f"{name} needs all tasks (recorded: pid 100), which this trace does not have; "
                       "'analyze FILE' lists the analyses that apply", 1)
    wait = as_json("explain", path, "-n", "1", "--json")["waits"][0]
    assert (wait["comm"], wait["other_cpu_idle_ns"], wait["other_cpu_unknown_ns"]) == ("web", 0, 8 * MS), wait
    text = succeed("explain", path, "-n", "1")
    assert "Whether another CPU that it may use was idle is unknown: the recording covers only pid 100." in text, text
    assert "was idle for" not in text and "No other CPU" not in text, text


def two_events():
    """By wprof: a task of which three samples by the timer find spin, and ten by page faults do_page_fault."""
    def entry(field, iid, name):
        return msg(field, num(1, iid), words(2, name))

    def event(ts, kind, category, name, stack=None):
        return packet(num(8, ts), num(10, 7), msg(11, num(9, kind), num(11, 1), num(3, category), num(10, name),
                                                  msg(4, num(1, 1), num(4, 0)), num(56, stack)))

    names = [entry(1, i + 1, name) for i, name in enumerate(("ONCPU", "WAKER", "TIMER", "PMU"))]
    names += [entry(2, i + 1, name) for i, name in enumerate(("prog", "TIMER", "page-faults"))] + [entry(3, 1, "cpu")]
    out = [packet(num(10, 7), num(13, 1), msg(12, *names)),
           packet(num(10, 7), msg(60, num(1, 1), words(2, "prog"), msg(4, num(1, 10), num(2, 10), words(5, "prog"))))]
    out += [event(1000, 1, 1, 1)] + [event(2000 + i, 3, 3, 2, 1) for i in range(3)]
    out += [event(3000 + i, 3, 4, 3, 2) for i in range(10)] + [event(9000, 2, 1, 1)]
    stacks = [entry(5, 1, "spin"), entry(5, 2, "do_page_fault")]
    stacks += [msg(6, num(1, i), num(2, i)) for i in (1, 2)] + [msg(7, num(1, i), num(2, i)) for i in (1, 2)]
    return b"".join(out) + packet(num(8, 0), num(10, 7), msg(12, *stacks))


@case
def samples_of_different_events_are_not_mixed():
    path = file("events.pb", two_events())
    cpu = as_json("analyze", path, "flamegraph", "--json")
    assert (cpu["category"], cpu["event"], cpu["total_samples"]) == ("cpu", "cpu-clock", 3), cpu
    assert [row["function"] for row in cpu["functions"]] == ["spin"], cpu["functions"]
    assert cpu["other_categories"] == [{"category": "page-faults", "samples": 10}], cpu["other_categories"]
    faults = as_json("analyze", path, "flamegraph", "--category", "page-faults", "--json")
    assert (faults["event"], faults["total_samples"]) == ("page-faults", 10), faults
    assert [row["function"] for row in faults["functions"]] == ["do_page_fault"], faults["functions"]
    assert faults["other_categories"] == [{"category": "cpu", "samples": 3}]
    expect_refused(["analyze", path, "flamegraph", "--category", "gpu"],
                   "'gpu' is not a category of stacks; write cpu, off-cpu, waker, wall, page-faults", 1)


@case
def a_file_without_its_end_says_so():
    """The recorder was killed: CPU 1 is known up to its last event at 4 ms, and not idle to the end."""
    path = file("killed.pftrace", story(False))
    summary = as_json("analyze", path, "--json")
    assert summary["incomplete"].startswith("the recorder did not finish the file"), summary["incomplete"]
    assert summary["cpus_that_end_early"] == [{"cpu_id": 1, "end_timestamp": BOOT + 4 * MS, "missing_ns": 16 * MS}]
    cpus = {row["cpu_id"]: row for row in summary["cpus"]}
    assert cpus[1]["idle_percent"] == 0.0 and cpus[1]["unknown_percent"] == 85.0, cpus[1]
    text = succeed("analyze", path)
    assert "incomplete: the recorder did not finish" in text and "no lost events reported" not in text, text
    assert "1 CPU ends up to 16.0ms early" in text, text
    *_, why, blank, last = succeed("explain", path).splitlines()
    assert why.startswith("incomplete: the recorder did not finish") and not blank and last.startswith("next: schedscope analyze "), (why, last)
    assert as_json("explain", path, "--json")["incomplete"] == summary["incomplete"]
    whole = as_json("analyze", FILE, "--json")
    assert whole["incomplete"] is None and whole["cpus_that_end_early"] == []


@case
def losses_are_counted_by_the_file():
    """What the recorder counted is said by kind; a CPU that lost its last events is unknown from there on."""
    end = {"lost": 1_040_582, "lost.switch": 1_000_000, "lost.waking": 40_582, "end_ns": BOOT + 20 * MS,
           "end_ns.cpu1": BOOT + 4 * MS}
    path = file("lossy.pftrace", story(end))
    summary = as_json("analyze", path, "--json")
    assert (summary["lost_events"], summary["lost_by_kind"]) == (1_040_582, {"switch": 1_000_000, "waking": 40_582})
    assert summary["incomplete"] is None and summary["cpus_that_end_early"][0]["cpu_id"] == 1
    text = succeed("analyze", path)
    assert "1040582 events were lost (switch 1000000, waking 40582)" in text, text


@case
def what_the_recorder_lost_besides_events_is_reported():
    """Each cause by its name and sentence, in text and JSON; what another recorder calls so is not ours."""
    end = {"lost": 0, "end_ns": BOOT + 20 * MS, "loss.mapped_files": 7, "loss.searches_aborted": 2, "loss.unheard_of": 1}
    path = file("unnamed.pftrace", story(end))
    losses = {row["what"]: (row["count"], row["meaning"]) for row in as_json("analyze", path, "--json")["losses"]}
    assert sorted(losses) == ["mapped_files", "searches_aborted"], losses
    assert losses["mapped_files"] == (7, "reports of mapped files were lost: frames of stacks may have no names"), losses
    assert losses["searches_aborted"][0] == 2, losses
    text = succeed("analyze", path)
    assert "7 reports of mapped files were lost: frames of stacks may have no names" in text, text
    assert "2 searches for a pattern were given up" in text, text
    assert as_json("analyze", FILE, "--json")["losses"] == []


@case
def a_wait_is_explained():
    text = succeed("explain", FILE, "-n", "1", "--chain")
    assert text.startswith("1. web (200) waited 10.0ms"), text
    for part in ("hog (100)", "db (300)", "CPU 1", "idle"):
        assert part in text, text
    picture = os.path.join(FOLDER.name, "why.svg")
    succeed("explain", FILE, "-n", "1", "--svg", picture)
    svg = pathlib.Path(picture).read_text()
    words = [e.text for e in xml.etree.ElementTree.fromstring(svg).iter() if e.tag.endswith("text")]
    assert words[0] == "web waited 10.0ms", words
    for part in ("web (200)", "waits 10.0ms", "it waited", "10.0ms behind hog (100) on CPU 0"):
        assert part in words, words
    expect_refused(["explain", FILE, "-c", "hgo"], "no thread of this trace is named 'hgo'; did you mean 'hog'?", 1)
    assert succeed("explain", FILE, "-n", "1", "--by", "thread")
    for words, code, why in ((("--by", "class"), 1, "cannot be grouped by class; thread, process, comm or cgroup"),
                             (("--by", "x"), 2, "rows cannot be by 'x'"),
                             (("--by", "comm", "--sleeps"), 2, "does not apply to --sleeps")):
        refused = run("explain", FILE, *words)
        assert refused.returncode == code and why in refused.stderr.decode(), refused


@case
def a_trace_differs_from_itself_in_nothing():
    j = as_json("diff", FILE, FILE, "--json")
    assert j["changes"] == [], j


@case
def an_export_has_everything():
    out = os.path.join(FOLDER.name, "late.json")
    assert succeed("export", FILE, "-o", out) == ""
    j = json.loads(pathlib.Path(out).read_text())
    assert list(j)[:7] == ["trace_id", "time_range", "num_cpus", "num_processes", "total_events", "is_scx_trace",
                           "export_timestamp"], list(j)
    assert (j["trace_id"], j["time_range"]) == ("late", [BOOT, BOOT + 20 * MS])
    assert (j["num_cpus"], j["num_processes"], j["total_events"], j["is_scx_trace"]) == (2, 3, 7, False)
    assert j["export_timestamp"] > 1_700_000_000
    assert list(j)[7:] == applicable()
    assert j["cpu_utilization"] == as_json("analyze", FILE, "cpu_utilization", "--json")
    assert list(as_json("export", FILE, "bottlenecks", "wakeup_latency", "bottlenecks"))[7:] == [
        "scheduling_bottlenecks", "wakeup_latency"]
    assert not [name for name in os.listdir(FOLDER.name) if name.startswith("late.json.")], "temporary files"


@case
def an_export_that_fails_leaves_the_old_file():
    old = file("old.json", b"old")
    expect_refused(["export", file("broken", b"hello"), "-o", old],
                   f"'{FOLDER.name}/broken' is not a trace; {READ}", 1)
    assert pathlib.Path(old).read_bytes() == b"old"
    expect_refused(["export", FILE, "-o", f"{FOLDER.name}/no/such.json"],
                   f"cannot write '{FOLDER.name}/no/such.json': No such file or directory; "
                   "check the path and its permissions", 1)


@case
def standard_input_and_compressed_files_are_read():
    data = pathlib.Path(FILE).read_bytes()
    plain = as_json("export", FILE, "cpu_utilization", "wakeup_latency")
    for kwargs, name in (({"input": data}, "-"), ({}, file("late.pftrace.gz", gzip.compress(data)))):
        got = as_json("export", name, "cpu_utilization", "wakeup_latency", **kwargs)
        assert got["cpu_utilization"] == plain["cpu_utilization"], name
        assert got["wakeup_latency"] == plain["wakeup_latency"], name
    assert "\nstandard input: 20.0ms" in succeed("analyze", "-", input=data)


@case
def what_is_not_a_trace_is_reported_in_a_sentence():
    empty, words = file("empty", b""), file("words.txt", b"What the scheduler does.\n")
    cut = file("cut", pathlib.Path(FILE).read_bytes()[:3])
    huge = file("huge", b"\x0a\xff\xff\xff\xff\x07" + b"x" * 10)
    for command in ("analyze", "query", "explain", "export"):
        expect_refused([command, "/no/such"], "cannot open '/no/such': No such file or directory; "
                       "check the path and its permissions", 1)
        expect_refused([command, FOLDER.name], f"'{FOLDER.name}' is a folder; give the name of a trace", 1)
        expect_refused([command, empty], f"'{empty}' is empty; was the recording interrupted?", 1)
        expect_refused([command, words], f"'{words}' is not a trace; {READ}", 1)
        for path in (cut, huge):
            expect_refused([command, path], f"'{path}' ends within its first packet, or is not a Perfetto trace; "
                           "was the recording interrupted?", 1)
    expect_refused(["diff", FILE, empty], f"'{empty}' is empty; was the recording interrupted?", 1)
    expect_refused(["analyze", "-"], "'standard input' is empty; was the recording interrupted?", 1, input=b"")


@case
def a_file_of_others_is_reported_as_such():
    secret = file("secret", pathlib.Path(FILE).read_bytes())
    os.chmod(secret, 0)
    os.chmod(FOLDER.name, 0o755)
    more = {"user": 65534} if os.geteuid() == 0 else {}
    expect_refused(["analyze", secret], f"cannot open '{secret}': Permission denied; "
                   "check the path and its permissions", 1, **more)


@case
def a_truncated_trace_is_read_as_far_as_it_goes():
    data = story(False)
    j = as_json("analyze", file("short", data[:-5]), "--json")
    assert 0 < j["total_events"] < 7 and any(d["what"] == "truncated_bytes" for d in j["damage"]), j["damage"]
    assert "truncated bytes" in succeed("analyze", file("short", data[:-5]))


@case
def wrong_usage_is_another_exit_code():
    for command in ("analyze", "query", "explain", "export"):
        expect_refused([command], f"no file is named; write 'schedscope {command} FILE'; 'schedscope record' makes such a file, - is standard input", 2)
    expect_refused(["diff", FILE], "two files are compared, and 1 given; write 'schedscope diff BEFORE AFTER', or sets: --a 'old*' --b 'new*'", 2)
    expect_refused(["analyze", FILE, "nonsense"], "'nonsense' is not an analysis; 'schedscope analyze --list' lists them", 2)
    expect_refused(["export", FILE, "nonsense"], "'nonsense' is not an analysis; see 'schedscope analyze --list'", 2)
    expect_refused(["analyze", FILE, "--from", "x"], "--from: 'x' is not a time; "
                   "write 1.5s, 200ms, ... after the start, or @NS on the trace's clock", 2)
    expect_refused(["analyze", FILE, "--from", "2ms", "--to", "1ms"],
                   "--to is not after --from; give a later --to, or an earlier --from", 2)
    expect_refused(["analyze", FILE, "--from", "1s"], "--from is after the end of the trace, which is 0.020 s long; "
                   "times count from its start", 2)
    expect_refused(["query", FILE, "-e", "nonsense"],
                   "'nonsense' is not an event; 'schedscope query --fields' lists them", 2)


@case
def a_reader_that_leaves_is_no_failure():
    for args in (["analyze", FILE, "--all"], ["query", FILE, "-a"], ["export", FILE], ["explain", FILE]):
        for ignored in (signal.SIG_DFL, signal.SIG_IGN):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([SCHEDSCOPE, *args], stdout=write, stderr=subprocess.PIPE, timeout=60,
                                  restore_signals=False,
                                  preexec_fn=lambda how=ignored: signal.signal(signal.SIGPIPE, how))
            os.close(write)
            assert done.stderr == b"", (args, done.stderr)
            assert done.returncode in (0, -signal.SIGPIPE), (args, done.returncode)


@case
def a_full_disk_is_a_failure():
    for args in (["analyze", FILE], ["analyze", FILE, "--all", "--json"], ["query", FILE], ["export", FILE]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([SCHEDSCOPE, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, (args, done.stderr)


def json_of(*args):
    return json.loads(succeed(*args, "--json"))


@case
def flame_graphs_of_anothers_stacks():
    """wprof's: on CPUs by its timer, less those of idle; off CPUs as long as the sleeps are."""
    file = str(SOURCE / "tests/data/wprof/guest-d2-layers.pb.gz")
    assert 470 <= json_of("analyze", file, "flamegraph")["total_samples"] <= 476
    off = json_of("analyze", file, "flamegraph", "--category", "off-cpu")
    states = json_of("analyze", file, "task_states", "-n", "1000")["processes"]
    assert off["total_time_ns"] == sum(row["sleeping_time_ns"] + row["blocked_time_ns"] for row in states)
    assert "hrtimer_nanosleep" in {row["function"] for row in off["functions"]}
    assert json_of("analyze", file, "flamegraph", "--category", "waker")["total_samples"] == 1801 + 28


@case
def flame_graphs_go_into_files():
    file, path = str(SOURCE / "tests/data/wprof/guest-d2-layers.pb.gz"), os.path.join(FOLDER.name, "out")
    folded = succeed("analyze", file, "flamegraph", "--folded", "-").splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == json_of("analyze", file, "flamegraph")["total_samples"]
    succeed("analyze", file, "flamegraph", "--flamegraph", path + ".svg", "--speedscope", path + ".json", "--pprof", path + ".pb.gz")
    assert xml.etree.ElementTree.parse(path + ".svg").getroot().tag.endswith("svg")
    assert json.loads(pathlib.Path(path + ".json").read_text(encoding="utf-8"))["shared"]["frames"]
    assert gzip.decompress(pathlib.Path(path + ".pb.gz").read_bytes())
    for words, why in ((["flamegraph", "--flamegraph", "x.png"], b"which kind"), (["summary", "--folded", "x"], b"for the analysis flamegraph"),
                       (["flamegraph", "--category", "gpu"], b"not a category of stacks")):
        result = run("analyze", file, *words)
        assert result.returncode in (1, 2) and why in result.stderr, result.stderr


@case
def sleeps_without_stacks_are_reported_by_state():
    report = json_of("analyze", FILE, "flamegraph")
    assert report["category"] == "off-cpu" and {row["function"] for row in report["functions"]} == {"[sleeping]"}
    assert run("analyze", FILE, "flamegraph", "--category", "cpu").stderr.startswith(b"schedscope: this trace has no cpu stacks")


def main():
    pathlib.Path(FILE).write_bytes(story())
    code = run_cases(CASES)
    FOLDER.cleanup()
    return code


sys.exit(main())
