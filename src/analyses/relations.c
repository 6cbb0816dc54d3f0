#include "analyses/relations.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "analyze/walk.h"
#include "base/grow.h"
#include "base/map.h"
#include "model/interrupt.h"

void relations_done(void *relations)
{
	struct relations *x = relations;

	buckets_done(&x->pairs);
	free(x->at);
}

static struct relation *relation_of(struct relations *x, uint32_t i, uint64_t first_ns)
{
	if (i == BUCKETS_NONE)
		return NULL;
	if (GROW(x->at, x->capacity, i))
		return NULL;
	if (i >= x->nr)
		x->at[x->nr++] = (struct relation){ .first_ns = first_ns };
	return &x->at[i];
}

static void add_cpus(struct relation *at, const struct pair_wait *w)
{
	for (int i = 0; i < RELATION_CPU_PAIRS; i++) {
		struct relation_cpus *c = &at->cpus[i];

		if (!c->count)
			*c = (struct relation_cpus){ w->waker_cpu, w->cpu, 0 };
		if (c->waker_cpu == w->waker_cpu && c->run_cpu == w->cpu) {
			c->count++;
			return;
		}
	}
	at->other_cpus++;
}

/* The waker's CPU compared with the one on which the wakee was switched in. */
static void add_places(const struct relations *x, struct relation *at, const struct pair_wait *w)
{
	int32_t llc = source_llc(x->sc.s, w->waker_cpu), llc_to = source_llc(x->sc.s, w->cpu);
	int32_t node = source_node(x->sc.s, w->waker_cpu), node_to = source_node(x->sc.s, w->cpu);

	if (w->waker_cpu == PAIR_NO_CPU)
		return;
	add_cpus(at, w);
	at->same_cpu += w->waker_cpu == w->cpu;
	at->cross_cpu += w->waker_cpu != w->cpu;
	if (llc >= 0 && llc_to >= 0) {
		at->same_llc += llc == llc_to;
		at->cross_llc += llc != llc_to;
	}
	if (node >= 0 && node_to >= 0) {
		at->same_node += node == node_to;
		at->cross_node += node != node_to;
	}
}

int relations_collect(void *relations)
{
	struct relations *x = relations;
	/* A requested task may be the waker or the wakee: filtered here. */
	struct walk w = { .sc = &x->sc, .table = TIMELINE_WAIT, .is_all = true };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		const struct pair_wait *wait = &row->wait;
		uint32_t waker = latency_waker(wait);
		struct interrupt unused;
		struct relation *at;

		if (!latency_counts(wait) || !scope_has(&x->sc, pair_wait_woken_ns(wait)) ||
		    !pass_takes_cpu(x->sc.args, wait->cpu) ||
		    !(scope_takes(&x->sc, wait->task, pair_wait_woken_ns(wait)) ||
		      scope_takes(&x->sc, wait->waker, pair_wait_woken_ns(wait))))
			continue;
		at = relation_of(
			x, buckets_add(&x->pairs, bucket_pair(waker, wait->task), latency_ns(wait)),
			pair_wait_woken_ns(wait));
		if (!at)
			return -ENOMEM;
		x->total++;
		x->from_no_task += waker == TASKS_NONE;
		x->from_interrupt += interrupt_of_key(waker, &unused);
		x->from_unknown += interrupt_context(wait->flags, wait->by) == ABI_IN_UNKNOWN;
		at->last_ns = pair_wait_woken_ns(wait);
		add_places(x, at, wait);
	}
	return buckets_order(&x->pairs);
}

bool relations_reverse(const struct relations *x, uint32_t i, uint32_t *out)
{
	uint64_t key = x->pairs.at[i].key;
	uint64_t back = bucket_pair(bucket_low(key), bucket_high(key));

	return x->pairs.by_key && map_find(x->pairs.by_key, &back, out);
}

uint64_t relations_both_ways(const struct relations *x)
{
	uint64_t nr = 0;
	uint32_t back;

	for (uint32_t i = 0; i < x->pairs.nr; i++)
		nr += relations_reverse(x, i, &back) && i < back;
	return nr;
}
