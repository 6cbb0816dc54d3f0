#!/usr/bin/env python3
"""User stacks by tables, wherever the code comes from: deleted, stripped and contained files, tables of debug files, libraries that
are opened later, forks, many libraries, threads and processes; and what every surface says of stacks that are not whole."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from live import IS_EMULATED, LONG_S, ROOT, SCHEDSCOPE, SLOW, Lines, case, expect, main, need_live, once, scratch

os.environ["UNWIND_NAME"] = "p"
from test_unwind import AT_LEAST, IS_LONG, NAME, TARGET, Targets, expect_known, folded, is_like, profile, recorded  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/mcp"))
from client import Client  # noqa: E402

BARE = os.environ.get("UNWIND_BARE", str(ROOT / "build/tests/live/unwind_target_bare"))
CROWD = os.environ.get("CROWD_TARGET", str(ROOT / "build/tests/live/crowd_target"))
CROWD_LIBRARY = os.environ.get("CROWD_LIBRARY", str(ROOT / "build/tests/live/crowd_library.so"))
IN_CROWD = ["crowd_thread", "through", "crowd_call", "crowd_burn"]
NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # of a build id
LIBRARIES, THREADS, PROCESSES = 300, 2000, 1000
MOST_MIB = 160  # of memory of any process of ours, whatever is profiled


def rows_of(pid, *args):
    """Folded rows of a process, and JSON, of half a second by tables."""
    with scratch() as name:
        path = str(pathlib.Path(name) / "folded")
        said = profile("-U", "-F", "999", "-d", str(0.5 * SLOW), "-p", str(pid), "--unwind", "table", "--folded", path, "--json",
                       "--no-stacks", *args)
        return folded(path), json.loads(said.stdout)


def expect_whole(ends, share=0.98):
    expect(ends and ends["whole"] >= AT_LEAST and ends["whole"] >= share * sum(ends.values()), f"{ends}")


@case
def deleted():
    """A program whose file is gone before the profile begins"""
    need_live()
    with scratch() as name, Targets() as targets:
        copy = shutil.copy(TARGET, pathlib.Path(name) / "gone")
        pid = targets.start([str(copy), "recurse"], f"{NAME}-recurse").pid
        os.unlink(copy)
        rows, _ = rows_of(pid)
    expect_known(rows, "recurse")


@case
def stripped():
    """A program without any symbol: as many frames as the one that has names"""
    need_live()
    with scratch() as name, Targets() as targets:
        copy = str(pathlib.Path(name) / "stripped")
        subprocess.run(["strip", "--strip-all", "-o", copy, TARGET], check=True)
        rows, got = rows_of(targets.start([copy, "recurse"], f"{NAME}-recurse").pid)
        named, _ = rows_of(targets.start([TARGET, "recurse"], f"{NAME}-recurse").pid)
    expect_whole(got["user_stacks"])
    depths = {len(stack) for stack, count in named if count >= AT_LEAST}
    expect(len(depths) == 1, f"{depths}")
    expect(sum(count for stack, count in rows if len(stack) in depths) >= 0.98 * sum(count for _, count in rows), f"{rows}")


def copy_with_libraries(program, root):
    """What a program needs to run below another root."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    files = [word for line in said.splitlines() for word in line.split() if word.startswith("/")]
    for file in [program, *files]:
        to = pathlib.Path(root) / file.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)


@case
def contained():
    """A program in other mount and pid namespaces, below another root that only they have"""
    need_live()
    with scratch() as name, Targets() as targets:
        root = pathlib.Path(name) / "root"
        copy_with_libraries(TARGET, root)
        inside = pathlib.Path(name) / "inside"
        inside.mkdir()
        script = f"mount -t tmpfs none {inside} && cp -a {root}/. {inside} && exec chroot {inside} {TARGET} recurse"
        outer = targets.start(["unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", script], f"{NAME}-recurse")
        pid = int(pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text(encoding="ascii").split()[0])
        rows, _ = rows_of(pid)
    expect_known(rows, "recurse")


@case
def debug_frame():
    """A program whose tables are in its debug file alone, but for those of the linker's first functions"""
    need_live()
    with scratch() as name, Targets() as targets:
        program, debug = str(pathlib.Path(name) / "bare"), str(pathlib.Path(name) / "bare.debug")
        subprocess.run(["objcopy", "--only-keep-debug", BARE, debug], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", BARE, program], check=True)
        rows, _ = rows_of(targets.start([program, "recurse"], f"{NAME}-recurse").pid)
        expect_known(rows, "recurse")
        os.unlink(debug)
        rows, _ = rows_of(targets.start([program, "recurse"], f"{NAME}-recurse").pid)
    expect(rows and all(len(stack) < 20 for stack, _ in rows), f"without it the test can fail: {rows[:3]}")


def libraries(folder, nr):
    """As many different ones: each has a build id of its own."""
    whole = pathlib.Path(CROWD_LIBRARY).read_bytes()
    at = whole.index(NOTE) + len(NOTE)
    for i in range(nr):
        pathlib.Path(folder, f"{i}.so").write_bytes(whole[:at] + i.to_bytes(20, "big") + whole[at + 20:])


def in_crowd(rows):
    """Samples in the libraries' callers, and those of them that have the stack that is known."""
    mine = [(stack, count) for stack, count in rows if "crowd_burn" in stack]
    known = sum(count for stack, count in mine if "crowd_thread" in stack and
                is_like(stack[stack.index("crowd_thread"):stack.index("crowd_burn") + 1], IN_CROWD) and
                stack.index("crowd_thread") <= 3)
    return sum(count for _, count in mine), known


@case
def opened_later():
    """A library that is opened while the profile runs (dlopen)"""
    need_live()
    with scratch() as name, Targets() as targets:
        libraries(name, 1)
        target = targets.start([CROWD, name, "1", "1", "1000"], "ready")
        path = str(pathlib.Path(name) / "folded")
        profile("-U", "-F", "999", "-d", str(2.5 * SLOW), "-p", str(target.pid), "--unwind", "table", "--folded", path)
        total, known = in_crowd(folded(path))
    expect(total >= AT_LEAST and known >= 0.9 * total, f"{known} of {total}")


@case
def forks():
    """Children that a process forks, and which run no other program, are walked by its tables at once"""
    need_live()
    script = "while (1) { my $p = fork; if (!$p) { my $x = 0; $x++ for 1 .. 200000; exit } waitpid $p, 0 }"
    with Targets() as targets:
        _, got = rows_of(targets.start(["perl", "-e", script]).pid, "-d", str(2 * SLOW))
    # A fork that no table is known of, or memory that is not there yet, may be one of few samples.
    expect_whole(got["user_stacks"], 0.95)


def measured(*words):
    """JSON of a profile, and the most memory that any of its processes had, in MiB."""
    run = subprocess.Popen([SCHEDSCOPE, "profile", *words, "--json", "--no-stacks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    out, errors = Lines(run.stdout), Lines(run.stderr)
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    expect(run.returncode == 0, "\n".join(errors.wait_for_end()))
    return json.loads("\n".join(out.wait_for_end())), usage.ru_maxrss / 1024, "\n".join(errors.wait_for_end())


def expect_bounded(what, got, mib, said):
    """Nothing is lost, or left out for want of room, and memory is bounded."""
    print(f"# {what}: {got['total_samples']} samples, {got['lost']} lost, {got['user_stacks']}, {mib:.0f} MiB")
    expect(got["lost"] == 0 and got["profiler"]["samples_collected"] == got["total_samples"], f"{got['lost']} lost")
    expect("room for tables" not in said and "were lost" not in said, said)
    expect(mib <= MOST_MIB, f"{mib:.0f} MiB")


def crowd():
    """A process with 300 libraries and 2,000 threads: nothing is lost, and stacks are whole; by hand"""
    need_live()
    with scratch() as name, Targets() as targets:
        libraries(name, LIBRARIES)
        target = targets.start(["nice", CROWD, name, str(LIBRARIES), str(THREADS)], "ready")
        expect(target.stdout.readline() == "open\n", "the libraries were not opened")
        path = str(pathlib.Path(name) / "folded")
        got, mib, said = measured("-U", "-F", "999", "-d", str(4 * SLOW), "-p", str(target.pid), "--unwind", "table", "--folded", path)
        total, known = in_crowd(folded(path))
    expect_bounded(f"{LIBRARIES} libraries, {THREADS} threads", got, mib, said)
    expect_whole(got["user_stacks"])
    expect(total >= AT_LEAST and known >= 0.98 * total, f"{known} of {total}")


def many_processes():
    """1,000 processes, none of them a fork of another: nothing is lost, and stacks are whole; by hand"""
    need_live()
    nr = 100 if IS_EMULATED else PROCESSES
    with scratch() as name, Targets() as targets:
        for _ in range(nr):
            targets.start(["nice", TARGET, "sip", str(10 * nr)])  # a tenth of a CPU, all together
        time.sleep(1)
        path = str(pathlib.Path(name) / "folded")
        # They began one right after the other: only a whole period is sure to see each of them.
        got, mib, said = measured("-U", "-F", "999", "-d", str(nr // 100 + 2), "--unwind", "table", "--folded", path)
        rows = [(stack, count) for stack, count in folded(path) if stack[0].startswith(f"{NAME}-sip")]
    expect_bounded(f"{nr} processes", got, mib, said)
    total = sum(count for _, count in rows)
    whole = sum(count for stack, count in rows if stack[1:2] == ["_start"])
    print(f"# {total} samples of {len({stack[0] for stack, _ in rows})} processes, {whole} whole")
    expect(total >= AT_LEAST and whole >= 0.98 * total, f"{whole} of {total}")


if IS_LONG:
    case(crowd)
    case(many_processes)


@once
def without_tables():
    """A process in code that has neither tables nor frame pointers, as JITs make it: what each surface says of it."""
    need_live()
    with scratch() as name, Targets() as targets:
        pid = str(targets.start([TARGET, "jit"], f"{NAME}-jit").pid)
        path = str(pathlib.Path(name) / "t.pftrace")
        run = profile("-p", pid, "-F", "499", "-d", "0.5", "--json", "--no-stacks")
        record = subprocess.run([SCHEDSCOPE, "record", "--stacks", "-p", pid, "-d", "500", "-o", path], capture_output=True, text=True,
                                timeout=LONG_S, check=False)
        expect(record.returncode == 0, record.stderr)
        with Client() as mcp:
            answer = mcp.call("profile", pid=int(pid), duration_secs=1, include_stacks=False)
        return {"profile": json.loads(run.stdout), "remark": run.stderr, "record": record.stderr, "analyze": recorded(path, "cpu")[1],
                "mcp": answer}


def expect_broken(rows, samples):
    """One reason, with its share and what to do."""
    expect(len(rows) == 1 and rows[0]["reason"] == "no_table" and rows[0]["percent"] > 98, f"{rows}")
    expect(AT_LEAST <= rows[0]["samples"] <= samples and "frame pointers" in rows[0]["what_to_do"], f"{rows}")


@case
def profile_says_why():
    """profile: the share of stacks that are not whole, the reason, and what to do; in JSON, too"""
    got = without_tables()
    expect_broken(got["profile"]["broken_because"], got["profile"]["total_samples"])
    for words in ("user stacks are not whole", "100.0 % without a table", "switch their frame pointers on"):
        expect(words in got["remark"], got["remark"])


@case
def record_says_why():
    """record and analyze: likewise"""
    got = without_tables()
    for words in ("user stacks are not whole", "without a table", "switch their frame pointers on"):
        expect(words in got["record"], got["record"])
    for words in ("no_table", "switch their frame pointers on"):
        expect(words in got["analyze"], got["analyze"])


@case
def mcp_says_why():
    """The MCP server: likewise"""
    got = without_tables()["mcp"]
    expect_broken(got["broken_because"], got["total_samples"])


@case
def mcp_walks_by_tables():
    """The MCP server: whole stacks"""
    need_live()
    with Targets() as targets, Client() as mcp:
        pid = targets.start([TARGET, "recurse"], f"{NAME}-recurse").pid
        time.sleep(0.3)
        got = mcp.call("profile", pid=pid, duration_secs=2)
    expect_whole(got["user_stacks"])


def event_rows(mode, *words):
    """Rows of a second of another event."""
    with scratch() as name, Targets() as targets:
        path = str(pathlib.Path(name) / "folded")
        pid = targets.start([TARGET, mode], f"{NAME}-{mode}").pid
        profile(*words, "-U", "-d", str(1 * SLOW), "-p", str(pid), "--unwind", "table", "--folded", path)
        return [(stack, count) for stack, count in folded(path) if stack[0].startswith(f"{NAME}-")]


def expect_way(rows, way):
    """Every row has these functions in this order, with its first one near the beginning."""
    expect(sum(count for _, count in rows) >= AT_LEAST, f"{rows}")
    for stack, count in rows:
        known = [frame for frame in stack if frame in way]
        expect(known[:len(way)] == way and stack.index(way[0]) <= 4, f"{count} {stack}")


@case
def wakers():
    """--wakers: the thread that wakes by write() has its stack, from its first function on"""
    need_live()
    rows = [row for row in event_rows("pass", "--wakers") if "give_turn" in row[0]]
    expect_way(rows, ["pass_thread", "giving", "give_turn"])


@case
def tracepoints():
    """-e tracepoint: where a task is switched off its CPU"""
    need_live()
    rows = [row for row in event_rows("pass", "-e", "tracepoint:sched:sched_switch") if "take_turn" in row[0]]
    expect_way(rows, ["_start", "main", "passing", "passing", "take_turn"])


@case
def probes():
    """-e uprobe: at the first instruction of a function"""
    need_live()
    rows = event_rows("pass", "-e", f"uprobe:{TARGET}:give_turn")
    expect_way(rows, ["pass_thread", "giving", "give_turn"])


@case
def page_faults():
    """-e page-faults: each fault has its stack"""
    need_live()
    rows = event_rows("touch", "-e", "page-faults", "--period", "1")
    expect_way(rows, ["_start", "main", "touching", "touching", "touch"])


if __name__ == "__main__":
    main()
