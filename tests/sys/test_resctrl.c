#include "../unit.h"

#include <math.h>
#include <stdint.h>

#include "sys/sensors/resctrl.h"
#include "tree.h"

static void put_features(const struct tree *t)
{
	tree_write(t, "sys/fs/resctrl/info/L3_MON/mon_features",
	           "llc_occupancy\nmbm_total_bytes\nmbm_total_bytes_config\nmbm_local_bytes");
}

static void groups_of_control_are_counted_in_each_cache(void **state)
{
	const struct resctrl_row *row;
	struct resctrl r;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/resctrl.txt");
	put_features(&t);
	expect_eq(resctrl_read(&(struct sensor_files){ .root = t.root }, &r), 0);
	assert_true(r.is_mounted);
	assert_true(r.has[RESCTRL_LOCAL] && r.has[RESCTRL_TOTAL] && r.has[RESCTRL_OCCUPANCY]);
	expect_eq(r.nr_groups, 2); /* monitoring groups are within */
	expect_eq(r.nr, 4);
	row = resctrl_find(&r, "", 8);
	assert_non_null(row);
	expect_eq(row->bytes[RESCTRL_LOCAL], 1000000);
	expect_eq(row->bytes[RESCTRL_TOTAL], 3000000);
	expect_eq(row->bytes[RESCTRL_OCCUPANCY], 4194304);
	row = resctrl_find(&r, "batch", 9);
	assert_non_null(row);
	for (int i = 0; i < RESCTRL_COUNTS; i++)
		assert_false(row->is_known[i]);
	expect_eq(r.nr_absent, 3);
	assert_null(resctrl_find(&r, "batch", 7));
	resctrl_done(&r);
	tree_done(&t);
}

static void only_what_the_hardware_counts_is_read(void **state)
{
	struct resctrl r;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/resctrl.txt");
	tree_write(&t, "sys/fs/resctrl/info/L3_MON/mon_features", "mbm_total_bytes_config");
	expect_eq(resctrl_read(&(struct sensor_files){ .root = t.root }, &r), 0);
	assert_false(r.has[RESCTRL_TOTAL]);
	expect_eq(r.nr_absent, 0);
	resctrl_done(&r);
	tree_done(&t);
}

static void not_mounted_is_distinguished_from_nothing_counted(void **state)
{
	struct resctrl r;
	struct tree t;

	(void)state;
	tree_init(&t);
	expect_eq(resctrl_read(&(struct sensor_files){ .root = t.root }, &r), 0);
	assert_false(r.is_mounted);
	resctrl_done(&r);
	tree_mkdir(&t, "sys/fs/resctrl"); /* as it is without the mount */
	expect_eq(resctrl_read(&(struct sensor_files){ .root = t.root }, &r), 0);
	assert_false(r.is_mounted);
	resctrl_done(&r);
	tree_mkdir(&t, "sys/fs/resctrl/info");
	expect_eq(resctrl_read(&(struct sensor_files){ .root = t.root }, &r), 0);
	assert_true(r.is_mounted);
	expect_eq(r.nr, 0);
	resctrl_done(&r);
	tree_done(&t);
}

static void rates_survive_the_end_of_a_counter(void **state)
{
	(void)state;
	assert_true(resctrl_rate(1000, 2000, 1) == 1000);
	assert_true(resctrl_rate(1000, 2000, 0.25) == 4000);
	assert_true(isnan(resctrl_rate(1000, 2000, 0)));
	assert_true(resctrl_rate(UINT64_MAX - 99, UINT64_MAX, 1) == 99);
	assert_true(resctrl_rate(UINT64_MAX, 0, 1) == 1);
	assert_true(isnan(resctrl_rate(5000000000, 0, 1))); /* set back */
}

static void domains_are_the_ids_of_caches(void **state)
{
	struct tree t;
	struct sensor_files f = { .root = t.root };

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/resctrl.txt");
	assert_int_equal(resctrl_domain_of(&f, 1), 8);
	assert_int_equal(resctrl_domain_of(&f, 2), 9);
	assert_int_equal(resctrl_domain_of(&f, 9), -1);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_control_are_counted_in_each_cache),
		cmocka_unit_test(only_what_the_hardware_counts_is_read),
		cmocka_unit_test(not_mounted_is_distinguished_from_nothing_counted),
		cmocka_unit_test(rates_survive_the_end_of_a_counter),
		cmocka_unit_test(domains_are_the_ids_of_caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
