/*
 * analyze/wait_times — a walk over waits that unpacks their times only, for those who look for few of very many.
 *
 * All waits come, whatever the scope: wait_times_row() says whether it takes the one at hand.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/scope.h"

#define WAIT_TIMES_BATCH 256U

/* Zeroed except for the scope, it is at the beginning. */
struct wait_times {
	const struct scope *sc;
	uint64_t next; /* the id behind the batch */
	uint32_t at, nr;
	bool is_begun;
	uint64_t starts[WAIT_TIMES_BATCH], ends[WAIT_TIMES_BATCH];
};

/* The next wait: when it began, as pair_wait_woken_ns(), and when it ended. False at the end. */
bool wait_times_next(struct wait_times *w, uint64_t *start_ns, uint64_t *end_ns);
/* All of the wait at hand; false where the scope leaves it out. */
bool wait_times_row(const struct wait_times *w, struct pair_wait *out);
