#!/usr/bin/env python3
"""`schedscope profile` against programs whose answer is known: parts of 70, 20 and 10 % (tests/live/split)."""
import collections
import gzip
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from live import (LONG_S, NOBODY, ROOT, SCHEDSCOPE, SLOW, Meanwhile, NotHere, Work, case, expect, expect_between, expect_near,
                  main, need_live, once, scratch)

SPLIT = pathlib.Path(os.environ.get("SPLIT", str(ROOT / "build/tests/live/split")))
SHARES = {"part_seventy": 70, "part_twenty": 20, "part_ten": 10}
POINTS = 3


def profile(*args, timeout=LONG_S, check=True):
    """Runs the command; what it said."""
    run = subprocess.run([SCHEDSCOPE, "profile", *args], capture_output=True, text=True, timeout=timeout, check=False)
    expect(not check or run.returncode == 0, f"profile {' '.join(args)}: {run.stderr}")
    return run


def folded(path):
    """Stacks, root first, and their counts."""
    rows = [line.rsplit(" ", 1) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    return [(stack.split(";"), int(count)) for stack, count in rows]


def shares(rows, process):
    """Samples by part of one process, in per cent of all that had a part in it; how many."""
    parts = collections.Counter()
    for stack, count in rows:
        if stack[0].split(" ")[0].split("-")[0] != process:
            continue
        for part in SHARES:
            if part in stack:
                parts[part] += count
    total = sum(parts.values())
    return {part: 100 * count / total for part, count in parts.items()}, total


def expect_shares(rows, process, at_least):
    got, total = shares(rows, process)
    expect(total >= at_least, f"{process}: {total} samples in its parts, of {sum(count for _, count in rows)} in all")
    for part, want in SHARES.items():
        # On a machine that others use, few samples are less exact; on a quiet one this is three points.
        chance = 4 * math.sqrt(want * (100 - want) / total)
        expect_near(f"{process}: {part}", got.get(part, 0), want, absolute=max(POINTS, chance))


# Whatever else the machine does, these get CPUs.
FIRST = ["nice", "-n", "-20"]


class Started:
    """Programs that run meanwhile; killed if they still do."""

    def __init__(self, *commands, **options):
        self.processes = [subprocess.Popen(words, stdout=subprocess.DEVNULL, **options) for words in commands]

    def __enter__(self):
        return self.processes

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


@once
def alone():
    """One program alone, five seconds at 999 Hz: all outputs of it."""
    need_live()
    folder = scratch()
    path = pathlib.Path(folder.__enter__())
    files = {name: str(path / name) for name in ("cpu.svg", "cpu.html", "cpu.folded", "cpu.pb.gz", "cpu.speedscope.json")}
    meanwhile = Meanwhile()
    with Started([*FIRST, str(SPLIT / "split_pie"), "60"]) as (program,):
        run = profile("-F", "999", "--duration", "5", "-p", str(program.pid), "--lines", "--json",
                      "--flamegraph", files["cpu.svg"], "--folded", files["cpu.folded"], "--pprof", files["cpu.pb.gz"],
                      "--speedscope", files["cpu.speedscope.json"])
    return {"folder": folder, "files": files, "json": json.loads(run.stdout), "pid": program.pid,
            "rows": folded(files["cpu.folded"]), "taken_ns": meanwhile.taken_ns()}


@case
def parts_of_known_size_are_found():
    got = alone()
    expect_shares(got["rows"], "split_pie", 500)
    functions = {row["symbol"]: row for row in got["json"]["symbols"]}
    for part, want in SHARES.items():
        row = functions[part]
        expect_near(f"{part} in the functions", float(row["percentage"].rstrip("%")), want, absolute=POINTS)
        expect(row["module"] == "split_pie" and row["pid"] == got["pid"] and not row["is_kernel"], f"{row}")


@case
def file_and_line_are_those_of_the_source():
    source = (ROOT / "tests/live/split/parts.c").read_text(encoding="utf-8").splitlines()
    for row in alone()["json"]["symbols"]:
        if row["symbol"] not in SHARES:
            continue
        start = next(i for i, line in enumerate(source, 1) if f"void {row['symbol']}(" in line)
        expect(os.path.basename(row["file"]) == "parts.c", f"{row['symbol']} in {row['file']}")
        expect_between(f"line of {row['symbol']}", row["line"], start, start + 3)


@case
def callers_are_there():
    whole = sum(count for stack, count in alone()["rows"] if "part_seventy" in stack)
    called = sum(count for stack, count in alone()["rows"]
                 if "part_seventy" in stack and stack[stack.index("part_seventy") - 2:stack.index("part_seventy")] ==
                 ["main", "round_of_parts"])
    expect_near("stacks from main through round_of_parts", called, whole, relative=0.01)


@case
def folded_totals_equal_the_samples():
    got = alone()
    total = sum(count for _, count in got["rows"])
    expect(total == got["json"]["total_samples"], f"{total} folded, {got['json']['total_samples']} in JSON")
    expect(total == got["json"]["samples_collected"], f"{got['json']['samples_collected']} collected")


@case
def other_formats_hold_the_same_samples():
    got = alone()
    total = got["json"]["total_samples"]
    speedscope = json.loads(pathlib.Path(got["files"]["cpu.speedscope.json"]).read_text(encoding="utf-8"))
    names = {frame["name"] for frame in speedscope["shared"]["frames"]}
    expect(set(SHARES) <= names, f"speedscope names {sorted(names)}")
    weights = {one["unit"]: sum(one["weights"]) for one in speedscope["profiles"]}
    expect(weights["none"] == total, f"{weights['none']} samples in speedscope")
    if got["json"]["profiler"]["config"]["event"] == "cpu-clock":
        # At a rate, a sample stands for the time between two.
        expect_near("nanoseconds in speedscope", weights["nanoseconds"], total * 1e9 / 999, relative=0.001)
    expect(b"part_seventy" in gzip.decompress(pathlib.Path(got["files"]["cpu.pb.gz"]).read_bytes()), "pprof has no names")
    svg = pathlib.Path(got["files"]["cpu.svg"]).read_text(encoding="utf-8")
    expect(svg.startswith("<?xml") or svg.startswith("<svg"), svg[:40])
    expect("part_seventy" in svg, "the picture has no names")


@case
def the_event_and_the_rate_are_reported():
    status = alone()["json"]["profiler"]
    expect(status["status"] == "Stopped" and status["ended_by"] == "duration", f"{status}")
    expect_between("duration_ms", status["duration_ms"], 5000, 5000 + 500 * SLOW, more=alone()["taken_ns"] / 1e6)
    expect(status["config"]["freq"] == 999 and status["config"]["pid"] == alone()["pid"], f"{status['config']}")
    expect(status["config"]["event"] in ("cpu-clock", "cycles"), f"{status['config']}")
    expect((status["event_note"] is None) == (status["config"]["event"] == "cycles"), f"{status}")


def wait_until_it_runs(pid, program):
    """Until what was started for it has become the program."""
    end = time.monotonic() + LONG_S
    while os.readlink(f"/proc/{pid}/exe") != program:
        expect(time.monotonic() < end, f"{program} does not start")
        time.sleep(0.01)


@once
def all_ways():
    """Programs built in all ways at once, half of them gone before the profile ends."""
    need_live()
    with scratch() as folder:
        hidden, layers = os.path.join(folder, "hidden"), os.path.join(folder, "layers")
        os.mkdir(hidden)
        os.mkdir(layers)
        gone = os.path.join(folder, "split_gone")
        shutil.copy(SPLIT / "split_pie", gone)
        inside = f"mount -t tmpfs none {hidden} && cp {SPLIT}/split_pie {hidden}/split_inside && {hidden}/split_inside {4 * SLOW}"
        commands = [[*FIRST, str(SPLIT / name), str(4 * SLOW)] for name in ("split_fixed", "split_static", "split_shared", "split_stripped")]
        # Copied up: before Linux 6.8 its mappings show the file below, with another inode.
        over = (f"mount -t tmpfs none {layers} && cd {layers} && mkdir low up work all && cp {SPLIT}/split_pie low/split_over && "
                f"mount -t overlay none -o lowerdir=low,upperdir=up,workdir=work all && touch all/split_over && "
                f"{layers}/all/split_over {4 * SLOW}")
        commands += [[*FIRST, "unshare", "-m", "sh", "-c", script] for script in (inside, over)]
        commands += [[*FIRST, gone, str(4 * SLOW)]]
        out = os.path.join(folder, "out.folded")
        # It must read them before they are gone, after seven that come first.
        with Started([*FIRST, SCHEDSCOPE, "profile", "-F", "1999", "--duration", str(6 * SLOW), "--folded", out],
                     stderr=subprocess.PIPE) as (ours,):
            time.sleep(0.7 * SLOW)
            with Started(*commands) as running:
                wait_until_it_runs(running[-1].pid, gone)
                time.sleep(0.7 * SLOW)
                os.unlink(gone)
                for process in running:
                    process.wait(LONG_S)
            expect(ours.wait(LONG_S) == 0, ours.stderr.read().decode())
        return folded(out)


@case
def a_program_that_is_not_position_independent():
    expect_shares(all_ways(), "split_fixed", 100)


@case
def a_static_program():
    expect_shares(all_ways(), "split_static", 100)


@case
def functions_of_a_shared_library():
    expect_shares(all_ways(), "split_shared", 100)


@case
def a_stripped_program_with_a_debug_file():
    expect_shares(all_ways(), "split_stripped", 100)


@case
def a_program_in_another_mount_namespace_that_has_ended():
    expect_shares(all_ways(), "split_inside", 100)


@case
def a_program_on_an_overlay_that_has_ended():
    expect_shares(all_ways(), "split_over", 100)


@case
def a_program_that_was_deleted_and_has_ended():
    expect_shares(all_ways(), "split_gone", 100)


@case
def a_command_and_its_children():
    need_live()
    with scratch() as folder:
        out = os.path.join(folder, "out.folded")
        profile("-F", "999", "--folded", out, "--", *FIRST, "sh", "-c", f"{SPLIT}/split_pie 2; true")
        rows = folded(out)
    expect_shares(rows, "split_pie", 100)
    strange = {stack[0] for stack, _ in rows} - {"split_pie", "sh", "nice", "schedscope"}
    expect(not strange, f"processes that are none of its own: {strange}")


@case
def time_off_the_cpu_is_that_of_the_sleeper():
    need_live()
    with scratch() as folder:
        out = os.path.join(folder, "out.folded")
        sleeper = Work("sleep", nr=1, rounds=100000, us=100000)
        run = profile("--off-cpu", "--duration", "1.5", "-p", str(sleeper.process.pid), "--folded", out)
        sleeper.kill()
        rows = folded(out)
    total = sum(count for _, count in rows)
    expect(total > 0, run.stderr)
    expect(any(any("nanosleep" in frame for frame in stack) for stack, _ in rows), f"{rows[:3]}")


def wait_channel(pid, nr=200):
    """Where the kernel says that a process sleeps, most of the times that it is asked."""
    seen = collections.Counter()
    for _ in range(nr):
        seen[pathlib.Path(f"/proc/{pid}/wchan").read_text(encoding="ascii")] += 1
        time.sleep(0.001)
    del seen["0"]  # it runs
    return seen.most_common(1)[0][0] if seen else ""


@case
def the_function_that_waits_is_the_kernels_wait_channel():
    """Lists of sleeps name it, and what it is for; so do processes and cgroups, whose times are those of the list"""
    need_live()
    words = ["perl", "-e", "while (1) { select undef, undef, undef, 0.004 }"]
    with Started(words) as (sleeper,):
        time.sleep(0.2)
        channel = wait_channel(sleeper.pid)
        if not channel:
            raise NotHere("this kernel shows no wait channel")
        got = {by: json.loads(profile("--off-cpu", "-p", str(sleeper.pid), "--duration", "0.5", "--json", "--no-stacks",
                                      "--by", by).stdout) for by in ("wait", "cgroup", "process")}
        mine = pathlib.Path(f"/proc/{sleeper.pid}/cgroup").read_text(encoding="utf-8")
    top = got["wait"]["symbols"][0]
    expect(top["symbol"].split(".")[0] == channel.split(".")[0], f"{top['symbol']}, and the kernel says {channel}")
    expect(float(top["percentage"].rstrip("%")) > 95, f"{top}")
    expect(got["wait"]["groups"][0]["wait"] == "events on files", f"{got['wait']['groups']}")
    for by, name in (("process", "perl"), ("cgroup", None)):
        groups = got[by]["groups"]
        expect(sum(g["value"] for g in groups) == got[by]["total_count"] > 0, f"{by}: {groups}")
        expect(len(groups) == 1 and groups[0]["most_in"] == top["symbol"], f"{by}: {groups}")
        expect(name is None or groups[0][by] == name, f"{groups}")
    expect(f":{got['cgroup']['groups'][0]['cgroup']}\n" in mine, f"{got['cgroup']['groups']}: {mine}")


@case
def by_wall_clock_what_runs_at_the_same_time_shares_it():
    """With all CPUs busy the whole is the time that went by, however many; a program of one thread has all of its own time"""
    need_live()
    hz, cpus = 499, sorted(os.sched_getaffinity(0))
    sample_ns = 10**9 // hz
    with Started(*(["taskset", "-c", str(cpu), "perl", "-e", "1 while 1"] for cpu in cpus)) as burners:
        time.sleep(0.2)
        every = json.loads(profile("--wall", "-F", str(hz), "--duration", "1", "--json", "--no-stacks").stdout)
        one = json.loads(profile("--wall", "-F", str(hz), "--duration", "1", "-p", str(burners[0].pid), "--json", "--no-stacks").stdout)
    expect(every["unit"] == "ns" and every["lost"] == 0, f"{every['unit']}, {every['lost']} lost")
    if os.cpu_count() == len(cpus):
        expect_near("wall clock of a busy machine", every["total_count"], every["duration_ns"], relative=0.05)
        expect_near("its CPU time", every["total_samples"] * sample_ns, every["duration_ns"] * len(cpus), relative=0.05)
    expect(one["total_samples"] >= 1 and one["total_count"] == one["total_samples"] * sample_ns,
           f"{one['total_count']} of {one['total_samples']} samples")


@case
def tracepoints_and_wakers_have_stacks():
    need_live()
    with scratch() as folder:
        out = os.path.join(folder, "out.folded")
        bench = subprocess.Popen(["perf", "bench", "sched", "pipe", "-l", "1000000"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            for words in (["-e", "tracepoint:sched:sched_switch"], ["--wakers"]):
                profile(*words, "--duration", "1", "--folded", out)
                rows = [(stack, count) for stack, count in folded(out) if any("pipe" in frame for frame in stack)]
                expect(sum(count for _, count in rows) > 1000, f"{words}: {rows[:3]}")
        finally:
            os.killpg(bench.pid, signal.SIGKILL)  # its other half would wait for ever
            bench.wait()


@case
def a_difference_is_red_and_blue():
    need_live()
    got = alone()
    with scratch() as folder:
        out = os.path.join(folder, "diff.svg")
        with Started([*FIRST, str(SPLIT / "split_pie"), "60"]) as (program,):
            profile("-F", "999", "--duration", "1", "-p", str(program.pid), "--diff", got["files"]["cpu.folded"], "--flamegraph", out)
        svg = pathlib.Path(out).read_text(encoding="utf-8")
    expect("part_seventy" in svg, "no names in the difference")


@case
def what_cannot_be_done_is_said_in_one_sentence():
    with Started(["sleep", "60"]) as (process,):
        gone = process.pid
    for args, word in ((["-e", "no-such-event"], "no-such-event"), (["-e", "tracepoint:sched:no_such"], "no_such"),
                       (["-p", str(gone)], str(gone)), (["--cpu", "4000"], "4000"), (["-F", "9", "--period", "9"], "contradict"),
                       (["-e", "cycles", "--off-cpu"], "contradict"), (["--diff", "/nowhere"], "/nowhere"),
                       (["--flamegraph", "/nowhere/x.svg"], "/nowhere/x.svg"), (["-U", "-K"], "nothing to show"),
                       (["--folded", "/"], "directory"), (["--folded", "-", "--json"], "standard output"),
                       (["--folded", "-", "--pprof", "-"], "standard output"), (["--cgroup", "no-such-cgroup"], "no-such-cgroup")):
        run = profile(*args, "--duration", "1", check=False)
        expect(run.returncode in (1, 2) and word in run.stderr, f"{args}: {run.returncode} {run.stderr}")
        lines = [line for line in run.stderr.splitlines() if line]
        expect(len(lines) == 1, f"{args}: {lines}")


@case
def without_privileges_the_remedy_is_reported():
    need_live()
    run = subprocess.run([*NOBODY, SCHEDSCOPE, "profile", "--duration", "1"], capture_output=True, text=True, check=False)
    expect(run.returncode == 1 and "setcap" in run.stderr, f"{run.returncode}: {run.stderr}")


@case
def the_number_of_samples_can_be_limited_exactly():
    need_live()
    with Started([*FIRST, str(SPLIT / "split_pie"), "60"]) as (program,):
        got = json.loads(profile("-F", "999", "--max-samples", "100", "-p", str(program.pid), "--json").stdout)
    expect(got["total_samples"] == 100, f"{got['total_samples']} samples")
    expect(got["profiler"]["ended_by"] == "max_samples", f"{got['profiler']}")


@case
def standard_output_may_be_a_file_that_has_something_in_it():
    need_live()
    with scratch() as folder:
        path = pathlib.Path(folder, "log")
        path.write_text("before\n", encoding="utf-8")
        with open(path, "a", encoding="utf-8") as log, Started([*FIRST, str(SPLIT / "split_pie"), "60"]) as (program,):
            subprocess.run([SCHEDSCOPE, "profile", "-F", "999", "--duration", "0.5", "-p", str(program.pid), "--folded", "-"], stdout=log,
                           stderr=subprocess.DEVNULL, timeout=LONG_S, check=True)
        lines = path.read_text(encoding="utf-8").splitlines()
    expect(lines[0] == "before" and len(lines) > 1, f"{lines[:2]}")


@case
def a_reader_that_leaves_is_no_failure():
    need_live()
    for words in (["-n", "3"], ["--json"], ["--folded", "-"]):
        ours = subprocess.Popen([SCHEDSCOPE, "profile", "--duration", "0.5", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ours.stdout.close()
        said = "".join(line for line in ours.stderr if "not whole" not in line)  # of whatever else runs
        ours.stderr.close()
        expect(ours.wait(30) == 0 and "schedscope:" not in said, f"{words}: {ours.returncode} {said}")


@case
def in_a_pid_namespace_nothing_is_made_up():
    need_live()
    if not os.path.exists("/proc/self/ns/pid"):
        raise NotHere("the kernel has no pid namespaces")
    inside = ["unshare", "-pf", "--mount-proc", "sh", "-c"]
    run = subprocess.run([*inside, f"sleep 60 & {SCHEDSCOPE} profile -d 1 -p $!; kill $!"], capture_output=True, text=True, check=False)
    expect("pid namespace" in run.stderr and not run.stdout, f"{run.stderr} {run.stdout}")
    with Started([*FIRST, str(SPLIT / "split_pie"), "60"]):
        run = subprocess.run([*inside, f"{SCHEDSCOPE} profile -F 999 -d 1 --json -n 100000 --no-stacks"], capture_output=True, text=True,
                             timeout=LONG_S, check=False)
    rows = json.loads(run.stdout)["symbols"]
    named = [row for row in rows if not row["is_kernel"] and not row["symbol"].startswith("0x")]
    expect(any(row["is_kernel"] and row["symbol"][:2] != "0x" for row in rows), "the kernel's functions have no names")
    expect(not named and "pid namespace" in run.stderr, f"{named[:3]} {run.stderr}")


@case
def how_a_command_failed_is_reported():
    need_live()
    run = profile("-n", "1", "--", "sh", "-c", "exit 3")
    expect("ended with 3" in run.stderr, run.stderr)


@case
def a_signal_ends_it_in_order():
    need_live()
    for seconds in (1.5, 6, 15):  # others may keep it from starting at once
        with scratch() as folder:
            out = os.path.join(folder, "out.folded")
            with Started([*FIRST, str(SPLIT / "split_pie"), "60"]) as (program,):
                ours = subprocess.Popen([SCHEDSCOPE, "profile", "--duration", "60", "-p", str(program.pid), "--folded", out],
                                        stderr=subprocess.PIPE, text=True)
                time.sleep(seconds)
                ours.send_signal(signal.SIGINT)
                said = ours.communicate(timeout=LONG_S)[1]
            expect(ours.returncode == 0 and re.search(r"\d+ samples, 0 lost", said), f"{ours.returncode}: {said}")
            if sum(count for _, count in folded(out)) > 5:
                return
    raise AssertionError("nothing was kept")


if __name__ == "__main__":
    main()
