#include "machine/machine_sum.h"

#include <math.h>

static void add(double *sum, double part)
{
	if (isnan(part))
		return;
	*sum = isnan(*sum) ? part : *sum + part;
}

void machine_sum_clear_rates(struct machine_task *sum)
{
	sum->run = sum->wait = NAN;
	for (int i = 0; i < INTERVAL_COUNTS; i++)
		sum->rates[i] = NAN;
}

void machine_sum_clear(struct machine_task *sum)
{
	sum->nr_threads = 0;
	sum->stall_ns = 0;
	sum->state = '?';
	machine_sum_clear_rates(sum);
}

void machine_sum_add_rates(struct machine_task *sum, const struct machine_task *thread)
{
	add(&sum->run, thread->run);
	add(&sum->wait, thread->wait);
	for (int i = 0; i < INTERVAL_COUNTS; i++)
		add(&sum->rates[i], thread->rates[i]);
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

void machine_sum_add(struct machine_task *sum, const struct machine_task *thread)
{
	bool is_leader = thread->tid == sum->tgid;

	if (is_leader || !sum->nr_threads) {
		sum->last_cpu = thread->last_cpu;
		sum->prio = thread->prio;
		sum->class_name = thread->class_name;
		sum->layer = thread->layer;
		sum->dsq = thread->dsq;
		sum->has_dsq = thread->has_dsq;
	}
	if (thread->stall_ns > sum->stall_ns)
		sum->stall_ns = thread->stall_ns;
	sum->nr_threads++;
	sum->state = joint_state(sum->state, thread->state, is_leader);
	machine_sum_add_rates(sum, thread);
}
