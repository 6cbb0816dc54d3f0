#!/usr/bin/env python3
"""The five questions of README.md: one command each, its answer on one screen of 80 columns and 24 lines, the cause in the first three lines.

A server and two batch jobs, each kind in a cgroup of its own, share CPU 0; then the server is alone.
"""
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "mcp"), str(HERE.parent / "trace")]

from live import (IS_EMULATED, SCHEDSCOPE, Disturbed, NotHere, case, cpu_cgroups, expect, main, move, need_live,  # noqa: E402  pylint: disable=wrong-import-position
                  output, scratch)
from plant import busy, child, serve  # noqa: E402  pylint: disable=wrong-import-position
from test_planted import expect_calm  # noqa: E402  pylint: disable=wrong-import-position
from test_stat_cli import on_terminal  # noqa: E402  pylint: disable=wrong-import-position

COLUMNS, LINES, FIRST = 80, 24, 3
SECONDS = 20 if IS_EMULATED else 3


def screen(*words):
    """The lines that stay on a terminal after a command of ours: all of them, or the last screen that was drawn."""
    data = on_terminal(*words, env={"LC_ALL": "C.UTF-8", "NO_COLOR": "1"}, sizes=[(COLUMNS, LINES)])
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", data.split(b"\x1b[H")[-1].decode())
    return text.replace("\r\n", "\n").rstrip("\n").split("\n")


def answer(words, *patterns):
    """One screen, whose first lines say all of it."""
    lines = screen(*words)
    expect(len(lines) < LINES and max(map(len, lines)) <= COLUMNS, f"{words} does not fit: {lines}")
    first = " ".join(lines[:FIRST])
    for pattern in patterns:
        expect(re.search(pattern, first), f"{words}: {pattern!r} is not in the first lines: {lines}")
    return lines


class Load:
    """The server, and batch jobs beside it if there are any, each in its cgroup."""

    def __init__(self, web, batch, nr_jobs):
        end = time.monotonic() + 10 * SECONDS
        join = lambda group: lambda: move(os.getpid(), group)  # noqa: E731
        self.pids = [child("server", lambda: serve(end), {0}, join(web))]
        self.pids += [child("batch", lambda: busy(end), {0}, join(batch)) for _ in range(nr_jobs)]

    def __enter__(self):
        time.sleep(0.2)
        return self

    def __exit__(self, *exc):
        for pid in self.pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def record(path):
    done = output([SCHEDSCOPE, "record", "--duration", str(SECONDS), "-o", path])
    expect(done.returncode == 0, done.stderr)


def which_tasks_wait():
    lines = answer(["stat", "-r", "2"], r"\d+ CPUs +.*waiting [\d.]+ per CPU")
    most = re.search(r"(?m)^(.+) waited longest: ([\d.]+m?s).*$", "\n".join(lines[:FIRST]))
    expect(most, f"no answer: {lines}")
    if most[1] not in ("server", "batch"):
        raise Disturbed(f"{most[0]}")
    expect("mostly when preempted" in most[0], f"two jobs on one CPU preempt each other: {most[0]}")


@case
def each_has_one_command_and_one_screen():
    need_live()
    if not {0, 1} <= os.sched_getaffinity(0):
        raise NotHere("needs CPUs 0 and 1")
    with scratch() as folder, cpu_cgroups("web", "batch") as (web, batch):
        before, after = os.path.join(folder, "before"), os.path.join(folder, "after")
        with Load(web, batch, 2):
            which_tasks_wait()
            record(before)
            expect_calm(before, "server|batch")
        with Load(web, batch, 0):
            record(after)
            expect_calm(after, "server|batch")  # else tasks of others may be worse, and are reported
        answer(["explain", before, "-c", "server", "-n", "1"], r"server \(\d+\) waited [\d.]+[mu]?s", r"(behind|lost CPU 0 to) .*\bbatch\b")
        answer(["analyze", before], r"(server|batch) \(.*\) waited [\d.]+m?s", r"CPU 1 was idle,\s+but\s+its\s+affinity\s+forbids\s+it")
        answer(["analyze", before, "blame", "--by", "cgroup"], r"schedscope-(web|batch)-\d+ waited", rf"behind .*{os.path.basename(batch)}")
        answer(["diff", before, after], r"^B is better: tasks wait less for a CPU", r"server|all tasks")


if __name__ == "__main__":
    main()
