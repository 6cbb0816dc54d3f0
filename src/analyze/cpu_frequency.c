/*
 * At which frequencies CPUs ran, weighted by how long. The CPU is the one that changed, not the one that was told to
 * write it down. Before the first change of a CPU its frequency is not known.
 */
#include <errno.h>

#include "analyze/levels.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "base/cleanup.h"

struct frequency {
	struct scope sc;
	struct levels levels;
};

static void done(struct frequency *x)
{
	levels_done(&x->levels);
	scope_done(&x->sc);
}

static void show_known(const struct frequency *x, uint32_t cpu, struct report *r)
{
	const struct level_cpu *c = &x->levels.cpus[cpu];

	report_u64(r, "min_frequency_khz", c->min);
	report_u64(r, "max_frequency_khz", c->max);
	report_u64(r, "avg_frequency_khz", (uint64_t)(c->weighted / (double)c->known_ns));
	report_u64(r, "most_common_frequency_khz", levels_longest(&x->levels, cpu));
}

static void show_cpu(const struct frequency *x, uint32_t cpu, struct report *r)
{
	static const char *const keys[] = { "min_frequency_khz", "max_frequency_khz",
		                            "avg_frequency_khz", "most_common_frequency_khz" };
	const struct level_cpu *c = &x->levels.cpus[cpu];

	report_begin_object(r, NULL);
	report_u64(r, "cpu", cpu);
	report_u64(r, "transition_count", c->changes);
	if (c->known_ns)
		show_known(x, cpu, r);
	for (size_t i = 0; !c->known_ns && i < sizeof(keys) / sizeof(keys[0]); i++)
		report_null(r, keys[i]);
	report_u64(r, "unknown_time_ns", x->sc.span_ns - c->known_ns);
	levels_report(&x->levels, cpu, r, "freq_durations");
	report_end_object(r);
}

static void show(const struct frequency *x, struct report *r)
{
	uint32_t limit = pass_limit(&pass_cpu_frequency, x->sc.args), nr = 0;

	report_string(r, "description", "frequencies of CPUs, and for how long each held");
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
		"ns by kHz; averages are weighted by time, the last frequency holds to the end, "
		"that before the first change is unknown");
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct frequency x = { 0 };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	err = levels_collect(&x.levels, &x.sc, PAIR_CPU_FREQ_KHZ);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show(&x, r);
	return 0;
}

const struct pass pass_cpu_frequency = {
	.id = "cpu_frequency",
	.name = "CPU Frequency Analysis",
	.category = "power",
	.what = "at which frequencies CPUs ran, and for how long",
	.needs = EV_BIT(EV_CPU_FREQ),
	.cost = 1,
	.run = run,
};
