/* Softirqs: how often, how long, by vector, by CPU and by the task that was interrupted. */
#include <errno.h>

#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "model/softirq.h"

struct softirqs {
	struct scope sc;
	struct buckets vectors, cpus, tasks; /* cpus and tasks: pairs with the vector */
	uint64_t total, total_ns;
};

static void done(struct softirqs *x)
{
	buckets_done(&x->vectors);
	buckets_done(&x->cpus);
	buckets_done(&x->tasks);
	scope_done(&x->sc);
}

static int collect(struct softirqs *x)
{
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_SOFTIRQ };
	const union timeline_row *row;
	int err;

	while ((row = walk_next(&w))) {
		uint64_t ns = row->span.end_ns - row->span.start_ns;
		uint32_t vector = (uint32_t)row->span.id;

		x->total++;
		x->total_ns += ns;
		buckets_add(&x->vectors, vector, ns);
		buckets_add(&x->cpus, bucket_pair(row->span.cpu, vector), ns);
		buckets_add(&x->tasks, bucket_pair(row->span.task, vector), ns);
	}
	err = buckets_order(&x->vectors);
	if (!err)
		err = buckets_order(&x->cpus);
	return err ? err : buckets_order(&x->tasks);
}

static void show_vector(struct report *r, uint32_t vector)
{
	report_u64(r, "softirq_nr", vector);
	report_string(r, "softirq_name", softirq_name(vector));
}

/* Of which part a row tells. */
enum part { BY_TYPE, BY_CPU, BY_TASK };

static void show_row(const struct softirqs *x, enum part part, const struct bucket *b,
                     struct report *r)
{
	if (part == BY_TYPE) {
		show_vector(r, (uint32_t)b->key);
		figure_per_sec(r, "rate_per_sec", (double)b->count, x->sc.span_ns);
		return;
	}
	if (part == BY_CPU)
		report_u64(r, "cpu", bucket_high(b->key));
	else
		task_report(x->sc.s, r, bucket_high(b->key));
	show_vector(r, bucket_low(b->key));
}

static int show_part(const struct softirqs *x, enum part part, const struct buckets *b,
                     struct report *r)
{
	static const char *const keys[] = { "by_type", "by_cpu", "by_process" };
	SCOPED(scoped_top)
	struct top top = { .limit = pass_limit(&pass_softirq_analysis, x->sc.args) };

	buckets_top(b, false, &top);
	report_begin_array(r, keys[part]);
	for (uint32_t i = 0; i < top.nr; i++) {
		report_begin_object(r, NULL);
		show_row(x, part, &b->at[top.entries[i].id], r);
		buckets_report(b, (uint32_t)top.entries[i].id, r);
		report_end_object(r);
	}
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

static int show(const struct softirqs *x, struct report *r)
{
	int err;

	report_string(r, "description",
	              "time in softirqs, by vector, by CPU and by interrupted task");
	report_u64(r, "total_events", x->total);
	report_u64(r, "total_duration_ns", x->total_ns);
	figure_per_sec(r, "event_rate_per_sec", (double)x->total, x->sc.span_ns);
	report_u64(r, "unique_softirq_types", x->vectors.nr);
	err = show_part(x, BY_TYPE, &x->vectors, r);
	if (!err)
		err = show_part(x, BY_CPU, &x->cpus, r);
	if (!err)
		err = show_part(x, BY_TASK, &x->tasks, r);
	report_string(
		r, "note",
		"interrupts that come during a softirq are part of its time; by_process is who "
		"was interrupted, null for idle");
	return err;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct softirqs x = { 0 };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	err = collect(&x);
	if (!err)
		err = show(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_softirq_analysis = {
	.id = "softirq_analysis",
	.name = "Softirq Analysis",
	.category = "interrupt",
	.what = "which softirqs took how much time, where and from whom",
	.needs = EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT),
	.cost = 2,
	.run = run,
};
