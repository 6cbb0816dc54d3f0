#!/usr/bin/env python3
"""`serve` on this machine: its numbers against the kernel's own, reloads, rights, its end. Prints TAP."""
import contextlib
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from live import (WAIT_S, Disturbed, NotHere, Work, ask, case, cpu_cgroups, cpu_hierarchy, expect, expect_between, expect_near, main, need_live, once, run, scratch, set_quota,
                  throttled_by_kernel, wait_until_attached)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "serve"))
from engine import PROMETHEUS, Engine, expressions, scrape_config  # noqa: E402  (they are not in this folder)
from serve import LABEL, Daemon, value, wait_for  # noqa: E402
from serve import Skip as ServeSkip  # noqa: E402

DELAY = "schedscope_sched_delay_seconds"
STALE_S = 0.15  # sums are not read again within a tenth of a second
GROWS = ("_total", "_count", "_bucket", "_sum")


def context_switches():
    with open("/proc/stat", encoding="ascii") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("ctxt"))


def waited_s(pid):
    """What the threads of a process have waited for a CPU, as the kernel counts it."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        total += int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text(encoding="ascii").split()[1])
    return total / 1e9


def sum_of(samples, name):
    return sum(v for (sample, _), v in samples.items() if sample == name)


def path_of(group):
    return "/" + os.path.relpath(group, cpu_hierarchy() or "/sys/fs/cgroup")


def grown(before, after, name, **labels):
    key = name, tuple(sorted(labels.items()))
    return after.get(key, 0) - before.get(key, 0)


@once
def measured():
    """Two pages with two busy seconds between them, and what the kernel says of the same time."""
    need_live()
    def page():
        time.sleep(STALE_S)
        return context_switches(), daemon.samples(), context_switches()

    with Daemon() as daemon:
        first_low, before, first_high = page()
        Work("hogs", nr=4, ms=2000).account()
        last_low, after, last_high = page()
        return before, after, (last_low - first_high, last_high - first_low)


@case
def switches_are_those_that_the_kernel_counts():
    before, after, (least, most) = measured()
    expect_between("switches", grown(before, after, "schedscope_events_total", event="switch"), 0.97 * least - 30, 1.03 * most + 30)
    expect(sum_of(after, "schedscope_lost_events_total") == 0, "something was lost")


@case
def delays_of_a_cgroup_are_those_that_the_kernel_adds_up():
    need_live()
    with cpu_cgroups("serve-delay") as (group,), Daemon() as daemon:
        work = Work("hogs", cgroup=group, nr=4, ms=3000, cpu=1)
        time.sleep(2.5)
        kernel = waited_s(work.pid)
        ours = value(daemon.samples(), "schedscope_cgroup_sched_delay_seconds_sum", cgroup=path_of(group))
        work.account()
    # A wait under way is in neither; what came between the two readings is.
    expect_near("waited in s", ours, kernel, relative=0.05, absolute=0.2)


@case
def a_page_agrees_with_itself():
    _, after, _ = measured()
    delays = sum_of(after, f"{DELAY}_count")
    expect(delays == sum_of(after, "schedscope_cgroup_sched_delay_seconds_count"), "by cgroup")
    expect_near("runs and waits", sum_of(after, "schedscope_slice_seconds_count"), delays, relative=0.02, absolute=20)
    expect_near("run in s", sum_of(after, "schedscope_cgroup_run_seconds_total"), sum_of(after, "schedscope_slice_seconds_sum"),
                relative=0.001, absolute=0.001)
    woken = value(after, f"{DELAY}_count", cause="woken") + value(after, f"{DELAY}_count", cause="new")
    expect_near("depths", value(after, "schedscope_runqueue_depth_count"), woken, relative=0.02, absolute=20)
    expect(value(after, "schedscope_own_memory_bytes") < 30e6, "it takes more than 30 MB")


def resident_bytes(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024


@case
def the_daemon_and_its_helpers_take_less_than_thirty_megabytes():
    need_live()
    with Daemon() as daemon:
        for form in ("text", "openmetrics", "protobuf"):
            daemon.page(form)
            time.sleep(STALE_S)
        family = [daemon.process.pid, *children_of(daemon.process.pid)]
        sizes = [resident_bytes(pid) for pid in family]
    expect(len(family) >= 2 and sum(sizes) < 30e6, f"{sizes} bytes")


@case
def an_exemplar_names_a_task_that_waited():
    need_live()
    name = f"victim-{os.getpid() % 10000}"
    with Daemon() as daemon:
        victim = Work("crowd", nr=1, us=5000, ms=1500, name=name, cpu=1)
        time.sleep(0.2)
        Work("spin", ms=800, cpu=1, fifo=1).account()
        victim.account()
        text = daemon.page("openmetrics")
    marked = [line for line in text.splitlines() if line.startswith(DELAY) and " # {" in line]
    expect(marked, "no exemplar")
    longest = max(marked, key=lambda line: float(line.split("} ")[-1].split()[0]))
    # The victim, or another task that wanted the same CPU, such as ksoftirqd: it is the one that it is said to be.
    expect(float(longest.split("} ")[-1].split()[0]) > 0.3, f"half a second without a CPU is not there: {longest}")
    with contextlib.suppress(OSError):
        named, tid = re.search(r'comm="([^"]*)",tid="(\d+)"', longest).groups()
        comm = pathlib.Path(f"/proc/{tid}/comm").read_text(encoding="utf-8").strip()
        expect(comm.startswith(named), f"{comm} is not {longest}")  # of a worker, /proc also says at what it is
    expect(abs(float(longest.split()[-1]) - time.time()) < 60, f"of another time: {longest}")
    for line in marked:
        expect(float(line.split("} ")[-1].split()[0]) < float(line.split('le="')[1].split('"')[0].replace("+Inf", "inf")), line)


@case
def counters_survive_a_reload_of_groups():
    need_live()
    with scratch() as folder:
        os.chmod(folder, 0o755)
        groups = pathlib.Path(folder) / "groups"
        groups.write_text("latency, slice\n".replace(", ", ","))
        with Daemon("--groups-file", str(groups), "-v") as daemon:
            before = daemon.samples()
            expect(not any("waking" in name for name, _ in before), "a group that was not asked for")
            expect(("schedscope_slice_seconds_count", (("end", "slept"),)) in before, "no slices")
            groups.write_text("latency\nwaking\n")
            daemon.process.send_signal(signal.SIGHUP)
            after = wait_for("the reload", lambda: reloaded(daemon, 1))
            expect(any(name == "schedscope_waking_delay_seconds_count" for name, _ in after), "the new group is not there")
            for key, old in before.items():
                if key[0].endswith(GROWS):
                    expect(after[key] >= old, f"{key} went back from {old} to {after[key]}")
            expect_between("unmeasured in s", value(after, "schedscope_unmeasured_seconds_total"), 0.001, 20)
            expect(value(after, "schedscope_start_time_seconds") == value(before, "schedscope_start_time_seconds"), "a reset is told")
            groups.write_text("nonsense\n")
            daemon.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            last = daemon.samples()
            expect(value(last, "schedscope_reloads_total") == 1, "a bad file was taken")
            expect(daemon.stop() == 0 and any("nonsense" in line for line in daemon.said), f"{daemon.said}")


def reloaded(daemon, nr):
    samples = daemon.samples()
    return samples if value(samples, "schedscope_reloads_total") == nr else None


@case
def a_quota_shows_as_throttled():
    need_live()
    with cpu_cgroups("serve") as (group,), Daemon() as daemon:
        set_quota(group)
        path = path_of(group)
        work = Work("hogs", cgroup=group, nr=2, ms=3000)
        wait_for("its series", lambda: ("schedscope_throttled_seconds_total", (("cgroup", path),)) in daemon.samples(), 20)
        before, first = throttled_by_kernel(group)[0] / 1e9, value(daemon.samples(), "schedscope_throttled_seconds_total", cgroup=path)
        work.account()
        after, last = throttled_by_kernel(group)[0] / 1e9, value(daemon.samples(), "schedscope_throttled_seconds_total", cgroup=path)
        expect_near("throttled in s", last - first, after - before, relative=0.1, absolute=0.15)
        expect(value(daemon.samples(), "schedscope_cgroup_run_seconds_total", cgroup=path) > 0.1, "it ran")


@case
def blame_is_by_cgroup():
    """Two hogs of different cgroups on one CPU: each waits for the other."""
    need_live()
    with cpu_cgroups("victim", "culprit") as groups, Daemon("--blame") as daemon:
        with contextlib.ExitStack() as works:
            for group in groups:
                works.callback(Work("hogs", cgroup=group, nr=1, ms=9000, cpu=1).kill)
            victim, culprit = map(path_of, groups)
            try:
                samples = wait_for("blame", lambda: blamed(daemon, victim, culprit), 30)
            except AssertionError as why:
                shown = {(name, *labels): v for (name, labels), v in daemon.samples().items() if "blame" in name or "lost" in name or "cgroups" in name}
                raise AssertionError(f"{why} of {victim} by {culprit}: {shown} {daemon.said}") from why
    pairs = {dict(labels)["culprit"]: v for (name, labels), v in samples.items()
             if name == "schedscope_blame_seconds_total" and dict(labels)["victim"] == victim}
    # Whatever else runs on this machine is in the root, or in a cgroup that is not ours.
    expect(pairs[culprit] > sum(v for name, v in pairs.items() if name.startswith("(")), f"{pairs}")
    ran = value(samples, "schedscope_cgroup_run_seconds_total", cgroup=culprit)
    expect(pairs[culprit] <= ran + 0.5, f"{pairs[culprit]} s of blame, and it ran for {ran} s")
    covered = value(samples, "schedscope_blame_covered_seconds_total")
    expect_between("of the time", sum(pairs.values()) / covered, 0.1, 1.1)
    expect(value(samples, "schedscope_lost_events_total", kind="event_stream") == 0, "events were lost")


def blamed(daemon, victim, culprit):
    samples = daemon.samples()
    key = "schedscope_blame_seconds_total", (("culprit", culprit), ("victim", victim))
    return samples if samples.get(key, 0) > 0.5 else None


@case
def a_flight_recorder_beside_it_writes_dumps_that_are_pruned():
    need_live()
    with scratch() as folder:
        old = [pathlib.Path(folder) / f"schedscope-2026111{i}T050000-stall-1s-a-{i}.pftrace" for i in range(5)]
        for nr, path in enumerate(old):
            path.write_bytes(b"old")
            os.utime(path, (nr + 1000, nr + 1000))
        foreign = pathlib.Path(folder) / "notes.txt"
        foreign.write_text("not ours")
        with Daemon("--keep", folder, "--keep-time", "1s", "--trigger", "wakeup-latency>150ms", "--max-dumps", "3") as daemon:
            first = daemon.samples()
            expect(value(first, "schedscope_flight_dumps_total", trigger="wakeup-latency") == 0, "a dump before it happens")
            wait_for("pruning", lambda: len(list(pathlib.Path(folder).glob("*.pftrace"))) <= 3, 20)
            expect(old[4].exists() and not old[0].exists() and foreign.exists(), f"{os.listdir(folder)}")
            wait_for("a dump", lambda: starve_and_look(daemon), 40, 0)
            expect(daemon.stop() == 0, f"{daemon.said}")
        left = os.listdir(folder)
        expect(any("wakeup-latency" in name for name in left) and len([n for n in left if n.endswith(".pftrace")]) <= 3, f"{left}")


def starve_and_look(daemon):
    """A task that wakes up every 5 ms does not get its CPU for half a second."""
    victim = Work("crowd", nr=1, us=5000, ms=1500, cpu=1)
    time.sleep(0.2)
    Work("spin", ms=500, cpu=1, fifo=1).account()
    victim.account()
    return value(daemon.samples(), "schedscope_flight_dumps_total", trigger="wakeup-latency") >= 1


# Wakes up every 5 ms, on one CPU.
SLEEPER = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
open("/proc/self/comm", "w").write(sys.argv[2])
end = time.monotonic() + 30
while time.monotonic() < end:
    time.sleep(0.005)
"""
STARVE_MS = 900  # the kernel leaves a twentieth of each second to others
BEFORE_S, AFTER_S = 5, 2  # of a dump, around its trigger
EXEMPLAR = re.compile(r'^(\w+)_bucket\{.*le="([^"]*)"\} \d+ # \{(.*)\} (\S+) (\S+)$')


@contextlib.contextmanager
def sleeper(cpu, name):
    process = subprocess.Popen([sys.executable, "-c", SLEEPER, str(cpu), name], stdin=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def longest_woken(daemon):
    """The exemplar of woken tasks: le, labels, seconds, when."""
    for line in daemon.page("openmetrics").splitlines():
        found = EXEMPLAR.match(line)
        if found and found.group(1) == DELAY and 'cause="woken"' in line:
            labels = dict(LABEL.findall(found.group(3)))
            return float(found.group(2)), labels, float(found.group(4)), float(found.group(5))
    return None


def dump_with(folder, name):
    """The dump that the task triggered, once it is whole; None if none has begun a second after a wait."""
    begun = time.monotonic()
    while not (paths := list(pathlib.Path(folder).glob(f"*-{name}-*.pftrace"))):
        if time.monotonic() > begun + 1:
            return None
        time.sleep(0.05)
    wait_for("the end of the dump", lambda: is_still(paths[0]))
    return paths[0]


def is_still(path):
    """Nothing is added any more."""
    size = path.stat().st_size
    time.sleep(AFTER_S + 1)
    return size and path.stat().st_size == size


@case
def an_exemplar_names_the_dump_that_shows_its_wait():
    """From the scrape to the sentences: a task that does not get its CPU, the dump that it triggers, the exemplar that names the dump."""
    need_live()
    name = f"late-{os.getpid() % 100000}"
    with scratch() as folder, sleeper(1, name) as tid:
        with Daemon("--keep", folder, "--keep-time", f"{BEFORE_S}s", "--trigger", f"wakeup-latency>300ms,comm={name}") as daemon:
            recorder = wait_for("the recorder", lambda: [pid for keeper in children_of(daemon.process.pid) for pid in children_of(keeper)])[0]
            wait_until_attached(recorder)
            dump = wait_for("the dump", lambda: starve(1) and dump_with(folder, name), 60, 0)
            le, labels, seconds, when = longest_woken(daemon)
            expect(set(labels) <= {"comm", "tid", "cpu", "dump"} and sum(map(len, [*labels, *labels.values()])) <= 128, f"{labels}")
            begun = time.mktime(time.strptime(dump.name.split("-")[1], "%Y%m%dT%H%M%S"))
            if not begun - 1 <= when <= begun + AFTER_S:
                raise Disturbed(f"a wait of {seconds:.3f} s of {labels['comm']}, {when - begun:.0f} s from the dump, is the longest")
            expect(labels.get("dump") == dump.name and seconds < le, f"{labels}, and there is {dump.name}")
            expect(daemon.stop() == 0, f"{daemon.said}")
        # The sleeper, or another task of that CPU: the dump has its wait, and says why.
        if labels["tid"] == str(tid):
            expect(labels["comm"] == name and labels["cpu"] == "1", f"{labels}")
        waits = ask("query", str(dump), "--all", "--sql", f"SELECT queue_dur, comm, cpu FROM wait WHERE tid = {labels['tid']} AND is_open = 0")["rows"]
        near = [row for row in waits if abs(row["queue_dur"] / 1e9 - seconds) < 0.002 and str(row["cpu"]) == labels["cpu"]]
        expect(len(near) == 1 and near[0]["comm"].startswith(labels["comm"]), f"{labels} of {seconds} s is not among the longest: {sorted(row['queue_dur'] for row in waits)[-5:]}")
        done = run("explain", str(dump), "--tid", labels["tid"], "-n", "1")
        told = re.search(r"waited ([\d.]+)(ms|s)(?:, \d+ % of it [^;]*)?; it ended", done.stdout)
        expect(told and abs(float(told.group(1)) / (1000 if told.group(2) == "ms" else 1) - seconds) < 0.02 * seconds + 0.002, f"{seconds}: {done.stdout}")


def starve(cpu):
    Work("spin", ms=STARVE_MS, cpu=cpu, fifo=1).account()
    return True


# What a machine without a sched_ext scheduler does not have, and what is good to be empty.
EMPTY_HERE = {"Dispatch queues of sched_ext, 99th percentile", "Lost"}
PANELS_S = float(os.environ.get("SERVE_PANELS_S", "0"))  # of scrapes at least; 0 = only with recordings, by test_engines.py


def every_panel_of_the_dashboard_has_something_to_show():
    """Of a machine on which cgroups compete and one has a quota, scraped for a while by Prometheus."""
    need_live()
    with cpu_cgroups("panel-a", "panel-b") as groups, Daemon("--blame") as daemon, contextlib.ExitStack() as ends:
        try:
            prometheus = Engine("prometheus", PROMETHEUS, "/-/ready", scrape_config([daemon], 1))
        except ServeSkip as why:
            raise NotHere(str(why)) from why
        ends.callback(prometheus.stop)
        set_quota(groups[0])
        for group in groups:
            ends.callback(Work("hogs", cgroup=group, nr=2, ms=int(1000 * (PANELS_S + 2 * WAIT_S)), cpu=1).kill)
        prometheus.wait()
        time.sleep(PANELS_S)
        end = time.monotonic() + WAIT_S  # blame comes later
        while (empty := empty_panels(prometheus)) - EMPTY_HERE and time.monotonic() < end:
            time.sleep(1)
    print(f"# empty: {', '.join(sorted(empty)) or 'none'}")
    expect(not empty - EMPTY_HERE, f"nothing to show: {sorted(empty - EMPTY_HERE)}")


if PANELS_S:
    case(every_panel_of_the_dashboard_has_something_to_show)


def empty_panels(prometheus):
    """Titles; an answer that is no number is none: 0 / 0."""
    return {title for title, text in expressions() if not any(math.isfinite(v) for _, v in prometheus.query(text))}


def children_of(pid):
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            stat = pathlib.Path(f"/proc/{int(entry)}/stat").read_text(encoding="utf-8")
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry))
    return found


@case
def it_runs_without_rights_and_leaves_nothing_behind():
    need_live()
    for how in (signal.SIGTERM, signal.SIGKILL):
        with Daemon() as daemon:
            status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text(encoding="ascii")
            rows = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
            expect("0" not in rows["Uid"].split(), f"it is still root: {rows['Uid']}")
            expect(int(rows["CapEff"], 16) in (0, 1 << 39) and rows["NoNewPrivs"] == "1", f"{rows['CapEff']} {rows['NoNewPrivs']}")
            helpers = children_of(daemon.process.pid)
            code = daemon.stop(how)
            expect(code == (0 if how == signal.SIGTERM else -signal.SIGKILL), f"{how}: {code} {daemon.said}")
            wait_for("the end of its helpers", lambda left=helpers: not any(os.path.exists(f"/proc/{pid}") for pid in left), 10)


if __name__ == "__main__":
    main()
