#include "model/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"
#include "model/timeline_priv.h"

#define DEFAULT_CAP_BYTES ((size_t)1 << 30)
/* Times lie as far before the first row of their chunk as behind it. */
#define BEFORE_NS (1U << 30)
#define COL(type, field)                                                               \
	{                                                                              \
		offsetof(struct type, field), sizeof(((struct type *)0)->field), false \
	}
#define TIME(type, field)                             \
	{                                             \
		offsetof(struct type, field), 4, true \
	}

static uint64_t wait_start(const union timeline_row *r)
{
	return pair_wait_woken_ns(&r->wait); /* for queries by time it begins with the waking */
}

static uint64_t first_word(const union timeline_row *r)
{
	return r->slice.start_ns; /* all but waits begin with their start, or their moment */
}

const struct timeline_def timeline_defs[TIMELINE_TABLES] = {
	[TIMELINE_SLICE] = { { TIME(pair_slice, start_ns), TIME(pair_slice, end_ns),
	                       COL(pair_slice, task), COL(pair_slice, cpu), COL(pair_slice, prio),
	                       COL(pair_slice, state_bits), COL(pair_slice, end),
	                       COL(pair_slice, policy) },
	                     first_word,
	                     offsetof(struct pair_slice, end_ns),
	                     offsetof(struct pair_slice, task),
	                     offsetof(struct pair_slice, cpu) },
	[TIMELINE_WAIT] = { { TIME(pair_wait, waking_ns), TIME(pair_wait, wakeup_ns),
	                      TIME(pair_wait, end_ns), COL(pair_wait, task), COL(pair_wait, waker),
	                      COL(pair_wait, waker_cpu), COL(pair_wait, by),
	                      COL(pair_wait, from_cpu), COL(pair_wait, cpu), COL(pair_wait, cause),
	                      COL(pair_wait, flags), COL(pair_wait, is_open) },
	                    wait_start,
	                    offsetof(struct pair_wait, end_ns),
	                    offsetof(struct pair_wait, task),
	                    offsetof(struct pair_wait, cpu) },
	[TIMELINE_SLEEP] = { { TIME(pair_sleep, start_ns), TIME(pair_sleep, end_ns),
	                       COL(pair_sleep, arg), COL(pair_sleep, task), COL(pair_sleep, waker),
	                       COL(pair_sleep, cpu), COL(pair_sleep, by), COL(pair_sleep, call),
	                       COL(pair_sleep, dev), COL(pair_sleep, state_bits),
	                       COL(pair_sleep, state), COL(pair_sleep, flags),
	                       COL(pair_sleep, is_open) },
	                     first_word,
	                     offsetof(struct pair_sleep, end_ns),
	                     offsetof(struct pair_sleep, task),
	                     offsetof(struct pair_sleep, cpu) },
	[TIMELINE_WAKEUP] = { { TIME(pair_wakeup, ts_ns), COL(pair_wakeup, task),
	                        COL(pair_wakeup, waker), COL(pair_wakeup, cpu),
	                        COL(pair_wakeup, target_cpu), COL(pair_wakeup, by),
	                        COL(pair_wakeup, is_new), COL(pair_wakeup, is_running),
	                        COL(pair_wakeup, flags) },
	                      first_word,
	                      offsetof(struct pair_wakeup, ts_ns),
	                      offsetof(struct pair_wakeup, task),
	                      offsetof(struct pair_wakeup, cpu) },
	[TIMELINE_MIGRATION] = { { TIME(pair_migration, ts_ns), COL(pair_migration, task),
	                           COL(pair_migration, cpu), COL(pair_migration, from_cpu),
	                           COL(pair_migration, to_cpu) },
	                         first_word,
	                         offsetof(struct pair_migration, ts_ns),
	                         offsetof(struct pair_migration, task),
	                         offsetof(struct pair_migration, cpu) },
	[TIMELINE_SPAN] = { { TIME(pair_span, start_ns), TIME(pair_span, end_ns),
	                      COL(pair_span, id), COL(pair_span, value), COL(pair_span, task),
	                      COL(pair_span, name_id), COL(pair_span, category_id),
	                      COL(pair_span, cpu), COL(pair_span, kind), COL(pair_span, flags) },
	                    first_word,
	                    offsetof(struct pair_span, end_ns),
	                    offsetof(struct pair_span, task),
	                    offsetof(struct pair_span, cpu) },
	[TIMELINE_COUNTER] = { { TIME(pair_counter, ts_ns), COL(pair_counter, value),
	                         COL(pair_counter, id), COL(pair_counter, tgid),
	                         COL(pair_counter, cpu), COL(pair_counter, kind) },
	                       first_word,
	                       offsetof(struct pair_counter, ts_ns),
	                       TIMELINE_NO_FIELD,
	                       offsetof(struct pair_counter, cpu) },
	[TIMELINE_MARK] = { { TIME(pair_mark, ts_ns), COL(pair_mark, value), COL(pair_mark, task),
	                      COL(pair_mark, name_id), COL(pair_mark, cpu), COL(pair_mark, kind),
	                      COL(pair_mark, flags) },
	                    first_word,
	                    offsetof(struct pair_mark, ts_ns),
	                    offsetof(struct pair_mark, task),
	                    offsetof(struct pair_mark, cpu) },
	[TIMELINE_IDLE] = { { TIME(pair_idle, start_ns), TIME(pair_idle, end_ns),
	                      COL(pair_idle, cpu), COL(pair_idle, is_open) },
	                    first_word,
	                    offsetof(struct pair_idle, end_ns),
	                    TIMELINE_NO_FIELD,
	                    offsetof(struct pair_idle, cpu) },
	[TIMELINE_GAP] = { { TIME(pair_gap, start_ns), TIME(pair_gap, end_ns), COL(pair_gap, task),
	                     COL(pair_gap, cpu), COL(pair_gap, reason) },
	                   first_word,
	                   offsetof(struct pair_gap, end_ns),
	                   offsetof(struct pair_gap, task),
	                   offsetof(struct pair_gap, cpu) },
	[TIMELINE_DSQ] = { { TIME(pair_dsq, start_ns), TIME(pair_dsq, end_ns),
	                     COL(pair_dsq, dsq_id), COL(pair_dsq, vtime), COL(pair_dsq, task),
	                     COL(pair_dsq, layer), COL(pair_dsq, cpu), COL(pair_dsq, how),
	                     COL(pair_dsq, flags), COL(pair_dsq, is_moved),
	                     COL(pair_dsq, has_start) },
	                   first_word,
	                   offsetof(struct pair_dsq, end_ns),
	                   offsetof(struct pair_dsq, task),
	                   offsetof(struct pair_dsq, cpu) },
	[TIMELINE_RUN] = { { TIME(pair_run, ts_ns), COL(pair_run, dsq_id), COL(pair_run, slice_ns),
	                     COL(pair_run, vtime), COL(pair_run, task), COL(pair_run, layer),
	                     COL(pair_run, cpu), COL(pair_run, flags) },
	                   first_word,
	                   offsetof(struct pair_run, ts_ns),
	                   offsetof(struct pair_run, task),
	                   offsetof(struct pair_run, cpu) },
	[TIMELINE_PMU] = { { TIME(pair_pmu, ts_ns), COL(pair_pmu, value), COL(pair_pmu, task),
	                     COL(pair_pmu, cpu), COL(pair_pmu, index) },
	                   first_word,
	                   offsetof(struct pair_pmu, ts_ns),
	                   offsetof(struct pair_pmu, task),
	                   offsetof(struct pair_pmu, cpu) },
	[TIMELINE_THROTTLE] = { { TIME(pair_throttle, start_ns), TIME(pair_throttle, end_ns),
	                          COL(pair_throttle, cgroup), COL(pair_throttle, quota_ns),
	                          COL(pair_throttle, period_ns), COL(pair_throttle, task),
	                          COL(pair_throttle, cpu), COL(pair_throttle, limit) },
	                        first_word,
	                        offsetof(struct pair_throttle, end_ns),
	                        offsetof(struct pair_throttle, task),
	                        offsetof(struct pair_throttle, cpu) },
	[TIMELINE_STEAL] = { { TIME(pair_steal, start_ns), TIME(pair_steal, end_ns),
	                       COL(pair_steal, ns), COL(pair_steal, cpu) },
	                     first_word,
	                     offsetof(struct pair_steal, end_ns),
	                     TIMELINE_NO_FIELD,
	                     offsetof(struct pair_steal, cpu) },
};

int timeline_new(const struct timeline_cfg *cfg, struct timeline **out)
{
	SCOPED(scoped_timeline) struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	if (cfg->window_ns && !(t->shared = timeline_shared_new()))
		return -ENOMEM;
	if (!t->cfg.cap_bytes)
		t->cfg.cap_bytes = DEFAULT_CAP_BYTES;
	if (!t->cfg.tables)
		t->cfg.tables = TIMELINE_ALL;
	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		struct timeline_rows *tab = &t->tables[i];

		tab->def = &timeline_defs[i];
		for (uint32_t k = 0; k < TIMELINE_MAX_COLS && tab->def->cols[k].size; k++)
			tab->row_bytes += tab->def->cols[k].size;
	}
	*out = TAKE_PTR(t);
	return 0;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		struct timeline_rows *tab = &t->tables[i];

		for (uint32_t k = 0; k < tab->nr_chunks; k++)
			timeline_chunk_put(tab->chunks[k]);
		free(tab->chunks);
		free(tab->ends);
		timeline_chunk_put(tab->spare);
		timeline_list_done(&tab->by_task);
		timeline_list_done(&tab->by_cpu);
	}
	timeline_shared_put(t->shared);
	free(t);
}

static bool has_chunk_slot(struct timeline_rows *tab)
{
	uint32_t max_ends = tab->max_chunks;

	return !GROW(tab->ends, max_ends, tab->nr_chunks) &&
	       !GROW(tab->chunks, tab->max_chunks, tab->nr_chunks);
}

static struct timeline_chunk *new_chunk(struct timeline *t, struct timeline_rows *tab)
{
	size_t bytes = timeline_chunk_bytes(tab);
	struct timeline_chunk *c;

	if (!has_chunk_slot(tab))
		return NULL;
	c = tab->spare;
	tab->spare = NULL;
	if (!c) {
		c = timeline_make_room(t, bytes) ? malloc(bytes) : NULL;
		if (!c)
			return NULL;
		t->bytes += bytes;
		c->far = NULL;
		c->max_far = 0;
		c->bytes = bytes;
		c->budget = t->cfg.budget;
		atomic_init(&c->refs, 1);
	}
	c->min_start_ns = UINT64_MAX;
	c->min_end_ns = UINT64_MAX;
	c->max_end_ns = 0;
	c->nr_far = 0;
	tab->chunks[tab->nr_chunks++] = c;
	return c;
}

/* A place for one more; memory for it counts, though the cap only holds back chunks. */
static bool pack_far(struct timeline *t, struct timeline_chunk *c, uint64_t ns, uint32_t *out)
{
	uint32_t max = c->max_far;
	size_t bytes;

	if (!ns) {
		*out = TIMELINE_NONE;
		return true;
	}
	if (GROW(c->far, c->max_far, c->nr_far))
		return false;
	bytes = (c->max_far - max) * sizeof(*c->far);
	if (bytes && !budget_take(c->budget, bytes)) {
		c->max_far = max; /* it may fit another time */
		return false;
	}
	t->bytes += bytes;
	c->bytes += bytes;
	*out = TIMELINE_FAR | c->nr_far;
	c->far[c->nr_far++] = ns;
	return true;
}

static ALWAYS_INLINE bool put_time(struct timeline *t, struct timeline_chunk *c, void *to,
                                   const void *from)
{
	uint64_t ns;
	uint32_t packed;

	memcpy(&ns, from, sizeof(ns));
	packed = (uint32_t)(ns - c->base_ns);
	if (ns - c->base_ns >= TIMELINE_NONE && !pack_far(t, c, ns, &packed))
		return false;
	memcpy(to, &packed, sizeof(packed));
	return true;
}

/* By constant sizes: copies of unknown size are calls. */
static ALWAYS_INLINE void copy_field(void *to, const void *from, uint16_t size)
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

static ALWAYS_INLINE bool put(struct timeline *t, struct timeline_chunk *c,
                              const struct timeline_def *def, uint32_t at, const void *row)
{
	uint8_t *col = c->data;

#pragma GCC unroll 12
	for (uint32_t i = 0; i < TIMELINE_MAX_COLS; i++) {
		const struct timeline_col *f = &def->cols[i];
		const uint8_t *from = (const uint8_t *)row + f->offset;

		if (!f->size)
			break;
		if (!f->is_time)
			copy_field(col + (size_t)at * f->size, from, f->size);
		else if (!put_time(t, c, col + (size_t)at * f->size, from))
			return false;
		col += (size_t)f->size * TIMELINE_CHUNK_ROWS;
	}
	return true;
}

static ALWAYS_INLINE void note_times(struct timeline *t, struct timeline_rows *tab,
                                     struct timeline_chunk *c, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < c->min_start_ns)
		c->min_start_ns = start_ns;
	if (end_ns < c->min_end_ns)
		c->min_end_ns = end_ns;
	if (end_ns > c->max_end_ns)
		c->max_end_ns = end_ns;
	if (end_ns - start_ns > tab->max_len_ns)
		tab->max_len_ns = end_ns - start_ns;
	if (end_ns > t->latest_ns)
		t->latest_ns = end_ns;
}

static struct timeline_chunk *begin_chunk(struct timeline *t, struct timeline_rows *tab,
                                          uint64_t end_ns)
{
	const struct timeline_chunk *last = tab->nr_chunks ? tab->chunks[tab->nr_chunks - 1] : NULL;
	struct timeline_chunk *c;

	if (last)
		tab->ends[tab->nr_chunks - 1] = (struct chunk_ends){ last->min_end_ns,
			                                             last->max_end_ns };
	c = new_chunk(t, tab);
	if (c)
		c->base_ns = end_ns > BEFORE_NS ? end_ns - BEFORE_NS : 0;
	return c;
}

/* Inlined with a table that is known, so that nothing of its definition is left to be looked up. */
static ALWAYS_INLINE void append(struct timeline *t, enum timeline_table table, const void *row)
{
	const struct timeline_def *def = &timeline_defs[table];
	struct timeline_rows *tab = &t->tables[table];
	uint32_t at = (uint32_t)((tab->end - tab->first) % TIMELINE_CHUNK_ROWS);
	uint64_t start_ns = def->start(row), end_ns;
	struct timeline_chunk *c;

	if (!(t->cfg.tables & 1U << table))
		return;
	memcpy(&end_ns, (const uint8_t *)row + def->end_offset, sizeof(end_ns));
	c = at ? tab->chunks[tab->nr_chunks - 1] : begin_chunk(t, tab, end_ns);
	if (!c || !put(t, c, def, at, row)) {
		t->loss.dropped++;
		return;
	}
	note_times(t, tab, c, start_ns, end_ns);
	tab->end++;
	while (t->cfg.window_ns && tab->nr_chunks > 1 &&
	       t->latest_ns - tab->chunks[0]->max_end_ns > t->cfg.window_ns)
		timeline_forget(t, tab, true);
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
APPEND(dsq, TIMELINE_DSQ)
APPEND(run, TIMELINE_RUN)
APPEND(pmu, TIMELINE_PMU)
APPEND(throttle, TIMELINE_THROTTLE)
APPEND(steal, TIMELINE_STEAL)

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
		.dsq = append_dsq,
		.run = append_run,
		.pmu = append_pmu,
		.throttle = append_throttle,
		.steal = append_steal,
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

bool timeline_cell(const struct timeline *t, enum timeline_table table, size_t offset, uint64_t id,
                   struct timeline_cell *out)
{
	const struct timeline_rows *tab = &t->tables[table];
	const struct timeline_col *f = tab->def->cols;
	uint64_t at = id - tab->first;
	size_t before = 0;

	if (id < tab->first || id >= tab->end)
		return false;
	for (; f < tab->def->cols + TIMELINE_MAX_COLS && f->size && f->offset != offset; f++)
		before += (size_t)f->size * TIMELINE_CHUNK_ROWS;
	if (f == tab->def->cols + TIMELINE_MAX_COLS || !f->size)
		return false;
	out->c = tab->chunks[at / TIMELINE_CHUNK_ROWS];
	out->col = f;
	out->at = out->c->data + before + at % TIMELINE_CHUNK_ROWS * f->size;
	return true;
}

/* Rows from id to the end of its chunk. */
static uint32_t rows_left(const struct timeline_rows *tab, uint64_t id)
{
	uint32_t nr = TIMELINE_CHUNK_ROWS - (uint32_t)((id - tab->first) % TIMELINE_CHUNK_ROWS);

	return nr < tab->end - id ? nr : (uint32_t)(tab->end - id);
}

const void *timeline_column(const struct timeline *t, enum timeline_table table, size_t offset,
                            uint64_t id, uint32_t *nr)
{
	struct timeline_cell cell;

	if (!timeline_cell(t, table, offset, id, &cell) || cell.col->is_time)
		return NULL;
	*nr = rows_left(&t->tables[table], id);
	return cell.at;
}

#define UNPACK_AT_ONCE 16U
#define AT_A_TIME      4U

typedef uint32_t packed_times __attribute__((vector_size(AT_A_TIME * sizeof(uint32_t))));
typedef uint64_t half_of_times __attribute__((vector_size(AT_A_TIME * sizeof(uint32_t))));

/* Near times of so many rows, without a branch; true if one is far and has to be looked up. Compilers leave it scalar by themselves. */
static ALWAYS_INLINE bool unpack_near(const uint32_t *packed, uint64_t base_ns, uint64_t *out)
{
	const packed_times none = { TIMELINE_NONE, TIMELINE_NONE, TIMELINE_NONE, TIMELINE_NONE };
	packed_times all = { 0 }, zero = { 0 };

	for (uint32_t i = 0; i < UNPACK_AT_ONCE; i += AT_A_TIME) {
		packed_times near, is_there;
		half_of_times low, high;

		memcpy(&near, packed + i, sizeof(near));
		is_there = (packed_times)(near != none);
		low = (half_of_times)__builtin_shufflevector(near, zero, 0, 4, 1, 5) + base_ns;
		high = (half_of_times)__builtin_shufflevector(near, zero, 2, 4, 3, 5) + base_ns;
		low &= (half_of_times)__builtin_shufflevector(is_there, is_there, 0, 0, 1, 1);
		high &= (half_of_times)__builtin_shufflevector(is_there, is_there, 2, 2, 3, 3);
		memcpy(out + i, &low, sizeof(low));
		memcpy(out + i + AT_A_TIME / 2, &high, sizeof(high));
		all |= near;
	}
	return (all[0] | all[1] | all[2] | all[3]) & TIMELINE_FAR;
}

/* Every analysis begins here, for every row: far times are rare, so that most go sixteen at once. */
static void unpack_times(const struct timeline_cell *cell, uint32_t nr, uint64_t *out)
{
	const uint32_t *packed = (const uint32_t *)(const void *)cell->at;
	uint32_t i = 0;

	for (; i + UNPACK_AT_ONCE <= nr; i += UNPACK_AT_ONCE)
		if (unpack_near(packed + i, cell->c->base_ns, out + i))
			for (uint32_t k = i; k < i + UNPACK_AT_ONCE; k++)
				out[k] = timeline_unpack(cell->c, packed[k]);
	for (; i < nr; i++)
		out[i] = timeline_unpack(cell->c, packed[i]);
}

uint32_t timeline_times(const struct timeline *t, enum timeline_table table, size_t offset,
                        uint64_t id, uint64_t *out, uint32_t max)
{
	const struct timeline_rows *tab = &t->tables[table];
	struct timeline_cell cell;
	uint32_t nr = 0, here;

	while (nr < max && timeline_cell(t, table, offset, id + nr, &cell) && cell.col->is_time) {
		here = rows_left(tab, id + nr);
		here = here < max - nr ? here : max - nr;
		unpack_times(&cell, here, out + nr);
		nr += here;
	}
	return nr;
}

static ALWAYS_INLINE void get(const struct timeline_chunk *c, const struct timeline_def *def,
                              uint32_t at, uint8_t *row)
{
	const uint8_t *col = c->data;
	uint64_t ns;
	uint32_t packed;

#pragma GCC unroll 12
	for (uint32_t i = 0; i < TIMELINE_MAX_COLS; i++) {
		const struct timeline_col *f = &def->cols[i];

		if (!f->size)
			break;
		if (f->is_time) {
			memcpy(&packed, col + (size_t)at * 4, sizeof(packed));
			ns = timeline_unpack(c, packed);
			memcpy(row + f->offset, &ns, sizeof(ns));
		} else {
			copy_field(row + f->offset, col + (size_t)at * f->size, f->size);
		}
		col += (size_t)f->size * TIMELINE_CHUNK_ROWS;
	}
}

bool timeline_row(const struct timeline *t, enum timeline_table table, uint64_t id,
                  union timeline_row *out)
{
	const struct timeline_rows *tab = &t->tables[table];
	uint64_t at = id - tab->first;
	const struct timeline_chunk *c;

	if (id < tab->first || id >= tab->end)
		return false;
	memset(out, 0, sizeof(*out));
	c = tab->chunks[at / TIMELINE_CHUNK_ROWS];
	at %= TIMELINE_CHUNK_ROWS;
	/* The tables that are walked most, each with its definition built in. */
	switch (table) {
	case TIMELINE_SLICE:
		get(c, &timeline_defs[TIMELINE_SLICE], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_WAIT:
		get(c, &timeline_defs[TIMELINE_WAIT], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_SLEEP:
		get(c, &timeline_defs[TIMELINE_SLEEP], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_WAKEUP:
		get(c, &timeline_defs[TIMELINE_WAKEUP], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_SPAN:
		get(c, &timeline_defs[TIMELINE_SPAN], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_COUNTER:
		get(c, &timeline_defs[TIMELINE_COUNTER], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_MARK:
		get(c, &timeline_defs[TIMELINE_MARK], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_DSQ:
		get(c, &timeline_defs[TIMELINE_DSQ], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_RUN:
		get(c, &timeline_defs[TIMELINE_RUN], (uint32_t)at, (uint8_t *)out);
		break;
	case TIMELINE_PMU:
		get(c, &timeline_defs[TIMELINE_PMU], (uint32_t)at, (uint8_t *)out);
		break;
	default:
		get(c, tab->def, (uint32_t)at, (uint8_t *)out);
		break;
	}
	return true;
}

size_t timeline_bytes(const struct timeline *t)
{
	size_t bytes = t->bytes;

	for (uint32_t i = 0; i < TIMELINE_TABLES; i++)
		bytes += timeline_list_bytes(&t->tables[i].by_task) +
		         timeline_list_bytes(&t->tables[i].by_cpu);
	return bytes;
}

void timeline_loss(const struct timeline *t, struct timeline_loss *out)
{
	*out = t->loss;
}
