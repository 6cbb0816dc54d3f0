/*
 * Each wakeup with the switch-in that it led to: one per wait of a woken or new task, the longest first. Counts and
 * percentiles are over all of them, however few are listed.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/samples.h"
#include "analyze/top.h"
#include "analyze/units.h"

#define DEFAULT_LIMIT 100

struct correlation {
	struct scope sc;
	struct samples all;
	struct top top; /* by latency; ids of waits */
	struct latency_from from;
};

static void done(void *work)
{
	struct correlation *x = work;

	samples_done(&x->all);
	top_done(&x->top);
}

static int collect(void *work)
{
	struct correlation *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_wait row;

	x->top.limit = pass_limit(&pass_correlation, x->sc.args);
	while (rows_wait(&it, &row)) {
		uint64_t ns = latency_ns(&row);

		if (!latency_counts(&row))
			continue;
		samples_add(&x->all, ns);
		top_add(&x->top, ns, rows_id(&it));
		latency_from_add(&x->from, &row);
	}
	top_rank(&x->top);
	return x->all.has_failed || x->top.has_failed ? -ENOMEM : 0;
}

static void show_one(const struct correlation *x, uint64_t id, struct report *r)
{
	union timeline_row row;
	const struct pair_wait *w = &row.wait;

	if (!timeline_row(x->sc.s->timeline, TIMELINE_WAIT, id, &row))
		return;
	report_begin_object(r, NULL);
	task_report(x->sc.s, r, w->task);
	report_u64(r, "wakeup_timestamp", pair_wait_woken_ns(w));
	report_u64(r, "schedule_timestamp", w->end_ns);
	report_u64(r, "wakeup_latency_ns", latency_ns(w));
	latency_from_one(w, r);
	report_string(r, "cause", latency_cause(w));
	waker_report(x->sc.s, r, latency_waker(w), pair_wait_woken_ns(w));
	report_u64(r, "cpu", w->cpu);
	report_end_object(r);
}

static int show(void *work, struct report *r)
{
	struct correlation *x = work;

	report_u64(r, "total_correlations", x->all.nr);
	report_u64(r, "correlations_shown", x->top.nr);
	scope_report_pid(&x->sc, r);
	latency_from_report(&x->from, r);
	report_begin_object(r, "latency");
	samples_report(&x->all, r, "_ns");
	report_end_object(r);
	report_begin_array(r, "correlations");
	for (uint32_t i = 0; i < x->top.nr; i++)
		show_one(x, x->top.entries[i].id, r);
	report_end_array(r);
	return 0;
}

const struct pass pass_correlation = {
	.id = "correlation",
	.name = "Wakeup to Schedule Correlation",
	.category = "query",
	.what = "each wakeup with the switch-in that it led to, the longest first",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 2,
	.default_limit = DEFAULT_LIMIT,
	.work = { .size = sizeof(struct correlation),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
