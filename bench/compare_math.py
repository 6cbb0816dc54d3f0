"""The arithmetic of bench/compare: ratios of two builds that took turns, how sure they are, and what they say together."""
import math
import statistics

CONFIDENCE = 0.95
SAME = {"wall time": 0.02, "instructions": 0.005, "BPF time": 0.02}  # ratios this near to 1 are no difference
WORDS = ("faster", "same", "slower")


def interval(ratios):
    """The median, and the order statistics that enclose the true one with a probability of CONFIDENCE; None, None where there are too few."""
    values = sorted(ratios)
    n = len(values)
    below = 0.0  # the probability that the true median lies below the value at hand, or above its counterpart
    at = -1
    for k in range((n + 1) // 2):
        below += math.comb(n, k) / 2 ** n
        if 2 * below > 1 - CONFIDENCE:
            break
        at = k
    middle = statistics.median(values)
    return (middle, values[at], values[n - 1 - at]) if at >= 0 else (middle, None, None)


def judge(measure, low, high):
    """One of WORDS, or None where the interval allows more than one of them."""
    margin = SAME[measure]
    if low is None:
        return None
    if high < 1 - margin:
        return "faster"
    if low > 1 + margin:
        return "slower"
    return "same" if low >= 1 - margin and high <= 1 + margin else None


def turns(old, new, rounds):
    """[(old, new)] of two functions that measure, by turns: each begins every other round."""
    pairs = []
    for number in range(rounds):
        if number % 2:
            second = new()
            pairs.append((old(), second))
        else:
            first = old()
            pairs.append((first, new()))
    return pairs


def measured(measure, pairs):
    """{measure, ratio, low, high, says} of pairs of (old, new); of a single one the ratio is taken as exact."""
    ratios = [new / old for old, new in pairs]
    middle, low, high = interval(ratios) if len(ratios) > 1 else (ratios[0], ratios[0], ratios[0])
    return {"measure": measure, "ratio": middle, "low": low, "high": high, "says": judge(measure, low, high)}


def verdict(rows):
    """What the measures say together: undecided ones leave it to the others."""
    said = {row["says"] for row in rows} - {None}
    if not said:
        return "no verdict"
    if {"faster", "slower"} <= said:
        return "mixed"
    return next(word for word in ("slower", "faster", "same") if word in said)


def line(row):
    """As text."""
    span = f"{row['low']:.3f} to {row['high']:.3f}" if row["low"] is not None else "too few rounds"
    return f"  {row['measure']:13} {row['ratio']:.3f} ({span}): {row['says'] or 'undecided'}"
