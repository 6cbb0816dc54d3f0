#!/usr/bin/env python3
"""report --compare as people meet it: its numbers are those of diff, its heat map that of two reports. Prints TAP."""
import base64
import gzip
import html
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
import zlib

SCHEDSCOPE = os.environ["SCHEDSCOPE"]
DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data/perfetto"
CASES = []
FOLDER = tempfile.TemporaryDirectory()
DIR = pathlib.Path(FOLDER.name)
SECOND_NS = 10**9
SAME = ("comm", "metric", "a", "a_interval", "b", "b_interval", "change_percent", "p_corrected", "verdict")


def case(function):
    CASES.append(function)
    return function


def run(*args):
    result = subprocess.run([SCHEDSCOPE, *map(str, args)], capture_output=True, timeout=120, cwd=DIR)
    assert result.returncode in (0, 1, 2), f"{args}: exit {result.returncode}: {result.stderr}"
    assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, result.stderr.decode()
    return result


def recording(name):
    path = DIR / f"{name}.pftrace"
    if not path.exists():
        path.write_bytes(gzip.decompress((DATA / f"{name}.pftrace.gz").read_bytes()))
    return path


def page(*args):
    """The text of a report."""
    result = run("report", *args, "-o", "-")
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


def document(text):
    return json.loads(re.search(r'id="report-json">(.*?)</script>', text, re.S).group(1))


BEFORE, AFTER = recording("e-guest-eevdf"), recording("e-guest-scx-vtime")
PAGE = page(BEFORE, "--compare", AFTER)
COMPARE = document(PAGE)["compare"]
DIFF = json.loads(run("diff", BEFORE, AFTER, "--json", "--all", "--limit", 100000).stdout)


@case
def numbers_are_those_of_diff():
    for key in ("overall", "changes"):
        ours, theirs = COMPARE[key], DIFF[key]
        assert len(ours) == len(theirs) > 0, (key, len(ours), len(theirs))
        for mine, other in zip(ours, theirs):
            assert {k: mine[k] for k in SAME} == {k: other[k] for k in SAME}, (mine, other)
    for key in ("tests", "changes_found"):
        assert COMPARE[key] == DIFF[key]


@case
def tables_hold_the_numbers_of_diff():
    wanted = {(row["comm"], row["metric"]): row for row in DIFF["overall"] + DIFF["changes"]}
    rows = re.findall(r'<tr data-comm="([^"]*)" data-metric="(\w+)">(.*?)</tr>', PAGE)
    nr_changes = 0
    for comm, metric, cells in rows:
        row = wanted[html.unescape(comm), metric]
        for key in ("a", "a_interval", "b", "b_interval", "p_corrected"):
            found = re.search(rf'data-key="{key}"(?: data-value="([^"]*)")?', cells).group(1)
            assert (found is None and row[key] is None) or float(found) == row[key], (comm, metric, key, found, row[key])
        assert f'data-verdict="{row["verdict"]}"' in cells
        nr_changes += row["verdict"] in ("better", "worse", "more", "less")
    assert nr_changes == sum(row["verdict"] in ("better", "worse", "more", "less") for row in wanted.values()) > 0


@case
def what_is_not_proved_is_not_called_the_same():
    section = re.search(r'<section id="compare".*?</section>', PAGE, re.S).group(0)
    assert "no change proved" in section
    assert not re.search(r"no change(?! proved)", section, re.I)


@case
def sentences_have_a_ratio_and_its_interval():
    changed = [row for row in COMPARE["changes"] if row["verdict"] == "worse"]
    assert changed
    for row in changed:
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
        assert re.fullmatch(r".* of .*: worse, \S+ → \S+, [\d.]+ times \([\d.]+ to [\d.]+\)\.", row["sentence"]), row["sentence"]
        assert html.escape(row["sentence"]).replace("&#x27;", "&#39;") in PAGE or row not in changed[:5]


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def table(text, name):
    """The rows of a packed table, as docs/report-schema.md has it."""
    packed = json.loads(re.search(rf'id="table-{name}">(.*?)</script>', text, re.S).group(1))
    numbers = varints(zlib.decompress(base64.b64decode(packed["data"])))
    columns = {}
    for column in packed["columns"]:
        values = [next(numbers) for _ in range(packed["rows"])]
        if column["encoding"] == "delta":
            last = 0
            for i, value in enumerate(values):
                last += (value >> 1) ^ -(value & 1)
                values[i] = last
        columns[column["name"]] = values
    return columns


def shown_by(path):
    """Waits of woken and new tasks of the report of one recording: (width, {(bucket, band of the comparison): waits}, length)."""
    text = page(path)
    doc, rows = document(text), table(text, "wait")
    heat, width = COMPARE["heat"], doc["buckets"]["width_ns"]
    band_of = {i: next(b for b, (low, high) in enumerate(heat["bands"]) if low <= first and last <= high) for i, (first, last) in enumerate(doc["slots"])}
    counts = {}
    for bucket, kind, slot, count in zip(rows["bucket"], rows["kind"], rows["slot"], rows["count"]):
        if kind == 0:
            key = bucket, band_of[slot]
            counts[key] = counts.get(key, 0) + count
    return width, counts, doc["time"]["span_ns"]


def joined(counts, width, step):
    """The same in buckets of step."""
    sums = {}
    for (bucket, band), count in counts.items():
        key = bucket * width // step, band
        sums[key] = sums.get(key, 0) + count
    return sums


@case
def the_difference_is_that_of_two_reports():
    heat = COMPARE["heat"]
    sides = {"before": shown_by(BEFORE), "after": shown_by(AFTER)}
    for name, (width, counts, span) in sides.items():
        step = math.lcm(width, heat["width_ns"])
        ours = {(bucket, band): count for bucket, band, count in heat[name]["cells"]}
        assert joined(ours, heat["width_ns"], step) == joined(counts, width, step), name
        assert sum(heat[name]["covered_ns"]) == span
    assert sum(count for *_, count in heat["before"]["cells"]) > 1000
    bands = re.search(r'<table id="compare-bands">.*?</table>', PAGE, re.S).group(0)
    shown = [float(value) for value in re.findall(r'data-key="difference_per_sec" data-value="([^"]*)"', bands)]
    rates = {name: [sum(count for (_, b), count in counts.items() if b == band) * SECOND_NS / span for band in range(len(heat["bands"]))]
             for name, (_, counts, span) in sides.items()}
    wanted = [after - before for before, after in zip(rates["before"], rates["after"]) if before or after]
    shown = [value for value in shown if value]
    assert len(shown) == len(wanted) and all(abs(a - b) <= 1e-4 for a, b in zip(shown, wanted)), (shown, wanted)


@case
def a_recording_does_not_differ_from_itself():
    found = document(page(BEFORE, "--compare", BEFORE))["compare"]
    assert found["changes_found"] == 0 and all(row["verdict"] in ("same", "too little") for row in found["overall"] + found["changes"])
    assert not found["differences"]


@case
def filters_count_for_all():
    found = document(page(BEFORE, "--compare", AFTER, "-c", "sleep-*", "--to", "1s"))["compare"]
    theirs = json.loads(run("diff", BEFORE, AFTER, "--json", "--all", "--limit", 100000, "-c", "sleep-*", "--to", "1s").stdout)
    assert [row["a"] for row in found["changes"]] == [row["a"] for row in theirs["changes"]] and found["changes"]
    assert {row["comm"].split("-")[0] for row in found["changes"]} == {"sleep"}
    assert [side["span_ns"] for side in found["before"] + found["after"]] == [SECOND_NS] * 2


@case
def words_after_compare_are_recordings():
    doc = document(page(BEFORE, "--compare", AFTER, recording("d-host-deflate"), "--title", "three"))
    assert [side["file"] for side in doc["compare"]["after"]] == ["e-guest-scx-vtime.pftrace", "d-host-deflate.pftrace"]
    assert doc["title"] == "three" and doc["compare"]["method"] == "parts"
    assert doc["command"] == "schedscope report e-guest-eevdf.pftrace --compare e-guest-scx-vtime.pftrace d-host-deflate.pftrace"
    assert {"CPUs", "kernel"} & {row["what"] for row in doc["compare"]["differences"]}


@case
def what_cannot_be_compared_is_refused():
    for args, code, words in (
        (("report", BEFORE, AFTER), 2, "--compare"),
        (("report", BEFORE, "--compare"), 2, "needs a value"),
        (("report", BEFORE, "--compare", DIR / "none.pftrace"), 1, "none.pftrace"),
        (("report", BEFORE, "--compare", AFTER, AFTER), 1, "named twice"),
    ):
        result = run(*args, "-o", "-") if "needs" not in words else run(*args)
        assert result.returncode == code and not result.stdout and words in result.stderr.decode(), (args, result.returncode, result.stderr)


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, function in enumerate(CASES, 1):
        note = ""
        try:
            function()
        except Exception:  # whatever goes wrong is this case's failure
            failed += 1
            note = "".join("\n# " + line for line in traceback.format_exc().splitlines())
        print(f"{'not ok' if note else 'ok'} {number} - {function.__name__}{note}", flush=True)
    return failed != 0


sys.exit(main())
