#!/usr/bin/env python3
"""`schedscope record`: what is in the trace, against perf's record of the same seconds and the workload's account.

The trace is read by tests/trace/decode.py, which shares no code with the writer and asserts the format on the
way. As in test_stat_peers.py, a spinner of the idle class keeps perf from being blind in the idle task, and
only tasks that are born while both watch are compared.
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import pair
from live import (IS_EMULATED, LONG_S, ROOT, SCHEDSCOPE, SLOW, WAIT_S, WORKLOAD, Meanwhile, NotHere, Work,
                  boot_minus_monotonic_ns, case, cpu_cgroups, cpu_hierarchy, expect, expect_between, expect_near, main, move,
                  need_live, once, programs_of, remove_cgroup, run, scratch, unseen_switches)

sys.path.insert(0, str(ROOT / "tests/trace"))
import decode

SUMMARY = re.compile(r"(.*): ([\d.]+) s, (\d+) events \((\d+) switches, (\d+) wakings\), (\d+) lost, ([\d.]+) MB")
FORKED = re.compile(r"comm=.* pid=(\d+) child_comm=.* child_pid=(\d+)")
SLICE_NS = 4_000_000  # of a hog, at most, on a machine of few CPUs
NO_PID = "4194303"  # the last that a kernel of 64 bits can have
# What decode.py calls the events that perf has under these names.
NAMES = {"switch": "sched_switch", "waking": "sched_waking", "task_newtask": "sched_process_fork"}
COMPARED = ("sched_switch", "sched_waking", "sched_wakeup_new", "sched_migrate_task", "sched_process_fork",
            "sched_process_exit")


class Record:
    """A running `schedscope record`: it records when the object exists."""

    def __init__(self, path, *args):
        need_live()
        self.path = str(path)
        self.process = subprocess.Popen([SCHEDSCOPE, "record", "-o", self.path, *args], text=True,
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        head = self._wait_for_bytes(0)  # is there before the first event
        self._wait_for_bytes(head)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _wait_for_bytes(self, more_than):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self.process.poll() is None:
            size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
            if size > more_than:
                return size
            time.sleep(0.01)
        self.process.kill()
        raise AssertionError(f"no trace from {self.process.args}: {self.process.communicate()[1]}")

    def programs(self):
        """Ids of the BPF programs that it holds."""
        return programs_of(self.process.pid)

    def wait(self):
        """Its summary, once it has ended by itself."""
        return summary_of(self.process.communicate(timeout=WAIT_S)[1], self.process.returncode)

    def finish(self, how=signal.SIGINT):
        """Ends it by a signal; its summary."""
        self.process.send_signal(how)
        return self.wait()


def summary_of(talk, code):
    """The numbers of the summary line of a run that went well."""
    expect(code == 0, f"exit {code}: {talk}")
    found = next(filter(None, map(SUMMARY.match, talk.splitlines())), None)  # warnings may stand before it
    expect(found, f"no summary: {talk}")
    keys = ("seconds", "events", "switches", "wakings", "lost", "mb")
    return {"path": found[1], "text": talk, **{key: float(found[i]) for i, key in enumerate(keys, 2)}}


def decoded(path):
    """The trace, with what holds for each: order and format (in the decoder), names, and the chain of switches."""
    trace = decode.Trace(pathlib.Path(path).read_bytes())
    decode.check_names(trace)
    return trace


def pipe_bench(loops, cpu=1):
    """Two tasks that wake each other on one CPU."""
    words = ["taskset", "-c", str(cpu), "perf", "bench", "sched", "pipe", "-l", str(loops)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def runtimes(trace):
    """Nanoseconds on a CPU of each tid: from each switch to it to the next one there."""
    total = collections.Counter()
    for events in trace.events.values():
        since = tid = None
        for event in events:
            if event.get("after_loss"):
                tid = None
            if event["name"] in ("switch", "sched_switch"):
                out = event.get("arg_prev_pid", tid)
                if tid is not None and tid == out:
                    total[tid] += event["ts"] - since
                since, tid = event["ts"], event.get("next", event.get("arg_next_pid"))
    return total


def our_tasks(trace):
    """(time, name, tids that it is about) of each event, by perf's names."""
    for events in trace.events.values():
        current = None
        for event in events:
            name = NAMES.get(event["name"], event["name"])
            if name == "sched_switch":
                prev = event.get("arg_prev_pid", current)
                current = event.get("next", event.get("arg_next_pid"))
                yield event["ts"], name, (prev, current)
            elif name == "sched_waking":
                yield event["ts"], name, (event.get("tid", event.get("arg_pid")),)
            elif name == "sched_process_fork":
                yield event["ts"], name, (event["pid"],)
            elif name in COMPARED:
                yield event["ts"], name, (event["arg_pid"],)


def their_tasks(events):
    """The same of perf's events."""
    for at, _, name, fields in events:
        if name == "sched_switch":
            found = pair.SWITCH.match(fields)
            yield at, name, (int(found[2]), int(found[5]))
        elif name == "sched_process_fork":
            yield at, name, (int(FORKED.match(fields)[1]),)
        else:
            yield at, name, (int(pair.WAKEUP.match(fields)[2]),)


def family(events, pids):
    """The tids of these processes, and of all that they forked."""
    tids = set(pids)
    for _, _, name, fields in events:
        if name == "sched_process_fork":
            parent, child = map(int, FORKED.match(fields).groups())
            if parent in tids:
                tids.add(child)
    return tids


def count(tasks, tids, window):
    """How many events of each name are about one of the tids, in that time."""
    return collections.Counter(name for at, name, about in tasks
                               if window[0] <= at <= window[1] and not tids.isdisjoint(about))


LOADS = (["perf", "bench", "sched", "messaging", "-g", "2", "-l", "60"],
         ["hackbench", "-g", "2", "-l", "60"],
         ["stress-ng", "--quiet", "--switch", "2", "--switch-ops", "4000", "--fork", "1", "--fork-ops", "200",
          "--pthread", "1", "--pthread-ops", "200"])


def loads():
    """Very many tasks that talk to each other, and live for a moment; the pid of each load."""
    pids = []
    for words in LOADS:
        load = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expect(load.wait(LONG_S) == 0, f"{' '.join(words)} failed")
        pids.append(load.pid)
    return pids


def children_ns():
    """CPU time of all children that have ended, with theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def account_with_all(kind, **options):
    """A workload's account; outside_ns: what its threads ran that is in none of their accounts, to start and to end."""
    whole = -children_ns()
    account = Work(kind, **options).account()
    whole += children_ns()
    return {**account, "outside_ns": whole - sum(task["run_ns"] for task in account["tasks"])}


def record(*args):
    """One recording by us and by perf, where it is there, of the same work."""
    need_live()
    with scratch() as folder:
        keeper = Work("keep", ms=60000) if not IS_EMULATED else None
        try:
            with Record(os.path.join(folder, "ours.pftrace"), *args) as ours:
                recording = pair.Recording(os.path.join(folder, "perf.data"), COMPARED) if pair.perf_fits() else None
                unseen = -unseen_switches()
                start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                pids = loads()
                works = [("hogs", {"nr": 3, "ms": 1500}), ("pingpong", {"rounds": 10000 if IS_EMULATED else 20000}),
                         ("storm", {"nr": 500, "us": 100}), ("migrate", {"rounds": 400}),
                         ("sleep", {"nr": 4, "rounds": 50, "us": 2000})]
                accounts = [account_with_all(kind, **options) for kind, options in works]
                end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                unseen += unseen_switches()
                if recording:
                    recording.stop()
                summary = ours.finish()
        finally:
            if keeper:
                keeper.kill()
        trace = decoded(ours.path)
        events = list(recording.events()) if recording else []
    got = {"trace": trace, "summary": summary, "accounts": accounts, "unseen": unseen}
    if recording:
        tids, shift = family(events, pids + [account["pid"] for account in accounts]), boot_minus_monotonic_ns()
        got["ours"] = count(our_tasks(trace), tids, (start, end))
        got["theirs"] = count(their_tasks(events), tids, (start - shift, end - shift))
    return got


def recorded_with_perf(*args):
    """As record(); again if others keep the machine too busy for perf."""
    for _ in range(2):
        try:
            return record(*args)
        except pair.LostEvents:
            time.sleep(3)
    return record(*args)


@once
def session():
    """One such recording for several cases."""
    return recorded_with_perf()


@once
def session_per_cpu():
    """The same with a ring for each CPU."""
    return recorded_with_perf("--rings", "cpu")


def expect_counts(session_of):
    if not pair.perf_fits():
        raise NotHere("perf is for another kernel")
    got = session_of()
    expect(got["summary"]["lost"] == 0, f"lost {got['summary']['lost']:.0f} events")
    for name in COMPARED:
        ours, theirs = got["ours"][name], got["theirs"][name]
        expect(theirs >= 80, f"only {theirs} {name} to compare")
        # Either may be blind in threads of pid 1, by at most what these did.
        expect_near(name, ours, theirs, relative=0.001, absolute=2 + got["unseen"])


def expect_sound(got):
    """Order and names were checked by the decoder; the breaks of the chain are those that were counted."""
    trace, breaks = got["trace"], decode.check_chains(got["trace"], False)
    expect(trace.attributes["broken_switches"] == breaks,
           f"{breaks} breaks, {trace.attributes['broken_switches']} counted")
    decode.check_whole_chains(trace)  # with the switches that were inferred, for readers that know of no breaks
    expect(trace.attributes["late_timestamps"] == 0, f"{trace.attributes['late_timestamps']} events came late")
    switches = sum(event["name"] in ("switch", "sched_switch") for events in trace.events.values()
                   for event in events)
    expect(switches == got["summary"]["switches"], f"{switches} switches, not {got['summary']['switches']}")
    # A switch out of a thread of pid 1 may be hidden.
    expect_between("breaks", breaks, 0, max(20, switches // 1000), more=got["unseen"])
    expect(sorted(trace.events) == list(range(os.cpu_count())), f"events of CPUs {sorted(trace.events)}")


@case
def counts_agree_with_perf():
    expect_counts(session)


@case
def counts_agree_with_perf_with_a_ring_per_cpu():
    expect_counts(session_per_cpu)


@case
def time_chain_and_names_are_sound():
    expect_sound(session())


@case
def time_chain_and_names_are_sound_with_a_ring_per_cpu():
    expect_sound(session_per_cpu())


def compared_groups(account):
    """Tasks one by one.

    Between the kernel's reading of the clock and ours, an emulated CPU may stand still for milliseconds: of two that pass it
    on all the time, one has what the other lacks.
    """
    tasks = account["tasks"]
    return [tasks] if IS_EMULATED and account["work"] == "pingpong" else [[task] for task in tasks]


@case
def runtimes_agree_with_the_kernels_own_accounts():
    got, compared = session(), 0
    ran = runtimes(got["trace"])
    # A switch that is not traced hides a slice.
    hidden = got["trace"].attributes["broken_switches"] * SLICE_NS
    for account in got["accounts"]:
        for group in compared_groups(account):
            run_ns, before = sum(task["run_ns"] for task in group), sum(task["before_ns"] for task in group)
            if run_ns < 30_000_000 * len(group) * SLOW:
                continue
            compared += len(group)
            limit = max(run_ns // 100 * (5 if IS_EMULATED else 1), 2_000_000)
            # What it took to end is in no account: milliseconds where the CPU is emulated.
            end = account["outside_ns"] - before if account["work"] != "storm" else 0  # not of children
            expect_between(f"runtime of {group[0]['comm']}", sum(ran[task["tid"]] for task in group),
                           before + run_ns - limit - hidden, before + run_ns + max(limit, end),
                           more=account["taken_ns"]["all"])
    expect(compared >= 5, f"only {compared} tasks ran long enough")


@case
def tasks_that_lived_a_moment_have_names():
    trace = session()["trace"]
    born = {event["arg_pid"] for events in trace.events.values() for event in events if event["name"] == "task_newtask"}
    exits = [event for events in trace.events.values() for event in events
             if event["name"] == "sched_process_exit" and event["arg_pid"] in born]
    expect(len(exits) >= 500, f"only {len(exits)} lives ended")
    for event in exits:
        expect(event["arg_pid"] in trace.threads, f"thread {event['arg_pid']} has no name")
        expect(event["arg_comm"] in [name for _, name in trace.renames[event["arg_pid"]]],
               f"{event['arg_pid']} ended as {event['arg_comm']}, was {trace.renames[event['arg_pid']]}")


def switches_of_the_machine():
    """Of all CPUs since boot."""
    text = pathlib.Path("/proc/stat").read_text(encoding="ascii")
    return int(re.search(r"^ctxt (\d+)", text, re.M)[1])


@case
def losses_are_counted_to_the_last_event():
    with scratch() as folder:
        before = switches_of_the_machine()
        with Record(os.path.join(folder, "tiny.pftrace"), "--ring-kib", "64") as ours:
            inner = -switches_of_the_machine()
            ours.process.send_signal(signal.SIGSTOP)  # the rings are not read for a while
            bench = pipe_bench(150000)
            time.sleep(0.25)
            ours.process.send_signal(signal.SIGCONT)
            expect(bench.wait(LONG_S) == 0, "perf bench sched pipe failed")
            inner += switches_of_the_machine()
            summary = ours.finish()
        outer = switches_of_the_machine() - before
        trace = decoded(ours.path)
    # Which cgroups there are, and which tasks were in them at the start, is written in the form of events.
    recorded = collections.Counter(NAMES.get(event["name"], event["name"]) for events in trace.events.values() for event in events
                                   if event["name"] != "cgroup_mkdir" and event.get("arg_ours") != 3)
    lost = {key[5:].lower(): value for key, value in trace.attributes.items() if key.startswith("lost.")}
    expect(sum(lost.values()) > 1000, f"lost {lost}")
    expect(trace.attributes["lost"] == sum(lost.values()) == summary["lost"], f"{lost}, {summary['text']}")
    switches, wakings = (recorded[name] + lost.get(kind, 0) for name, kind in
                         (("sched_switch", "switch"), ("sched_waking", "waking")))
    expect(switches == summary["switches"], f"{switches} switches recorded or lost, {summary['text']}")
    expect(wakings == summary["wakings"], f"{wakings} wakings recorded or lost, {summary['text']}")
    total = sum(recorded.values()) + sum(lost.values())
    expect(total == summary["events"], f"{total} events recorded or lost, {summary['text']}")
    # And what was seen is what happened, by the kernel's own count.
    expect_between("switches", summary["switches"], inner * 0.99 - 20, outer)


@case
def of_other_tasks_a_filtered_recording_knows_nothing():
    """A hog and one that naps share a CPU, and only the napper is recorded: what it waited for is unknown, not an idle CPU."""
    cpu = max(os.sched_getaffinity(0))
    nap = "import time\nwhile True:\n    time.sleep(0.002)\n    sum(range(2000))"
    with scratch() as folder:
        path = os.path.join(folder, "one.pftrace")
        hog = subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
        napper = subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", nap])
        try:
            done = run("record", "-p", str(napper.pid), "-d", "1s", "-o", path)
        finally:
            for child in (hog, napper):
                child.kill()
                child.wait()
        expect(done.returncode == 0, done.stderr)
        summary = json.loads(run("analyze", path, "--json").stdout)
        waits = json.loads(run("explain", path, "--json").stdout)["waits"]
        expect(summary["recorded_tasks"] == f"pid {napper.pid}", summary["recorded_tasks"])
        expect(waits and all(wait["idle_ns"] == 0 < wait["unknown_ns"] for wait in waits), f"{waits}")
        expect(all(row["idle_percent"] == 0 for row in summary["cpus"]), f"{summary['cpus']}")
        expect("cpu_utilization" not in summary["applicable_analyses"], "CPUs are judged by one task")


def expect_incomplete(path):
    """A recording that was not finished says so, and how far each CPU reaches."""
    out = subprocess.run([SCHEDSCOPE, "analyze", path, "--json"], capture_output=True, check=True).stdout
    said = json.loads(out)
    expect((said["incomplete"] or "").startswith("the recorder did not finish"), f"it says {said['incomplete']}")
    trace, ends = decoded(path), {row["cpu_id"]: row["end_timestamp"] for row in said["cpus_that_end_early"]}
    last = {cpu: events[-1]["ts"] for cpu, events in trace.events.items()}
    end = max([*last.values(), *(event["ts"] for event in trace.track_events)])  # of no CPU, such as a change of cgroup
    expect(ends == {cpu: ts for cpu, ts in last.items() if ts < end}, f"{ends}, {last}, {end}")


@case
def a_killed_recording_is_a_trace_and_leaves_nothing_attached():
    with scratch() as folder, Record(os.path.join(folder, "killed.pftrace")) as ours:
        bench = pipe_bench(50000)
        time.sleep(1.2)
        programs = ours.programs()
        ours.process.kill()
        ours.process.wait()
        bench.wait(LONG_S)
        trace = decoded(ours.path)
        expect(not trace.is_truncated, "the last packet is cut")
        expect(sum(map(len, trace.events.values())) > 10000, "the trace is nearly empty")
        expect(len(programs) > 10, f"only {len(programs)} programs were loaded")
        expect(os.stat(ours.path).st_mode & 0o777 == 0o600, "others can read what all users run")
        expect_incomplete(ours.path)
        end = time.monotonic() + 5
        while programs & loaded_programs():
            expect(time.monotonic() < end, f"programs {programs & loaded_programs()} are still there")
            time.sleep(0.1)


def loaded_programs():
    """Ids of all BPF programs of the machine."""
    out = subprocess.run(["bpftool", "prog", "list"], capture_output=True, text=True, check=True).stdout
    return {int(number) for number in re.findall(r"^(\d+):", out, re.M)}


@case
def a_full_disk_ends_the_recording_and_what_is_there_can_be_read():
    need_live()
    script = ('mount -t tmpfs -o size=512k tmpfs "$1" && "$3" record -o "$1/t" --duration 15; code=$?; '
              'cp "$1/t" "$2"; exit $code')
    with scratch() as folder, scratch() as small:
        copy, bench = os.path.join(folder, "full.pftrace"), pipe_bench(3000000)
        try:
            done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", small, copy, SCHEDSCOPE],
                                  capture_output=True, text=True, timeout=LONG_S, check=False)
        finally:
            os.killpg(bench.pid, signal.SIGKILL)  # one half alone would wait for ever
            bench.wait()
        expect(done.returncode == 1, f"exit {done.returncode}: {done.stderr}")
        errors = [line for line in done.stderr.splitlines() if line.startswith("schedscope: ")
                  and "warning" not in line]
        expect(len(errors) == 1 and "No space left" in errors[0], f"said: {done.stderr}")
        trace = decoded(copy)
        expect(not trace.is_truncated, "the last packet is cut")
        expect(sum(map(len, trace.events.values())) > 1000, "the trace is nearly empty")
        expect_incomplete(copy)


def expect_refusal(code, sentence, *args):
    """One sentence, the exit code, nothing started, no file left behind."""
    with scratch() as folder:
        done = run("record", *args, cwd=folder)
        expect(done.returncode == code, f"{args}: exit {done.returncode}: {done.stderr}")
        lines = done.stderr.splitlines()
        expect(len(lines) == 1 and sentence in lines[0], f"{args}: said {done.stderr}")
        expect(not done.stdout, f"{args}: printed {done.stdout}")
        expect(not os.listdir(folder), f"{args}: left {os.listdir(folder)}")


@case
def what_cannot_be_is_refused_before_anything_starts():
    command = ("--", "touch", "started")
    expect_refusal(2, "'swich' is not an event", "--events", "swich", "-o", "t", *command)
    expect_refusal(2, "contradict", "--duration", "1", "--trace-ms", "500", "-o", "t", *command)
    expect_refusal(2, "contradict", "-p", "1", "-o", "t", *command)
    expect_refusal(2, "is too short", "-d", "1", "-o", "t", *command)
    expect_refusal(1, "no cgroup matches '(web)'", "--cgroup", "(web)", "-o", "t", *command)
    expect_refusal(1, f"no process {NO_PID}", "-p", NO_PID, "-o", "t")


def inside_a_pid_namespace(command):
    need_live()
    if not os.path.exists("/proc/self/ns/pid"):
        raise NotHere("the kernel has no pid namespaces")
    return subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", command], capture_output=True, text=True,
                          timeout=LONG_S, check=False)


@case
def in_a_pid_namespace_nothing_is_made_up():
    """Ids are the host's: what its own /proc says of such ids is of others."""
    with scratch() as folder:
        path = os.path.join(folder, "t")
        done = inside_a_pid_namespace(f"sleep 30 & {SCHEDSCOPE} record -d 1s -o {path}; kill $!")
        expect(done.returncode == 0 and "pid namespace" in done.stderr, f"exit {done.returncode}: {done.stderr}")
        trace = decode.Trace(pathlib.Path(path).read_bytes())
    expect(sum(map(len, trace.events.values())) > 100, f"nearly empty: {done.stderr}")
    # The first processes of the namespace have ids that on the host belong to init and threads of the kernel.
    made_up = {tid: thread for tid, thread in trace.threads.items() if tid < 10 and thread["name"] in ("sh", "sleep", "schedscope")}
    expect(not made_up, f"named by another's /proc: {made_up}")


@case
def a_process_id_is_refused_inside_a_pid_namespace():
    for words in ("record -d 1s -o /dev/null -p $!", "record --keep 1s --trigger 'wakeup-latency>5s' -d 1s -o /dev/null -p $!",
                  "mcp --daemon --process-id $!"):
        done = inside_a_pid_namespace(f"sleep 30 & {SCHEDSCOPE} {words} < /dev/null; code=$?; kill $!; exit $code")
        expect(done.returncode == 1 and "pid namespace" in done.stderr, f"{words}: {done.returncode} {done.stderr}")
        expect(len(done.stderr.splitlines()) == 1 and not done.stdout, f"{words}: {done.stderr} {done.stdout}")


@case
def an_unwritable_path_is_reported_before_anything_starts():
    need_live()
    expect_refusal(1, "cannot create 'no/such/t'", "-o", "no/such/t", "--", "touch", "started")
    expect_refusal(1, "cannot create '/': it is a directory; name a file in it", "-o", "/", "--", "touch", "started")


@case
def a_command_is_recorded_from_its_first_moment_to_its_end():
    need_live()
    with scratch() as folder:
        path, shell = os.path.join(folder, "t"), os.path.join(folder, f"sh-{os.getpid()}")
        os.symlink("/bin/sh", shell)
        done = run("record", "-o", path, "--", shell, "-c", "sleep 0.3; exit 3")
        expect(done.returncode == 3, f"exit {done.returncode}, and the command's was 3")
        summary = summary_of(done.stderr, 0)
        trace = decoded(path)
    expect_between("seconds", summary["seconds"], 0.3, 2)
    expect("the command ended with 3" in summary["text"], summary["text"])
    events = sorted((event["ts"], event["name"], event["arg_pid"], event.get("arg_filename"))
                    for of_cpu in trace.events.values() for event in of_cpu if "arg_pid" in event)
    tid, = (pid for _, name, pid, file in events
            if name == "sched_process_exec" and file == os.path.basename(shell))
    story = [name for _, name, pid, _ in events if pid == tid]
    expect("sched_process_exit" in story, f"the shell did {story}")
    expect(any(file == "sleep" for *_, file in events), "no exec of sleep")


@case
def a_command_that_does_not_exist_is_reported_and_leaves_no_file():
    need_live()
    expect_refusal(1, "cannot run 'no-such-command': No such file or directory; check its name, and PATH", "-o", "t", "--", "no-such-command")
    expect_refusal(1, "cannot run '/etc/passwd': Permission denied", "-o", "t", "--", "/etc/passwd")
    expect_refusal(1, "cannot run './none'", "--keep", "1s", "--", "./none")


@case
def it_says_when_it_records_and_what_to_run_next():
    need_live()
    with scratch() as folder:
        path = os.path.join(folder, "a file")
        lines = run("record", "-d", "100", "-o", path).stderr.splitlines()
        expect(lines[0] == f"recording to {path} for 100ms (Ctrl-C ends it before)", str(lines))
        expect(lines[-1] == f"next: schedscope analyze '{path}'", str(lines))
        expect(not any("context switches are missing" in line for line in lines), str(lines))
        lines = run("record", "--force", "-o", path, "--", "true").stderr.splitlines()
        expect(lines[0] == f"recording to {path} until 'true' ends (Ctrl-C ends it before)", str(lines))
        done = subprocess.run([SCHEDSCOPE, "record", "-d", "100", "-o", "-"], capture_output=True, check=True)
        lines = done.stderr.decode().splitlines()
        expect(lines[0].startswith("recording to /dev/stdout for 100ms"), str(lines))
        expect("next:" not in lines[-1], str(lines))


@case
def it_exits_with_the_status_of_the_command():
    need_live()
    with scratch() as folder:
        for more in ((), ("--keep", "1s")):
            for number, (script, code) in enumerate((("exit 7", 7), ("kill -TERM $$", 143), ("true", 0))):
                done = run("record", "-o", os.path.join(folder, f"{number}"), *more, "--", "sh", "-c", script)
                expect(done.returncode == code, f"{more} {script}: exit {done.returncode}: {done.stderr}")


@case
def a_recording_that_ends_before_its_command_leaves_it_running():
    need_live()
    with scratch() as folder:
        sleeper = ("sleep", f"40.{os.getpid()}")
        # The command has what is said open for as long as it runs.
        with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
            done = subprocess.run([SCHEDSCOPE, "record", "-d", "200", "-o", os.path.join(folder, "t"), "--", *sleeper], stderr=said, check=False)
            said.seek(0)
            text = said.read()
        found = re.search(r"^'sleep' \(process (\d+)\) goes on: only the recording has ended$", text, re.M)
        expect(found and done.returncode == 0, f"exit {done.returncode}: {text}")
        words = pathlib.Path(f"/proc/{found[1]}/cmdline").read_bytes()
        expect(words == "\0".join(sleeper).encode() + b"\0", f"it is {words}")
        os.kill(int(found[1]), signal.SIGKILL)


def ask_on_a_terminal(answer, *args):
    """What it says on a terminal, with that answer; its exit code."""
    master, slave = os.openpty()
    process = subprocess.Popen([SCHEDSCOPE, "record", *args], stdin=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    os.write(master, answer.encode() + b"\n")
    said = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while some := os.read(master, 4096):
            said += some
    os.close(master)
    return process.wait(WAIT_S), said.decode()


@case
def a_file_is_not_replaced_unless_it_may_be():
    need_live()
    with scratch() as folder:
        path = os.path.join(folder, "t")
        pathlib.Path(path).write_text("mine", encoding="ascii")
        done = run("record", "-d", "100", "-o", path)
        expect(done.returncode == 1 and done.stderr == f"schedscope: cannot write '{path}': File exists; add --force to replace it, "
               "or name another file with -o\n", f"exit {done.returncode}: {done.stderr}")
        code, said = ask_on_a_terminal("n", "-d", "100", "-o", path)
        expect(code == 1 and "Replace it? [y/N]" in said, f"exit {code}: {said}")
        expect(pathlib.Path(path).read_text(encoding="ascii") == "mine", "it was replaced")
        code, said = ask_on_a_terminal("y", "-d", "100", "-o", path)
        expect(code == 0 and "Replace it? [y/N]" in said and "\rnext: " in said.replace("\n", "\r"), f"exit {code}: {said}")
        decoded(path)
        expect(run("record", "--force", "-d", "100", "-o", path).returncode == 0, "--force did not replace it")
        empty = os.path.join(folder, "empty")  # as mktemp makes it
        pathlib.Path(empty).touch()
        expect(run("record", "-d", "100", "-o", empty).returncode == 0, "an empty file was not replaced")


@case
def a_recording_of_a_process_ends_with_it():
    with scratch() as folder:
        target = subprocess.Popen(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/sleep 0.2; done"])
        with Record(os.path.join(folder, "t"), "-p", str(target.pid)) as ours:
            target.wait()
            start = time.monotonic()
            summary = ours.wait()
            expect(time.monotonic() - start < 1, "it went on after the end of the process")
        trace = decoded(ours.path)
    expect(summary["switches"] > 0 and summary["wakings"] > 0, summary["text"])
    for at, name, about in our_tasks(trace):
        if name == "sched_waking":
            expect(about == (target.pid,), f"{about} is woken at {at}")


def sleeps_of(pid):
    """How often all threads of a process have gone to sleep so far."""
    sleeps = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="ascii") as file:
            sleeps += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
    return sleeps


@case
def a_recorder_that_nothing_happens_to_sleeps():
    """Fewer than 20 times a second it checks whether it should; a process asleep makes no events."""
    need_live()
    with scratch() as folder:
        sleeper = subprocess.Popen(["sleep", "60"])
        recorder = subprocess.Popen([SCHEDSCOPE, "record", "-p", str(sleeper.pid), "-o", os.path.join(folder, "t.pftrace")],
                                    stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            before, start = sleeps_of(recorder.pid), time.monotonic()
            time.sleep(3)
            rate = (sleeps_of(recorder.pid) - before) / (time.monotonic() - start)
        finally:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(WAIT_S)
            sleeper.kill()
            sleeper.wait()
    expect_between("times per second that the recorder woke", rate, 1, 20)


@case
def a_compressed_trace_has_the_same_events():
    with scratch() as folder:
        plain, packed = (os.path.join(folder, name) for name in ("plain", "packed"))
        with Record(plain) as one, Record(packed, "--gzip") as other:
            work = Work("pingpong", rounds=5000)
            account = work.account()
            lost = [record.finish()["lost"] for record in (other, one)]
        expect(lost == [0, 0], f"lost {lost}")
        traces = decoded(plain), decoded(packed)
        sizes = os.path.getsize(plain), os.path.getsize(packed)
    expect(traces[0].largest_compressed == 0 < traces[1].largest_compressed <= 512 << 10,
           f"packets of {[trace.largest_compressed for trace in traces]} bytes")
    expect(sizes[1] < 0.8 * sizes[0], f"{sizes[0]} bytes became {sizes[1]}")
    tids = {account["pid"], *(task["tid"] for task in account["tasks"])}
    one, other = ([(name, about) for _, name, about in sorted(our_tasks(trace)) if not tids.isdisjoint(about)]
                  for trace in traces)
    expect(len(one) > 10000, f"only {len(one)} events")
    counts = [collections.Counter(events) for events in (one, other)]
    expect(counts[0] == counts[1], f"differ in {(counts[0] - counts[1]) + (counts[1] - counts[0])}")


@case
def an_interrupt_ends_it_well():
    with scratch() as folder:
        for how in (signal.SIGINT, signal.SIGTERM):
            with Record(os.path.join(folder, how.name)) as ours:
                summary = ours.finish(how)
            expect(summary["path"] == ours.path and summary["events"] > 0, summary["text"])
            trace = decoded(ours.path)
            expect(trace.attributes["lost"] == summary["lost"] and not trace.is_truncated, summary["text"])


def slices_of(trace, tid):
    """What the counters moved in each slice of a task: (time, CPU, {key: value}).

    A task that ended between the first event and the list of tasks has a track, but its process is unknown.
    """
    return [(event["ts"], event["args"]["cpu"], {key: value for key, value in event["args"].items() if key != "cpu"})
            for event in trace.track_events if event["category"] == "PMU"
            and (trace.tracks[event["track"]["parent"]]["thread"] or (None, None))[1] == tid]


@case
def tasks_that_were_there_are_recorded_before_the_first_event():
    """Also where much is read between the first event and the list of tasks, as with stacks."""
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--stacks") as ours:
            Work("pingpong", rounds=1000).account()
            ours.finish()
        trace = decoded(ours.path)
    first = min(events[0]["ts"] for events in trace.events.values() if events)
    reported = min(changes[0][0] for changes in trace.renames.values())
    expect(reported <= first, f"tasks are recorded {reported - first} ns after the first event")


@case
def no_record_comes_late_with_counters():
    """Counters and the switch that ends their slice have one time: that of the record which was reserved last.

    The reader has a CPU of its own, so that it reads between the two now and then. The clock of BPF programs may be some
    nanoseconds off while the kernel updates it: about once in a million records, and up to nine times in some seconds. A wrong order
    makes it fifty times, always: one of three runs must be without.
    """
    need_live()
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise NotHere("there is one CPU: nothing is between the two records")
    seen = []
    with scratch() as folder:
        while len(seen) < 3 and not any(late * 200000 <= records for records, late in seen):
            done = subprocess.run(["taskset", "-c", str(cpus[1]), SCHEDSCOPE, "record", "--force", "--debug",
                                   "-o", os.path.join(folder, "t"), "--pmu", "page-faults", "--ring-kib", "64", "--", "taskset", "-c", str(cpus[0]),
                                   WORKLOAD, "pingpong", f"rounds={50000 if IS_EMULATED else 300000}", f"cpu={cpus[0]}"],
                                  capture_output=True, text=True, timeout=LONG_S, check=False)
            found = re.search(r"(\d+) records, \d+ held for a round, (\d+) late", done.stderr)
            expect(done.returncode == 0 and found, f"exit {done.returncode}: {done.stderr[-500:]}")
            seen.append((int(found[1]), int(found[2])))
    records, late = seen[-1]
    expect(late * 200000 <= records, f"records and late ones: {seen}")


@case
def counters_of_all_slices_add_up_to_what_the_task_did():
    """Its page faults are all counted in one slice or another, and its clock ran while it was on a CPU."""
    pages = 3000
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--pmu", "page-faults,task-clock", "--pmu", "page-faults") as ours:
            unseen = -unseen_switches()
            work = subprocess.Popen([WORKLOAD, "touch", f"pages={pages}"], stdout=subprocess.DEVNULL)
            usage = os.wait4(work.pid, 0)[2]
            spinner = Work("spin", ms=400, fifo=1)
            spun = spinner.account()["tasks"][0]["tid"]
            unseen += unseen_switches()
            summary = ours.finish()
        trace = decoded(ours.path)
    expect(summary["lost"] == 0, summary["text"])
    slices = slices_of(trace, work.pid)
    expect(len(slices) >= pages // 100, f"only {len(slices)} slices")
    expect(all(set(values) == {"pmu:page-faults", "pmu:task-clock"} for _, _, values in slices), f"{slices[:3]}")
    faults = sum(values["pmu:page-faults"] for *_, values in slices)
    # The kernel's own account of the same process, over its whole life; a slice may hide where switches do.
    expect_between("page faults", faults, max(pages, usage.ru_minflt + usage.ru_majflt) - 3 - 200 * unseen,
                   usage.ru_minflt + usage.ru_majflt + 3)
    # Each stands at the moment of a switch on its CPU.
    switches = {(cpu, event["ts"]) for cpu in trace.events for event in trace.events[cpu]
                if event["name"] in ("switch", "sched_switch")}
    expect(all((cpu, at) in switches for at, cpu, _ in slices), "counters between switches")
    ran, clock = runtimes(trace), collections.Counter()
    for tid in (work.pid, spun):
        clock[tid] = sum(values["pmu:task-clock"] for *_, values in slices_of(trace, tid))
    expect_near("task-clock", clock[spun], ran[spun], relative=0.01, absolute=SLICE_NS * unseen)
    expect(ran[spun] > 300_000_000, f"the spinner ran {ran[spun]} ns")


@case
def counters_that_cannot_be_are_refused():
    need_live()
    command = ("-o", "t", "--", "touch", "started")
    names = ",".join(f"r{number:x}" for number in range(1, 10))
    expect_refusal(2, "one event too many", "--pmu", names, *command)
    expect_refusal(2, "name missing", "--pmu", "page-faults,", *command)
    expect_refusal(1, "no-such-event", "--pmu", "no-such-event", *command)
    if not any(pathlib.Path("/sys/bus/event_source/devices").glob("*/cpus")) and \
            not pathlib.Path("/sys/bus/event_source/devices/cpu").exists():
        expect_refusal(1, "cannot count 'cycles'", "--pmu", "cycles", *command)


def ran_so_far(pid):
    """Nanoseconds on a CPU of each thread, by the kernel's account."""
    return {int(tid): int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text(encoding="ascii").split()[0])
            for tid in os.listdir(f"/proc/{pid}/task")}


@case
def a_filtered_recording_shows_no_other_task_running():
    """Two processes compete for a CPU; one is recorded."""
    with scratch() as folder:
        wanted, other = Work("hogs", nr=2, ms=600000), Work("hogs", nr=1, ms=600000)
        meanwhile, unseen = Meanwhile(), unseen_switches()
        try:
            with Record(os.path.join(folder, "t"), "-p", str(wanted.pid)) as ours:
                before = ran_so_far(wanted.pid)
                time.sleep(1.5)
                after, foreign = ran_so_far(wanted.pid), set(ran_so_far(other.pid))
                wanted.kill()
                summary, taken = ours.wait(), meanwhile.taken_ns(1)
                unseen = unseen_switches() - unseen
        finally:
            wanted.kill()
            other.kill()
        trace = decoded(ours.path)
    own = set(after)
    expect(trace.attributes["filter"] == f"pid {wanted.pid}", f"{trace.attributes}")
    shown = {event.get("next", event.get("arg_next_pid")) for events in trace.events.values() for event in events
             if event["name"] in ("switch", "sched_switch")}
    expect(shown <= own | {0}, f"{shown - own} are shown to run, besides {own}")
    expect(summary["switches"] > 100 and len(shown & own) >= 2, f"{shown}: {summary['text']}")
    # One chain, although most of what happened on the CPU is missing from it.
    expect(decode.check_chains(trace, False) == trace.attributes["broken_switches"], "breaks are miscounted")
    expect_between("breaks", trace.attributes["broken_switches"], 0, 3, more=unseen)
    took = [event["args"]["switch_to_tid"] for event in trace.track_events if event["name"] == "switch_to"]
    expect(set(took) & foreign and not set(took) & own, f"{set(took)} took the CPU, not {foreign}")
    ran = runtimes(trace)
    for tid in own - {wanted.pid}:  # it ran a little before the recording began, and after the last reading
        least = 0.95 * (after[tid] - before[tid]) - SLICE_NS
        expect_between(f"runtime of {tid}", ran[tid], least, 1.05 * after[tid] + 25 * SLICE_NS, more=taken)


@case
def a_pattern_records_a_cgroup_of_the_cpu_hierarchy_with_all_below():
    """As analyze --cgroup: by path or name, with * and ?. What is beside it is not recorded."""
    with scratch() as folder, cpu_cgroups("rec-in", "rec-out") as (inside, outside):
        below = os.path.join(inside, "below")
        os.mkdir(below)
        works = [Work("hogs", cgroup=group, nr=1, ms=15000) for group in (inside, below, outside)]

        def recorded(pattern):
            name = os.path.join(folder, "t")
            done = run("record", "--force", "-d", "1s", "-o", name, "--cgroup", pattern)
            expect(done.returncode == 0, f"{pattern}: {done.stderr}")
            told = run("analyze", name, "process_runtime", "--json", "--per-process")
            expect(told.returncode == 0, f"{pattern}: {told.stderr}, {done.stderr}")
            return {row["pid"] for row in json.loads(told.stdout)["processes"]}
        try:
            time.sleep(0.3)
            path = "/" + os.path.relpath(inside, cpu_hierarchy())
            for pattern in (path, os.path.basename(inside), f"*rec-in-{os.getpid()}", path[:-1] + "?"):
                pids = recorded(pattern)
                expect(pids == {works[0].pid, works[1].pid}, f"{pattern}: {pids}, not {[work.pid for work in works]}")
            expect(recorded(path + "/below") == {works[1].pid}, "one below was not recorded alone")
        finally:
            for work in works:
                work.kill()
            remove_cgroup(below)


@case
def a_task_that_leaves_the_cgroup_is_shown_no_longer():
    """Two that compete for a CPU are moved out while one of them runs."""
    with scratch() as folder, cpu_cgroups("rec-home", "rec-abroad") as (home, abroad):
        with Record(os.path.join(folder, "t"), "--cgroup", os.path.basename(home)) as ours:
            work = Work("hogs", cgroup=home, nr=2, ms=900)
            time.sleep(0.4)
            before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            move(work.pid, abroad)
            moved = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            account = work.account()
            ours.finish()
        trace = decoded(ours.path)
    tids, since, ends = {task["tid"] for task in account["tasks"]}, {}, []
    for cpu, events in trace.events.items():
        for event in events:
            if event["name"] in ("switch", "sched_switch"):
                next_tid = event.get("next", event.get("arg_next_pid"))
                ends += [event["ts"]] if since.get(cpu) in tids else []
                since[cpu] = next_tid
    expect(trace.attributes["filter"].startswith("cgroup "), f"{trace.attributes}")
    expect(not set(since.values()) & tids, f"{since} run for ever")
    expect(len(ends) > 20, f"only {len(ends)} slices")
    # The slice in which it was moved goes on to its own end; while others have the CPU, there is none.
    waits = max(task["wait_ns"] / max(task["slices"], 1) for task in account["tasks"]) * 3
    expect_between("end of the last slice, ns after the move", max(ends) - moved, -50_000_000, 60_000_000,
                   less=moved - before + waits, more=account["taken_ns"][1])


@case
def tasks_with_an_affinity_have_it_in_the_trace():
    with scratch() as folder:
        pinned = subprocess.Popen(["taskset", "-c", "0", "sleep", "20"])
        free = subprocess.Popen(["sleep", "20"])
        try:
            time.sleep(0.2)
            with Record(os.path.join(folder, "t")) as ours:
                born = subprocess.Popen(["taskset", "-c", "1", "sleep", "0.5"])
                born.wait()
                ours.finish()
        finally:
            for process in (pinned, free):
                process.kill()
                process.wait()
        trace = decoded(ours.path)
    reported = collections.defaultdict(list)
    for event in trace.track_events:
        if event["category"] == "affinity":
            reported[event["track"]["thread"][1]].append(event["args"]["cpus_allowed"])
    expect(reported[pinned.pid] == ["0"], f"of one that was there: {reported[pinned.pid]}")
    expect(reported[born.pid][-1:] == ["1"], f"of one that was born: {reported[born.pid]}")
    expect(free.pid not in reported and os.getpid() not in reported, "all CPUs are no affinity")


def forks_of_the_machine():
    text = pathlib.Path("/proc/stat").read_text(encoding="ascii")
    return int(re.search(r"^processes (\d+)", text, re.M)[1])


@case
def system_stats_are_those_of_proc():
    need_live()
    with scratch() as folder:
        path, before, meanwhile = os.path.join(folder, "t"), forks_of_the_machine(), Meanwhile()
        done = run("record", "-o", path, "-s", "-d", "800")
        summary_of(done.stderr, done.returncode)
        after, trace = forks_of_the_machine(), decoded(path)
    stats = trace.stats
    expect_between("samples", len(stats), 4, 9)
    gaps = [b["ts"] - a["ts"] for a, b in zip(stats, stats[1:])]
    # A read that comes late is followed by one in time: the gap between them is shorter by that.
    late = [0, *(max(0, gap - 100_000_000) for gap in gaps)]
    expect(all(80_000_000 < gap + before for gap, before in zip(gaps, late)), f"too close together: {gaps}")
    total = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))[1])
    # Not without CONFIG_VM_EVENT_COUNTERS.
    has_faults = "\npgfault " in pathlib.Path("/proc/vmstat").read_text(encoding="ascii")
    for sample in stats:
        expect(sample["memory"][1] == total and 0 < sample["memory"][2] < total, f"memory {sample['memory']}")
        expect(before <= sample["forks"] <= after, f"{sample['forks']} forks")
        expect(sorted(sample["cpus"]) == sorted(os.sched_getaffinity(0)), f"CPUs {sorted(sample['cpus'])}")
        expect((49 in sample["paging"]) == has_faults, f"paging {sample['paging']}")
        expect(bool(sample["pressure"]) == os.path.exists("/proc/pressure/cpu"), f"pressure {sample['pressure']}")
    for cpu in stats[0]["cpus"]:
        passed = sum(stats[-1]["cpus"][cpu]) - sum(stats[0]["cpus"][cpu])
        # Stolen time is counted at the next tick, which may be the other side of the first or the last sample.
        taken = meanwhile.taken_ns(cpu)
        expect_near(f"time of CPU {cpu}", passed, stats[-1]["ts"] - stats[0]["ts"], relative=0.1,
                    absolute=60_000_000, less=taken, more=taken)
    loopback = [event["value"] for event in trace.track_events if event["track"]["name"] == "lo rx bytes"]
    expect(loopback and loopback == sorted(loopback), f"loopback {loopback}")


@case
def kinds_that_the_kernel_lacks_are_named_and_the_others_attached():
    """Few kernels have all of them: heat and GPU memory are there or missed by name."""
    need_live()
    types = subprocess.run(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux"], capture_output=True,
                           text=True, check=True).stdout
    with scratch() as folder:
        with Record(os.path.join(folder, "t"), "--events", "hw_pressure,gpu_mem", "-v") as ours:
            listed = subprocess.run(["bpftool", "prog", "list"], capture_output=True, text=True, check=True).stdout
            mine = [line for line in listed.splitlines() if int(line.split(":")[0] if line[0].isdigit() else 0)
                    in ours.programs()]
            text = ours.finish()["text"]
    for kind, tracepoints in (("HW_PRESSURE", ("hw_pressure_update", "thermal_pressure_update")),
                              ("GPU_MEM", ("gpu_mem_total",))):
        is_there = any(f"'btf_trace_{name}'" in types for name in tracepoints)
        is_named = f"no tracepoint for {kind}" in text
        is_loaded = any(f"on_{name}" in line for line in mine for name in ("hw_pressure", "thermal_press", "gpu_mem")
                        if name.startswith("gpu") == (kind == "GPU_MEM"))
        expect(is_there == is_loaded and is_there != is_named, f"{kind}: there {is_there}, loaded {is_loaded}: {text}")


@case
def a_recording_begins_and_ends_with_the_clock():
    """Two that are started apart have the same moments: from a whole multiple of four seconds on, for one second."""
    need_live()
    with scratch() as folder:
        time.sleep(4 - time.time() % 4 + 0.2)  # so that neither is asked for just before the moment
        asked = time.time()
        runs = []
        for name in ("one", "two"):
            runs.append(subprocess.Popen([SCHEDSCOPE, "record", "-o", f"{folder}/{name}", "--start-at", "/4s", "--duration", "1",
                                          "--metadata", f"name={name}"], stderr=subprocess.PIPE, text=True))
            time.sleep(0.3)
        for process in runs:
            summary_of(process.communicate(timeout=WAIT_S)[1], process.returncode)
        found = json.loads(run("analyze", f"{folder}/one", f"{folder}/two", "--json").stdout)["recordings"]
        starts = [json.loads(run("analyze", f"{folder}/{name}", "--json").stdout)["start_unix_timestamp"] for name in ("one", "two")]
    moment = (asked // 4 + 1) * 4
    for start, row in zip(starts, found):
        expect_between("start after the moment, s", start / 1e9 - moment, 0, 0.3 * SLOW)
        expect_between("end after the moment, s", (start + row["duration_ns"]) / 1e9 - moment, 0.9, 1 + 0.3 * SLOW)
    expect([row["metadata"] for row in found] == ["name=one", "name=two"], found)


@case
def a_recording_says_which_machine_and_boot_it_is_of():
    need_live()
    with scratch() as folder:
        run("record", "-o", f"{folder}/x", "--duration", "0.1", "--metadata", "role=web")
        found = json.loads(run("analyze", f"{folder}/x", "--json").stdout)
    expect(found["host"] == os.uname().nodename, found["host"])
    expect(found["boot_id"] == pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(), found["boot_id"])
    expect(found["metadata"] == {"role": "web"}, found["metadata"])


@case
def one_that_is_stopped_before_its_time_is_empty():
    need_live()
    with scratch() as folder:
        path = f"{folder}/x"
        process = subprocess.Popen([SCHEDSCOPE, "record", "-o", path, "--start-at", "/24h"], stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + WAIT_S
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.5)  # it waits by now; a signal before ends it as any program
        process.send_signal(signal.SIGINT)
        summary = summary_of(process.communicate(timeout=WAIT_S)[1], process.returncode)
    expect(summary["events"] == 0 and summary["seconds"] == 0, summary)


if __name__ == "__main__":
    main()
