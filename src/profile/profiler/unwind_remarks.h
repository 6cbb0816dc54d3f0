/* profile/profiler/unwind_remarks — why user stacks are not whole, and what to do about it, each reason in one sentence, once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/profile.h"
#include "base/diag.h"

struct sampler_row;
struct unwind_maps;

struct unwind_remarks {
	struct diag
		why_fp; /* frame pointers, which were not asked for; empty = they were, or by tables */
	uint64_t ends[PROF_NR_ENDS]; /* samples by where their walk ended, as of the last profile */
	bool has_said_fp, has_said_room, has_said_share;
};

/* Whether callers are missing; by frame pointers, as far as can be known. */
bool unwind_is_broken(const struct sampler_row *row);
/* False: there is no further one. maps may be NULL. */
bool unwind_remarks_next(struct unwind_remarks *r, const struct unwind_maps *maps,
                         struct diag *out);
