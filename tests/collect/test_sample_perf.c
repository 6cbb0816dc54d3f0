/* CPUs that come online are tried with those that are: a list without one of them, and then with it. */
#include "../unit.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "collect/sample/sample_perf.h"

#define HZ       1000
#define PATIENCE 5000000000ULL

static struct pmu_event clock_event = { .name = "cpu-clock",
	                                .type = PERF_TYPE_SOFTWARE,
	                                .config = PERF_COUNT_SW_CPU_CLOCK };
static const struct pmu_events events = { &clock_event, 1 };

static int open_on(const struct cpulist *online, struct sample_perf **out)
{
	struct sample_perf_cfg cfg = { .events = &events,
		                       .frequency = HZ,
		                       .online = online,
		                       .cpu = UINT32_MAX,
		                       .prog_fd = -1,
		                       .ring_bytes = 65536 };

	return sample_perf_open(&cfg, NULL, out);
}

/* Two CPUs that we may run on, and the right to sample them. */
static bool find_cpus(uint32_t cpus[2])
{
	struct sample_perf *p = NULL;
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
	err = open_on(&first, &p);
	sample_perf_close(p);
	cpulist_done(&first);
	return err == 0;
}

static uint32_t cpus[2];

static void count_none(void *ctx, const struct sample_perf_address *sample)
{
	(void)ctx;
	(void)sample;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Whether samples come from a CPU while it has something to do. */
static bool is_sampled(struct sample_perf *p, uint32_t cpu)
{
	struct sample_perf_counts before, now;
	uint64_t end_ns = now_ns() + PATIENCE;
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	expect_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	sample_perf_read(p, count_none, NULL, &before);
	do
		sample_perf_read(p, count_none, NULL, &now);
	while (now.samples < before.samples + 3 && now_ns() < end_ns);
	sched_setaffinity(0, sizeof(all), &all);
	return now.samples >= before.samples + 3;
}

static void a_cpu_that_comes_online_is_sampled_and_one_that_goes_is_not(void **state)
{
	struct cpulist first = { 0 }, second = { 0 }, both = { 0 };
	struct sample_perf *p = NULL;

	(void)state;
	expect_eq(cpulist_add(&first, cpus[0]), 0);
	expect_eq(cpulist_add(&second, cpus[1]), 0);
	expect_eq(cpulist_add(&both, cpus[0]), 0);
	expect_eq(cpulist_add(&both, cpus[1]), 0);
	expect_eq(open_on(&first, &p), 0);
	expect_eq(sample_perf_enable(p), 0);
	expect_eq(sample_perf_nr(p), 1);
	expect_eq(sample_perf_follow(p, &both, NULL), 0);
	expect_eq(sample_perf_nr(p), 2);
	expect_eq(sample_perf_nr_skipped(p), 0);
	assert_true(is_sampled(p, cpus[0]));
	expect_eq(sample_perf_follow(p, &second, NULL), 0);
	expect_eq(sample_perf_nr(p), 1);
	assert_true(is_sampled(p, cpus[1])); /* switched on, as the others were */
	expect_eq(sample_perf_follow(p, &second, NULL), 0);
	expect_eq(sample_perf_nr(p), 1);
	sample_perf_close(p);
	cpulist_done(&first);
	cpulist_done(&second);
	cpulist_done(&both);
}

/* One that the kernel has not: it is counted, and the others go on. */
static void a_cpu_that_cannot_be_sampled_is_counted(void **state)
{
	struct cpulist first = { 0 }, more = { 0 };
	struct sample_perf *p = NULL;

	(void)state;
	expect_eq(cpulist_add(&first, cpus[0]), 0);
	expect_eq(cpulist_add(&more, cpus[0]), 0);
	expect_eq(cpulist_add(&more, CPULIST_MAX - 1), 0);
	expect_eq(open_on(&first, &p), 0);
	expect_eq(sample_perf_enable(p), 0);
	(void)!sample_perf_follow(p, &more, NULL);
	expect_eq(sample_perf_nr(p), 1);
	expect_eq(sample_perf_nr_skipped(p), 1);
	assert_true(is_sampled(p, cpus[0]));
	sample_perf_close(p);
	cpulist_done(&first);
	cpulist_done(&more);
}

int main(void)
{
	bool can = find_cpus(cpus);
	const struct CMUnitTest tests[] = {
		unit_test_if(can, a_cpu_that_comes_online_is_sampled_and_one_that_goes_is_not,
		             "needs two CPUs and the right to sample them"),
		unit_test_if(can, a_cpu_that_cannot_be_sampled_is_counted,
		             "needs two CPUs and the right to sample them"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
