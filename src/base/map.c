#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_SLOTS 16U
#define TAG_USED    0x80000000U

/* Open addressing with linear probing; a slot of tag 0 is free. */
struct map {
	size_t key_bytes;
	uint32_t cap;
	uint32_t nr;
	uint32_t nr_slots; /* 0 or a power of two */
	uint64_t seed;
	uint32_t *tags; /* TAG_USED and 31 bits of the hash; starts the one allocation of all three */
	uint32_t *indices;
	unsigned char *keys;
};

int map_new(size_t key_bytes, uint32_t cap, struct map **out)
{
	struct map *m;

	if (key_bytes == 0 || key_bytes > MAP_MAX_KEY_BYTES || cap > MAP_MAX_CAP)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->key_bytes = key_bytes;
	m->cap = cap;
	m->seed = hash_seed();
	*out = m;
	return 0;
}

void map_free(struct map *m)
{
	if (!m)
		return;
	free(m->tags);
	free(m);
}

static unsigned char *key_at(const struct map *m, uint32_t slot)
{
	return m->keys + (size_t)slot * m->key_bytes;
}

static uint32_t next_slot(const struct map *m, uint32_t slot)
{
	return (slot + 1) & (m->nr_slots - 1);
}

static uint32_t home_of(const struct map *m, uint32_t tag)
{
	return tag & (m->nr_slots - 1); /* at most 2^31 slots: TAG_USED never counts */
}

static uint32_t tag_of(const struct map *m, const void *key)
{
	return (uint32_t)hash_bytes(key, m->key_bytes, m->seed) | TAG_USED;
}

/* The slot of the key, or the free one where it belongs; there is always a free one. */
static uint32_t probe(const struct map *m, const void *key, uint32_t tag)
{
	uint32_t slot = home_of(m, tag);

	while (m->tags[slot]) {
		if (m->tags[slot] == tag && memcmp(key_at(m, slot), key, m->key_bytes) == 0)
			break;
		slot = next_slot(m, slot);
	}
	return slot;
}

static void put(struct map *m, uint32_t slot, uint32_t tag, const void *key, uint32_t index)
{
	m->tags[slot] = tag;
	m->indices[slot] = index;
	memcpy(key_at(m, slot), key, m->key_bytes);
}

static int grow(struct map *m)
{
	struct map bigger = *m;
	uint32_t tag;

	bigger.nr_slots = m->nr_slots ? m->nr_slots * 2 : FIRST_SLOTS;
	bigger.tags = calloc(bigger.nr_slots, 2 * sizeof(uint32_t) + m->key_bytes);
	if (!bigger.tags)
		return -ENOMEM;
	bigger.indices = bigger.tags + bigger.nr_slots;
	bigger.keys = (unsigned char *)(bigger.indices + bigger.nr_slots);
	for (uint32_t i = 0; i < m->nr_slots; i++) {
		tag = m->tags[i];
		if (tag)
			put(&bigger, probe(&bigger, key_at(m, i), tag), tag, key_at(m, i),
			    m->indices[i]);
	}
	free(m->tags);
	*m = bigger;
	return 0;
}

int map_insert(struct map *m, const void *key, uint32_t index)
{
	uint32_t tag = tag_of(m, key), slot;
	int err;

	if (m->nr_slots) {
		slot = probe(m, key, tag);
		if (m->tags[slot]) {
			m->indices[slot] = index;
			return 0;
		}
	}
	if (m->nr >= m->cap)
		return -E2BIG;
	/* Probes stay short up to three quarters full. */
	if (m->nr >= m->nr_slots / 4 * 3) {
		err = grow(m);
		if (err)
			return err;
	}
	put(m, probe(m, key, tag), tag, key, index);
	m->nr++;
	return 0;
}

bool map_find(const struct map *m, const void *key, uint32_t *out)
{
	uint32_t slot;

	if (m->nr == 0)
		return false;
	slot = probe(m, key, tag_of(m, key));
	if (!m->tags[slot])
		return false;
	*out = m->indices[slot];
	return true;
}

bool map_remove(struct map *m, const void *key)
{
	uint32_t hole, from_hole, from_home;

	if (m->nr == 0)
		return false;
	hole = probe(m, key, tag_of(m, key));
	if (!m->tags[hole])
		return false;
	/* Keys behind the hole that had to pass it move up: no tombstones that would pile up. */
	for (uint32_t i = next_slot(m, hole); m->tags[i]; i = next_slot(m, i)) {
		from_hole = (i - hole) & (m->nr_slots - 1);
		from_home = (i - home_of(m, m->tags[i])) & (m->nr_slots - 1);
		if (from_home < from_hole)
			continue;
		put(m, hole, m->tags[i], key_at(m, i), m->indices[i]);
		hole = i;
	}
	m->tags[hole] = 0;
	m->nr--;
	return true;
}

void map_clear(struct map *m)
{
	if (m->nr_slots)
		memset(m->tags, 0, m->nr_slots * sizeof(*m->tags));
	m->nr = 0;
}

uint32_t map_nr(const struct map *m)
{
	return m->nr;
}
