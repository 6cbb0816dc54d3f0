#include "profile/profiler/unwinder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/map.h"
#include "collect/sample/mmap_ring.h"
#include "collect/sample/unwind_maps.h"
#include "symbol/symbolizer.h"
#include "symbol/unwind_table.h"

#define PROCESSES_MAX 65536U
#define RUNNING_NS \
	6000000000ULL /* a busy machine gives us little time, and its samples are of those that run */
#define OTHERS_NS 2000000000ULL
#define NOT_ADDED 0U /* else the number in the kernel + 1 */
#define NO_ROOM   UINT32_MAX

/* A process that is still to be handed over. */
struct due {
	uint32_t tgid;
	uint32_t times; /* 0 = it has exited */
};

struct unwinder {
	struct symbolizer *symbols;
	struct unwind_maps *maps;
	struct map *wanted; /* tgids; NULL = all */
	struct map *places; /* tgid -> place in due */
	struct due *due;
	uint32_t nr_due, due_room;
	uint32_t *hurried; /* tgids in due that come first */
	uint32_t nr_hurried, hurried_room;
	uint32_t *again; /* tgids, within a flush */
	uint32_t again_room;
	uint32_t *numbers; /* of tables in the kernel, by those of the symbolizer */
	uint32_t nr_numbers;
	uint64_t until_ns;               /* of the flush */
	struct unwind_mapping *mappings; /* of the process that is handed over */
	uint32_t nr, room;
};

int unwinder_new(struct symbolizer *symbols, struct unwind_maps *maps, uint32_t tgid,
                 struct unwinder **out)
{
	SCOPED(scoped_unwinder) struct unwinder *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->symbols = symbols;
	u->maps = maps;
	err = map_new(sizeof(uint32_t), PROCESSES_MAX, &u->places);
	if (!err && tgid) {
		err = map_new(sizeof(uint32_t), PROCESSES_MAX, &u->wanted);
		if (!err)
			err = map_insert(u->wanted, &tgid, 0);
	}
	if (err)
		return err;
	*out = TAKE_PTR(u);
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	map_free(u->places);
	free(u->due);
	free(u->hurried);
	free(u->again);
	map_free(u->wanted);
	free(u->numbers);
	free(u->mappings);
	free(u);
}

static int note(struct unwinder *u, uint32_t tgid, uint32_t times)
{
	uint32_t at;
	int err;

	if (u->wanted && !map_find(u->wanted, &tgid, &at))
		return 0;
	if (map_find(u->places, &tgid, &at)) {
		if (u->due[at].times < times)
			u->due[at].times = times;
		return 0;
	}
	err = GROW(u->due, u->due_room, u->nr_due);
	if (!err)
		err = map_insert(u->places, &tgid, u->nr_due);
	if (!err)
		u->due[u->nr_due++] = (struct due){ tgid, times };
	return err == -E2BIG
	               ? 0
	               : err; /* so many at once: the last ones are walked by frame pointers */
}

int unwinder_mapped(struct unwinder *u, uint32_t tgid)
{
	return note(u, tgid, 1);
}

int unwinder_hurry(struct unwinder *u, uint32_t tgid)
{
	int err = GROW(u->hurried, u->hurried_room, u->nr_hurried);

	if (!err)
		u->hurried[u->nr_hurried++] = tgid;
	return err;
}

/* Mappings are reported before the kernel forgets the older ones: what was handed over in between is handed over again. */
static int note_exec(struct unwinder *u, uint32_t tgid)
{
	return note(u, tgid, 2);
}

/* The kernel has copied what it knew of the parent. */
static int note_fork(struct unwinder *u, uint32_t parent, uint32_t child)
{
	uint32_t unused, at;
	int err = 0;

	if (u->wanted && map_find(u->wanted, &parent, &unused))
		err = map_insert(u->wanted, &child, 0);
	if (err == -E2BIG)
		return 0;
	return !err && map_find(u->places, &parent, &at) ? note(u, child, u->due[at].times) : err;
}

static void note_exit(struct unwinder *u, uint32_t tgid)
{
	uint32_t at;

	if (map_find(u->places, &tgid, &at))
		u->due[at].times = 0;
	if (u->wanted)
		map_remove(u->wanted, &tgid);
}

int unwinder_take(struct unwinder *u, const struct mmap_report *r)
{
	switch (r->what) {
	case MMAP_MAPPED:
		return unwinder_mapped(u, r->tgid);
	case MMAP_EXEC:
		return note_exec(u, r->tgid);
	case MMAP_FORK:
		return note_fork(u, r->parent_tgid, r->tgid);
	case MMAP_EXIT:
		note_exit(u, r->tgid);
		break;
	}
	return 0;
}

/* The number of a table in the kernel, where it is now if it was not; false: there is no room. */
static bool number_of(struct unwinder *u, const struct symbol_table *t, bool *is_new, uint32_t *out)
{
	const struct unwind_row *rows;
	uint32_t nr, *slot;

	if (GROW_ZEROED(u->numbers, u->nr_numbers, t->number))
		return false;
	slot = &u->numbers[t->number];
	*is_new = *slot == NOT_ADDED;
	if (*slot == NOT_ADDED) {
		rows = unwind_table_rows(t->table, &nr);
		*slot = unwind_maps_add_table(u->maps, rows, nr, out) ? NO_ROOM : *out + 1;
	}
	*out = *slot - 1;
	return *slot != NO_ROOM;
}

static int add_mapping(void *ctx, const struct symbol_table *t)
{
	struct unwinder *u = ctx;
	bool is_new = false;
	uint32_t number;

	if (!number_of(u, t, &is_new, &number))
		return 0;
	/* What was made stays, and the rest comes the next time: each table is new once. */
	if (is_new && clock_boot_ns() >= u->until_ns)
		return -EAGAIN;
	if (GROW(u->mappings, u->room, u->nr))
		return -ENOMEM;
	u->mappings[u->nr++] = (struct unwind_mapping){ t->start, t->end, t->base, number };
	return 0;
}

static int hand_over(struct unwinder *u, uint32_t tgid, uint64_t as_of_ns)
{
	int err;

	u->nr = 0;
	err = symbolizer_tables(u->symbols, tgid, as_of_ns, add_mapping, u);
	if (!err && u->nr)
		err = unwind_maps_set_process(u->maps, tgid, as_of_ns, u->mappings, u->nr);
	/* The others leave it to frame pointers. */
	return err == -ENOMEM || err == -EAGAIN ? err : 0;
}

/* Hands a process over, and remembers whether that has to be done once more. */
static int flush_one(struct unwinder *u, const struct due *d, uint64_t as_of_ns, uint32_t *nr_again)
{
	int err = d->times ? hand_over(u, d->tgid, as_of_ns) : 0;

	if (err || d->times < 2)
		return err;
	err = GROW(u->again, u->again_room, *nr_again);
	if (!err)
		u->again[(*nr_again)++] = d->tgid;
	return err;
}

static bool is_time_over(const struct unwinder *u)
{
	return clock_boot_ns() >= u->until_ns;
}

static int flush_hurried(struct unwinder *u, uint64_t as_of_ns, uint32_t *nr_again)
{
	uint32_t at;
	int err = 0;

	while (!err && u->nr_hurried && !is_time_over(u)) {
		if (map_find(u->places, &u->hurried[u->nr_hurried - 1], &at)) {
			err = flush_one(u, &u->due[at], as_of_ns, nr_again);
			if (!err)
				u->due[at].times = 0;
		}
		if (!err)
			u->nr_hurried--;
	}
	return err;
}

static int flush_due(struct unwinder *u, uint64_t as_of_ns, uint32_t *nr_again)
{
	int err = 0;

	while (!err && u->nr_due && !is_time_over(u)) {
		struct due d = u->due[--u->nr_due];

		map_remove(u->places, &d.tgid);
		err = flush_one(u, &d, as_of_ns, nr_again);
		if (err == -EAGAIN && note(u, d.tgid, d.times))
			err = -ENOMEM;
	}
	return err;
}

static int note_again(struct unwinder *u, uint32_t nr_again)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nr_again; i++)
		err = note(u, u->again[i], 1);
	return err;
}

int unwinder_begin(struct unwinder *u)
{
	uint64_t now_ns = clock_boot_ns();
	uint32_t nr_again = 0;
	int err;

	u->until_ns = now_ns + RUNNING_NS;
	err = flush_hurried(u, now_ns, &nr_again);
	u->until_ns = now_ns + OTHERS_NS;
	if (!err)
		err = flush_due(u, now_ns, &nr_again);
	return err && err != -EAGAIN ? err : note_again(u, nr_again);
}

int unwinder_flush(struct unwinder *u, uint64_t as_of_ns, uint64_t until_ns)
{
	uint32_t nr_again = 0;
	int err;

	u->until_ns = until_ns;
	err = flush_hurried(u, as_of_ns, &nr_again);
	if (!err)
		err = flush_due(u, as_of_ns, &nr_again);
	return err && err != -EAGAIN ? err : note_again(u, nr_again);
}
