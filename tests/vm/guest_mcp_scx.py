#!/usr/bin/env python3
"""Runs in a virtual machine: the MCP server beside a scheduler that serves scx_stats, and the scheduler's own numbers.

What each said is left in /run/out/mcp.json, where test_mcp_scx.py reads it.
"""
import json
import pathlib
import signal
import socket
import sys
import time

from guest_scx import OUT, Scheduler, spin

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
from client import Client  # noqa: E402

SOCKET = "/tmp/scx_stats"
RESOURCES = ("scheduler://current", "stats://scheduler/raw", "stats://scheduler/scx")


def ask(request="stats"):
    """The scheduler, without our client: its answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(SOCKET)
        s.sendall(json.dumps({"req": request, "args": {}}).encode() + b"\n")
        answer = json.loads(s.makefile().readline())
    if answer["errno"]:
        raise RuntimeError(f"{request}: {answer}")
    return answer["args"]["resp"]


def read_all(mcp):
    """What the server says of the scheduler."""
    return {uri: mcp.read(uri) for uri in RESOURCES}


def kernel_says():
    """The kernel's own files, below its folder."""
    root = pathlib.Path("/sys/kernel/sched_ext")
    names = ("state", "switch_all", "nr_rejected", "hotplug_seq", "enable_seq", "root/ops", "root/events")
    return {name: root.joinpath(name).read_text(encoding="ascii").strip() for name in names if root.joinpath(name).exists()}


def between(mcp, uri):
    """A resource, and the scheduler's own numbers before and after."""
    before, kernel_before = ask(), kernel_says()
    body = mcp.read(uri)
    return {"before": before, "body": body, "after": ask(), "kernel_before": kernel_before, "kernel_after": kernel_says()}


def queues(mcp):
    """The same of dispatch queues, while none is used."""
    mcp.read("stats://aggregated/dsq")
    time.sleep(0.5)
    return between(mcp, "stats://aggregated/dsq?limit=1000")


def stalled(mcp, scheduler):
    """The server of statistics does not run, its scheduler does: how long others wait."""
    scheduler.process.send_signal(signal.SIGSTOP)
    asked = mcp.send("resources/read", {"uri": "stats://scheduler/raw"})
    start = time.monotonic()
    mcp.read("scheduler://current")
    other_s = time.monotonic() - start
    body = json.loads(mcp.answer(asked)["result"]["contents"][0]["text"])
    whole_s = time.monotonic() - start
    scheduler.process.send_signal(signal.SIGCONT)
    return {"other_s": other_s, "whole_s": whole_s, "body": body}


def main():
    reported = {}
    with Client("--daemon", "--stats-socket-path", SOCKET) as mcp:
        reported["none"] = read_all(mcp)
        scheduler = Scheduler("vtime", "--stats", SOCKET)
        ask(), mcp.read("stats://scheduler/raw")  # their code is here now: waiting for the host costs the guest's time
        reported["meta"] = ask("stats_meta")
        reported["queues_before"] = queues(mcp)
        spin(6)
        reported["queues_after"] = queues(mcp)
        reported["raw"] = between(mcp, "stats://scheduler/raw")
        reported["scx"] = between(mcp, "stats://scheduler/scx")
        reported["on"] = read_all(mcp)
        reported["stalled"] = stalled(mcp, scheduler)
        reported["again"] = between(mcp, "stats://scheduler/raw")
        reported["account"] = scheduler.end()
        reported["off"] = read_all(mcp)
    OUT.joinpath("mcp.json").write_text(json.dumps(reported), encoding="ascii")


main()
