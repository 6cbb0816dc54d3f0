/* How long tasks waited in dispatch queues of sched_ext, and how many at a time. */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/dsq_rows.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/hist.h"

static void show_latency(struct samples *ns, struct report *r)
{
	static const struct {
		const char *key;
		uint32_t p10000;
	} parts[] = {
		{ "latency_p50_us", HIST_P(50) },
		{ "latency_p95_us", HIST_P(95) },
		{ "latency_p99_us", HIST_P(99) },
		{ "latency_max_us", HIST_P(100) },
	};

	figure_us_if(r, "latency_avg_us", ns->nr, samples_mean(ns));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		figure_us_if(r, parts[i].key, ns->nr,
		             (double)samples_percentile(ns, parts[i].p10000));
}

static void show_depth(const struct dsq *queue, struct report *r)
{
	if (queue->known_ns) {
		report_double(r, "avg_queue_depth", queue->weighted / (double)queue->known_ns, 3);
		report_u64(r, "max_queue_depth", queue->max_depth);
	} else {
		report_null(r, "avg_queue_depth");
		report_null(r, "max_queue_depth");
	}
	report_string(r, "depth_from", queue->has_depth ? "records" : "waits");
}

static void show_slices(const struct dsq *queue, struct report *r)
{
	report_u64(r, "runs", queue->used);
	figure_us_if(r, "slice_given_avg_us", queue->given,
	             (double)queue->given_ns / (double)queue->given);
	figure_us_if(r, "slice_used_avg_us", queue->used,
	             (double)queue->used_ns / (double)queue->used);
}

static int show(void *work, struct report *r)
{
	const struct dsq_work *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_dsq_latency, x->sc.args) };
	const struct buckets *b = &x->rows.waits;

	buckets_top(b, true, &top);
	report_string(r, "scheduler_name", dsq_scheduler(x->sc.s));
	report_u64(r, "total_dsqs", b->nr);
	report_u64(r, "total_events", x->rows.total);
	for (uint32_t i = 0; top_row(&top, i, r, "per_dsq"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;
		struct samples ns = buckets_at(b, at);

		figure_dsq(r, b->at[at].key);
		report_u64(r, "event_count", b->at[at].count);
		show_latency(&ns, r);
		show_depth(&x->rows.at[at], r);
		show_slices(&x->rows.at[at], r);
		figure_per_sec(r, "dispatches_per_sec", (double)b->at[at].count, x->sc.covered_ns);
	}
	report_string(r, "note",
	              "from the insert into the queue to leaving it, each once; depths are weighted "
	              "by time; a slice is granted when the task is switched in, and used until it "
	              "is switched out");
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_dsq_latency = {
	.id = "dsq_latency",
	.name = "DSQ Latency",
	.category = "scheduling",
	.what = "how long tasks waited in each dispatch queue of sched_ext, and how many at a time",
	.needs = EV_BIT(EV_DSQ_LEAVE),
	.uses = EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_STATE) | EV_BIT(EV_SCX_RUN) |
	        EV_BIT(EV_SWITCH),
	.needs_scx = true,
	.cost = 2,
	.work = { .size = sizeof(struct dsq_work),
	          .collect = dsq_work_collect,
	          .show = show,
	          .done = dsq_work_done },
};
