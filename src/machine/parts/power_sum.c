#include "machine/parts/power_sum.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/parts/power_temperature.h"

const struct machine_power_package machine_power_unknown = {
	.watts = NAN,
	.core_watts = NAN,
	.dram_watts = NAN,
	.uncore_watts = NAN,
	.limit_watts = NAN,
	.short_limit_watts = NAN,
	.most_watts = NAN,
	.celsius = NAN,
	.critical_celsius = NAN,
	.uncore_mhz = NAN,
	.throttles_per_s = NAN,
	.throttled = NAN,
};

static double seconds_between(uint64_t before_ns, uint64_t now_ns)
{
	return now_ns > before_ns ? (double)(now_ns - before_ns) / 1e9 : 0;
}

static void add_known(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

static struct machine_power_package *package_of(struct power_sum *s, int32_t id)
{
	for (size_t i = 0; i < s->nr_packages; i++)
		if (s->packages[i].id == id)
			return &s->packages[i];
	if (id < 0 || s->nr_packages == POWER_PACKAGES_MAX)
		return NULL;
	s->packages[s->nr_packages] = machine_power_unknown;
	s->packages[s->nr_packages].id = id;
	return &s->packages[s->nr_packages++];
}

/* A package of several dies has a zone for each. */
static void add_zone(struct power_sum *s, const struct rapl *r, const struct rapl_zone *z,
                     double watts)
{
	struct machine_power_package *p = package_of(s, z->package);

	if (z->kind == RAPL_PLATFORM)
		add_known(&s->platform_watts, watts);
	if (!p)
		return;
	switch (z->kind) {
	case RAPL_PACKAGE:
		add_known(&p->watts, watts);
		add_known(&p->limit_watts, z->limit_watts > 0 ? z->limit_watts : NAN);
		add_known(&p->short_limit_watts,
		          z->short_limit_watts > 0 ? z->short_limit_watts : NAN);
		add_known(&p->most_watts, z->most_watts > 0 ? z->most_watts : NAN);
		break;
	case RAPL_CORES:
		add_known(&p->core_watts, watts);
		p->has_single_core = r->has_single_cores;
		break;
	case RAPL_DRAM:
		add_known(&p->dram_watts, watts);
		break;
	case RAPL_UNCORE:
		add_known(&p->uncore_watts, watts);
		break;
	default:
		break;
	}
}

static void sum_energy(const struct power_reading *before, const struct power_reading *now,
                       struct power_sum *s)
{
	double seconds = before ? seconds_between(before->energy_ns, now->energy_ns) : 0;

	s->watts = s->platform_watts = NAN;
	for (size_t i = 0; i < now->rapl.nr; i++) {
		const struct rapl_zone *z = &now->rapl.zones[i];
		const struct rapl_zone *old = before ? rapl_find(&before->rapl, z->id) : NULL;

		add_zone(s, &now->rapl, z, rapl_watts(old, z, seconds));
	}
	/* The counter of a package leaves its memory out. */
	for (size_t i = 0; i < s->nr_packages; i++) {
		add_known(&s->watts, s->packages[i].watts);
		add_known(&s->watts, s->packages[i].dram_watts);
	}
}

static struct machine_power_idle *idle_of(struct power_sum *s, const struct cpu_idle_state *state)
{
	for (size_t i = 0; i < s->nr_idles; i++)
		if (strcmp(s->idles[i].name, state->name) == 0)
			return &s->idles[i];
	if (s->nr_idles == MACHINE_IDLE_STATES)
		return NULL;
	s->idles[s->nr_idles] =
		(struct machine_power_idle){ .name = state->name,
		                             .latency_us = (double)state->latency_us,
		                             .part = NAN,
		                             .entries_per_s = NAN,
		                             .stay_us = NAN };
	return &s->idles[s->nr_idles++];
}

static uint64_t less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void add_idles(struct power_sum *s, const struct cpu_idle *now, const struct cpu_idle *old,
                      double seconds, struct machine_power_cpu *cpu)
{
	for (uint32_t i = 0; i < now->nr_states; i++) {
		const struct cpu_idle_state *state = &now->states[i];
		struct machine_power_idle *idle = idle_of(s, state);
		double us, entries;

		if (!idle)
			continue;
		idle->nr_cpus++;
		if (!old || i >= old->nr_states || !(seconds > 0))
			continue;
		us = (double)less(state->time_us, old->states[i].time_us);
		entries = (double)less(state->entries, old->states[i].entries);
		cpu->idle[idle - s->idles] = fmin(us / 1e6 / seconds, 1);
		/* Sums for now; finish_idles() divides. */
		add_known(&idle->part, us);
		add_known(&idle->entries_per_s, entries);
	}
}

static void finish_idles(struct power_sum *s, double seconds)
{
	for (size_t i = 0; i < s->nr_idles; i++) {
		struct machine_power_idle *idle = &s->idles[i];
		double us = idle->part, entries = idle->entries_per_s;

		if (isnan(us))
			continue;
		idle->part = fmin(us / 1e6 / seconds / idle->nr_cpus, 1);
		idle->entries_per_s = entries / seconds;
		idle->stay_us = entries > 0 ? us / entries : NAN;
	}
}

static void add_throttles(struct machine_power_package *p, const struct cpu_idle *now,
                          const struct cpu_idle *old, double seconds, struct machine_power_cpu *cpu)
{
	if (!old || !now->has_throttles || !old->has_throttles || !(seconds > 0))
		return;
	cpu->throttles_per_s = (double)less(now->core_throttles, old->core_throttles) / seconds;
	if (now->has_throttled_ms)
		cpu->throttled = fmin((double)less(now->core_throttled_ms, old->core_throttled_ms) /
		                              1e3 / seconds,
		                      1);
	if (!p)
		return;
	/* Every CPU of a package reports the same for it. */
	p->throttles_per_s = fmax(p->throttles_per_s,
	                          (double)less(now->package_throttles, old->package_throttles) /
	                                  seconds);
	if (now->has_throttled_ms)
		p->throttled = fmax(p->throttled, fmin((double)less(now->package_throttled_ms,
		                                                    old->package_throttled_ms) /
		                                               1e3 / seconds,
		                                       1));
}

static int sum_cpus(const struct power_reading *before, const struct power_reading *now,
                    struct power_sum *s)
{
	double seconds = before ? seconds_between(before->idle_ns, now->idle_ns) : 0;

	s->cpus = calloc(now->cpus.nr + 1, sizeof(*s->cpus));
	if (!s->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < now->cpus.nr; i++) {
		const struct cpu_idle *c = &now->cpus.cpus[i];
		const struct cpu_idle *old = before ? cpu_idles_find(&before->cpus, c->cpu) : NULL;
		struct machine_power_package *p = package_of(s, c->package_id);
		struct machine_power_cpu *to = &s->cpus[s->nr_cpus++];

		*to = (struct machine_power_cpu){ .cpu = c->cpu,
			                          .package = c->package_id,
			                          .celsius = NAN,
			                          .throttles_per_s = NAN,
			                          .throttled = NAN };
		for (size_t k = 0; k < MACHINE_IDLE_STATES; k++)
			to->idle[k] = NAN;
		if (p)
			p->nr_cpus++;
		add_idles(s, c, old, seconds, to);
		add_throttles(p, c, old, seconds, to);
	}
	finish_idles(s, seconds);
	return 0;
}

static void show_batteries(const struct power_reading *now, struct power_sum *s)
{
	for (size_t i = 0; i < now->batteries.nr; i++) {
		const struct battery *b = &now->batteries.items[i];

		s->batteries[s->nr_batteries++] = (struct machine_power_battery){
			b->name, b->status, b->level, b->watts, b->seconds_left
		};
	}
}

static int by_id(const void *a, const void *b)
{
	const struct machine_power_package *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

int power_sum_make(const struct power_reading *before, const struct power_reading *now,
                   struct power_sum *out)
{
	int err;

	*out = (struct power_sum){ 0 };
	err = sum_cpus(before, now, out);
	if (err)
		return err;
	sum_energy(before, now, out);
	qsort(out->packages, out->nr_packages, sizeof(out->packages[0]), by_id);
	for (size_t i = 0; i < out->nr_packages; i++)
		out->packages[i].uncore_mhz = uncore_freqs_mhz(&now->uncore, out->packages[i].id);
	power_temperatures(now, out);
	show_batteries(now, out);
	return 0;
}

void power_sum_done(struct power_sum *s)
{
	free(s->cpus);
	*s = (struct power_sum){ 0 };
}
