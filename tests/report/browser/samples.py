"""The recordings that the browsers see: of each format one, one of hostile names, one of 512 CPUs, one of this machine."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[1:1] = [str(ROOT / "tests" / name) for name in ("live", "trace")]

from by_hand import BY_HAND  # noqa: E402  pylint: disable=wrong-import-position
from encode import own, traced  # noqa: E402  pylint: disable=wrong-import-position
from scenarios import Scenario, Task, one_event  # noqa: E402  pylint: disable=wrong-import-position

DATA = ROOT / "tests/data"
FOREIGN = {
    "perfetto": DATA / "perfetto/e-guest-eevdf.pftrace.gz",
    "wprof": DATA / "wprof/guest-d.pb.gz",
    "perf.data": DATA / "perf/guest-6.1-cgroups.data.gz",
    "trace.dat": DATA / "tracecmd/guest-7.2-v7-zstd.dat",
    "text": DATA / "ftrace/guest-7.2-mono-tgid.txt.gz",
}
MS = 1_000_000
# At most 15 bytes, as the kernel has them; all that it lets people put into a name.
HOSTILE = [
    b"</script>", b"<img onerror=1>", b"<!--<script>", b"\xe2\x80\xaeevil\xe2\x81\xa6", b"a\x01\x1b[31mb\x7f", b"\xff\xfe\xc3(\xa0\xa1\xe2\x28\xa1\xf0\x28\x8c\xbc\x80\xc0",
    b"'\"&amp;`${x}", b"]]>--!></style>", b"javascript:1//", b"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", b"a&comm=b#t=1s..", b"%3Cb%3E%00%22", b"\\u003c\\", b" ", b"\n\r\t|\n",
]


def hostile():
    """Tasks of such names share two CPUs; each is woken by the one before it, waits, and is preempted by the next."""
    tasks = [Task(100 + i, 100 + i, name) for i, name in enumerate(HOSTILE)]
    world = Scenario("hostile", {0: 0, 1: 0}, tasks)
    at = MS
    for turn in range(6):
        for i in range(len(tasks)):
            cpu, tid = i % 2, 100 + i
            world.wake(at, cpu, tid)
            world.switch(at + (1 + i) * MS // 10, cpu, tid, "R" if (turn + i) % 3 else "S")
            at += 2 * MS
    return own(world)


def cgroups():
    """Tasks of four cgroups, one of them below another, share two CPUs; one task moves while it sleeps."""
    paths = {10: "/web", 11: "/web/db", 12: "/batch", 13: "/web2"}
    tasks = [Task(100 + i, 100 + i, name) for i, name in enumerate(("web", "db", "hog", "cron", "web", "mover"))]
    world = Scenario("cgroups", {0: 0, 1: 0}, tasks)
    for cgroup, path in paths.items():
        world.add("mkdir", 0, 0, cgroup=cgroup, path=path)
    for i, cgroup in enumerate((10, 11, 12, 12, 13, 10)):
        world.add("attach", 0, 0, cgroup=cgroup, moved=100 + i, stated=True)
    at = MS
    for turn in range(40):
        for i in range(len(tasks)):
            cpu, tid = i % 2, 100 + i
            world.wake(at, cpu, tid)
            world.switch(at + (1 + (turn * 7 + i * 3) % 11) * MS // 10, cpu, tid, "R" if (turn + i) % 3 else "S")
            at += 2 * MS
        if turn == 20:
            world.add("attach", at - MS // 2, 0, cgroup=12, moved=100, stated=False)
    return own(world)


def many_cpus(nr=512):
    """Each CPU runs a task of its own for a while, woken by the one beside it."""
    world = Scenario("many", {cpu: 0 for cpu in range(nr)}, [Task(1000 + cpu, 1000 + cpu, f"worker/{cpu}") for cpu in range(nr)])
    for turn in range(4):
        for cpu in range(nr):
            at = (turn * 3 * nr + 2 * cpu) * 10_000
            world.wake(at, (cpu - 1) % nr, 1000 + cpu)
            world.switch(at + 5_000, cpu, 1000 + cpu)
        for cpu in range(nr):
            world.switch((turn * 3 * nr + 2 * nr + cpu) * 10_000, cpu, 0, "S")
    return traced(world, True)


MADE = {**BY_HAND, "hostile": hostile, "cgroups": cgroups, "cpus512": many_cpus, "one": lambda: own(one_event())}


def can_record():
    return os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux")


def record(program, path):
    """Half a second of this machine, with something to see: two that share a CPU, one that sleeps."""
    script = "taskset -c 0 timeout 0.4 sh -c 'while :; do :; done' & taskset -c 0 timeout 0.4 sh -c 'while :; do :; done' & timeout 0.4 sh -c 'while :; do sleep 0.002; done' & wait"
    done = subprocess.run([program, "record", "-o", path, "--", "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def make_all(folder, program):
    """Name -> path of every recording."""
    paths = dict(FOREIGN)
    for name, make in MADE.items():
        paths[name] = folder / f"{name}.pftrace"
        paths[name].write_bytes(make())
    if can_record():
        paths["own"] = folder / "own.pftrace"
        record(program, paths["own"])
    else:  # converted, our own format has everything
        paths["own"] = folder / "own.pftrace"
        subprocess.run([program, "convert", FOREIGN["perf.data"], paths["own"]], check=True, capture_output=True, timeout=60)
    return paths
