#!/usr/bin/env python3
"""Shares of functions that are known, in a recording's stacks and in the profile of the MCP server.

These run alone: samples of a task that other tasks interrupt often are not independent of each other.
"""
import os
import time

from live import IS_EMULATED, Meanwhile, case, expect, expect_between, expect_near, main, need_live, scratch
from test_mcp_profile import Burner, error_of
from test_record import decoded, runtimes
from test_stacks import TARGET, flamegraph, record, shares
from client import ANSWER_BYTES_MAX, Client  # found by test_mcp_profile

PARTS = {"part_seventy": 70, "part_twenty": 20, "part_ten": 10}


def wait_until_stopped(mcp):
    """The status, once it has ended of its own."""
    for _ in range(300):
        status = mcp.read("profiling://perf/status")
        if status["status"] == "Stopped":
            return status
        time.sleep(0.1)
    raise AssertionError(f"it never stopped: {status}")


@case
def functions_have_their_shares_and_cpus_their_rate():
    with scratch() as folder:
        path, meanwhile = os.path.join(folder, "t"), Meanwhile()
        summary = record(path, "--stacks", "--", TARGET, "share", "3000")
        taken = meanwhile.taken_ns()
        trace = decoded(path)
        report = flamegraph(path, "-c", "stack_target")
        whole = flamegraph(path)
    expect(summary["lost"] == 0, summary["text"])
    found = shares(report)
    # The share of those two alone: on a busy machine the kernel may have a part in it.
    both = found["heavy"] + found["light"]
    expect(both > 80, f"{found}")
    expect_near("heavy", 100 * found["heavy"] / both, 70, absolute=8)  # three standard deviations of 300 samples
    expect((report["event"], report["frequency_hz"]) in (("cpu-clock", 99), ("cycles", 99)), f"{report['event']}")
    # Of the target alone: of others, such as those whose switches this kernel leaves out, the run time may be unknown.
    busy_ns = sum(ns for tid, ns in runtimes(trace).items() if trace.threads.get(tid, {}).get("name") == "stack_target")
    # Emulated CPUs run in turn: samples that are due while one stands still are late, and some never come. One alone has all.
    take_turns = IS_EMULATED and os.cpu_count() > 1
    # No sample is taken while the CPU is, but that lies in the slices. The clock of a CPU goes on while others have it: of a target
    # that shares it, how many fall into its slices is chance, three deviations of it.
    shared = max(0, 1 - busy_ns / (summary["seconds"] * 1e9))
    chance = 3 * (99 * shared * 1e9 / busy_ns) ** 0.5
    expect_between("samples per busy second", report["total_samples"] * 1e9 / busy_ns, 30 if take_turns else 95, 103,
                   less=99 * taken / busy_ns + chance, more=chance)
    expect(len(trace.samples) == whole["total_samples"], f"{len(trace.samples)} samples in the file")


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
        for part, want in PARTS.items():
            expect_near(part, float(functions[part]["percentage"].rstrip("%")), want, absolute=8)
            expect(functions[part]["pid"] == pid and functions[part]["module"] == "split_fixed", f"{functions[part]}")
        expect(functions["part_seventy"]["stack_traces"], "no stacks")
        expect(max(mcp.sizes.values()) <= ANSWER_BYTES_MAX or "tools" in str(max(mcp.sizes, key=mcp.sizes.get)),
               f"an answer of {max(mcp.sizes.values())} bytes")
        later = mcp.read("profiling://perf/status")
        expect(later["duration_ms"] == status["duration_ms"], "time went on after the end")


if __name__ == "__main__":
    main()
