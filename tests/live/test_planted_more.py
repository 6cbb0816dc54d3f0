#!/usr/bin/env python3
"""More planted problems (plant_more.py): the kernel's counters prove their cause, and the MCP server names it.

It gets the calls of an assistant who knows the name of the task that is slow, and no more: the recording, the task, and the call to
which that answer leads; and what they answer has to be short. Of each problem is written which words a right answer has, and which only a wrong one has. What a right answer
should have besides, but has not yet, is printed.
"""
import dataclasses
import json
import os
import re
import sys
import typing

from live import NotHere, case, expect, main, output, scratch, taken_of, truth_of
from test_planted import HERE, SECONDS, expect_calm, expect_words
from test_record import Record
from trace_client import MAX_BYTES, Client

MS = 1_000_000
SPAN_NS = float(SECONDS) * 1e9
RPS = "/sys/class/net/lo/queues/rx-0/rps_cpus"


@dataclasses.dataclass
class Problem:
    name: str
    tasks: str  # a pattern: all that take part
    victim: str
    proof: typing.Callable  # of the account: fails where the cause is another
    right: tuple  # patterns, each of which one of the sentences has
    wrong: tuple  # patterns that no sentence has
    unsaid: tuple = ()  # patterns that belong to right, or with ! in front to wrong, once answers are so


def total(account, comm, key):
    return sum(task[key] for task in account["tasks"] if task["comm"] == comm)


def weights_decide(account):
    """2 to 1024 shares: three want all of a CPU and none sleeps. With the same weight, one would get as much as both others."""
    few, many_ns = truth_of(account, "invoices"), total(account, "encoder", "run_ns")
    expect(not any(task["voluntary"] for task in account["tasks"]), f"one of them slept: {account['tasks']}")
    expect(few["run_ns"] < 0.2 * many_ns and few["wait_ns"] > 5 * few["run_ns"], f"shares of the CPUs: {account['tasks']}")


def the_holder_waits(account):
    """The urgent one hardly waits for its CPU, but long for the lock: its holder needs 4 ms, and waits for its own CPU."""
    urgent, holder = truth_of(account, "request"), truth_of(account, "janitor")
    expect(urgent["sum_ns"] > 0.4 * SPAN_NS and urgent["wait_ns"] < 0.1 * urgent["sum_ns"], f"the lock: {urgent}")
    expect(holder["run_ns"] < 0.2 * holder["sum_ns"] and holder["wait_ns"] > 0.7 * urgent["sum_ns"], f"its holder: {holder}")


def the_feeder_computes(account):
    """The reader sleeps while the writer is on its CPU; neither waits for one."""
    reader, writer = truth_of(account, "report"), truth_of(account, "feeder")
    expect(reader["asleep_ns"] > 0.7 * writer["run_ns"], f"the reader did not wait for data: {account['tasks']}")
    expect(reader["wait_ns"] < 0.1 * reader["asleep_ns"] and writer["wait_ns"] < 0.3 * writer["run_ns"], f"waits: {account['tasks']}")


def all_come_at_once(account):
    """Clerks want less than what two CPUs have, and wait for several times what they run."""
    ran, waited = total(account, "clerk", "run_ns"), total(account, "clerk", "wait_ns")
    rounds = truth_of(account, "clerk")["rounds"]
    expect(ran < 0.8 * 2 * SPAN_NS, f"clerks ran for {ran} ns: the CPUs are too slow")
    expect(waited > 4 * ran and waited > 200 * MS * rounds, f"clerks waited {waited} ns in {rounds} rounds, and ran {ran}")


def packets_take_the_cpu(account):
    """By the kernel's counters, softirqs and their thread had a good part of CPU 0, and what takes 2 ms takes longer by as much."""
    meter = truth_of(account, "meter")
    took_ns = taken_of(account["stat"][1], 0) - taken_of(account["stat"][0], 0) + meter["softirq_thread_ns"]
    expect(took_ns > 0.2 * SPAN_NS and meter["mean_ns"] > 2.5 * MS, f"softirqs had CPU 0 for {took_ns} ns: {meter}")


WEIGHT = Problem("weight", "invoices|encoder", "invoices", weights_decide,
                 (r"invoices \(\d+\) waited .*behind encoder", r"cpu\.weight", r"another cgroup, .*/gold-\d+"),
                 (r"throttled", r"invoices.* slept"),
                 (r"(weight|shares).*/bronze-\d+",))
INVERSION = Problem("inversion", "request|janitor|cruncher|workload", "request", the_holder_waits,
                    (r"sleeps of request, .* in futex.* ended .* by janitor", r"request \(\d+\) slept .*for a lock",
                     r"janitor \(\d+\) had it", r"janitor \(\d+\) waited .*behind cruncher"),
                    (r"request \(\d+\) waited [\d.]+s for a CPU", r"throttled"),
                    ("!no task lost",))
PIPE = Problem("pipe", "report|feeder", "report", the_feeder_computes,
               (r"report \(\d+\) slept .*in read\(\d+\), for data", r"feeder \(\d+\).* ran (\d|all that time)", r"in read; ended .*by feeder"),
               (r"report.* for a lock", r"report \(\d+\) waited [\d.]+s for a CPU", r"throttled"),
               ("!no task lost",))
HERD = Problem("herd", "clerk|expiry", "clerk", all_come_at_once,
               (r"clerk \(32 tasks\) waited .*behind each other",), (r"affinity", r"throttled"),
               (r"woken .*by expiry", r"at once|at the same time|together by"))
FLOOD = Problem("flood", r"meter|flooder|ksoftirqd/\d+", "meter", packets_take_the_cpu,
                (r"softirqs took .* from meter \(\d+\) .* net-rx|meter \(\d+\) waited .*behind ksoftirqd/0",),
                (r"throttled", r"no task lost", r"ksoftirqd.*affinity forbids"))


def sentences(value):
    """All texts of an answer, one per line."""
    if isinstance(value, (dict, list)):
        return "".join(sentences(part) for part in (value.values() if isinstance(value, dict) else value))
    return value + "\n" if isinstance(value, str) else ""


def walk(path, problem):
    """What the server says in three calls."""
    said, length = "", 0

    def call(tool, **arguments):
        nonlocal said, length
        answer = mcp.call(tool, **arguments)
        said += sentences(answer)
        length += len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode())
        return answer
    with Client("--allow-path", os.path.dirname(path)) as mcp:
        call("load", file_path=path)
        found = call("summary", comm=problem.victim)
        hint = found["findings"][0]["next"] if found["findings"] else found["next"]
        call(hint["tool"], **hint["arguments"])
    print(f"# {length} bytes")
    expect(length <= MAX_BYTES, f"{length} bytes: {said}")
    return said


def planted(problem):
    """Records a problem, and checks its cause and what is said of it."""
    if not {0, 1} <= os.sched_getaffinity(0):
        raise NotHere("needs CPUs 0 and 1")
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--events", "default,sleep") as ours:
            done = output([sys.executable, HERE / "plant_more.py", problem.name, SECONDS])
            expect(done.returncode == 0, done.stderr)
            ours.finish()
        try:
            problem.proof(json.loads(done.stdout))
            said = walk(ours.path, problem)
            expect_words("the server", said, problem.right)
            for pattern in problem.wrong:
                expect(not re.search(pattern, said), f"the server says {pattern!r}: {said}")
        except AssertionError:
            expect_calm(ours.path, problem.tasks)  # others had the CPUs: that says nothing
            raise
    for pattern in problem.unsaid:
        is_said = re.search(pattern.removeprefix("!"), said)
        print(f"# {'said' if is_said else 'not said'}: {pattern.removeprefix('!')}", flush=True)


@case
def the_weight_of_a_cgroup():
    planted(WEIGHT)


@case
def a_lock_whose_holder_waits_for_a_cpu():
    planted(INVERSION)


@case
def a_slow_writer_of_a_pipe():
    planted(PIPE)


@case
def a_thundering_herd():
    planted(HERD)


@case
def packets_that_take_a_cpu():
    if not os.path.exists(RPS):
        raise NotHere("the kernel has no receive packet steering")
    planted(FLOOD)


if __name__ == "__main__":
    main()
