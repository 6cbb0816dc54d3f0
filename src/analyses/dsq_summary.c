/* Which dispatch queues of sched_ext there were, and how much went through each. */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/dsq_rows.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "base/cleanup.h"

static int show(void *work, struct report *r)
{
	const struct dsq_work *x = work;
	SCOPED(top_done)
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
	for (uint32_t i = 0; top_row(&top, i, r, "dsqs"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		figure_dsq(r, b->at[at].key);
		report_u64(r, "event_count", b->at[at].count);
		report_u64(r, "moved_to_another", x->rows.at[at].moved);
		report_u64(r, "total_wait_ns", b->at[at].sum_ns);
		report_percent(r, "share_percent", b->at[at].count, x->rows.total);
	}
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_dsq_summary = {
	.id = "dsq_summary",
	.name = "DSQ Summary",
	.category = "scheduling",
	.what = "which sched_ext dispatch queues were used, and how much",
	.needs_any = EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH),
	.uses = EV_BIT(EV_SCX_STATE),
	.needs_scx = true,
	.cost = 1,
	.work = { .size = sizeof(struct dsq_work),
	          .collect = dsq_work_collect,
	          .show = show,
	          .done = dsq_work_done },
};
