#include "machine/machine_attach.h"

#include <errno.h>
#include <stdlib.h>

#include "base/worker.h"

struct machine_attach {
	struct worker *worker;
	struct machine_attach_cfg cfg;
	void *opened;
	struct diag why;
};

static void run(struct worker *w, void *state)
{
	struct machine_attach *a = state;

	(void)w;
	if (a->cfg.open(a->cfg.arg, &a->why, &a->opened))
		a->opened = NULL;
}

static void release(void *state)
{
	struct machine_attach *a = state;

	a->cfg.close(a->opened);
	free(a);
}

int machine_attach_start(const struct machine_attach_cfg *cfg, struct machine_attach **out)
{
	const struct worker_job job = { .run = run, .free = release };
	struct machine_attach *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->cfg = *cfg;
	err = worker_start(&job, a, &a->worker);
	if (err) {
		free(a);
		return err;
	}
	*out = a;
	return 0;
}

bool machine_attach_poll(struct machine_attach *a, struct diag *d, void **out)
{
	if (!worker_poll(a->worker, 0))
		return false;
	*d = a->why;
	*out = a->opened;
	a->opened = NULL;
	worker_end(a->worker);
	return true;
}

void machine_attach_cancel(struct machine_attach *a)
{
	if (a)
		worker_end(a->worker);
}
