"""Scheduling states by the rules of Perfetto's trace_processor, from records; shares no code with src/model.

So that its numbers, which others computed, can be had from what our reader delivers, and each row of ours that
differs can be held against the row of theirs.
"""
import collections
import struct

LETTERS = [(1, "S"), (2, "D"), (4, "T"), (8, "t"), (0x10, "X"), (0x20, "Z"), (0x40, "P"), (0x80, "I")]

Row = collections.namedtuple("Row", "tid state start end cpu waker irq after next")


def letter(bits):
    if bits & 0x100:
        return "R+"
    return "".join(text for bit, text in LETTERS if bits & bit) or "R"


def parse(lines):
    """(kind, cpu, flags, ts, 32-bit words of the payload) of each line of read_dump."""
    for line in lines:
        kind, cpu, flags, ts, payload = line.split(" ")
        if kind not in ("SWITCH", "WAKING", "FORK", "FREE"):
            continue
        raw = bytes.fromhex(payload)
        yield kind, int(cpu), int(flags), int(ts), struct.unpack_from(f"<{len(raw) // 4}I", raw)


class States:
    """What each thread did. rows: closed ones and open ones (end None); slices by CPU as (start, end, tid, state)."""

    def __init__(self, records, is_compact=True, is_verbose=False):
        self.is_compact = is_compact  # wakings too, not only switches
        self.is_verbose = is_verbose  # switches name the task that left
        self.rows, self.slices, self.spurious, self.skipped_wakings = [], collections.defaultdict(list), 0, []
        self.open = {}  # by tid: [state, start, cpu, waker, irq, state of the row before]
        self.on_cpu, self.seen = {}, set()
        for kind, cpu, flags, ts, words in records:
            getattr(self, kind.lower())(cpu, flags, ts, words)
        for tid in list(self.open):
            self.end(tid, None, None)
        for cpu, (start, tid) in self.on_cpu.items():
            if start is not None:
                self.slices[cpu].append((start, None, tid, None))

    def end(self, tid, ts, following):
        """The state of the row that ends, None if there was none."""
        row = self.open.pop(tid, None)
        if not row:
            return None
        state, start, cpu, waker, irq, after = row
        self.rows.append(Row(tid, state, start, ts, cpu, waker, irq, after, following))
        return state

    def begin(self, tid, ts, state, cpu=None, waker=None, irq=None):
        after = self.end(tid, ts, state)
        self.open[tid] = [state, ts, cpu, waker, irq, after]

    def switch(self, cpu, _flags, ts, words):
        before, after, bits = words[:3]
        if cpu not in self.seen:
            self.seen.add(cpu)
            self.on_cpu[cpu] = (None, before if self.is_verbose else after)
            if not self.is_verbose:  # the task that left is unknown, and this makes no slice
                return
        start, before = self.on_cpu[cpu]
        if start is not None:
            self.slices[cpu].append((start, ts, before, letter(bits) if before else "R"))
        if before:
            if before in self.open and self.open[before][0] != "Running":
                self.end(before, None, "lost")
            self.begin(before, ts, letter(bits))
        if after:
            self.begin(after, ts, "Running", cpu)
        self.on_cpu[cpu] = (ts, after)

    def waking(self, cpu, flags, ts, words):
        tid, waker = words[0], words[1]
        if self.is_compact and cpu not in self.seen:
            self.skipped_wakings.append((ts, tid))
            return
        if tid in self.open and self.open[tid][0] in ("R", "Running"):
            self.spurious += 1
            return
        self.begin(tid, ts, "R", waker=waker, irq=flags & 3)

    def fork(self, _cpu, _flags, ts, words):
        self.end(words[2], None, None)
        self.begin(words[2], ts, "R", waker=words[0], irq="new")

    def free(self, _cpu, _flags, _ts, words):
        self.end(words[0], None, None)
