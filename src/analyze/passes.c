/* analyze/passes — the table of all analyses, in the order in which a reader wants them. */
#include "analyze/passes.h"

#include "analyze/pass.h"

const struct pass *const passes[] = {
	&pass_summary,
	&pass_cpu_utilization,
	&pass_process_runtime,
	&pass_wakeup_latency,
	&pass_correlation,
	&pass_latency_breakdown,
	&pass_wakeup_chains,
	&pass_task_states,
	&pass_preemptions,
	&pass_runqueue_depth,
	&pass_migration_patterns,
	&pass_llc_locality,
	&pass_fairness,
	&pass_scheduling_bottlenecks,
	&pass_outliers,
	&pass_wasted_cores,
	&pass_explain,
};

const size_t nr_passes = sizeof(passes) / sizeof(passes[0]);
