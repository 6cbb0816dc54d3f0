"""Traces in the style of a producer: Perfetto's recorder, ourselves, systing and scxtop.

Each function writes a whole trace of a scenario; dialects.py says what each can record of it.
"""
import dataclasses
import json


from scenarios import STATE_BITS
from wire import fixed, msg, num, packed, packet, real, text

BOOT = 5_000_000_000_000       # boot time when the recording begins
MONO = BOOT - 7_000_000_000    # the machine has slept for 7 s
REAL = 1_790_000_000_000_000_000
IDLE_PID, KERNEL_PID, KTHREAD_PID = 2_000_000_000, 2_000_000_001, 2_000_000_002
SOFTIRQS = ["hi", "timer", "net-tx", "net-rx", "block", "irq-poll", "tasklet", "sched", "hrtimer", "rcu"]
REASONS = {"R": "runnable", "R+": "preempted", "S": "interruptible_sleep", "D": "uninterruptible_sleep",
           "T": "stopped", "t": "traced", "X": "exit_dead", "Z": "exit_zombie", "P": "parked", "I": "idle"}


@dataclasses.dataclass
class Dialect:
    encode: object
    base: int = BOOT            # what the loader adds to the times of a scenario
    has_first_prev: bool = True  # who leaves at the first switch of a CPU
    has_waker: bool = True
    waker_needs_switch: bool = False  # only after the first switch of the CPU
    has_all_wakes: bool = True   # not only those that lead to a run
    needs_wakee: bool = False    # wakes of threads that have no events of their own are nameless
    has_target: bool = True
    has_prio: bool = True
    has_dsq: bool = False
    has_life: bool = True
    has_irq: bool = True
    new_is_wakeup: bool = False
    states: object = None        # letter -> letters that may come back; None: itself


def name_of(scenario, cpu, tid, ts=None):
    return f"swapper/{cpu}" if tid == 0 else scenario.comm(tid, ts)


def clean(name):
    """As a writer that must have UTF-8 puts it."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


# Packets that several producers have.

def clocks(ids, primary=None, seq=None):
    at = {1: REAL, 2: REAL, 3: MONO, 4: MONO, 5: MONO - 500, 6: BOOT}
    return packet(num(10, seq), msg(6, *(msg(1, num(1, i), num(2, at[i])) for i in ids), num(2, primary)))


def system_info(release="6.12.0"):
    return packet(msg(45, msg(1, text(1, "Linux"), text(3, release), text(4, "aarch64")), num(8, 4)))


def process_tree(scenario, seq=None):
    tasks = [task for task in scenario.tasks.values() if task.alive]
    leaders = {task.tgid for task in tasks}
    named = {tgid: clean(scenario.tasks[tgid].comm) if tgid in scenario.tasks else f"proc{tgid}" for tgid in leaders}
    parts = [msg(1, num(1, tgid), num(2, 1), text(3, named[tgid])) for tgid in sorted(leaders)]
    parts += [msg(2, num(1, t.tid), text(2, clean(t.comm)), num(3, t.tgid)) for t in tasks]
    return packet(num(10, seq), msg(2, *parts))


# ftrace

def ftrace_event(ts, pid, member, *fields):
    return msg(2, num(1, ts), num(2, pid), msg(member, *fields))


def ftrace_switch(scenario, e, ts, state):
    prev, to = e["prev"], e["to"]
    return ftrace_event(
        ts, prev, 4, text(1, name_of(scenario, e["cpu"], prev, e["ts"])), num(2, prev), num(3, prio_of(scenario, prev)),
        num(4, state), text(5, name_of(scenario, e["cpu"], to, e["ts"])), num(6, to), num(7, prio_of(scenario, to)))


def prio_of(scenario, tid):
    return scenario.tasks[tid].prio if tid else 120


def ftrace_wake(scenario, e, ts, pid, member=None, target=None):
    return ftrace_event(ts, pid, member or (114 if e["new"] else 20), text(1, scenario.comm(e["wakee"], e["ts"])),
                        num(2, e["wakee"]), num(3, prio_of(scenario, e["wakee"])), num(4, 1),
                        num(5, e["target"] if target is None else target))


def ftrace_other(scenario, e, base):
    """Everything but switches and wakes, as the kernel has it: (time, bytes) of each event."""
    ts, kind, pid = base + e["ts"], e["kind"], e["tid"]
    if kind == "irq":
        return [(ts, ftrace_event(ts, pid, 36, num(1, e["irq"]), text(2, e["name"]))),
                (base + e["end"], ftrace_event(base + e["end"], pid, 37, num(1, e["irq"]), num(2, 1)))]
    if kind == "softirq":
        return [(ts, ftrace_event(ts, pid, 24, num(1, e["vector"]))),
                (base + e["end"], ftrace_event(base + e["end"], pid, 25, num(1, e["vector"])))]
    if kind == "fork":
        child = scenario.tasks[e["child"]]
        flags = 0x10000 if child.tgid != child.tid else 0
        return [(ts, ftrace_event(ts, pid, 235, num(1, child.tid), text(2, child.comm), num(3, flags)))]
    if kind == "rename":
        return [(ts, ftrace_event(ts, pid, 236, num(1, pid), text(2, e["old"]), text(3, e["new"])))]
    if kind == "exec":
        return [(ts, ftrace_event(ts, pid, 237, text(1, e["filename"]), num(2, pid), num(3, pid)))]
    if kind == "exit":
        task = scenario.tasks[pid]
        return [(ts, ftrace_event(ts, pid, 238, text(1, scenario.comm(pid)), num(2, pid), num(3, task.tgid),
                                  num(4, task.prio)))]
    if kind == "free":
        freed = e["freed"]
        return [(ts, ftrace_event(ts, pid, 240, text(1, scenario.comm(freed)), num(2, freed),
                                  num(3, prio_of(scenario, freed))))]
    if kind == "steal":
        return [(ts, ftrace_event(ts, pid, 1003, num(1, e["ns"])))]
    if kind == "mkdir":  # of a cgroup; 1010: ours
        return [(ts, ftrace_event(ts, pid, 68, num(2, e["cgroup"]), text(3, e["path"].rsplit("/", 1)[-1]), text(5, e["path"]), num(1010, 1)))]
    if kind == "attach":
        return [(ts, ftrace_event(ts, pid, 67, num(2, e["cgroup"]), num(3, e["moved"]), num(1010, 3 if e["stated"] else 1)))]
    return []


class Compact:
    """compact_sched of one bundle."""

    def __init__(self):
        self.switches, self.wakes, self.table = [], [], []

    def index(self, name):
        name = name.encode() if isinstance(name, str) else name
        if name not in self.table:
            self.table.append(name)
        return self.table.index(name)

    def switch(self, ts, state, tid, prio, name):
        self.switches.append((ts, state, tid, prio, self.index(name)))

    def wake(self, ts, tid, target, prio, name, flags):
        self.wakes.append((ts, tid, target, prio, self.index(name), flags))

    def columns(self, rows, numbers):
        times = [row[0] for row in rows]
        deltas = [now - before for now, before in zip(times, [0] + times)]
        cols = [deltas] + [list(col) for col in list(zip(*rows))[1:]]
        return b"".join(packed(number, col) for number, col in zip(numbers, cols))

    def encode(self):
        if not self.table:
            return b""
        out = [text(5, name) for name in self.table]
        if self.switches:
            out.append(self.columns(self.switches, (1, 2, 3, 4, 6)))
        if self.wakes:
            out.append(self.columns(self.wakes, (7, 8, 9, 10, 11, 12)))
        return msg(4, *out)


# Perfetto's recorder

def traced_head(names=("sched/sched_switch", "sched/sched_waking")):
    config = msg(33, msg(2, msg(1, text(1, "linux.ftrace"), msg(100, *(text(1, name) for name in names)))))
    uid = num(3, 9999)
    return (packet(uid, num(10, 1), num(42, 1), msg(89, num(1, 5), num(2, 6))) + packet(uid, num(10, 1), config)
            + system_info() + clocks((6, 1, 2, 3, 4, 5), 6, 1)
            + packet(uid, num(10, 1), num(8, BOOT), msg(69, num(2, 1))))


def traced_bundle(cpu, events, compact, previous, lost=False, seq=2):
    return packet(num(3, 9999), num(10, seq), msg(1, num(1, cpu), *events, num(3, 1 if lost else None),
                                                  compact.encode() if compact else b"", num(10, previous)))


def traced(scenario, is_compact, per_bundle=5, lost_at=None):
    """Bundles of a few events each; those of different CPUs take turns.

    lost_at: {cpu: n}: the n-th bundle of that CPU says that events were lost before it."""
    rows = {cpu: [] for cpu in scenario.cpus}
    for e in scenario.events:
        ts = BOOT + e["ts"]
        if e["kind"] in ("switch", "wake"):
            rows[e["cpu"]].append((ts, e))
        else:
            rows[e["cpu"]] += ftrace_other(scenario, e, BOOT)
    bundles = []
    for cpu, events in rows.items():
        events.sort(key=lambda row: row[0])
        previous = 0
        for nr, at in enumerate(range(0, len(events), per_bundle)):
            chunk = events[at:at + per_bundle]
            lost = lost_at is not None and lost_at.get(cpu) == nr
            bundles.append((nr, cpu, traced_chunk(scenario, cpu, chunk, previous, is_compact, lost)))
            previous = chunk[-1][0]
    bundles.sort(key=lambda bundle: bundle[:2])
    return (traced_head() + b"".join(data for _, _, data in bundles) + process_tree(scenario, 3)
            + clocks((6, 1, 2, 3, 4, 5), 6, 1))


def traced_chunk(scenario, cpu, chunk, previous, is_compact, lost):
    compact, events = Compact() if is_compact else None, []
    for ts, e in chunk:
        if isinstance(e, bytes):
            events.append(e)
        elif e["kind"] == "switch" and compact:
            compact.switch(ts, STATE_BITS[e["state"]], e["to"], prio_of(scenario, e["to"]),
                           name_of(scenario, cpu, e["to"], e["ts"]))
        elif e["kind"] == "switch":
            events.append(ftrace_switch(scenario, e, ts, STATE_BITS[e["state"]]))
        elif compact and not e["new"]:
            compact.wake(ts, e["wakee"], e["target"], prio_of(scenario, e["wakee"]),
                         scenario.comm(e["wakee"], e["ts"]), e["flags"])
        else:
            events.append(ftrace_wake(scenario, e, ts, e["tid"]))
    return traced_bundle(cpu, events, compact, previous, lost)


# Ourselves

def attributes(**values):
    return packet(num(10, 1), msg(126, *(msg(1, text(1, key), num(2, value) if isinstance(value, int) else text(3, value))
                                         for key, value in values.items())))


def own(scenario, end=None):
    """Compact rows; in full where a row would not name the task that leaves or wakes. end: more of its last attributes; False: none."""
    head = clocks((6, 3, 1, 5), 6, 1) + system_info() + packet(
        num(10, 1), msg(126, msg(1, text(1, "tool"), text(3, "schedscope")), msg(1, text(1, "tool_version"),
                                                                                 text(3, "0.0"))))
    out = []
    for cpu in scenario.cpus:
        compact, events, is_known = Compact(), [], False
        for e in scenario.events:
            ts = BOOT + e["ts"]
            if e["cpu"] != cpu:
                continue
            if e["kind"] == "switch" and is_known:
                compact.switch(ts, STATE_BITS[e["state"]], e["to"], prio_of(scenario, e["to"]),
                               name_of(scenario, cpu, e["to"], e["ts"]))
            elif e["kind"] == "switch":
                events.append((ts, ftrace_switch(scenario, e, ts, STATE_BITS[e["state"]])))
                is_known = True
            elif e["kind"] == "wake" and is_known and not e["new"]:
                compact.wake(ts, e["wakee"], e["target"], prio_of(scenario, e["wakee"]),
                             scenario.comm(e["wakee"], e["ts"]), e["flags"])
            elif e["kind"] == "wake":
                events.append((ts, ftrace_wake(scenario, e, ts, e["tid"])))
            else:
                events += ftrace_other(scenario, e, BOOT)
        events.sort(key=lambda row: row[0])
        if events or compact.table:
            out.append(traced_bundle(cpu, [data for _, data in events], compact, 0))
    last = b"" if end is False else attributes(records=len(scenario.events), **(end or {}))
    return head + process_tree(scenario, 1) + b"".join(out) + last


# systing

def systing(scenario):
    out, uuid = [clocks((3, 6, 1, 2, 4, 5)), system_info()], 0
    for tgid in sorted({task.tgid for task in scenario.tasks.values()}):
        leader, uuid = scenario.tasks.get(tgid), uuid + 1
        name = clean(leader.comm) if leader else f"proc{tgid}"
        out.append(packet(msg(60, num(1, uuid), text(2, name),
                              msg(3, num(1, tgid), text(2, name), text(6, name)))))
    for task in scenario.tasks.values():
        if task.tid != task.tgid:
            uuid += 1
            out.append(packet(msg(60, num(1, uuid), text(2, clean(task.comm)),
                                  msg(4, num(1, task.tgid), num(2, task.tid), text(5, clean(task.comm))))))
    return b"".join(out) + b"".join(systing_cpu(scenario, cpu) for cpu in scenario.cpus)


def systing_cpu(scenario, cpu):
    compact, verbose = Compact(), []
    for e in scenario.events:
        ts = BOOT + e["ts"]
        if e["kind"] == "switch" and e["cpu"] == cpu:
            compact.switch(ts, STATE_BITS[e["state"]], e["to"], prio_of(scenario, e["to"]),
                           name_of(scenario, cpu, e["to"], e["ts"]))
        elif e["kind"] == "wake" and not e["new"] and cpu == scenario.cpus[0]:
            compact.wake(ts, e["wakee"], e["target"], 120, scenario.comm(e["wakee"], e["ts"]), 1)
        elif e["kind"] in ("irq", "softirq") and e["cpu"] == cpu:
            verbose += [data for _, data in ftrace_other(scenario, {**e, "tid": 0}, BOOT)]
        elif e["kind"] == "wake" and e["new"] and e["cpu"] == cpu:
            verbose.append(ftrace_wake(scenario, e, ts, e["wakee"]))
        elif e["kind"] == "exit" and e["cpu"] == cpu:
            verbose += [data for _, data in ftrace_other(scenario, e, BOOT)]
    out = packet(msg(1, num(1, cpu), compact.encode())) if compact.table else b""
    return out + (packet(msg(1, num(1, cpu), *verbose)) if verbose else b"")


# scxtop: monotonic stamps, the wakee in the header of wakes, sides of idle left out

def scxtop(scenario):
    out = [clocks((3, 6, 1, 2, 4, 5))]
    leaders = sorted({task.tgid for task in scenario.tasks.values()})
    names = {tgid: clean(scenario.tasks[tgid].comm) if tgid in scenario.tasks else f"proc{tgid}" for tgid in leaders}
    uuids = {tgid: 0x9000000000000000 + 977 * tgid for tgid in leaders}
    out += [packet(msg(60, num(1, uuids[tgid]), msg(3, num(1, tgid), text(2, name), text(6, name))))
            for tgid, name in names.items()]
    out += [packet(msg(2, msg(1, num(1, tgid), text(3, name)))) for tgid, name in names.items()]
    out += [packet(msg(60, num(1, 0xa000000000000000 + task.tid), num(5, uuids[task.tgid]),
                       msg(4, num(1, task.tgid), num(2, task.tid), text(5, clean(task.comm)))))
            for task in scenario.tasks.values() if task.tid != task.tgid]
    out += scxtop_dsq(scenario)
    topology = {"cpu_to_llc": {str(cpu): 0 for cpu in scenario.cpus}, "cpu_to_numa": {str(cpu): 0 for cpu in scenario.cpus},
                "cpu_to_core": {str(cpu): cpu for cpu in scenario.cpus}, "nr_cpus": len(scenario.cpus), "nr_llcs": 1,
                "nr_numa_nodes": 1}
    out.insert(-1 if len(out) > 1 else 1, packet(msg(60, num(1, 77), text(10, "scxtop_topo:" + json.dumps(topology)))))
    return b"".join(out) + b"".join(scxtop_cpu(scenario, cpu) for cpu in scenario.cpus)


def scxtop_dsq(scenario):
    spans, descriptors, latencies, depths = scenario.dsq_spans(), {}, [], []
    for start, end, _, dsq, _ in spans:
        uuid = descriptors.setdefault(dsq, 0x5000 + 2 * len(descriptors))
        us = (MONO + end) // 1000
        for out, track, value in ((latencies, uuid, (end - start) // 1000), (depths, uuid + 1, 3)):
            out.append(packet(num(8, us * 1000), num(10, 9), msg(11, num(9, 4), num(11, track), num(30, value),
                                                                num(16, us))))
    heads = []
    for dsq, uuid in descriptors.items():
        for track, name in ((uuid, f"DSQ {dsq} latency ns"), (uuid + 1, f"DSQ {dsq} nr_queued")):
            heads.append(packet(msg(60, num(1, track), text(10, name), msg(8, num(3, 2), text(6, name)))))
    return heads + latencies + depths


def scxtop_cpu(scenario, cpu):
    events = []
    for e in scenario.events:
        ts = MONO + e["ts"]
        if e["cpu"] != cpu:
            continue
        if e["kind"] == "switch":
            sides = []
            if e["prev"]:
                raw = STATE_BITS[e["state"]] if e["state"] not in ("R+", "I") else {"R+": 0, "I": 0x402}[e["state"]]
                sides += [text(1, clean(scenario.comm(e["prev"], e["ts"]))), num(2, e["prev"]),
                          num(3, prio_of(scenario, e["prev"])), num(4, raw)]
            if e["to"]:
                sides += [text(5, clean(scenario.comm(e["to"], e["ts"]))), num(6, e["to"]), num(7, prio_of(scenario, e["to"]))]
            events.append((ts, ftrace_event(ts, e["prev"], 4, *sides)))
        elif e["kind"] == "wake":
            events.append((ts, ftrace_wake(scenario, {**e, "wakee": e["wakee"]}, ts, e["wakee"],
                                           17 if e["new"] else 20, cpu)))
        elif e["kind"] == "softirq":
            events += ftrace_other(scenario, e, MONO)
    events.sort(key=lambda row: row[0])
    return packet(num(79, 4242), msg(1, num(1, cpu), *(data for _, data in events))) if events else b""
