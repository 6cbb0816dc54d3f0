#!/usr/bin/env python3
"""`schedscope record --stacks` and `analyze FILE flamegraph`, on programs whose stacks are known.

Traces are read twice: by tests/trace/decode.py, which shares no code with the writer, and by our own reader.
"""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from live import (IS_EMULATED, LONG_S, SCHEDSCOPE, WAIT_S, case, expect, expect_between, main, need_live, run, scratch,
                  wait_until_attached)
from test_record import Record, decoded, expect_refusal, pipe_bench, ran_so_far, summary_of

TARGET = os.environ.get("STACK_TARGET", "build/tests/live/stack_target")


def record(path, *args):
    """A recording that ends with its command; its summary."""
    need_live()
    done = subprocess.run([SCHEDSCOPE, "record", "-o", path, *args], capture_output=True, text=True, timeout=LONG_S, check=False)
    return summary_of(done.stderr, done.returncode)


def flamegraph(path, *args):
    done = run("analyze", path, "flamegraph", "--json", *args)
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def shares(report):
    return {row["function"]: row["self_percent"] for row in report["functions"]}


def names_of(trace, kind):
    """(sample, its names from the root) of a kind."""
    return [(sample, sample["stack"]) for sample in trace.samples if sample["of"]["name"] == kind]


@case
def sleeps_are_those_of_the_timeline_and_have_their_function():
    with scratch() as folder:
        path = os.path.join(folder, "t")
        record(path, "--stacks=off-cpu", "--", TARGET, "nap", "50", "5000")
        report = flamegraph(path, "-c", "stack_target")
        states = json.loads(run("analyze", path, "task_states", "-c", "stack_target", "--json").stdout)
    mine, = states["processes"]
    expect(report["category"] == "off-cpu", f"{report['category']}")
    expect(report["total_time_ns"] == mine["sleeping_time_ns"] + mine["blocked_time_ns"],
           f"{report['total_time_ns']} of {mine}")
    rows = [row for row in report["stacks"] if re.search(r"(^|;)nap;", row["stack"])]
    expect_between("sleeps in nap()", sum(row["samples"] for row in rows), 48, 52)
    expect(all("nanosleep" in row["stack"] for row in rows), f"{rows}")
    expect_between("time of nap()", sum(row["time_ns"] for row in rows), 45 * 5_000_000, mine["sleeping_time_ns"])
    # The leaf is where it slept, not what sampled it.
    expect(all("bpf" not in row["stack"].rsplit(";", 1)[-1] for row in report["stacks"]), f"{report['stacks']}")


@case
def each_waking_has_its_wakers_stack():
    with scratch() as folder:
        path = os.path.join(folder, "t")
        summary = record(path, "--stacks=waker", "--", TARGET, "nap", "50", "2000")
        trace = decoded(path)
        report = flamegraph(path, "--category", "waker")
    expect(report["total_samples"] == summary["wakings"] == len(trace.samples), f"{report['total_samples']}: {summary['text']}")
    # Stacks have it; lists name the function that wakes.
    expect(all("try_to_wake_up" in row["stack"] for row in report["stacks"]), f"{report['stacks'][:3]}")
    expect("try_to_wake_up" not in {row["function"] for row in report["functions"] + report["callers"]}, f"{report['functions']}")
    # In the file, each is at its waking: on the same CPU, a moment later, by the same task.
    wakings = collections.defaultdict(list)
    for cpu, events in trace.events.items():
        wakings[cpu] += [event["ts"] for event in events if event["name"] in ("waking", "sched_waking")]
    late = [sample["ts"] - max((ts for ts in wakings[sample["cpu"]] if ts <= sample["ts"]), default=0)
            for sample in trace.samples]
    expect(sorted(late)[len(late) // 2] < 100_000, f"{sorted(late)[-5:]} ns behind their wakings")


@case
def processes_that_are_gone_have_names():
    """Each runs for less than the time between two rounds of the recorder. An emulated CPU takes longer to start and end it."""
    loop = f"for i in 1 2 3 4 5 6 7 8 9 10; do {TARGET} share {50 if IS_EMULATED else 20}; done"
    with scratch() as folder:
        path = os.path.join(folder, "t")
        record(path, "--stacks", "--stack-frequency", "997", "--", "sh", "-c", loop)
        report = flamegraph(path, "-c", "stack_target")
    found = shares(report)
    expect(report["threads"] == 10, f"{report['threads']} processes")
    expect(found.get("heavy", 0) + found.get("light", 0) > 60, f"{found}")
    expect(found.get("heavy", 0) > found.get("light", 0) > 0, f"{found}")


@case
def frames_lie_where_the_linker_put_them():
    with scratch() as folder:
        path = os.path.join(folder, "t")
        record(path, "--stacks", "--stack-frequency", "499", "--", TARGET, "share", "2000" if IS_EMULATED else "500")
        trace = decoded(path)
    symbols = subprocess.run(["nm", "-S", TARGET], capture_output=True, text=True, check=True).stdout
    at, size = next((int(row.split()[0], 16), int(row.split()[1], 16)) for row in symbols.splitlines() if row.endswith(" heavy"))
    notes = subprocess.run(["readelf", "-n", TARGET], capture_output=True, text=True, check=True).stdout
    build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", notes)[1])
    leaves = [sample["places"][-1] for sample, stack in names_of(trace, trace.samples[0]["of"]["name"]) if stack[-1] == "heavy"]
    expect(len(leaves) > 100, f"{len(leaves)} samples in heavy()")
    for leaf in leaves:
        expect(at <= leaf["pc"] < at + size, f"{leaf['pc']:#x} is not in heavy(), {at:#x} + {size}")
        expect(leaf["build_id"] == build_id and leaf["path"] == os.path.realpath(TARGET), f"{leaf}")
        expect(leaf["start"] < leaf["end"] and leaf["kind"] == 1, f"{leaf}")
        expect(leaf["file"].endswith("stack_target.c") and leaf["line"], f"{leaf}")


@case
def stacks_are_lost_before_anything_else():
    """Of a ring that is not read for a while, stacks may fill half: what is lost are stacks, by name, and all else is there."""
    with scratch() as folder:
        path = os.path.join(folder, "t")
        with Record(path, "--stacks=off-cpu,waker", "--ring-kib", "16384") as ours:
            ours.process.send_signal(signal.SIGSTOP)
            # 60,000 switches and wakings, each with a stack: more than 8 MiB of stacks, and half of that of all else.
            bench = pipe_bench(15000)
            expect(bench.wait(LONG_S) == 0, "perf bench sched pipe failed")
            ours.process.send_signal(signal.SIGCONT)
            summary = ours.finish()
        trace = decoded(path)
        report = json.loads(run("analyze", path, "--json").stdout)
        text = run("analyze", path).stdout
    lost = {key: value for key, value in trace.attributes.items() if key.startswith("lost")}
    expect(lost.get("lost.SAMPLE", 0) > 1000, f"{lost}, {summary['text']}")
    expect(lost == {"lost": lost["lost.SAMPLE"], "lost.SAMPLE": lost["lost.SAMPLE"]}, f"{lost}, {summary['text']}")
    expect(report["lost_by_kind"] == {"SAMPLE": lost["lost"]} and report["lost_events"] == lost["lost"], f"{report['lost_by_kind']}")
    for words in (summary["text"], text):
        expect(f"(SAMPLE {lost['lost']})" in words, words)
    kept = collections.Counter(event["name"] for events in trace.events.values() for event in events)
    switches = sum(number for name, number in kept.items() if name in ("switch", "sched_switch"))
    expect(switches == summary["switches"], f"{switches} switches of {summary['switches']:.0f}: {kept}")
    expect(len(trace.samples) > 1000, f"only {len(trace.samples)} stacks")
    # Nothing is unknown of a CPU for lack of stacks: neither is a bundle marked, nor a CPU cut.
    marked = sum(bool(bundle["lost"]) for bundles in trace.bundles.values() for bundle in bundles)
    expect(not marked and not report["cpus_that_end_early"], f"{marked} bundles are marked, {report['cpus_that_end_early']}")


@case
def a_process_that_ends_before_its_stacks_are_read_has_names():
    """It was there before the recording, and works only while the recorder stands still."""
    with scratch() as folder, subprocess.Popen([TARGET, "share", "500"], stdout=subprocess.DEVNULL) as target:
        target.send_signal(signal.SIGSTOP)
        path = os.path.join(folder, "t")
        with Record(path, "--stacks") as ours:
            ours.process.send_signal(signal.SIGSTOP)
            target.send_signal(signal.SIGCONT)
            expect(target.wait(LONG_S) == 0, "the target failed")
            ours.process.send_signal(signal.SIGCONT)
            ours.finish()
        found = shares(flamegraph(path, "-c", "stack_target"))
    expect(found.get("heavy", 0) + found.get("light", 0) > 50, f"{found}")


@case
def filters_hold_for_stacks():
    with scratch() as folder:
        with subprocess.Popen([TARGET, "share", "600000"]) as wanted, \
                subprocess.Popen([TARGET, "share", "600000"]) as other:
            try:
                with Record(os.path.join(folder, "t"), "--stacks=cpu,off-cpu,waker", "-p", str(wanted.pid)) as ours:
                    ran = -sum(ran_so_far(wanted.pid).values())
                    while ran + sum(ran_so_far(wanted.pid).values()) < 700_000_000:
                        time.sleep(0.05)
                    wanted.kill()
                    wanted.wait(timeout=WAIT_S)
                    ours.wait()
            finally:
                wanted.kill()
                other.kill()
            trace = decoded(ours.path)
    samples = [sample for sample in trace.samples if sample["of"]["name"] != "waker"]
    expect(len(samples) > 40, f"{len(samples)} samples")
    expect({sample["pid"] for sample in samples} == {wanted.pid}, f"{ {sample['pid'] for sample in samples} }")


@case
def a_flight_recorder_keeps_stacks():
    with scratch() as folder:
        # The second one ends before the dump, and has names all the same.
        with subprocess.Popen([TARGET, "share", "600000"]) as target, \
                subprocess.Popen([SCHEDSCOPE, "record", "--keep", "20s", "--after", "0", "--max-dumps", "1", "--stacks",
                                  "-o", folder], stderr=subprocess.PIPE, text=True) as flight:
            try:
                wait_until_attached(flight.pid)
                with subprocess.Popen([TARGET, "share", "3000" if IS_EMULATED else "1000"]) as ended:
                    ended.wait(timeout=WAIT_S)
                time.sleep(0.5)
                flight.send_signal(signal.SIGUSR2)
                talk = flight.communicate(timeout=WAIT_S)[1]
            finally:
                target.kill()
                flight.kill()
        expect(flight.returncode == 0, talk)
        dump, = pathlib.Path(folder).glob("*.pftrace")
        for pid in (target.pid, ended.pid):
            found = shares(flamegraph(str(dump), "-p", str(pid)))
            expect(found.get("heavy", 0) > found.get("light", 0) > 0, f"{pid} of {target.pid}, {ended.pid}: {found}")


@case
def files_of_stacks_agree():
    with scratch() as folder:
        path = os.path.join(folder, "t")
        record(path, "--stacks=cpu,off-cpu", "--", TARGET, "share", "300")
        files = {name: os.path.join(folder, name) for name in ("f.svg", "f.html", "folded", "pprof", "speedscope")}
        report = flamegraph(path, "--flamegraph", files["f.svg"], "--folded", files["folded"], "--pprof", files["pprof"],
                            "--speedscope", files["speedscope"])
        flamegraph(path, "--category", "off-cpu", "--flamegraph", files["f.html"])
        for name, file in files.items():
            expect(os.path.getsize(file) > 100, f"{name} is empty")
        folded = pathlib.Path(files["folded"]).read_text(encoding="utf-8").splitlines()
        speedscope = json.loads(pathlib.Path(files["speedscope"]).read_text(encoding="utf-8"))
    expect(sum(int(line.rsplit(" ", 1)[1]) for line in folded) == report["total_samples"], f"{report['total_samples']}")
    expect(any(frame["name"].startswith("heavy") for frame in speedscope["shared"]["frames"]), "no heavy()")


@case
def what_cannot_be_is_refused():
    need_live()
    command = ("-o", "t", "--", "touch", "started")
    expect_refusal(2, "'gpu' is not a kind of stack", "--stacks=cpu,gpu", *command)
    expect_refusal(2, "is for --stacks", "--stack-frequency", "99", *command)
    expect_refusal(2, "most switches and wakings are left out", "--stacks=off-cpu", "--sample", "10", *command)


if __name__ == "__main__":
    main()
