"""Reads `perf sched timehist`: one line per switch-out, times in milliseconds with three digits.

Its scheduling delay starts at sched_waking, as our waking delay does, and for the first line of a new task
at sched_wakeup_new. It forgets a waking that came while the task was still on a CPU, and prints a delay below
a microsecond as none.
"""
import collections
import re
import subprocess

# time [cpu] comm[tid/pid] wait delay run
LINE = re.compile(r"\s*[\d.]+ \[\d+\]\s+\S.*\[(\d+)(?:/\d+)?\]\s+[\d.]+\s+([\d.]+)\s+[\d.]+")


def read(path):
    """delays[tid], lists of microseconds, of the tasks that are born in a perf recording."""
    out = subprocess.run(["perf", "sched", "timehist", "-i", path], capture_output=True, text=True,
                         errors="replace", check=True).stdout
    delays, known = collections.defaultdict(list), set()
    for line in out.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        tid, delay = int(found[1]), float(found[2]) * 1000
        if tid in known and delay:
            delays[tid].append(delay)
        known.add(tid)
    return delays
