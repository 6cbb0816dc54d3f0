#!/usr/bin/env python3
"""Traces are held by processes without rights, and what happens to one of those is not the server's end. Prints TAP."""
import gzip
import os
import pathlib
import resource
import signal
import sys
import time

from trace_client import refusal
from trace_files import DIR, Skipped, real, run_cases, start

CASES = []
LATE = str(DIR / "late.pftrace")


def case(function):
    CASES.append(function)
    return function


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, value in (line.split(":", 1) for line in lines)}


def holders(c):
    """The processes that hold traces, oldest first."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (path / "cmdline").read_bytes().startswith(b"schedscope-sandbox\0traces\0") and \
                    int(status(path.name)["PPid"]) == c.child.pid:
                found.append(int(path.name))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it ended meanwhile
    return sorted(found)


def load(c, name):
    before = set(holders(c))
    c.call("load_perfetto_trace", file_path=LATE, trace_id=name)
    return (set(holders(c)) - before).pop()


def names(c):
    return sorted(row["trace_id"] for row in c.call("list_traces")["traces"])


@case
def a_trace_is_held_by_a_process_without_rights():
    with start() as c:
        s = status(load(c, "a"))
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        assert s["Uid"].split() == [str(user)] * 4, s["Uid"]
        assert all(int(s[key], 16) == 0 for key in ("CapPrm", "CapEff", "CapInh", "CapAmb")), s
        assert os.geteuid() != 0 or int(s["CapBnd"], 16) == 0, s["CapBnd"]
        assert s["NoNewPrivs"] == "1", s
        if "Seccomp" in status("self"):
            assert s["Seccomp"] == "2", s["Seccomp"]


@case
def a_trace_whose_process_dies_is_gone_and_nothing_else():
    with start() as c:
        first, _ = load(c, "a"), load(c, "b")
        if os.geteuid() != 0:
            raise Skipped("only root may kill the process")
        os.kill(first, signal.SIGSEGV)
        reported = refusal(c, "get_trace_summary", trace_id="a")
        assert "was killed by signal 11" in reported and "load it again" in reported, reported
        assert names(c) == ["b"]
        assert "not found" in refusal(c, "get_trace_summary", trace_id="a")
        assert c.call("get_trace_summary", trace_id="b")["total_events"] == 9
        load(c, "a")
        assert c.call("get_trace_summary", trace_id="a")["total_events"] == 9


@case
def a_process_that_hangs_ends_with_the_server():
    with start() as c:
        holder = load(c, "a")
        if os.geteuid() != 0:
            raise Skipped("only root may stop the process")
        os.kill(holder, signal.SIGSTOP)
    deadline = time.monotonic() + 10
    while pathlib.Path(f"/proc/{holder}").exists():
        assert time.monotonic() < deadline, "the process is still there"
        time.sleep(0.05)


@case
def loading_beyond_the_limit_of_memory_leaves_the_server_at_work():
    if "asan" in os.environ["SCHEDSCOPE"] or "ASAN_OPTIONS" in os.environ:
        raise Skipped("sanitizers do without a limit of memory")
    most = 160 << 20  # for the server's own threads, and far from what this trace takes

    def bound():
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with start(preexec_fn=bound) as c:
        reported = refusal(c, "load_perfetto_trace", file_path=str(bomb()))
        print("#", reported)
        assert "memory" in reported or "killed by signal" in reported, reported
        load(c, "a")
        assert c.call("get_trace_summary", trace_id="a")["total_events"] == 9


def bomb():
    """A whole trace of 400 MB in a file a hundredth of that."""
    packets = b"\x0a\x80\x80\x40" + b"\x4a\xfb\xff\x3f" + bytes((1 << 20) - 5)
    path = DIR / "bomb.pftrace.gz"
    with gzip.open(path, "wb", 1) as f:
        for _ in range(400):
            f.write(packets)
    return path


@case
def an_analysis_that_is_cancelled_leaves_its_trace():
    with start() as c:
        name = "e-guest-scx-vtime"
        real(c, name)
        number = c.ask("tools/call", {"name": "run_all_analyzers", "arguments": {"trace_id": name}})
        c.notify("notifications/cancelled", {"requestId": number})
        assert c.call("get_trace_summary", trace_id=name)["num_cpus"] == 4


@case
def comparing_needs_a_process_for_a_moment_only():
    with start() as c:
        load(c, "a"), load(c, "b")
        c.call("diff_traces", trace_id_a="a", trace_id_b="b")
        assert len(holders(c)) == 2
        assert "not found" in refusal(c, "diff_traces", trace_id_a="a", trace_id_b="zzz")
        assert len(holders(c)) == 2
        c.call("unload_trace", trace_id="a")
        assert len(holders(c)) == 1


sys.exit(run_cases(CASES))
