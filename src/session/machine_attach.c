#include "session/machine_attach.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "session/machine_latency.h"

struct machine_attach {
	pthread_t thread;
	uint32_t tgid;
	atomic_bool is_done; /* after it all else is the caller's */
	struct machine_latency *latency;
	struct diag why;
};

static void *run(void *ctx)
{
	struct machine_attach *a = ctx;

	if (machine_latency_open(a->tgid, &a->why, &a->latency))
		a->latency = NULL;
	atomic_store(&a->is_done, true);
	return NULL;
}

int machine_attach_start(uint32_t tgid, struct machine_attach **out)
{
	struct machine_attach *a = calloc(1, sizeof(*a));
	sigset_t all, before;
	int err;

	if (!a)
		return -ENOMEM;
	a->tgid = tgid;
	/* Signals are for the thread that started us. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		free(a);
		return -err;
	}
	*out = a;
	return 0;
}

bool machine_attach_poll(struct machine_attach *a, struct diag *d, struct machine_latency **out)
{
	if (!atomic_load(&a->is_done))
		return false;
	pthread_join(a->thread, NULL);
	*d = a->why;
	*out = a->latency;
	free(a);
	return true;
}

void machine_attach_cancel(struct machine_attach *a)
{
	if (!a)
		return;
	pthread_join(a->thread, NULL);
	machine_latency_close(a->latency);
	free(a);
}
