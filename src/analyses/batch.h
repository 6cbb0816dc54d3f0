/*
 * analyses/batch — many analyses of one source at once, on all CPUs.
 *
 * Analyses only read, so they need nothing from each other; the indexes that they say they ask for are built before, and
 * they share the ledger and the sums of all waits. Those that do not apply, or that ask for one CPU or task, are left out.
 */
#pragma once

#include "analyze/pass.h"

struct batch_result {
	const struct pass *pass;
	const struct pass_args *args;  /* lent */
	struct report *report;         /* NULL where it failed */
	struct diag d;                 /* why */
	uint64_t ns;                   /* that it took */
	size_t place;                  /* in the table */
	int order;                     /* the highest is started first */
	const struct batch_then *then; /* NULL = nothing */
};

/* What is done with a result as soon as it is there: on the thread that made it, while others go on. */
struct batch_then {
	void (*fn)(void *ctx, const struct batch_result *result);
	void *ctx;
};

struct batch {
	struct batch_result *results; /* in the order of the table */
	size_t nr;
};

/* One of a choice: an analysis, with arguments of its own. */
struct batch_item {
	const struct pass *pass;
	struct pass_args args;
	const struct batch_then *then; /* lent; NULL = nothing */
};

/*
 * Those of a list, which may name one several times; the results are in its order, and point to its arguments. A source with a
 * ledger, or with sums of all waits, lends them.
 */
MUST_USE int batch_run_items(const struct source *s, const struct batch_item *items, size_t nr,
                             struct diag *d, struct batch *out);
/* category NULL = all. -ENOMEM. */
MUST_USE int batch_run(const struct source *s, const struct pass_args *args, const char *category,
                       struct diag *d, struct batch *out);
void batch_done(struct batch *b);
