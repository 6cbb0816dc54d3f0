#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/copy.h"
#include "model/pair_priv.h"

int pair_snapshot(const struct pair *p, struct tasks *tasks, const struct pair_out *rows,
                  uint64_t ts_ns, struct pair **out)
{
	SCOPED(scoped_pair) struct pair *copy = copy_of(p, 1, sizeof(*p));

	if (!copy)
		return -ENOMEM;
	copy->tasks = tasks;
	copy->requests = NULL;
	copy->outs[0] = *rows;
	copy->nr_outs = 1;
	copy->states = copy_of(p->states, p->max_states, sizeof(*p->states));
	copy->cpus = copy_of(p->cpus, p->nr_cpus, sizeof(*p->cpus));
	copy->irq_names = copy_of(p->irq_names, p->nr_irqs, sizeof(*p->irq_names));
	copy->throttles = copy_of(p->throttles, p->max_throttles, sizeof(*p->throttles));
	if (!copy->throttles || !copy->states || !copy->cpus || !copy->irq_names)
		return -ENOMEM;
	pair_finish(copy, ts_ns);
	*out = TAKE_PTR(copy);
	return 0;
}
