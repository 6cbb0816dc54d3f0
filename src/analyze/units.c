#include "analyze/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cgroups.h"
#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map.h"
#include "model/interrupt.h"

static bool has_acted(const struct units *u, uint32_t task)
{
	const struct task *t = tasks_at(u->s->tasks, task);

	return t && t->has_acted;
}

/* The number that tasks of one unit share; 0 = it is one by itself. */
static int key_of(const struct units *u, struct intern *names, uint32_t task, uint32_t *out)
{
	const char *name;

	*out = 0;
	if (u->by == PASS_BY_PROCESS) {
		*out = source_tgid(u->s, task);
		return 0;
	}
	name = source_comm(u->s, task);
	if (strcmp(name, "?") == 0)
		return 0;
	return intern_add(names, name, strlen(name), out);
}

static int join(struct units *u, struct map *by_key, uint32_t key, uint32_t task)
{
	uint32_t unit = u->nr;
	int err;

	if (!key || !map_find(by_key, &key, &unit)) {
		err = key ? map_insert(by_key, &key, unit) : 0;
		if (err)
			return err;
		u->names[unit] = task;
		u->nr++;
	}
	if (u->by == PASS_BY_PROCESS && key == source_tid(u->s, task))
		u->names[unit] = task;
	u->of_task[task] = unit;
	u->threads[unit] += has_acted(u, task);
	return 0;
}

static int group(struct units *u, uint32_t nr_tasks)
{
	SCOPED(scoped_map) struct map *by_key = NULL;
	SCOPED(scoped_intern) struct intern *names = NULL;
	size_t room = nr_tasks ? nr_tasks : 1;
	int err;

	u->of_task = calloc(room, sizeof(*u->of_task));
	u->names = calloc(room, sizeof(*u->names));
	u->threads = calloc(room, sizeof(*u->threads));
	if (!u->of_task || !u->names || !u->threads)
		return -ENOMEM;
	err = map_new(sizeof(uint32_t), MAP_MAX_CAP, &by_key);
	names = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	if (!err && !names)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < nr_tasks; i++) {
		uint32_t key;

		err = key_of(u, names, i, &key);
		if (!err)
			err = join(u, by_key, key, i);
	}
	return err;
}

/* Numbers of cgroups and classes are units as they are. */
static int by_number(struct units *u, uint32_t nr)
{
	u->nr = nr;
	u->threads = calloc(nr, sizeof(*u->threads));
	return u->threads ? 0 : -ENOMEM;
}

static int by_cgroup(struct units *u, const struct scope *sc)
{
	uint32_t nr = tasks_nr_cgroups(u->s->tasks) + 1, cgroup;
	uint64_t from_ns;
	int err = by_number(u, nr);

	for (uint32_t task = 0; !err && task < sc->nr_tasks; task++)
		for (uint32_t i = 0; tasks_cgroup_stay(u->s->tasks, task, i, &cgroup, &from_ns);
		     i++)
			u->threads[cgroup] += has_acted(u, task);
	return err;
}

static int by_class(struct units *u, const struct scope *sc)
{
	int err = by_number(u, SCHED_CLASSES);

	if (!err)
		err = classes_init(&u->classes, sc);
	for (uint32_t task = 0; !err && task < sc->nr_tasks; task++)
		u->threads[classes_at(&u->classes, task, UINT64_MAX)] += has_acted(u, task);
	return err;
}

int units_init(struct units *u, const struct scope *sc, struct diag *d)
{
	int err;

	*u = (struct units){
		.s = sc->s,
		.by = sc->args->by,
		.nr = sc->nr_tasks,
	};
	if (u->by == PASS_BY_DEFAULT || u->by == PASS_BY_THREAD)
		return 0;
	u->nr = 0;
	if (u->by == PASS_BY_CGROUP) {
		err = cgroups_check(u->s, d);
		if (err)
			return err;
		err = by_cgroup(u, sc);
	} else if (u->by == PASS_BY_CLASS) {
		err = by_class(u, sc);
	} else {
		err = group(u, sc->nr_tasks);
	}
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

void units_done(struct units *u)
{
	free(u->of_task);
	free(u->names);
	free(u->threads);
	classes_done(&u->classes);
	*u = (struct units){ 0 };
}

uint32_t units_at(const struct units *u, uint32_t task, uint64_t ts_ns)
{
	if (u->by == PASS_BY_CGROUP)
		return tasks_cgroup_at(u->s->tasks, task, ts_ns);
	if (u->by == PASS_BY_CLASS)
		return classes_at(&u->classes, task, ts_ns);
	return units_of(u, task);
}

uint32_t units_last(const struct units *u, uint32_t task, uint64_t *since_ns)
{
	uint32_t cgroup;

	*since_ns = 0;
	if (u->by == PASS_BY_CGROUP)
		return tasks_cgroup_stay(u->s->tasks, task, 0, &cgroup, since_ns) ? cgroup : 0;
	if (u->by == PASS_BY_CLASS)
		*since_ns = UINT64_MAX;
	return u->by == PASS_BY_CLASS ? 0 : units_of(u, task);
}

uint32_t units_of(const struct units *u, uint32_t task)
{
	return u->of_task ? u->of_task[task] : task;
}

uint32_t units_task(const struct units *u, uint32_t unit)
{
	return u->names ? u->names[unit] : unit;
}

uint32_t units_pid(const struct units *u, uint32_t unit)
{
	uint32_t task = units_task(u, unit), tgid = source_tgid(u->s, task);

	return u->by == PASS_BY_PROCESS && tgid ? tgid : source_tid(u->s, task);
}

static void add_tgid(const struct source *s, struct report *r, uint32_t task)
{
	uint32_t tgid = source_tgid(s, task);

	report_u64_if(r, "tgid", tgid, tgid);
}

void units_report(const struct units *u, struct report *r, uint32_t unit)
{
	uint32_t task;

	if (u->by == PASS_BY_CGROUP) {
		report_string(r, "cgroup", unit ? cgroup_name(u->s, unit, r) : "unknown");
		return;
	}
	if (u->by == PASS_BY_CLASS) {
		report_string(r, "class", class_name(unit));
		return;
	}
	task = units_task(u, unit);
	if (u->by == PASS_BY_COMM && u->threads[unit] != 1) {
		report_null(r, "pid");
		report_null(r, "tgid");
	} else {
		report_u64(r, "pid", units_pid(u, unit));
		add_tgid(u->s, r, task);
	}
	report_string(r, "comm", source_comm(u->s, task));
}

void units_report_mode(const struct units *u, struct report *r)
{
	const char *by = pass_by_name(u->by == PASS_BY_DEFAULT ? PASS_BY_THREAD : u->by);

	report_string(r, "aggregation_mode", report_printf(r, "per_%s", by));
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

void waker_report(const struct source *s, struct report *r, uint32_t by, uint64_t ts_ns)
{
	char text[INTERRUPT_TEXT];
	struct interrupt i;

	if (interrupt_of_key(by, &i)) {
		source_name_device(s, &i);
		report_null(r, "waker_pid");
		report_null(r, "waker_comm");
		report_string(r, "waker_interrupt", interrupt_title(&i, text));
		return;
	}
	if (by == TASKS_NONE) {
		report_null(r, "waker_pid");
		report_null(r, "waker_comm");
	} else {
		report_u64(r, "waker_pid", source_tid(s, by));
		report_string(r, "waker_comm", source_comm_at(s, by, ts_ns));
	}
	report_null(r, "waker_interrupt");
}
