"""What the screen says of the waits of one thread, on a real terminal (tmux): live and in a recording."""
import contextlib
import os
import re
import subprocess

import live
from test_player_screen import TRACE, wait_until
from test_screen import switch_programs, terminal

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
TOTAL = re.compile(r"Where its waits went: ([0-9.]+)([num]?s) in ([0-9.]+) s")
HOG_S, NAP_S = 0.04, 0.01
NAMED = "open('/proc/self/comm', 'w').write('{name}')\nimport time\n"
BUSY = NAMED + "while True: pass"
# It leaves the CPU now and then: the rest of the machine needs it as well.
HOG = NAMED + f"while True:\n end = time.monotonic() + {HOG_S}\n while time.monotonic() < end: pass\n time.sleep({NAP_S})"


def total_of(text):
    """(ns that it waited, seconds of the window)."""
    found = TOTAL.search(text)
    return float(found[1]) * UNITS[found[2]], float(found[3])


def part_of(text, name):
    """ns that the legend has for a name, of whatever class."""
    found = re.findall(r" " + re.escape(name) + r"(?: \([^)]*\))? ([0-9.]+)([num]?s) <?[0-9]+%", text)
    return sum(float(number) * UNITS[unit] for number, unit in found)


def zoom_into(term, name):
    """Enters the only thread of that name."""
    term.keys("y", "/")
    term.keys("-l", name)
    term.keys("Enter")
    term.wait_for("Threads 1 of")
    term.keys("Enter")


@contextlib.contextmanager
def pinned(name, code, fifo=0):
    """A process on the last CPU."""
    cpu = max(os.sched_getaffinity(0))

    def prepare():
        os.sched_setaffinity(0, {cpu})
        if fifo:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(fifo))

    with subprocess.Popen(["python3", "-c", code.format(name=name)], preexec_fn=prepare) as process:
        try:
            yield process.pid, cpu
        finally:
            process.kill()


@live.case
def a_thread_behind_a_pinned_hog_has_it_in_its_bar():
    live.need_live()
    with pinned("zoomhog", HOG, fifo=50), pinned("zoomvictim", BUSY) as (_, cpu), terminal(160, 50) as term:
        term.start("top")
        term.wait(lambda _: switch_programs(term), "its own program")
        plain = switch_programs(term)
        zoom_into(term, "zoomvictim")
        term.wait(lambda text: TOTAL.search(text) and total_of(text)[1] >= 3, "three seconds of waits")
        opened = switch_programs(term)
        meanwhile = live.Meanwhile()
        text = term.wait(lambda text: total_of(text)[1] >= 4.9, "a whole window")
        waited, seconds = total_of(text)
        taken = meanwhile.taken_ns(cpu) * seconds / 1.9  # as much may have been taken before
        live.expect(re.search(r"A zoomhog \(FIFO 50\) ", text), text)
        live.expect_between("behind the hog", part_of(text, "zoomhog (FIFO 50)"), 0.9 * waited, waited * 1.01, less=taken)
        live.expect_between("waited", waited, 0.6 * seconds * 1e9, seconds * 1e9, less=taken)
        live.expect(re.search(r"(Longest, \S+ ago|Longest, not over|STALLED for \S+): zoomvictim \(", text), text)
        live.expect("Slept for: no sleep was seen" in text, text)
        # The zoom's own sums and the events: two more, and none when it is left.
        live.expect(len(opened) == len(plain) + 2, f"{len(plain)} programs on switches, then {len(opened)}")
        term.keys("Escape")
        term.wait(lambda _: switch_programs(term) == plain, "end of its programs")
        term.keys("C-c")
        term.check_restored(0)


def blamed(tid, position, length):
    """What `analyze blame` says of the same time."""
    return live.ask("analyze", str(TRACE), "blame", "--tid", str(tid), "--from", f"{position - length}s", "--to", f"{position}s")


@live.case
def in_a_recording_sums_are_those_of_the_analysis():
    name = "lock-b"
    with terminal(160, 50) as term:
        term.start("top", str(TRACE), "-r", "500")
        term.keys("Space", "^", "y", "/")
        term.keys("-l", name)
        term.keys("Enter")
        term.wait_for("Threads ")
        term.keys("Enter")
        tid = int(re.search(name + r" \[(\d+)\] of process", term.wait_for("of process"))[1])
        for position in (0.5, 1.0, 1.5, 2.0):
            wait_until(term, position)
            text = term.wait_for("Where its waits went")
            want = blamed(tid, position, 0.5)
            if want["wait_ns"]:
                waited, seconds = total_of(text)
                live.expect_near("seconds", seconds, 0.5)
                live.expect_near("waited", waited, want["wait_ns"], relative=0.005)
                first = want["victims"][0]["blames"][0]
                live.expect_near("behind " + first["comm"], part_of(text, first["comm"]), first["wait_ns"], relative=0.005)
                live.expect("Slept for: not recorded" in text, text)
            else:
                live.expect("it did not wait for a CPU" in text, text)
            term.keys("Right")
        term.keys("C-c")
        term.check_restored(0)


if __name__ == "__main__":
    raise SystemExit(live.main())
