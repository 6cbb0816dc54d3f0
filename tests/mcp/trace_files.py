"""Traces for tests of the tools on them: small ones that are known by heart, and recordings with their truth."""
import collections
import json
import os
import pathlib
import sys
import tempfile

from trace_client import Client

SOURCE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests" / "trace"), str(SOURCE / "tests")]
import tap  # noqa: E402
from encode import BOOT, Compact, ftrace_event, own, traced_bundle, traced_head  # noqa: E402
from scenarios import Scenario, Task  # noqa: E402
from tap import Skipped  # noqa: E402,F401  pylint: disable=unused-import
from wire import num, packet, msg, text  # noqa: E402

DATA = SOURCE / "tests" / "data"
FOLDER = tempfile.TemporaryDirectory()
DIR = pathlib.Path(FOLDER.name).resolve()
MS = 1_000_000
BIG = 8192  # bytes of a default answer, all in all


def story():
    """20 ms: hog keeps CPU 0 while web, woken by db on CPU 1, waits 10 ms for it; CPU 1 sits idle."""
    s = Scenario("late", {0: 0, 1: 0}, [Task(100, 100, "hog"), Task(200, 200, "web"), Task(300, 300, "db")])
    s.last_cpu[200] = 0
    s.switch(0, 0, 100)
    s.switch(1 * MS, 1, 300)
    s.wake(2 * MS, 1, 200)
    s.softirq(3 * MS, 1, 3 * MS + 5_000, 1)
    s.switch(4 * MS, 1, 0, "S")
    s.switch(12 * MS, 0, 200, "R+")
    s.switch(15 * MS, 0, 100, "S")
    s.switch(20 * MS, 0, 0, "S")
    return own(s)


def devices():
    """Disk, network, memory, files, power: one or two of each, on one CPU."""
    at, events = BOOT, []

    def add(after_us, member, *fields):
        events.append(ftrace_event(at + after_us * 1000, 50, member, *fields))

    def block(after_us, member, sector, rwbs):
        add(after_us, member, num(1, 8), num(2, sector), num(3, 16), text(5, rwbs))
    block(100, 126, 1000, "R")       # insert
    block(110, 45, 1000, "R")        # issue
    block(150, 125, 1000, "R")       # complete: 10 us in the queue, 40 us in the device
    block(200, 45, 2000, "WS")
    block(300, 125, 2000, "WS")
    add(310, 361, num(1, 1500), text(2, "eth0"))
    add(320, 360, num(1, 900), text(2, "eth0"))
    add(330, 360, num(1, 100), text(2, "eth0"))
    add(340, 307, num(3, 0))
    add(341, 307, num(3, 0))
    add(350, 310, num(1, 0))
    add(360, 46, num(1, 0))
    add(400, 47)
    add(500, 43, num(1, 8), num(2, 77))
    add(700, 44, num(1, 8), num(2, 77))
    add(800, 11, num(1, 1_000_000), num(2, 0))
    add(900, 11, num(1, 2_000_000), num(2, 0))
    add(1000, 13, num(1, 1), num(2, 0))
    add(1300, 13, num(1, 0xffffffff), num(2, 0))
    add(1400, 113, text(1, "machine_suspend"), num(2, 3), num(3, 1))
    add(2000, 113, text(1, "machine_suspend"), num(2, 3), num(3, 0))
    return traced_head() + traced_bundle(0, events, Compact(), 0)


def requests():
    """One request of 300 ns, of which it ran 100, by wprof."""
    def event(ts, kind, category, name=None, *more):
        return packet(num(10, 1), num(8, ts), msg(11, num(9, kind), num(11, 7), text(22, category),
                                                  text(23, name), *more))

    def arg(key, value):
        return msg(4, text(10, key), num(3, value) if isinstance(value, int) else text(6, value))
    track = packet(num(10, 1), num(13, 1), msg(60, num(1, 7), text(2, "requests")))
    req = arg("req_id", 31)
    return track + event(100, 1, "REQUEST", "get", req) + event(150, 1, "REQUEST_ONCPU", "RUNNING", req) + \
        event(250, 2, "REQUEST_ONCPU") + event(400, 2, "REQUEST", None, req)


def write(name, data):
    path = DIR / name
    path.write_bytes(data)
    return path


def start(*options, **kwargs):
    return Client("--allow-path", DIR, "--allow-path", DATA, *options, **kwargs)


def load_late(c):
    return c.call("load_perfetto_trace", file_path=str(DIR / "late.pftrace"))


def real(c, name):
    """A recording of tests/data by the name of its truth."""
    folder, end = ("perfetto", ".pftrace.gz") if (DATA / f"perfetto/{name}.pftrace.gz").exists() else ("wprof", ".pb.gz")
    c.call("load_perfetto_trace", file_path=str(DATA / folder / (name + end)), trace_id=name)


def truth_of(name):
    path = DATA / "perfetto" / f"{name}.pftrace.truth.json"
    return json.loads(path.read_text())["tp"] if path.exists() else json.loads((DATA / "wprof/truth.json").read_text())[name]


def lists_of(value, path=""):
    """{dotted name: rows} of lists that are not inside of rows."""
    for key, member in value.items():
        if isinstance(member, list):
            yield path + key, member
        elif isinstance(member, dict):
            yield from lists_of(member, path + key + ".")


def all_pages(c, tool, **args):
    """What the lists hold when one follows next_offset to the end: {name: rows}, and the totals that were reported."""
    rows, totals, offset = collections.defaultdict(list), {}, 0
    for _ in range(2000):
        got = c.call(tool, offset=offset, **args)
        shown = dict(lists_of({key: value for key, value in got.items() if key != "page"}))
        paged = {entry["name"]: entry for entry in got["page"]["lists"]} if got["truncated"] else {}
        for name in paged if paged else shown:
            rows[name] += shown[name]
        totals.update({name: entry["total"] for name, entry in paged.items()})
        following = [entry["next_offset"] for entry in paged.values() if entry["next_offset"] is not None]
        if not following:
            return rows, totals
        assert min(following) > offset
        offset = min(following)
    raise AssertionError("no end")


def run_cases(cases):
    """Prints TAP; the exit code."""
    write("late.pftrace", story())
    write("io.pftrace", devices())
    write("requests.pftrace", requests())
    code = tap.run_cases(cases)
    FOLDER.cleanup()
    return code
