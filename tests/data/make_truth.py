#!/usr/bin/env python3
"""make_truth.py FILE...: what the programs that recorded them find in recordings; FILE.truth.json beside each.

A file of perf is read by `perf script` (all events), `perf sched timehist` and `perf sched latency` (times of each task), a trace.dat by
`trace-cmd report`; text of tracefs is read here, line by line. From the events of all of them tests/live/pair.py makes waits, slices and sleeps, by the
definitions alone: no code of schedscope is used. Files in .gz, .zst and .tar.xz are unpacked first.

A task is whole if it is born and ends in the recording, and none of its switches is missing: `perf` calls those context switch bugs,
counts them, and says nothing of the tasks. They are found here by the same rule, and both counts must be the same.
"""
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import pair  # noqa: E402  (it is not in this folder)

PERF_LINE = re.compile(r"\s*(.*?)\s+(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+([\w:./=-]+): ?(.*)")
# task-tid (tgid) [cpu] flags time: event: fields; of trace-cmd without the tgid, in the format of latencies cpu and flags are one word.
TEXT_LINE = re.compile(r"\s*(.*)-(\d+)\s+(?:\(\s*(?:\d+|-+)\)\s+)?\[(\d+)\]\s*(?:\S{4,6}\s+)?(?:(\d+)\.(\d+)|(\d+)): ([\w-]+):\s+(.*)")
LATENCY_LINE = re.compile(r"\s*(.*?)-(\d+)\s+(?:\(\s*(?:\d+|-+)\)\s+)?(\d+)(\S{4,6})\s+(?:(\d+)us[ !#*$@+]?:|(\d+)\.(\d+):|(\d+)us\s*\S?:)\s+([\w-]+):\s+(.*)")
LOST_LINE = re.compile(r"CPU:(\d+) \[(?:LOST (\d+) EVENTS|(?:(\d+) )?EVENTS DROPPED)\]")
SUMMARY = re.compile(r"\s*(.*)\[(\d+)(?:/\d+)?\]\s+(-?\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$")
LATENCY = re.compile(r"\s*(.*?):(\d+)\s+\|\s+([\d.]+) ms \|\s+(\d+) \| avg:\s*([\d.]+) ms \| max:\s*([\d.]+) ms")
FORK = re.compile(r"comm=.* pid=\d+ child_comm=.* child_pid=(\d+)")
FORK_RECORD = re.compile(r"(\d+\.\d+): PERF_RECORD_FORK\(\d+:(\d+)\)")
SCHED = {"sched_switch", "sched_wakeup", "sched_wakeup_new", "sched_waking", "sched_migrate_task"}


def output(*words, may_fail=False):
    done = subprocess.run(words, capture_output=True, check=not may_fail, stdin=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def unpacked(path, folder):
    """The recording itself."""
    if path.suffixes[-2:] == [".tar", ".xz"]:
        with tarfile.open(path) as archive:
            archive.extractall(folder)
        return pathlib.Path(folder) / path.name.replace(".tar.xz", ".data")
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    else:
        return path
    plain = pathlib.Path(folder) / path.stem
    plain.write_bytes(data)
    return plain


class Events:
    """All events in order of time: (ns, cpu, name, fields); names are without their system. lost: what the tool says of losses."""

    def __init__(self):
        self.rows, self.names, self.lost = [], collections.Counter(), 0
        self.gaps = 0         # places where events are missing, also those of which the number is not known
        self.overwritten = 0  # before the first event of a CPU: the buffer was too small for all
        self.samples = 0  # that are no tracepoints
        self.forks = set()    # children of records of perf itself, of which no event may be there
        self.unnamed = set()  # (ns, cpu) of events in the context of a task that has no number any more

    def add(self, at, cpu, name, fields):
        self.names[name] += 1
        self.rows.append((at, cpu, name, fields))

    def in_order(self):
        return sorted(self.rows, key=lambda row: row[0])


def of_perf(path):
    events = Events()
    text, _ = output("perf", "script", "-i", path, "--ns", "--show-lost-events", "--show-task-events", "-F", "comm,pid,tid,cpu,time,event,trace", may_fail=True)
    for line in text.splitlines():
        found = PERF_LINE.fullmatch(line)
        if found and ":" in found[7].rstrip(":"):
            at, cpu = int(found[5]) * 10**9 + int(found[6]), int(found[4])
            events.add(at, cpu, found[7].partition(":")[2], found[8])
            if found[3] == "-1":
                events.unnamed.add((at, cpu))
        elif "PERF_RECORD_FORK" in line:
            at, child = FORK_RECORD.search(line).groups()
            if float(at):  # those of tasks that were there before have no time
                events.forks.add(int(child))
        elif "PERF_RECORD_LOST" in line:
            events.lost += int(line.split("lost ")[-1].split()[0])
            events.gaps += 1
        elif found:
            events.names[found[7]] += 1
            events.samples += 1
    return events


def of_trace_cmd(path):
    """Names of buffers come before each event of such files: they are left out, the top one has none."""
    text, _ = output("trace-cmd", "report", "-N", "-t", "-i", path)
    return of_text(re.sub(r"^ *\w+:(?= )", "", text, flags=re.M))


def of_text(text):
    events, cpus = Events(), set()
    for line in text.splitlines():
        lost = LOST_LINE.match(line)
        if lost:
            cpu, number = int(lost[1]), int(lost[2] or lost[3] or 0)
            if cpu in cpus:
                events.gaps += 1
                events.lost += number
            else:
                events.overwritten += number
            continue
        found = TEXT_LINE.fullmatch(line)
        if found:
            _, _, cpu, seconds, fraction, ticks, name, fields = found.groups()
            at = int(seconds) * 10**9 + int(fraction.ljust(9, "0")) if seconds else int(ticks)
            events.add(at, int(cpu), name, fields)
            cpus.add(int(cpu))
            continue
        found = LATENCY_LINE.fullmatch(line)
        if found:
            at = found[5] or found[8]
            events.add(int(at) * 1000, int(found[3]), found[9], found[10])
        elif line.strip() and not line.startswith(("#", "cpus=", "version", "CPU ")):
            raise SystemExit(f"not understood: {line}")
    return events


class Story:
    """Who is whole, and what perf would count as context switch bugs."""

    def __init__(self, events, unnamed):
        self.births, self.deaths, self.broken, self.bugs = {}, {}, set(), 0
        self.comms, self.wakeups, self.wakings, self.ins = {}, collections.Counter(), collections.Counter(), collections.Counter()
        self.migrations = collections.Counter()
        self.last_runs = collections.defaultdict(lambda: [0, 0])  # number and ns, of tasks that had no number any more when they left their CPU: timehist does not know whose they are
        self._unnamed, self._since = unnamed, {}
        on_cpu = {}
        for at, cpu, name, fields in events:
            if name == "sched_switch":
                self._switch(at, cpu, fields, on_cpu)
            elif name in ("sched_wakeup", "sched_waking", "sched_wakeup_new", "sched_migrate_task"):
                comm, tid = pair.WAKEUP.match(fields).groups()
                tid = int(tid)
                {"sched_waking": self.wakings, "sched_migrate_task": self.migrations}.get(name, self.wakeups)[tid] += 1
                self.comms.setdefault(tid, comm)
                if name == "sched_wakeup_new":
                    self.births[tid] = at

    def _switch(self, at, cpu, fields, on_cpu):
        prev_comm, prev, state, next_comm, tid = pair.SWITCH.match(fields).groups()
        prev, tid = int(prev), int(tid)
        if on_cpu.get(cpu, prev) != prev:
            self.bugs += 1
            self.broken |= {prev, on_cpu[cpu]}
        if (at, cpu) in self._unnamed and cpu in self._since:
            self.last_runs[prev][0] += 1
            self.last_runs[prev][1] += at - self._since[cpu]
        on_cpu[cpu], self._since[cpu] = tid, at
        self.comms[prev], self.comms[tid] = prev_comm, next_comm
        self.ins[tid] += 1
        if state[0] in pair.DEAD:
            self.deaths[prev] = at

    def whole(self):
        return {tid for tid, at in self.births.items() if tid and tid not in self.broken and self.deaths.get(tid, 0) > at}


def with_wakeups(rows, is_waking_all):
    """The events; a waking is followed by its wakeup where none was recorded, that of a task on its way to sleep when it is there.

    A waking of a task on its CPU has not ended the sleep that follows if another one comes in it: then it is left out.
    """
    on_cpu, early = {}, {}
    if not is_waking_all:
        yield from rows
        return
    in_vain = early_wakings_in_vain(rows)
    for number, row in enumerate(rows):
        if number in in_vain:
            continue
        yield row
        at, cpu, name, fields = row
        if name == "sched_waking":
            tid = pair.WAKEUP.match(fields)[2]
            if tid in on_cpu.values():
                early[tid] = fields
            else:
                yield (at, cpu, "sched_wakeup", fields)
        elif name == "sched_switch":
            _, prev, state, _, on_cpu[cpu] = pair.SWITCH.match(fields).groups()
            if early.get(prev) and state not in ("R", "R+"):
                yield (at, cpu, "sched_wakeup", early.pop(prev))


def early_wakings_in_vain(rows):
    """Their numbers."""
    found, on_cpu, early = set(), {}, collections.defaultdict(list)
    for number, (_, cpu, name, fields) in enumerate(rows):
        if name == "sched_waking":
            tid = pair.WAKEUP.match(fields)[2]
            if tid in on_cpu.values():
                early[tid].append(number)
            else:
                found.update(early.pop(tid, ()))
        elif name == "sched_switch":
            _, prev, state, _, on_cpu[cpu] = pair.SWITCH.match(fields).groups()
            if state in ("R", "R+"):  # it does not sleep after all
                found.update(early.pop(prev, ()))
            early.pop(on_cpu[cpu], None)
    return found


def tasks_of(events):
    """Times of each task, in ns; and the Story."""
    rows = events.in_order()
    story = Story(rows, events.unnamed)
    # `perf sched record` of these versions records the waking alone: it is the end of the sleep, and the start of the wait.
    is_waking_all = not events.names["sched_wakeup"]
    pairs = pair.Pairs(row for row in with_wakeups(rows, is_waking_all) if row[2] in SCHED)
    whole = story.whole()
    tasks = {}
    for tid in sorted(tid for tid in story.ins if tid):
        sums = {metric: [0, 0] for metric in pair.Pairs.METRICS}
        for (one, _), samples in pairs.samples.items():
            for metric, found in samples.items() if one == tid else ():
                sums[metric][0] += len(found)
                sums[metric][1] += sum(sample[0] for sample in found)
        both = {"runs": ("voluntary", "involuntary"), "waits": ("woken", "new", "preempted"), "sleeps": ("S", "D", "other")}
        task = {"comm": story.comms[tid], "is_whole": tid in whole, "switched_in": story.ins[tid], "wakeups": story.wakeups[tid],
                "wakings": story.wakings[tid], "migrations": story.migrations[tid]}
        if is_waking_all:
            both["waits"] = ("waking", "new", "preempted")
        for name, metrics in both.items() if tid in whole else ():
            task[name] = sum(sums[metric][0] for metric in metrics)
            task[f"{name[:-1]}_ns"] = sum(sums[metric][1] for metric in metrics)
        if tid in whole:
            task["preempted"], task["preempted_ns"] = sums["preempted"]
            task["waking"], task["waking_ns"] = sums["waking"]
        if tid in whole and tid in story.last_runs:
            task["last_runs"], task["last_run_ns"] = story.last_runs[tid]
        tasks[tid] = task
    return tasks, story


def ms(text):
    return round(float(text) * 1e6)


def timehist(path):
    """Its summary: sums of each task, to the microsecond."""
    text, _ = output("perf", "sched", "timehist", "-s", "--state", "-i", path, may_fail=True)
    found = {}
    for line in text.splitlines():
        row = SUMMARY.fullmatch(line)
        if row:
            names = ("run_ns", "sleep_ns", "iowait_ns", "preempt_ns", "delay_ns")
            found[int(row[2])] = {"switched_in": int(row[4])} | {name: ms(row[5 + i]) for i, name in enumerate(names)}
    return found


def latency(path):
    """Its table, and how many context switch bugs it reports."""
    text, _ = output("perf", "sched", "latency", "-p", "-i", path, may_fail=True)
    found = {}
    for line in text.splitlines():
        row = LATENCY.match(line)
        if row:
            found[int(row[2])] = {"runtime_ns": ms(row[3]), "count": int(row[4]), "avg_ns": ms(row[5]), "max_ns": ms(row[6])}
    bugs = re.search(r"context switch bugs \((\d+) out of", text)
    return found, int(bugs[1]) if bugs else 0


def truth_of(path, plain):
    kind = plain.suffix.removeprefix(".")
    if kind == "data":
        events = of_perf(plain)
        by = output("perf", "--version")[0].strip()
    elif kind == "dat":
        events = of_trace_cmd(plain)
        by = "trace-cmd " + re.search(r"version (\S+)", output("trace-cmd", "report", "-h", may_fail=True)[0])[1]
    else:
        text = plain.read_text(errors="replace")
        if kind == "html":
            parts = re.findall(r'<script class="trace-data" type="application/text">(.*?)</script>', text, re.S)
            text = next(part for part in parts if "# tracer:" in part)
        events, by = of_text(text), "make_truth.py"
    tasks, story = tasks_of(events)
    rows = events.in_order()
    truth = {"by": by, "events": dict(sorted(events.names.items())), "lost": events.lost, "gaps": events.gaps, "overwritten": events.overwritten,
             "context_switch_bugs": story.bugs,
             "first_ns": rows[0][0] if rows else None, "last_ns": rows[-1][0] if rows else None, "tasks": tasks}
    if kind == "data":
        children = {int(FORK.match(row[3])[1]) for row in rows if row[2] == "sched_process_fork"}
        truth["fork_records"] = len(events.forks - children)
        theirs, (others, bugs) = timehist(plain), latency(plain)
        for name, found in (("timehist", theirs), ("latency", others)):
            truth[name] = {tid: row for tid, row in found.items() if tid in tasks and tasks[tid]["is_whole"]}
        if truth["latency"] and bugs != story.bugs:
            print(f"{path}: perf counts {bugs} context switch bugs, and we {story.bugs}", file=sys.stderr)
        for tid, task in tasks.items():
            theirs = truth["timehist"].get(tid)
            if task["is_whole"] and theirs and abs(theirs["run_ns"] - task["run_ns"] + task.get("last_run_ns", 0)) > 1000:
                print(f"{path}: {tid} ran {task['run_ns']} ns, and {theirs['run_ns']} by timehist", file=sys.stderr)
    return truth


def as_text(truth):
    """A line for each task, and for all else."""
    parts = []
    for name, value in truth.items():
        if name in ("tasks", "timehist", "latency"):
            rows = ",\n  ".join(f"{json.dumps(str(key))}: {json.dumps(row)}" for key, row in value.items())
            parts.append(f" {json.dumps(name)}: {{\n  {rows}}}" if value else f" {json.dumps(name)}: {{}}")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    """Command line."""
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        with tempfile.TemporaryDirectory() as folder:
            truth = truth_of(path, unpacked(path, folder))
        nr_whole = sum(task["is_whole"] for task in truth["tasks"].values())
        out = path.with_name(path.name + ".truth.json")
        out.write_text(as_text(truth))
        print(f"{path}: {sum(truth['events'].values())} events, {len(truth['tasks'])} tasks, {nr_whole} whole, "
              f"{truth['context_switch_bugs']} bugs, {truth['lost']} lost")


if __name__ == "__main__":
    main()
