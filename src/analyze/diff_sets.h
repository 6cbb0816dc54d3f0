/*
 * analyze/diff_sets — two sets of recordings compared: what changed, and whether that is more than noise (docs/definitions.md,
 * Comparisons).
 *
 * What is counted as one value is a unit: all recordings of a host, if each recording says which host it is of and both sides
 * have DIFF_MIN_SET hosts at least, because recordings of one machine are alike in what makes machines differ; else single
 * recordings, if there are that many; else the parts of all recordings. Pure.
 */
#pragma once

#include "analyze/diff_judge.h"
#include "analyze/diff_names.h"

#define DIFF_SET_MAX  4096 /* recordings of a side */
#define DIFF_MAX_ONLY 20   /* names that one side alone has, those that ran most */

enum diff_unit { DIFF_UNIT_PART, DIFF_UNIT_RECORDING, DIFF_UNIT_HOST };

struct diff_member {
	const struct diff_names *names;
	const char *host; /* NULL = unknown */
};

/* In order: recordings of a host need not be neighbours. */
struct diff_recordings {
	const struct diff_member *at;
	uint32_t nr; /* DIFF_SET_MAX at most */
};

/* Texts are those of the members. */
struct diff_sets {
	enum diff_unit unit;
	uint32_t nr_units[2];
	struct diff_changes overall, names;
	uint32_t nr_names; /* on both sides */
	const char *only[2][DIFF_MAX_ONLY];
	uint32_t nr_only[2];
};

/* Judged and sorted. -ENOMEM; diff_sets_done() in any case. */
MUST_USE int diff_sets_compare(const struct diff_recordings sides[2], struct diff_sets *out);
void diff_sets_done(struct diff_sets *s);
