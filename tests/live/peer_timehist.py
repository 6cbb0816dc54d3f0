"""Reads `perf sched timehist`: one line per switch-out, times in milliseconds with three digits.

Its scheduling delay starts at sched_waking, as our waking delay does. It forgets a waking that came while
the task was still on a CPU, and prints a delay below half a microsecond as none.
"""
import collections
import re
import subprocess

LINE = re.compile(r"\s*(\d+\.\d+) \[(\d+)\]\s+(\S.*)\[(\d+)(?:/\d+)?\]\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)")


def read(path):
    """delays[tid] and runs[tid], lists of microseconds, of a perf recording."""
    out = subprocess.run(["perf", "sched", "timehist", "-i", path], capture_output=True, text=True,
                         errors="replace", check=True).stdout
    delays, runs = collections.defaultdict(list), collections.defaultdict(list)
    for line in out.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        tid, delay, run = int(found[4]), float(found[6]) * 1000, float(found[7]) * 1000
        if delay:
            delays[tid].append(delay)
        runs[tid].append(run)
    return delays, runs
