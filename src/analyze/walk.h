/*
 * analyze/walk — the rows of one table, in the order of their ends, that the arguments of an
 * analysis select.
 *
 * Rows that overlap the requested time are taken whole; scope_cut() says how much of one lies
 * inside. A moment must lie in it. Rows of kinds that are not requested cost a byte each.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/scope.h"

struct walk {
	const struct scope *sc;
	enum timeline_table table;
	uint64_t kinds;          /* bits of spans, counters or marks; 0 = all */
	bool is_all;             /* whatever time, task and CPU */
	bool is_begun;           /* the other fields are private to the walk */
	bool is_plain;           /* nothing is left out */
	uint64_t id;             /* of the next row */
	const uint8_t *kind_col; /* of the rows from id on */
	uint32_t nr_kinds;
	union timeline_row row;
};

/* Valid until the next call; NULL at the end. A walk with only scope, table, kinds and is_all set is at the beginning. */
const union timeline_row *walk_next(struct walk *w);
