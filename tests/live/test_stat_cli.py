#!/usr/bin/env python3
"""What `schedscope stat` prints: on a terminal, into a pipe, as JSON."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from live import (IS_EMULATED, SCHEDSCOPE, SLOW, WAIT_S, Disturbed, Stat, case, cpu_cgroups, expect, expect_between, expect_near, main, move,
                  need_live, output, programs_of, rows, run, set_quota, workload)

CLEAR = re.compile(rb"\x1b\[(2J|H|1;1H|J|3J)")
COUNT_RUNS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
ON_EVENTS = {"on_switch", "on_wakeup", "on_wakeup_new", "on_waking", "on_migrate"}
# A name that would clear the screen, and is not UTF-8.
EVIL = b"ev\x1b[2J\xffil"


def resize(terminal, columns, lines):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def on_terminal(*words, env=None, seconds=WAIT_S, sizes=()):
    """All bytes that a command writes to a terminal of its own, which has these sizes: the first at once, the next after each screen."""
    need_live()
    sizes = list(sizes)
    child, terminal = pty.fork()
    if not child:
        if sizes:
            resize(0, *sizes[0])
        os.execve(SCHEDSCOPE, [SCHEDSCOPE, *words], {**os.environ, "TERM": "xterm", **(env or {})})
    data, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline and select.select([terminal], [], [], deadline - time.monotonic())[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        data += piece
        if len(sizes) > data.count(b"\x1b[H") > 0:
            resize(terminal, *sizes[data.count(b"\x1b[H")])
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    expect(os.waitstatus_to_exitcode(status) == 0, f"{words}: exit {os.waitstatus_to_exitcode(status)}: {data[-300:]}")
    return data


def delay_of(pid):
    """Nanoseconds that its main thread has waited for a CPU, as the kernel counts them."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1])


def evil_thread():
    """Sleeps some times under a hostile name."""
    script = ("import sys,time\nopen('/proc/self/comm','wb').write(bytes.fromhex(sys.argv[1]))\n"
              "for i in range(50): time.sleep(0.01)")
    subprocess.run([sys.executable, "-c", script, EVIL.hex()], check=True)


@case
def a_terminal_is_refreshed():
    data = on_terminal("stat", "-r", "3", "-i", "1")
    expect(data.count(b"Scheduling Delays") >= 3, "fewer than 3 reports")
    expect(len(CLEAR.findall(data)) >= 2, "the screen is not cleared between reports")


def screens(data):
    """The lines of each screen, the final one included."""
    return [re.sub(r"\x1b\[[0-9]*[A-Zm]", "", part.decode()).strip("\r\n").split("\r\n") for part in data.split(b"\x1b[H")[1:]]


@case
def a_terminal_gets_one_screen_that_fits():
    """Two hogs on one CPU wait half of the time each; what the kernel says of their delay is what is shown, at each size."""
    sizes = [(80, 24), (40, 8), (120, 40), (200, 60)]
    hogs = [subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        first = [delay_of(hog.pid) for hog in hogs]
        start = time.monotonic()
        data = on_terminal("stat", "-r", "5", "-i", "1", "--by", "tgid", env={"LC_ALL": "C.UTF-8"}, sizes=sizes)
        share = [(delay_of(hog.pid) - before) / (time.monotonic() - start) / 1e9 for hog, before in zip(hogs, first)]
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    shown = screens(data)
    expect(len(shown) >= 4, f"{len(shown)} screens")
    for lines, size in zip(shown, sizes):
        expect(len(lines) <= size[1] and max(map(len, lines)) <= size[0], f"{size}: {lines}")
    for lines in (shown[0], shown[2]):
        expect(re.match(r"\d+ CPUs  busy [\d.]+%  waiting [\d.]+ per CPU  steal [\d.]+%.*  lost \d+$", lines[0]), f"first line: {lines[0]}")
    waits = [float(re.search(r"\s(\d+)% ", line)[1]) / 100 for line in shown[-1] if re.match(r"python\S* +\d", line)]
    titles = next(i for i, line in enumerate(shown[-1]) if line.startswith("PROCESS"))
    name, waited = re.match(r"(.*?) {2,}(\S+)", shown[-1][titles + 1]).groups()
    expect(re.match(rf"{re.escape(name)} waited longest: {waited} of [\d.]+m?s in all(, mostly \w+ ?\w*)?$", shown[-1][1]), f"no answer: {shown[-1]}")
    expect(shown[-1][-1] == "next: schedscope stat --blame", f"no next command: {shown[-1]}")
    expect(data.count(b"\x1b[2J") == 1 and b"\x1b[3J" not in data, "the screen is cleared, or what was above it")
    expect(sum(waits) >= 0.5 * sum(share), f"the hogs waited {share}, and {waits} is shown: {shown[-1]}")


@case
def a_quota_that_throttles_is_named():
    """A hog in a cgroup with a fifth of a CPU; what cpu.stat counts meanwhile is what the last screen says."""
    def counts(group):
        text = (pathlib.Path(group) / "cpu.stat").read_text(encoding="ascii")
        return [int(re.search(rf"{key} (\d+)", text)[1]) for key in ("nr_throttled", "nr_periods")]

    need_live()
    with cpu_cgroups("slow") as (group,):
        set_quota(group)
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            move(hog.pid, group)
            time.sleep(0.5)
            before = counts(group)
            data = on_terminal("stat", "-r", "3", "-i", "1", sizes=[(80, 24)])
            most = [now - then for now, then in zip(counts(group), before)]
        finally:
            hog.kill()
            hog.wait()
    if most[0] < 15:  # of 30 periods: others left the hog less than its quota
        raise Disturbed(f"throttled in {most[0]} of {most[1]} periods")
    for lines in screens(data):
        found = re.fullmatch(r"quota: cgroup (\S+) was throttled in (\d+) of (\d+) periods", lines[2] if len(lines) > 2 else "")
        expect(found and found[1] == "/" + os.path.basename(group), f"no quota: {lines}")
    expect(0.5 * most[0] <= int(found[2]) <= most[0] and int(found[2]) <= int(found[3]) <= most[1], f"{most} counted: {lines}")


@case
def tables_come_on_a_terminal_where_they_are_asked_for():
    for words in (("--rsched",), ("-g", "latency"), ("-d",), ("-l", "1us"), ("--sort", "max"), ("--outliers", "1s")):
        data = on_terminal("stat", "-r", "0.5", *words, sizes=[(80, 24)])
        expect(b"=== " in data, f"{words}: {data[:300]}")


@case
def a_pipe_gets_plain_text_appended():
    need_live()
    out = run("stat", "-r", "2", "-i", "1")
    expect(out.returncode == 0, f"exit {out.returncode}: {out.stderr}")
    expect("\x1b" not in out.stdout, "escape sequences in a pipe")
    expect(out.stdout.count("=== Collapsed Scheduling Delays (microseconds from sched_wakeup) ===") == 2, "expected 2 reports")


@case
def no_color_is_respected():
    data = on_terminal("stat", "-r", "1", "-i", "1", env={"NO_COLOR": "1"})
    expect(not re.search(rb"\x1b\[[0-9;]*m", data), "colours in spite of NO_COLOR")


@case
def the_last_line_has_events_losses_and_cost():
    need_live()
    out = run("stat", "-r", str(3 * SLOW) if IS_EMULATED else "1", "-i", "1")
    last = out.stdout.rstrip().splitlines()[-1]
    expect(re.fullmatch(r"events \d+, lost \d+, own cost \d+ ns/event, "
                        r"[\d.]+% of a CPU \(BPF programs [\d.]+%, user space [\d.]+%\)", last),
           f"last line: {last}")


def runs_of(pid):
    """How often the kernel ran the programs that a process has attached to events."""
    own = programs_of(pid)
    listed = json.loads(output(["bpftool", "-j", "prog", "list"]).stdout)
    return sum(prog.get("run_cnt", 0) for prog in listed if prog["id"] in own and prog.get("name") in ON_EVENTS)


@contextlib.contextmanager
def counted_runs():
    """The kernel counts runs of BPF programs meanwhile."""
    before = COUNT_RUNS.read_text(encoding="ascii")
    COUNT_RUNS.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        COUNT_RUNS.write_text(before, encoding="ascii")


@case
def the_time_of_its_bpf_programs_is_part_of_its_cost():
    """Events are runs: as many as the kernel counts, at a moment between two reports. The rest is arithmetic."""
    need_live()
    with counted_runs(), subprocess.Popen([SCHEDSCOPE, "stat", "--json", "-i", "1", "-r", "60"], text=True,
                                          stdout=subprocess.PIPE) as stat:
        try:
            first = json.loads(stat.stdout.readline())
            runs = runs_of(stat.pid)
            second = json.loads(stat.stdout.readline())
        finally:
            stat.kill()
    expect_between("runs", runs, first["events"]["total"], second["events"]["total"])
    for report in (first, second):
        own, events = report["own"], report["events"]["total"]
        bpf = events * own["bpf_ns_per_event"] / 1e9 / report["elapsed_s"] * 100
        expect_near("BPF programs", own["bpf_cpu_pct"], bpf, relative=0.001, absolute=0.001)
        # Each of the three is rounded to a thousandth.
        expect_near("sum", own["total_cpu_pct"], own["cpu_pct"] + own["bpf_cpu_pct"], absolute=0.00151)


@case
def every_table_has_its_title():
    need_live()
    out = run("stat", "-r", "2", "-g", "latency,slice,sleep,migration,waking")
    for title in ("Scheduling Delays", "Waking Delay Statistics", "Time Slice Statistics",
                  "Sleep Duration Statistics", "Runqueue Depth Statistics", "Migration Statistics",
                  "Per-CPU Scheduling Delays", "Per-CPU Idle Duration"):
        expect(title in out.stdout, f"no table '{title}'")


@case
def detailed_rows_are_per_thread():
    need_live()
    for flag in ("-d", "-C"):
        out = run("stat", "-r", "1", flag)
        expect("=== Per-Process Scheduling Delays (microseconds from sched_wakeup) ===" in out.stdout, f"{flag}: no such table")


@case
def histograms_have_bars():
    need_live()
    out = run("stat", "-r", "1", "--histogram")
    expect(re.search(r"[*#█▏▎▍▌▋▊▉]{3}", out.stdout), "no bars")


@case
def top_limits_the_rows():
    with Stat("--top", "1", "--by", "tid", "-g", "slice") as stat:
        workload("sleep", nr=3, rounds=20)
        table = rows(stat.finish(), "slice")
    expect(len(table) == 1, f"{len(table)} rows of slices, expected 1")


@case
def json_has_the_promised_keys():
    with Stat("-g", "latency,slice,sleep,migration,waking", "--by", "tid", "-d") as stat:
        workload("sleep", nr=1, rounds=20)
        report = stat.finish()
    for key in ("schema", "time_ns", "interval_s", "events", "lost", "groups"):
        expect(key in report, f"no key '{key}' in {list(report)}")
    one = rows(report, "latency", comm="napper")[0]
    for key in ("comm", "tid", "tgid", "count", "min_us", "mean_us", "p50_us", "p90_us", "p99_us", "max_us",
                "max_time_ns", "max_cpu", "by_cause"):
        expect(key in one, f"no key '{key}' in {list(one)}")
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    expect(0 < now - report["time_ns"] < 60_000_000_000, f"time_ns {report['time_ns']} is not now ({now})")


@case
def unknown_is_absent_or_null_and_never_zero():
    """A thread that never slept uninterruptibly has no shortest such sleep."""
    with Stat("-g", "sleep", "--by", "tid", "-d", "-c", "^napper$") as stat:
        workload("sleep", nr=1, rounds=20)
        one = rows(stat.finish(), "sleep", comm="napper")[0]
    state = (one.get("by_state") or {}).get("uninterruptible") or {}
    if not state.get("count"):
        expect(state.get("min_us") is None and state.get("p50_us") is None, f"without samples: {state}")


@case
def hostile_names_do_no_harm():
    with Stat("--by", "tid", "-d") as stat:
        evil_thread()
        report = stat.finish()
        raw = "".join(stat.out.lines)
    expect("\x1b" not in raw, "an escape sequence in JSON")
    expect(any("il" in one["comm"] and one["comm"].startswith("ev") for one in rows(report, "latency")),
           "the hostile name is not there at all")
    text = subprocess.Popen([SCHEDSCOPE, "stat", "-r", "3", "-d"], stdout=subprocess.PIPE)
    time.sleep(1)
    evil_thread()
    expect(b"\x1b" not in text.communicate(timeout=20)[0], "an escape sequence in text")


@case
def rows_by_process_and_by_name_add_up_threads():
    for by in ("comm", "tgid"):
        with Stat("--by", by, "-g", "sleep", "--top", "1000") as stat:
            it = workload("sleep", nr=4, rounds=50)
            report = stat.finish()
        key = {"comm": "napper"} if by == "comm" else {"tgid": it["pid"]}
        found = rows(report, "sleep", **key)
        expect(len(found) == 1, f"--by {by}: {len(found)} rows")
        others = set(found[0]["tids"]) - {task["tid"] for task in it["tasks"]} - {it["pid"]}
        if others:
            raise Disturbed(f"--by {by}: another test has tasks of that name: {sorted(others)}")
        naps = found[0]["by_state"]["interruptible"]["count"]
        # By the kernel's count: a thread that is kept from its CPU on the way to sleep finds the timer already over, and does not.
        slept, kept = (sum(task[key] for task in it["tasks"]) for key in ("voluntary", "involuntary"))
        expect(slept >= (195 if IS_EMULATED else 200) - kept, f"--by {by}: {slept} of 200 naps, {kept} times preempted")
        # A wakeup is not traced where a thread of pid 1 is interrupted by it; one interrupt may wake each of them.
        expect_between(f"--by {by}: naps, with a few of the main thread", naps, slept, slept + 15,
                       less=len(it["tasks"]) * it["unseen"])


@case
def help_needs_nothing():
    out = run("stat", "--help")
    expect(out.returncode == 0 and "--interval" in out.stdout, f"exit {out.returncode}: {out.stdout[:200]}")
    expect(json.dumps(out.stderr) == '""', f"talk: {out.stderr}")


if __name__ == "__main__":
    main(at_once=2)
