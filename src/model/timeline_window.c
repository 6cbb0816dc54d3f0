/* What a timeline forgets, and snapshots of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "model/timeline_priv.h"

size_t timeline_chunk_bytes(const struct timeline_rows *tab)
{
	return sizeof(struct timeline_chunk) + (size_t)tab->row_bytes * TIMELINE_CHUNK_ROWS;
}

void timeline_chunk_put(struct timeline_chunk *c)
{
	if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
		return;
	budget_give(c->budget, c->bytes);
	free(c->far);
	free(c);
}

void timeline_forget(struct timeline *t, struct timeline_rows *tab, bool may_spare)
{
	struct timeline_chunk *c = tab->chunks[0];
	uint64_t nr_rows = tab->end - tab->first;

	tab->nr_chunks--;
	memmove(tab->chunks, tab->chunks + 1, tab->nr_chunks * sizeof(struct timeline_chunk *));
	memmove(tab->ends, tab->ends + 1, tab->nr_chunks * sizeof(*tab->ends));
	tab->first += nr_rows < TIMELINE_CHUNK_ROWS ? nr_rows : TIMELINE_CHUNK_ROWS;
	/* One that a snapshot holds is not ours to write into. */
	if (may_spare && !tab->spare && atomic_load(&c->refs) == 1) {
		tab->spare = c;
		return;
	}
	t->bytes -= c->bytes;
	timeline_chunk_put(c);
}

/* The chunk of any table whose rows ended first; never the last one of a table, which is being filled. */
static bool forget_oldest(struct timeline *t)
{
	struct timeline_rows *oldest = NULL;

	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		struct timeline_rows *tab = &t->tables[i];

		if (tab->nr_chunks > 1 &&
		    (!oldest || tab->chunks[0]->max_end_ns < oldest->chunks[0]->max_end_ns))
			oldest = tab;
	}
	if (!oldest)
		return false;
	t->loss.cut += TIMELINE_CHUNK_ROWS;
	if (oldest->chunks[0]->max_end_ns >= t->whole_from_ns)
		t->whole_from_ns = oldest->chunks[0]->max_end_ns + 1;
	timeline_forget(t, oldest, false);
	return true;
}

bool timeline_make_room(struct timeline *t, size_t bytes)
{
	while (t->bytes + bytes > t->cfg.cap_bytes || !budget_take(t->cfg.budget, bytes))
		if (!t->cfg.window_ns || !forget_oldest(t))
			return false;
	return true;
}

void timeline_advance(struct timeline *t, uint64_t now_ns)
{
	if (now_ns > t->latest_ns)
		t->latest_ns = now_ns;
	for (uint32_t i = 0; t->cfg.window_ns && i < TIMELINE_TABLES; i++) {
		struct timeline_rows *tab = &t->tables[i];

		while (tab->nr_chunks &&
		       t->latest_ns - tab->chunks[0]->max_end_ns > t->cfg.window_ns)
			timeline_forget(t, tab, false);
	}
}

void timeline_want(struct timeline *t, uint32_t tables)
{
	t->cfg.tables = tables & TIMELINE_ALL;
	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		struct timeline_rows *tab = &t->tables[i];

		while (!(tables & 1U << i) && tab->nr_chunks)
			timeline_forget(t, tab, false);
		if (!(tables & 1U << i) && tab->spare) {
			t->bytes -= tab->spare->bytes;
			timeline_chunk_put(tab->spare);
			tab->spare = NULL;
		}
	}
}

uint64_t timeline_whole_from_ns(const struct timeline *t)
{
	return t->whole_from_ns;
}

/* The one that is being filled, for a snapshot to go on with. */
static struct timeline_chunk *copy_chunk(const struct timeline_rows *tab,
                                         const struct timeline_chunk *c)
{
	struct timeline_chunk *copy = malloc(timeline_chunk_bytes(tab));
	uint64_t *far = c->nr_far ? malloc(c->nr_far * sizeof(*far)) : NULL;

	if (!copy || (c->nr_far && !far)) {
		free(copy);
		free(far);
		return NULL;
	}
	memcpy(copy, c, timeline_chunk_bytes(tab));
	if (far)
		memcpy(far, c->far, c->nr_far * sizeof(*far));
	copy->far = far;
	copy->max_far = c->nr_far;
	copy->budget = NULL;
	copy->bytes = timeline_chunk_bytes(tab) + c->nr_far * sizeof(*far);
	atomic_init(&copy->refs, 1);
	return copy;
}

uint64_t timeline_shared_end(const struct timeline *t, const struct timeline_rows *tab)
{
	uint64_t nr_full = (tab->end - tab->first) / TIMELINE_CHUNK_ROWS;

	return t->is_snapshot ? tab->shared_end : tab->first + nr_full * TIMELINE_CHUNK_ROWS;
}

static int share_table(const struct timeline_rows *from, struct timeline_rows *to)
{
	uint32_t nr_full = (uint32_t)((from->end - from->first) / TIMELINE_CHUNK_ROWS);
	uint32_t max = from->nr_chunks + 1; /* for rows that are open */

	to->first = to->end = from->first;
	to->max_len_ns = from->max_len_ns;
	to->chunks = calloc(max, sizeof(struct timeline_chunk *));
	to->ends = calloc(max, sizeof(*to->ends));
	if (!to->chunks || !to->ends)
		return -ENOMEM;
	to->max_chunks = max;
	for (uint32_t i = 0; i < from->nr_chunks; i++) {
		if (i < nr_full)
			atomic_fetch_add(&from->chunks[i]->refs, 1);
		to->chunks[i] = i < nr_full ? from->chunks[i] : copy_chunk(from, from->chunks[i]);
		if (!to->chunks[i])
			return -ENOMEM;
		to->nr_chunks++;
	}
	if (from->nr_chunks)
		memcpy(to->ends, from->ends, (from->nr_chunks - 1) * sizeof(*to->ends));
	to->end = from->end;
	return 0;
}

int timeline_snapshot(const struct timeline *t, struct timeline **out)
{
	struct timeline_cfg cfg = { .cap_bytes = SIZE_MAX, .tables = t->cfg.tables };
	SCOPED(scoped_timeline) struct timeline *copy = NULL;
	int err = timeline_new(&cfg, &copy);

	for (uint32_t i = 0; !err && i < TIMELINE_TABLES; i++) {
		err = share_table(&t->tables[i], &copy->tables[i]);
		copy->tables[i].shared_end = timeline_shared_end(t, &t->tables[i]);
		copy->bytes += copy->tables[i].nr_chunks * timeline_chunk_bytes(&t->tables[i]);
	}
	if (err)
		return err;
	copy->is_snapshot = true;
	copy->shared = t->shared;
	if (copy->shared)
		atomic_fetch_add(&copy->shared->refs, 1);
	copy->cfg.tables = t->cfg.tables;
	copy->loss = t->loss;
	copy->latest_ns = t->latest_ns;
	copy->whole_from_ns = t->whole_from_ns;
	*out = TAKE_PTR(copy);
	return 0;
}
