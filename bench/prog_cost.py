"""What BPF programs cost, by the kernel's own statistics (kernel.bpf_stats_enabled): for machines too noisy for a stopwatch.

The kernel adds up the run time of each program. Divided by the switches that it saw, that is a cost per switch with all that
belongs to it, wakeups above all, which does not depend on how much else runs. What the statistics leave out is the way to the
program and, of a recorder, what is done in user space; that they are on costs each run some 20 ns, of all tools alike.
"""
import contextlib
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import time

SWITCH = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
ATTACH_S = 20


@contextlib.contextmanager
def counting():
    """The statistics are on meanwhile, and as they were afterwards."""
    before = SWITCH.read_text(encoding="ascii")
    SWITCH.write_text("1", encoding="ascii")
    try:
        yield
    finally:
        SWITCH.write_text(before, encoding="ascii")


def programs_of(pid):
    """{id: (name, run time, runs)} of the programs that a process holds."""
    held = set()
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            lines = info.read_text(encoding="ascii").splitlines()
            held |= {int(line.split()[1]) for line in lines if line.startswith("prog_id:")}
    out = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, text=True, check=True).stdout
    return {one["id"]: (one.get("name", ""), one.get("run_time_ns", 0), one.get("run_cnt", 0))
            for one in json.loads(out) if one["id"] in held}


def difference(before, after):
    """(run time, switches) between two readings."""
    run_ns = sum(ns - before.get(number, (None, 0, 0))[1] for number, (_, ns, _) in after.items())
    switches = [runs - before.get(number, (None, 0, 0))[2] for number, (name, _, runs) in after.items() if "switch" in name]
    return run_ns, max(switches, default=0)


def wait_until_counted(tool):
    """Its programs are attached, and see switches."""
    end = time.monotonic() + ATTACH_S
    while time.monotonic() < end and tool.poll() is None:
        if difference({}, programs_of(tool.pid))[1] > 10:
            return
        time.sleep(0.1)
    tool.kill()
    sys.exit(f"{' '.join(tool.args)} sees no switches: {tool.communicate()[1]}")


def parts(before, after):
    """{name: (ns per run, runs per switch)} between two readings, of programs that ran."""
    switches = difference(before, after)[1]
    found = {}
    for number, (name, ns, runs) in after.items():
        _, ns_before, runs_before = before.get(number, (None, 0, 0))
        if runs > runs_before and switches:
            found[name] = ((ns - ns_before) / (runs - runs_before), (runs - runs_before) / switches)
    return found


def costs_of(command, work):
    """(nanoseconds of BPF programs per switch, parts()), while work() runs under a tool."""
    tool = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until_counted(tool)
    try:
        before = programs_of(tool.pid)
        work()
        after = programs_of(tool.pid)
    finally:
        tool.send_signal(signal.SIGINT)
        tool.communicate(timeout=60)
    run_ns, switches = difference(before, after)
    return run_ns / switches, parts(before, after)


def cost_ns(command, work):
    """Nanoseconds of BPF programs per switch, while work() runs under a tool."""
    return costs_of(command, work)[0]


def compare(tools, rounds, work):
    """{tool: median cost} of tools that take turns; prints the table, with the programs of the round in the middle."""
    rows = {name: [] for name in tools}
    with counting():
        for _ in range(rounds):
            for name, command in tools.items():
                rows[name].append(costs_of(command, work))
    costs = {}
    for name, values in rows.items():
        values.sort(key=lambda row: row[0])
        costs[name] = statistics.median(cost for cost, _ in values)
        print(f"{name:8} {costs[name]:.0f} ns of BPF programs per switch ({values[0][0]:.0f} to {values[-1][0]:.0f})")
        middle = values[len(values) // 2][1]
        for program, (ns, runs) in sorted(middle.items(), key=lambda part: -part[1][0] * part[1][1]):
            if runs >= 0.01:
                print(f"         {program:16} {ns:5.0f} ns, {runs:.2f} runs per switch")
    return costs
