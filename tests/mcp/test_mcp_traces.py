#!/usr/bin/env python3
"""The tools on traces, by a client: each answers with numbers that others computed.

Small traces come from the encoders of tests/trace, and every number of theirs is known by heart; of real recordings
tests/data holds what Perfetto's trace_processor and an independent decoder found. Prints TAP.
"""
import errno
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from trace_client import SCHEDSCOPE, Client, refusal
from trace_files import (BIG, BOOT, DATA, DIR, MS, Compact, Skipped, all_pages, ftrace_event, load_late, num, real,
                         run_cases, start, story, traced_bundle, traced_head, truth_of)

CASES = []


def case(function):
    CASES.append(function)
    return function


# ---- load, list, unload -----------------------------------------------------------------------------------------


@case
def loading_reports_what_it_is():
    with start() as c:
        got = load_late(c)
        assert (got["trace_id"], got["file_path"]) == ("late", str(DIR / "late.pftrace")), got
        assert (got["duration_ms"], got["num_cpus"], got["num_processes"], got["total_events"]) == (20.0, 2, 3, 9), got
        assert got["time_range"] == [BOOT, BOOT + 20 * MS] and got["is_scx_trace"] is False and got["evicted"] == 0
        assert (got["trace_source"], got["lost_events"]) == ("schedscope", 0)


@case
def traces_are_listed_and_unloaded_w14():
    with start() as c:
        assert c.call("list_traces") == {"traces": [], "total": 0}
        load_late(c)
        c.call("load_perfetto_trace", file_path=str(DIR / "late.pftrace"), trace_id="again")
        rows = {row["trace_id"]: row for row in c.call("list_traces")["traces"]}
        assert set(rows) == {"late", "again"}, rows
        assert all(row["total_events"] == 9 and row["memory_bytes"] > 0 for row in rows.values())
        assert rows["late"]["file_bytes"] == (DIR / "late.pftrace").stat().st_size
        assert c.call("unload_trace", trace_id="late") == {"trace_id": "late", "unloaded": True}
        assert [row["trace_id"] for row in c.call("list_traces")["traces"]] == ["again"]
        assert "Trace 'late' not found" in refusal(c, "unload_trace", trace_id="late")


@case
def the_longest_unused_trace_makes_room():
    with start("--max-traces", 2) as c:
        for name in ("a", "b"):
            c.call("load_perfetto_trace", file_path=str(DIR / "late.pftrace"), trace_id=name)
        c.call("get_trace_summary", trace_id="a")
        assert c.call("load_perfetto_trace", file_path=str(DIR / "late.pftrace"), trace_id="c")["evicted"] == 1
        assert sorted(row["trace_id"] for row in c.call("list_traces")["traces"]) == ["a", "c"]


def messages(c):
    return [n["params"] for n in c.notifications if n["method"] == "notifications/message"]


@case
def loads_and_limits_are_logged_at_the_level_that_the_client_chose():
    path = str(DIR / "late.pftrace")
    with start("--max-traces", 1) as c:
        c.call("load_perfetto_trace", file_path=path, trace_id="a")
        assert not messages(c), messages(c)
        c.call("load_perfetto_trace", file_path=path, trace_id="b")
        assert [(m["level"], m["logger"]) for m in messages(c)] == [("warning", "load_perfetto_trace")], messages(c)
        assert "limit on loaded traces was reached: 1" in messages(c)[0]["data"], messages(c)
        c.request("logging/setLevel", {"level": "info"})
        c.call("load_perfetto_trace", file_path=path, trace_id="c")
        assert [m["level"] for m in messages(c)[1:]] == ["info", "warning"], messages(c)
        assert messages(c)[1]["data"] == f"'{path}' is loaded as trace c", messages(c)


@case
def a_trace_that_is_too_large_is_refused_while_it_loads():
    """A small file that unpacks to 200 MiB of packets, and one whose events need as much in tables."""
    packed, plain = DIR / "packed.pftrace.gz", DIR / "plain.pftrace"
    packed.write_bytes(gzip.compress(story() * (200 * 2**20 // len(story())), 1))
    plain.write_bytes(story() * (12 * 2**20 // len(story())))
    with start("--max-trace-mib", 16) as c:
        load_late(c)
        for path in (packed, plain):
            why = refusal(c, "load_perfetto_trace", file_path=str(path))
            assert f"loading '{path}' takes more than the allowed 16.0 MiB of memory" in why and "--max-trace-mib" in why, why
        assert c.call("list_traces")["total"] == 1
    packed.unlink()
    plain.unlink()


@case
def the_newest_trace_is_the_one_that_is_meant():
    with start() as c:
        assert "no trace is loaded" in refusal(c, "get_trace_summary")
        load_late(c)
        assert c.call("get_trace_summary")["trace_id"] == "late"
        c.call("load_perfetto_trace", file_path=str(DIR / "io.pftrace"))
        assert c.call("get_trace_summary")["trace_id"] == "io"
        c.call("unload_trace", trace_id="io")
        assert c.call("get_trace_summary")["trace_id"] == "late"
        why = refusal(c, "analyze_irq", trace_id="nope")
        assert "Trace 'nope' not found" in why and "late" in why, why


@case
def a_folder_of_perf_is_one_recording():
    """What 'perf record --threads' has made, as the command line loads it."""
    with tarfile.open(DATA / "perf/host-threads.tar.xz") as archive:
        archive.extractall(DIR)
    folder = DIR / "host-threads.data"
    nr_bytes = sum(path.stat().st_size for path in folder.iterdir())
    printed = json.loads(subprocess.run([SCHEDSCOPE, "analyze", folder, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    with start() as c:
        got = c.call("load_perfetto_trace", file_path=str(folder))
        assert got["trace_id"] == "host-threads" and got["file_path"] == str(folder), got
        assert got["total_events"] == printed["total_events"] > 700, (got, printed["total_events"])
        assert c.call("list_traces")["traces"][0]["file_bytes"] == nr_bytes
        assert c.call("load_perfetto_trace", file_path="host-threads.data", trace_id="b")["total_events"] == got["total_events"]
        c.call("diff_traces", trace_id_a="host-threads", trace_id_b="b")


@case
def parts_of_a_folder_of_perf_are_no_way_out():
    """Links among them are followed below the allowed directories only; other folders hold recordings, or none."""
    folder = DIR / "host-threads.data"
    outside = pathlib.Path(tempfile.mkdtemp())
    try:
        shutil.copytree(folder, outside / "copy.data")
        (DIR / "linked.data").mkdir()
        shutil.copy(folder / "data", DIR / "linked.data/data")
        (DIR / "linked.data/data.0").symlink_to(outside / "copy.data/data.0")
        (DIR / "away.data").symlink_to(outside / "copy.data")
        (DIR / "odd.data").mkdir()
        (DIR / "odd.data/data").write_text("no recording")
        with start() as c:
            assert "not below" in refusal(c, "load_perfetto_trace", file_path=str(outside / "copy.data"))
            assert "not below" in refusal(c, "load_perfetto_trace", file_path=str(DIR / "away.data"))
            assert "linked.data" in refusal(c, "load_perfetto_trace", file_path=str(DIR / "linked.data"))
            why = refusal(c, "load_perfetto_trace", file_path=str(DIR / "odd.data"))
            assert "holds no recording" in why or "is not a file" in why, why  # whether it may list the folder, or not
    finally:
        shutil.rmtree(outside)
        for name in ("linked.data", "odd.data"):
            shutil.rmtree(DIR / name)
        (DIR / "away.data").unlink()


@case
def files_outside_are_refused():
    outside = tempfile.NamedTemporaryFile(suffix=".pftrace")
    outside.write(story())
    outside.flush()
    (DIR / "escape.pftrace").symlink_to(outside.name)
    (DIR / "folder").symlink_to(os.path.dirname(outside.name))
    (DIR / "inside.pftrace").symlink_to(DIR / "late.pftrace")
    log = tempfile.TemporaryFile()
    with start(stderr=log) as c:
        for path in (outside.name, DIR / "escape.pftrace", DIR / "folder" / os.path.basename(outside.name),
                     DIR / ".." / os.path.basename(outside.name), "/etc/passwd", "/nonexistent/x", "/proc/self/mem"):
            why = refusal(c, "load_perfetto_trace", file_path=str(path))
            assert str(DIR) in why and "--allow-path" in why, (path, why)
        assert c.call("load_perfetto_trace", file_path=str(DIR / "inside.pftrace"))["trace_id"] == "late"
        assert "No such file" in refusal(c, "load_perfetto_trace", file_path=str(DIR / "nope"))
        os.mkfifo(DIR / "pipe")
        assert "is not a file" in refusal(c, "load_perfetto_trace", file_path=str(DIR / "pipe"))
        why = refusal(c, "load_perfetto_trace", file_path=str(DATA / "wprof/truth.json"))
        assert "truth.json" in why and "/proc/" not in why, why
        for target in (outside.name + ".json", "/tmp/x.json", str(DIR / "folder" / "x.json"), str(DIR / "escape.pftrace")):
            assert refusal(c, "export_trace_analysis", trace_id="late", output_path=target), target
        log.seek(0)
        assert log.read().decode().count("refused '") == 10
        assert not os.path.exists("/tmp/x.json") and not os.path.exists(outside.name + ".json")


@case
def without_an_allowed_path_the_working_directory_counts():
    with Client(cwd=DIR) as c:
        assert c.call("load_perfetto_trace", file_path="late.pftrace")["trace_id"] == "late"
        assert refusal(c, "load_perfetto_trace", file_path=str(DATA / "perfetto/c-guest-idle.pftrace.gz"))


@case
def relative_paths_are_those_of_the_allowed_directory():
    with Client("--allow-path", DIR, cwd="/") as c:
        assert c.call("load_perfetto_trace", file_path="late.pftrace")["trace_id"] == "late"
        c.call("export_trace_analysis", trace_id="late", output_path="relative.json")
        assert (DIR / "relative.json").exists()
        why = refusal(c, "load_perfetto_trace", file_path="nope.pftrace")
        assert str(DIR) in why and "No such file" in why, why
        assert str(DIR) in refusal(c, "load_perfetto_trace", file_path="../../etc/passwd")


@case
def wrong_arguments_bring_no_words_of_the_system():
    """What errno says is about files and calls that the client has not made."""
    words = [os.strerror(n) for n in errno.errorcode]
    with start() as c:
        calls = [("get_trace_summary", {"trace_id": "nope"}), ("unload_trace", {"trace_id": "nope"}), ("unload_trace", {}),
                 ("load_perfetto_trace", {"file_path": "/etc/passwd"}), ("record_and_analyze", {"pid": 4194304}),
                 ("record_and_analyze", {"events": ["nonsense"]}), ("record_and_analyze", {"duration_secs": 0.01}),
                 ("analyze_irq", {"trace_id": "nope"}), ("diff_traces", {"trace_id_a": "a", "trace_id_b": "a"}),
                 ("diff_traces", {"trace_id_a": "a", "trace_id_b": "b"}), ("get_events", {}), ("control_analyzers", {"action": "start"}), ("record", {"events": ["disk"]}), ("record", {"duration_secs": -1}),
                 ("explain", {"what": "task"}), ("timeline", {}), ("timeline", {"pid": 1, "cpu": 0}), ("analyze", {}),
                 ("analyze", {"type": "irq_analysis", "comm": "x"}), ("analyze", {"type": "nonsense"}), ("profile", {"duration_secs": 0}),
                 ("report", {}), ("report", {"output_path": "/etc/report.md"}), ("list", {"unload": "nope"})]
        load_late(c)
        c.call("load_perfetto_trace", file_path=str(DIR / "io.pftrace"))
        for tool, args in calls:
            why = refusal(c, tool, **args)
            assert not any(word in why for word in words), (tool, args, why)


# ---- each tool has a number that was computed elsewhere ---------------------------------------------------------


@case
def the_late_story():
    with start() as c:
        load_late(c)
        got = c.call("get_trace_summary")
        assert (got["trace_duration_ms"], got["num_cpus"], got["num_processes"], got["total_events"]) == (20.0, 2, 3, 9)
        assert [(t["comm"], t["runtime_ns"]) for t in got["busiest_tasks"]] == [("hog", 17 * MS), ("db", 3 * MS), ("web", 3 * MS)]
        assert got["longest_waits"][0]["wait_ns"] == 10 * MS and got["start_unix_timestamp"].isdigit()
        use = c.call("analyze_cpu_utilization")
        assert [(r["cpu_id"], r["active_time_ns"], r["idle_time_ns"]) for r in use["top_utilized_cpus"]] == [
            (0, 20 * MS, 0), (1, 3 * MS, 16 * MS)], use
        one = c.call("analyze_cpu_utilization", cpu=1)
        assert one["cpu_filter"] == 1 and one["cpu"]["active_time_ns"] == 3 * MS
        runtime = c.call("analyze_process_runtime", pid=100)
        assert [(r["comm"], r["total_runtime_ns"], r["cpu_time_percent"]) for r in runtime["processes"]] == [
            ("hog", 17 * MS, 85.0)] and runtime["pid_filter"] == 100
        latency = c.call("analyze_wakeup_latency")
        assert latency["total_wakeups"] == 1 and latency["global_stats"]["p50_latency_ns"] == 10 * MS
        assert latency["preempted_wait"]["total_ns"] == 3 * MS
        pairs = c.call("correlate_wakeup_to_schedule")
        assert [(r["pid"], r["wakeup_timestamp"], r["schedule_timestamp"], r["wakeup_latency_ns"], r["waker_pid"], r["cpu"])
                for r in pairs["correlations"]] == [(200, BOOT + 2 * MS, BOOT + 12 * MS, 10 * MS, 300, 0)]
        states = {r["comm"]: r for r in c.call("analyze_task_states")["processes"]}
        assert states["web"]["runnable_time_ns"] == 10 * MS and states["hog"]["involuntary_switches"] == 1
        lost = c.call("analyze_preemptions")
        assert lost["total_preemptions"] == 1 and lost["processes"][0]["top_preempted_by"][0]["comm"] == "web"
        breakdown = c.call("analyze_latency_breakdown")["stats"]
        assert breakdown["waking_to_schedule"]["avg_ns"] == 10 * MS and breakdown["preempted_wait"]["p50_ns"] == 3 * MS
        fair = c.call("analyze_fairness")
        assert (fair["total_cpu_time_ns"], fair["total_processes"], fair["fair_share_ns"]) == (23 * MS, 3, 23 * MS // 3)
        related = c.call("analyze_wakeup_relations")["relationships"]
        assert [(r["waker_comm"], r["wakee_comm"], r["wakeup_count"]) for r in related] == [("db", "web", 1)]
        slices = c.call("analyze_oncpu_slices")
        assert (slices["total_slices"], slices["total_runtime_ns"]) == (4, 23 * MS)
        assert "by_layer" in slices and "by_layer" not in c.call("analyze_oncpu_slices", extract_scx_metadata=False)
        assert c.call("analyze_runqueue_depth")["global_max_depth"] == 2
        softirq = c.call("analyze_trace_softirq")
        assert (softirq["total_events"], softirq["total_duration_ns"]) == (1, 5_000)
        assert softirq["by_type"][0]["softirq_nr"] == 1
        wasted = c.call("analyze_wasted_cores")
        # web from 4 ms, when CPU 1 went idle, to 12 ms; hog from 12 to 15.
        assert wasted["wasted_ns"] == 11 * MS, wasted
        assert c.call("analyze_compound_delay")["compound_delay"]["max"] == 10 * MS
        assert c.call("analyze_migration_patterns")["total_migrations"] == 0
        assert c.call("find_scheduling_bottlenecks")["total_bottlenecks"] == len(
            c.call("find_scheduling_bottlenecks")["bottlenecks"])
        blame = c.call("analyze_blame", comm="web")
        assert (blame["victims"][0]["comm"], blame["victims"][0]["wait_ns"]) == ("web", 10 * MS), blame
        assert [(r["comm"], r["caused_wait_ns"]) for r in blame["culprits"]] == [("hog", 10 * MS)], blame
        pressure = c.call("analyze_pressure", comm="web")
        assert [(r["comm"], r["stalled_ns"], r["behind"][0]["comm"]) for r in pressure["stalled"]] == [("web", 10 * MS, "hog")]
        why = c.call("explain_wait", limit=1)["waits"][0]
        assert (why["comm"], why["wait_ns"], why["task_ns"], why["other_cpu_idle_ns"]) == ("web", 10 * MS, 10 * MS, 8 * MS)
        assert [r["comm"] for r in why["parts"]] == ["hog"] and len(why["sentences"]) > 1
        at = c.call("explain_wait", at_time_ns=BOOT + 13 * MS)["waits"]
        assert [(r["comm"], r["cause"], r["wait_ns"]) for r in at] == [("hog", "preempted", 3 * MS)]
        for args in ({"category": "sleeps", "limit": 1}, {"at_time_ns": BOOT + 10 * MS, "tid": 300}):
            asleep = c.call("explain_wait", **args)["sleeps"]
            assert [(r["comm"], r["is_open"], r["syscall"]) for r in asleep] == [("db", True, None)], asleep
            assert any("record --events default,sleep" in sentence for sentence in asleep[0]["sentences"]), asleep
        assert c.call("explain_wait", category="waits", at_time_ns=BOOT + 10 * MS, tid=300)["waits"] == []
        line = c.call("get_process_timeline", pid=200)
        assert [(next(iter(e)), e[next(iter(e))]["timestamp"] - BOOT) for e in line["events"]] == [
            ("Woken", 2 * MS), ("Scheduled", 12 * MS), ("Preempted", 15 * MS)], line
        cpu = c.call("get_cpu_timeline", cpu=1)
        assert [next(iter(e["event_type"])) for e in cpu["events"]] == [
            "ContextSwitch", "Softirq", "Softirq", "ContextSwitch"] and cpu["total_events"] == 4
        # A window cuts what lies outside.
        window = dict(start_time_ns=BOOT + 10 * MS, end_time_ns=BOOT + 16 * MS)
        assert c.call("analyze_process_runtime", comm="hog", **window)["processes"][0]["total_runtime_ns"] == 3 * MS


@case
def devices_and_power():
    with start() as c:
        c.call("load_perfetto_trace", file_path=str(DIR / "io.pftrace"))
        disk = c.call("analyze_block_io")
        assert (disk["total_ios"], disk["read_count"], disk["write_count"]) == (2, 1, 1), disk
        assert disk["queue_latency"]["max"] == 10_000 and disk["device_latency"]["min"] == 40_000
        assert disk["device_latency"]["max"] == 100_000
        net = c.call("analyze_network_io")
        assert (net["tx_packets"], net["tx_bytes"], net["rx_packets"], net["rx_bytes"]) == (1, 1500, 2, 1000), net
        memory = c.call("analyze_memory_pressure")
        assert (memory["page_alloc_count"], memory["page_free_count"], memory["net_allocation"],
                memory["reclaim_count"]) == (2, 1, 1, 1) and memory["reclaim_latency"]["max"] == 40_000, memory
        files = c.call("analyze_file_io")
        assert files["sync_count"] == 1 and files["sync_latency"]["median"] == 200_000, files
        frequency = c.call("analyze_cpu_frequency")
        assert frequency["total_transitions"] == 2
        assert (frequency["cpu_stats"][0]["min_frequency_khz"], frequency["cpu_stats"][0]["max_frequency_khz"]) == (
            1_000_000, 2_000_000)
        idle = c.call("analyze_cpu_idle")["cpu_stats"][0]
        assert (idle["cpu"], idle["idle_time_ns"]) == (0, 300_000), idle
        power = c.call("analyze_power_state")
        assert power["suspend_resume_count"] == 2 and power["suspend_resume_events"][0]["action"] == "machine_suspend"


@case
def requests_of_an_application():
    with start() as c:
        c.call("load_perfetto_trace", file_path=str(DIR / "requests.pftrace"))
        got = c.call("analyze_requests")
        rows = {(row["category"], row["name"]): row["total_duration_ns"] for row in got["by_name"]}
        assert rows == {("REQUEST", "get"): 300, ("REQUEST_ONCPU", "RUNNING"): 100}, got
        assert got["slowest"][0]["id"] == 31


@case
def counts_of_perfetto():
    name = "e-guest-scx-vtime"
    tp = truth_of(name)
    wire = json.loads((DATA / f"perfetto/{name}.pftrace.truth.json").read_text())["wire"]["events_total_incl_compact"]
    with start() as c:
        real(c, name)
        for event in ("sched_switch", "sched_wakeup", "sched_migrate_task", "irq_handler_entry", "softirq_entry",
                      "workqueue_execute_start", "ipi_entry", "sched_process_exec"):
            got = c.call("query_trace", event_type=event, limit=1)
            assert got["total_matched"] == wire[event] and len(got["events"]) == 1, (event, got["total_matched"])
        for simple, events in (("sched_switch", ["sched_switch"]), ("softirq", ["softirq_entry", "softirq_exit"])):
            assert c.call("query_trace_events", event_type=simple)["total_matched"] == sum(wire[e] for e in events)
        assert c.call("analyze_migration_patterns")["total_migrations"] == tp["migrations"]["sched_migrate_task"]
        irq = next(row for row in tp["slices_by_type"] if row["track_type"] == "cpu_irq")
        got = c.call("analyze_irq")
        assert (got["total_interrupts"], got["handler_time_ns"]) == (irq["n"], irq["sum_ns_closed"]), (got, irq)
        soft = next(row for row in tp["slices_by_type"] if row["track_type"] == "cpu_softirq")
        got = c.call("analyze_trace_softirq")
        assert (got["total_events"], got["total_duration_ns"]) == (soft["n"], soft["sum_ns_closed"])
        life = c.call("analyze_lifecycle")
        assert (life["forks"], life["exits"], life["execs"]) == (wire["sched_process_fork"], wire["sched_process_exit"],
                                                                wire["sched_process_exec"]), life
        assert c.call("analyze_workqueue")["total_works"] == wire["workqueue_execute_start"]
        assert c.call("analyze_ipi")["total_ipis"] == wire["ipi_entry"]
        chains = c.call("analyze_wakeup_chains")
        assert chains["chains_shown"] == len(chains["chains"]) <= chains["total_chains_found"]
        runtimes = {row[0]: row[2] for row in tp["all_threads_runtime"]}
        rows, _ = all_pages(c, "analyze_process_runtime", limit=100)
        for row in rows["processes"]:  # what ran before the first switch of a CPU is known here only
            assert 0 <= row["total_runtime_ns"] - runtimes.get(row["pid"], 0) < 100 * MS, row
        # All filters hold together (W33, W34).
        per_cpu = {(row[0], row[1]): row[2] for row in tp["ftrace_event_counts_per_cpu"]}
        got = c.call("query_trace_events", event_type="softirq", cpu=2)
        assert got["total_matched"] == per_cpu[2, "softirq_entry"] + per_cpu[2, "softirq_exit"]
        grouped = c.call("query_trace", event_type="irq_handler_entry", aggregation={"function": "count_by", "field": "cpu"})
        assert grouped["aggregation"]["result"] == {str(cpu): per_cpu[cpu, "irq_handler_entry"] for cpu in range(4)}, grouped


@case
def queries_and_their_sums():
    with start() as c:
        load_late(c)
        got = c.call("query_trace", event_type="sched_switch")
        assert set(got) == {"trace_id", "query_time_ms", "total_matched", "returned_count", "events", "truncated"}, got
        assert (got["total_matched"], got["returned_count"]) == (6, 6) == (len(got["events"]), 6)
        first = got["events"][0]
        assert (first["timestamp"], first["cpu"], first["event_type"]) == (BOOT, 0, "sched_switch")
        assert first["fields"]["next_comm"] == "hog"
        where = [{"field": "next_comm", "operator": "equal", "value": "web"}]
        got = c.call("query_trace", field_filters=where)
        assert [e["timestamp"] for e in got["events"]] == [BOOT + 12 * MS]
        where = [{"field": "next_pid", "operator": "greater_or_equal", "value": 200},
                 {"field": "next_comm", "operator": "contains", "value": "e"}]
        assert c.call("query_trace", field_filters=where)["total_matched"] == 1
        assert c.call("query_trace", pid=999999999)["events"] == []
        sums = c.call("query_trace", event_type="sched_switch", aggregation={"function": "count"})["aggregation"]
        assert (sums["function"], sums["result"]) == ("count", 6)
        sums = c.call("query_trace", event_type="sched_switch", aggregation={"function": "max", "field": "next_pid"})
        assert sums["aggregation"]["result"] == 300
        sums = c.call("query_trace", event_type="sched_switch", aggregation={"function": "group_by", "field": "next_comm"})
        assert sums["aggregation"]["group_counts"]["hog"] == 2
        assert sorted(sums["aggregation"]["groups"])[1:] == ["hog", "swapper/0", "web"] or \
            set(sums["aggregation"]["groups"]) >= {"hog", "web", "db"}
        rows = c.call("query_trace_events", event_type="sched_waking")["events"]
        assert rows == [{"type": "sched_waking", "timestamp": BOOT + 2 * MS, "pid": rows[0]["pid"], "cpu": 1}], rows
        got = c.call("query_trace", event_type="sched_switch", sort="timestamp:desc", limit=1)["events"]
        assert got[0]["timestamp"] == BOOT + 20 * MS


@case
def numbers_of_wprof():
    layers, pmu = truth_of("guest-d2-layers"), truth_of("guest-d3-pmu")
    with start() as c:
        real(c, "guest-d2-layers")
        dsq = c.call("analyze_dsq")["dsqs"]
        spans = {key.split("_0x")[1]: row for key, row in layers["spans"].items() if key.startswith("SCX_DSQ")}
        assert {f"{int(row['dsq_id']):x}": row["event_count"] for row in dsq} == {
            key: row["n"] for key, row in spans.items()}, dsq
        assert any(isinstance(row["dsq_id"], str) for row in dsq)  # 2^63 + 2 does not fit a double
        latency = {f"{int(row['dsq_id']):x}": row for row in c.call("analyze_dsq_latency")["per_dsq"]}
        local = spans["8000000000000002"]
        assert abs(latency["8000000000000002"]["latency_avg_us"] - local["dur"] / local["n"] / 1000) < 0.001
        # Spans that began before the recording count from its start only.
        mean = spans["7"]["dur"] / spans["7"]["n"] / 1000
        assert 0.95 * mean < latency["7"]["latency_avg_us"] <= mean
        reported = {row["v"]: row["n"] for row in layers["scx"]
                if row["category"] == "ONCPU" and row["key"] == "debug.scx_layer_id"}
        got = c.call("analyze_scx_layer_behavior", layer_id=3)
        assert [(row["layer_id"], row["slices"]) for row in got["layers"]] == [(3, reported[3])], got
        rows, _ = all_pages(c, "analyze_scx_layer_behavior", limit=2)
        assert {row["layer_id"]: row["slices"] for row in rows["layers"] if row["layer_id"] in (1, 2)} == {
            1: reported[1], 2: reported[2]}
        # Samples come from timers; two had no stack.
        flame = c.call("analyze_flamegraph")
        assert layers["stacks"]["TIMER INSTANT"] - 2 <= flame["total_samples"] <= layers["stacks"]["TIMER INSTANT"], flame
        assert flame["category"] == "cpu" and c.call("analyze_flamegraph", category="off-cpu")["category"] == "off-cpu"
        c.call("unload_trace", trace_id="guest-d2-layers")
        real(c, "guest-d3-pmu")
        works = c.call("analyze_workqueue")
        assert works["total_works"] == sum(row["n"] for key, row in pmu["spans"].items() if key.startswith("WQ"))
        assert c.call("analyze_ipi")["total_ipis"] == sum(row["n"] for key, row in pmu["spans"].items() if key.startswith("IPI"))
        counters = {row["name"]: row["total"] for row in c.call("analyze_perf_counters")["counters"]}
        assert counters["cpu-cycles"] == 2 * counters["instructions"] > 0, counters
        assert c.call("analyze_oncpu_slices")["total_slices"] > 3000


@case
def all_analyses_at_once_report_findings():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        got = c.call("run_all_analyzers")
        assert got["successful"] == got["total_analyzers"] > 20 and got["failed"] == 0
        assert len(got["findings"]) == got["total_analyzers"], set(got["findings"])
        assert all(got["findings"].values()), got["findings"]
        assert got["findings"]["wakeup_latency"]["p99_latency_ns"] == c.call(
            "analyze_wakeup_latency")["global_stats"]["p99_latency_ns"]
        assert got["findings"]["migration_patterns"]["total_migrations"] == 3736
        assert got["analyzers"][0]["data_size"] > 0 and "full_results" not in got
        full = c.call("run_all_analyzers", summary_only=False, category="interrupt", limit=10)["full_results"]
        assert {row["analyzer_id"] for row in full} == {"irq_analysis", "ipi_analysis", "softirq_analysis", "workqueue"}
        assert full[0]["data"]["total_interrupts"] == 3851


@case
def outliers_by_category():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        alone = c.call("detect_outliers", category="latency", method="MAD")
        assert (alone["detection_method"], alone["category"]) == ("MAD", "latency") and "outliers" in alone, alone.keys()
        worst = c.call("correlate_wakeup_to_schedule", limit=1)["correlations"][0]
        assert alone["outliers"]["wakeup_latency"][0]["value"] <= worst["wakeup_latency_ns"]


@case
def exports_are_files():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        got = c.call("export_trace_analysis", output_path=str(DIR / "out.json"))
        data = json.loads((DIR / "out.json").read_text())
        assert got["bytes"] == (DIR / "out.json").stat().st_size and len(got["analysis_types"]) > 20
        assert (data["trace_id"], data["num_cpus"], data["is_scx_trace"]) == ("e-guest-scx-vtime", 4, False)
        assert data["migration_patterns"]["total_migrations"] == 3736 and "export_timestamp" in data
        got = c.call("export_trace_analysis", output_path=str(DIR / "out.json"),
                     analysis_types=["wakeup_latency", "bottlenecks", "wakeup_latency"])
        assert got["analysis_types"] == ["wakeup_latency", "scheduling_bottlenecks"]
        data = json.loads((DIR / "out.json").read_text())
        assert "migration_patterns" not in data and "wakeup_latency" in data
        assert [p.name for p in DIR.glob("out.json*")] == ["out.json"]


@case
def two_traces_differ():
    with start() as c:
        real(c, "e-guest-eevdf")
        real(c, "e-guest-scx-vtime")
        got = c.call("diff_traces", trace_id_a="e-guest-eevdf", trace_id_b="e-guest-scx-vtime")
        assert c.last_bytes < BIG
        got = c.call("diff_traces", trace_id_a="e-guest-eevdf", trace_id_b="e-guest-scx-vtime", limit=20)
        moves = next(row for row in got["overall"] if row["metric"] == "migrations_per_sec")
        for side, name in (("a", "e-guest-eevdf"), ("b", "e-guest-scx-vtime")):
            tp = truth_of(name)
            rate = tp["migrations"]["sched_migrate_task"] / (got[side]["duration_ns"] / 1e9)
            assert abs(moves[side] - rate) < 0.01 * rate, (name, moves, rate)
        assert moves["verdict"] == "more"


def big_trace():
    """1.5 million events: loading takes a moment."""
    path = DIR / "big.pftrace"
    if not path.exists():
        path.write_bytes(traced_head() + b"".join(
            traced_bundle(0, [ftrace_event(BOOT + nr * 10_000 + k, 50, 24, num(1, k % 10)) for k in range(1000)],
                          Compact(), 0) for nr in range(1500)))
    return str(path)


@case
def a_cancelled_load_has_no_answer():
    with start() as c:
        number = c.ask("tools/call", {"name": "load_perfetto_trace", "arguments": {"file_path": big_trace()},
                                      "_meta": {"progressToken": "t"}})
        c.notify("notifications/cancelled", {"requestId": number, "reason": "changed my mind"})
        load_late(c)  # raises if the other is answered
        assert "late" in [row["trace_id"] for row in c.call("list_traces")["traces"]]


@case
def others_are_served_while_a_trace_loads_w15():
    with start() as c:
        load_late(c)
        loading = c.ask("tools/call", {"name": "load_perfetto_trace", "arguments": {"file_path": big_trace()}})
        asking = c.ask("tools/call", {"name": "get_trace_summary", "arguments": {"trace_id": "late"}})
        assert c.take()[0]["id"] == asking
        got = c.answer(loading)["result"]["structuredContent"]
        assert got["total_events"] == 1_500_000, got
        counted = c.call("query_trace", trace_id="big", aggregation={"function": "group_by", "field": "vec"})
        assert counted["aggregation"]["group_counts"] == {str(vec): 150_000 for vec in range(10)}, counted


@case
def ids_of_traces_complete():
    with start() as c:
        load_late(c)
        ref = {"type": "ref/resource", "uri": "trace://{trace_id}/summary"}
        for typed, values in (("", ["late"]), ("la", ["late"]), ("x", [])):
            got = c.request("completion/complete", {"ref": ref, "argument": {"name": "trace_id", "value": typed}})
            assert got["completion"]["values"] == values, got


@case
def recording_without_privileges_says_what_to_do():
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    with start(prefix=prefix) as c:
        why = refusal(c, "record_and_analyze", duration_secs=0.1)
        assert "CAP_BPF" in why and "setcap cap_perfmon,cap_bpf" in why.replace("cap_bpf,cap_perfmon", "cap_perfmon,cap_bpf"), why
        assert c.call("list_traces")["total"] == 0
        # Traces need none. What reads them is held by seccomp alone where root cannot become another user.
        if os.geteuid() != 0 or "Seccomp:" in pathlib.Path("/proc/self/status").read_text(encoding="ascii"):
            load_late(c)


@case
def a_recording_that_fails_leaves_files_as_they_were():
    """What has the name already is neither replaced nor removed; a new file goes with the failure."""
    precious, new, link = DIR / "precious.pftrace", DIR / "new.pftrace", DIR / "link.pftrace"
    precious.write_text("of the user")
    link.symlink_to(precious)
    prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    with start(prefix=prefix) as c:
        why = refusal(c, "record_and_analyze", duration_secs=0.1, output_path=str(precious))
        assert "exists" in why and "name that is not in use" in why, why
        refusal(c, "record_and_analyze", duration_secs=0.1, output_path=str(link))
        assert "CAP_BPF" in refusal(c, "record_and_analyze", duration_secs=0.1, output_path=str(new))
    assert precious.read_text() == "of the user" and link.is_symlink()
    assert not new.exists()
    if os.geteuid() == 0:
        with start() as c:
            assert "exists" in refusal(c, "record_and_analyze", duration_secs=0.1, output_path=str(precious))
        assert precious.read_text() == "of the user"
    link.unlink()


@case
def recording_is_one_call():
    """A real one, one whose file stays, and one that is cancelled."""
    if os.geteuid() != 0:
        raise Skipped("recording needs root")
    with start() as c:
        got = c.call("record_and_analyze", duration_secs=0.3)
        assert c.last_bytes < BIG and got["recording"]["switches"] > 0, got
        path = pathlib.Path(got["file_path"])
        assert path.exists() and abs(got["summary"]["trace_duration_ms"] - 300) < 250
        counted = c.call("query_trace", event_type="sched_switch", limit=1)["total_matched"]
        assert counted == got["summary"]["capabilities"]["event_counts"]["sched_switch"] == got["recording"]["switches"]
        kept = c.call("record_and_analyze", duration_secs=0.2, trace_id="kept", output_path=str(DIR / "kept.pftrace"),
                      events=["sched"])
        assert kept["trace_id"] == "kept" and kept["file_path"] == str(DIR / "kept.pftrace")
        number = c.ask("tools/call", {"name": "record_and_analyze", "arguments": {"duration_secs": 300},
                                      "_meta": {"progressToken": 7}})
        while not any(n["method"] == "notifications/progress" for n in c.notifications):
            message, _ = c.take()
            c.notifications.append(message)
        reported = next(n for n in c.notifications if n["method"] == "notifications/progress")["params"]
        assert reported["progressToken"] == 7 and reported["total"] == 300 and reported["progress"] > 0
        c.notify("notifications/cancelled", {"requestId": number})
        c.call("unload_trace", trace_id=got["trace_id"])
        assert not path.exists()
        assert c.call("list_traces")["total"] == 1
    assert (DIR / "kept.pftrace").exists() and not path.parent.exists()


sys.exit(run_cases(CASES))
