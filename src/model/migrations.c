#include "model/migrations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "model/lru.h"

#define DEFAULT_ROWS 4096U

struct migrations {
	struct migrations_cfg cfg;
	uint64_t total;
	uint64_t left_out;
	struct migrations_pair *pairs;
	uint32_t nr_pairs;
	struct map *pair_of;
	struct migrations_task *tasks;
	struct lru *task_of;
};

void migrations_free(struct migrations *m)
{
	if (!m)
		return;
	map_free(m->pair_of);
	lru_free(m->task_of);
	free(m->pairs);
	free(m->tasks);
	free(m);
}

static void scoped_migrations(struct migrations *const *m)
{
	migrations_free(*m);
}

int migrations_new(const struct migrations_cfg *cfg, struct migrations **out)
{
	SCOPED(scoped_migrations) struct migrations *m = NULL;
	int err;

	if (!cfg->tasks || cfg->max_rows > LRU_MAX)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->cfg = *cfg;
	if (!m->cfg.max_rows)
		m->cfg.max_rows = DEFAULT_ROWS;
	m->pairs = calloc(m->cfg.max_rows, sizeof(*m->pairs));
	m->tasks = calloc(m->cfg.max_rows, sizeof(*m->tasks));
	if (!m->pairs || !m->tasks)
		return -ENOMEM;
	err = map_new(sizeof(uint32_t), m->cfg.max_rows, &m->pair_of);
	if (!err)
		err = lru_new(m->cfg.max_rows, &m->task_of);
	if (err)
		return err;
	*out = TAKE_PTR(m);
	return 0;
}

static void clear_task(struct migrations_task *t)
{
	*t = (struct migrations_task){ .last_from = PAIR_NO_CPU, .last_to = PAIR_NO_CPU };
}

/* The index is somebody new: what is known under it is over. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct migrations *m = ctx;
	uint32_t i;

	(void)ts_ns;
	if (lru_find(m->task_of, task, &i))
		clear_task(&m->tasks[i]);
}

static void count_pair(struct migrations *m, const struct pair_migration *r)
{
	uint32_t key = (uint32_t)r->from_cpu << 16 | r->to_cpu, i;

	if (!map_find(m->pair_of, &key, &i)) {
		i = m->nr_pairs;
		if (i == m->cfg.max_rows || map_insert(m->pair_of, &key, i) < 0) {
			m->left_out++;
			return;
		}
		m->pairs[m->nr_pairs++] = (struct migrations_pair){ r->from_cpu, r->to_cpu, 0 };
	}
	m->pairs[i].count++;
}

static void note_cpu(struct migrations_task *t, uint16_t cpu)
{
	uint16_t i = 0;

	while (i < t->nr_cpus && t->cpus[i] < cpu)
		i++;
	if (cpu == PAIR_NO_CPU || (i < t->nr_cpus && t->cpus[i] == cpu))
		return;
	if (t->nr_cpus == MIGRATIONS_CPUS) {
		t->has_more_cpus = true;
		return;
	}
	memmove(&t->cpus[i + 1], &t->cpus[i], (size_t)(t->nr_cpus - i) * sizeof(t->cpus[0]));
	t->cpus[i] = cpu;
	t->nr_cpus++;
}

static void count_task(struct migrations *m, const struct pair_migration *r)
{
	const struct task *task = tasks_at(m->cfg.tasks, r->task);
	bool is_new;
	uint32_t i = task ? lru_touch(m->task_of, r->task, &is_new) : LRU_NONE;
	struct migrations_task *t;

	if (i == LRU_NONE)
		return;
	t = &m->tasks[i];
	if (is_new)
		clear_task(t);
	t->tid = task->tid;
	t->comm_id = task->comm_id;
	t->count++;
	t->nr_ping_pongs += t->last_from == r->to_cpu && t->last_to == r->from_cpu;
	t->last_from = r->from_cpu;
	t->last_to = r->to_cpu;
	note_cpu(t, r->from_cpu);
	note_cpu(t, r->to_cpu);
}

static void on_migration(void *ctx, const struct pair_migration *r)
{
	struct migrations *m = ctx;

	m->total++;
	count_pair(m, r);
	count_task(m, r);
}

struct pair_out migrations_out(struct migrations *m)
{
	return (struct pair_out){ .ctx = m,
		                  .task_begin = on_task_begin,
		                  .migration = on_migration };
}

void migrations_reset(struct migrations *m)
{
	map_clear(m->pair_of);
	lru_clear(m->task_of);
	m->nr_pairs = 0;
	m->total = 0;
	m->left_out = 0;
}

uint64_t migrations_total(const struct migrations *m)
{
	return m->total;
}

uint32_t migrations_nr_pairs(const struct migrations *m)
{
	return m->nr_pairs;
}

const struct migrations_pair *migrations_pair_at(const struct migrations *m, uint32_t i)
{
	return i < m->nr_pairs ? &m->pairs[i] : NULL;
}

uint32_t migrations_nr_tasks(const struct migrations *m)
{
	return lru_nr(m->task_of);
}

const struct migrations_task *migrations_task_at(const struct migrations *m, uint32_t i)
{
	if (lru_key(m->task_of, i) == LRU_NONE || !m->tasks[i].count)
		return NULL;
	return &m->tasks[i];
}

uint64_t migrations_left_out(const struct migrations *m)
{
	return m->left_out + lru_forgotten(m->task_of);
}
