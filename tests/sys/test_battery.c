#include "../unit.h"

#include <math.h>

#include "sys/sensors/battery.h"
#include "tree.h"

static void a_battery_has_its_level_and_what_is_left(void **state)
{
	struct batteries b;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_unpack(&t, "power/intel_laptop.txt");
	batteries_read(&(struct sensor_files){ .root = t.root }, &b);
	expect_eq(b.nr, 1); /* not the mains, not the mouse */
	assert_string_equal(b.items[0].name, "BAT0");
	assert_string_equal(b.items[0].status, "Discharging");
	assert_true(b.items[0].level == 0.73);
	assert_true(b.items[0].watts == 12.5);
	/* 36.5 Wh at 12.5 W. */
	assert_true(fabs(b.items[0].seconds_left - 36.5 / 12.5 * 3600) < 1e-6);
	tree_write(&t, "sys/class/power_supply/BAT0/time_to_empty_now", "600");
	batteries_read(&(struct sensor_files){ .root = t.root }, &b);
	assert_true(b.items[0].seconds_left == 600);
	tree_write(&t, "sys/class/power_supply/BAT0/status", "Charging");
	batteries_read(&(struct sensor_files){ .root = t.root }, &b);
	assert_true(isnan(b.items[0].seconds_left));
	tree_done(&t);
}

static void a_battery_may_count_charge_instead_of_energy(void **state)
{
	struct batteries b;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, "sys/class/power_supply/BAT1/type", "Battery");
	tree_write(&t, "sys/class/power_supply/BAT1/status", "Discharging");
	tree_write(&t, "sys/class/power_supply/BAT1/current_now", "-2000000");
	tree_write(&t, "sys/class/power_supply/BAT1/voltage_now", "8000000");
	tree_write(&t, "sys/class/power_supply/BAT1/charge_now", "1000000");
	batteries_read(&(struct sensor_files){ .root = t.root }, &b);
	assert_true(fabs(b.items[0].watts - 16) < 1e-9);
	assert_true(fabs(b.items[0].seconds_left - 1800) < 1e-6);
	assert_true(isnan(b.items[0].level));
	tree_done(&t);
}

static void none_is_none(void **state)
{
	struct batteries b;
	struct tree t;

	(void)state;
	tree_init(&t);
	batteries_read(&(struct sensor_files){ .root = t.root }, &b);
	expect_eq(b.nr, 0);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_battery_has_its_level_and_what_is_left),
		cmocka_unit_test(a_battery_may_count_charge_instead_of_energy),
		cmocka_unit_test(none_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
