/* Evicts rows that nothing will be added to any more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "stat/tally/tally_priv.h"

/* The new index of each row; TALLY_NONE = evicted. */
static uint32_t *plan_places(const struct tally *t)
{
	uint32_t *places = calloc(t->nr_rows, sizeof(*places));
	uint32_t nr = 0;

	if (!places)
		return NULL;
	for (uint32_t i = 0; i < t->nr_tasks; i++)
		if (t->tasks[i].key.tid && t->tasks[i].row_idx != TALLY_NONE)
			places[t->tasks[i].row_idx] = 1;
	for (uint32_t i = 0; i < t->nr_rows; i++) {
		bool is_kept = places[i] || t->rows[i]->is_touched || t->rows[i]->is_open ||
		               i == t->other_row;

		places[i] = is_kept ? nr++ : TALLY_NONE;
	}
	return places;
}

static void move_rows(struct tally *t, const uint32_t *places)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr_rows; i++) {
		struct tally_entry *row = t->rows[i];

		if (places[i] != TALLY_NONE) {
			t->rows[places[i]] = row;
			nr = places[i] + 1;
			if (i != t->other_row) /* cannot fail: it is there */
				(void)!map_insert(t->row_of, &row->key, places[i]);
			continue;
		}
		map_remove(t->row_of, &row->key);
		tally_row_free(row);
	}
	t->nr_rows = nr;
}

int tally_forget_gone(struct tally *t)
{
	SCOPED(scoped_free) uint32_t *places = NULL;

	if (!t->nr_rows)
		return 0;
	places = plan_places(t);
	if (!places)
		return -ENOMEM;
	move_rows(t, places);
	for (uint32_t i = 0; i < t->nr_tasks; i++)
		if (t->tasks[i].key.tid && t->tasks[i].row_idx != TALLY_NONE)
			t->tasks[i].row_idx = places[t->tasks[i].row_idx];
	if (t->other_row != TALLY_NONE)
		t->other_row = places[t->other_row];
	return 0;
}
