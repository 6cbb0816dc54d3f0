/* Which dispatch queues of sched_ext there were, and how much went through each. */
#include <errno.h>

#include "analyze/dsq_rows.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "base/cleanup.h"

struct queues {
	struct scope sc;
	struct dsq_rows rows;
};

static void done(struct queues *x)
{
	dsq_rows_done(&x->rows);
	scope_done(&x->sc);
}

static int show(const struct queues *x, struct report *r)
{
	SCOPED(scoped_top)
	struct top top = { .limit = pass_limit(&pass_dsq_summary, x->sc.args) };
	const struct buckets *b = &x->rows.waits;

	buckets_top(b, true, &top);
	report_begin_object(r, "summary");
	report_string(r, "scheduler_name", dsq_scheduler(x->sc.s));
	report_u64(r, "total_dsqs", b->nr);
	report_begin_array(r, "dsq_ids");
	for (uint32_t i = 0; i < top.nr; i++)
		report_id(r, NULL, b->at[top.entries[i].id].key);
	report_end_array(r);
	report_end_object(r);
	report_u64(r, "total_events", x->rows.total);
	report_begin_array(r, "dsqs");
	for (uint32_t i = 0; i < top.nr; i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		report_begin_object(r, NULL);
		figure_dsq(r, b->at[at].key);
		report_u64(r, "event_count", b->at[at].count);
		report_u64(r, "moved_to_another", x->rows.at[at].moved);
		report_u64(r, "total_wait_ns", b->at[at].sum_ns);
		report_percent(r, "share_percent", b->at[at].count, x->rows.total);
		report_end_object(r);
	}
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct queues x = { 0 };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	err = dsq_rows_collect(&x.rows, &x.sc);
	if (!err)
		err = show(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_dsq_summary = {
	.id = "dsq_summary",
	.name = "DSQ Summary",
	.category = "scheduling",
	.what = "which dispatch queues of sched_ext there were, and how much went through each",
	.needs_any = EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH),
	.uses = EV_BIT(EV_SCX_STATE),
	.needs_scx = true,
	.cost = 1,
	.run = run,
};
