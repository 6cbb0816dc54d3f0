#include "report/cells.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16U
#define DIGIT_BITS 8
#define DIGITS     (1U << DIGIT_BITS)

int cells_init(struct cells *c, uint32_t nr_buckets)
{
	*c = (struct cells){ .sets = calloc(nr_buckets ? nr_buckets : 1, sizeof(*c->sets)),
		             .nr_sets = nr_buckets };
	return c->sets ? 0 : -ENOMEM;
}

static void empty(struct cell_set *s)
{
	free(s->at);
	*s = (struct cell_set){ 0 };
}

void cells_done(struct cells *c)
{
	for (uint32_t i = 0; c->sets && i < c->nr_sets; i++)
		empty(&c->sets[i]);
	free(c->sets);
	*c = (struct cells){ 0 };
}

/* Its cell, or the free one where it belongs. */
static struct cell *place(const struct cell_set *s, uint64_t key)
{
	uint32_t mask = s->room - 1;
	uint32_t at = cells_first_place(s, key);

	while (s->at[at].key != key && s->at[at].key != CELLS_NO_KEY)
		at = (at + 1) & mask;
	return &s->at[at];
}

static int resize(struct cell_set *s, uint32_t room)
{
	struct cell_set larger = { .at = malloc(room * sizeof(*larger.at)),
		                   .nr = s->nr,
		                   .room = room };

	if (!larger.at)
		return -ENOMEM;
	memset(larger.at, 0xff, room * sizeof(*larger.at));
	for (uint32_t i = 0; i < s->room; i++)
		if (s->at[i].key != CELLS_NO_KEY)
			*place(&larger, s->at[i].key) = s->at[i];
	free(s->at);
	*s = larger;
	return 0;
}

static int add(struct cell_set *s, uint32_t first_room, uint64_t key, uint64_t a, uint64_t b)
{
	struct cell *cell;

	if ((s->nr + 1ULL) * 4 > s->room * 3ULL) {
		if (s->room > UINT32_MAX / 2 || resize(s, s->room ? s->room * 2 : first_room))
			return -ENOMEM;
	}
	cell = place(s, key);
	if (cell->key == CELLS_NO_KEY) {
		*cell = (struct cell){ .key = key };
		s->nr++;
	}
	cell->a += a;
	cell->b += b;
	return 0;
}

int cells_add_slowly(struct cells *c, uint32_t bucket, uint64_t key, uint64_t a, uint64_t b)
{
	struct cell_set *s = &c->sets[bucket];
	uint32_t nr = s->nr;
	int err = add(s, c->first_room ? c->first_room : FIRST_ROOM, key, a, b);

	c->nr += s->nr - nr;
	return err;
}

static int add_all(struct cell_set *into, const struct cell_set *from)
{
	int err = 0;

	for (uint32_t i = 0; i < from->room && !err; i++)
		if (from->at[i].key != CELLS_NO_KEY)
			err = add(into, FIRST_ROOM, from->at[i].key, from->at[i].a, from->at[i].b);
	return err;
}

static void count(struct cells *c)
{
	c->nr = 0;
	for (uint32_t i = 0; i < c->nr_sets; i++)
		c->nr += c->sets[i].nr;
}

/* The set of the bucket that two become; the second is empty behind the last. */
static int join(struct cell_set *first, struct cell_set *second)
{
	struct cell_set *large = first->nr >= second->nr ? first : second;
	struct cell_set *small = large == first ? second : first;
	int err = add_all(large, small);
	struct cell_set joined = *large;

	if (err)
		return err;
	empty(small);
	*second = (struct cell_set){ 0 };
	*first = joined;
	return 0;
}

static void move_sets(struct cells *c)
{
	uint32_t nr = (c->nr_sets + 1) / 2;

	for (size_t i = 1; i < nr; i++) {
		c->sets[i] = c->sets[2 * i];
		c->sets[2 * i] = (struct cell_set){ 0 };
	}
	c->nr_sets = nr;
	count(c);
}

int cells_halve(struct cells *c)
{
	int err = 0;

	for (uint32_t i = 0; i + 1 < c->nr_sets && !err; i += 2)
		err = join(&c->sets[i], &c->sets[i + 1]);
	if (!err)
		move_sets(c);
	return err;
}

void cells_halve_edges(struct cells *c)
{
	for (uint32_t i = 1; i < c->nr_sets; i += 2)
		empty(&c->sets[i]);
	move_sets(c);
}

int cells_rekey(struct cells *c, uint64_t (*key)(void *ctx, uint64_t key), void *ctx)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nr_sets && !err; i++) {
		struct cell_set old = c->sets[i], new = { 0 };

		/* Of full size from the start: in the order of one table, a smaller one fills in clusters. */
		if (old.nr)
			err = resize(&new, old.room);
		for (uint32_t k = 0; k < old.room && !err; k++)
			if (old.at[k].key != CELLS_NO_KEY)
				err = add(&new, FIRST_ROOM, key(ctx, old.at[k].key), old.at[k].a,
				          old.at[k].b);
		if (err) {
			empty(&new);
			break;
		}
		free(old.at);
		c->sets[i] = new;
	}
	count(c);
	return err;
}

int cells_reserve(struct cells *c, uint32_t bucket, uint32_t nr)
{
	struct cell_set *s = &c->sets[bucket];
	uint32_t room = FIRST_ROOM;

	while (room <= UINT32_MAX / 2 && nr > room / 4 * 3)
		room *= 2;
	return room > s->room ? resize(s, room) : 0;
}

int cells_merge(struct cells *into, struct cells *from)
{
	int err = 0;

	for (uint32_t i = 0; i < from->nr_sets && !err; i++) {
		struct cell_set larger = from->sets[i];

		if (larger.nr > into->sets[i].nr) {
			from->sets[i] = into->sets[i];
			into->sets[i] = larger;
		}
		err = add_all(&into->sets[i], &from->sets[i]);
	}
	count(into);
	return err;
}

/* One digit of the keys, from the bit shift on. */
static void sort_digit(const struct cell *from, struct cell *to, uint32_t nr, unsigned int shift)
{
	uint32_t starts[DIGITS] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		starts[from[i].key >> shift & (DIGITS - 1)]++;
	for (uint32_t i = 0; i < DIGITS; i++) {
		uint32_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < nr; i++)
		to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

const struct cell *cells_list(const struct cells *c, uint32_t bucket, struct cell *room)
{
	const struct cell_set *s = &c->sets[bucket];
	struct cell *from = room, *to = room + s->nr;
	uint64_t bits = 0; /* in which keys differ */
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->room; i++) {
		if (s->at[i].key == CELLS_NO_KEY)
			continue;
		from[nr++] = s->at[i];
		bits |= s->at[i].key ^ from[0].key;
	}
	for (unsigned int shift = 0; bits >> shift;) {
		struct cell *swap = from;

		if (!(bits >> shift & 1)) {
			shift++;
			continue;
		}
		sort_digit(from, to, nr, shift);
		from = to;
		to = swap;
		shift += DIGIT_BITS;
		if (shift >= 64)
			break;
	}
	return from;
}
