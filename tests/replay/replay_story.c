#include "replay_story.h"

#include <stdlib.h>
#include <string.h>

enum doing { UNSEEN, SLEEPING, WAITING, RUNNING };

struct thread {
	enum doing doing;
	uint64_t since_ns, waking_ns; /* waking 0 = it was preempted */
	uint32_t cpu, last_cpu;
	char how;
};

struct generator {
	struct story *y;
	struct fixture *f;
	uint32_t seed;
	bool has_migrations;
	uint64_t now_ns;
	struct thread threads[STORY_TASKS];
	uint32_t on_cpu[STORY_CPUS]; /* number + 1 of a thread; 0 = idle */
	uint64_t since_ns[STORY_CPUS];
	bool is_seen[STORY_CPUS];
};

static uint32_t draw(struct generator *t, uint32_t below)
{
	t->seed = t->seed * 1664525U + 1013904223U;
	return (t->seed >> 8) % below;
}

static void keep(struct generator *t, struct story_row row)
{
	assert_true(t->y->nr_rows < STORY_ROWS);
	row.end_ns = t->now_ns;
	t->y->rows[t->y->nr_rows++] = row;
}

static void note(struct generator *t, struct story_moment m)
{
	assert_true(t->y->nr_moments < STORY_ROWS);
	m.ts_ns = t->now_ns;
	t->y->moments[t->y->nr_moments++] = m;
}

static void wake(struct generator *t, uint32_t i)
{
	struct thread *th = &t->threads[i];
	uint32_t cpu = draw(t, STORY_CPUS), tid = STORY_TID + i;

	if (th->doing != SLEEPING && th->doing != UNSEEN)
		return;
	th->waking_ns = t->now_ns;
	waking(t->f, t->now_ns, cpu, tid, 0);
	note(t, (struct story_moment){ .kind = 'w', .cpu = cpu, .tid = tid });
	t->now_ns += 5;
	th->cpu = draw(t, STORY_CPUS);
	wakeup(t->f, t->now_ns, cpu, tid, th->cpu);
	if (th->doing == SLEEPING)
		keep(t, (struct story_row){ .kind = STORY_SLEEP,
		                            .tid = tid,
		                            .start_ns = th->since_ns,
		                            .how = th->how });
	th->doing = WAITING;
	th->since_ns = t->now_ns;
}

static void move_to(struct generator *t, uint32_t i, uint32_t to)
{
	struct thread *th = &t->threads[i];

	if (th->doing != WAITING || th->cpu == to)
		return;
	if (t->has_migrations) {
		migrate(t->f, t->now_ns, STORY_TID + i, th->cpu, to);
		note(t,
		     (struct story_moment){
			     .kind = 'm', .cpu = to, .tid = STORY_TID + i, .from_cpu = th->cpu });
	}
	th->cpu = to;
}

static void leave(struct generator *t, uint32_t cpu, char how)
{
	uint32_t i = t->on_cpu[cpu] - 1;
	struct thread *th = &t->threads[i];

	keep(t, (struct story_row){ .kind = STORY_SLICE,
	                            .tid = STORY_TID + i,
	                            .cpu = cpu,
	                            .start_ns = th->since_ns,
	                            .how = how == 'R' ? 'I' : 'V' });
	th->doing = how == 'R' ? WAITING : SLEEPING;
	th->how = how;
	th->waking_ns = 0;
	th->since_ns = t->now_ns;
}

static void come_on(struct generator *t, uint32_t cpu, uint32_t i)
{
	struct thread *th = &t->threads[i];
	struct story_row row = {
		.kind = STORY_PREEMPTED, .tid = STORY_TID + i, .cpu = cpu, .start_ns = th->since_ns
	};

	if (th->waking_ns) {
		row.kind = STORY_WAIT;
		keep(t, row);
		row.kind = STORY_LATENCY;
		row.start_ns = th->waking_ns;
	}
	keep(t, row);
	if (!t->has_migrations && th->last_cpu != UINT32_MAX && th->last_cpu != cpu)
		note(t,
		     (struct story_moment){
			     .kind = 'm', .cpu = cpu, .tid = row.tid, .from_cpu = th->last_cpu });
	th->doing = RUNNING;
	th->since_ns = t->now_ns;
	th->cpu = th->last_cpu = cpu;
}

static void switch_cpu(struct generator *t, uint32_t cpu)
{
	static const char hows[] = "SSDR";
	static const uint32_t states[] = { EV_STATE_S, EV_STATE_S, EV_STATE_D, EV_STATE_RUNNABLE };
	uint32_t how = draw(t, 4), prev = t->on_cpu[cpu], next = 0, from = draw(t, STORY_TASKS);

	for (uint32_t k = 0; k < STORY_TASKS && !next; k++) {
		uint32_t i = (from + k) % STORY_TASKS;

		if (t->threads[i].doing == WAITING && t->threads[i].cpu == cpu)
			next = i + 1;
	}
	if (!next && (!prev || hows[how] == 'R'))
		return;
	sw(t->f, t->now_ns, cpu, prev ? STORY_TID + prev - 1 : 0, next ? STORY_TID + next - 1 : 0,
	   prev ? states[how] : 0);
	note(t, (struct story_moment){ .kind = 's', .cpu = cpu });
	if (prev)
		leave(t, cpu, hows[how]);
	else if (t->is_seen[cpu])
		keep(t, (struct story_row){
				.kind = STORY_IDLE, .cpu = cpu, .start_ns = t->since_ns[cpu] });
	t->is_seen[cpu] = true;
	t->on_cpu[cpu] = next;
	t->since_ns[cpu] = t->now_ns;
	if (next)
		come_on(t, cpu, next - 1);
}

static void end(struct generator *t)
{
	for (uint32_t cpu = 0; cpu < STORY_CPUS; cpu++)
		if (t->is_seen[cpu] && !t->on_cpu[cpu])
			keep(t, (struct story_row){ .kind = STORY_IDLE,
			                            .cpu = cpu,
			                            .start_ns = t->since_ns[cpu],
			                            .is_open = true });
	for (uint32_t i = 0; i < STORY_TASKS; i++) {
		const struct thread *th = &t->threads[i];
		struct story_row row = { .tid = STORY_TID + i,
			                 .cpu = th->cpu,
			                 .start_ns = th->since_ns,
			                 .how = th->how,
			                 .is_open = true };

		row.kind = th->doing == RUNNING    ? STORY_SLICE
		           : th->doing == SLEEPING ? STORY_SLEEP
		           : th->waking_ns         ? STORY_WAIT
		                                   : STORY_PREEMPTED;
		if (th->doing != UNSEEN)
			keep(t, row);
	}
}

static void introduce(const struct generator *t)
{
	for (uint32_t i = 0; i < STORY_TASKS; i++) {
		struct ev_task_info ev = {
			.hdr = { .size = sizeof(ev), .kind = EV_TASK_INFO, .ts_ns = STORY_START },
			.tid = STORY_TID + i,
			.tgid = STORY_TID + i - i % STORY_THREADS,
			.comm = "actor-x"
		};

		ev.comm[6] = (char)('a' + i);
		push(t->f, &ev);
	}
}

void story_generate(struct story *y, struct pass_fixture *p, uint32_t seed, bool has_migrations)
{
	struct generator t = { .y = y,
		               .f = &p->f,
		               .seed = seed,
		               .has_migrations = has_migrations,
		               .now_ns = STORY_START };

	*y = (struct story){ 0 };
	for (uint32_t i = 0; i < STORY_TASKS; i++)
		t.threads[i].last_cpu = UINT32_MAX;
	introduce(&t);
	while (t.now_ns < STORY_END - 2000000) {
		uint32_t what = draw(&t, 10), who = draw(&t, STORY_TASKS),
			 cpu = draw(&t, STORY_CPUS);

		/* Now and then at the round times at which intervals end. */
		t.now_ns += draw(&t, 20) ? 1 + draw(&t, 60000) : 1000000 - t.now_ns % 1000000;
		if (what < 4)
			wake(&t, who);
		else if (what < 5)
			move_to(&t, who, cpu);
		else
			switch_cpu(&t, cpu);
	}
	t.now_ns = STORY_END;
	for (uint32_t cpu = 0; cpu < STORY_CPUS; cpu++)
		switch_cpu(&t, cpu);
	end(&t);
	finish(p, STORY_END);
}

static bool has(const struct story_cut *c, uint64_t ts_ns)
{
	return ts_ns >= c->from_ns && (ts_ns < c->to_ns || (c->is_last && ts_ns == c->to_ns));
}

uint64_t story_time(const struct story *y, const struct story_cut *c, enum story_kind kind,
                    uint32_t tid, uint32_t cpu)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < y->nr_rows; i++) {
		const struct story_row *r = &y->rows[i];
		uint64_t from = r->start_ns > c->from_ns ? r->start_ns : c->from_ns;
		uint64_t to = r->end_ns < c->to_ns ? r->end_ns : c->to_ns;

		if (r->kind == kind && (!tid || r->tid == tid) &&
		    (cpu == UINT32_MAX || r->cpu == cpu) && from < to)
			sum += to - from;
	}
	return sum;
}

uint32_t story_count(const struct story *y, const struct story_cut *c, char kind, uint32_t cpu)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < y->nr_moments; i++)
		nr += y->moments[i].kind == kind && has(c, y->moments[i].ts_ns) &&
		      (cpu == UINT32_MAX || y->moments[i].cpu == cpu);
	return nr;
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Nearest rank, by its definition. */
struct machine_dist story_dist(const struct story *y, const struct story_cut *c,
                               enum story_kind kind, uint32_t tid, uint32_t nr)
{
	uint64_t *all = calloc(STORY_ROWS, sizeof(*all)), sum = 0;
	struct machine_dist d = { 0 };

	assert_non_null(all);
	for (uint32_t i = 0; i < y->nr_rows; i++) {
		const struct story_row *r = &y->rows[i];

		if (r->kind == kind && r->tid >= tid && r->tid < tid + nr && !r->is_open &&
		    has(c, r->end_ns)) {
			all[d.count++] = r->end_ns - r->start_ns;
			sum += r->end_ns - r->start_ns;
		}
	}
	qsort(all, d.count, sizeof(*all), by_value);
	if (d.count) {
		d.p50_ns = all[(d.count + 1) / 2 - 1];
		d.p99_ns = all[(99 * d.count + 99) / 100 - 1];
		d.max_ns = all[d.count - 1];
		d.mean_ns = (double)sum / (double)d.count;
	}
	free(all);
	return d;
}

uint32_t story_ends(const struct story *y, const struct story_cut *c, uint32_t tid, char how)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < y->nr_rows; i++)
		nr += y->rows[i].kind == STORY_SLICE && y->rows[i].tid == tid &&
		      !y->rows[i].is_open && y->rows[i].how == how && has(c, y->rows[i].end_ns);
	return nr;
}

const struct story_row *story_at(const struct story *y, const struct story_cut *c, uint32_t tid)
{
	for (uint32_t i = 0; i < y->nr_rows; i++) {
		const struct story_row *r = &y->rows[i];

		if (r->kind != STORY_IDLE && r->kind != STORY_LATENCY && r->tid == tid &&
		    r->start_ns < c->to_ns && r->end_ns >= c->to_ns)
			return r;
	}
	return NULL;
}
