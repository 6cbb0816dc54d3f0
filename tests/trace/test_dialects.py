#!/usr/bin/env python3
"""One story in the dialect of each producer must come back as the same records. Prints TAP."""
import collections
import functools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import traceback

import scenarios
from dialects import DIALECTS
from encode import BOOT, MONO, clean
from encode_wprof import Wprof, wprof
from scenarios import STATE_BITS
from wire import fixed, gzip_members, msg, num, packed, packet, real, text, varint, zlib_packet, zstd_packet

RECORDS = os.environ["READ_RECORDS"]
LETTERS = {bits: letter for letter, bits in STATE_BITS.items()}
NO_CPU = 0xffffffff
CASES = []


def case(function):
    CASES.append((function.__name__, function))
    return function


class Read:
    """What the reader made of some bytes."""

    def __init__(self, rows):
        last = rows.pop()
        self.rows = rows
        self.error = last["text"] if last["kind"] == "ERROR" else None
        self.info = last if last["kind"] == "INFO" else None

    def of(self, *kinds):
        return [row for row in self.rows if row["kind"] in kinds]

    def damage(self):
        return {key: value for key, value in self.info["damage"].items() if value}

    def switches(self, base=0):
        return [(r["ts"] - base, r["cpu"], r["prev"], r["next"], LETTERS[r["state"]]) for r in self.of("SWITCH")]

    def wakes(self, base=0):
        return [(r["ts"] - base, r["cpu"], r["tid"], r["waker"], "new" if r["kind"] == "WAKEUP_NEW" else "waking")
                for r in self.of("WAKING", "WAKEUP_NEW")]


def read_all(datas, workers=0):
    """A Read of each; all by one process."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / str(i) for i in range(len(datas))]
        for path, data in zip(paths, datas):
            path.write_bytes(data)
        out = subprocess.run([RECORDS, str(workers), *paths], capture_output=True, timeout=200, check=False)
    assert out.returncode == 0, out.stderr.decode(errors="replace")
    reads, rows = [], []
    for line in out.stdout.decode().splitlines():
        rows.append(json.loads(line))
        if rows[-1]["kind"] in ("INFO", "ERROR"):
            reads.append(Read(rows))
            rows = []
    assert len(reads) == len(datas) and not rows
    return reads


def all_ok(datas, workers=0):
    reads = read_all(datas, workers)
    assert not [read.error for read in reads if read.error]
    return reads


def ok(data, workers=0):
    return all_ok([data], workers)[0]


def name_bytes(name):
    return (name.encode() if isinstance(name, str) else name)[:15]


def same_state(dialect, reported, real_state):
    if dialect.states is None:
        return reported == real_state
    return reported in dialect.states.get(real_state, (real_state,))


def check_switches(scenario, dialect, read):
    got, want = read.switches(dialect.base), scenario.switches()
    assert [g[:2] + g[3:4] for g in got] == [w[:2] + w[3:4] for w in want], (got[:9], want[:9])
    seen = set()
    for g, w in zip(got, want):
        is_first = w[1] not in seen
        seen.add(w[1])
        if is_first and not dialect.has_first_prev:
            continue
        assert g[2] == w[2] and same_state(dialect, g[4], w[4]), (g, w)


def check_wakes(scenario, dialect, read):
    events = [e for e in scenario.events if e["kind"] == "wake"]
    if not dialect.has_all_wakes:
        events = [e for e in events if e["is_consumed"]]
    if dialect.needs_wakee:
        seen = {e["tid"] for e in scenario.events} | {e["to"] for e in scenario.events if e["kind"] == "switch"}
        nameless = [e for e in events if e["wakee"] not in seen]
        assert read.damage().get("flow_step_without_start", 0) == len(nameless)
        events = [e for e in events if e["wakee"] in seen]
    if dialect.new_is_wakeup:
        events = [e for e in events if not e["new"]]
    want = [(e["ts"], e["cpu"], e["wakee"], e["tid"], "new" if e["new"] else "waking") for e in events]
    got = read.wakes(dialect.base)
    if not dialect.has_waker:
        assert [(g[0], g[2], g[4]) for g in got] == [(w[0], w[2], w[4]) for w in want]
        return
    first = {}
    for ts, cpu, *_ in scenario.switches():
        first.setdefault(cpu, ts)
    assert len(got) == len(want), (len(got), len(want))
    for g, w in zip(got, want):
        is_inferred = dialect.waker_needs_switch and w[0] < first.get(w[1], 1 << 62)
        assert g[:3] + g[4:] == w[:3] + w[4:] and (is_inferred or g[3] == w[3]), (g, w)


def check_targets(scenario, dialect, read):
    if not dialect.has_target:
        return
    want = [e["target"] for e in scenario.events if e["kind"] == "wake"]
    assert [r["target"] for r in read.of("WAKING", "WAKEUP_NEW")] == want


def check_irqs(scenario, dialect, read):
    softirqs = [e for e in scenario.events if e["kind"] == "softirq"]
    for kind, key in (("SOFTIRQ_ENTRY", "ts"), ("SOFTIRQ_EXIT", "end")):
        got = [(r["ts"] - dialect.base, r["cpu"], r["vector"]) for r in read.of(kind)]
        assert sorted(got) == sorted((e[key], e["cpu"], e["vector"]) for e in softirqs)
    irqs = [e for e in scenario.events if e["kind"] == "irq" and dialect.has_irq]
    entries = [(r["ts"] - dialect.base, r["cpu"], r["irq"], r["name"]) for r in read.of("IRQ_ENTRY")]
    exits = [(r["ts"] - dialect.base, r["cpu"], r["irq"]) for r in read.of("IRQ_EXIT")]
    assert sorted(entries) == sorted((e["ts"], e["cpu"], e["irq"], e["name"]) for e in irqs)
    assert sorted(exits) == sorted((e["end"], e["cpu"], e["irq"]) for e in irqs)


def check_life(scenario, dialect, read):
    if not dialect.has_life:
        return
    by_kind = collections.defaultdict(list)
    for e in scenario.events:
        by_kind[e["kind"]].append(e)
    assert [(r["ts"] - dialect.base, r["parent"], r["tid"]) for r in read.of("FORK")] == [
        (e["ts"], e["tid"], e["child"]) for e in by_kind["fork"]]
    assert [(r["tid"], r["comm"]) for r in read.of("EXEC")] == [
        (e["tid"], e["filename"].rsplit("/", 1)[-1][:15]) for e in by_kind["exec"]]
    assert [r["tid"] for r in read.of("EXIT")] == [e["tid"] for e in by_kind["exit"]]
    assert [r["tid"] for r in read.of("FREE")] == [e["freed"] for e in by_kind["free"]]
    assert [(r["tid"], r["comm"]) for r in read.of("RENAME")] == [(e["tid"], e["new"]) for e in by_kind["rename"]]


def check_names(scenario, read):
    """Every task is introduced, by the right name, before its first event."""
    names, keys = {}, ("tid", "prev", "next", "waker")
    for row in read.rows:
        if row["kind"] == "TASK_INFO":
            names[row["tid"]] = row["comm"].encode("latin-1")
        elif row["kind"] == "FORK":
            names[row["tid"]] = row["comm"].encode("latin-1")
        else:
            missing = {row[key] for key in keys if row.get(key)} - set(names)
            assert not missing, (missing, row)
    for tid, name in names.items():
        task = scenario.tasks[tid]
        variants = [task.comm, *(new for _, new in getattr(task, "comm_at", []))]
        assert name in [name_bytes(v) for v in variants] + [name_bytes(clean(v)) for v in variants], (tid, name)


def check_dsq(scenario, dialect, read):
    if not dialect.has_dsq:
        return
    got = [(r["start"], r["ts"], r["tid"], r["dsq"], r["layer"]) for r in read.of("DSQ_LEAVE")]
    assert sorted(got) == sorted(scenario.dsq_spans())
    assert not any(r["is_moved"] for r in read.of("DSQ_LEAVE"))
    runs = {(r["ts"], r["tid"]): r for r in read.of("SCX_RUN")}
    for start, end, tid, dsq, layer in scenario.dsq_spans():
        run = runs[end, tid]
        assert (run["dsq"], run["layer"], run["flags"] & 4) == (dsq, layer, 0), run


@functools.cache
def stories():
    """Every scenario in every dialect, read."""
    pairs = [(scenario, dialect) for scenario in scenarios.ALL for dialect in DIALECTS]
    return dict(zip(pairs, all_ok([DIALECTS[d].encode(scenarios.ALL[s]()) for s, d in pairs])))


def check_story(scenario_name, dialect_name):
    scenario, dialect = scenarios.ALL[scenario_name](), DIALECTS[dialect_name]
    dialect.encode(scenario)
    read = stories()[scenario_name, dialect_name]
    check_switches(scenario, dialect, read)
    check_wakes(scenario, dialect, read)
    check_targets(scenario, dialect, read)
    check_irqs(scenario, dialect, read)
    check_life(scenario, dialect, read)
    check_names(scenario, read)
    check_dsq(scenario, dialect, read)
    producer = dialect_name.split("_", maxsplit=1)[0]
    known = {"own": "schedscope", "traced": "perfetto"}.get(producer, producer)
    assert read.info["producer"] == known or not scenario.events, read.info["producer"]


for _scenario in scenarios.ALL:
    for _dialect in DIALECTS:
        CASES.append((f"{_scenario}_as_{_dialect}", lambda s=_scenario, d=_dialect: check_story(s, d)))


@case
def random_stories_agree_in_all_dialects():
    pairs = [(seed, name) for seed in range(2, 12) for name in DIALECTS]
    reads = all_ok([DIALECTS[name].encode(scenarios.storm(seed, 150)) for seed, name in pairs])
    for (seed, name), read in zip(pairs, reads):
        scenario = scenarios.storm(seed, 150)
        try:
            check_switches(scenario, DIALECTS[name], read)
            check_wakes(scenario, DIALECTS[name], read)
        except AssertionError as err:
            raise AssertionError(name, seed) from err


@case
def counters_of_a_slice_in_both_spellings():
    scenario = scenarios.queued()
    want = [(e["ts"], e["prev"], [e["pmu"]["cycles"], e["pmu"]["instructions"]])
            for e in scenario.events if e["kind"] == "switch" and e["pmu"]]
    for name, names in (("wprof", [0, "cycles", "instructions"]), ("wprof_old", [0, "cpu_cycles", "cpu_insns"])):
        read = ok(DIALECTS[name].encode(scenarios.queued()))
        assert [(r["ts"], r["tid"], r["values"]) for r in read.of("PMU")] == want
        assert read.info["pmu"] == names


@case
def queues_of_scxtop_have_lengths_and_waits():
    scenario = scenarios.queued()
    read = ok(DIALECTS["scxtop"].encode(scenarios.queued()))
    spans = scenario.dsq_spans()
    ends = sorted((BOOT + end // 1000 * 1000, dsq) for _, end, _, dsq, _ in spans)
    assert sorted((r["ts"], r["dsq"]) for r in read.of("DSQ_LEAVE")) == ends
    assert all(r["tid"] == 0 and (r["ts"] - r["start"]) % 1000 == 0 for r in read.of("DSQ_LEAVE"))
    assert sorted((r["ts"], r["dsq"]) for r in read.of("DSQ_DEPTH")) == ends
    assert {r["depth"] for r in read.of("DSQ_DEPTH")} == {3}
    assert read.info["has_topology"] == 1


@case
def a_wait_in_a_queue_of_scxtop_is_in_microseconds():
    data = (packet(msg(60, num(1, 5), text(10, "DSQ 9223372036854775810 latency ns"), msg(8, num(3, 2))))
            + packet(num(8, 9_000_000), num(10, 4), msg(11, num(9, 4), num(11, 5), num(30, 250))))
    leave, = ok(data).of("DSQ_LEAVE")
    assert leave["ts"] - leave["start"] == 250_000 and leave["dsq"] == 0x8000000000000002


# What files can be like.

def split(data):
    """The packets of a plain file."""
    out, at = [], 0
    while at < len(data):
        start, at, size, shift = at, at + 1, 0, 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        at += size
        out.append(data[start:at])
    return out


@case
def packed_in_every_way():
    for name in ("wprof", "traced_compact", "own", "scxtop"):
        data = DIALECTS[name].encode(scenarios.three())
        want = ok(data).rows
        half = len(split(data)) // 2
        parts = split(data)
        packings = [zlib_packet(data), zstd_packet(data), zstd_packet(data, stored=True), gzip_members(data, 3),
                    zlib_packet(b"".join(parts[:half])) + zstd_packet(b"".join(parts[half:])),
                    gzip_members(zlib_packet(data), 2)]
        assert all(read.rows == want for read in all_ok(packings)), name


@case
def the_number_of_workers_changes_nothing():
    datas = [DIALECTS[name].encode(scenarios.storm()) for name in ("wprof", "wprof_both", "traced_verbose")]
    runs = [[read.rows for read in all_ok(datas, workers)] for workers in (1, 2, 5)]
    assert runs[0] == runs[1] == runs[2]


@case
def events_in_any_order():
    data = wprof(scenarios.three())
    parts = split(data)
    want = ok(data)
    head, rest = parts[:6], parts[6:]
    mixes = [random.Random(seed).sample(rest, len(rest)) for seed in range(5)]
    for read in all_ok([b"".join(head + mixed) for mixed in mixes]):
        assert sorted(read.switches()) == sorted(want.switches())
        assert sorted(read.wakes()) == sorted(want.wakes())


@case
def two_traces_in_one_file():
    data = DIALECTS["traced_verbose"].encode(scenarios.three())
    other = data.replace(b"alpha", b"omega")
    read = ok(data + other)
    assert len(read.switches()) == 2 * len(scenarios.three().switches())


@case
def a_file_that_ends_anywhere():
    for name in ("wprof", "traced_compact", "scxtop", "systing"):
        data = DIALECTS[name].encode(scenarios.three())
        whole = set(ok(data).switches())
        for read in read_all([data[:size] for size in range(1, len(data), 37)]):
            assert read.error is None or "\n" not in read.error
            if read.error is None and name != "wprof":
                # The last one may have lost what explains it.
                assert len(set(read.switches()) - whole) <= 2 * len(scenarios.three().cpus), name


@case
def damage_is_never_fatal():
    rng, copies = random.Random(7), []
    for name in DIALECTS:
        for _ in range(12):
            copies.append(bytearray(DIALECTS[name].encode(scenarios.three())))
            for _ in range(rng.randrange(1, 9)):
                copies[-1][rng.randrange(len(copies[-1]))] = rng.randrange(256)
    assert all(read.error is None or "\n" not in read.error for read in read_all(copies))


@case
def a_promise_of_two_gigabytes_in_16_bytes():
    for head in (b"\x0a", packet(num(8, 1)) + b"\x0a"):
        read, = read_all([(head + varint(2 << 30) + b"\x50\x07" * 8)[:16]])
        assert read.error or read.damage()["truncated_bytes"], read.info


@case
def tracks_in_a_circle_and_events_without_a_task():
    data = (packet(msg(60, num(1, 5), num(5, 6))) + packet(msg(60, num(1, 6), num(5, 5)))
            + packet(num(8, 10), num(10, 3), msg(11, num(9, 3), num(11, 5), text(22, "WAKER"), text(23, "WAKER")))
            + packet(num(8, 11), num(10, 3), msg(11, num(9, 2), num(11, 77), text(22, "HARDIRQ")))
            + packet(num(8, 12), msg(11, num(9, 4), num(11, 77)))
            + packet(msg(60, text(2, "no uuid"))))
    read = ok(data)
    damage = read.damage()
    assert damage["misplaced_end_event"] == 1 and damage["track_event_missing_sequence_id"] == 1
    assert damage["track_event_counter_missing_value"] == 1 and damage["track_descriptor_missing_uuid"] == 1
    assert read.info["categories"]["WAKER"] == 1 and read.info["categories"]["HARDIRQ"] == 1


# wprof

@case
def without_idle_the_gaps_are_idle():
    scenario = scenarios.three()
    read = ok(wprof(scenarios.three(), opts=("no-idle",)))
    assert read.switches() == scenario.switches()
    assert not read.of("LOST")


@case
def what_a_filter_took_out_is_unknown():
    """Without beta, what happens on its CPU while it runs is unknown."""
    class Filtered(Wprof):
        def is_hidden(self, tid):
            return tid == 102

    w = Filtered(scenarios.three(), False, True, ())
    w.head()
    w.body()
    w.tail()
    read = ok(b"".join(w.out))
    want = scenarios.three().switches()
    near = [(ts, cpu, 0 if prev == 102 else prev, 0 if to == 102 else to) for ts, cpu, prev, to, _ in want
            if not (prev in (0, 102) and to in (0, 102)) or prev == 0 and to == 102 or prev == 102 and to == 0]
    assert [s[:4] for s in read.switches()] == near, read.switches()
    # Nothing was lost: beta comes on and is not there.
    unseen = {(row["ts"], row["cpu"]) for row in read.of("SWITCH") if row["ctx"] & 8}
    assert (1_400, 1) in unseen and not read.of("LOST"), unseen


@case
def the_waker_may_be_missing():
    """Only the wakee's records say it: by its instant and by what its slice says."""
    class Quiet(Wprof):
        def waker(self, e):
            pass

    w = Quiet(scenarios.three(), False, False, ())
    w.head()
    w.body()
    read = ok(b"".join(w.out))
    want = [(e["ts"], e["cpu"], e["wakee"], e["tid"], "new" if e["new"] else "waking")
            for e in scenarios.three().events if e["kind"] == "wake" and e["is_consumed"]]
    # There are two gammas when the second one is woken: which one did it is unknown.
    assert want[-1] == (3_710, 0, 3000, 203, "new") and read.of("WAKING", "WAKEUP_NEW")[-1]["ctx"] == 16
    assert read.wakes()[:-1] == want[:-1], (read.wakes(), want)


@case
def a_made_up_begin_in_the_middle_is_no_switch():
    w = Wprof(scenarios.three(), False, False, ())
    w.head()
    w.body()
    # As after a lost record: 203 would have run on CPU 1 since the start.
    w.event(0, 1, w.track(1, 203, 0), "ONCPU", "gamma", [("cpu", 1)])
    read = ok(b"".join(w.out))
    assert read.switches() == scenarios.three().switches()


@case
def stacks_are_reported_at_the_end():
    w = Wprof(scenarios.three(), False, False, ())
    w.head()
    track = w.track(0, 101, 0)
    w.packet(100, msg(11, num(9, 3), num(11, track), num(3, 11), num(10, w.iid("TIMER")), w.arg("cpu", 0), num(56, 9)))
    w.packet(200, msg(11, num(9, 2), num(11, track), num(3, 1), w.arg("cpu", 0), num(56, 9)))
    w.packet(300, msg(11, num(9, 3), num(11, track), num(3, 3), w.arg("cpu", 0), num(56, 10)))
    w.packet(0, msg(12, msg(5, num(1, 1), text(2, "[U] main")), msg(5, num(1, 2), text(2, "[K] schedule")),
                    msg(6, num(1, 1), num(2, 1), num(3, 1)), msg(6, num(1, 2), num(2, 2), num(3, 1)),
                    msg(19, num(1, 1)), msg(7, num(1, 9), num(2, 1), num(2, 2))))
    info = ok(b"".join(w.out)).info
    assert (info["samples"]["cpu"], info["samples"]["offcpu"], info["samples"]["waker"]) == (1, 1, 1)
    assert info["samples"]["frames"] == 4 and info["samples"]["stacks"] == 1
    assert (info["first_leaf"], info["first_root"]) == ("[K] schedule", "[U] main")
    assert info["damage"]["callstack_unknown"] == 1


@case
def requests_are_spans():
    def event(ts, kind, category, name=None, args=b""):
        return packet(num(8, ts), num(10, 7), msg(11, num(9, kind), num(11, 50), text(22, category),
                                                  text(23, name) if name else b"", args))

    req = msg(4, text(10, "req_id"), num(4, 31))
    data = (packet(num(13, 1), num(10, 7), msg(60, num(1, 50), text(2, "REQ:get (31)")))
            + event(100, 1, "REQUEST", "get", req) + event(150, 1, "REQUEST_ONCPU", "RUNNING", req)
            + event(250, 2, "REQUEST_ONCPU") + event(400, 2, "REQUEST", None, req))
    read = ok(data)
    texts = {row["id"]: row["text"] for row in read.of("STRING")}
    spans = [(r["start"], r["ts"], r["id"], texts[r["category"]], texts[r["name"]]) for r in read.of("SPAN")]
    assert spans == [(150, 250, 31, "REQUEST_ONCPU", "RUNNING"), (100, 400, 31, "REQUEST", "get")]


@case
def numbers_may_be_of_any_type():
    """The CPU as uint or double, keys and names inline, the flow as an old varint."""
    def oncpu(ts, kind, uuid, cpu, *args):
        return packet(num(8, ts), num(10, 7), msg(11, num(9, kind), num(11, uuid), text(22, "ONCPU"),
                                                  msg(4, text(10, "cpu"), cpu), *args))

    def thread(uuid, tid, name):
        return packet(msg(60, num(1, uuid), msg(4, num(1, tid), num(2, tid), text(5, name))))

    sleeps = msg(4, text(10, "offcpu_reason"), text(6, "uninterruptible_sleep"))
    comes = msg(4, text(10, "switch_from"), text(6, "x"))
    data = (thread(1, 11, "x") + thread(2, 12, "y") + oncpu(70, 2, 1, num(3, 4), sleeps)
            + oncpu(70, 1, 2, real(5, 4.0), comes))
    assert ok(data).switches() == [(70, 4, 11, 12, "D")]


@case
def states_of_a_kernel_without_ftrace():
    def state(ts, tid, what, cpu=None):
        return packet(num(8, ts), num(10, 3), msg(117, num(1, cpu), text(2, f"t{tid}"), num(3, tid), num(4, what)))

    data = b"".join([state(10, 5, 1), state(20, 5, 2), state(30, 5, 3, 2), state(40, 5, 4), state(40, 6, 3, 2),
                     state(50, 5, 2), state(60, 6, 5), state(70, 5, 3, 1), state(80, 5, 7), state(90, 5, 8)])
    read = ok(data)
    assert read.switches() == [(30, 2, 0, 5, "R"), (40, 2, 5, 6, "S"), (60, 2, 6, 0, "D"), (70, 1, 0, 5, "R"),
                               (80, 1, 5, 0, "Z")]
    assert [(r["ts"], r["tid"], r["kind"]) for r in read.of("WAKING", "WAKEUP_NEW")] == [
        (20, 5, "WAKEUP_NEW"), (50, 5, "WAKING")]
    assert [(r["ts"], r["kind"]) for r in read.of("FORK", "EXIT", "FREE")] == [
        (10, "FORK"), (80, "EXIT"), (90, "FREE")]


@case
def counters_in_steps_and_on_other_events():
    track = packet(msg(60, num(1, 5), text(2, "DSQ 0x7 depth"), msg(8, num(5, 1))))
    plain = packet(msg(60, num(1, 6), text(2, "DSQ 0x8 depth"), msg(8)))
    data = (track + plain + packet(num(8, 10), num(10, 3), msg(11, num(9, 4), num(11, 5), num(30, 4)))
            + packet(num(8, 20), num(10, 3), msg(11, num(9, 4), num(11, 5), num(30, -3)))
            + packet(num(8, 30), num(10, 3), msg(11, num(9, 3), text(22, "x"), packed(31, [6]), packed(12, [9]))))
    assert [(r["ts"], r["dsq"], r["depth"]) for r in ok(data).of("DSQ_DEPTH")] == [(10, 7, 4), (20, 7, 1), (30, 8, 9)]


@case
def the_track_may_be_the_default_of_the_sequence():
    data = (packet(num(10, 3), num(13, 1), msg(59, msg(11, num(11, 5))))
            + packet(msg(60, num(1, 5), text(2, "DSQ 0x7 depth"), msg(8)))
            + packet(num(8, 10), num(10, 3), num(13, 2), msg(11, num(9, 4), num(30, 4))))
    assert [r["depth"] for r in ok(data).of("DSQ_DEPTH")] == [4]


@case
def old_stamps_are_microseconds_of_the_monotonic_clock():
    snapshot = packet(msg(6, msg(1, num(1, 6), num(2, BOOT)), msg(1, num(1, 3), num(2, MONO))))
    data = (snapshot + packet(msg(60, num(1, 5), text(2, "DSQ 0x7 depth"), msg(8)))
            + packet(num(10, 3), msg(11, num(9, 4), num(11, 5), num(30, 4), num(16, (MONO + 5000) // 1000))))
    assert [r["ts"] for r in ok(data).of("DSQ_DEPTH")] == [BOOT + 5000]


@case
def flows_and_tables_by_sequence():
    """The same numbers mean other strings on another sequence, and after a fresh start on the same one."""
    def named(seq, flags, name, ts):
        return packet(num(10, seq), num(13, flags), num(8, ts), msg(12, msg(1, num(1, 1), text(2, name))),
                      msg(11, num(9, 3), num(11, 0), num(3, 1)))

    read = ok(named(1, 1, "A", 1) + named(2, 1, "B", 2) + named(1, 3, "C", 3)
              + packet(num(10, 2), num(13, 2), num(8, 4), msg(11, num(9, 3), num(3, 1))))
    assert {key: value for key, value in read.info["categories"].items() if value} == {"A": 1, "B": 2, "C": 1}


@case
def what_our_own_recorder_puts_on_tracks():
    """See write_demo.c for its events."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace"
        subprocess.run([os.environ["WRITE_DEMO"], "story", path], check=True, capture_output=True, timeout=60)
        read = ok(path.read_bytes())
    start = 1_000_000_000
    assert [(r["ts"] - start, r["cpu"], r["tid"], r["values"]) for r in read.of("PMU")] == [
        (150, 1, 101, [1000, 2000, 3])]
    assert read.info["pmu"][1:3] == ["cycles", "instructions"]
    names = {r["probe"]: (r["type"], r["name"]) for r in read.of("PROBE_INFO")}
    assert [(r["ts"] - start, r["tid"], names[r["probe"]], r["ip"]) for r in read.of("PROBE")] == [
        (130, 101, (1, "do_exit"), 0), (131, 101, (2, "malloc"), 0x1234), (132, 555, (0, "probe 3"), 0)]
    assert [(r["ts"] - start, r["cpu"], r["target"], r["tid"]) for r in read.of("IPI_SEND")] == [
        (104, 0, 3, 0), (105, 0, 40, 0), (106, 1, NO_CPU, 100)]
    assert [(r["ts"] - start, r["cpu"], r["pressure"]) for r in read.of("HW_PRESSURE")] == [(124, 1, 100)]
    of = read.info["samples"]
    assert (of["cpu"], of["offcpu"], of["waker"]) == (2, 1, 1) and read.info["first_leaf"] == "kernel_ffff0010"


@case
def affinities_come_back():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace"
        subprocess.run([os.environ["WRITE_DEMO"], "affinity", path], check=True, capture_output=True, timeout=60)
        data = path.read_bytes()
    assert [(r["ts"] - 1_000_000_000, r["tid"], r["words"]) for r in ok(data).of("AFFINITY")] == [
        (2, 101, [0x10d]), (3, 101, [1 << 63, 3]), (4, 101, [(1 << 64) - 1]),
        (7, 100, [(1 << 64) - 1]), (7, 100, [2]), (8, 101, [(1 << 64) - 1]), (8, 101, [4])]


@case
def what_is_no_list_of_cpus_is_no_affinity():
    thread = packet(num(10, 1), num(13, 1), msg(60, num(1, 7), msg(4, num(1, 100), num(2, 101), text(5, "x"))))

    def reported(cpus):
        data = thread + packet(num(10, 1), num(8, BOOT), msg(11, num(9, 3), num(11, 7), text(22, "affinity"),
                                                             msg(4, text(10, "cpus_allowed"), text(6, cpus))))
        return [r["words"] for r in ok(data).of("AFFINITY")]

    assert reported("0,2-3") == [[0b1101]] and reported("8191") == [[0] * 127 + [1 << 63]]
    for wrong in ("", "x", "3-1", "1-", "-1", "1,", ",1", "1 2", "8192", "0-99999999999999999999"):
        assert reported(wrong) == [], wrong


def main():
    print(f"1..{len(CASES)}")
    failed = 0
    for number, (name, function) in enumerate(CASES, 1):
        try:
            function()
            print(f"ok {number} {name}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} {name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
