/*
 * base/map — a hash table from keys of one fixed size to 32-bit indices.
 *
 * Keys are compared byte by byte, so padding inside them must be zeroed. Keys are copied. The cap
 * bounds what hostile input can make us allocate. A call that fails changes nothing. One thread at a
 * time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

#define MAP_MAX_KEY_BYTES 40
#define MAP_MAX_CAP       (1U << 30)

struct map;

/* -EINVAL for a key of no bytes or too many, or a cap above MAP_MAX_CAP. */
MUST_USE int map_new(size_t key_bytes, uint32_t cap, struct map **out);
void map_free(struct map *m); /* NULL is fine */
DEFINE_SCOPED(map, map_free)

/* Adds the key, or gives it another index if it is there. -E2BIG once cap keys are in, or -ENOMEM. */
MUST_USE int map_insert(struct map *m, const void *key, uint32_t index);
bool map_find(const struct map *m, const void *key, uint32_t *out); /* *out only when found */
bool map_remove(struct map *m, const void *key);                    /* whether it was there */
void map_clear(struct map *m);                                      /* keeps memory */
uint32_t map_nr(const struct map *m);
