#include "model/hotspots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hotspots {
	struct hotspots_cpu *cpus;
	uint32_t nr_cpus;
	uint64_t left_out;
};

int hotspots_new(struct hotspots **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void hotspots_free(struct hotspots *h)
{
	if (!h)
		return;
	free(h->cpus);
	free(h);
}

static struct hotspots_cpu *cpu_for(struct hotspots *h, uint32_t cpu)
{
	struct hotspots_cpu *more = NULL;

	if (cpu < h->nr_cpus)
		return &h->cpus[cpu];
	if (cpu < PAIR_MAX_CPUS)
		more = realloc(h->cpus, (cpu + 1) * sizeof(*more));
	if (!more) {
		h->left_out++;
		return NULL;
	}
	memset(more + h->nr_cpus, 0, (cpu + 1 - h->nr_cpus) * sizeof(*more));
	h->cpus = more;
	h->nr_cpus = cpu + 1;
	return &h->cpus[cpu];
}

static void on_switched(void *ctx, const struct pair_switch *r)
{
	struct hotspots_cpu *c = cpu_for(ctx, r->cpu);

	if (c)
		c->nr_switches++;
}

static void on_migration(void *ctx, const struct pair_migration *r)
{
	struct hotspots_cpu *c = cpu_for(ctx, r->to_cpu);

	if (c)
		c->nr_migrations++;
}

static void on_mark(void *ctx, const struct pair_mark *r)
{
	struct hotspots_cpu *c = r->kind == EV_IPI_SEND ? cpu_for(ctx, r->cpu) : NULL;

	if (c)
		c->nr_ipis++;
}

static void on_wait(void *ctx, const struct pair_wait *r)
{
	uint64_t start_ns = r->waking_ns ? r->waking_ns : r->wakeup_ns;
	struct hotspots_cpu *c;

	if (r->is_open || r->cause == PAIR_PREEMPTED)
		return;
	c = cpu_for(ctx, r->cpu);
	if (c)
		live_latency_add(&c->latency, r->end_ns - start_ns, r->end_ns);
}

struct pair_out hotspots_out(struct hotspots *h)
{
	return (struct pair_out){ .ctx = h,
		                  .switched = on_switched,
		                  .migration = on_migration,
		                  .mark = on_mark,
		                  .wait = on_wait };
}

void hotspots_reset(struct hotspots *h)
{
	free(h->cpus);
	*h = (struct hotspots){ 0 };
}

uint32_t hotspots_nr_cpus(const struct hotspots *h)
{
	return h->nr_cpus;
}

const struct hotspots_cpu *hotspots_cpu_at(const struct hotspots *h, uint32_t cpu)
{
	const struct hotspots_cpu *c = cpu < h->nr_cpus ? &h->cpus[cpu] : NULL;

	if (!c || !(c->nr_switches + c->nr_ipis + c->nr_migrations + c->latency.samples))
		return NULL;
	return c;
}

uint64_t hotspots_left_out(const struct hotspots *h)
{
	return h->left_out;
}

uint32_t hotspots_rank(const struct hotspots *h, uint32_t cpu)
{
	const struct hotspots_cpu *own = hotspots_cpu_at(h, cpu), *c;
	uint32_t nr = 0, nr_below = 0;

	for (uint32_t i = 0; own && i < h->nr_cpus; i++) {
		c = hotspots_cpu_at(h, i);
		if (!c)
			continue;
		nr++;
		nr_below += c->nr_switches <= own->nr_switches;
	}
	return nr ? 10000U * nr_below / nr : 0;
}
