/* Softirqs: how often, how long, by vector, by CPU and by the task that was interrupted. */
#include <errno.h>

#include "analyses/devices/softirqs.h"
#include "analyses/passes.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "base/cleanup.h"

/* The part that a row is about. */
enum softirq_part { BY_TYPE, BY_CPU, BY_TASK };

static void show_row(const struct softirqs *x, enum softirq_part part, const struct bucket *b,
                     struct report *r)
{
	if (part == BY_TYPE) {
		softirqs_report_vector(r, (uint32_t)b->key);
		figure_per_sec(r, "rate_per_sec", (double)b->count, x->sc.covered_ns);
		return;
	}
	if (part == BY_CPU)
		report_u64(r, "cpu", bucket_high(b->key));
	else
		task_report(x->sc.s, r, bucket_high(b->key));
	softirqs_report_vector(r, bucket_low(b->key));
}

static int show_part(const struct softirqs *x, enum softirq_part part, const struct buckets *b,
                     struct report *r)
{
	static const char *const keys[] = { "by_type", "by_cpu", "by_process" };
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_softirq_analysis, x->sc.args) };

	buckets_top(b, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, keys[part]); i++) {
		show_row(x, part, &b->at[top.entries[i].id], r);
		buckets_report(b, (uint32_t)top.entries[i].id, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	const struct softirqs *x = work;
	int err;

	report_string(r, "description",
	              "time in softirqs, by vector, by CPU and by interrupted task");
	report_u64(r, "total_events", x->total);
	report_u64(r, "total_duration_ns", x->total_ns);
	figure_per_sec(r, "event_rate_per_sec", (double)x->total, x->sc.covered_ns);
	report_u64(r, "unique_softirq_types", x->vectors.nr);
	err = show_part(x, BY_TYPE, &x->vectors, r);
	if (!err)
		err = show_part(x, BY_CPU, &x->cpus, r);
	if (!err)
		err = show_part(x, BY_TASK, &x->tasks, r);
	report_string(
		r, "note",
		"interrupts that come during a softirq are part of its time; by_process is the "
		"interrupted process, null for idle");
	return err;
}

const struct pass pass_softirq_analysis = {
	.id = "softirq_analysis",
	.name = "Softirq Analysis",
	.category = "interrupt",
	.what = "which softirqs took how much time, where and from which task",
	.needs = EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT),
	.cost = 2,
	.work = { sizeof(struct softirqs), .collect = softirqs_collect, .show = show,
	          .done = softirqs_done },
};
