/*
 * Allocated and freed pages, and direct reclaim by tasks. Reclaim belongs to its task, which may
 * sleep and move to another CPU before it ends.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

#define MAX_ORDER 62

struct memory {
	struct scope sc;
	uint64_t allocs, frees;
	uint64_t alloc_pages, free_pages;
	struct buckets allocators; /* by task, with pages for durations */
	struct buckets reclaimers; /* by task */
	struct samples reclaims;
};

static void done(void *work)
{
	struct memory *x = work;

	buckets_done(&x->allocators);
	buckets_done(&x->reclaimers);
	samples_done(&x->reclaims);
}

static uint64_t pages(const struct pair_mark *m)
{
	return m->value < MAX_ORDER ? 1ULL << m->value : 0;
}

static int collect(void *work)
{
	struct memory *x = work;
	struct walk marks = { .sc = &x->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_MEMORY) };
	struct walk spans = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_RECLAIM };
	const union timeline_row *row;
	int err;

	while ((row = walk_next(&marks))) {
		if (row->mark.flags & PAIR_MARK_FREE) {
			x->frees++;
			x->free_pages += pages(&row->mark);
			continue;
		}
		x->allocs++;
		x->alloc_pages += pages(&row->mark);
		buckets_sum(&x->allocators, row->mark.task, pages(&row->mark));
	}
	while ((row = walk_next(&spans))) {
		uint64_t ns = row->span.end_ns - row->span.start_ns;

		samples_add(&x->reclaims, ns);
		buckets_add(&x->reclaimers, row->span.task, ns);
	}
	err = x->allocators.has_failed || x->reclaims.has_failed ? -ENOMEM : 0;
	return err ? err : buckets_order(&x->reclaimers);
}

static int show_reclaimers(const struct memory *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_memory_pressure, x->sc.args) };

	buckets_top(&x->reclaimers, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "reclaim_by_process"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		task_report(x->sc.s, r, (uint32_t)x->reclaimers.at[at].key);
		buckets_report(&x->reclaimers, at, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_allocators(const struct memory *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_memory_pressure, x->sc.args) };

	buckets_top(&x->allocators, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "allocated_by_process"); i++) {
		const struct bucket *b = &x->allocators.at[top.entries[i].id];

		task_report(x->sc.s, r, (uint32_t)b->key);
		report_u64(r, "count", b->count);
		report_u64(r, "pages", b->sum_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct memory *x = work;
	int err;

	report_string(r, "description", "page allocations and frees, and direct reclaim by tasks");
	report_u64(r, "page_alloc_count", x->allocs);
	report_u64(r, "page_free_count", x->frees);
	report_u64(r, "allocated_pages", x->alloc_pages);
	report_u64(r, "freed_pages", x->free_pages);
	report_i64(r, "net_allocation", (int64_t)(x->alloc_pages - x->free_pages));
	report_u64(r, "reclaim_count", x->reclaims.nr);
	report_u64(r, "reclaim_time_ns", samples_sum(&x->reclaims));
	samples_report_object(&x->reclaims, r, "reclaim_latency");
	err = show_reclaimers(x, r);
	if (!err)
		err = show_allocators(x, r);
	report_string(r, "note",
	              "net_allocation is in pages: one of order 3 counts as 8; reclaim is direct "
	              "reclaim by tasks, not by kswapd");
	return err;
}

const struct pass pass_memory_pressure = {
	.id = "memory_pressure",
	.name = "Memory Pressure Analysis",
	.category = "io",
	.what = "page allocations and frees, and which tasks had to reclaim memory for how long",
	.needs = EV_BIT(EV_MEMORY),
	.cost = 2,
	.work = { .size = sizeof(struct memory), .collect = collect, .show = show, .done = done },
};
