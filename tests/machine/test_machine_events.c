/* Events of a machine: of this one as far as it may be counted, of files where it may not. */
#include "../unit.h"

#include "../sys/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine_event.h"
#include "machine/machine_source.h"
#include "machine/parts/event_counter.h"
#include "machine/parts/events.h"

#define S        1000000000ULL
#define SWITCHES "perf:sw:context-switches"

static uint64_t now_ns;

static uint64_t fake_clock(void)
{
	return now_ns;
}

static bool can_count(uint32_t cpu)
{
	struct cpulist online = { 0 };
	struct event_counter *c = NULL;
	struct event_word word;
	int err = cpulist_add(&online, cpu);

	if (!err)
		err = event_word_parse(SWITCHES, &word, NULL);
	if (!err)
		err = event_counter_open(&(struct event_counter_cfg){ &word, &online, 0 }, NULL,
		                         &c);
	event_counter_close(c);
	cpulist_done(&online);
	return !err;
}

static struct machine_source *open_machine(const char *root)
{
	const struct machine_source_cfg cfg = { .is_proc_only = true,
		                                .root = root,
		                                .clock = root ? fake_clock : NULL };
	struct machine_source *s = NULL;
	struct diag d = { 0 };

	expect_eq(machine_source_open(&cfg, &d, &s), 0);
	return s;
}

static const struct machine *refresh(struct machine_source *s, const char *event, uint32_t needs)
{
	const struct machine *m = NULL;
	struct diag d = { 0 };

	expect_eq(machine_source_refresh(s,
	                                 &(struct machine_request){ .needs = MACHINE_CPUS | needs,
	                                                            .event = event },
	                                 &d, &m),
	          0);
	return m;
}

/* Until it is counted: counters are opened by a thread. */
static const struct machine *counted(struct machine_source *s, const char *event)
{
	for (int i = 0; i < 5000; i++) {
		const struct machine *m = refresh(s, event, MACHINE_EVENT);

		assert_non_null(m->event);
		assert_null(m->event->why);
		if (!isnan(m->cpus[0].event_per_s))
			return m;
		usleep(2000);
	}
	fail_msg("%s is not counted", event);
	return NULL;
}

/* Makes all of our counters unreadable, as a pinned one is that lost its place. */
static int spoil_counters(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), nr = 0;
	struct dirent *e;

	assert_non_null(dir);
	assert_true(null >= 0);
	while ((e = readdir(dir))) {
		char path[300], to[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		if (readlink(path, to, sizeof(to) - 1) > 0 && strstr(to, "perf_event")) {
			assert_true(dup2(null, atoi(e->d_name)) >= 0);
			nr++;
		}
	}
	close(null);
	closedir(dir);
	return nr;
}

/* The peer ended. */
static void a_counter_that_cannot_be_read_is_a_sentence(void **state)
{
	struct machine_source *s = open_machine(NULL);
	const struct machine *m;

	(void)state;
	m = counted(s, SWITCHES);
	assert_true(m->cpus[0].event_per_s >= 0);
	assert_true(spoil_counters() > 0);
	usleep(2000);
	m = refresh(s, SWITCHES, MACHINE_EVENT);
	assert_non_null(m->event->why);
	assert_non_null(strstr(m->event->why, "cannot be read"));
	assert_true(isnan(m->cpus[0].event_per_s));
	/* Another one works. */
	m = counted(s, "perf:sw:page-faults");
	assert_true(m->cpus[0].event_per_s >= 0);
	machine_source_close(s);
}

/* Time on a CPU is known: a second per second. */
static void rates_are_per_second(void **state)
{
	struct machine_source *s = open_machine(NULL);
	const struct machine *m;

	(void)state;
	m = counted(s, "perf:sw:cpu-clock");
	expect_eq(m->cpus[0].event_history.nr, 1);
	for (int i = 2; i < 5; i++) {
		usleep(40000);
		m = refresh(s, "perf:sw:cpu-clock", MACHINE_EVENT);
		assert_string_equal(m->event->word, "perf:sw:cpu-clock");
		for (size_t cpu = 0; cpu < m->nr_cpus; cpu++) {
			if (!m->cpus[cpu].is_online)
				continue;
			assert_true(m->cpus[cpu].event_per_s > 0.9e9 &&
			            m->cpus[cpu].event_per_s < 1.1e9);
			expect_eq(m->cpus[cpu].event_history.nr, i);
		}
	}
	machine_source_close(s);
}

static void another_event_begins_anew(void **state)
{
	struct machine_source *s = open_machine(NULL);
	const struct machine *m;

	(void)state;
	m = counted(s, SWITCHES);
	expect_eq(m->cpus[0].event_history.nr, 1);
	m = refresh(s, "perf:sw:page-faults", MACHINE_EVENT);
	assert_true(isnan(m->cpus[0].event_per_s));
	expect_eq(m->cpus[0].event_history.nr, 0);
	m = refresh(s, NULL, 0); /* nothing is shown */
	assert_null(m->event);
	assert_true(isnan(m->cpus[0].event_per_s));
	m = refresh(s, SWITCHES, MACHINE_EVENT);
	assert_true(isnan(m->cpus[0].event_per_s));
	/* Whatever is opened just then is closed. */
	for (int i = 0; i < 20; i++)
		refresh(s, i % 2 ? SWITCHES : "perf:sw:page-faults", i % 5 ? MACHINE_EVENT : 0);
	counted(s, SWITCHES);
	refresh(s, SWITCHES, MACHINE_EVENT);
	machine_source_close(s);
	expect_eq(spoil_counters(), 0);
}

/* Looks until exactly the CPUs that are online are counted; the others are unknown. */
static void expect_counted(void *part, struct machine_cpu cpus[2])
{
	const struct machine_request request = { .needs = MACHINE_EVENT, .event = SWITCHES };

	for (int i = 0; i < 5000; i++) {
		struct machine m = { .cpus = cpus, .nr_cpus = 2 };
		bool is_right = true;

		for (uint32_t cpu = 0; cpu < 2; cpu++)
			cpus[cpu].event_per_s = NAN;
		machine_part_events.refresh(part, &(struct machine_part_refresh){
							  &request, 0, &m, cpus, NULL, NULL });
		assert_non_null(m.event);
		assert_null(m.event->why);
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			is_right &= isnan(cpus[cpu].event_per_s) != cpus[cpu].is_online;
		if (is_right)
			return;
		usleep(2000);
	}
	fail_msg("CPU 0 has %f, CPU 1 has %f", cpus[0].event_per_s, cpus[1].event_per_s);
}

/* Tried with CPUs that are online all the time: the machine is said to be without one of them, then to have it. */
static void cpus_that_come_and_go_are_followed(void **state)
{
	struct machine_cpu cpus[2] = { { .cpu = 0, .is_online = true }, { .cpu = 1 } };
	void *part = NULL;

	(void)state;
	expect_eq(machine_part_events.open(&(struct machine_source_cfg){ 0 }, NULL, &part), 0);
	expect_counted(part, cpus);
	cpus[1].is_online = true;
	expect_counted(part, cpus);
	cpus[0].is_online = false;
	expect_counted(part, cpus);
	cpus[0].is_online = true;
	expect_counted(part, cpus);
	machine_part_events.close(part);
	expect_eq(spoil_counters(), 0);
}

static void put_files(const struct tree *t, const char *stat)
{
	tree_write(t, "proc/loadavg", "1.00 2.00 3.00 1/1 10");
	tree_write(t, "proc/stat", stat);
	tree_write(t, "sys/kernel/tracing/available_events",
	           "sched:sched_switch\nblock:block_rq_issue\n");
	tree_write(t, "sys/kernel/tracing/available_filter_functions", "zeta\nalpha [mod]\n");
}

static void shares_of_time_have_a_past(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_files(&t, "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 100 1000 0 0 0 0 0 0\nintr 1");
	s = open_machine(t.root);
	now_ns += S;
	tree_write(&t, "proc/stat",
	           "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 130 0 110 1060 0 0 0 0 0 0\nintr 1");
	m = refresh(s, "cpu:cpu_user_util_percent", MACHINE_EVENT);
	assert_null(m->event->why);
	expect_eq(m->cpus[0].event_history.nr, 1);
	assert_true(fabs(m->cpus[0].event_history.values[0] - 0.3) < 1e-9);
	assert_true(isnan(m->cpus[0].event_per_s)); /* it is none per second */
	m = refresh(s, "cpu:cpu_frequency_mhz", MACHINE_EVENT);
	expect_eq(m->cpus[0].event_history.nr, 1);
	assert_true(isnan(m->cpus[0].event_history.values[0]));
	machine_source_close(s);
	tree_done(&t);
}

static void of_another_machine_nothing_is_counted(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_files(&t, "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 100 1000 0 0 0 0 0 0\nintr 1");
	s = open_machine(t.root);
	m = refresh(s, SWITCHES, MACHINE_EVENT);
	assert_non_null(strstr(m->event->why, "another machine"));
	m = refresh(s, "nonsense", MACHINE_EVENT);
	assert_non_null(strstr(m->event->why, "is not an event"));
	machine_source_close(s);
	tree_done(&t);
}

static const struct machine_event_list *loaded(struct machine_source *s, uint32_t needs)
{
	for (int i = 0; i < 2000; i++) {
		const struct machine *m = refresh(s, NULL, needs);

		assert_non_null(m->event_list);
		if (!m->event_list->is_loading)
			return m->event_list;
		usleep(5000);
	}
	fail_msg("the list does not come");
	return NULL;
}

static void lists_are_read_beside_the_refreshes(void **state)
{
	const struct machine_event_list *l;
	struct machine_source *s;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_files(&t, "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 100 1000 0 0 0 0 0 0\nintr 1");
	s = open_machine(t.root);
	l = loaded(s, MACHINE_TRACEPOINTS);
	expect_eq(l->nr, 2);
	assert_string_equal(l->names[0], "block:block_rq_issue");
	assert_string_equal(l->names[1], "sched:sched_switch");
	assert_string_equal(l->source, "tracefs");
	l = loaded(s, MACHINE_FUNCTIONS);
	expect_eq(l->nr, 2);
	assert_string_equal(l->names[0], "zeta");
	assert_null(refresh(s, NULL, 0)->event_list);
	machine_source_close(s);
	/* One that is not waited for. */
	s = open_machine(t.root);
	refresh(s, NULL, MACHINE_FUNCTIONS);
	machine_source_close(s);
	tree_done(&t);
}

static void a_list_that_is_not_there_is_a_sentence(void **state)
{
	const struct machine_event_list *l;
	struct machine_source *s;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	tree_write(&t, "proc/loadavg", "1.00 2.00 3.00 1/1 10");
	tree_write(&t, "proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0 0 0\nintr 1");
	s = open_machine(t.root);
	l = loaded(s, MACHINE_FUNCTIONS);
	expect_eq(l->nr, 0);
	assert_non_null(strstr(l->why, "mount"));
	machine_source_close(s);
	tree_done(&t);
}

int main(void)
{
	const bool can = can_count(0);
	const struct CMUnitTest tests[] = {
		unit_test_if(can, a_counter_that_cannot_be_read_is_a_sentence,
		             "needs the right to count on whole CPUs"),
		unit_test_if(can, rates_are_per_second, "needs the right to count on whole CPUs"),
		unit_test_if(can, another_event_begins_anew,
		             "needs the right to count on whole CPUs"),
		unit_test_if(can && can_count(1), cpus_that_come_and_go_are_followed,
		             "needs the right to count on whole CPUs, and two of them"),
		cmocka_unit_test(shares_of_time_have_a_past),
		cmocka_unit_test(of_another_machine_nothing_is_counted),
		cmocka_unit_test(lists_are_read_beside_the_refreshes),
		cmocka_unit_test(a_list_that_is_not_there_is_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
