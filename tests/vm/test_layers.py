#!/usr/bin/env python3
"""test_layers.py KERNEL [WORD...]: the layers that the screen shows with --layered, against the scheduler's own map."""
import json
import sys

import vm
from live import case, expect, main, once

GUEST = vm.Guest(sys.argv.pop(1), "guest_layers.py")
REPORTED = once(lambda: json.loads(GUEST.path("layers.json").read_text(encoding="ascii")))


def expect_layers(refresh, account):
    """Those of the spinners, which stay in their layers."""
    threads, processes = refresh
    own = {tid: REPORTED()[account]["layer_runs"][str(tid)][3] for tid in REPORTED()["tids"]}
    for tid, layer in own.items():
        expect(threads[str(tid)] == layer, f"{tid}: layer {threads[str(tid)]}, expected {layer}")
        expect(processes[str(tid)] == layer, f"process {tid}: layer {processes[str(tid)]}, expected {layer}")
    expect(set(own.values()) == {0, 1}, "the scheduler used one layer only")


@case
def threads_and_processes_have_the_layers_of_the_scheduler():
    expect_layers(REPORTED()["on"], "account")


@case
def layers_that_are_not_requested_are_absent():
    expect(set(REPORTED()["plain"][0].values()) == {None}, f"{REPORTED()['plain']}")


@case
def a_scheduler_that_has_gone_has_no_layers_and_the_next_one_its_own():
    expect(set(REPORTED()["off"][0].values()) == {None}, f"{REPORTED()['off']}")
    expect(set(REPORTED()["off"][1].values()) == {None}, f"{REPORTED()['off']}")
    expect_layers(REPORTED()["again"], "second")


main()
