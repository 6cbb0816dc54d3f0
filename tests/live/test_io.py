#!/usr/bin/env python3
"""Packets, pages and files written out, `record --events net,mm,fs`: as many as the kernel itself counts, and as the work asked for."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parent.parent / "mcp")]

from live import NotHere, ask, case, expect, expect_between, main, need_live, scratch, unseen_switches  # noqa: E402  pylint: disable=wrong-import-position
from test_record import Record  # noqa: E402  pylint: disable=wrong-import-position
from trace_client import Client  # noqa: E402  pylint: disable=wrong-import-position

PACKETS, SYNCS, PAGES = 400, 25, 8192
PAGE = 4096
LARGEST_PACKET = 65536
SKIPPED = re.compile(r"(\d+) events came while a BPF program was already running")
# What the kernel counts of the loopback device is read around the packets alone.
WORK = """import json, mmap, os, socket, sys
packets, syncs, pages, page = map(int, sys.argv[2:])
def received():
    line, = [line for line in open("/proc/net/dev") if line.split()[0] == "lo:"]
    return [int(word) for word in line.split()[1:3]]
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
b.bind(("127.0.0.1", 0))
before = received()
for _ in range(packets):
    a.sendto(b"x" * 1000, b.getsockname())
    b.recv(2000)
bytes, nr = [y - x for x, y in zip(before, received())]
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for _ in range(syncs):
    os.write(fd, b"y" * page)
    os.fsync(fd)
memory = mmap.mmap(-1, pages * page)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError: # there are none
    pass
for at in range(0, pages * page, page):
    memory[at] = 1
print(json.dumps({"pid": os.getpid(), "bytes": bytes, "packets": nr, "inode": os.fstat(fd).st_ino}))"""


def file_system(path):
    """What the file system of a path is called."""
    return subprocess.run(["stat", "-f", "-c", "%T", path], check=True, capture_output=True, text=True).stdout.strip()


def received():
    """[bytes, packets] that the kernel has counted at the loopback device."""
    with open("/proc/net/dev", encoding="ascii") as lines:
        line, = [line for line in lines if line.split()[0] == "lo:"]
    return [int(word) for word in line.split()[1:3]]


def recorded(events, *analyses):
    """What was done, how many events the machine hid meanwhile, and the answers."""
    with scratch() as folder:
        if "fs" in events and file_system(folder) != "ext2/ext3":
            raise NotHere("needs a temporary folder on ext4")
        with Record(os.path.join(folder, "t"), "--events", events) as ours:
            unseen = unseen_switches()
            out = subprocess.run([sys.executable, "-c", WORK, os.path.join(folder, "file"), *map(str, (PACKETS, SYNCS, PAGES, PAGE))],
                                 check=True, capture_output=True, text=True, timeout=60)
            unseen = unseen_switches() - unseen
            summary = ours.finish()
        answers = [ask("analyze", ours.path, *words) for words in analyses]
    # An interrupt that allocates a page while the same is being recorded: the kernel runs no program within itself.
    skipped = sum(int(number) for number in SKIPPED.findall(summary["text"]))
    expect(summary["lost"] == skipped, f"lost: {summary}")
    return json.loads(out.stdout) | {"unseen": unseen + skipped, "skipped": skipped}, *answers


@case
def packets_are_those_of_the_kernel():
    before = received()
    work, report = recorded("default,net", ["network_io"])
    # Other programs use the device, too: at least what the kernel counted within the recording, at most what it did around it.
    most_bytes, most_packets = [y - x for x, y in zip(before, received())]
    device, = [row for row in report["by_device"] if row["device"] == "lo"]
    expect(work["packets"] >= PACKETS, f"{work}")
    # An interrupt upon a thread of pid 1 may be hidden.
    expect_between("received", device["rx_packets"], work["packets"], most_packets, less=work["unseen"])
    expect_between("sent", device["tx_packets"], work["packets"], most_packets, less=work["unseen"])
    expect_between("bytes received", device["rx_bytes"], work["bytes"], most_bytes, less=work["unseen"] * LARGEST_PACKET)


@case
def files_that_are_written_out():
    work, report = recorded("default,fs", ["file_io"])
    own, = [row for row in report["by_process"] if row["pid"] == work["pid"]]
    expect_between("times", own["count"], SYNCS, SYNCS, less=work["skipped"])


@case
def pages_that_a_task_touches():
    work, report = recorded("default,mm", ["memory_pressure"])
    own, = [row for row in report["allocated_by_process"] if row["pid"] == work["pid"]]
    # The start of Python, page tables and packets besides.
    expect_between("pages of the task", own["pages"], PAGES, 2 * PAGES, less=work["skipped"])


@case
def an_assistant_records_them():
    need_live()
    with scratch() as folder:
        with Client("--allow-path", folder) as mcp:
            mcp.call("record", duration_secs=1, events=["default", "net", "mm", "fs"])
            expect(mcp.call("analyze", type="memory_pressure")["page_alloc_count"] > 0, "no page was allocated in a second")


if __name__ == "__main__":
    main()
