#include "model/timeline_moment.h"

#include <string.h>

#include "model/timeline_priv.h"

/* Whether no row of the chunk ends in time. */
static bool is_elsewhere(const struct timeline_ended *it, const struct timeline_rows *tab,
                         uint64_t number)
{
	const struct timeline_chunk *last = tab->chunks[tab->nr_chunks - 1];
	struct chunk_ends ends = { last->min_end_ns, last->max_end_ns };

	if (number + 1 < tab->nr_chunks)
		ends = tab->ends[number];
	return ends.max_ns < it->from_ns || ends.min_ns >= it->to_ns;
}

/* To the next row of the chunk that ends in time: only its end is read. */
static bool find_in_chunk(struct timeline_ended *it, const struct timeline_rows *tab, uint64_t nr)
{
	uint64_t last = it->at - it->at % TIMELINE_CHUNK_ROWS + TIMELINE_CHUNK_ROWS;
	struct timeline_cell cell;
	uint32_t packed;

	if (last > nr)
		last = nr;
	if (!timeline_cell(it->t, it->table, tab->def->end_offset, tab->first + it->at, &cell)) {
		it->at = last;
		return false;
	}
	for (const uint8_t *p = cell.at; it->at < last; it->at++, p += sizeof(packed)) {
		uint64_t end_ns;

		memcpy(&packed, p, sizeof(packed));
		end_ns = timeline_unpack(cell.c, packed);
		if (end_ns >= it->from_ns && end_ns < it->to_ns)
			return true;
	}
	return false;
}

bool timeline_ended_next(struct timeline_ended *it, union timeline_row *row)
{
	const struct timeline_rows *tab = &it->t->tables[it->table];
	uint64_t nr = tab->end - tab->first;

	while (it->at < nr) {
		if (it->at % TIMELINE_CHUNK_ROWS == 0 &&
		    is_elsewhere(it, tab, it->at / TIMELINE_CHUNK_ROWS))
			it->at += TIMELINE_CHUNK_ROWS;
		else if (find_in_chunk(it, tab, nr))
			return timeline_row(it->t, it->table, tab->first + it->at++, row);
	}
	return false;
}

static bool find(struct timeline *t, const struct timeline_whose *w, uint64_t from_ns,
                 struct timeline_iter *out)
{
	struct timeline_query q = { .table = w->table,
		                    .task = w->task,
		                    .cpu = w->cpu,
		                    .from_ns = from_ns,
		                    .to_ns = UINT64_MAX };

	return timeline_find(t, &q, out) == 0;
}

bool timeline_after(struct timeline *t, const struct timeline_whose *w, uint64_t ts_ns,
                    union timeline_row *row)
{
	uint16_t end_offset = t->tables[w->table].def->end_offset;
	struct timeline_iter it;
	uint64_t end_ns;

	if (!find(t, w, ts_ns, &it))
		return false;
	while (timeline_next(&it, NULL, row)) {
		memcpy(&end_ns, (const uint8_t *)row + end_offset, sizeof(end_ns));
		if (end_ns > ts_ns) /* else it took no time, just then */
			return true;
	}
	return false;
}

bool timeline_before(struct timeline *t, const struct timeline_whose *w, uint64_t ts_ns,
                     union timeline_row *row)
{
	struct timeline_iter it;
	uint64_t id;

	return ts_ns != UINT64_MAX && find(t, w, ts_ns + 1, &it) && it.list && it.list->nr &&
	       timeline_iter_last(&it, &id) && timeline_row(t, w->table, id, row);
}
