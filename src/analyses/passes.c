/* analyses/passes — the table of all analyses, by category, in the order in which a reader wants them. */
#include "analyses/passes.h"

#include <string.h>

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
	&pass_blame,
	&pass_pressure,
	&pass_sleeps,
	&pass_locks,
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
	&pass_flamegraph,
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

const struct pass *const scxtop_passes[] = {
	&pass_latency_tracker, &pass_cpu_hotspots, &pass_migration_analyzer, &pass_dsq_monitor,
	&pass_wakeup_tracker,  &pass_waker_wakee,  &pass_softirq_analyzer,   &pass_totals,
};

const size_t nr_scxtop_passes = sizeof(scxtop_passes) / sizeof(scxtop_passes[0]);

/* Names under which scxtop's clients know the same analyses. */
static const struct {
	const char *alias, *id;
} aliases[] = {
	{ "dsq", "dsq_summary" },
	{ "migrations", "migration_patterns" },
	{ "irq", "irq_analysis" },
	{ "ipi", "ipi_analysis" },
	{ "softirq", "softirq_analysis" },
	{ "bottlenecks", "scheduling_bottlenecks" },
	{ "find_scheduling_bottlenecks", "scheduling_bottlenecks" },
	{ "correlate_wakeup_to_schedule", "correlation" },
	{ "detect_outliers", "outliers" },
};

const struct pass *pass_find(const char *id)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].alias, id))
			id = aliases[i].id;
	for (size_t i = 0; i < nr_passes; i++)
		if (!strcmp(passes[i]->id, id))
			return passes[i];
	for (size_t i = 0; i < nr_scxtop_passes; i++)
		if (!strcmp(scxtop_passes[i]->id, id))
			return scxtop_passes[i];
	return NULL;
}
