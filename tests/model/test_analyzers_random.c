/*
 * A simulated machine that counts by itself what the analyzers must find, and threads that come and go by the
 * thousand.
 */
#include "../unit.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyzers.h"
#include "model/hotspots.h"
#include "model/latency.h"
#include "model/migrations.h"
#include "model/wakers.h"

#define NR_CPUS  4
#define NR_TASKS 9 /* tids 1 to 8 */
#define STEPS    20000

enum { ASLEEP, WOKEN, PREEMPTED, ON_CPU };

struct sum {
	uint64_t nr, total, min, max;
};

struct world {
	unsigned int seed;
	uint64_t now;
	struct tasks *tasks;
	struct pair *pair;
	struct analyzers *a;
	int mode[NR_TASKS];
	uint64_t since[NR_TASKS], moved[NR_TASKS];
	uint32_t queue[NR_TASKS]; /* where it waits, or ran */
	uint32_t waker[NR_TASKS];
	bool is_waker_irq[NR_TASKS];
	uint32_t last_from[NR_TASKS], last_to[NR_TASKS];
	uint32_t on[NR_CPUS];
	/* What must come out. */
	struct sum edges[NR_TASKS][NR_TASKS];
	struct sum wake_cpu[NR_CPUS], wake_task[NR_TASKS], delay_task[NR_TASKS],
		move_task[NR_TASKS];
	uint64_t switches[NR_CPUS], moves_in[NR_CPUS], pairs[NR_CPUS][NR_CPUS];
	uint64_t moves[NR_TASKS], ping_pongs[NR_TASKS], nr_moves;
};

static uint32_t roll(struct world *w, uint32_t n)
{
	return (uint32_t)rand_r(&w->seed) % n;
}

static void add(struct sum *s, uint64_t ns)
{
	s->min = !s->nr || ns < s->min ? ns : s->min;
	s->max = ns > s->max ? ns : s->max;
	s->total += ns;
	s->nr++;
}

static void send(struct world *w, const void *rec)
{
	struct ev_sink pair = pair_sink(w->pair), also = analyzers_sink(w->a);

	expect_eq(pair.push(pair.ctx, rec), 0);
	expect_eq(also.push(also.ctx, rec), 0);
}

static void open_world(struct world *w, uint32_t max_tasks, uint32_t max_rows)
{
	struct tasks_cfg tasks = { .max_tasks = max_tasks, .keep_dead_ns = 1000 };
	struct analyzers_cfg cfg = { .max_events = 1000,
		                     .max_bytes = 1 << 16,
		                     .max_rows = max_rows };
	struct pair_out out;

	expect_eq(tasks_new(&tasks, &w->tasks), 0);
	expect_eq(pair_new(&(struct pair_cfg){ .tasks = w->tasks }, &w->pair), 0);
	cfg.tasks = w->tasks;
	cfg.pair = w->pair;
	expect_eq(analyzers_new(&cfg, &w->a), 0);
	out = analyzers_out(w->a);
	expect_eq(pair_add_out(w->pair, &out), 0);
	expect_eq(analyzers_start(w->a, ANALYZERS_ALL, 0, NULL), 0);
}

static void close_world(struct world *w)
{
	analyzers_free(w->a);
	pair_free(w->pair);
	tasks_free(w->tasks);
}

static void send_switch(struct world *w, uint32_t cpu, uint32_t prev, uint32_t next, uint32_t state)
{
	send(w, &(struct ev_switch){ .hdr = { sizeof(struct ev_switch), EV_SWITCH, 0, cpu, w->now },
	                             .prev_tid = prev,
	                             .next_tid = next,
	                             .prev_state = state });
	w->switches[cpu]++;
}

static void come_on(struct world *w, uint32_t cpu, uint32_t tid)
{
	uint64_t ns = w->now - w->since[tid];

	if (w->mode[tid] == WOKEN) {
		add(&w->edges[w->is_waker_irq[tid] ? 0 : w->waker[tid]][tid], ns);
		add(&w->wake_cpu[cpu], ns);
		add(&w->wake_task[tid], ns);
	}
	add(&w->delay_task[tid], ns);
	if (w->moved[tid])
		add(&w->move_task[tid], w->now - w->moved[tid]);
	w->moved[tid] = 0;
	w->mode[tid] = ON_CPU;
}

static void do_switch(struct world *w)
{
	uint32_t cpu = roll(w, NR_CPUS), prev = w->on[cpu], next = 0, state = EV_STATE_S;
	uint32_t first = roll(w, NR_TASKS);

	for (uint32_t i = 0; i < NR_TASKS; i++) {
		uint32_t tid = (first + i) % NR_TASKS;

		if (tid && (w->mode[tid] == WOKEN || w->mode[tid] == PREEMPTED) &&
		    w->queue[tid] == cpu)
			next = tid;
	}
	if (!next && !prev)
		return;
	if (prev && next && roll(w, 2))
		state = EV_STATE_RUNNABLE;
	send_switch(w, cpu, prev, next, prev ? state : 0);
	if (next)
		come_on(w, cpu, next);
	if (prev) {
		w->mode[prev] = state == EV_STATE_S ? ASLEEP : PREEMPTED;
		w->since[prev] = w->now;
		w->queue[prev] = cpu;
	}
	w->on[cpu] = next;
}

static void do_wake(struct world *w)
{
	uint32_t tid = 1 + roll(w, NR_TASKS - 1), cpu = roll(w, NR_CPUS);
	bool is_irq = roll(w, 5) == 0;

	if (w->mode[tid] != ASLEEP)
		return;
	w->mode[tid] = WOKEN;
	w->since[tid] = w->now;
	w->waker[tid] = w->on[cpu];
	w->is_waker_irq[tid] = is_irq;
	send(w, &(struct ev_wake){ .hdr = { sizeof(struct ev_wake), EV_WAKING,
	                                    is_irq ? EV_FLAG_SOFTIRQ : 0, cpu, w->now },
	                           .tid = tid,
	                           .waker_tid = w->on[cpu],
	                           .target_cpu = w->queue[tid] });
}

static void do_move(struct world *w)
{
	uint32_t tid = 1 + roll(w, NR_TASKS - 1), to = roll(w, NR_CPUS), from = w->queue[tid];

	if ((w->mode[tid] != WOKEN && w->mode[tid] != PREEMPTED) || from == to)
		return;
	send(w, &(struct ev_migrate){
			.hdr = { sizeof(struct ev_migrate), EV_MIGRATE, 0, from, w->now },
			.tid = tid,
			.from_cpu = from,
			.to_cpu = to });
	w->queue[tid] = to;
	w->moved[tid] = w->now;
	w->nr_moves++;
	w->moves[tid]++;
	w->moves_in[to]++;
	w->pairs[from][to]++;
	w->ping_pongs[tid] += w->last_from[tid] == to && w->last_to[tid] == from;
	w->last_from[tid] = from;
	w->last_to[tid] = to;
}

static void run(struct world *w)
{
	for (uint32_t tid = 1; tid < NR_TASKS; tid++) { /* from here on all are known to sleep */
		w->now += 10;
		send_switch(w, tid % NR_CPUS, 0, tid, 0);
		w->now += 10;
		send_switch(w, tid % NR_CPUS, tid, 0, EV_STATE_S);
		w->queue[tid] = tid % NR_CPUS;
		w->last_from[tid] = w->last_to[tid] = UINT32_MAX;
	}
	for (int i = 0; i < STEPS; i++) {
		w->now += 1 + roll(w, 5000);
		switch (roll(w, 3)) {
		case 0:
			do_wake(w);
			break;
		case 1:
			do_move(w);
			break;
		default:
			do_switch(w);
			break;
		}
	}
}

static void same(const struct live_latency *got, const struct sum *want)
{
	expect_eq(got ? got->samples : 0, want->nr);
	if (!got)
		return;
	expect_eq(got->total_ns, want->total);
	expect_eq(got->min_ns, want->min);
	expect_eq(got->max_ns, want->max);
}

static const struct live_latency *row(const struct world *w, enum latency_kind kind,
                                      enum latency_by by, uint32_t id)
{
	const struct latency *l = analyzers_latency(w->a);

	for (uint32_t i = 0; i < latency_nr(l, kind, by); i++) {
		const struct latency_row *r = latency_at(l, kind, by, i);

		if (r && r->id == id)
			return &r->time;
	}
	return NULL;
}

static void check_wakers(const struct world *w)
{
	const struct wakers *got = analyzers_wakers(w->a);
	uint64_t nr = 0, nr_edges = 0;
	uint32_t i;

	for (uint32_t from = 0; from < NR_TASKS; from++)
		for (uint32_t to = 1; to < NR_TASKS; to++) {
			uint32_t a = from ? tasks_find(w->tasks, from) : TASKS_NONE;
			bool is_there = wakers_find(got, a, tasks_find(w->tasks, to), &i);

			same(is_there ? &wakers_at(got, i)->latency : NULL, &w->edges[from][to]);
			nr += w->edges[from][to].nr;
			nr_edges += w->edges[from][to].nr > 0;
		}
	expect_eq(wakers_nr(got), nr_edges);
	assert_true(nr > STEPS / 20); /* the world does something */
}

static void check_latency(const struct world *w)
{
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		same(row(w, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_CPU, cpu), &w->wake_cpu[cpu]);
	for (uint32_t tid = 1; tid < NR_TASKS; tid++) {
		same(row(w, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_TASK, tid), &w->wake_task[tid]);
		same(row(w, LATENCY_SCHEDULING_DELAY, LATENCY_BY_TASK, tid), &w->delay_task[tid]);
		same(row(w, LATENCY_CPU_MIGRATION, LATENCY_BY_TASK, tid), &w->move_task[tid]);
	}
}

static void check_migrations(const struct world *w)
{
	const struct migrations *got = analyzers_migrations(w->a);

	expect_eq(migrations_total(got), w->nr_moves);
	for (uint32_t i = 0; i < migrations_nr_tasks(got); i++) {
		const struct migrations_task *t = migrations_task_at(got, i);

		expect_eq(t->count, w->moves[t->tid]);
		expect_eq(t->nr_ping_pongs, w->ping_pongs[t->tid]);
	}
	expect_eq(migrations_nr_tasks(got), NR_TASKS - 1);
	for (uint32_t i = 0; i < migrations_nr_pairs(got); i++) {
		const struct migrations_pair *p = migrations_pair_at(got, i);

		expect_eq(p->count, w->pairs[p->from_cpu][p->to_cpu]);
	}
	expect_eq(migrations_nr_pairs(got), NR_CPUS * (NR_CPUS - 1));
}

static void check_hotspots(const struct world *w)
{
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		const struct hotspots_cpu *c = hotspots_cpu_at(analyzers_hotspots(w->a), cpu);

		expect_eq(c->nr_switches, w->switches[cpu]);
		expect_eq(c->nr_migrations, w->moves_in[cpu]);
		same(&c->latency, &w->wake_cpu[cpu]);
	}
}

static void analyzers_count_what_the_world_counts(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 10; seed++) {
		struct world w = { .seed = seed, .now = 1000 };

		open_world(&w, 0, 0);
		run(&w);
		check_wakers(&w);
		check_latency(&w);
		check_migrations(&w);
		check_hotspots(&w);
		close_world(&w);
	}
}

/* A thread is born, woken, moved, runs, is interrupted and dies, on CPU 0. */
static void live_and_die(struct world *w, uint32_t tid)
{
	struct ev_fork fork = { .hdr = { sizeof(fork), EV_FORK, 0, 0, w->now },
		                .parent_tid = 1,
		                .parent_tgid = 1,
		                .tid = tid,
		                .tgid = tid,
		                .comm = "short" };

	send(w, &fork);
	send(w,
	     &(struct ev_wake){ .hdr = { sizeof(struct ev_wake), EV_WAKEUP_NEW, 0, 0, w->now + 10 },
	                        .tid = tid,
	                        .waker_tid = 1 });
	send(w, &(struct ev_migrate){
			.hdr = { sizeof(struct ev_migrate), EV_MIGRATE, 0, 0, w->now + 15 },
			.tid = tid,
			.from_cpu = 1,
			.to_cpu = tid % 8 });
	w->now += 20;
	send_switch(w, 0, 0, tid, 0);
	send(w, &(struct ev_softirq){
			.hdr = { sizeof(struct ev_softirq), EV_SOFTIRQ_ENTRY, 0, 0, w->now + 1 },
			.vector = tid % 10,
			.tid = tid });
	send(w, &(struct ev_softirq){
			.hdr = { sizeof(struct ev_softirq), EV_SOFTIRQ_EXIT, 0, 0, w->now + 5 },
			.vector = tid % 10,
			.tid = tid });
	send(w, &(struct ev_dsq_leave){
			.hdr = { sizeof(struct ev_dsq_leave), EV_DSQ_LEAVE, 0, 0, w->now + 6 },
			.start_ns = w->now,
			.dsq_id = tid,
			.tid = tid });
	w->now += 20;
	send_switch(w, 0, tid, 0, EV_STATE_DEAD);
	send(w, &(struct ev_free){ .hdr = { sizeof(struct ev_free), EV_FREE, 0, 0, w->now + 5 },
	                           .tid = tid });
	w->now += 10;
}

static size_t used_bytes(void)
{
	return mallinfo2().uordblks;
}

static void thousands_of_short_lives_need_no_more_memory(void **state)
{
	struct world w = { .now = 1000 };
	size_t before;

	(void)state;
	open_world(&w, 256, 64);
	for (uint32_t tid = 100; tid < 2100; tid++)
		live_and_die(&w, tid);
	before = used_bytes();
	for (uint32_t i = 0; i < 10000; i++) /* tids come back */
		live_and_die(&w, 100 + i % 2000);
	expect_eq(used_bytes(), before);
	/* All were counted, though few are remembered. */
	expect_eq(latency_all(analyzers_latency(w.a), LATENCY_WAKEUP_TO_RUN)->count, 12000);
	expect_eq(migrations_total(analyzers_migrations(w.a)), 12000);
	assert_true(wakers_nr(analyzers_wakers(w.a)) <= 64);
	assert_true(migrations_nr_tasks(analyzers_migrations(w.a)) <= 64);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(analyzers_count_what_the_world_counts),
		cmocka_unit_test(thousands_of_short_lives_need_no_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
