#!/usr/bin/env python3
"""The tool query, in the process without rights that holds a trace: known answers, bounds, and hostile texts. Prints TAP."""
import json
import pathlib
import re
import subprocess
import sys
import time

from trace_client import SCHEDSCOPE, refusal
from trace_files import DATA, real, run_cases, start

CASES = []
NAME = "e-guest-scx-vtime"
FILE = DATA / "perfetto" / f"{NAME}.pftrace.gz"
ENDLESS = "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x"
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/sql.md"


def case(function):
    CASES.append(function)
    return function


def holder(c):
    """The process that holds the only trace."""
    (pid,) = (int(path.name) for path in pathlib.Path("/proc").glob("[0-9]*") if is_holder(path, c.child.pid))
    return pid


def is_holder(path, parent):
    try:
        return ((path / "cmdline").read_bytes().startswith(b"schedscope-sandbox\0traces\0")
                and f"PPid:\t{parent}\n" in (path / "status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return False  # it ended meanwhile


def cli(query):
    done = subprocess.run([SCHEDSCOPE, "query", FILE, "--json", "--all", "--sql", query], capture_output=True, timeout=60)
    return [list(row.values()) for row in json.loads(done.stdout)["rows"]]


@case
def answers_are_those_of_the_command_line():
    with start() as c:
        real(c, NAME)
        queries = re.findall(r"```sql\n(.*?)```", EXAMPLES.read_text(), re.S)
        assert len(queries) > 10
        for query in queries:
            got = c.call("query", sql=query, limit=1000)
            assert got["rows"] == cli(query) and got["row_count"] == len(got["rows"]), query
            assert got["truncated"] is False and got["trace_id"] == NAME and len(got["columns"]) > 1


@case
def sums_are_those_of_other_tools():
    with start() as c:
        real(c, NAME)
        blame = c.call("blame", aggregation_mode="per_comm", limit=5)
        (row,) = c.call("query", sql="SELECT count(*), sum(dur) FROM wait")["rows"]
        assert row == [blame["waits"], blame["wait_ns"]]
        (row,) = c.call("query", sql="SELECT sum(dur) FROM wait_part")["rows"]
        assert row == [blame["wait_ns"]]
        runtime = c.call("analyze", type="process_runtime", limit=1)
        assert c.call("query", sql="SELECT sum(dur) FROM sched_slice")["rows"] == [[runtime["total_runtime_ns"]]]


@case
def an_answer_is_cut_and_says_so():
    with start() as c:
        real(c, NAME)
        got = c.call("query", sql="SELECT * FROM wait")
        assert got["truncated"] is True and got["truncated_by"] == "bytes" and got["row_count"] == len(got["rows"]) > 5
        assert c.last_bytes < 8192, c.last_bytes
        got = c.call("query", sql="SELECT ts FROM wait", limit=500)
        assert got["truncated_by"] == "rows" and len(got["rows"]) == 500
        got = c.call("query", sql="SELECT *, * FROM wait", limit=1000)
        assert got["truncated_by"] == "bytes" and c.last_bytes < 80000, c.last_bytes


@case
def the_tables_are_a_resource():
    with start() as c:
        def read(uri):
            return json.loads(c.request("resources/read", {"uri": uri})["contents"][0]["text"])

        assert "schema://tables" in [r["uri"] for r in c.request("resources/list")["resources"]]
        every = read("schema://tables")
        assert len(every["tables"]) > 12 and "percentile(x, p)" in every["functions"]
        real(c, NAME)
        for name, table in every["tables"].items():
            assert c.call("query", sql=f"SELECT * FROM {name} LIMIT 1")["columns"] == table["columns"], name
            one = read(f"schema://tables?table={name}")[name]
            assert one["what"] == table["what"] and list(one["columns"]) == table["columns"] and all(one["columns"].values()), one
        described = c.tools("core")["query"]["description"]
        for name, columns in re.findall(r"(\w+)\(([\w, ]+)\)", described.split("Tables", 1)[1].split("All columns")[0]):
            assert set(columns.split(", ")) <= set(every["tables"][name]["columns"]), name


@case
def hostile_queries_are_refused_or_bounded_and_the_trace_stays():
    long = "printf('%.90000c', 'x')"
    with start() as c:
        real(c, NAME)
        pid = holder(c)
        for text in ("ATTACH '/tmp/x' AS y", "PRAGMA temp_store_directory = '/tmp'", "VACUUM INTO '/tmp/x'", "CREATE TABLE x(a)",
                     "DELETE FROM wait", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT 1; SELECT 2",
                     "SELECT randomblob(1000000000)", "SELECT * FROM sqlite_master", "EXPLAIN SELECT 1", "", "x" * 30000,
                     "SELECT " + "(" * 5000, "SELECT " + "1," * 5000 + "1"):
            assert refusal(c, "query", sql=text), text
        assert "only SELECT is allowed" in refusal(c, "query", sql="ATTACH '/tmp/x' AS y")
        assert "wait has id, ts, dur" in refusal(c, "query", sql="SELECT x FROM wait")
        # Of memory, and of what sorts.
        assert "too much memory" in refusal(
            c, "query", sql=f"WITH RECURSIVE x(i, t) AS (SELECT 1, {long} UNION ALL SELECT i + 1, t || '' FROM x) "
                            "SELECT i FROM x ORDER BY t, i")
        for text in (f"SELECT instr({long}, {long} || 'y')", f"SELECT {long} LIKE '{'%x' * 40}y'"):
            c.call("query", sql=text)
        assert holder(c) == pid and c.call("query", sql="SELECT count(*) FROM thread")["rows"][0][0] > 10


@case
def an_endless_query_ends():
    with start() as c:
        real(c, NAME)
        pid = holder(c)
        begun = time.monotonic()
        assert "took more than 5000 ms" in refusal(c, "query", sql=ENDLESS)
        assert time.monotonic() - begun < 60
        assert holder(c) == pid


@case
def a_query_can_be_cancelled():
    with start() as c:
        real(c, NAME)
        pid = holder(c)
        number = c.ask("tools/call", {"name": "query", "arguments": {"sql": ENDLESS}})
        time.sleep(0.3)
        c.notify("notifications/cancelled", {"requestId": number})
        begun = time.monotonic()
        assert c.call("query", sql="SELECT 1 AS x")["rows"] == [[1]]
        assert time.monotonic() - begun < 4 and holder(c) == pid


sys.exit(run_cases(CASES))
