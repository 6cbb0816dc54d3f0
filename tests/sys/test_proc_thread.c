#include "../unit.h"

#include <string.h>

#include "sys/proc/proc_thread.h"

/* Of Linux 6.18: a shell with a name that tries, at nice 10. */
#define STAT                                                                                        \
	"4711 (a) b (c) S 1 4711 4711 34817 4800 4194304 1950 845 69 38 1100 230 36 45 30 10 11 0 " \
	"27453 50294784 5134 18446744073709551615 1 1 0 0 0 0 0 4096 1088 0 0 0 17 3 0 0 0 0 0 0 0"

static void stat_is_read_behind_the_last_bracket(void **state)
{
	struct proc_thread_stat st;

	(void)state;
	assert_true(proc_thread_stat_parse(STAT, &st));
	assert_string_equal(st.comm, "a) b (c");
	expect_eq(st.state, 'S');
	expect_eq(st.run_ticks, 1330);
	expect_eq(st.start_ticks, 27453);
	assert_int_equal(st.prio, 130);
	assert_int_equal(st.policy, 0);
	assert_int_equal(st.cpu, 3);
	assert_false(st.is_kthread);
	expect_eq(st.parent, 1);
	expect_eq(st.memory_pages, 5134);
}

static void real_time_and_deadline_have_low_numbers(void **state)
{
	struct proc_thread_stat st;

	(void)state;
	assert_true(proc_thread_stat_parse(
		"15 (migration/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 4 0 0 -100 0 "
		"1 0 3 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 "
		"0 0 0 17 0 99 1 0 0 0",
		&st));
	assert_int_equal(st.prio, 0);
	assert_int_equal(st.policy, 1);
	assert_true(st.is_kthread);
	assert_true(proc_thread_stat_parse(
		"15 (d) S 2 0 0 0 -1 0 0 0 0 0 0 4 0 0 -101 0 1 0 3 0 0 0 0 0 0 "
		"0 0 0 0 0 0 0 0 0 17 1 0 6 0 0 0",
		&st));
	assert_int_equal(st.prio, -1);
	assert_int_equal(st.policy, 6);
}

static void text_that_ends_too_early_is_no_stat(void **state)
{
	struct proc_thread_stat st = { .prio = 42 };
	char text[sizeof(STAT)];
	size_t policy = (size_t)(strstr(STAT, " 17 3 0 0") - STAT) + strlen(" 17 3 0");

	(void)state;
	for (size_t len = 0; len <= policy; len++) {
		memcpy(text, STAT, len);
		text[len] = '\0';
		assert_false(proc_thread_stat_parse(text, &st));
	}
	assert_int_equal(st.prio, 42);
	assert_false(proc_thread_stat_parse("1 )(", &st));
}

static void schedstat_has_three_numbers(void **state)
{
	struct proc_thread_sched s;

	(void)state;
	assert_true(proc_thread_sched_parse("123456789012 345 67\n", &s));
	expect_eq(s.run_ns, 123456789012);
	expect_eq(s.wait_ns, 345);
	expect_eq(s.slices, 67);
	assert_false(proc_thread_sched_parse("1 2\n", &s));
	assert_false(proc_thread_sched_parse("", &s));
}

static void both_kinds_of_switches_are_distinguished(void **state)
{
	struct proc_thread_switches s;

	(void)state;
	assert_true(proc_thread_switches_parse("Name:\tx\nvoluntary_ctxt_switches:\t12\n"
	                                       "nonvoluntary_ctxt_switches:\t34\n",
	                                       &s));
	expect_eq(s.voluntary, 12);
	expect_eq(s.involuntary, 34);
	assert_false(proc_thread_switches_parse("Name:\tx\nvoluntary_ctxt_switches:\t12\n", &s));
}

static void the_cgroup_is_that_of_the_controller_cpu(void **state)
{
	const char *path;
	size_t len;

	(void)state;
	path = proc_thread_cgroup_parse("9:name=systemd:/a\n0::/b/c\n", &len);
	assert_non_null(path);
	expect_eq(len, 4);
	assert_memory_equal(path, "/b/c", 4);
	path = proc_thread_cgroup_parse("0::/b/c\n9:cpuset:/a\n4:cpuacct,cpu:/web\n3:pids:/x\n",
	                                &len);
	assert_non_null(path);
	expect_eq(len, 4);
	assert_memory_equal(path, "/web", 4);
	path = proc_thread_cgroup_parse("2:cpuset,cpuacct:/a\n0::/v2", &len);
	assert_non_null(path);
	expect_eq(len, 3);
	assert_memory_equal(path, "/v2", 3);
	assert_null(proc_thread_cgroup_parse("9:name=systemd:/a\n1:cpuset:/\n", &len));
	assert_null(proc_thread_cgroup_parse("cpu\n1:cpu\n:\n", &len));
	assert_null(proc_thread_cgroup_parse("", &len));
}

static void load_has_the_last_id(void **state)
{
	struct proc_load l;

	(void)state;
	assert_true(proc_load_parse("136.07 58.59 27.14 23/202 27214\n", &l));
	assert_true(l.load[0] > 136.06 && l.load[2] < 27.15);
	expect_eq(l.nr_threads, 202);
	expect_eq(l.last_pid, 27214);
	assert_false(proc_load_parse("136.07 58.59 27.14\n", &l));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_is_read_behind_the_last_bracket),
		cmocka_unit_test(real_time_and_deadline_have_low_numbers),
		cmocka_unit_test(text_that_ends_too_early_is_no_stat),
		cmocka_unit_test(schedstat_has_three_numbers),
		cmocka_unit_test(both_kinds_of_switches_are_distinguished),
		cmocka_unit_test(the_cgroup_is_that_of_the_controller_cpu),
		cmocka_unit_test(load_has_the_last_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
