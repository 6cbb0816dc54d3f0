#!/usr/bin/env python3
"""What a screen is shown (machine/machine_source), against workloads that know what they did, `stat`, and /proc.

machine_dump refreshes whenever it is sent a line, so that its refreshes fall where a case wants them.
"""
import json
import os
import pathlib
import signal
import subprocess
import time

from live import (ENDLESS_MS, LONG_S, NOBODY, WAIT_S, Lines, Meanwhile, Skip, Stat, Work, case, expect, expect_between, expect_near, main,
                  need_live, open_files, part, rows, scratch)

MACHINE_DUMP = os.environ.get("MACHINE_DUMP", "build/tests/live/machine_dump")
STATES = ("interruptible", "uninterruptible", "other")
ATTACH_S = LONG_S  # the kernel checks programs slowly while others build


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
        # Threads that are killed while the CPUs are busy can hold up for a minute, in the kernel, who waits for them
        # (6.18, shrink_dcache_parent below proc_flush_pid): it ends by itself if it can.
        self.process.stdin.close()
        try:
            self.process.wait(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def refresh(self, needs=""):
        """One refresh now."""
        self.process.stdin.write(f"{needs}\n")
        self.process.stdin.flush()
        self.nr += 1
        expect(self.out.wait_for(self.nr), f"no refresh: {self.process.poll()}")
        return json.loads(self.out.lines[self.nr - 1])

    def programs(self):
        """How many BPF programs it holds."""
        return sum("prog_id:" in text for text in open_files(self.process.pid))

    def attached(self):
        """Refreshes until BPF is there, and once more, so that the next refresh has an interval."""
        need_live()
        end = time.monotonic() + ATTACH_S
        while self.refresh()["source"] != "bpf":
            expect(time.monotonic() < end, "BPF is not attached")
            time.sleep(0.05)
        self.refresh()
        return self


def task(refresh, table, tid):
    """The row of a thread or process."""
    found = [row for row in refresh[table] if row["tid"] == tid]
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
    end = time.monotonic() + WAIT_S
    while len(tids(work.pid)) < number:
        expect(time.monotonic() < end, f"{work.kind} has no {number} threads")
        time.sleep(0.01)


def wait_for_row(screen, tgid, number):
    """Until the process is on the screen with its threads: from /proc alone, who is new is not noticed at once."""
    end = time.monotonic() + WAIT_S
    while not [row for row in screen.refresh()["processes"] if row["tid"] == tgid and row["nr_threads"] == number]:
        expect(time.monotonic() < end, f"{tgid} does not come")
        time.sleep(0.05)


def players(refresh):
    """The two threads of a pingpong."""
    return {t["tid"]: t for t in refresh["threads"] if t["comm"] in ("pp-left", "pp-right")}


def expect_same(what, got, want, taken=0):
    """Equal, but for the few switches that happen while one has read and the other has not; and for what was taken meanwhile."""
    expect_near(what, got, want, relative=0.02, absolute=4, less=taken, more=taken)


def stop(work):
    """Ends it, and the processes that it has started, which would keep its output open."""
    with open(f"/proc/{work.pid}/task/{work.pid}/children", encoding="ascii") as file:
        children = [int(word) for word in file.read().split()]
    for child in children:
        os.kill(child, signal.SIGKILL)
    work.kill()


def expect_accounts(screen, table):
    """Run and wait of two hogs, over an interval whose ends are read around the refreshes."""
    work = Work("hogs", nr=2, ms=600000)
    try:
        wait_for_threads(work, 3)
        wait_for_row(screen, work.pid, 3)
        before = {tid: sched(work.pid, tid) for tid in tids(work.pid)}
        start = time.monotonic()
        time.sleep(2)
        refresh = screen.refresh()
        seconds = time.monotonic() - start
        after = {tid: sched(work.pid, tid) for tid in tids(work.pid)}
        # What happened between our readings and its own is in one of both only.
        slack = max(0.05, abs(seconds - refresh["interval_s"]) / seconds * 2 + 0.03)
        run = sum(after[tid][0] - before[tid][0] for tid in before) / seconds / 1e9
        got = task(refresh, "processes", work.pid)
        expect_near("run of the process", got["run"], run, relative=slack, absolute=0.03)
        expect(got["nr_threads"] == 3, f"{got['nr_threads']} threads")
        expect_near("sum of its threads", sum(t["run"] or 0 for t in refresh[table] if t["tgid"] == work.pid), got["run"],
                    absolute=1e-4)
        for tid in before:
            want = (after[tid][0] - before[tid][0]) / seconds / 1e9
            expect_near(f"run of {tid}", task(refresh, "threads", tid)["run"], want, relative=slack, absolute=0.03)
            want = (after[tid][1] - before[tid][1]) / seconds / 1e9
            expect_near(f"wait of {tid}", task(refresh, "threads", tid)["wait"], want, relative=slack, absolute=0.05)
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


def hog(cpu, fifo=0):
    """A process that never sleeps, on one CPU; with a real-time priority, if there is one."""
    def before_exec():
        os.sched_setaffinity(0, {cpu})
        if fifo:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(fifo))
    return subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=before_exec)  # pylint: disable=subprocess-popen-preexec-fn


@case
def a_starved_thread_waits_at_every_refresh():
    """The kernel counts a wait when it ends; the screen while it lasts, and in the end both have counted the same."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("needs two CPUs: one is taken")
    os.sched_setaffinity(0, set(cpus[:-1]))
    hogs = []
    try:
        with Screen() as screen:
            screen.attached()
            hogs = [hog(cpus[-1])]
            victim = hogs[0].pid
            wait_for_row(screen, victim, 1)
            screen.refresh()
            first, waited = sched(victim, victim), 0.0
            hogs.append(hog(cpus[-1], fifo=5))
            for _ in range(12):
                before, start = sched(victim, victim), time.monotonic()
                time.sleep(0.25)
                refresh = screen.refresh()
                ran = (sched(victim, victim)[0] - before[0]) / 1e9 / (time.monotonic() - start)
                row = task(refresh, "threads", victim)
                expect_near("run", row["run"], ran, absolute=0.15)
                # It never sleeps, so what it did not run it waited; never more than all of the interval.
                expect_near("run and wait", row["run"] + row["wait"], 1, absolute=0.03)
                waited += row["wait"] * refresh["interval_s"]
            fifo = hogs.pop()
            fifo.kill()
            fifo.wait()
            time.sleep(0.25)  # the last wait ends
            refresh = screen.refresh()
            waited += task(refresh, "threads", victim)["wait"] * refresh["interval_s"]
            expect(waited > 1.5, f"it waited {waited} s of 3")
            expect_near("all its waits", waited, (sched(victim, victim)[1] - first[1]) / 1e9, absolute=0.15)
    finally:
        os.sched_setaffinity(0, set(cpus))
        for one in hogs:
            one.kill()
            one.wait()


@case
def a_sleeper_is_counted_as_it_counts_itself():
    with Screen() as screen:
        screen.attached()
        work = Work("sleep", nr=1, rounds=200, us=5000)
        refreshes = []
        while work.process.poll() is None:
            time.sleep(0.2)
            refreshes.append(screen.refresh())
        refreshes.append(screen.refresh())
        account = work.account()
        truth = account["tasks"][0]
        mine = [t for refresh in refreshes for t in refresh["processes"] if t["tgid"] == work.pid]
        naps = sum(t["sleep"]["count"] for t in mine)
        # Its last moments come after its row has gone: as many naps as fit into a refresh may be missing.
        expect_between("naps", naps, truth["count"] - 60, truth["voluntary"] + 20)
        # The timer is set before it leaves its CPU: half of the naps lack at most twice the mean of what it ran for each.
        least = 5e6 - max(1e5, 2 * truth["run_ns"] / truth["count"])
        own = [t["sleep"] for refresh in refreshes for t in refresh["threads"] if t["tid"] == truth["tid"]]
        short = [sleep for sleep in own if sleep["count"] > 10 and sleep["p50_ns"] < least]
        expect(own, "its thread is never shown")
        expect(not short, f"naps are too short, below {least}: {short}")


@case
def switches_of_a_pingpong_are_what_bpf_and_proc_say():
    with Screen() as with_bpf, Screen("proc=1") as by_proc:
        with_bpf.attached()
        work = Work("pingpong", rounds=1 << 40, ms=ENDLESS_MS)
        try:
            end = time.monotonic() + WAIT_S
            while len(players(by_proc.refresh())) < 2:
                expect(time.monotonic() < end, "no pingpong")
                time.sleep(0.05)
            with_bpf.refresh()
            by_proc.refresh()
            time.sleep(1.5)
            mine, kernels = players(with_bpf.refresh()), players(by_proc.refresh())
            expect_near("players", len(mine), 2)
            for tid, row in kernels.items():
                expect(row["voluntary_per_s"] > 100, f"{row['comm']} switches {row['voluntary_per_s']} times a second")
                expect_near(f"switches of {row['comm']}", mine[tid]["voluntary_per_s"], row["voluntary_per_s"],
                            relative=0.2)
        finally:
            stop(work)


@case
def latencies_are_those_of_stat_over_the_same_seconds():
    """The whole life of a sleeper falls into one refresh and into one run of stat: both have counted the same."""
    with Screen() as screen:
        screen.attached()
        with Stat("--by", "tid", "-g", "latency,slice,sleep,migration", "-d") as stat:
            screen.refresh()
            meanwhile = Meanwhile()
            work = Work("sleep", nr=2, rounds=400, us=2000)
            wait_for_threads(work, 3)
            time.sleep(0.5)
            os.kill(work.pid, signal.SIGSTOP)  # it does nothing more: refreshes may come when they come
            time.sleep(0.2)
            refresh = screen.refresh()
            taken_us = meanwhile.taken_ns() / 1000
            report = stat.finish()
            work.kill()
    mine = task(refresh, "processes", work.pid)

    def all_of(group, *path):
        """That part of each thread's row that counts anything."""
        parts = [part(found, *path) for found in rows(report, group, tgid=work.pid)]
        return [one for one in parts if one["count"]]

    def count(group, *path):
        return sum(one["count"] for one in all_of(group, *path))

    waits = all_of("latency", "by_cause", "woken") + all_of("latency", "by_cause", "new")
    expect(mine["latency"]["count"] > 50, f"{mine['latency']['count']} waits")
    expect_same("waits", mine["latency"]["count"], sum(one["count"] for one in waits))
    expect_same("longest wait in us", mine["latency"]["max_ns"] / 1000, max(one["max_us"] for one in waits),
                taken_us)
    expect_same("preempted waits", mine["preempted"]["count"], count("latency", "by_cause", "preempted"))
    expect_same("slices", mine["slice"]["count"], count("slice", "voluntary") + count("slice", "involuntary"))
    expect_same("naps", mine["sleep"]["count"], sum(count("sleep", "by_state", state) for state in STATES))


@case
def cpus_add_up_and_the_heat_map_counts_wakeups():
    with Screen() as screen:
        screen.attached()
        time.sleep(1)
        refresh = screen.refresh()
        for cpu in refresh["cpus"]:
            total = sum(cpu[key] for key in ("user", "system", "irq", "steal"))
            expect_near(f"busy of CPU {cpu['cpu']}", cpu["busy"], total, absolute=1e-5)
            expect_between("busy", cpu["busy"], 0, 1)
        woken = sum(refresh["heat"])
        expect_between("waits on CPUs", sum(cpu["wait"]["count"] for cpu in refresh["cpus"]), woken, 1e9)
        expect(woken > 0, "no task was woken")
        expect(refresh["wait"]["count"] == sum(cpu["wait"]["count"] for cpu in refresh["cpus"]), "waits do not add up")


@case
def our_own_programs_are_listed_with_their_cost():
    with Screen() as screen:
        screen.attached()
        time.sleep(1)
        refresh = screen.refresh()
        mine = [p for p in refresh["programs"] if p["name"] == "on_switch"]
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
        out = subprocess.run([*NOBODY, program, "refreshes=8", "ms=200"], capture_output=True, text=True, timeout=LONG_S,
                             check=False)
    expect(out.returncode == 0, out.stderr)
    refresh = json.loads(out.stdout.splitlines()[-2])
    expect(refresh["source"] == "proc", refresh["source"])
    expect("CAP_BPF" in refresh["notice"] and "setcap" in refresh["notice"], f"notice: {refresh['notice']}")
    expect(len(refresh["threads"]) > 10, f"{len(refresh['threads'])} threads")
    expect(any(t["run"] for t in refresh["threads"]), "no task runs")
    expect(all(t["migrations_per_s"] is None for t in refresh["threads"]), "migrations out of nothing")


@case
def nothing_stays_attached_that_is_not_needed():
    with Screen("needs=3") as screen:  # CPUs and tasks
        for _ in range(3):
            expect(screen.refresh()["source"] == "proc", "attached without need")
        expect(screen.programs() == 0, "programs without need")
        screen.refresh(needs=7)  # latency, too
        screen.attached()
        expect(screen.programs() > 0, "no programs in spite of need")
        for _ in range(40):
            refresh = screen.refresh(needs=3)
        expect(refresh["source"] == "proc" and screen.programs() == 0, "still attached")
        expect(all(t["latency"]["count"] == 0 for t in refresh["threads"]), "latencies out of nothing")


@case
def hardware_pressure_is_attached_only_while_it_is_requested():
    need_live()
    kernel = pathlib.Path("/sys/kernel/btf/vmlinux").read_bytes()
    if not any(name in kernel for name in (b"btf_trace_hw_pressure_update", b"btf_trace_thermal_pressure_update")):
        with Screen() as screen:
            refresh = screen.refresh(1 | 32768)
            expect(refresh["no_pressure"] and screen.programs() == 0, f"{refresh['no_pressure']}")
        return
    with Screen() as screen:
        refresh = screen.refresh(1 | 32768)
        expect(screen.programs() > 0, "not attached")
        known = [c["hw_pressure"] for c in refresh["cpus"] if c["hw_pressure"] is not None]
        expect(known or "when it changes" in refresh["no_pressure"], refresh["no_pressure"])
        refresh = screen.refresh(1)
        expect(screen.programs() == 0 and refresh["no_pressure"] is None, "still attached")
    with Screen("proc=1") as screen:
        refresh = screen.refresh(1 | 32768)
        expect("needs BPF" in refresh["no_pressure"] and screen.programs() == 0, refresh["no_pressure"])


@case
def a_running_task_is_there_and_an_ended_one_gone_with_the_next_refresh():
    """Among threads that sleep, which are not read or listed meanwhile."""
    with Screen() as screen:
        screen.attached()
        crowd = Work("crowd", nr=1000, us=3600000000, ms=3600000)
        try:
            wait_for_threads(crowd, 1000)
            end = time.monotonic() + WAIT_S
            while not all(t["comm"] for t in screen.refresh()["threads"]):  # a refresh reads only so many new ones
                expect(time.monotonic() < end, "some have no name")
            for _ in range(8):
                with subprocess.Popen(["sleep", "60"]) as sleeper:
                    end = time.monotonic() + WAIT_S
                    while pathlib.Path(f"/proc/{sleeper.pid}/stat").read_text(encoding="ascii").split()[1:3] != ["(sleep)", "S"]:
                        expect(time.monotonic() < end, "it does not sleep")
                        time.sleep(0.01)
                    refresh = screen.refresh()
                    expect(task(refresh, "threads", sleeper.pid)["comm"] == "sleep", f"it is called {task(refresh, 'threads', sleeper.pid)}")
                    expect(task(refresh, "processes", sleeper.pid)["nr_threads"] == 1, "it has no thread")
                    sleeper.kill()
                    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
                    expect(task(screen.refresh(), "threads", sleeper.pid)["state"] == "Z", "it is no zombie")
                refresh = screen.refresh()
                for table in ("threads", "processes"):
                    expect(not [t for t in refresh[table] if t["tid"] == sleeper.pid], f"it is still among {table}")
            expect(len([t for t in screen.refresh()["threads"] if t["tgid"] == crowd.pid]) >= 1000, "sleeping threads are missing")
        finally:
            stop(crowd)


if __name__ == "__main__":
    main()
