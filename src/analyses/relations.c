#include "analyses/relations.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "base/cleanup.h"
#include "model/interrupt.h"

void relations_done(void *relations)
{
	struct relations *x = relations;

	edges_done(&x->pairs);
	free(x->of_wait);
	free(x->at);
	grouped_done(&x->latencies);
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

/* A requested task may be the waker or the wakee. */
static bool is_wanted(const struct scope *sc, const struct pair_wait *w)
{
	uint64_t woken_ns = pair_wait_woken_ns(w);

	return sc->is_all ||
	       (scope_has(sc, woken_ns) && pass_takes_cpu(sc->args, w->cpu) &&
	        (scope_takes(sc, w->task, woken_ns) || scope_takes(sc, w->waker, woken_ns)));
}

/* Which pair it is of, one of those at hand or a new one. */
static int count(struct relations *x, const struct pair_wait *w, uint32_t *pair)
{
	uint32_t waker = latency_waker(w);
	struct edge *edge = edges_get(&x->pairs, waker, w->task);
	struct interrupt unused;

	if (!edge)
		return -ENOMEM;
	edge->count++;
	edge->sum_ns += latency_ns(w);
	*pair = (uint32_t)(edge - x->pairs.at) + 1;
	x->total++;
	x->from_no_task += waker == TASKS_NONE;
	x->from_interrupt += interrupt_of_key(waker, &unused);
	x->from_unknown += interrupt_context(w->flags, w->by) == ABI_IN_UNKNOWN;
	return 0;
}

int relations_collect(void *relations)
{
	struct relations *x = relations;
	const struct timeline *t = x->sc.s->timeline;
	struct pass_args all;
	struct scope whole = scope_whole(&x->sc, &all);
	struct rows it = { .sc = &whole };
	struct pair_wait w;
	int err = edges_init_tasks(&x->pairs, x->sc.nr_tasks);

	x->first = timeline_first(t, TIMELINE_WAIT);
	x->of_wait = calloc((size_t)(timeline_end(t, TIMELINE_WAIT) - x->first) + 1,
	                    sizeof(*x->of_wait));
	if (!x->of_wait)
		err = -ENOMEM;
	while (!err && rows_wait(&it, &w))
		if (latency_counts(&w) && is_wanted(&x->sc, &w))
			err = count(x, &w, &x->of_wait[rows_id(&it) - x->first]);
	return err;
}

static void describe(const struct relations *x, uint64_t id, struct relation *at,
                     struct grouped *latencies)
{
	union timeline_row row;
	uint64_t woken_ns;

	if (!timeline_row(x->sc.s->timeline, TIMELINE_WAIT, id, &row))
		return;
	woken_ns = pair_wait_woken_ns(&row.wait);
	at->first_ns = at->last_ns ? at->first_ns : woken_ns;
	at->last_ns = woken_ns;
	add_places(x, at, &row.wait);
	grouped_add(latencies, (uint32_t)(at - x->at), latency_ns(&row.wait));
}

int relations_describe(struct relations *x, const struct top *pairs)
{
	uint64_t nr = timeline_end(x->sc.s->timeline, TIMELINE_WAIT) - x->first;
	SCOPED(scoped_free) uint32_t *place = calloc(x->pairs.nr + 1UL, sizeof(*place));

	free(x->at);
	grouped_done(&x->latencies);
	x->at = calloc(pairs->nr + 1UL, sizeof(*x->at));
	if (!place || !x->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < pairs->nr; i++)
		place[pairs->entries[i].id + 1] = i + 1;
	for (uint64_t i = 0; i < nr; i++) {
		uint32_t at = place[x->of_wait[i]];

		if (at)
			describe(x, x->first + i, &x->at[at - 1], &x->latencies);
	}
	return grouped_order(&x->latencies, pairs->nr);
}

bool relations_reverse(const struct relations *x, uint32_t i, uint32_t *out)
{
	*out = edges_find(&x->pairs, x->pairs.at[i].to, x->pairs.at[i].by);
	return *out != EDGES_NONE;
}

uint64_t relations_both_ways(const struct relations *x)
{
	uint64_t nr = 0;
	uint32_t back;

	for (uint32_t i = 0; i < x->pairs.nr; i++)
		nr += relations_reverse(x, i, &back) && i < back;
	return nr;
}
