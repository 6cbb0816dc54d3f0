#!/usr/bin/env python3
"""test_mcp_scx.py KERNEL [WORD...]: what the MCP server says of a sched_ext scheduler, against the scheduler's own numbers.

Counters go on while they are read, so each was read before and after by other means: what the server says lies between.
"""
import json
import sys

import vm
from live import case, expect, expect_between, main, once

GUEST = vm.Guest(sys.argv.pop(1), "guest_mcp_scx.py")
REPORTED = once(lambda: json.loads(GUEST.path("mcp.json").read_text(encoding="ascii")))
COUNTS = ("inserts", "moves", "runs", "wait_ns", "ran_ns")
LOCAL = (1 << 63) | 2
HAS_EVENTS = GUEST.kernel != "6.12"


def expect_own_numbers(read):
    """Of one read of stats://scheduler/raw."""
    before, own, after = read["before"], read["body"]["stats"], read["after"]
    expect(own.get("scheduler") == "vtime", f"no statistics: {own}")
    for name in COUNTS:
        expect_between(name, own[name], before[name], after[name])
    expect(set(before["queues"]) <= set(own["queues"]) <= set(after["queues"]), f"queues: {own['queues'].keys()}")
    for queue, counts in before["queues"].items():
        for name in COUNTS:
            expect_between(f"{name} of {queue}", own["queues"][queue][name], counts[name], after["queues"][queue][name])


@case
def the_schedulers_own_statistics_come_through():
    expect_own_numbers(REPORTED()["raw"])
    expect(REPORTED()["raw"]["body"]["stats"]["runs"] > 50, "hardly anything ran")
    expect(REPORTED()["raw"]["body"]["stats_meta"] == REPORTED()["meta"], "stats_meta is not the scheduler's")
    expect(REPORTED()["meta"]["VmSched"]["top"] == "true", f"meta: {REPORTED()['meta']}")


@case
def queues_are_counted_as_the_scheduler_counts_them():
    was, now = REPORTED()["queues_before"], REPORTED()["queues_after"]
    rows = {int(row["dsq_id"]): row for row in now["body"]["dsqs"]}
    seen = {int(row["dsq_id"]): row for row in was["body"]["dsqs"]}
    used = 0
    for queue in set(now["after"]["queues"]) - {str(LOCAL)}:
        zero = dict.fromkeys(COUNTS, 0)
        own = [side["queues"].get(queue, zero)["inserts"] for side in (was["before"], was["after"], now["before"], now["after"])]
        row = rows.get(int(queue), {"nr_enqueues": 0, "nr_dispatches": 0})
        got = row["nr_enqueues"] - seen.get(int(queue), {"nr_enqueues": 0})["nr_enqueues"]
        expect_between(f"insertions into {queue}", got, own[2] - own[1], own[3] - own[0])
        used += got
    expect(used > 50, f"only {used} insertions")
    expect(set(rows) <= set(map(int, now["after"]["queues"])) | {LOCAL}, f"queues that are none: {rows.keys()}")
    idle = [row for row in rows.values() if row["queue_depth"] not in (0, None)]
    expect(len(idle) <= 1, f"left in queues: {idle}")


@case
def the_scheduler_in_charge_is_named_and_followed():
    names = {when: REPORTED()[when]["scheduler://current"] for when in ("none", "on", "off")}
    expect([names[when]["active"] for when in names] == [False, True, False], f"{names}")
    expect(names["on"]["name"] == "vm_vtime" and names["on"]["class"] == "sched_ext", f"{names['on']}")
    for when in ("none", "off"):
        expect(names[when]["name"] == "unknown" and names[when]["sched_ext_supported"], f"{when}: {names[when]}")
        expect(REPORTED()[when]["stats://scheduler/raw"]["stats"]["error"] == "not_connected", f"{when}: {REPORTED()[when]}")


@case
def what_the_kernel_says_is_reported():
    for read in (REPORTED()["scx"],):
        body, before, after = read["body"], read["kernel_before"], read["kernel_after"]
        for name in ("switch_all", "nr_rejected", "hotplug_seq", "enable_seq"):
            expect(body[name] == int(before[name]), f"{name}: {body[name]}, expected {before[name]}")
        expect((body["state"], body["ops"]) == (before["state"], before["root/ops"]), f"{body}")
        expect(body["ops"] == "vm_vtime", f"{body}")
        if not HAS_EVENTS:
            expect(body["events"] is None and "root/events" not in before, f"{body}")
            continue
        own = [dict(line.split() for line in side["root/events"].splitlines()) for side in (before, after)]
        expect(len(own[0]) == len(body["events"]) >= 5, f"{body['events']}")
        for name, value in body["events"].items():
            key = f"SCX_EV_{name.upper()}"
            expect_between(name, value, int(own[0][key]), int(own[1][key]))
    for when in ("none", "off"):
        body = REPORTED()[when]["stats://scheduler/scx"]
        expect(body["state"] == "disabled" and body["ops"] is None and body["events"] is None, f"{when}: {body}")


@case
def a_server_of_statistics_that_stalls_delays_nothing_else():
    stalled = REPORTED()["stalled"]
    expect(stalled["body"]["stats"]["error"] == "request_failed", f"{stalled['body']}")
    expect(stalled["other_s"] < 0.25, f"another request took {stalled['other_s']} s meanwhile")
    expect_between("whole time", stalled["whole_s"], 0.3, 2.0)
    expect_own_numbers(REPORTED()["again"])


main()
