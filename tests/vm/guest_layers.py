#!/usr/bin/env python3
"""Runs in a virtual machine: what the screen knows of layers, while a layered scheduler is on, and after it.

Leaves /run/out/layers.json, where test_layers.py reads it.
"""
import json
import os
import subprocess
import time

from guest_scx import OUT, Scheduler

NICED, OTHERS = 3, 3
DUMP = os.environ["MACHINE_DUMP"]


class Refreshes:
    """A running machine_dump."""

    def __init__(self, *words):
        self.process = subprocess.Popen([DUMP, "lines=1", "proc=1", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def refresh(self):
        """The threads, by tid."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        return {row["tid"]: row["layer"] for row in found["threads"]}, {row["tgid"]: row["layer"] for row in found["processes"]}

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    refreshes, plain = Refreshes("layered=1"), Refreshes()
    scheduler = Scheduler("layered")
    work = [subprocess.Popen([*(["nice", "-n", "5"] if i < NICED else []), "/bin/sh", "-c", "while :; do :; done"])
            for i in range(NICED + OTHERS)]
    time.sleep(1.0)
    refreshes.refresh()
    time.sleep(0.5)
    reported = {"tids": [process.pid for process in work], "on": refreshes.refresh(), "plain": plain.refresh()}
    reported["account"] = scheduler.end()
    time.sleep(0.2)
    reported["off"] = refreshes.refresh()
    second = Scheduler("layered")
    time.sleep(1.0)
    reported["again"] = refreshes.refresh()
    reported["second"] = second.end()
    for process in work:
        process.kill()
        process.wait()
    refreshes.end()
    plain.end()
    OUT.joinpath("layers.json").write_text(json.dumps(reported), encoding="ascii")


main()
