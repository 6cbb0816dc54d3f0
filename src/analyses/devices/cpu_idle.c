/*
 * Which idle states CPUs were in, and for how long. That is the state requested from the hardware,
 * not whether the idle task had the CPU: cpu_utilization shows that.
 */
#include "analyses/passes.h"
#include "analyze/levels.h"
#include "analyze/pass.h"

#define LEFT UINT32_MAX /* the state of a CPU that is awake */

static void show_states(const struct levels *l, uint32_t cpu, struct report *r)
{
	const struct buckets *b = &l->by_value;

	report_begin_object(r, "state_durations");
	for (uint32_t i = 0; i < b->nr; i++)
		if (bucket_high(b->at[i].key) == cpu && bucket_low(b->at[i].key) != LEFT)
			report_u64(r, report_printf(r, "%u", bucket_low(b->at[i].key)),
			           b->at[i].sum_ns);
	report_end_object(r);
	report_begin_object(r, "state_entries");
	for (uint32_t i = 0; i < b->nr; i++)
		if (bucket_high(b->at[i].key) == cpu && bucket_low(b->at[i].key) != LEFT)
			report_u64(r, report_printf(r, "%u", bucket_low(b->at[i].key)),
			           b->at[i].count);
	report_end_object(r);
}

static void show_cpu(const struct levels *l, uint32_t cpu, uint64_t span_ns, struct report *r)
{
	const struct level_cpu *c = &l->cpus[cpu];
	uint64_t active_ns = levels_held_ns(l, cpu, LEFT);

	report_u64(r, "active_time_ns", active_ns);
	report_u64(r, "idle_time_ns", c->known_ns - active_ns);
	report_u64(r, "unknown_time_ns", span_ns - c->known_ns);
	report_percent(r, "idle_percentage", c->known_ns - active_ns, c->known_ns);
	show_states(l, cpu, r);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	static const struct level_view view = {
		.pass = &pass_cpu_idle,
		.kind = PAIR_CPU_IDLE_STATE,
		.description = "idle states of CPUs, and for how long each held",
		.note = "ns by idle state; the last state holds to the end, that before the first change "
			"is unknown and in no percentage",
		.show_cpu = show_cpu,
	};

	return levels_run(&view, s, args, r, d);
}

const struct pass pass_cpu_idle = {
	.id = "cpu_idle",
	.name = "CPU Idle State Analysis",
	.category = "power",
	.what = "which idle states CPUs were in, and for how long",
	.needs = EV_BIT(EV_CPU_IDLE),
	.cost = 1,
	.run = run,
};
