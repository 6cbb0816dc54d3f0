#include "model/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/interrupt.h"
#include "model/lru.h"

#define DEFAULT_TASKS 1024U
#define MAX_TASKS     (1U << 16)

struct history_row {
	struct history_task pub;
	struct history_moment ring[HISTORY_MOMENTS];
};

struct history {
	struct history_cfg cfg;
	struct history_row *rows;
	struct lru *row_of;
};

void history_free(struct history *h)
{
	if (!h)
		return;
	lru_free(h->row_of);
	free(h->rows);
	free(h);
}

DEFINE_SCOPED(history, history_free)

int history_new(const struct history_cfg *cfg, struct history **out)
{
	SCOPED(scoped_history) struct history *h = NULL;
	int err;

	if (!cfg->tasks || cfg->max_tasks > MAX_TASKS)
		return -EINVAL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->cfg = *cfg;
	if (!h->cfg.max_tasks)
		h->cfg.max_tasks = DEFAULT_TASKS;
	h->rows = calloc(h->cfg.max_tasks, sizeof(*h->rows));
	if (!h->rows)
		return -ENOMEM;
	err = lru_new(h->cfg.max_tasks, &h->row_of);
	if (err)
		return err;
	*out = TAKE_PTR(h);
	return 0;
}

/* The index belongs to a new task: what is known under it is over. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct history *h = ctx;
	uint32_t i;

	(void)ts_ns;
	if (lru_find(h->row_of, task, &i))
		memset(&h->rows[i].pub, 0, sizeof(h->rows[i].pub));
}

struct pair_out history_out(struct history *h)
{
	return (struct pair_out){ .ctx = h, .task_begin = on_task_begin };
}

static void remember(struct history *h, uint32_t tid, const struct history_moment *moment)
{
	uint32_t task = tasks_find(h->cfg.tasks, tid), i;
	const struct task *t = tasks_at(h->cfg.tasks, task);
	struct history_row *r;
	bool is_new;

	if (!t)
		return;
	i = lru_touch(h->row_of, task, &is_new);
	if (i == LRU_NONE)
		return;
	r = &h->rows[i];
	if (is_new)
		memset(&r->pub, 0, sizeof(r->pub));
	r->pub.tid = t->tid;
	r->pub.comm_id = t->comm_id;
	r->ring[r->pub.nr++ % HISTORY_MOMENTS] = *moment;
	r->pub.counts[moment->kind]++;
}

static void push_switch(struct history *h, const struct ev_switch *ev, struct history_moment m)
{
	m.comes_on = true;
	remember(h, ev->next_tid, &m);
	m.comes_on = false;
	m.a = ev->prev_state;
	remember(h, ev->prev_tid, &m);
}

static void push_fork(struct history *h, const struct ev_fork *ev, struct history_moment m)
{
	m.a = ev->tid;
	remember(h, ev->parent_tid, &m);
	m.a = ev->parent_tid;
	remember(h, ev->tid, &m);
}

/* Whom a record is about, if it is about one task. */
static uint32_t tid_of(const struct ev_hdr *rec)
{
	switch (rec->kind) {
	case EV_EXEC:
		return ((const struct ev_exec *)rec)->tid;
	case EV_EXIT:
		return ((const struct ev_exit *)rec)->tid;
	case EV_RENAME:
		return ((const struct ev_rename *)rec)->tid;
	case EV_HANG:
	case EV_WAIT:
		return ((const struct ev_task *)rec)->tid;
	case EV_PROBE:
		return ((const struct ev_probe *)rec)->tid;
	case EV_SCX_RUN:
		return ((const struct ev_scx_run *)rec)->tid;
	case EV_DSQ_LEAVE:
		return ((const struct ev_dsq_leave *)rec)->tid;
	default:
		return 0;
	}
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	const struct ev_migrate *move = (const struct ev_migrate *)rec;
	const struct ev_wake *wake = (const struct ev_wake *)rec;
	struct history_moment m = { .ts_ns = rec->ts_ns,
		                    .cpu = rec->cpu < PAIR_MAX_CPUS ? (uint16_t)rec->cpu
		                                                    : PAIR_NO_CPU,
		                    .kind = rec->kind };

	if (rec->kind >= EV_KIND_MAX)
		return 0;
	if (rec->kind == EV_SWITCH) {
		push_switch(ctx, (const struct ev_switch *)rec, m);
	} else if (rec->kind == EV_WAKING || rec->kind == EV_WAKEUP || rec->kind == EV_WAKEUP_NEW) {
		if (!interrupt_is(interrupt_context(rec->flags, wake->by)))
			m.a = wake->waker_tid;
		remember(ctx, wake->tid, &m);
	} else if (rec->kind == EV_MIGRATE) {
		m.a = move->from_cpu;
		m.b = move->to_cpu;
		remember(ctx, move->tid, &m);
	} else if (rec->kind == EV_FORK) {
		push_fork(ctx, (const struct ev_fork *)rec, m);
	} else {
		remember(ctx, tid_of(rec), &m);
	}
	return 0;
}

struct ev_sink history_sink(struct history *h)
{
	return (struct ev_sink){ .push = push, .ctx = h };
}

void history_reset(struct history *h)
{
	lru_clear(h->row_of);
}

uint32_t history_nr_tasks(const struct history *h)
{
	return lru_nr(h->row_of);
}

const struct history_task *history_task_at(const struct history *h, uint32_t i)
{
	if (lru_key(h->row_of, i) == LRU_NONE || !h->rows[i].pub.nr)
		return NULL;
	return &h->rows[i].pub;
}

static uint64_t newest_ns(const struct history_row *r)
{
	return r->ring[(r->pub.nr - 1) % HISTORY_MOMENTS].ts_ns;
}

bool history_find(const struct history *h, uint32_t tid, uint32_t *out)
{
	uint32_t best = LRU_NONE;

	if (lru_find(h->row_of, tasks_find(h->cfg.tasks, tid), out) && history_task_at(h, *out))
		return true;
	for (uint32_t i = 0; i < lru_nr(h->row_of); i++) {
		const struct history_task *t = history_task_at(h, i);

		if (t && t->tid == tid &&
		    (best == LRU_NONE || newest_ns(&h->rows[i]) > newest_ns(&h->rows[best])))
			best = i;
	}
	if (best != LRU_NONE)
		*out = best;
	return best != LRU_NONE;
}

uint32_t history_read(const struct history *h, uint32_t i, struct history_moment *out, uint32_t max)
{
	const struct history_row *r = &h->rows[i];
	uint32_t nr;

	if (!history_task_at(h, i))
		return 0;
	nr = r->pub.nr < HISTORY_MOMENTS ? (uint32_t)r->pub.nr : HISTORY_MOMENTS;
	nr = nr < max ? nr : max;
	for (uint32_t k = 0; k < nr; k++)
		out[k] = r->ring[(r->pub.nr - 1 - k) % HISTORY_MOMENTS];
	return nr;
}

uint64_t history_forgotten(const struct history *h)
{
	return lru_forgotten(h->row_of);
}
