"""Whether a guest runs on KVM or is emulated; what was found out is kept outside the tree.

A /dev/kvm that can be opened may still be unable to run a kernel: inside another virtual machine, guests stop in
their first instructions. So the first guest on KVM is the trial: it has TRIAL_S to reach its first program. The answer is
kept per host in $XDG_CACHE_HOME/schedscope (else ~/.cache), with the facts that it depends on: when one of them changes,
KVM is tried again. SCHEDSCOPE_VM_ACCEL=kvm or tcg decides by hand; nothing is tried or kept then.
"""
import hashlib
import json
import os
import pathlib
import platform

KVM, EMULATED = "kvm", "tcg"
DEVICE = os.environ.get("SCHEDSCOPE_VM_KVM", "/dev/kvm")  # another one in tests
TRIAL_S = 10   # a kernel on KVM needs one of them
SILENT_S = 20  # after so much silence nothing comes any more


class Wrong(Exception):
    """A request that cannot be granted, and why."""


def by_hand():
    """What the caller has decided; None = nothing."""
    word = os.environ.get("SCHEDSCOPE_VM_ACCEL") or None
    if word not in (None, KVM, EMULATED):
        raise Wrong(f"SCHEDSCOPE_VM_ACCEL is '{word}': use {KVM} or {EMULATED}")
    return word


def read(path):
    """The text of a file; empty if there is none."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def facts(qemu):
    """What the answer depends on. A machine that was saved and resumed elsewhere has another processor, but the same boot."""
    words = ("model name", "CPU implementer", "CPU part", "Model")
    cpu = sorted({line for line in read("/proc/cpuinfo").splitlines() if line.startswith(words)})
    program = os.stat(qemu)
    return {"kernel": platform.release(), "boot": read("/proc/sys/kernel/random/boot_id").strip(), "cpu": cpu,
            "qemu": [str(qemu), program.st_size, program.st_mtime_ns]}


def memory():
    """The file of this host; several may share a home."""
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "schedscope"
    return folder / f"kvm-{hashlib.sha256(platform.node().encode()).hexdigest()[:12]}.json"


def remembered(qemu):
    """None: never tried on this machine. Else why KVM cannot be used; empty if it can."""
    try:
        known = json.loads(read(memory()))
        return str(known["why_not"]) if known["facts"] == facts(qemu) else None
    except (ValueError, KeyError, TypeError):
        return None


def remember(qemu, why_not):
    """Best effort: where nothing can be kept, the next guest is a trial again."""
    if remembered(qemu) == why_not:
        return
    path = memory()
    part = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps({"facts": facts(qemu), "why_not": why_not}), encoding="utf-8")
        part.replace(path)
    except OSError:
        pass


def choose(qemu, why_never):
    """(KVM or EMULATED, whether it may yet be emulated if KVM fails, the sentence to say or None).

    why_never: what this guest has that only an emulated one can; empty if KVM would do.
    """
    hand = by_hand()
    if hand == EMULATED:
        return EMULATED, False, None
    if why_never:
        return EMULATED, False, f"emulated in spite of SCHEDSCOPE_VM_ACCEL={KVM}: {why_never}" if hand else None
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        if hand:
            raise Wrong(f"SCHEDSCOPE_VM_ACCEL is {KVM}, but {DEVICE} cannot be opened: load the module, or run as root")
        return EMULATED, False, None
    if hand:
        return KVM, False, None
    why_not = remembered(qemu)
    if why_not:
        return EMULATED, False, f"emulated: {why_not}, as {memory()} remembers"
    return KVM, True, None
