#include "analyze/units.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"

static bool has_acted(const struct units *u, uint32_t task)
{
	const struct task *t = tasks_at(u->s->tasks, task);

	return t && t->has_acted;
}

static int join(struct units *u, struct map *by_tgid, uint32_t task)
{
	uint32_t tgid = source_tgid(u->s, task), unit = u->nr;
	int err;

	if (!tgid || !map_find(by_tgid, &tgid, &unit)) {
		err = tgid ? map_insert(by_tgid, &tgid, unit) : 0;
		if (err)
			return err;
		u->names[unit] = task;
		u->nr++;
	}
	if (tgid == source_tid(u->s, task))
		u->names[unit] = task;
	u->of_task[task] = unit;
	u->threads[unit] += has_acted(u, task);
	return 0;
}

static int group(struct units *u, uint32_t nr_tasks)
{
	SCOPED(scoped_map) struct map *by_tgid = NULL;
	size_t room = nr_tasks ? nr_tasks : 1;
	int err;

	u->of_task = calloc(room, sizeof(*u->of_task));
	u->names = calloc(room, sizeof(*u->names));
	u->threads = calloc(room, sizeof(*u->threads));
	if (!u->of_task || !u->names || !u->threads)
		return -ENOMEM;
	err = map_new(sizeof(uint32_t), MAP_MAX_CAP, &by_tgid);
	for (uint32_t i = 0; !err && i < nr_tasks; i++)
		err = join(u, by_tgid, i);
	return err;
}

int units_init(struct units *u, const struct scope *sc, struct diag *d)
{
	int err;

	*u = (struct units){
		.s = sc->s,
		.is_per_process = sc->args->is_per_process,
		.nr = sc->nr_tasks,
	};
	if (!u->is_per_process)
		return 0;
	u->nr = 0;
	err = group(u, sc->nr_tasks);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

void units_done(struct units *u)
{
	free(u->of_task);
	free(u->names);
	free(u->threads);
	*u = (struct units){ 0 };
}

uint32_t units_of(const struct units *u, uint32_t task)
{
	return u->of_task ? u->of_task[task] : task;
}

static uint32_t name_of(const struct units *u, uint32_t unit)
{
	return u->names ? u->names[unit] : unit;
}

uint32_t units_pid(const struct units *u, uint32_t unit)
{
	uint32_t task = name_of(u, unit), tgid = source_tgid(u->s, task);

	return u->is_per_process && tgid ? tgid : source_tid(u->s, task);
}

static void add_tgid(const struct source *s, struct report *r, uint32_t task)
{
	uint32_t tgid = source_tgid(s, task);

	if (tgid)
		report_u64(r, "tgid", tgid);
	else
		report_null(r, "tgid");
}

void units_report(const struct units *u, struct report *r, uint32_t unit)
{
	uint32_t task = name_of(u, unit);

	report_u64(r, "pid", units_pid(u, unit));
	add_tgid(u->s, r, task);
	report_string(r, "comm", source_comm(u->s, task));
}

void units_report_mode(const struct units *u, struct report *r)
{
	report_string(r, "aggregation_mode", u->is_per_process ? "per_process" : "per_thread");
}

uint32_t units_threads(const struct units *u, uint32_t unit)
{
	return u->threads ? u->threads[unit] : 1;
}

void task_report(const struct source *s, struct report *r, uint32_t task)
{
	if (task == TASKS_NONE) {
		report_null(r, "pid");
		report_null(r, "tgid");
		report_null(r, "comm");
		return;
	}
	report_u64(r, "pid", source_tid(s, task));
	add_tgid(s, r, task);
	report_string(r, "comm", source_comm(s, task));
}

void waker_report(const struct source *s, struct report *r, uint32_t task)
{
	if (task == TASKS_NONE) {
		report_null(r, "waker_pid");
		report_null(r, "waker_comm");
		return;
	}
	report_u64(r, "waker_pid", source_tid(s, task));
	report_string(r, "waker_comm", source_comm(s, task));
}
