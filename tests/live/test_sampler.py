#!/usr/bin/env python3
"""Profiles as collect/sample/sampler takes them, against programs that know what they did; and collect/sample/mmap_ring."""
import bisect
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from live import (LONG_S, NOBODY, ROOT, Lines, Meanwhile, cgroups, case, expect, expect_between, expect_near, main, move,
                  need_live, once, output, scratch, unseen_switches)

DUMP = os.environ.get("SAMPLE_DUMP", str(ROOT / "build/tests/live/sample_dump"))
TARGET = os.environ.get("SAMPLE_TARGET", str(ROOT / "build/tests/live/sample_target"))
PROBE_TARGET = os.environ.get("PROBE_TARGET", str(ROOT / "build/tests/live/probe_target"))


class Dump:
    """A running sampler: it samples when the object exists."""

    def __init__(self, event, **options):
        need_live()
        words = [DUMP, event, *(f"{key}={value}" for key, value in options.items())]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.out, self.err = Lines(self.process.stdout), Lines(self.process.stderr)
        if not self.out.wait_for(1, LONG_S):
            self.kill()
            raise AssertionError(f"{' '.join(words)} does not start: {' | '.join(self.err.wait_for_end())}")
        self.ready = json.loads(self.out.lines[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Leaves nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def wait(self):
        """(rows, totals) once it has ended by itself."""
        self.process.wait(LONG_S)
        lines = [json.loads(line) for line in self.out.wait_for_end()]
        expect(self.process.returncode == 0, f"exit {self.process.returncode}: {' | '.join(self.err.lines)}")
        rows, totals = lines[1:-1], lines[-1]
        expect(totals["fds_before"] == totals["fds_after"], f"descriptors left open: {totals}")
        expect(totals["open_fds"] > totals["fds_before"], "nothing was open while it ran")
        return rows, totals

    def finish(self):
        """(rows, totals) as of now. All is accounted for, and idle is not a task."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.close()
        rows, totals = self.wait()
        if "kept" in totals:
            expect(sum(row["count"] for row in rows) == totals["kept"], f"rows do not add up to {totals}")
            expect(totals["kept"] + totals["lost"] == totals["samples"], f"samples do not add up: {totals}")
            expect(all(row["tid"] for row in rows), "a row of the idle task")
        return rows, totals


class Target:
    """A program that waits for go()."""

    def __init__(self, work, program=TARGET, **options):
        self.process = subprocess.Popen([program, work, *(f"{key}={value}" for key, value in options.items())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())
        self.functions = functions(program, self.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def start(self):
        """Lets it begin."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def account(self):
        """Its own account, after its end."""
        out, _ = self.process.communicate(timeout=LONG_S)
        expect(self.process.returncode == 0, f"target: exit {self.process.returncode}")
        return json.loads(out)

    def go(self):
        """All of it."""
        self.start()
        return self.account()

    def names(self, row):
        """Names of the user frames that are in the program itself, leaf first; None for others."""
        return [name_of(self.functions, ip) for ip in row["user"]]


def functions(program, pid):
    """Sorted (address in the process, end, name)."""
    base = None
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        if line.endswith(program) and base is None:
            base = int(line.split("-")[0], 16)
    found = []
    for line in output(["nm", "-S", "--defined-only", program]).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT":
            start = base + int(words[0], 16)
            found.append((start, start + int(words[1], 16), words[3]))
    return sorted(found)


def name_of(table, ip):
    """The function at an address, or None."""
    at = bisect.bisect_right(table, (ip, float("inf"), "")) - 1
    return table[at][2] if at >= 0 and ip <= table[at][1] else None


@once
def kernel_functions():
    """Sorted (address, end, name)."""
    lines = pathlib.Path("/proc/kallsyms").read_text(encoding="ascii").splitlines()
    starts = sorted((int(words[0], 16), words[2]) for words in map(str.split, lines) if words[1] in "tT")
    return [(start, after, name) for (start, name), (after, _) in zip(starts, starts[1:])]


def kernel_names(row):
    return [name_of(kernel_functions(), ip) for ip in row["kernel"]]


def count(rows, key="count", **values):
    """The sum over the rows that have these values."""
    return sum(row[key] for row in rows if all(row[name] == value for name, value in values.items()))


def last_cpu():
    return max(os.sched_getaffinity(0))


def idle_throttles(totals):
    """How often the kernel may stop events of CPUs that idle: after so many samples without a tick, which they do not have."""
    rate = int(pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text(encoding="ascii"))
    return totals["idle"] // (rate / 1000)  # CONFIG_HZ is not more


def expect_rate(frequency, ms, tolerance):
    """So many samples per second that the program used, whatever else runs."""
    with Target("burn", ms=ms, cpu=last_cpu(), fifo=1) as target:
        with Dump("cpu-clock", freq=frequency, pid=target.pid) as dump:
            meanwhile = Meanwhile()
            account = target.go()
            missing = frequency * meanwhile.taken_ns(last_cpu()) / account["cpu_ns"]
            rows, totals = dump.finish()
        rate = totals["kept"] / (account["cpu_ns"] / 1e9)
        # What is taken is no CPU time, but a sample may be due in it.
        expect_near("samples per second of CPU time", rate, frequency, absolute=tolerance, less=missing, more=missing)
        expect(totals["lost"] == 0 and totals["throttled"] <= idle_throttles(totals), f"losses: {totals}")
        expect({(row["tid"], row["tgid"]) for row in rows} == {(target.pid, target.pid)}, "rows of another process")
        inside = sum(row["count"] for row in rows if "burn" in target.names(row))
        expect(inside >= 0.97 * totals["kept"], f"{inside} of {totals['kept']} samples in burn()")
        with_main = sum(row["count"] for row in rows if "main" in target.names(row))
        expect(with_main >= 0.97 * totals["kept"], f"{with_main} of {totals['kept']} samples have main() as a caller")
        expect(count(rows, "value") == totals["kept"] * (10**9 // frequency), "values are not the periods")


@case
def at_99_hz_there_are_99_samples_per_second_of_cpu_time():
    expect_rate(99, 4000, 3)


@case
def at_999_hz_there_are_999_samples_per_second_of_cpu_time():
    expect_rate(999, 2000, 20)


@case
def by_period_a_clock_is_sampled_each_so_many_ns():
    with Target("burn", ms=1500, cpu=last_cpu(), fifo=1) as target:
        with Dump("sw:cpu-clock", period=5000000, pid=target.pid) as dump:
            meanwhile = Meanwhile()
            account = target.go()
            taken = meanwhile.taken_ns(last_cpu())
            _, totals = dump.finish()
    expect_near("samples", totals["kept"], account["cpu_ns"] / 5e6, relative=0.03, less=taken / 5e6, more=taken / 5e6)


def expect_faults(number, **options):
    """Each of them, not one more."""
    with Target("fault", nr=number) as target:
        with Dump("page-faults", period=1, pid=target.pid, **options) as dump:
            account = target.go()
            rows, totals = dump.finish()
        touched = sum(row["count"] for row in rows if target.names(row)[0] == "touch")
    expect(touched == number, f"{touched} faults in touch(), expected {number}")
    expect(totals["kept"] >= account["faults"], f"{totals['kept']} faults, {account['faults']} by its own account")


@case
def each_page_fault_is_a_sample_with_a_period_of_one():
    expect_faults(5000)


@case
def rows_that_are_taken_out_of_the_kernel_meanwhile_stay_exact():
    expect_faults(100000, reads=1)


def expect_naps(event, **options):
    """Each nap is a switch, with the program's own function in the stack."""
    with Target("nap", nr=200, us=2000) as target:
        with Dump(event, pid=target.pid, **options) as dump:
            account = target.go()
            rows, _ = dump.finish()
        napping = [row for row in rows if "nap" in target.names(row)]
    expect_between("switches in nap()", count(napping), 200, 200 + account["involuntary"])
    return napping


@case
def each_context_switch_is_a_sample():
    expect_naps("cs", period=1)


@case
def each_hit_of_a_tracepoint_is_a_sample_and_its_stack_begins_where_it_is():
    for row in expect_naps("tracepoint:sched:sched_switch"):
        names = kernel_names(row)
        expect(names[0] == "__schedule", f"the stack begins with {names[:4]}")
        expect("schedule" in names, f"no caller of it in {names}")


@case
def of_a_tracepoint_one_hit_in_so_many_can_be_taken():
    with Target("nap", nr=400, us=1000, cpu=last_cpu()) as target:
        with Dump("TRACEPOINT:sched:Sched_Switch", period=10, pid=target.pid) as dump:
            account = target.go()
            rows, totals = dump.finish()
    expect_between("samples", totals["kept"], 40, 40 + (account["involuntary"] + 20) / 10)
    expect(count(rows, "value") == 10 * totals["kept"], "a value is not the period")


@case
def each_call_is_a_sample_of_a_uprobe():
    need_live()
    process = subprocess.Popen([PROBE_TARGET, "3000", "4", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = int(process.stdout.readline())
    table = functions(PROBE_TARGET, pid)
    with Dump(f"uprobe:{PROBE_TARGET}:probe_me", pid=pid) as dump, \
            Dump(f"uprobe:ret:{PROBE_TARGET}:probe_me") as returns, \
            Dump(f"uprobe:{PROBE_TARGET}:probe_me", max=777, wait="full") as few:
        process.communicate("\n", timeout=LONG_S)
        rows, totals = dump.finish()
        _, all_returns = returns.finish()
        some, few_totals = few.wait()
    expect(totals["kept"] == 12000 and totals["lost"] == 0, f"12000 calls: {totals}")
    expect({name_of(table, row["user"][0]) for row in rows} == {"probe_me"}, "the leaf is another function")
    expect(len({row["tid"] for row in rows}) == 4, "not all threads")
    expect(all_returns["kept"] == 12000, f"12000 returns: {all_returns}")
    expect(few_totals["kept"] == 777 and count(some) == 777, f"777 were asked for: {few_totals}")


@case
def calls_stay_exact_while_rows_are_taken_out():
    """Programs of uprobes can be preempted in the midst of a row: none is taken out before they have ended."""
    need_live()
    process = subprocess.Popen([PROBE_TARGET, "20000", "4", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = int(process.stdout.readline())
    with Dump(f"uprobe:{PROBE_TARGET}:probe_me", pid=pid, reads=1) as dump:
        process.communicate("\n", timeout=LONG_S)
        rows, totals = dump.finish()
    expect(totals["kept"] == 80000 and totals["lost"] == 0, f"80000 calls: {totals}")
    expect(count(rows) == 80000, f"{count(rows)} calls in the rows")


@case
def off_cpu_time_is_what_the_sleeper_measures_itself():
    with Target("nap", nr=50, us=20000) as target:
        with Dump("off-cpu", pid=target.pid) as dump, Dump("off-cpu", pid=target.pid, min_off_us=1000000) as long:
            meanwhile, unseen = Meanwhile(), unseen_switches()
            account = target.go()
            rows, totals = dump.finish()
            unseen = unseen_switches() - unseen
            delayed = meanwhile.taken_ns() + account["wait_ns"]
            longer, _ = long.finish()
        naps = [row for row in rows if "nap" in target.names(row)]
    # One that is preempted on its way may find the timer over, and does not sleep.
    expect_between(f"naps ({totals})", count(naps), 50, 50, less=unseen + account["involuntary"])
    expect_between("ns asleep", count(naps, "value"), 0.9 * account["slept_ns"], account["slept_ns"],
                   less=delayed)
    expect({kernel_names(row)[0] for row in naps} == {"__schedule"}, "the stack does not begin where it blocks")
    expect(all("do_nanosleep" in kernel_names(row) for row in naps), "not asleep in do_nanosleep()")
    expect(not [row for row in longer if "nap" in target.names(row)], "waits below the limit were kept")


@case
def a_waker_has_a_stack_for_each_wakeup():
    with Target("wake", nr=100, cpu=last_cpu()) as target:
        with Dump("waker", pid=target.pid) as dump:
            account = target.go()
            rows, _ = dump.finish()
        # What interrupts the write may wake others, on top of its stack.
        pokes = [row for row in rows if "poke" in target.names(row) and "try_to_wake_up" in kernel_names(row)
                 and any((name or "").endswith("pipe_write") for name in kernel_names(row))
                 and not any((name or "").startswith(("el1h_64_irq", "asm_")) for name in kernel_names(row))]
    expect(account["partner_slept"] > 50, f"the partner hardly slept: {account}")
    expect_between("wakeups by write()", count(pokes), account["partner_slept"],
                   account["partner_slept"] + account["partner_disturbed"])
    expect({row["comm"] for row in pokes} == {"t-waker"}, "others woke it")


@case
def a_process_comes_with_its_threads_and_children_alone():
    with Target("tree", ms=300, threads=2, children=2) as target, Target("burn", ms=300) as other:
        with Dump("cpu-clock", freq=999, pid=target.pid) as dump:
            meanwhile = Meanwhile()
            other.start()
            account = target.go()
            taken_s = meanwhile.taken_ns() / 1e9
            rows, totals = dump.finish()
        other.account()
    ran_s = account["cpu_ns"] / 1e9 + account["child_cpu_us"] / 1e6
    expect_near("samples", totals["kept"], ran_s * 999, relative=0.2, less=taken_s * 999, more=taken_s * 999)
    threads = {row["tid"] for row in rows if row["comm"] == "t-thread"}
    children = {row["tgid"] for row in rows if row["comm"] == "t-child"}
    expect(len(threads) == 2 and len(children) == 2, f"threads {threads}, children {children}")
    expect(all(row["tgid"] == target.pid for row in rows if row["tid"] in threads), "threads of another process")
    expect({row["tgid"] for row in rows} == children | {target.pid}, "rows of another process")


@case
def a_cgroup_limits_it_to_its_tasks():
    with cgroups("sampled") as (group,), Target("burn", ms=400) as inside, Target("burn", ms=400) as outside:
        move(inside.pid, group)
        with Dump("cpu-clock", freq=999, cgroup=group) as dump:
            meanwhile = Meanwhile()
            inside.start()
            outside.go()
            ran_s = inside.account()["cpu_ns"] / 1e9
            taken_s = meanwhile.taken_ns() / 1e9
            rows, totals = dump.finish()
    expect({row["tgid"] for row in rows} == {inside.pid}, "rows of others")
    expect_near("samples", totals["kept"], ran_s * 999, relative=0.2, less=taken_s * 999, more=taken_s * 999)


@case
def a_cpu_limits_it_to_what_runs_there():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return
    for event in "cpu-clock", "tracepoint:sched:sched_switch":
        with Target("burn", ms=400, cpu=cpus[0]) as here, Target("burn", ms=400, cpu=cpus[1]) as there:
            with Dump(event, cpu=cpus[0]) as dump:
                there.start()
                here.go()
                there.account()
                rows, totals = dump.finish()
        expect({row["cpu"] for row in rows} == {cpus[0]}, "rows of another CPU")
        expect(here.pid in {row["tid"] for row in rows}, "who was there is missing")
        if event == "cpu-clock":
            expect(there.pid not in {row["tid"] for row in rows}, "who was elsewhere is there")
            expect(totals["nr_cpus"] == 1, f"{totals['nr_cpus']} events for one CPU")


@case
def it_keeps_as_many_samples_as_were_asked_for_and_not_one_more():
    with Target("burn", ms=3000) as target:
        for event, options in (("cpu-clock", {"freq": 9999}), ("tracepoint:sched:sched_switch", {}), ("page-faults", {"period": 1})):
            with Dump(event, max=100, wait="full", **options) as dump:
                if event == "cpu-clock":
                    target.start()
                while event == "page-faults" and dump.process.poll() is None:
                    output(["true"])
                rows, totals = dump.wait()
            expect(count(rows) == 100 and totals["kept"] == 100 and totals["is_full"], f"{event}: {totals}")


@case
def after_the_stop_nothing_is_sampled_any_more():
    with Target("burn", ms=2500) as target:
        for event, options in (("cpu-clock", {"freq": 999}), ("tracepoint:sched:sched_switch", {})):
            with Dump(event, late_ms=500, **options) as dump:
                if event == "cpu-clock":
                    target.start()
                time.sleep(0.3)
                rows, _ = dump.finish()
            now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            expect(rows and max(row["last_ns"] for row in rows) < now - 500 * 10**6, f"{event}: sampled after the stop")


@case
def reading_meanwhile_neither_stops_nor_changes_it():
    with Target("burn", ms=1500, cpu=last_cpu(), fifo=1) as target:
        with Dump("cpu-clock", freq=999, pid=target.pid, reads=1) as dump:
            meanwhile = Meanwhile()
            account = target.go()
            missing = meanwhile.taken_ns(last_cpu()) / 1e9 * 999
            rows, totals = dump.finish()
    expect_near("samples", totals["kept"], account["cpu_ns"] / 1e9 * 999, relative=0.03, less=missing, more=missing)
    expect_between("samples of a read before the last", totals["read_last"], 1, count(rows))


@case
def more_stacks_than_the_kernel_has_room_for_are_kept_if_they_are_read_in_time():
    with Dump("page-faults", period=1, stacks=3000, reads=1) as dump:
        meanwhile, start_ns = Meanwhile(dump.process.pid), time.monotonic_ns()
        for _ in range(100):
            output(["ls", "/"])
        late = meanwhile.delayed_ns() / (time.monotonic_ns() - start_ns)
        rows, totals = dump.finish()
    stacks = {tuple(row["user"]) for row in rows}
    expect(len(stacks) > 6000, f"only {len(stacks)} different stacks: no test")
    # While the reader waits for a CPU, it does not read in time.
    expect_between(f"losses of {totals}", totals["lost"], 0, totals["samples"] / 10, more=totals["samples"] * late)


@case
def what_finds_no_room_is_counted():
    with Target("burn", ms=500):
        with Dump("page-faults", period=1, stacks=4) as dump:
            for _ in range(20):
                output(["true"])
            rows, totals = dump.finish()
    expect(totals["lost"] > 100, f"nothing lost: {totals}")
    expect(len(rows) <= 8, f"{len(rows)} rows in spite of 4 stacks")


@case
def a_task_that_becomes_another_program_has_other_rows():
    with Target("exec", ms=300) as target:
        with Dump("cpu-clock", freq=999, pid=target.pid) as dump:
            target.start()
            target.process.stdin.close()
            target.process.wait(LONG_S)
            target.process.stdin = None
            rows, _ = dump.finish()
    expect({row["tid"] for row in rows} == {target.pid}, "another task")
    before, after = (count(rows, comm=name) for name in ("sample_target", "exe"))
    expect_between("samples before", before, 150, 400)
    expect_between("samples after", after, 150, 400)


@case
def kernel_or_user_stacks_can_be_left_out():
    for option in "kernel", "user":
        with Dump("tracepoint:sched:sched_switch", **{f"no_{option}": 1}) as dump:
            time.sleep(0.3)
            rows, _ = dump.finish()
        other = "user" if option == "kernel" else "kernel"
        expect(rows and not any(row[option] for row in rows), f"{option} stacks in spite of it")
        expect(any(row[other] for row in rows), f"no {other} stacks either")


@case
def the_default_event_is_reported_with_its_reason():
    with Dump("") as dump:
        dump.finish()
    expect(dump.ready["is_default"], "not the default")
    if dump.ready["event"] == "cycles":
        expect(dump.ready["why_default"] is None, "an excuse for cycles")
    else:
        expect(dump.ready["event"] == "cpu-clock" and "no hardware counters" in dump.ready["why_default"], f"{dump.ready}")


def expect_refusal(words, *args, command=(), program=DUMP):
    """One sentence with these words, and no descriptor left."""
    out = output([*command, program, *args])
    expect(out.returncode == 1 and not out.stdout, f"{args}: exit {out.returncode}: {out.stdout}{out.stderr}")
    lines = out.stderr.splitlines()
    expect(len(lines) == 2, f"{args}: more than a sentence: {out.stderr}")
    for word in words:
        expect(word in lines[0], f"{args}: no '{word}' in: {lines[0]}")
    _, before, after = lines[1].split()
    expect(before == after, f"{args}: {before} descriptors before, {after} after")


@case
def a_refusal_is_one_sentence_and_leaves_nothing_open():
    need_live()
    gone = subprocess.Popen(["true"])
    gone.wait()
    expect_refusal(["cpu-clok", "did you mean cpu-clock"], "cpu-clok")
    expect_refusal(["software event 'nothing'"], "sw:nothing")
    expect_refusal([f"no process {gone.pid}"], "cpu-clock", f"pid={gone.pid}")
    expect_refusal(["CPU 4000 is offline"], "cpu-clock", "cpu=4000")
    expect_refusal(["CPU 4000 is offline"], "off-cpu", "cpu=4000")
    expect_refusal(["no tracepoint 'sched:no_such_thing'"], "tracepoint:sched:no_such_thing")
    expect_refusal(["is not a tracepoint"], "tracepoint:sched")
    expect_refusal(["has no function 'no_such_thing'"], f"uprobe:{PROBE_TARGET}:no_such_thing")
    expect_refusal(["/no/such/file"], "uprobe:/no/such/file:main")
    expect_refusal(["99999999 samples per second", "perf_event_max_sample_rate"], "cpu-clock", "freq=99999999")
    expect_refusal(["not both"], "cpu-clock", "freq=99", "period=1")
    expect_refusal(["has no frequency"], "off-cpu", "freq=99")


@case
def a_thread_is_not_a_process():
    with Target("tree", ms=1500, threads=1, children=0) as target:
        target.start()
        deadline = time.monotonic() + 10
        threads = []
        while not threads and time.monotonic() < deadline:
            threads = [tid for tid in map(int, os.listdir(f"/proc/{target.pid}/task")) if tid != target.pid]
        expect_refusal([f"{threads[0]} is not a process", f"a thread of process {target.pid}"], "cpu-clock", f"pid={threads[0]}")


@case
def without_rights_it_says_so_and_leaves_nothing_open():
    need_live()
    with scratch() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "sample_dump")
        shutil.copy(DUMP, program)
        for event in "cpu-clock", "off-cpu", "waker", "tracepoint:sched:sched_switch":
            expect_refusal(["root"], event, command=NOBODY, program=program)
        expect_refusal(["may not watch", "root"], "mmap", command=NOBODY, program=program)


def short_life(watch_pid):
    """Reports of a program that has ended before it was read, and of its parent."""
    need_live()
    shell = subprocess.Popen(["sh", "-c", f"read x; {TARGET} burn ms=1 wait=0; exit 0"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    other = subprocess.Popen(["sh", "-c", "read x; true; ls / >/dev/null"], stdin=subprocess.PIPE, text=True)
    with Dump("mmap", **({"pid": shell.pid} if watch_pid else {})) as dump:
        other.communicate("\n", timeout=LONG_S)
        said, _ = shell.communicate("\n", timeout=LONG_S)
        reports, totals = dump.finish()
    expect(totals["lost"] == 0, f"lost reports: {totals}")
    return reports, shell.pid, int(said.splitlines()[0]), other.pid


@case
def what_a_short_process_maps_is_reported():
    reports, shell, pid, _ = short_life(False)
    own = [report for report in reports if report["tgid"] == pid]
    expect([report["what"] for report in own if report["what"] != "mapped"] == ["fork", "exec", "exit"], f"life {own}")
    expect(own[0]["parent"] == shell, "another parent")
    times = [report["ts_ns"] for report in own]
    expect(times == sorted(times), "not in order")
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    expect(0 < now - times[-1] < 60 * 10**9, "not of the boot-time clock")
    after_exec = own[[report["what"] for report in own].index("exec"):]
    mapped = {report["path"]: report for report in after_exec if report["what"] == "mapped"}
    libc = next((path for path in mapped if os.path.basename(path).startswith("libc.so")), None)
    expect(TARGET in mapped and libc and "[vdso]" in mapped, f"mapped {list(mapped)}")
    for path in TARGET, libc:
        report = mapped[path]
        # Of a file on an overlay, the kernel reports the one below.
        kind = output(["stat", "-f", "-c", "%T", path]).stdout.strip()
        expect(report["inode"] == os.stat(path).st_ino or kind == "overlayfs" and report["inode"], f"{path}: {report}")
        expect(report["end"] > report["start"], f"empty: {report}")


@case
def of_mappings_a_process_comes_with_its_children_alone():
    reports, shell, pid, _ = short_life(True)
    expect({report["tgid"] for report in reports} == {shell, pid}, f"reports of {({r['tgid'] for r in reports})}")


main()
