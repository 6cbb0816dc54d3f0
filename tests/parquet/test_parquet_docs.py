#!/usr/bin/env python3
"""docs/parquet.md lists the columns that files have. With --update the list is written anew. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import footer

SCHEDSCOPE = os.environ.get("SCHEDSCOPE", "build/schedscope")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/parquet.md"
# Together they have rows in all tables but throttle.
FILES = [ROOT / "tests/data" / f for f in ("together/together.pftrace.gz", "perf/host-callgraph.data.gz", "wprof/guest-d3-pmu.pb.gz")]
KEYS = "schema_version table capture host boot_id kernel machine producer clock unix_start_ns start_ts end_ts lost_events lost_events. loss. incomplete".split()


def run(*words):
    done = subprocess.run([SCHEDSCOPE, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stderr, f"{words}: {done.stderr}"
    return done.stdout


def read_files(folder):
    """By table, the footers of what the recordings became."""
    run("export", "--parquet", folder, *FILES)
    return {path.name: [footer.read(file) for file in sorted(path.rglob("*.parquet"))] for path in folder.iterdir()}


def kind(column):
    return ("text" if column["is_text"] else column["type"]) + (", never null" if column["is_required"] else "")


def fill(text, folder):
    """The page with its list."""
    footers = read_files(folder)
    parts = []
    for name, table in json.loads(run("query", "--tables", "--json"))["tables"].items():
        seen = footers[name][0]["columns"]
        assert all({c: kind(v) for c, v in f["columns"].items()} == {c: kind(v) for c, v in seen.items()} for f in footers[name])
        assert list(seen) == ["capture", *table["columns"]], name
        meanings = {"capture": "name of the recording, as in that of the file", **table["columns"]}
        rows = "".join(f"| `{column}` | {kind(seen[column])} | {what} |\n" for column, what in meanings.items())
        parts.append(f"### {name}\n\n{table['what'][0].upper()}{table['what'][1:]}.\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n")
    text, nr = re.subn(r"(<!-- tables -->\n).*?(<!-- end -->)", lambda m: m[1] + "".join(parts) + m[2], text, flags=re.S)
    assert nr == 1
    return text, footers


def keys_are_told(text, footers):
    """Every key of a footer is in the page, and nothing else."""
    told = re.findall(r"^\| `schedscope\.([a-z_]+\.?)[A-Z]*` \|", text, re.M)
    assert told == KEYS, told
    for found in footers.values():
        for note in (key.removeprefix("schedscope.") for f in found for key in f["notes"]):
            assert note in KEYS or f"{note.partition('.')[0]}." in KEYS, note


def main():
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        filled, footers = fill(text, pathlib.Path(name))
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(filled, encoding="utf-8")
        return 0
    failed = filled != text
    print("1..2")
    print(f"{'not ok' if failed else 'ok'} 1 - the_page_lists_the_columns_that_there_are")
    try:
        keys_are_told(text, footers)
        print("ok 2 - the_page_tells_the_keys_of_footers")
    except AssertionError as error:
        failed = True
        print(f"not ok 2 - the_page_tells_the_keys_of_footers\n# {error}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
