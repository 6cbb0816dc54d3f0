#include "session/machine_attach.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"

struct machine_attach {
	pthread_t thread;
	struct machine_attach_cfg cfg;
	atomic_bool is_done; /* after it all else is the caller's */
	void *opened;
	struct diag why;
};

static void *run(void *ctx)
{
	struct machine_attach *a = ctx;

	if (a->cfg.open(a->cfg.arg, &a->why, &a->opened))
		a->opened = NULL;
	atomic_store(&a->is_done, true);
	return NULL;
}

int machine_attach_start(const struct machine_attach_cfg *cfg, struct machine_attach **out)
{
	struct machine_attach *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->cfg = *cfg;
	err = thread_start(&a->thread, run, a);
	if (err) {
		free(a);
		return err;
	}
	*out = a;
	return 0;
}

bool machine_attach_poll(struct machine_attach *a, struct diag *d, void **out)
{
	if (!atomic_load(&a->is_done))
		return false;
	pthread_join(a->thread, NULL);
	*d = a->why;
	*out = a->opened;
	free(a);
	return true;
}

void machine_attach_cancel(struct machine_attach *a)
{
	if (!a)
		return;
	pthread_join(a->thread, NULL);
	a->cfg.close(a->opened);
	free(a);
}
