#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { ASLEEP, WOKEN, READY, RUNS, GONE, UNBORN };

struct machine {
	struct ref *ref;
	const struct ref_cfg *cfg;
	unsigned int seed;
	uint64_t now;
	int modes[REF_TASKS];
	bool early[REF_TASKS]; /* woken while it runs, and will sleep */
	int on[REF_CPUS];      /* -1 = idle */
};

static uint32_t roll(struct machine *m, uint32_t n)
{
	return (uint32_t)rand_r(&m->seed) % n;
}

static void put(struct machine *m, struct ref_rec rec)
{
	rec.ts = m->now;
	if (m->ref->nr_recs < REF_MAX)
		m->ref->recs[m->ref->nr_recs++] = rec;
}

static uint32_t tid_of(int task)
{
	return task < 0 ? 0 : REF_FIRST + (uint32_t)task;
}

static int pick(struct machine *m)
{
	int start = (int)roll(m, REF_TASKS);

	for (int i = 0; i < REF_TASKS; i++) {
		int k = (start + i) % REF_TASKS;

		if (m->modes[k] == READY)
			return k;
	}
	return -1;
}

static uint32_t leave(struct machine *m, int task)
{
	static const uint32_t sleeps[] = { EV_STATE_S, EV_STATE_D, EV_STATE_IDLE };
	static const uint32_t runnable[] = { EV_STATE_RUNNABLE, EV_STATE_PREEMPTED };

	if (!m->early[task] && roll(m, 3) == 0) {
		m->modes[task] = READY;
		return runnable[roll(m, 2)];
	}
	if (!m->early[task] && !m->cfg->is_damaged && roll(m, 40) == 0) {
		m->modes[task] = GONE;
		return EV_STATE_DEAD;
	}
	m->modes[task] = ASLEEP;
	if (m->early[task])
		m->modes[task] = m->cfg->has_wakeup ? WOKEN : READY;
	m->early[task] = false;
	return sleeps[roll(m, 3)];
}

static void do_switch(struct machine *m)
{
	uint32_t cpu = roll(m, REF_CPUS);
	int prev = m->on[cpu], next = roll(m, 4) ? pick(m) : -1;
	struct ref_rec rec = {
		.kind = EV_SWITCH, .cpu = cpu, .tid = tid_of(prev), .other = tid_of(next)
	};

	if (prev == next)
		return;
	if (prev >= 0)
		rec.state = leave(m, prev);
	if (next >= 0)
		m->modes[next] = RUNS;
	m->on[cpu] = next;
	put(m, rec);
}

static void wake(struct machine *m, uint8_t kind, int task)
{
	uint32_t cpu = roll(m, REF_CPUS);
	struct ref_rec rec = { .kind = kind,
		               .cpu = cpu,
		               .tid = tid_of(task),
		               .other = tid_of(m->on[cpu]),
		               .to = roll(m, REF_CPUS) };

	if (roll(m, 6) == 0)
		rec.flags = EV_FLAG_HARDIRQ;
	put(m, rec);
}

static void do_wake(struct machine *m)
{
	int task = (int)roll(m, REF_TASKS);
	const struct ref_cfg *c = m->cfg;

	if (m->modes[task] == ASLEEP) {
		m->modes[task] = c->has_waking && c->has_wakeup ? WOKEN : READY;
		wake(m, c->has_waking ? EV_WAKING : EV_WAKEUP, task);
	} else if (m->modes[task] == WOKEN) {
		m->modes[task] = READY;
		wake(m, EV_WAKEUP, task);
	} else if (m->modes[task] == RUNS && !m->early[task] && c->has_waking && roll(m, 4) == 0) {
		wake(m, EV_WAKING, task);
		if (c->has_wakeup && roll(m, 2)) {
			m->now += c->scale;
			wake(m, EV_WAKEUP, task);
		} else {
			m->early[task] = true;
		}
	} else if (m->modes[task] == UNBORN && !c->is_damaged && roll(m, 3) == 0) {
		m->modes[task] = READY;
		wake(m, EV_WAKEUP_NEW, task);
	}
}

static void do_move(struct machine *m)
{
	int task = (int)roll(m, REF_TASKS - 2);

	if (m->modes[task] == READY || m->modes[task] == ASLEEP)
		put(m, (struct ref_rec){ .kind = EV_MIGRATE,
		                         .cpu = roll(m, REF_CPUS),
		                         .tid = tid_of(task),
		                         .from = roll(m, REF_CPUS),
		                         .to = roll(m, REF_CPUS + 1) });
}

static void damage(struct machine *m)
{
	struct ref *ref = m->ref;
	int nr = 0;

	for (int i = 0; i < ref->nr_recs; i++) {
		struct ref_rec rec = ref->recs[i];

		switch (roll(m, 30)) {
		case 0:
			continue; /* unknown */
		case 1:
			rec = (struct ref_rec){
				.kind = EV_LOST, .cpu = rec.cpu, .ts = rec.ts, .state = rec.kind
			};
			break;
		case 2:
			if (i)
				rec.ts = ref->recs[i - 1].ts;
			break;
		case 3:
			rec.cpu = roll(m, 2) ? roll(m, REF_CPUS) : 100000;
			break;
		case 4:
			rec.tid = REF_FIRST + roll(m, 6);
			break;
		case 5:
			rec.ts -= rec.ts > 5000 ? roll(m, 3000) : 0;
			break;
		default:
			break;
		}
		ref->recs[nr++] = rec;
	}
	ref->nr_recs = nr;
}

void ref_make(struct ref *ref, const struct ref_cfg *cfg)
{
	struct machine m = { .ref = ref, .cfg = cfg, .seed = cfg->seed, .now = 10000 };
	int steps = 60 + (int)roll(&m, 200);

	*ref = (struct ref){ .start = 10000 + cfg->scale };
	for (int i = 0; i < REF_TASKS; i++)
		m.modes[i] = i < REF_TASKS - 2 ? ASLEEP : UNBORN;
	for (uint32_t cpu = 0; cpu < REF_CPUS; cpu++) {
		m.on[cpu] = -1;
		m.now += cfg->scale;
		put(&m, (struct ref_rec){ .kind = EV_SWITCH, .cpu = cpu });
	}
	for (int i = 0; i < steps; i++) {
		m.now += cfg->scale * (1ULL + roll(&m, 400));
		if (roll(&m, 12) == 0)
			do_move(&m);
		else if (roll(&m, 2))
			do_switch(&m);
		else
			do_wake(&m);
	}
	ref->end = m.now + 10ULL * cfg->scale;
	if (cfg->is_damaged)
		damage(&m);
	ref->start = ref->recs[0].ts;
}

static void push_one(const struct ref_rec *r, struct pass_fixture *p)
{
	struct ev_hdr hdr = { .kind = r->kind, .flags = r->flags, .cpu = r->cpu, .ts_ns = r->ts };
	struct ev_wake wake = { .tid = r->tid, .waker_tid = r->other, .target_cpu = r->to };

	if (r->kind == EV_SWITCH) {
		sw(&p->f, r->ts, r->cpu, r->tid, r->other, r->state);
	} else if (r->kind == EV_MIGRATE) {
		migrate(&p->f, r->ts, r->tid, r->from, r->to);
	} else if (r->kind == EV_LOST) {
		lost(&p->f, r->ts, r->cpu, r->state, 1);
	} else {
		hdr.size = sizeof(wake);
		wake.hdr = hdr;
		push(&p->f, &wake);
	}
}

void ref_push(const struct ref *ref, struct pass_fixture *p)
{
	for (int i = 0; i < ref->nr_recs; i++)
		push_one(&ref->recs[i], p);
	finish(p, ref->end);
}

static bool is_out(const struct ref_rec *r, uint32_t tid)
{
	return r->kind == EV_SWITCH && r->tid == tid;
}

static bool is_wake_of(const struct ref_rec *r, uint32_t tid)
{
	return r->tid == tid && (r->kind == EV_WAKING || r->kind == EV_WAKEUP);
}

/* How the switch at record i is left again: the next switch of its CPU. */
static int next_switch(const struct ref *ref, int i)
{
	for (int k = i + 1; k < ref->nr_recs; k++)
		if (ref->recs[k].kind == EV_SWITCH && ref->recs[k].cpu == ref->recs[i].cpu)
			return k;
	return -1;
}

static int end_of(const struct ref_rec *r)
{
	if (r->state == EV_STATE_DEAD)
		return PAIR_END_DEAD;
	return r->state == EV_STATE_RUNNABLE || r->state == EV_STATE_PREEMPTED ? PAIR_END_RUNNABLE
	                                                                       : PAIR_END_SLEEP;
}

/* The waking while it ran, before it left at record o, that no wakeup took back. */
static const struct ref_rec *early_waking(const struct ref *ref, uint32_t tid, int o)
{
	const struct ref_rec *found = NULL;
	int in = o;

	while (in > 0 && !(ref->recs[in].kind == EV_SWITCH && ref->recs[in].other == tid))
		in--;
	for (int i = in; i < o; i++)
		if (is_wake_of(&ref->recs[i], tid))
			found = ref->recs[i].kind == EV_WAKING ? &ref->recs[i] : NULL;
	return found;
}

/* Whether the CPU on whose queue it would be says that it is not there: it went idle, or is idle and at work. */
static bool is_disproved(const struct ref *ref, const struct ref_wait *w)
{
	uint64_t woken = w->wakeup ? w->wakeup : w->waking,
		 since = woken > w->moved ? woken : w->moved;
	bool has_moves = false, went_idle = false, is_idle = false, is_alive = false;

	for (int i = 0; i < ref->nr_recs; i++) {
		const struct ref_rec *r = &ref->recs[i];

		has_moves |= r->kind == EV_MIGRATE;
		if (r->cpu != w->cpu || r->kind == EV_MIGRATE)
			continue;
		if (r->kind != EV_SWITCH) {
			is_alive |= r->kind != EV_WAKEUP_NEW && r->ts > since + 1000000;
			continue;
		}
		is_idle = !r->other;
		went_idle |= is_idle && r->ts > since;
	}
	return has_moves && (went_idle || (is_idle && is_alive));
}

/* The wait of a task that comes on with record i, or is still off when the stream ends (i is behind the last). */
static void add_wait(struct ref *ref, uint32_t tid, int i)
{
	bool is_open = i == ref->nr_recs;
	struct ref_wait w = { .end = is_open ? ref->end : ref->recs[i].ts,
		              .tid = tid,
		              .from_cpu = PAIR_NO_CPU,
		              .cpu = PAIR_NO_CPU,
		              .is_open = is_open };
	const struct ref_rec *by = NULL, *out;
	int o = i - 1;

	while (o >= 0 && !is_out(&ref->recs[o], tid) &&
	       !(ref->recs[o].kind == EV_WAKEUP_NEW && ref->recs[o].tid == tid))
		o--;
	out = o >= 0 ? &ref->recs[o] : NULL;
	if (out && out->kind == EV_SWITCH)
		w.from_cpu = w.cpu = out->cpu;
	if (out && out->kind == EV_WAKEUP_NEW) {
		w.cause = PAIR_NEW;
		w.wakeup = out->ts;
		w.cpu = out->to;
		by = out;
	} else if (out && end_of(out) == PAIR_END_RUNNABLE) {
		w.cause = PAIR_PREEMPTED;
		w.wakeup = out->ts;
		w.by = out->other;
	} else if (out && (by = early_waking(ref, tid, o))) {
		w.waking = out->ts;
	}
	for (int k = o + 1; k < i; k++) {
		const struct ref_rec *r = &ref->recs[k];

		if (r->kind == EV_MIGRATE && r->tid == tid && r->to < REF_CPUS) {
			w.cpu = r->to;
			w.moved = r->ts;
		}
		if (w.cause != PAIR_WOKEN || !is_wake_of(r, tid))
			continue;
		if (r->kind == EV_WAKING && !w.waking)
			w.waking = r->ts;
		if (r->kind == EV_WAKEUP && !w.wakeup) {
			w.wakeup = r->ts;
			w.cpu = r->to;
		}
		by = by ? by : r;
	}
	if (by) {
		w.by = by->flags ? REF_INTERRUPT : by->other;
		w.edge = by->ts;
	}
	if (!is_open)
		w.cpu = ref->recs[i].cpu;
	if (is_open && w.cause != PAIR_PREEMPTED && is_disproved(ref, &w))
		return;
	if (w.waking || w.wakeup)
		ref->waits[ref->nr_waits++] = w;
}

static void add_sleep(struct ref *ref, int o)
{
	const struct ref_rec *out = &ref->recs[o];
	uint64_t waking = early_waking(ref, out->tid, o) ? out->ts : 0, wakeup = 0;
	struct ref_sleep s = { .start = out->ts,
		               .tid = out->tid,
		               .is_blocked = out->state == EV_STATE_D };

	for (int k = o + 1; k < ref->nr_recs; k++) {
		const struct ref_rec *r = &ref->recs[k];

		if (r->kind == EV_SWITCH && r->other == out->tid)
			break;
		if (r->tid == out->tid && r->kind == EV_WAKING && !waking)
			waking = r->ts;
		if (r->tid == out->tid && r->kind == EV_WAKEUP && !wakeup)
			wakeup = r->ts;
	}
	s.end = wakeup ? wakeup : (waking ? waking : ref->end);
	if (s.end > s.start)
		ref->sleeps[ref->nr_sleeps++] = s;
}

/* Whether a task is off its CPU, and alive, when the stream ends. */
static bool is_off(const struct ref *ref, uint32_t tid)
{
	for (int i = ref->nr_recs - 1; i >= 0; i--) {
		const struct ref_rec *r = &ref->recs[i];

		if (r->kind == EV_SWITCH && r->other == tid)
			return false;
		if (is_out(r, tid))
			return end_of(r) != PAIR_END_DEAD;
	}
	return true;
}

void ref_pair(struct ref *ref)
{
	for (int i = 0; i < ref->nr_recs; i++) {
		const struct ref_rec *r = &ref->recs[i];
		int k = r->kind == EV_SWITCH ? next_switch(ref, i) : -1;
		uint64_t end = k < 0 ? ref->end : ref->recs[k].ts;

		if (r->kind == EV_MIGRATE)
			ref->moves[ref->nr_moves++] = (struct ref_move){ r->ts, r->tid, r->from,
				                                         r->to };
		if (r->kind != EV_SWITCH)
			continue;
		if (r->tid && end_of(r) == PAIR_END_SLEEP)
			add_sleep(ref, i);
		if (!r->other) {
			ref->idle_ns[r->cpu] += end - r->ts;
			continue;
		}
		ref->slices[ref->nr_slices++] = (struct ref_slice){ r->ts, end, r->other, r->cpu,
			                                            k < 0 ? PAIR_END_OPEN
			                                                  : end_of(&ref->recs[k]) };
		add_wait(ref, r->other, i);
	}
	for (uint32_t tid = REF_FIRST; tid < REF_FIRST + REF_TASKS; tid++)
		if (is_off(ref, tid))
			add_wait(ref, tid, ref->nr_recs);
}

static uint32_t tid_at(const struct pass_fixture *p, uint32_t task)
{
	return task == TASKS_NONE ? 0 : tasks_at(p->f.tasks, task)->tid;
}

void ref_read(struct ref *ref, const struct pass_fixture *p)
{
	union timeline_row r;
	const struct timeline *t = p->timeline;

	for (uint64_t i = 0; timeline_row(t, TIMELINE_SLICE, i, &r); i++)
		ref->slices[ref->nr_slices++] =
			(struct ref_slice){ r.slice.start_ns, r.slice.end_ns,
			                    tid_at(p, r.slice.task), r.slice.cpu, r.slice.end };
	for (uint64_t i = 0; timeline_row(t, TIMELINE_WAIT, i, &r); i++)
		ref->waits[ref->nr_waits++] = (struct ref_wait){
			.waking = r.wait.waking_ns,
			.wakeup = r.wait.wakeup_ns,
			.end = r.wait.end_ns,
			.tid = tid_at(p, r.wait.task),
			.by = r.wait.flags ? REF_INTERRUPT : tid_at(p, r.wait.waker),
			.cpu = r.wait.cpu,
			.from_cpu = r.wait.from_cpu,
			.cause = r.wait.cause,
			.is_open = r.wait.is_open,
		};
	for (uint64_t i = 0; timeline_row(t, TIMELINE_SLEEP, i, &r); i++)
		ref->sleeps[ref->nr_sleeps++] = (struct ref_sleep){ r.sleep.start_ns,
			                                            r.sleep.end_ns,
			                                            tid_at(p, r.sleep.task),
			                                            r.sleep.state == PAIR_SLEEP_D };
	for (uint64_t i = 0; timeline_row(t, TIMELINE_MIGRATION, i, &r); i++)
		ref->moves[ref->nr_moves++] =
			(struct ref_move){ r.migration.ts_ns, tid_at(p, r.migration.task),
			                   r.migration.from_cpu, r.migration.to_cpu };
	for (uint64_t i = 0; timeline_row(t, TIMELINE_IDLE, i, &r); i++)
		if (r.idle.cpu < REF_CPUS)
			ref->idle_ns[r.idle.cpu] += r.idle.end_ns - r.idle.start_ns;
	ref->start = p->source.start_ns;
	ref->end = p->source.end_ns;
}
