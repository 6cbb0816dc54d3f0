"""Runs libbpf-tools' `runqlat` and reads its histogram of powers of two."""
import re
import signal
import subprocess
import time

LINE = re.compile(r"\s*(\d+) -> (\d+)\s*: (\d+)\s*\|")


class Runqlat:
    """A running runqlat of the whole machine."""

    def __init__(self):
        self._process = subprocess.Popen(["runqlat", "-T"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         text=True)
        # It says so once its programs are attached, but into a buffer when it writes to a pipe.
        time.sleep(1)

    def finish(self):
        """{(first_us, last_us): count}"""
        self._process.send_signal(signal.SIGINT)
        out = self._process.communicate(timeout=20)[0]
        slots = {(int(a), int(b)): int(n) for a, b, n in LINE.findall(out)}
        if not slots:
            raise RuntimeError("runqlat: " + out.strip())
        return slots


def slot_of(slots, share):
    """The slot that holds the percentile, by nearest rank."""
    left = max(1, -(-sum(slots.values()) * share // 1))
    for slot in sorted(slots):
        left -= slots[slot]
        if left <= 0:
            return slot
    raise ValueError("an empty histogram")
