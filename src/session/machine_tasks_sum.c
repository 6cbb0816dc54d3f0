/* Processes are the sums of their threads; and what all did in the past. */
#include <errno.h>
#include <math.h>

#include "session/machine_tasks_priv.h"

#define PASTS_MAX 4096U /* histories at a time: 16 MiB */

/* What is unknown adds nothing; a sum is unknown while all its parts are. */
static void add(double *sum, double part)
{
	if (isnan(part))
		return;
	*sum = isnan(*sum) ? part : *sum + part;
}

static void clear_sums(struct machine_task *row)
{
	row->nr_threads = 0;
	row->state = '?';
	row->run = row->wait = NAN;
	row->voluntary_per_s = row->involuntary_per_s = NAN;
	row->migrations_per_s = row->llc_migrations_per_s = row->node_migrations_per_s = NAN;
}

/* Running before blocked before what the leader does. */
static char joint_state(char so_far, char state, bool is_leader)
{
	if (so_far == 'R' || state == 'R')
		return 'R';
	if (so_far == 'D' || state == 'D')
		return 'D';
	return is_leader || so_far == '?' ? state : so_far;
}

static void add_thread(struct machine_task *sum, const struct machine_task *row)
{
	bool is_leader = row->tid == sum->tgid;

	if (is_leader || !sum->nr_threads) {
		sum->last_cpu = row->last_cpu;
		sum->prio = row->prio;
		sum->class_name = row->class_name;
	}
	sum->nr_threads++;
	sum->state = joint_state(sum->state, row->state, is_leader);
	add(&sum->run, row->run);
	add(&sum->wait, row->wait);
	add(&sum->voluntary_per_s, row->voluntary_per_s);
	add(&sum->involuntary_per_s, row->involuntary_per_s);
	add(&sum->migrations_per_s, row->migrations_per_s);
	add(&sum->llc_migrations_per_s, row->llc_migrations_per_s);
	add(&sum->node_migrations_per_s, row->node_migrations_per_s);
}

/* Who never ran has no past, and who has not run for as long as we remember has none any more. */
static int remember(struct machine_tasks *t, struct machine_past *past, uint32_t *quiet_looks,
                    struct machine_task *row)
{
	bool has_run = row->run > 0, had_past = past->values;
	int err;

	*quiet_looks = has_run ? 0 : *quiet_looks + 1;
	if (!had_past && (!has_run || t->nr_pasts >= PASTS_MAX))
		return 0;
	if (*quiet_looks >= MACHINE_HISTORY) {
		machine_past_done(past);
		t->nr_pasts--;
		row->run_history = (struct machine_history){ 0 };
		return 0;
	}
	err = machine_past_add(past, isnan(row->run) ? 0 : row->run);
	if (err)
		return err;
	t->nr_pasts += !had_past;
	row->run_history = machine_past_show(past);
	return 0;
}

int machine_tasks_sum(struct machine_tasks *t)
{
	int err = 0;

	for (size_t i = 0; i < t->nr_processes; i++)
		clear_sums(&t->process_rows[i]);
	for (size_t i = 0; i < t->nr_threads && !err; i++) {
		struct thread *th = t->threads[i];
		struct machine_task *row = &t->thread_rows[i];
		struct machine_task *sum = &t->process_rows[th->process->idx];

		row->cmdline = sum->cmdline;
		row->cgroup = sum->cgroup;
		add_thread(sum, row);
		err = remember(t, &th->past, &th->quiet_looks, row);
	}
	for (size_t i = t->nr_processes; i-- > 0;)
		if (!t->process_rows[i].nr_threads) /* all are gone, the list will say so */
			machine_tasks_drop_process(t, t->processes[i]);
	for (size_t i = 0; i < t->nr_processes && !err; i++)
		err = remember(t, &t->processes[i]->past, &t->processes[i]->quiet_looks,
		               &t->process_rows[i]);
	return err;
}
