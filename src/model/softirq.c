#include "model/softirq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

#define DEFAULT_TASKS 10000U
#define MAX_TASKS     (1U << 20)

struct key {
	uint32_t tid; /* a tid that comes back counts on: softirqs hit whoever is there */
	uint32_t vector;
};

struct softirq {
	struct softirq_cfg cfg;
	uint64_t since_ns;
	uint64_t left_out;
	struct hist vectors[SOFTIRQ_VECTORS];
	struct softirq_cpu *cpus;
	uint32_t nr_cpus;
	struct softirq_task *tasks;
	uint32_t nr_tasks;
	struct map *task_of;
};

void softirq_free(struct softirq *s)
{
	if (!s)
		return;
	map_free(s->task_of);
	free(s->cpus);
	free(s->tasks);
	free(s);
}

static void scoped_softirq(struct softirq *const *s)
{
	softirq_free(*s);
}

int softirq_new(const struct softirq_cfg *cfg, struct softirq **out)
{
	SCOPED(scoped_softirq) struct softirq *s = NULL;
	int err;

	if (!cfg->tasks || cfg->max_tasks > MAX_TASKS)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	if (!s->cfg.max_tasks)
		s->cfg.max_tasks = DEFAULT_TASKS;
	s->tasks = calloc(s->cfg.max_tasks, sizeof(*s->tasks));
	if (!s->tasks)
		return -ENOMEM;
	err = map_new(sizeof(struct key), s->cfg.max_tasks, &s->task_of);
	if (err)
		return err;
	*out = TAKE_PTR(s);
	return 0;
}

static struct softirq_cpu *cpu_for(struct softirq *s, uint16_t cpu)
{
	struct softirq_cpu *more;

	if (cpu >= s->nr_cpus) {
		more = realloc(s->cpus, (cpu + 1U) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + s->nr_cpus, 0, (cpu + 1U - s->nr_cpus) * sizeof(*more));
		s->cpus = more;
		s->nr_cpus = cpu + 1U;
	}
	return &s->cpus[cpu];
}

static struct softirq_task *task_for(struct softirq *s, uint32_t tid, uint32_t vector)
{
	struct key key = { tid, vector };
	uint32_t i;

	if (map_find(s->task_of, &key, &i))
		return &s->tasks[i];
	if (s->nr_tasks == s->cfg.max_tasks || map_insert(s->task_of, &key, s->nr_tasks) < 0)
		return NULL;
	s->tasks[s->nr_tasks] = (struct softirq_task){ .tid = tid, .vector = vector };
	return &s->tasks[s->nr_tasks++];
}

static void on_span(void *ctx, const struct pair_span *r)
{
	struct softirq *s = ctx;
	const struct task *task = tasks_at(s->cfg.tasks, r->task);
	uint64_t ns = r->end_ns - r->start_ns;
	struct softirq_task *t;
	struct softirq_cpu *c;

	if (r->kind != PAIR_SOFTIRQ)
		return;
	if (!s->since_ns)
		s->since_ns = r->start_ns;
	if (r->id >= SOFTIRQ_VECTORS) {
		s->left_out++;
		return;
	}
	hist_add(&s->vectors[r->id], ns, r->end_ns, r->cpu);
	c = cpu_for(s, r->cpu);
	if (c) {
		live_latency_add(&c->time[r->id], ns, r->end_ns);
		small_hist_add(&c->hist[r->id], ns);
	}
	t = task_for(s, task ? task->tid : 0, (uint32_t)r->id);
	if (t) {
		live_latency_add(&t->time, ns, r->end_ns);
		t->comm_id = task ? task->comm_id : 0;
	}
	s->left_out += !c || !t;
}

struct pair_out softirq_out(struct softirq *s)
{
	return (struct pair_out){ .ctx = s, .span = on_span };
}

void softirq_reset(struct softirq *s, uint64_t ts_ns)
{
	memset(s->vectors, 0, sizeof(s->vectors));
	if (s->nr_cpus)
		memset(s->cpus, 0, s->nr_cpus * sizeof(*s->cpus));
	map_clear(s->task_of);
	s->nr_tasks = 0;
	s->left_out = 0;
	s->since_ns = ts_ns;
}

const char *softirq_name(uint32_t vector)
{
	static const char *const names[SOFTIRQ_VECTORS] = {
		"hi",       "timer",   "net-tx", "net-rx",  "block",
		"irq-poll", "tasklet", "sched",  "hrtimer", "rcu",
	};

	return vector < SOFTIRQ_VECTORS ? names[vector] : NULL;
}

const struct hist *softirq_vector(const struct softirq *s, uint32_t vector)
{
	return vector < SOFTIRQ_VECTORS ? &s->vectors[vector] : NULL;
}

uint32_t softirq_nr_cpus(const struct softirq *s)
{
	return s->nr_cpus;
}

const struct softirq_cpu *softirq_cpu_at(const struct softirq *s, uint32_t cpu)
{
	return cpu < s->nr_cpus ? &s->cpus[cpu] : NULL;
}

uint32_t softirq_nr_tasks(const struct softirq *s)
{
	return s->nr_tasks;
}

const struct softirq_task *softirq_task_at(const struct softirq *s, uint32_t i)
{
	return i < s->nr_tasks ? &s->tasks[i] : NULL;
}

uint64_t softirq_since_ns(const struct softirq *s)
{
	return s->since_ns;
}

uint64_t softirq_left_out(const struct softirq *s)
{
	return s->left_out;
}
