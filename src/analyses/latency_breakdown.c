/*
 * Where the time between waking and running goes: from the waking to the wakeup (the choice of a CPU, and the way there),
 * and from the wakeup to the switch-in (the queue). A recording without wakeups has only the two together. The wait of
 * preempted tasks is listed separately, because it follows no waking.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/samples.h"
#include "analyze/scope.h"
#include "base/hist.h"

struct stages {
	struct scope sc;
	struct samples waking_to_wakeup;
	struct samples wakeup_to_schedule;
	struct samples waking_to_schedule;
	struct samples preempted;
	struct samples total; /* latencies as everywhere: analyze/latency.h */
	struct latency_from from;
};

static void done(void *work)
{
	struct stages *x = work;

	samples_done(&x->waking_to_wakeup);
	samples_done(&x->wakeup_to_schedule);
	samples_done(&x->waking_to_schedule);
	samples_done(&x->preempted);
	samples_done(&x->total);
}

static void add(struct stages *x, const struct pair_wait *w)
{
	if (w->cause == PAIR_PREEMPTED) {
		samples_add(&x->preempted, latency_ns(w));
		return;
	}
	samples_add(&x->total, latency_ns(w));
	latency_from_add(&x->from, w);
	if (w->waking_ns)
		samples_add(&x->waking_to_schedule, w->end_ns - w->waking_ns);
	if (w->wakeup_ns)
		samples_add(&x->wakeup_to_schedule, w->end_ns - w->wakeup_ns);
	if (w->waking_ns && w->wakeup_ns >= w->waking_ns)
		samples_add(&x->waking_to_wakeup, w->wakeup_ns - w->waking_ns);
}

static int collect(void *work)
{
	struct stages *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_wait row;

	while (rows_wait(&it, &row))
		if (!row.is_open)
			add(x, &row);
	return x->waking_to_wakeup.has_failed || x->wakeup_to_schedule.has_failed ||
	                       x->waking_to_schedule.has_failed || x->preempted.has_failed ||
	                       x->total.has_failed
	               ? -ENOMEM
	               : 0;
}

/* share is in percent; below 0 = not known. */
static void show_stage(struct samples *s, struct report *r, const char *key, double share)
{
	static const struct {
		const char *key;
		uint32_t p10000;
	} rows[] = { { "p50_ns", HIST_P(50) },
		     { "p95_ns", HIST_P(95) },
		     { "p99_ns", HIST_P(99) },
		     { "max_ns", HIST_P(100) } };

	report_begin_object(r, key);
	report_u64(r, "count", s->nr);
	report_u64_if(r, "avg_ns", s->nr, (uint64_t)samples_mean(s));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		report_u64_if(r, rows[i].key, s->nr, samples_percentile(s, rows[i].p10000));
	report_double_if(r, "percent_of_total", share >= 0, share, 2);
	report_end_object(r);
}

static double share_of(const struct samples *s, double whole)
{
	return s->nr && whole > 0 ? 100 * samples_mean(s) / whole : -1;
}

static int show(void *work, struct report *r)
{
	struct stages *x = work;
	double whole = samples_mean(&x->waking_to_wakeup) + samples_mean(&x->wakeup_to_schedule);

	latency_from_report(&x->from, r);
	report_begin_object(r, "stats");
	show_stage(&x->waking_to_wakeup, r, "waking_to_wakeup",
	           share_of(&x->waking_to_wakeup, whole));
	show_stage(&x->wakeup_to_schedule, r, "wakeup_to_schedule",
	           share_of(&x->wakeup_to_schedule, whole));
	show_stage(&x->waking_to_schedule, r, "waking_to_schedule", -1);
	show_stage(&x->preempted, r, "preempted_wait", -1);
	report_u64_if(r, "total_avg_latency_ns", x->total.nr, (uint64_t)samples_mean(&x->total));
	report_end_object(r);
	report_string(r, "note",
	              "percent_of_total is the share of the mean of both stages; "
	              "preempted_wait follows no waking and is part of neither");
	return 0;
}

const struct pass pass_latency_breakdown = {
	.id = "latency_breakdown",
	.name = "Latency Breakdown",
	.category = "extended",
	.what = "how much of the latency passes before the wakeup, and how much in the queue",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 2,
	.work = { .size = sizeof(struct stages), .collect = collect, .show = show, .done = done },
};
