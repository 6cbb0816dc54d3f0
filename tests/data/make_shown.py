#!/usr/bin/env python3
"""make_shown.py TRACE_PROCESSOR SCHEDSCOPE FILE...: what Perfetto shows of recordings that were converted; FILE.shown.json beside each.

`schedscope convert` makes a trace of each FILE, and Perfetto's trace_processor, whose tables are what its UI shows, is asked about it. A thread is a
tid: where one was used twice, both are added up. Open rows count, their time does not.
"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

QUERIES = {
    "errors": "select name, sum(value) n from stats where value != 0 and severity in ('error', 'data_loss') group by 1",
    "release": "select str_value name from metadata where name = 'system_release'",
    "sched": "select count(*) n, ifnull(sum(dur < 0), 0) open from sched",
    "threads": "select t.tid, min(t.name) name, min(p.pid) pid, min(p.name) process from thread t left join process p using(upid) where t.tid != 0 group by 1",
    "runs": "select tid, count(*) n, sum(max(dur, 0)) ns from sched join thread using(utid) where tid != 0 group by 1",
    "states": "select tid, state, count(*) n, sum(max(s.dur, 0)) ns, sum(waker_utid is not null) woken from thread_state s join thread using(utid)"
              " where tid != 0 group by 1, 2",
    "wakers": "select t.tid, w.tid waker, count(*) n from thread_state s join thread t using(utid) join thread w on w.utid = s.waker_utid group by 1, 2",
    "slices": "select ifnull(t.name, 'of a task') track, s.name, count(*) n, sum(max(s.dur, 0)) ns from slice s join track t on t.id = s.track_id group by 1, 2",
    "samples": "select tid, count(*) n from perf_sample join thread using(utid) group by 1",
}


def ask(trace_processor, trace, query):
    out = subprocess.run([trace_processor, "query", trace, query], capture_output=True, check=True, text=True).stdout
    return [{key: None if value == "[NULL]" else int(value) if value.lstrip("-").isdigit() else value for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(out))]


def main():
    """Command line."""
    trace_processor, schedscope, *files = sys.argv[1:]
    version = subprocess.run([trace_processor, "--version"], capture_output=True, check=True, text=True).stdout.split("\n")[0].replace(" (N/A)", "")
    for path in map(pathlib.Path, files):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace"
            subprocess.run([schedscope, "convert", path, trace], check=True, capture_output=True)
            shown = {name: [list(row.values()) for row in ask(trace_processor, trace, query)] for name, query in QUERIES.items()}
        parts = [f' "by": {json.dumps(version)}'] + [f" {json.dumps(name)}: {json.dumps(rows)}" for name, rows in shown.items()]
        path.with_name(path.name + ".shown.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")
        print(path.name, shown["sched"], shown["errors"])


if __name__ == "__main__":
    main()
