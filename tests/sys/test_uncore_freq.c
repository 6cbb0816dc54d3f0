#include "../unit.h"

#include <math.h>

#include "sys/sensors/uncore_freq.h"
#include "tree.h"

#define FOLDER "sys/devices/system/cpu/intel_uncore_frequency/"

/* The peer added it once for each CPU of the package. */
static void a_package_has_the_mean_of_its_dies(void **state)
{
	struct uncore_freqs u;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, FOLDER "package_00_die_00/current_freq_khz", "2400000");
	tree_write(&t, FOLDER "package_00_die_01/current_freq_khz", "1600000");
	tree_write(&t, FOLDER "package_01_die_00/current_freq_khz", "800000");
	tree_write(&t, FOLDER "package_01_die_01/max_freq_khz", "9000000");
	uncore_freqs_read(&(struct sensor_files){ .root = t.root }, &u);
	expect_eq(u.nr, 3);
	assert_true(uncore_freqs_mhz(&u, 0) == 2000);
	assert_true(uncore_freqs_mhz(&u, 1) == 800);
	assert_true(isnan(uncore_freqs_mhz(&u, 2)));
	tree_done(&t);
}

static void clusters_have_their_package_in_a_file(void **state)
{
	struct uncore_freqs u;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, FOLDER "uncore00/package_id", "1");
	tree_write(&t, FOLDER "uncore00/current_freq_khz", "1000000");
	tree_write(&t, FOLDER "uncore01/package_id", "1");
	tree_write(&t, FOLDER "uncore01/current_freq_khz", "2000000");
	tree_write(&t, FOLDER "package_01_die_00/max_freq_khz", "2000000");
	uncore_freqs_read(&(struct sensor_files){ .root = t.root }, &u);
	assert_true(uncore_freqs_mhz(&u, 1) == 1500);
	assert_true(isnan(uncore_freqs_mhz(&u, 0)));
	tree_done(&t);
}

static void no_driver_no_frequency(void **state)
{
	struct uncore_freqs u;
	struct tree t;

	(void)state;
	tree_init(&t);
	uncore_freqs_read(&(struct sensor_files){ .root = t.root }, &u);
	expect_eq(u.nr, 0);
	assert_true(isnan(uncore_freqs_mhz(&u, 0)));
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_package_has_the_mean_of_its_dies),
		cmocka_unit_test(clusters_have_their_package_in_a_file),
		cmocka_unit_test(no_driver_no_frequency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
