#!/usr/bin/env python3
"""tools/vm/run with a QEMU of our own on PATH: when KVM is tried, what is remembered, how long a dead guest costs.

No guest runs and no rights are needed. The QEMU writes down how it was called and behaves as FAKE_KVM and FAKE_TCG say.
"""
import contextlib
import os
import pathlib
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
from live import NotHere, case, expect, main

RUN = HERE.parent.parent / "tools/vm/run"
ARCH = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
OTHER = "x86_64" if ARCH == "arm64" else "arm64"
IMAGE = {"arm64": "Image", "x86_64": "bzImage"}
PROGRAM = {"arm64": "qemu-system-aarch64", "x86_64": "qemu-system-x86_64"}
TIMEOUT_S = 240  # of the guests; one that never begins is given up long before, however busy this machine is
FAKE = r'''#!/usr/bin/env python3
import os, re, subprocess, sys, time
words = " ".join(sys.argv)
tree = re.search(r"dumpdtb=(\S+)", words)
if tree:
    text = b"/dts-v1/;\n/ {\n\tcpus {\n\t\tcpu@0 {\n\t\t};\n\t};\n};\n"
    sys.exit(subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", tree[1], "-"], input=text).returncode)
engine = "kvm" if "-accel kvm" in words else "tcg"
with open(os.environ["FAKE_CALLS"], "a") as calls:
    calls.write(engine + "\n")
how = os.environ["FAKE_" + engine.upper()]
if how == "busy":
    how = "works" if len(open(os.environ["FAKE_CALLS"]).readlines()) > int(os.environ["FAKE_BUSY"]) else "wrong"
console, share = re.search(r"file:(\S+)", words)[1], re.search(r"id=share,\S*path=([^ ,]+)", words)[1]
if how == "dies":
    sys.exit("KVM internal error. Suberror: 1")
with open(console, "w") as file:
    file.write({"works": "Linux version 9\nvm: begun\n", "hangs": "firmware (vers",
                "wrong": "Linux version 9\nAPIC frequency too slow, disabling apic timer\n"}.get(how, ""))
if how in ("silent", "hangs", "wrong"):
    time.sleep(300)
with open(share + "/stdout", "a") as out:
    out.write("by " + engine + "\n")
with open(share + "/code", "w") as code:
    code.write("3\n")
'''


class World:
    """A machine: a PATH that begins with our QEMU, a cache, a /dev/kvm that can be opened or not."""

    def __init__(self, folder, kvm="works", tcg="works", has_device=True):
        self._folder = pathlib.Path(folder)
        for arch, name in PROGRAM.items():
            program = self._folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(FAKE, encoding="ascii")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            (self._folder / f"images/{arch}-6.12").mkdir(parents=True)
            (self._folder / f"images/{arch}-6.12" / IMAGE[arch]).touch()
        if has_device:
            (self._folder / "kvm").touch()
        self.cache, self.took_s = self._folder / "cache", 0
        self._calls = self._folder / "calls"
        self.env = {**os.environ, "PATH": f"{self._folder / 'bin'}:{os.environ['PATH']}", "FAKE_CALLS": str(self._calls),
                    "FAKE_KVM": kvm, "FAKE_TCG": tcg, "XDG_CACHE_HOME": str(self.cache),
                    "SCHEDSCOPE_VM_KVM": str(self._folder / "kvm"), "SCHEDSCOPE_VM_IMAGES": str(self._folder / "images")}
        for name in ("SCHEDSCOPE_VM_ACCEL", "SCHEDSCOPE_VM_ARCH", "SCHEDSCOPE_VM_ROOT"):
            self.env.pop(name, None)

    def run(self, *options, **env):
        """(exit code, output, sentences), and how QEMU was called: ["kvm", "tcg"]."""
        start = time.monotonic()
        self._calls.write_text("", encoding="ascii")
        out = subprocess.run([str(RUN), "--timeout", str(TIMEOUT_S), *options, "true"], env={**self.env, **env},
                             capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        self.took_s = time.monotonic() - start
        if out.returncode == 77:
            raise NotHere(out.stderr.strip())
        return out, self._calls.read_text(encoding="ascii").split()


@contextlib.contextmanager
def world(**how):
    """One that is removed at the end."""
    if ARCH not in PROGRAM:
        raise NotHere(f"no virtual machine for {ARCH}")
    with tempfile.TemporaryDirectory(prefix="schedscope-accel-") as folder:
        yield World(folder, **how)


def expect_run(out, calls, engines, *words):
    """It ran by these engines, the command's code and output came out, and these words were said."""
    expect(calls == engines, f"QEMU was called with {calls}, expected {engines}: {out.stderr}")
    expect(out.returncode == 3, f"exit {out.returncode}, expected the command's: {out.stderr}")
    expect(out.stdout == f"by {engines[-1]}\n", f"output: {out.stdout}")
    said = [line for line in out.stderr.splitlines() if "emulated" in line]
    expect(len(said) == (1 if words else 0), f"sentences: {said}")
    for word in words:
        expect(word in said[0], f"no '{word}' in: {said[0]}")


@case
def a_kvm_that_works_is_used_and_remembered():
    with world() as it:
        expect_run(*it.run(), ["kvm"])
        expect(len(list(it.cache.rglob("kvm-*.json"))) == 1, "nothing is remembered")
        expect_run(*it.run(), ["kvm"])


@case
def a_kvm_that_dies_is_tried_once_then_guests_are_emulated_with_a_sentence():
    with world(kvm="dies") as it:
        out, calls = it.run()
        expect_run(out, calls, ["kvm", "tcg"], "cannot run a guest (it ended")
        expect("internal error" not in out.stderr, f"more than a sentence: {out.stderr}")
        expect_run(*it.run(), ["tcg"], "cannot run a guest (it ended", "remembers")


@case
def a_kvm_that_hangs_in_the_firmware_costs_seconds_once():
    with world(kvm="hangs") as it:
        expect_run(*it.run(), ["kvm", "tcg"], "said nothing for 10 s")
        expect(it.took_s < TIMEOUT_S / 2, f"it took {it.took_s:.1f} s")
        expect_run(*it.run(), ["tcg"], "remembers")


@case
def a_silent_guest_costs_twenty_seconds_not_its_timeout():
    with world(tcg="silent", has_device=False) as it:
        out, calls = it.run()
        expect(calls == ["tcg"] and out.returncode == 125, f"{calls}, exit {out.returncode}: {out.stderr}")
        expect("said nothing for 20 s" in out.stderr, out.stderr)
        expect(it.took_s < TIMEOUT_S / 2, f"it took {it.took_s:.1f} s")


@case
def an_emulated_guest_that_dies_costs_nothing_and_says_why():
    with world(tcg="dies", has_device=False) as it:
        out, calls = it.run()
        expect(calls == ["tcg"] and out.returncode == 125, f"{calls}, exit {out.returncode}: {out.stderr}")
        expect("Suberror" in out.stderr and "the guest broke" in out.stderr, out.stderr)
        expect(it.took_s < TIMEOUT_S / 2, f"it took {it.took_s:.1f} s")


@case
def a_guest_that_has_measured_its_timer_wrong_is_booted_again():
    with world(tcg="busy", has_device=False) as it:
        out, calls = it.run(FAKE_BUSY="2")
        expect_run(out, calls, ["tcg"] * 3)
        expect(out.stderr.count("booted again") == 2, out.stderr)
        out, calls = it.run("--timeout", "5", FAKE_BUSY="9")
        expect(calls == ["tcg"] * 3 and out.returncode == 124, f"{calls}, exit {out.returncode}: {out.stderr}")


@case
def a_timeout_ends_a_guest_that_hangs_after_its_first_line():
    with world(tcg="hangs", has_device=False) as it:
        out, _ = it.run("--timeout", "2")
        expect(out.returncode == 124 and "ended after 2 s" in out.stderr, f"exit {out.returncode}: {out.stderr}")


@case
def a_short_timeout_says_nothing_about_kvm():
    with world(kvm="hangs") as it:
        out, calls = it.run("--timeout", "1")
        expect("tcg" not in calls and out.returncode == 124, f"{calls}, exit {out.returncode}: {out.stderr}")
        expect(not list(it.cache.rglob("kvm-*.json")), "a guest that had one second is remembered")


@case
def another_machine_is_asked_again():
    with world(kvm="dies") as it:
        it.run()
        kept = next(it.cache.rglob("kvm-*.json"))
        kept.write_text(kept.read_text(encoding="ascii").replace(platform.release(), "0.0"), encoding="ascii")
        expect_run(*it.run(FAKE_KVM="works"), ["kvm"])
        kept.write_text("no json", encoding="ascii")
        expect_run(*it.run(FAKE_KVM="works"), ["kvm"])


@case
def a_kvm_that_has_worked_and_works_no_more_falls_back():
    with world() as it:
        it.run()
        expect_run(*it.run(FAKE_KVM="dies"), ["kvm", "tcg"], "it ended")
        expect_run(*it.run(), ["tcg"], "remembers")


@case
def by_hand_nothing_is_tried_or_remembered():
    with world(kvm="dies") as it:
        expect_run(*it.run(SCHEDSCOPE_VM_ACCEL="tcg"), ["tcg"])
        out, calls = it.run(SCHEDSCOPE_VM_ACCEL="kvm")
        expect(calls == ["kvm"] and out.returncode == 125, f"{calls}, exit {out.returncode}: {out.stderr}")
        expect(not it.cache.exists(), "a choice by hand is remembered")
        it.run()
        expect_run(*it.run(SCHEDSCOPE_VM_ACCEL="kvm", FAKE_KVM="works"), ["kvm"])


@case
def a_wrong_choice_is_a_sentence():
    with world(has_device=False) as it:
        for word, said in (("xen", "use kvm or tcg"), ("kvm", "cannot be opened")):
            out, calls = it.run(SCHEDSCOPE_VM_ACCEL=word)
            expect(out.returncode == 2 and not calls, f"{word}: exit {out.returncode}, {calls}")
            expect(said in out.stderr and len(out.stderr.splitlines()) == 1, f"{word}: {out.stderr}")


@case
def what_only_emulation_can_do_never_asks_for_kvm():
    with world() as it:
        expect_run(*it.run("--icount"), ["tcg"])
        expect_run(*it.run("--icount", SCHEDSCOPE_VM_ACCEL="kvm"), ["tcg"], "--icount")
        if OTHER == "arm64" and not shutil.which("dtc"):
            raise NotHere("dtc is not installed")
        expect_run(*it.run("--arch", OTHER), ["tcg"])


if __name__ == "__main__":
    main(at_once=4)
