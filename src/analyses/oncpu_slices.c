/*
 * Slices on a CPU, by task, with sched_ext's data where recorded: the layer and the dispatch queue
 * that the task was dispatched from. An id of which only the lower half was recorded has no name.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/slice_facts.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define CUT     0x80000000U /* marks the number of a queue in the second list */
#define LONGEST 5

struct slices {
	struct scope sc;
	struct units units;
	struct slice_facts facts;
	struct buckets by_unit, layers, queues, cut_queues;
	struct buckets unit_layers, unit_queues; /* pairs with the unit */
	struct top longest;
	uint64_t total, runtime_ns, with_scx;
};

static void done(void *work)
{
	struct slices *x = work;

	buckets_done(&x->by_unit);
	buckets_done(&x->layers);
	buckets_done(&x->queues);
	buckets_done(&x->cut_queues);
	buckets_done(&x->unit_layers);
	buckets_done(&x->unit_queues);
	slice_facts_done(&x->facts);
	top_done(&x->longest);
}

static void add_run(struct slices *x, uint32_t unit, const struct pair_run *run, uint64_t ns)
{
	bool is_cut = run->flags & EV_SCX_DSQ_CUT;

	x->with_scx++;
	buckets_add(&x->layers, run->layer, ns);
	buckets_sum(&x->unit_layers, bucket_pair(unit, run->layer), ns);
	if (run->dsq_id == EV_DSQ_INVALID)
		return;
	buckets_sum(&x->unit_queues,
	            bucket_pair(unit, is_cut ? CUT | buckets_add(&x->cut_queues, run->dsq_id, ns)
	                                     : buckets_add(&x->queues, run->dsq_id, ns)),
	            ns);
}

static int collect(void *work)
{
	struct slices *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SLICE };
	const union timeline_row *row;
	int err = slice_facts_init(&x->facts, &x->sc);

	x->longest.limit = LONGEST;
	while (!err && (row = walk_next(&w))) {
		const struct pair_run *run = slice_run(&x->facts, &row->slice);
		uint32_t unit = units_at(&x->units, row->slice.task, row->slice.start_ns);
		uint64_t ns = scope_cut(&x->sc, row->slice.start_ns, row->slice.end_ns);

		x->total++;
		x->runtime_ns += ns;
		buckets_add(&x->by_unit, unit, ns);
		if (run)
			add_run(x, unit, run, ns);
		top_add(&x->longest, ns, w.id - 1);
	}
	if (x->unit_layers.has_failed || x->unit_queues.has_failed || x->longest.has_failed)
		return -ENOMEM;
	if (!err)
		err = buckets_order(&x->by_unit);
	if (!err)
		err = buckets_order(&x->layers);
	if (!err)
		err = buckets_order(&x->queues);
	return err ? err : buckets_order(&x->cut_queues);
}

/* The bucket with most of the unit's time; BUCKETS_NONE if none. */
static uint32_t most(const struct buckets *pairs, uint32_t unit)
{
	const struct bucket *best = NULL;

	for (uint32_t i = 0; i < pairs->nr; i++)
		if (bucket_high(pairs->at[i].key) == unit &&
		    (!best || pairs->at[i].sum_ns > best->sum_ns))
			best = &pairs->at[i];
	return best ? bucket_low(best->key) : BUCKETS_NONE;
}

static void show_layer(uint32_t layer, struct report *r)
{
	report_u64_if(r, "layer_id", layer != EV_NO_LAYER, layer);
}

static void show_queue(const struct slices *x, uint32_t nr, struct report *r)
{
	if (nr == BUCKETS_NONE) {
		report_null(r, "dsq_id");
		report_null(r, "dsq_name");
	} else if (nr & CUT) {
		report_id(r, "dsq_id", x->cut_queues.at[nr & ~CUT].key);
		report_null(r, "dsq_name");
	} else {
		figure_dsq(r, x->queues.at[nr].key);
	}
}

static int show_units(const struct slices *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_oncpu_slices, x->sc.args) };

	buckets_top(&x->by_unit, false, &top);
	report_u64(r, "total_processes", x->by_unit.nr);
	for (uint32_t i = 0; top_row(&top, i, r, "processes"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id, unit = (uint32_t)x->by_unit.at[at].key;
		struct samples ns = buckets_at(&x->by_unit, at);

		units_report(&x->units, r, unit);
		report_u64(r, "slices", x->by_unit.at[at].count);
		report_u64(r, "total_runtime_ns", x->by_unit.at[at].sum_ns);
		samples_report(&ns, r, "_timeslice_ns");
		show_layer(most(&x->unit_layers, unit), r);
		show_queue(x, most(&x->unit_queues, unit), r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_layers(const struct slices *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_oncpu_slices, x->sc.args) };

	buckets_top(&x->layers, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_layer"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		show_layer((uint32_t)x->layers.at[at].key, r);
		buckets_report(&x->layers, at, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_queues(const struct slices *x, const struct buckets *b, uint32_t mark,
                       struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_oncpu_slices, x->sc.args) };

	buckets_top(b, false, &top);
	for (uint32_t i = 0; i < top.nr; i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		report_begin_object(r, NULL);
		show_queue(x, mark | at, r);
		buckets_report(b, at, r);
		report_end_object(r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static void show_longest(struct slices *x, struct report *r)
{
	union timeline_row row;

	top_rank(&x->longest);
	report_begin_array(r, "longest_slices");
	for (uint32_t i = 0; i < x->longest.nr; i++) {
		(void)timeline_row(x->sc.s->timeline, TIMELINE_SLICE, x->longest.entries[i].id,
		                   &row);
		report_begin_object(r, NULL);
		task_report(x->sc.s, r, row.slice.task);
		report_u64(r, "cpu", row.slice.cpu);
		report_u64(r, "timestamp", row.slice.start_ns);
		report_u64(r, "duration_ns", x->longest.entries[i].score);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show(void *work, struct report *r)
{
	struct slices *x = work;
	int err;

	units_report_mode(&x->units, r);
	report_u64(r, "total_slices", x->total);
	report_u64(r, "total_runtime_ns", x->runtime_ns);
	report_u64(r, "slices_with_scx_metadata", x->with_scx);
	err = show_units(x, r);
	if (!err)
		err = show_layers(x, r);
	report_begin_array(r, "by_dsq");
	if (!err)
		err = show_queues(x, &x->queues, 0, r);
	if (!err)
		err = show_queues(x, &x->cut_queues, CUT, r);
	report_end_array(r);
	show_longest(x, r);
	report_string(
		r, "note",
		"the part of each slice within the requested time; layer and queue of a task are "
		"those it spent most time in; a queue without a name is known by the lower half of "
		"its id");
	return err;
}

const struct pass pass_oncpu_slices = {
	.id = "oncpu_slices",
	.name = "On-CPU Slices",
	.category = "extended",
	.what = "how long tasks ran at a time, and from which layer and dispatch queue they came",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_SCX_RUN),
	.cost = 3,
	.work = { .size = sizeof(struct slices),
	          .units_at = offsetof(struct slices, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
