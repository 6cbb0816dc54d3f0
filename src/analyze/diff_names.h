/*
 * analyze/diff_names — the metrics of each name in one recording, which can be closed then: what a comparison of many keeps of it.
 */
#pragma once

#include "analyze/diff_side.h"

struct diff_name {
	char *name;
	uint64_t weight; /* time run */
	struct diff_value values[DIFF_METRICS];
};

struct diff_names {
	struct diff_name *at; /* the first is all tasks together; then by name */
	uint32_t nr;
	uint64_t span_ns;    /* of the time asked for */
	uint64_t covered_ns; /* of that, without holes */
};

/* All that it holds is its own; nothing on failure. -ENOMEM, or what diff_side_fill() says. */
MUST_USE int diff_names_fill(struct diff_names *n, const struct source *s,
                             const struct pass_args *args, struct diag *d);
void diff_names_done(struct diff_names *n);
/* NULL if nothing has that name. */
const struct diff_name *diff_names_find(const struct diff_names *n, const char *name);
