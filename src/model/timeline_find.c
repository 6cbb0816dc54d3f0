#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/timeline_priv.h"

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

/* The key of a row. Nobody and no CPU come first, then the others. */
static uint32_t key_at(const struct timeline *t, enum timeline_table table, bool is_task,
                       uint64_t id)
{
	const struct timeline_def *def = t->tables[table].def;
	struct timeline_cell cell;
	uint32_t task;
	uint16_t cpu;

	if (!timeline_cell(t, table, is_task ? def->task_offset : def->cpu_offset, id, &cell))
		return 0;
	if (is_task) {
		memcpy(&task, cell.at, sizeof(task));
		return task + 1;
	}
	memcpy(&cpu, cell.at, sizeof(cpu));
	return (uint16_t)(cpu + 1);
}

/* Nearly sorted: rows come in the order of their ends, but for sleeps that turn out late. */
static void sort_group(const struct timeline *t, enum timeline_table table, uint64_t first,
                       uint32_t *order, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		uint32_t row = order[i], k = i;
		uint64_t end_ns = end_at(t, table, first + row);

		for (; k && end_at(t, table, first + order[k - 1]) > end_ns; k--)
			order[k] = order[k - 1];
		order[k] = row;
	}
}

static int allocate(struct timeline_index *ix, uint64_t nr_rows)
{
	ix->starts = calloc(ix->nr_keys + 2, sizeof(uint32_t));
	ix->order = malloc((nr_rows ? nr_rows : 1) * sizeof(uint32_t));
	ix->bytes = (ix->nr_keys + 2 + nr_rows) * sizeof(uint32_t);
	if (ix->starts && ix->order)
		return 0;
	timeline_index_free(ix);
	return -ENOMEM;
}

static int build(const struct timeline *t, enum timeline_table table, bool is_task,
                 struct timeline_index *ix)
{
	const struct table *tab = &t->tables[table];
	uint32_t key;

	if (ix->starts && ix->first == tab->first && ix->end == tab->end)
		return 0;
	timeline_index_free(ix);
	if (tab->end - tab->first > UINT32_MAX)
		return -E2BIG;
	ix->first = tab->first;
	ix->end = tab->end;
	for (uint64_t id = tab->first; id < tab->end; id++) {
		key = key_at(t, table, is_task, id);
		if (key >= ix->nr_keys)
			ix->nr_keys = key + 1;
	}
	if (allocate(ix, tab->end - tab->first) < 0)
		return -ENOMEM;
	/* Counting sort: starts[k + 1] counts key k, then is its end, then moves down to its start. */
	for (uint64_t id = tab->first; id < tab->end; id++)
		ix->starts[key_at(t, table, is_task, id) + 1]++;
	for (uint32_t k = 1; k <= ix->nr_keys; k++)
		ix->starts[k] += ix->starts[k - 1];
	for (uint64_t id = tab->end; id-- > tab->first;) {
		key = key_at(t, table, is_task, id);
		ix->order[--ix->starts[key + 1]] = (uint32_t)(id - tab->first);
	}
	memmove(ix->starts, ix->starts + 1, ix->nr_keys * sizeof(uint32_t));
	ix->starts[ix->nr_keys] = (uint32_t)(tab->end - tab->first);
	for (uint32_t k = 0; k < ix->nr_keys; k++)
		sort_group(t, table, tab->first, ix->order + ix->starts[k],
		           ix->starts[k + 1] - ix->starts[k]);
	return 0;
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
	struct table *tab = &t->tables[q->table];
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

/* Whether nothing of the chunk is wanted, so that the walk goes on behind it. */
static bool skip_chunk(struct timeline_iter *it)
{
	const struct table *tab = &it->t->tables[it->q.table];
	uint64_t at = it->at - tab->first;
	const struct chunk *c = tab->chunks[at / TIMELINE_CHUNK_ROWS];

	if (at % TIMELINE_CHUNK_ROWS ||
	    (c->min_start_ns < it->q.to_ns && c->max_end_ns >= it->q.from_ns))
		return false;
	it->at += TIMELINE_CHUNK_ROWS;
	return true;
}

bool timeline_next(struct timeline_iter *it, uint64_t *id, union timeline_row *row)
{
	const struct table *tab = &it->t->tables[it->q.table];
	union timeline_row mine;
	uint64_t row_id, end_ns;

	while (it->at < it->end) {
		if (!it->order && skip_chunk(it))
			continue;
		row_id = it->order ? tab->first + it->order[it->at] : it->at;
		it->at++;
		(void)timeline_row(it->t, it->q.table, row_id, &mine);
		memcpy(&end_ns, (const uint8_t *)&mine + tab->def->end_offset, sizeof(end_ns));
		/* Ends only grow, and no row is longer than the longest: the rest starts too late. */
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
