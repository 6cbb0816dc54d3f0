#include "model/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/pair_priv.h"

#define FIRST_STATES 1024U

static int begin_task(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct pair *p = ctx;
	struct pair_task *more;
	uint32_t max;

	(void)ts_ns;
	if (task >= p->max_states) {
		max = p->max_states ? p->max_states : FIRST_STATES;
		while (max <= task)
			max *= 2;
		more = realloc(p->states, max * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + p->max_states, 0, (max - p->max_states) * sizeof(*more));
		p->states = more;
		p->max_states = max;
	}
	pair_task_init(p, task, PAIR_GAP_START);
	for (uint32_t i = 0; i < p->nr_outs; i++)
		if (p->outs[i].task_begin)
			p->outs[i].task_begin(p->outs[i].ctx, task, p->now_ns);
	return 0;
}

static void end_task(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct pair *p = ctx;

	(void)ts_ns;
	pair_task_close(p, task, false);
	pair_requests_forget_task(p, task);
	for (uint32_t i = 0; i < p->nr_outs; i++)
		if (p->outs[i].task_end)
			p->outs[i].task_end(p->outs[i].ctx, task, p->now_ns);
}

void pair_free(struct pair *p)
{
	static const struct tasks_hook none = { 0 };

	if (!p)
		return;
	tasks_set_hook(p->tasks, &none);
	pair_requests_free(p);
	free(p->states);
	free(p->cpus);
	free(p);
}

void scoped_pair(struct pair *const *p)
{
	pair_free(*p);
}

static void init_cpu(const struct pair *p, struct pair_cpu_state *c)
{
	*c = (struct pair_cpu_state){
		.reason = PAIR_GAP_START,
		.task = TASKS_NONE,
		.since_ns = p->start_ns,
	};
}

struct pair_cpu_state *pair_cpu_get(struct pair *p, uint32_t cpu)
{
	struct pair_cpu_state *more;

	if (cpu >= PAIR_MAX_CPUS)
		return NULL;
	if (cpu >= p->nr_cpus) {
		more = realloc(p->cpus, (cpu + 1) * sizeof(*more));
		if (!more)
			return NULL;
		p->cpus = more;
		while (p->nr_cpus <= cpu)
			init_cpu(p, &p->cpus[p->nr_cpus++]);
	}
	p->cpus[cpu].is_seen = true;
	return &p->cpus[cpu];
}

int pair_new(const struct pair_cfg *cfg, struct pair **out)
{
	SCOPED(scoped_pair) struct pair *p = NULL;

	if (!cfg->tasks || cfg->nr_cpus > PAIR_MAX_CPUS)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->tasks = cfg->tasks;
	p->one_in = 1;
	if (pair_requests_new(p) < 0)
		return -ENOMEM;
	if (cfg->nr_cpus && !pair_cpu_get(p, cfg->nr_cpus - 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->nr_cpus; i++)
		p->cpus[i].is_seen = true;
	tasks_set_hook(p->tasks, &(struct tasks_hook){ begin_task, end_task, p });
	*out = TAKE_PTR(p);
	return 0;
}

int pair_add_out(struct pair *p, const struct pair_out *out)
{
	if (p->nr_outs == PAIR_MAX_OUTS)
		return -E2BIG;
	p->outs[p->nr_outs++] = *out;
	return 0;
}

void pair_start(struct pair *p, uint64_t ts_ns)
{
	if (p->has_started)
		return;
	p->has_started = true;
	p->start_ns = p->now_ns = ts_ns;
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		p->cpus[i].since_ns = ts_ns;
}

/* Time goes on. */
static void move_on(struct pair *p, uint64_t ts_ns)
{
	pair_start(p, ts_ns);
	if (ts_ns < p->now_ns)
		p->breaks.time_went_back++;
	else
		p->now_ns = ts_ns;
}

/* The living task of a tid. Who is dead does not come back: another has the tid, and its birth was missed. */
static uint32_t living(struct pair *p, uint32_t tid)
{
	uint32_t task = tasks_see(p->tasks, tid, p->now_ns);

	if (task != TASKS_NONE && p->states[task].mode == TASK_DEAD)
		task = tasks_replace(p->tasks, tid, p->now_ns);
	return task;
}

static void end_gap(struct pair *p, struct pair_cpu_state *c, uint16_t cpu)
{
	struct pair_gap row = {
		.start_ns = c->since_ns,
		.end_ns = p->now_ns,
		.task = TASKS_NONE,
		.cpu = cpu,
		.reason = (uint8_t)c->reason,
	};

	c->unknown_ns += row.end_ns - row.start_ns;
	if (row.end_ns > row.start_ns)
		PAIR_EMIT(p, gap, &row);
}

static void end_idle(struct pair *p, struct pair_cpu_state *c, uint16_t cpu, bool is_open)
{
	struct pair_idle row = {
		.start_ns = c->since_ns,
		.end_ns = p->now_ns,
		.cpu = cpu,
		.is_open = is_open,
	};

	c->idle_ns += row.end_ns - row.start_ns;
	PAIR_EMIT(p, idle, &row);
}

static void end_slice(struct pair *p, struct pair_cpu_state *c, uint16_t cpu, enum pair_end end,
                      uint32_t state)
{
	struct pair_slice row = {
		.start_ns = c->since_ns,
		.end_ns = p->now_ns,
		.task = c->task,
		.cpu = cpu,
		.prio = c->prio,
		.state_bits = (uint16_t)state,
		.end = (uint8_t)end,
	};

	c->busy_ns += row.end_ns - row.start_ns;
	PAIR_EMIT(p, slice, &row);
}

static enum pair_end end_of(uint32_t prev_state)
{
	if (prev_state & (EV_STATE_DEAD | EV_STATE_ZOMBIE))
		return PAIR_END_DEAD;
	if (prev_state == EV_STATE_RUNNABLE || prev_state & EV_STATE_PREEMPTED)
		return PAIR_END_RUNNABLE;
	return PAIR_END_SLEEP;
}

/* Whatever the CPU did till now is over. */
static void leave_cpu(struct pair *p, struct pair_cpu_state *c, const struct ev_switch *ev,
                      uint32_t prev)
{
	uint16_t cpu = (uint16_t)ev->hdr.cpu;

	if (c->mode != PAIR_CPU_UNKNOWN && (c->tid != ev->prev_tid || c->task != prev)) {
		p->breaks.prev_mismatch++;
		if (c->task != TASKS_NONE)
			pair_task_forget(p, c->task, PAIR_GAP_MISSING);
		c->mode = PAIR_CPU_UNKNOWN;
		c->reason = PAIR_GAP_MISSING;
	}
	if (c->mode == PAIR_CPU_UNKNOWN)
		end_gap(p, c, cpu);
	else if (c->mode == PAIR_CPU_IDLE)
		end_idle(p, c, cpu, false);
	else
		end_slice(p, c, cpu, end_of(ev->prev_state), ev->prev_state);
	c->task = TASKS_NONE;
	c->mode = PAIR_CPU_UNKNOWN;
	c->since_ns = p->now_ns;
}

/* Somebody comes on a CPU who may leave it without a word. */
static void come_unseen(struct pair *p, struct pair_cpu_state *c, uint32_t next)
{
	if (next != TASKS_NONE)
		pair_task_forget(p, next, PAIR_GAP_LEFT_OUT);
	c->mode = PAIR_CPU_UNKNOWN;
	c->reason = PAIR_GAP_LEFT_OUT;
}

static void take_switch(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_switch *ev = (const struct ev_switch *)rec;
	struct pair_cpu_state *c = pair_cpu_get(p, rec->cpu);
	struct pair_switch row = {
		.ts_ns = p->now_ns,
		.prev_tid = ev->prev_tid,
		.next_tid = ev->next_tid,
		.prev_state = ev->prev_state,
		.cpu = (uint16_t)rec->cpu,
		.is_preemption = ev->prev_tid && ev->next_tid && ev->prev_tid != ev->next_tid &&
		                 end_of(ev->prev_state) == PAIR_END_RUNNABLE,
	};
	bool is_hidden;

	if (!c) {
		p->breaks.bad_cpu++;
		return;
	}
	row.prev = living(p, ev->prev_tid);
	row.next = living(p, ev->next_tid);
	PAIR_EMIT(p, switched, &row);
	/* Somebody else's slice of which nothing was seen is none. */
	is_hidden = rec->flags & EV_FLAG_OTHER_PREV && c->mode == PAIR_CPU_UNKNOWN;
	leave_cpu(p, c, ev, row.prev);
	if (row.prev != TASKS_NONE && !is_hidden)
		pair_task_leave(p, row.prev, ev, row.next);
	if (row.prev != TASKS_NONE && rec->flags & EV_FLAG_LAST)
		pair_task_forget(p, row.prev, PAIR_GAP_LEFT_OUT);
	if (rec->flags & EV_FLAG_OTHER_NEXT) {
		come_unseen(p, c, row.next);
		return;
	}
	if (ev->next_tid == ev->prev_tid && ev->next_tid)
		row.next = living(p,
		                  ev->next_tid); /* dead and back at once, as broken records say */
	if (row.next != TASKS_NONE)
		pair_task_run(p, row.next, row.cpu);
	c->mode = ev->next_tid ? PAIR_CPU_BUSY : PAIR_CPU_IDLE;
	c->task = row.next;
	c->tid = ev->next_tid;
	c->prio = ev->next_prio;
}

static void take_wake(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_wake *ev = (const struct ev_wake *)rec;
	uint32_t task;

	if (rec->kind == EV_WAKEUP_NEW)
		task = tasks_wakeup_new(p->tasks, ev->tid, p->now_ns);
	else
		task = living(p, ev->tid);
	if (task == TASKS_NONE)
		return;
	if (rec->kind == EV_WAKING)
		pair_task_waking(p, task, ev);
	else if (rec->kind == EV_WAKEUP)
		pair_task_wakeup(p, task, ev);
	else
		pair_task_wakeup_new(p, task, ev);
}

static void take_migrate(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_migrate *ev = (const struct ev_migrate *)rec;
	struct pair_migration row = {
		.ts_ns = p->now_ns,
		.task = tasks_see(p->tasks, ev->tid, p->now_ns),
		.cpu = pair_cpu_nr(rec->cpu),
		.from_cpu = pair_cpu_nr(ev->from_cpu),
		.to_cpu = pair_cpu_nr(ev->to_cpu),
	};

	if (row.task == TASKS_NONE)
		return;
	PAIR_EMIT(p, migration, &row);
	pair_task_moved(p, row.task, ev->to_cpu);
}

static void take_exec(struct pair *p, const struct ev_hdr *rec)
{
	uint32_t task = tasks_exec(p->tasks, (const struct ev_exec *)rec);
	const struct pair_task *st = pair_task_of(p, task);

	if (!st)
		return;
	pair_task_drop_wakeups(p, task);
	if (st->mode == TASK_RUNNING)
		p->cpus[st->cpu].tid = tasks_at(p->tasks, task)->tid;
	pair_mark_record(p, rec);
}

static void take_exit(struct pair *p, const struct ev_hdr *rec)
{
	uint32_t task = tasks_exit(p->tasks, (const struct ev_exit *)rec);

	if (task == TASKS_NONE)
		return;
	pair_task_drop_wakeups(p, task);
	pair_mark_record(p, rec);
}

static void take_fork(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_fork(p->tasks, (const struct ev_fork *)rec);
	pair_mark_record(p, rec);
}

static void take_rename(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_rename(p->tasks, (const struct ev_rename *)rec);
	pair_mark_record(p, rec);
}

static void take_free(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_freed(p->tasks, (const struct ev_free *)rec);
}

static void take_task_info(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_info(p->tasks, (const struct ev_task_info *)rec);
}

static void lose_switches(struct pair *p, struct pair_cpu_state *c)
{
	p->losses.switches++;
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		p->cpus[i].nr_runnable = 0;
	if (c->mode == PAIR_CPU_UNKNOWN)
		return;
	p->breaks.lost_slices++;
	if (c->task != TASKS_NONE)
		pair_task_forget(p, c->task, PAIR_GAP_LOST);
	c->mode = PAIR_CPU_UNKNOWN;
	c->reason = PAIR_GAP_LOST;
	c->task = TASKS_NONE;
}

static void take_lost(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_lost *ev = (const struct ev_lost *)rec;
	struct pair_cpu_state *c = pair_cpu_get(p, rec->cpu);

	p->breaks.lost_records += ev->count;
	if (!c) {
		p->breaks.bad_cpu++;
		return;
	}
	if (ev->kind == EV_SWITCH)
		lose_switches(p, c);
	else if (ev->kind == EV_WAKING || ev->kind == EV_WAKEUP)
		p->losses.wakes++;
	else if (ev->kind == EV_BLOCK || ev->kind == EV_MEMORY || ev->kind == EV_FSYNC)
		pair_requests_lost(p, ev->kind);
	else
		pair_span_lost(p, c, ev->kind);
}

static void take_sampling(struct pair *p, const struct ev_hdr *rec)
{
	uint64_t one_in = ((const struct ev_sampling *)rec)->one_in;

	p->one_in = one_in ? one_in : 1;
}

static void take_sample(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_sample *ev = (const struct ev_sample *)rec;

	tasks_set_tgid(p->tasks, tasks_see(p->tasks, ev->tid, p->now_ns), ev->tgid);
}

static void (*const handlers[EV_KIND_MAX])(struct pair *p, const struct ev_hdr *rec) = {
	[EV_SWITCH] = take_switch,
	[EV_WAKING] = take_wake,
	[EV_WAKEUP] = take_wake,
	[EV_WAKEUP_NEW] = take_wake,
	[EV_MIGRATE] = take_migrate,
	[EV_FORK] = take_fork,
	[EV_EXEC] = take_exec,
	[EV_EXIT] = take_exit,
	[EV_RENAME] = take_rename,
	[EV_FREE] = take_free,
	[EV_HANG] = pair_mark_record,
	[EV_WAIT] = pair_mark_record,
	[EV_SOFTIRQ_ENTRY] = pair_span_record,
	[EV_SOFTIRQ_EXIT] = pair_span_record,
	[EV_IRQ_ENTRY] = pair_span_record,
	[EV_IRQ_EXIT] = pair_span_record,
	[EV_IPI_SEND] = pair_mark_record,
	[EV_IPI_ENTRY] = pair_span_record,
	[EV_IPI_EXIT] = pair_span_record,
	[EV_WORK_START] = pair_span_record,
	[EV_WORK_END] = pair_span_record,
	[EV_CPU_IDLE] = pair_counter_record,
	[EV_CPU_FREQ] = pair_counter_record,
	[EV_CPU_HOTPLUG] = pair_mark_record,
	[EV_HW_PRESSURE] = pair_counter_record,
	[EV_GPU_MEM] = pair_counter_record,
	[EV_PROBE] = pair_mark_record,
	[EV_SAMPLE] = take_sample,
	[EV_PMU] = pair_pmu_record,
	[EV_SCX_RUN] = pair_run_record,
	[EV_DSQ_LEAVE] = pair_dsq_record,
	[EV_DSQ_DEPTH] = pair_counter_record,
	[EV_SCX_COUNTER] = pair_counter_record,
	[EV_SCX_STATE] = pair_mark_record,
	[EV_SPAN] = pair_named_record,
	[EV_BLOCK] = pair_block_record,
	[EV_NET] = pair_mark_record,
	[EV_MEMORY] = pair_memory_record,
	[EV_FSYNC] = pair_fsync_record,
	[EV_SUSPEND] = pair_mark_record,
	[EV_BLOCKED] = pair_mark_record,
	[EV_TASK_INFO] = take_task_info,
	[EV_LOST] = take_lost,
	[EV_SAMPLING] = take_sampling,
	[EV_STRING] = pair_string_record,
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct pair *p = ctx;

	if (p->is_finished)
		return -EINVAL;
	move_on(p, rec->ts_ns);
	if (rec->kind < EV_KIND_MAX && handlers[rec->kind])
		handlers[rec->kind](p, rec);
	return 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct pair *p = ctx;

	if (p->is_finished)
		return -EINVAL;
	pair_start(p, ts_ns);
	if (ts_ns > p->now_ns)
		p->now_ns = ts_ns;
	return 0;
}

struct ev_sink pair_sink(struct pair *p)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = p };
}

static void finish_cpu(struct pair *p, uint32_t cpu)
{
	struct pair_cpu_state *c = &p->cpus[cpu];

	if (!c->is_seen)
		return;
	if (c->mode == PAIR_CPU_UNKNOWN)
		end_gap(p, c, (uint16_t)cpu);
	else if (c->mode == PAIR_CPU_IDLE)
		end_idle(p, c, (uint16_t)cpu, true);
	else
		end_slice(p, c, (uint16_t)cpu, PAIR_END_OPEN, 0);
	if (c->task != TASKS_NONE)
		p->states[c->task].mode = TASK_DEAD; /* nothing is counted any more */
	c->since_ns = p->now_ns;
}

void pair_finish(struct pair *p, uint64_t ts_ns)
{
	if (advance(p, ts_ns) < 0)
		return;
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		finish_cpu(p, i);
	for (uint32_t i = 0; i < tasks_nr(p->tasks) && i < p->max_states; i++)
		pair_task_close(p, i, true);
	p->is_finished = true;
}

uint32_t pair_nr_cpus(const struct pair *p)
{
	return p->nr_cpus;
}

bool pair_cpu_at(const struct pair *p, uint32_t cpu, struct pair_cpu *out)
{
	const struct pair_cpu_state *c = cpu < p->nr_cpus ? &p->cpus[cpu] : NULL;
	uint64_t open_ns;

	if (!c || !c->is_seen)
		return false;
	open_ns = p->now_ns - c->since_ns;
	*out = (struct pair_cpu){
		.mode = c->mode,
		.task = c->task,
		.since_ns = c->since_ns,
		.busy_ns = c->busy_ns + (c->mode == PAIR_CPU_BUSY ? open_ns : 0),
		.idle_ns = c->idle_ns + (c->mode == PAIR_CPU_IDLE ? open_ns : 0),
		.unknown_ns = c->unknown_ns + (c->mode == PAIR_CPU_UNKNOWN ? open_ns : 0),
		.nr_runnable = c->nr_runnable,
	};
	return true;
}

bool pair_task_runs(const struct pair *p, uint32_t task, uint64_t *since_ns)
{
	if (task >= p->max_states || p->states[task].mode != TASK_RUNNING)
		return false;
	*since_ns = p->states[task].since_ns;
	return true;
}

uint64_t pair_span_ns(const struct pair *p)
{
	return p->now_ns - p->start_ns;
}

uint64_t pair_now_ns(const struct pair *p)
{
	return p->now_ns;
}

uint64_t pair_sampling(const struct pair *p)
{
	return p->one_in;
}

void pair_breaks(const struct pair *p, struct pair_breaks *out)
{
	*out = p->breaks;
}

uint64_t pair_wait_start_ns(const struct pair_wait *w)
{
	return w->wakeup_ns ? w->wakeup_ns : w->waking_ns;
}
