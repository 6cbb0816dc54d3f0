#include "analyze/top.h"

#include <stdlib.h>

#include "base/grow.h"

#define MILLION 1e6
#define HIGHEST 1.8e19

static bool is_worse(const struct top_entry *a, const struct top_entry *b)
{
	return a->score != b->score ? a->score < b->score : a->id > b->id;
}

static void swap(struct top_entry *a, struct top_entry *b)
{
	struct top_entry other = *a;

	*a = *b;
	*b = other;
}

static void sift_up(struct top *t, uint32_t i)
{
	while (i && is_worse(&t->entries[i], &t->entries[(i - 1) / 2])) {
		swap(&t->entries[i], &t->entries[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct top *t, uint32_t i)
{
	for (;;) {
		uint32_t worst = i;

		for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < t->nr; k++)
			if (is_worse(&t->entries[k], &t->entries[worst]))
				worst = k;
		if (worst == i)
			return;
		swap(&t->entries[i], &t->entries[worst]);
		i = worst;
	}
}

void top_add(struct top *t, uint64_t score, uint64_t id)
{
	struct top_entry entry = { score, id };

	if (t->nr < t->limit) {
		if (GROW(t->entries, t->capacity, t->nr)) {
			t->has_failed = true;
			return;
		}
		t->entries[t->nr++] = entry;
		sift_up(t, t->nr - 1);
	} else if (t->nr && is_worse(&t->entries[0], &entry)) {
		t->entries[0] = entry;
		sift_down(t, 0);
	}
}

static int best_first(const void *a, const void *b)
{
	return is_worse(a, b) ? 1 : -1;
}

void top_rank(struct top *t)
{
	if (t->nr)
		qsort(t->entries, t->nr, sizeof(*t->entries), best_first);
}

void top_done(struct top *t)
{
	free(t->entries);
	*t = (struct top){ 0 };
}

bool top_row(const struct top *t, uint32_t i, struct report *r, const char *key)
{
	if (i == 0)
		report_begin_array(r, key);
	else
		report_end_object(r);
	if (i < t->nr)
		report_begin_object(r, NULL);
	else
		report_end_array(r);
	return i < t->nr;
}

uint64_t top_lowest(uint64_t value)
{
	return UINT64_MAX - value;
}

uint64_t top_fraction(double value)
{
	if (!(value > 0))
		return 0;
	return value * MILLION < HIGHEST ? (uint64_t)(value * MILLION) : UINT64_MAX;
}
