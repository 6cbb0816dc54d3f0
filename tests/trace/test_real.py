#!/usr/bin/env python3
"""Loads recordings of Perfetto's own recorder and compares with what others counted in them (*.truth.json)."""
import collections
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
DATA = ROOT / "tests/data/perfetto"
# Kinds of records that stand for one event of ftrace each.
KINDS = {"sched_switch": "SWITCH", "sched_waking": "WAKING", "sched_wakeup": "WAKEUP", "sched_wakeup_new": "WAKEUP_NEW",
         "sched_migrate_task": "MIGRATE", "task_newtask": "FORK", "task_rename": "RENAME",
         "sched_process_exec": "EXEC", "sched_process_exit": "EXIT", "sched_process_free": "FREE",
         "sched_process_wait": "WAIT", "softirq_entry": "SOFTIRQ_ENTRY", "softirq_exit": "SOFTIRQ_EXIT",
         "irq_handler_entry": "IRQ_ENTRY", "irq_handler_exit": "IRQ_EXIT", "ipi_raise": "IPI_SEND",
         "ipi_entry": "IPI_ENTRY", "ipi_exit": "IPI_EXIT", "workqueue_execute_start": "WORK_START",
         "workqueue_execute_end": "WORK_END", "cpu_idle": "CPU_IDLE"}

UNKNOWN = 16  # flag of a switch that does not name the task that left

cases = []


def case(name, is_good, why=""):
    cases.append((name, is_good, why))


def dump(path, *words):
    out = subprocess.run([os.environ["READ_DUMP"], path, *words], capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    return json.loads(lines[-1]), lines[:-1]


def compare(name, got, want):
    case(name, got == want, f"got {got}, want {want}")


def plain(counts):
    return {key.removeprefix("dense_generic:"): nr for key, nr in counts.items()}


def check(path):
    name = path.name.removesuffix(".pftrace.gz")
    truth = json.loads(path.with_name(path.stem + ".truth.json").read_text())
    wire, tp = truth["wire"], truth["tp"]
    info, _ = dump(path)

    compare(f"{name}: events by name", info["events"], plain(wire["events_total_incl_compact"]))
    compare(f"{name}: events by CPU", {str(c["cpu"]): c["events"] for c in info["cpus"] if c["events"]},
            {cpu: sum(counts.values()) for cpu, counts in wire["per_cpu_totals"].items()})
    compare(f"{name}: packets", info["packets"], sum(nr for key, nr in wire["packets_by_type"].items()
                                                     if key != "compressed_packets"))
    want = {KINDS[key]: nr for key, nr in wire["events_total_incl_compact"].items() if key in KINDS}
    compare(f"{name}: a record for each", {k: n for k, n in info["records"].items() if k not in ("TASK_INFO", "LOST")}, want)
    # CPUs of which the rest is missing, as the recorder did not finish the file.
    compare(f"{name}: CPUs that end early", info["records"].get("LOST", 0), {"e-guest-scx-stall": 3, "k-host-killed": 1}.get(name, 0))
    compare(f"{name}: producer", info["producer"], "perfetto")
    compare(f"{name}: every tid has been introduced", info["unnamed"], 0)
    one, records = dump(path, "records", "workers=1")
    three, again = dump(path, "records", "workers=3")
    case(f"{name}: the same with any number of workers", one == three and records == again)
    check_switches(name, records, tp)


def words(record):
    """kind, cpu, flags, ts, then 32-bit words of the payload."""
    kind, cpu, flags, ts, payload = record.split()
    raw = bytes.fromhex(payload)
    return kind, int(cpu), int(flags), int(ts), [int.from_bytes(raw[i:i + 4], "little") for i in range(0, len(raw), 4)]


def check_switches(name, records, tp):
    """Slices as trace_processor makes them: each switch but the first of a CPU begins one, the next ends it."""
    open_slice, first_seen = {}, set()
    busy, idle, nr = collections.Counter(), collections.Counter(), collections.Counter()
    for record in records:
        kind, cpu, flags, ts, value = words(record)
        if kind != "SWITCH":
            continue
        if cpu in open_slice:
            start, tid = open_slice[cpu]
            (busy if tid else idle)[cpu] += ts - start
            if value[0] != tid:
                case(f"{name}: who left at {ts}", False, f"{value[0]}, not {tid}")
        if cpu in first_seen:
            nr[cpu] += 1
            open_slice[cpu] = ts, value[1]
        else:
            first_seen.add(cpu)
            case(f"{name}: the task that left CPU {cpu} first is unknown", flags & UNKNOWN and value[0] == 0)
    for row in tp["per_cpu"]:
        cpu = row["cpu"]
        compare(f"{name}: slices of CPU {cpu}", (nr[cpu], busy[cpu], idle[cpu]),
                (row["slices"], row["busy_ns_closed"], row["idle_ns_closed"]))


for trace in sorted(DATA.glob("*.pftrace.gz")):
    check(trace)
case("there were recordings", len(cases) > 50)
print(f"1..{len(cases)}")
for number, (name, is_good, why) in enumerate(cases, 1):
    print(f"{'ok' if is_good else 'not ok'} {number} - {name}")
    if not is_good:
        print(f"# {why[:2000]}")
