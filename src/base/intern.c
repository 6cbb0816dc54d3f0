#include "base/intern.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/copy.h"
#include "base/hash.h"

#define FIRST_SLOTS 64U

struct intern_entry {
	const char *s;
	uint32_t len;
	uint32_t hash;
};

/* Strings stay where they are, so that copies share them. */
struct strings {
	atomic_uint refs;
	struct arena *mem;
};

/* Open addressing with linear probing; strings are never removed. */
struct intern {
	uint32_t cap_count;
	size_t cap_bytes;
	size_t nr_bytes;
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

		while (slots[at])
			at = (at + 1) & (nr_slots - 1);
		slots[at] = id;
	}
	free(in->slots);
	in->slots = slots;
	in->nr_slots = nr_slots;
	return 0;
}

struct intern *intern_new(uint32_t cap_count, size_t cap_bytes)
{
	SCOPED(scoped_intern) struct intern *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->cap_count = cap_count < INTERN_MAX_COUNT ? cap_count : INTERN_MAX_COUNT;
	in->cap_bytes = cap_bytes;
	in->seed = hash_seed();
	in->strings = calloc(1, sizeof(*in->strings));
	if (!in->strings)
		return NULL;
	atomic_init(&in->strings->refs, 1);
	in->strings->mem = arena_new(SIZE_MAX); /* what goes in is counted here */
	if (!in->strings->mem || grow(in) != 0)
		return NULL;
	in->entries[INTERN_EMPTY] = (struct intern_entry){ .s = "" };
	in->nr = 1;
	return TAKE_PTR(in);
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	if (in->strings && atomic_fetch_sub(&in->strings->refs, 1) == 1) {
		arena_free(in->strings->mem);
		free(in->strings);
	}
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

static int append(struct intern *in, const char *s, size_t len, uint32_t hash)
{
	char *copy;
	int err;

	if (in->nr > in->cap_count || len >= UINT32_MAX || len > in->cap_bytes - in->nr_bytes)
		return -E2BIG;
	if (in->nr >= in->nr_slots / 4 * 3) {
		err = grow(in);
		if (err)
			return err;
	}
	copy = arena_alloc(in->strings->mem, len + 1, 1, 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, len);
	in->slots[probe(in, s, len, hash)] = in->nr;
	in->entries[in->nr] =
		(struct intern_entry){ .s = copy, .len = (uint32_t)len, .hash = hash };
	in->nr++;
	in->nr_bytes += len;
	return 0;
}

int intern_add(struct intern *in, const char *s, size_t len, uint32_t *out)
{
	int err;

	if (intern_find(in, s, len, out))
		return 0;
	err = append(in, s, len, hash_of(in, s, len));
	if (err)
		return err;
	*out = in->nr - 1;
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
