"""A fleet of recordings that differ, and what DuckDB says of them: the other side of the sums that Prometheus makes.

Most are made up, each by its number, with waits of all lengths; some are of machines (tests/data). DuckDB reads what `export --parquet` writes of
the same files. Bounds of slots are worked out here, from docs/metrics.md.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys

from serve import SCHEDSCOPE, SOURCE, WAIT_S, Skip, expect, recording

sys.path[1:1] = [str(SOURCE / "tests" / name) for name in ("trace", "parquet/readers")]
from encode import own  # noqa: E402  pylint: disable=wrong-import-position
from packages import install, place  # noqa: E402  pylint: disable=wrong-import-position
from scenarios import Scenario, Task  # noqa: E402  pylint: disable=wrong-import-position

US, MS = 1000, 1000000
BOUNDS_NS = [i * US for i in range(1, 32)] + [(32 + 10 * i) * US for i in range(48)] + \
            [512 * US * 2**power * (8 + i) // 8 for power in range(17) for i in range(8)]
FEW_NS = [us * US for us in (1, 2, 4, 8, 16, 32, 62, 122, 252)] + [512 * US * 2**power for power in range(17)]
CGROUPS = ["/", "/web", "/web/db", "/batch", '/say "hi"', "/back\\slash", "/a b", "/größe", "/init.scope", "/user.slice/user-0.slice",
           "/kubepods/burstable/pod0a1b/main", "/kubepods/burstable/pod0a1b/log"]
OF_MACHINES = ["perf/guest-6.1-cgroups.data.gz", "wprof/guest-d.pb.gz", "ftrace/guest-7.2-mono-tgid.txt.gz", "perfetto/e-guest-scx-vtime.pftrace.gz",
               "perf/arm64-7.2-sched.data.gz", "ftrace/report-guest-7.2-v7-zstd.txt.gz", "perfetto/e-guest-scx-stall.pftrace.gz", "wprof/host-a.pb.gz",
               "perf/host-all.data.gz", "ftrace/host-boot.txt.gz", "perfetto/c-guest-idle.pftrace.gz", "perfetto/k-host-killed.pftrace.gz"]
TURNS = 300
QUANTILES = (0.5, 0.9, 0.99, 0.999)


def delay(rng):
    """From half a microsecond to two seconds, each power of two as likely; one in ten is exactly where a slot ends, or 1 ns from it."""
    if rng.random() < 0.1:
        return rng.choice(BOUNDS_NS[:-16]) + rng.choice((-1, 0, 1))
    return int(2 ** rng.uniform(9, 31))


def set_up(rng, seed):
    """Some tasks of some cgroups, asleep, and CPUs that are idle."""
    tasks = [Task(100 + i, 100 + i, f"task-{i}") for i in range(rng.randrange(6, 20))]
    world = Scenario(f"host-{seed}", {cpu: 0 for cpu in range(rng.randrange(1, 5))}, tasks)
    chosen = rng.sample(CGROUPS, rng.randrange(2, 7))
    for number, path in enumerate(chosen):
        world.add("mkdir", 0, 0, cgroup=10 + number, path=path)
    for task in tasks[1:]:  # of the first one, nothing is known
        world.add("attach", 0, 0, cgroup=10 + rng.randrange(len(chosen)), moved=task.tid, stated=True)
    return world, [task.tid for task in tasks]


def machine(seed):
    """A recording: in each turn tasks are woken or begin, and one of those that wait comes on a CPU."""
    rng = random.Random(seed)
    world, asleep = set_up(rng, seed)
    ready, now = [], US
    for turn in range(TURNS):
        cpu = rng.choice(world.cpus)
        for _ in range(min(len(asleep), rng.randrange(3))):
            tid = asleep.pop(rng.randrange(len(asleep)))
            world.wake(now, cpu, tid)
            ready.append(tid)
        if turn % 40 == 7:
            world.fork(now, cpu, Task(1000 + turn, 1000 + turn, "new"))
            world.wake(now, cpu, 1000 + turn, new=True)
            ready.append(1000 + turn)
        now += delay(rng)
        before, state = world.current[cpu], rng.choice("RSSD")
        if not ready and not before:
            continue
        world.switch(now, cpu, ready.pop(rng.randrange(len(ready))) if ready else 0, state)
        if before:
            (ready if state == "R" else asleep).append(before)
    return own(world)


HOSTILE_PATHS = ["other", "/a\nevil 1", '/b"} 1\nevil 1', "/c\\", "/d{x}#", "/e" * 300, "/f\x1b[31m", "/g\u202e", "/h,le=\"1\"", "/i\r", "/ ", "(throttled)"]
HOSTILE_COMMS = ["\nevil 1", 'a"} 1 2\nevil', "\\", "#{", b"\xff\xfe", "x" * 15]


def hostile():
    """A recording whose names would be lines of a page of their own, if they could; two of them are not paths."""
    tasks = [Task(100 + i, 100 + i, HOSTILE_COMMS[i % len(HOSTILE_COMMS)]) for i in range(len(HOSTILE_PATHS))]
    world = Scenario("hostile", {0: 0}, tasks)
    for i, path in enumerate(HOSTILE_PATHS):
        world.add("mkdir", 0, 0, cgroup=10 + i, path=path)
        world.add("attach", 0, 0, cgroup=10 + i, moved=100 + i, stated=True)
    for turn in range(4 * len(tasks)):
        world.wake(turn * MS, 0, 100 + turn % len(tasks))
        world.switch(turn * MS + (turn + 1) * US, 0, 100 + turn % len(tasks), "S")
    return own(world)


def make(folder, nr):
    """The paths of so many recordings, with the names of their hosts."""
    known = iter(OF_MACHINES)
    paths = [recording(folder), recording(folder, "perfetto/e-guest-eevdf.pftrace.gz")][:nr]
    for i in range(len(paths), nr):
        name = next(known, None) if i % 4 == 3 else None
        path = pathlib.Path(folder) / f"host-{i}.pftrace"
        if not name:
            path.write_bytes(machine(i))
        paths.append(recording(folder, name) if name else str(path))
    return {f"host-{i}": path for i, path in enumerate(paths)}


def export(folder, hosts):
    for host, path in hosts.items():
        done = subprocess.run([SCHEDSCOPE, "export", "--parquet", folder, "--host", host, path], capture_output=True, text=True, timeout=120, check=False)
        expect(done.returncode == 0, f"{path}: {done.stderr}")


# What `serve` shows of a recording as histograms, from the tables.
DURATIONS = """CREATE TABLE durations AS
    SELECT 'sched_delay' AS metric, cause AS label, queue_dur AS ns FROM wait WHERE is_open = 0
    UNION ALL SELECT 'slice', CASE WHEN end_state IN ('R', 'R+') THEN 'preempted' ELSE 'slept' END, dur FROM sched_slice WHERE is_open = 0
    UNION ALL SELECT 'sleep', CASE state WHEN 'S' THEN 'interruptible' WHEN 'D' THEN 'uninterruptible' ELSE 'other' END, dur FROM sleep WHERE is_open = 0
    UNION ALL SELECT 'cgroup_sched_delay', coalesce(cgroup, 'other'), queue_dur FROM fleet_wait"""
QUESTIONS = {
    "buckets": "SELECT metric, label, bound.ns, count(*) FILTER (durations.ns < bound.ns) FROM durations, bound GROUP BY ALL",
    "totals": "SELECT metric, label, count(*), sum(ns)::BIGINT FROM durations GROUP BY ALL",
    "quantiles": f"SELECT of, {', '.join(f'quantile_disc(ns, {q})' for q in QUANTILES)} "
                 "FROM (SELECT *, unnest([label, '.*']) AS of FROM durations WHERE metric = 'sched_delay') GROUP BY of",
    "migrations": "SELECT count(*) FROM migration",
    "hosts": "SELECT count(DISTINCT host) FROM trace",
}


def ask_duckdb(folder, hosts):
    """{name of a question: rows}; skipped where npm has no DuckDB for us."""
    packages = place()
    why = install(packages)
    if why:
        raise Skip(why)
    folder = pathlib.Path(folder) / "fleet"
    export(folder, hosts)
    bounds = ", ".join(f"({ns})" for ns in BOUNDS_NS)
    begin, then = folder.parent / "begin.sql", folder.parent / "then.sql"
    begin.write_text(f"SET VARIABLE schedscope = '{folder}/';\n")
    then.write_text(f"{DURATIONS};\nCREATE TABLE bound AS SELECT * FROM (VALUES {bounds}) AS v(ns);\n")
    work = {"dir": str(folder), "sql": [str(begin), str(SOURCE / "share/schedscope/sql/duckdb.sql"), str(then)], "queries": list(QUESTIONS.values())}
    done = subprocess.run([shutil.which("node"), packages / "ask.mjs", "duckdb"], input=json.dumps(work), capture_output=True, text=True,
                          timeout=3 * WAIT_S, check=False)
    expect(done.returncode == 0, done.stderr)
    answers = json.loads(done.stdout)["answers"]
    for name, answer in zip(QUESTIONS, answers):
        expect("error" not in answer, f"{name}: {answer.get('error')}")
    return {name: answer["rows"] for name, answer in zip(QUESTIONS, answers)}
