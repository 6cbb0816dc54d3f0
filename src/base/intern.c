#include "base/intern.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/copy.h"
#include "base/hash.h"

#define FIRST_SLOTS   64U
#define COMPACT_BYTES 65536U /* of removed strings, from which on it is worth the while */

struct intern_entry {
	const char *s; /* NULL = removed: len is the next such id, or 0 */
	uint32_t len;
	uint32_t hash;
};

/* Strings stay where they are, so that copies share them. */
struct strings {
	atomic_uint refs;
	struct arena *mem;
};

/* Open addressing with linear probing. */
struct intern {
	uint32_t cap_count;
	size_t cap_bytes;
	size_t nr_bytes;
	size_t removed_bytes; /* that strings still takes */
	uint32_t removed;     /* the last id of those; 0 = none */
	uint64_t seed;
	struct strings *strings;
	struct intern_entry *entries; /* by id; three quarters of nr_slots long */
	uint32_t nr;
	uint32_t *slots; /* ids; 0 is free, because the empty string needs no slot */
	uint32_t nr_slots;
};

static int grow(struct intern *in)
{
	uint32_t nr_slots = in->nr_slots ? in->nr_slots * 2 : FIRST_SLOTS;
	uint32_t nr_entries = nr_slots / 4 * 3;
	struct intern_entry *entries;
	uint32_t *slots;

	entries = reallocarray(in->entries, nr_entries, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	in->entries = entries;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 1; id < in->nr; id++) {
		uint32_t at = entries[id].hash & (nr_slots - 1);

		while (entries[id].s && slots[at])
			at = (at + 1) & (nr_slots - 1);
		if (entries[id].s)
			slots[at] = id;
	}
	free(in->slots);
	in->slots = slots;
	in->nr_slots = nr_slots;
	return 0;
}

static struct strings *new_strings(void)
{
	struct strings *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	atomic_init(&s->refs, 1);
	s->mem = arena_new(SIZE_MAX); /* what goes in is counted by its users */
	if (!s->mem) {
		free(s);
		return NULL;
	}
	return s;
}

static void put_strings(struct strings *s)
{
	if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
		return;
	arena_free(s->mem);
	free(s);
}

struct intern *intern_new(uint32_t cap_count, size_t cap_bytes)
{
	SCOPED(scoped_intern) struct intern *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->cap_count = cap_count < INTERN_MAX_COUNT ? cap_count : INTERN_MAX_COUNT;
	in->cap_bytes = cap_bytes;
	in->seed = hash_seed();
	in->strings = new_strings();
	if (!in->strings || grow(in) != 0)
		return NULL;
	in->entries[INTERN_EMPTY] = (struct intern_entry){ .s = "" };
	in->nr = 1;
	return TAKE_PTR(in);
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	put_strings(in->strings);
	free(in->entries);
	free(in->slots);
	free(in);
}

struct intern *intern_copy(const struct intern *in)
{
	SCOPED(scoped_intern) struct intern *copy = copy_of(in, 1, sizeof(*in));

	if (!copy)
		return NULL;
	atomic_fetch_add(&in->strings->refs, 1);
	copy->cap_count = 0; /* nothing goes in */
	copy->entries = copy_of(in->entries, in->nr, sizeof(*in->entries));
	copy->slots = copy_of(in->slots, in->nr_slots, sizeof(*in->slots));
	return copy->entries && copy->slots ? TAKE_PTR(copy) : NULL;
}

/* The slot of the string, or the free one where it belongs; there is always a free one. */
static uint32_t probe(const struct intern *in, const char *s, size_t len, uint32_t hash)
{
	uint32_t at = hash & (in->nr_slots - 1);

	for (; in->slots[at]; at = (at + 1) & (in->nr_slots - 1)) {
		const struct intern_entry *e = &in->entries[in->slots[at]];

		if (e->hash == hash && e->len == len && memcmp(e->s, s, len) == 0)
			break;
	}
	return at;
}

static uint32_t hash_of(const struct intern *in, const char *s, size_t len)
{
	return (uint32_t)hash_bytes(s, len, in->seed);
}

bool intern_find(const struct intern *in, const char *s, size_t len, uint32_t *out)
{
	uint32_t id = INTERN_EMPTY;

	if (len > 0) {
		id = in->slots[probe(in, s, len, hash_of(in, s, len))];
		if (id == INTERN_EMPTY)
			return false;
	}
	*out = id;
	return true;
}

static char *copy_string(struct strings *to, const char *s, size_t len)
{
	char *copy = arena_alloc(to->mem, len + 1, 1, 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}

static int append(struct intern *in, const char *s, size_t len, uint32_t hash, uint32_t *out)
{
	uint32_t id = in->removed ? in->removed : in->nr;
	char *copy;
	int err;

	if ((!in->removed && in->nr > in->cap_count) || !in->cap_count || len >= UINT32_MAX ||
	    len > in->cap_bytes - in->nr_bytes)
		return -E2BIG;
	if (!in->removed && in->nr >= in->nr_slots / 4 * 3) {
		err = grow(in);
		if (err)
			return err;
	}
	copy = copy_string(in->strings, s, len);
	if (!copy)
		return -ENOMEM;
	if (in->removed)
		in->removed = in->entries[id].len;
	else
		in->nr++;
	in->slots[probe(in, s, len, hash)] = id;
	in->entries[id] = (struct intern_entry){ .s = copy, .len = (uint32_t)len, .hash = hash };
	in->nr_bytes += len;
	*out = id;
	return 0;
}

/* Moves the strings that are left together; without memory they stay where they are. */
static void compact(struct intern *in)
{
	struct strings *to = new_strings();
	char *at = to ? arena_alloc(to->mem, in->nr_bytes + in->nr, 1, 1) : NULL;

	if (!at) {
		put_strings(to);
		return;
	}
	for (uint32_t id = 1; id < in->nr; id++) {
		struct intern_entry *e = &in->entries[id];

		if (!e->s)
			continue;
		memcpy(at, e->s, e->len + 1U);
		e->s = at;
		at += e->len + 1U;
	}
	put_strings(in->strings);
	in->strings = to;
	in->removed_bytes = 0;
}

/* Those behind it move up, as far as they may, so that no string is behind a free slot. */
static void empty_slot(struct intern *in, uint32_t at)
{
	uint32_t mask = in->nr_slots - 1;

	for (uint32_t next = (at + 1) & mask; in->slots[next]; next = (next + 1) & mask) {
		uint32_t home = in->entries[in->slots[next]].hash & mask;

		if (((next - home) & mask) < ((next - at) & mask))
			continue;
		in->slots[at] = in->slots[next];
		at = next;
	}
	in->slots[at] = 0;
}

void intern_remove(struct intern *in, uint32_t id)
{
	struct intern_entry *e = &in->entries[id];

	if (id == INTERN_EMPTY || id >= in->nr || !e->s)
		return;
	empty_slot(in, probe(in, e->s, e->len, e->hash));
	in->nr_bytes -= e->len;
	in->removed_bytes += e->len + 1U;
	*e = (struct intern_entry){ .len = in->removed };
	in->removed = id;
	if (in->removed_bytes > COMPACT_BYTES && in->removed_bytes > in->nr_bytes)
		compact(in);
}

int intern_add(struct intern *in, const char *s, size_t len, uint32_t *out)
{
	uint32_t id;
	int err;

	if (intern_find(in, s, len, out))
		return 0;
	err = append(in, s, len, hash_of(in, s, len), &id);
	if (err)
		return err;
	*out = id;
	return 0;
}

const char *intern_string(const struct intern *in, uint32_t id, size_t *len)
{
	if (id >= in->nr)
		return NULL;
	if (len)
		*len = in->entries[id].len;
	return in->entries[id].s;
}

uint32_t intern_nr(const struct intern *in)
{
	return in->nr;
}
