#include "collect/sample/sample_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"

struct sample_entry {
	struct prof_key key;
	struct prof_row row;
};

/* The task; together with the stacks it is too long for one key of base/map. */
struct sample_task {
	uint64_t start_ns, exec;
	uint32_t tgid, tid;
	char comm[16];
};

struct where {
	uint64_t kernel, user;
	uint64_t task; /* number in tasks */
	uint64_t cgroup;
};

_Static_assert(sizeof(struct sample_task) <= MAP_MAX_KEY_BYTES, "must fit");

struct sample_rows {
	struct map *tasks;
	struct map *wheres; /* -> number in entries */
	struct sample_entry *entries;
	uint32_t nr, cap;
};

DEFINE_SCOPED(sample_rows, sample_rows_free)

int sample_rows_new(uint32_t max_rows, struct sample_rows **out)
{
	SCOPED(scoped_sample_rows) struct sample_rows *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = map_new(sizeof(struct sample_task), max_rows, &r->tasks);
	if (!err)
		err = map_new(sizeof(struct where), max_rows, &r->wheres);
	if (err)
		return err;
	*out = TAKE_PTR(r);
	return 0;
}

void sample_rows_free(struct sample_rows *r)
{
	if (!r)
		return;
	map_free(r->tasks);
	map_free(r->wheres);
	free(r->entries);
	free(r);
}

static int find_task(struct sample_rows *r, const struct prof_key *key, uint64_t *out)
{
	struct sample_task task = {
		.start_ns = key->start_ns,
		.exec = key->exec,
		.tgid = key->tgid,
		.tid = key->tid,
	};
	uint32_t idx = map_nr(r->tasks);
	int err = 0;

	memcpy(task.comm, key->comm, sizeof(task.comm));
	if (!map_find(r->tasks, &task, &idx))
		err = map_insert(r->tasks, &task, idx);
	*out = idx;
	return err;
}

static void add_up(struct prof_row *to, const struct prof_row *from)
{
	to->count += from->count;
	to->value += from->value;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns >= to->last_ns) {
		to->last_ns = from->last_ns;
		to->cpu = from->cpu;
	}
}

int sample_rows_add(struct sample_rows *r, const struct prof_key *key, const struct prof_row *row)
{
	struct where where = { .kernel = key->kernel, .user = key->user, .cgroup = key->cgroup };
	uint32_t idx;
	int err = find_task(r, key, &where.task);

	if (err)
		return err;
	if (map_find(r->wheres, &where, &idx)) {
		add_up(&r->entries[idx].row, row);
		return 0;
	}
	err = GROW(r->entries, r->cap, r->nr);
	if (!err)
		err = map_insert(r->wheres, &where, r->nr);
	if (err)
		return err;
	r->entries[r->nr++] = (struct sample_entry){ *key, *row };
	return 0;
}

uint32_t sample_rows_nr(const struct sample_rows *r)
{
	return r->nr;
}

const struct prof_row *sample_rows_at(const struct sample_rows *r, uint32_t idx,
                                      const struct prof_key **key)
{
	*key = &r->entries[idx].key;
	return &r->entries[idx].row;
}
