/* What each CPU does by its switches: slices of tasks, idle time, and gaps where that is unknown. */
#include <stdlib.h>

#include "model/pair_priv.h"

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
		.policy = c->policy,
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
	c->before_ns = c->since_ns;
	c->since_ns = p->now_ns;
}

/* A task is switched in that may leave the CPU without a record. */
static void come_unseen(struct pair *p, struct pair_cpu_state *c, uint32_t next)
{
	if (next != TASKS_NONE)
		pair_task_forget(p, next, PAIR_GAP_LEFT_OUT);
	c->rt_limit_ns = 0;
	c->mode = PAIR_CPU_UNKNOWN;
	c->reason = PAIR_GAP_LEFT_OUT;
}

void pair_switch_record(struct pair *p, const struct ev_hdr *rec)
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
	row.prev = pair_living(p, ev->prev_tid);
	row.next = pair_living(p, ev->next_tid);
	PAIR_EMIT(p, switched, &row);
	if (c->rt_limit_ns && ev->next_prio < PAIR_FAIR_PRIO)
		pair_rt_limit_end(p, c);
	/* A slice of a foreign task of which nothing was seen does not count. */
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
		row.next = pair_living(
			p, ev->next_tid); /* dead and back at once, as broken records say */
	if (row.next != TASKS_NONE)
		pair_task_run(p, row.next, row.cpu);
	c->mode = ev->next_tid ? PAIR_CPU_BUSY : PAIR_CPU_IDLE;
	if (!ev->next_tid && c->is_offline) {
		c->mode = PAIR_CPU_UNKNOWN;
		c->reason = PAIR_GAP_OFFLINE;
	}
	c->task = row.next;
	c->tid = ev->next_tid;
	c->prio = ev->next_prio;
	c->policy = row.next != TASKS_NONE ? p->states[row.next].policy : ABI_POLICY_UNKNOWN;
	if (!ev->next_tid)
		c->to_idle_ns = p->now_ns;
}

/* A step above the target is one of the way down. It ends the idle time, too, of one that has nothing left to run. */
void pair_hotplug_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_cpu_hotplug *ev = (const struct ev_cpu_hotplug *)rec;
	struct pair_cpu_state *c;

	pair_mark_record(p, rec);
	if (ev->is_exit || ev->cpu >= p->nr_cpus)
		return;
	c = &p->cpus[ev->cpu];
	c->is_offline = ev->step > ev->target;
	if (!c->is_offline || c->mode != PAIR_CPU_IDLE)
		return;
	end_idle(p, c, (uint16_t)ev->cpu, false);
	c->since_ns = p->now_ns;
	c->mode = PAIR_CPU_UNKNOWN;
	c->reason = PAIR_GAP_OFFLINE;
}

void pair_cpu_lose(struct pair *p, struct pair_cpu_state *c)
{
	p->losses.switches++;
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		p->cpus[i].nr_runnable = 0;
	if (c->mode == PAIR_CPU_UNKNOWN)
		return;
	p->breaks.lost_slices++;
	c->rt_limit_ns = 0;
	if (c->task != TASKS_NONE)
		pair_task_forget(p, c->task, PAIR_GAP_LOST);
	c->mode = PAIR_CPU_UNKNOWN;
	c->reason = PAIR_GAP_LOST;
	c->task = TASKS_NONE;
}

void pair_cpu_finish(struct pair *p, uint32_t cpu)
{
	struct pair_cpu_state *c = &p->cpus[cpu];

	if (c->rt_limit_ns)
		pair_rt_limit_end(p, c);
	if (c->mode == PAIR_CPU_UNKNOWN)
		end_gap(p, c, (uint16_t)cpu);
	else if (c->mode == PAIR_CPU_IDLE)
		end_idle(p, c, (uint16_t)cpu, true);
	else
		end_slice(p, c, (uint16_t)cpu, PAIR_END_OPEN, 0);
	c->since_ns = p->now_ns;
}

void pair_cpu_end(struct pair *p, struct pair_cpu_state *c)
{
	p->has_ended_cpu = c->has_ended = true;
	pair_cpu_finish(p, (uint32_t)(c - p->cpus));
	if (c->task != TASKS_NONE)
		pair_task_cut(p, c->task, PAIR_GAP_END);
	c->mode = PAIR_CPU_UNKNOWN;
	c->reason = PAIR_GAP_END;
	c->task = TASKS_NONE;
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
