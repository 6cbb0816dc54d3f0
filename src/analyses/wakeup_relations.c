/*
 * Wakers and wakees: pairs of tasks with how often, how fast, how far. One wakeup per wait of a
 * woken or new task; of a wakeup in an interrupt, the interrupt is the waker.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyses/relations.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/hist.h"

static void show_latency(struct samples *ns, struct report *r)
{
	figure_us(r, "min_latency_us", (double)samples_percentile(ns, 0));
	figure_us(r, "max_latency_us", (double)samples_percentile(ns, HIST_P(100)));
	figure_us(r, "avg_latency_us", samples_mean(ns));
	figure_us(r, "p50_latency_us", (double)samples_percentile(ns, HIST_P(50)));
	figure_us(r, "p99_latency_us", (double)samples_percentile(ns, HIST_P(99)));
	figure_us(r, "total_latency_us", (double)samples_sum(ns));
}

static void show_pair(const struct relations *x, const struct edge *pair, uint32_t i,
                      struct report *r)
{
	const struct relation *at = &x->at[i];
	struct samples ns = grouped_at(&x->latencies, i);

	waker_report(x->sc.s, r, pair->by, UNITS_LAST_NAME);
	report_u64(r, "wakee_pid", source_tid(x->sc.s, pair->to));
	report_string(r, "wakee_comm", source_comm(x->sc.s, pair->to));
	report_u64(r, "wakeup_count", pair->count);
	report_u64(r, "first_seen_ns", at->first_ns);
	report_u64(r, "last_seen_ns", at->last_ns);
	show_latency(&ns, r);
	report_u64(r, "same_cpu_count", at->same_cpu);
	report_u64(r, "cross_cpu_count", at->cross_cpu);
	report_u64(r, "same_llc_count", at->same_llc);
	report_u64(r, "cross_llc_count", at->cross_llc);
	report_u64(r, "same_node_count", at->same_node);
	report_u64(r, "cross_node_count", at->cross_node);
}

static int show(void *work, struct report *r)
{
	struct relations *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_wakeup_relations, x->sc.args) };

	for (uint32_t i = 0; i < x->pairs.nr; i++)
		top_add(&top, x->pairs.at[i].sum_ns, i);
	top_rank(&top);
	if (top.has_failed || relations_describe(x, &top))
		return -ENOMEM;
	report_u64(r, "total_relationships", x->pairs.nr);
	report_u64(r, "total_wakeups", x->total);
	report_u64(r, "wakeups_by_interrupt", x->from_interrupt);
	report_u64(r, "wakeups_by_interrupt_or_idle", x->from_interrupt + x->from_no_task);
	report_u64(r, "wakeups_by_task_or_interrupt", x->from_unknown);
	report_u64(r, "bidirectional_count", relations_both_ways(x));
	for (uint32_t i = 0; top_row(&top, i, r, "relationships"); i++)
		show_pair(x, &x->pairs.at[top.entries[i].id], i, r);
	report_string(r, "note",
	              "by total latency; from the waking, or the wakeup where there is none, to the "
	              "switch-in; caches and nodes only where the topology is known; for "
	              "wakeups_by_task_or_interrupt the recording does not say whether the running "
	              "task or an interrupt during it was the waker");
	return 0;
}

const struct pass pass_wakeup_relations = {
	.id = "wakeup_relations",
	.name = "Waker/Wakee Relations",
	.category = "extended",
	.what = "which tasks wake which, how often, how fast and how far",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 5,
	.work = { sizeof(struct relations), .collect = relations_collect, .show = show,
	          .done = relations_done },
};
