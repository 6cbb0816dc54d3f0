"""`schedscope top` on a real terminal (tmux): keys, sizes, and what it leaves behind."""
import contextlib
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import time

import live

READY = "shell-is-back"
DEMO = os.environ.get("SCREEN_DEMO", str(live.ROOT / "build/tests/tui/screen_demo"))
# Every key that has a meaning, as tmux writes it; those that end or stop the program are tried alone.
KEYS = ["d", "l", "n", "p", "y", "s", "i", "I", "b", "M", "M", "M", "N", "N", "N", "B", "W", "T", "m", "e", "z", "Escape", "K", "z", "Escape", "h", "?", "O",
        "Space", "Space", "v", "Tab", "c", "c", "C", "C", "C", "C", ">", "Right", "<", "Left", "r", "f", "F", "L", "u", "H", "t", "-", "+",
        "=", "Up", "Down", "PageUp", "C-u", "C-b", "PageDown", "C-d", "C-f", "Home", "g", "End", "G", "Enter", "Escape",
        "BSpace", "j", "k", "x", "[", "]", "R", "R", "S", "!", "/", "z", "q", "BSpace", "Enter", "Escape", "F5", "\u00e9"]


class Terminal:
    """A shell in tmux, in a folder of its own."""

    def __init__(self, width, height):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="screen-"))
        self.socket = str(self.folder / "socket")
        env = f"env -u NO_COLOR -u COLORTERM LC_ALL=C.UTF-8 XDG_CONFIG_HOME={self.folder} PS1='{READY}$ '"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  f"cd {self.folder} && {env} bash --norc --noprofile")
        self.tmux("set-option", "-g", "escape-time", "0")
        self.wait_for(READY)

    def tmux(self, *words):
        """What a command of tmux printed."""
        done = subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True, timeout=live.WAIT_S)
        return done.stdout.decode()

    def close(self):
        """Ends the server, and with it all that runs in it."""
        with contextlib.suppress(subprocess.SubprocessError):
            self.tmux("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self):
        """What the terminal shows."""
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys):
        """Presses keys."""
        self.tmux("send-keys", *keys)

    def resize(self, width, height):
        """Gives the window another size, and waits until the screen fills it."""
        self.tmux("resize-window", "-x", str(width), "-y", str(height))
        self.wait(lambda text: text.split("\n")[height - 1].strip(), f"a footer at {width}x{height}")

    def wait(self, condition, what):
        """Until the text has what is wanted; the text."""
        end = time.monotonic() + live.WAIT_S
        while time.monotonic() < end:
            text = self.text()
            if condition(text):
                return text
            time.sleep(0.05)
        raise AssertionError(f"no {what} in:\n{self.text()}")

    def wait_for(self, word):
        """Until a word is seen."""
        return self.wait(lambda text: word in text, repr(word))

    def start(self, *words, env="", program=live.SCHEDSCOPE):
        """Starts the screen, and waits for its first figures."""
        command = " ".join([env, shlex.quote(program), *words])
        self.keys("-l", f"clear; {command}; echo ended=$?")
        self.keys("Enter")
        return self.wait(lambda text: "ms" in text.split("\n")[0] and "measuring" not in text and READY not in text, "screen")

    def pid(self):
        """Of the program that runs in the shell."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        return int(pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def check_restored(self, ended):
        """The shell is back on its own screen, with its cursor, echo and line editing, and without the mouse."""
        self.wait_for(f"ended={ended}")
        flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}"
        assert self.tmux("display-message", "-p", flags).split() == ["0", "1", "0", "0"]
        self.keys("-l", "clear; stty -a | grep -ow -e '-\\?echo' -e '-\\?icanon' -e '-\\?isig' -e '-\\?opost'; echo all=shown")
        self.keys("Enter")
        shown = self.wait(lambda text: "\nall=shown" in text, "all=shown").split("\n")
        assert {"echo", "icanon", "isig", "opost"} <= {line.strip() for line in shown}, shown


@contextlib.contextmanager
def terminal(width=80, height=24):
    """A terminal for one case."""
    if not shutil.which("tmux"):
        raise live.Skip("tmux is not installed")
    term = Terminal(width, height)
    try:
        yield term
    finally:
        term.close()


def family(pid):
    """A process and all that it has started, and those."""
    pids = [pid]
    for parent in pids:
        with contextlib.suppress(OSError):
            pids += [int(child) for child in
                     pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()]
    return pids


def recorder_of(term):
    """The process that records beside the screen; 0 = none."""
    for pid in family(term.pid())[1:]:  # others open what the screen may not, and have other words
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:2] == [b"record"]:
                return pid
    return 0


def has_dropped_rights(pid):
    """A recorder does when all its programs are attached."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"Uid:\s+(\d+)", status).group(1)) != 0


def switch_programs(term):
    """Ids of the programs on sched_switch that the screen and its processes hold."""
    found = set()
    for pid in family(term.pid()):
        for info in pathlib.Path(f"/proc/{pid}/fdinfo").glob("*"):
            with contextlib.suppress(OSError):  # closed meanwhile
                lines = info.read_text(encoding="ascii").splitlines()
                facts = dict(line.split(":", 1) for line in lines if ":" in line)
                if facts.get("tp_name", "").strip() == "sched_switch":
                    found.add(facts["prog_id"].strip())
    return found


def libc():
    """The C library that Python uses."""
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    return next(line.split()[-1] for line in maps.splitlines() if "libc.so" in line)


def check_clean(text):
    """No control bytes, no broken characters, no words of a crash."""
    assert all(c == "\n" or c >= " " for c in text), repr(text)
    assert not set(text) & set("\ufffd\u202e\x9b"), repr(text)
    for word in ("Segmentation", "runtime error", "AddressSanitizer", "Assertion"):
        assert word not in text, text


def press_all(term):
    """Every key at every size; then the end."""
    for width, height in ((20, 5), (80, 24), (240, 70)):
        term.resize(width, height)
        for key in KEYS:
            term.keys(key)
            check_clean(term.text())
        lines = term.text().split("\n")
        assert len(lines) <= height + 1 and max(map(len, lines)) <= width
    term.keys("C-c")
    term.check_restored(0)


@live.case
def every_key_at_every_size():
    with terminal() as term:
        term.start("-r", "100")
        press_all(term)


@live.case
def machines_of_any_size():
    for cpus, threads in ((1, 0), (1, 1), (17, 300), (512, 50000)):
        with terminal() as term:
            term.start(str(cpus), str(threads), program=DEMO)
            press_all(term)


@live.case
def names_cannot_reach_the_terminal():
    with terminal() as term:
        term.start("4", "100", "hostile", program=DEMO)
        for key in ("p", "y", "Enter", "b", "Enter", "T", "N", "N", "s"):
            term.keys(key)
            check_clean(term.text())
            assert "owned" not in term.tmux("display-message", "-p", "#{pane_title}")
        term.keys("C-c")
        term.check_restored(0)


@live.case
def views_survive_being_resized_while_they_run():
    with terminal() as term:
        term.start("-r", "50")
        for key in ("d", "l", "n", "p", "s", "i", "b", "Enter", "T", "h"):
            term.keys(key)
            for width, height in ((20, 5), (240, 70), (1, 1), (80, 24)):
                term.tmux("resize-window", "-x", str(width), "-y", str(height))
            term.wait(lambda text: text.split("\n")[23].strip(), f"footer of {key}")
            check_clean(term.text())
        term.keys("C-c")
        term.check_restored(0)


@live.case
def ctrl_c_ends_it_and_esc_does_not():
    with terminal() as term:
        term.start()
        term.keys("s")
        for _ in range(3):
            term.keys("Escape")
        term.wait_for("CPU")
        assert "ended=" not in term.text()
        term.keys("C-c")
        term.check_restored(0)


@live.case
def signals_leave_the_terminal_as_it_was():
    for name, ended in (("TERM", 0), ("INT", 0), ("SEGV", 139), ("ABRT", 134)):
        with terminal() as term:
            term.start("--keep", "5s")
            recorder = term.wait(lambda _: recorder_of(term), "recorder") and recorder_of(term) if live.CAN_RUN else 0
            os.kill(term.pid(), getattr(live.signal, "SIG" + name))
            term.check_restored(ended)
            if recorder:
                term.wait(lambda _, pid=recorder: not pathlib.Path(f"/proc/{pid}").exists(), "end of the recorder")


@live.case
def it_ends_at_once_while_programs_are_attached():
    live.need_live()
    with terminal() as term:
        term.start("top")
        live.expect("source: /proc" in term.text() or "source" not in term.text(), term.text())
        held = family(term.pid())
        start = time.monotonic()
        term.keys("C-c")
        term.wait_for("ended=0")
        live.expect(time.monotonic() - start < 1.5, "it waits for its programs")
        term.check_restored(0)
        end = time.monotonic() + live.WAIT_S
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in held) and time.monotonic() < end:
            time.sleep(0.1)
        live.expect(not any(pathlib.Path(f"/proc/{pid}").exists() for pid in held), "processes are left")


@live.case
def a_killed_screen_leaves_nothing_that_records():
    with terminal() as term:
        if not live.CAN_RUN:
            raise live.Skip("needs root and BTF")
        term.start("--keep", "5s")
        term.wait(lambda _: recorder_of(term), "recorder")
        recorder = recorder_of(term)
        os.kill(term.pid(), live.signal.SIGKILL)
        term.wait(lambda _: not pathlib.Path(f"/proc/{recorder}").exists(), "end of the recorder")


@live.case
def ctrl_z_stops_it_and_fg_brings_it_back():
    with terminal() as term:
        term.start()
        term.keys("C-z")
        term.wait_for("Stopped")
        assert term.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
        term.keys("-l", "fg")
        term.keys("Enter")
        term.wait(lambda text: "ms" in text.split("\n")[0] and "Stopped" not in text, "screen")
        term.keys("q")
        term.wait_for(READY)


@live.case
def a_stop_from_outside_and_ctrl_l_paint_it_again():
    with terminal() as term:
        term.start("40", "100", program=DEMO)
        pid = term.pid()
        os.kill(pid, live.signal.SIGSTOP)
        term.wait_for("Stopped")  # the shell writes into what is shown
        term.keys("-l", "fg")
        term.keys("Enter")
        term.wait(lambda text: "ms" in text.split("\n")[0] and "Stopped" not in text and "fg" not in text.split(), "screen")
        # What another program writes to the terminal stays until it is asked for.
        name = term.tmux("display-message", "-p", "#{pane_tty}").strip()
        pathlib.Path(name).write_text("\033[5;5Hscribble", encoding="ascii")
        term.wait_for("scribble")
        term.keys("C-l")
        term.wait(lambda text: "scribble" not in text, "screen that is whole")
        term.keys("q")
        term.keys("-l", "echo ended=0")  # the shell has reported the end when it was stopped
        term.keys("Enter")
        term.check_restored(0)


@live.case
def what_is_pasted_is_text_and_no_keys():
    with terminal() as term:
        term.start("4", "100", program=DEMO)
        paste = ["paste-buffer", "-p", "-d"]
        term.tmux("set-buffer", "q\nqh\nq")  # each of these letters would be a command
        term.tmux(*paste)
        term.keys("p")
        term.keys("/")
        term.tmux("set-buffer", "ngi\nnx")
        term.tmux(*paste)
        term.wait_for("nginx")
        term.keys("Escape")
        term.keys("q")
        term.check_restored(0)


@live.case
def colours_follow_the_terminal_and_the_user():
    dark = "COLORFGBG='15;0'"  # on an unknown background the colours are the terminal's own
    with terminal() as term:
        for env, wanted, unwanted in ((f"{dark} COLORTERM=truecolor", "\033[38;2;", None), ("COLORTERM=truecolor", "\033[3", "\033[38;"),
                                      (f"{dark} TERM=tmux-256color", "\033[38;5;", "\033[38;2;"),
                                      (f"{dark} NO_COLOR=1 COLORTERM=truecolor", None, "\033[3"),
                                      (f"{dark} TERM=screen", "\033[3", "\033[38;")):
            term.start(env=env)
            shown = term.tmux("capture-pane", "-p", "-e")
            assert wanted is None or wanted in shown, (env, shown)
            assert unwanted is None or unwanted not in shown.replace("\033[39m", ""), (env, shown)
            term.keys("q")
            term.wait_for("ended=0")


@live.case
def settings_are_saved_and_come_back():
    with terminal() as term:
        term.start()
        term.keys("t", "t", "+", "S")
        term.wait_for("settings saved in")
        term.keys("q")
        term.wait_for("ended=0")
        path = term.folder / "schedscope/config.toml"
        text = path.read_text()
        assert 'theme = "IAmBlue"' in text and "tick_rate_ms = 350" in text, text
        path.write_text("# mine\n" + text)
        assert "350ms" in term.start()
        term.keys("t", "S")
        term.wait_for("settings saved in")
        assert path.read_text().startswith('# mine\ntheme = "SolarizedDark"')
        term.keys("q")
        term.check_restored(0)


@live.case
def a_broken_settings_file_is_reported_before_the_screen():
    with terminal() as term:
        (term.folder / "schedscope").mkdir()
        (term.folder / "schedscope/config.toml").write_text("theme = \n")
        term.keys("-l", f"clear; {live.SCHEDSCOPE}; echo ended=$?")
        term.keys("Enter")
        assert "line 1" in term.wait_for("ended=2")


@live.case
def the_mouse_selects_a_row():
    with terminal() as term:
        term.start("-r", "5000", env="TERM=xterm-256color")
        term.keys("p")
        term.wait_for("CPU")
        # A terminal would send this for a press at column 10, row 8, and a turn of the wheel.
        term.keys("-l", "\033[<0;10;8M")
        term.keys("-l", "\033[<65;10;8M")
        term.keys("Enter")
        check_clean(term.wait(lambda text: re.search(r"\]: \d+ threads? ", text), "threads of a process"))
        term.keys("q", "q")
        term.check_restored(0)


@live.case
def a_click_on_a_title_sorts_by_it():
    with terminal(120, 24) as term:
        term.start("-r", "5000", env="TERM=xterm-256color")
        term.keys("p")
        text = term.wait(lambda text: text.startswith("Processes") and "\u25bcRUN%" in text, "sorted processes")
        row = next(i for i, line in enumerate(text.split("\n")) if "NAME" in line)
        column = text.split("\n")[row].index("NAME")
        click = f"\033[<0;{column + 2};{row + 1}M\033[<0;{column + 2};{row + 1}m"
        term.keys("-l", click)
        term.wait_for("NAME\u25b2")
        term.keys("-l", click)
        term.wait_for("NAME\u25bc")
        term.keys(">")
        term.wait_for("sorted by S")
        term.keys("h")
        before = term.wait_for("Help")
        term.keys("-l", "\033[<65;10;8M")
        term.wait(lambda text: text != before and "Help" in text, "help that has scrolled")
        term.keys("q", "q")
        term.check_restored(0)


@live.case
def a_thread_shows_its_wakers_and_stays_when_it_ends():
    live.need_live()
    nap = "import time\nopen('/proc/self/comm', 'w').write('zoomnap')\nwhile True: time.sleep(0.005)"
    sleeper = subprocess.Popen(["python3", "-c", nap])
    try:
        with terminal(100, 40) as term:
            term.start("top")
            term.keys("y", "/")
            term.keys("-l", "zoomnap")
            term.wait(lambda text: f"{sleeper.pid} zoomnap" in text, "the sleeper")
            term.keys("Enter")
            term.wait_for("Threads 1 of")
            term.keys("Enter")
            term.wait(lambda text: "Woken by" in text and "timer interrupt" in text and " S 5." in text, "its waker")
            assert f"zoomnap [{sleeper.pid}]" in term.text()
            sleeper.kill()
            sleeper.wait()
            text = term.wait_for("ended: zoomnap")
            assert "timer interrupt" in text, text
            term.keys("q", "q")
            term.check_restored(0)
    finally:
        sleeper.kill()
        sleeper.wait()


@live.case
def a_key_records_and_the_notice_says_where():
    with terminal(200, 24) as term:
        if not live.CAN_RUN:
            raise live.Skip("needs root and BTF")
        term.start("-t", str(term.folder / "mine"), "--trace-duration-ms", "200")
        term.keys("P")
        term.wait_for("from now on: nothing before the key is included")
        term.wait_for("recorded " + str(term.folder / "mine_0.pftrace"))
        assert (term.folder / "mine_0.pftrace").stat().st_size > 1000
        term.keys("q")
        term.check_restored(0)


@live.case
def what_happened_before_the_key_is_recorded_too():
    """With --keep: a task that ended before the key was pressed is in the file."""
    with terminal(200, 24) as term:
        if not live.CAN_RUN:
            raise live.Skip("needs root and BTF")
        term.start("-t", str(term.folder / "mine"), "--trace-duration-ms", "100", "--keep", "4s")
        term.wait(lambda _: recorder_of(term), "recorder")
        term.wait(lambda _: has_dropped_rights(recorder_of(term)), "recorder that records")
        assert pathlib.Path(f"/proc/{recorder_of(term)}/comm").read_text(encoding="utf-8") == "schedscope\n"
        name = f"gone-{os.getpid()}"
        live.workload("crowd", nr=1, us=1000, ms=200, name=name)
        time.sleep(0.2)
        term.keys("w")
        term.wait_for("writing the last 4.0 s and the next 0.1 s")
        term.wait_for("on request")
        path, = term.folder.glob("mine-*.pftrace")
        reported = subprocess.run([live.SCHEDSCOPE, "query", str(path), "--comm", name, "--json"], capture_output=True, text=True,
                              timeout=60, check=True).stdout
        assert name in reported, reported[:500]
        recorder = recorder_of(term)
        term.keys("q")
        term.check_restored(0)
        assert not pathlib.Path(f"/proc/{recorder}").exists()


@live.case
def a_plain_screen_has_one_program_on_switches_and_an_armed_recorder_adds_one():
    with terminal(160, 24) as term:
        if not live.CAN_RUN:
            raise live.Skip("needs root and BTF")
        term.start()
        term.wait_for("source: BPF")
        term.wait(lambda _: switch_programs(term), "program")
        time.sleep(1)  # what else the screen might start by itself
        plain = switch_programs(term)
        assert len(plain) == 1 and not recorder_of(term), plain
        term.keys("R")
        term.wait_for("flight recorder armed: it keeps the last 5.0 s")
        term.wait(lambda _: len(switch_programs(term)) == 2, "program of the recorder")
        term.wait(lambda text: re.search(r"REC 5s \d+\.\d%", text), "cost of the recorder")
        term.keys("R")
        term.wait(lambda text: "the flight recorder is off" in text or "REC" not in text, "word of its end, which stands for seconds")
        term.wait(lambda text: switch_programs(term) == plain and "REC" not in text, "end of the recorder")
        term.wait(lambda _: not recorder_of(term), "end of its process")
        term.keys("q")
        term.check_restored(0)


@live.case
def who_keeps_whom_waiting_is_recorded_while_it_is_shown():
    """Two hogs of one name share a CPU: they keep each other waiting."""
    live.need_live()
    with terminal(120, 40) as term:
        term.start("top")
        term.wait(lambda _: switch_programs(term), "program")
        plain = switch_programs(term)
        hogs = live.Work("hogs", nr=2, ms=6000, cpu=1)
        term.keys("!")
        term.wait(lambda text: re.search(r"\bhog +[0-9.]+m?s .*\bhog \d+%", text), "a hog behind a hog")
        recording = switch_programs(term) - plain
        assert recording, plain
        term.keys("d")  # whose own program may have been detached meanwhile, and another attached now
        term.wait(lambda _: switch_programs(term) and not switch_programs(term) & recording, "end of the recording")
        hogs.kill()
        term.keys("q")
        term.check_restored(0)


@live.case
def who_keeps_whom_waiting_is_by_cgroup_if_asked_for():
    live.need_live()
    with terminal(120, 40) as term:
        hogs = live.Work("hogs", nr=2, ms=6000, cpu=1)
        term.start("top", "--by", "cgroup")
        term.keys("!")
        term.wait_for("Blame by cgroup: ")
        term.wait(lambda text: re.search(r"/\S* +[0-9.]+m?s .*/\S* \d+%", text), "a cgroup behind a cgroup")
        hogs.kill()
        term.keys("q")
        term.check_restored(0)


@live.case
def the_screen_of_one_thread_adds_programs_on_switches_until_it_is_left():
    live.need_live()
    nap = "import time\nopen('/proc/self/comm', 'w').write('zoomnap')\nwhile True: time.sleep(0.005)"
    sleeper = subprocess.Popen(["python3", "-c", nap])
    try:
        with terminal(100, 40) as term:
            term.start("top")
            term.wait(lambda _: switch_programs(term), "program")
            plain = switch_programs(term)
            assert len(plain) == 1, plain
            term.keys("y", "/")
            term.keys("-l", "zoomnap")
            term.wait(lambda text: f"{sleeper.pid} zoomnap" in text, "the sleeper")
            term.keys("Enter")
            term.wait_for("Threads 1 of")
            term.keys("Enter")
            term.wait_for("Woken by")
            # Its own sums, and the events of the last seconds: where its waits went.
            term.wait(lambda _: len(switch_programs(term)) == 3, "programs of the thread")
            assert plain < switch_programs(term), switch_programs(term)
            term.keys("Escape")
            term.wait(lambda _: switch_programs(term) == plain, "end of those programs")
            term.keys("q")
            term.check_restored(0)
    finally:
        sleeper.kill()
        sleeper.wait()


@live.case
def a_slow_call_writes_what_is_kept():
    with terminal(200, 24) as term:
        if not live.CAN_RUN:
            raise live.Skip("needs root and BTF")
        flag = "--experimental-long-tail-tracing"
        term.start("-t", str(term.folder / "mine"), "--trace-duration-ms", "100", flag, f"{flag}-symbol", "usleep",
                   f"{flag}-binary", libc(), f"{flag}-min-latency-ns", "200000000")
        term.wait(lambda _: recorder_of(term), "recorder")
        term.wait(lambda _: has_dropped_rights(recorder_of(term)), "recorder that records")
        slow = "import ctypes; libc = ctypes.CDLL(None); libc.usleep(1000); libc.usleep(300000)"
        subprocess.run(["python3", "-c", slow], check=True, timeout=30)
        term.wait_for("recorded")
        path, = term.folder.glob("mine-*.pftrace")
        assert "uprobe" in path.name, path
        term.keys("q")
        term.check_restored(0)


@live.case
def a_recording_that_fails_says_why():
    with terminal(200, 24) as term:
        term.start("-t", "/nonexistent/folder/mine")
        term.keys("a")
        term.wait_for("not recorded: cannot")
        term.keys("q")
        term.check_restored(0)


def samples_of(text):
    """How many the title of the profile shows; 0 while there is none."""
    found = re.search(r"CPU profile: (\d+) samples", text)
    return int(found.group(1)) if found else 0


def perf_events(pid):
    """Descriptors of perf that a process holds."""
    links = []
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(path))
    return sum("perf_event" in link for link in links)


@live.case
def the_profile_goes_on_through_the_help_and_ends_with_the_view():
    with terminal(150, 40) as term, subprocess.Popen(["sh", "-c", "while :; do :; done"]) as hog:
        try:
            if not live.CAN_RUN:
                raise live.Skip("needs root and BTF")
            term.start("-r", "100")
            pid = term.pid()
            before = perf_events(pid)
            term.keys("T")
            first = samples_of(term.wait(lambda text: samples_of(text) > 50, "50 samples"))
            assert "[U] " in term.text() and "199 Hz" in term.text(), term.text()
            term.keys("h")
            term.wait_for("CPU profile: hottest functions")
            assert perf_events(pid) > before
            term.keys("T")
            term.wait(lambda text: samples_of(text) > first + 50, "more samples than before the help")
            term.keys("]")
            term.wait(lambda text: "398 Hz" in text and 0 < samples_of(text) < 5000, "another rate")
            term.keys("x")
            term.wait_for("samples cleared")
            term.keys("d")
            term.wait(lambda _: perf_events(pid) == before, "end of the sampling")
            term.keys("q")
            term.check_restored(0)
        finally:
            hog.kill()


@live.case
def a_bpf_program_is_entered_sampled_and_left():
    with terminal(150, 40) as term:
        if not live.CAN_RUN:
            raise live.Skip("needs root and BTF")
        term.start("-r", "100", "--keep", "1s")  # its recorder is a program to enter
        pid = term.pid()
        before = perf_events(pid)
        term.keys("b")
        for _ in range(5):  # the first of the list may be one of a test that runs beside this one, and end
            term.wait(lambda text: "BPF programs" in text and "on_switch" in text, "program of the recorder")
            term.keys("Enter")
            shown = term.wait(lambda text: "p samples the program" in text or "was unloaded" in text, "the program")
            if "was unloaded" not in shown:
                term.keys("p")
                shown = term.wait(lambda text: "samples in it" in text or "was unloaded" in text, "samples in it")
            if "was unloaded" not in shown:
                break
            term.keys("Escape")
        assert "samples in it" in shown, shown
        assert perf_events(pid) > before
        term.keys("Escape")
        term.wait_for("BPF programs")
        term.wait(lambda _: perf_events(pid) == before, "end of the sampling")
        term.keys("q")
        term.check_restored(0)


@live.case
def off_a_terminal_it_prints_a_summary():
    done = subprocess.run([live.SCHEDSCOPE], capture_output=True, text=True, timeout=60, check=False)
    if live.CAN_RUN:
        assert done.returncode == 0 and done.stdout and "\033" not in done.stdout, done


def title(text, word):
    """The title of the panel that has a word in it; while there is none, that of one without a figure."""
    return next((line for line in text.split("\n") if "CPUs (" in line and word in line), "-/s")


@live.case
def an_event_is_chosen_from_a_list_and_counted():
    live.need_live()
    with terminal(100, 30) as term:
        term.start("-e", "--default-profiling-event", "perf:sw:context-switches")
        term.wait(lambda text: "-/s" not in title(text, "(context-switches)"), "switches")
        term.keys("e")
        term.wait_for("# > _")
        term.keys("-l", ":sched_switch")  # without tracefs no one knows its subsystem
        term.wait_for("found 1")
        term.keys("Enter")
        shown = term.wait(lambda text: "-/s" not in title(text, ":sched_switch)"), "its count")
        assert " avg " in title(shown, ":sched_switch)"), shown
        term.keys("x")
        term.wait_for("(context-switches)")
        term.keys("K")
        term.wait(lambda text: "Functions of the kernel" in text and "reading" not in text, "functions")
        term.keys("Escape")
        term.wait_for("(context-switches)")
        term.keys("q")
        term.check_restored(0)


@live.case
def settings_say_which_event_is_shown_first():
    with terminal(100, 30) as term:
        folder = term.folder / "schedscope"
        folder.mkdir()
        folder.joinpath("config.toml").write_text(
            "default_profiling_event = 'cpu:cpu_user_util_percent'\nperf_events = ['mine:0x3:1']\n", encoding="ascii")
        term.start("-e")
        term.wait_for("(cpu_user_util_percent)")
        term.keys("k", "k", "k")
        term.wait_for("(mine)")
        term.keys("q")
        term.check_restored(0)
        term.start("-e", "--default-profiling-event", "cpu:cpu_frequency_mhz")
        term.wait_for("(cpu_frequency_mhz)")
        term.keys("q")
        term.check_restored(0)


@live.case
def what_is_no_event_is_refused_before_the_screen_begins():
    for words in (("--default-profiling-event", "cycles"), ("--default-profiling-event", "cpu:nothing"),
                  ("--perf-events", "a:1:4"), ("--perf-events", "a:0x1:4", "b")):
        out = live.run("top", *words)
        assert out.returncode == 2 and "is not an event" in out.stderr, f"{words}: {out.returncode} {out.stderr}"


@live.case
def flags_of_scxtop_are_taken():
    flags = ("-r 250 -f 1 -d -e true -d true -e -s /none -t /tmp/x --trace-ticks 1 --trace-duration-ms 100 --worker-threads 4 "
             "--trace-tick-warmup 1 --trace-warmup-ms 1 --process-id -1 --perf-events a:0x1:4 b:0x2:4 "
             "--default-profiling-event cpu:cpu_total_util_percent --layered --experimental-long-tail-tracing "
             "--experimental-long-tail-tracing-symbol f --experimental-long-tail-tracing-binary /bin/sh "
             "--experimental-long-tail-tracing-min-latency-ns 5 --mangoapp-tracing --mangoapp-poll-intvl-ms 9 "
             "--mangoapp-path mangoapp")
    with terminal(200, 50) as term:
        term.start(flags)
        term.keys("q")
        shown = term.wait_for("ended=0")
        for option in ("--trace-ticks", "--worker-threads"):
            assert f"{option} has no effect" in shown, shown
        for option in ("--layered", "--perf-events", "--default-profiling-event", "--mangoapp-tracing"):
            assert f"{option} has no effect" not in shown, shown


class Frames:
    """A queue as mangoapp has it, and who writes frames into it."""

    def __init__(self, folder):
        self.path = f"{folder}/queue"
        with open(self.path, "w", encoding="ascii"):
            pass
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.id = self.libc.msgget(self.libc.ftok(self.path.encode(), 65), 0o1666)  # as mangoapp makes it
        assert self.id >= 0

    def send(self, nr):
        for i in range(nr):
            body = struct.pack("<IIQBBQQIIHB40s", 1, os.getpid(), 20000000 + i, 0, 0, 0, 31000000, 1280, 720, 60, 0,
                               b"vulkan")
            message = struct.pack("@l", 1) + body
            assert self.libc.msgsnd(self.id, message, len(body), 0o4000) == 0

    def waiting(self):
        """How many messages are still in the queue."""
        for line in open("/proc/sysvipc/msg", encoding="ascii").readlines()[1:]:
            words = line.split()
            if int(words[1]) == self.id:
                return int(words[4])
        raise AssertionError("the queue is gone")

    def close(self):
        self.libc.msgctl(self.id, 0, None)


@live.case
def frames_of_a_game_are_shown_and_the_flags_have_their_effect():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        frames = Frames(folder)
        try:
            with terminal(120, 40) as term:
                term.start(f"-e --mangoapp-tracing --mangoapp-poll-intvl-ms 50 --mangoapp-path {frames.path}")
                frames.send(5)
                term.wait(lambda _: frames.waiting() == 0, "frames are read though another view is shown")
                term.keys("m")
                shown = term.wait_for(f":{os.getpid()} 1280x720:60 vulkan")
                assert "50" in shown and "31.0ms" in shown, shown
                term.keys("q")
            with terminal(120, 40) as term:
                term.start(f"-e --mangoapp-path {frames.path}")
                frames.send(2)
                time.sleep(1.5)
                assert frames.waiting() == 2
                term.keys("m")
                term.wait_for("1280x720:60")
                term.keys("q")
        finally:
            frames.close()


@live.case
def power_and_bandwidth_say_what_they_lack():
    with terminal(160, 24) as term:
        term.start("-e")
        term.keys("W")
        # Folders without a sensor in them are found on many machines.
        term.wait(lambda text: "Idle states" in text or "no sensors here" in text, "sensors, or that there are none")
        term.keys("B")
        term.wait_for("resctrl")
        term.keys("q")
        term.check_restored(0)


if __name__ == "__main__":
    raise SystemExit(live.main(at_once=2))
