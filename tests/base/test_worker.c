#include "../unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/worker.h"

#define LONG_MS 60000 /* nothing here takes that long */

/* What the thread and the test share; freed is set by the last one. */
struct shared {
	atomic_bool *freed;
	atomic_bool may_end; /* as the kernel would let go of a thread that hangs */
	atomic_int nr_steps;
	int wanted, done;
	sigset_t mask;
};

static void release(void *state)
{
	struct shared *s = state;

	atomic_store(s->freed, true);
	free(s);
}

static struct shared *make(atomic_bool *freed)
{
	struct shared *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	atomic_store(freed, false);
	s->freed = freed;
	return s;
}

static void add_up(struct worker *w, void *state)
{
	struct shared *s = state;

	(void)w;
	pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
	s->done = 42;
}

/* Deaf to everything but may_end. */
static void hang(struct worker *w, void *state)
{
	struct shared *s = state;

	(void)w;
	while (!atomic_load(&s->may_end)) {
		atomic_fetch_add(&s->nr_steps, 1);
		usleep(1000);
	}
}

/* Does what is wanted, until it is cancelled. */
static void serve(struct worker *w, void *state)
{
	struct shared *s = state;

	worker_lock(w);
	while (!worker_is_cancelled(w)) {
		if (s->done == s->wanted) {
			worker_wait(w, WORKER_FOREVER);
			continue;
		}
		s->done = s->wanted;
		worker_signal(w);
	}
	worker_unlock(w);
}

/* True once it is set; within a minute. */
static bool becomes_true(const atomic_bool *b)
{
	for (int i = 0; i < LONG_MS && !atomic_load(b); i++)
		usleep(1000);
	return atomic_load(b);
}

static void what_it_made_is_there_once_it_is_done(void **state)
{
	const struct worker_job job = { .run = add_up, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;
	struct shared *s = make(&freed);

	(void)state;
	expect_eq(worker_start(&job, s, &w), 0);
	assert_true(worker_poll(w, LONG_MS));
	expect_eq(s->done, 42);
	expect_eq(sigismember(&s->mask, SIGTERM), 1);
	assert_true(worker_poll(w, 0));
	assert_false(atomic_load(&freed));
	worker_end(w);
	assert_true(atomic_load(&freed));
}

static void a_poll_waits_no_longer_than_it_says(void **state)
{
	const struct worker_job job = { .run = hang, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;
	struct shared *s = make(&freed);
	uint64_t begin_ns;

	(void)state;
	expect_eq(worker_start(&job, s, &w), 0);
	assert_false(worker_poll(w, 0));
	begin_ns = clock_read_ns(CLOCK_MONOTONIC);
	assert_false(worker_poll(w, 30));
	assert_true(clock_read_ns(CLOCK_MONOTONIC) - begin_ns >= 30000000);
	atomic_store(&s->may_end, true);
	assert_true(worker_poll(w, LONG_MS));
	worker_end(w);
	assert_true(atomic_load(&freed));
}

static void both_sides_wake_each_other(void **state)
{
	const struct worker_job job = { .run = serve, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;
	struct shared *s = make(&freed);

	(void)state;
	expect_eq(worker_start(&job, s, &w), 0);
	for (int i = 1; i <= 1000; i++) {
		worker_lock(w);
		s->wanted = i;
		worker_signal(w);
		while (s->done != i)
			worker_wait(w, LONG_MS);
		worker_unlock(w);
	}
	worker_end(w);
	assert_true(atomic_load(&freed));
}

static void a_cancel_ends_a_worker_that_waits(void **state)
{
	const struct worker_job job = { .run = serve, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;

	(void)state;
	expect_eq(worker_start(&job, make(&freed), &w), 0);
	assert_false(worker_poll(w, 0));
	worker_cancel(w);
	worker_cancel(w);
	assert_true(worker_poll(w, LONG_MS));
	assert_false(atomic_load(&freed));
	worker_end(w);
	assert_true(atomic_load(&freed));
}

static void *let_go_later(void *ctx)
{
	struct shared *s = ctx;

	usleep(20000);
	atomic_store(&s->may_end, true);
	return NULL;
}

static void ending_one_that_runs_waits_for_it(void **state)
{
	const struct worker_job job = { .run = hang, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;
	struct shared *s = make(&freed);
	pthread_t helper;

	(void)state;
	expect_eq(worker_start(&job, s, &w), 0);
	expect_eq(pthread_create(&helper, NULL, let_go_later, s), 0);
	worker_end(w); /* would free the state while both threads use it, if it did not wait */
	assert_true(atomic_load(&freed));
	pthread_join(helper, NULL);
}

static void one_that_hangs_is_left_behind_and_cleans_up_when_it_returns(void **state)
{
	const struct worker_job job = { .run = hang, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;
	struct shared *s = make(&freed);
	int nr_steps;

	(void)state;
	expect_eq(worker_start(&job, s, &w), 0);
	worker_abandon(w);
	nr_steps = atomic_load(&s->nr_steps);
	for (int i = 0; i < LONG_MS && atomic_load(&s->nr_steps) < nr_steps + 3; i++)
		usleep(1000);
	assert_true(atomic_load(&s->nr_steps) >= nr_steps + 3);
	assert_false(atomic_load(&freed));
	atomic_store(&s->may_end, true);
	assert_true(becomes_true(&freed));
}

static void abandoning_frees_one_that_waits_or_is_done(void **state)
{
	const struct worker_job waits = { .run = serve, .free = release };
	const struct worker_job ends = { .run = add_up, .free = release };
	struct worker *w = NULL;
	atomic_bool freed;

	(void)state;
	for (int i = 0; i < 200; i++) {
		expect_eq(worker_start(i & 1 ? &waits : &ends, make(&freed), &w), 0);
		if (i & 2)
			assert_true(worker_poll(w, i & 1 ? 0 : LONG_MS) != (i & 1));
		worker_abandon(w);
		assert_true(becomes_true(&freed));
	}
}

/* No address space holds such a stack. */
static void without_a_thread_it_runs_here_or_not_at_all(void **state)
{
	struct worker_job job = { .run = add_up, .free = release };
	pthread_attr_t before, huge;
	struct worker *w = NULL;
	atomic_bool freed;
	struct shared *s = make(&freed);

	(void)state;
	expect_eq(pthread_getattr_default_np(&before), 0);
	expect_eq(pthread_attr_init(&huge), 0);
	expect_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 56), 0);
	expect_eq(pthread_setattr_default_np(&huge), 0);
	expect_eq(worker_start(&job, s, &w), -EAGAIN);
	assert_null(w);
	assert_false(atomic_load(&freed));
	job.runs_anyway = true;
	expect_eq(worker_start(&job, s, &w), 0);
	expect_eq(s->done, 42);
	assert_true(worker_poll(w, 0));
	worker_end(w);
	assert_true(atomic_load(&freed));
	expect_eq(pthread_setattr_default_np(&before), 0);
	pthread_attr_destroy(&huge);
	pthread_attr_destroy(&before);
}

static void no_worker_can_be_ended_and_abandoned(void **state)
{
	(void)state;
	worker_end(NULL);
	worker_abandon(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_made_is_there_once_it_is_done),
		cmocka_unit_test(a_poll_waits_no_longer_than_it_says),
		cmocka_unit_test(both_sides_wake_each_other),
		cmocka_unit_test(a_cancel_ends_a_worker_that_waits),
		cmocka_unit_test(ending_one_that_runs_waits_for_it),
		cmocka_unit_test(one_that_hangs_is_left_behind_and_cleans_up_when_it_returns),
		cmocka_unit_test(abandoning_frees_one_that_waits_or_is_done),
		cmocka_unit_test(without_a_thread_it_runs_here_or_not_at_all),
		cmocka_unit_test(no_worker_can_be_ended_and_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
