#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/timeline_priv.h"

#define MAX_STEPS 8 /* per row, of sorting what is nearly in order */

void timeline_index_free(struct timeline_index *ix)
{
	free(ix->starts);
	free(ix->order);
	*ix = (struct timeline_index){ 0 };
}

static uint64_t end_at(const struct timeline *t, enum timeline_table table, uint64_t id)
{
	struct timeline_cell cell;
	uint32_t packed;

	if (!timeline_cell(t, table, t->tables[table].def->end_offset, id, &cell))
		return 0;
	memcpy(&packed, cell.at, sizeof(packed));
	return timeline_unpack(cell.c, packed);
}

/* What an index is built from and with. */
struct index_build {
	const struct timeline *t;
	enum timeline_table table;
	bool is_task;
	/* Rows of one chunk: */
	uint64_t id; /* of the first */
	uint32_t nr;
	const void *column; /* of their tasks or CPUs */
	/* Of each key: */
	uint32_t *next; /* the place of its next row */
	uint64_t *last_ns; /* when its last row ended; UNSORTED if that was before the one in front of it */
};

#define UNSORTED UINT64_MAX

/* Moves on to the next chunk; false behind the last. */
static bool next_rows(struct index_build *b)
{
	const struct timeline_rows *tab = &b->t->tables[b->table];

	b->id = b->nr ? b->id + b->nr : tab->first;
	b->column = timeline_column(b->t, b->table,
	                            b->is_task ? tab->def->task_offset : tab->def->cpu_offset,
	                            b->id, &b->nr);
	if (!b->column)
		b->nr = 0;
	return b->column;
}

/* No task and no CPU come first, then the others. */
static ALWAYS_INLINE uint32_t key_at(const struct index_build *b, uint32_t i)
{
	return b->is_task ? ((const uint32_t *)b->column)[i] + 1
	                  : (uint16_t)(((const uint16_t *)b->column)[i] + 1);
}

static uint32_t count_keys(struct index_build *b)
{
	uint32_t max = 0;

	while (next_rows(b))
		for (uint32_t i = 0; i < b->nr; i++)
			max = key_at(b, i) > max ? key_at(b, i) : max;
	return max + 1;
}

static int allocate(struct index_build *b, struct timeline_index *ix)
{
	uint64_t nr_rows = ix->end - ix->first;

	ix->starts = calloc(ix->nr_keys + 2, sizeof(uint32_t));
	ix->order = malloc((nr_rows ? nr_rows : 1) * sizeof(uint32_t));
	ix->bytes = (ix->nr_keys + 2 + nr_rows) * sizeof(uint32_t);
	b->next = malloc(ix->nr_keys * sizeof(*b->next));
	b->last_ns = calloc(ix->nr_keys, sizeof(*b->last_ns));
	return ix->starts && ix->order && b->next && b->last_ns ? 0 : -ENOMEM;
}

/* How many rows each key has, and from that where they begin. */
static void set_starts(struct index_build *b, struct timeline_index *ix)
{
	while (next_rows(b))
		for (uint32_t i = 0; i < b->nr; i++)
			ix->starts[key_at(b, i) + 1]++;
	for (uint32_t k = 1; k <= ix->nr_keys; k++)
		ix->starts[k] += ix->starts[k - 1];
	memcpy(b->next, ix->starts, ix->nr_keys * sizeof(*b->next));
}

static void place_rows(struct index_build *b, struct timeline_index *ix)
{
	uint64_t ends_ns[TIMELINE_CHUNK_ROWS];

	while (next_rows(b)) {
		(void)timeline_times(b->t, b->table, b->t->tables[b->table].def->end_offset, b->id,
		                     ends_ns, b->nr);
		for (uint32_t i = 0; i < b->nr; i++) {
			uint32_t key = key_at(b, i);

			b->last_ns[key] = ends_ns[i] < b->last_ns[key] ? UNSORTED : ends_ns[i];
			ix->order[b->next[key]++] = (uint32_t)(b->id - ix->first) + i;
		}
	}
}

/* By end, of equal ones by id. */
static int compare_rows(const void *left, const void *right, void *building)
{
	const struct index_build *b = building;
	uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
	uint64_t first = b->t->tables[b->table].first;
	uint64_t x_ns = end_at(b->t, b->table, first + x);
	uint64_t y_ns = end_at(b->t, b->table, first + y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return (x > y) - (x < y);
}

/* Moves late rows to their places; false if that takes too many steps. */
static bool insert_late(const struct index_build *b, uint32_t *order, uint32_t nr)
{
	uint64_t first = b->t->tables[b->table].first, steps_left = MAX_STEPS * (uint64_t)nr;
	uint64_t last_ns = 0, end_ns;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = order[i], k = i;

		end_ns = end_at(b->t, b->table, first + row);
		if (end_ns >= last_ns) {
			last_ns = end_ns;
			continue;
		}
		for (; k && steps_left && end_at(b->t, b->table, first + order[k - 1]) > end_ns;
		     k--) {
			order[k] = order[k - 1];
			steps_left--;
		}
		order[k] = row;
		if (!steps_left)
			return false;
	}
	return true;
}

/* Rows come in the order of their ends, but for sleeps that turn out late. */
static void sort_late(struct index_build *b, struct timeline_index *ix)
{
	for (uint32_t k = 0; k < ix->nr_keys; k++) {
		uint32_t *order = ix->order + ix->starts[k], nr = ix->starts[k + 1] - ix->starts[k];

		if (b->last_ns[k] == UNSORTED && !insert_late(b, order, nr))
			qsort_r(order, nr, sizeof(*order), compare_rows, b);
	}
}

static int build(const struct timeline *t, enum timeline_table table, bool is_task,
                 struct timeline_index *ix)
{
	const struct timeline_rows *tab = &t->tables[table];
	struct index_build b = { .t = t, .table = table, .is_task = is_task };
	int err;

	if (ix->starts && ix->first == tab->first && ix->end == tab->end)
		return 0;
	if (t->is_frozen)
		return -ENOTSUP;
	timeline_index_free(ix);
	if (tab->end - tab->first > UINT32_MAX)
		return -E2BIG;
	ix->first = tab->first;
	ix->end = tab->end;
	ix->nr_keys = count_keys(&b);
	err = allocate(&b, ix);
	if (!err) {
		set_starts(&b, ix);
		place_rows(&b, ix);
		sort_late(&b, ix);
	} else {
		timeline_index_free(ix);
	}
	free(b.next);
	free(b.last_ns);
	return err;
}

/* The first row of the group that ends at or after from_ns. */
static void skip_early(struct timeline_iter *it)
{
	uint64_t low = it->at, high = it->end, first = it->t->tables[it->q.table].first;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (end_at(it->t, it->q.table, first + it->order[mid]) < it->q.from_ns)
			low = mid + 1;
		else
			high = mid;
	}
	it->at = low;
}

int timeline_find(struct timeline *t, const struct timeline_query *q, struct timeline_iter *out)
{
	struct timeline_rows *tab = &t->tables[q->table];
	bool is_task = q->task != TASKS_NONE;
	struct timeline_index *ix = is_task ? &tab->by_task : &tab->by_cpu;
	uint32_t key = is_task ? q->task + 1 : (uint16_t)(q->cpu + 1);
	int err;

	*out = (struct timeline_iter){ .t = t, .q = *q, .at = tab->first, .end = tab->end };
	if (!is_task && q->cpu == TIMELINE_ANY_CPU)
		return 0;
	if (is_task && tab->def->task_offset == TIMELINE_NO_FIELD) {
		out->end = out->at;
		return 0;
	}
	err = build(t, q->table, is_task, ix);
	if (err)
		return err;
	out->order = ix->order;
	out->at = key < ix->nr_keys ? ix->starts[key] : 0;
	out->end = key < ix->nr_keys ? ix->starts[key + 1] : 0;
	skip_early(out);
	return 0;
}

int timeline_index(struct timeline *t, enum timeline_table table, bool is_by_task)
{
	struct timeline_rows *tab = &t->tables[table];

	if (is_by_task && tab->def->task_offset == TIMELINE_NO_FIELD)
		return 0;
	return build(t, table, is_by_task, is_by_task ? &tab->by_task : &tab->by_cpu);
}

void timeline_freeze(struct timeline *t, bool is_frozen)
{
	t->is_frozen = is_frozen;
}

static bool is_wanted(const struct timeline_iter *it, const union timeline_row *row,
                      uint64_t end_ns)
{
	const struct timeline_def *def = it->t->tables[it->q.table].def;
	uint64_t start_ns = def->start(row);
	uint16_t cpu;

	memcpy(&cpu, (const uint8_t *)row + def->cpu_offset, sizeof(cpu));
	if (it->q.cpu != TIMELINE_ANY_CPU && cpu != it->q.cpu)
		return false;
	if (start_ns >= it->q.to_ns)
		return false;
	return end_ns > it->q.from_ns || (end_ns == start_ns && end_ns == it->q.from_ns);
}

/* Whether nothing of the chunk is wanted, so that the walk continues after it. */
static bool skip_chunk(struct timeline_iter *it)
{
	const struct timeline_rows *tab = &it->t->tables[it->q.table];
	uint64_t at = it->at - tab->first;
	const struct timeline_chunk *c = tab->chunks[at / TIMELINE_CHUNK_ROWS];

	if (at % TIMELINE_CHUNK_ROWS ||
	    (c->min_start_ns < it->q.to_ns && c->max_end_ns >= it->q.from_ns))
		return false;
	it->at += TIMELINE_CHUNK_ROWS;
	return true;
}

bool timeline_next(struct timeline_iter *it, uint64_t *id, union timeline_row *row)
{
	const struct timeline_rows *tab = &it->t->tables[it->q.table];
	union timeline_row mine;
	uint64_t row_id, end_ns;

	while (it->at < it->end) {
		if (!it->order && skip_chunk(it))
			continue;
		row_id = it->order ? tab->first + it->order[it->at] : it->at;
		it->at++;
		(void)timeline_row(it->t, it->q.table, row_id, &mine);
		memcpy(&end_ns, (const uint8_t *)&mine + tab->def->end_offset, sizeof(end_ns));
		/*
		 * Ends only grow, and no row is longer than the longest: further rows start too
		 * late.
		 */
		if (it->order && end_ns > it->q.to_ns && end_ns - it->q.to_ns > tab->max_len_ns)
			it->at = it->end;
		if (!is_wanted(it, &mine, end_ns))
			continue;
		if (id)
			*id = row_id;
		if (row)
			*row = mine;
		return true;
	}
	return false;
}
