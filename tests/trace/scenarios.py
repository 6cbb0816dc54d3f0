"""What happened, written once: a machine, its tasks, and every switch and wake with the right answer.

Times are nanoseconds after the start of the recording. tid 0 is the idle task. States are letters as
sched_switch shows them: R, R+, S, D, T, t, X, Z, P, I.
"""
import dataclasses
import random

STATE_BITS = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 0x10, "Z": 0x20, "P": 0x40, "I": 0x80, "R+": 0x100}


@dataclasses.dataclass
class Task:
    tid: int
    tgid: int
    comm: object  # str, or bytes that need not be UTF-8
    is_kthread: bool = False
    prio: int = 120
    ppid: int = 1
    alive: bool = True  # at the start


class Scenario:
    def __init__(self, name, running, tasks):
        """running: {cpu: tid} when the recording begins."""
        self.name = name
        self.tasks = {task.tid: task for task in tasks}
        self.first = dict(running)
        self.current = dict(running)
        self.events = []  # dicts in the order of time, each with "kind", "ts", "cpu"
        self.woken = {}   # tid -> wake that has not led to a run
        self.last_cpu = {tid: cpu for cpu, tid in running.items() if tid}
        self.scx = {}     # tid -> (layer, dsq) of its last insertion

    @property
    def cpus(self):
        return sorted(self.first)

    @property
    def end(self):
        return max((event.get("end", event["ts"]) for event in self.events), default=0)

    def add(self, kind, ts, cpu, **more):
        assert not self.events or ts >= self.events[-1]["ts"], "events must be in order"
        assert cpu in self.current
        event = dict(kind=kind, ts=ts, cpu=cpu, tid=self.current[cpu], **more)
        self.events.append(event)
        return event

    def switch(self, ts, cpu, to, state="S", pmu=None):
        prev = self.current[cpu]
        assert prev != to and (to == 0 or to not in self.current.values())
        wake = self.woken.pop(to, None)
        if wake:
            wake["is_consumed"] = True
        event = self.add("switch", ts, cpu, prev=prev, to=to, state=state if prev else "R", wake=wake, pmu=pmu,
                         scx=self.scx.get(to))
        self.current[cpu] = to
        if to:
            self.last_cpu[to] = cpu
        return event

    def wake(self, ts, cpu, wakee, new=False, flags=0):
        event = self.add("wake", ts, cpu, wakee=wakee, new=new, flags=flags, is_consumed=False,
                         target=self.last_cpu.get(wakee, cpu))
        self.woken.setdefault(wakee, event)
        return event

    def fork(self, ts, cpu, child):
        self.tasks[child.tid] = child
        child.alive = False
        self.last_cpu[child.tid] = cpu
        return self.add("fork", ts, cpu, child=child.tid)

    def rename(self, ts, cpu, name):
        tid = self.current[cpu]
        old, self.tasks[tid].comm_at = self.comm(tid), [*getattr(self.tasks[tid], "comm_at", []), (ts, name)]
        return self.add("rename", ts, cpu, old=old, new=name)

    def execute(self, ts, cpu, filename):
        return self.add("exec", ts, cpu, filename=filename)

    def exit(self, ts, cpu):
        return self.add("exit", ts, cpu)

    def free(self, ts, cpu, tid):
        return self.add("free", ts, cpu, freed=tid)

    def irq(self, ts, cpu, end, irq, name):
        return self.add("irq", ts, cpu, end=end, irq=irq, name=name)

    def softirq(self, ts, cpu, end, vector):
        return self.add("softirq", ts, cpu, end=end, vector=vector)

    def dsq(self, ts, cpu, tid, dsq_id, layer, how="dsq_insert"):
        """The task is put into a queue now; the span ends when it comes on a CPU."""
        self.scx[tid] = (layer, dsq_id)
        return self.add("dsq", ts, cpu, queued=tid, dsq=dsq_id, layer=layer, how=how)

    def comm(self, tid, ts=None):
        """Its name at that time, or the last one."""
        task = self.tasks[tid]
        names = [task.comm] + [name for at, name in getattr(task, "comm_at", []) if ts is None or at <= ts]
        return names[-1]

    # The right answers.

    def switches(self):
        return [(e["ts"], e["cpu"], e["prev"], e["to"], e["state"]) for e in self.events if e["kind"] == "switch"]

    def wakes(self):
        return [(e["ts"], e["cpu"], e["wakee"], e["tid"], "new" if e["new"] else "waking")
                for e in self.events if e["kind"] == "wake"]

    def slices(self):
        """(start, end or None, cpu, tid, state): with start None for those that ran before."""
        out, running = [], {cpu: (None, tid) for cpu, tid in self.first.items()}
        for ts, cpu, prev, to, state in self.switches():
            out.append((running[cpu][0], ts, cpu, prev, state))
            running[cpu] = (ts, to)
        return out + [(start, None, cpu, tid, None) for cpu, (start, tid) in sorted(running.items())]

    def dsq_spans(self):
        """(insert, leave, tid, dsq, layer): each insertion up to the next run of that task."""
        out, waiting = [], {}
        for e in self.events:
            if e["kind"] == "dsq":
                waiting[e["queued"]] = e
            elif e["kind"] == "switch" and e["to"] in waiting:
                q = waiting.pop(e["to"])
                out.append((q["ts"], e["ts"], e["to"], q["dsq"], q["layer"]))
        return out


def three():
    """Three tasks on two CPUs; short enough to check by hand."""
    s = Scenario("three", {0: 101, 1: 0}, [
        Task(1, 1, "init", prio=120, ppid=0), Task(101, 100, "alpha"), Task(102, 100, "beta"),
        Task(203, 203, "gamma", prio=100), Task(17, 17, "kworker/0:1", is_kthread=True, ppid=2)])
    s.wake(1_000, 0, 102)                     # alpha wakes beta
    s.switch(1_400, 1, 102)                   # on CPU 1, after idle
    s.irq(1_500, 1, 1_700, 33, "eth0")
    s.wake(1_650, 1, 203, flags=0x08)         # from inside the interrupt
    s.softirq(1_710, 1, 1_790, 3)
    s.switch(2_000, 0, 203, "R+")             # gamma preempts alpha
    s.wake(2_100, 0, 17)
    s.switch(2_500, 1, 17, "S")               # beta sleeps, the worker runs where it was not woken
    s.wake(2_600, 0, 102)
    s.switch(2_900, 1, 102, "I")
    s.switch(3_000, 0, 101, "D")              # gamma blocks, alpha is back
    s.rename(3_100, 1, "beta2")
    s.wake(3_200, 1, 203)
    s.wake(3_300, 1, 203)                     # a second one, which changes nothing
    s.switch(3_500, 1, 0, "S")
    s.switch(3_600, 0, 203, "R")
    s.fork(3_700, 0, Task(3000, 3000, "gamma", ppid=203))
    s.wake(3_710, 0, 3000, new=True)
    s.switch(3_900, 1, 3000)
    s.execute(4_000, 1, "/bin/child")
    s.exit(4_100, 1)
    s.switch(4_200, 1, 0, "Z")
    s.free(4_300, 0, 3000)
    s.switch(4_500, 0, 101, "T")
    return s


def queued():
    """A sched_ext scheduler with two layers, a queue of its own and the local one; counters per slice."""
    s = Scenario("queued", {0: 0, 1: 0}, [Task(501, 501, "web"), Task(502, 502, "batch")])
    s.wake(100, 0, 501)
    s.dsq(120, 0, 501, 0x8000000000000002, 1)
    s.wake(150, 0, 502)
    s.dsq(170, 0, 502, 7, 2, "dsq_insert_vtime")
    s.switch(300, 0, 501)
    s.switch(450, 1, 502)
    s.dsq(800, 0, 501, 7, 1, "dsq_insert_vtime")  # while it still runs
    s.switch(1_000, 0, 0, "R", pmu={"cycles": 3_000, "instructions": 4_500})
    s.switch(1_100, 0, 501)
    s.switch(1_900, 1, 0, "S", pmu={"cycles": 9_000, "instructions": 2_000})
    s.switch(2_000, 0, 0, "S", pmu={"cycles": 5_000, "instructions": 1_000})
    return s


def storm(seed=1, nr=600, cpus=(0, 3, 17), nr_tasks=9):
    """Random, on CPUs that are numbered with gaps, with tids beyond 2^22 and names that are not UTF-8."""
    rng = random.Random(seed)
    names = ["w%d" % i for i in range(nr_tasks - 2)] + [b"\xff\xfebad", 'q"<b>\\']
    tids = [4_300_000 + 7 * i if i % 2 else 50 + i for i in range(nr_tasks)]
    tasks = [Task(1, 1, "init", ppid=0)]
    tasks += [Task(tid, tid if i % 3 else tids[0], name, prio=100 + i, is_kthread=i == 4)
              for i, (tid, name) in enumerate(zip(tids, names))]
    running = dict(zip(cpus, (tids[0], 0, tids[1])))
    s = Scenario("storm%d" % seed, running, tasks)
    asleep, runnable, now = set(tids) - set(running.values()), set(), 0
    for _ in range(nr):
        now += rng.randrange(1, 900)
        cpu = rng.choice(cpus)
        act = rng.random()
        if act < 0.45 and asleep:
            tid = rng.choice(sorted(asleep))
            asleep.discard(tid)
            runnable.add(tid)
            s.wake(now, cpu, tid)
        elif act < 0.5 and runnable:
            s.wake(now, cpu, rng.choice(sorted(runnable)))
        elif act < 0.55:
            s.softirq(now, cpu, now + 50, rng.randrange(10))
            now += 50
        else:
            _storm_switch(s, rng, now, cpu, asleep, runnable)
    return s


def _storm_switch(s, rng, now, cpu, asleep, runnable):
    prev = s.current[cpu]
    choice = sorted(runnable) + ([0] if prev else [])
    if not choice:
        return
    to = rng.choice(choice)
    state = rng.choice(["S", "S", "D", "R", "R+"])
    s.switch(now, cpu, to, state)
    runnable.discard(to)
    if prev:
        (runnable if state.startswith("R") else asleep).add(prev)


def waking_only():
    s = Scenario("waking_only", {0: 11, 1: 12}, [Task(11, 11, "a"), Task(12, 12, "b"), Task(13, 13, "c")])
    s.wake(100, 0, 13)
    s.wake(200, 1, 13)
    return s


def switch_only():
    s = Scenario("switch_only", {0: 11, 1: 12}, [Task(11, 11, "a"), Task(12, 12, "b"), Task(13, 13, "c")])
    s.switch(100, 0, 13)
    s.switch(150, 1, 0)
    s.switch(300, 0, 0)
    return s


def one_event():
    s = Scenario("one_event", {5: 11}, [Task(11, 11, "a")])
    s.switch(100, 5, 0)
    return s


def nothing():
    return Scenario("nothing", {0: 0}, [])


ALL = {function.__name__: function
       for function in (three, queued, storm, waking_only, switch_only, one_event, nothing)}
