#include "model/task_cgroups.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/copy.h"
#include "base/grow.h"
#include "base/map.h"

#define MAX_TIDS  (1U << 22)
#define MAX_STAYS (1U << 24)

struct group {
	uint64_t id;
	uint32_t path;
};

/* A task in a cgroup, until the next one of the same task. */
struct stay {
	uint64_t from_ns;
	uint32_t cgroup;
	uint32_t before; /* in time, plus one; 0 = it is the first */
};

struct task_cgroups {
	struct map *by_id;
	struct group *groups; /* that of number 1 first */
	uint32_t nr_groups, groups_room;
	struct stay *stays;
	uint32_t nr_stays, stays_room;
	uint32_t free_stay; /* plus one; linked by before */
	uint32_t *last;     /* stay of each task, plus one */
	uint32_t last_room;
	struct map *kept; /* tid -> cgroup */
	uint64_t dropped;
};

void task_cgroups_free(struct task_cgroups *c)
{
	if (!c)
		return;
	map_free(c->by_id);
	map_free(c->kept);
	free(c->groups);
	free(c->stays);
	free(c->last);
	free(c);
}

static void scoped_task_cgroups(struct task_cgroups *const *c)
{
	task_cgroups_free(*c);
}

int task_cgroups_new(struct task_cgroups **out)
{
	SCOPED(scoped_task_cgroups) struct task_cgroups *c = calloc(1, sizeof(*c));

	if (!c || map_new(sizeof(uint64_t), TASK_CGROUPS_MAX, &c->by_id) ||
	    map_new(sizeof(uint32_t), MAX_TIDS, &c->kept))
		return -ENOMEM;
	*out = TAKE_PTR(c);
	return 0;
}

int task_cgroups_copy(const struct task_cgroups *c, struct task_cgroups **out)
{
	SCOPED(scoped_task_cgroups) struct task_cgroups *copy = NULL;
	int err = task_cgroups_new(&copy);

	if (err)
		return err;
	copy->nr_groups = copy->groups_room = c->nr_groups;
	copy->nr_stays = copy->stays_room = c->nr_stays;
	copy->free_stay = c->free_stay;
	copy->last_room = c->last_room;
	copy->dropped = c->dropped;
	copy->groups = copy_of(c->groups, c->nr_groups, sizeof(*c->groups));
	copy->stays = copy_of(c->stays, c->nr_stays, sizeof(*c->stays));
	copy->last = copy_of(c->last, c->last_room, sizeof(*c->last));
	if (!copy->groups || !copy->stays || !copy->last)
		return -ENOMEM;
	*out = TAKE_PTR(copy);
	return 0;
}

uint32_t task_cgroups_of_id(struct task_cgroups *c, uint64_t id)
{
	uint32_t at;

	if (map_find(c->by_id, &id, &at))
		return at + 1;
	if (GROW(c->groups, c->groups_room, c->nr_groups) ||
	    map_insert(c->by_id, &id, c->nr_groups)) {
		c->dropped++;
		return 0;
	}
	c->groups[c->nr_groups++] = (struct group){ .id = id };
	return c->nr_groups;
}

static struct group *group_of(const struct task_cgroups *c, uint32_t cgroup)
{
	return cgroup && cgroup <= c->nr_groups ? &c->groups[cgroup - 1] : NULL;
}

uint64_t task_cgroups_id(const struct task_cgroups *c, uint32_t cgroup)
{
	const struct group *g = group_of(c, cgroup);

	return g ? g->id : 0;
}

void task_cgroups_set_path(struct task_cgroups *c, uint32_t cgroup, uint32_t path)
{
	struct group *g = group_of(c, cgroup);

	if (g)
		g->path = path;
}

uint32_t task_cgroups_path(const struct task_cgroups *c, uint32_t cgroup)
{
	const struct group *g = group_of(c, cgroup);

	return g ? g->path : 0;
}

uint32_t task_cgroups_nr(const struct task_cgroups *c)
{
	return c->nr_groups;
}

/* Plus one; 0 = there is no room. */
static uint32_t take_stay(struct task_cgroups *c)
{
	uint32_t stay = c->free_stay;

	if (stay) {
		c->free_stay = c->stays[stay - 1].before;
		return stay;
	}
	if (c->nr_stays == MAX_STAYS || GROW(c->stays, c->stays_room, c->nr_stays))
		return 0;
	return ++c->nr_stays;
}

void task_cgroups_drop(struct task_cgroups *c, uint32_t task)
{
	uint32_t stay = task < c->last_room ? c->last[task] : 0;

	if (!stay)
		return;
	c->last[task] = 0;
	while (stay) {
		uint32_t before = c->stays[stay - 1].before;

		c->stays[stay - 1].before = c->free_stay;
		c->free_stay = stay;
		stay = before;
	}
}

uint32_t task_cgroups_now(const struct task_cgroups *c, uint32_t task)
{
	uint32_t stay = task < c->last_room ? c->last[task] : 0;

	return stay ? c->stays[stay - 1].cgroup : 0;
}

void task_cgroups_set(struct task_cgroups *c, uint32_t task, uint32_t cgroup, uint64_t ts_ns)
{
	uint32_t stay;

	if (task_cgroups_now(c, task) == cgroup)
		return;
	stay = GROW_ZEROED(c->last, c->last_room, task) ? 0 : take_stay(c);
	if (!stay) { /* better no answer than an old one */
		c->dropped++;
		task_cgroups_drop(c, task);
		return;
	}
	c->stays[stay - 1] = (struct stay){ ts_ns, cgroup, c->last[task] };
	c->last[task] = stay;
}

void task_cgroups_begin(struct task_cgroups *c, uint32_t task, uint32_t tid, uint64_t ts_ns)
{
	task_cgroups_drop(c, task);
	task_cgroups_set(c, task, task_cgroups_take(c, tid), ts_ns);
}

void task_cgroups_keep(struct task_cgroups *c, uint32_t tid, uint32_t cgroup)
{
	if (map_insert(c->kept, &tid, cgroup)) {
		(void)map_remove(c->kept, &tid);
		c->dropped++;
	}
}

uint32_t task_cgroups_take(struct task_cgroups *c, uint32_t tid)
{
	uint32_t cgroup = 0;

	if (map_nr(c->kept) && map_find(c->kept, &tid, &cgroup))
		(void)map_remove(c->kept, &tid);
	return cgroup;
}

void task_cgroups_forget_kept(struct task_cgroups *c)
{
	map_clear(c->kept);
}

uint32_t task_cgroups_at(const struct task_cgroups *c, uint32_t task, uint64_t ts_ns)
{
	uint32_t stay = task < c->last_room ? c->last[task] : 0;

	while (stay && c->stays[stay - 1].from_ns > ts_ns)
		stay = c->stays[stay - 1].before;
	return stay ? c->stays[stay - 1].cgroup : 0;
}

bool task_cgroups_stay(const struct task_cgroups *c, uint32_t task, uint32_t nr, uint32_t *cgroup,
                       uint64_t *from_ns)
{
	uint32_t stay = task < c->last_room ? c->last[task] : 0;

	for (uint32_t i = 0; i < nr && stay; i++)
		stay = c->stays[stay - 1].before;
	if (!stay)
		return false;
	*cgroup = c->stays[stay - 1].cgroup;
	*from_ns = c->stays[stay - 1].from_ns;
	return true;
}

uint64_t task_cgroups_dropped(const struct task_cgroups *c)
{
	return c->dropped;
}
