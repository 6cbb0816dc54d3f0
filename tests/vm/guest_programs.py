#!/usr/bin/env python3
"""Runs in a virtual machine: what the screen is shown of BPF programs while a scheduler is in charge, and after it."""
import json
import os
import pathlib
import subprocess
import time

OUT = pathlib.Path("/run/out")
SCHED, OBJECT, HOT_DUMP = os.environ["VM_SCHED"], os.environ["VM_SCHED_OBJECT"], os.environ["HOT_DUMP"]
BPF = 64 | 1  # enum machine_need
GONE_S = 60


def main():
    with subprocess.Popen([SCHED, OBJECT, "vtime"], stdout=subprocess.PIPE, text=True) as scheduler, \
            subprocess.Popen([HOT_DUMP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as screen:
        def refresh(words=""):
            screen.stdin.write(words + "\n")
            screen.stdin.flush()
            return json.loads(screen.stdout.readline())

        if scheduler.stdout.readline() != "on\n":
            raise RuntimeError("the scheduler does not start")
        refresh(f"needs={BPF}")
        time.sleep(1)
        during = refresh()
        scheduler.terminate()
        scheduler.communicate()
        end = time.monotonic() + GONE_S
        after = refresh()
        while any(row["is_sched_ext"] for row in after["programs"]) and time.monotonic() < end:
            time.sleep(0.2)
            after = refresh()
        screen.stdin.close()
    OUT.joinpath("programs.json").write_text(json.dumps({"during": during, "after": after}), encoding="ascii")


main()
