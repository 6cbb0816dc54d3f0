#!/usr/bin/env python3
"""dialects.py SCENARIO DIALECT FILE: writes a trace as that producer would, prints the right answers as JSON."""
import json
import sys

import scenarios
from encode import Dialect, own, scxtop, systing, traced
from encode_wprof import wprof

BLOCKED = {state: "SDTtXZPI" for state in "SDTtXZPI"}
OLD_STATES = {**BLOCKED, "R": ("R", "R+"), "R+": ("R", "R+")}
RAW_STATES = {**{state: (state,) for state in "SDTtXZPI"}, "R": ("R", "R+"), "R+": ("R", "R+")}


def _wprof(**more):
    return dict(base=0, has_target=False, has_prio=False, has_dsq=True, **more)


DIALECTS = {
    "own": Dialect(own),
    "traced_verbose": Dialect(lambda s: traced(s, False)),
    "traced_compact": Dialect(lambda s: traced(s, True), has_first_prev=False, waker_needs_switch=True),
    "wprof": Dialect(wprof, needs_wakee=True, **_wprof()),
    "wprof_tidpid": Dialect(lambda s: wprof(s, opts=("scx", "tidpid", "inline")), **_wprof()),
    "wprof_both": Dialect(lambda s: wprof(s, has_ftrace=True), **_wprof()),
    "wprof_old": Dialect(lambda s: wprof(s, is_old=True), **_wprof(has_all_wakes=False, states=OLD_STATES)),
    "wprof_v01": Dialect(lambda s: wprof(s, is_old=True, opts=("scx", "v01")),
                         **_wprof(has_all_wakes=False, states=OLD_STATES)),
    "wprof_old_both": Dialect(lambda s: wprof(s, is_old=True, has_ftrace=True),
                              **_wprof(has_all_wakes=False, states=RAW_STATES)),
    "systing": Dialect(systing, has_first_prev=False, has_waker=False, has_life=False),
    "scxtop": Dialect(scxtop, has_target=False, waker_needs_switch=True, has_life=False, has_irq=False, new_is_wakeup=True, states=RAW_STATES),
}


def main():
    scenario = scenarios.ALL[sys.argv[1]]()
    with open(sys.argv[3], "wb") as file:
        file.write(DIALECTS[sys.argv[2]].encode(scenario))
    print(json.dumps({"switches": scenario.switches(), "wakes": scenario.wakes(), "slices": scenario.slices(),
                      "dsq": scenario.dsq_spans()}))


if __name__ == "__main__":
    main()
