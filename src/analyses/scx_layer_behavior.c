/*
 * What the layers of a sched_ext scheduler (scx_layered) got: time, waits, waits in dispatch
 * queues, migrations, tasks. A slice belongs to the layer reported when it began; the wait before
 * it, and the migration that it ended, to the same. A task of no layer counts under null.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/slice_facts.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define SHOWN_PARTS 5

struct layers {
	struct scope sc;
	struct slice_facts of_slices, of_waits;
	struct buckets slices, waits, dsq_waits; /* by layer */
	struct buckets migrations, preemptions;  /* by layer */
	struct buckets tasks, queues;            /* pairs: of layer and task, of layer and queue */
	struct buckets queue_ids;
	uint16_t *last_cpu; /* by task, plus 1 */
	uint64_t runtime_ns;
	uint64_t without; /* slices without data */
};

static void done(void *work)
{
	struct layers *x = work;
	struct buckets *all[] = { &x->slices,      &x->waits, &x->dsq_waits, &x->migrations,
		                  &x->preemptions, &x->tasks, &x->queues,    &x->queue_ids };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		buckets_done(all[i]);
	slice_facts_done(&x->of_slices);
	slice_facts_done(&x->of_waits);
	free(x->last_cpu);
}

static bool takes(const struct layers *x, uint32_t layer)
{
	return x->sc.args->layer == EV_NO_LAYER || x->sc.args->layer == layer;
}

static void add_slice(struct layers *x, const struct pair_slice *slice)
{
	const struct pair_run *run = slice_run(&x->of_slices, slice);
	uint64_t ns = scope_cut(&x->sc, slice->start_ns, slice->end_ns);
	uint32_t last = x->last_cpu[slice->task];

	x->last_cpu[slice->task] = (uint16_t)(slice->cpu + 1);
	if (!run) {
		x->without++;
		return;
	}
	if (!takes(x, run->layer))
		return;
	x->runtime_ns += ns;
	buckets_add(&x->slices, run->layer, ns);
	buckets_sum(&x->tasks, bucket_pair(run->layer, slice->task), ns);
	if (last && last != slice->cpu + 1U)
		buckets_count(&x->migrations, run->layer);
	if (slice->end == PAIR_END_RUNNABLE)
		buckets_count(&x->preemptions, run->layer);
	if (run->dsq_id != EV_DSQ_INVALID && !(run->flags & EV_SCX_DSQ_CUT))
		buckets_sum(&x->queues,
		            bucket_pair(run->layer, buckets_count(&x->queue_ids, run->dsq_id)), ns);
}

static void collect_waits(struct layers *x)
{
	struct walk waits = { .sc = &x->sc, .table = TIMELINE_WAIT };
	struct walk queued = { .sc = &x->sc, .table = TIMELINE_DSQ };
	const union timeline_row *row;

	while ((row = walk_next(&waits))) {
		const struct pair_run *run;

		if (row->wait.is_open)
			continue;
		run = slice_run_after(&x->of_waits, &row->wait);
		if (run && takes(x, run->layer))
			buckets_add(&x->waits, run->layer, latency_queue_ns(&row->wait));
	}
	while ((row = walk_next(&queued)))
		if (row->dsq.has_start && takes(x, row->dsq.layer))
			buckets_add(&x->dsq_waits, row->dsq.layer,
			            row->dsq.end_ns - row->dsq.start_ns);
}

static int collect(void *work)
{
	struct layers *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SLICE };
	struct buckets *all[] = { &x->slices, &x->waits, &x->dsq_waits };
	const union timeline_row *row;
	int err = slice_facts_init(&x->of_slices, &x->sc);

	if (!err)
		err = slice_facts_init(&x->of_waits, &x->sc);
	x->last_cpu = calloc(x->sc.nr_tasks ? x->sc.nr_tasks : 1, sizeof(*x->last_cpu));
	if (err || !x->last_cpu)
		return -ENOMEM;
	while ((row = walk_next(&w)))
		if (row->slice.task < x->sc.nr_tasks)
			add_slice(x, &row->slice);
	collect_waits(x);
	if (x->tasks.has_failed || x->queues.has_failed || x->migrations.has_failed ||
	    x->preemptions.has_failed || x->queue_ids.has_failed)
		return -ENOMEM;
	for (size_t i = 0; !err && i < sizeof(all) / sizeof(all[0]); i++)
		err = buckets_order(all[i]);
	return err;
}

static uint32_t find(const struct buckets *b, uint64_t key)
{
	for (uint32_t i = 0; i < b->nr; i++)
		if (b->at[i].key == key)
			return i;
	return BUCKETS_NONE;
}

static uint64_t count_of(const struct buckets *b, uint32_t layer)
{
	uint32_t i = find(b, layer);

	return i == BUCKETS_NONE ? 0 : b->at[i].count;
}

static void show_samples(const struct buckets *b, uint32_t layer, const char *key, struct report *r)
{
	struct samples samples = buckets_at(b, find(b, layer));

	samples_report_object(&samples, r, key);
}

static int show_parts(const struct layers *x, const struct buckets *b, uint32_t layer,
                      const char *key, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = SHOWN_PARTS };

	for (uint32_t i = 0; i < b->nr; i++)
		if (bucket_high(b->at[i].key) == layer)
			top_add(&top, b->at[i].sum_ns, i);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, key); i++) {
		const struct bucket *part = &b->at[top.entries[i].id];

		if (b == &x->tasks)
			task_report(x->sc.s, r, bucket_low(part->key));
		else
			figure_dsq(r, x->queue_ids.at[bucket_low(part->key)].key);
		report_u64(r, "slices", part->count);
		report_u64(r, "runtime_ns", part->sum_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_layer(const struct layers *x, uint32_t at, struct report *r)
{
	const struct bucket *b = &x->slices.at[at];
	uint32_t layer = (uint32_t)b->key;
	uint64_t nr_tasks = 0;
	int err;

	for (uint32_t i = 0; i < x->tasks.nr; i++)
		nr_tasks += bucket_high(x->tasks.at[i].key) == layer;
	report_begin_object(r, NULL);
	report_u64_if(r, "layer_id", layer != EV_NO_LAYER, layer);
	report_u64(r, "tasks", nr_tasks);
	report_u64(r, "slices", b->count);
	report_u64(r, "runtime_ns", b->sum_ns);
	report_percent(r, "runtime_percent", b->sum_ns, x->runtime_ns);
	report_u64(r, "migrations", count_of(&x->migrations, layer));
	report_u64(r, "preemptions", count_of(&x->preemptions, layer));
	show_samples(&x->slices, layer, "slice_ns", r);
	show_samples(&x->waits, layer, "wait_ns", r);
	show_samples(&x->dsq_waits, layer, "dsq_wait_ns", r);
	err = show_parts(x, &x->tasks, layer, "top_tasks", r);
	if (!err)
		err = show_parts(x, &x->queues, layer, "dsqs", r);
	report_end_object(r);
	return err;
}

static int show(void *work, struct report *r)
{
	const struct layers *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_scx_layer_behavior, x->sc.args) };
	int err = 0;

	buckets_top(&x->slices, false, &top);
	report_u64_if(r, "layer_filter", x->sc.args->layer != EV_NO_LAYER, x->sc.args->layer);
	report_u64(r, "total_layers", x->slices.nr);
	report_u64(r, "total_runtime_ns", x->runtime_ns);
	report_u64(r, "slices_without_metadata", x->without);
	report_begin_array(r, "layers");
	for (uint32_t i = 0; !err && i < top.nr; i++)
		err = show_layer(x, (uint32_t)top.entries[i].id, r);
	report_end_array(r);
	report_string(
		r, "note",
		"layer null means no layer; waits are from the wakeup, or the preemption, to the "
		"switch-in; a migration is a slice on another CPU than the one before");
	return top.has_failed ? -ENOMEM : err;
}

const struct pass pass_scx_layer_behavior = {
	.id = "scx_layer_behavior",
	.name = "sched_ext Layer Behavior",
	.category = "extended",
	.what = "what each layer of sched_ext got: time, waits, queues, migrations",
	.needs = EV_BIT(EV_SWITCH) | EV_BIT(EV_SCX_RUN),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_DSQ_LEAVE),
	.needs_scx = true,
	.cost = 3,
	.work = { .size = sizeof(struct layers), .collect = collect, .show = show, .done = done },
};
