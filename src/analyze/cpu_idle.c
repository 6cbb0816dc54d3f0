/*
 * Which idle states CPUs were in, and for how long. That is what the hardware was told, not whether the idle task had
 * the CPU: cpu_utilization tells that.
 */
#include <errno.h>

#include "analyze/levels.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "base/cleanup.h"

#define LEFT UINT32_MAX /* the state of a CPU that is awake */

struct idle {
	struct scope sc;
	struct levels levels;
};

static void done(struct idle *x)
{
	levels_done(&x->levels);
	scope_done(&x->sc);
}

static void show_states(const struct idle *x, uint32_t cpu, struct report *r)
{
	const struct buckets *b = &x->levels.by_value;

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

static void show_cpu(const struct idle *x, uint32_t cpu, struct report *r)
{
	const struct level_cpu *c = &x->levels.cpus[cpu];
	uint64_t active_ns = levels_held_ns(&x->levels, cpu, LEFT);

	report_begin_object(r, NULL);
	report_u64(r, "cpu", cpu);
	report_u64(r, "transition_count", c->changes);
	report_u64(r, "active_time_ns", active_ns);
	report_u64(r, "idle_time_ns", c->known_ns - active_ns);
	report_u64(r, "unknown_time_ns", x->sc.span_ns - c->known_ns);
	report_percent(r, "idle_percentage", c->known_ns - active_ns, c->known_ns);
	show_states(x, cpu, r);
	report_end_object(r);
}

static void show(const struct idle *x, struct report *r)
{
	uint32_t limit = pass_limit(&pass_cpu_idle, x->sc.args), nr = 0;

	report_string(r, "description", "idle states of CPUs, and for how long each held");
	report_u64(r, "total_transitions", x->levels.changes);
	report_u64(r, "cpu_count", levels_nr_seen(&x->levels));
	report_begin_array(r, "cpu_stats");
	for (uint32_t i = 0; i < x->levels.nr_cpus && nr < limit; i++) {
		if (!x->levels.cpus[i].is_seen)
			continue;
		show_cpu(x, i, r);
		nr++;
	}
	report_end_array(r);
	report_string(
		r, "note",
		"ns by idle state; the last state holds to the end, that before the first change "
		"is unknown and in no percentage");
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct idle x = { 0 };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	err = levels_collect(&x.levels, &x.sc, PAIR_CPU_IDLE_STATE);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show(&x, r);
	return 0;
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
