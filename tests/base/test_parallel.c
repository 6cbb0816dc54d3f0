#include "../unit.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parallel.h"

/* In place of libc's: a kernel of so many CPUs, all of them ours; 0 = the real one. */
static size_t nr_fake_cpus;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	if (!nr_fake_cpus) {
		long len = syscall(SYS_sched_getaffinity, pid, bytes, set);

		if (len < 0)
			return -1;
		memset((char *)set + len, 0, bytes - (size_t)len);
		return 0;
	}
	if (bytes * 8 < nr_fake_cpus) {
		errno = EINVAL;
		return -1;
	}
	memset(set, 0, bytes);
	for (size_t cpu = 0; cpu < nr_fake_cpus; cpu++)
		CPU_SET_S(cpu, bytes, set);
	return 0;
}

struct sums {
	atomic_int done[10000];
	atomic_int by_worker[PARALLEL_MAX];
	size_t last_taken;
};

static void count(void *ctx, unsigned int worker, size_t item)
{
	struct sums *s = ctx;

	atomic_fetch_add(&s->done[item], 1);
	atomic_fetch_add(&s->by_worker[worker], 1);
}

static void progress(void *ctx, size_t nr_taken)
{
	struct sums *s = ctx;

	assert_true(nr_taken > s->last_taken);
	s->last_taken = nr_taken;
}

static void every_item_is_done_once(void **state)
{
	static struct sums s;
	struct parallel p = { .nr_workers = 4, .fn = count, .progress = progress, .ctx = &s };
	int sum = 0;

	(void)state;
	parallel_for(&p, 10000);
	for (size_t i = 0; i < 10000; i++)
		expect_eq(atomic_load(&s.done[i]), 1);
	for (size_t i = 0; i < 4; i++)
		sum += atomic_load(&s.by_worker[i]);
	expect_eq(sum, 10000);
}

static void one_worker_is_the_caller_and_keeps_the_order(void **state)
{
	static struct sums s;
	struct parallel p = { .nr_workers = 1, .fn = count, .progress = progress, .ctx = &s };

	(void)state;
	parallel_for(&p, 100);
	expect_eq(atomic_load(&s.by_worker[0]), 100);
	expect_eq(s.last_taken, 100);
	parallel_for(&p, 0);
	expect_eq(atomic_load(&s.by_worker[0]), 100);
}

static void no_more_workers_than_items(void **state)
{
	(void)state;
	expect_eq(parallel_nr(8, 3), 3);
	expect_eq(parallel_nr(8, 0), 1);
	expect_eq(parallel_nr(100000, 100000), PARALLEL_MAX);
	assert_true(parallel_nr(0, 1000) >= 1);
}

static void all_cpus_of_a_large_machine_are_used(void **state)
{
	(void)state;
	nr_fake_cpus = 64;
	expect_eq(parallel_nr(0, 100000), 64);
	nr_fake_cpus = 1024;
	expect_eq(parallel_nr(0, 100000), PARALLEL_MAX);
	nr_fake_cpus = 4096;
	expect_eq(parallel_nr(0, 100000), PARALLEL_MAX);
	nr_fake_cpus = (size_t)1 << 24; /* not to be believed: a set is not grown without end */
	expect_eq(parallel_nr(0, 100000), 1);
	nr_fake_cpus = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_is_done_once),
		cmocka_unit_test(one_worker_is_the_caller_and_keeps_the_order),
		cmocka_unit_test(no_more_workers_than_items),
		cmocka_unit_test(all_cpus_of_a_large_machine_are_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
