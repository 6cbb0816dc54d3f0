#!/usr/bin/env python3
"""The problems of docs/debugging.md, planted (plant.py): the first lines of `analyze FILE` name the cause, so does `explain`, and so
does the MCP server (tools/mcp-planted asks it alone)."""
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "mcp"), str(HERE.parent / "trace")]

from by_hand import BY_HAND  # noqa: E402  pylint: disable=wrong-import-position
from live import IS_EMULATED, ROOT, SCHEDSCOPE, Disturbed, NotHere, case, expect, main, output, scratch  # noqa: E402  pylint: disable=wrong-import-position
from plant import EVENTS, NAMED  # noqa: E402  pylint: disable=wrong-import-position
from test_record import Record  # noqa: E402  pylint: disable=wrong-import-position
from trace_client import leading_answers  # noqa: E402  pylint: disable=wrong-import-position

SECONDS = "24" if IS_EMULATED else "2"  # there, 3 s of CPU time pass until the problem begins
STARTING = r"|python3|schedscope|plant" if IS_EMULATED else ""  # the start of a program takes seconds there
FIRST_LINES = 3
MAX_OTHERS = 0.3  # of a CPU; python3 and schedscope among them


def lines_of(*words):
    done = output([SCHEDSCOPE, *words], env={**os.environ, "COLUMNS": "200"})
    expect(done.returncode == 0, done.stderr)
    return done.stdout.splitlines()


def expect_words(where, text, patterns):
    for pattern in patterns:
        expect(re.search(pattern, text), f"{where} does not say {pattern!r}: {text}")


def check(path, patterns, explain, explained, more=()):
    """Names of the cause in the first lines and by the server, which says more; more in a sentence of `explain`, too.

    `explain` are words for it, or what finds them in the recording."""
    first = "\n".join(lines_of("analyze", path)[:FIRST_LINES])
    expect_words("analyze", first, patterns)
    expect_words("the server", leading_answers(path, [*patterns, *more]), [*patterns, *more])
    words = explain(path) if callable(explain) else explain
    expect_words("explain", "\n".join(lines_of("explain", path, *words)), explained)


def expect_calm(path, ours):
    """Answers are about whoever loses most: others had hardly any time."""
    report = json.loads("\n".join(lines_of("analyze", path, "process_runtime", "--by", "comm", "-n", "1000", "--json")))
    rows = report["processes"]
    others = {row["comm"]: row["total_runtime_ns"] for row in rows if not re.fullmatch(ours + STARTING, row["comm"])}
    share = sum(others.values()) / (float(SECONDS) * 1e9)
    if share > MAX_OTHERS:
        raise Disturbed(f"others ran for {100 * share:.0f} % of a CPU: {sorted(others, key=others.get)[-3:]}")


def planted(name, tasks, explain, explained, more=()):
    """Records one problem, and checks what is said of it."""
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--events", EVENTS.get(name, "default")) as ours:
            done = output([sys.executable, HERE / "plant.py", name, SECONDS])
            expect(done.returncode == 0, done.stderr)
            time.sleep(0.1)
            ours.finish()
        expect_calm(ours.path, tasks)
        check(ours.path, NAMED[name], explain, explained, more)


def need_cpus():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise NotHere("needs CPUs 0 and 1")


@case
def a_neighbour():
    need_cpus()
    planted("neighbour", "server|batch", ["-c", "server"],
            [r"server \(\d+\).* waited", r"behind .*batch"])


@case
def a_quota():
    need_cpus()
    planted("quota", "worker", ["-c", "worker"], [r"throttled", r"cgroup /build-\d+"])


@case
def a_real_time_hog():
    need_cpus()
    planted("fifo", "worker|urgent", ["-c", "worker"], [r"behind urgent \(\d+, FIFO 50\)"])


@case
def a_convoy():
    planted("convoy", "workload|convoy.*|holder|waiter", ["-c", "waiter", "--sleeps", "-n", "20"],
            [r"waiter \(\d+\) slept", r"holder \(\d+\) had it for"], [r"waiter slept [0-9.]+s in futex .* until holder woke it"])


def waits_of_a_child(path):
    """All waits of one task that a shell started, its first among them."""
    forks = json.loads("\n".join(lines_of("query", path, "-e", "sched_process_fork", "-w", "comm=sh", "-n", "50", "--json")))
    return ["--tid", str(forks["events"][-1]["fields"]["child_pid"]), "-n", "100"]


@case
def a_fork_storm():
    planted("storm", "spawner|sh|true|python3", waits_of_a_child,
            [r"\(\d+\) was started by sh \(\d+\)"])


@case
def fsync():
    planted("fsync", "db|jbd2.*|kworker.*", ["-c", "db", "--sleeps", "-n", "50"],
            [r"db \(\d+\) slept .* in fsync\(\d+\), for data to reach the disk"])


@case
def page_faults():
    planted("fault", "reader|kworker.*", ["-c", "reader", "--sleeps"],
            [r"sleeps of reader, together .* page fault"])


@case
def a_wrong_affinity():
    need_cpus()
    planted("affinity", "pinned", ["-c", "pinned"], [r"It is bound to CPU 0"])


@case
def the_slow_request_of_the_tutorial():
    """Its numbers differ from run to run; what docs/tutorial.md concludes from them does not."""
    with scratch() as folder:
        path = os.path.join(folder, "t")
        done = output([SCHEDSCOPE, "record", "-o", path, "--", sys.executable, ROOT / "docs/examples/slow-request.py",
                       "--seconds", SECONDS])
        expect(done.returncode == 0 and re.search(r"^\d+ requests: median ", done.stdout, re.M), f"{done.stdout} {done.stderr}")
        expect("next: schedscope analyze" in done.stderr, done.stderr)
        expect_calm(path, "service|compress-logs|python3")
        first = "\n".join(lines_of("analyze", path)[:FIRST_LINES])
        expect_words("analyze", first, [r"service \(\d+\) waited .* behind compress-logs"])
        expect_words("explain", "\n".join(lines_of("explain", path, "-c", "service")), [r"behind .*compress-logs"])


@case
def steal():
    with scratch() as folder:
        path = os.path.join(folder, "t")
        pathlib.Path(path).write_bytes(BY_HAND["steal"]())
        check(path, NAMED["steal"], ["-n", "1"], [r"hypervisor"])


if __name__ == "__main__":
    main()
