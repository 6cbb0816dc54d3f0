#include "collect/sample/sample_drain.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "collect/sample/sample_copies.h"
#include "collect/sample/sample_rows.h"
#include "collect/sample/sample_stacks.h"

#define BATCH 512U

/* A walk over a map, some entries at a time. */
struct map_walk {
	int fd;
	size_t key_bytes, value_bytes;
	size_t generation_at; /* in the key */
	uint32_t current;     /* generation that is still being written */
	int (*take)(struct sample_drain *d, const void *key, const void *value);
	uint8_t *keys, *values; /* BATCH of each */
};

static int take_stack(struct sample_drain *d, const void *key, const void *value)
{
	const struct prof_stack_key *k = key;
	int err = sample_stacks_add(d->stacks, k->hash, value);

	return err == -E2BIG ? 0 : err; /* its rows are counted as lost */
}

static bool has_stacks(const struct sample_drain *d, const struct prof_key *k)
{
	const uint64_t *ips;
	uint32_t nr, end;

	return !sample_stacks_get(d->stacks, k->kernel, &ips, &nr, &end) &&
	       !sample_stacks_get(d->stacks, k->user, &ips, &nr, &end);
}

/* In place of the number of a copy the hash of its stack; false: it was lost. */
static bool find_copy(const struct sample_drain *d, struct prof_key *k)
{
	uint64_t hash;

	if (!k->is_copy)
		return true;
	if (!d->copies || sample_copies_find(d->copies, k->user, &hash))
		return false;
	k->user = hash;
	k->is_copy = 0;
	return true;
}

static int take_row(struct sample_drain *d, const void *key, const void *value)
{
	const struct prof_row *row = value;
	struct prof_key k;
	int err = -E2BIG;

	memcpy(&k, key, sizeof(k));
	if (find_copy(d, &k) && has_stacks(d, &k))
		err = sample_rows_add(d->rows, &k, row);
	if (err != -E2BIG)
		return err;
	d->lost += row->count;
	return 0;
}

/* Those of other generations than the current one are handed on; their keys move to the front. How many, or -errno. */
static int take_batch(struct sample_drain *d, const struct map_walk *w, uint32_t nr)
{
	int taken = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint8_t *key = w->keys + i * w->key_bytes;
		uint32_t generation;
		int err;

		memcpy(&generation, key + w->generation_at, sizeof(generation));
		if (generation == w->current)
			continue;
		err = w->take(d, key, w->values + i * w->value_bytes);
		if (err)
			return err;
		memmove(w->keys + (size_t)taken * w->key_bytes, key, w->key_bytes);
		taken++;
	}
	return taken;
}

static int remove_batch(const struct map_walk *w, uint32_t nr)
{
	if (nr && bpf_map_delete_batch(w->fd, w->keys, &nr, NULL) && errno != ENOENT)
		return -errno;
	return 0;
}

/*
 * Entries of the current generation are added and removed meanwhile in other places of the map;
 * each entry of the others is visited once.
 */
static int walk_map(struct sample_drain *d, const struct map_walk *w)
{
	bool is_first = true, is_last;
	__u32 from = 0, next = 0, nr;
	int err;

	do {
		nr = BATCH;
		err = bpf_map_lookup_batch(w->fd, is_first ? NULL : &from, &next, w->keys,
		                           w->values, &nr, NULL);
		is_last = err && errno == ENOENT;
		if (err && !is_last)
			return -errno;
		err = take_batch(d, w, nr);
		if (err < 0)
			return err;
		err = remove_batch(w, (uint32_t)err);
		from = next;
		is_first = false;
	} while (!err && !is_last);
	return err;
}

static int take_all(struct sample_drain *d, struct map_walk w)
{
	SCOPED(scoped_free) uint8_t *keys = calloc(BATCH, w.key_bytes);
	SCOPED(scoped_free) uint8_t *values = calloc(BATCH, w.value_bytes);

	if (!keys || !values)
		return -ENOMEM;
	w.keys = keys;
	w.values = values;
	return walk_map(d, &w);
}

int sample_drain_take(struct sample_drain *d, uint32_t current)
{
	struct map_walk stacks = {
		.fd = d->stacks_fd,
		.key_bytes = sizeof(struct prof_stack_key),
		.value_bytes = sizeof(struct prof_stack),
		.generation_at = offsetof(struct prof_stack_key, generation),
		.current = current,
		.take = take_stack,
	};
	struct map_walk rows = {
		.fd = d->rows_fd,
		.key_bytes = sizeof(struct prof_key),
		.value_bytes = sizeof(struct prof_row),
		.generation_at = offsetof(struct prof_key, generation),
		.current = current,
		.take = take_row,
	};
	int err = take_all(d, stacks);

	return err ? err : take_all(d, rows);
}
