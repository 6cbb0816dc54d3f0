#!/usr/bin/env python3
"""test_system.py KERNEL [WORD...]: what the host may not have, in a virtual machine: kprobes, CPUs that go and come,
NUMA nodes, hardware counters, /proc/schedstat of each version.

guest_system.py does it, and counts. Instructions are counted at one per four cycles there.
"""
import collections
import json
import sys

import vm
from live import ROOT, case, expect, expect_near, main, run

sys.path.insert(0, str(ROOT / "tests/trace"))
import decode

KERNEL = sys.argv.pop(1)
GUEST = vm.Guest(KERNEL, "guest_system.py", "recordings", "probes", "events", "moves", "hotplug", "profile")
LATE = vm.Guest(KERNEL, "guest_system.py", "latecomer")
WIDE = vm.Guest(KERNEL, "guest_system.py", "distances", options=(*vm.COUNTING, "--cpus", "8"))
SCHEDSTAT = {"6.1": "15", "6.12": "16", "7.2": "17"}
IPC = 0.25
LAST_CPU = 3


def text(name, guest=GUEST):
    """A file that the guest left."""
    return guest.path(name).read_text(encoding="utf-8")


def last_report(name, guest=GUEST):
    """The last report of a `stat --json` that ended well."""
    expect(text(f"{name}.code", guest) == "0", text(f"{name}.err", guest))
    return json.loads(text(f"{name}.out", guest).splitlines()[-1])


def events(name, kind, *words):
    """Events of a recording that ended well."""
    expect(text(f"{name}.code") == "0", text(f"{name}.err"))
    out = run("query", str(GUEST.path(f"{name}.pftrace")), "-e", kind, "-a", "--json", *words, timeout=120)
    expect(out.returncode == 0, out.stderr)
    return [{**row, **row["fields"]} for row in json.loads(out.stdout)["events"]]


def need_pmu():
    """An emulated x86-64 has no hardware counters."""
    if vm.ARCH == "x86_64":
        vm.skip("no hardware counters in this machine")


def own(report, group, tid):
    """Our row of a table of migrations."""
    rows = [row for row in report["groups"][group] if row["tid"] == tid]
    expect(len(rows) == 1, f"{len(rows)} rows of {tid} in {group}")
    return rows[0]["total"]


@case
def every_kind_of_recording_works():
    for kind in ("all", "stacks", "sample", "cgroup", "stats"):
        expect(text(f"kind_{kind}.code") == "0", f"{kind}: {text(f'kind_{kind}.err')}")


@case
def calls_of_a_kernel_function_are_counted_exactly():
    hits = collections.Counter(row["pid"] for row in events("probes", "probe"))
    for task in json.loads(text("probes.json"))["tasks"]:
        expect(hits[task["tid"]] == task["count"], f"{hits[task['tid']]} hits, expected {task['count']}")


def counted(refresh):
    """What a screen counted on each CPU that is there, per second."""
    expect(refresh["event_why"] is None, refresh["event_why"])
    return {cpu["cpu"]: cpu["event_per_s"] for cpu in refresh["cpus"] if cpu["is_online"]}


@case
def a_screen_counts_calls_of_a_kernel_function():
    found = json.loads(text("events.json"))
    calls = sum(counted(found["calls"]).values()) * found["calls"]["interval_s"]
    want = sum(task["count"] for task in found["account"]["tasks"])
    expect_near("calls", calls, want, relative=0.03, absolute=4)


@case
def a_screen_counts_cycles_while_cpus_come_and_go():
    found = json.loads(text("events.json"))
    for name, cpus in (("cycles", 4), ("without", 3), ("with", 4)):
        rates = counted(found[name])
        expect(len(rates) == cpus, f"{name}: CPUs {rates}")
        for cpu, rate in rates.items():  # they never rest: emulated ones count on while idle
            expect_near(f"cycles of CPU {cpu}, {name}", rate, 1e9, relative=0.05)


@case
def moves_between_nodes_are_distinguished():
    done, report = json.loads(text("moves.json")), last_report("moves")
    expect(own(report, "migration", done["tid"]) == done["moves"], f"{report['groups']['migration']}")
    far = report["groups"]["migration_cross_node"]
    expect(own(report, "migration_cross_node", done["tid"]) == done["moves"], f"{far}")


def distances():
    """The thread that was moved, and how often within a last-level cache, a node, and beyond."""
    done = json.loads(text("distances.json", WIDE))
    moves = done["moves"]
    return done["tid"], [sum(moves.values()), moves["same_node"], moves["other_node"]], done["screen"]


@case
def moves_between_caches_and_nodes_are_distinguished_by_stat():
    tid, want, _ = distances()
    report = last_report("distances_stat", WIDE)
    got = [own(report, group, tid) for group in ("migration", "migration_cross_llc", "migration_cross_node")]
    expect(got == want, f"moves, between caches, between nodes: {got}, expected {want}")


@case
def moves_between_caches_and_nodes_are_distinguished_in_a_recording():
    tid, want, _ = distances()
    expect(text("distances.code", WIDE) == "0", text("distances.err", WIDE))
    out = run("analyze", str(WIDE.path("distances.pftrace")), "migration_patterns", "llc_locality", "--tid", str(tid),
              "--json", timeout=120)
    expect(out.returncode == 0, out.stderr)
    patterns, locality = json.loads(out.stdout).values()
    for keys, found in ((("total_migrations", "cross_llc_migrations", "cross_numa_migrations"), patterns),
                        (("total_migrations", "cross_llc_same_numa_migrations", "cross_numa_migrations"), locality)):
        got = [found[key] for key in keys]
        expect(got == want, f"{keys}: {got}, expected {want}")
    topology = locality["topology"]
    expect(topology == {"nr_cpus": 8, "nr_llcs": 4, "nr_numa_nodes": 2}, f"{topology}")


@case
def moves_between_caches_and_nodes_are_distinguished_on_the_screen():
    tid, want, refresh = distances()
    row = next(task for task in refresh["threads"] if task["tid"] == tid)
    got = [round(row[key] * refresh["interval_s"]) for key in
           ("migrations_per_s", "llc_migrations_per_s", "node_migrations_per_s")]
    expect(got == want, f"moves, between caches, between nodes: {got}, expected {want}")
    places = [(cpu["llc"], cpu["node"]) for cpu in refresh["cpus"]]
    expect(places == [(cpu // 2, cpu // 4) for cpu in range(8)], f"{places}")


@case
def schedstat_of_this_kernel_is_read():
    expect(text("schedstat").split()[1] == SCHEDSTAT[KERNEL], text("schedstat")[:40])
    table = last_report("moves")["groups"]["schedstat"]
    expect(len(table["domains"]) == 2, f"{len(table['domains'])} domains, expected those of pair and machine")
    expect(table["cpu"]["rq_pcount"] > 0 and table["cpu"]["sched_count"] > 0, f"{table['cpu']}")
    expect(table["total"]["lb_count_idle"] + table["total"]["lb_count_newly_idle"] > 0, f"{table['total']}")


@case
def hardware_counters_agree_with_the_machine():
    need_pmu()
    expect(text("kind_pmu.code") == "0", text("kind_pmu.err"))
    total = last_report("moves")["groups"]["perf"]["ipc"]["global"]
    expect_near("instructions per cycle of programs", total["user_ipc"], IPC, relative=0.05)
    expect_near("instructions per cycle of the kernel", total["kernel_ipc"], IPC, relative=0.05)


@case
def cycles_are_sampled():
    need_pmu()
    expect(text("profile.code") == "0", text("profile.err"))
    samples = sum(int(line.rpartition(" ")[2]) for line in text("cycles.folded").splitlines())
    expect(samples >= 20, f"{samples} samples of a second of spinning: {text('profile.err')}")
    expect(all(line.startswith("sh;") for line in text("cycles.folded").splitlines()), "samples of another process")


@case
def a_cpu_that_goes_and_comes_back_is_followed():
    report = last_report("hotplug_stat")
    expect(report["lost"]["total"] == 0, f"{report['lost']}")
    steps = [row for row in events("hotplug", "cpuhp") if row["cpu_id"] == LAST_CPU]
    expect(steps, "no step of the CPU was seen")
    back_ns = max(row["timestamp"] for row in steps)
    tid = json.loads(text("hotplug.json"))["tid"]
    ran = [row for row in events("hotplug", "sched_switch", "--cpu", str(LAST_CPU))
           if row["timestamp"] > back_ns and row["next_pid"] == tid]
    expect(ran, "nothing was seen of the CPU after it came back")


@case
def a_cpu_that_is_offline_is_not_idle():
    steps = [row for row in events("hotplug", "cpuhp") if row["cpu_id"] == LAST_CPU]
    down_ns = min(row["timestamp"] for row in steps)
    up_ns = min(row["timestamp"] for row in steps if 0 < row["target"] >= row["state"])
    expect(up_ns - down_ns > 0.1e9, f"it was offline for {up_ns - down_ns} ns only")
    out = run("analyze", str(GUEST.path("hotplug.pftrace")), "cpu_utilization", "--cpu", str(LAST_CPU), "--from", f"@{down_ns}",
              "--to", f"@{up_ns}", "--json", timeout=120)
    expect(out.returncode == 0, out.stderr)
    cpu = json.loads(out.stdout)["cpu"]
    expect(cpu["idle_time_ns"] == 0 and cpu["unknown_time_ns"] > 0.5 * (up_ns - down_ns), f"{cpu}")


@case
def a_cpu_that_comes_online_is_sampled_and_counted():
    """Stacks and counters of a process that runs on no other one, and an event of the profiler on each CPU."""
    expect(text("latecomer_profile.code", LATE) == "0", text("latecomer_profile.err", LATE))
    profiler = json.loads(text("latecomer_profile.out", LATE))["profiler"]
    expect((profiler["num_cpus"], profiler["skipped_cpus"]) == (LAST_CPU + 1, 0), f"{profiler}")
    expect(text("latecomer.code", LATE) == "0", text("latecomer.err", LATE))
    tid = json.loads(text("latecomer.json", LATE))["tid"]
    trace = decode.Trace(LATE.path("latecomer.pftrace").read_bytes())
    stacks = [sample for sample in trace.samples if sample["tid"] == tid and sample["cpu"] == LAST_CPU]
    expect(len(stacks) > 20, f"{len(stacks)} stacks of it were recorded")
    counts = [event["args"] for event in trace.track_events if event["category"] == "PMU" and event["args"]["cpu"] == LAST_CPU]
    expect(any(args.get("pmu:task-clock", 0) > 0 for args in counts), f"counters: {counts}")


main()
