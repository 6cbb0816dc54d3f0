#!/usr/bin/env python3
"""The flight recorder, `schedscope record --keep --trigger`: what fires, what is written, and how it ends.

Dumps are read by tests/trace/decode.py. A task of the fifo class that does not leave its CPU for a known time
makes the delay of a sleeper that is bound to the same CPU.
"""
import contextlib
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from live import (ROOT, SCHEDSCOPE, SLOW, WAIT_S, WORKLOAD, Lines, Meanwhile, Work, case, cpu_cgroups, expect, expect_between, main,
                  need_live, run, scratch, set_quota, switches_of, wait_for_switches, workload)

sys.path.insert(0, str(ROOT / "tests/trace"))
import decode
from test_probes import UPROBE, Target, hits
from test_record import slices_of

SUMMARY = re.compile(r"flight recorder: ([\d.]+) s, (\d+) events \((\d+) switches, (\d+) wakings\), (\d+) lost, "
                     r"(?:\d+ probe hits, )?(\d+) dumps, fired (\d+) times, (\d+) of them during")
NAME = re.compile(r"(.*)-(\d{8}T\d{6})-([a-z0-9-]+?)-([\d.]+(?:[mun]?s)?)-(.+)-(\d+)\.pftrace")
MS = 1_000_000
UNITS = {"s": 1000 * MS, "ms": MS, "us": 1000, "ns": 1, "": 1}
NOBODY = 65534
SIZES_MAX = 6  # until memory no longer grows


class Flight:
    """A running flight recorder: it records when the object exists."""

    def __init__(self, output, *args):
        need_live()
        self.process = subprocess.Popen([SCHEDSCOPE, "record", "-o", str(output), *args], text=True,
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.err = Lines(self.process.stderr)
        end = time.monotonic() + WAIT_S
        while self.status("CapPrm") != "0" * 16:  # dropped once all is attached
            if time.monotonic() > end or self.process.poll() is not None:
                self.process.kill()
                raise AssertionError(f"{self.process.args} does not begin: {self.err.wait_for_end()}")
            time.sleep(0.02)
        time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def status(self, key):
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        found = re.search(rf"^{key}:\s*(\w+)", text, re.M)
        return found[1] if found else None

    def ask(self):
        self.process.send_signal(signal.SIGUSR2)

    def wait(self, code=0):
        """All that it said, once it has ended by itself; the numbers of the summary."""
        try:
            self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"does not end: {self.err.wait_for_end()}") from None
        expect(self.process.returncode == code, f"exit {self.process.returncode}: {self.err.wait_for_end()}")
        lines = self.err.wait_for_end()
        found = [match for match in map(SUMMARY.match, lines) if match]
        expect(len(found) == 1, f"no summary: {lines}")
        keys = ("seconds", "events", "switches", "wakings", "lost", "dumps", "fired", "ignored")
        return {"text": "\n".join(lines), **{key: float(found[0][i]) for i, key in enumerate(keys, 1)}}

    def finish(self, code=0):
        self.process.send_signal(signal.SIGINT)
        return self.wait(code)


def dumps(folder):
    return sorted(pathlib.Path(folder).glob("*.pftrace"))


def parts(path):
    """(prefix, what, value, comm, tid) of a dump's name."""
    found = NAME.fullmatch(path.name)
    expect(found, f"a dump is called {path.name}")
    number, unit = re.fullmatch(r"([\d.]+)([a-z]*)", found[4]).groups()
    return found[1], found[3], float(number) * UNITS[unit], found[5], int(found[6])


def decoded(path):
    trace = decode.Trace(path.read_bytes())
    decode.check_names(trace)
    expect(not trace.is_truncated, f"{path.name} is cut")
    return trace


def sleeper(name, ms):
    """Sleeps for 5 ms at a time on CPU 1."""
    words = ["taskset", "-c", "1", WORKLOAD, "crowd", "nr=1", "us=5000", f"ms={ms}", f"name={name}"]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL)


def runnable():
    """Tasks that run or wait for a CPU now, without us."""
    text = pathlib.Path("/proc/stat").read_text(encoding="ascii")
    return int(re.search(r"^procs_running (\d+)", text, re.M)[1]) - 1


def latency_in(trace, tid, at):
    """From the first waking of the task since it last left its CPU to its switch-in at that time."""
    events = sorted((event for of_cpu in trace.events.values() for event in of_cpu if event["ts"] <= at),
                    key=lambda event: event["ts"])
    waking = None
    for event in events:
        if event["name"] in ("switch", "sched_switch"):
            if event["ts"] < at and event.get("next", event.get("arg_next_pid")) == tid:
                waking = None
        elif event["name"] in ("waking", "sched_waking") and event.get("tid", event.get("arg_pid")) == tid:
            waking = waking or event["ts"]
    return at - waking


@case
def a_stall_is_dumped_before_it_ends():
    name = f"stall-{os.getpid()}"
    with scratch() as folder:
        with Flight(folder, "--keep", "2s", "--after", "50ms", "--max-dumps", "1", "--trigger", f"stall>100ms,comm={name}") as ours:
            late = sleeper(name, 60000)
            end = time.monotonic() + WAIT_S
            while len(switches_of(late.pid)) < 2:
                expect(time.monotonic() < end, "no sleeper")
                time.sleep(0.01)
            wait_for_switches(late.pid)
            spinner = Work("spin", ms=900, cpu=1, fifo=1)  # less than what the kernel leaves to others of each second
            ours.wait()
            is_over = spinner.process.poll() is not None
            spinner.account()
            late.kill()
            late.wait()
        path, = dumps(folder)
        _, what, value, comm, tid = parts(path)
        expect((what, comm) == ("stall", name), f"{path.name}")
        expect(not is_over, f"{path.name} was written only after the stall")
        expect(100 * MS <= value < 900 * MS, f"a stall of {value} ns")
        out = run("explain", str(path), "--tid", str(tid))
        expect(out.returncode == 0 and "spinner" in out.stdout and "it still did" in out.stdout, f"{out.stdout}{out.stderr}")


@case
def a_throttled_wait_is_dumped_while_it_lasts():
    """A hog of 20 ms in each 100: each of its waits is throttled for most of 80 ms."""
    with scratch() as folder, cpu_cgroups("flight") as (group,):
        set_quota(group)
        with Flight(folder, "--keep", "2s", "--after", "10ms", "--max-dumps", "1", "--trigger", "throttled>30ms,comm=hog") as ours:
            hog = Work("hogs", cgroup=group, nr=1, ms=3000, cpu=1)
            ours.wait()
            is_over = hog.process.poll() is not None
            hog.account()
        path, = dumps(folder)
        _, what, value, comm, tid = parts(path)
        expect((what, comm) == ("throttled", "hog"), f"{path.name}")
        expect(not is_over, f"{path.name} was written only after the hog had ended")
        expect(30 * MS <= value < 120 * MS, f"throttled for {value} ns")
        out = run("explain", str(path), "--tid", str(tid))
        expect(out.returncode == 0 and "throttled" in out.stdout, f"{out.stdout}{out.stderr}")


@case
def a_known_delay_makes_one_dump_named_after_it():
    name = f"fly-{os.getpid()}"
    with scratch() as folder:
        with Flight(folder, "--keep", "2s", "--after", "500ms", "--cooldown", "60s", "--trigger",
                    f"wakeup-latency>150ms,comm={name}") as ours:
            late = sleeper(name, 60000)  # longer than all this takes on a busy machine
            time.sleep(2.5)
            meanwhile = Meanwhile()
            workload("spin", ms=300, cpu=1, fifo=1)  # longer than a busy machine lets it wait
            taken = meanwhile.taken_ns(1)
            time.sleep(0.9)
            workload("spin", ms=300, cpu=1, fifo=1)  # in the cooldown
            wait_for_switches(late.pid)  # it must come to run, which ends its wait
            late.kill()
            late.wait()
            summary = ours.finish()
        path, = dumps(folder)
        prefix, what, value, comm, tid = parts(path)
        trace = decoded(path)
        expect(str(path) in summary["text"], summary["text"])
    expect((prefix, what, comm) == ("schedscope", "wakeup-latency", name), path.name)
    expect_between("delay in the name", value, 150 * MS, 400 * MS, more=taken)
    expect(summary["dumps"] == 1 and summary["fired"] >= 2 and summary["ignored"] == summary["fired"] - 1,
           summary["text"])
    reported = trace.attributes
    expect(reported["trigger"] == f"wakeup-latency>150ms,comm={name}" and reported["trigger_tid"] == tid, str(reported))
    fired, exact = reported["trigger_time_ns"], reported["trigger_value"]
    expect(value <= exact < value + MS, f"{exact} ns is called {value}")
    expect(latency_in(trace, tid, fired) == exact, f"{latency_in(trace, tid, fired)} in the trace, {exact} reported")
    times = sorted(event["ts"] for of_cpu in trace.events.values() for event in of_cpu)
    inside = [ts for ts in times if ts >= fired - 2000 * MS]
    expect_between("before", fired - inside[0], 1900 * MS, 2000 * MS)
    expect_between("after", inside[-1] - fired, 450 * MS, 500 * MS)
    expect(len(times) - len(inside) <= os.cpu_count(), f"{len(times) - len(inside)} events are too old")
    expect(trace.threads[tid]["name"] == name, trace.threads[tid])
    mark, = (event for event in trace.track_events if event["category"] == "mark")
    expect(mark["ts"] == fired and mark["args"]["tid"] == tid, str(mark))


@case
def slices_sleeps_and_depths_fire_and_so_many_dumps_are_the_end():
    with scratch() as folder:
        with Flight(os.path.join(folder, "web"), "--keep", "1s", "--after", "50ms", "--cooldown", "0s",
                    "--max-dumps", "3", "--trigger", "slice>40ms,comm=spinner", "--trigger",
                    "queue-depth>6,comm=diver", "--trigger", "sleep>300ms,comm=crowd") as ours:
            spun = workload("spin", ms=100, cpu=1, fifo=1)  # long enough, even if a stopper cuts it in half
            time.sleep(0.3)
            slept = workload("crowd", nr=1, us=5000, ms=400)
            time.sleep(0.3)
            others = runnable()
            workload("depth", nr=6, rounds=3, cpu=1)
            others += runnable()
            summary = ours.wait()
        found = {parts(path)[1]: (path, *parts(path)) for path in dumps(folder)}
        expect(sorted(found) == ["queue-depth", "sleep", "slice"], f"{sorted(found)}: {summary['text']}")
        expect(all(of_path[1] == "web" for of_path in found.values()), str(dumps(folder)))
        traces = {what: decoded(of_path[0]) for what, of_path in found.items()}
    # An emulated CPU may stand still while it has a task.
    expect_between("slice", traces["slice"].attributes["trigger_value"], 40 * MS, 102 * MS * SLOW, more=spun["taken_ns"][1])
    expect_between("sleep", traces["sleep"].attributes["trigger_value"], 390 * MS, 450 * MS,
                   less=slept["taken_ns"]["all"], more=slept["taken_ns"]["all"])
    # Any other runnable task may wait in the same queue.
    expect_between("depth", traces["queue-depth"].attributes["trigger_value"], 7, 14 + others)
    expect(summary["dumps"] == 3, summary["text"])


@contextlib.contextmanager
def small_pages():
    """Programs that are started meanwhile get no huge pages: a single one is more than the growth that is looked for."""
    prctl, pr_set_thp_disable = ctypes.CDLL(None).prctl, 41
    prctl(pr_set_thp_disable, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(pr_set_thp_disable, 0, 0, 0, 0)


def resident_kib(ours, has_dump=False):
    """A moment from now, or behind a dump."""
    if has_dump:
        ours.ask()
    time.sleep((1.2 if has_dump else 0.4) * SLOW)
    return int(ours.status("VmRSS"))


def settled(size):
    """Sizes, until two in a row are the same, which those of a leak never are."""
    kib = [size(), size()]
    while abs(kib[-1] - kib[-2]) >= 1024 and len(kib) < SIZES_MAX:
        kib.append(size())
    return kib


@case
def a_signal_makes_a_dump_and_memory_stays_flat():
    with scratch() as folder:
        with small_pages(), Flight(folder, "--keep", "5s", "--keep-mib", "4", "--after", "200ms") as ours:
            # A recorder that comes too late has more to sort at a time, and needs more memory for it.
            os.setpriority(os.PRIO_PROCESS, ours.process.pid, -20)
            bench = subprocess.Popen(["taskset", "-c", "1", "perf", "bench", "sched", "pipe", "-l", "20000000"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                # The kernel's rings, which count as ours, grow until each page was used once.
                # A moment without growth may be one in which the recorder had nothing to do.
                sizes, end = [0], time.monotonic() + WAIT_S
                while len(sizes) < 3 or sizes[-1] > sizes[-3] and time.monotonic() < end:
                    sizes.append(int(ours.status("VmRSS")))
                    time.sleep(1)
                sizes = settled(lambda: resident_kib(ours))
                # A dump takes memory, some of which stays for the next one: that takes the same, once buffers, which double when they
                # grow, are as large as the most that came at a time.
                grown = settled(lambda: resident_kib(ours, has_dump=True))
                own = int(ours.status("RssAnon"))
            finally:
                os.killpg(bench.pid, signal.SIGKILL)  # both halves
                bench.wait()
            summary = ours.finish()
        paths = dumps(folder)
        expect(len(paths) == len(grown) and all("-requested" in path.name for path in paths), str(paths))
        traces = [decoded(path) for path in paths]
    expect(abs(sizes[-1] - sizes[-2]) < 1024 and abs(grown[-1] - grown[-2]) < 1024, f"resident KiB: {sizes}, with dumps {grown}")
    expect(grown[0] - sizes[-1] < 4096 and grown[-1] - sizes[-1] < 8192, f"resident KiB: {sizes}, with dumps {grown}")
    # The rings, whose size follows the machine's, count as files, and twice.
    expect(own < 50 << 10, f"resident KiB without rings: {own}")
    expect(summary["dumps"] == len(grown) and "the buffer filled before --keep did" in summary["text"], summary["text"])
    for trace in traces:
        expect(sum(map(len, trace.events.values())) > 50000, "the dump is nearly empty")
        expect(decode.check_chains(trace, False) == trace.attributes["broken_switches"], "the chain breaks")


@case
def a_full_disk_is_reported_and_the_next_dump_can_be_whole():
    need_live()
    script = r'''
        mount -t tmpfs -o size=128k tmpfs "$1" || exit 99
        "$2" record -o "$1" --keep 3s --after 100ms 2>"$3" & pid=$!
        until grep -q 'CapPrm:.0*$' /proc/$pid/status; do sleep 0.05; done
        taskset -c 1 perf bench sched pipe -l 50000 >/dev/null 2>&1
        kill -USR2 $pid; sleep 0.8
        rm "$1"/* && mount -o remount,size=64m "$1"
        kill -USR2 $pid; sleep 0.8; kill -INT $pid; wait $pid; code=$?
        cp "$1"/* "$4"; exit $code'''
    with scratch() as small, scratch() as folder, scratch() as other:
        talk = pathlib.Path(other, "talk")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", small, SCHEDSCOPE, str(talk), folder],
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        said = talk.read_text(encoding="utf-8")
        expect(done.returncode == 1, f"exit {done.returncode}: {said} {done.stderr}")
        full = [line for line in said.splitlines() if "No space left" in line]
        expect(len(full) == 1 and "the recorder continues" in full[0], said)
        expect("1 of 2 dumps could not be written" in said.splitlines()[-1], said)
        path, = dumps(folder)
        expect(sum(map(len, decoded(path).events.values())) > 10000, "the second dump is nearly empty")


@case
def dumps_are_made_where_root_may_write_without_being_root():
    """In a directory of root's alone, and in one of another user."""
    for owner in (0, 1234):
        with scratch() as folder:
            os.chown(folder, owner, owner)
            with Flight(folder, "--keep", "1s", "--after", "0s", "--max-dumps", "1") as ours:
                expect(ours.status("Uid") == str(NOBODY), f"uid {ours.status('Uid')}")
                ours.ask()
                ours.wait()
            path, = dumps(folder)
            found = os.stat(path)
            expect(found.st_uid == 0 and found.st_mode & 0o777 == 0o600, f"{found}")


def blocks_sigusr2(pid):
    """Whether a process has begun, and a SIGUSR2 waits for it."""
    found = re.search(r"^SigBlk:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.M)
    return int(found[1], 16) >> (signal.SIGUSR2 - 1) & 1


@case
def what_is_asked_before_it_is_ready_is_dumped_when_it_is():
    need_live()
    with scratch() as folder:
        process = subprocess.Popen([SCHEDSCOPE, "record", "--keep", "1s", "--after", "100ms", "--max-dumps", "1", "-o", folder],
                                   text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not blocks_sigusr2(process.pid):
            expect(process.poll() is None, "it ended")
        process.send_signal(signal.SIGUSR2)
        lines = process.communicate(timeout=WAIT_S)[1].splitlines()
        expect(process.returncode == 0, f"exit {process.returncode}: {lines}")
        path, = dumps(folder)
        expect(lines[0] == f"keeping the last 1s (Ctrl-C ends); kill -USR2 {process.pid} writes them", str(lines))
        expect(lines[-1] == f"next: schedscope analyze {path}", str(lines))
        decoded(path)


@case
def time_and_commands_limit_the_whole_run():
    need_live()
    with scratch() as folder:
        start = time.monotonic()
        done = run("record", "--keep", "1s", "-o", folder, "--duration", "0.5")
        expect(done.returncode == 0 and "0 dumps" in done.stderr, done.stderr)
        expect(0.5 <= time.monotonic() - start < 5, "it did not end in time")
        done = run("record", "--trigger", "sleep>100ms,comm=sh", "--after", "10s", "-o", folder, "--",
                   "sh", "-c", "sleep 0.3; true")
        expect(done.returncode == 0 and "1 dumps" in done.stderr, done.stderr)
        path, = dumps(folder)
        expect(parts(path)[1] == "sleep" and parts(path)[3] == "sh", path.name)
        decoded(path)


@case
def of_all_calls_of_a_function_the_slow_one_fires():
    with scratch() as folder:
        target = Target(2000, slow=1200)
        # No other task takes the CPU away from it, so that no other call is slow.
        os.sched_setscheduler(target.pid, os.SCHED_FIFO, os.sched_param(10))
        with Flight(folder, "--keep", "2s", "--after", "200ms", "--cooldown", "0s", "--trigger",
                    f"uprobe:{UPROBE}>20ms") as ours:
            meanwhile = Meanwhile()
            target.go()
            taken = meanwhile.taken_ns()
            time.sleep(0.4)
            summary = ours.finish()
        path, = dumps(folder)
        _, what, value, comm, tid = parts(path)
        trace = decoded(path)
    expect((what, comm, tid) == ("uprobe", "probe_target", target.pid), path.name)
    expect(summary["dumps"] == 1 and summary["fired"] == 1, summary["text"])
    expect("4000 probe hits" in summary["text"], summary["text"])
    expect_between("time in the name", value, 30 * MS, 60 * MS, more=taken)
    found, reported = hits(trace), trace.attributes
    calls = sorted(ts for ts, *_ in found["uprobe", "probe_target:probe_me"])
    returns = sorted(ts for ts, *_ in found["uretprobe", "probe_target:probe_me%return"])
    expect(len(calls) == len(returns) == 2000, f"{len(calls)} calls, {len(returns)} returns")
    expect(reported["trigger_time_ns"] == returns[1200], "it fired at another return")
    expect(reported["trigger_value"] == returns[1200] - calls[1200], f"{reported['trigger_value']} ns reported")


@case
def what_came_before_the_ring_is_in_the_dump():
    """Counters by name, CPUs and command lines of tasks that were there long before."""
    with scratch() as folder:
        pinned = subprocess.Popen(["taskset", "-c", "0", "sleep", "20"])
        try:
            time.sleep(0.3)
            with Flight(folder, "--keep", "300ms", "--after", "0s", "--max-dumps", "1", "--pmu",
                        "page-faults,task-clock", "--uprobes", UPROBE) as ours:
                time.sleep(1)
                work = subprocess.Popen([WORKLOAD, "touch", "pages=3000"], stdout=subprocess.DEVNULL)
                work.wait()
                target = Target(50)
                target.go()
                ours.ask()
                ours.wait()
        finally:
            pinned.kill()
            pinned.wait()
        path, = dumps(folder)
        trace = decoded(path)
    reported = [event["args"]["cpus_allowed"] for event in trace.track_events
            if event["category"] == "affinity" and event["track"]["thread"][1] == pinned.pid]
    expect(reported == ["0"], f"CPUs of one that was there: {reported}")
    expect(trace.processes[pinned.pid]["cmdline"] == ["sleep", "20"], str(trace.processes[pinned.pid]))
    counted = slices_of(trace, work.pid)
    expect(len(counted) > 10, f"{len(counted)} slices")
    expect(all(set(values) == {"pmu:page-faults", "pmu:task-clock"} for *_, values in counted), f"{counted[:3]}")
    expect(sum(values["pmu:page-faults"] for *_, values in counted) > 2000, "page faults are missing")
    expect(len(hits(trace)["uprobe", "probe_target:probe_me"]) == 50, f"probes {list(hits(trace))}")
    expect("topology" in trace.attributes, str(list(trace.attributes)))


def expect_refusal(code, sentence, *args):
    with scratch() as folder:
        done = run("record", *args, cwd=folder)
        lines = done.stderr.splitlines()
        expect(done.returncode == code, f"{args}: exit {done.returncode}: {done.stderr}")
        expect(len(lines) == 1 and sentence in lines[0], f"{args}: said {done.stderr}")
        expect(not os.listdir(folder), f"{args}: left {os.listdir(folder)}")


@case
def what_cannot_be_is_refused_before_anything_starts():
    expect_refusal(2, "did you mean 'sleep'", "--trigger", "slep>1s")
    expect_refusal(2, "'5' is not a time", "--trigger", "slice>5")
    expect_refusal(2, "has no '>'", "--trigger", "slice")
    expect_refusal(2, "--max-dumps is for the flight recorder", "--max-dumps", "1")
    expect_refusal(2, "--cooldown is for the flight recorder", "--cooldown", "1s", "-o", "t")
    expect_refusal(2, "more than one output file", "--keep", "1s", "-o", "-")
    expect_refusal(2, "at most 16 triggers", *["--trigger", "slice>1s"] * 17)
    expect_refusal(2, "keeps no system statistics", "--keep", "1s", "-s")
    expect_refusal(2, "is not uprobe:FILE:SYMBOL", "--trigger", f"uprobe:{UPROBE}+4>1ms")
    expect_refusal(1, "has no function 'no_such'", "--trigger", f"uprobe:{UPROBE[:-8]}no_such>1ms")
    expect_refusal(1, "cannot open the directory 'no/such/'", "--keep", "1s", "-o", "no/such/t")
    expect_refusal(1, "there is no directory 'none/'", "--keep", "1s", "-o", "none/")


@case
def a_trigger_that_this_kernel_cannot_serve_is_reported():
    if os.path.exists("/sys/kernel/sched_ext"):
        return  # it can
    expect_refusal(1, "dsq-latency is not available: this kernel has no sched_ext", "--trigger", "dsq-latency>1ms")
    with scratch() as folder:  # events that are missing are no trigger
        done = run("record", "--events", "scx", "--keep", "1s", "-d", "100", cwd=folder)
    expect(done.returncode == 0 and "scx events are not available" in done.stderr, done.stderr)


if __name__ == "__main__":
    main()
