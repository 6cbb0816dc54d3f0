#!/usr/bin/env python3
"""decode.py FILE: reads a Perfetto trace into plain lists. Written from the format alone; shares no code.

Only what our writer writes is known here; anything else is an error, so that a slip is noticed.
"""
import collections
import json
import struct
import sys
import zlib

FTRACE = {  # member of FtraceEvent: name and names of its fields
    4: ("sched_switch", {1: "prev_comm", 2: "prev_pid", 3: "prev_prio", 4: "prev_state",
                         5: "next_comm", 6: "next_pid", 7: "next_prio"}),
    11: ("cpu_frequency", {1: "state", 2: "cpu_id"}),
    1009: ("loss", {1: "is_behind"}),
    13: ("cpu_idle", {1: "state", 2: "cpu_id"}),
    17: ("sched_wakeup", {1: "comm", 2: "pid", 3: "prio", 5: "target_cpu", 1001: "interrupt"}),
    20: ("sched_waking", {1: "comm", 2: "pid", 3: "prio", 5: "target_cpu", 1001: "interrupt"}),
    3: ("print", {2: "buf"}),
    21: ("ipi_entry", {1: "reason"}), 22: ("ipi_exit", {1: "reason"}),
    23: ("ipi_raise", {1: "target_cpus", 2: "reason"}),
    24: ("softirq_entry", {1: "vec"}), 25: ("softirq_exit", {1: "vec"}),
    36: ("irq_handler_entry", {1: "irq", 2: "name"}), 37: ("irq_handler_exit", {1: "irq", 2: "ret"}),
    18: ("sched_blocked_reason", {1: "pid", 2: "caller", 3: "io_wait"}),
    43: ("ext4_sync_file_enter", {1: "dev", 2: "ino"}), 44: ("ext4_sync_file_exit", {1: "dev", 2: "ino"}),
    45: ("block_rq_issue", {1: "dev", 2: "sector", 3: "nr_sector", 4: "bytes", 5: "rwbs"}),
    46: ("mm_vmscan_direct_reclaim_begin", {1: "order"}), 47: ("mm_vmscan_direct_reclaim_end", {}),
    113: ("suspend_resume", {1: "action", 2: "val", 3: "start"}),
    125: ("block_rq_complete", {1: "dev", 2: "sector", 3: "nr_sector", 5: "rwbs"}),
    126: ("block_rq_insert", {1: "dev", 2: "sector", 3: "nr_sector", 4: "bytes", 5: "rwbs"}),
    307: ("mm_page_alloc", {3: "order"}), 310: ("mm_page_free", {1: "order"}),
    360: ("netif_receive_skb", {1: "len", 2: "name"}), 361: ("net_dev_xmit", {1: "len", 2: "name"}),
    57: ("workqueue_execute_end", {1: "work", 2: "function"}),
    58: ("workqueue_execute_start", {1: "work", 2: "function"}),
    67: ("cgroup_attach_task", {2: "dst_id", 3: "pid", 1010: "ours"}),
    68: ("cgroup_mkdir", {2: "id", 3: "cname", 5: "path", 1010: "ours"}),
    114: ("sched_wakeup_new", {1: "comm", 2: "pid", 3: "prio", 5: "target_cpu", 1001: "interrupt"}),
    235: ("task_newtask", {1: "pid", 2: "comm", 3: "clone_flags"}),
    236: ("task_rename", {1: "pid", 2: "oldcomm", 3: "newcomm"}),
    237: ("sched_process_exec", {1: "filename", 2: "pid", 3: "old_pid"}),
    238: ("sched_process_exit", {1: "comm", 2: "pid", 3: "tgid", 4: "prio"}),
    240: ("sched_process_free", {1: "comm", 2: "pid", 3: "prio"}),
    241: ("sched_process_hang", {1: "comm", 2: "pid"}),
    242: ("sched_process_wait", {1: "comm", 2: "pid", 3: "prio"}),
    340: ("gpu_mem_total", {1: "gpu_id", 2: "pid", 3: "size"}),
    343: ("cpuhp_exit", {1: "cpu", 2: "idx", 3: "ret", 4: "state"}),
    345: ("cpuhp_enter", {1: "cpu", 3: "idx", 4: "target"}),
    491: ("sched_migrate_task", {1: "comm", 2: "pid", 3: "prio", 4: "orig_cpu", 5: "dest_cpu"}),
    542: ("kprobe_event", {1: "name", 2: "type"}),
    # Ours: docs/trace-format.md.
    1001: ("throttle", {1: "tid", 2: "cgroup", 3: "quota", 4: "period", 5: "until", 6: "limit"}),
    1002: ("refill", {1: "cgroup", 2: "nr_cpus", 3: "cpus"}),
    1003: ("steal", {1: "ns"}),
    1004: ("sleep", {1: "tid", 2: "call", 3: "nr", 4: "arg0", 5: "arg1"}),
    1005: ("throttled", {1: "cgroup", 2: "quota", 3: "period", 4: "start", 5: "cpu"}),
    1006: ("policy", {1: "pid", 2: "policy", 3: "prio", 4: "cookie"}),
    1007: ("lock", {1: "lock", 2: "start", 3: "end", 4: "pid", 5: "type"}),
    1008: ("rt_limit", {1: "is_on"}),
}
COMPACT = {1: "switch_ts", 2: "switch_prev_state", 3: "switch_next_pid", 4: "switch_next_prio",
           6: "switch_next_comm", 7: "waking_ts", 8: "waking_pid", 9: "waking_target_cpu",
           10: "waking_prio", 11: "waking_comm", 12: "waking_flags",
           1001: "waking_interrupt"}  # ours: docs/trace-format.md
INTERNED = {1: "categories", 2: "names", 3: "args", 5: "functions", 17: "paths", 18: "sources", 26: "symbols"}


INFERRED = 0x100  # common_flags of an event that was not recorded


class Truncated(Exception):
    """The bytes end in the middle of something."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Truncated
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def fields(data):
    """(number, value) of each field: ints, 8 bytes as bytes, or bytes."""
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        if tag < 0x80:  # as most are: without a call
            at += 1
        else:
            tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        if at > end:
            raise Truncated
        yield number, value


def one(data):
    """The last value of each field."""
    return dict(fields(data))


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(signed(value))
    return values


def text(data):
    return data.decode("utf-8")


def value_of(value):
    return text(value) if isinstance(value, bytes) else signed(value)


class Trace:
    def __init__(self, data):
        self.clocks, self.attributes, self.uuid, self.system, self.config = [], {}, None, None, []
        self.cpu_info = []
        self.processes, self.threads, self.renames = {}, {}, collections.defaultdict(list)
        self.events = collections.defaultdict(list)  # by CPU: {ts, pid, name, ...}, in the order of time
        self.inferred = collections.defaultdict(list)  # by CPU: switches that were not recorded
        self.nr_bundles = 0
        self.bundles = collections.defaultdict(list)
        self.tracks, self.track_events, self.samples = {}, [], []
        self.stats = []  # SysStats: {ts, memory, paging, pressure, cpus, khz, forks}
        self.interned = {}  # by sequence, then table
        self.defaults = {}  # by sequence: the timebase of its samples
        self.comms = collections.defaultdict(set)  # names that events carry, by tid
        self.is_truncated, self.nr_packets, self.largest_compressed = False, 0, 0
        self.read(data)

    def read(self, data):
        try:
            for number, packet in fields(data):
                assert number == 1, number
                self.nr_packets += 1
                self.packet(packet)
        except Truncated:
            self.is_truncated = True

    def packet(self, data):
        head = one(data)
        if 50 in head:
            assert set(head) == {50}
            self.largest_compressed = max(self.largest_compressed, len(data))
            self.read(zlib.decompress(head[50]))
            return
        seq, flags = head[10], head.get(13, 0)
        if flags & 1:
            self.interned[seq] = collections.defaultdict(dict)
            self.defaults[seq] = None
        assert not flags & 2 or seq in self.interned, "needs a state that was not begun"
        if 12 in head:
            self.intern(self.interned[seq], head[12])
        if 59 in head:
            self.defaults[seq] = self.timebase(one(head[59])[12])
        payload = {1: self.bundle, 2: self.tree, 6: self.clock, 7: self.sys_stats, 11: self.track_event, 33: self.trace_config,
                   45: self.system_info, 60: self.track, 66: self.sample, 67: self.cpus,
                   89: self.trace_uuid, 126: self.attribute}
        rest = set(head) - {8, 10, 12, 13, 59}
        assert len(rest) <= 1 and rest <= set(payload), rest
        for number in rest:
            payload[number](head[number], head.get(8), seq)

    def intern(self, tables, data):
        for number, entry in fields(data):
            entry_fields = one(entry)
            iid = entry_fields[1]
            if number in INTERNED:
                tables[INTERNED[number]][iid] = text(entry_fields[2])
            elif number == 6:
                tables["frames"][iid] = {"name": entry_fields.get(2), "mapping": entry_fields[3],
                                         "pc": entry_fields[4], "kind": entry_fields[7],
                                         "file": entry_fields.get(5), "line": entry_fields.get(6)}
            elif number == 7:
                tables["stacks"][iid] = [value for field, value in fields(entry) if field == 2]
            elif number == 19:
                tables["mappings"][iid] = entry_fields
            elif number == 16:
                tables["build_ids"][iid] = entry_fields[2]
            else:
                raise ValueError(f"interned {number}")

    def clock(self, data, _ts, _seq):
        snapshot = {}
        for number, value in fields(data):
            if number == 1:
                clock = one(value)
                snapshot[clock[1]] = clock[2]
            else:
                assert (number, value) == (2, 6)
        self.clocks.append(snapshot)

    def system_info(self, data, _ts, _seq):
        self.system = one(data)
        self.system["uts"] = {number: text(value) for number, value in one(self.system[1]).items()}

    def trace_uuid(self, data, _ts, _seq):
        self.uuid = one(data)

    def cpus(self, data, _ts, _seq):
        for _, cpu in fields(data):
            self.cpu_info.append({"khz": [v for n, v in fields(cpu) if n == 2], "capacity": one(cpu).get(3)})

    def attribute(self, data, _ts, _seq):
        for _, attribute in fields(data):
            attribute = one(attribute)
            self.attributes[text(attribute[1])] = value_of(attribute.get(2, attribute.get(3)))

    def trace_config(self, data, _ts, _seq):
        source = one(one(one(data)[2])[1])
        assert source[1] == b"linux.ftrace"
        self.config += [text(value) for _, value in fields(source[100])]

    def tree(self, data, ts, _seq):
        assert ts is not None
        for number, entry in fields(data):
            values = one(entry)
            if number == 1:
                cmdline = [text(value) for field, value in fields(entry) if field == 3]
                assert cmdline and all(cmdline[:1])
                self.processes[values[1]] = {"ppid": values.get(2), "cmdline": cmdline,
                                             "kthread": bool(values.get(8)), "is_comm": bool(values.get(9)),
                                             "start": values.get(7)}
            else:
                assert number == 2 and values[2]
                self.threads[values[1]] = {"name": text(values[2]), "tgid": values.get(3), "ts": ts}
                self.renames[values[1]].append((ts, text(values[2])))

    def bundle(self, data, ts, seq):
        assert ts is None and len(data) <= 65536
        head = {"cpu": None, "lost": False, "prev_end": None}
        events, inferred, compact = [], [], None
        self.nr_bundles += 1
        for number, value in fields(data):
            if number == 2:
                event = self.event(value)
                event["order"] = (self.nr_bundles, 1, len(events) + len(inferred))
                (inferred if event["flags"] & INFERRED else events).append(event)
            elif number == 4:
                compact = value
            else:
                head[{1: "cpu", 3: "lost", 10: "prev_end"}[number]] = value
        assert events == sorted(events, key=lambda event: event["ts"]), "events out of order"
        cpu = head["cpu"]
        if compact is not None:
            events += self.compact(compact, cpu)
        assert 0 < len(events) + len(inferred) <= 1024
        assert all(event["name"] in ("sched_switch", "task_rename") for event in inferred)
        self.inferred[cpu] += inferred
        if not events:
            return
        events.sort(key=lambda event: event["ts"])
        assert events[-1]["ts"] - events[0]["ts"] < 100_000_000
        last = self.events[cpu][-1]["ts"] if self.events[cpu] else 0
        assert head["prev_end"] == last, (head, last)
        assert events[0]["ts"] >= last, "time goes backwards"
        events[0]["after_loss"] = head["lost"]
        self.events[cpu] += events
        self.bundles[cpu].append(head)

    def event(self, data):
        numbers = [number for number, _ in fields(data)]
        assert numbers[:2] == [1, 2] and numbers[2] in FTRACE and numbers[3:] in ([], [5]), numbers
        values = one(data)
        name, names = FTRACE[numbers[2]]
        event = {"ts": values[1], "pid": values[2], "name": name, "flags": values.get(5, 0)}
        for number, value in fields(values[numbers[2]]):
            assert names[number] not in event or names[number] in ("name", "pid")
            event["arg_" + names[number]] = value_of(value)
        for pid, comm in (("prev_pid", "prev_comm"), ("next_pid", "next_comm"), ("pid", "comm")):
            if "arg_" + comm in event:
                assert event["arg_" + comm], event
                self.comms[event["arg_" + pid]].add(event["arg_" + comm])
        return event

    def compact(self, data, cpu):
        table, columns = [], {}
        for number, value in fields(data):
            if number == 5:
                table.append(text(value))
            else:
                assert number not in columns
                columns[COMPACT[number]] = packed(value)
        assert all(table) and len(set(table)) == len(table)
        events = []
        for what in ("switch", "waking"):
            own = {key[7:]: column for key, column in columns.items() if key.startswith(what)}
            assert not own or len(own) == (5 if what == "switch" else 7)
            for key in ("flags", "interrupt"):  # end where only zeroes would follow
                if key in own:
                    assert not own[key] or own[key][-1]
                    own[key] = own[key] + [0] * (len(own["ts"]) - len(own[key]))
            assert len({len(column) for column in own.values()}) <= 1, "columns differ in length"
            now = 0
            for row in zip(*own.values()):
                row = dict(zip(own, row))
                now += row["ts"]
                tid = row["next_pid"] if what == "switch" else row["pid"]
                comm = table[row["next_comm"] if what == "switch" else row["comm"]]
                self.comms[tid].add(comm)
                if what == "switch":
                    events.append({"ts": now, "name": "switch", "order": (self.nr_bundles, 0, len(events)), "prev_state": row["prev_state"], "next": tid,
                                   "prio": row["next_prio"], "comm": comm})
                else:
                    events.append({"ts": now, "name": "waking", "tid": tid, "target": row["target_cpu"],
                                   "prio": row["prio"], "flags": row["flags"],
                                   "interrupt": row["interrupt"], "comm": comm})
        return events

    def track(self, data, ts, _seq):
        values = one(data)
        assert values[1] and ts is not None
        track = {"ts": ts, "name": text(values[2]) if 2 in values else None, "parent": values.get(5),
                 "is_counter": 8 in values, "thread": None, "rank": signed(values.get(12, 0)),
                 "has_ranks": values.get(11) == 3, "unit": one(values[8]).get(3) if 8 in values else None}
        if 4 in values:
            thread = one(values[4])
            track["thread"], track["name"] = (thread[1], thread[2]), text(thread[5])
        assert values[1] not in self.tracks or self.tracks[values[1]]["name"] == track["name"]
        self.tracks[values[1]] = track

    def track_event(self, data, ts, seq):
        tables, event = self.interned[seq], {"ts": ts, "args": {}, "name": None, "category": None}
        for number, value in fields(data):
            if number == 9:
                event["type"] = {1: "begin", 2: "end", 3: "instant", 4: "counter"}[value]
            elif number == 11:
                event["track"] = self.tracks[value]
            elif number == 10:
                event["name"] = tables["names"][value]
            elif number == 3:
                event["category"] = tables["categories"][value]
            elif number == 30:
                event["value"] = signed(value)
            else:
                assert number == 4
                arg = one(value)
                name = tables["args"][arg.pop(1)]
                (kind, raw), = arg.items()
                event["args"][name] = {5: lambda: struct.unpack("<d", raw)[0], 6: lambda: text(raw),
                                       3: lambda: raw}.get(kind, lambda: signed(raw))()
        self.track_events.append(event)

    def sys_stats(self, data, ts, _seq):
        stats = {"ts": ts, "memory": {}, "paging": {}, "pressure": {}, "cpus": {}, "khz": [], "forks": None}
        for number, value in fields(data):
            if number == 4:
                stats["forks"] = value
            elif number == 11:
                stats["khz"].append(value)
            elif number == 3:
                times = one(value)
                assert sorted(times) == list(range(1, 10))
                stats["cpus"][times[1]] = [times[field] for field in range(2, 10)]
            else:
                pair = one(value)
                stats[{1: "memory", 2: "paging", 14: "pressure"}[number]][pair[1]] = pair[2]
        self.stats.append(stats)

    @staticmethod
    def timebase(defaults):
        base = one(one(defaults)[1])
        return {"period": base.get(1), "frequency": base.get(2), "counter": base.get(4), "name": text(base[10]),
                "tracepoint": text(one(base[3])[1]) if 3 in base else None}

    def mapping(self, tables, frame):
        mapping = tables["mappings"][frame["mapping"]]
        return {"build_id": tables["build_ids"].get(mapping.get(2)), "start": mapping.get(4), "end": mapping.get(5),
                "offset": mapping.get(8), "path": tables["paths"].get(mapping.get(7))}

    def sample(self, data, ts, seq):
        values, tables = one(data), self.interned[seq]
        frames = [tables["frames"][iid] for iid in tables["stacks"][values[4]]]
        stack = [tables["functions"].get(frame["name"]) for frame in frames]
        places = [{"file": tables["sources"].get(frame["file"]), "line": frame["line"], "pc": frame["pc"],
                   "kind": frame["kind"], **self.mapping(tables, frame)} for frame in frames]
        self.samples.append({"ts": ts, "cpu": values[1], "pid": values[2], "tid": values[3], "stack": stack,
                             "mode": values.get(5), "count": values.get(6), "places": places, "of": self.defaults[seq]})


def check_chains(trace, is_strict):
    """Every switch-out is of the task that was switched in; in order; rows only where that is known.

    Returns how often the chain broke without a loss."""
    breaks = 0
    for events in trace.events.values():
        current = None
        for event in events:
            if event.get("after_loss"):
                current = None
            if event["name"] == "sched_switch":
                assert event["pid"] == event["arg_prev_pid"]
                if current is not None and current != event["arg_prev_pid"]:
                    breaks += 1
                current = event["arg_next_pid"]
            elif event["name"] == "switch":
                assert current is not None, "a row although the running task is unknown"
                current = event["next"]
            elif event["name"] == "waking":
                assert current is not None, "a row although the waker is unknown"
    assert not is_strict or breaks == 0
    return breaks


def check_whole_chains(trace):
    """With the inferred ones, each switch is from the task that the one before was to, as a reader that knows of no losses
    takes them: by time, and as they stand in the file where times are equal, rows first."""
    for cpu, events in trace.events.items():
        switches = [event for event in [*events, *trace.inferred[cpu]] if event["name"] in ("switch", "sched_switch")]
        current = None
        for event in sorted(switches, key=lambda event: (event["ts"], event["order"])):
            if event["name"] == "sched_switch":
                assert current in (None, event["arg_prev_pid"]), (cpu, current, event)
            current = event["next"] if event["name"] == "switch" else event["arg_next_pid"]


def tids(trace):
    """All that take part in any event."""
    found = set()
    for events in trace.events.values():
        for event in events:
            if event["name"] == "switch":
                found.add(event["next"])
            elif event["name"] == "waking":
                found.add(event["tid"])
            else:
                found.add(event["pid"])
                if event["name"] == "cgroup_attach_task":  # of all that are there, also those that do nothing
                    continue
                found.update(value for key, value in event.items()
                             if key in ("arg_pid", "arg_prev_pid", "arg_next_pid", "arg_old_pid"))
    found.update(sample["tid"] for sample in trace.samples)
    return found - {0}


def check_names(trace):
    for tid in tids(trace):
        names = {trace.threads[tid]["name"]} if tid in trace.threads else trace.comms[tid]
        assert names and all(names), tid


def main():
    with open(sys.argv[1], "rb") as file:
        trace = Trace(file.read())
    check_names(trace)
    print(json.dumps({
        "packets": trace.nr_packets, "truncated": trace.is_truncated, "attributes": trace.attributes,
        "processes": len(trace.processes), "threads": len(trace.threads), "tracks": len(trace.tracks),
        "events": sum(map(len, trace.events.values())), "breaks": check_chains(trace, False),
    }, indent=1))


if __name__ == "__main__":
    main()
