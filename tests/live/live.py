"""What the live tests share: TAP cases, running a workload, running `schedscope stat --json`.

The environment names the programs: SCHEDSCOPE, WORKLOAD (else those of ./build). A case that cannot run
raises Skip; where it could have run (root, BTF), skipping counts as a failure.

Time that a machine takes away lies in what is measured: a hypervisor that runs another guest, interrupts, other tasks. Cases
that depend on time measure it in the same seconds (Meanwhile) and hand it to expect_near() and expect_between() as less= or more=,
in the unit of the value. Where that is too much to say anything, Disturbed is raised: the case is repeated in a calmer moment,
and reported as skipped, with the figure, when there is none. That is no failure. The same holds for whatever fails while the
hypervisor takes more than TOO_STOLEN of all CPU time: CPUs stand still at any point of the kernel then, for as long as a time slice
of the host, and no order of events, nor any time limit, is what it would be.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEDSCOPE = os.environ.get("SCHEDSCOPE", str(ROOT / "build/schedscope"))
WORKLOAD = os.environ.get("WORKLOAD", str(ROOT / "build/tests/live/workload"))
CAN_RUN = os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux")
WAIT_S = int(os.environ.get("LIVE_WAIT_S", "40"))  # nothing here takes longer unless it hangs, on a busy machine either
LONG_S = max(60, WAIT_S)  # for what takes long, or starts others
IS_EMULATED = bool(os.environ.get("LIVE_EMULATED"))  # a slow CPU, and perf is for another kernel
SLOW = 4 if IS_EMULATED else 1  # how much longer we take there
# Of a load that is there until it is killed. Linux 6.18 was seen to run nothing else on the CPU of such a ping-pong as long as it lasted:
# no test, nor the kernel's own workers.
ENDLESS_MS = 15000 * SLOW
TICK_NS = 1e9 / os.sysconf("SC_CLK_TCK")
TOO_MUCH = 0.5  # of the value: what may be off by more says nothing
TOO_STOLEN = 0.05  # of the CPU time: a failure says nothing of us
TRIES = 3       # of a case that is disturbed
CALM_WAIT_S = 15  # for each repetition, at most
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

_cases = []
_answers = []  # of once()
_works = []    # processes that were started
_calm_left_s = [60]  # of all that a program may wait for calm: a machine that is never calm is not waited for
_case = threading.local()  # shares: what was stolen in each measurement that the case of this thread has used


class Skip(Exception):
    """Why a case cannot run here."""


class NotHere(Skip):
    """This kernel lacks what the workload needs, whatever the rights: skipped, and no failure."""


class Disturbed(Skip):
    """So much was taken away meanwhile that nothing can be said, with the figure: repeated, then skipped, and no failure."""


def case(function):
    """A test case; its name is a sentence."""
    _cases.append(function)
    return function


def repeated(function, notes):
    """Runs a case, again in a calmer moment if it was disturbed, which is noted; raises what the last one did."""
    for left in reversed(range(TRIES)):
        try:
            run_unless_stolen(function)
            return
        except Disturbed as why:
            if not left:
                raise Disturbed(f"disturbed {TRIES} times: {why}") from why
            notes.append(f"# disturbed, once more: {why}")
            forget()
            wait_for_calm()


def run_unless_stolen(function):
    """Runs a case; a failure becomes Disturbed if too much was stolen in its seconds, or in those of a measurement that it uses."""
    _case.shares = []
    stolen = Stolen()
    try:
        function()
    except Skip:
        raise
    except Exception as error:
        share = max([stolen.share(), *_case.shares])
        if share <= TOO_STOLEN:
            raise
        raise Disturbed(f"{type(error).__name__}: {error}; {share:.0%} of the CPU time was stolen meanwhile") from error


def verdict(number, function):
    """(whether it failed, its lines of TAP)."""
    name = function.__name__.replace("_", " ")
    start = time.monotonic()
    failed, lines, notes = False, [f"ok {number} - {name}"], []
    try:
        repeated(function, notes)
    except Skip as why:
        failed = CAN_RUN and not isinstance(why, (NotHere, Disturbed))
        lines = ([f"not ok {number} - {name}", f"# skipped on a machine that can run it: {why}"] if failed else
                 [f"ok {number} - {name} # SKIP {why}"])
    except Exception as error:
        failed, lines = True, [f"not ok {number} - {name}"]
        frames = traceback.extract_tb(error.__traceback__)
        text = str(error) or (frames[-1].line if frames else "")
        lines += [f"# {line}" for line in f"{type(error).__name__}: {text}".splitlines()]
        lines += [f"#   {os.path.basename(frame.filename)}:{frame.lineno}: {frame.line}" for frame in frames[1:]]
    return failed, [*lines, *notes, f"# {time.monotonic() - start:.1f} s"]


def main(at_once=1):
    """Runs the cases of the program, or those whose names contain one of the arguments; prints TAP.

    More than one at once is for cases that mostly wait, and use only what they have started themselves.
    """
    own = [c for c in _cases if c.__module__ == "__main__"]  # not those of a file that lends its helpers
    chosen = [c for c in own if len(sys.argv) < 2 or any(word in c.__name__ for word in sys.argv[1:])]
    has_failed = False
    print(f"1..{len(chosen)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for failed, lines in pool.map(verdict, range(1, len(chosen) + 1), chosen):
            has_failed |= failed
            print("\n".join(lines), flush=True)
    for work in _works:  # of cases that failed before its end: it would be in the way of the next program
        if work.poll() is None:
            work.kill()
            work.wait()
    sys.exit(has_failed)


def once(function):
    """Runs the function a single time: its result, or its failure, is the answer to all later calls, until forget()."""
    answer, lock = [], threading.Lock()
    _answers.append(answer)

    def call():
        with lock:
            if not answer:
                stolen = Stolen()
                try:
                    value, error = function(), None
                except Exception as failure:
                    value, error = None, failure
                answer.append((value, error, stolen.share()))
            value, error, share = answer[0]
        if hasattr(_case, "shares"):
            _case.shares.append(share)
        if error:
            raise error
        return value

    return call


def forget():
    """What was measured once is measured again."""
    for answer in _answers:
        answer.clear()


def need_live():
    """Skips where BPF cannot run."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        raise Skip("the kernel has no BTF")


def expect(condition, text):
    """An assertion that says what was wrong, under python -O too."""
    if not condition:
        raise AssertionError(text)


def expect_near(what, got, want, relative=0.0, absolute=0.0, less=0.0, more=0.0):
    """|got - want| within the larger of both tolerances; less and more as in expect_between()."""
    expect(got is not None, f"{what}: absent, expected {want}")
    limit = max(abs(want) * relative, absolute)
    expect_between(f"{what} (about {want})", got, want - limit, want + limit, less, more)


def expect_between(what, got, low, high, less=0.0, more=0.0):
    """low <= got <= high; by what was taken meanwhile, got may be smaller by less, or larger by more.

    Disturbed if it is in its limits only because of that, and that is so much that any value would be.
    """
    expect(got is not None, f"{what}: absent, expected {low} to {high}")
    if low <= got <= high:
        return
    taken, limit = (less, low) if got < low else (more, high)
    text = f"{what}: {got}, expected {low} to {high}" + (f"; {taken:g} were taken meanwhile" if taken else "")
    expect(low - less <= got <= high + more, text)
    if taken > TOO_MUCH * abs(limit):
        raise Disturbed(text)


def taken_of(stat, cpu=None):
    """From a text as /proc/stat has it: ns that a CPU, or all, had no time for any task: stolen, or in interrupts."""
    name = "cpu" if cpu is None else f"cpu{cpu}"
    words = next(line.split() for line in stat.splitlines() if line.split()[0] == name)
    return sum(int(words[column]) for column in (6, 7, 8)) * TICK_NS  # irq, softirq, steal


class Stolen:
    """The share of all CPU time that the hypervisor takes from now on."""

    def __init__(self):
        self._before, self._start = self._stolen_s(), time.monotonic()

    @staticmethod
    def _stolen_s():
        words = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        return int(words[8]) / os.sysconf("SC_CLK_TCK")

    def share(self):
        """0 to 1. Of less than a second, as of a second: the kernel reports whole ticks."""
        return (self._stolen_s() - self._before) / (max(time.monotonic() - self._start, 1) * os.cpu_count())


def schedstat_of(pid, column):
    """Of the threads of a process together; those that have ended do not count."""
    total = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # it has just ended
            total += int(path.read_text(encoding="ascii").split()[column])
    return total


def run_of(pid):
    """How long a process has run so far, ns."""
    return schedstat_of(pid, 0)


def delay_of(pid):
    """How long it has waited for a CPU so far, ns."""
    return schedstat_of(pid, 1)


def runs_of(pid):
    """How often it has come to a CPU so far."""
    return schedstat_of(pid, 2)


class Meanwhile:
    """What is taken away while a case measures: by the hypervisor and by interrupts, and from processes of its own by other tasks."""

    def __init__(self, *pids):
        self._delays = {pid: delay_of(pid) for pid in pids}
        self._before = self._stat()

    @staticmethod
    def _stat():
        return pathlib.Path("/proc/stat").read_text(encoding="ascii")

    def taken_ns(self, cpu=None):
        """From all CPUs, or from one: so much longer than the kernel says may something have been on it, or have taken.

        The kernel reports whole ticks: one more may have gone.
        """
        return taken_of(self._stat(), cpu) - taken_of(self._before, cpu) + TICK_NS

    def delayed_ns(self):
        """The same, and what the processes have waited for a CPU."""
        return self.taken_ns() + sum(delay_of(pid) - before for pid, before in self._delays.items())


def wait_for_calm():
    """Until, for a second, hardly anything is stolen and CPUs are free; not for ever."""
    start = time.monotonic()
    end = start + min(CALM_WAIT_S, _calm_left_s[0])
    while time.monotonic() < end:
        meanwhile = Meanwhile()
        time.sleep(1)
        running = int(next(line.split()[1] for line in pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()
                           if line.startswith("procs_running")))
        if meanwhile.taken_ns() <= 0.02e9 * os.cpu_count() + TICK_NS and running <= os.cpu_count():
            break
    _calm_left_s[0] -= time.monotonic() - start


class Work:
    """A running workload."""

    def __init__(self, kind, cgroup=None, **options):
        words = [f"{key}={value}" for key, value in options.items()]
        # Each of its threads is born in the cgroup.
        start = ["sh", "-c", 'echo 0 >"$0/cgroup.procs" && exec "$@"', cgroup] if cgroup else []
        self.kind = kind
        self._unseen = unseen_switches()
        self._unseen_ns = run_of(1)
        self._meanwhile = Meanwhile()
        self.process = subprocess.Popen([*start, WORKLOAD, kind, *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        _works.append(self.process)

    def account(self):
        """What it did, by its own account, after its end; unseen: how many switches may be missing.

        unseen_ns: how long interrupts may have woken without being traced (unseen_switches()).
        taken_ns: what was taken from each CPU meanwhile, and from all ("all").
        """
        out, err = self.process.communicate(timeout=LONG_S)
        expect(self.process.returncode == 0, f"workload {self.kind}: {err.strip()}")
        taken = {cpu: self._meanwhile.taken_ns(cpu) for cpu in sorted(os.sched_getaffinity(0))}
        return {**json.loads(out.splitlines()[-1]), "unseen": unseen_switches() - self._unseen,
                "unseen_ns": run_of(1) - self._unseen_ns, "taken_ns": {**taken, "all": self._meanwhile.taken_ns()}}

    def kill(self):
        """Ends it now, without an account."""
        self.process.kill()
        self.process.communicate()


def workload(kind, **options):
    """Runs the workload to its end; its own account of what it did."""
    return Work(kind, **options).account()


def has_cpu_alone(account):
    """Whether the threads of a workload that always want one CPU had it nearly to themselves.

    Where they did not, their waits have more causes than the workload knows of.
    """
    ran = sum(task["run_ns"] for task in account["tasks"])
    return ran >= 0.95 * max(task["run_ns"] + task["wait_ns"] for task in account["tasks"])


def truth_of(account, comm):
    """The task of that name in a workload's account."""
    for task in account["tasks"]:
        if task["comm"] == comm:
            return task
    raise AssertionError(f"no task {comm} in the account of {account['work']}")


def switches_of(tgid):
    """How often each thread of a process has left its CPU so far: {tid: number}."""
    found = {}
    for status in pathlib.Path(f"/proc/{tgid}/task").glob("*/status"):
        with contextlib.suppress(OSError):  # the thread has ended
            lines = status.read_text(encoding="utf-8", errors="replace").splitlines()
            found[int(status.parent.name)] = sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return found


def unseen_switches():
    """Switches out of pid 1's threads so far.

    Some virtual machines hide what happens in their context, so the switch to the next task is not traced:
    as many samples may be missing, no more.
    """
    return sum(switches_of(1).values())


def wait_for_switches(tgid, nr=1):
    """Until each thread of a process but its first has left its CPU so often from now on."""
    before, end = switches_of(tgid), time.monotonic() + WAIT_S
    while any(now < before.get(tid, 0) + nr for tid, now in switches_of(tgid).items() if tid != tgid):
        expect(time.monotonic() < end, f"a thread of {tgid} does not get its CPU")
        time.sleep(0.01)


def is_before(*version):
    """Whether the kernel is older."""
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) < version


def storage_misses(report):
    """Events of a report of stat that found no storage of their task; all other losses are failures.

    Before Linux 6.2 no program reaches a task's storage while the same CPU makes or frees one: an interrupt that wakes a task in
    that moment is not counted, but as lost. That is rare. Since then it is reached, but not made in that moment, which only
    concerns a task that has none yet.
    """
    lost = dict(report["lost"])
    misses = lost.pop("no_task_storage")
    lost["total"] -= misses
    most = report["events"]["total"] / 1000 if is_before(6, 2) else 2
    expect(not any(lost.values()) and misses <= most, f"lost: {report['lost']}")
    return misses


class Lines:
    """Collects a stream's lines in a thread, with the time of arrival of each."""

    def __init__(self, stream):
        self.lines, self.times = [], []
        self._change = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream):
        for line in stream:
            with self._change:
                self.lines.append(line.rstrip("\n"))
                self.times.append(time.monotonic())
                self._change.notify_all()
        with self._change:
            self._is_over = True
            self._change.notify_all()

    def wait_for(self, number, timeout=WAIT_S):
        """True once that many lines are there."""
        with self._change:
            self._change.wait_for(lambda: len(self.lines) >= number or self._is_over, timeout)
            return len(self.lines) >= number

    def wait_for_end(self):
        """All lines, after the writer has closed the stream."""
        self._thread.join(WAIT_S)
        return self.lines


class Stat:
    """A running `schedscope stat --json`: everything is attached when the object exists."""

    def __init__(self, *args, interval="500ms", command=(), env=None):
        need_live()
        words = [*command, SCHEDSCOPE, "stat", "--json", "-i", interval, *args]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, env=env)
        self.out, self.err = Lines(self.process.stdout), Lines(self.process.stderr)
        if not self.out.wait_for(1):
            self.kill()
            raise AssertionError(f"no report from {' '.join(words)}: {' | '.join(self.err.lines)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Leaves nothing behind, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def programs(self):
        """Ids of the BPF programs that it holds."""
        return programs_of(self.process.pid)

    def objects(self):
        """The reports so far."""
        return [json.loads(line) for line in self.out.lines]

    def finish(self, how=signal.SIGINT):
        """Ends it by a signal; its last report."""
        self.process.send_signal(how)
        try:
            code = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"still running {WAIT_S} s after {how}") from error
        self.out.wait_for_end()
        self.err.wait_for_end()
        expect(code == 0, f"exit {code}: {' | '.join(self.err.lines)}")
        return self.objects()[-1]


def open_files(pid):
    """What the kernel says of each file that a process has open, but for those that it closes meanwhile."""
    texts = []
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            texts.append(info.read_text(encoding="ascii"))
    return texts


def programs_of(pid):
    """Ids of the BPF programs that a process holds."""
    return {int(line.split()[1]) for text in open_files(pid) for line in text.splitlines() if line.startswith("prog_id:")}


def wait_until_attached(pid):
    """BPF programs of a process are attached one after the other: until there were as many a second ago."""
    before, links, end = 0, 0, time.monotonic() + WAIT_S
    while not links or links != before:
        expect(time.monotonic() < end, f"{pid} attaches nothing")
        time.sleep(1)
        before, links = links, sum("link_type:" in text for text in open_files(pid))


def measure(work, *args):
    """Runs work() under stat; (what work returned, the final report)."""
    with Stat(*args) as stat:
        account = work()
        return account, stat.finish()


def run(*args, timeout=WAIT_S, **options):
    """Runs schedscope to its end: a CompletedProcess with text."""
    return subprocess.run([SCHEDSCOPE, *args], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, check=False, **options)


def output(command, **options):
    """Runs a command to its end."""
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False,
                          stdin=subprocess.DEVNULL, **options)


def ask(*words):
    """JSON of a command of ours."""
    done = output([SCHEDSCOPE, *words, "--json"])
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def queried(*words):
    """The events that a query finds, the fields of each beside its time, CPU and pid."""
    return [event | event["fields"] for event in ask("query", *words, "--all")["events"]]


def as_nobody(args, caps=()):
    """Runs a copy of the program, which every user may execute, as a user without rights."""
    need_live()
    extra = []
    if caps:
        words = ",".join("+" + cap for cap in caps)
        extra = ["--inh-caps", words, "--ambient-caps", words]
    with scratch() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "schedscope")
        # By a process of its own: what other threads start meanwhile would hold our descriptor for writing, and no process may
        # execute a file that is being written.
        subprocess.run(["cp", SCHEDSCOPE, program], check=True)
        return output([*NOBODY, *extra, program, *args])


def expect_sentence(out, *words):
    """It failed with one short message that has these words, and no results."""
    expect(out.returncode == 1, f"exit {out.returncode}, expected 1: {out.stderr}")
    expect(not out.stdout, f"results in spite of failure: {out.stdout[:200]}")
    expect(len(out.stderr.splitlines()) <= 4, f"too much talk: {out.stderr}")
    for word in words:
        expect(word.lower() in out.stderr.lower(), f"no '{word}' in: {out.stderr}")


def expect_usage_error(word, *args):
    """Refused before anything is loaded: it takes no rights to be refused with these very words."""
    for out in (run("stat", *args), as_nobody(["stat", *args])):
        expect(out.returncode == 2, f"{args}: exit {out.returncode}, expected 2: {out.stderr}")
        expect(word in out.stderr, f"{args}: no '{word}' in: {out.stderr}")
        expect(not out.stdout, f"{args}: results in spite of failure")


def rows(report, group, **keys):
    """The rows of a group whose fields have these values."""
    table = report["groups"].get(group)
    expect(table is not None, f"no group {group} in the report, only {', '.join(report['groups'])}")
    return [row for row in table if all(row.get(key) == value for key, value in keys.items())]


def row(report, group, **keys):
    """The one row that has these values."""
    found = rows(report, group, **keys)
    expect(len(found) == 1, f"{len(found)} rows in {group} with {keys}, expected 1")
    return found[0]


def part(of_row, *path):
    """A nested part of a row, such as by_cause.woken; an absent one counts nothing."""
    for name in path:
        of_row = of_row.get(name) or {}
    return {"count": 0, **of_row}


def boot_minus_monotonic_ns():
    """The suspended time: perf's stamps are monotonic, ours of the boot-time clock."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def scratch():
    """A temporary directory, removed at the end of a with block."""
    return tempfile.TemporaryDirectory(prefix="schedscope-live-")


@contextlib.contextmanager
def cgroups(*names):
    """Directories of new cgroups, removed at the end of a with block; names are made unique by our pid."""
    need_live()
    made = []
    with cgroup2() as mount:
        try:
            for name in names:
                made.append(os.path.join(mount, f"schedscope-{name}-{os.getpid()}"))
                os.mkdir(made[-1])
            yield made
        finally:
            for path in made:
                remove_cgroup(path)


@contextlib.contextmanager
def cpu_cgroups(*names):
    """As cgroups(), in the hierarchy that has the controller cpu: that of version 1 if it is mounted, else version 2."""
    mount = cpu_hierarchy()
    if not mount:
        with cgroups(*names) as made:
            yield made
        return
    need_live()
    made = []
    try:
        for name in names:
            made.append(os.path.join(mount, f"schedscope-{name}-{os.getpid()}"))
            os.mkdir(made[-1])
        yield made
    finally:
        for path in made:
            remove_cgroup(path)


QUOTA_US, PERIOD_US = 20000, 100000


def set_quota(group, quota_us=QUOTA_US, period_us=PERIOD_US):
    """20 ms in 100, unless told."""
    v1 = pathlib.Path(group, "cpu.cfs_quota_us")
    if v1.exists():
        pathlib.Path(group, "cpu.cfs_period_us").write_text(str(period_us), encoding="ascii")
        v1.write_text(str(quota_us), encoding="ascii")
        return
    v2 = pathlib.Path(group, "cpu.max")
    if not v2.exists():  # cgroups have the controllers that the one above gives them
        with contextlib.suppress(OSError):
            pathlib.Path(group).parent.joinpath("cgroup.subtree_control").write_text("+cpu", encoding="ascii")
    if not v2.exists():
        raise NotHere("the kernel has no quotas of cgroups")
    v2.write_text(f"{quota_us} {period_us}", encoding="ascii")


def throttled_by_kernel(group):
    """The times of all CPUs in ns, and how many timers found a CPU throttled at the end of a period."""
    stat = dict(map(str.split, pathlib.Path(group, "cpu.stat").read_text(encoding="ascii").splitlines()))
    ns = int(stat["throttled_time"]) if "throttled_time" in stat else 1000 * int(stat["throttled_usec"])
    return ns, int(stat["nr_throttled"])


def cpu_hierarchy():
    """Where it is mounted; None = it is not."""
    lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()]
    is_v1 = any("cpu" in controllers.split(",") for _, controllers, _ in lines)
    with open("/proc/mounts", encoding="utf-8") as mounts:
        for words in map(str.split, mounts):
            if is_v1 and words[2] == "cgroup" and "cpu" in words[3].split(",") or not is_v1 and words[2] == "cgroup2":
                return words[1]
    return None


def cpu_cgroup_of(tid):
    """The path of the cgroup of a thread there, as /proc shows it; None if it has ended."""
    try:
        text = pathlib.Path(f"/proc/{tid}/cgroup").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    lines = [line.split(":", 2) for line in text.splitlines()]
    v1 = [path for _, controllers, path in lines if "cpu" in controllers.split(",")]
    return v1[0] if v1 else next(path for number, _, path in lines if number == "0")


@contextlib.contextmanager
def cgroup2():
    """Where the hierarchy of version 2 is mounted; a machine that uses version 1 alone has it mounted meanwhile."""
    with open("/proc/mounts", encoding="utf-8") as mounts:
        mount = next((words[1] for words in map(str.split, mounts) if words[2] == "cgroup2"), None)
    if mount:
        yield mount
        return
    with scratch() as folder:
        if output(["mount", "-t", "cgroup2", "none", folder]).returncode:
            raise NotHere("no cgroup2 is mounted, nor can it be")
        try:
            yield folder
        finally:
            output(["umount", "-l", folder])


def remove_cgroup(path):
    """Removes it; a task that has just ended may still be on its way out."""
    deadline = time.monotonic() + 5
    while os.path.isdir(path):
        try:
            os.rmdir(path)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def move(pid, cgroup):
    """A process with all its threads to another cgroup."""
    pathlib.Path(cgroup, "cgroup.procs").write_text(str(pid), encoding="ascii")
