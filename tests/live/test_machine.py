#!/usr/bin/env python3
"""What a screen is shown (session/machine_source), against workloads that know what they did, `stat`, and /proc.

machine_dump looks whenever it is sent a line, so that its looks fall where a case wants them.
"""
import json
import os
import subprocess
import time

from live import (CAN_RUN, NOBODY, SCHEDSCOPE, Lines, Skip, Stat, Work, case, expect, expect_between, expect_near, main,
                  need_live, part, rows, scratch, truth_of)

MACHINE_DUMP = os.environ.get("MACHINE_DUMP", "build/tests/live/machine_dump")
ATTACH_S = 60  # the kernel checks programs slowly while others build


class Screen:
    """A running machine_dump."""

    def __init__(self, *args, command=()):
        self.process = subprocess.Popen([*command, MACHINE_DUMP, "lines=1", *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.out = Lines(self.process.stdout)
        self.nr = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def look(self):
        """One look now."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.nr += 1
        expect(self.out.wait_for(self.nr), f"no look: {self.process.poll()}")
        return json.loads(self.out.lines[self.nr - 1])

    def attached(self):
        """Looks until BPF is there, and once more, so that the next look has an interval."""
        need_live()
        end = time.monotonic() + ATTACH_S
        while self.look()["source"] != "bpf":
            expect(time.monotonic() < end, "BPF is not attached")
            time.sleep(0.05)
        self.look()
        return self


def task(look, table, tid):
    """The row of a thread or process."""
    found = [row for row in look[table] if row["tid"] == tid]
    expect(len(found) == 1, f"{len(found)} rows of {tid} among {table}")
    return found[0]


def sched(tgid, tid):
    """(run ns, wait ns) by the kernel's own account."""
    with open(f"/proc/{tgid}/task/{tid}/schedstat", encoding="ascii") as file:
        words = file.read().split()
    return int(words[0]), int(words[1])


def tids(tgid):
    return [int(name) for name in os.listdir(f"/proc/{tgid}/task")]


def wait_for_threads(work, number):
    end = time.monotonic() + 20
    while len(tids(work.pid)) < number:
        expect(time.monotonic() < end, f"{work.kind} has no {number} threads")
        time.sleep(0.01)


def expect_accounts(screen, table):
    """Run and wait of two hogs, over an interval whose ends are read around the looks."""
    work = Work("hogs", nr=2, ms=20000)
    try:
        wait_for_threads(work, 3)
        screen.look()
        before = {tid: sched(work.pid, tid) for tid in tids(work.pid)}
        start = time.monotonic()
        time.sleep(2)
        look = screen.look()
        seconds = time.monotonic() - start
        after = {tid: sched(work.pid, tid) for tid in tids(work.pid)}
        # What happened between our readings and its own is in one of both only.
        slack = max(0.05, abs(seconds - look["interval_s"]) / seconds * 2 + 0.03)
        run = sum(after[tid][0] - before[tid][0] for tid in before) / seconds / 1e9
        got = task(look, "processes", work.pid)
        expect_near("run of the process", got["run"], run, relative=slack, absolute=0.03)
        expect(got["nr_threads"] == 3, f"{got['nr_threads']} threads")
        expect_near("sum of its threads", sum(t["run"] or 0 for t in look[table] if t["tgid"] == work.pid), got["run"],
                    absolute=1e-4)
        for tid in before:
            want = (after[tid][0] - before[tid][0]) / seconds / 1e9
            expect_near(f"run of {tid}", task(look, "threads", tid)["run"], want, relative=slack, absolute=0.03)
            want = (after[tid][1] - before[tid][1]) / seconds / 1e9
            expect_near(f"wait of {tid}", task(look, "threads", tid)["wait"], want, relative=slack, absolute=0.05)
        expect(run <= len(os.sched_getaffinity(0)) + 0.1, f"run {run}")
        expect("hogs" in (got["cmdline"] or ""), f"command line {got['cmdline']}")
        expect(got["class"] == "fair" and got["prio"] >= 120, f"{got['class']} {got['prio']}")
    finally:
        work.kill()


@case
def run_and_wait_are_the_kernels_own_with_bpf():
    with Screen() as screen:
        expect_accounts(screen.attached(), "threads")


@case
def run_and_wait_are_the_kernels_own_without_bpf():
    with Screen("proc=1") as screen:
        expect_accounts(screen, "threads")


@case
def a_sleeper_is_counted_as_it_counts_itself():
    with Screen() as screen:
        screen.attached()
        work = Work("sleep", nr=1, rounds=200, us=5000)
        looks = []
        while work.process.poll() is None:
            time.sleep(0.2)
            looks.append(screen.look())
        looks.append(screen.look())
        account = work.account()
        truth = account["tasks"][0]
        mine = [t for look in looks for t in look["processes"] if t["tgid"] == work.pid]
        naps = sum(t["sleep"]["count"] for t in mine)
        # Its last moments come after its row has gone: as many naps as fit into a look may be missing.
        expect_between("naps", naps, truth["count"] - 60, truth["voluntary"] + 20)
        expect(all(t["sleep"]["p50_ns"] >= 4.9e6 for t in mine if t["sleep"]["count"] > 10), "naps are too short")


@case
def switches_of_a_pingpong_are_what_bpf_and_proc_say():
    with Screen() as with_bpf, Screen("proc=1") as by_proc:
        with_bpf.attached()
        work = Work("pingpong", rounds=100000000)
        try:
            end = time.monotonic() + 20
            while not any(t["tgid"] == work.pid for t in by_proc.look()["threads"]):
                expect(time.monotonic() < end, "no pingpong")
            both = [(by_proc.look(), with_bpf.look())]
            time.sleep(2)
            both.append((by_proc.look(), with_bpf.look()))
            seen = [sum(t["voluntary_per_s"] or 0 for t in look["threads"] if t["comm"].startswith("p"))
                    for look in both[1]]
            expect(seen[0] > 100, f"pingpong switches {seen[0]} times a second")
            expect_near("voluntary switches", seen[1], seen[0], relative=0.2)
        finally:
            work.kill()


@case
def latencies_are_those_of_stat_over_the_same_seconds():
    work = None
    with Screen() as screen:
        screen.attached()
        try:
            work = Work("sleep", nr=1, rounds=100000, us=2000)
            wait_for_threads(work, 1)
            with Stat("--by", "tid", "-g", "latency,slice,sleep,migration", "-d", "-p", str(work.pid),
                      interval="100ms") as stat:
                screen.look()
                first = len(stat.out.lines)
                begin = time.monotonic()
                time.sleep(3)
                look = screen.look()
                expect(stat.out.wait_for(len(stat.out.lines) + 1), "stat has stopped")
                seconds = time.monotonic() - begin
                reports = stat.objects()
        finally:
            if work:
                work.kill()
    start_ns, end_ns = look["boot_ns"] - look["interval_s"] * 1e9, look["boot_ns"]
    del first, start_ns, end_ns
    last = reports[-1]
    mine = [t for t in look["threads"] if t["tgid"] == work.pid]
    expect(seconds > 0 and mine, "the sleeper is not shown")
    woken = [part(row, "by_cause", "woken") for row in rows(last, "latency") if row["tid"] in {t["tid"] for t in mine}]
    expect(woken, "stat does not show the sleeper")
    sleeper = max(mine, key=lambda t: t["latency"]["count"])
    best = max(woken, key=lambda row: row["count"])
    # Both count on from nearly the same moment; rates are compared, since the ends are not the same.
    mine_rate = sleeper["latency"]["count"] / look["interval_s"]
    stat_rate = best["count"] / last["elapsed_s"] if "elapsed_s" in last else None
    if stat_rate:
        expect_near("wakeups a second", mine_rate, stat_rate, relative=0.25)
    expect_near("median latency", sleeper["latency"]["p50_ns"] / 1000, best["p50_us"], relative=0.5, absolute=200)


@case
def cpus_add_up_and_the_heat_map_counts_wakeups():
    with Screen() as screen:
        screen.attached()
        time.sleep(1)
        look = screen.look()
        for cpu in look["cpus"]:
            total = sum(cpu[key] for key in ("user", "system", "irq", "steal"))
            expect_near(f"busy of CPU {cpu['cpu']}", cpu["busy"], total, absolute=1e-5)
            expect_between("busy", cpu["busy"], 0, 1)
        woken = sum(look["heat"])
        expect_between("waits on CPUs", sum(cpu["wait"]["count"] for cpu in look["cpus"]), woken, 1e9)
        expect(woken > 0, "nobody was woken")
        expect(look["wait"]["count"] == sum(cpu["wait"]["count"] for cpu in look["cpus"]), "waits do not add up")


@case
def our_own_programs_are_listed_with_their_cost():
    with Screen() as screen:
        screen.attached()
        time.sleep(1)
        look = screen.look()
        mine = [p for p in look["programs"] if p["name"] == "on_switch"]
        expect(mine and mine[-1]["runs_per_s"] > 0, f"{mine}")
        expect_between("cost of a switch", mine[-1]["ns_per_run"], 10, 100000)


@case
def without_rights_the_same_comes_from_proc_with_one_sentence():
    if os.geteuid() != 0:
        raise Skip("needs root to become nobody")
    with scratch() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "machine_dump")
        subprocess.run(["cp", MACHINE_DUMP, program], check=True)
        out = subprocess.run([*NOBODY, program, "looks=8", "ms=200"], capture_output=True, text=True, timeout=60,
                             check=False)
    expect(out.returncode == 0, out.stderr)
    look = json.loads(out.stdout.splitlines()[-2])
    expect(look["source"] == "proc", look["source"])
    expect("CAP_BPF" in look["notice"] and "setcap" in look["notice"], f"notice: {look['notice']}")
    expect(len(look["threads"]) > 10, f"{len(look['threads'])} threads")
    expect(any(t["run"] for t in look["threads"]), "nobody runs")
    expect(all(t["migrations_per_s"] is None for t in look["threads"]), "migrations out of nothing")


@case
def nothing_stays_attached_that_nobody_needs():
    with Screen("needs=7") as screen:
        screen.attached()
        held = os.listdir(f"/proc/{screen.process.pid}/fd")
        expect(held, "no descriptors")
    with Screen("needs=3") as screen:
        for _ in range(3):
            expect(screen.look()["source"] == "proc", "attached without need")


if __name__ == "__main__":
    main()
