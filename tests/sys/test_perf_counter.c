#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/pmu/perf_counter.h"

static const struct pmu_event cpu_clock = {
	.name = "cpu-clock",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
};

static const struct pmu_event switches = {
	.name = "context-switches",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
};

static void read_cpus(const char *which, struct cpulist *out)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", which);
	assert_int_equal(text_read_file(path, 4096, &text), 0);
	assert_int_equal(cpulist_parse(text, out), 0);
}

#define WHY "needs the right to count on whole CPUs"

static bool may_count(void)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &online };
	int err;

	read_cpus("online", &online);
	err = perf_counter_open(&cfg, NULL, &c);
	return err != -EACCES && err != -ENOSYS;
}

static struct perf_counter *open_one(const struct perf_counter_cfg *cfg)
{
	struct perf_counter *c = NULL;
	struct diag d = { 0 };

	if (perf_counter_open(cfg, &d, &c))
		fail_msg("%s", d.what);
	return c;
}

static void spin_ms(long ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec <
	       ms * 1000000);
}

static void stop(const struct perf_counter *c, const struct cpulist *cpus)
{
	cpulist_for_each(cpu, cpus)
	{
		int fd = perf_counter_fd(c, (uint32_t)cpu);

		if (fd >= 0)
			expect_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	}
}

static void time_is_counted_on_every_online_cpu(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &online };

	(void)state;
	read_cpus("online", &online);
	c = open_one(&cfg);
	expect_eq(perf_counter_nr(c) + perf_counter_nr_skipped(c), online.nr);
	expect_eq(perf_counter_enable(c), 0);
	spin_ms(20);
	stop(c, &online);
	cpulist_for_each(cpu, &online)
	{
		struct perf_count count = { 0 };
		double scaled = 0;
		int fd = perf_counter_fd(c, (uint32_t)cpu);

		if (fd < 0)
			continue;
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		expect_eq(perf_counter_read(c, (uint32_t)cpu, &count), 0);
		assert_true(count.enabled_ns >= 20000000);
		assert_true(perf_count_scaled(&count, &scaled));
	}
}

static void counters_start_disabled(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &online };
	struct perf_count count;

	(void)state;
	read_cpus("online", &online);
	c = open_one(&cfg);
	spin_ms(2);
	expect_eq(perf_counter_read(c, (uint32_t)cpulist_next(&online, 0), &count), 0);
	expect_eq(count.value, 0);
	expect_eq(count.enabled_ns, 0);
}

static void members_count_while_their_leader_does(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *leader = NULL;
	SCOPED(scoped_perf_counter) struct perf_counter *member = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &online };
	struct perf_count a, b;
	uint32_t cpu;

	(void)state;
	read_cpus("online", &online);
	cpu = (uint32_t)cpulist_next(&online, 0);
	leader = open_one(&cfg);
	cfg.event = &switches;
	cfg.leader = leader;
	member = open_one(&cfg);
	expect_eq(perf_counter_nr(member), perf_counter_nr(leader));
	expect_eq(perf_counter_enable(leader), 0);
	spin_ms(5);
	stop(leader, &online);
	expect_eq(perf_counter_read(leader, cpu, &a), 0);
	expect_eq(perf_counter_read(member, cpu, &b), 0);
	assert_true(a.enabled_ns >= 5000000);
	assert_true(b.enabled_ns >= 5000000);
}

static void only_the_events_own_cpus_are_opened(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct pmu_event ev = cpu_clock;
	struct perf_counter_cfg cfg = { .event = &ev, .online = &online };
	struct diag d = { 0 };
	uint32_t first;

	(void)state;
	read_cpus("online", &online);
	first = (uint32_t)cpulist_next(&online, 0);
	expect_eq(cpulist_add(&ev.cpus, first), 0);
	c = open_one(&cfg);
	expect_eq(perf_counter_nr(c), 1);
	assert_true(perf_counter_fd(c, first) >= 0);
	expect_eq(perf_counter_fd(c, first + 1), -1);
	expect_eq(perf_counter_fd(c, 1000000), -1);
	cpulist_done(&ev.cpus);

	expect_eq(cpulist_add(&ev.cpus, 60000), 0);
	expect_eq(perf_counter_open(&cfg, &d, &c), -ENODEV);
	cpulist_done(&ev.cpus);
}

static void offline_cpus_are_skipped(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(cpulist_done) struct cpulist possible = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &possible };

	(void)state;
	read_cpus("online", &online);
	read_cpus("possible", &possible);
	c = open_one(&cfg);
	expect_eq(perf_counter_nr(c), online.nr);
	expect_eq(perf_counter_nr_skipped(c), possible.nr - online.nr);
}

static void members_skip_cpus_without_a_leader(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(cpulist_done) struct cpulist first = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *leader = NULL;
	SCOPED(scoped_perf_counter) struct perf_counter *member = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &first };
	struct perf_count count;

	(void)state;
	read_cpus("online", &online);
	expect_eq(cpulist_add(&first, (uint32_t)cpulist_next(&online, 0)), 0);
	leader = open_one(&cfg);
	cfg.leader = leader;
	cfg.online = &online;
	member = open_one(&cfg);
	expect_eq(perf_counter_nr(member), 1);
	expect_eq(perf_counter_nr_skipped(member), online.nr - 1);
	expect_eq(perf_counter_read(member, CPULIST_MAX, &count), -ENODEV);
}

static void no_cpu_is_an_error(void **state)
{
	struct cpulist none = { 0 };
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &none };
	struct perf_counter *c = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(perf_counter_open(&cfg, &d, &c), -ENODEV);
	assert_null(c);
	assert_non_null(strstr(d.what, "cpu-clock"));
}

static void what_no_pmu_counts_is_explained(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	struct pmu_event ev = { .name = "nothing", .type = 0x7fffffff };
	struct perf_counter_cfg cfg = { .event = &ev, .online = &online };
	struct perf_counter *c = NULL;
	struct diag d = { 0 };
	int err;

	(void)state;
	read_cpus("online", &online);
	err = perf_counter_open(&cfg, &d, &c);
	assert_null(c);
	if (err == -EACCES) {
		assert_non_null(strstr(d.hint, "perf_event_paranoid"));
		return;
	}
	expect_eq(err, -ENOTSUP);
	assert_non_null(strstr(d.what, "no hardware counters on this machine"));
	assert_false(perf_counter_can_open(NULL, &ev));
	snprintf(ev.pmu, sizeof(ev.pmu), "cpu");
	d = (struct diag){ 0 };
	expect_eq(perf_counter_open(&cfg, &d, &c), -ENOTSUP);
	assert_non_null(strstr(d.what, "'cpu'"));
}

static void the_limit_of_descriptors_is_raised(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct perf_counter_cfg cfg = { .event = &cpu_clock, .online = &online };
	struct rlimit before, low;

	(void)state;
	read_cpus("online", &online);
	c = open_one(&cfg);
	perf_counter_close(TAKE_PTR(c));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	c = open_one(&cfg);
	assert_true(perf_counter_nr(c) >= 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &low), 0);
	expect_eq(low.rlim_cur, before.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void shared_counters_are_scaled(void **state)
{
	struct perf_count half = { .value = 100, .enabled_ns = 2000, .running_ns = 1000 };
	struct perf_count full = { .value = 100, .enabled_ns = 2000, .running_ns = 2000 };
	struct perf_count never = { .enabled_ns = 2000 };
	double out = -1;

	(void)state;
	assert_true(perf_count_scaled(&half, &out));
	assert_true(out == 200.0);
	assert_true(perf_count_scaled(&full, &out));
	assert_true(out == 100.0);
	assert_false(perf_count_scaled(&never, &out));
	assert_true(out == 100.0);
}

#define PAGES 2000U

static void *touch(void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                  -1, 0);

	if (area == MAP_FAILED)
		return arg;
	(void)madvise(area, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		area[i * page] = 1;
	munmap(area, PAGES * page);
	return NULL;
}

static uint64_t sum_of(const struct perf_counter *c, const struct cpulist *online)
{
	uint64_t sum = 0;

	cpulist_for_each(cpu, online)
	{
		struct perf_count one;

		assert_int_equal(perf_counter_read(c, (uint32_t)cpu, &one), 0);
		sum += one.value;
	}
	return sum;
}

static void a_thread_is_counted_with_threads_that_it_makes_but_no_processes(void **state)
{
	static const struct pmu_event faults = { .name = "page-faults",
		                                 .type = PERF_TYPE_SOFTWARE,
		                                 .config = PERF_COUNT_SW_PAGE_FAULTS };
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_perf_counter) struct perf_counter *c = NULL;
	struct perf_counter_cfg cfg = { .event = &faults, .online = &online };
	pthread_t thread;
	uint64_t before;
	pid_t child;

	(void)state;
	read_cpus("online", &online);
	cfg.tid = (uint32_t)gettid();
	c = open_one(&cfg);
	assert_int_equal(perf_counter_enable(c), 0);
	assert_null(touch(NULL));
	assert_int_equal(pthread_create(&thread, NULL, touch, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	before = sum_of(c, &online);
	assert_in_range(before, 2 * PAGES, 3 * PAGES - 1); /* sanitizers have some, too */
	child = fork();
	if (!child) {
		(void)touch(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_in_range(sum_of(c, &online) - before, 0, PAGES - 500);
}

static void a_thread_that_is_gone_is_reported(void **state)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	struct perf_counter_cfg cfg = { .event = &switches, .online = &online };
	struct perf_counter *c = NULL;
	pid_t child = fork();
	struct diag d = { 0 };

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	read_cpus("online", &online);
	cfg.tid = (uint32_t)child;
	assert_int_equal(perf_counter_open(&cfg, &d, &c), -ESRCH);
	assert_non_null(strstr(d.what, "exited"));
}

int main(void)
{
	const bool can = may_count();
	const struct CMUnitTest tests[] = {
		unit_test_if(can, time_is_counted_on_every_online_cpu, WHY),
		unit_test_if(can, counters_start_disabled, WHY),
		unit_test_if(can, members_count_while_their_leader_does, WHY),
		unit_test_if(can, only_the_events_own_cpus_are_opened, WHY),
		unit_test_if(can, offline_cpus_are_skipped, WHY),
		unit_test_if(can, members_skip_cpus_without_a_leader, WHY),
		cmocka_unit_test(no_cpu_is_an_error),
		cmocka_unit_test(what_no_pmu_counts_is_explained),
		unit_test_if(can, the_limit_of_descriptors_is_raised, WHY),
		unit_test_if(can, a_thread_is_counted_with_threads_that_it_makes_but_no_processes,
		             WHY),
		unit_test_if(can, a_thread_that_is_gone_is_reported, WHY),
		cmocka_unit_test(shared_counters_are_scaled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
