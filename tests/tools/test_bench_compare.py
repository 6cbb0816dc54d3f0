#!/usr/bin/env python3
"""The arithmetic of bench/compare: intervals against counting by hand, turns, judgements and verdicts."""
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
sys.path.insert(0, str(HERE.parent.parent / "bench"))
import compare_math
from live import case, expect, main


@case
def interval_of_order_statistics():
    """Tables of the sign test: none below 6 values, the ends of 6, the 4th from each end of 15."""
    expect(compare_math.interval([1, 2, 3, 4, 5]) == (3, None, None), "five are too few")
    expect(compare_math.interval([6, 1, 5, 2, 4, 3]) == (3.5, 1, 6), "the ends of six")
    expect(compare_math.interval(list(range(1, 16))) == (8, 4, 12), "the 4th of 15")


@case
def interval_holds_the_median():
    """Of random values it holds the true median about as often as it says."""
    rng = random.Random(7)
    held = 0
    for _ in range(1000):
        _, low, high = compare_math.interval([rng.expovariate(1) for _ in range(15)])
        held += low <= 0.6931 <= high
    expect(held >= 950, f"held {held} times of 1000, at least 950 expected")


@case
def judgements():
    """Only an interval that lies on one side says something."""
    for low, high, says in ((0.8, 0.9, "faster"), (1.1, 1.2, "slower"), (0.99, 1.01, "same"), (0.9, 1.1, None), (0.9, 0.99, None),
                            (None, None, None)):
        expect(compare_math.judge("wall time", low, high) == says, f"{low} to {high} is {says}")
    expect(compare_math.measured("instructions", [(1000, 1010)])["says"] == "slower", "one percent of instructions is a difference")
    expect(compare_math.measured("instructions", [(1000, 1001)])["says"] == "same", "a thousandth is not")


@case
def builds_take_turns():
    """Each begins every other round, and pairs are (old, new) all the same."""
    order = []

    def take(name, value):
        order.append(name)
        return value

    pairs = compare_math.turns(lambda: take("old", 1), lambda: take("new", 2), 3)
    expect(pairs == [(1, 2)] * 3, f"pairs are {pairs}")
    expect(order == ["old", "new", "new", "old", "old", "new"], f"the order is {order}")


@case
def verdicts():
    """Undecided measures leave it to the others; without any that is decided there is none."""
    for says, expected in (([None, None], "no verdict"), ([], "no verdict"), ([None, "same"], "same"), (["same", "faster"], "faster"),
                           ([None, "slower"], "slower"), (["faster", "slower", None], "mixed")):
        got = compare_math.verdict([{"says": one} for one in says])
        expect(got == expected, f"{says} is {expected}, not {got}")


main()
