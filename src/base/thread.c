#include "base/thread.h"

#include <signal.h>
#include <time.h>

#include "base/clock.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

int thread_start(pthread_t *out, void *(*run)(void *), void *ctx)
{
	sigset_t all, before;
	int err;

	/* A thread inherits the signal mask of the thread that starts it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(out, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static struct timespec at_ns(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

static uint64_t in_ms(uint64_t ms)
{
	return clock_read_ns(CLOCK_MONOTONIC) + ms * NS_PER_MS;
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

int thread_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns)
{
	struct timespec until = at_ns(until_ns);

	return -pthread_cond_timedwait(cond, lock, &until);
}

int thread_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t ms)
{
	return thread_cond_wait_until(cond, lock, in_ms(ms));
}
