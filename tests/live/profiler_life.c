/*
 * A profiler through its life, as a server would use it; prints TAP. What must hold: it ends of its own at the number of
 * samples and at the duration, and then really: no event stays open, times stand still, what was found stays readable; a
 * second start begins anew; after clear, and after a start that failed, no descriptor is left.
 */
#include "../unit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/profiler/profiler.h"

#define MS_NS    1000000ULL
#define LIMIT_NS (20000 * MS_NS)

static size_t open_descriptors(const char *kind)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[300], target[256];
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		nr += strstr(target, kind) != NULL;
	}
	closedir(dir);
	return nr;
}

/* A child does not outlive a test that fails. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static pid_t start_burner(void)
{
	pid_t pid = start_child();

	if (pid)
		return pid;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void stop_burner(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void poll_until_over(struct profiler *p)
{
	uint64_t end_ns = clock_boot_ns() + LIMIT_NS;
	struct diag d = { 0 };
	bool is_over = false;

	while (!is_over && clock_boot_ns() < end_ns) {
		assert_int_equal(profiler_poll(p, &is_over, &d), 0);
		usleep(20000);
	}
	assert_true(is_over);
}

static void it_ends_at_the_number_of_samples(void **state)
{
	struct profiler_cfg cfg = { .cpu = PROFILER_ANY_CPU, .frequency = 999, .max_samples = 25 };
	struct profiler_status status, later;
	struct profile *profile = NULL;
	struct profiler *p = NULL;
	struct diag d = { 0 };
	pid_t burner = start_burner();

	(void)state;
	cfg.tgid = (uint32_t)burner;
	assert_int_equal(profiler_new(&p), 0);
	assert_int_equal(profiler_start(p, &cfg, &d), 0);
	assert_true(open_descriptors("perf_event") > 0);
	poll_until_over(p);
	assert_int_equal(open_descriptors("perf_event"), 0);
	profiler_status(p, &status);
	usleep(30000);
	profiler_status(p, &later);
	stop_burner(burner);
	expect_eq(status.state, PROFILER_STOPPED);
	expect_eq(status.end, PROFILER_END_FULL);
	expect_eq(status.samples, 25);
	expect_eq(later.duration_ns, status.duration_ns);
	assert_int_equal(profiler_profile(p, &d, &profile), 0);
	expect_eq(profile_count(profile), 25);
	profile_free(profile);
	assert_int_equal(profiler_stop(p, &d), -EINVAL);
	assert_string_equal(d.what, "profiling is not running");
	profiler_free(p);
}

static void it_ends_at_the_duration_without_any_sample(void **state)
{
	struct profiler_cfg cfg = { .cpu = PROFILER_ANY_CPU, .duration_ns = 300 * MS_NS };
	struct profiler_status status;
	struct profiler *p = NULL;
	struct diag d = { 0 };
	pid_t sleeper = start_child();

	(void)state;
	if (!sleeper)
		for (;;)
			pause();
	cfg.tgid = (uint32_t)sleeper;
	assert_int_equal(profiler_new(&p), 0);
	assert_int_equal(profiler_start(p, &cfg, &d), 0);
	poll_until_over(p);
	profiler_status(p, &status);
	stop_burner(sleeper);
	expect_eq(status.end, PROFILER_END_DURATION);
	assert_true(status.duration_ns >= cfg.duration_ns);
	assert_int_equal(open_descriptors("perf_event"), 0);
	profiler_free(p);
}

static void it_begins_anew_and_leaves_nothing(void **state)
{
	struct profiler_cfg cfg = { .cpu = PROFILER_ANY_CPU, .frequency = 999, .max_samples = 10 };
	struct profiler_status status;
	size_t before = open_descriptors("");
	struct profiler *p = NULL;
	struct diag d = { 0 };
	pid_t burner = start_burner();

	(void)state;
	cfg.tgid = (uint32_t)burner;
	assert_int_equal(profiler_new(&p), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(profiler_start(p, &cfg, &d), 0);
		assert_int_equal(profiler_start(p, &cfg, &d), -EBUSY);
		assert_string_equal(d.what, "profiling is already running");
		poll_until_over(p);
		profiler_status(p, &status);
		expect_eq(status.samples, 10);
	}
	stop_burner(burner);
	profiler_clear(p);
	profiler_status(p, &status);
	expect_eq(status.state, PROFILER_IDLE);
	expect_eq(status.samples, 0);
	assert_int_equal(open_descriptors(""), before);
	profiler_free(p);
}

static void a_start_that_fails_leaves_nothing(void **state)
{
	static const char *const events[] = { "no-such-event", "tracepoint:sched:no_such",
		                              "uprobe:/nowhere:f", "hw:" };
	size_t before = open_descriptors("");
	struct profiler_cfg cfg = { .cpu = PROFILER_ANY_CPU };
	struct profiler_status status;
	struct profile *profile = NULL;
	struct profiler *p = NULL;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(profiler_new(&p), 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		cfg.event = events[i];
		assert_true(profiler_start(p, &cfg, &d) < 0);
		assert_true(d.what[0] != '\0');
	}
	cfg.event = NULL;
	cfg.cpu = 4000;
	assert_true(profiler_start(p, &cfg, &d) < 0);
	cfg.cpu = PROFILER_ANY_CPU;
	cfg.tgid = 4194303;
	assert_int_equal(profiler_start(p, &cfg, &d), -ESRCH);
	profiler_status(p, &status);
	expect_eq(status.state, PROFILER_IDLE);
	assert_int_equal(profiler_profile(p, &d, &profile), -ENODATA);
	assert_int_equal(open_descriptors(""), before);
	profiler_free(p);
}

/* What is added bit by bit is, in the end, the same as what is read at once. */
static void increments_add_up_to_the_profile(void **state)
{
	struct profiler_cfg cfg = { .cpu = PROFILER_ANY_CPU, .frequency = 999, .max_samples = 300 };
	struct profile *all = NULL, *added = NULL;
	struct profiler *p = NULL;
	struct diag d = { 0 };
	bool is_over = false;
	pid_t burner = start_burner();
	uint64_t last = 0;
	int nr_grown = 0;

	(void)state;
	cfg.tgid = (uint32_t)burner;
	assert_int_equal(profile_new(&(struct profile_facts){ 0 }, &added), 0);
	assert_int_equal(profiler_new(&p), 0);
	assert_int_equal(profiler_add_new(p, added, &d), -ENODATA);
	assert_int_equal(profiler_start(p, &cfg, &d), 0);
	for (uint64_t end_ns = clock_boot_ns() + LIMIT_NS; !is_over && clock_boot_ns() < end_ns;) {
		assert_int_equal(profiler_poll(p, &is_over, &d), 0);
		assert_int_equal(profiler_add_new(p, added, &d), 0);
		assert_true(profile_count(added) >= last);
		nr_grown += profile_count(added) > last;
		last = profile_count(added);
		usleep(20000);
	}
	stop_burner(burner);
	assert_int_equal(profiler_add_new(p, added, &d), 0);
	assert_int_equal(profiler_add_new(p, added, &d), 0); /* there are no more */
	assert_int_equal(profiler_profile(p, &d, &all), 0);
	expect_eq(profile_count(all), 300);
	expect_eq(profile_count(added), 300);
	expect_eq(profile_nr_stacks(added), profile_nr_stacks(all));
	assert_true(nr_grown > 1);
	expect_eq(profile_facts(added)->broken, profile_facts(all)->broken);
	profile_free(all);
	profile_free(added);
	profiler_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_at_the_number_of_samples),
		cmocka_unit_test(it_ends_at_the_duration_without_any_sample),
		cmocka_unit_test(it_begins_anew_and_leaves_nothing),
		cmocka_unit_test(a_start_that_fails_leaves_nothing),
		cmocka_unit_test(increments_add_up_to_the_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
