/*
 * At which frequencies CPUs ran, weighted by how long. The CPU is the one that changed, not the one
 * that wrote the event. Before the first change of a CPU its frequency is not known.
 */
#include "analyses/passes.h"
#include "analyze/levels.h"
#include "analyze/pass.h"

static void show_known(const struct levels *l, uint32_t cpu, struct report *r)
{
	const struct level_cpu *c = &l->cpus[cpu];

	report_u64(r, "min_frequency_khz", c->min);
	report_u64(r, "max_frequency_khz", c->max);
	report_u64(r, "avg_frequency_khz", (uint64_t)(c->weighted / (double)c->known_ns));
	report_u64(r, "most_common_frequency_khz", levels_longest(l, cpu));
}

static void show_cpu(const struct levels *l, uint32_t cpu, uint64_t span_ns, struct report *r)
{
	static const char *const keys[] = { "min_frequency_khz", "max_frequency_khz",
		                            "avg_frequency_khz", "most_common_frequency_khz" };
	const struct level_cpu *c = &l->cpus[cpu];

	if (c->known_ns)
		show_known(l, cpu, r);
	for (size_t i = 0; !c->known_ns && i < sizeof(keys) / sizeof(keys[0]); i++)
		report_null(r, keys[i]);
	report_u64(r, "unknown_time_ns", span_ns - c->known_ns);
	levels_report(l, cpu, r, "freq_durations");
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	static const struct level_view view = {
		.pass = &pass_cpu_frequency,
		.kind = PAIR_CPU_FREQ_KHZ,
		.description = "frequencies of CPUs, and for how long each held",
		.note = "ns by kHz; averages are weighted by time, the last frequency holds to the end, "
			"that before the first change is unknown",
		.show_cpu = show_cpu,
	};

	return levels_run(&view, s, args, r, d);
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
