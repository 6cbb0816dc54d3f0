#!/usr/bin/env python3
"""User stacks by tables: a program without frame pointers whose stacks are known, exactly; and ordinary packages, to their first
function, frame by frame as libdw walks the same moment, and as perf walks the same program."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import time

from live import IS_EMULATED, LONG_S, ROOT, SCHEDSCOPE, SLOW, NotHere, case, expect, main, need_live, once, scratch

# Targets are named so. The tests that use this file and run beside each other have different ones: samples are of all CPUs.
NAME = os.environ.get("UNWIND_NAME", "u")
TARGET = os.environ.get("UNWIND_TARGET", str(ROOT / "build/tests/live/unwind_target"))
DUMP = os.environ.get("UNWIND_DUMP", str(ROOT / "build/tests/live/unwind_dump"))
# All packages, and long: by hand.
IS_LONG = os.environ.get("UNWIND_PACKAGES") == "all"
# From main (of a thread: from its first function) to where the CPU is; None stands for frames of libraries.
KNOWN = {
    "recurse": ["main", *["recurse"] * 20, "burn"],
    "alloca": ["main", "with_alloca", "burn"],
    "leaf": ["main", "caller", "leaf"],
    "tail": ["main", "next", "leaf"],
    "signal": ["main", "interrupted", None, "on_signal", "burn"],
    "library": ["main", "sorting", None, "compare", "burn"],
    "rbx": ["main", "by_rbx", "keeps_rbx", "burn"],
    "hand": ["main", "calls_hand", "by_hand"],
    "framed": ["main", "calls_framed", "framed"],
    "signed": ["main", "signing", "burn"],
    "thread": ["thread_main", "burn"],
}
UNLIKELY = 0.001
# On a CPU with SVE perf asks for its vectors, too, which this event does not have; all others are enough for a walk.
REGISTERS = ["--user-regs=" + ",".join([*(f"x{i}" for i in range(30)), "lr", "sp", "pc"])] if os.uname().machine == "aarch64" else []
AT_LEAST = 20  # samples of each: whatever else the machine does
PACKAGES = {
    "python3.11": ["/usr/bin/python3.11", "-c", "import json\nwhile True: json.loads(json.dumps([sum(i * i for i in range(99))] * 99))"],
    "gzip": ["sh", "-c", "exec gzip -9 < /dev/zero > /dev/null"],
    "perl": ["perl", "-e", 'for (my $i = 0;; $i++) { my %h = map { $_ => "x$i" } 1 .. 50; "abc$i" =~ /b(c\\d+)/; }'],
    "bash": ["bash", "-c", 'x=5; while :; do x=$((x * 3 % 7919)); y=${x/1/22}; done'],
    "openssl": ["openssl", "speed", "-seconds", "60", "rsa2048", "sha256"],
    "sqlite3": ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x + 1 from c) select sum(x * x % 7) from c;"],
}


def profile(*args):
    run = subprocess.run([SCHEDSCOPE, "profile", *args], capture_output=True, text=True, timeout=LONG_S, check=False)
    expect(run.returncode == 0, f"profile {' '.join(args)}: {run.stderr}")
    return run


def folded(path):
    rows = [line.rsplit(" ", 1) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    return [(stack.split(";"), int(count)) for stack, count in rows]


class Targets:
    """Programs that run until they are ended."""

    def __init__(self):
        self.all = []

    def start(self, words, says=None):
        run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if says else subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, text=True)
        self.all.append(run)
        if says:
            expect(run.stdout.readline().strip() == says, f"{words}: no answer")
        return run

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for run in self.all:
            run.kill()
            run.wait()
            if run.stdout:
                run.stdout.close()


def is_like(frames, known):
    """Whether the frames are the known ones, where None is one or more of libraries."""
    if not known:
        return not frames
    if known[0] is None:
        return any(is_like(frames[i:], known[1:]) for i in range(1, min(len(frames), 8) + 1))
    return bool(frames) and frames[0] == known[0] and is_like(frames[1:], known[1:])


def expect_known(rows, mode):
    """All samples of a mode have its stack, from _start or the start of the thread on."""
    known, right, wrong = KNOWN[mode], 0, collections.Counter()
    for stack, count in rows:
        if stack[0].split(" ")[0] != f"{NAME}-{mode}":
            continue
        frames = stack[1:]
        first = frames.index(known[0]) if known[0] in frames else len(frames)
        is_right = is_like(frames[first:], known) and (mode == "thread" or frames[0] == "_start") and first <= 3
        if is_right:
            right += count
        else:
            wrong[";".join(frames)] += count
    expect(right >= AT_LEAST, f"{mode}: {right} samples; others: {wrong.most_common(3)}")
    expect(not wrong, f"{mode}: {right} right, and {wrong.most_common(3)}")


def stacks_of(modes, seconds, how):
    """Rows of these modes at once, without the kernel's frames."""
    with scratch() as name, Targets() as targets:
        path = str(pathlib.Path(name) / how)
        pids = [targets.start([TARGET, mode], f"{NAME}-{mode}").pid for mode in modes]
        time.sleep(1.1 * SLOW)  # until the signal has come
        profile("-U", "-F", "499", "--duration", str(seconds), "--unwind", how, "--folded", path, *(["-p", str(pids[0])] if IS_EMULATED else []))
        return folded(path)


@once
def known_stacks():
    """Of all modes: rows by tables, by frame pointers, and by libdw."""
    need_live()
    modes = [*KNOWN, "plt", "clock"]
    if IS_EMULATED:  # such a CPU has not read the tables of all when the profile begins
        return tuple([row for mode in of for row in stacks_of([mode], 1, how)]
                     for of, how in ((modes, "table"), (["recurse"], "fp"), (KNOWN, "dwarf")))
    return stacks_of(modes, 2.5, "table"), stacks_of(["recurse"], 0.5, "fp"), stacks_of(KNOWN, 2, "dwarf")


def known_case(mode):
    def run():
        expect_known(known_stacks()[0], mode)
    run.__name__ = mode
    run.__doc__ = f"{mode}: each sample has the stack that is known"
    return run


for each in KNOWN:
    case(known_case(each))


def leads_through(stack, function, most):
    """From _start and main to that function, with at most so many frames from there on."""
    return (stack[1:2] == ["_start"] and "main" in stack[2:5] and stack[stack.index("main") + 1] == function and
            len(stack) - stack.index(function) <= most)


def rows_of(mode):
    rows = [(stack, count) for stack, count in known_stacks()[0] if stack[0].split(" ")[0] == f"{NAME}-{mode}"]
    expect(sum(count for _, count in rows) >= AT_LEAST, f"{rows}")
    return rows


@case
def copies():
    """--unwind dwarf has the stacks that are known, too: it is what tables are held to"""
    # On arm64 libdw does not follow the kernel's frame of a signal, and takes x30 for what called code without a table, whatever it is.
    unknown = ("signal", "hand", "framed") if os.uname().machine == "aarch64" else ()
    for mode in KNOWN:
        if mode not in unknown:
            expect_known(known_stacks()[2], mode)


@case
def plt():
    """Calls through the linker's table: every sample, also in that table, leads to through_plt, main and _start"""
    wrong = [row for row in rows_of("plt") if not leads_through(row[0], "through_plt", 3)]
    expect(not wrong, f"{wrong}")


@case
def clock():
    """The kernel's page of code (vDSO): every sample in it leads to reading_clock, main and _start

    That page has tables on x86-64. On arm64 it has frame pointers, which are not there yet, or no longer, at its first and last
    instructions: there the return address is in x30.
    """
    rows = rows_of("clock")
    own = ("reading_clock", "clock_gettime")
    expect(any(stack[-1] not in own for stack, _ in rows), f"{rows}")
    wrong = [row for row in rows if not leads_through(row[0], "reading_clock", 4)]
    expect(not wrong, f"{wrong}")


@case
def frame_pointers_alone():
    """By frame pointers the same program has no such stack: the test can fail"""
    rows = known_stacks()[1]
    mine = [(stack, count) for stack, count in rows if stack[0].startswith(f"{NAME}-recurse")]
    whole = sum(count for stack, count in mine if stack.count("recurse") == 20)
    expect(mine and whole == 0, f"{mine[:3]}")


@case
def later():
    """A process that begins while the profile runs is soon walked by tables; so is one that becomes another program"""
    need_live()
    with scratch() as name, Targets() as targets:
        folder = pathlib.Path(name)
        run = subprocess.Popen([SCHEDSCOPE, "profile", "-U", "-F", "499", "--duration", "3", "--folded", str(folder / "later")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        targets.start(["sh", "-c", f"exec {TARGET} recurse"], f"{NAME}-recurse")
        _, said = run.communicate(timeout=LONG_S)
        expect(run.returncode == 0, said)
        mine = [(stack, count) for stack, count in folded(folder / "later") if stack[0].startswith(f"{NAME}-recurse")]
    total = sum(count for _, count in mine)
    whole = sum(count for stack, count in mine if stack.count("recurse") == 20 and stack[1] == "_start")
    expect(total >= AT_LEAST and whole >= 0.8 * total, f"{whole} of {total} are whole")


@case
def waits():
    """Where a process blocks is walked by tables, too: --off-cpu and --wakers"""
    need_live()
    words = ["/usr/bin/perl", "-e", "while (1) { select undef, undef, undef, 0.005 }"]
    if not shutil.which(words[0]):
        raise NotHere("no perl")
    with Targets() as targets:
        pid = str(targets.start(words).pid)
        time.sleep(0.3)
        got = json.loads(profile("-p", pid, "--off-cpu", "--duration", "1", "--unwind", "table", "--json", "--no-stacks").stdout)
    ends = got["user_stacks"]
    expect(ends["whole"] >= AT_LEAST and ends["whole"] >= 0.98 * sum(ends.values()), f"{ends}")


def dump(pid, **options):
    """Rows and totals of unwind_dump."""
    run = subprocess.run([DUMP, str(pid), *(f"{key}={value}" for key, value in options.items())], capture_output=True, text=True,
                         timeout=LONG_S, check=False)
    expect(run.returncode == 0, f"unwind_dump {options}: {run.stderr}")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return lines[:-1], lines[-1]


def recorded(path, category):
    """The folded stacks of a recording."""
    run = subprocess.run([SCHEDSCOPE, "analyze", path, "flamegraph", "--category", category, "--folded", f"{path}.{category}"],
                         capture_output=True, text=True, timeout=LONG_S, check=False)
    expect(run.returncode == 0, f"analyze {category}: {run.stderr}")
    return folded(f"{path}.{category}"), run.stdout


@once
def recording():
    """A second of programs without frame pointers, with all three kinds of stacks, recorded by tables."""
    need_live()
    with scratch() as name, Targets() as targets:
        path = str(pathlib.Path(name) / "t.pftrace")
        for mode in ("recurse", "library", "pass"):
            targets.start([TARGET, mode], f"{NAME}-{mode}")
        run = subprocess.run([SCHEDSCOPE, "record", "--stacks=cpu,off-cpu,waker", "--stack-frequency", "499", "-d", "1000", "-o", path],
                             capture_output=True, text=True, timeout=LONG_S, check=False)
        expect(run.returncode == 0, run.stderr)
        return {kind: recorded(path, kind) for kind in ("cpu", "off-cpu", "waker")}


def user_frames(rows, process, within=None):
    """Stacks of a process without frames of the kernel and of libraries between ours, by count."""
    found = collections.Counter()
    for stack, count in rows:
        if stack[0].split(" ")[0] == process and (within is None or within in stack):
            found[tuple(frame for frame in stack[1:] if not frame.endswith("_[k]"))] += count
    return found


@case
def recorded_samples():
    """record --stacks: samples of CPUs have the stacks that are known"""
    for mode in ("recurse", "library"):
        rows = [(stack, count) for stack, count in recording()["cpu"][0] if not any(f.endswith("_[k]") for f in stack)]
        expect_known(rows, mode)


def expect_pass(kind, within, first, known):
    found = user_frames(recording()[kind][0], f"{NAME}-pass", within)
    right = sum(count for frames, count in found.items() if first in frames[:3] and
                [frame for frame in frames if frame in known] == known)
    expect(right >= 1, f"{found.most_common(3)}")
    expect(right == sum(found.values()), f"{right} of {sum(found.values())}: {found.most_common(3)}")


@case
def recorded_sleeps():
    """record --stacks=off-cpu: a task that sleeps in read() has its stack, from _start on"""
    expect_pass("off-cpu", "take_turn", "_start", ["main", "passing", "passing", "take_turn"])
    rows = recording()["off-cpu"][0]
    expect(sum(1 for stack, _ in rows if stack[0].startswith(f"{NAME}-pass") and "take_turn" in stack and
               any("pipe_read" in frame for frame in stack)), "no pipe_read")


@case
def recorded_wakers():
    """record --stacks=waker: the task that wakes it by write() has its stack, from the start of its thread on"""
    found = user_frames(recording()["waker"][0], f"{NAME}-pass", "give_turn")
    expect(sum(found.values()) >= AT_LEAST, f"{found}")
    for frames, count in found.items():
        first = frames.index("pass_thread") if "pass_thread" in frames else len(frames)
        expect(first <= 2 and list(frames[first:first + 3]) == ["pass_thread", "giving", "give_turn"], f"{frames}: {count}")


@case
def recorded_by_frame_pointers():
    """record --stacks --unwind fp has no such stack: the cases can fail"""
    need_live()
    with scratch() as name, Targets() as targets:
        path = str(pathlib.Path(name) / "fp.pftrace")
        targets.start([TARGET, "recurse"], f"{NAME}-recurse")
        run = subprocess.run([SCHEDSCOPE, "record", "--stacks", "--unwind", "fp", "-d", "300", "-o", path],
                             capture_output=True, text=True, timeout=LONG_S, check=False)
        expect(run.returncode == 0, run.stderr)
        mine = user_frames(recorded(path, "cpu")[0], f"{NAME}-recurse")
    expect(mine and not any(frames.count("recurse") == 20 for frames in mine), f"{mine.most_common(3)}")


def expect_whole(pid):
    got = json.loads(profile("-p", str(pid), "-F", "999", "--duration", "2" if IS_EMULATED else "0.5", "--unwind", "table", "--json",
                             "--no-stacks").stdout)
    ends = got["user_stacks"]
    expect(ends and sum(ends.values()) >= AT_LEAST, f"{got['total_samples']} samples: {ends}")
    expect(ends["whole"] >= 0.98 * sum(ends.values()), f"{ends}")


def package_case(name, words):
    def run():
        need_live()
        if not shutil.which(words[0]):
            raise NotHere(f"no {words[0]}")
        with Targets() as targets:
            pid = targets.start(words).pid
            time.sleep(5 if IS_EMULATED else 0.3)
            if not IS_LONG:
                return expect_whole(pid)
            _, got = dump(pid, how="both", ms=5000, rows=0)
        print(f"# {name}: {got['table_whole']} of {got['compared']} whole by tables, {got['dwarf_whole']} by libdw, "
              f"{got['equal']} of {got['both_whole']} equal, {got['lost']} lost")
        expect(got["compared"] >= AT_LEAST, f"{got}")
        expect(got["table_whole"] >= 0.98 * got["compared"], f"{got}")
        # libdw knows neither the PLT nor code by hand, which libcrypto has much of.
        expect(got["both_whole"] >= 0.5 * got["compared"] and got["equal"] >= 0.99 * got["both_whole"], f"{got}")
    run.__name__ = f"package_{name}"
    run.__doc__ = f"{name} as the distribution built it: 98 % of the samples reach the first function, 99 % are as libdw has them"
    return run


def perf_stacks(pid, seconds, hertz):
    """Stacks of a process by perf, callers only, as files and offsets of return addresses: how many of each."""
    with scratch() as name:
        data = str(pathlib.Path(name) / "perf.data")
        subprocess.run(["perf", "record", "-q", "-m", "16M", "-e", "cpu-clock", "-F", str(hertz), "--call-graph", "dwarf,65528", *REGISTERS, "-p", str(pid),
                        "-o", data, "--", "sleep", str(seconds)], capture_output=True, timeout=LONG_S, check=True)
        text = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,dso", "-i", data], capture_output=True, text=True, timeout=LONG_S,
                              check=True).stdout
    stacks = collections.Counter()
    for sample in text.split("\n\n"):
        frames = [line.split(None, 1) for line in sample.splitlines() if line.strip()]
        user = [(place.strip("()"), int(address, 16)) for address, place in frames if not place.startswith("([kernel")]
        if user:
            # perf shows the byte before a return address.
            stacks[tuple((place, offset + 1) for place, offset in user[1:])] += 1
    return stacks


def placed(pid):
    """From an address of a process to its file and the offset there, as perf shows it."""
    lines = [line.split() for line in pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()]
    parts = [(*(int(word, 16) for word in line[0].split("-")), int(line[2], 16), line[5]) for line in lines if "x" in line[1] and len(line) > 5]

    def place_of(address):
        for start, end, offset, path in parts:
            if start <= address < end:
                return path, address - start + offset
        return "[unknown]", address
    return place_of


def by_chance(count, ours, theirs):
    """How likely it is that all samples of a stack are in one of two sets of these sizes, if both have it equally often."""
    return (ours / (ours + theirs)) ** count


def agreement(ours, theirs):
    """Of the samples of ours: how many have a stack that theirs have; and the stacks that they should have, and have not.

    Two runs do not sample the same moments: a stack that came seldom in one of them may be missing in the other.
    """
    nr, nr_theirs = sum(ours.values()), sum(theirs.values())
    shared = sum(count for stack, count in ours.items() if stack in theirs)
    missing = {stack: count for stack, count in ours.items() if stack not in theirs and by_chance(count, nr, nr_theirs) < UNLIKELY}
    return shared, missing


def samples_of_both(pid, rounds, ms, hertz):
    """Callers of a process by tables and by perf, in turns: a program may do another thing after a while. Ours are whole ones."""
    ours, theirs, place_of = collections.Counter(), collections.Counter(), placed(pid)
    for _ in range(rounds):
        rows, _ = dump(pid, how="table", ms=ms, freq=hertz)
        for row in rows:
            if row["end"] == 1:
                ours[tuple(place_of(address) for address in row["user"][1:])] += row["count"]
        theirs += perf_stacks(pid, ms / 1000, hertz)
    return ours, theirs


def shown(stacks):
    """The first of them, innermost first."""
    return [f"{count}: {' '.join(f'{os.path.basename(file)}+{offset:#x}' for file, offset in stack)}"
            for stack, count in sorted(stacks.items(), key=lambda one: -one[1])[:3]]


def perf_case(name, words):
    def run():
        need_live()
        if not shutil.which("perf") or not shutil.which(words[0]):
            raise NotHere(f"no perf, or no {words[0]}")
        with Targets() as targets:
            pid = targets.start(words).pid
            time.sleep(0.3)
            ours, theirs = samples_of_both(pid, *((8, 1000, 999) if IS_LONG else (2, 500, 999)))
        firsts, all_of_perf = {stack[-1] for stack in ours if stack}, sum(theirs.values())
        theirs = collections.Counter({stack: count for stack, count in theirs.items() if stack and stack[-1] in firsts})
        there, absent_there = agreement(ours, theirs)
        here, absent_here = agreement(theirs, ours)
        nr_ours, nr_theirs = sum(ours.values()), sum(theirs.values())
        nr_there, nr_here = sum(absent_there.values()), sum(absent_here.values())
        text = (f"{name}: {there} of our {nr_ours} whole stacks are perf's, {nr_there} should be and are not; {here} of perf's "
                f"{nr_theirs} whole ones (of {all_of_perf}) are ours, {nr_here} should be and are not")
        if IS_LONG:
            print(f"# {text}")
        text += f"; not perf's: {shown(absent_there)}; not ours: {shown(absent_here)}"
        expect(nr_ours >= AT_LEAST and nr_theirs >= AT_LEAST, text)
        expect(nr_there <= 0.01 * nr_ours and nr_here <= 0.01 * nr_theirs, text)
        expect(there >= 0.8 * nr_ours and here >= 0.8 * nr_theirs, text)  # else little was compared
    run.__name__ = f"perf_{name}"
    run.__doc__ = f"{name}: its stacks are those of perf record --call-graph dwarf, return address by return address"
    return run


for each_name, each_words in PACKAGES.items():
    if each_name in ("python3.11", "gzip", "openssl") or IS_LONG:
        case(package_case(each_name, each_words))
    if each_name == "gzip" or IS_LONG:
        case(perf_case(each_name, each_words))

@case
def short_lives():
    """A shell loop of processes that live for 20 ms: before their tables are there, copies of their stacks are walked; 90 % are whole"""
    need_live()
    with scratch() as name, Targets() as targets:
        path = str(pathlib.Path(name) / "folded")
        targets.start(["sh", "-c", f"while :; do {TARGET} brief; done"])
        profile("-U", "-F", "499", "--duration", "10" if IS_LONG else "2", "--folded", path)
        rows = folded(path)
    total = sum(count for stack, count in rows if stack[0].startswith(f"{NAME}-brief"))
    whole = sum(count for stack, count in rows if stack[0].startswith(f"{NAME}-brief") and stack[1:2] == ["_start"] and stack.count("recurse_ms") == 20)
    started = sum(count for stack, count in rows if stack[0].startswith(f"{NAME}-brief") and stack[1:2] == ["_start"])
    if IS_LONG:
        print(f"# {total} samples of short lives, {started} whole, {whole} of them in the function that uses the time")
    expect(total >= AT_LEAST and started >= 0.9 * total, f"{started} of {total}")


if __name__ == "__main__":
    main()
