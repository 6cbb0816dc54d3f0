#!/usr/bin/env python3
"""convert: what Perfetto shows of a converted file is still in it. Prints TAP.

tests/data/*/*.shown.json hold what its trace_processor found in the files that `schedscope convert` makes of these recordings (tests/data/make_shown.py).
Here the file is decoded from its bytes alone (decode.py), and the rows of trace_processor are made of it by its rules: slices of CPUs, states of threads and
who woke them, names, interrupts, samples.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

import decode
import tp_model

DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data"
FILES = sorted(DATA.glob("*/*.shown.json"))
SOFTIRQS = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
CLOSES = {"irq_handler_exit", "softirq_exit", "workqueue_execute_end"}


def in_order(trace):
    """(cpu, event) of all CPUs by time, as they follow each other in the file where times are the same."""
    rows = [(event["ts"], event.get("order", (0, 0, 0)), cpu, event) for cpu in trace.events for event in trace.events[cpu] + trace.inferred[cpu]]
    return [(cpu, event) for _, _, cpu, event in sorted(rows, key=lambda row: row[:3])]


def records(trace):
    """Those that make states, as tp_model has them."""
    current = {}
    for cpu, e in in_order(trace):
        if e["name"] in ("switch", "sched_switch"):
            is_row = e["name"] == "switch"
            before, after = (current[cpu], e["next"]) if is_row else (e["arg_prev_pid"], e["arg_next_pid"])
            current[cpu] = after
            yield "SWITCH", cpu, 0, e["ts"], [before, after, e["prev_state"] if is_row else e["arg_prev_state"]]
        elif e["name"] == "waking":
            yield "WAKING", cpu, 0, e["ts"], [e["tid"], current[cpu]]
        elif e["name"] == "sched_waking":
            yield "WAKING", cpu, 0, e["ts"], [e["arg_pid"], e["pid"]]
        elif e["name"] == "task_newtask":
            yield "FORK", cpu, 0, e["ts"], [e["pid"], 0, e["arg_pid"]]
        elif e["name"] == "sched_process_free":
            yield "FREE", cpu, 0, e["ts"], [e["arg_pid"]]


class Shown:
    """One converted file, by the rules of trace_processor."""

    def __init__(self, data):
        self.trace = decode.Trace(data)
        self.states = tp_model.States(records(self.trace), is_compact=False, is_verbose=True)

    def release(self):
        return [[self.trace.system["uts"][3]]]

    def sched(self):
        slices = [row for rows in self.states.slices.values() for row in rows]
        return [[len(slices), sum(row[1] is None for row in slices)]]

    def runs(self):
        found = collections.defaultdict(lambda: [0, 0])
        for start, end, tid, _ in (row for rows in self.states.slices.values() for row in rows):
            if tid:
                found[tid][0] += 1
                found[tid][1] += end - start if end is not None else 0
        return [[tid, *row] for tid, row in found.items()]

    def state_rows(self):
        found = collections.defaultdict(lambda: [0, 0, 0])
        for row in self.states.rows:
            sums = found[row.tid, row.state]
            sums[0] += 1
            sums[1] += row.end - row.start if row.end is not None else 0
            sums[2] += row.waker is not None
        return [[*key, *row] for key, row in found.items()]

    def wakers(self):
        found = collections.Counter((row.tid, row.waker) for row in self.states.rows if row.waker is not None)
        return [[*key, nr] for key, nr in found.items()]

    def slices(self):
        """Interrupts and work. Names of functions are those that the file has for them."""
        found, open_ones = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list)
        for cpu, e in in_order(self.trace):
            name = e["name"]
            kind = name.split("_")[0]
            key = (kind, e["pid"] if kind == "workqueue" else cpu)
            if name == "irq_handler_entry":
                open_ones[key].append((f"Irq Cpu {cpu}", f"IRQ ({e['arg_name']})", e["ts"]))
            elif name == "softirq_entry":
                open_ones[key].append((f"SoftIrq Cpu {cpu}", SOFTIRQS[e["arg_vec"]], e["ts"]))
            elif name == "workqueue_execute_start":
                open_ones[key].append(("of a task", None, e["ts"]))
            elif name in CLOSES and open_ones[key]:
                track, name, start = open_ones[key].pop()
                found[track, name][0] += 1
                found[track, name][1] += e["ts"] - start
        for track, name, _ in (row for rows in open_ones.values() for row in rows):
            found[track, name][0] += 1
        return [[*key, *row] for key, row in found.items()]

    def renamed(self, tid):
        """Names of a thread of no known process."""
        return {e["arg_newcomm"] for events in self.trace.inferred.values() for e in events if e["name"] == "task_rename" and e["arg_pid"] == tid}

    def samples(self):
        found = collections.Counter(sample["tid"] for sample in self.trace.samples)
        return [[tid, nr] for tid, nr in found.items()]


def same(what, got, want):
    got, want = (collections.Counter(map(tuple, rows)) for rows in (got, want))
    assert got == want, f"{what}: {len(got - want)} that Perfetto does not show: {list(got - want)[:4]}, " \
                        f"{len(want - got)} that it shows: {list(want - got)[:4]}"


def without_functions(rows):
    """Of work only how much: names of functions are texts of the file, or addresses."""
    found = collections.defaultdict(lambda: [0, 0])
    for track, name, nr, ns in rows:
        sums = found[track, None if track == "of a task" else name]
        sums[0] += nr
        sums[1] += ns
    return [[*key, *row] for key, row in found.items()]


def check(path, folder):
    want = json.loads(path.read_text())
    out = pathlib.Path(folder) / "trace"
    source = path.with_name(path.name.removesuffix(".shown.json"))
    subprocess.run([os.environ["SCHEDSCOPE"], "convert", source, out], check=True, capture_output=True, timeout=60)
    shown = Shown(out.read_bytes())
    assert all(name == "ftrace_cpu_has_data_loss" for name, _ in want["errors"]), want["errors"]
    for what in ("release", "sched", "runs", "wakers", "samples"):
        same(what, getattr(shown, what)(), want[what])
    same("states", shown.state_rows(), want["states"])
    same("slices", shown.slices(), without_functions(want["slices"]))
    for tid, name, pid, process in want["threads"]:
        thread, comms = shown.trace.threads.get(tid), shown.trace.comms[tid] | shown.renamed(tid)
        assert name == thread["name"] if thread else name in comms or not comms, (tid, name, thread, comms)
        assert pid != 0 and (not thread or pid == thread["tgid"]), (tid, pid, thread)
        assert pid not in shown.trace.processes or process == shown.trace.processes[pid]["cmdline"][0].split(" ")[0], (tid, process)
    named = {tid for tid, name, *_ in want["threads"] if name}
    assert len(named) >= 0.9 * len(want["threads"]), want["threads"]


def main():
    failed = 0
    print(f"1..{len(FILES)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(FILES, 1):
            try:
                check(path, folder)
                print(f"ok {number} - {path.parent.name}/{path.name}", flush=True)
            except Exception:  # a failed case is reported, the others go on
                failed += 1
                print(f"not ok {number} - {path.parent.name}/{path.name}")
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()[-3:]), flush=True)
    sys.exit(1 if failed or not FILES else 0)


if __name__ == "__main__":
    main()
