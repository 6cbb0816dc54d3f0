/* analyze/passes — the table of all analyses, by category, in the order in which a reader wants them. */
#include "analyze/passes.h"

#include "analyze/pass.h"

const struct pass *const passes[] = {
	&pass_summary,
	&pass_discover,
	&pass_correlation,
	&pass_cpu_timeline,
	&pass_process_timeline,
	&pass_cpu_utilization,
	&pass_process_runtime,
	&pass_wakeup_latency,
	&pass_runqueue_depth,
	&pass_migration_patterns,
	&pass_llc_locality,
	&pass_fairness,
	&pass_scheduling_bottlenecks,
	&pass_outliers,
	&pass_wasted_cores,
	&pass_dsq_summary,
	&pass_dsq_latency,
	&pass_explain,
	&pass_task_states,
	&pass_preemptions,
	&pass_latency_breakdown,
	&pass_wakeup_chains,
	&pass_wakeup_relations,
	&pass_compound_delay,
	&pass_oncpu_slices,
	&pass_scx_layer_behavior,
	&pass_perf_counters,
	&pass_requests,
	&pass_lifecycle,
	&pass_irq_analysis,
	&pass_softirq_analysis,
	&pass_ipi_analysis,
	&pass_workqueue,
	&pass_block_io,
	&pass_network_io,
	&pass_memory_pressure,
	&pass_file_io,
	&pass_cpu_frequency,
	&pass_cpu_idle,
	&pass_power_state,
};

const size_t nr_passes = sizeof(passes) / sizeof(passes[0]);
