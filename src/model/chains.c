#include "model/chains.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/lru.h"

#define DEFAULT_TASKS 4096U

struct row {
	uint64_t nr;
	struct chains_link ring[CHAINS_LINKS];
};

struct chains {
	struct chains_cfg cfg;
	uint64_t nr_wakeups;
	struct row *rows;
	struct lru *row_of;
};

void chains_free(struct chains *c)
{
	if (!c)
		return;
	lru_free(c->row_of);
	free(c->rows);
	free(c);
}

static void scoped_chains(struct chains *const *c)
{
	chains_free(*c);
}

int chains_new(const struct chains_cfg *cfg, struct chains **out)
{
	SCOPED(scoped_chains) struct chains *c = NULL;
	int err;

	if (!cfg->tasks || cfg->max_tasks > LRU_MAX)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cfg = *cfg;
	if (!c->cfg.max_tasks)
		c->cfg.max_tasks = DEFAULT_TASKS;
	c->rows = calloc(c->cfg.max_tasks, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	err = lru_new(c->cfg.max_tasks, &c->row_of);
	if (err)
		return err;
	*out = TAKE_PTR(c);
	return 0;
}

/* The index is somebody new. Links that name it as a waker are older than any that it will have itself. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct chains *c = ctx;
	uint32_t i;

	(void)ts_ns;
	if (lru_find(c->row_of, task, &i))
		c->rows[i].nr = 0;
}

static void on_wait(void *ctx, const struct pair_wait *r)
{
	struct chains *c = ctx;
	bool is_irq = r->flags & (EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ), is_new;
	uint32_t waker = is_irq ? TASKS_NONE : r->waker, i;
	const struct task *from = tasks_at(c->cfg.tasks, waker);
	const struct task *to = tasks_at(c->cfg.tasks, r->task);

	if (r->is_open || r->cause == PAIR_PREEMPTED || !to)
		return;
	c->nr_wakeups++;
	i = lru_touch(c->row_of, r->task, &is_new);
	if (i == LRU_NONE)
		return;
	if (is_new)
		c->rows[i].nr = 0;
	c->rows[i].ring[c->rows[i].nr++ % CHAINS_LINKS] = (struct chains_link){
		.waking_ns = r->waking_ns ? r->waking_ns : r->wakeup_ns,
		.run_ns = r->end_ns,
		.waker = from ? waker : TASKS_NONE,
		.waker_tid = from ? from->tid : 0,
		.waker_comm_id = from ? from->comm_id : 0,
		.wakee_tid = to->tid,
		.wakee_comm_id = to->comm_id,
	};
}

struct pair_out chains_out(struct chains *c)
{
	return (struct pair_out){ .ctx = c, .task_begin = on_task_begin, .wait = on_wait };
}

void chains_reset(struct chains *c)
{
	lru_clear(c->row_of);
	c->nr_wakeups = 0;
}

uint32_t chains_nr_tasks(const struct chains *c)
{
	return lru_nr(c->row_of);
}

uint64_t chains_nr_wakeups(const struct chains *c)
{
	return c->nr_wakeups;
}

uint32_t chains_task_at(const struct chains *c, uint32_t i)
{
	return lru_key(c->row_of, i); /* LRU_NONE is TASKS_NONE */
}

/* The most recent link of a task that was over by then; NULL if none is known. */
static const struct chains_link *link_before(const struct chains *c, uint32_t task, uint64_t by_ns)
{
	const struct row *r;
	uint32_t i;

	if (!lru_find(c->row_of, task, &i))
		return NULL;
	r = &c->rows[i];
	for (uint64_t k = r->nr; k > 0 && r->nr - k < CHAINS_LINKS; k--)
		if (r->ring[(k - 1) % CHAINS_LINKS].run_ns <= by_ns)
			return &r->ring[(k - 1) % CHAINS_LINKS];
	return NULL;
}

static bool is_in(const uint32_t *tasks, uint32_t nr, uint32_t task)
{
	for (uint32_t i = 0; i < nr; i++)
		if (tasks[i] == task)
			return true;
	return false;
}

bool chains_find(const struct chains *c, uint32_t task, uint32_t max, struct chains_chain *out)
{
	const struct chains_link *l = link_before(c, task, UINT64_MAX);
	uint32_t seen[CHAINS_MAX];

	if (!l || !max)
		return false;
	if (max > CHAINS_MAX)
		max = CHAINS_MAX;
	out->nr = 0;
	out->end = CHAINS_CUT;
	while (l && out->nr < max) {
		seen[out->nr] = task;
		out->links[out->nr++] = *l;
		task = l->waker;
		if (task == TASKS_NONE || is_in(seen, out->nr, task)) {
			out->end = task == TASKS_NONE ? CHAINS_NOBODY : CHAINS_CYCLE;
			return true;
		}
		l = link_before(c, task, l->waking_ns);
	}
	if (!l)
		out->end = CHAINS_UNKNOWN;
	return true;
}

uint64_t chains_forgotten(const struct chains *c)
{
	return lru_forgotten(c->row_of);
}
