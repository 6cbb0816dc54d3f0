#include "machine/machine_sum.h"

#include <math.h>
#include <stddef.h>

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

void machine_sum_begin_group(struct machine_task *sum)
{
	const char *comm = sum->comm;

	*sum = (struct machine_task){ .comm = comm,
		                      .state = '?',
		                      .last_cpu = -1,
		                      .prio = MACHINE_NO_PRIO,
		                      .layer = -1,
		                      .memory_bytes = NAN };
	machine_sum_clear_rates(sum);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_dist(struct machine_dist *sum, const struct machine_dist *part)
{
	uint64_t count = sum->count + part->count;

	if (!part->count)
		return;
	sum->mean_ns = (sum->mean_ns * (double)sum->count + part->mean_ns * (double)part->count) /
	               (double)count;
	sum->count = count;
	sum->p50_ns = larger(sum->p50_ns, part->p50_ns);
	sum->p90_ns = larger(sum->p90_ns, part->p90_ns);
	sum->p99_ns = larger(sum->p99_ns, part->p99_ns);
	sum->max_ns = larger(sum->max_ns, part->max_ns);
}

void machine_sum_add_process(struct machine_task *sum, const struct machine_task *process)
{
	bool is_first = !sum->nr_processes++;

	if (is_first || process->tid < sum->tid)
		sum->tid = sum->tgid = process->tid;
	if (is_first) {
		sum->class_name = process->class_name;
		sum->cgroup = process->cgroup;
		sum->prio = process->prio;
	}
	/* Texts of the machine are the same where they are equal; where not, unknown is no lie. */
	if (sum->class_name != process->class_name)
		sum->class_name = NULL;
	if (sum->cgroup != process->cgroup)
		sum->cgroup = NULL;
	if (sum->prio != process->prio)
		sum->prio = MACHINE_NO_PRIO;
	sum->nr_threads += process->nr_threads;
	sum->state = joint_state(sum->state, process->state, false);
	sum->stall_ns = larger(sum->stall_ns, process->stall_ns);
	add(&sum->memory_bytes, process->memory_bytes);
	for (int i = 0; i < INTERVAL_DISTS; i++)
		add_dist(&sum->dists[i], &process->dists[i]);
	machine_sum_add_rates(sum, process);
}
