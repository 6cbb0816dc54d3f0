"""What the screen says of tasks and CPUs over time, on a real terminal (tmux), against the kernel's own accounts."""
import contextlib
import os
import pathlib
import re
import socket
import statistics
import subprocess
import time

import live
from test_screen import switch_programs, terminal
from test_zoom_screen import BUSY, NAMED, pinned

# A real-time task that starves what is on its CPU for longer than two looks, and then sleeps.
HOG_S, NAP_S, LOOKS_S = 0.5, 0.1, 4
HOG = NAMED + f"while True:\n end = time.monotonic() + {HOG_S}\n while time.monotonic() < end: pass\n time.sleep({NAP_S})"
PARENT = NAMED + ("import subprocess, sys\nchild = subprocess.Popen(['python3', '-c', "
                  "\"open('/proc/self/comm', 'w').write('{name}child')\\nimport time\\ntime.sleep(60)\"])\n"
                  "import signal\nsignal.signal(signal.SIGTERM, lambda *a: (child.kill(), sys.exit()))\ntime.sleep(60)")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def schedstat(pid):
    """(seconds that it ran, that it waited): waits that have ended."""
    run, wait, _ = pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()
    return int(run) / 1e9, int(wait) / 1e9


def shares(text, pid):
    """(RUN%, WAIT%) of the row of a thread; None while there is none."""
    found = re.search(rf"^│ +{pid} .*", text, re.MULTILINE)
    words = re.findall(r" (\d+\.\d)(?= )", found[0]) if found else []
    return (float(words[0]), float(words[1])) if len(words) > 1 else None


@live.case
def a_starved_thread_waits_at_every_look_as_schedstat_says():
    live.need_live()
    with pinned("tablehog", HOG, fifo=5), pinned("tablevictim", BUSY) as (pid, _), terminal(120, 30) as term:
        term.start("top")
        term.keys("y", "/")
        term.keys("-l", "tablevictim")
        term.keys("Enter")
        term.wait(lambda text: "source: BPF" in text and shares(text, pid) and shares(text, pid)[1] > 0, "waits")
        time.sleep(1)  # intervals before that are of both sources
        before, start, looks = schedstat(pid), time.monotonic(), []
        while time.monotonic() < start + LOOKS_S:
            look = shares(term.text(), pid)
            if look:
                looks.append(look)
            time.sleep(0.1)
        passed, after = time.monotonic() - start, schedstat(pid)
    live.expect(len(looks) >= 20, f"{len(looks)} looks")
    for run, wait in looks:
        live.expect(wait <= 100.5, f"waits {wait} %")
        # It never sleeps: what it does not run, it waits.
        live.expect_between("run and wait", run + wait, 97, 101)
    # A third of the looks lie within one wait, which has not ended.
    live.expect(max(wait for _, wait in looks) > 99, looks)
    wanted = 100 * (after[1] - before[1]) / passed
    slack = 100 * (HOG_S + 0.25) / passed  # a wait that had begun before, or has not ended; the interval that is shown
    live.expect_between("mean of WAIT%", statistics.mean(wait for _, wait in looks), wanted - slack, wanted + slack)


def legend_s(text, name):
    """Seconds that the legend has for a name."""
    found = re.search(rf"[a-p] {name} ([0-9.]+)(ns|us|ms|s)\b", text)
    return float(found[1]) * UNITS[found[2]] if found else 0


@live.case
def the_timeline_names_what_a_cpu_ran():
    live.need_live()
    with pinned("lanehog", HOG, fifo=5) as (pid, cpu), pinned("lanevictim", BUSY), terminal(120, 40) as term:
        term.start("top")
        term.wait(lambda _: switch_programs(term), "its own program")
        plain = switch_programs(term)
        term.keys("I")
        term.wait(lambda text: re.search(r"Timeline: [345]\.\d\ds", text), "three seconds")
        before, start = schedstat(pid), time.monotonic()
        text = term.wait(lambda text: re.search(r"Timeline: 5\.00s", text) and time.monotonic() > start + 6, "five new seconds")
        passed, after = time.monotonic() - start, schedstat(pid)
        lane = re.search(rf"^│ CPU {cpu} .*", text, re.MULTILINE)[0]
        live.expect("lanehog" in lane, text)
        waiting = text.split("\n")[[line.startswith(f"│ CPU {cpu} ") for line in text.split("\n")].index(True):]
        live.expect(re.search(r"[▁▂▃▄▅▆▇█]{10}", next(line for line in waiting if "waiting" in line)), text)
        ran = (after[0] - before[0]) / passed * 5
        live.expect_between("run by the legend", legend_s(text, "lanehog"), ran - 0.7, ran + 0.7)
        live.expect(re.search(r"1 +\S.* +\d+ +[0-9.]+[mu]?s +\d+ +", text), text)
        opened = switch_programs(term)
        # Those of the tables are detached when they have not been shown for a while.
        live.expect(len(opened - plain) == 1, f"{len(plain)} programs on switches, then {len(opened)}")
        term.keys("Enter")
        text = term.wait(lambda text: "Where its waits went" in text or "has ended" in text, "the task of the longest wait")
        if "has ended" in text:
            raise live.Disturbed("a task of others waited longest, and has ended")
        term.keys("Escape")
        term.wait_for("Timeline")
        term.keys("d")
        term.wait(lambda _: switch_programs(term) and not switch_programs(term) & (opened - plain), "end of its programs")


@live.case
def the_past_of_cpus_shows_a_full_one_and_who_waits_for_it():
    live.need_live()
    with pinned("pastone", BUSY) as (_, cpu), pinned("pasttwo", BUSY), terminal(120, 42) as term:
        term.start("top")
        number = re.compile(rf"^│ +{cpu} +.*⣿{{8}} │$", re.MULTILINE)  # the last line of its chart, and sixteen intervals
        term.wait(lambda text: "CPUs over time" in text and number.search(text), "a full CPU")

        def waiting(text):
            """The right end of the line above the chart."""
            lines = text.split("\n")
            at = next(i for i, line in enumerate(lines) if re.search(rf"^│ +{cpu} +.*⣿", line))
            while "⣿" in lines[at]:
                at -= 1
            return lines[at][-10:-2]

        text = term.wait(lambda text: number.search(text) and re.fullmatch("[▁▂▃▄▅▆▇█]{8}", waiting(text)), "tasks that wait")
        # Two that never sleep, on one CPU: one of them always waits.
        live.expect(float(re.search(r"a full block is ([0-9.]+)", text)[1]) >= 1, text)


@contextlib.contextmanager
def family_of(name):
    """A process and its child, which sleep."""
    with subprocess.Popen(["python3", "-c", PARENT.format(name=name)]) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


@live.case
def processes_are_added_up_by_name_and_cgroup_and_shown_as_a_tree():
    live.need_live()
    with family_of("many"), family_of("many") as parent, terminal(120, 30) as term:
        term.start("top")
        term.keys("p", "/")
        term.keys("-l", "many")
        term.keys("Enter")
        term.wait(lambda text: re.search(r"Processes 4 of \d+", text), "four processes")
        text = term.wait(lambda text: re.search(rf"^│ +{parent} many .* \d+(\.\d+)?[KMG] +│", text, re.MULTILINE), "its memory")
        term.keys("C")
        text = term.wait(lambda text: re.search(r"Names 2 of \d+ processes, filtered", text), "two names")
        live.expect(re.search(r"^│ +2 many +", text, re.MULTILINE), text)
        live.expect(re.search(r"^│ +2 manychild ", text, re.MULTILINE), text)
        live.expect("PROCS" in text and "PID" not in text, text)
        term.keys("Down", "Up", "Enter")
        term.wait(lambda text: re.search(r"Processes of many(child)?: 2", text), "the processes of the first group")
        term.keys("C")
        # Those of new processes are unknown ('?') until their files have been read.
        term.wait(lambda text: re.search(r"Cgroups \d+ of \d+ processes, filtered", text) and
                  re.search(r"^│ +4 /", text, re.MULTILINE), "one cgroup of four")
        term.keys("C")
        text = term.wait(lambda text: "Process tree 4" in text, "a tree")
        live.expect(re.search(rf"{parent} many .*\n│ +\d+ └ manychild", text), text)


@live.case
def the_kernels_own_memory_is_none():
    live.need_live()
    with terminal(120, 30) as term:
        term.start("top")
        term.keys("p", "/")
        term.keys("-l", "kthreadd")
        term.keys("Enter")
        term.wait(lambda text: re.search(r"^│ +2 kthreadd .* - +│", text, re.MULTILINE), "no memory")


@live.case
def enter_on_the_second_line_explains_the_wait():
    live.need_live()
    sentence = re.compile(r"\[(\d+)\] has waited \S+ .*; Enter explains")
    with pinned("verdicthog", HOG, fifo=5), pinned("verdictvictim", BUSY), terminal(120, 40) as term:
        term.start("top")
        for _ in range(10):  # between the look and the key another thread may have become the one that waits longest
            text = term.wait(lambda text: sentence.search(text.split("\n")[1]), "the sentence")
            tid = sentence.search(text.split("\n")[1])[1]
            term.keys("Enter")
            text = term.wait_for("Where its waits went")
            if f"[{tid}] of process" in text:
                break
            term.keys("Escape")
        live.expect(f"[{tid}] of process" in text, text)
        term.keys("Escape")
        term.wait(lambda text: sentence.search(text.split("\n")[1]), "the sentence again")


def meminfo():
    """What the kernel has of its memory, in KiB."""
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return {line.split(":")[0]: int(line.split()[1]) for line in lines}


def size_of(text, name):
    """The bytes of a line of memory."""
    found = re.search(rf"(?:^|  ) ?{name} +([0-9.]+)([KMGTB])\b", text, re.MULTILINE)
    return float(found[1]) * 1024 ** "BKMGT".index(found[2])


@live.case
def memory_is_the_kernels_in_all_its_lines():
    with terminal(80, 24) as term:
        term.start("top")
        term.keys("M", "M", "v", "v")
        text, kernel = term.wait_for("pages swapped out/s"), meminfo()
        live.expect("slab unreclaimable" in text, text)
        for name, key, slack in (("memory", "MemTotal", 0), ("commit limit", "CommitLimit", 0), ("slab", "Slab", 0.1),
                                 ("page tables", "PageTables", 0.5), ("used", None, 0.2)):
            wanted = 1024 * (kernel[key] if key else kernel["MemTotal"] - kernel["MemAvailable"])
            live.expect_between(name, size_of(text, name), wanted * (0.99 - slack), wanted * (1.01 + slack))
        term.keys("v")
        term.wait_for("BEFORE")
        term.keys("G")
        term.wait_for(" swap  ")
        term.resize(120, 40)
        term.wait(lambda text: re.search(r"Memory \S+ used ─* last [1-9]", text), "its past")


@live.case
def the_network_has_what_went_over_it():
    with terminal(120, 40) as term, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        to.bind(("127.0.0.1", 0))
        term.start("top", "-r", "1000")
        term.keys("N", "N")
        term.wait_for(" lo in: ")
        end = time.monotonic() + 4
        while time.monotonic() < end:
            sender.sendto(bytes(1000), to.getsockname())
            time.sleep(0.002)
        found = re.search(r" lo in: ([0-9.]+)([BKM])/s", term.text())
        rate = float(found[1]) * 1024 ** "BKM".index(found[2])
        live.expect(rate > 200 * 1000, f"{rate} bytes per second")


@live.case
def wide_screens_are_filled_and_nothing_collides():
    live.need_live()
    with terminal(240, 70) as term:
        term.start("top")
        term.wait(lambda text: all(word in text for word in ("CPUs over time", "Wakeup latency over time", "CPU pressure, some %")),
                  "CPUs, heat map and pressure")
        for width, height in ((80, 24), (120, 40), (200, 60), (240, 70)):
            term.resize(width, height)
            for key in "dpylniWTI!OMN":
                term.keys(key)
                time.sleep(0.3)
                # At a look a frame may be half drawn.
                term.wait(lambda text: len({text.count(corner) for corner in "┌┐└┘"}) == 1 and text.split("\n")[0].endswith("ms"),
                          f"whole frames of {key} at {width}x{height}")


if __name__ == "__main__":
    os.environ.pop("TMUX", None)
    raise SystemExit(live.main(at_once=2))
