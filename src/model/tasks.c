#include "model/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/copy.h"
#include "base/map.h"
#include "model/task_cgroups.h"
#include "model/task_names.h"
#include "model/tasks_priv.h"

#define DEFAULT_TASKS (1U << 18)
#define CHUNK_TASKS   1024U
#define PAGE_TIDS     1024U
#define KTHREADD_TID  2U
/* /proc gives start times in ticks of 10 ms: so far apart two may be and still mean the same start. */
#define SAME_START_NS 20000000ULL

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; t->chunks && i * CHUNK_TASKS < t->nr; i++)
		free(t->chunks[i]);
	for (uint32_t i = 0; i < NR_PAGES; i++)
		free(t->pages[i]);
	map_free(t->high);
	task_cgroups_free(t->cgroups);
	task_names_free(t->names);
	free(t->chunks);
	free(t);
}

DEFINE_SCOPED(tasks, tasks_free)

int tasks_new(const struct tasks_cfg *cfg, struct tasks **out)
{
	SCOPED(scoped_tasks) struct tasks *t = NULL;
	int err;

	if (cfg->max_tasks > TASKS_MAX)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	if (t->cfg.max_tasks == 0)
		t->cfg.max_tasks = DEFAULT_TASKS;
	t->dead_first = t->dead_last = TASKS_NONE;
	t->chunks = calloc(t->cfg.max_tasks / CHUNK_TASKS + 1, sizeof(struct task *));
	if (!t->chunks)
		return -ENOMEM;
	err = task_names_new(cfg->keep_dead_ns, &t->names);
	if (!err)
		err = map_new(sizeof(uint32_t), t->cfg.max_tasks, &t->high);
	if (!err)
		err = task_cgroups_new(&t->cgroups);
	if (err)
		return err;
	*out = TAKE_PTR(t);
	return 0;
}

/* Entries and the places of their tids. */
static int copy_entries(const struct tasks *t, struct tasks *copy)
{
	for (uint32_t i = 0; i * CHUNK_TASKS < t->nr; i++) {
		copy->chunks[i] = copy_of(t->chunks[i], CHUNK_TASKS, sizeof(struct task));
		if (!copy->chunks[i])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < NR_PAGES; i++) {
		if (!t->pages[i])
			continue;
		copy->pages[i] = copy_of(t->pages[i], PAGE_TIDS, sizeof(uint32_t));
		if (!copy->pages[i])
			return -ENOMEM;
	}
	copy->nr = t->nr;
	return 0;
}

int tasks_copy(const struct tasks *t, struct tasks **out)
{
	SCOPED(scoped_tasks) struct tasks *copy = NULL;
	int err = tasks_new(&t->cfg, &copy);

	if (!err)
		err = copy_entries(t, copy);
	if (err)
		return err;
	copy->loss = t->loss;
	copy->dead_first = t->dead_first;
	copy->dead_last = t->dead_last;
	task_names_free(copy->names);
	copy->names = NULL;
	err = task_names_copy(t->names, &copy->names);
	if (err)
		return err;
	task_cgroups_free(copy->cgroups);
	copy->cgroups = NULL;
	err = task_cgroups_copy(t->cgroups, &copy->cgroups);
	if (err)
		return err;
	*out = TAKE_PTR(copy);
	return 0;
}

void tasks_set_hook(struct tasks *t, const struct tasks_hook *hook)
{
	t->hook = *hook;
}

static struct task *at(const struct tasks *t, uint32_t task)
{
	return &t->chunks[task / CHUNK_TASKS][task % CHUNK_TASKS];
}

const struct task *tasks_at(const struct tasks *t, uint32_t task)
{
	return task < t->nr ? at(t, task) : NULL;
}

uint32_t tasks_nr(const struct tasks *t)
{
	return t->nr;
}

void tasks_loss(const struct tasks *t, struct tasks_loss *out)
{
	*out = t->loss;
	out->no_name_room = task_names_no_room(t->names);
}

uint32_t tasks_find(const struct tasks *t, uint32_t tid)
{
	const uint32_t *page;
	uint32_t task;

	if (tid == 0)
		return TASKS_NONE;
	if (tid / PAGE_TIDS < NR_PAGES) {
		page = t->pages[tid / PAGE_TIDS];
		return page ? page[tid % PAGE_TIDS] - 1 : TASKS_NONE;
	}
	return map_find(t->high, &tid, &task) ? task : TASKS_NONE;
}

/* Places are stored plus one, so that pages of zeros are empty. task may be TASKS_NONE. */
static int set_place(struct tasks *t, uint32_t tid, uint32_t task)
{
	uint32_t **page;

	if (tid / PAGE_TIDS >= NR_PAGES) {
		if (task != TASKS_NONE)
			return map_insert(t->high, &tid, task);
		map_remove(t->high, &tid);
		return 0;
	}
	page = &t->pages[tid / PAGE_TIDS];
	if (!*page)
		*page = calloc(PAGE_TIDS, sizeof(uint32_t));
	if (!*page)
		return -ENOMEM;
	(*page)[tid % PAGE_TIDS] = task + 1;
	return 0;
}

static void hide(struct tasks *t, struct task *e)
{
	if (e->is_found)
		(void)!set_place(t, e->tid, TASKS_NONE); /* emptying a place needs no memory */
	e->is_found = false;
}

/* Takes the longest dead one off the list, if it may go now. */
static uint32_t take_dead(struct tasks *t, uint64_t ts_ns, bool is_urgent)
{
	uint32_t task = t->dead_first;
	struct task *e;
	bool is_due;

	if (task == TASKS_NONE)
		return TASKS_NONE;
	e = at(t, task);
	is_due = ts_ns >= e->end_ns && ts_ns - e->end_ns >= t->cfg.keep_dead_ns &&
	         t->cfg.keep_dead_ns != UINT64_MAX;
	if (!is_due && !is_urgent)
		return TASKS_NONE;
	if (!is_due)
		t->loss.early++;
	t->dead_first = e->next_dead;
	if (t->dead_first == TASKS_NONE)
		t->dead_last = TASKS_NONE;
	hide(t, e);
	task_names_drop(t->names, e, ts_ns);
	task_cgroups_drop(t->cgroups, task);
	return task;
}

static void list_dead(struct tasks *t, uint32_t task)
{
	struct task *e = at(t, task);

	if (e->is_listed_dead)
		return;
	e->is_listed_dead = true;
	e->next_dead = TASKS_NONE;
	if (t->dead_last == TASKS_NONE)
		t->dead_first = task;
	else
		at(t, t->dead_last)->next_dead = task;
	t->dead_last = task;
}

static uint32_t take_place(struct tasks *t, uint64_t ts_ns)
{
	uint32_t task = take_dead(t, ts_ns, t->nr >= t->cfg.max_tasks);

	if (task != TASKS_NONE || t->nr >= t->cfg.max_tasks)
		return task;
	if (t->nr % CHUNK_TASKS == 0) {
		t->chunks[t->nr / CHUNK_TASKS] = calloc(CHUNK_TASKS, sizeof(struct task));
		if (!t->chunks[t->nr / CHUNK_TASKS])
			return TASKS_NONE;
	}
	return t->nr++;
}

/* An unused place: it waits for another task as if its own had exited long ago. */
static uint32_t give_back(struct tasks *t, uint32_t task)
{
	at(t, task)->end_ns = 0;
	at(t, task)->is_found = false;
	list_dead(t, task);
	t->loss.no_room++;
	return TASKS_NONE;
}

static uint32_t begin(struct tasks *t, uint32_t tid, uint64_t ts_ns)
{
	uint32_t task;

	if (tid == 0)
		return TASKS_NONE;
	task = take_place(t, ts_ns);
	if (task == TASKS_NONE) {
		t->loss.no_room++;
		return TASKS_NONE;
	}
	*at(t, task) = (struct task){ .tid = tid, .first_seen_ns = ts_ns, .is_found = true };
	if (set_place(t, tid, task) < 0)
		return give_back(t, task);
	if (t->hook.begin && t->hook.begin(t->hook.ctx, task, ts_ns) < 0) {
		hide(t, at(t, task));
		return give_back(t, task);
	}
	task_cgroups_begin(t->cgroups, task, tid, ts_ns);
	return task;
}

static void end(struct tasks *t, uint32_t task, uint64_t ts_ns)
{
	struct task *e = at(t, task);

	if (e->end_ns == 0) {
		e->end_ns = ts_ns ? ts_ns : 1; /* 0 would be alive */
		if (t->hook.end)
			t->hook.end(t->hook.ctx, task, ts_ns);
	}
	list_dead(t, task);
}

uint32_t tasks_see(struct tasks *t, uint32_t tid, uint64_t ts_ns)
{
	uint32_t task = tasks_find(t, tid);

	return task != TASKS_NONE ? task : begin(t, tid, ts_ns);
}

uint32_t tasks_replace(struct tasks *t, uint32_t tid, uint64_t ts_ns)
{
	uint32_t old = tasks_find(t, tid), task;
	uint8_t nr_unfreed = 0;

	if (old != TASKS_NONE) {
		nr_unfreed = at(t, old)->nr_unfreed;
		nr_unfreed = (uint8_t)(nr_unfreed + (nr_unfreed < UINT8_MAX));
		hide(t, at(t, old));
		end(t, old, ts_ns);
	}
	task = begin(t, tid, ts_ns);
	if (task != TASKS_NONE)
		at(t, task)->nr_unfreed = nr_unfreed;
	return task;
}

void tasks_set_tgid(struct tasks *t, uint32_t task, uint32_t tgid)
{
	if (task < t->nr && tgid)
		at(t, task)->tgid = tgid;
}

/* Of a tid with or without an entry. */
static uint32_t cgroup_of_tid(struct tasks *t, uint32_t tid)
{
	uint32_t task = tasks_find(t, tid), kept;

	if (task != TASKS_NONE)
		return task_cgroups_now(t->cgroups, task);
	kept = task_cgroups_take(t->cgroups, tid);
	if (kept)
		task_cgroups_keep(t->cgroups, tid, kept);
	return kept;
}

uint32_t tasks_fork(struct tasks *t, const struct ev_fork *ev)
{
	uint32_t task = tasks_replace(t, ev->tid, ev->hdr.ts_ns);
	uint32_t parent = tasks_find(t, ev->parent_tid), leader;
	struct task *e;

	if (task == TASKS_NONE)
		return TASKS_NONE;
	e = at(t, task);
	e->start_ns = ev->hdr.ts_ns;
	e->is_unborn = true;
	e->tgid = ev->tgid;
	e->is_kthread = ev->parent_tid == KTHREADD_TID ||
	                (parent != TASKS_NONE && parent != task && at(t, parent)->is_kthread);
	leader = tasks_find(t, ev->tgid);
	if (ev->tgid == ev->tid)
		e->ppid = ev->parent_tgid;
	else if (leader != TASKS_NONE)
		e->ppid = at(t, leader)->ppid;
	tasks_set_comm(t, task, ev->comm, ev->hdr.ts_ns);
	/* The recorder says so if it is in another one. */
	task_cgroups_set(t->cgroups, task, cgroup_of_tid(t, ev->parent_tid), ev->hdr.ts_ns);
	return task;
}

uint32_t tasks_wakeup_new(struct tasks *t, uint32_t tid, uint64_t ts_ns)
{
	uint32_t task = tasks_find(t, tid);

	if (task == TASKS_NONE || at(t, task)->has_acted || at(t, task)->end_ns)
		task = tasks_replace(t, tid, ts_ns);
	if (task == TASKS_NONE)
		return TASKS_NONE;
	at(t, task)->is_unborn = false;
	at(t, task)->has_acted = true;
	if (!at(t, task)->start_ns)
		at(t, task)->start_ns = ts_ns;
	return task;
}

uint32_t tasks_info(struct tasks *t, const struct ev_task_info *ev)
{
	uint32_t task = tasks_find(t, ev->tid);
	struct task *e;

	if (task != TASKS_NONE && ev->start_ns) {
		e = at(t, task);
		if (ev->start_ns > (e->start_ns ? e->start_ns : e->first_seen_ns) + SAME_START_NS)
			task = tasks_replace(t, ev->tid, ev->hdr.ts_ns);
	} else if (task == TASKS_NONE) {
		task = begin(t, ev->tid, ev->hdr.ts_ns);
	}
	if (task == TASKS_NONE)
		return TASKS_NONE;
	e = at(t, task);
	if (!e->start_ns)
		e->start_ns = ev->start_ns;
	tasks_set_tgid(t, task, ev->tgid);
	if (ev->ppid)
		e->ppid = ev->ppid;
	e->is_kthread = ev->flags & EV_TASK_KTHREAD;
	tasks_set_comm(t, task, ev->comm, ev->hdr.ts_ns);
	return task;
}

/* The kernel exchanges the tids of the thread and of its dying leader (exchange_tids()). */
static void exchange(struct tasks *t, uint32_t thread, uint32_t leader, const struct ev_exec *ev)
{
	if (set_place(t, ev->tid, thread) < 0) /* the leader has been seen there: needs no memory */
		return;
	at(t, thread)->tid = ev->tid;
	at(t, leader)->tid = ev->old_tid;
	(void)!set_place(t, ev->old_tid, leader);
}

static void move_to_tid(struct tasks *t, uint32_t thread, uint32_t tid)
{
	if (tid == 0 || set_place(t, tid, thread) < 0)
		return;
	(void)!set_place(t, at(t, thread)->tid, TASKS_NONE);
	at(t, thread)->tid = tid;
}

uint32_t tasks_exec(struct tasks *t, const struct ev_exec *ev)
{
	uint32_t thread = TASKS_NONE, leader;

	if (ev->old_tid != ev->tid && ev->old_tid)
		thread = tasks_find(t, ev->old_tid);
	if (thread != TASKS_NONE) {
		leader = tasks_find(t, ev->tid);
		if (leader != TASKS_NONE)
			exchange(t, thread, leader, ev);
		else
			move_to_tid(t, thread, ev->tid);
	} else {
		uint32_t kept = ev->old_tid != ev->tid ? task_cgroups_take(t->cgroups, ev->old_tid)
		                                       : 0;

		thread = tasks_see(t, ev->tid, ev->hdr.ts_ns);
		if (thread != TASKS_NONE && kept)
			task_cgroups_set(t->cgroups, thread, kept, ev->hdr.ts_ns);
	}
	if (thread == TASKS_NONE)
		return TASKS_NONE;
	at(t, thread)->has_acted = true;
	at(t, thread)->is_kthread = false; /* helpers that a kernel thread starts become programs */
	tasks_set_tgid(t, thread,
	               at(t, thread)->tid); /* a task that execs leads a process afterwards */
	tasks_set_comm(t, thread, ev->comm, ev->hdr.ts_ns);
	return thread;
}

uint32_t tasks_exit(struct tasks *t, const struct ev_exit *ev)
{
	uint32_t task = tasks_see(t, ev->tid, ev->hdr.ts_ns);

	if (task == TASKS_NONE)
		return TASKS_NONE;
	at(t, task)->is_exiting = true;
	at(t, task)->has_acted = true;
	tasks_set_tgid(t, task, ev->tgid);
	tasks_set_comm(t, task, ev->comm, ev->hdr.ts_ns);
	return task;
}

uint32_t tasks_rename(struct tasks *t, const struct ev_rename *ev)
{
	uint32_t task = tasks_see(t, ev->tid, ev->hdr.ts_ns);

	if (task == TASKS_NONE)
		return TASKS_NONE;
	tasks_set_tgid(t, task, ev->tgid);
	if (!at(t, task)->nr_names)
		tasks_set_comm(t, task, ev->old_comm, at(t, task)->first_seen_ns);
	tasks_set_comm(t, task, ev->comm, ev->hdr.ts_ns);
	return task;
}

uint32_t tasks_freed(struct tasks *t, const struct ev_free *ev)
{
	uint32_t task = tasks_find(t, ev->tid);
	struct task *e;

	if (task == TASKS_NONE) {
		(void)task_cgroups_take(t->cgroups, ev->tid);
		return TASKS_NONE;
	}
	e = at(t, task);
	/* Freeing waits for RCU: the tid may have found a new owner before. */
	if (e->nr_unfreed && !e->is_exiting && !e->end_ns) {
		e->nr_unfreed--;
		return TASKS_NONE;
	}
	if (!e->nr_names)
		tasks_set_comm(t, task, ev->comm, e->first_seen_ns);
	hide(t, e);
	end(t, task, ev->hdr.ts_ns);
	return task;
}

void tasks_died(struct tasks *t, uint32_t task, uint64_t ts_ns)
{
	if (task < t->nr)
		end(t, task, ts_ns);
}

void tasks_acted(struct tasks *t, uint32_t task)
{
	if (task < t->nr)
		at(t, task)->has_acted = true;
}

void tasks_set_comm(struct tasks *t, uint32_t task, const char comm[EV_COMM_LEN], uint64_t ts_ns)
{
	size_t len = strnlen(comm, EV_COMM_LEN);

	if (task < t->nr && len)
		task_names_set(t->names, at(t, task), comm, len, ts_ns);
}

uint32_t tasks_comm_at(const struct tasks *t, uint32_t task, uint64_t ts_ns)
{
	const struct task *e = tasks_at(t, task);

	return e ? task_names_at(t->names, e, ts_ns) : 0;
}

uint32_t tasks_name(const struct tasks *t, uint32_t task, uint32_t nr)
{
	const struct task *e = tasks_at(t, task);

	return e ? task_names_nth(t->names, e, nr) : 0;
}

uint32_t tasks_intern(struct tasks *t, const char *s, size_t len)
{
	return task_names_intern(t->names, s, len);
}

const char *tasks_string(const struct tasks *t, uint32_t id)
{
	return task_names_string(t->names, id);
}

const char *tasks_comm(const struct tasks *t, uint32_t task)
{
	const struct task *e = tasks_at(t, task);

	return e && e->comm_id ? tasks_string(t, e->comm_id) : NULL;
}
