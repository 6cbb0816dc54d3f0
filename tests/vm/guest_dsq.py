#!/usr/bin/env python3
"""guest_dsq.py [k] STEP...: runs in a virtual machine: `stat -g dsq` and the screen's source watch our schedulers, which
keep accounts of their own; with k, by kprobes.

They begin before the scheduler and end after it, so that both see all of it. Leaves reports and accounts in /run/out,
where test_dsq.py compares them.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from guest_scx import OUT, SCHEDSCOPE, SPIN_S, WAIT_S, Record, Scheduler

MACHINE_DUMP, WATCHERS = os.environ["MACHINE_DUMP"], os.environ["VM_WATCHERS"]
NEEDS = 2 | 8  # tasks and queues: enum machine_need
SOCKET = "/tmp/scx_stats"  # of the scheduler, for its own statistics
IS_BY_KPROBE = sys.argv[1] == "k"
SCHED_EXT = 7  # a policy
KPROBE = "prog_type:\t2\n"  # in the kernel's words on a program that is held


class Stat:
    """A running `stat -g dsq`, attached once the object exists. Its output goes to files: a pipe would be full."""

    def __init__(self, *words, interval="600"):
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.NamedTemporaryFile("w+")
        way = ["--scx-by-kprobe"] if IS_BY_KPROBE else []
        self.process = subprocess.Popen([SCHEDSCOPE, "stat", "-g", "dsq", "-v", "--json", "-i", interval, *way, *words],
                                        stdout=self.out, stderr=self.err)
        while "attached" not in self.talk():
            if self.process.poll() is not None:
                raise RuntimeError(f"stat: {self.talk()}")
            time.sleep(0.05)

    def talk(self):
        """What it said so far."""
        return pathlib.Path(self.err.name).read_text(encoding="utf-8")

    def end(self):
        """Its reports."""
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(WAIT_S):
            raise RuntimeError(f"stat: {self.talk()}")
        self.out.seek(0)
        return [json.loads(line) for line in self.out]


class Machine:
    """The source of the screen, refreshed on command; its first refreshes until it has attached are not kept."""

    def __init__(self):
        words = [f"needs={NEEDS}", f"stats={SOCKET}", f"kprobe={int(IS_BY_KPROBE)}"]
        self.process = subprocess.Popen([MACHINE_DUMP, "lines=1", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            refresh = self.refresh()
            if refresh["scx"] and refresh["scx"]["is_counting"]:
                return
            time.sleep(0.05)
        raise RuntimeError("the screen's source does not attach")

    def refresh(self):
        """What it sees now."""
        self.process.stdin.write("refresh\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        """Ends it."""
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait(WAIT_S)


def kprobes(process):
    """How many programs of that kind it holds."""
    folder = pathlib.Path("/proc", str(process.pid), "fdinfo")
    return sum(KPROBE in path.read_text(encoding="ascii") for path in folder.iterdir())


def spin(number):
    """Processes that want a CPU all the time, half of them niced; their ids, after their end."""
    work = [subprocess.Popen([*(["nice", "-n", "5"] if i % 2 else []), "/bin/sh", "-c", "while :; do :; done"])
            for i in range(number)]
    time.sleep(SPIN_S)
    for process in work:
        process.kill()
        process.wait()
    return [process.pid for process in work]


def observe(name):
    """Six spinners under one scheduler, seen by stat."""
    stat = Stat("--by", "tid")
    scheduler = Scheduler(name)
    tids = spin(6)
    account = scheduler.end()
    return {"tids": tids, "account": account, "kprobes": kprobes(stat.process), "report": stat.end()[-1],
            "talk": stat.talk()}


def after_two(page):
    """What the file has when it was replaced twice: the first time it may have sums of before."""
    for _ in range(2):
        last, deadline = page.stat().st_ino, time.monotonic() + WAIT_S
        while page.stat().st_ino == last:
            if time.monotonic() > deadline:
                raise RuntimeError("serve does not replace its file")
            time.sleep(0.02)
    return page.read_text(encoding="utf-8")


def served():
    """The same, counted by `serve`: its pages while the scheduler is in charge, and after it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w+") as err:
        page = pathlib.Path(folder, "schedscope.prom")
        daemon = subprocess.Popen([SCHEDSCOPE, "serve", "--groups", "latency,dsq", "--listen", "off", "--textfile", folder, "--every", "1s"], stderr=err)
        deadline = time.monotonic() + WAIT_S
        while not page.exists():
            if daemon.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"serve: {pathlib.Path(err.name).read_text(encoding='utf-8')}")
            time.sleep(0.05)
        scheduler = Scheduler("vtime")
        spin(6)
        pages = [after_two(page)]
        account = scheduler.end()
        pages.append(after_two(page))
        daemon.terminate()
        return {"account": account, "pages": pages, "code": daemon.wait(WAIT_S), "talk": pathlib.Path(err.name).read_text(encoding="utf-8")}


def crowded():
    """The same where the function through which all queues are filled has as many watchers as it takes."""
    with subprocess.Popen([WATCHERS, "dispatch_enqueue"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
        number = int(crowd.stdout.readline())
        record = Record("crowded")
        recorded_by = kprobes(record.process)
        record.end()  # one kprobe is blind while another runs
        result = observe("vtime")
        crowd.communicate()
    return {**result, "watchers": number, "recorded_by": recorded_by}


def refresh(name):
    """The same, seen by the source of the screen."""
    machine = Machine()
    scheduler = Scheduler(name, "--stats", SOCKET)
    work = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(6)]
    refreshes = []
    for _ in range(4):
        time.sleep(SPIN_S / 4)
        refreshes.append(machine.refresh())
    for process in work:
        process.kill()
        process.wait()
    account = scheduler.end()
    refreshes.append(machine.refresh())
    number = kprobes(machine.process)
    machine.end()
    return {"tids": [process.pid for process in work], "account": account, "refreshes": refreshes, "kprobes": number}


def asked():
    """A scheduler that has only those that ask for it, and one of each kind; then none."""
    machine, stat = Machine(), Stat("--by", "tid")
    scheduler = Scheduler("partial")
    words = ["/bin/sh", "-c", "while :; do :; done"]
    normal = subprocess.Popen(words)
    asking = subprocess.Popen(words, preexec_fn=lambda: os.sched_setscheduler(0, SCHED_EXT, os.sched_param(0)))
    time.sleep(SPIN_S)
    refreshes = [machine.refresh()]
    account = scheduler.end()
    time.sleep(0.5)
    refreshes.append(machine.refresh())
    for process in (normal, asking):
        process.kill()
        process.wait()
    machine.end()
    return {"normal": normal.pid, "asking": asking.pid, "refreshes": refreshes, "account": account, "report": stat.end()[-1]}


def change():
    """None, one, none, one that the kernel throws out, none, another one: in one run of both."""
    machine, stat = Machine(), Stat(interval="0.2")
    refreshes = []

    def watch(seconds):
        time.sleep(seconds)
        refreshes.append(machine.refresh())

    watch(0.5)
    fifo = Scheduler("fifo")
    watch(0.5)
    fifo.end()
    watch(0.5)
    stall = Scheduler("stall")
    watch(0.5)
    os.symlink("/bin/sleep", "/tmp/stallme")
    held = subprocess.Popen(["/tmp/stallme", "0.1"])
    account = stall.wait()
    held.wait(WAIT_S)
    watch(0.5)
    vtime = Scheduler("vtime")
    spin(2)
    watch(0.5)
    vtime.end()
    watch(0.5)
    machine.end()
    return {"exit_kind": account["exit_kind"], "reports": stat.end(), "refreshes": refreshes}


def off():
    """The kernel calls no program that watches its functions."""
    switch = pathlib.Path("/proc/sys/kernel/ftrace_enabled")
    switch.write_text("0", encoding="ascii")
    stat = subprocess.run([SCHEDSCOPE, "stat", "-g", "dsq", "-r", "1"], capture_output=True, text=True, check=False)
    machine = subprocess.run([MACHINE_DUMP, "refreshes=20", "ms=100", f"needs={NEEDS}"], capture_output=True, text=True,
                             check=False)
    switch.write_text("1", encoding="ascii")
    return {"code": stat.returncode, "talk": stat.stderr, "refresh": json.loads(machine.stdout.splitlines()[-2])}


def main():
    steps = {"refresh": lambda: refresh("vtime"), "change": change, "off": off, "crowded": crowded, "asked": asked, "served": served}
    for name in sys.argv[1 + IS_BY_KPROBE:]:
        start = time.monotonic()
        result = steps.get(name, lambda name=name: observe(name))()
        OUT.joinpath(f"{name}.json").write_text(json.dumps(result), encoding="ascii")
        print(f"{name}: {time.monotonic() - start:.1f} s", file=sys.stderr)


main()
