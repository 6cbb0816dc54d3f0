/* analyze/passes — every analysis by name, for the table. */
#pragma once

struct pass;

extern const struct pass pass_correlation;
extern const struct pass pass_cpu_utilization;
extern const struct pass pass_explain;
extern const struct pass pass_fairness;
extern const struct pass pass_latency_breakdown;
extern const struct pass pass_llc_locality;
extern const struct pass pass_migration_patterns;
extern const struct pass pass_outliers;
extern const struct pass pass_preemptions;
extern const struct pass pass_process_runtime;
extern const struct pass pass_runqueue_depth;
extern const struct pass pass_scheduling_bottlenecks;
extern const struct pass pass_summary;
extern const struct pass pass_task_states;
extern const struct pass pass_wakeup_chains;
extern const struct pass pass_wakeup_latency;
extern const struct pass pass_wasted_cores;
