#include "../unit.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/sample/mmap_ring.h"

static uint32_t cpus[2];

static bool find_cpus(void)
{
	struct mmap_ring *m = NULL;
	struct cpulist first = { 0 };
	uint32_t nr = 0;
	cpu_set_t set;
	int err;

	if (sched_getaffinity(0, sizeof(set), &set))
		return false;
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[nr++] = cpu;
	if (nr < 2 || cpulist_add(&first, cpus[0]))
		return false;
	err = mmap_ring_open(&first, 0, NULL, &m);
	mmap_ring_close(m);
	cpulist_done(&first);
	return err == 0;
}

struct found {
	uint32_t tgid;
	unsigned int nr_execs;
};

static int count_exec(void *ctx, const struct mmap_report *r)
{
	struct found *f = ctx;

	f->nr_execs += r->what == MMAP_EXEC && r->tgid == f->tgid;
	return 0;
}

/* A process that becomes another program on a CPU: how often that is reported. */
static unsigned int execs_reported(struct mmap_ring *m, uint32_t cpu)
{
	struct found f = { 0 };
	pid_t pid = fork();

	if (!pid) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			execl("/bin/true", "true", NULL);
		_exit(1);
	}
	f.tgid = (uint32_t)pid;
	expect_eq(waitpid(pid, NULL, 0), pid);
	expect_eq(mmap_ring_take(m, count_exec, &f), 0);
	return f.nr_execs;
}

static void a_cpu_that_comes_online_is_watched_and_one_that_goes_is_not(void **state)
{
	struct cpulist first = { 0 }, both = { 0 };
	struct mmap_ring *m = NULL;

	(void)state;
	expect_eq(cpulist_add(&first, cpus[0]), 0);
	expect_eq(cpulist_add(&both, cpus[0]), 0);
	expect_eq(cpulist_add(&both, cpus[1]), 0);
	expect_eq(mmap_ring_open(&first, 0, NULL, &m), 0);
	expect_eq(execs_reported(m, cpus[0]), 1);
	expect_eq(execs_reported(m, cpus[1]), 0);
	expect_eq(mmap_ring_follow(m, &both, NULL), 0);
	expect_eq(execs_reported(m, cpus[1]), 1);
	expect_eq(execs_reported(m, cpus[0]), 1);
	expect_eq(mmap_ring_follow(m, &first, NULL), 0);
	expect_eq(execs_reported(m, cpus[0]),
	          1); /* what the other one's ring still held is read and let go */
	expect_eq(execs_reported(m, cpus[1]), 0);
	expect_eq(mmap_ring_follow(m, &both, NULL), 0);
	expect_eq(execs_reported(m, cpus[1]), 1); /* it came back: its old event is dead */
	mmap_ring_close(m);
	cpulist_done(&first);
	cpulist_done(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_if(find_cpus(),
		             a_cpu_that_comes_online_is_watched_and_one_that_goes_is_not,
		             "needs two CPUs and the right to watch them"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
