#!/usr/bin/env python3
"""The profiler through the MCP server: start, status, results, stop; numbers of a program whose parts are known."""
import os
import pathlib
import subprocess
import sys
import time

from live import NOBODY, ROOT, case, expect, expect_near, main, need_live

sys.path.insert(0, str(ROOT / "tests/mcp"))
from client import ANSWER_BYTES_MAX, Client, ToolError  # noqa: E402

SPLIT = pathlib.Path(os.environ.get("SPLIT", str(ROOT / "build/tests/live/split")))
SHARES = {"part_seventy": 70, "part_twenty": 20, "part_ten": 10}


class Burner:
    """A program of known parts, while it is profiled."""

    def __enter__(self):
        self.process = subprocess.Popen(["nice", "-n", "-20", str(SPLIT / "split_pie"), "60"])
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def wait_until_stopped(mcp):
    """The status, once it has ended of its own."""
    for _ in range(300):
        status = mcp.read("profiling://perf/status")
        if status["status"] == "Stopped":
            return status
        time.sleep(0.1)
    raise AssertionError(f"it never stopped: {status}")


def error_of(mcp, tool, **args):
    try:
        mcp.call(tool, **args)
    except ToolError as error:
        return str(error)
    raise AssertionError(f"{tool} did not fail")


@case
def a_profile_from_start_to_results():
    need_live()
    with Burner() as pid, Client() as mcp:
        expect(mcp.read("profiling://perf/status")["status"] == "Idle", "a new server has a profile")
        expect(mcp.read("profiling://perf/results")["error"] == "not_available", "results of nothing")
        started = mcp.call("start_perf_profiling", pid=pid, freq=999, max_samples=600)
        expect(started["profiler"]["status"] == "Running" and started["profiler"]["config"]["pid"] == pid, f"{started}")
        expect("already running" in error_of(mcp, "start_perf_profiling"), "a second start was taken")
        status = wait_until_stopped(mcp)
        expect(status["samples_collected"] == 600 and status["ended_by"] == "max_samples", f"{status}")
        expect("not running" in error_of(mcp, "stop_perf_profiling"), "a stop of what is over was taken")
        result = mcp.call("get_perf_results")
        expect(result["total_samples"] == 600, f"{result['total_samples']} samples")
        functions = {row["symbol"]: row for row in result["symbols"]}
        for part, want in SHARES.items():
            expect_near(part, float(functions[part]["percentage"].rstrip("%")), want, absolute=8)
            expect(functions[part]["pid"] == pid and functions[part]["module"] == "split_pie", f"{functions[part]}")
        expect(functions["part_seventy"]["stack_traces"], "no stacks")
        expect(max(mcp.sizes.values()) <= ANSWER_BYTES_MAX or "tools" in str(max(mcp.sizes, key=mcp.sizes.get)),
               f"an answer of {max(mcp.sizes.values())} bytes")
        later = mcp.read("profiling://perf/status")
        expect(later["duration_ms"] == status["duration_ms"], "time went on after the end")


@case
def it_is_stopped_by_hand_and_started_again():
    need_live()
    with Burner() as pid, Client() as mcp:
        for _ in range(2):
            mcp.call("start_perf_profiling", pid=pid, event="sw:cpu-clock")
            time.sleep(0.5)
            stopped = mcp.call("stop_perf_profiling")
            expect(stopped["profiler"]["status"] == "Stopped" and stopped["profiler"]["ended_by"] == "stopped", f"{stopped}")
        result = mcp.read("profiling://perf/results")
        expect(result["total_samples"] == stopped["profiler"]["samples_collected"], f"{result['total_samples']}")


@case
def what_cannot_be_profiled_is_said():
    need_live()
    with Client() as mcp:
        expect("no-such" in error_of(mcp, "start_perf_profiling", event="no-such"), "an unknown event")
        expect("contradict" in error_of(mcp, "start_perf_profiling", freq=9, period=9), "freq and period")
        expect(mcp.read("profiling://perf/status")["status"] == "Idle", "a failed start left something")


@case
def without_rights_the_start_fails_with_the_remedy():
    need_live()
    with Client(command=NOBODY) as mcp:
        expect("setcap" in error_of(mcp, "start_perf_profiling"), "the remedy is missing")
        expect(mcp.read("profiling://perf/status")["status"] == "Idle", "it pretends to run")


if __name__ == "__main__":
    main()
