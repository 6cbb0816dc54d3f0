#include <errno.h>
#include <string.h>

#include "model/timeline_priv.h"

/* The rows of the key in a part of the index. */
static void open_part(struct timeline_iter *it, uint32_t part)
{
	const struct timeline_index *ix = it->list->parts[part];

	it->part = part;
	it->first = ix->first;
	it->order = ix->order;
	it->at = it->key < ix->nr_keys ? ix->starts[it->key] : 0;
	it->end = it->key < ix->nr_keys ? ix->starts[it->key + 1] : 0;
}

/* To the next part that has rows of the key; false behind the last. */
static bool next_part(struct timeline_iter *it)
{
	while (it->list && it->part + 1 < it->list->nr) {
		open_part(it, it->part + 1);
		if (it->at < it->end)
			return true;
	}
	return false;
}

/* The first row of the key that ends at or after from_ns: parts follow each other in the ends of their rows. */
static void skip_early(struct timeline_iter *it)
{
	uint32_t part = 0;
	uint64_t low, high;

	while (part + 1 < it->list->nr && it->list->parts[part]->max_end_ns < it->q.from_ns)
		part++;
	open_part(it, part);
	for (low = it->at, high = it->end; low < high;) {
		uint64_t mid = low + (high - low) / 2;

		if (timeline_end_at(it->t, it->q.table, it->first + it->order[mid]) < it->q.from_ns)
			low = mid + 1;
		else
			high = mid;
	}
	it->at = low;
}

bool timeline_iter_last(struct timeline_iter *it, uint64_t *id)
{
	uint64_t begin;

	for (;;) {
		const struct timeline_index *ix = it->list->parts[it->part];

		begin = it->key < ix->nr_keys ? ix->starts[it->key] : it->at;
		if (it->at > begin)
			break;
		if (!it->part)
			return false;
		open_part(it, it->part - 1);
		it->at = it->end;
	}
	*id = it->first + it->order[it->at - 1];
	return true;
}

int timeline_find(struct timeline *t, const struct timeline_query *q, struct timeline_iter *out)
{
	struct timeline_rows *tab = &t->tables[q->table];
	bool is_task = q->task != TASKS_NONE;
	int err;

	*out = (struct timeline_iter){ .t = t, .q = *q, .at = tab->first, .end = tab->end };
	if (!is_task && q->cpu == TIMELINE_ANY_CPU)
		return 0;
	if (tab->first == tab->end || (is_task && tab->def->task_offset == TIMELINE_NO_FIELD)) {
		out->end = out->at;
		return 0;
	}
	err = timeline_list_make(t, q->table, is_task);
	if (err)
		return err;
	out->at = out->end = 0;
	out->key = is_task ? q->task + 1 : (uint16_t)(q->cpu + 1);
	out->list = is_task ? &tab->by_task : &tab->by_cpu;
	if (out->list->nr)
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

	while (it->at < it->end || next_part(it)) {
		if (!it->list && skip_chunk(it))
			continue;
		row_id = it->list ? it->first + it->order[it->at] : it->at;
		it->at++;
		(void)timeline_row(it->t, it->q.table, row_id, &mine);
		memcpy(&end_ns, (const uint8_t *)&mine + tab->def->end_offset, sizeof(end_ns));
		/*
		 * Ends only grow, and no row is longer than the longest: further rows start too
		 * late.
		 */
		if (it->list && end_ns > it->q.to_ns && end_ns - it->q.to_ns > tab->max_len_ns) {
			it->at = it->end;
			it->part = it->list->nr;
		}
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
