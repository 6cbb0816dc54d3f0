#!/usr/bin/env python3
"""The profiler through the MCP server: start, status, stop, refusals. Its numbers: test_shares.py."""
import os
import pathlib
import subprocess
import sys
import time

from live import NOBODY, ROOT, case, expect, main, need_live

sys.path.insert(0, str(ROOT / "tests/mcp"))
from client import Client, ToolError  # noqa: E402

SPLIT = pathlib.Path(os.environ.get("SPLIT", str(ROOT / "build/tests/live/split")))


class Burner:
    """A program of known parts, while it is profiled."""

    def __enter__(self):
        self.process = subprocess.Popen([str(SPLIT / "split_fixed"), "60"])
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def error_of(mcp, tool, **args):
    try:
        mcp.call(tool, **args)
    except ToolError as error:
        return str(error)
    raise AssertionError(f"{tool} did not fail")


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
