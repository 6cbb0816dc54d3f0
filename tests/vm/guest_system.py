#!/usr/bin/env python3
"""guest_system.py [STEP...]: runs in a virtual machine: what the host may not have: kprobes, CPUs that go and come,
nodes, last-level caches, hardware counters.

Leaves traces, reports and what was done in /run/out, where test_system.py reads them.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

OUT = pathlib.Path("/run/out")
SCHEDSCOPE, WORKLOAD = os.environ["SCHEDSCOPE"], os.environ["WORKLOAD"]
MACHINE_DUMP = os.environ.get("MACHINE_DUMP", str(pathlib.Path(WORKLOAD).with_name("machine_dump")))
WAIT_S = 600  # of the guest's clock, which jumps ahead while all wait for the host
MOVES = 40
FAR_APART = (0, 2)  # CPUs of two nodes
DISTANCES = {"same_llc": (1, 14), "same_node": (2, 26), "other_node": (4, 38)}  # CPU to go to from 0 and back, moves
HAS_PMU = any(pathlib.Path("/sys/bus/event_source/devices", name).exists() for name in ("cpu", "armv8_pmuv3_0", "armv8_pmuv3"))


def start(*words):
    """A running schedscope."""
    return subprocess.Popen([SCHEDSCOPE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process, name, how=signal.SIGINT):
    """Ends it; keeps what it said."""
    if how:
        process.send_signal(how)
    out, err = process.communicate(timeout=WAIT_S)
    OUT.joinpath(f"{name}.out").write_text(out, encoding="utf-8")
    OUT.joinpath(f"{name}.err").write_text(err, encoding="utf-8")
    OUT.joinpath(f"{name}.code").write_text(str(process.returncode), encoding="ascii")


def wait_for_trace(path):
    """Until there are events in it: the head comes first."""
    sizes = set()
    while len(sizes) < 3:
        sizes.add(os.path.getsize(path) if os.path.exists(path) else 0)
        time.sleep(0.05)


def keep(path):
    """Takes the file out."""
    OUT.joinpath(os.path.basename(path)).write_bytes(pathlib.Path(path).read_bytes())


def set_online(cpu, is_online):
    """A CPU goes or comes."""
    pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/online").write_text(str(int(is_online)), encoding="ascii")


def spin(seconds):
    """Uses the CPU."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        pass


def probes():
    """Calls of a function of the kernel, by a program that counts them."""
    record = start("record", "-o", "/tmp/probes.pftrace", "-k", "hrtimer_nanosleep")
    wait_for_trace("/tmp/probes.pftrace")
    account = subprocess.run([WORKLOAD, "sleep", "rounds=50", "us=2000", "nr=2"], stdout=subprocess.PIPE,
                             check=True).stdout
    OUT.joinpath("probes.json").write_bytes(account.splitlines()[-1])
    end(record, "probes")
    keep("/tmp/probes.pftrace")


def moves():
    """Us, between two nodes."""
    os.sched_setaffinity(0, {FAR_APART[0]})
    stat = start("stat", "--json", "-i", "1", "-g", "migration,schedstat" + (",perf" if HAS_PMU else ""), "--by", "tid")
    stat.stdout.readline()
    for i in range(1, MOVES + 1):
        os.sched_setaffinity(0, {FAR_APART[i % 2]})
    OUT.joinpath("moves.json").write_text(json.dumps({"tid": os.getpid(), "moves": MOVES}), encoding="ascii")
    end(stat, "moves")
    os.sched_setaffinity(0, set(range(os.cpu_count())))


def distances():
    """Us, between CPUs of a cache, of a node, of two nodes, while all three kinds of watchers watch."""
    os.sched_setaffinity(0, {0})
    stat = start("stat", "--json", "-i", "1", "-g", "migration", "--by", "tid")
    record = start("record", "-o", "/tmp/distances.pftrace")
    screen = subprocess.Popen([MACHINE_DUMP, "lines=1", "needs=6"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    stat.stdout.readline()
    wait_for_trace("/tmp/distances.pftrace")
    while refresh(screen)["source"] != "bpf":
        time.sleep(0.05)
    refresh(screen)
    for cpu, number in DISTANCES.values():
        for i in range(number):
            os.sched_setaffinity(0, {(cpu, 0)[i % 2]})
    found = {"tid": os.getpid(), "moves": {name: number for name, (_, number) in DISTANCES.items()}, "screen": refresh(screen)}
    OUT.joinpath("distances.json").write_text(json.dumps(found), encoding="ascii")
    end(stat, "distances_stat")
    end(record, "distances")
    screen.stdin.close()
    screen.wait(timeout=WAIT_S)
    keep("/tmp/distances.pftrace")


def hotplug():
    """The last CPU goes and comes back while two programs watch."""
    stat = start("stat", "--json", "-i", "1", "-g", "latency,schedstat")
    record = start("record", "-o", "/tmp/hotplug.pftrace", "--events", "all")
    stat.stdout.readline()
    wait_for_trace("/tmp/hotplug.pftrace")
    set_online(3, False)
    spin(0.2)
    set_online(3, True)
    os.sched_setaffinity(0, {3})
    spin(0.2)
    os.sched_setaffinity(0, {0, 1, 2, 3})
    stat.stdout.readline()
    OUT.joinpath("hotplug.json").write_text(json.dumps({"tid": os.getpid()}), encoding="ascii")
    end(stat, "hotplug_stat")
    end(record, "hotplug")
    keep("/tmp/hotplug.pftrace")


def latecomer():
    """The last CPU comes while a profile and a recording of stacks and counters run; one process runs nowhere else."""
    set_online(3, False)
    sleeper = subprocess.Popen([sys.executable, "-c", "import os, time\nwhile not os.path.exists('/tmp/go'): time.sleep(0.1)\n"
                                "os.sched_setaffinity(0, {3})\nwhile True: pass"])
    profiler = start("profile", "-e", "cpu-clock", "--duration", "300", "--json", "--no-stacks")
    record = start("record", "-o", "/tmp/latecomer.pftrace", "--stacks", "--pmu", "task-clock", "-p", str(sleeper.pid))
    wait_for_trace("/tmp/latecomer.pftrace")
    set_online(3, True)
    pathlib.Path("/tmp/go").touch()
    OUT.joinpath("latecomer.json").write_text(json.dumps({"tid": sleeper.pid}), encoding="ascii")
    time.sleep(4)  # the list of CPUs is read once a second
    end(profiler, "latecomer_profile")
    end(record, "latecomer")
    sleeper.kill()
    sleeper.wait()
    keep("/tmp/latecomer.pftrace")


def profile():
    """Cycles, of a program that does nothing else."""
    if not HAS_PMU:
        return
    spinner = subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
    words = ["profile", "-e", "cycles", "-p", str(spinner.pid), "--duration", "1", "--folded", "/tmp/cycles.folded"]
    end(start(*words), "profile", None)
    spinner.kill()
    spinner.wait()
    keep("/tmp/cycles.folded")


def refresh(screen):
    """One refresh of a machine_dump."""
    screen.stdin.write("\n")
    screen.stdin.flush()
    return json.loads(screen.stdout.readline())


class Counting:
    """A screen's event on each CPU, counted from one refresh to the next."""

    def __init__(self, word):
        self.process = subprocess.Popen([MACHINE_DUMP, "proc=1", "lines=1", "needs=257", f"event={word}"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.settle()

    def settle(self):
        """Until each CPU that is there has been counted for an interval; counters are opened by a thread."""
        while True:
            refresh = self.refresh()
            if refresh["event_why"] or all(cpu["event_per_s"] is not None for cpu in refresh["cpus"] if cpu["is_online"]):
                break
            time.sleep(0.02)

    def refresh(self):
        return refresh(self.process)

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=WAIT_S)


def events():
    """A function and cycles, as a screen counts them; a CPU that is gone for a while."""
    screen = Counting("kprobe:hrtimer_nanosleep")
    account = subprocess.run([WORKLOAD, "sleep", "rounds=200", "us=2000", "nr=2"], stdout=subprocess.PIPE,
                             check=True).stdout
    found = {"calls": screen.refresh(), "account": json.loads(account.splitlines()[-1])}
    screen.end()
    screen = Counting("perf:hw:cycles")
    spin(0.5)
    found["cycles"] = screen.refresh()
    set_online(3, False)
    screen.settle()
    spin(0.2)
    found["without"] = screen.refresh()
    set_online(3, True)
    screen.settle()
    spin(0.2)
    found["with"] = screen.refresh()
    screen.end()
    OUT.joinpath("events.json").write_text(json.dumps(found), encoding="ascii")


def recordings():
    """Each kind of recording once: verifiers differ from kernel to kernel."""
    kinds = {"all": ["--events", "all,scx"], "stacks": ["--stacks=cpu,off-cpu,waker"], "pmu": ["--pmu", "cycles"],
             "sample": ["--sample", "2"], "cgroup": ["--cgroup", "."], "stats": ["-s", "-p", "1"]}
    if not HAS_PMU:
        del kinds["pmu"]
    for name, words in kinds.items():
        end(start("record", "--force", "-o", "/tmp/kind.pftrace", "-d", "200", *words), f"kind_{name}", None)


def main():
    pathlib.Path("/proc/sys/kernel/sched_schedstats").write_text("1", encoding="ascii")
    keep("/proc/schedstat")
    steps = {step.__name__: step for step in (recordings, probes, events, moves, hotplug, latecomer, profile, distances)}
    for step in [steps[name] for name in sys.argv[1:]]:
        begin = time.monotonic()
        try:
            step()
        except Exception as error:  # the other steps can do without it
            OUT.joinpath(f"{step.__name__}.failed").write_text(repr(error), encoding="utf-8")
        print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


main()
