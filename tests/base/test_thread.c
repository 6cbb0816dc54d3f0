#include "../unit.h"

#include <semaphore.h>
#include <signal.h>

#include "base/thread.h"

struct visit {
	sem_t is_over;
	sigset_t mask;
};

static void *look(void *ctx)
{
	struct visit *v = ctx;

	pthread_sigmask(SIG_SETMASK, NULL, &v->mask);
	sem_post(&v->is_over);
	return v;
}

static void expect_deaf(const sigset_t *mask)
{
	static const int some[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCHLD, SIGPIPE, SIGALRM };

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		expect_eq(sigismember(mask, some[i]), 1);
}

static void its_signals_go_to_the_thread_that_started_it(void **state)
{
	struct visit v;
	sigset_t after;
	pthread_t thread;
	void *result;

	(void)state;
	sem_init(&v.is_over, 0, 0);
	expect_eq(thread_start(&thread, look, &v), 0);
	expect_eq(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &v);
	expect_deaf(&v.mask);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	expect_eq(sigismember(&after, SIGINT), 0);
	sem_destroy(&v.is_over);
}

static void nobody_joins_a_detached_one(void **state)
{
	static struct visit v;

	(void)state;
	sem_init(&v.is_over, 0, 0);
	expect_eq(thread_start_detached(look, &v), 0);
	sem_wait(&v.is_over);
	expect_deaf(&v.mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_signals_go_to_the_thread_that_started_it),
		cmocka_unit_test(nobody_joins_a_detached_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
