/* scxtop's dsq_monitor: dispatch queues of sched_ext (analyze/dsq_rows) with the keys that its clients know. */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/dsq_rows.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/hist.h"

struct monitor {
	struct scope sc;
	struct dsq_rows queues;
	struct buckets runs; /* switch-ins that name the queue */
};

static void done(void *work)
{
	struct monitor *x = work;

	dsq_rows_done(&x->queues);
	buckets_done(&x->runs);
}

static int collect(void *work)
{
	struct monitor *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_RUN };
	const union timeline_row *row;

	while ((row = walk_next(&w)))
		if (row->run.dsq_id != EV_DSQ_INVALID && !(row->run.flags & EV_SCX_DSQ_CUT))
			(void)buckets_count(&x->runs, row->run.dsq_id);
	return x->runs.has_failed ? -ENOMEM : dsq_rows_collect(&x->queues, &x->sc);
}

static uint64_t nr_runs(const struct monitor *x, uint64_t dsq_id)
{
	for (uint32_t i = 0; i < x->runs.nr; i++)
		if (x->runs.at[i].key == dsq_id)
			return x->runs.at[i].count;
	return 0;
}

static void show_stay(struct samples *s, struct report *r)
{
	static const char *const keys[] = { "avg_latency_us", "p99_latency_us", "max_latency_us" };

	for (int i = 0; !s->nr && i < 3; i++)
		report_null(r, keys[i]);
	if (!s->nr)
		return;
	figure_us(r, keys[0], samples_mean(s));
	figure_us(r, keys[1], (double)samples_percentile(s, HIST_P(99)));
	figure_us(r, keys[2], (double)samples_percentile(s, HIST_P(100)));
}

static void show_queue(const struct monitor *x, uint32_t i, struct report *r)
{
	const struct bucket *b = &x->queues.waits.at[i];
	const struct dsq *q = &x->queues.at[i];
	struct samples stays = buckets_at(&x->queues.waits, i);

	report_id(r, "dsq_id", b->key);
	report_u64(r, "enqueue_count", stays.nr); /* those whose insertion was seen */
	report_u64(r, "dequeue_count", b->count);
	report_u64(r, "moved_count", q->moved);
	report_u64(r, "run_count", nr_runs(x, b->key));
	show_stay(&stays, r);
	report_u64_if(r, "max_queue_length", q->has_depth, q->max_depth);
	report_u64_if(r, "current_queue_length", q->has_depth, q->depth);
}

static int show(void *work, struct report *r)
{
	const struct monitor *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_dsq_monitor, x->sc.args) };

	buckets_top(&x->queues.waits, true, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "dsqs"); i++)
		show_queue(x, (uint32_t)top.entries[i].id, r);
	report_u64(r, "total_dsqs", x->queues.waits.nr);
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_dsq_monitor = {
	.id = "dsq_monitor",
	.name = "DSQ Monitor",
	.category = "scxtop",
	.what = "dispatch queues of sched_ext, as scxtop's live analyzer shows them",
	.uses = EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_RUN),
	.cost = 2,
	.work = { sizeof(struct monitor), .collect = collect, .show = show, .done = done },
};
