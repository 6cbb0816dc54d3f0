#include "model/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/timeline_priv.h"

#define DEFAULT_CAP_BYTES ((size_t)1 << 30)
#define COL(type, field)                                                        \
	{                                                                       \
		offsetof(struct type, field), sizeof(((struct type *)0)->field) \
	}

static uint64_t wait_start(const union timeline_row *r)
{
	/* The wait begins with the waking for those who ask by time. */
	return r->wait.waking_ns ? r->wait.waking_ns : r->wait.wakeup_ns;
}

static uint64_t first_word(const union timeline_row *r)
{
	return r->slice.start_ns; /* all but waits begin with their start, or their moment */
}

/* The columns of 8 bytes first, then 4, 2, 1, so that each is aligned within its chunk. */
const struct timeline_def timeline_defs[TIMELINE_TABLES] = {
	[TIMELINE_SLICE] = { { COL(pair_slice, start_ns), COL(pair_slice, end_ns),
	                       COL(pair_slice, task), COL(pair_slice, cpu), COL(pair_slice, prio),
	                       COL(pair_slice, end) },
	                     first_word,
	                     offsetof(struct pair_slice, end_ns),
	                     offsetof(struct pair_slice, task),
	                     offsetof(struct pair_slice, cpu) },
	[TIMELINE_WAIT] = { { COL(pair_wait, waking_ns), COL(pair_wait, wakeup_ns),
	                      COL(pair_wait, end_ns), COL(pair_wait, task), COL(pair_wait, waker),
	                      COL(pair_wait, waker_cpu), COL(pair_wait, from_cpu),
	                      COL(pair_wait, cpu), COL(pair_wait, cause), COL(pair_wait, flags),
	                      COL(pair_wait, is_open) },
	                    wait_start,
	                    offsetof(struct pair_wait, end_ns),
	                    offsetof(struct pair_wait, task),
	                    offsetof(struct pair_wait, cpu) },
	[TIMELINE_SLEEP] = { { COL(pair_sleep, start_ns), COL(pair_sleep, end_ns),
	                       COL(pair_sleep, task), COL(pair_sleep, cpu),
	                       COL(pair_sleep, state_bits), COL(pair_sleep, state),
	                       COL(pair_sleep, is_open) },
	                     first_word,
	                     offsetof(struct pair_sleep, end_ns),
	                     offsetof(struct pair_sleep, task),
	                     offsetof(struct pair_sleep, cpu) },
	[TIMELINE_WAKEUP] = { { COL(pair_wakeup, ts_ns), COL(pair_wakeup, task),
	                        COL(pair_wakeup, waker), COL(pair_wakeup, cpu),
	                        COL(pair_wakeup, target_cpu), COL(pair_wakeup, is_new),
	                        COL(pair_wakeup, is_running), COL(pair_wakeup, flags) },
	                      first_word,
	                      offsetof(struct pair_wakeup, ts_ns),
	                      offsetof(struct pair_wakeup, task),
	                      offsetof(struct pair_wakeup, cpu) },
	[TIMELINE_MIGRATION] = { { COL(pair_migration, ts_ns), COL(pair_migration, task),
	                           COL(pair_migration, cpu), COL(pair_migration, from_cpu),
	                           COL(pair_migration, to_cpu) },
	                         first_word,
	                         offsetof(struct pair_migration, ts_ns),
	                         offsetof(struct pair_migration, task),
	                         offsetof(struct pair_migration, cpu) },
	[TIMELINE_SPAN] = { { COL(pair_span, start_ns), COL(pair_span, end_ns), COL(pair_span, id),
	                      COL(pair_span, task), COL(pair_span, name_id), COL(pair_span, cpu),
	                      COL(pair_span, kind) },
	                    first_word,
	                    offsetof(struct pair_span, end_ns),
	                    offsetof(struct pair_span, task),
	                    offsetof(struct pair_span, cpu) },
	[TIMELINE_COUNTER] = { { COL(pair_counter, ts_ns), COL(pair_counter, value),
	                         COL(pair_counter, id), COL(pair_counter, tgid),
	                         COL(pair_counter, cpu), COL(pair_counter, kind) },
	                       first_word,
	                       offsetof(struct pair_counter, ts_ns),
	                       TIMELINE_NO_FIELD,
	                       offsetof(struct pair_counter, cpu) },
	[TIMELINE_MARK] = { { COL(pair_mark, ts_ns), COL(pair_mark, value), COL(pair_mark, task),
	                      COL(pair_mark, name_id), COL(pair_mark, cpu), COL(pair_mark, kind) },
	                    first_word,
	                    offsetof(struct pair_mark, ts_ns),
	                    offsetof(struct pair_mark, task),
	                    offsetof(struct pair_mark, cpu) },
	[TIMELINE_IDLE] = { { COL(pair_idle, start_ns), COL(pair_idle, end_ns), COL(pair_idle, cpu),
	                      COL(pair_idle, is_open) },
	                    first_word,
	                    offsetof(struct pair_idle, end_ns),
	                    TIMELINE_NO_FIELD,
	                    offsetof(struct pair_idle, cpu) },
	[TIMELINE_GAP] = { { COL(pair_gap, start_ns), COL(pair_gap, end_ns), COL(pair_gap, task),
	                     COL(pair_gap, cpu), COL(pair_gap, reason) },
	                   first_word,
	                   offsetof(struct pair_gap, end_ns),
	                   offsetof(struct pair_gap, task),
	                   offsetof(struct pair_gap, cpu) },
};

int timeline_new(const struct timeline_cfg *cfg, struct timeline **out)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	if (!t->cfg.cap_bytes)
		t->cfg.cap_bytes = DEFAULT_CAP_BYTES;
	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		struct table *tab = &t->tables[i];

		tab->def = &timeline_defs[i];
		for (uint32_t k = 0; k < TIMELINE_MAX_COLS && tab->def->cols[k].size; k++)
			tab->row_bytes += tab->def->cols[k].size;
	}
	*out = t;
	return 0;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		struct table *tab = &t->tables[i];

		for (uint32_t k = 0; k < tab->nr_chunks; k++)
			free(tab->chunks[k]);
		free(tab->chunks);
		free(tab->spare);
		timeline_index_free(&tab->by_task);
		timeline_index_free(&tab->by_cpu);
	}
	free(t);
}

void scoped_timeline(struct timeline *const *t)
{
	timeline_free(*t);
}

static size_t chunk_bytes(const struct table *tab)
{
	return sizeof(struct chunk) + (size_t)tab->row_bytes * TIMELINE_CHUNK_ROWS;
}

static void forget_chunk(struct timeline *t, struct table *tab)
{
	struct chunk *c = tab->chunks[0];

	tab->nr_chunks--;
	memmove(tab->chunks, tab->chunks + 1, tab->nr_chunks * sizeof(struct chunk *));
	tab->first += TIMELINE_CHUNK_ROWS;
	if (!tab->spare) {
		tab->spare = c;
		return;
	}
	t->bytes -= chunk_bytes(tab);
	free(c);
}

static bool has_chunk_slot(struct table *tab)
{
	struct chunk **more;
	uint32_t max;

	if (tab->nr_chunks < tab->max_chunks)
		return true;
	max = tab->max_chunks ? tab->max_chunks * 2 : 16;
	more = realloc(tab->chunks, max * sizeof(struct chunk *));
	if (!more)
		return false;
	tab->chunks = more;
	tab->max_chunks = max;
	return true;
}

static struct chunk *new_chunk(struct timeline *t, struct table *tab)
{
	struct chunk *c = tab->spare;

	if (!has_chunk_slot(tab))
		return NULL;
	if (!c && t->bytes + chunk_bytes(tab) > t->cfg.cap_bytes) {
		if (!t->cfg.window_ns || !tab->nr_chunks)
			return NULL;
		t->loss.cut += TIMELINE_CHUNK_ROWS;
		forget_chunk(t, tab);
		c = tab->spare;
	}
	tab->spare = NULL;
	if (!c) {
		c = malloc(chunk_bytes(tab));
		if (!c)
			return NULL;
		t->bytes += chunk_bytes(tab);
	}
	c->min_start_ns = UINT64_MAX;
	c->max_end_ns = 0;
	tab->chunks[tab->nr_chunks++] = c;
	return c;
}

/* By constant sizes: copies of unknown size are calls. */
static void copy_field(void *to, const void *from, uint16_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else if (size == 2)
		memcpy(to, from, 2);
	else
		memcpy(to, from, 1);
}

static void put(struct chunk *c, const struct timeline_def *def, uint32_t at, const void *row)
{
	uint8_t *col = c->data;

	for (const struct timeline_col *f = def->cols; f < def->cols + TIMELINE_MAX_COLS && f->size;
	     f++) {
		copy_field(col + (size_t)at * f->size, (const uint8_t *)row + f->offset, f->size);
		col += (size_t)f->size * TIMELINE_CHUNK_ROWS;
	}
}

static void note_times(struct timeline *t, struct table *tab, struct chunk *c,
                       const union timeline_row *row)
{
	uint64_t start_ns = tab->def->start(row), end_ns;

	memcpy(&end_ns, (const uint8_t *)row + tab->def->end_offset, sizeof(end_ns));
	if (start_ns < c->min_start_ns)
		c->min_start_ns = start_ns;
	if (end_ns > c->max_end_ns)
		c->max_end_ns = end_ns;
	if (end_ns - start_ns > tab->max_len_ns)
		tab->max_len_ns = end_ns - start_ns;
	if (end_ns > t->latest_ns)
		t->latest_ns = end_ns;
}

static void append(struct timeline *t, enum timeline_table table, const void *row)
{
	struct table *tab = &t->tables[table];
	uint32_t at = (uint32_t)((tab->end - tab->first) % TIMELINE_CHUNK_ROWS);
	struct chunk *c;

	if (t->cfg.tables && !(t->cfg.tables & 1U << table))
		return;
	c = at ? tab->chunks[tab->nr_chunks - 1] : new_chunk(t, tab);
	if (!c) {
		t->loss.dropped++;
		return;
	}
	put(c, tab->def, at, row);
	note_times(t, tab, c, row);
	tab->end++;
	while (t->cfg.window_ns && tab->nr_chunks > 1 &&
	       t->latest_ns - tab->chunks[0]->max_end_ns > t->cfg.window_ns)
		forget_chunk(t, tab);
}

#define APPEND(name, table)                                               \
	static void append_##name(void *ctx, const struct pair_##name *r) \
	{                                                                 \
		append(ctx, table, r);                                    \
	}

APPEND(slice, TIMELINE_SLICE)
APPEND(wait, TIMELINE_WAIT)
APPEND(sleep, TIMELINE_SLEEP)
APPEND(wakeup, TIMELINE_WAKEUP)
APPEND(migration, TIMELINE_MIGRATION)
APPEND(span, TIMELINE_SPAN)
APPEND(counter, TIMELINE_COUNTER)
APPEND(mark, TIMELINE_MARK)
APPEND(idle, TIMELINE_IDLE)
APPEND(gap, TIMELINE_GAP)

struct pair_out timeline_out(struct timeline *t)
{
	return (struct pair_out){
		.ctx = t,
		.slice = append_slice,
		.wait = append_wait,
		.sleep = append_sleep,
		.wakeup = append_wakeup,
		.migration = append_migration,
		.span = append_span,
		.counter = append_counter,
		.mark = append_mark,
		.idle = append_idle,
		.gap = append_gap,
	};
}

uint64_t timeline_first(const struct timeline *t, enum timeline_table table)
{
	return t->tables[table].first;
}

uint64_t timeline_end(const struct timeline *t, enum timeline_table table)
{
	return t->tables[table].end;
}

const void *timeline_column(const struct timeline *t, enum timeline_table table, size_t offset,
                            uint64_t id, uint32_t *nr)
{
	const struct table *tab = &t->tables[table];
	const struct timeline_col *f = tab->def->cols;
	size_t before = 0;
	uint64_t at = id - tab->first;

	if (id < tab->first || id >= tab->end)
		return NULL;
	for (; f < tab->def->cols + TIMELINE_MAX_COLS && f->size && f->offset != offset; f++)
		before += (size_t)f->size * TIMELINE_CHUNK_ROWS;
	if (f == tab->def->cols + TIMELINE_MAX_COLS || !f->size)
		return NULL;
	*nr = TIMELINE_CHUNK_ROWS - (uint32_t)(at % TIMELINE_CHUNK_ROWS);
	if (*nr > tab->end - id)
		*nr = (uint32_t)(tab->end - id);
	return tab->chunks[at / TIMELINE_CHUNK_ROWS]->data + before +
	       at % TIMELINE_CHUNK_ROWS * f->size;
}

bool timeline_row(const struct timeline *t, enum timeline_table table, uint64_t id,
                  union timeline_row *out)
{
	const struct table *tab = &t->tables[table];
	const struct timeline_col *f = tab->def->cols;
	const uint8_t *col;
	uint64_t at = id - tab->first;

	if (id < tab->first || id >= tab->end)
		return false;
	memset(out, 0, sizeof(*out));
	col = tab->chunks[at / TIMELINE_CHUNK_ROWS]->data;
	for (; f < tab->def->cols + TIMELINE_MAX_COLS && f->size; f++) {
		copy_field((uint8_t *)out + f->offset, col + at % TIMELINE_CHUNK_ROWS * f->size,
		           f->size);
		col += (size_t)f->size * TIMELINE_CHUNK_ROWS;
	}
	return true;
}

size_t timeline_bytes(const struct timeline *t)
{
	size_t bytes = t->bytes;

	for (uint32_t i = 0; i < TIMELINE_TABLES; i++)
		bytes += t->tables[i].by_task.bytes + t->tables[i].by_cpu.bytes;
	return bytes;
}

void timeline_loss(const struct timeline *t, struct timeline_loss *out)
{
	*out = t->loss;
}
