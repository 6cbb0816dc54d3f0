/*
 * Indexes of a timeline: its rows by task or by CPU.
 *
 * An index is a list of parts, one behind the other, in the ids of their rows and in the times at which these end; a part never
 * changes. A recording has one part. A timeline with a window and its snapshots share the parts of full chunks, so that a
 * snapshot indexes only what has come since the one before: a part is built by the first one that needs it, for all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/timeline_priv.h"

#define MAX_STEPS 8 /* per row, of sorting what is nearly in order */
/* Rows of a shared part: the last one is built anew until it has so many, the first one whenever rows of it are forgotten. */
#define PART_ROWS (32ULL * TIMELINE_CHUNK_ROWS)

static void put(struct timeline_index *ix)
{
	if (!ix || atomic_fetch_sub(&ix->refs, 1) > 1)
		return;
	free(ix->starts);
	free(ix->order);
	free(ix);
}

void timeline_list_done(struct timeline_list *list)
{
	for (uint32_t i = 0; i < list->nr; i++)
		put(list->parts[i]);
	free(list->parts);
	*list = (struct timeline_list){ 0 };
}

size_t timeline_list_bytes(const struct timeline_list *list)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < list->nr; i++)
		bytes += list->parts[i]->bytes;
	return bytes;
}

uint64_t timeline_end_at(const struct timeline *t, enum timeline_table table, uint64_t id)
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
	uint64_t first, end; /* ids of the rows */
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
	const struct timeline_def *def = b->t->tables[b->table].def;

	b->id = b->nr ? b->id + b->nr : b->first;
	b->column = b->id < b->end
	                    ? timeline_column(b->t, b->table,
	                                      b->is_task ? def->task_offset : def->cpu_offset,
	                                      b->id, &b->nr)
	                    : NULL;
	if (!b->column)
		b->nr = 0;
	else if (b->nr > b->end - b->id)
		b->nr = (uint32_t)(b->end - b->id);
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

	ix->min_end_ns = UINT64_MAX;
	while (next_rows(b)) {
		(void)timeline_times(b->t, b->table, b->t->tables[b->table].def->end_offset, b->id,
		                     ends_ns, b->nr);
		for (uint32_t i = 0; i < b->nr; i++) {
			uint32_t key = key_at(b, i);

			b->last_ns[key] = ends_ns[i] < b->last_ns[key] ? UNSORTED : ends_ns[i];
			ix->min_end_ns = ends_ns[i] < ix->min_end_ns ? ends_ns[i] : ix->min_end_ns;
			ix->max_end_ns = ends_ns[i] > ix->max_end_ns ? ends_ns[i] : ix->max_end_ns;
			ix->order[b->next[key]++] = (uint32_t)(b->id - ix->first) + i;
		}
	}
}

/* By end, of equal ones by id. */
static int compare_rows(const void *left, const void *right, void *building)
{
	const struct index_build *b = building;
	uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
	uint64_t x_ns = timeline_end_at(b->t, b->table, b->first + x);
	uint64_t y_ns = timeline_end_at(b->t, b->table, b->first + y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return (x > y) - (x < y);
}

/* Moves late rows to their places; false if that takes too many steps. */
static bool insert_late(const struct index_build *b, uint32_t *order, uint32_t nr)
{
	uint64_t first = b->first, steps_left = MAX_STEPS * (uint64_t)nr;
	uint64_t last_ns = 0, end_ns;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = order[i], k = i;

		end_ns = timeline_end_at(b->t, b->table, first + row);
		if (end_ns >= last_ns) {
			last_ns = end_ns;
			continue;
		}
		for (; k && steps_left &&
		       timeline_end_at(b->t, b->table, first + order[k - 1]) > end_ns;
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

/* Of the rows from first up to end; NULL without memory. */
static struct timeline_index *build(const struct index_build *of, uint64_t first, uint64_t end)
{
	struct index_build b = *of;
	struct timeline_index *ix = calloc(1, sizeof(*ix));

	if (!ix)
		return NULL;
	b.first = ix->first = first;
	b.end = ix->end = end;
	atomic_init(&ix->refs, 1);
	ix->nr_keys = count_keys(&b);
	if (allocate(&b, ix) == 0) {
		set_starts(&b, ix);
		place_rows(&b, ix);
		sort_late(&b, ix);
	} else {
		put(ix);
		ix = NULL;
	}
	free(b.next);
	free(b.last_ns);
	return ix;
}

/*
 * A part of these rows behind the others. Parts of which it has all rows, or of which a row ends later than one of its own, become
 * part of it. -ENOMEM leaves the list as it is.
 */
static int add_part(const struct index_build *of, struct timeline_list *list, uint64_t first,
                    uint64_t end)
{
	struct timeline_index *ix = build(of, first, end), *more;
	uint32_t nr = list->nr;

	for (; ix && nr; nr--) {
		const struct timeline_index *last = list->parts[nr - 1];

		if (last->end <= ix->first && last->max_end_ns <= ix->min_end_ns)
			break;
		if (last->first < ix->first) {
			more = build(of, last->first, end);
			put(ix);
			ix = more;
		}
	}
	if (!ix || GROW(list->parts, list->max, list->nr)) {
		put(ix);
		return -ENOMEM;
	}
	while (list->nr > nr)
		put(list->parts[--list->nr]);
	list->parts[list->nr++] = ix;
	return 0;
}

/* Takes forgotten rows out of the shared parts. */
static int trim(const struct index_build *of, struct timeline_list *all, uint64_t first)
{
	struct timeline_index *ix;
	uint32_t nr = 0;

	while (nr < all->nr && all->parts[nr]->end <= first)
		put(all->parts[nr++]);
	all->nr -= nr;
	if (!all->nr)
		return 0;
	memmove(all->parts, all->parts + nr, all->nr * sizeof(struct timeline_index *));
	if (all->parts[0]->first >= first)
		return 0;
	ix = build(of, first, all->parts[0]->end);
	if (!ix)
		return -ENOMEM;
	put(all->parts[0]);
	all->parts[0] = ix;
	return 0;
}

/* Brings the shared parts up to the rows of this timeline, unless it is older than the one that did so last. */
static int extend(const struct index_build *of, struct timeline_list *all, uint64_t first,
                  uint64_t end)
{
	uint64_t at = all->nr ? all->parts[all->nr - 1]->end : first;
	int err;

	if (at > end || (all->nr && all->parts[0]->first > first))
		return 0;
	err = trim(of, all, first);
	if (!all->nr)
		at = first;
	while (!err && at < end) {
		const struct timeline_index *last = all->nr ? all->parts[all->nr - 1] : NULL;
		uint64_t from = last && last->end - last->first < PART_ROWS ? last->first : at;

		at = end - from > PART_ROWS ? from + PART_ROWS : end;
		err = add_part(of, all, from, at);
	}
	return err;
}

/* The shared parts of which the timeline has all rows, up to the first that is missing. */
static int take_shared(const struct index_build *of, struct timeline_list *list)
{
	const struct timeline_rows *tab = &of->t->tables[of->table];
	struct timeline_shared *s = of->t->shared;
	struct timeline_list *all = of->is_task ? &s->by_task[of->table] : &s->by_cpu[of->table];
	uint64_t at = tab->first, end = timeline_shared_end(of->t, tab);
	int err;

	pthread_mutex_lock(&s->lock);
	err = extend(of, all, tab->first, end);
	for (uint32_t i = 0; !err && i < all->nr && all->parts[i]->end <= end; i++) {
		if (all->parts[i]->first != at)
			continue;
		err = GROW(list->parts, list->max, list->nr) ? -ENOMEM : 0;
		if (err)
			break;
		atomic_fetch_add(&all->parts[i]->refs, 1);
		list->parts[list->nr++] = all->parts[i];
		at = all->parts[i]->end;
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

int timeline_list_make(struct timeline *t, enum timeline_table table, bool is_task)
{
	struct timeline_rows *tab = &t->tables[table];
	struct timeline_list *list = is_task ? &tab->by_task : &tab->by_cpu;
	struct index_build of = { .t = t, .table = table, .is_task = is_task };
	uint64_t at = tab->first;
	int err = 0;

	if (list->is_made && list->first == tab->first && list->end == tab->end)
		return 0;
	if (t->is_frozen)
		return -ENOTSUP;
	timeline_list_done(list);
	if (tab->end - tab->first > UINT32_MAX)
		return -E2BIG;
	if (t->shared)
		err = take_shared(&of, list);
	if (list->nr)
		at = list->parts[list->nr - 1]->end;
	if (!err && at < tab->end)
		err = add_part(&of, list, at, tab->end);
	if (err) {
		timeline_list_done(list);
		return err;
	}
	list->first = tab->first;
	list->end = tab->end;
	list->is_made = true;
	return 0;
}

struct timeline_shared *timeline_shared_new(void)
{
	struct timeline_shared *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	atomic_init(&s->refs, 1);
	if (pthread_mutex_init(&s->lock, NULL)) {
		free(s);
		return NULL;
	}
	return s;
}

void timeline_shared_put(struct timeline_shared *s)
{
	if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
		return;
	for (uint32_t i = 0; i < TIMELINE_TABLES; i++) {
		timeline_list_done(&s->by_task[i]);
		timeline_list_done(&s->by_cpu[i]);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int timeline_index(struct timeline *t, enum timeline_table table, bool is_by_task)
{
	if (is_by_task && t->tables[table].def->task_offset == TIMELINE_NO_FIELD)
		return 0;
	return timeline_list_make(t, table, is_by_task);
}

void timeline_freeze(struct timeline *t, bool is_frozen)
{
	t->is_frozen = is_frozen;
}
