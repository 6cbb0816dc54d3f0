/* Pressure of CPUs and of victims: worked out on paper, and of random traces by counting every moment. */
#include "../analyze/pass_fixture.h"

#include <stdio.h>
#include <string.h>

#include "analyses/passes.h"

#define MS 1000000ULL

/*
 * CPU 0: "hog" 10 runs from 1000 ms on; "web" 20 is in the queue from 1500 to 2500, then runs, "web" 21 from 2000 to 2800,
 * then runs until 3000. CPU 1: "db" 11 runs from 1000 to 1500.
 */
static void two_wait(struct pass_fixture *p)
{
	forked(&p->f, 1000 * MS, 1, 10, "hog");
	forked(&p->f, 1000 * MS, 1, 11, "db");
	forked(&p->f, 1000 * MS, 1, 20, "web");
	forked(&p->f, 1000 * MS, 1, 21, "web");
	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1500 * MS, 1, 11, 0, EV_STATE_S);
	wakeup(&p->f, 1500 * MS, 0, 20, 0);
	wakeup(&p->f, 2000 * MS, 0, 21, 0);
	sw(&p->f, 2500 * MS, 0, 10, 20, EV_STATE_S);
	sw(&p->f, 2800 * MS, 0, 20, 21, EV_STATE_S);
	finish(p, 3000 * MS);
}

static void pressure_is_the_mean_of_cpus_by_their_time_with_tasks(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_wait(p);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "cpus.0.some_ns"), 1300 * MS);
	expect_eq(num_at(root, "cpus.0.with_tasks_ns"), 2000 * MS);
	assert_true(real_at(root, "cpus.0.some_percent") == 65);
	expect_eq(num_at(root, "cpus.1.some_ns"), 0);
	expect_eq(num_at(root, "cpus.1.with_tasks_ns"), 500 * MS);
	expect_eq(num_at(root, "some_ns"), 1040 * MS); /* 1300 * 2000 / 2500 */
	expect_eq(num_at(root, "full_ns"), 0);
}

/* Of "web" alone: 20 waits from 1500 to 2500 ms behind hog, then runs while 21 waits, which runs to the end. */
static void it_is_full_while_none_of_the_tasks_runs(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_wait(p);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "stalled.0.some_ns"), 1300 * MS);
	expect_eq(num_at(root, "stalled.0.full_ns"), 1000 * MS);
	assert_true(real_at(root, "stalled.0.full_percent") == 50);
	p->args.comm = "web";
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "some_ns"), 1300 * MS);
	expect_eq(num_at(root, "full_ns"), 1000 * MS);
	expect_eq(num_at(root, "cpus.0.with_tasks_ns"), 1500 * MS);
}

/* A task that a quota keeps from its CPU for 300 ms presses it, as in the kernel's account; then it waits for 100 ms. */
static void a_quota_presses(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_QUOTA);
	wakeup(&p->f, 800 * MS, 0, 20, 0);
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 900 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 0, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * MS + 1, 0, 20, 77);
	refill(&p->f, 1300 * MS, 77, EVERY_CPU);
	sw(&p->f, 1400 * MS, 0, 0, 20, EV_STATE_S);
	finish(p, 1500 * MS);
	p->args.from_ns = 900 * MS;
	p->args.to_ns = 1500 * MS;
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "some_ns"), 400 * MS);
	expect_eq(num_at(root, "stalled.0.stalled_ns"), 400 * MS);
	expect_eq(num_at(root, "stalled.0.full_ns"), 400 * MS);
}

static void who_was_stalled_is_named_with_culprits(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_wait(p);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "total_stalled"), 1);
	assert_string_equal(text_at(root, "stalled.0.comm"), "web");
	expect_eq(num_at(root, "stalled.0.stalled_ns"), 1300 * MS);
	expect_eq(num_at(root, "stalled.0.wait_ns"), 1800 * MS);
	expect_eq(num_at(root, "stalled.0.max_wait_ns"), 1000 * MS);
	assert_string_equal(text_at(root, "stalled.0.behind.0.comm"), "hog");
	expect_eq(num_at(root, "stalled.0.behind.0.wait_ns"), 1500 * MS);
	assert_string_equal(text_at(root, "stalled.0.behind.1.comm"), "web");
	expect_eq(num_at(root, "stalled.0.behind.1.wait_ns"), 300 * MS);
	p->args.by = PASS_BY_THREAD;
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "total_stalled"), 2);
	expect_eq(num_at(root, "stalled.0.pid"), 20);
	expect_eq(num_at(root, "stalled.1.stalled_ns"), 800 * MS);
}

/* From 1 s to 5 s. CPU 0 has a task all the time, and one waits from 2 to 5 s; CPU 1 has one from 1 to 3 s. */
static void each_period_has_its_own_mean_and_open_waits_count(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	wakeup(&p->f, 2000 * MS, 0, 20, 0);
	sw(&p->f, 3000 * MS, 1, 11, 0, EV_STATE_S);
	finish(p, 5000 * MS);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "cpus.0.some_ns"), 3000 * MS);
	expect_eq(num_at(root, "some_ns"), 2500 * MS); /* 1000 * 2 / 4, then 2000 * 2 / 2 */
	p->args.from_ns = 3000 * MS;
	p->args.to_ns = 5000 * MS;
	expect_eq(num_at(run_pass(p, &pass_pressure), "some_ns"), 2000 * MS);
}

/* 20 is in the queue of CPU 0 from 1200 to 1500 ms, then in that of CPU 1 until 1600. */
static void one_that_is_moved_presses_each_cpu_for_its_stay(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	wakeup(&p->f, 1200 * MS, 0, 20, 0);
	migrate(&p->f, 1500 * MS, 20, 0, 1);
	sw(&p->f, 1600 * MS, 1, 11, 20, EV_STATE_S);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "cpus.0.some_ns"), 300 * MS);
	expect_eq(num_at(root, "cpus.1.some_ns"), 100 * MS);
	expect_eq(num_at(root, "some_ns"), 200 * MS);
	expect_eq(num_at(root, "stalled.0.stalled_ns"), 400 * MS);
}

#define TICKS    560
#define TICK_NS  (10 * MS)
#define PERIOD   200 /* ticks: 2 s */
#define TASKS    7
#define CPUS     3
#define START_NS (1000 * MS)

enum doing { SLEEPS, WAITS, RUNS };

/* A machine that does something at random at some ticks; what tasks do is known at each of them. */
struct machine {
	struct pass_fixture *p;
	unsigned int seed;
	struct {
		enum doing doing;
		uint32_t cpu;
	} tasks[TASKS];
	uint8_t seen[TICKS][TASKS]; /* 1 + 2 * CPU + whether it runs; 0 = it sleeps */
};

static uint32_t random_below(struct machine *m, uint32_t end)
{
	m->seed = m->seed * 1103515245U + 12345U;
	return (m->seed >> 16) % end;
}

static uint32_t tid_of(uint32_t task)
{
	return 100 + task;
}

/* Of two names: what tasks with an even and an odd number are called. */
static const char *name_of(uint32_t task)
{
	return task % 2 ? "odd" : "even";
}

static void switch_cpu(struct machine *m, uint64_t ts_ns, uint32_t cpu)
{
	uint32_t prev = TASKS, next = TASKS, first = random_below(m, TASKS);
	bool sleeps = random_below(m, 2);

	for (uint32_t i = 0; i < TASKS; i++) {
		uint32_t task = (first + i) % TASKS;

		if (m->tasks[task].cpu != cpu)
			continue;
		if (m->tasks[task].doing == RUNS)
			prev = task;
		else if (m->tasks[task].doing == WAITS)
			next = task;
	}
	if (prev == next)
		return;
	sw(&m->p->f, ts_ns, cpu, prev < TASKS ? tid_of(prev) : 0, next < TASKS ? tid_of(next) : 0,
	   prev < TASKS && sleeps ? EV_STATE_S : EV_STATE_RUNNABLE);
	if (prev < TASKS)
		m->tasks[prev].doing = sleeps ? SLEEPS : WAITS;
	if (next < TASKS)
		m->tasks[next].doing = RUNS;
}

/* A CPU does not stay idle beside a task that it could run. */
static void end_idle(struct machine *m, uint64_t ts_ns)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		bool is_idle = true;

		for (uint32_t task = 0; task < TASKS; task++)
			is_idle &= m->tasks[task].doing != RUNS || m->tasks[task].cpu != cpu;
		if (is_idle)
			switch_cpu(m, ts_ns, cpu);
	}
}

static void act(struct machine *m, uint64_t ts_ns)
{
	uint32_t task = random_below(m, TASKS), cpu = random_below(m, CPUS);

	if (m->tasks[task].doing == SLEEPS) {
		wakeup(&m->p->f, ts_ns, cpu, tid_of(task), cpu);
		m->tasks[task].doing = WAITS;
		m->tasks[task].cpu = cpu;
	} else if (m->tasks[task].doing == WAITS && m->tasks[task].cpu != cpu &&
	           !random_below(m, 3)) {
		migrate(&m->p->f, ts_ns, tid_of(task), m->tasks[task].cpu, cpu);
		m->tasks[task].cpu = cpu;
	} else {
		switch_cpu(m, ts_ns, cpu);
	}
}

static void let_run(struct machine *m)
{
	for (uint32_t task = 0; task < TASKS; task++)
		forked(&m->p->f, START_NS, 1, tid_of(task), name_of(task));
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		sw(&m->p->f, START_NS, cpu, 0, tid_of(cpu), EV_STATE_RUNNABLE);
		m->tasks[cpu].doing = RUNS;
		m->tasks[cpu].cpu = cpu;
	}
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		end_idle(m, START_NS + tick * TICK_NS);
		if (tick && tick + 1 < TICKS && !random_below(m, 3))
			act(m, START_NS + tick * TICK_NS);
		for (uint32_t task = 0; task < TASKS; task++)
			m->seen[tick][task] = m->tasks[task].doing == SLEEPS
			                              ? 0
			                              : (uint8_t)(1 + 2 * m->tasks[task].cpu +
			                                          (m->tasks[task].doing == RUNS));
	}
	finish(m->p, START_NS + TICKS * TICK_NS);
}

struct counts {
	double some, full, nonidle;
};

/* Of the tasks of a name, all for NULL, on a CPU in a period: how many ticks. */
static struct counts count_ticks(const struct machine *m, const char *name, uint32_t cpu,
                                 uint32_t from)
{
	struct counts c = { 0 };

	for (uint32_t tick = from; tick < from + PERIOD && tick < TICKS; tick++) {
		bool waits = false, runs = false;

		for (uint32_t task = 0; task < TASKS; task++) {
			if (name && strcmp(name, name_of(task)) != 0)
				continue;
			waits |= m->seen[tick][task] == 1 + 2 * cpu;
			runs |= m->seen[tick][task] == 2 + 2 * cpu;
		}
		c.some += waits;
		c.full += waits && !runs;
		c.nonidle += waits || runs;
	}
	return c;
}

static struct counts expected(const struct machine *m, const char *name)
{
	struct counts sum = { 0 };

	for (uint32_t from = 0; from < TICKS; from += PERIOD) {
		struct counts all = { 0 };

		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			struct counts c = count_ticks(m, name, cpu, from);

			all.some += c.some * c.nonidle;
			all.full += c.full * c.nonidle;
			all.nonidle += c.nonidle;
		}
		sum.some += all.nonidle > 0 ? all.some / all.nonidle : 0;
		sum.full += all.nonidle > 0 ? all.full / all.nonidle : 0;
	}
	return sum;
}

static void expect_ticks(uint64_t ns, double ticks)
{
	double off = (double)ns - ticks * TICK_NS;

	assert_true(off > -2 && off < 2);
}

static void expect_names(struct machine *m)
{
	const struct report_node *root = run_pass(m->p, &pass_pressure);
	char path[64];

	expect_ticks(num_at(root, "some_ns"), expected(m, NULL).some);
	for (uint32_t i = 0; i < len_at(root, "stalled"); i++) {
		struct counts c;

		snprintf(path, sizeof(path), "stalled.%u.comm", i);
		c = expected(m, text_at(root, path));
		snprintf(path, sizeof(path), "stalled.%u.some_ns", i);
		expect_ticks(num_at(root, path), c.some);
		snprintf(path, sizeof(path), "stalled.%u.full_ns", i);
		expect_ticks(num_at(root, path), c.full);
	}
	m->p->args.comm = "odd";
	root = run_pass(m->p, &pass_pressure);
	expect_ticks(num_at(root, "some_ns"), expected(m, "odd").some);
	expect_ticks(num_at(root, "full_ns"), expected(m, "odd").full);
}

static void random_pressure_is_that_of_every_moment(void **unused)
{
	(void)unused;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		struct machine m = { .seed = seed };
		void *state = NULL;

		assert_int_equal(pass_setup(&state), 0);
		m.p = state;
		let_run(&m);
		expect_names(&m);
		pass_teardown(&state);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pressure_is_the_mean_of_cpus_by_their_time_with_tasks),
		CASE(it_is_full_while_none_of_the_tasks_runs),
		CASE(a_quota_presses),
		CASE(who_was_stalled_is_named_with_culprits),
		CASE(each_period_has_its_own_mean_and_open_waits_count),
		CASE(one_that_is_moved_presses_each_cpu_for_its_stay),
		cmocka_unit_test(random_pressure_is_that_of_every_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
