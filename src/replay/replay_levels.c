#include "replay/replay_levels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/walk.h"
#include "base/grow.h"

static int compare(const void *a, const void *b)
{
	const struct replay_level *left = a, *right = b;

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return (left->ts_ns > right->ts_ns) - (left->ts_ns < right->ts_ns);
}

static int add(struct replay_levels *l, size_t *capacity, const struct pair_counter *row)
{
	if (GROW(l->items, *capacity, l->nr))
		return -ENOMEM;
	l->items[l->nr++] = (struct replay_level){ row->ts_ns, row->value, row->cpu };
	return 0;
}

int replay_levels_init(struct replay_levels *l, const struct source *s, uint8_t kind)
{
	const struct pass_args all = { .cpu = PASS_ANY_CPU };
	const struct scope sc = { .s = s, .args = &all };
	struct walk w = {
		.sc = &sc, .table = TIMELINE_COUNTER, .kinds = 1ULL << kind, .is_all = true
	};
	const union timeline_row *row;
	size_t capacity = 0;
	int err = 0;

	*l = (struct replay_levels){ 0 };
	while (!err && (row = walk_next(&w)))
		err = add(l, &capacity, &row->counter);
	if (err)
		replay_levels_done(l);
	else if (l->nr)
		qsort(l->items, l->nr, sizeof(*l->items), compare);
	return err;
}

void replay_levels_done(struct replay_levels *l)
{
	free(l->items);
	*l = (struct replay_levels){ 0 };
}

double replay_levels_at(const struct replay_levels *l, uint32_t cpu, uint64_t ts_ns)
{
	const struct replay_level wanted = { .ts_ns = ts_ns, .cpu = cpu };
	size_t low = 0, high = l->nr;

	while (low < high) { /* the first one behind */
		size_t mid = low + (high - low) / 2;

		if (compare(&l->items[mid], &wanted) > 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low && l->items[low - 1].cpu == cpu ? (double)l->items[low - 1].value : NAN;
}
