/* Processes are the sums of their threads; and what all did in the past. */
#include <errno.h>
#include <math.h>

#include "machine/machine_sum.h"
#include "machine/machine_tasks_priv.h"

static void clear_sums(struct machine_tasks *t, struct task_process *p)
{
	struct machine_task *row = &t->process_rows[p->idx];

	p->nr_active = 0;
	row->nr_threads = p->nr_threads;
	machine_sum_clear_rates(row);
}

/*
 * The leader's state counts, or, if it has exited, any other one's; but running beats blocked, and
 * blocked beats the leader's.
 */
static void take_leader(struct machine_tasks *t, struct task_process *p)
{
	const struct thread *leader = p->leader ? p->leader : p->threads;
	const struct machine_task *from = &t->thread_rows[leader->idx];
	struct machine_task *row = &t->process_rows[p->idx];

	row->last_cpu = from->last_cpu;
	row->prio = from->prio;
	row->class_name = from->class_name;
	row->state = p->nr_running ? 'R' : p->nr_blocked ? 'D' : from->state;
}

/* All that are not hot are alike: any of them represents the others. */
static const struct thread *find_quiet(const struct task_process *p)
{
	const struct thread *th = p->threads;

	while (th && th->hot_at != MACHINE_TASKS_NOWHERE)
		th = th->next;
	return th;
}

void machine_tasks_sum(struct machine_tasks *t)
{
	struct hot_list *hot = &t->hot_processes;

	for (size_t i = 0; i < t->hot_threads.nr; i++)
		if (t->hot_threads.items[i])
			machine_tasks_heat_process(
				t, ((struct thread *)t->hot_threads.items[i])->process);
	for (size_t i = 0; i < hot->nr; i++) {
		struct task_process *p = hot->items[i];

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
		struct task_process *p = hot->items[i];
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

void machine_tasks_drop_history(struct machine_tasks *t, struct task_history *history)
{
	if (history->at == MACHINE_TASKS_NOWHERE)
		return;
	t->histories[history->at] = t->histories[--t->nr_histories];
	t->histories[history->at].history->at = history->at;
	history->at = MACHINE_TASKS_NOWHERE;
	history->quiet_refreshes = 0;
	machine_past_done(&history->run);
	machine_past_done(&history->wait);
}

static bool is_doing(const struct machine_task *row)
{
	return row->run > 0 || row->wait > 0;
}

/* A task that never ran or waited has no history. */
static void begin_history(struct machine_tasks *t, struct task_history *history,
                          const uint32_t *idx, bool is_process)
{
	const struct machine_task *rows = is_process ? t->process_rows : t->thread_rows;

	if (history->at != MACHINE_TASKS_NOWHERE || !is_doing(&rows[*idx]) ||
	    t->nr_histories == MACHINE_TASKS_HISTORIES)
		return;
	history->at = (uint32_t)t->nr_histories;
	t->histories[t->nr_histories++] = (struct history_place){ history, idx, is_process };
}

static int add_to(struct machine_past *past, double value)
{
	return machine_past_add(past, isnan(value) ? 0 : value);
}

/* A task that has done nothing within the history has none any more. */
static int remember(struct machine_tasks *t, const struct history_place *place)
{
	struct task_history *history = place->history;
	struct machine_task *row = &(place->is_process ? t->process_rows
	                                               : t->thread_rows)[*place->idx];
	int err;

	history->quiet_refreshes = is_doing(row) ? 0 : history->quiet_refreshes + 1;
	if (history->quiet_refreshes >= MACHINE_HISTORY) {
		machine_tasks_drop_history(t, history);
		row->run_history = row->wait_history = (struct machine_history){ 0 };
		return 0;
	}
	err = add_to(&history->run, row->run);
	if (!err && (history->wait.nr || row->wait > 0))
		err = add_to(&history->wait, row->wait);
	row->run_history = machine_past_show(&history->run);
	row->wait_history = machine_past_show(&history->wait);
	return err;
}

int machine_tasks_remember(struct machine_tasks *t)
{
	int err = 0;

	for (size_t i = 0; i < t->hot_threads.nr; i++) {
		struct thread *th = t->hot_threads.items[i];

		if (th)
			begin_history(t, &th->history, &th->idx, false);
	}
	for (size_t i = 0; i < t->hot_processes.nr; i++) {
		struct task_process *p = t->hot_processes.items[i];

		if (p)
			begin_history(t, &p->history, &p->idx, true);
	}
	for (size_t i = t->nr_histories; i-- > 0 && !err;) {
		struct history_place place = t->histories[i];

		err = remember(t, &place);
	}
	return err;
}
