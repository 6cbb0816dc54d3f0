#include "analyses/batch.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/blame_sums.h"
#include "analyses/bottlenecks/bottlenecks_share.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "base/clock.h"
#include "base/parallel.h"

#define SUMS_LATER 100 /* more than any cost */

struct batch_work {
	struct source source; /* with what the analyses share */
	const struct source *s;
	struct batch *b;
	bool has_sums;
	struct blame_share *blame;             /* that this batch has made */
	struct bottlenecks_share *bottlenecks; /* likewise */
	uint32_t finds[2];                     /* tables that need an index by CPU, and by task */
	bool uses_ledger;
	uint32_t nr_bottlenecks; /* analyses that show them */
	atomic_bool has_failed;  /* an index found no memory */
};

static void run_one(void *ctx, unsigned int worker, size_t item)
{
	struct batch_work *w = ctx;
	struct batch_result *result = &w->b->results[item];
	uint64_t start = clock_boot_ns();

	(void)worker;
	if (pass_run(result->pass, w->s, result->args, &result->d, &result->report))
		result->report = NULL;
	result->ns = clock_boot_ns() - start;
	if (result->then)
		result->then->fn(result->then->ctx, result);
}

/* Indexes of one table each, by CPU and by task: those that an analysis will ask for. */
static void index_one(void *ctx, unsigned int worker, size_t item)
{
	struct batch_work *w = ctx;
	size_t table = item / 2;

	(void)worker;
	if (!(w->finds[item % 2] & (1U << table)))
		return;
	if (timeline_index(w->s->timeline, (enum timeline_table)table, item % 2))
		atomic_store(&w->has_failed, true);
}

/* The dearest first, so that no worker sits idle while the last one works. */
static int by_order(const void *a, const void *b)
{
	const struct batch_result *left = a, *right = b;

	if (left->order != right->order)
		return left->order < right->order ? 1 : -1;
	return left->place < right->place ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
	const struct batch_result *left = a, *right = b;

	return left->place < right->place ? -1 : 1;
}

/*
 * The dearest first; before all others what more is done with. The first that needs the sums makes them: others wait for them, so that they come
 * last, and have less to do then.
 */
static int order_of(const struct batch_work *w, const struct pass *p, bool has_more)
{
	if (has_more)
		return INT_MAX;
	return p->cost - (p->uses_sums && w->has_sums ? SUMS_LATER : 0);
}

/* Unless it does not apply. */
static void add(struct batch_work *w, const struct pass *p, const struct pass_args *args,
                const struct batch_then *then, size_t place)
{
	if (!pass_applies(p, w->s))
		return;
	w->b->results[w->b->nr++] = (struct batch_result){
		.pass = p,
		.args = args,
		.place = place,
		.then = then,
		.order = order_of(w, p, then != NULL),
	};
	w->has_sums |= p->uses_sums;
	w->finds[0] |= p->finds_by_cpu;
	w->finds[1] |= p->finds_by_task;
	w->uses_ledger |= p->uses_ledger;
	w->nr_bottlenecks += p == &pass_summary || p == &pass_scheduling_bottlenecks;
}

static int begin(struct batch_work *w, size_t room, struct diag *d)
{
	*w->b = (struct batch){ .results = calloc(room ? room : 1, sizeof(*w->b->results)) };
	return w->b->results ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

/* What they share, unless the source has it. */
static int make_shared(struct batch_work *w)
{
	struct parallel indexes = { .fn = index_one, .ctx = w };

	parallel_for(&indexes, 2 * (size_t)TIMELINE_TABLES);
	if (atomic_load(&w->has_failed))
		return -ENOMEM;
	if (!w->uses_ledger)
		return 0;
	if (!w->source.blame)
		w->source.blame = w->blame = blame_share_new(false);
	if (!w->source.blame)
		return -ENOMEM;
	if (!w->source.bottlenecks && w->nr_bottlenecks > 1) {
		w->source.bottlenecks = w->bottlenecks = bottlenecks_share_new();
		if (!w->bottlenecks)
			return -ENOMEM;
	}
	return explain_ledger(w->s, w->s->start_ns, w->s->end_ns, &w->source.ledger);
}

static int run_all(struct batch_work *w, struct diag *d)
{
	struct parallel all = { .fn = run_one, .ctx = w };
	struct batch *b = w->b;
	int err = make_shared(w);

	if (!err) {
		if (b->nr)
			qsort(b->results, b->nr, sizeof(b->results[0]), by_order);
		timeline_freeze(w->s->timeline, true);
		parallel_for(&all, b->nr);
		timeline_freeze(w->s->timeline, false);
		if (b->nr)
			qsort(b->results, b->nr, sizeof(b->results[0]), by_place);
	}
	blame_share_free(w->blame);
	bottlenecks_share_free(w->bottlenecks);
	if (w->uses_ledger && !err)
		ledger_free(w->source.ledger);
	if (err)
		batch_done(b);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

int batch_run_items(const struct source *s, const struct batch_item *items, size_t nr,
                    struct diag *d, struct batch *out)
{
	struct batch_work w = { .source = *s, .s = &w.source, .b = out };
	int err = begin(&w, nr, d);

	for (size_t i = 0; !err && i < nr; i++)
		add(&w, items[i].pass, &items[i].args, items[i].then, i);
	return err ? err : run_all(&w, d);
}

int batch_run(const struct source *s, const struct pass_args *args, const char *category,
              struct diag *d, struct batch *out)
{
	struct batch_work w = { .source = *s, .s = &w.source, .b = out };
	int err = begin(&w, nr_passes, d);

	for (size_t i = 0; !err && i < nr_passes; i++)
		if (!passes[i]->is_single &&
		    (!category || strcmp(category, passes[i]->category) == 0))
			add(&w, passes[i], args, NULL, i);
	return err ? err : run_all(&w, d);
}

void batch_done(struct batch *b)
{
	for (size_t i = 0; b->results && i < b->nr; i++)
		report_free(b->results[i].report);
	free(b->results);
	*b = (struct batch){ 0 };
}
