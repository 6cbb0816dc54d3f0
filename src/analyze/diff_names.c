#include "analyze/diff_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const struct diff_name *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* Names are handed over, the samples behind their values are not. */
static int take_names(struct diff_names *n, struct diff_side *side)
{
	n->at = calloc(side->nr ? side->nr : 1, sizeof(*n->at));
	if (!n->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < side->nr; i++) {
		struct diff_name *to = &n->at[n->nr++];

		for (enum diff_metric m = 0; m < DIFF_METRICS; m++)
			to->values[m] = diff_value_of(side, side->groups[i], m);
		to->weight = side->groups[i]->weight;
		to->name = side->groups[i]->name;
		side->groups[i]->name = NULL;
	}
	if (n->nr > 1)
		qsort(n->at + 1, n->nr - 1, sizeof(n->at[0]), by_name);
	return 0;
}

int diff_names_fill(struct diff_names *n, const struct source *s, const struct pass_args *args,
                    struct diag *d)
{
	struct diff_side side = { 0 };
	int err;

	*n = (struct diff_names){ 0 };
	err = diff_side_fill(&side, s, args, d);
	if (!err) {
		n->span_ns = side.sc.span_ns;
		n->covered_ns = side.sc.covered_ns;
		err = take_names(n, &side);
	}
	diff_side_done(&side);
	return err;
}

void diff_names_done(struct diff_names *n)
{
	for (uint32_t i = 0; i < n->nr; i++)
		free(n->at[i].name);
	free(n->at);
	*n = (struct diff_names){ 0 };
}

const struct diff_name *diff_names_find(const struct diff_names *n, const char *name)
{
	struct diff_name key = { .name = (char *)name };

	if (n->nr && !strcmp(n->at[0].name, name))
		return &n->at[0];
	return n->nr > 1 ? bsearch(&key, n->at + 1, n->nr - 1, sizeof(key), by_name) : NULL;
}
