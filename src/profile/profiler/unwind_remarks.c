#include "profile/profiler/unwind_remarks.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "collect/sample/sampler.h"
#include "collect/sample/unwind_maps.h"
#include "profile/stack_ends.h"

#define WORTH_A_WORD 100U /* one in so many */
#define REASON_BYTES 192U

bool unwind_is_broken(const struct sampler_row *row)
{
	/* By frame pointers, of code that has none: the walk ends where it began. */
	if (row->user_end == PROF_END_NOT_KNOWN)
		return row->nr_user == 1;
	return row->user_end != PROF_END_WHOLE;
}

static double percent(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)all;
}

/* How many are not whole, and why. False where it is not worth a word: fewer than one in a hundred. */
static bool share_remark(const uint64_t ends[PROF_NR_ENDS], struct diag *out)
{
	const struct stack_end *worst = stack_ends_worst(ends);
	uint64_t broken = stack_ends_broken(ends), all = ends[PROF_END_WHOLE] + broken;
	char text[REASON_BYTES] = "";
	size_t len = 0;

	if (!worst || broken * WORTH_A_WORD < all)
		return false;
	for (size_t i = 0; i < NR_STACK_ENDS; i++)
		if (ends[stack_ends[i].end])
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.1f %% %s",
			                        len ? ", " : "",
			                        percent(ends[stack_ends[i].end], all),
			                        stack_ends[i].name);
	diag_set(out, -ENODATA, worst->what_to_do, "%.1f %% of the user stacks are not whole: %s",
	         percent(broken, all), text);
	return true;
}

static bool is_full(const struct unwind_maps *maps)
{
	struct unwind_maps_use use = { 0 };

	if (maps)
		unwind_maps_use(maps, &use);
	return use.left_out;
}

bool unwind_remarks_next(struct unwind_remarks *r, const struct unwind_maps *maps, struct diag *out)
{
	if (r->why_fp.code && !r->has_said_fp) {
		r->has_said_fp = true;
		diag_set(out, -ENOTSUP, "--unwind dwarf gives whole stacks, at a higher cost",
		         "user stacks were walked by frame pointers: %.160s", r->why_fp.what);
		return true;
	}
	if (!r->has_said_room && is_full(maps)) {
		r->has_said_room = true;
		diag_set(out, -ENOSPC, "profile fewer processes: -p",
		         "the room for tables is used up: stacks of some programs are not whole");
		return true;
	}
	if (r->has_said_share || !share_remark(r->ends, out))
		return false;
	r->has_said_share = true;
	return true;
}
