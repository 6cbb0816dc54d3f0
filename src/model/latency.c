#include "model/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/lru.h"

#define DEFAULT_ROWS 1024U
#define FIRST_TASKS  1024U

struct table {
	struct lru *lru;
	struct latency_row *rows;
};

struct kind {
	struct hist all;
	uint64_t *recent; /* the last ones, in a ring */
	struct table by[LATENCY_BYS];
};

struct latency {
	struct latency_cfg cfg;
	struct kind kinds[LATENCY_KINDS];
	uint64_t *moved_ns; /* by task: its last migration that no switch-in has followed; 0 = none */
	uint32_t max_tasks;
};

void latency_free(struct latency *l)
{
	if (!l)
		return;
	for (int k = 0; k < LATENCY_KINDS; k++) {
		for (int by = 0; by < LATENCY_BYS; by++) {
			lru_free(l->kinds[k].by[by].lru);
			free(l->kinds[k].by[by].rows);
		}
		free(l->kinds[k].recent);
	}
	free(l->moved_ns);
	free(l);
}

static void scoped_latency(struct latency *const *l)
{
	latency_free(*l);
}

static int init_kind(struct kind *k, uint32_t max_rows)
{
	int err;

	k->recent = calloc(LATENCY_RECENT, sizeof(*k->recent));
	if (!k->recent)
		return -ENOMEM;
	for (int by = 0; by < LATENCY_BYS; by++) {
		k->by[by].rows = calloc(max_rows, sizeof(*k->by[by].rows));
		if (!k->by[by].rows)
			return -ENOMEM;
		err = lru_new(max_rows, &k->by[by].lru);
		if (err)
			return err;
	}
	return 0;
}

int latency_new(const struct latency_cfg *cfg, struct latency **out)
{
	SCOPED(scoped_latency) struct latency *l = NULL;
	int err = 0;

	if (!cfg->tasks || cfg->max_rows > LRU_MAX)
		return -EINVAL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->cfg = *cfg;
	if (!l->cfg.max_rows)
		l->cfg.max_rows = DEFAULT_ROWS;
	for (int k = 0; k < LATENCY_KINDS && !err; k++)
		err = init_kind(&l->kinds[k], l->cfg.max_rows);
	if (err)
		return err;
	*out = TAKE_PTR(l);
	return 0;
}

static void add_row(struct table *t, uint32_t key, const struct latency_row *who, uint64_t ns,
                    uint64_t at_ns)
{
	bool is_new;
	uint32_t i = lru_touch(t->lru, key, &is_new);
	struct latency_row *r;

	if (i == LRU_NONE)
		return;
	r = &t->rows[i];
	if (is_new)
		memset(r, 0, sizeof(*r));
	r->id = who->id;
	r->comm_id = who->comm_id;
	live_latency_add(&r->time, ns, at_ns);
	small_hist_add(&r->hist, ns);
}

static void add(struct latency *l, enum latency_kind kind, uint32_t task, uint16_t cpu,
                uint64_t start_ns, uint64_t end_ns)
{
	const struct task *t = tasks_at(l->cfg.tasks, task);
	struct kind *k = &l->kinds[kind];
	uint64_t ns = end_ns > start_ns ? end_ns - start_ns : 0;

	k->recent[k->all.count % LATENCY_RECENT] = ns;
	hist_add(&k->all, ns, end_ns, cpu);
	add_row(&k->by[LATENCY_BY_CPU], cpu, &(struct latency_row){ .id = cpu }, ns, end_ns);
	if (t)
		add_row(&k->by[LATENCY_BY_TASK], task,
		        &(struct latency_row){ .id = t->tid, .comm_id = t->comm_id }, ns, end_ns);
}

/* The index is somebody new: what is known under it is over. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct latency *l = ctx;
	uint32_t i;

	(void)ts_ns;
	if (task < l->max_tasks)
		l->moved_ns[task] = 0;
	for (int k = 0; k < LATENCY_KINDS; k++) {
		struct table *t = &l->kinds[k].by[LATENCY_BY_TASK];

		if (lru_find(t->lru, task, &i))
			memset(&t->rows[i], 0, sizeof(t->rows[i]));
	}
}

static void on_migration(void *ctx, const struct pair_migration *r)
{
	struct latency *l = ctx;
	uint64_t *more;
	uint32_t max;

	if (r->task == TASKS_NONE)
		return;
	if (r->task >= l->max_tasks) {
		max = l->max_tasks ? l->max_tasks : FIRST_TASKS;
		while (max <= r->task)
			max *= 2;
		more = realloc(l->moved_ns, max * sizeof(*more));
		if (!more)
			return;
		memset(more + l->max_tasks, 0, (max - l->max_tasks) * sizeof(*more));
		l->moved_ns = more;
		l->max_tasks = max;
	}
	l->moved_ns[r->task] = r->ts_ns;
}

/* A task is given its CPU between the waking and the wakeup, so a migration belongs to the wait from there on. */
static void add_migration(struct latency *l, const struct pair_wait *r)
{
	uint64_t start_ns = r->waking_ns ? r->waking_ns : r->wakeup_ns, moved_ns;

	if (r->task >= l->max_tasks)
		return;
	moved_ns = l->moved_ns[r->task];
	l->moved_ns[r->task] = 0;
	if (moved_ns && moved_ns >= start_ns)
		add(l, LATENCY_CPU_MIGRATION, r->task, r->cpu, moved_ns, r->end_ns);
}

static void on_wait(void *ctx, const struct pair_wait *r)
{
	struct latency *l = ctx;

	if (r->is_open)
		return;
	add(l, LATENCY_SCHEDULING_DELAY, r->task, r->cpu, pair_wait_start_ns(r), r->end_ns);
	if (r->cause != PAIR_PREEMPTED)
		add(l, LATENCY_WAKEUP_TO_RUN, r->task, r->cpu,
		    r->waking_ns ? r->waking_ns : r->wakeup_ns, r->end_ns);
	add_migration(l, r);
}

struct pair_out latency_out(struct latency *l)
{
	return (struct pair_out){
		.ctx = l, .task_begin = on_task_begin, .migration = on_migration, .wait = on_wait
	};
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	const struct ev_dsq_leave *ev = (const struct ev_dsq_leave *)rec;
	struct latency *l = ctx;

	if (rec->kind != EV_DSQ_LEAVE || rec->cpu >= PAIR_MAX_CPUS || ev->is_moved ||
	    !ev->start_ns || ev->start_ns > rec->ts_ns || ev->dsq_id == EV_DSQ_INVALID)
		return 0;
	add(l, LATENCY_DSQ_WAIT, tasks_find(l->cfg.tasks, ev->tid), (uint16_t)rec->cpu,
	    ev->start_ns, rec->ts_ns);
	return 0;
}

struct ev_sink latency_sink(struct latency *l)
{
	return (struct ev_sink){ .push = push, .ctx = l };
}

void latency_reset(struct latency *l)
{
	for (int k = 0; k < LATENCY_KINDS; k++) {
		memset(&l->kinds[k].all, 0, sizeof(l->kinds[k].all));
		for (int by = 0; by < LATENCY_BYS; by++)
			lru_clear(l->kinds[k].by[by].lru);
	}
	if (l->max_tasks)
		memset(l->moved_ns, 0, l->max_tasks * sizeof(*l->moved_ns));
}

const char *latency_name(enum latency_kind kind)
{
	static const char *const names[LATENCY_KINDS] = { "WakeupToRun", "DsqWait", "CpuMigration",
		                                          "SchedulingDelay" };

	return names[kind];
}

const struct hist *latency_all(const struct latency *l, enum latency_kind kind)
{
	return &l->kinds[kind].all;
}

uint32_t latency_nr(const struct latency *l, enum latency_kind kind, enum latency_by by)
{
	return lru_nr(l->kinds[kind].by[by].lru);
}

const struct latency_row *latency_at(const struct latency *l, enum latency_kind kind,
                                     enum latency_by by, uint32_t i)
{
	const struct table *t = &l->kinds[kind].by[by];

	if (lru_key(t->lru, i) == LRU_NONE || !t->rows[i].time.samples)
		return NULL;
	return &t->rows[i];
}

uint64_t latency_percentile_ns(const struct latency_row *r, uint32_t p10000)
{
	return small_hist_percentile_ns(&r->hist, p10000, r->time.min_ns, r->time.max_ns);
}

uint64_t latency_forgotten(const struct latency *l)
{
	uint64_t nr = 0;

	for (int k = 0; k < LATENCY_KINDS; k++)
		for (int by = 0; by < LATENCY_BYS; by++)
			nr += lru_forgotten(l->kinds[k].by[by].lru);
	return nr;
}

int64_t latency_histogram(const struct latency *l, enum latency_kind kind,
                          const uint64_t *bounds_ns, uint32_t nr, uint64_t *out)
{
	const struct kind *k = &l->kinds[kind];
	uint64_t count = k->all.count < LATENCY_RECENT ? k->all.count : LATENCY_RECENT;
	uint32_t b;

	if (!nr || nr > LATENCY_MAX_BUCKETS)
		return -EINVAL;
	for (uint32_t i = 1; i < nr; i++)
		if (bounds_ns[i] <= bounds_ns[i - 1])
			return -EINVAL;
	memset(out, 0, (nr + 1) * sizeof(*out));
	for (uint64_t i = 0; i < count; i++) {
		for (b = 0; b < nr && k->recent[i] >= bounds_ns[b]; b++)
			;
		out[b]++;
	}
	return (int64_t)count;
}
