#!/usr/bin/env python3
"""convert: what is written gives the same answers as what was read, and opens where it should. Prints TAP.

By definition these differ: the name and size of the file; what the summary's "capabilities" say of how the file holds its
events (and events that are not read at all, which are not converted); the order of rows that are equal in what they are
sorted by; bytes of names that are not UTF-8. A loss is counted as damage in the converted file, though the
recorder of the original marked it elsewhere; a CPU of which there are only events on tracks is a CPU with events then, and one
of which there are only samples is none. Tasks of which perf says only that they exist are not among those of a converted file; one that an event without a record mentions first
is known from its first record on.
"""
import gzip
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import traceback

import decode
from recordings import DATA

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
FOLDER = tempfile.TemporaryDirectory()
DIR = pathlib.Path(FOLDER.name)
# All but those of clocks that do not count time, which are refused.
REFUSED = {"host-counter.txt.gz", "host-tsc.txt.gz", "host-uptime.txt.gz", "guest-6.1-v7-tsc.dat"}
FILES = sorted(path for path in DATA.glob("*/*") if path.suffix in (".gz", ".zst", ".dat") and path.name not in REFUSED
               and "killed.cpu" not in path.name and "partial" not in path.name)
UNREAD = re.compile(r"schedscope: \d+ of \d+ [a-z ]+")
CASES = []


def case(function):
    CASES.append(function)
    return function


def run(*args, **kwargs):
    result = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, timeout=120, **kwargs)
    assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, result.stderr.decode()
    return result


def convert(path, *args):
    out = DIR / (path.name + ".pftrace")
    result = run("convert", path, out, *args)
    assert result.returncode == 0, result.stderr
    assert all(UNREAD.fullmatch(line) for line in result.stderr.decode().splitlines()), result.stderr
    return out


def refused(*args, code=1, **kwargs):
    result = run(*args, **kwargs)
    lines = result.stderr.decode().splitlines()
    assert result.returncode == code and not result.stdout and len(lines) == 1, (result.returncode, result.stderr)
    return lines[0]


def sort_rows(node):
    """Rows that are equal in what they are sorted by come in any order."""
    if isinstance(node, dict):
        return {key: sort_rows(value) for key, value in node.items()}
    if isinstance(node, list):
        return sorted((sort_rows(item) for item in node), key=lambda item: json.dumps(item, sort_keys=True))
    return node


def answers(path):
    out = run("analyze", path, "--json", "--all", "--limit", 1000)
    assert out.returncode == 0, out.stderr
    found = json.loads(out.stdout)
    for key in ("file", "file_bytes"):
        found["summary"].pop(key)
    found["summary"]["capabilities"] = {key: value for key, value in found["summary"]["capabilities"].items()
                                        if not key.startswith(("unread_", "track_event_", "available_"))}
    return found


def differences(a, b):
    return [] if a == b else different(sort_rows(a), sort_rows(b))


def different(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            yield from different(a.get(key), b.get(key), f"{path}/{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from different(x, y, f"{path}[{i}]")
    elif a != b:
        yield f"{path}: {str(a)[:80]} != {str(b)[:80]}"


def allow(found, allowed):
    """Takes what differs by definition out of both."""
    for path in allowed:
        node = found
        for key in path.split("/")[:-1]:
            node = node[key]
        node.pop(path.split("/")[-1])


@case
def all_recordings_give_the_same_answers():
    """But for what differs by definition: see the top."""
    cpus = ("summary/num_cpus", "summary/capabilities/num_cpus")
    tasks = ("summary/num_threads", "summary/num_processes", "summary/capabilities/num_processes")
    allowed = {"guest-d2-overflow.pb.gz": ("summary/damage", *cpus), "host-build-id.data.gz": cpus, "perf-script-guest-7.2-callgraph.txt.gz": cpus,
               "host-killed.data.gz": tasks, "host-truncated.data.gz": tasks, "perf-script-host-sched.txt.gz": ("task_states",)}
    assert len(FILES) >= 70
    words = sys.argv[1:] or [""]
    for path in (path for path in FILES if any(word in path.name for word in words)):
        before, after = answers(path), answers(convert(path))
        for found in (before, after):
            allow(found, allowed.get(path.name, ()))
        wrong = list(differences(before, after))
        assert not wrong, (path.name, len(wrong), wrong[:10])


@case
def converting_again_changes_nothing():
    path = DATA / "wprof/guest-d2-layers.pb.gz"
    first = convert(path)
    second = convert(first)
    assert not list(differences(answers(first), answers(second)))
    trace = decode.Trace(second.read_bytes())
    assert trace.attributes["converted_from"] == "wprof" and trace.attributes["converted_format"] == "a Perfetto trace"


@case
def a_recording_that_was_killed_stays_incomplete():
    path = DATA / "perfetto/k-host-killed.pftrace.gz"
    before, after = answers(path)["summary"], answers(convert(path))["summary"]
    assert before["incomplete"] and before["incomplete"] == after["incomplete"]
    assert before["cpus_that_end_early"] and before["cpus_that_end_early"] == after["cpus_that_end_early"]


@case
def a_folder_of_perf_is_one_recording():
    """And one of its files alone says that it is not all."""
    with tarfile.open(DATA / "perf/host-threads.tar.xz") as archive:
        archive.extractall(DIR)
    folder = DIR / "host-threads.data"
    assert not list(differences(answers(folder), answers(convert(folder))))
    assert "folder" in json.loads(run("analyze", folder / "data", "--json").stdout)["incomplete"]


@case
def what_could_not_be_read_is_told_with_totals():
    """By convert, in the JSON of both files, and on the screen."""
    broken = {"lines.txt": (gzip.open(DATA / "ftrace/host-mono.txt.gz").read().replace(b"prev_pid=", b"prev_pit=", 7), "text_events_unreadable", 7),
              "records.data": (damaged_perf(), "perf_records_damaged", 3)}
    for name, (content, what, count) in broken.items():
        path = DIR / name
        path.write_bytes(content)
        told = run("convert", path, DIR / "told.pftrace")
        assert told.returncode == 0, told.stderr
        for trace in (path, DIR / "told.pftrace"):
            rows = [row for row in json.loads(run("analyze", trace, "--json").stdout)["damage"] if row["what"] == what]
            assert len(rows) == 1 and rows[0]["count"] == count and rows[0]["of"] > 1000, (name, rows)
            sentence = f"{count} of {rows[0]['of']} {what.replace('_', ' ')}"
            assert sentence in run("analyze", trace).stdout.decode(), (name, sentence)
            assert f"schedscope: {sentence}\n" == told.stderr.decode(), told.stderr
    again = run("convert", DIR / "told.pftrace", DIR / "again.pftrace")
    assert again.stderr == told.stderr, again.stderr


def damaged_perf():
    """Three samples of an event that is not described."""
    content = bytearray(gzip.open(DATA / "perf/host-sched.data.gz").read())
    at, size = struct.unpack_from("<QQ", content, 40)  # the section of records
    end, left = at + size, 3
    while at < end and left:
        kind, _, length = struct.unpack_from("<IHH", content, at)
        if kind == 9:
            left -= 1
            struct.pack_into("<Q", content, at + 8, 1 << 60)  # the id of no event
        at += length
    return bytes(content)


@case
def attributes_say_where_it_comes_from():
    trace = decode.Trace(convert(DATA / "perfetto/e-guest-eevdf.pftrace.gz").read_bytes())
    assert trace.attributes["tool"] == "schedscope"
    assert trace.attributes["converted_from"] == "perfetto"
    assert trace.attributes["converted_format"] == "a Perfetto trace"
    assert trace.attributes["lost"] == 0 and trace.attributes["records"] > 10000
    summary = json.loads(run("analyze", convert(DATA / "perfetto/e-guest-eevdf.pftrace.gz"), "--json").stdout)
    assert summary["trace_source"] == "perfetto"


@case
def others_find_names_wakeups_and_switches():
    """By a decoder that shares no code with ours."""
    path = DATA / "perfetto/e-guest-eevdf.pftrace.gz"
    trace = decode.Trace(convert(path).read_bytes())
    counts = json.loads(run("analyze", path, "--json").stdout)["capabilities"]["event_counts"]
    found = {}
    for event in (event for events in trace.events.values() for event in events):
        found[event["name"]] = found.get(event["name"], 0) + 1
    for name, short in (("sched_switch", "switch"), ("sched_waking", "waking"), ("sched_wakeup", None),
                        ("softirq_entry", None), ("irq_handler_entry", None)):
        nr = found.get(name, 0) + found.get(short, 0)
        assert nr == counts[name] > 0, (name, nr, counts[name])
    assert len(trace.threads) > 50 and len(trace.processes) > 20


VALUES = """# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
              sh-20      [001] d..2.    11.000010: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=20 next_prio=120
              sh-20      [001] .....    11.000036: tracing_mark_write: C|20|queue|3
              sh-20      [001] .....    11.000040: tracing_mark_write: C|20|queue|-1
              sh-20      [001] .....    11.000050: print: tracing_mark_write: C|77|memory: all|4096
              sh-20      [001] .....    11.000060: tracing_mark_write: C|20|queue|half
              sh-20      [001] d..2.    11.000090: sched_switch: prev_comm=sh prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
"""


@case
def values_of_programs_are_counters_there():
    """Perfetto makes a track of each process and name from such a line."""
    path = DIR / "values.txt"
    path.write_text(VALUES)
    out = convert(path)
    written = [(e["ts"], e["pid"], e["arg_buf"]) for e in decode.Trace(out.read_bytes()).events[1] if e["name"] == "print"]
    assert written == [(11_000_036_000, 20, "C|20|queue|3\n"), (11_000_040_000, 20, "C|20|queue|-1\n"),
                       (11_000_050_000, 20, "C|77|memory: all|4096\n")], written
    for name in (path, out):
        rows = json.loads(run("query", name, "--json", "--sql", "select ts, name, pid, value, cpu from counter").stdout)["rows"]
        assert [tuple(row.values()) for row in rows] == [
            (11_000_036_000, "queue", 20, 3, None), (11_000_040_000, "queue", 20, -1, None),
            (11_000_050_000, "memory: all", 77, 4096, None)], rows
    assert not list(differences(answers(path), answers(out)))


@case
def pipes_work_at_both_ends():
    path = DATA / "wprof/host-a.pb.gz"
    with open(path, "rb") as source:
        piped = subprocess.run(f"cat | '{SCHEDSCOPE}' convert - - | cat", shell=True, stdin=source, capture_output=True,
                               timeout=60)
    assert not piped.stderr, piped.stderr
    out = DIR / "piped"
    out.write_bytes(piped.stdout)
    with open(path, "rb") as source:
        assert run("convert", "-", DIR / "from-file", stdin=source).returncode == 0
    assert not list(differences(answers(path), answers(out)))
    assert not list(differences(answers(path), answers(DIR / "from-file")))


@case
def compressed_is_the_same_and_smaller():
    path = DATA / "perfetto/e-guest-eevdf.pftrace.gz"
    plain = convert(path)
    size, found = plain.stat().st_size, answers(plain)
    packed = convert(path, "--gzip")
    assert packed.stat().st_size < size / 2
    assert not list(differences(found, answers(packed)))


@case
def the_input_is_never_replaced():
    path = DIR / "own.pftrace"
    path.write_bytes((DATA / "perfetto/c-guest-idle.pftrace.gz").read_bytes())
    before = path.read_bytes()
    (DIR / "link").symlink_to(path)
    os.link(path, DIR / "other-name")
    for name in (path, DIR / "link", DIR / "other-name", DIR / "." / "own.pftrace"):
        assert "is the file that is read" in refused("convert", path, name)
    with open(path, "rb") as source:
        assert "is the file that is read" in refused("convert", "-", path, stdin=source)
    with open(path, "ab") as target:
        result = subprocess.run([SCHEDSCOPE, "convert", path, "-"], stdout=target, stderr=subprocess.PIPE, timeout=60)
    assert result.returncode == 1 and b"is the file that is read" in result.stderr
    assert path.read_bytes() == before


@case
def the_output_is_for_its_owner_and_replaces_a_file():
    out = DIR / "c-guest-idle.pftrace.gz.pftrace"
    out.write_text("something else, longer than nothing")
    out.chmod(0o644)
    convert(DATA / "perfetto/c-guest-idle.pftrace.gz")
    assert out.stat().st_mode & 0o777 == 0o600 and out.read_bytes()[:1] == b"\x0a"


@case
def what_cannot_be_done_is_one_sentence():
    trace, out = DATA / "perfetto/c-guest-idle.pftrace.gz", DIR / "never"
    text = DIR / "text"
    text.write_text("hello\n")
    assert "not a trace" in refused("convert", text, out)
    assert "is not a trace" in refused("convert", text, out)
    assert "No such file" in refused("convert", DIR / "absent", out)
    assert "is a folder" in refused("convert", DIR, out)
    assert "empty" in refused("convert", "-", out, stdin=subprocess.DEVNULL)
    assert not out.exists(), "an output of nothing"
    assert "cannot create" in refused("convert", trace, DIR / "absent/out")
    assert "link" in refused("convert", trace, make_link())
    for words in ((), (trace,), (trace, out, out)):
        refused("convert", *words, code=2)
    main, side = pty.openpty()
    result = subprocess.run([SCHEDSCOPE, "convert", trace, "-"], stdout=side, stderr=subprocess.PIPE, timeout=60)
    os.close(main)
    os.close(side)
    assert result.returncode == 1 and b"terminal" in result.stderr
    with open("/dev/full", "wb") as full:
        result = subprocess.run([SCHEDSCOPE, "convert", trace, "-"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert result.returncode == 1 and b"No space" in result.stderr, result.stderr


def make_link():
    (DIR / "dangling").symlink_to(DIR / "nothing")
    return DIR / "dangling"


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, function in enumerate(CASES, 1):
        try:
            function()
            print(f"ok {number} - {function.__name__}", flush=True)
        except Exception:  # a failed case is reported, the others go on
            failed += 1
            print(f"not ok {number} - {function.__name__}")
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
