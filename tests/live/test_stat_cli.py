#!/usr/bin/env python3
"""What `schedscope stat` prints: on a terminal, into a pipe, as JSON."""
import json
import os
import pty
import re
import select
import subprocess
import sys
import time

from live import IS_EMULATED, SCHEDSCOPE, SLOW, WAIT_S, Stat, case, expect, main, need_live, rows, run, workload

CLEAR = re.compile(rb"\x1b\[(2J|H|1;1H|J|3J)")
# A name that would clear the screen, and is not UTF-8.
EVIL = b"ev\x1b[2J\xffil"


def on_terminal(*args, env=None, seconds=WAIT_S):
    """All bytes that it writes to a terminal of its own."""
    need_live()
    child, terminal = pty.fork()
    if not child:
        os.execve(SCHEDSCOPE, [SCHEDSCOPE, "stat", *args], {**os.environ, "TERM": "xterm", **(env or {})})
    data, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline and select.select([terminal], [], [], deadline - time.monotonic())[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        data += piece
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    expect(os.waitstatus_to_exitcode(status) == 0, f"exit {os.waitstatus_to_exitcode(status)}: {data[-300:]}")
    return data


def evil_thread():
    """Sleeps some times under a hostile name."""
    script = ("import sys,time\nopen('/proc/self/comm','wb').write(bytes.fromhex(sys.argv[1]))\n"
              "for i in range(50): time.sleep(0.01)")
    subprocess.run([sys.executable, "-c", script, EVIL.hex()], check=True)


@case
def a_terminal_is_refreshed():
    data = on_terminal("-r", "3", "-i", "1")
    expect(data.count(b"Scheduling Delays") >= 3, "fewer than 3 reports")
    expect(len(CLEAR.findall(data)) >= 2, "the screen is not cleared between reports")


@case
def a_pipe_gets_plain_text_appended():
    need_live()
    out = run("stat", "-r", "2", "-i", "1")
    expect(out.returncode == 0, f"exit {out.returncode}: {out.stderr}")
    expect("\x1b" not in out.stdout, "escape sequences in a pipe")
    expect(out.stdout.count("=== Collapsed Scheduling Delays (microseconds) ===") == 2, "expected 2 reports")


@case
def no_color_is_respected():
    data = on_terminal("-r", "1", "-i", "1", env={"NO_COLOR": "1"})
    expect(not re.search(rb"\x1b\[[0-9;]*m", data), "colours in spite of NO_COLOR")


@case
def the_last_line_tells_events_losses_and_cost():
    need_live()
    out = run("stat", "-r", str(3 * SLOW) if IS_EMULATED else "1", "-i", "1")
    last = out.stdout.rstrip().splitlines()[-1]
    expect(re.fullmatch(r"events \d+, lost \d+, own cost \d+ ns/event, [\d.]+% of a CPU", last),
           f"last line: {last}")


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
        expect("=== Per-Process Scheduling Delays (microseconds) ===" in out.stdout, f"{flag}: no such table")


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
        naps = found[0]["by_state"]["interruptible"]["count"]
        least = 195 if IS_EMULATED else 200  # a CPU that stands still on its way to sleep finds the timer already over
        expect(least <= naps <= 215, f"--by {by}: {naps} naps, expected 200 and a few of the main thread")


@case
def help_needs_nothing():
    out = run("stat", "--help")
    expect(out.returncode == 0 and "--interval" in out.stdout, f"exit {out.returncode}: {out.stdout[:200]}")
    expect(json.dumps(out.stderr) == '""', f"talk: {out.stderr}")


if __name__ == "__main__":
    main(at_once=2)
