#include "analyses/batch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/blame_sums.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "base/clock.h"
#include "base/parallel.h"

#define SUMS_COST 2 /* of the cost of an analysis, that of adding up all waits */

struct batch_work {
	struct source source; /* with what the analyses share */
	const struct source *s;
	const struct pass_args *args;
	struct batch *b;
	uint32_t finds[2]; /* tables that need an index by CPU, and by task */
	bool uses_ledger;
	atomic_bool has_failed; /* an index found no memory */
};

static void run_one(void *ctx, unsigned int worker, size_t item)
{
	struct batch_work *w = ctx;
	struct batch_result *result = &w->b->results[item];
	uint64_t start = clock_boot_ns();

	(void)worker;
	if (pass_run(result->pass, w->s, w->args, &result->d, &result->report))
		result->report = NULL;
	result->ns = clock_boot_ns() - start;
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

static void choose(struct batch_work *w, const char *category)
{
	struct batch *b = w->b;
	bool has_sums = false;

	for (size_t i = 0; i < nr_passes; i++) {
		if (passes[i]->is_single || !pass_applies(passes[i], w->s))
			continue;
		if (category && strcmp(category, passes[i]->category) != 0)
			continue;
		/* The first that needs the sums makes them; the others have less to do, and come later. */
		b->results[b->nr++] = (struct batch_result){
			.pass = passes[i],
			.place = i,
			.order = passes[i]->cost -
			         (passes[i]->uses_sums && has_sums ? SUMS_COST : 0),
		};
		has_sums |= passes[i]->uses_sums;
		w->finds[0] |= passes[i]->finds_by_cpu;
		w->finds[1] |= passes[i]->finds_by_task;
		w->uses_ledger |= passes[i]->uses_ledger;
	}
}

int batch_run(const struct source *s, const struct pass_args *args, const char *category,
              struct diag *d, struct batch *out)
{
	struct batch_work w = { .source = *s, .s = &w.source, .args = args, .b = out };
	struct parallel indexes = { .fn = index_one, .ctx = &w },
			all = { .fn = run_one, .ctx = &w };

	*out = (struct batch){ .results = calloc(nr_passes, sizeof(*out->results)) };
	if (out->results) {
		choose(&w, category);
		parallel_for(&indexes, 2 * (size_t)TIMELINE_TABLES);
	}
	if (w.uses_ledger && !atomic_load(&w.has_failed)) {
		w.source.blame = blame_share_new();
		if (!w.source.blame || explain_ledger(s, s->start_ns, s->end_ns, &w.source.ledger))
			atomic_store(&w.has_failed, true);
	}
	if (!out->results || atomic_load(&w.has_failed)) {
		blame_share_free(w.source.blame);
		batch_done(out);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	if (out->nr)
		qsort(out->results, out->nr, sizeof(out->results[0]), by_order);
	timeline_freeze(s->timeline, true);
	parallel_for(&all, out->nr);
	timeline_freeze(s->timeline, false);
	blame_share_free(w.source.blame);
	ledger_free(w.source.ledger);
	if (out->nr)
		qsort(out->results, out->nr, sizeof(out->results[0]), by_place);
	return 0;
}

void batch_done(struct batch *b)
{
	for (size_t i = 0; b->results && i < b->nr; i++)
		report_free(b->results[i].report);
	free(b->results);
	*b = (struct batch){ 0 };
}
