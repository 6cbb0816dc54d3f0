/* Processes are the sums of their threads; and what all did in the past. */
#include <errno.h>
#include <math.h>

#include "session/machine_sum.h"
#include "session/machine_tasks_priv.h"

static void clear_sums(struct machine_tasks *t, struct process *p)
{
	struct machine_task *row = &t->process_rows[p->idx];

	p->nr_active = 0;
	row->nr_threads = p->nr_threads;
	machine_sum_clear_rates(row);
}

/* The leader speaks for all, or if it has ended any other one; but running comes before blocked before what it does. */
static void take_leader(struct machine_tasks *t, struct process *p)
{
	const struct thread *leader = p->leader ? p->leader : p->threads;
	const struct machine_task *from = &t->thread_rows[leader->idx];
	struct machine_task *row = &t->process_rows[p->idx];

	row->last_cpu = from->last_cpu;
	row->prio = from->prio;
	row->class_name = from->class_name;
	row->state = p->nr_running ? 'R' : p->nr_blocked ? 'D' : from->state;
}

/* All that are not hot are alike: any of them stands for the others. */
static const struct thread *find_quiet(const struct process *p)
{
	const struct thread *th = p->threads;

	while (th && th->hot_at != MACHINE_TASKS_NOWHERE)
		th = th->next;
	return th;
}

static void sum_processes(struct machine_tasks *t)
{
	struct hot_list *hot = &t->hot_processes;

	for (size_t i = 0; i < t->hot_threads.nr; i++)
		if (t->hot_threads.items[i])
			machine_tasks_heat_process(
				t, ((struct thread *)t->hot_threads.items[i])->process);
	for (size_t i = 0; i < hot->nr; i++) {
		struct process *p = hot->items[i];

		if (p && !p->nr_threads) /* all are gone, the list will say so */
			machine_tasks_drop_process(t, p);
		else if (p)
			clear_sums(t, p);
	}
	for (size_t i = 0; i < t->hot_threads.nr; i++) {
		const struct thread *th = t->hot_threads.items[i];

		if (!th)
			continue;
		machine_sum_add_rates(&t->process_rows[th->process->idx], &t->thread_rows[th->idx]);
		th->process->nr_active++;
	}
	for (size_t i = 0; i < hot->nr; i++) {
		struct process *p = hot->items[i];
		const struct thread *quiet;

		if (!p || !p->nr_threads)
			continue;
		quiet = p->nr_active < p->nr_threads ? find_quiet(p) : NULL;
		if (quiet)
			machine_sum_add_rates(&t->process_rows[p->idx],
			                      &t->thread_rows[quiet->idx]);
		take_leader(t, p);
	}
}

void machine_tasks_forget_trail(struct machine_tasks *t, struct trail *trail)
{
	if (trail->at == MACHINE_TASKS_NOWHERE)
		return;
	t->trails[trail->at] = t->trails[--t->nr_trails];
	t->trails[trail->at].trail->at = trail->at;
	trail->at = MACHINE_TASKS_NOWHERE;
	trail->quiet_looks = 0;
	machine_past_done(&trail->past);
}

/* Who never ran has no past. */
static void begin_trail(struct machine_tasks *t, struct trail *trail, const uint32_t *idx,
                        bool is_process)
{
	const struct machine_task *rows = is_process ? t->process_rows : t->thread_rows;

	if (trail->at != MACHINE_TASKS_NOWHERE || !(rows[*idx].run > 0) ||
	    t->nr_trails == MACHINE_TASKS_TRAILS)
		return;
	trail->at = (uint32_t)t->nr_trails;
	t->trails[t->nr_trails++] = (struct trail_place){ trail, idx, is_process };
}

/* Who has not run for as long as we remember has no past any more. */
static int remember(struct machine_tasks *t, const struct trail_place *place)
{
	struct trail *trail = place->trail;
	struct machine_task *row = &(place->is_process ? t->process_rows
	                                               : t->thread_rows)[*place->idx];
	int err;

	trail->quiet_looks = row->run > 0 ? 0 : trail->quiet_looks + 1;
	if (trail->quiet_looks >= MACHINE_HISTORY) {
		machine_tasks_forget_trail(t, trail);
		row->run_history = (struct machine_history){ 0 };
		return 0;
	}
	err = machine_past_add(&trail->past, isnan(row->run) ? 0 : row->run);
	row->run_history = machine_past_show(&trail->past);
	return err;
}

int machine_tasks_sum(struct machine_tasks *t)
{
	int err = 0;

	sum_processes(t);
	for (size_t i = 0; i < t->hot_threads.nr; i++) {
		struct thread *th = t->hot_threads.items[i];

		if (th)
			begin_trail(t, &th->trail, &th->idx, false);
	}
	for (size_t i = 0; i < t->hot_processes.nr; i++) {
		struct process *p = t->hot_processes.items[i];

		if (p)
			begin_trail(t, &p->trail, &p->idx, true);
	}
	for (size_t i = t->nr_trails; i-- > 0 && !err;) {
		struct trail_place place = t->trails[i];

		err = remember(t, &place);
	}
	return err;
}
