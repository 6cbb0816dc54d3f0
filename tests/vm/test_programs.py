#!/usr/bin/env python3
"""test_programs.py KERNEL [WORD...]: BPF programs of a scheduler as the screen shows them, against its own source."""
import json
import sys

import vm
from live import case, expect, main, once

GUEST = vm.Guest(sys.argv.pop(1), "guest_programs.py")
LOOKS = once(lambda: json.loads(GUEST.path("programs.json").read_text(encoding="ascii")))
# vtime_ops of sched.bpf.c; the kernel keeps 15 bytes of a name.
OPERATIONS = {"select_cpu": "fifo_select_cpu", "enqueue": "vtime_enqueue", "dispatch": "vtime_dispatch",
              "running": "vtime_running", "stopping": "vtime_stopping", "enable": "vtime_enable", "init": "vtime_init",
              "exit": "fifo_exit"}


@case
def operations_are_those_of_the_scheduler_in_charge():
    mine = [row for row in LOOKS()["during"]["programs"] if row["owner"] == "vm_vtime"]
    expect({row["op"]: row["name"] for row in mine} == OPERATIONS, f"{mine}")
    expect(all(row["is_sched_ext"] and row["struct"] == "sched_ext_ops" for row in mine), f"{mine}")
    runs = {row["op"]: row["runs"] for row in mine}
    # Each task that runs stops again; a CPU may be between both.
    expect(runs["running"] > 0 and abs(runs["running"] - runs["stopping"]) <= 8, f"{runs}")


@case
def what_was_loaded_for_another_one_has_no_scheduler():
    row = next(row for row in LOOKS()["during"]["programs"] if row["name"] == "stall_enqueue")
    expect(row["is_sched_ext"] and row["op"] is None and row["owner"] is None, f"{row}")


@case
def with_the_scheduler_its_programs_leave_the_list():
    expect(not [row for row in LOOKS()["after"]["programs"] if row["is_sched_ext"]], "programs are left")


if __name__ == "__main__":
    raise SystemExit(main())
