/*
 * What counters moved while tasks ran: by counter, by task and by sched_ext layer, in sums, per second of the slices that
 * were counted, and as instructions per cycle where both were counted.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/slice_facts.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/grow.h"

#define NO_COUNTER SLICE_COUNTERS

struct counter_sums {
	uint64_t runtime_ns[SLICE_COUNTERS]; /* of the slices in which it was read */
	uint64_t values[SLICE_COUNTERS];
	uint64_t nr[SLICE_COUNTERS];
	uint64_t cycles, instructions; /* of slices with both */
};

struct counters {
	struct scope sc;
	struct units units;
	struct slice_facts facts;
	struct buckets by_unit, by_layer; /* runtime; numbers of sums */
	struct counter_sums *units_sums, *layer_sums;
	uint32_t nr_units, nr_layers;
	struct counter_sums all;
	struct samples per_slice[SLICE_COUNTERS];
	uint32_t cycles, instructions; /* which counters they are */
	uint64_t slices, counted;
};

static void done(void *work)
{
	struct counters *x = work;

	buckets_done(&x->by_unit);
	buckets_done(&x->by_layer);
	free(x->units_sums);
	free(x->layer_sums);
	for (int i = 0; i < SLICE_COUNTERS; i++)
		samples_done(&x->per_slice[i]);
	slice_facts_done(&x->facts);
}

static const char *name_of(const struct counters *x, uint32_t i)
{
	const struct source_facts *f = x->sc.s->facts;

	return i < f->nr_pmu_names && f->pmu_names[i] ? f->pmu_names[i] : NULL;
}

/* As the kernel, perf and wprof spell them: cpu-cycles, cpu_cycles_kilo, instructions, cpu_insns_kilo. */
static void find_ipc(struct counters *x)
{
	x->cycles = x->instructions = NO_COUNTER;
	for (uint32_t i = SLICE_COUNTERS; i-- > 0;) {
		const char *name = name_of(x, i);

		if (!name)
			continue;
		if (strstr(name, "instructions") || strstr(name, "insns"))
			x->instructions = i;
		else if (strstr(name, "cycles") && !strstr(name, "stalled") &&
		         !strstr(name, "ref") && !strstr(name, "bus"))
			x->cycles = i;
	}
}

static void add(const struct counters *x, struct counter_sums *to, const struct slice_counters *c,
                uint64_t ns)
{
	for (uint32_t i = 0; i < SLICE_COUNTERS; i++) {
		if (!(c->has & 1U << i))
			continue;
		to->runtime_ns[i] += ns;
		to->values[i] += c->values[i];
		to->nr[i]++;
	}
	if (x->cycles < NO_COUNTER && x->instructions < NO_COUNTER && c->has & 1U << x->cycles &&
	    c->has & 1U << x->instructions) {
		to->cycles += c->values[x->cycles];
		to->instructions += c->values[x->instructions];
	}
}

static int add_to(const struct counters *x, uint32_t at, struct counter_sums **sums, uint32_t *room,
                  const struct slice_counters *c, uint64_t ns)
{
	if (at == BUCKETS_NONE || GROW_ZEROED(*sums, *room, at))
		return -ENOMEM;
	add(x, &(*sums)[at], c, ns);
	return 0;
}

static int collect(void *work)
{
	struct counters *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SLICE };
	const union timeline_row *row;
	int err = slice_facts_init(&x->facts, &x->sc);

	find_ipc(x);
	while (!err && (row = walk_next(&w))) {
		const struct slice_counters *c = slice_counters(&x->facts, &row->slice);
		const struct pair_run *run = slice_run(&x->facts, &row->slice);
		uint64_t ns = row->slice.end_ns - row->slice.start_ns;

		x->slices++;
		if (!c)
			continue;
		x->counted++;
		add(x, &x->all, c, ns);
		for (uint32_t i = 0; i < SLICE_COUNTERS; i++)
			if (c->has & 1U << i)
				samples_add(&x->per_slice[i], c->values[i]);
		err = add_to(x,
		             buckets_sum(&x->by_unit,
		                         units_at(&x->units, row->slice.task, row->slice.start_ns),
		                         ns),
		             &x->units_sums, &x->nr_units, c, ns);
		if (!err && run)
			err = add_to(x, buckets_sum(&x->by_layer, run->layer, ns), &x->layer_sums,
			             &x->nr_layers, c, ns);
	}
	for (int i = 0; i < SLICE_COUNTERS; i++)
		err = x->per_slice[i].has_failed ? -ENOMEM : err;
	return err;
}

static const char *key_of(const struct counters *x, uint32_t i, struct report *r)
{
	const char *name = name_of(x, i);

	return name ? report_printf(r, "%s", name) : report_printf(r, "counter%u", i);
}

static void show_ipc(const struct counter_sums *s, struct report *r)
{
	report_double_if(r, "ipc", s->cycles, (double)s->instructions / (double)s->cycles, 3);
}

/* Objects {counter: sum} and {counter: per second}, and ipc. */
static void show_sums(const struct counters *x, const struct counter_sums *s, struct report *r)
{
	report_begin_object(r, "counters");
	for (uint32_t i = 0; i < SLICE_COUNTERS; i++)
		if (s->nr[i])
			report_u64(r, key_of(x, i, r), s->values[i]);
	report_end_object(r);
	report_begin_object(r, "counters_per_sec");
	for (uint32_t i = 0; i < SLICE_COUNTERS; i++)
		if (s->nr[i])
			figure_per_sec(r, key_of(x, i, r), (double)s->values[i], s->runtime_ns[i]);
	report_end_object(r);
	show_ipc(s, r);
}

static void show_counters(struct counters *x, struct report *r)
{
	report_begin_array(r, "counters");
	for (uint32_t i = 0; i < SLICE_COUNTERS; i++) {
		if (!x->all.nr[i])
			continue;
		report_begin_object(r, NULL);
		report_string(r, "name", key_of(x, i, r));
		report_u64(r, "total", x->all.values[i]);
		report_u64(r, "slices", x->all.nr[i]);
		figure_per_sec(r, "per_sec", (double)x->all.values[i], x->all.runtime_ns[i]);
		samples_report_object(&x->per_slice[i], r, "per_slice");
		report_end_object(r);
	}
	report_end_array(r);
	show_ipc(&x->all, r);
}

static int show_part(const struct counters *x, const struct buckets *b,
                     const struct counter_sums *sums, const char *key, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_perf_counters, x->sc.args) };

	buckets_top(b, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, key); i++) {
		const struct bucket *part = &b->at[top.entries[i].id];

		if (b == &x->by_unit)
			units_report(&x->units, r, (uint32_t)part->key);
		else if (part->key == EV_NO_LAYER)
			report_null(r, "layer_id");
		else
			report_u64(r, "layer_id", part->key);
		report_u64(r, "slices", part->count);
		report_u64(r, "runtime_ns", part->sum_ns);
		show_sums(x, &sums[top.entries[i].id], r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct counters *x = work;
	int err;

	report_u64(r, "total_slices", x->slices);
	report_u64(r, "counted_slices", x->counted);
	show_counters(x, r);
	units_report_mode(&x->units, r);
	err = show_part(x, &x->by_unit, x->units_sums, "by_process", r);
	if (!err)
		err = show_part(x, &x->by_layer, x->layer_sums, "by_layer", r);
	report_string(r, "note",
	              "whole slices that overlap the requested time; per second of slices in which "
	              "the counter was read");
	return err;
}

const struct pass pass_perf_counters = {
	.id = "perf_counters",
	.name = "Performance Counters",
	.category = "extended",
	.what = "cycles, instructions and other counters of slices, by task and layer",
	.needs = EV_BIT(EV_SWITCH) | EV_BIT(EV_PMU),
	.uses = EV_BIT(EV_SCX_RUN),
	.cost = 3,
	.work = { .size = sizeof(struct counters),
	          .units_at = offsetof(struct counters, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
