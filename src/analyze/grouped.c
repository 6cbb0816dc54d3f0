#include "analyze/grouped.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

static bool grow(struct grouped *g)
{
	size_t keys = g->capacity;

	return !GROW(g->keys, keys, g->nr) && !GROW(g->values, g->capacity, g->nr);
}

void grouped_add(struct grouped *g, uint32_t key, uint64_t value)
{
	if (g->nr == g->capacity && !grow(g)) {
		g->has_failed = true;
		return;
	}
	g->keys[g->nr] = key;
	g->values[g->nr++] = value;
}

int grouped_order(struct grouped *g, uint32_t nr_keys)
{
	uint64_t *ordered;

	if (g->has_failed)
		return -ENOMEM;
	g->starts = calloc((size_t)nr_keys + 2, sizeof(*g->starts));
	ordered = reallocarray(NULL, g->nr ? g->nr : 1, sizeof(*ordered));
	if (!g->starts || !ordered) {
		free(ordered);
		return -ENOMEM;
	}
	/* starts[k + 2] counts key k, then starts[k + 1] is where its next one goes, in the end its end. */
	for (size_t i = 0; i < g->nr; i++)
		g->starts[g->keys[i] + 2]++;
	for (uint32_t k = 1; k <= nr_keys; k++)
		g->starts[k + 1] += g->starts[k];
	for (size_t i = 0; i < g->nr; i++)
		ordered[g->starts[g->keys[i] + 1]++] = g->values[i];
	free(g->values);
	free(g->keys);
	g->values = ordered;
	g->keys = NULL;
	g->capacity = 0;
	g->nr_keys = nr_keys;
	return 0;
}

struct samples grouped_at(const struct grouped *g, uint32_t key)
{
	if (key >= g->nr_keys)
		return (struct samples){ 0 };
	return (struct samples){ .values = g->values + g->starts[key],
		                 .nr = g->starts[key + 1] - g->starts[key] };
}

void grouped_done(struct grouped *g)
{
	free(g->keys);
	free(g->values);
	free(g->starts);
	*g = (struct grouped){ 0 };
}
