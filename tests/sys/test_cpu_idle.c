#include "../unit.h"

#include <string.h>

#include "sys/sensors/cpu_idle.h"
#include "tree.h"

static void cpus_may_have_any_numbers(void **state)
{
	struct cpu_idles c;
	struct tree t;
	const struct cpu_idle *last;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/amd_server.txt");
	expect_eq(cpu_idles_read(&(struct sensor_files){ .root = t.root }, true, &c), 0);
	expect_eq(c.nr, 7);
	assert_null(cpu_idles_find(&c, 2)); /* offline */
	last = cpu_idles_find(&c, 303);
	assert_non_null(last);
	expect_eq(last->package_id, 1);
	expect_eq(last->core_id, 3);
	expect_eq(last->nr_states, 3);
	assert_string_equal(last->states[2].name, "C2");
	expect_eq(last->states[2].latency_us, 800);
	expect_eq(last->states[2].entries, 2000);
	expect_eq(last->states[2].time_us, 5000000);
	assert_false(last->has_throttles);
	cpu_idles_done(&c);
	tree_done(&t);
}

static void one_cpu_is_a_list_as_well(void **state)
{
	struct cpu_idles c;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, "sys/devices/system/cpu/online", "0");
	expect_eq(cpu_idles_read(&(struct sensor_files){ .root = t.root }, true, &c), 0);
	expect_eq(c.nr, 1);
	expect_eq(c.cpus[0].nr_states, 0);
	cpu_idles_done(&c);
	tree_done(&t);
}

static void throttles_are_those_that_the_hardware_counts(void **state)
{
	struct cpu_idles c;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/intel_laptop.txt");
	expect_eq(cpu_idles_read(&(struct sensor_files){ .root = t.root }, true, &c), 0);
	expect_eq(c.nr, 8);
	assert_true(c.cpus[7].has_throttles && c.cpus[7].has_throttled_ms);
	expect_eq(c.cpus[7].core_throttles, 5);
	expect_eq(c.cpus[7].package_throttles, 7);
	expect_eq(c.cpus[7].core_throttled_ms, 40);
	expect_eq(c.cpus[7].package_throttled_ms, 100);
	cpu_idles_done(&c);
	tree_done(&t);
}

static void without_a_list_there_are_none(void **state)
{
	struct cpu_idles c;
	struct tree t;

	(void)state;
	tree_init(&t);
	expect_eq(cpu_idles_read(&(struct sensor_files){ .root = t.root }, true, &c), 0);
	expect_eq(c.nr, 0);
	assert_null(cpu_idles_find(&c, 0));
	cpu_idles_done(&c);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_may_have_any_numbers),
		cmocka_unit_test(one_cpu_is_a_list_as_well),
		cmocka_unit_test(throttles_are_those_that_the_hardware_counts),
		cmocka_unit_test(without_a_list_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
