#include "sql/sql_order.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"
#include "sql/sql_table_priv.h"

#define CACHE_SLOTS 256U
#define NO_KEY      0U /* of null; others have 1 + the number of their value */

struct key_value {
	int64_t i;
	const char *text;
	uint32_t key; /* that it has until values are sorted */
};

/* The values of a column so far. */
struct keys {
	uint32_t column;
	bool is_text;
	uint32_t *of_row; /* by row: its key */
	struct map *numbers;
	struct intern *texts;
	struct key_value *values;
	uint32_t nr, room;
	/* By address or number: most rows have a value that was there before. */
	struct {
		uint64_t what;
		uint32_t key;
	} cache[CACHE_SLOTS];
};

struct build {
	struct keys *keys; /* SQL_ORDER_MAX */
	uint32_t nr_keys;
	uint32_t *rows;
	size_t nr, room;
};

static void end_build(struct build *b)
{
	for (uint32_t i = 0; b->keys && i < b->nr_keys; i++) {
		sqlite3_free(b->keys[i].of_row);
		map_free(b->keys[i].numbers);
		intern_free(b->keys[i].texts);
		free(b->keys[i].values);
	}
	free(b->keys);
	sqlite3_free(b->rows);
}

static int begin_keys(struct keys *k, const struct sql_table *t, uint32_t column)
{
	k->column = column;
	k->is_text = t->columns[column].type == SQL_TEXT;
	if (!k->is_text)
		return map_new(sizeof(int64_t), MAP_MAX_CAP, &k->numbers);
	k->texts = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	return k->texts ? 0 : -ENOMEM;
}

static int new_value(struct keys *k, const struct sql_cell *cell, uint32_t *key)
{
	if (GROW(k->values, k->room, k->nr))
		return -ENOMEM;
	*key = k->nr + 1;
	k->values[k->nr++] = (struct key_value){ .i = cell->i, .key = *key };
	return 0;
}

static int find_number(struct keys *k, const struct sql_cell *cell, uint32_t *key)
{
	int err;

	if (map_find(k->numbers, &cell->i, key))
		return 0;
	err = new_value(k, cell, key);
	return err ? err : map_insert(k->numbers, &cell->i, *key);
}

static int find_text(struct keys *k, const struct sql_cell *cell, uint32_t *key)
{
	uint32_t id;
	int err = intern_add(k->texts, cell->text, strlen(cell->text), &id);

	/* Numbers of texts count from 1 on, without gaps. */
	*key = id;
	if (err || id <= k->nr)
		return err;
	return new_value(k, cell, key);
}

static int key_of(struct keys *k, const struct sql_cell *cell, uint32_t *key)
{
	/* A text of the cell's own is another one in the next row. */
	bool is_cached = !k->is_text || cell->text != cell->buf;
	uint64_t what = k->is_text ? (uint64_t)(uintptr_t)cell->text : (uint64_t)cell->i;
	uint32_t slot = (uint32_t)((what * 0x9e3779b97f4a7c15ULL) >> 56) % CACHE_SLOTS;
	int err;

	if (is_cached && k->cache[slot].key && k->cache[slot].what == what) {
		*key = k->cache[slot].key;
		return 0;
	}
	err = k->is_text ? find_text(k, cell, key) : find_number(k, cell, key);
	if (!err && is_cached) {
		k->cache[slot].what = what;
		k->cache[slot].key = *key;
	}
	return err;
}

static int make_room(struct build *b)
{
	size_t room = b->room ? 2 * b->room : TIMELINE_CHUNK_ROWS;
	uint32_t *more;

	if (b->nr < b->room)
		return 0;
	more = sqlite3_realloc64(b->rows, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	b->rows = more;
	for (uint32_t i = 0; i < b->nr_keys; i++) {
		more = sqlite3_realloc64(b->keys[i].of_row, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		b->keys[i].of_row = more;
	}
	b->room = room;
	return 0;
}

static int read_rows(struct build *b, struct sql_scan *scan, uint64_t first)
{
	struct sql_cell cell;
	int err = 0;

	while (!err && sql_scan_next(scan)) {
		err = make_room(b);
		for (uint32_t i = 0; !err && i < b->nr_keys; i++) {
			struct keys *k = &b->keys[i];

			sql_scan_read(scan, k->column, &cell);
			k->of_row[b->nr] = NO_KEY;
			if (!cell.is_null)
				err = key_of(k, &cell, &k->of_row[b->nr]);
		}
		if (!err)
			b->rows[b->nr++] = (uint32_t)(scan->row.id - first);
	}
	return err;
}

static int compare_numbers(const void *left, const void *right)
{
	const struct key_value *a = left, *b = right;

	return (a->i > b->i) - (a->i < b->i);
}

static int compare_texts(const void *left, const void *right)
{
	const struct key_value *a = left, *b = right;

	return strcmp(a->text, b->text);
}

/* Which place each key has among the sorted ones; to be freed. */
static uint32_t *rank_keys(struct keys *k)
{
	uint32_t *ranks = calloc((size_t)k->nr + 1, sizeof(*ranks));

	for (uint32_t i = 0; k->is_text && i < k->nr; i++)
		k->values[i].text = intern_string(k->texts, k->values[i].key, NULL);
	if (k->nr)
		qsort(k->values, k->nr, sizeof(*k->values),
		      k->is_text ? compare_texts : compare_numbers);
	for (uint32_t i = 0; ranks && i < k->nr; i++)
		ranks[k->values[i].key] = i + 1;
	return ranks;
}

/* By one column; rows of the same value stay as they are. order has places in b->rows. */
static int sort_by(const struct build *b, struct keys *k, uint32_t **order)
{
	SCOPED(scoped_free) uint32_t *ranks = rank_keys(k);
	SCOPED(scoped_free) uint32_t *starts = calloc((size_t)k->nr + 2, sizeof(*starts));
	uint32_t *sorted = sqlite3_malloc64((b->nr ? b->nr : 1) * sizeof(*sorted));

	if (!ranks || !starts || !sorted) {
		sqlite3_free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->nr; i++)
		starts[ranks[k->of_row[i]] + 1]++;
	for (uint32_t i = 1; i <= k->nr; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < b->nr; i++) {
		uint32_t at = *order ? (*order)[i] : (uint32_t)i;

		sorted[starts[ranks[k->of_row[at]]]++] = at;
	}
	sqlite3_free(*order);
	*order = sorted;
	return 0;
}

int sql_order_make(struct sql_scan *scan, const uint32_t *columns, uint32_t nr_columns,
                   struct sql_order *out)
{
	SCOPED(end_build)
	struct build b = { .keys = calloc(nr_columns, sizeof(*b.keys)), .nr_keys = nr_columns };
	uint64_t first = timeline_first(scan->row.v->s->timeline, scan->table->rows);
	uint32_t *order = NULL;
	int err = b.keys ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < nr_columns; i++)
		err = begin_keys(&b.keys[i], scan->table, columns[i]);
	if (!err)
		err = read_rows(&b, scan, first);
	for (uint32_t i = nr_columns; !err && i; i--)
		err = sort_by(&b, &b.keys[i - 1], &order);
	for (size_t i = 0; !err && i < b.nr; i++)
		order[i] = b.rows[order[i]];
	if (err) {
		sqlite3_free(order);
		return err;
	}
	*out = (struct sql_order){ .rows = order, .first = first, .nr = b.nr };
	return 0;
}

void sql_order_done(struct sql_order *o)
{
	sqlite3_free(o->rows);
	*o = (struct sql_order){ 0 };
}

bool sql_order_next(struct sql_order *o, struct sql_scan *scan)
{
	if (o->at == o->nr)
		return false;
	scan->row.id = o->first + o->rows[o->at++];
	return timeline_row(scan->row.v->s->timeline, scan->table->rows, scan->row.id,
	                    &scan->row.row);
}
