"""Recordings of tests/data as tests see them: the tables, the records, and what analyses answer."""
import collections
import json
import os
import pathlib
import subprocess

import tp_model

DATA = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"]) / "tests/data"
PERFETTO = sorted(path.name.removesuffix(".pftrace.gz") for path in (DATA / "perfetto").glob("*.pftrace.gz"))
CACHE = {}

TABLES = {
    "slice": "start end task cpu prio state how",
    "wait": "waking wakeup end task waker cpu cause flags is_open",
    "sleep": "start end task state is_open",
    "migration": "ts task from_cpu to_cpu",
    "span": "start end kind id name cpu task",
    "counter": "ts kind cpu value",
    "mark": "ts kind cpu task",
    "idle": "start end cpu is_open",
    "gap": "start end task cpu reason",
    "dsq": "start end dsq task layer how has_start",
    "run": "ts dsq layer task cpu",
    "pmu": "ts name value task cpu",
    "extent": "start end",
    "cpu": "cpu busy idle unknown",
    "breaks": "prev_mismatch running_twice missing_in missing_wakeup double_waking missed_run lost_slices lost_states "
              "dropped_waits unmatched_spans",
}
ROWS = {name: collections.namedtuple(name, words) for name, words in TABLES.items()}


def path_of(name):
    kind = "perfetto" if name in PERFETTO else "wprof"
    return DATA / kind / f"{name}.{'pftrace' if kind == 'perfetto' else 'pb'}.gz"


def task_of(word):
    return tuple(map(int, word.split(":"))) if word != "-" else None


def name_of(word):
    return bytes.fromhex(word[1:]).decode("utf-8", "replace") if word.startswith("x") else word


VALUES = {name: [{"task": task_of, "waker": task_of, "name": name_of}.get(field, int) for field in kind._fields]
          for name, kind in ROWS.items()}


class Recording:
    """The tables, the raw records and the answers of one file."""

    def __init__(self, path):
        self.path = path
        self.tables = collections.defaultdict(list)
        for line in self.ask("TABLE_DUMP").splitlines():
            name, *words = line.split("\t")
            self.tables[name].append(ROWS[name]._make([value(word) for value, word in zip(VALUES[name], words)]))
        self.answers = {}

    def ask(self, program, *words):
        """A program of ours about the file; the main one has its command first."""
        command = [words[0]] if program == "SCHEDSCOPE" else []
        words = [os.environ[program], *command, self.path, *words[len(command):]]
        return subprocess.run(words, capture_output=True, check=True).stdout.decode()

    def __getattr__(self, name):
        if name not in TABLES:
            raise AttributeError(name)
        return self.tables[name]

    def records(self):
        """What the reader delivers, in the words of read_dump; the last line is about the file."""
        if "records" not in self.answers:
            self.answers["records"] = self.ask("READ_DUMP", "records").splitlines()
        return self.answers["records"][:-1]

    def info(self):
        if "info" not in self.answers:
            self.records()
            self.answers["info"] = json.loads(self.answers["records"][-1])
        return self.answers["info"]

    def analyze(self, *words):
        """All analyses, or one, with all rows."""
        if words not in self.answers:
            out = self.ask("SCHEDSCOPE", "analyze", *words, "--json", "--limit", "1000000")
            self.answers[words] = json.loads(out)
        return self.answers[words]

    def wakes(self, tid):
        """[(ts, kind)] of switches, wakings, wakeups and ends of a task in the order of time."""
        if "wakes" not in self.answers:
            seen = self.answers["wakes"] = collections.defaultdict(list)
            for line in self.records():
                kind, _, _, ts, payload = line.split(" ")
                if kind not in ("SWITCH", "WAKING", "WAKEUP", "EXIT"):
                    continue
                raw = bytes.fromhex(payload[:16])
                tids = [int.from_bytes(raw[i:i + 4], "little") for i in (0, 4)]
                for i, one in enumerate(tids if kind == "SWITCH" else tids[:1]):
                    seen[one].append((int(ts), ("OUT" if i == 0 else "IN") if kind == "SWITCH" else kind))
            for events in seen.values():
                events.sort()
        return self.answers["wakes"][tid]

    def wake_set(self, tid):
        sets = self.answers.setdefault("wake_sets", {})
        if tid not in sets:
            sets[tid] = set(self.wakes(tid))
        return sets[tid]

    def wait_keys(self):
        """(tid, end, start) of all waits."""
        if "wait_keys" not in self.answers:
            self.answers["wait_keys"] = {(row.task[1], row.end, row.waking or row.wakeup) for row in self.wait}
        return self.answers["wait_keys"]

    def length(self):
        return self.extent[0].end - self.extent[0].start


def recording(name):
    if name not in CACHE:
        CACHE[name] = Recording(path_of(name))
    return CACHE[name]

def states_of(rec):
    """Rows as trace_processor has them, made from our records."""
    if "states" not in rec.answers:
        is_wprof = "wprof" in str(rec.path).removeprefix(str(DATA))
        is_verbose = "old" in str(rec.path).removeprefix(str(DATA))
        records = tp_model.parse(rec.records())
        if is_wprof:  # its ftrace bundles record nothing else, and its wakings are never compact
            records = (r for r in records if r[0] in ("SWITCH", "WAKING"))
        rec.answers["states"] = tp_model.States(records, is_compact=not is_wprof, is_verbose=is_verbose)
    return rec.answers["states"]
