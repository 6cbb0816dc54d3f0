#include "model/lru.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"

struct lru_row {
	uint32_t key;
	uint32_t newer;
	uint32_t older;
};

struct lru {
	struct map *row_of;
	struct lru_row *rows;
	uint32_t max;
	uint32_t nr;
	uint32_t newest, oldest;
	uint64_t forgotten;
};

void lru_free(struct lru *l)
{
	if (!l)
		return;
	map_free(l->row_of);
	free(l->rows);
	free(l);
}

DEFINE_SCOPED(lru, lru_free)

int lru_new(uint32_t max, struct lru **out)
{
	SCOPED(scoped_lru) struct lru *l = NULL;
	int err;

	if (!max || max > LRU_MAX)
		return -EINVAL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->max = max;
	l->newest = l->oldest = LRU_NONE;
	l->rows = calloc(max, sizeof(*l->rows));
	if (!l->rows)
		return -ENOMEM;
	err = map_new(sizeof(uint32_t), max, &l->row_of);
	if (err)
		return err;
	*out = TAKE_PTR(l);
	return 0;
}

static void unlink_row(struct lru *l, uint32_t i)
{
	const struct lru_row *r = &l->rows[i];

	*(r->newer == LRU_NONE ? &l->newest : &l->rows[r->newer].older) = r->older;
	*(r->older == LRU_NONE ? &l->oldest : &l->rows[r->older].newer) = r->newer;
}

static void link_newest(struct lru *l, uint32_t i)
{
	l->rows[i].newer = LRU_NONE;
	l->rows[i].older = l->newest;
	*(l->newest == LRU_NONE ? &l->oldest : &l->rows[l->newest].newer) = i;
	l->newest = i;
}

static uint32_t take_row(struct lru *l)
{
	uint32_t i;

	if (l->nr < l->max)
		return l->nr++;
	i = l->oldest;
	unlink_row(l, i);
	l->forgotten += map_remove(l->row_of, &l->rows[i].key);
	return i;
}

uint32_t lru_touch(struct lru *l, uint32_t key, bool *is_new)
{
	uint32_t i;

	*is_new = !map_find(l->row_of, &key, &i);
	if (!*is_new) {
		unlink_row(l, i);
		link_newest(l, i);
		return i;
	}
	i = take_row(l);
	link_newest(l, i);
	l->rows[i].key = map_insert(l->row_of, &key, i) == 0 ? key : LRU_NONE;
	return l->rows[i].key == LRU_NONE ? LRU_NONE : i;
}

bool lru_find(const struct lru *l, uint32_t key, uint32_t *out)
{
	return map_find(l->row_of, &key, out);
}

uint32_t lru_nr(const struct lru *l)
{
	return l->nr;
}

uint32_t lru_key(const struct lru *l, uint32_t row)
{
	return row < l->nr ? l->rows[row].key : LRU_NONE;
}

uint64_t lru_forgotten(const struct lru *l)
{
	return l->forgotten;
}

void lru_clear(struct lru *l)
{
	map_clear(l->row_of);
	l->nr = 0;
	l->newest = l->oldest = LRU_NONE;
	l->forgotten = 0;
}
