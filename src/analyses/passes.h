/* analyses/passes — the table of all analyses, and each by its name. */
#pragma once

#include <stddef.h>

struct pass;

extern const struct pass *const passes[]; /* in the order of presentation */
extern const size_t nr_passes;

/*
 * The live analyzers of scxtop by their names there, with their keys. They are not part of the table above, as they answer
 * what its analyses answer; pass_find() finds them.
 */
extern const struct pass *const scxtop_passes[];
extern const size_t nr_scxtop_passes;

/* By id, or by scxtop's name for it; NULL if there is none. */
const struct pass *pass_find(const char *id);

extern const struct pass pass_blame;
extern const struct pass pass_sleeps;
extern const struct pass pass_locks;
extern const struct pass pass_block_io;
extern const struct pass pass_compound_delay;
extern const struct pass pass_correlation;
extern const struct pass pass_cpu_frequency;
extern const struct pass pass_cpu_hotspots;
extern const struct pass pass_cpu_idle;
extern const struct pass pass_cpu_timeline;
extern const struct pass pass_cpu_utilization;
extern const struct pass pass_discover;
extern const struct pass pass_dsq_latency;
extern const struct pass pass_dsq_monitor;
extern const struct pass pass_dsq_summary;
extern const struct pass pass_explain;
extern const struct pass pass_fairness;
extern const struct pass pass_file_io;
extern const struct pass pass_flamegraph;
extern const struct pass pass_ipi_analysis;
extern const struct pass pass_irq_analysis;
extern const struct pass pass_latency_breakdown;
extern const struct pass pass_latency_tracker;
extern const struct pass pass_lifecycle;
extern const struct pass pass_llc_locality;
extern const struct pass pass_memory_pressure;
extern const struct pass pass_migration_analyzer;
extern const struct pass pass_migration_patterns;
extern const struct pass pass_network_io;
extern const struct pass pass_oncpu_slices;
extern const struct pass pass_outliers;
extern const struct pass pass_perf_counters;
extern const struct pass pass_power_state;
extern const struct pass pass_preemptions;
extern const struct pass pass_pressure;
extern const struct pass pass_process_runtime;
extern const struct pass pass_process_timeline;
extern const struct pass pass_requests;
extern const struct pass pass_runqueue_depth;
extern const struct pass pass_scheduling_bottlenecks;
extern const struct pass pass_scx_layer_behavior;
extern const struct pass pass_softirq_analysis;
extern const struct pass pass_softirq_analyzer;
extern const struct pass pass_summary;
extern const struct pass pass_task_states;
extern const struct pass pass_totals;
extern const struct pass pass_waker_wakee;
extern const struct pass pass_wakeup_chains;
extern const struct pass pass_wakeup_latency;
extern const struct pass pass_wakeup_relations;
extern const struct pass pass_wakeup_tracker;
extern const struct pass pass_wasted_cores;
extern const struct pass pass_workqueue;
