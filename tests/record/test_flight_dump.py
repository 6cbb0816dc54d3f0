#!/usr/bin/env python3
"""What is in a dump of the flight recorder, read by a decoder of its own. The events are those of flight_demo.c."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

from decode import Trace, check_chains, check_names

DEMO = os.environ["FLIGHT_DEMO"]
MS = 1_000_000
SECOND = 1000 * MS
FIRED = 15 * SECOND - 10 * MS  # woken 30 ms before the second, ran 20 ms later
CASES = []


def case(function):
    CASES.append(function)
    return function


def dump(*args):
    """(the trace, what the program printed)"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace"
        out = subprocess.run([DEMO, path, *args], check=True, capture_output=True, timeout=60).stdout
        trace = Trace(path.read_bytes())
    check_names(trace)
    return trace, json.loads(out) if out else None


def times(trace, cpu):
    return [event["ts"] for event in trace.events[cpu]]


@case
def it_holds_the_time_before_and_after_and_no_more():
    trace, reported = dump()
    assert reported == {"value": 20 * MS, "before_ns": 2 * SECOND, "after_ns": SECOND, "code": 0, "dumps": 1, "fired": 1}
    # Of CPU 0, what ran when the window begins: the switch before it.
    before = [ts for ts in times(trace, 0) if ts < FIRED - 2 * SECOND]
    assert len(before) == 1 and FIRED - 2 * SECOND - before[0] < 10 * MS, before
    inside = [ts for ts in times(trace, 0) if ts >= FIRED - 2 * SECOND]
    assert inside[0] - (FIRED - 2 * SECOND) < 10 * MS, inside[0]
    assert FIRED + SECOND - 10 * MS < inside[-1] <= FIRED + SECOND, inside[-1]


@case
def nothing_between_is_missing():
    trace, _ = dump()
    assert check_chains(trace, True) == 0
    runs = [event["ts"] for event in trace.events[0] if event.get("next") == 100]
    starts = [ts + 200_000 for ts in range(10 * MS, 20 * SECOND, 10 * MS)
              if not 15 * SECOND - 30 * MS <= ts <= 15 * SECOND]
    wanted = sorted(ts for ts in [*starts, FIRED] if FIRED - 2 * SECOND <= ts <= FIRED + SECOND)
    assert runs == wanted, (len(runs), len(wanted))


@case
def what_ran_all_the_time_is_known():
    trace, _ = dump()
    switch, = (event for event in trace.events[1] if event["name"] == "sched_switch")
    assert switch["ts"] == 12 * SECOND + 500 * MS and switch["arg_next_pid"] == 200


@case
def names_are_those_of_their_time():
    trace, _ = dump()
    assert trace.threads[100]["name"] == "server" and trace.threads[200]["name"] == "hog"
    assert trace.threads[101]["tgid"] == 100
    assert [name for _, name in trace.renames[101]] == ["second", "third"], trace.renames[101]
    assert [name for _, name in trace.renames[300]] == ["another"], trace.renames[300]
    assert trace.comms[101] == {"second"}, trace.comms[101]  # it did not run under the third


@case
def it_reports_what_fired():
    trace, _ = dump()
    assert trace.attributes["trigger"] == "wakeup-latency>10ms"
    assert trace.attributes["trigger_time_ns"] == FIRED and trace.attributes["trigger_value"] == 20 * MS
    assert trace.attributes["trigger_tid"] == 100 and trace.attributes["trigger_comm"] == "server"
    assert trace.attributes["keep_ns"] == 2 * SECOND and trace.attributes["after_ns"] == SECOND
    mark, = trace.track_events
    assert (mark["ts"], mark["name"], mark["type"], mark["category"]) == (
        FIRED, "wakeup-latency>10ms", "instant", "mark")
    assert mark["track"]["name"] == "marks" and mark["args"] == {"value": 20 * MS, "tid": 100, "cpu": 0}


@case
def it_reports_what_the_run_lost():
    trace, _ = dump()
    assert trace.attributes["loss.searches_aborted"] == 3 and "loss.trigger_calls" not in trace.attributes


@case
def one_that_was_cut_short_by_a_kill_loads():
    trace, reported = dump("killed")
    assert reported is None and not trace.is_truncated and "records" not in trace.attributes
    assert trace.attributes["trigger"] == "wakeup-latency>10ms"
    assert times(trace, 0)[-1] >= FIRED, "not even what fired is there"
    check_chains(trace, True)


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, function in enumerate(CASES, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {number} - {name}")
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
