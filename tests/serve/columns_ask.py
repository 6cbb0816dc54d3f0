"""Questions to DuckDB and ClickHouse about the files of `serve --parquet`, through the queries that ship."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

from serve import SOURCE, WAIT_S, Skip, expect

sys.path[1:1] = [str(SOURCE / "tests/parquet"), str(SOURCE / "tests/parquet/readers")]
from packages import chdb_node, install, is_emulated, place  # noqa: E402  pylint: disable=wrong-import-position

SQL = SOURCE / "share/schedscope/sql"


@functools.lru_cache(maxsize=None)
def packages():
    where = place()
    reason = install(where)
    if reason and os.environ.get("CI"):
        raise AssertionError(reason)
    if reason:
        raise Skip(reason)
    return where


def ask(path, *queries, engine="duckdb", more=()):
    """The rows of each query, as lists of texts; more are further files of SQL."""
    dialect = "clickhouse" if engine == "chdb" else engine
    work = {"dir": str(path), "sql": [str(SQL / f"{dialect}-serve{part}.sql") for part in ("", *more)], "queries": queries}
    node, where = chdb_node() if engine == "chdb" else ([shutil.which("node")], packages())
    wait_s = 1200 if is_emulated() else WAIT_S * 3
    done = subprocess.run([*node, where / "ask.mjs", engine], input=json.dumps(work), capture_output=True, text=True, timeout=wait_s, check=False)
    expect(done.returncode == 0, done.stderr)
    answers = json.loads(done.stdout)["answers"]
    for query, answer in zip(queries, answers):
        expect("error" not in answer, f"{query}: {answer.get('error')}")
    return [answer["rows"] for answer in answers]


def files(path):
    """All of them, also those that begin with a dot."""
    return sorted(str(file.relative_to(path)) for file in pathlib.Path(path).rglob("*") if not file.is_dir())
