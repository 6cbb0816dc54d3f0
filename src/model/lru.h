/*
 * model/lru — numbers of rows by key, in a table that never grows: the least recently used row is
 * evicted.
 *
 * The rows themselves are the owner's, in an array of as many as max. Allocates at the start; a table without
 * memory for one more key gives LRU_NONE. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define LRU_NONE UINT32_MAX
#define LRU_MAX  (1U << 20)

struct lru;

/* -EINVAL for a size of 0 or beyond LRU_MAX, or -ENOMEM. */
MUST_USE int lru_new(uint32_t max, struct lru **out);
void lru_free(struct lru *l); /* NULL is fine */
/* The row of a key, which is the newest now. With *is_new it may hold what another one left. */
uint32_t lru_touch(struct lru *l, uint32_t key, bool *is_new);
bool lru_find(const struct lru *l, uint32_t key, uint32_t *out);
uint32_t lru_nr(const struct lru *l);                /* rows in use */
uint32_t lru_key(const struct lru *l, uint32_t row); /* LRU_NONE for a row without one */
uint64_t lru_forgotten(const struct lru *l);
void lru_clear(struct lru *l);
