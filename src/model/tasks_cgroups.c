/* Cgroups of tasks: what records say of them, and what is known. */
#include <string.h>

#include "model/task_cgroups.h"
#include "model/tasks_priv.h"

void tasks_cgroup(struct tasks *t, const struct ev_cgroup *ev)
{
	uint32_t task = tasks_find(t, ev->tid);
	uint32_t cgroup = task_cgroups_of_id(t->cgroups, ev->cgroup);

	if (task != TASKS_NONE)
		task_cgroups_set(t->cgroups, task, cgroup, ev->hdr.ts_ns);
	else if (ev->tid)
		task_cgroups_keep(t->cgroups, ev->tid, cgroup);
}

void tasks_cgroup_info(struct tasks *t, const struct ev_cgroup_info *ev)
{
	const char *path = (const char *)(ev + 1);
	uint32_t cgroup = task_cgroups_of_id(t->cgroups, ev->cgroup);

	task_cgroups_set_path(t->cgroups, cgroup, tasks_intern(t, path, strlen(path)));
}

void tasks_lost(struct tasks *t, uint32_t kind, uint64_t ts_ns)
{
	if (kind != EV_CGROUP && kind != EV_FORK && kind != EV_FREE && kind != EV_EXEC)
		return;
	task_cgroups_forget_kept(t->cgroups); /* the tids may have other owners by now */
	for (uint32_t i = 0; kind == EV_CGROUP && i < t->nr; i++)
		if (tasks_at(t, i)->is_found)
			task_cgroups_set(t->cgroups, i, 0, ts_ns);
}

uint32_t tasks_nr_cgroups(const struct tasks *t)
{
	return task_cgroups_nr(t->cgroups);
}

uint32_t tasks_cgroup_at(const struct tasks *t, uint32_t task, uint64_t ts_ns)
{
	return task_cgroups_at(t->cgroups, task, ts_ns);
}

uint32_t tasks_cgroup_now(const struct tasks *t, uint32_t task)
{
	return task_cgroups_now(t->cgroups, task);
}

bool tasks_cgroup_stay(const struct tasks *t, uint32_t task, uint32_t nr, uint32_t *cgroup,
                       uint64_t *from_ns)
{
	return task_cgroups_stay(t->cgroups, task, nr, cgroup, from_ns);
}

uint64_t tasks_cgroups_dropped(const struct tasks *t)
{
	return task_cgroups_dropped(t->cgroups);
}

const char *tasks_cgroup_path(const struct tasks *t, uint32_t cgroup)
{
	uint32_t path = task_cgroups_path(t->cgroups, cgroup);

	return path ? tasks_string(t, path) : NULL;
}

uint64_t tasks_cgroup_id(const struct tasks *t, uint32_t cgroup)
{
	return task_cgroups_id(t->cgroups, cgroup);
}
