#!/usr/bin/env python3
"""Pressure of a recording against the kernel's own account, /proc/pressure/cpu."""
import json
import pathlib
import subprocess
import time

from live import LONG_S, SCHEDSCOPE, Disturbed, NotHere, Work, case, expect, expect_near, main, need_live, output, scratch

PRESSURE = pathlib.Path("/proc/pressure/cpu")
SECONDS = 10


def total_us():
    """Of the line some; None where the kernel has no PSI."""
    try:
        some = PRESSURE.read_text(encoding="ascii").splitlines()[0]
    except OSError:
        return None
    return int(some.rsplit("=", 1)[1])


def changes(process):
    """When the kernel added to its total, and what that was then: it does so every 2 s."""
    seen, last = [], total_us()
    while process.poll() is None:
        time.sleep(0.01)
        now = total_us()
        if now != last:
            seen.append((time.clock_gettime_ns(time.CLOCK_BOOTTIME), now))
            last = now
    return seen


@case
def pressure_is_that_of_the_kernel():
    need_live()
    if total_us() is None:
        raise NotHere("the kernel does not account pressure")
    with scratch() as folder:
        path = str(pathlib.Path(folder, "p.pftrace"))
        # They are killed when it has ended; a slow CPU takes many seconds to begin with it.
        hogs = [Work("spin", ms=(SECONDS + LONG_S) * 1000, cpu=0) for _ in range(2)]
        recorder = subprocess.Popen([SCHEDSCOPE, "record", "-o", path, "--duration", f"{SECONDS}s"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = changes(recorder)
        for hog in hogs:
            hog.kill()
        expect(recorder.returncode == 0, "record failed")
        summary = json.loads(output([SCHEDSCOPE, "analyze", path, "--json"]).stdout)
        start = summary["start_timestamp"]
        end = start + 1e6 * summary["trace_duration_ms"]
        seen = [at for at in seen if start <= at[0] <= end]
        if len(seen) < 3:
            raise Disturbed(f"{len(seen)} changes of the kernel's total within the recording")
        (first, before), (last, after) = seen[0], seen[-1]
        got = json.loads(output([SCHEDSCOPE, "analyze", path, "pressure", "--from", f"@{first}", "--to", f"@{last}",
                                 "--json"]).stdout)
        if summary["lost_events"]:
            raise Disturbed(f"{summary['lost_events']} events were lost")
        expect_near("pressure, ns", got["some_ns"], 1000 * (after - before), relative=0.05)
        expect(got["stalled"] and got["stalled"][0]["behind"], "nobody was stalled behind a task")


if __name__ == "__main__":
    main()
