#!/usr/bin/env python3
"""`schedscope profile` against accounts that are not ours: a program's own, those of perf, and what Go's pprof reads."""
import collections
import json
import math
import os
import pathlib
import re
import shutil
import subprocess

from live import ROOT, SCHEDSCOPE, Meanwhile, Skip, case, expect, expect_between, expect_near, main, need_live, once, scratch
from pair import mount_tracefs
from test_profile import SHARES, SPLIT, folded

TARGET = os.environ.get("SAMPLE_TARGET", str(ROOT / "build/tests/live/sample_target"))
FREQUENCY = 499
SIGMAS = 5


def run(*words, timeout=60):
    """The command's output and errors; it must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)
    expect(done.returncode == 0, f"{' '.join(words[:6])}: {done.returncode} {done.stderr[-500:]}")
    return done


def need(program):
    need_live()
    if not shutil.which(program):
        raise Skip(f"no {program}")


def target(work, *profile_args, **options):
    """A target's own account of its life; what the command sampled of it meanwhile, as folded stacks."""
    with scratch() as folder:
        out = os.path.join(folder, "out.folded")
        words = [TARGET, work, "wait=0", *(f"{key}={value}" for key, value in options.items())]
        said = run(SCHEDSCOPE, "profile", *profile_args, "--folded", out, "--", *words)
        return json.loads(said.stdout.splitlines()[-1]), folded(out)


def within(rows, function):
    return sum(count for stack, count in rows if function in stack)


@case
def at_99_hz_the_command_has_99_samples_per_second_of_cpu_time():
    need_live()
    cpu, meanwhile = max(os.sched_getaffinity(0)), Meanwhile()
    account, rows = target("burn", "-F", "99", ms=5000, cpu=cpu, fifo=1)
    missing = 99 * meanwhile.taken_ns(cpu) / account["cpu_ns"]
    expect_near("samples per second of CPU time", within(rows, "burn") / (account["cpu_ns"] / 1e9), 99, absolute=3,
                less=missing, more=missing)


@case
def time_off_the_cpu_is_what_the_program_measures():
    need_live()
    meanwhile = Meanwhile()
    account, rows = target("nap", "--off-cpu", nr=50, us=20000)
    expect_between("ns in nap()", within(rows, "nap"), 0.9 * account["slept_ns"], account["slept_ns"],
                   less=account["wait_ns"] + meanwhile.taken_ns())


def plain(symbol, module):
    """As both would call it."""
    if "kallsyms" in module or module == "[kernel]":
        module = "kernel"
    if symbol.startswith("0x"):
        symbol = "[unknown]"
    return re.sub(r"\(.*|^__pi_", "", symbol), os.path.basename(module)


def read_perf(path, tag):
    """Samples by innermost function of tasks whose names begin with the tag."""
    counts = collections.Counter()
    text = run("perf", "script", "-i", path, "-F", "comm,ip,sym,dso", "--no-inline").stdout
    for sample in text.split("\n\n"):
        lines = [line for line in sample.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].strip().startswith(tag):
            continue
        frame = re.match(r"\s*[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*?)\)$", lines[1])
        counts[plain(frame[1], frame[2]) if frame else ("?", "?")] += 1
    return counts


@once
def same_seconds():
    """Programs of ours and of others as perf and the command see them at the same time.

    perf samples all CPUs, as we do, and not the tasks of a command: its timer of a task does not run while the task is switched
    in, and first fires 10 us later, so that it never samples the switch; the timer of a CPU does, once interrupts come back on.
    The programs have names of their own, by which perf's samples are theirs.
    """
    need("perf")
    tag = f"pp{os.getpid()}"
    with scratch() as folder:
        data, own = os.path.join(folder, "perf.data"), {}
        for name, path in (("a", f"{SPLIT}/split_pie"), ("b", shutil.which("timeout")), ("c", shutil.which("dd")), ("d", shutil.which("sh"))):
            own[name] = os.path.join(folder, tag + name)
            os.symlink(os.path.realpath(path), own[name])
        work = f"{own['a']} 5 & {own['b']} 5 {own['c']} if=/dev/zero of=/dev/null bs=64k 2>/dev/null & wait"
        # With the build ids that perf looks for at the end: what we ask of the kernel must not be in its records.
        ours = run("perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(FREQUENCY), "-g", "-o", data, "--",
                   SCHEDSCOPE, "profile", "-e", "cpu-clock", "-F", str(FREQUENCY), "--json", "-n", "1000000", "--no-stacks",
                   "--pprof", os.path.join(folder, "out.pb.gz"), "--", own["d"], "-c", work)
        sheet = json.loads(ours.stdout)
        counts = collections.Counter()
        for row in sheet["symbols"]:
            counts[plain(row["symbol"], row["module"])] += row["count"]
        return {"perf": read_perf(data, tag), "ours": counts, "sheet": sheet,
                "pprof": pathlib.Path(folder, "out.pb.gz").read_bytes()}


@case
def functions_have_the_shares_that_perf_sees():
    got = same_seconds()
    perf, ours = sum(got["perf"].values()), sum(got["ours"].values())
    expect_near("samples", ours, perf, relative=0.05)
    tops = [name for name, count in (got["perf"] + got["ours"]).items() if count > 100]
    expect({("part_seventy", "split_pie"), ("part_twenty", "split_pie")} <= set(tops), f"{tops}")
    expect(any(module == "kernel" for _, module in tops), f"nothing of the kernel: {tops}")
    for name in tops:
        a, b = got["perf"][name] / perf, got["ours"][name] / ours
        # Two machines that sample the same thing differ by chance.
        chance = SIGMAS * math.sqrt(a * (1 - a) / perf + b * (1 - b) / ours)
        expect_near(f"{name}: share, against perf's", b, a, absolute=max(chance, 0.005))


@case
def wakings_are_as_many_as_perf_counts():
    need("perf")
    mount_tracefs()
    with scratch() as folder:
        out = os.path.join(folder, "out.folded")
        said = run("perf", "stat", "-x", ",", "-e", "sched:sched_waking", "--", SCHEDSCOPE, "profile", "--wakers", "--folded", out,
                   "--", "perf", "bench", "sched", "pipe", "-l", "50000").stderr
        rows = folded(out)
    counted = next(int(line.split(",")[0]) for line in said.splitlines() if "sched_waking" in line)
    # perf also counts what we wake ourselves.
    expect_between("wakings", sum(count for _, count in rows), 0.98 * counted - 500, counted)


@case
def go_reads_every_sample():
    need("go")
    got = same_seconds()
    with scratch() as folder:
        path = os.path.join(folder, "out.pb.gz")
        pathlib.Path(path).write_bytes(got["pprof"])
        top = run("go", "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-sample_index=samples", path).stdout
    total = re.search(r"Total samples = (\d+)", top)
    expect(total and int(total[1]) == got["sheet"]["total_samples"], f"{total} of {got['sheet']['total_samples']}: {top[:300]}")
    flat = {line.split()[5]: int(line.split()[0]) for line in top.splitlines() if re.match(r"\s*\d+\s+[\d.]+%", line)}
    for part in SHARES:
        expect(flat.get(part) == got["ours"][(part, "split_pie")], f"{part}: {flat.get(part)} by Go")


if __name__ == "__main__":
    main()
