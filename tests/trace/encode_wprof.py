"""wprof, two generations: TrackEvents alone, or with ftrace beside them."""
from encode import (BOOT, IDLE_PID, KERNEL_PID, KTHREAD_PID, MONO, REAL, REASONS, SOFTIRQS, Compact, clean, ftrace_switch,
                    ftrace_wake, name_of, prio_of, system_info)
from scenarios import STATE_BITS
from wire import fixed, msg, num, packet, real, text

BEGIN, END, INSTANT = 1, 2, 3
CATEGORIES = ["ONCPU", "OFFCPU", "WAKER", "WAKEE", "WAKER_NEW", "WAKEE_NEW", "WAKER_UNKNOWN", "WAKEE_UNKNOWN",
              "PREEMPTOR", "PREEMPTEE", "TIMER", "FORKING", "FORKED", "EXEC", "RENAME", "EXIT", "FREE", "HARDIRQ",
              "SOFTIRQ", "WQ", "IPI", "IPI_SEND", "SCX_DSQ", "REQUEST", "WAKEUP"]


class Wprof:
    """The state of one emission."""

    def __init__(self, scenario, is_old, has_ftrace, opts):
        self.s, self.is_old, self.has_ftrace = scenario, is_old, has_ftrace
        self.opts = opts  # "tidpid", "scx", "no-idle", "inline", "v01"
        self.out, self.pending = [], b""
        self.iids, self.described = {}, set()
        self.bundles = {cpu: (Compact(), []) for cpu in scenario.cpus}
        self.offcpu = {}     # tid -> (time, was it preempted in the kernel)
        self.begun = set()   # CPUs whose first task has its begin
        self.old_wakers = {}

    # Strings: one number for all three tables, defined in the first packet that needs it.

    def iid(self, name):
        raw = name.encode() if isinstance(name, str) else name
        if raw not in self.iids:
            self.iids[raw] = len(self.iids) + 1
            entry = num(1, self.iids[raw]) + text(2, raw)
            lossy = num(1, self.iids[raw]) + text(2, raw if self.is_old else clean(raw))
            self.pending += msg(2, lossy) + msg(3, entry) + msg(29, entry)
        return self.iids[raw]

    def packet(self, ts, *parts, flags=None):
        interned = msg(12, self.pending) if self.pending else b""
        self.pending = b""
        self.out.append(packet(num(8, ts), num(10, 66 if "v01" in self.opts else 7), num(13, flags), interned, *parts))

    # Tracks

    def uuid(self, number, kind):
        old = {"process": 2, "thread": 1, "idle": 2, "special": 3}
        new = {"process": 0, "meta": 1, "idle-meta": 2, "thread": 3, "idle": 4, "special": 5}
        return number * 10 + old[kind] if self.is_old else number * 7 + new[kind]

    def describe(self, uuid, *parts):
        if uuid not in self.described or self.is_old:
            self.packet(None, msg(60, num(1, uuid), *parts))
        self.described.add(uuid)

    def process(self, pid, name):
        key = ("process", pid)
        if key in self.described:
            return
        self.described.add(key)
        self.packet(None, msg(60, num(1, self.uuid(pid, "process") if pid < IDLE_PID else self.uuid(pid - IDLE_PID + 2, "special")),
                           msg(3, num(1, pid), text(6, clean(name)))))
        if pid < IDLE_PID and not self.is_old:
            self.packet(None, msg(122, msg(1, num(1, pid), num(2, 1), text(3, clean(name)))))

    def track(self, cpu, tid, ts, again=False):
        """The track on which the events of a task stand, described before its first use."""
        is_idle = tid == 0
        name = name_of(self.s, cpu, tid, ts)
        if is_idle:
            # The number is the CPU's in v0.1, one more since; all agree on the name.
            pid, number = IDLE_PID, cpu if "v01" in self.opts else cpu + 1
            self.process(pid, "IDLE")
        elif self.s.tasks[tid].is_kthread:
            number, pid = tid, KTHREAD_PID if self.is_old else KERNEL_PID
            self.process(pid, "KTHREAD" if self.is_old else "KERNEL")
        else:
            number, pid = tid, self.s.tasks[tid].tgid
            leader = self.s.tasks.get(pid)
            self.process(pid, leader.comm if leader else f"proc{pid}")
        event = self.uuid(number, "idle" if is_idle else "thread")
        if event in self.described and not again:
            return event
        thread = msg(4, num(1, pid), num(2, number), text(5, name if self.is_old else clean(name)))
        if self.is_old:
            self.packet(None, msg(60, num(1, event), thread))
        else:
            meta = self.uuid(number, "idle-meta" if is_idle else "meta")
            self.packet(None, msg(60, num(1, meta), thread))
            self.packet(None, msg(60, num(1, event), text(2, clean(name)), num(5, meta), num(15, 2)))
        self.described.add(event)
        return event

    # Events

    def arg(self, key, value):
        name = num(1, self.iid(key))
        if isinstance(value, float):
            return msg(4, name, real(5, value))
        if isinstance(value, int):
            return msg(4, name, num(4, value))
        if "inline" in self.opts or self.is_old and key in ("filename", "action", "old_name", "new_name"):
            return msg(4, name, text(6, value))
        return msg(4, name, num(17, self.iid(value)))

    def event(self, ts, kind, track, category, name=None, args=(), flows=()):
        body = [num(9, kind), num(11, track), num(3, CATEGORIES.index(category) + 1)]
        if name is not None:
            body.append(num(10, self.iid(name)))
        body += [self.arg(key, value) for key, value in args] + [fixed(47, flow) for flow in flows]
        self.packet(ts, msg(11, *body))

    def who(self, role, tid, cpu, ts):
        yield role, name_of(self.s, cpu, tid, ts)
        if "tidpid" in self.opts:
            yield role + "_tid", tid
            yield role + "_pid", self.s.tasks[tid].tgid if tid else 0

    def is_hidden(self, tid):
        return "no-idle" in self.opts and tid == 0

    def wake(self, e):
        if self.is_old:
            return  # with the switch-in of the wakee
        self.waker(e)
        if self.has_ftrace:
            self.bundles[e["cpu"]][1].append(ftrace_wake(self.s, e, e["ts"], e["tid"]))

    def waker(self, e):
        if self.is_hidden(e["tid"]):
            return
        category = "WAKER_NEW" if e["new"] else "WAKER"
        self.event(e["ts"], INSTANT, self.track(e["cpu"], e["tid"], e["ts"]), category, category,
                   [("cpu", e["cpu"]), *self.who("wakee", e["wakee"], e["cpu"], e["ts"])], [MONO + e["ts"]])

    def switch(self, e):
        cpu, ts, prev, to = e["cpu"], e["ts"], e["prev"], e["to"]
        if cpu not in self.begun:
            self.begun.add(cpu)
            if not self.is_hidden(prev):
                self.event(0, BEGIN, self.track(cpu, prev, 0), "ONCPU", name_of(self.s, cpu, prev, 0), [("cpu", cpu)])
        if not self.is_hidden(prev):
            self.oncpu_end(e)
        if e["state"] == "R+":
            self.event(ts, INSTANT, self.track(cpu, to, ts), "PREEMPTOR", "PREEMPTOR",
                       [("cpu", cpu), *self.who("wakee", prev, cpu, ts)], [MONO + ts])
        if not self.is_hidden(to):
            self.oncpu_begin(e)
        if prev:
            self.offcpu[prev] = (ts, e["state"] == "R+" or self.is_old and e["state"] == "R", cpu)
        if self.has_ftrace:
            self.ftrace_switch(e)

    def oncpu_end(self, e):
        cpu, ts, prev = e["cpu"], e["ts"], e["prev"]
        args = [("cpu", cpu)]
        if prev:
            reason = REASONS[e["state"]]
            if self.is_old:
                reason = "preempted" if e["state"] in ("R", "R+") else "blocked"
            args.append(("offcpu_reason", reason))
        args += self.who("switch_to", e["to"], cpu, ts)
        for name, value in (e["pmu"] or {}).items():
            old = {"cycles": "cpu_cycles_kilo", "instructions": "cpu_insns_kilo"}
            args.append((old[name], value / 1000) if self.is_old else ("pmu:" + name, float(value)))
        self.event(ts, END, self.track(cpu, prev, ts), "ONCPU", None, args)

    def oncpu_begin(self, e):
        cpu, ts, to = e["cpu"], e["ts"], e["to"]
        track, args, flows = self.track(cpu, to, ts), [("cpu", cpu)], []
        off, was_preempted, off_cpu = self.offcpu.get(to, (0, False, None))
        if to:
            args.append(("offcpu_dur_us", (ts - off) / 1000))
        wake = e["wake"]
        if wake and wake["ts"] >= off:
            if self.is_old:
                self.waker(wake)
            category = "WAKEE_NEW" if wake["new"] else "WAKEE"
            self.event(wake["ts"], INSTANT, track, category, category, [("cpu", cpu)], [MONO + wake["ts"]])
            args += [*self.who("waker", wake["tid"], wake["cpu"], wake["ts"]),
                     ("waking_reason", "woken_new" if wake["new"] else "woken"), ("waker_cpu", wake["cpu"]),
                     ("waking_delay_us", (ts - wake["ts"]) / 1000)]
            flows.append(MONO + wake["ts"])
        elif to and was_preempted:
            self.event(off, INSTANT, track, "PREEMPTEE", "PREEMPTEE", [("cpu", off_cpu)], [MONO + off])
            args += [("waking_reason", "preempted"), ("waker_cpu", off_cpu), ("waking_delay_us", (ts - off) / 1000)]
            flows.append(MONO + off)
        args += self.who("switch_from", e["prev"], cpu, ts)
        if "scx" in self.opts and (e["scx"] or not self.is_old):
            layer, dsq = e["scx"] or (0, 0)
            args += [("scx_layer_id", layer), ("scx_dsq_id", dsq & 0xffffffff)]
        self.event(ts, BEGIN, track, "ONCPU", name_of(self.s, cpu, to, ts), args, flows)

    def ftrace_switch(self, e):
        compact, events = self.bundles[e["cpu"]]
        if not self.is_old:
            compact.switch(e["ts"], STATE_BITS[e["state"]], e["to"], prio_of(self.s, e["to"]),
                           "" if e["to"] == 0 else clean(self.s.comm(e["to"], e["ts"])))
            return
        raw = {"R+": 0, "I": 0x402}.get(e["state"], STATE_BITS[e["state"]])
        wake, off = e["wake"], self.offcpu.get(e["to"], (0, False))
        if wake and wake["ts"] >= off[0]:
            # The wrong waker: the task that leaves at this switch; and on the waker's CPU, out of order.
            self.bundles[wake["cpu"]][1].append(ftrace_wake(self.s, wake, wake["ts"], e["prev"], target=e["cpu"]))
        elif e["to"] and off[1]:
            fake = {"wakee": e["to"], "new": False, "ts": off[0], "target": e["cpu"]}
            events.append(ftrace_wake(self.s, fake, off[0], e["prev"]))
        events.append(ftrace_switch(self.s, e, e["ts"], raw))

    def other(self, e):
        track = self.track(e["cpu"], e["tid"], e["ts"])
        ts, cpu, kind = e["ts"], ("cpu", e["cpu"]), e["kind"]
        flow = [MONO + ts]
        if kind == "fork":
            self.event(ts, INSTANT, track, "FORKING", "FORKING", [cpu, *self.who("forked_into", e["child"], 0, ts)], flow)
            child = self.track(e["cpu"], e["child"], ts)
            self.event(ts, INSTANT, child, "FORKED", "FORKED", [cpu, *self.who("forked_from", e["tid"], e["cpu"], ts)], flow)
        elif kind == "rename":
            self.event(ts, INSTANT, track, "RENAME", "RENAME", [cpu, ("old_name", e["old"]), ("new_name", e["new"])])
            self.track(e["cpu"], e["tid"], ts, again=True)
        elif kind == "exec":
            self.event(ts, INSTANT, track, "EXEC", "EXEC", [cpu, ("filename", e["filename"])])
        elif kind == "exit":
            self.event(ts, INSTANT, track, "EXIT", "EXIT", [cpu])
        elif kind == "free":
            self.event(ts, INSTANT, self.track(e["cpu"], e["freed"], ts), "FREE", "FREE", [cpu])

    def span(self, e, end_ts):
        """Begin and end together, when it ends."""
        cpu = ("cpu", e["cpu"])
        if e["kind"] == "irq":
            self.slice(e, end_ts, "HARDIRQ", "HARDIRQ", [cpu, ("irq", e["irq"]), ("action", e["name"])])
        elif e["kind"] == "softirq":
            action = SOFTIRQS[e["vector"]]
            self.slice(e, end_ts, "SOFTIRQ", "SOFTIRQ:" + action, [cpu, ("action", action)])

    def slice(self, e, end_ts, category, name, begin, end=(), tid=None):
        track = self.track(e["cpu"], e["tid"] if tid is None else tid, e["ts"])
        self.event(e["ts"], BEGIN, track, category, name, begin)
        self.event(end_ts, END, track, category, None, end)

    def dsq(self, start, end, tid, dsq, layer, how, cpu):
        keys = ("dsq_id", "layer_id") if self.is_old else ("scx_dsq_id", "scx_layer_id")
        e = {"ts": start, "cpu": cpu, "tid": tid}
        self.slice(e, end, "SCX_DSQ", f"DSQ:{how}_0x{dsq:x}", [("cpu", cpu), ("action", how)],
                   [(keys[0], dsq - (1 << 64) if dsq >> 63 else dsq), (keys[1], layer)], tid)

    def head(self):
        if not self.is_old:
            self.packet(None, msg(6, msg(1, num(1, 6), num(2, 0)), msg(1, num(1, 1), num(2, REAL))))
            self.out.append(system_info())
            self.packet(None, msg(89, num(1, 5), num(2, 6)))
            self.packet(None, msg(126, msg(1, text(1, "hostname"), text(3, "box"))))
        self.pending = b"".join(msg(1, num(1, i + 1), text(2, name)) for i, name in enumerate(CATEGORIES))
        session = self.uuid(1, "special")
        self.packet(0, msg(11, num(9, INSTANT), num(11, 0 if self.is_old else session), text(23, "START")), flags=1)
        if not self.is_old:
            self.packet(None, msg(60, num(1, session), text(2, " SESSION")))

    def body(self):
        """Everything in the order in which it is over: spans when they end."""
        steps = []
        for e in self.s.events:
            if e["kind"] in ("irq", "softirq"):
                steps.append((e["end"], self.span, (e, e["end"])))
            elif e["kind"] == "switch":
                steps.append((e["ts"], self.switch, (e,)))
            elif e["kind"] == "wake":
                steps.append((e["ts"], self.wake, (e,)))
            elif e["kind"] != "dsq":
                steps.append((e["ts"], self.other, (e,)))
        queued = {(e["ts"], e["queued"]): e for e in self.s.events if e["kind"] == "dsq"}
        if "scx" in self.opts:
            for start, end, tid, dsq, layer in self.s.dsq_spans():
                e = queued[start, tid]
                steps.append((end, self.dsq, (start, end, tid, dsq, layer, e["how"], e["cpu"])))
        for _, step, args in sorted(steps, key=lambda step: step[0]):
            step(*args)

    def tail(self):
        if self.has_ftrace:
            for cpu, (compact, events) in self.bundles.items():
                if events or compact.table:
                    self.packet(None, msg(1, num(1, cpu), *events, compact.encode()))
        self.packet(0, msg(12, msg(5, num(1, 1), text(2, "[K] schedule")), msg(19, num(1, 1)),
                           msg(6, num(1, 1), num(2, 1), num(3, 1), num(4, 8)), msg(7, num(1, 1), num(2, 1))))


def wprof(scenario, is_old=False, has_ftrace=False, opts=("scx",)):
    w = Wprof(scenario, is_old, has_ftrace, opts)
    w.head()
    w.body()
    w.tail()
    return b"".join(w.out)
