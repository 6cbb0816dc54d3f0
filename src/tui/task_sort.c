#include "tui/task_sort.h"

#include <math.h>
#include <string.h>

bool task_sort_is_measured(enum view_sort sort)
{
	switch (sort) {
	case SORT_TID:
	case SORT_NAME:
	case SORT_STATE:
	case SORT_CLASS:
	case SORT_CPU:
	case SORT_LLC:
	case SORT_NODE:
	case SORT_THREADS:
	case SORT_LAYER:
	case SORT_DSQ:
	case SORT_CGROUP:
	case SORT_COMMAND:
		return false;
	default:
		return true;
	}
}

bool task_sort_is_ascending(enum view_sort sort)
{
	return !task_sort_is_measured(sort) && sort != SORT_THREADS;
}

const struct machine_cpu *task_sort_cpu(const struct machine *m, int32_t cpu)
{
	if (cpu < 0)
		return NULL;
	/* Nearly always in its place. */
	if ((size_t)cpu < m->nr_cpus && m->cpus[cpu].cpu == (uint32_t)cpu)
		return &m->cpus[cpu];
	for (size_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i].cpu == (uint32_t)cpu)
			return &m->cpus[i];
	return NULL;
}

static double dist_key(const struct machine_dist *d, uint64_t value)
{
	return d->count ? (double)value : NAN;
}

static double id_key(int64_t id)
{
	return id >= 0 ? (double)id : NAN;
}

static double place_key(const struct machine *m, const struct machine_task *t, enum view_sort sort)
{
	const struct machine_cpu *cpu = task_sort_cpu(m, t->last_cpu);

	if (!cpu)
		return NAN;
	return id_key(sort == SORT_LLC ? cpu->llc : cpu->node);
}

static double wait_key(const struct machine_task *t, enum view_sort sort)
{
	switch (sort) {
	case SORT_P50:
		return dist_key(&t->latency, t->latency.p50_ns);
	case SORT_P99:
		return dist_key(&t->latency, t->latency.p99_ns);
	case SORT_MAX:
		return dist_key(&t->latency, t->latency.max_ns);
	case SORT_PREEMPTED_P50:
		return dist_key(&t->preempted, t->preempted.p50_ns);
	case SORT_PREEMPTED_P99:
		return dist_key(&t->preempted, t->preempted.p99_ns);
	case SORT_PREEMPTED_MAX:
		return dist_key(&t->preempted, t->preempted.max_ns);
	case SORT_SLICE:
		return dist_key(&t->slice, t->slice.p50_ns);
	case SORT_SLICES:
		return (double)t->slice.count;
	default:
		return dist_key(&t->sleep, t->sleep.p50_ns);
	}
}

static double rate_key(const struct machine_task *t, enum view_sort sort)
{
	switch (sort) {
	case SORT_RUN:
		return t->run;
	case SORT_WAIT:
		return t->wait;
	case SORT_SWITCHES:
		return t->voluntary_per_s + t->involuntary_per_s;
	case SORT_VOLUNTARY:
		return t->voluntary_per_s;
	case SORT_INVOLUNTARY:
		return t->involuntary_per_s;
	case SORT_MIGRATIONS:
		return t->migrations_per_s;
	case SORT_LLC_MIGRATIONS:
		return t->llc_migrations_per_s;
	case SORT_NODE_MIGRATIONS:
		return t->node_migrations_per_s;
	default:
		return wait_key(t, sort);
	}
}

static double key_of(const struct machine *m, const struct machine_task *t, enum view_sort sort)
{
	switch (sort) {
	case SORT_TID:
		return t->tid;
	case SORT_STATE:
		return t->state == '?' ? NAN : (double)t->state;
	case SORT_CPU:
		return id_key(t->last_cpu);
	case SORT_LLC:
	case SORT_NODE:
		return place_key(m, t, sort);
	case SORT_THREADS:
		return t->nr_threads;
	case SORT_LAYER:
		return id_key(t->layer);
	case SORT_DSQ:
		return t->has_dsq ? (double)t->dsq : NAN;
	case SORT_NAME:
	case SORT_CLASS:
	case SORT_CGROUP:
	case SORT_COMMAND:
		return NAN;
	default:
		return rate_key(t, sort);
	}
}

/* NULL = unknown, or a number counts. */
static const char *text_of(const struct machine_task *t, enum view_sort sort)
{
	const char *text = sort == SORT_NAME      ? t->comm
	                   : sort == SORT_CLASS   ? t->class_name
	                   : sort == SORT_CGROUP  ? t->cgroup
	                   : sort == SORT_COMMAND ? t->cmdline
	                                          : NULL;

	return text && *text ? text : NULL;
}

static uint64_t start_of(const char *text)
{
	uint64_t start = 0;

	for (int shift = 56; text && *text && shift >= 0; shift -= 8)
		start |= (uint64_t)(unsigned char)*text++ << shift;
	return start;
}

struct task_entry task_sort_entry(const struct machine *m, const struct machine_task *t,
                                  enum view_sort sort)
{
	return (struct task_entry){ key_of(m, t, sort), start_of(text_of(t, sort)), t };
}

/* No text at all comes last. */
static int by_text(const struct task_entry *a, const struct task_entry *b, enum view_sort sort,
                   int way)
{
	const char *first, *second;

	if (!a->start || !b->start)
		return !a->start - !b->start;
	if (a->start != b->start)
		return a->start < b->start ? -way : way;
	first = text_of(a->task, sort);
	second = text_of(b->task, sort);
	if (first == second)
		return 0;
	return strcmp(first, second) < 0 ? -way : strcmp(first, second) > 0 ? way : 0;
}

int task_sort_keys(const struct task_entry *a, const struct task_entry *b, const struct screen *s)
{
	int way = s->is_ascending ? 1 : -1;

	if (isnan(a->key) && isnan(b->key))
		return by_text(a, b, s->sort, way);
	if (isnan(a->key) || isnan(b->key))
		return isnan(a->key) ? 1 : -1;
	if (a->key != b->key)
		return a->key < b->key ? -way : way;
	return 0;
}

int task_sort_order(const struct task_entry *a, const struct task_entry *b, const struct screen *s)
{
	int keys = task_sort_keys(a, b, s);

	return keys ? keys : (a->task->tid > b->task->tid) - (a->task->tid < b->task->tid);
}
