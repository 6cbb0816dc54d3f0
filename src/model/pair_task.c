/*
 * What a task does between switches: sleeping, being woken, waiting. The definitions are in pair.h.
 */
#include <string.h>

#include "model/interrupt.h"
#include "model/pair_priv.h"

static void emit_gap(struct pair *p, uint32_t task, uint64_t end_ns)
{
	const struct pair_task *st = &p->states[task];
	struct pair_gap row = {
		.start_ns = st->since_ns,
		.end_ns = end_ns,
		.task = task,
		.cpu = PAIR_NO_CPU,
		.reason = st->reason,
	};

	if (end_ns > st->since_ns)
		PAIR_EMIT(p, gap, &row);
}

static void emit_sleep(struct pair *p, uint32_t task, uint64_t end_ns, bool is_open)
{
	const struct pair_task *st = &p->states[task];
	struct pair_sleep row = {
		.start_ns = st->since_ns,
		.end_ns = end_ns,
		.arg = st->arg,
		.task = task,
		.waker = is_open ? TASKS_NONE : st->waker,
		.cpu = st->from_cpu,
		.by = is_open ? ABI_BY_NOT_RECORDED : st->by,
		.call = st->call,
		.dev = is_open ? 0 : st->dev,
		.flags = (uint8_t)((is_open ? 0 : st->flags) |
		                   (st->is_for_lock ? PAIR_SLEEP_FOR_LOCK : 0)),
		.state_bits = st->state_bits,
		.state = PAIR_SLEEP_OTHER,
		.is_open = is_open,
	};

	/* Woken while it was leaving the CPU: it did not sleep. */
	if (end_ns <= st->since_ns)
		return;
	if (st->state_bits & EV_STATE_S)
		row.state = PAIR_SLEEP_S;
	else if (st->state_bits & EV_STATE_D)
		row.state = PAIR_SLEEP_D;
	PAIR_EMIT(p, sleep, &row);
}

/* Of a waiting task, or of one of which only the waking was seen. */
static void emit_wait(struct pair *p, uint32_t task, uint16_t cpu, bool is_open)
{
	const struct pair_task *st = &p->states[task];
	bool is_waiting = st->mode == TASK_WAITING;
	struct pair_wait row = {
		.waking_ns = st->waking_ns,
		.wakeup_ns = is_waiting ? st->wakeup_ns : 0,
		.end_ns = p->now_ns,
		.task = task,
		.waker = st->waker,
		.waker_cpu = st->waker_cpu,
		.by = st->by,
		.from_cpu = st->from_cpu,
		.cpu = cpu,
		.cause = is_waiting ? st->cause : PAIR_WOKEN,
		.flags = st->flags,
		.is_open = is_open,
	};

	if (row.cause == PAIR_PREEMPTED) {
		row.waking_ns = 0;
		row.waker = st->taker;
		row.waker_cpu = st->from_cpu;
		row.flags = 0;
		row.by = ABI_BY_UNKNOWN;
	}
	PAIR_EMIT(p, wait, &row);
}

/* Runnable tasks are counted per CPU; a loss of switches restarts the count. */
static void count_runnable(struct pair *p, struct pair_task *st)
{
	bool is_runnable = st->mode == TASK_RUNNING || st->mode == TASK_WAITING;
	uint16_t queue = is_runnable && st->cpu < p->nr_cpus ? (uint16_t)(st->cpu + 1) : 0;
	bool is_counted = st->queue && st->queue_losses == p->losses.switches;

	if (is_counted && st->queue == queue)
		return;
	if (is_counted)
		p->cpus[st->queue - 1].nr_runnable--;
	if (queue)
		p->cpus[queue - 1].nr_runnable++;
	st->queue = queue;
	st->queue_losses = p->losses.switches;
}

static void set_mode(struct pair *p, struct pair_task *st, enum pair_task_mode mode)
{
	if (st->is_throttled && mode != TASK_WAITING)
		pair_throttle_end(p, (uint32_t)(st - p->states), mode != TASK_UNKNOWN);
	st->mode = (uint8_t)mode;
	count_runnable(p, st);
}

static void enter(struct pair *p, struct pair_task *st, enum pair_task_mode mode)
{
	if (!st->has_acted)
		tasks_acted(p->tasks, (uint32_t)(st - p->states));
	st->has_acted = true;
	set_mode(p, st, mode);
	st->since_ns = p->now_ns;
	st->losses.switches = p->losses.switches;
}

void pair_task_init(struct pair *p, uint32_t task, enum pair_gap_reason reason)
{
	set_mode(p, &p->states[task], TASK_DEAD);
	p->states[task] = (struct pair_task){
		.since_ns = p->now_ns,
		.losses = p->losses,
		.mode = TASK_UNKNOWN,
		.reason = (uint8_t)reason,
		.waker = TASKS_NONE,
		.taker = TASKS_NONE,
		.cpu = PAIR_NO_CPU,
		.from_cpu = PAIR_NO_CPU,
		.waker_cpu = PAIR_NO_CPU,
	};
}

void pair_task_forget(struct pair *p, uint32_t task, enum pair_gap_reason reason)
{
	struct pair_task *st = &p->states[task];
	struct pair_cpu_state *c;

	if (st->mode == TASK_UNKNOWN || st->mode == TASK_DEAD)
		return;
	if (st->mode == TASK_RUNNING) {
		c = &p->cpus[st->cpu];
		c->mode = PAIR_CPU_UNKNOWN;
		c->task = TASKS_NONE;
		c->reason = reason;
	}
	set_mode(p, st, TASK_UNKNOWN);
	st->reason = (uint8_t)reason;
	st->waking_ns = 0;
	st->has_edge = false;
}

void pair_task_cut(struct pair *p, uint32_t task, enum pair_gap_reason reason)
{
	pair_task_forget(p, task, reason);
	p->states[task].since_ns = p->now_ns;
}

/*
 * After a loss: may it have run unseen since its state began? A waiting task needs only a CPU, a
 * sleeping one must be woken too.
 */
static void settle(struct pair *p, uint32_t task)
{
	struct pair_task *st = &p->states[task];
	bool has_lost_switches = st->losses.switches != p->losses.switches;

	if (st->mode == TASK_WAITING && p->has_ended_cpu && st->cpu < p->nr_cpus &&
	    p->cpus[st->cpu].has_ended) {
		pair_task_forget(p, task, PAIR_GAP_END);
		return;
	}
	if ((st->mode == TASK_WAITING && has_lost_switches) ||
	    (st->mode == TASK_SLEEPING && has_lost_switches &&
	     st->losses.wakes != p->losses.wakes)) {
		p->breaks.lost_states++;
		pair_task_forget(p, task, PAIR_GAP_LOST);
		return;
	}
	if (!st->waking_ns || st->mode == TASK_RUNNING ||
	    st->waking_losses.switches == p->losses.switches)
		return;
	/* It slept until the waking; what followed is unknown. */
	p->breaks.lost_states++;
	if (st->mode == TASK_SLEEPING) {
		emit_sleep(p, task, st->waking_ns, false);
		st->since_ns = st->waking_ns;
		pair_task_forget(p, task, PAIR_GAP_LOST);
	}
	st->waking_ns = 0;
}

/* The waker, from all that is known. */
struct waker {
	uint32_t task;
	uint16_t by;
	uint8_t flags;
};

/* An interrupt, from its own records. */
static uint16_t by_of(const struct pair *p, const struct pair_open *span)
{
	const char *name = span->name_id ? tasks_string(p->tasks, span->name_id) : NULL;

	if (span->kind == PAIR_SOFTIRQ)
		return span->id < ABI_BY_IRQ - ABI_BY_SOFTIRQ
		               ? (uint16_t)(ABI_BY_SOFTIRQ + span->id)
		               : ABI_BY_UNKNOWN;
	if (span->kind == PAIR_IPI)
		return ABI_BY_IPI;
	if (name && strcmp(name, "arch_timer") == 0)
		return ABI_BY_TIMER;
	return span->id < ABI_BY_IRQS ? (uint16_t)(ABI_BY_IRQ + span->id) : ABI_BY_UNKNOWN;
}

/* What a waking does not say itself follows from the interrupts that are under way on its CPU. */
static void complete(const struct pair *p, const struct ev_wake *ev, struct waker *w)
{
	enum abi_context in = interrupt_context(w->flags, w->by);
	bool is_named = w->by != ABI_BY_UNKNOWN && w->by != ABI_BY_NOT_RECORDED;
	const struct pair_open *span;
	bool is_soft;

	if (in == ABI_IN_TASK || in == ABI_IN_NMI || is_named || ev->hdr.cpu >= p->nr_cpus)
		return;
	span = pair_span_interrupt(&p->cpus[ev->hdr.cpu]);
	is_soft = span && span->kind == PAIR_SOFTIRQ;
	if (!span || (in == ABI_IN_HARDIRQ && is_soft) || (in == ABI_IN_SOFTIRQ && !is_soft))
		return;
	w->flags |= is_soft ? EV_FLAG_SOFTIRQ : EV_FLAG_HARDIRQ;
	w->by = by_of(p, span);
}

static struct waker waker_of(const struct pair *p, const struct ev_wake *ev)
{
	struct waker w = { TASKS_NONE, ev->by, ev->hdr.flags };

	complete(p, ev, &w);
	if (interrupt_is(interrupt_context(w.flags, w.by)))
		w.by = w.by == ABI_BY_NOT_RECORDED ? ABI_BY_UNKNOWN : w.by;
	else
		w.task = tasks_find(p->tasks, ev->waker_tid);
	return w;
}

static void emit_edge(struct pair *p, uint32_t task, const struct ev_wake *ev, bool is_new)
{
	struct waker waker = waker_of(p, ev);
	struct pair_wakeup row = {
		.ts_ns = p->now_ns,
		.task = task,
		.waker = waker.task,
		.cpu = pair_cpu_nr(ev->hdr.cpu),
		.target_cpu = pair_cpu_nr(ev->target_cpu),
		.by = waker.by,
		.is_new = is_new,
		.is_running = p->states[task].mode == TASK_RUNNING,
		.flags = waker.flags,
	};

	PAIR_EMIT(p, wakeup, &row);
}

/* The disk of the block request that the same handler has completed just before; 0 = none that is known. */
static uint32_t completed_dev(const struct pair *p, const struct ev_wake *ev, const struct waker *w)
{
	const struct pair_cpu_state *c = ev->hdr.cpu < p->nr_cpus ? &p->cpus[ev->hdr.cpu] : NULL;
	const struct pair_open *handler = NULL;

	if (c && c->completed_dev && interrupt_is(interrupt_context(w->flags, w->by)))
		handler = pair_span_interrupt(c);
	/* Interrupts that have no begin in the recording may come inside of the handler. */
	return handler && handler->start_ns == c->completing_ns && by_of(p, handler) == w->by
	               ? c->completed_dev
	               : 0;
}

static void note_waker(struct pair *p, struct pair_task *st, const struct ev_wake *ev)
{
	struct waker waker = waker_of(p, ev);

	st->waker = waker.task;
	st->by = waker.by;
	st->waker_cpu = pair_cpu_nr(ev->hdr.cpu);
	st->flags = waker.flags;
	st->dev = completed_dev(p, ev, &waker);
	st->prio = ev->prio;
}

/* It is woken while it waits for a CPU: it ran and slept since, and none of that was seen. */
static void miss_run(struct pair *p, uint32_t task)
{
	p->breaks.missed_run++;
	pair_task_forget(p, task, PAIR_GAP_MISSING);
	p->states[task].is_hidden = true;
}

/*
 * A second waking: does the first one remain valid? In the kernel a task must run between two of
 * them.
 */
static bool is_first_kept(struct pair *p, uint32_t task)
{
	struct pair_task *st = &p->states[task];

	if (st->mode == TASK_SLEEPING && st->waking_ns && !st->is_early_waking) {
		p->breaks.double_waking++;
		st->is_hidden = true;
		return true;
	}
	if (st->mode == TASK_WAITING && st->cause != PAIR_PREEMPTED)
		miss_run(p, task);
	else if (st->mode == TASK_UNKNOWN && st->waking_ns)
		st->is_hidden = true;
	return false;
}

void pair_task_waking(struct pair *p, uint32_t task, const struct ev_wake *ev)
{
	struct pair_task *st = &p->states[task];

	settle(p, task);
	if (is_first_kept(p, task))
		return;
	emit_edge(p, task, ev, false);
	note_waker(p, st, ev);
	st->has_edge = true;
	st->waking_ns = p->now_ns;
	st->waking_losses = p->losses;
	st->is_early_waking = st->mode == TASK_RUNNING || st->mode == TASK_WAITING;
}

/* Where it queues; only a known CPU counts, because a record may contain anything. */
static void queue_on(struct pair *p, struct pair_task *st, uint32_t cpu)
{
	if (cpu < p->nr_cpus)
		st->cpu = (uint16_t)cpu;
}

static void begin_wait(struct pair *p, struct pair_task *st, enum pair_cause cause, uint32_t cpu)
{
	queue_on(p, st, cpu);
	enter(p, st, TASK_WAITING);
	st->wakeup_ns = p->now_ns;
	st->cause = (uint8_t)cause;
}

static void emit_queued(struct pair *p, uint32_t task)
{
	struct pair_queued row = {
		.ts_ns = p->now_ns,
		.task = task,
		.cpu = p->states[task].cpu,
	};

	if (row.cpu >= p->nr_cpus)
		return;
	row.depth = p->cpus[row.cpu].nr_runnable;
	PAIR_EMIT(p, queued, &row);
}

void pair_task_wakeup(struct pair *p, uint32_t task, const struct ev_wake *ev)
{
	struct pair_task *st = &p->states[task];
	bool has_edge;

	settle(p, task);
	if (st->mode == TASK_WAITING && st->cause != PAIR_PREEMPTED)
		miss_run(p, task);
	has_edge = st->has_edge;
	st->has_edge = false;
	if (!has_edge)
		emit_edge(p, task, ev, false);
	if (st->mode == TASK_RUNNING || st->mode == TASK_WAITING) {
		st->waking_ns = 0; /* it was runnable all the time */
		return;
	}
	if (!has_edge || !st->waking_ns)
		note_waker(p, st, ev);
	if (st->mode == TASK_SLEEPING)
		emit_sleep(p, task, p->now_ns, false);
	else
		emit_gap(p, task, p->now_ns);
	begin_wait(p, st, PAIR_WOKEN, ev->target_cpu);
	emit_queued(p, task);
}

/* Accounts for the time till now of a task that turns out to be on a CPU. */
static void end_unseen(struct pair *p, uint32_t task, enum pair_gap_reason reason)
{
	pair_task_forget(p, task, reason);
	emit_gap(p, task, p->now_ns);
}

void pair_task_wakeup_new(struct pair *p, uint32_t task, const struct ev_wake *ev)
{
	struct pair_task *st = &p->states[task];

	emit_edge(p, task, ev, true);
	note_waker(p, st, ev);
	end_unseen(p, task, PAIR_GAP_MISSING);
	st->waking_ns = 0;
	begin_wait(p, st, PAIR_NEW, ev->target_cpu);
	emit_queued(p, task);
}

static void end_pause(struct pair *p, uint32_t task, uint16_t cpu)
{
	struct pair_task *st = &p->states[task];

	switch ((enum pair_task_mode)st->mode) {
	case TASK_RUNNING:
		p->breaks.running_twice++;
		end_unseen(p, task, PAIR_GAP_MISSING);
		return;
	case TASK_WAITING:
		emit_wait(p, task, cpu, false);
		return;
	case TASK_SLEEPING:
		if (!st->waking_ns) {
			p->breaks.missing_wakeup++;
			end_unseen(p, task, PAIR_GAP_NO_WAKEUP);
			return;
		}
		emit_sleep(p, task, st->waking_ns, false);
		break;
	case TASK_UNKNOWN:
	case TASK_DEAD:
		if (!st->waking_ns) {
			emit_gap(p, task, p->now_ns);
			return;
		}
		emit_gap(p, task, st->waking_ns);
		break;
	}
	emit_wait(p, task, cpu, false);
}

void pair_task_run(struct pair *p, uint32_t task, uint16_t cpu)
{
	struct pair_task *st = &p->states[task];
	bool keeps_waking;

	settle(p, task);
	end_pause(p, task, cpu);
	keeps_waking = st->mode == TASK_WAITING && st->cause == PAIR_PREEMPTED;
	if (!keeps_waking) {
		st->waking_ns = 0;
		st->has_edge = false;
		st->losses.wakes = p->losses.wakes; /* a waking on the CPU is for the next sleep */
	}
	st->cpu = cpu;
	st->call = ABI_CALL_UNKNOWN;
	st->arg = 0;
	st->is_for_lock = false;
	st->is_hidden = false;
	enter(p, st, TASK_RUNNING);
}

static void leave_dead(struct pair *p, uint32_t task)
{
	set_mode(p, &p->states[task], TASK_DEAD);
	tasks_died(p->tasks, task, p->now_ns);
}

/* It leaves a CPU on which it was not known to run. */
static void end_hidden_run(struct pair *p, uint32_t task)
{
	struct pair_task *st = &p->states[task];
	bool has_waking = st->waking_ns && st->mode != TASK_SLEEPING;
	uint64_t waking_ns;

	settle(p, task);
	waking_ns = st->mode == TASK_UNKNOWN ? st->waking_ns : 0;
	/*
	 * Whether it was before this run or is for the sleep after it is unknown: treated like a
	 * loss.
	 */
	if (has_waking && !waking_ns)
		st->losses.wakes = p->losses.wakes - 1;
	if (st->mode == TASK_RUNNING)
		p->breaks.running_twice++;
	else if (st->mode != TASK_UNKNOWN)
		p->breaks.missing_in++;
	end_unseen(p, task, PAIR_GAP_MISSING);
	st->waking_ns = waking_ns;
}

void pair_task_leave(struct pair *p, uint32_t task, const struct ev_switch *ev, uint32_t taker)
{
	struct pair_task *st = &p->states[task];
	uint16_t cpu = (uint16_t)ev->hdr.cpu;
	bool is_lossy;

	if (st->mode != TASK_RUNNING || st->cpu != cpu)
		end_hidden_run(p, task);
	st->cpu = st->from_cpu = cpu;
	st->state_bits = (uint16_t)ev->prev_state;
	st->prio = ev->prev_prio;
	if (ev->prev_state & (EV_STATE_DEAD | EV_STATE_ZOMBIE)) {
		leave_dead(p, task);
		return;
	}
	if (ev->prev_state == EV_STATE_RUNNABLE || ev->prev_state & EV_STATE_PREEMPTED) {
		begin_wait(p, st, PAIR_PREEMPTED, cpu);
		st->taker = taker;
		return;
	}
	enter(p, st, TASK_SLEEPING);
	/* The wakeup that would have taken the waking back may be among those lost. */
	is_lossy = st->waking_losses.wakes != p->losses.wakes;
	if (st->waking_ns)
		st->waking_ns = is_lossy ? 0 : p->now_ns;
	st->waking_losses = p->losses;
	st->is_early_waking = true;
}

void pair_task_moved(struct pair *p, uint32_t task, uint32_t to_cpu)
{
	struct pair_task *st = &p->states[task];

	if (st->mode == TASK_RUNNING || to_cpu >= p->nr_cpus)
		return;
	st->cpu = (uint16_t)to_cpu;
	st->moved_ns = p->now_ns;
	count_runnable(p, st);
}

void pair_task_drop_wakeups(struct pair *p, uint32_t task)
{
	struct pair_task *st = &p->states[task];

	if (st->mode == TASK_WAITING || st->mode == TASK_SLEEPING) {
		p->breaks.dropped_waits++;
		pair_task_forget(p, task, PAIR_GAP_DROPPED);
	}
	st->waking_ns = 0;
	st->has_edge = false;
}

/* The wait of a woken task that is open at the end, from since_ns on. */
static void emit_open_wait(struct pair *p, uint32_t task, uint64_t since_ns)
{
	struct pair_task *st = &p->states[task];

	if (!pair_is_disproved(p, st, since_ns)) {
		emit_wait(p, task, st->cpu, true);
		return;
	}
	p->breaks.unproven_waits++;
	st->since_ns = since_ns;
	st->reason = PAIR_GAP_MISSING;
	emit_gap(p, task, p->now_ns);
}

/* What is open at the end of the stream. A quota may keep a preempted task off an idle CPU. */
static void emit_open(struct pair *p, uint32_t task)
{
	const struct pair_task *st = &p->states[task];
	uint64_t waking_ns = st->waking_ns;

	if (st->mode == TASK_WAITING && st->cause == PAIR_PREEMPTED) {
		emit_wait(p, task, st->cpu, true);
		return;
	}
	if (st->mode == TASK_WAITING) {
		emit_open_wait(p, task, st->wakeup_ns);
		return;
	}
	if (st->mode == TASK_SLEEPING)
		emit_sleep(p, task, waking_ns ? waking_ns : p->now_ns, !waking_ns);
	else
		emit_gap(p, task, waking_ns ? waking_ns : p->now_ns);
	if (waking_ns)
		emit_open_wait(p, task, waking_ns);
}

void pair_task_close(struct pair *p, uint32_t task, bool is_open)
{
	struct pair_task *st = &p->states[task];

	if (st->mode == TASK_DEAD)
		return;
	settle(p, task);
	/* It may have run on the CPU whose remaining records are missing. */
	if (is_open && p->has_ended_cpu && (st->mode == TASK_WAITING || st->waking_ns))
		pair_task_forget(p, task, PAIR_GAP_END);
	if (is_open)
		emit_open(p, task);
	else
		end_unseen(p, task, PAIR_GAP_MISSING);
	set_mode(p, st, TASK_DEAD);
}
