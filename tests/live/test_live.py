#!/usr/bin/env python3
"""The harness itself: what time that is taken away changes about a verdict, and what it does not. Neither root nor BPF."""
import os
import subprocess
import sys
import time

import live
from live import Disturbed, Meanwhile, NotHere, Skip, case, expect, expect_between, expect_near, main, once, taken_of

STAT = """cpu  100 0 50 1000 3 4 5 60 0 0
cpu0 50 0 25 500 3 1 2 40 0 0
cpu1 50 0 25 500 0 3 3 20 0 0
intr 1
procs_running 1
"""


def outcome(function):
    """What it raises, or None."""
    try:
        function()
        return None
    except Exception as error:
        return error


def expect_outcome(kind, function):
    got = outcome(function)
    expect(type(got) is kind if kind else got is None, f"{type(got)}: {got}, expected {kind}")


def judged(function, can_run=True, stolen=(0,)):
    """A case's verdict, on a machine that can run it or not, without waiting for calm.

    stolen: the share that each measurement finds stolen, the last one for all others.
    """
    kept = live.CAN_RUN, live.wait_for_calm, live.Stolen.share
    shares = list(stolen)
    live.CAN_RUN, live.wait_for_calm = can_run, lambda: None
    live.Stolen.share = lambda _: shares.pop(0) if len(shares) > 1 else shares[0]
    try:
        failed, lines = live.verdict(1, function)
        return failed, "\n".join(lines)
    finally:
        live.CAN_RUN, live.wait_for_calm, live.Stolen.share = kept


@case
def a_right_value_passes_however_much_was_taken():
    for taken in (0, 10, 1e12):
        expect_outcome(None, lambda taken=taken: expect_between("it", 100, 95, 105, less=taken, more=taken))
        expect_outcome(None, lambda taken=taken: expect_near("it", 104, 100, relative=0.05, less=taken, more=taken))


@case
def a_wrong_value_fails_where_nothing_was_taken():
    for got in (94, 106, None):
        expect_outcome(AssertionError, lambda got=got: expect_between("it", got, 95, 105))
        expect_outcome(AssertionError, lambda got=got: expect_near("it", got, 100, relative=0.05))


@case
def a_limit_is_wider_by_exactly_what_was_taken():
    expect_outcome(None, lambda: expect_between("it", 85, 95, 105, less=10))
    expect_outcome(AssertionError, lambda: expect_between("it", 84.9, 95, 105, less=10))
    expect_outcome(None, lambda: expect_between("it", 115, 95, 105, more=10))
    expect_outcome(AssertionError, lambda: expect_between("it", 115.1, 95, 105, more=10))
    expect_outcome(None, lambda: expect_near("it", 85, 100, absolute=5, less=10))
    expect_outcome(AssertionError, lambda: expect_near("it", 84.9, 100, absolute=5, less=10))


@case
def it_is_wider_on_the_side_that_can_be_disturbed_only():
    expect_outcome(AssertionError, lambda: expect_between("it", 85, 95, 105, more=10))
    expect_outcome(AssertionError, lambda: expect_between("it", 115, 95, 105, less=10))


@case
def a_wrong_value_is_no_better_for_a_disturbance_that_is_too_small_for_it():
    expect_outcome(AssertionError, lambda: expect_between("it", 300, 95, 105, more=60))


@case
def too_much_says_nothing():
    expect_outcome(Disturbed, lambda: expect_between("it", 150, 95, 105, more=60))
    expect_outcome(Disturbed, lambda: expect_between("it", 50, 95, 105, less=60))
    got = outcome(lambda: expect_between("it", 150, 95, 105, more=60))
    expect("150" in str(got) and "60 were taken" in str(got), f"no figure: {got}")


@case
def a_disturbed_case_is_repeated_with_new_measurements():
    runs = []

    @once
    def measured():
        runs.append(1)
        return len(runs)

    def calm_the_second_time():
        expect_between("it", 100 if measured() > 1 else 150, 95, 105, more=60)

    failed, text = judged(calm_the_second_time)
    expect(not failed and text.startswith("ok 1 - calm") and "SKIP" not in text, text)
    expect(len(runs) == 2 and "once more" in text, f"{len(runs)} runs: {text}")


@case
def a_case_that_is_always_disturbed_is_skipped_with_the_figure_and_no_failure():
    failed, text = judged(lambda: expect_between("it", 150, 95, 105, more=60))
    expect(not failed and "# SKIP disturbed 3 times: it: 150" in text and "60 were taken" in text, text)


@case
def a_case_that_is_wrong_when_it_is_calm_fails():
    values = [150, 300]

    def wrong():
        expect_between("it", values.pop(0), 95, 105, more=60)

    failed, text = judged(wrong)
    expect(failed and text.startswith("not ok") and "300" in text, text)


def wrong_value():
    expect_near("it", 300, 100, relative=0.05)


@case
def a_failure_while_much_is_stolen_says_nothing():
    failed, text = judged(wrong_value, stolen=[0.3])
    expect(not failed and "# SKIP disturbed 3 times: AssertionError: it" in text and "30% of the CPU time" in text, text)


@case
def a_failure_while_little_is_stolen_is_one():
    failed, text = judged(wrong_value, stolen=[live.TOO_STOLEN])
    expect(failed and text.startswith("not ok"), text)


@case
def a_failure_in_a_calmer_moment_is_one():
    failed, text = judged(wrong_value, stolen=[0.3, 0.3, 0.01])
    expect(failed and text.startswith("not ok") and text.count("once more") == 2, text)


@case
def a_shared_measurement_was_disturbed_for_each_case_that_uses_it():
    session = once(lambda: 300)

    def uses_it():
        expect_near("it", session(), 100, relative=0.05)

    # Measured while much was stolen; the case itself is calm. Then measured again, in a calm moment.
    failed, text = judged(uses_it, stolen=[0.4, 0.0])
    expect(failed and text.count("once more") == 1 and "40% of the CPU time" in text, text)


@case
def a_success_needs_no_calm():
    failed, text = judged(lambda: expect_near("it", 100, 100), stolen=[0.9])
    expect(not failed and text.startswith("ok 1") and "SKIP" not in text, text)


@case
def what_is_stolen_is_a_share_of_all_cpus():
    kept = live.Stolen._stolen_s
    try:
        live.Stolen._stolen_s = staticmethod(lambda: 7)
        stolen = live.Stolen()
        stolen._start -= 10
        live.Stolen._stolen_s = staticmethod(lambda: 8)  # a second in ten, of all CPUs
        expect_near("share", stolen.share(), 0.1 / os.cpu_count(), relative=0.05)
    finally:
        live.Stolen._stolen_s = staticmethod(kept)


@case
def any_other_skip_is_a_failure_where_the_case_could_have_run():
    def raises(error):
        def it():
            raise error
        return it

    expect(judged(raises(Skip("no root")))[0], "a skip passes")
    expect(not judged(raises(Skip("no root")), can_run=False)[0], "a skip fails where nothing can be run")
    expect(not judged(raises(NotHere("no such kernel")))[0], "what a kernel lacks is a failure")


@case
def what_was_taken_is_stolen_or_spent_in_interrupts():
    tick = 1e9 / os.sysconf("SC_CLK_TCK")
    expect(taken_of(STAT) == 69 * tick, f"{taken_of(STAT)}")
    expect(taken_of(STAT, 0) == 43 * tick, f"{taken_of(STAT, 0)}")
    expect(taken_of(STAT, 1) == 26 * tick, f"{taken_of(STAT, 1)}")


@case
def a_process_that_shares_its_cpu_is_delayed_by_the_other():
    if not os.path.exists("/proc/self/schedstat"):
        raise NotHere("no /proc/PID/schedstat")
    cpu = min(os.sched_getaffinity(0))
    spin = [sys.executable, "-c", f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile True: pass"]
    with subprocess.Popen(spin) as one, subprocess.Popen(spin) as other:
        try:
            end = time.monotonic() + live.WAIT_S
            while min(live.delay_of(one.pid), live.delay_of(other.pid)) == 0:
                expect(time.monotonic() < end, "they do not meet")
                time.sleep(0.05)
            meanwhile, start, before = Meanwhile(one.pid), time.monotonic_ns(), live.delay_of(one.pid)
            time.sleep(1)
            delay, seconds_ns = live.delay_of(one.pid) - before, time.monotonic_ns() - start
            # Two share a CPU: each waits half of the time at least, and for no longer than all of it.
            expect_between("delay", delay, 0.3 * seconds_ns, 1.1 * seconds_ns)
            expect(meanwhile.delayed_ns() >= delay, f"{meanwhile.delayed_ns()} is less than {delay}")
        finally:
            one.kill()
            other.kill()


if __name__ == "__main__":
    main()
