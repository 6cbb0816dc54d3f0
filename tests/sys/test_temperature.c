#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sensors/temperature.h"
#include "tree.h"

static struct temperatures *read_tree(const struct tree *t)
{
	struct sensor_files f = { .root = t->root };
	struct temperatures *out = calloc(1, sizeof(*out));

	assert_non_null(out);
	temperatures_read(&f, out);
	return out;
}

static void coretemp_names_package_and_cores(void **state)
{
	struct temperatures *r;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/intel_laptop.txt");
	r = read_tree(&t);
	expect_eq(r->nr, 5); /* not that of the disk */
	for (size_t i = 0; i < r->nr; i++) {
		expect_eq(r->items[i].package_id, 0);
		assert_true(r->items[i].critical == 100);
	}
	assert_int_equal(r->items[0].core_id, -1);
	assert_true(r->items[0].celsius == 61);
	assert_int_equal(r->items[4].core_id, 12); /* its files are called temp14 */
	assert_true(r->items[4].celsius == 53);
	free(r);
	tree_done(&t);
}

static void chips_of_packages_are_counted(void **state)
{
	struct temperatures *r;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/amd_server.txt");
	r = read_tree(&t);
	expect_eq(r->nr, 4);
	assert_string_equal(r->items[2].label, "Tctl");
	assert_true(r->items[2].celsius == 55.125);
	assert_int_equal(r->items[0].chip_nr, 0);
	assert_int_equal(r->items[2].chip_nr, 1);
	assert_int_equal(r->items[2].package_id, -1); /* it does not tell */
	assert_true(isnan(r->items[2].critical));
	free(r);
	tree_done(&t);
}

static void zones_stand_in_where_there_is_no_chip(void **state)
{
	struct temperatures *r;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, "sys/class/thermal/thermal_zone0/type", "battery");
	tree_write(&t, "sys/class/thermal/thermal_zone0/temp", "30000");
	tree_write(&t, "sys/class/thermal/thermal_zone10/type", "cpu-1-thermal");
	tree_write(&t, "sys/class/thermal/thermal_zone10/temp", "-5500");
	tree_write(&t, "sys/class/thermal/thermal_zone2/type", "cpu-0-thermal");
	tree_write(&t, "sys/class/thermal/thermal_zone2/temp", "44000");
	tree_write(&t, "sys/class/thermal/thermal_zone3/type", "cpu-2-thermal");
	tree_write(&t, "sys/class/thermal/thermal_zone3/temp", "hot");
	r = read_tree(&t);
	expect_eq(r->nr, 2);
	assert_string_equal(r->items[0].label, "cpu-0-thermal");
	assert_true(r->items[1].celsius == -5.5);
	free(r);
	tree_done(&t);
}

static void no_sensor_is_no_temperature(void **state)
{
	struct temperatures *r;
	struct tree t;

	(void)state;
	tree_init(&t);
	r = read_tree(&t);
	expect_eq(r->nr, 0);
	free(r);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coretemp_names_package_and_cores),
		cmocka_unit_test(chips_of_packages_are_counted),
		cmocka_unit_test(zones_stand_in_where_there_is_no_chip),
		cmocka_unit_test(no_sensor_is_no_temperature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
