#include "model/live_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

#define DEFAULT_DSQS 4096U
#define MAX_DSQS     (1U << 20)
#define FIRST_ROWS   1024U

void live_free(struct live *l)
{
	if (!l)
		return;
	map_free(l->process_of);
	map_free(l->dsq_of);
	free(l->places);
	free(l->cpus);
	free(l->threads);
	free(l->processes);
	free(l->dsqs);
	free(l);
}

static void scoped_live(struct live *const *l)
{
	live_free(*l);
}

static int init(struct live *l, const struct live_cfg *cfg)
{
	int err;

	l->dead_first = l->dead_last = LIVE_NONE;
	l->cpus = calloc(PAIR_MAX_CPUS, sizeof(*l->cpus));
	l->dsqs = calloc(l->cfg.max_dsqs, sizeof(*l->dsqs));
	l->places = calloc(cfg->nr_places ? cfg->nr_places : 1, sizeof(*l->places));
	if (!l->cpus || !l->dsqs || !l->places)
		return -ENOMEM;
	if (cfg->places)
		memcpy(l->places, cfg->places, cfg->nr_places * sizeof(*l->places));
	else
		l->cfg.nr_places = 0;
	err = map_new(sizeof(uint32_t), TASKS_MAX, &l->process_of);
	if (err)
		return err;
	return map_new(sizeof(uint64_t), l->cfg.max_dsqs, &l->dsq_of);
}

int live_new(const struct live_cfg *cfg, struct live **out)
{
	SCOPED(scoped_live) struct live *l = NULL;
	int err;

	if (!cfg->pair || !cfg->tasks || cfg->nr_places > PAIR_MAX_CPUS || cfg->max_dsqs > MAX_DSQS)
		return -EINVAL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->cfg = *cfg;
	if (!l->cfg.max_dsqs)
		l->cfg.max_dsqs = DEFAULT_DSQS;
	err = init(l, cfg);
	if (err)
		return err;
	*out = TAKE_PTR(l);
	return 0;
}

void live_latency_add(struct live_latency *lat, uint64_t ns, uint64_t at_ns)
{
	if (!lat->samples || ns < lat->min_ns)
		lat->min_ns = ns;
	if (!lat->samples || ns > lat->max_ns) {
		lat->max_ns = ns;
		lat->max_at_ns = at_ns;
	}
	lat->total_ns += ns;
	lat->samples++;
}

void live_latency_merge(struct live_latency *into, const struct live_latency *from)
{
	if (!from->samples)
		return;
	if (!into->samples || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (!into->samples || from->max_ns > into->max_ns) {
		into->max_ns = from->max_ns;
		into->max_at_ns = from->max_at_ns;
	}
	into->total_ns += from->total_ns;
	into->samples += from->samples;
}

static struct live_cpu *cpu_of(struct live *l, uint16_t cpu, uint64_t ts_ns)
{
	if (!l->has_since) {
		l->has_since = true;
		l->since_ns = ts_ns;
	}
	if (cpu >= PAIR_MAX_CPUS)
		return NULL;
	if (cpu >= l->nr_cpus)
		l->nr_cpus = cpu + 1U;
	l->cpus[cpu].is_known = true;
	return &l->cpus[cpu];
}

static void list_dead(struct live *l, uint32_t i, uint64_t ts_ns)
{
	l->processes[i].end_ns = ts_ns ? ts_ns : 1;
	if (l->processes[i].is_listed)
		return;
	l->processes[i].is_listed = true;
	l->processes[i].next_dead = LIVE_NONE;
	if (l->dead_last == LIVE_NONE)
		l->dead_first = i;
	else
		l->processes[l->dead_last].next_dead = i;
	l->dead_last = i;
}

/* The one gone for longest, if it may be forgotten by now. Those that came back are passed over. */
static uint32_t take_dead(struct live *l)
{
	uint64_t now_ns = pair_now_ns(l->cfg.pair);

	while (l->dead_first != LIVE_NONE) {
		uint32_t i = l->dead_first, found;
		struct live_process_row *p = &l->processes[i];

		if (p->end_ns && !live_is_old(l, p->end_ns, now_ns))
			return LIVE_NONE;
		l->dead_first = p->next_dead;
		if (l->dead_first == LIVE_NONE)
			l->dead_last = LIVE_NONE;
		p->is_listed = false;
		if (!p->end_ns)
			continue;
		if (map_find(l->process_of, &p->pub.tgid, &found) && found == i)
			map_remove(l->process_of, &p->pub.tgid);
		return i;
	}
	return LIVE_NONE;
}

static uint32_t take_row(struct live *l)
{
	uint32_t i = take_dead(l), max;
	struct live_process_row *more;

	if (i != LIVE_NONE)
		return i;
	if (l->nr_processes == l->max_processes) {
		max = l->max_processes ? l->max_processes * 2 : FIRST_ROWS;
		more = max > TASKS_MAX ? NULL : realloc(l->processes, max * sizeof(*more));
		if (!more)
			return LIVE_NONE;
		l->processes = more;
		l->max_processes = max;
	}
	return l->nr_processes++;
}

static uint32_t new_process(struct live *l, uint32_t tgid)
{
	uint32_t i = take_row(l);

	if (i == LIVE_NONE)
		return LIVE_NONE;
	l->processes[i] = (struct live_process_row){ .pub = { .tgid = tgid },
		                                     .next_dead = LIVE_NONE };
	if (map_insert(l->process_of, &tgid, i) < 0) {
		list_dead(l, i, 1); /* unused: the next one may have it */
		return LIVE_NONE;
	}
	l->processes[i].is_used = true;
	return i;
}

/* A process whose threads are all gone is over when its tgid is born again. */
static uint32_t process_for(struct live *l, const struct task *task)
{
	uint32_t i;

	if (!map_find(l->process_of, &task->tgid, &i))
		return new_process(l, task->tgid);
	if (!l->processes[i].end_ns)
		return i;
	if (task->tid == task->tgid && task->start_ns > l->processes[i].end_ns)
		return new_process(l, task->tgid);
	l->processes[i].end_ns = 0; /* it had a thread that we did not know */
	return i;
}

static void note_comm(struct live_process *p, const struct task *task)
{
	if (task->comm_id && (task->tid == task->tgid || !p->comm_id))
		p->comm_id = task->comm_id;
}

static void attach(struct live *l, struct live_thread_row *row, const struct task *task)
{
	uint32_t i = process_for(l, task);
	struct live_process *p;

	if (i == LIVE_NONE) {
		l->loss.processes++;
		return;
	}
	row->process = i;
	p = &l->processes[i].pub;
	p->nr_threads++;
	note_comm(p, task);
	p->nr_switches += row->nr_switches;
	p->nr_wakeups += row->nr_wakeups;
	p->runtime_ns += row->run_ns;
	live_latency_merge(&p->latency, &row->latency);
}

/* NULL for nobody. Takes notice of the process as soon as it is known. */
static struct live_thread_row *thread_of(struct live *l, uint32_t task)
{
	const struct task *t;
	struct live_thread_row *row;

	if (task >= l->nr_threads || !l->threads[task].is_used)
		return NULL;
	row = &l->threads[task];
	if (row->process == LIVE_NONE) {
		t = tasks_at(l->cfg.tasks, task);
		if (t && t->tgid)
			attach(l, row, t);
	}
	return row;
}

static struct live_process *process_of(struct live *l, const struct live_thread_row *row)
{
	return row->process == LIVE_NONE ? NULL : &l->processes[row->process].pub;
}

static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct live *l = ctx;
	struct live_thread_row *more;
	uint32_t max;

	(void)ts_ns;
	if (task >= l->max_threads) {
		max = l->max_threads ? l->max_threads : FIRST_ROWS;
		while (max <= task)
			max *= 2;
		more = realloc(l->threads, max * sizeof(*more));
		if (!more) {
			l->loss.threads++;
			return;
		}
		memset(more + l->max_threads, 0, (max - l->max_threads) * sizeof(*more));
		l->threads = more;
		l->max_threads = max;
	}
	if (task >= l->nr_threads)
		l->nr_threads = task + 1;
	l->threads[task] = (struct live_thread_row){ .process = LIVE_NONE, .is_used = true };
}

static void on_task_end(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct live *l = ctx;
	struct live_thread_row *row = thread_of(l, task);
	struct live_process *p;

	if (!row || row->end_ns)
		return;
	row->end_ns = ts_ns ? ts_ns : 1;
	p = process_of(l, row);
	if (!p)
		return;
	note_comm(p, tasks_at(l->cfg.tasks, task));
	if (--p->nr_threads == 0)
		list_dead(l, row->process, ts_ns);
}

static void on_switched(void *ctx, const struct pair_switch *r)
{
	struct live *l = ctx;
	struct live_cpu *c = cpu_of(l, r->cpu, r->ts_ns);
	struct live_thread_row *row = thread_of(l, r->next);
	struct live_process *p;

	if (c)
		c->nr_switches++;
	if (!row)
		return;
	row->nr_switches++;
	p = process_of(l, row);
	if (p)
		p->nr_switches++;
}

static void on_slice(void *ctx, const struct pair_slice *r)
{
	struct live *l = ctx;
	struct live_thread_row *row = thread_of(l, r->task);
	uint64_t start_ns = r->start_ns < l->since_ns ? l->since_ns : r->start_ns;
	struct live_process *p;

	if (!row || r->end_ns <= start_ns)
		return;
	row->run_ns += r->end_ns - start_ns;
	p = process_of(l, row);
	if (p)
		p->runtime_ns += r->end_ns - start_ns;
}

static uint64_t start_of(const struct live *l, const struct pair_wait *r)
{
	bool prefers_waking = l->cfg.from == LIVE_FROM_WAKING;

	if (r->waking_ns && (prefers_waking || !r->wakeup_ns))
		return r->waking_ns;
	return r->wakeup_ns;
}

static void on_wait(void *ctx, const struct pair_wait *r)
{
	struct live *l = ctx;
	uint64_t start_ns = start_of(l, r), ns = r->end_ns - start_ns;
	struct live_cpu *c;
	struct live_process *p;
	struct live_thread_row *row;

	if (r->is_open || r->cause == PAIR_PREEMPTED || start_ns < l->since_ns)
		return;
	c = cpu_of(l, r->cpu, r->end_ns);
	row = thread_of(l, r->task);
	if (c)
		live_latency_add(&c->latency, ns, r->end_ns);
	if (!row)
		return;
	live_latency_add(&row->latency, ns, r->end_ns);
	p = process_of(l, row);
	if (p)
		live_latency_add(&p->latency, ns, r->end_ns);
}

static void on_wakeup(void *ctx, const struct pair_wakeup *r)
{
	struct live *l = ctx;
	struct live_cpu *c = cpu_of(l, r->cpu, r->ts_ns);
	struct live_thread_row *row = thread_of(l, r->task);
	struct live_process *p;

	if (c)
		c->nr_wakeups++;
	if (!row)
		return;
	row->nr_wakeups++;
	p = process_of(l, row);
	if (p)
		p->nr_wakeups++;
}

static void on_migration(void *ctx, const struct pair_migration *r)
{
	struct live_cpu *c = cpu_of(ctx, r->cpu, r->ts_ns);

	if (c)
		c->nr_migrations++;
}

/* A task is told of when it leaves its queue: then it had come, too. */
static void on_dsq(void *ctx, const struct pair_dsq *r)
{
	live_dsq_enqueue(ctx, r->dsq_id);
	if (!r->is_moved)
		live_dsq_dispatch(ctx, r->dsq_id);
}

static void on_counter(void *ctx, const struct pair_counter *r)
{
	if (r->kind == PAIR_DSQ_DEPTH)
		live_dsq_depth(ctx, r->id, r->value);
}

struct pair_out live_out(struct live *l)
{
	return (struct pair_out){
		.ctx = l,
		.task_begin = on_task_begin,
		.task_end = on_task_end,
		.switched = on_switched,
		.slice = on_slice,
		.wait = on_wait,
		.wakeup = on_wakeup,
		.migration = on_migration,
		.counter = on_counter,
		.dsq = on_dsq,
	};
}

void live_reset(struct live *l, uint64_t ts_ns)
{
	l->since_ns = ts_ns;
	l->has_since = true;
	memset(l->cpus, 0, l->nr_cpus * sizeof(*l->cpus));
	l->nr_cpus = 0;
	map_clear(l->dsq_of);
	l->nr_dsqs = 0;
	for (uint32_t i = 0; i < l->nr_threads; i++) {
		struct live_thread_row *row = &l->threads[i];

		*row = (struct live_thread_row){ .end_ns = row->end_ns,
			                         .process = row->process,
			                         .is_used = row->is_used && !row->end_ns };
	}
	for (uint32_t i = 0; i < l->nr_processes; i++) {
		struct live_process *p = &l->processes[i].pub;

		*p = (struct live_process){ .tgid = p->tgid,
			                    .comm_id = p->comm_id,
			                    .nr_threads = p->nr_threads };
	}
}

static struct live_dsq *dsq_for(struct live *l, uint64_t dsq_id)
{
	uint32_t i;

	if (dsq_id == LIVE_INVALID_DSQ)
		return NULL;
	if (map_find(l->dsq_of, &dsq_id, &i))
		return &l->dsqs[i];
	if (l->nr_dsqs == l->cfg.max_dsqs || map_insert(l->dsq_of, &dsq_id, l->nr_dsqs) < 0) {
		l->loss.dsqs++;
		return NULL;
	}
	l->dsqs[l->nr_dsqs] = (struct live_dsq){ .dsq_id = dsq_id };
	return &l->dsqs[l->nr_dsqs++];
}

void live_dsq_enqueue(struct live *l, uint64_t dsq_id)
{
	struct live_dsq *d = dsq_for(l, dsq_id);

	if (d)
		d->nr_enqueues++;
}

void live_dsq_dispatch(struct live *l, uint64_t dsq_id)
{
	struct live_dsq *d = dsq_for(l, dsq_id);

	if (d)
		d->nr_dispatches++;
}

void live_dsq_depth(struct live *l, uint64_t dsq_id, uint64_t depth)
{
	struct live_dsq *d = dsq_for(l, dsq_id);

	if (!d)
		return;
	d->queue_depth = depth;
	d->has_depth = true;
}
