#!/usr/bin/env python3
"""The tools on traces, by a client: what they offer is true, and answers are short, whole and as clients know them.

Prints TAP.
"""
import collections
import json
import sys

from trace_client import Refused, refusal
from trace_files import BIG, BOOT, DIR, MS, all_pages, load_late, real, run_cases, start, truth_of

CASES = []


def case(function):
    CASES.append(function)
    return function


# ---- arguments and answers --------------------------------------------------------------------------------------


@case
def failures_are_results_and_arguments_are_checked_w4_w16():
    with start() as c:
        load_late(c)
        wrong = [("analyze_irq", {"limit": 0}), ("analyze_irq", {"limit": 100000}), ("analyze_irq", {"limit": "many"}),
                 ("analyze_irq", {"lmit": 3}), ("get_process_timeline", {}), ("get_cpu_timeline", {"cpu": -1}),
                 ("detect_outliers", {"method": "magic"}), ("detect_outliers", {"limit": 1001}),
                 ("analyze_trace_scheduling", {"analysis_type": "nope"}), ("analyze_trace_scheduling", {}),
                 ("run_all_analyzers", {"category": "query"}), ("discover_analyzers", {"category": "none"}),
                 ("query_trace_events", {"event_type": "nope"}), ("query_trace", {"event_type": "nope"}),
                 ("query_trace", {"field_filters": [{"field": "x"}]}), ("query_trace", {"field_filters": "x"}),
                 ("query_trace", {"field_filters": [{"field": "prio", "operator": "like", "value": 1}]}),
                 ("query_trace", {"field_filters": [{"field": "prio", "operator": "equal", "value": [1]}]}),
                 ("query_trace", {"field_filters": [{"field": "nope", "operator": "equal", "value": 1}]}),
                 ("query_trace", {"aggregation": {}}), ("query_trace", {"aggregation": {"function": "avg"}}),
                 ("query_trace", {"aggregation": {"function": "zap", "field": "prio"}}),
                 ("get_trace_summary", {"trace_id": 5}), ("diff_traces", {"trace_id_a": "late", "trace_id_b": "late"}),
                 ("analyze_fairness", {"start_time_ns": 5, "end_time_ns": 5}),
                 ("analyze_fairness", {"start_time_ns": BOOT + 21 * MS}), ("analyze_fairness", {"end_time_ns": -1}),
                 ("record_and_analyze", {"duration_secs": 301}), ("record_and_analyze", {"duration_secs": 0}),
                 ("record_and_analyze", {"events": ["nope"]}), ("record_and_analyze", {"pid": 4194304}),
                 ("export_trace_analysis", {"output_path": str(DIR / "x"), "analysis_types": ["nope"]})]
        for tool, args in wrong:
            why = refusal(c, tool, **args)
            assert why and "\\n" not in why and "--fields" not in why, (tool, args, why)
        assert not (DIR / "x").exists()


@case
def schemas_say_what_is_true_w16():
    with start() as c:
        tools = c.tools()
        props = {name: t["inputSchema"]["properties"] for name, t in tools.items()}
        limit = props["detect_outliers"]["limit"]
        assert (limit["type"], limit["default"], limit["minimum"], limit["maximum"]) == ("integer", 20, 1, 1000)
        assert props["detect_outliers"]["category"]["enum"] == ["latency", "runtime", "cpu", "all"]
        assert props["detect_outliers"]["method"]["enum"] == ["IQR", "MAD", "StdDev", "Percentile"]
        assert props["run_all_analyzers"]["summary_only"]["default"] is True
        assert "aggregation_mode" in props["analyze_task_states"] and "cpu" in props["analyze_runqueue_depth"]
        assert len(props["analyze_trace_scheduling"]["analysis_type"]["enum"]) == 22
        for name, t in tools.items():
            assert t["inputSchema"]["additionalProperties"] is False and len(t["description"]) > 40, name
            changes = name in ("record_and_analyze", "export_trace_analysis")
            assert "outputSchema" in t or name not in TRACE_TOOLS, name
            assert t["annotations"]["readOnlyHint"] is (not changes) or name not in TRACE_TOOLS, name
        assert TRACE_TOOLS <= set(tools), TRACE_TOOLS - set(tools)
    with start("--read-only") as c:
        names = set(c.tools())
        assert "record_and_analyze" not in names and "export_trace_analysis" not in names and "query_trace" in names


TYPES = {"integer": lambda v: isinstance(v, int) and not isinstance(v, bool), "null": lambda v: v is None,
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool), "string": lambda v: isinstance(v, str),
         "boolean": lambda v: isinstance(v, bool), "array": lambda v: isinstance(v, list),
         "object": lambda v: isinstance(v, dict)}

OLD_ANALYSES = {
    "analyze_cpu_utilization": "cpu_utilization", "analyze_process_runtime": "process_runtime",
    "analyze_wakeup_latency": "wakeup_latency", "analyze_migration_patterns": "migration_patterns",
    "analyze_dsq": "dsq_summary", "analyze_dsq_latency": "dsq_latency", "analyze_llc_locality": "llc_locality",
    "analyze_runqueue_depth": "runqueue_depth", "analyze_fairness": "fairness", "analyze_task_states": "task_states",
    "analyze_preemptions": "preemptions", "analyze_wakeup_chains": "wakeup_chains",
    "analyze_latency_breakdown": "latency_breakdown", "analyze_irq": "irq_analysis", "analyze_ipi": "ipi_analysis",
    "analyze_block_io": "block_io", "analyze_network_io": "network_io", "analyze_memory_pressure": "memory_pressure",
    "analyze_file_io": "file_io", "analyze_cpu_frequency": "cpu_frequency", "analyze_cpu_idle": "cpu_idle",
    "analyze_power_state": "power_state"}
NEW_TOOLS = {"analyze_oncpu_slices", "analyze_scx_layer_behavior", "analyze_wakeup_relations", "analyze_perf_counters",
             "analyze_compound_delay", "analyze_lifecycle", "analyze_requests", "analyze_wasted_cores", "analyze_blame", "analyze_pressure", "analyze_sleeps", "analyze_locks",
             "analyze_workqueue", "analyze_trace_softirq", "analyze_flamegraph", "explain_wait", "diff_traces", "list_traces", "unload_trace",
             "record_and_analyze"}
OTHER_TOOLS = {"load_perfetto_trace", "query_trace_events", "query_trace", "analyze_trace_scheduling",
               "get_process_timeline", "get_cpu_timeline", "find_scheduling_bottlenecks", "correlate_wakeup_to_schedule",
               "export_trace_analysis", "discover_analyzers", "get_trace_summary", "run_all_analyzers",
               "detect_outliers"}
TRACE_TOOLS = set(OLD_ANALYSES) | NEW_TOOLS | OTHER_TOOLS
NEEDS = {"get_process_timeline": {"pid": 161}, "get_cpu_timeline": {"cpu": 0},
         "analyze_trace_scheduling": {"analysis_type": "wakeup_latency"}}


def default_answers(c):
    for tool, about in c.tools().items():
        if tool not in TRACE_TOOLS - {"load_perfetto_trace", "unload_trace", "record_and_analyze", "diff_traces",
                                      "export_trace_analysis"}:
            continue
        try:
            yield tool, about, c.call(tool, **NEEDS.get(tool, {}))
        except Refused as why:
            assert "which this trace does not have" in str(why), (tool, why)


def matches(value, schema, where):
    types = schema.get("type")
    types = types if isinstance(types, list) else [types] if types else []
    assert not types or any(TYPES[t](value) for t in types), (where, types, value)
    for key, sub in schema.get("properties", {}).items():
        if isinstance(value, dict) and key in value:
            matches(value[key], sub, f"{where}.{key}")


@case
def default_answers_are_short_and_as_announced():
    nr = 0
    for name in ("e-guest-scx-vtime", "guest-d2-layers", "guest-d3-pmu", "d-host-deflate", "c-guest-idle", "host-b"):
        with start() as c:
            real(c, name)
            for tool, about, got in default_answers(c):
                assert c.last_bytes < BIG, (name, tool, c.last_bytes)
                matches(got, about["outputSchema"], tool)
                assert ("page" in got) == got.get("truncated", False), (tool, got)
                nr += 1
    assert nr > 150, nr


TIMES = {"analysis_time_ms", "total_time_ms", "analyzers", "pid_filter", "cpu_filter"}  # say nothing of rows


def effects(c, name, pid, comm):
    """(tool, argument) of each filter, with whether it changed the answer; nothing of those that do not apply."""
    real(c, name)
    start_ns, end_ns = c.call("get_trace_summary", trace_id=name)["capabilities"]["time_range"]
    values = {"pid": pid, "cpu": 1, "comm": comm, "start_time_ns": (start_ns + end_ns) // 2,
              "end_time_ns": (9 * start_ns + end_ns) // 10, "aggregation_mode": "per_process"}

    def ask(tool, **args):
        got = c.call(tool, trace_id=name, **{**NEEDS.get(tool, {}), **args})
        return {key: value for key, value in got.items() if key not in TIMES}
    for tool, about in c.tools().items():
        if tool not in TRACE_TOOLS or not values.keys() & about["inputSchema"]["properties"].keys():
            continue
        if tool.startswith(("record", "query", "export", "diff")) or tool == "analyze_trace_scheduling":
            continue
        try:
            plain = ask(tool)
        except Refused:
            continue
        for arg in values.keys() & about["inputSchema"]["properties"].keys() - NEEDS.get(tool, {}).keys():
            yield (tool, arg), ask(tool, **{arg: values[arg]}) != plain


@case
def filters_that_are_offered_filter_w16():
    works = collections.defaultdict(bool)
    with start() as c:
        for name, pid, comm in (("e-guest-scx-vtime", 161, "tracebox"), ("guest-d2-layers", 108, "perf"),
                                ("guest-d3-pmu", 180, "stress*")):
            for key, has_effect in effects(c, name, pid, comm):
                works[key] |= has_effect
    # None of these recordings knows about caches.
    assert {key for key, has_effect in works.items() if not has_effect} <= {("analyze_llc_locality", "aggregation_mode")}, works
    assert len(works) > 120, len(works)


@case
def pages_differ_and_make_the_whole():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        for tool, args in (("analyze_process_runtime", {}), ("analyze_preemptions", {"limit": 20}),
                           ("correlate_wakeup_to_schedule", {"limit": 1000}), ("detect_outliers", {"limit": 50}),
                           ("get_cpu_timeline", {"cpu": 1, "limit": 700}), ("discover_analyzers", {}),
                           ("run_all_analyzers", {}), ("query_trace_events", {"event_type": "softirq", "limit": 500}),
                           ("query_trace", {"event_type": "sched_migrate", "limit": 1000})):
            rows, totals = all_pages(c, tool, **args)
            assert totals, tool
            for name, total in totals.items():
                assert len(rows[name]) == total, (tool, name, len(rows[name]), total)
                if name != "bottom_utilized_cpus":
                    seen = {json.dumps(row, sort_keys=True) for row in rows[name]}
                    assert len(seen) == total or tool.startswith("query") or "timeline" in tool, (tool, name)


@case
def one_analysis_by_name_is_the_tool():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        for tool, kind in OLD_ANALYSES.items():
            answers = []
            for name, args in ((tool, {}), ("analyze_trace_scheduling", {"analysis_type": kind})):
                try:
                    got = c.call(name, **args)
                    got.pop("analysis_time_ms")
                    assert got["analysis_type"] == kind
                except Refused as why:
                    got = str(why)
                answers.append(got)
            assert answers[0] == answers[1], tool


# Keys that clients of scxtop know, of an answer and of its first rows.
KEYS = {
    "cpu_utilization": ["cpus_analyzed", "summary.avg_utilization_percent", "summary.cpus_above_80_pct",
                        "top_utilized_cpus.0.cpu_id", "top_utilized_cpus.0.p99_timeslice_ns", "bottom_utilized_cpus"],
    "process_runtime": ["total_processes", "processes_shown", "multi_threaded", "pid_filter", "processes.0.comm",
                        "processes.0.total_runtime_ns", "processes.0.num_switches", "processes.0.avg_timeslice_ns"],
    "wakeup_latency": ["total_wakeups", "total_cpus", "global_stats.p999_latency_ns",
                       "worst_cpus_by_avg_latency.0.p99_latency_ns", "note"],
    "migration_patterns": ["total_migrations", "cross_numa_migrations", "cross_llc_migrations", "latency.p99_ns",
                           "total_processes_migrated", "top_migrating_processes.0.migration_count", "note"],
    "llc_locality": ["topology", "total_migrations", "same_llc_migrations", "llc_locality_pct", "per_llc_stats",
                     "top_cross_llc_processes"],
    "runqueue_depth": ["total_cpus", "global_avg_depth", "global_max_depth", "cpus_with_high_depth",
                       "worst_cpus_by_max_depth.0.p99_depth", "note"],
    "fairness": ["total_processes", "total_cpu_time_ns", "fair_share_ns", "gini_coefficient", "max_min_ratio",
                 "interpretation.gini", "starved_processes_count", "hogging_processes_count", "top_starved", "top_hogging"],
    "task_states": ["aggregation_mode", "processes_analyzed", "pid_filter", "processes.0.running_percent",
                    "processes.0.p99_scheduler_latency_ns", "note"],
    "preemptions": ["total_preemptions", "total_processes", "processes_shown", "pid_filter",
                    "processes.0.total_unique_preemptors", "processes.0.top_preempted_by.0.count"],
    "wakeup_chains": ["total_chains_found", "chains_shown", "chains.0.chain.0.wakee_pid", "chains.0.chain.0.waker_comm",
                      "chains.0.total_latency_ns", "chains.0.full_chain_length", "chains.0.criticality_score"],
    "latency_breakdown": ["stats.waking_to_wakeup.percent_of_total", "stats.wakeup_to_schedule.p99_ns",
                          "stats.total_avg_latency_ns"],
    "irq_analysis": ["description", "irq_count", "top_irqs.0.total_duration_ns", "top_irqs.0.percentiles.p999", "note"],
    "ipi_analysis": ["description", "total_ipis", "reason_count", "top_reasons.0.reason", "note"],
    "scheduling_bottlenecks": ["bottlenecks.0.description", "bottlenecks.0.severity", "bottlenecks.0.affected_pids",
                               "bottlenecks.0.time_range.1", "bottlenecks.0.bottleneck_type"],
    "outliers": ["detection_method", "category", "limit_per_subcategory", "summary.total_outliers",
                 "summary.by_metric.high_contention", "latency_outliers.detection_result.thresholds.iqr",
                 "runtime_outliers.excessive", "cpu_outliers.underutilized"],
    "correlation": ["correlations.0.waker_pid", "correlations.0.wakeup_latency_ns"],
}
TOOL_OF = {**{kind: tool for tool, kind in OLD_ANALYSES.items()}, "scheduling_bottlenecks": "find_scheduling_bottlenecks",
           "outliers": "detect_outliers", "correlation": "correlate_wakeup_to_schedule"}


def at(value, path):
    for word in path.split("."):
        value = value[int(word)] if isinstance(value, list) else value[word]
    return value


@case
def keys_are_those_that_clients_know():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        for kind, paths in KEYS.items():
            got = c.call(TOOL_OF[kind])
            for path in paths:
                at(got, path)  # raises if it is not there
        found = c.call("discover_analyzers", category="power")["analyzers"]
        assert {row["id"] for row in found} == {"cpu_frequency", "cpu_idle", "power_state"}
        assert all(row["category"] == "Power" and not row["applies"] and row["required_events"] for row in found)
        assert {"id", "name", "description", "optional_events", "requires_scx", "performance_cost"} <= set(found[0])


@case
def names_of_processes_are_there_w28():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        truth = {row["tid"]: row["name"] for row in truth_of("e-guest-scx-vtime")["top20"]}
        rows, _ = all_pages(c, "analyze_process_runtime", limit=100)
        got = {row["pid"]: row["comm"] for row in rows["processes"]}
        for tid, name in truth.items():
            assert got[tid] == name, (tid, got[tid], name)
        assert c.call("get_process_timeline", pid=161)["comm"] == "tracebox"


@case
def no_text_has_a_literal_backslash_n_w5():
    with start() as c:
        real(c, "e-guest-scx-vtime")
        for tool in ("discover_analyzers", "get_trace_summary", "detect_outliers"):
            assert "\\n" not in json.dumps(c.call(tool)), tool


sys.exit(run_cases(CASES))
