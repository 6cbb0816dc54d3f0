#!/usr/bin/env python3
"""Four conversations over real recordings, as guides for assistants show them: each answer has the right numbers. Prints TAP.

A workload at first sight, tasks with high latency, hot CPUs, and the layers of a sched_ext scheduler. What is right comes from
Perfetto's trace_processor and an independent decoder, in tests/data.
"""
import json
import os
import pathlib
import sys

from trace_client import Client

SOURCE = pathlib.Path(os.environ["SCHEDSCOPE_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests"))
from tap import run_cases  # noqa: E402

DATA = SOURCE / "tests" / "data"
VIEW = "host-b"            # by wprof, with the view of ftrace
LAYERS = "guest-d2-layers"  # by wprof, with layers
RAW = json.loads((DATA / "wprof/truth.json").read_text())
TP = json.loads((DATA / "wprof/truth-tp.json").read_text())
CASES = []


def case(function):
    CASES.append(function)
    return function


def conversation(name, trace_id):
    client = Client("--allow-path", DATA)
    loaded = client.call("load_perfetto_trace", file_path=str(DATA / f"wprof/{name}.pb.gz"), trace_id=trace_id)
    assert loaded["trace_id"] == trace_id and loaded["trace_source"] == "wprof"
    return client


def oncpu(name):
    """{cpu: row} of what ran, idle included."""
    return {row["cpu"]: row for row in RAW[name]["by_cpu"]}


@case
def a_workload_at_first_sight():
    with conversation(VIEW, "workload") as c:
        got = c.call("run_all_analyzers", trace_id="workload")
        assert got["failed"] == 0 and got["successful"] == got["total_analyzers"] >= 17
        found = got["findings"]
        span = TP[VIEW]["bounds"][0]["end_ts"] - TP[VIEW]["bounds"][0]["start_ts"]
        busy = [100 * (row["dur"] - row["idle_dur"]) / span for row in oncpu(VIEW).values()]
        assert abs(found["cpu_utilization"]["avg_utilization_percent"] - sum(busy) / len(busy)) < 0.1, (found, busy)
        forks = RAW[VIEW]["events"]["FORKED INSTANT"]
        assert found["lifecycle"]["forks"] == forks and found["lifecycle"]["exits"] == RAW[VIEW]["events"]["EXIT INSTANT"]
        assert found["irq_analysis"]["total_interrupts"] == RAW[VIEW]["spans"]["HARDIRQ | HARDIRQ"]["n"]
        soft = [row for key, row in RAW[VIEW]["spans"].items() if key.startswith("SOFTIRQ")]
        assert found["softirq_analysis"]["total_events"] == sum(row["n"] for row in soft)
        assert found["softirq_analysis"]["total_duration_ns"] == sum(row["dur"] for row in soft)
        assert found["preemptions"]["total_preemptions"] >= RAW[VIEW]["events"]["PREEMPTEE INSTANT"]


@case
def tasks_with_high_latency():
    woken = next(row for row in TP[VIEW]["waking_reason"] if row["reason"] == "woken")
    with conversation(VIEW, "workload") as c:
        got = c.call("analyze_wakeup_latency", trace_id="workload")
        stats = got["global_stats"]
        assert stats["max_latency_ns"] == round(woken["max_us"] * 1000), (stats, woken)
        assert abs(stats["p99_latency_ns"] / 1000 - woken["p99"]) < 0.05 * woken["p99"], (stats, woken)
        assert woken["n"] <= got["total_wakeups"] <= woken["n"] + RAW[VIEW]["events"]["WAKEE_NEW INSTANT"]
        odd = c.call("detect_outliers", trace_id="workload", method="IQR", category="latency")
        worst = odd["outliers"]["wakeup_latency"]
        assert odd["summary"]["total_outliers"] > 0 and worst[0]["severity"] >= worst[-1]["severity"]
        assert max(row["value"] for row in worst) == stats["max_latency_ns"]
        # And why: the wait that was longest is explained.
        who = got["worst"]
        why = c.call("explain_wait", trace_id="workload", tid=who["pid"], at_time_ns=who["schedule_timestamp"])
        assert why["waits"][0]["wait_ns"] == stats["max_latency_ns"] and why["waits"][0]["sentences"]


@case
def hot_cpus():
    with conversation(VIEW, "workload") as c:
        got = c.call("analyze_cpu_utilization", trace_id="workload", use_parallel=True)
        truth = oncpu(VIEW)
        assert got["cpus_analyzed"] == len(truth)
        for row in got["top_utilized_cpus"]:
            want = truth[row["cpu_id"]]
            assert row["idle_time_ns"] == want["idle_dur"], (row, want)
            assert abs(row["active_time_ns"] - (want["dur"] - want["idle_dur"])) < 1_000_000, (row, want)
        assert [row["active_time_ns"] for row in got["top_utilized_cpus"]] == sorted(
            (row["active_time_ns"] for row in got["top_utilized_cpus"]), reverse=True)
        odd = c.call("detect_outliers", trace_id="workload", category="cpu")
        assert odd["category"] == "cpu" and odd["detection_method"] == "IQR"
        assert odd["detection_result"]["total_points"] == len(truth)
        assert {"overutilized", "underutilized", "high_contention"} <= set(odd["outliers"])


@case
def layers_of_a_scheduler():
    reported = {row["v"]: row["n"] for row in RAW[LAYERS]["scx"]
            if row["category"] == "ONCPU" and row["key"] == "debug.scx_layer_id"}
    with conversation(LAYERS, "scx") as c:
        got = c.call("analyze_oncpu_slices", trace_id="scx", extract_scx_metadata=True, limit=20)
        slices = {row["layer_id"]: row["count"] for row in got["by_layer"]}
        # Layer 0 with queue 0 says that a task never was in a queue: not known, rather than layer 0.
        assert {layer: slices[layer] for layer in (1, 2, 3)} == {layer: reported[layer] for layer in (1, 2, 3)}, slices
        assert slices[0] < reported[0]
        assert abs(got["total_slices"] - RAW[LAYERS]["oncpu"]["n"]) < 10
        one = c.call("analyze_scx_layer_behavior", trace_id="scx", layer_id=3)
        assert one["layer_filter"] == 3 and [row["layer_id"] for row in one["layers"]] == [3]
        assert one["layers"][0]["slices"] == reported[3]
        # That layer holds the kernel's threads, which do not share their pid with a layer of others.
        assert one["layers"][0]["runtime_ns"] == next(
            row["total_duration_ns"] for row in got["by_layer"] if row["layer_id"] == 3)
        summary = c.call("get_trace_summary", trace_id="scx")
        assert summary["is_scx_trace"] is True and "sched_switch" in summary["capabilities"]["available_events"]


sys.exit(run_cases(CASES))
