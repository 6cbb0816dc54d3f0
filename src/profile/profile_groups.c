#include "profile/profile_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/waits.h"

#define MAX_GROUPS (1U << 22)
#define MAX_PAIRS  (1U << 23) /* of group and function */

struct profile_groups {
	struct intern *names;
	struct profile_group *items;
	uint32_t nr, room;
};

struct group_key {
	uint32_t name;
	uint32_t id;
};

/* A function in a group. */
struct pair_key {
	uint32_t group;
	uint32_t function;
};

struct pair_sum {
	struct pair_key key;
	uint32_t frame; /* one of the function's */
	uint64_t value;
};

/* What is needed to build groups, and no longer. */
struct groups_build {
	const struct profile *p;
	enum profile_by by;
	bool is_of_waits;
	struct profile_groups *g;
	struct map *group_ids, *pair_ids;
	struct pair_sum *pairs;
	uint32_t nr_pairs, pairs_room;
};

static void scoped_build(struct groups_build *b)
{
	map_free(b->group_ids);
	map_free(b->pair_ids);
	free(b->pairs);
}

/* What a stack belongs to. */
static const char *name_of(const struct groups_build *b, const struct profile_stack *stack,
                           uint32_t *id)
{
	const struct profile_task *task = profile_task_at(b->p, stack->task);

	*id = 0;
	switch (b->by) {
	case PROFILE_GROUP_THREAD:
		*id = task->tid;
		return task->comm;
	case PROFILE_GROUP_PROCESS:
		*id = task->tgid;
		return task->process ? task->process : task->comm;
	case PROFILE_GROUP_CGROUP:
		return task->cgroup ? task->cgroup : "unknown";
	case PROFILE_GROUP_WAIT:
		return profile_waited_for(b->p, stack);
	default:
		return task->comm;
	}
}

static int find_group(struct groups_build *b, const struct profile_stack *stack, uint32_t *out)
{
	struct profile_groups *g = b->g;
	struct group_key key = { 0 };
	const char *name = name_of(b, stack, &key.id);
	int err = intern_add(g->names, name, strlen(name), &key.name);

	if (err || map_find(b->group_ids, &key, out))
		return err;
	if (GROW(g->items, g->room, g->nr))
		return -ENOMEM;
	err = map_insert(b->group_ids, &key, g->nr);
	if (err)
		return err;
	g->items[g->nr] = (struct profile_group){ .name = intern_string(g->names, key.name, NULL),
		                                  .id = key.id };
	*out = g->nr++;
	return 0;
}

static int add_function(struct groups_build *b, uint32_t group, const struct profile_stack *stack)
{
	uint32_t frame = stack->frames[b->is_of_waits ? profile_waiter(b->p, stack) : 0], at;
	struct pair_key key = { group, profile_function_of(b->p, frame) };
	int err;

	if (map_find(b->pair_ids, &key, &at)) {
		b->pairs[at].value += stack->value;
		return 0;
	}
	if (GROW(b->pairs, b->pairs_room, b->nr_pairs))
		return -ENOMEM;
	err = map_insert(b->pair_ids, &key, b->nr_pairs);
	if (!err)
		b->pairs[b->nr_pairs++] = (struct pair_sum){ key, frame, stack->value };
	return err;
}

static int add_stack(struct groups_build *b, size_t idx)
{
	struct profile_stack stack;
	uint32_t group;
	int err;

	profile_stack_at(b->p, idx, &stack);
	err = find_group(b, &stack, &group);
	if (err)
		return err;
	b->g->items[group].count += stack.count;
	b->g->items[group].value += stack.value;
	return stack.nr ? add_function(b, group, &stack) : 0;
}

static void choose_functions(const struct groups_build *b)
{
	for (uint32_t i = 0; i < b->nr_pairs; i++) {
		const struct pair_sum *pair = &b->pairs[i];
		struct profile_group *group = &b->g->items[pair->key.group];

		if (group->most && pair->value <= group->most_value)
			continue;
		group->most = profile_frame_at(b->p, pair->frame);
		group->most_value = pair->value;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct profile_group *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return names ? names : (x->id > y->id) - (x->id < y->id);
}

int profile_groups_new(const struct profile *p, enum profile_by by, struct profile_groups **out)
{
	SCOPED(scoped_profile_groups) struct profile_groups *g = calloc(1, sizeof(*g));
	SCOPED(scoped_build)
	struct groups_build b = { .p = p, .by = by, .g = g, .is_of_waits = profile_is_of_waits(p) };
	int err;

	if (!g)
		return -ENOMEM;
	g->names = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	if (!g->names)
		return -ENOMEM;
	err = map_new(sizeof(struct group_key), MAX_GROUPS, &b.group_ids);
	if (!err)
		err = map_new(sizeof(struct pair_key), MAX_PAIRS, &b.pair_ids);
	for (size_t i = 0; !err && i < profile_nr_stacks(p); i++)
		err = add_stack(&b, i);
	if (err)
		return err;
	choose_functions(&b);
	if (g->nr)
		qsort(g->items, g->nr, sizeof(*g->items), by_value);
	*out = TAKE_PTR(g);
	return 0;
}

void profile_groups_free(struct profile_groups *g)
{
	if (!g)
		return;
	intern_free(g->names);
	free(g->items);
	free(g);
}

uint32_t profile_groups_nr(const struct profile_groups *g)
{
	return g->nr;
}

const struct profile_group *profile_groups_at(const struct profile_groups *g, uint32_t idx)
{
	return &g->items[idx];
}
