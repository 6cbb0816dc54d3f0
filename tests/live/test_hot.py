#!/usr/bin/env python3
"""The CPU profile and the BPF programs that a screen shows, against programs that know what they do, and bpftool.

hot_dump refreshes whenever it is sent a line, as the views would.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from live import (LONG_S, NOBODY, TICK_NS, WAIT_S, Lines, Meanwhile, NotHere, Skip, case, expect, expect_between, expect_near,
                  main, need_live, scratch)

HOT_DUMP = os.environ.get("HOT_DUMP", "build/tests/live/hot_dump")
HOT_TARGET = os.environ.get("HOT_TARGET", "build/tests/live/hot_target")
HOT_OBJECT = os.environ.get("HOT_OBJECT", "build/tests/live/hot.bpf.o")
SPLIT = os.environ.get("SPLIT", "build/tests/live/split")
CPUS, TASKS, BPF, PROFILE = 1, 2, 64, 2048  # enum machine_need
START_S = LONG_S  # the kernel checks programs slowly while others build
REFRESH_NS = 20e6


class Screen:
    """A running hot_dump."""

    def __init__(self, *args, program=HOT_DUMP, command=()):
        self.process = subprocess.Popen([*command, program, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.out = Lines(self.process.stdout)
        self.nr = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def refresh(self, words=""):
        """One refresh now."""
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        self.nr += 1
        expect(self.out.wait_for(self.nr), f"no refresh: {self.process.poll()}")
        return json.loads(self.out.lines[self.nr - 1])

    def until(self, condition, what, words=""):
        """Refreshes until one has it."""
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            refresh = self.refresh(words)
            if condition(refresh):
                return refresh
            time.sleep(0.1)
        raise AssertionError(f"no {what}: {str(refresh)[:500]}")

    def sampled(self, nr, words=f"needs={CPUS | PROFILE}"):
        """A refresh with at least so many samples."""
        return self.until(lambda refresh: refresh["profile"]["samples"] >= nr, f"{nr} samples", words)["profile"]

    def holds(self, *kinds):
        """Descriptors of these kinds."""
        names = []
        for number in os.listdir(f"/proc/{self.process.pid}/fd"):
            with contextlib.suppress(OSError):
                names.append(os.readlink(f"/proc/{self.process.pid}/fd/{number}"))
        return [name for name in names if any(kind in name for kind in kinds)]

    def cpu_ns(self):
        """CPU time of it and of its children, which find the names."""
        total = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has just ended
                fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
                if str(self.process.pid) in (path.parent.name, fields[1]):
                    total += sum(map(int, fields[11:15])) * TICK_NS
        return total

    def expect_nothing(self, *kinds):
        """Soon: what ends, ends in a thread of its own."""
        end = time.monotonic() + WAIT_S
        while self.holds(*kinds):
            expect(time.monotonic() < end, f"still open: {self.holds(*kinds)}")
            time.sleep(0.05)


@contextlib.contextmanager
def burner(*words):
    """A program that runs meanwhile, with all that it starts."""
    with subprocess.Popen([*words], stdout=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


class Target:
    """A running hot_target."""

    def __init__(self):
        need_live()
        self.process = subprocess.Popen([HOT_TARGET, HOT_OBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        expect(line, f"no programs: {self.process.stderr.read() if not line else ''}")
        self.ids = json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Its programs go, too."""
        self.process.kill()
        self.process.wait()

    def run(self, nr):
        """Runs so often; how often so far, by its own account."""
        self.process.stdin.write(f"{nr}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def program(refresh, number):
    """Its row, or None."""
    found = [row for row in refresh["programs"] if row["id"] == number]
    return found[0] if found else None


def rows_of(profile, module):
    return [row for row in profile["rows"] if row["module"] == module]


@case
def parts_of_known_size_come_in_their_order():
    need_live()
    with Screen() as screen, burner(f"{SPLIT}/split_pie", "60") as work:
        wanted = {"part_seventy": 0.7, "part_twenty": 0.2, "part_ten": 0.1}
        screen.until(lambda refresh: sum(row["samples"] for row in rows_of(refresh["profile"], "split_pie")) >= 600,
                     "samples of split_pie", f"needs={CPUS | PROFILE} hz=796")
        profile = screen.refresh()["profile"]
        rows = [row for row in rows_of(profile, "split_pie") if row["symbol"] in wanted]
        whole = sum(row["samples"] for row in rows)
        expect([row["symbol"] for row in rows] == list(wanted), f"order {[row['symbol'] for row in rows]}")
        for row in rows:
            # 600 samples: one standard deviation of 0.7 is 0.019.
            expect_near(row["symbol"], row["samples"] / whole, wanted[row["symbol"]], absolute=0.08)
            expect(row["tgid"] == work.pid and row["comm"] == "split_pie", f"{row['comm']} {row['tgid']}")
            expect(not row["is_kernel"] and (row["file"] or "").endswith("parts.c"), f"{row['file']}")
            way = row["stacks"][0]["frames"]
            expect(way[:3] == [row["symbol"], "round_of_parts", "main"], f"way {way}")
        kept = sum(row["samples"] for row in profile["rows"])
        expect(kept == profile["samples"], f"rows have {kept} of {profile['samples']} samples")
        # One sample of each busy CPU whenever its time has come: of one, as work does not sleep. The host takes some of
        # that time, and the timer of an idle CPU may sleep, as perf's own samples show.
        expect_between("samples", profile["samples"] + profile["lost"] + profile["idle"],
                       0.8 * 796 * profile["seconds"], 1.1 * 796 * profile["seconds"] * os.cpu_count())


@case
def functions_of_the_kernel_have_names():
    need_live()
    with Screen() as screen, burner("dd", "if=/dev/zero", "of=/dev/null", "bs=1M"):
        refresh = screen.until(lambda refresh: any(row["is_kernel"] and row["comm"] == "dd" and row["samples"] > 20
                                             for row in refresh["profile"]["rows"]), "samples of dd", f"needs={CPUS | PROFILE}")
        row = next(row for row in refresh["profile"]["rows"] if row["is_kernel"] and row["comm"] == "dd")
        expect(row["module"] == "kernel" and not row["symbol"].startswith("["), f"{row['symbol']} of {row['module']}")


@case
def after_leaving_the_view_nothing_stays():
    need_live()
    with Screen() as screen:
        screen.sampled(1)
        expect(screen.holds("perf_event") and screen.holds("bpf-prog"), "nothing is open while it samples")
        refresh = screen.refresh(f"needs={CPUS}")
        expect(refresh["profile"] is None, "a profile without a view")
        screen.expect_nothing("perf_event", "bpf-prog", "bpf-map", "bpf_link", "bpf-link")
        # And again: it begins anew.
        again = screen.until(lambda refresh: not refresh["profile"]["is_starting"], "second start", f"needs={CPUS | PROFILE}")
        expect_between("seconds of the second stay", again["profile"]["seconds"], 0, 30)
        screen.refresh(f"needs={CPUS}")
        screen.refresh(f"needs={CPUS | PROFILE}")  # back before the first has ended
        screen.sampled(1)
        screen.refresh(f"needs={CPUS}")
        screen.expect_nothing("perf_event", "bpf-prog", "bpf-map")


@case
def a_clear_and_another_rate_begin_anew():
    need_live()
    with Screen() as screen, burner(f"{SPLIT}/split_pie", "60"):
        first = screen.sampled(200)
        expect(first["hz"] == 199, f"{first['hz']} Hz")
        refresh = screen.refresh("clears=1")["profile"]
        expect(refresh["is_starting"] and not refresh["samples"], "samples after a clear")
        after = screen.until(lambda refresh: not refresh["profile"]["is_starting"], "start")["profile"]
        expect(after["seconds"] < first["seconds"] and after["samples"] < first["samples"], "nothing was cleared")
        refresh = screen.refresh("hz=398")["profile"]
        expect(refresh["is_starting"], "samples of two rates are mixed")
        fast = screen.sampled(300, "hz=398")
        expect(fast["hz"] == 398, f"{fast['hz']} Hz")
        refresh = screen.until(lambda refresh: refresh["profile"]["refusal"], "refusal", "hz=100000000")["profile"]
        expect("samples per second" in refresh["refusal"], refresh["refusal"])
        screen.sampled(1, "hz=99")  # a refused rate is not the end


@case
def what_was_found_of_a_process_that_has_ended_stays():
    need_live()
    with burner(f"{SPLIT}/split_pie", "60") as work:
        with Screen(f"tgid={work.pid}") as screen:
            screen.sampled(100)
            work.kill()
            screen.expect_nothing("perf_event")
            profile = screen.refresh()["profile"]
            expect(profile["refusal"] is None and profile["samples"] >= 100, f"{profile['refusal']}")
            expect({row["comm"] for row in profile["rows"]} == {"split_pie"}, "others were sampled")


@case
def refreshes_do_not_wait_for_names():
    need_live()
    if not shutil.which("clang"):
        raise Skip("needs a large program: clang")
    lines = "\n".join(f"int f{i}(int x) {{ return x * {i} + f{i // 2}(x - 1) % 7; }}" for i in range(1, 30000))
    with scratch() as folder:
        path = os.path.join(folder, "large.c")
        with open(path, "w", encoding="ascii") as file:
            file.write("int f0(int x) { return x; }\n" + lines)
        with Screen() as screen, burner("sh", "-c", f"while :; do clang -w -O2 -c {path} -o {folder}/o; done"):
            refreshes = []
            start = time.monotonic()
            meanwhile = Meanwhile(screen.process.pid)
            screen.refresh(f"needs={CPUS | PROFILE}")
            # On a slow CPU it takes its time to start.
            while time.monotonic() < start + (6 if not refreshes or refreshes[-1]["profile"]["samples"] > 200 else START_S):
                refreshes.append(screen.refresh())
                time.sleep(0.1)
            delayed_ns = meanwhile.delayed_ns()
            used_ns = screen.cpu_ns()
        profile = refreshes[-1]["profile"]
        expect(profile["samples"] > 200 and profile["nr_functions"] > 100, f"{profile['samples']} samples")
        expect(any("LLVM" in row["module"] or "clang" in row["module"] for row in profile["rows"]), "no clang")
        # A refresh that finds names itself would use most of what the whole process uses.
        cpu = [refresh["refresh_cpu_ns"] for refresh in refreshes]
        naming_ns = used_ns - sum(cpu)
        expect(max(cpu) < naming_ns / 4, f"a refresh takes {max(cpu) / 1e6} ms of CPU, all naming {naming_ns / 1e6}")
        # A quarter of the refreshes take at least so long: what was taken from all of them may have been taken from these.
        times = sorted(refresh["refresh_ns"] for refresh in refreshes)
        expect_between("time of a refresh", times[len(times) * 3 // 4], 0, REFRESH_NS, more=delayed_ns / (len(times) / 4))


@case
def without_rights_the_remedy_is_reported():
    need_live()
    with scratch() as folder:
        os.chmod(folder, 0o755)
        copy = os.path.join(folder, "hot_dump")
        shutil.copy(HOT_DUMP, copy)
        with Screen(program=copy, command=NOBODY) as screen:
            refresh = screen.until(lambda refresh: refresh["profile"]["refusal"], "refusal", f"needs={CPUS | PROFILE | BPF}")
            expect("root" in refresh["profile"]["refusal"], refresh["profile"]["refusal"])
            expect("root" in refresh["refusal"] and not refresh["programs"], f"{refresh['refusal']}")
    with Screen("proc=1") as screen:
        refresh = screen.refresh(f"needs={CPUS | PROFILE}")
        expect("--exclude-bpf" in refresh["profile"]["refusal"], refresh["profile"]["refusal"])
        expect(not screen.holds("perf_event", "bpf-prog"), "something was opened")


@case
def runs_are_counted_exactly():
    with Target() as target, Screen() as screen:
        number = target.ids["work"]
        before = program(screen.refresh(f"needs={CPUS | BPF}"), number)
        expect(before is not None, "the program is not in the list")
        start = target.run(0)
        for nr in (1, 1000, 234):
            account = target.run(nr)
            row = program(screen.refresh(), number)
            expect(row["runs"] - before["runs"] == account - start, f"{row['runs'] - before['runs']} runs, {account - start} by its account")
            tool = json.loads(subprocess.run(["bpftool", "-j", "prog", "show", "id", str(number)], check=True,
                                             capture_output=True, text=True).stdout)
            expect(tool["run_cnt"] == row["runs"] and tool["run_time_ns"] == row["run_ns"], f"bpftool has {tool}")
        expect(tool["name"] == row["name"] and tool["type"] == row["type"] and tool["btf_id"] == row["btf_id"], f"{tool} {row}")
        expect(row["is_gpl"] and row["nr_maps"] == len(tool["map_ids"]), f"{tool} {row}")
        # 10,000 rounds of a loop of some nanoseconds.
        expect_between("time per run", row["ns_per_run"], 2000, 2e6)
        expect_between("p50 of the means", row["p50_ns"], 2000, 2e6)


@case
def what_they_cost_is_a_share_of_all_cpus():
    with Target() as target, Screen() as screen:
        number = target.ids["work"]
        screen.refresh(f"needs={CPUS | BPF}")
        target.run(2000)
        refresh = screen.refresh()
        row = program(refresh, number)
        expect_near("CPU of the program", row["cpu"], row["ns_per_run"] * 2000 / 1e9 / refresh["interval_s"], relative=0.2)
        known = sum(row["cpu"] for row in refresh["programs"] if row["cpu"] is not None)
        expect_near("cost of all", refresh["cost"], known / os.cpu_count(), relative=1e-3, absolute=1e-6)


@case
def names_do_not_make_a_scheduler():
    with Target() as target, Screen() as screen:
        refresh = screen.refresh(f"needs={CPUS | BPF}")
        work = program(refresh, target.ids["work"])
        if "ssthresh" not in target.ids:
            raise NotHere("this kernel links no congestion control")
        expect(work["name"].startswith("enqueue_task") and not work["is_sched_ext"] and work["struct"] is None, f"{work}")
        for op in ("ssthresh", "cong_avoid"):
            row = program(refresh, target.ids[op])
            expect((row["type"], row["struct"], row["op"], row["owner"]) ==
                   ("struct_ops", "tcp_congestion_ops", op, "hot_test"), f"{row}")
            expect(not row["is_sched_ext"], f"{row}")


@case
def programs_that_end_leave_the_list():
    with Screen() as screen:
        with Target() as target:
            number = target.ids["work"]
            expect(program(screen.refresh(f"needs={CPUS | BPF}"), number) is not None, "not in the list")
        # The kernel frees programs a little later.
        screen.until(lambda refresh: program(refresh, number) is None, "end of the program")
        refresh = screen.refresh(f"program={number}")
        expect(refresh["program"] == 0, "a history of a program that is gone")


@case
def the_lines_of_a_program_have_their_shares():
    with Target() as target, Screen() as screen:
        number = target.ids["work"]
        screen.refresh(f"needs={CPUS | BPF} program={number}")
        expect("hot" not in screen.refresh(), "it is sampled without being asked")
        expect(not screen.holds("perf_event"), "events without being asked")
        end = time.monotonic() + START_S
        hot = {"samples": 0}
        while hot["samples"] < 400:
            target.run(500)
            refresh = screen.refresh("hot=1 hz=1592")
            hot = refresh["hot"]
            expect(time.monotonic() < end, f"only {hot['samples']} samples")
        expect(hot["refusal"] is None and screen.holds("perf_event"), f"{hot['refusal']}")
        expect(refresh["nr_history"] > 1, "no history")
        by_function = {}
        for line in hot["lines"]:
            by_function[line["function"]] = by_function.get(line["function"], 0) + line["samples"]
            expect(line["file"] is None or line["file"].endswith("hot.bpf.c"), f"{line}")
        expect_near("heavy", by_function["heavy"] / hot["samples"], 0.7, absolute=0.1)
        expect_near("light", by_function["light"] / hot["samples"], 0.3, absolute=0.1)
        first = hot["lines"][0]
        with open(os.path.join(os.path.dirname(__file__), "hot.bpf.c"), encoding="ascii") as file:
            text = file.read().splitlines()[first["line"] - 1]
        expect(first["function"] == "heavy" and first["text"].strip() == text.strip(), f"{first}, the file has {text}")
        expect(hot["seen"] >= hot["total"] >= hot["samples"], f"{hot}")
        refresh = screen.refresh("hot=0")
        expect("hot" not in refresh and not screen.holds("perf_event"), "it is still sampled")
        screen.refresh("hot=1")
        expect(screen.holds("perf_event"), "it is not sampled again")
        screen.refresh(f"needs={CPUS}")
        expect(not screen.holds("perf_event", "bpf-stats", "bpf-prog"), f"still open: {screen.holds('perf', 'bpf')}")


@case
def a_program_that_is_gone_cannot_be_sampled():
    need_live()
    with Screen() as screen:
        hot = screen.refresh(f"needs={CPUS | BPF} program=4294967295 hot=1")["hot"]
        expect("was unloaded" in hot["refusal"], f"{hot}")


if __name__ == "__main__":
    raise SystemExit(main())
