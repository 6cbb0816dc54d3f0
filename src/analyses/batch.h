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
	struct report *report; /* NULL where it failed */
	struct diag d;         /* why */
	uint64_t ns;           /* that it took */
	size_t place;          /* in the table */
	int order;             /* the highest is started first */
};

struct batch {
	struct batch_result *results; /* in the order of the table */
	size_t nr;
};

/* category NULL = all. -ENOMEM. */
MUST_USE int batch_run(const struct source *s, const struct pass_args *args, const char *category,
                       struct diag *d, struct batch *out);
void batch_done(struct batch *b);
