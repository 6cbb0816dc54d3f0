#!/usr/bin/env python3
"""docs/sql.md lists the tables that there are, and its examples work. With --update the list is written anew. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys

SCHEDSCOPE = os.environ.get("SCHEDSCOPE", "build/schedscope")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/sql.md"
# One has interrupts and cgroups, the other stacks; no recording here has a quota.
FILES = [ROOT / "tests/data" / f for f in ("together/together.pftrace.gz", "perf/host-callgraph.data.gz")]


def run(*args):
    done = subprocess.run([SCHEDSCOPE, "query", *map(str, args)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, f"{args}: {done.stderr}"
    return json.loads(done.stdout)


def fill(text):
    """The page with its list."""
    known = run("--tables", "--json")
    parts = []
    for name, table in known["tables"].items():
        rows = "".join(f"| `{column}` | {what} |\n" for column, what in table["columns"].items())
        parts.append(f"### {name}\n\n{table['what'][0].upper()}{table['what'][1:]}.\n\n| column | meaning |\n|---|---|\n{rows}\n")
    functions = dict(known["functions"])
    sqlite = functions.pop("of SQLite")
    rows = "".join(f"| `{name}` | {what} |\n" for name, what in functions.items())
    parts.append(f"### Functions\n\n| function | meaning |\n|---|---|\n{rows}\nOf SQLite: {sqlite}.\n")
    text, nr = re.subn(r"(<!-- tables -->\n).*?(<!-- end -->)", lambda m: m[1] + "".join(parts) + m[2], text, flags=re.S)
    assert nr == 1
    return text


def main():
    text = PAGE.read_text()
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(fill(text))
        return 0
    examples = re.findall(r"```sql\n(.*?)```", text, re.S)
    print(f"1..{len(examples) + 1}")
    failed = fill(text) != text
    print(f"{'not ok' if failed else 'ok'} 1 - the_page_lists_the_tables_that_there_are")
    for number, query in enumerate(examples, 2):
        name = re.sub(r"\s+", " ", query)[:60].replace("#", "")
        try:
            rows = [len(run(file, "--json", "--sql", query)["rows"]) for file in FILES]
            assert any(rows) or "throttle " in query, "no rows"
            print(f"ok {number} - {name}")
        except AssertionError as error:
            failed = True
            print(f"not ok {number} - {name}\n# {error}")
    return failed


sys.exit(main())
