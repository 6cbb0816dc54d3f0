#!/usr/bin/env python3
"""as_5_10.py IN OUT: a file of `perf sched record` as Linux 5.10 would have written it. Not recorded there: called synthetic for that.

Of the events of `perf sched record`, wakings and wakeups changed since: before Linux 5.14 they had one more field, success, in front of target_cpu. Switches
(with the numbers of states), migrations, forks and run times are the same in 5.10 and 6.1. The descriptions and the samples are changed, and the release.
"""
import gzip
import pathlib
import struct
import sys

WAKES = (b"sched_waking", b"sched_wakeup", b"sched_wakeup_new")
TARGET = b"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
WITH_SUCCESS = b"\tfield:int success;\toffset:32;\tsize:4;\tsigned:1;\n" + TARGET.replace(b"offset:32", b"offset:36")
SAMPLE, RAW, FIXED = 9, 1 << 10, (1 << 16, 1, 2, 4, 8, 1 << 6, 1 << 9, 1 << 7, 1 << 8)  # words in front of the raw data, by their bits
TRACING_DATA, RELEASE = 1, 4


def descriptions(data):
    """With the field more, and the ids of the events that have it."""
    ids, out, at = set(), bytearray(), 0
    for name in (name for name in WAKES if b"name: " + name + b"\n" in data):
        start = data.index(b"name: " + name + b"\n")
        ids.add(int(data[start:].split(b"ID: ")[1].split(b"\n")[0]))
    while True:  # each is a length, then so many bytes
        start = data.find(b"name: ", at)
        if start < 0:
            return bytes(out + data[at:]), ids
        length, = struct.unpack_from("<Q", data, start - 8)
        text = data[start:start + length]
        if text.split(b"\n")[0].removeprefix(b"name: ") in WAKES:
            assert text.count(TARGET) == 1
            text = text.replace(TARGET, WITH_SUCCESS)
        out += data[at:start - 8] + struct.pack("<Q", len(text)) + text
        at = start + length


def records(data, sample_type, ids):
    out, at = bytearray(), 0
    raw_at = 8 + 8 * sum(bool(sample_type & bit) for bit in FIXED)
    while at < len(data):
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        record = data[at:at + size]
        if kind == SAMPLE:
            length, event = struct.unpack_from("<IH", record, raw_at)
            if event in ids:
                raw = record[raw_at + 4:raw_at + 4 + 32] + struct.pack("<I", 1) + record[raw_at + 36:raw_at + 40]
                raw += bytes(4)  # the size and what follows are a multiple of 8 bytes
                record = record[:raw_at] + struct.pack("<I", len(raw)) + raw + record[raw_at + 4 + length:]
                record = struct.pack("<IHH", kind, misc, len(record)) + record[8:]
        out += record
        at += size
    return bytes(out)


def main():
    """Command line."""
    data = gzip.decompress(pathlib.Path(sys.argv[1]).read_bytes())
    attrs_at, data_at, data_size = struct.unpack_from("<Q", data, 24)[0], *struct.unpack_from("<QQ", data, 40)
    bits = int.from_bytes(data[72:104], "little")
    sample_type, = struct.unpack_from("<Q", data, attrs_at + 24)
    assert sample_type & RAW
    sections, at = [], data_at + data_size
    for number in (number for number in range(256) if bits >> number & 1):
        sections.append((number, *struct.unpack_from("<QQ", data, at)))
        at += 16
    body = {number: data[start:start + size] for number, start, size in sections}
    body[TRACING_DATA], ids = descriptions(body[TRACING_DATA])
    release = b"5.10.0-synthetic"
    body[RELEASE] = body[RELEASE][:4] + release.ljust(len(body[RELEASE]) - 4, b"\0")
    out = bytearray(data[:data_at] + records(data[data_at:data_at + data_size], sample_type, ids))
    struct.pack_into("<Q", out, 48, len(out) - data_at)
    place = len(out) + 16 * len(sections)
    table = b""
    for number, _, _ in sections:
        table += struct.pack("<QQ", place, len(body[number]))
        place += len(body[number])
    out += table + b"".join(body[number] for number, _, _ in sections)
    pathlib.Path(sys.argv[2]).write_bytes(gzip.compress(bytes(out), 9, mtime=0))


if __name__ == "__main__":
    main()
