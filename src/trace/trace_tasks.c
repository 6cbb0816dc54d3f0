#include "trace/trace_tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define BLOCK    1024U
#define CAP_MIN  16U
#define CAP_MAX  (1U << 22) /* the largest pid_max of Linux */
#define GONE_MAX 4096U
#define NONE     UINT32_MAX

struct trace_tasks {
	struct map *by_tid;
	struct trace_task **blocks;
	uint32_t cap;
	uint32_t nr;   /* used entries of the blocks, dropped ones included */
	uint32_t hand; /* where to search next for one to evict */
	uint32_t oldest_gone, newest_gone, nr_gone;
};

int trace_tasks_new(uint32_t cap, struct trace_tasks **out)
{
	struct trace_tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->cap = cap < CAP_MIN ? CAP_MIN : cap > CAP_MAX ? CAP_MAX : cap;
	t->oldest_gone = t->newest_gone = NONE;
	t->blocks = calloc((t->cap + BLOCK - 1) / BLOCK, sizeof(struct trace_task *));
	if (!t->blocks || map_new(sizeof(uint32_t), t->cap, &t->by_tid) < 0) {
		trace_tasks_free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void trace_tasks_free(struct trace_tasks *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; t->blocks && i < t->nr; i += BLOCK)
		free(t->blocks[i / BLOCK]);
	free(t->blocks);
	map_free(t->by_tid);
	free(t);
}

static struct trace_task *at(const struct trace_tasks *t, uint32_t idx)
{
	return &t->blocks[idx / BLOCK][idx % BLOCK];
}

static void make_name(struct trace_task *task)
{
	memset(task->comm, 0, sizeof(task->comm));
	/* More digits than tids of Linux have would not fit: the number alone then is the name. */
	if (task->tid <= 999999999)
		(void)snprintf(task->comm, sizeof(task->comm), "<tid %u>", task->tid);
	else
		(void)snprintf(task->comm, sizeof(task->comm), "<%u>", task->tid);
}

static void init(struct trace_task *task, uint32_t tid)
{
	*task = (struct trace_task){ .tid = tid, .older = NONE, .newer = NONE };
	make_name(task);
}

static void unlink_gone(struct trace_tasks *t, struct trace_task *task)
{
	if (!(task->flags & TASK_GONE))
		return;
	if (task->older != NONE)
		at(t, task->older)->newer = task->newer;
	else
		t->oldest_gone = task->newer;
	if (task->newer != NONE)
		at(t, task->newer)->older = task->older;
	else
		t->newest_gone = task->older;
	task->older = task->newer = NONE;
	task->flags &= ~(uint32_t)TASK_GONE;
	t->nr_gone--;
}

/* Frees one entry for another task: the one that exited longest ago, or that was not looked up. */
static uint32_t drop_one(struct trace_tasks *t)
{
	uint32_t idx = t->oldest_gone;

	if (idx == NONE) {
		while (at(t, t->hand)->flags & TASK_RECENT) {
			at(t, t->hand)->flags &= ~(uint32_t)TASK_RECENT;
			t->hand = (t->hand + 1) % t->nr;
		}
		idx = t->hand;
		t->hand = (t->hand + 1) % t->nr;
	}
	unlink_gone(t, at(t, idx));
	map_remove(t->by_tid, &at(t, idx)->tid);
	return idx;
}

static bool ensure_block(struct trace_tasks *t)
{
	struct trace_task **block = &t->blocks[t->nr / BLOCK];

	if (!*block)
		*block = calloc(BLOCK, sizeof(**block));
	return *block;
}

struct trace_task *trace_tasks_find(struct trace_tasks *t, uint32_t tid)
{
	struct trace_task *task;
	uint32_t idx;

	if (!map_find(t->by_tid, &tid, &idx))
		return NULL;
	task = at(t, idx);
	task->flags |= TASK_RECENT;
	return task;
}

struct trace_task *trace_tasks_get(struct trace_tasks *t, uint32_t tid)
{
	struct trace_task *task = trace_tasks_find(t, tid);
	uint32_t idx;

	if (task)
		return task;
	if (t->nr == t->cap || t->nr_gone >= GONE_MAX)
		idx = drop_one(t);
	else if (ensure_block(t))
		idx = t->nr;
	else
		return NULL;
	/* Cannot fail where one was dropped: the map has just had as many. */
	if (map_insert(t->by_tid, &tid, idx) < 0)
		return NULL;
	if (idx == t->nr)
		t->nr++;
	task = at(t, idx);
	init(task, tid);
	task->flags |= TASK_RECENT;
	return task;
}

void trace_tasks_reborn(struct trace_tasks *t, struct trace_task *task)
{
	unlink_gone(t, task);
	init(task, task->tid);
	task->flags |= TASK_RECENT;
}

void trace_tasks_gone(struct trace_tasks *t, struct trace_task *task)
{
	uint32_t idx;

	if (task->flags & TASK_GONE || !map_find(t->by_tid, &task->tid, &idx))
		return;
	task->flags |= TASK_GONE;
	task->older = t->newest_gone;
	task->newer = NONE;
	if (t->newest_gone != NONE)
		at(t, t->newest_gone)->newer = idx;
	else
		t->oldest_gone = idx;
	t->newest_gone = idx;
	t->nr_gone++;
}

bool trace_tasks_rename(struct trace_task *task, const char comm[EV_COMM_LEN])
{
	char clean[EV_COMM_LEN] = { 0 };

	/* Bytes after the NUL would make two names of one. */
	memcpy(clean, comm, strnlen(comm, sizeof(clean) - 1));
	if (!clean[0])
		return false;
	task->flags |= TASK_HAS_NAME;
	if (memcmp(task->comm, clean, sizeof(clean)) == 0)
		return false;
	memcpy(task->comm, clean, sizeof(clean));
	task->bundle = 0;
	task->flags &= ~(uint32_t)(TASK_THREAD_WRITTEN | TASK_PROCESS_WRITTEN);
	return true;
}

uint32_t trace_tasks_nr(const struct trace_tasks *t)
{
	return map_nr(t->by_tid);
}
