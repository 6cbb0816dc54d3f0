#include "../unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sensors/rapl.h"
#include "tree.h"

struct reads {
	uint32_t energy, all;
};

static bool count_read(void *ctx, const char *path)
{
	struct reads *r = ctx;

	r->all++;
	r->energy += strstr(path, "energy_uj") != NULL;
	return true;
}

static struct rapl *read_tree(const struct tree *t, struct reads *reads)
{
	struct sensor_files f = { .root = t->root, .may_read = reads ? count_read : NULL };
	struct rapl *r = calloc(1, sizeof(*r));

	f.ctx = reads;
	assert_non_null(r);
	rapl_read(&f, r);
	return r;
}

static struct rapl *read_fixture(const char *name, struct tree *t, struct reads *reads)
{
	tree_init(t);
	tree_unpack(t, name);
	return read_tree(t, reads);
}

static void zones_are_what_their_names_say(void **state)
{
	struct tree t;
	struct rapl *r = read_fixture("power/intel_laptop.txt", &t, NULL);
	const struct rapl_zone *package = rapl_find(r, "intel-rapl:0");

	(void)state;
	expect_eq(r->nr, 4);
	assert_non_null(package);
	expect_eq(package->kind, RAPL_PACKAGE);
	expect_eq(package->package, 0);
	expect_eq(package->energy_uj, 1000000000);
	assert_true(package->limit_watts == 28 && package->short_limit_watts == 64);
	assert_true(package->most_watts == 28);
	expect_eq(rapl_find(r, "intel-rapl:0:0")->kind, RAPL_CORES);
	expect_eq(rapl_find(r, "intel-rapl:0:1")->kind, RAPL_UNCORE);
	expect_eq(rapl_find(r, "intel-rapl:0:1")->package, 0);
	assert_true(isnan(rapl_find(r, "intel-rapl:0:1")->limit_watts));
	expect_eq(rapl_find(r, "intel-rapl:1")->kind, RAPL_PLATFORM);
	assert_int_equal(rapl_find(r, "intel-rapl:1")->package, -1);
	assert_false(r->has_single_cores);
	free(r);
	tree_done(&t);
}

/* The package's energy once more, by another way: it would be counted twice. */
static void the_same_package_by_mmio_is_left_out(void **state)
{
	struct tree t;
	struct rapl *r = read_fixture("power/intel_laptop.txt", &t, NULL);

	(void)state;
	assert_null(rapl_find(r, "intel-rapl-mmio:0"));
	free(r);
	tree_done(&t);
	tree_init(&t);
	tree_write(&t, "sys/class/powercap/intel-rapl-mmio:0/name", "package-0");
	tree_write(&t, "sys/class/powercap/intel-rapl-mmio:0/energy_uj", "5");
	r = read_tree(&t, NULL);
	expect_eq(r->nr, 1); /* where it is the only one, it counts */
	free(r);
	tree_done(&t);
}

static void each_counter_is_read_once(void **state)
{
	struct reads reads = { 0 };
	struct tree t;
	struct rapl *r = read_fixture("power/amd_server.txt", &t, &reads);

	(void)state;
	expect_eq(r->nr, 4);
	expect_eq(reads.energy, 4); /* not once per CPU, of which there are seven */
	free(r);
	tree_done(&t);
}

static void on_amd_a_core_zone_is_a_single_core(void **state)
{
	struct tree t;
	struct rapl *r = read_fixture("power/amd_server.txt", &t, NULL);

	(void)state;
	assert_true(r->has_single_cores);
	expect_eq(rapl_find(r, "intel-rapl:1:0")->package, 1);
	free(r);
	tree_done(&t);
}

static void watts_are_what_was_used_over_the_time(void **state)
{
	struct rapl_zone before = { .energy_uj = 1000000, .range_uj = 10000000 };
	struct rapl_zone now = { .energy_uj = 4000000, .range_uj = 10000000 };

	(void)state;
	assert_true(rapl_watts(&before, &now, 2) == 1.5);
	assert_true(rapl_watts(&before, &now, 0.5) == 6);
	assert_true(isnan(rapl_watts(&before, &now, 0)));
	assert_true(isnan(rapl_watts(NULL, &now, 1)));
	before.energy_uj = 9000000; /* a million to the end, four from the start */
	assert_true(rapl_watts(&before, &now, 1) == 5);
	now.range_uj = 0;
	assert_true(isnan(rapl_watts(&before, &now, 1)));
	now.energy_err = -EACCES;
	assert_true(isnan(rapl_watts(&before, &now, 1)));
}

static void what_cannot_be_read_is_no_zero(void **state)
{
	struct rapl *r;
	struct tree t;

	(void)state;
	tree_init(&t);
	r = read_tree(&t, NULL);
	expect_eq(r->nr, 0);
	free(r);
	tree_write(&t, "sys/class/powercap/intel-rapl:0/name", "package-0-die-1");
	tree_write(&t, "sys/class/powercap/intel-rapl:0:0/name", "dram");
	tree_write(&t, "sys/class/powercap/intel-rapl:0:0/energy_uj", "-7");
	tree_write(&t, "sys/class/powercap/intel-rapl:7:0/name", "core"); /* of nothing */
	r = read_tree(&t, NULL);
	expect_eq(r->nr, 2);
	expect_eq(r->zones[0].package, 0);
	assert_int_equal(r->zones[0].energy_err, -ENOENT);
	assert_int_equal(r->zones[1].energy_err, -EINVAL);
	expect_eq(r->zones[1].kind, RAPL_DRAM);
	free(r);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_are_what_their_names_say),
		cmocka_unit_test(the_same_package_by_mmio_is_left_out),
		cmocka_unit_test(each_counter_is_read_once),
		cmocka_unit_test(on_amd_a_core_zone_is_a_single_core),
		cmocka_unit_test(watts_are_what_was_used_over_the_time),
		cmocka_unit_test(what_cannot_be_read_is_no_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
