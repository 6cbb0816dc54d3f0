/*
 * Who wakes whom: pairs of tasks with how often, how fast, how far. One wakeup per wait of a woken or new task; a wakeup
 * out of an interrupt has nobody for a waker.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/hist.h"
#include "base/map.h"

struct relation {
	uint64_t first_ns, last_ns;
	uint64_t same_cpu, cross_cpu;
	uint64_t same_llc, cross_llc; /* only where known */
	uint64_t same_node, cross_node;
};

struct relations {
	struct scope sc;
	struct buckets pairs;
	struct relation *at; /* by number of the pair's bucket */
	uint32_t nr, capacity;
	uint64_t total, from_nobody;
};

static void done(struct relations *x)
{
	buckets_done(&x->pairs);
	free(x->at);
	scope_done(&x->sc);
}

static struct relation *relation_of(struct relations *x, uint32_t i, uint64_t first_ns)
{
	if (i == BUCKETS_NONE)
		return NULL;
	if (i >= x->capacity) {
		uint32_t capacity = x->capacity ? 2 * x->capacity : 64;
		struct relation *more = reallocarray(x->at, capacity, sizeof(*more));

		if (!more)
			return NULL;
		x->at = more;
		x->capacity = capacity;
	}
	if (i >= x->nr)
		x->at[x->nr++] = (struct relation){ .first_ns = first_ns };
	return &x->at[i];
}

/* The waker's CPU against that on which the woken task came on. */
static void add_places(const struct relations *x, struct relation *at, const struct pair_wait *w)
{
	int32_t llc = source_llc(x->sc.s, w->waker_cpu), llc_to = source_llc(x->sc.s, w->cpu);
	int32_t node = source_node(x->sc.s, w->waker_cpu), node_to = source_node(x->sc.s, w->cpu);

	if (w->waker_cpu == PAIR_NO_CPU)
		return;
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

static int collect(struct relations *x)
{
	/* A task is asked for as the waker or as the woken one: looked at by hand. */
	struct walk w = { .sc = &x->sc, .table = TIMELINE_WAIT, .is_all = true };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		const struct pair_wait *wait = &row->wait;
		uint32_t waker = latency_waker(wait);
		struct relation *at;

		if (!latency_counts(wait) || !scope_has(&x->sc, latency_start_ns(wait)) ||
		    !pass_takes_cpu(x->sc.args, wait->cpu) ||
		    !(scope_takes(&x->sc, wait->task) || scope_takes(&x->sc, waker)))
			continue;
		at = relation_of(
			x, buckets_add(&x->pairs, bucket_pair(waker, wait->task), latency_ns(wait)),
			latency_start_ns(wait));
		if (!at)
			return -ENOMEM;
		x->total++;
		x->from_nobody += waker == TASKS_NONE;
		at->last_ns = latency_start_ns(wait);
		add_places(x, at, wait);
	}
	return buckets_order(&x->pairs);
}

static void show_latency(struct samples *ns, struct report *r)
{
	figure_us(r, "min_latency_us", (double)samples_percentile(ns, 0));
	figure_us(r, "max_latency_us", (double)samples_percentile(ns, HIST_P(100)));
	figure_us(r, "avg_latency_us", samples_mean(ns));
	figure_us(r, "p50_latency_us", (double)samples_percentile(ns, HIST_P(50)));
	figure_us(r, "p99_latency_us", (double)samples_percentile(ns, HIST_P(99)));
	figure_us(r, "total_latency_us", (double)samples_sum(ns));
}

static void show_pair(const struct relations *x, uint32_t i, struct report *r)
{
	const struct relation *at = &x->at[i];
	uint32_t wakee = bucket_low(x->pairs.at[i].key);
	struct samples ns = buckets_at(&x->pairs, i);

	report_begin_object(r, NULL);
	waker_report(x->sc.s, r, bucket_high(x->pairs.at[i].key));
	report_u64(r, "wakee_pid", source_tid(x->sc.s, wakee));
	report_string(r, "wakee_comm", source_comm(x->sc.s, wakee));
	report_u64(r, "wakeup_count", x->pairs.at[i].count);
	report_u64(r, "first_seen_ns", at->first_ns);
	report_u64(r, "last_seen_ns", at->last_ns);
	show_latency(&ns, r);
	report_u64(r, "same_cpu_count", at->same_cpu);
	report_u64(r, "cross_cpu_count", at->cross_cpu);
	report_u64(r, "same_llc_count", at->same_llc);
	report_u64(r, "cross_llc_count", at->cross_llc);
	report_u64(r, "same_node_count", at->same_node);
	report_u64(r, "cross_node_count", at->cross_node);
	report_end_object(r);
}

static uint64_t nr_both_ways(const struct relations *x)
{
	uint64_t nr = 0;
	uint32_t i;

	for (uint32_t k = 0; k < x->pairs.nr; k++) {
		uint64_t key = x->pairs.at[k].key;
		uint64_t back = bucket_pair(bucket_low(key), bucket_high(key));

		nr += back > key && map_find(x->pairs.by_key, &back, &i);
	}
	return nr;
}

static int show(const struct relations *x, struct report *r)
{
	SCOPED(scoped_top)
	struct top top = { .limit = pass_limit(&pass_wakeup_relations, x->sc.args) };

	buckets_top(&x->pairs, false, &top);
	report_u64(r, "total_relationships", x->pairs.nr);
	report_u64(r, "total_wakeups", x->total);
	report_u64(r, "wakeups_by_interrupt_or_idle", x->from_nobody);
	report_u64(r, "bidirectional_count", nr_both_ways(x));
	report_begin_array(r, "relationships");
	for (uint32_t i = 0; i < top.nr; i++)
		show_pair(x, (uint32_t)top.entries[i].id, r);
	report_end_array(r);
	report_string(r, "note",
	              "by total latency; from the waking, or the wakeup where there is none, to the "
	              "switch-in; caches and nodes only where their places are known");
	return top.has_failed ? -ENOMEM : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct relations x = { 0 };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	err = collect(&x);
	if (!err)
		err = show(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_wakeup_relations = {
	.id = "wakeup_relations",
	.name = "Waker/Wakee Relations",
	.category = "extended",
	.what = "who wakes whom, how often, how fast and how far",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 5,
	.run = run,
};
