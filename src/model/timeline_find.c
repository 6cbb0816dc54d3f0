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

/* What an index is made of, row by row; columns are read once, chunk by chunk. */
struct gathered {
	uint32_t *keys; /* nobody and no CPU come first, then the others */
	uint64_t *ends_ns;
	uint32_t nr;
	uint32_t nr_keys; /* the largest plus one */
};

static void gathered_free(struct gathered *g)
{
	free(g->keys);
	free(g->ends_ns);
}

/* The keys of rows [at, at + nr) from their column. */
static void take_keys(struct gathered *g, const void *column, bool is_task, uint32_t at,
                      uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t key = is_task ? ((const uint32_t *)column)[i] + 1
		                       : (uint16_t)(((const uint16_t *)column)[i] + 1);

		g->keys[at + i] = key;
		if (key >= g->nr_keys)
			g->nr_keys = key + 1;
	}
}

static int gather(const struct timeline *t, enum timeline_table table, bool is_task,
                  struct gathered *g)
{
	const struct table *tab = &t->tables[table];
	size_t offset = is_task ? tab->def->task_offset : tab->def->cpu_offset;

	*g = (struct gathered){ .nr = (uint32_t)(tab->end - tab->first) };
	g->keys = calloc(g->nr ? g->nr : 1, sizeof(*g->keys));
	g->ends_ns = malloc((g->nr ? g->nr : 1) * sizeof(*g->ends_ns));
	if (!g->keys || !g->ends_ns)
		return -ENOMEM;
	for (uint32_t at = 0, nr; at < g->nr; at += nr) {
		const void *column = timeline_column(t, table, offset, tab->first + at, &nr);

		nr = nr < g->nr - at ? nr : g->nr - at;
		take_keys(g, column, is_task, at, nr);
	}
	for (uint32_t at = 0, nr; at < g->nr; at += nr)
		nr = timeline_times(t, table, tab->def->end_offset, tab->first + at,
		                    g->ends_ns + at, g->nr - at);
	return 0;
}

/* By end, of equal ones by id. */
static int compare_rows(const void *a, const void *b, void *ends_ns)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t left_ns = ((const uint64_t *)ends_ns)[left];
	uint64_t right_ns = ((const uint64_t *)ends_ns)[right];

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left > right) - (left < right);
}

/* Nearly sorted: rows come in the order of their ends, but for sleeps that turn out late. */
static void sort_group(const struct gathered *g, uint32_t *order, uint32_t nr)
{
	uint64_t steps_left = MAX_STEPS * (uint64_t)nr;

	for (uint32_t i = 1; i < nr; i++) {
		uint32_t row = order[i], k = i;

		for (; k && steps_left && g->ends_ns[order[k - 1]] > g->ends_ns[row]; k--) {
			order[k] = order[k - 1];
			steps_left--;
		}
		order[k] = row;
		if (!steps_left) {
			qsort_r(order, nr, sizeof(*order), compare_rows, g->ends_ns);
			return;
		}
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

/* Counting sort: starts[k + 1] counts key k, then is its end, then moves down to its start. */
static int sort_rows(const struct gathered *g, struct timeline_index *ix)
{
	ix->nr_keys = g->nr_keys;
	if (allocate(ix, g->nr) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nr; i++)
		ix->starts[g->keys[i] + 1]++;
	for (uint32_t k = 1; k <= ix->nr_keys; k++)
		ix->starts[k] += ix->starts[k - 1];
	for (uint32_t i = g->nr; i-- > 0;)
		ix->order[--ix->starts[g->keys[i] + 1]] = i;
	memmove(ix->starts, ix->starts + 1, ix->nr_keys * sizeof(uint32_t));
	ix->starts[ix->nr_keys] = g->nr;
	for (uint32_t k = 0; k < ix->nr_keys; k++)
		sort_group(g, ix->order + ix->starts[k], ix->starts[k + 1] - ix->starts[k]);
	return 0;
}

static int build(const struct timeline *t, enum timeline_table table, bool is_task,
                 struct timeline_index *ix)
{
	const struct table *tab = &t->tables[table];
	struct gathered g;
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
	err = gather(t, table, is_task, &g);
	if (!err)
		err = sort_rows(&g, ix);
	gathered_free(&g);
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

int timeline_index(struct timeline *t, enum timeline_table table, bool is_by_task)
{
	struct table *tab = &t->tables[table];

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
