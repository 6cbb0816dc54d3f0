#include "base/thread.h"

#include <signal.h>

static int create(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *ctx)
{
	sigset_t all, before;
	int err;

	/* A thread inherits the mask of whom it was started by. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(out, attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

int thread_start(pthread_t *out, void *(*run)(void *), void *ctx)
{
	return create(out, NULL, run, ctx);
}

int thread_start_detached(void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = create(&thread, &attr, run, ctx);
	pthread_attr_destroy(&attr);
	return err;
}
