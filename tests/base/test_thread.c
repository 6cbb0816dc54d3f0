#include "../unit.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

#define HOUR_S 3600

/* In place of libc's: the wall clock is set, to and fro. */
static time_t wall_off_s;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int err = (int)syscall(SYS_clock_gettime, clock, out);

	if (!err && clock == CLOCK_REALTIME)
		out->tv_sec += wall_off_s;
	return err;
}

struct visit {
	sem_t is_over;
	sigset_t mask;
};

static void *read_mask(void *ctx)
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
	expect_eq(thread_start(&thread, read_mask, &v), 0);
	expect_eq(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &v);
	expect_deaf(&v.mask);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	expect_eq(sigismember(&after, SIGINT), 0);
	sem_destroy(&v.is_over);
}

static uint64_t mono_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* How long a wait of 20 ms for nothing lasts. */
static uint64_t wait_length_ns(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t begin_ns = mono_ns();
	pthread_cond_t cond;
	int err = 0;

	thread_cond_init(&cond);
	pthread_mutex_lock(&lock);
	while (!err)
		err = thread_cond_wait_until(&cond, &lock, begin_ns + 20000000);
	expect_eq(err, -ETIMEDOUT);
	while (mono_ns() < begin_ns + 40000000)
		(void)thread_cond_wait_ms(&cond, &lock, 20);
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&cond);
	return mono_ns() - begin_ns;
}

static void a_wall_clock_that_is_set_changes_no_wait(void **state)
{
	(void)state;
	alarm(60); /* of which a wait that follows the clock forwards does not come back */
	for (wall_off_s = -HOUR_S; wall_off_s <= HOUR_S; wall_off_s += HOUR_S)
		assert_true(wait_length_ns() >= 40000000);
	wall_off_s = 0;
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_signals_go_to_the_thread_that_started_it),
		cmocka_unit_test(a_wall_clock_that_is_set_changes_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
