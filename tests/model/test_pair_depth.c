/* How many runnable tasks a queue is known to have. */
#include "pair_fixture.h"

#include <stdlib.h>

#include "model/pair_priv.h"

#define SLEEPS EV_STATE_S

struct depths {
	uint32_t nr;
	struct pair_queued rows[64];
};

static void keep(void *ctx, const struct pair_queued *row)
{
	struct depths *d = ctx;

	if (d->nr < 64)
		d->rows[d->nr++] = *row;
}

static void listen(struct fixture *f, struct depths *d)
{
	expect_eq(pair_add_out(f->pair, &(struct pair_out){ .ctx = d, .queued = keep }), 0);
}

static uint32_t runnable(const struct fixture *f, uint32_t cpu)
{
	struct pair_cpu at;

	assert_true(pair_cpu_at(f->pair, cpu, &at));
	return at.nr_runnable;
}

static void alone_is_one_and_each_that_queues_is_one_more(void **state)
{
	struct fixture *f = *state;
	struct depths d = { 0 };

	listen(f, &d);
	sw(f, 10, 0, 1, 0, SLEEPS); /* the CPU is idle */
	wakeup(f, 20, 0, 1, 0);
	sw(f, 30, 0, 0, 1, 0);
	wakeup(f, 40, 0, 2, 0); /* behind the running one */
	wakeup(f, 50, 0, 3, 0);
	sw(f, 60, 0, 1, 2, SLEEPS);
	wakeup(f, 70, 0, 1, 0);
	expect_eq(d.nr, 4);
	expect_eq(d.rows[0].depth, 1);
	expect_eq(d.rows[1].depth, 2);
	expect_eq(d.rows[2].depth, 3);
	expect_eq(d.rows[3].depth, 3); /* 2 runs, 3 and 1 wait */
	expect_eq(d.rows[3].task, task_of(f, 1));
	expect_eq(d.rows[3].ts_ns, 70);
	expect_eq(d.rows[3].cpu, 0);
}

static void a_preempted_task_stays_a_moved_one_goes(void **state)
{
	struct fixture *f = *state;

	sw(f, 10, 0, 0, 1, 0);
	sw(f, 10, 1, 9, 0, SLEEPS);
	wakeup(f, 20, 0, 2, 0);
	sw(f, 30, 0, 1, 2, EV_STATE_PREEMPTED);
	expect_eq(runnable(f, 0), 2);
	migrate(f, 40, 1, 0, 1);
	expect_eq(runnable(f, 0), 1);
	expect_eq(runnable(f, 1), 1);
	sw(f, 50, 0, 2, 0, EV_STATE_DEAD);
	expect_eq(runnable(f, 0), 0);
}

static void a_loss_of_switches_begins_anew(void **state)
{
	struct fixture *f = *state;
	struct depths d = { 0 };

	listen(f, &d);
	sw(f, 10, 0, 0, 1, 0);
	wakeup(f, 20, 0, 2, 0);
	wakeup(f, 30, 0, 3, 0);
	expect_eq(runnable(f, 0), 3);
	lost(f, 40, 0, EV_SWITCH, 5);
	expect_eq(runnable(f, 0), 0);
	wakeup(f, 50, 0, 4, 0); /* the others may long have slept */
	expect_eq(d.rows[d.nr - 1].depth, 1);
	sw(f, 60, 0, 2, 3, EV_STATE_PREEMPTED);
	expect_eq(runnable(f, 0), 3);
}

static void wakings_alone_give_no_depth(void **state)
{
	struct fixture *f = *state;
	struct depths d = { 0 };

	listen(f, &d);
	sw(f, 10, 0, 1, 0, SLEEPS);
	waking(f, 20, 0, 1, 0);
	expect_eq(d.nr, 0);
}

/* Random records, sound or not: the count is that of the tasks by their states. */
static void the_count_is_that_of_the_states(void **state)
{
	struct fixture *f = *state;
	uint64_t ts = 1000;
	unsigned int seed = 7;

	for (int i = 0; i < 200; i++) {
		uint32_t want[2] = { 0 };
		uint32_t cpu = (uint32_t)rand_r(&seed) % 2, tid = 1 + (uint32_t)rand_r(&seed) % 6;
		uint32_t other = (uint32_t)rand_r(&seed) % 7;
		static const uint32_t states[] = { EV_STATE_S, EV_STATE_PREEMPTED, EV_STATE_DEAD };

		ts += 10;
		switch (rand_r(&seed) % 5) {
		case 0:
			wakeup(f, ts, cpu, tid, cpu);
			break;
		case 1:
			migrate(f, ts, tid, 1 - cpu, cpu);
			break;
		case 2:
			exiting(f, ts, tid);
			break;
		default:
			sw(f, ts, cpu, tid, other, states[rand_r(&seed) % 3]);
		}
		for (uint32_t task = 0; task < tasks_nr(f->tasks); task++) {
			const struct pair_task *st = &f->pair->states[task];

			if ((st->mode == TASK_RUNNING || st->mode == TASK_WAITING) && st->cpu < 2)
				want[st->cpu]++;
		}
		for (cpu = 0; cpu < f->pair->nr_cpus; cpu++)
			expect_eq(f->pair->cpus[cpu].nr_runnable, want[cpu]);
		/* Rows are bounded in the fixture, and of no interest here. */
		f->nr_switches = f->nr_slices = f->nr_waits = f->nr_sleeps = f->nr_wakeups = 0;
		f->nr_migrations = f->nr_marks = f->nr_idles = f->nr_gaps = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
		CASE(alone_is_one_and_each_that_queues_is_one_more),
		CASE(a_preempted_task_stays_a_moved_one_goes),
		CASE(a_loss_of_switches_begins_anew),
		CASE(wakings_alone_give_no_depth),
		CASE(the_count_is_that_of_the_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
