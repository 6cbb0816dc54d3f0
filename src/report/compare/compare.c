#include "report/compare/compare.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "report/compare/compare_priv.h"

int report_compare_new(struct diag *d, struct report_compare **out)
{
	struct report_compare *c = calloc(1, sizeof(*c));

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	compare_heat_init(&c->heat);
	*out = c;
	return 0;
}

void report_compare_free(struct report_compare *c)
{
	if (!c)
		return;
	for (int side = 0; side < COMPARE_SIDES; side++) {
		for (uint32_t i = 0; i < c->sides[side].nr; i++)
			compare_recording_done(&c->sides[side].at[i]);
		free(c->sides[side].at);
	}
	diff_sets_done(&c->result);
	free(c);
}

/* A copy of a recording says nothing new, but would count as another run. */
static bool is_twice(const struct compare_list *list)
{
	const struct compare_recording *last = &list->at[list->nr - 1];

	for (uint32_t i = 0; i + 1 < list->nr; i++) {
		const struct compare_recording *at = &list->at[i];

		if (at->facts.start_ns == last->facts.start_ns &&
		    at->facts.duration_ns == last->facts.duration_ns &&
		    at->names.at[0].weight == last->names.at[0].weight)
			return true;
	}
	return false;
}

int report_compare_add(struct report_compare *c, enum compare_side side, const struct source *s,
                       const struct pass_args *args, struct diag *d)
{
	struct compare_list *list = &c->sides[side];
	int err;

	if (list->nr == COMPARE_MAX_RECORDINGS)
		return diag_set(d, -E2BIG, "compare fewer",
		                "more than %d recordings on one side of a comparison",
		                COMPARE_MAX_RECORDINGS);
	if (GROW(list->at, list->room, list->nr))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = compare_recording_fill(&list->at[list->nr], s, args, d);
	if (err)
		return err;
	list->nr++;
	if (is_twice(list))
		return diag_set(d, -EINVAL, "name each recording once",
		                "'%.100s' is named twice on one side of a comparison",
		                list->at[list->nr - 1].facts.file);
	return compare_heat_add(&c->heat, side, s, args, d);
}

/* Recordings are runs, whichever machine they were made on. */
static int compare_all(struct report_compare *c)
{
	SCOPED(scoped_free)
	struct diff_member *members = calloc((size_t)COMPARE_SIDES * COMPARE_MAX_RECORDINGS,
	                                     sizeof(*members));
	struct diff_recordings sets[COMPARE_SIDES];

	if (!members)
		return -ENOMEM;
	for (size_t side = 0; side < COMPARE_SIDES; side++) {
		struct diff_member *at = &members[side * COMPARE_MAX_RECORDINGS];

		for (uint32_t i = 0; i < c->sides[side].nr; i++)
			at[i].names = &c->sides[side].at[i].names;
		sets[side] = (struct diff_recordings){ at, c->sides[side].nr };
	}
	return diff_sets_compare(sets, &c->result);
}

int report_compare_judge(struct report_compare *c, struct diag *d)
{
	uint32_t nr_before = c->sides[COMPARE_BEFORE].nr, nr_after = c->sides[COMPARE_AFTER].nr;

	if (!nr_before || !nr_after)
		return diag_set(d, -EINVAL, "give a recording before and one after",
		                "nothing to compare with");
	compare_facts_fill(c);
	if (compare_all(c))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	return 0;
}
