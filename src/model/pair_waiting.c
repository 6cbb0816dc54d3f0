/* Whether a task that was not seen to run since still waits. */
#include "model/pair_priv.h"

#define REACTION_NS \
	1000000ULL /* in which an idle CPU begins to run what it was woken for, with much to spare */

bool pair_is_disproved(const struct pair *p, const struct pair_task *st, uint64_t since_ns)
{
	const struct pair_cpu_state *c = st->cpu < p->nr_cpus ? &p->cpus[st->cpu] : NULL;

	if (st->is_hidden)
		return true;
	if (!c || p->has_scx || !p->has_moves)
		return false;
	if (st->moved_ns > since_ns) /* what its CPU did before proves nothing */
		since_ns = st->moved_ns;
	if (c->to_idle_ns > since_ns)
		return true;
	return c->mode == PAIR_CPU_IDLE && c->alive_ns > since_ns + REACTION_NS;
}

bool pair_is_waiting(const struct pair *p, uint32_t task, uint64_t *since_ns, uint16_t *cpu)
{
	const struct pair_task *st = &p->states[task];
	bool is_preempted = st->mode == TASK_WAITING && st->cause == PAIR_PREEMPTED;

	if (st->losses.switches != p->losses.switches ||
	    (st->mode != TASK_WAITING && !(st->mode == TASK_SLEEPING && st->waking_ns)))
		return false;
	*since_ns = st->waking_ns && !is_preempted ? st->waking_ns : st->since_ns;
	*cpu = st->cpu;
	return is_preempted || !pair_is_disproved(p, st, *since_ns);
}
