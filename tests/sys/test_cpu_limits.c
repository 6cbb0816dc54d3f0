#include "../unit.h"

#include "sys/cpu_limits.h"
#include "tree.h"

static void limits_of_a_cpu_are_what_sysfs_says(void **state)
{
	struct cpu_limits l;
	struct tree t;

	(void)state;
	tree_init(&t);
	cpu_limits_read(t.root, 3, &l);
	expect_eq(l.min_khz, -1);
	expect_eq(l.llc_id, -1);
	tree_write(&t, "devices/system/cpu/cpu3/cpufreq/cpuinfo_min_freq", "400000\n");
	tree_write(&t, "devices/system/cpu/cpu3/cpufreq/cpuinfo_max_freq", "4700000\n");
	tree_write(&t, "devices/system/cpu/cpu3/cache/index0/level", "1\n");
	tree_write(&t, "devices/system/cpu/cpu3/cache/index0/id", "3\n");
	tree_write(&t, "devices/system/cpu/cpu3/cache/index3/level", "3\n");
	tree_write(&t, "devices/system/cpu/cpu3/cache/index3/id", "7\n");
	cpu_limits_read(t.root, 3, &l);
	expect_eq(l.min_khz, 400000);
	expect_eq(l.max_khz, 4700000);
	expect_eq(l.base_khz, -1);
	expect_eq(l.llc_id, 7);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_of_a_cpu_are_what_sysfs_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
