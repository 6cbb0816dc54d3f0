#!/usr/bin/env python3
"""Events that a screen counts on every CPU (machine/parts/events), against the kernel's own counts and against
programs that know what they did.
"""
import os
import resource
import subprocess
import sys
import time

from live import ENDLESS_MS, LONG_S, NOBODY, SLOW, WAIT_S, Work, case, expect, expect_between, expect_near, main, need_live, scratch
from pair import mount_tracefs
from test_machine import MACHINE_DUMP, Screen, stop, wait_for_threads

CPUS, EVENT, TRACEPOINTS, FUNCTIONS = 1, 256, 1 << 16, 1 << 17
PAGE = resource.getpagesize()
HAS_PMU = any(name.startswith(("cpu", "armv")) for name in os.listdir("/sys/bus/event_source/devices"))
HAS_KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe/type")
# Without the mounts that know numbers of tracepoints.
NO_TRACEFS = ("unshare", "--mount", "sh", "-c",
              'umount -a -t tracefs; umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$@"', "sh")

# Obeys lines: "touch OLD NEW" has its four threads touch OLD pages each and four new ones NEW, and prints by how much
# its page faults grew; "call N" has all of its threads call getppid() N times; "child N" has a child touch N pages.
TARGET = f"""
import contextlib, mmap, os, queue, resource, sys, threading
def touch(pages, cpu):
    os.sched_setaffinity(0, {{cpu}})
    area = mmap.mmap(-1, (pages + 1) * {PAGE}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without huge pages
        area.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(pages):
        area[page * {PAGE}] = 1
def call(times):
    for _ in range(times):
        os.getppid()
def serve(orders):
    while True:
        function, *args = orders.get()
        function(*args)
        orders.task_done()
old = [queue.Queue() for _ in range(4)]
for orders in old:
    threading.Thread(target=serve, args=(orders,), daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    word, *numbers = line.split()
    numbers = [int(number) for number in numbers]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    new = []
    if word == "touch":
        for nr, orders in enumerate(old):
            orders.put((touch, numbers[0], 1 if nr else 0))
        new = [threading.Thread(target=touch, args=(numbers[1], 1)) for _ in range(4)]
    elif word == "call":
        for orders in old:
            orders.put((call, numbers[0]))
        new = [threading.Thread(target=call, args=(numbers[0],)) for _ in range(4)]
    elif os.fork() == 0:
        touch(numbers[0], 0)
        os._exit(0)
    else:
        os.wait()
    for thread in new:
        thread.start()
    for thread in new:
        thread.join()
    for orders in old:
        orders.join()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, flush=True)
"""


class Target:
    """A process with threads that follows commands."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", TARGET], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def do(self, order):
        """What it counted itself."""
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def counting(word, *args, command=()):
    """A screen that counts that event alone; BPF is not needed for anything else."""
    return Screen("proc=1", f"needs={CPUS | EVENT}", f"event={word}", *args, command=command)


def begin(screen):
    """Until the counters are open, and a first interval has ended."""
    end = time.monotonic() + WAIT_S
    while True:
        refresh = screen.refresh()
        expect(refresh["event_why"] is None, refresh["event_why"])
        if all(cpu["event_per_s"] is not None for cpu in refresh["cpus"] if cpu["is_online"]):
            return
        expect(time.monotonic() < end, "nothing is counted")
        time.sleep(0.02)


def counted(refresh):
    """Events of the interval, by CPU."""
    expect(refresh["event_why"] is None, refresh["event_why"])
    expect(all(cpu["event_per_s"] is not None for cpu in refresh["cpus"] if cpu["is_online"]), f"unknown: {refresh['cpus']}")
    return {cpu["cpu"]: (cpu["event_per_s"] or 0) * refresh["interval_s"] for cpu in refresh["cpus"]}


def switches():
    """Of all CPUs since boot, by the kernel's own account."""
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("ctxt "))


def expect_switches(word, command=()):
    """Context switches of a ping-pong and all others, against the kernel's own count over the same two seconds.

    A refresh takes a moment: the kernel's count is read on both sides of it.
    """
    need_live()
    work = Work("pingpong", rounds=1 << 40, ms=ENDLESS_MS)
    try:
        with counting(word, command=command) as screen:
            begin(screen)
            time.sleep(0.5)
            most = -switches()
            screen.refresh()
            least = -switches()
            time.sleep(2)
            least += switches()
            refresh = screen.refresh()
            most += switches()
            got = counted(refresh)
            expect(least > 10000, f"only {least} switches")
            expect_between(f"{word} of all CPUs", sum(got.values()), 0.98 * least, 1.02 * most)
            expect(got[1] > 5 * got[0] or got[1] > 10000, f"the ping-pong is on CPU 1: {got}")
    finally:
        stop(work)


@case
def context_switches_are_the_kernels_own():
    expect_switches("perf:sw:context-switches")


@case
def a_tracepoint_counts_the_same():
    expect_switches("perf:sched:sched_switch")


@case
def a_tracepoint_counts_the_same_without_tracefs():
    expect_switches("perf:sched:sched_switch", command=NO_TRACEFS)


@case
def an_event_by_its_numbers_counts_the_same():
    expect_switches("raw:mine:0x3:1")  # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES


@case
def page_faults_of_a_process_are_those_of_all_its_threads_on_all_cpus():
    need_live()
    with Target() as target, counting("perf:sw:minor-faults", f"tgid={target.process.pid}") as screen:
        begin(screen)
        screen.refresh()
        faults = target.do("touch 4000 2000")
        got = counted(screen.refresh())
        expect(faults >= 24000, f"{faults} faults")
        expect_near("faults of old and new threads", sum(got.values()), faults, relative=0.02)
        # One old thread of four is on CPU 0; what the interpreter itself touches may be anywhere.
        expect_near("those on CPU 0", got[0], 4000, relative=0.05, absolute=faults - 24000)
        quiet = sum(counted(screen.refresh()).values())
        expect(quiet < 100, f"{quiet} faults without a cause")


@case
def children_of_a_process_are_not_counted():
    need_live()
    with Target() as target, counting("perf:sw:minor-faults", f"tgid={target.process.pid}") as screen:
        begin(screen)
        screen.refresh()
        own = target.do("child 20000")
        expect(own < 10000, f"{own} faults of its own")
        expect_near("faults", sum(counted(screen.refresh()).values()), own, relative=0.05, absolute=100)


def expect_calls(command=()):
    need_live()
    with Target() as target, counting("perf:raw_syscalls:sys_enter", f"tgid={target.process.pid}",
                                      command=command) as screen:
        begin(screen)
        screen.refresh()
        target.do("call 20000")
        # The interpreter makes a few calls besides, mostly to pass its lock on.
        expect_between("calls", sum(counted(screen.refresh()).values()), 160000 * 0.98, 160000 * 1.2)


@case
def a_tracepoint_of_a_process():
    expect_calls()


@case
def a_tracepoint_of_a_process_without_tracefs():
    expect_calls(NO_TRACEFS)


@case
def a_process_that_is_gone_is_a_sentence():
    need_live()
    with Target() as target:
        pid = target.process.pid
    with counting("perf:sw:minor-faults", f"tgid={pid}") as screen:
        end = time.monotonic() + WAIT_S
        while "has ended" not in (screen.refresh()["event_why"] or ""):
            expect(time.monotonic() < end, "no sentence")


@case
def what_cannot_be_counted_is_a_sentence_and_never_the_end():
    need_live()
    wrong = {"perf:sched:nothing": "no tracepoint", "perf:sw:nothing": "no software event",
             "kprobe:no_such_function": "no function" if HAS_KPROBES else "no kprobes",
             "nonsense": "is not an event"}
    if not HAS_PMU:
        wrong |= {word: "no hardware counters" for word in ("perf:hw:cycles", "perf:hw:L1-dcache-load-misses",
                                                            "perf:cpu:cycles", "raw:x:0x11:4")}
    for word, sentence in wrong.items():
        with counting(word) as screen:
            refresh, end = screen.refresh(), time.monotonic() + WAIT_S
            while not refresh["event_why"] and time.monotonic() < end:
                refresh = screen.refresh()
            expect(sentence in (refresh["event_why"] or ""), f"{word}: {refresh['event_why']}")
            expect(all(cpu["event_per_s"] is None for cpu in refresh["cpus"]), f"{word} was counted")


@case
def hardware_and_functions_are_counted_where_they_can_be():
    need_live()
    words = ["perf:hw:cycles"] * HAS_PMU + ["kprobe:schedule"] * HAS_KPROBES
    for word in words:
        with counting(word) as screen:
            begin(screen)
            screen.refresh()
            time.sleep(0.5)
            expect(sum(counted(screen.refresh()).values()) > 0, f"no {word}")


@case
def without_rights_it_is_a_sentence_with_the_remedy():
    need_live()
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        expect(int(file.read()) >= 1, "anyone may count here")
    with scratch() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "machine_dump")
        subprocess.run(["cp", MACHINE_DUMP, program], check=True)
        out = subprocess.run([*NOBODY, program, "proc=1", "refreshes=8", "ms=100", f"needs={CPUS | EVENT}",
                              "event=perf:sw:context-switches"], capture_output=True, text=True, timeout=LONG_S, check=False)
    expect(out.returncode == 0, out.stderr)
    expect("cap_perfmon" in out.stdout and "perf_event_paranoid" in out.stdout, out.stdout)


@case
def nothing_is_counted_that_is_not_shown():
    need_live()

    def counters(screen):
        folder = f"/proc/{screen.process.pid}/fd"
        return sum("perf_event" in os.readlink(f"{folder}/{name}") for name in os.listdir(folder))

    with counting("perf:sw:context-switches") as screen:
        begin(screen)
        expect(counters(screen) == os.cpu_count(), f"{counters(screen)} counters")
        screen.refresh(needs=CPUS)
        end = time.monotonic() + WAIT_S
        while counters(screen):
            expect(time.monotonic() < end, f"{counters(screen)} counters are left")
            time.sleep(0.02)
        screen.refresh(needs=CPUS | EVENT)
        begin(screen)


@case
def a_thousand_threads_do_not_hold_the_screen_up():
    need_live()
    work = Work("crowd", nr=2000, us=3600000000, ms=60000)
    try:
        wait_for_threads(work, 2000)
        with counting("perf:sw:context-switches", f"tgid={work.pid}") as screen:
            start = time.monotonic()
            screen.refresh()
            took = time.monotonic() - start
            begin(screen)
            # Opening them takes 20 us each, more while others work: at least 80 ms in all.
            expect(took < 0.5, f"the screen stood still for {took:.2f} s")
            time.sleep(0.2)
            counted(screen.refresh())
    finally:
        stop(work)


@case
def shares_of_a_cpu_need_no_counter_and_have_a_past():
    with counting("cpu:cpu_user_util_percent") as screen:
        for number in range(1, 4):
            time.sleep(0.05)
            refresh = screen.refresh()
            expect(refresh["event_why"] is None, refresh["event_why"])
            expect(all(cpu["nr_event_history"] == number for cpu in refresh["cpus"]), f"{refresh['cpus']}")


def loaded(needs):
    """The list, when it is there; no refresh may wait for it."""
    with Screen("proc=1", f"needs={needs}") as screen:
        end = time.monotonic() + 30
        while True:
            start = time.monotonic()
            refresh = screen.refresh()["event_list"]
            expect(time.monotonic() - start < 0.5 * SLOW, "the screen stood still")
            if not refresh["is_loading"]:
                return refresh
            expect(time.monotonic() < end, "the list does not come")
            time.sleep(0.02)


@case
def lists_are_those_of_the_kernel():
    need_live()
    mount_tracefs()
    with open("/sys/kernel/tracing/available_events", encoding="ascii") as file:
        tracepoints = len(file.read().split())
    events = loaded(TRACEPOINTS)
    expect(events["source"] == "tracefs" and events["why"] is None, f"{events}")
    # Before them stand those that perf counts by itself: some of software everywhere.
    expect_between("events", events["nr"], tracepoints + 5, tracepoints + 5000)
    functions = loaded(FUNCTIONS)
    expect(functions["nr"] > 10000, f"{functions}")
    expect(("no kprobes" in (functions["why"] or "")) != HAS_KPROBES, f"{functions}")


if __name__ == "__main__":
    main()
