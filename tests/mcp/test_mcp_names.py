#!/usr/bin/env python3
"""Functions of perf.data have the names in the server's answers that the command line prints, and a trace cannot make the server open
what it should not. Prints TAP."""
import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from stack_files import Elf, perf_data
from trace_client import SCHEDSCOPE
from trace_files import DIR, Skipped, run_cases, start, write

CASES = []
SOON = 20  # seconds


def case(function):
    CASES.append(function)
    return function


def library():
    """A file that is on every machine where this runs: that of this process."""
    found = re.search(r"(/\S*/libc\.so\.6|/\S*/libc-[0-9.]*\.so)$", pathlib.Path("/proc/self/maps").read_text(), re.M)
    elf = Elf(found.group(1)) if found else None
    if not elf or not elf.build_id:
        raise Skipped("this libc has no build id")
    return elf


def chosen(elf):
    """Two functions, and a stack of the first, which the second called."""
    names = sorted(elf.functions().items())
    (leaf, at), (caller, called_at) = names[len(names) // 3], names[len(names) // 2]
    return {leaf, caller}, [(0, at + 8), (0, called_at + 12)]


def by_command_line(path):
    done = subprocess.run([SCHEDSCOPE, "analyze", str(path), "flamegraph", "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def by_server(c, path, **args):
    begin = time.monotonic()
    c.call("load", file_path=str(path), trace_id=path.name)
    assert time.monotonic() - begin < SOON, "loading took too long"
    return c.call("analyze", type="flamegraph", trace_id=path.name, **args)


def names_in(report):
    """Of functions; those without a name are shown by their place, which has a + or 0x in it."""
    texts = {row["function"] for row in report["functions"] + report.get("callers", [])}
    assert texts, report
    return {text for text in texts if "+0x" not in text and not text.startswith("0x")}


class Folder:
    """One that other users may read, unlike that of the traces."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.path.chmod(0o755)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


@case
def functions_have_the_names_of_the_command_line():
    elf = library()
    names, stack = chosen(elf)
    path = write("names.data", perf_data([(elf.path, elf.build_id)], [stack, stack[:1], stack]))
    printed = by_command_line(path)
    assert names_in(printed) == names, printed
    with start() as c:
        got = by_server(c, path)
        assert names_in(got) == names, got
        for key in ("functions", "callers", "stacks", "total_samples"):
            assert got[key] == printed[key], (got[key], printed[key])


@case
def names_go_with_the_trace_into_sql():
    elf = library()
    names, stack = chosen(elf)
    path = write("names.data", perf_data([(elf.path, elf.build_id)], [stack]))
    with start() as c:
        by_server(c, path)
        rows = json.dumps(c.call("query", sql="select * from stack", trace_id=path.name))
        assert all(f'"{name}"' in rows for name in names), rows


@case
def another_file_at_that_path_gives_no_names():
    elf = library()
    _, stack = chosen(elf)
    other = bytes([elf.build_id[0] ^ 1]) + elf.build_id[1:]
    path = write("other.data", perf_data([(elf.path, other)], [stack]))
    assert not names_in(by_command_line(path))
    with start() as c:
        assert not names_in(by_server(c, path))


@case
def nothing_but_ordinary_files_is_opened():
    elf = library()
    _, stack = chosen(elf)
    with Folder() as folder, start() as c:
        fifo = folder / "fifo"
        os.mkfifo(fifo)
        fifo.chmod(0o666)
        (folder / "link").symlink_to(fifo)
        (folder / "loop").symlink_to(folder / "loop")
        paths = [fifo, folder / "link", folder / "loop", folder, "/dev/zero", "/dev/null", "/proc/self/mem", f"/proc/{c.child.pid}/mem",
                 "/proc/kcore", "/sys/kernel/notes", "/nowhere/x", "libc.so.6", "//anon", "[vdso]", "", "/" + "x/" * 2000]
        data = perf_data([(name, elf.build_id[:19] + bytes([nr])) for nr, name in enumerate(paths)],
                         [[(nr, stack[0][1])] for nr in range(len(paths))])
        assert not names_in(by_server(c, write("odd.data", data)))
        try:
            os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
            raise AssertionError("somebody reads the fifo")
        except OSError as error:
            assert error.errno == errno.ENXIO, error


@case
def a_link_leads_to_a_file_only_if_its_build_id_is_the_one():
    elf = library()
    names, stack = chosen(elf)
    with Folder() as folder, start() as c:
        (folder / "good").symlink_to(elf.path)
        (folder / "bad").symlink_to(SCHEDSCOPE)
        data = perf_data([(folder / "good", elf.build_id)], [stack])
        assert names_in(by_server(c, write("good.data", data))) == names
        data = perf_data([(folder / "bad", elf.build_id)], [stack])
        assert not names_in(by_server(c, write("bad.data", data)))


@case
def a_server_of_root_opens_no_file_that_its_user_may_not():
    if os.geteuid() != 0:
        raise Skipped("only root has such a server")
    elf = library()
    names, stack = chosen(elf)
    hidden = DIR / "hidden.so"  # of a folder that only root may enter
    shutil.copy(elf.path, hidden)
    path = write("hidden.data", perf_data([(hidden, elf.build_id)], [stack]))
    assert names_in(by_command_line(path)) == names
    with start() as c:
        assert not names_in(by_server(c, path))


@case
def thousands_of_files_and_places_are_bounded():
    elf = library()
    names, stack = chosen(elf)
    nr = 6000
    files = [(elf.path, elf.build_id)] + [(f"/nowhere/{i}", i.to_bytes(20, "little")) for i in range(1, nr)]
    stacks = 100 * [stack] + [[(i, place) for place in range(0, 160, 8)] for i in range(1, nr)]
    with start() as c:
        assert names <= names_in(by_server(c, write("many.data", perf_data(files, stacks)), limit=100))


sys.exit(run_cases(CASES))
