#!/usr/bin/env python3
"""test_layers.py KERNEL [WORD...]: the layers that the screen shows with --layered, against the scheduler's own map."""
import json
import sys

import vm
from live import case, expect, main, once

GUEST = vm.Guest(sys.argv.pop(1), "guest_layers.py")
TOLD = once(lambda: json.loads(GUEST.path("layers.json").read_text(encoding="ascii")))


def expect_layers(look, account):
    """Those of the spinners, which stay in their layers."""
    threads, processes = look
    own = {tid: TOLD()[account]["layer_runs"][str(tid)][3] for tid in TOLD()["tids"]}
    for tid, layer in own.items():
        expect(threads[str(tid)] == layer, f"{tid}: layer {threads[str(tid)]}, expected {layer}")
        expect(processes[str(tid)] == layer, f"process {tid}: layer {processes[str(tid)]}, expected {layer}")
    expect(set(own.values()) == {0, 1}, "the scheduler used one layer only")


@case
def threads_and_processes_have_the_layers_of_the_scheduler():
    expect_layers(TOLD()["on"], "account")


@case
def who_does_not_ask_gets_none():
    expect(set(TOLD()["plain"][0].values()) == {None}, f"{TOLD()['plain']}")


@case
def a_scheduler_that_has_gone_has_no_layers_and_the_next_one_its_own():
    expect(set(TOLD()["off"][0].values()) == {None}, f"{TOLD()['off']}")
    expect(set(TOLD()["off"][1].values()) == {None}, f"{TOLD()['off']}")
    expect_layers(TOLD()["again"], "second")


main()
