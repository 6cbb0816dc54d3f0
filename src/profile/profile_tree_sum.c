#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/profile_tree.h"

/* Callers of the node that is walked, by depth, and how often each function is among them. */
struct tree_walk {
	const struct profile_tree *t;
	struct profile_function_sum *out;
	uint32_t *path;     /* functions */
	uint32_t *nr_above; /* by function */
	uint32_t depth;
};

static void scoped_walk(struct tree_walk *w)
{
	free(w->path);
	free(w->nr_above);
}

static void leave(struct tree_walk *w, uint32_t depth)
{
	while (w->depth > depth) {
		uint32_t function = w->path[--w->depth];

		if (function != PROFILE_NONE)
			w->nr_above[function]--;
	}
}

static void add(const struct tree_walk *w, uint32_t idx, const struct profile_node *n)
{
	struct profile_function_sum *sum = &w->out[n->function];
	bool is_outermost = w->nr_above[n->function] == 0;

	if (sum->node == PROFILE_NONE ||
	    n->w[PROFILE_NOW].total_value >
	            profile_tree_at(w->t, sum->node)->w[PROFILE_NOW].total_value)
		sum->node = idx;
	for (int side = 0; side < PROFILE_SIDES; side++) {
		sum->w[side].self_count += n->w[side].self_count;
		sum->w[side].self_value += n->w[side].self_value;
		if (!is_outermost)
			continue;
		sum->w[side].total_count += n->w[side].total_count;
		sum->w[side].total_value += n->w[side].total_value;
	}
}

int profile_tree_sum(const struct profile_tree *t, uint32_t top, struct profile_function_sum *out)
{
	uint32_t nr = profile_tree_nr_functions(t), base = profile_tree_at(t, top)->depth;
	SCOPED(scoped_walk) struct tree_walk w = { .t = t, .out = out };

	w.path = calloc((size_t)profile_tree_depth(t) + 1, sizeof(*w.path));
	w.nr_above = calloc((size_t)nr + 1, sizeof(*w.nr_above));
	if (!w.path || !w.nr_above)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		out[i] = (struct profile_function_sum){ .node = PROFILE_NONE };
	for (uint32_t i = top; i != PROFILE_NONE; i = profile_tree_next(t, top, i, false)) {
		const struct profile_node *n = profile_tree_at(t, i);

		leave(&w, n->depth - base);
		w.path[w.depth++] = n->function;
		if (n->function == PROFILE_NONE)
			continue;
		add(&w, i, n);
		w.nr_above[n->function]++;
	}
	return 0;
}
