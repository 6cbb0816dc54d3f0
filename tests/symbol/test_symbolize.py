#!/usr/bin/env python3
"""Addresses of running, ended, stripped, deleted and replaced programs against what nm and addr2line say of them."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from live import Skip, case, expect, main

DEMO = os.environ["SYMBOL_DEMO"]
PROGRAMS = {name: os.environ["SYMBOL_" + name.upper()] for name in ("pie", "fixed", "static", "static_pie")}
LIBRARY = pathlib.Path(os.environ["SYMBOL_LIBRARY"])
SOURCE = pathlib.Path(__file__).parent / "fixtures/program.c"
LATE = 2**62  # later than anything that is reported here


class Symbolizer:
    """symbol_demo on a pipe."""

    def __init__(self, *args):
        self.process = subprocess.Popen([DEMO, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        """(lines, the number at the end)"""
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            expect(line, f"symbol_demo ended at {words}: {self.process.poll()}")
            if re.fullmatch(r"-?\d+\n", line):
                return lines, int(line)
            lines.append(line.rstrip("\n"))

    def do(self, *words):
        expect(self.ask(*words)[1] == 0, f"{words} failed")

    def frames(self, tgid, address, ts=LATE):
        lines, count = self.ask("frames", tgid, ts, f"{address:x}")
        expect(count == len(lines) > 0, f"{count} frames, {len(lines)} lines")
        keys = ("name", "module", "file", "line", "start", "inlined")
        frames = [dict(zip(keys, line.split("\t"))) for line in lines]
        return [f | {"line": int(f["line"]), "start": int(f["start"], 16), "inlined": f["inlined"] == "1"} for f in frames]

    def name(self, tgid, address, ts=LATE):
        return self.frames(tgid, address, ts)[-1]["name"]


@contextlib.contextmanager
def symbolizer(*args):
    s = Symbolizer(*args)
    try:
        yield s
        s.process.stdin.close()
        expect(s.process.wait(60) == 0, f"symbol_demo: {s.process.returncode}")
    finally:
        s.process.kill()
        s.process.wait()


class Fixture:
    """A fixture that runs: where its functions are, until it is asked to end."""

    def __init__(self, program, prefix=(), env=None):
        self.process = subprocess.Popen([*prefix, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | (env or {}))
        self.pid = self.process.pid
        self.at = {}
        for line in self.process.stdout:
            name, address = line.rsplit(" ", 1)
            if name == "end":
                break
            self.at[name] = int(address, 16)

    def mappings(self):
        """What perf would have reported: executable mappings."""
        rows = []
        for line in pathlib.Path(f"/proc/{self.pid}/maps").read_text().splitlines():
            words = line.split(maxsplit=5)
            if "x" in words[1] and len(words) == 6 and words[5].startswith("/"):
                start, end = words[0].split("-")
                major, minor = (int(part, 16) for part in words[3].split(":"))
                rows.append((start, end, words[2], major, minor, int(words[4]), words[5]))
        return rows

    def end(self):
        self.process.stdin.close()
        expect(self.process.wait(60) == 0, "the fixture failed")


@contextlib.contextmanager
def fixture(program, prefix=(), env=None):
    f = Fixture(program, prefix, env)
    try:
        yield f
    finally:
        f.process.kill()
        f.process.wait()


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="symbol-") as name:
        yield pathlib.Path(name)


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=60).stdout


def marked_line(mark):
    return next(n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if f"LINE {mark} " in text)


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path)).group(1)


def expect_names(s, f):
    expect(len(f.at) >= 5, f"the fixture reported {f.at}")
    for name, address in f.at.items():
        got = s.name(f.pid, address)
        expect(got == name, f"{address:x} is {got}, not {name}")


def stripped(program, to, debug=None):
    """A copy without symbols; its debug file where asked for."""
    shutil.copy(program, to)
    if debug:
        run("objcopy", "--only-keep-debug", program, debug)
    run("strip", "--strip-all", to)


def put_build_id(debug_dir, program):
    id_ = build_id(program)
    path = debug_dir / ".build-id" / id_[:2]
    path.mkdir(parents=True)
    run("objcopy", "--only-keep-debug", program, path / f"{id_[2:]}.debug")


@case
def names_in_programs_of_each_kind():
    for kind, program in PROGRAMS.items():
        with symbolizer() as s, fixture(program) as f:
            expect_names(s, f)
            frame = s.frames(f.pid, f.at["outer_function"])[-1]
            expect(frame["module"] == f"fixture_{kind}", f"{kind}: {frame}")


@case
def a_shared_library_has_its_own_name():
    with symbolizer() as s, fixture(PROGRAMS["pie"]) as f:
        frame = s.frames(f.pid, f.at["library_function"])[-1]
        expect(frame["module"] == LIBRARY.name and frame["name"] == "library_function", frame)


@case
def nm_and_addr2line_say_the_same_of_every_function():
    with symbolizer("--lines") as s, fixture(PROGRAMS["pie"]) as f:
        lines, _ = s.ask("locate", f.pid, LATE, f"{f.at['outer_function']:x}")
        path, address, id_ = lines[0].split("\t")
        expect(path == PROGRAMS["pie"] and id_ == build_id(path), lines)
        load = f.at["outer_function"] - int(address, 16)
        count = 0
        for row in run("nm", "--defined-only", "-S", path).splitlines():
            words = row.split()
            if len(words) != 4 or words[2] not in "tT":
                continue
            start, size = int(words[0], 16), int(words[1], 16)
            for at in (start, start + size // 2, start + size - 1):
                frame = s.frames(f.pid, load + at)
                truth = run("addr2line", "-C", "-f", "-i", "-e", path, f"{at:x}").splitlines()
                got = [frame[-1]["name"], frame[0]["file"], frame[0]["line"], frame[-1]["start"]]
                # addr2line knows the DWARF name of functions whose symbol was renamed; nm has the symbol.
                expect(got[0] == run("c++filt", words[3]).strip() or got[0] in truth, f"{words[3]}: {got}, {truth}")
                file, line = truth[1].rsplit(":", 1)
                number = int(re.match(r"\d+", line)[0]) if line[0].isdigit() else 0
                if number:
                    expect(os.path.basename(got[1]) == os.path.basename(file) and got[2] == number, f"{got}, {truth}")
                    expect(len(frame) == len(truth) // 2, f"{frame}, {truth}")
                expect(got[3] == load + start, f"{words[3]} starts at {got[3]:x}")
                count += 1
        expect(count > 20, f"only {count} addresses")


@case
def inlined_calls_have_their_lines():
    for kind, program in PROGRAMS.items():
        with symbolizer("--lines") as s, fixture(program) as f:
            got = [(r["name"], r["line"], r["inlined"], os.path.basename(r["file"]))
                   for r in s.frames(f.pid, f.at["outer_function"])]
            want = [("inlined_deep", marked_line("deep"), True, "program.c"), ("inlined_once", marked_line("once"), True, "program.c"),
                    ("outer_function", marked_line("outer"), False, "program.c")]
            expect(got == want, f"{kind}: {got}")


@case
def no_lines_unless_asked_for():
    with symbolizer() as s, fixture(PROGRAMS["pie"]) as f:
        got = s.frames(f.pid, f.at["outer_function"])
        expect(len(got) == 1 and got[0]["file"] == "-" and got[0]["line"] == 0, got)


@case
def stripped_with_a_debug_file_by_build_id():
    with folder() as d, symbolizer("--lines", "--debug-dir", f"/nowhere:{d}/debug") as s:
        stripped(PROGRAMS["pie"], d / "plain")
        put_build_id(d / "debug", PROGRAMS["pie"])
        with fixture(d / "plain") as f:
            expect_names(s, f)
            frames = s.frames(f.pid, f.at["outer_function"])
            expect([r["line"] for r in frames] == [marked_line(m) for m in ("deep", "once", "outer")], frames)


@case
def stripped_with_a_debug_file_that_it_names():
    for place in ("", ".debug/"):
        with folder() as d, symbolizer("--lines", "--debug-dir", "/nowhere") as s:
            (d / ".debug").mkdir()
            stripped(PROGRAMS["fixed"], d / "plain", d / f"{place}plain.debug")
            run("objcopy", f"--add-gnu-debuglink={d}/{place}plain.debug", d / "plain")
            with fixture(d / "plain") as f:
                expect_names(s, f)
                expect(s.frames(f.pid, f.at["local_function"])[0]["line"] == marked_line("local"), "no line")


@case
def a_debug_file_of_another_program_is_refused():
    with folder() as d, symbolizer("--debug-dir", "/nowhere") as s:
        stripped(PROGRAMS["pie"], d / "plain", d / "plain.debug")
        run("objcopy", f"--add-gnu-debuglink={d}/plain.debug", d / "plain")
        run("objcopy", "--only-keep-debug", PROGRAMS["static_pie"], d / "plain.debug")
        with fixture(d / "plain") as f:
            expect(s.name(f.pid, f.at["local_function"]) == "-", "a name out of nowhere")


@case
def the_checksum_counts_where_there_is_no_build_id():
    with folder() as d:
        run("objcopy", "--remove-section=.note.gnu.build-id", PROGRAMS["pie"], d / "whole")
        stripped(d / "whole", d / "plain", d / "plain.debug")
        run("objcopy", f"--add-gnu-debuglink={d}/plain.debug", d / "plain")
        with fixture(d / "plain") as f:
            with symbolizer() as s:
                expect_names(s, f)
            with open(d / "plain.debug", "ab") as out:
                out.write(b"x")
            with symbolizer() as s:
                expect(s.name(f.pid, f.at["local_function"]) == "-", "believed in spite of its checksum")


@case
def stripped_with_mini_debug_data():
    with folder() as d, symbolizer("--debug-dir", "/nowhere") as s:
        stripped(PROGRAMS["pie"], d / "plain", d / "debug")
        run("objcopy", "--strip-debug", "-R", ".comment", d / "debug", d / "mini")
        run("xz", d / "mini")
        run("objcopy", f"--add-section=.gnu_debugdata={d}/mini.xz", d / "plain")
        with fixture(d / "plain") as f:
            expect_names(s, f)


@case
def without_any_debug_file_only_what_is_exported_has_a_name():
    with folder() as d, symbolizer("--debug-dir", "/nowhere") as s:
        stripped(PROGRAMS["pie"], d / "plain")
        stripped(LIBRARY, d / LIBRARY.name)
        with fixture(d / "plain", env={"LD_LIBRARY_PATH": str(d)}) as f:
            expect(s.name(f.pid, f.at["library_function"]) == "library_function", "lost an exported name")
            frame = s.frames(f.pid, f.at["local_function"])[0]
            expect(frame["name"] == "-" and frame["module"] == "plain", frame)


@case
def a_program_that_ended_after_it_was_met():
    with folder() as d, symbolizer("--lines") as s:
        shutil.copy(PROGRAMS["pie"], d / "gone")
        with fixture(d / "gone") as f:
            s.do("meet", f.pid, 5)
            f.end()
            (d / "gone").unlink()
            expect_names(s, f)
            expect(s.frames(f.pid, f.at["outer_function"])[0]["line"] == marked_line("deep"), "no line")


@case
def a_program_that_ended_before_it_was_read():
    with symbolizer() as s, fixture(PROGRAMS["pie"]) as f:
        rows = f.mappings()
        f.end()
        s.do("execed", f.pid, 10)
        for start, end, offset, major, minor, inode, path in rows:
            if "fixture" in path:  # one by build id, as perf has them
                s.do("mapped", f.pid, 20, start, end, offset, 0, 0, 0, build_id(path), path)
            else:
                s.do("mapped", f.pid, 20, start, end, offset, major, minor, inode, "-", path)
        s.do("exited", f.pid, 90)
        expect_names(s, f)
        expect(s.name(f.pid, f.at["outer_function"], ts=15) == "-", "it was not mapped yet")


@case
def a_process_that_is_not_there_is_reported():
    with symbolizer() as s, fixture(PROGRAMS["pie"]) as f:
        f.end()
        expect(s.ask("meet", f.pid, 5)[1] == -3, "expected ESRCH")
        expect(s.frames(f.pid, f.at["outer_function"]) ==
               [{"name": "-", "module": "unknown", "file": "-", "line": 0, "start": 0, "inlined": False}], "a frame")


@case
def a_deleted_program_still_has_its_names():
    with folder() as d, symbolizer("--lines") as s:
        shutil.copy(PROGRAMS["fixed"], d / "deleted")
        with fixture(d / "deleted") as f:
            (d / "deleted").unlink()
            expect_names(s, f)
            expect(s.frames(f.pid, f.at["outer_function"])[-1]["module"] == "deleted", "module")


@case
def a_replaced_program_keeps_its_own_names():
    with folder() as d, symbolizer() as s:
        shutil.copy(PROGRAMS["fixed"], d / "program")
        with fixture(d / "program") as f:
            (d / "program").unlink()
            shutil.copy(PROGRAMS["static"], d / "program")
            expect_names(s, f)


@case
def of_a_replaced_program_that_ended_nothing_is_made_up():
    for id_ in (False, True):
        with folder() as d, symbolizer() as s:
            shutil.copy(PROGRAMS["fixed"], d / "program")
            with fixture(d / "program") as f:
                rows = f.mappings()
                identity = build_id(d / "program") if id_ else "-"
                f.end()
            shutil.copy(PROGRAMS["static"], d / "next")
            (d / "next").rename(d / "program")
            for start, end, offset, major, minor, inode, path in rows:
                s.do("mapped", f.pid, 20, start, end, offset, *((0, 0, 0) if id_ else (major, minor, inode)), identity, path)
            frame = s.frames(f.pid, f.at["outer_function"])[0]
            expect(frame["name"] == "-" and frame["module"] == "program", frame)


@case
def a_file_that_was_written_over_is_not_believed():
    with folder() as d, symbolizer() as s:
        shutil.copy(LIBRARY, d / LIBRARY.name)
        with fixture(PROGRAMS["pie"], env={"LD_LIBRARY_PATH": str(d)}) as f:
            expect(any(str(d) in row[-1] for row in f.mappings()), "the copy is not the one that is used")
            s.do("meet", f.pid, 5)
            time.sleep(0.02)  # a clock tick, so that the time of writing differs
            os.kill(f.pid, signal.SIGSTOP)  # it could not run on
            with open(PROGRAMS["pie"], "rb") as other, open(d / LIBRARY.name, "r+b") as out:
                out.write(other.read())
            expect(s.name(f.pid, f.at["library_function"]) == "-", "a name of the new content")
            expect(s.name(f.pid, f.at["outer_function"]) == "outer_function", "the program itself is whole")


@case
def a_program_in_another_mount_namespace():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with folder() as d, symbolizer("--lines", "--debug-dir", str(d / "inside/debug")) as s:
        (d / "inside").mkdir()
        # Stripped, with its debug file in the same namespace: nothing of both can be seen from here.
        stripped(PROGRAMS["pie"], d / "plain")
        put_build_id(d / "debug", PROGRAMS["pie"])
        script = (f"mount -t tmpfs none {d}/inside && cp -r {d}/plain {d}/debug {d}/inside/ && rm -r {d}/plain {d}/debug "
                  f"&& exec {d}/inside/plain")
        with fixture(script, prefix=["unshare", "-m", "sh", "-c"]) as f:
            expect(not (d / "inside/plain").exists(), "it can be seen from here")
            expect_names(s, f)
            expect(s.frames(f.pid, f.at["outer_function"])[0]["line"] == marked_line("deep"), "no line")


@case
def one_in_another_mount_namespace_that_ended_after_it_was_met():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with folder() as d, symbolizer() as s:
        (d / "inside").mkdir()
        script = f"mount -t tmpfs none {d}/inside && cp {PROGRAMS['static']} {d}/inside/ && exec {d}/inside/fixture_static"
        with fixture(script, prefix=["unshare", "-m", "sh", "-c"]) as f:
            s.do("meet", f.pid, 5)
            f.end()
            expect_names(s, f)


@case
def two_processes_with_the_same_address_have_different_names():
    # scxtop's cache forgot whose address it was.
    with folder() as d, symbolizer() as s:
        source = "int main(void) {{ return 0; }}\n__attribute__((section(\".same\"))) int {0}(void) {{ return 1; }}\n"
        for name in ("first", "second"):
            (d / f"{name}.c").write_text(source.format(f"{name}_function"))
            run("gcc", "-g", "-no-pie", "-Wl,--section-start=.same=0x500000", d / f"{name}.c", "-o", d / name)
        for pid, name in ((4000001, "first"), (4000002, "second")):
            st = (d / name).stat()
            row = re.search(r"LOAD +0x(\w+) 0x0*500000 ", run("readelf", "-lW", d / name))
            s.do("execed", pid, 10)
            s.do("mapped", pid, 20, "500000", "501000", row[1], os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, "-", d / name)
        for _ in range(2):  # also from what is remembered
            expect(s.name(4000001, 0x500002) == "first_function", "first")
            expect(s.name(4000002, 0x500002) == "second_function", "second")
        # The same number later is another program.
        st = (d / "second").stat()
        s.do("execed", 4000001, 100)
        s.do("mapped", 4000001, 101, "500000", "501000", row[1], os.major(st.st_dev), os.minor(st.st_dev), st.st_ino, "-", d / "second")
        expect(s.name(4000001, 0x500002, ts=50) == "first_function", "before exec")
        expect(s.name(4000001, 0x500002, ts=150) == "second_function", "after exec")
        s.do("forked", 4000001, 4000003, 160)
        expect(s.name(4000003, 0x500002, ts=170) == "second_function", "the child has what its parent had")
        s.do("exited", 4000003, 180)
        expect(s.name(4000003, 0x500002, ts=170) == "second_function", "the end of a process loses nothing")


@case
def what_a_jit_wrote_is_read_again_when_it_has_grown():
    with symbolizer() as s, fixture(PROGRAMS["static"]) as f:
        path = pathlib.Path(f"/tmp/perf-{f.pid}.map")
        try:
            path.write_text("700000000000 100 jitted one\n")
            expect(s.frames(f.pid, 0x700000000010)[0] | {"start": 0} ==
                   {"name": "jitted one", "module": "[jit]", "file": "-", "line": 0, "start": 0, "inlined": False}, "one")
            expect(s.name(f.pid, 0x700000001010) == "-", "not there yet")
            with path.open("a") as out:
                out.write("700000001000 0x20 _ZN3jit3twoEv\n")
            deadline = time.monotonic() + 30
            while s.name(f.pid, 0x700000001010) != "jit::two()" and time.monotonic() < deadline:
                time.sleep(0.05)
            expect(s.name(f.pid, 0x700000001010) == "jit::two()", "it was not read again")
        finally:
            path.unlink()
        expect(s.name(f.pid, 0x700000000010) == "jitted one", "forgotten with its file")


# ---- what others may have put in the way ---------------------------------------------------------------------------


def static_in(root):
    """A program that needs nothing else, as the only thing in a directory that is to be its root."""
    (root / "tmp").mkdir()
    shutil.copy(PROGRAMS["static"], root / "program")
    return ["chroot", str(root)]


def jit_name(s, f):
    return s.frames(f.pid, 0x700000000010)[0]["name"]


@case
def a_perf_map_that_is_a_link_is_not_read():
    with folder() as d, symbolizer() as s, fixture(PROGRAMS["static"]) as f:
        secret, path = d / "secret", pathlib.Path(f"/tmp/perf-{f.pid}.map")
        secret.write_text("700000000000 100 stolen\n")
        try:
            path.symlink_to(secret)
            expect(jit_name(s, f) == "-", "a link was followed")
            path.unlink()
            shutil.copy(secret, path)
            deadline = time.monotonic() + 30
            while jit_name(s, f) != "stolen" and time.monotonic() < deadline:
                time.sleep(0.05)
            expect(jit_name(s, f) == "stolen", "the same as a file was not read")
        finally:
            path.unlink()


@case
def links_in_the_root_of_a_process_do_not_lead_out_of_it():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with folder() as d:
        (d / "root").mkdir()
        prefix = static_in(d / "root")
        (d / "outside").mkdir()
        (d / "root/tmp").rmdir()
        (d / "root/tmp").symlink_to(d / "outside")  # absolute: there it leads nowhere
        with symbolizer() as s, fixture("/program", prefix=prefix) as f:
            (d / f"outside/perf-{f.pid}.map").write_text("700000000000 100 stolen\n")
            expect(jit_name(s, f) == "-", "an absolute link led into our own root")
        (d / "root/tmp").unlink()
        (d / "root/tmp").symlink_to("../../outside")
        with symbolizer() as s, fixture("/program", prefix=prefix) as f:
            (d / f"outside/perf-{f.pid}.map").write_text("700000000000 100 stolen\n")
            expect(jit_name(s, f) == "-", "two dots led out of its root")


@case
def debug_files_outside_of_the_root_of_a_process_are_not_found_by_its_links():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with folder() as d:
        (d / "root").mkdir()
        prefix = static_in(d / "root")
        stripped(PROGRAMS["static"], d / "root/program")
        put_build_id(d / "outside", PROGRAMS["static"])
        for link in (d / "outside", "../../outside"):
            (d / "root/debug-of-this-test").symlink_to(link)
            with symbolizer("--debug-dir", "/debug-of-this-test") as s, fixture("/program", prefix=prefix) as f:
                expect(s.name(f.pid, f.at["local_function"]) == "-", f"found through {link}")
            (d / "root/debug-of-this-test").unlink()
        shutil.copytree(d / "outside", d / "root/debug-of-this-test")
        with symbolizer("--debug-dir", "/debug-of-this-test") as s, fixture("/program", prefix=prefix) as f:
            expect(s.name(f.pid, f.at["local_function"]) == "local_function", "not found in its own root")


@case
def a_debug_link_is_a_name_and_no_way():
    with folder() as d, symbolizer("--debug-dir", "/nowhere") as s:
        (d / "in").mkdir()
        stripped(PROGRAMS["pie"], d / "in/plain", d / "aa_plain.debug")
        run("objcopy", f"--add-gnu-debuglink={d}/aa_plain.debug", d / "in/plain")
        bytes_ = (d / "in/plain").read_bytes()
        expect(bytes_.count(b"aa_plain.debug\0") == 1, "no link")
        (d / "plain.debug").write_bytes((d / "aa_plain.debug").read_bytes())
        (d / "in/plain").write_bytes(bytes_.replace(b"aa_plain.debug\0", b"../plain.debug\0"))
        with fixture(d / "in/plain") as f:
            expect(s.name(f.pid, f.at["local_function"]) == "-", "it was followed")


def readers_of(s):
    """The processes that read files for a symbolizer."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (path / "cmdline").read_bytes().startswith(b"schedscope-sandbox\0symbols\0") and \
                    f"\nPPid:\t{s.process.pid}\n" in (path / "status").read_text():
                found.append(int(path.name))
    return found


def reader_of(s):
    readers = readers_of(s)
    expect(len(readers) == 1, readers)
    return readers[0]


def kill_reader(s):
    pid = reader_of(s)
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
        expect(time.monotonic() < deadline, "it does not die")
        time.sleep(0.001)


@case
def files_are_read_by_a_process_without_rights():
    with symbolizer() as s, fixture(PROGRAMS["pie"]) as f:
        expect_names(s, f)
        rows = pathlib.Path(f"/proc/{reader_of(s)}/status").read_text().splitlines()
        status = {key: value.strip() for key, value in (row.split(":", 1) for row in rows)}
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        expect(status["Uid"].split() == [str(user)] * 4, status["Uid"])
        expect(all(int(status[key], 16) == 0 for key in ("CapPrm", "CapEff", "CapInh", "CapAmb")), status)
        expect(status["NoNewPrivs"] == "1" and status.get("Seccomp", "2") == "2", status)


@case
def the_end_of_that_process_loses_nothing():
    if os.geteuid() != 0:
        raise Skip("only root may kill it")
    with symbolizer("--lines") as s, fixture(PROGRAMS["pie"]) as f, fixture(PROGRAMS["fixed"]) as g, \
            fixture(PROGRAMS["static"]) as h:
        expect(s.name(f.pid, f.at["outer_function"]) == "outer_function", "before")
        expect(s.name(h.pid, h.at["outer_function"]) == "outer_function", "before")
        kill_reader(s)
        expect_names(s, g)
        lines, count = s.ask("remark")
        expect(count == 1 and "some names are missing" in lines[0] and "signal 9" in lines[0], lines)
        frames = s.frames(f.pid, f.at["outer_function"] + 1)
        expect(len(frames) == 3 and all(r["line"] for r in frames), frames)
        expect_names(s, h)
        for i in range(20):
            kill_reader(s)
            s.frames(h.pid, h.at["outer_function"] + 2 + i)  # each another, so that it must be asked for
            if not readers_of(s):
                break
        expect(s.name(f.pid, f.at["outer_function"]) == "outer_function", "what was read is forgotten")


@case
def the_vdso_has_names():
    with symbolizer() as s, fixture(PROGRAMS["pie"]) as f:
        row = next(r for r in pathlib.Path(f"/proc/{f.pid}/maps").read_text().splitlines() if r.endswith("[vdso]"))
        start, end = (int(part, 16) for part in row.split()[0].split("-"))
        names = {frame["name"] for at in range(start, end, 16) for frame in s.frames(f.pid, at)}
        expect(any("clock_gettime" in name for name in names), names)
        expect(s.frames(f.pid, start)[0]["module"] == "[vdso]", "module")


@case
def the_kernel_has_names():
    rows = [r.split() for r in pathlib.Path("/proc/kallsyms").read_text().splitlines()]
    at = {words[2]: int(words[0], 16) for words in rows if words[1] in "tT" and len(words) == 3}
    with symbolizer() as s:
        if not at.get("schedule"):
            expect(s.frames(0, 1)[0]["name"] == "-", "a name")
            lines, count = s.ask("remark")
            expect(count == 1 and "hides" in lines[0], lines)
            raise Skip("addresses of the kernel are hidden")
        for name in ("schedule", "__schedule", "wake_up_process"):
            frame = s.frames(0, at[name] + 4)[0]
            expect(frame["name"] == name and frame["module"] == "kernel" and frame["start"] == at[name], frame)


@case
def hidden_addresses_of_the_kernel_are_reported_once():
    with folder() as d:
        (d / "hidden").write_text("0000000000000000 T schedule\n0000000000000000 t other\n")
        with symbolizer("--kallsyms", str(d / "hidden")) as s:
            for _ in range(3):
                expect(s.frames(0, 0xffff800080010000)[0] | {} ==
                       {"name": "-", "module": "kernel", "file": "-", "line": 0, "start": 0, "inlined": False}, "frame")
            lines, count = s.ask("remark")
            expect(count == 1 and "kptr_restrict" in lines[0] and len(lines) == 1, lines)
            expect(s.ask("remark")[1] == 0, "reported twice")


@case
def descriptors_stay_within_bounds():
    with folder() as d, symbolizer("--lines") as s:
        for i in range(600):
            path = d / f"file{i}"
            path.write_bytes(b"x")
            st = path.stat()
            s.do("mapped", 4000001, i, f"{i * 4096 + 4096:x}", f"{i * 4096 + 8192:x}", 0, os.major(st.st_dev), os.minor(st.st_dev),
                 st.st_ino, "-", path)
        count = len(os.listdir(f"/proc/{s.process.pid}/fd"))
        expect(200 < count < 300, f"{count} descriptors")
        expect(s.name(4000001, 4097 + 100 * 4096) == "-", "a name in a file of one byte")


if __name__ == "__main__":
    main()
