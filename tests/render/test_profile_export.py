#!/usr/bin/env python3
"""What other programs read of a profile: pprof by a decoder of its own and by Go, speedscope by the rules of its format."""
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tap  # noqa: E402

DUMP = os.environ["PROFILE_DUMP"]
CASES = []


def case(function):
    CASES.append(function)
    return function


def dump(*words):
    return subprocess.run([DUMP, *words], check=True, capture_output=True, timeout=60).stdout


# ---- protobuf, as the encoding is described: tag, then a varint or bytes ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """field number -> list of values: numbers, or bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            size, at = varint(data, at)
            value = data[at:at + size]
            assert len(value) == size, "cut"
            at += size
        found[tag >> 3].append(value)
    return found


def one(message, number, default=0):
    values = message.get(number, [])
    assert len(values) <= 1, values
    return values[0] if values else default


class Pprof:
    """pprof's profile.proto: the numbers are those of its public description."""

    def __init__(self, data):
        assert data[:2] == b"\x1f\x8b", "not gzip"
        top = fields(gzip.decompress(data))
        assert set(top) <= set(range(1, 16)), sorted(top)
        self.strings = [s.decode() for s in top[6]]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        self.types = [self.value_type(t) for t in top[1]]
        self.period_type, self.period = self.value_type(one(top, 11)), one(top, 12)
        self.time, self.duration = one(top, 9), one(top, 10)
        self.default = self.strings[one(top, 14)]
        self.functions = {one(f, 1): [self.strings[one(f, n)] for n in (2, 3, 4)] for f in map(fields, top[5])}
        self.mappings = {one(m, 1): self.strings[one(m, 5)] for m in map(fields, top[3])}
        assert all(one(fields(m), n) == 1 for m in top[3] for n in (7, 8, 9, 10))
        self.locations = {one(place, 1): place for place in map(fields, top[4])}
        for table, count in ((self.functions, top[5]), (self.mappings, top[3]), (self.locations, top[4])):
            assert len(table) == len(count) and 0 not in table, "ids are not unique, or 0"
        self.samples = [self.sample(s) for s in map(fields, top[2])]

    def value_type(self, data):
        message = fields(data)
        return self.strings[one(message, 1)], self.strings[one(message, 2)]

    def place(self, number):
        """Names of a location, innermost first, with lines; its mapping."""
        place = self.locations[number]
        lines = [(self.functions[one(line, 1)][0], one(line, 2)) for line in map(fields, place[4])]
        assert lines
        return lines, self.mappings[one(place, 2)], one(place, 3)

    def sample(self, message):
        labels = {}
        for label in map(fields, message[3]):
            key = self.strings[one(label, 1)]
            labels[key] = self.strings[one(label, 2)] if 2 in label else one(label, 3)
        return [self.place(number) for number in message[1]], message[2], labels


@case
def pprof_holds_every_sample():
    profile = Pprof(dump("pprof"))
    assert profile.types == [("samples", "count"), ("cpu", "nanoseconds")] and profile.default == "cpu"
    assert profile.period_type == ("cpu", "nanoseconds") and profile.period == 10101010
    assert profile.duration == 5 * 10**9 and profile.time == 1700000000 * 10**9
    assert sum(values[0] for _, values, _ in profile.samples) == 1000
    assert all(values[1] == values[0] * 10101010 for _, values, _ in profile.samples)
    assert {labels["process"] for _, _, labels in profile.samples} == {"web", "db"}
    assert sum(v[0] for _, v, labels in profile.samples if labels["tid"] == 201 and labels["thread"] == "db-io") == 40


@case
def pprof_frames_are_leaf_first_with_their_mappings():
    profile = Pprof(dump("pprof"))
    stack = next(places for places, values, _ in profile.samples if values[0] == 200)
    assert [(lines[0][0], module) for lines, module, _ in stack] == [
        ("sys_read", "[kernel.kallsyms]"), ("read", "libc.so.6"), ("serve", "web"), ("main", "web")], stack
    assert stack[0][2] == 0xffff000000001000
    assert profile.mappings[1] == "web", "the first mapping is taken for the program"
    assert profile.functions[1] == ["main", "main", "src/main.c"] or ["main"] * 2 + ["src/main.c"] in profile.functions.values()
    # Functions of a name in different binaries are different ones.
    assert sum(names[0] == "read" for names in profile.functions.values()) == 2


@case
def pprof_inlined_calls_share_a_location():
    profile = Pprof(dump("pprof"))
    stack = next(places for places, values, _ in profile.samples if len(places) == 2 and places[0][0][0][0] == "copy")
    assert [name for name, _ in stack[0][0]] == ["copy", "serve"] and [name for name, _ in stack[1][0]] == ["main"], stack


@case
def pprof_of_odd_names_and_of_nothing():
    hostile = Pprof(dump("pprof", "hostile"))
    assert sum(values[0] for _, values, _ in hostile.samples) == 7
    assert any("\ufffd" in s for s in hostile.strings)
    empty = Pprof(dump("pprof", "empty"))
    assert empty.samples == [] and empty.types


def go_pprof(data, *words):
    """What Go's own reader makes of it."""
    if not shutil.which("go"):
        raise tap.Skipped("no go")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.pb.gz")
        with open(path, "wb") as out:
            out.write(data)
        env = dict(os.environ, HOME=folder, PPROF_TMPDIR=folder)
        return subprocess.run(["go", "tool", "pprof", *words, path], check=True, capture_output=True, timeout=60, env=env).stdout.decode()


@case
def go_reads_what_we_read():
    data = dump("pprof")
    raw = go_pprof(data, "-raw")
    reported = [(int(row[0]), int(row[1]), len(row[2].split())) for row in re.findall(r"^ +(\d+) +(\d+): ([\d ]+)$", raw, re.M)]
    assert reported == [(*values, len(places)) for places, values, _ in Pprof(data).samples], reported
    assert "samples/count cpu/nanoseconds[dflt]" in raw and "Duration: 5s" in raw and "Period: 10101010" in raw, raw
    top = go_pprof(data, "-top", "-sample_index=samples")
    assert "File: web" in top and "Total samples = 1000" in top, top
    rows = {line.split()[5]: (line.split()[0], line.split()[3]) for line in top.splitlines() if re.match(r" +\d+ ", line)}
    assert rows["parse"] == ("400", "400") and rows["read"] == ("100", "300") and rows["main"] == ("50", "1000"), rows
    assert re.search(r"copy \(inline\)", top), top


@case
def go_reads_odd_names_and_nothing():
    assert "Total samples = 7" in go_pprof(dump("pprof", "hostile"), "-top", "-sample_index=samples")
    assert "Total samples = 0" in go_pprof(dump("pprof", "empty"), "-top", "-sample_index=samples")


def check_speedscope(sheet):
    """The rules of speedscope's file format for sampled profiles."""
    assert sheet["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert all(isinstance(f["name"], str) for f in sheet["shared"]["frames"])
    assert all(isinstance(f.get("line", 1), int) and isinstance(f.get("file", ""), str) for f in sheet["shared"]["frames"])
    assert sheet["profiles"] and 0 <= sheet["activeProfileIndex"] < len(sheet["profiles"])
    for profile in sheet["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled"
        assert profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        assert all(0 <= i < len(sheet["shared"]["frames"]) for stack in profile["samples"] for i in stack)


@case
def speedscope_keeps_to_its_format():
    sheet = json.loads(dump("speedscope"))
    check_speedscope(sheet)
    assert [p["unit"] for p in sheet["profiles"]] == ["nanoseconds", "none"]
    time, samples = sheet["profiles"]
    assert sum(samples["weights"]) == 1000 and sum(time["weights"]) == 1000 * 10101010
    frames = [f["name"] for f in sheet["shared"]["frames"]]
    reported = {";".join(frames[i] for i in stack): w for stack, w in zip(samples["samples"], samples["weights"])}
    folded = dict(line.rsplit(" ", 1) for line in dump("folded").decode().splitlines())
    assert reported == {k.replace("_[k]", "").replace("_[i]", ""): int(v) for k, v in folded.items()}
    assert frames.count("read") == 2 and frames.count("fib") == 1, frames


@case
def speedscope_of_odd_names_and_of_nothing():
    check_speedscope(json.loads(dump("speedscope", "hostile")))
    empty = json.loads(dump("speedscope", "empty"))
    check_speedscope(empty)
    assert empty["profiles"][0]["samples"] == []


sys.exit(tap.run_cases(CASES))
