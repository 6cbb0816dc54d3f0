/* Memory traffic as it comes into a machine, from a copy of resctrl's files. */
#include "../unit.h"

#include "machine_files.h"

#include <math.h>
#include <string.h>

#include "machine/machine_bandwidth.h"

#define FOLDER "sys/fs/resctrl/"
#define NEEDS  ((uint32_t)(MACHINE_CPUS | MACHINE_BANDWIDTH))

static void expect_near(double got, double want)
{
	if (!(fabs(got - want) < 1e-6))
		print_message("# %g is not %g\n", got, want);
	assert_true(fabs(got - want) < 1e-6);
}

static bool has_rows(const struct machine *m)
{
	return m->bandwidth && m->bandwidth->nr_llcs > 0;
}

static bool has_rates(const struct machine *m)
{
	return has_rows(m) && !isnan(m->bandwidth->llcs[0].values[BANDWIDTH_TOTAL]);
}

static bool has_reason(const struct machine *m)
{
	return m->bandwidth->reason && !strstr(m->bandwidth->reason, "being read");
}

static void start(struct machine_files *f)
{
	machine_files_init(f, "0-3", "power/resctrl.txt");
	tree_write(&f->t, FOLDER "info/L3_MON/mon_features",
	           "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes");
	machine_files_open(f);
}

static void caches_and_nodes_have_what_all_groups_moved(void **state)
{
	const struct machine_bandwidth *b;
	struct machine_files f;

	(void)state;
	start(&f);
	b = machine_files_until(&f, NEEDS, has_rows)->bandwidth;
	assert_null(b->reason);
	assert_true(isnan(b->llcs[0].values[BANDWIDTH_LOCAL])); /* no interval yet */
	expect_near(b->llcs[0].values[BANDWIDTH_OCCUPANCY], 4194304 + 65536);
	tree_write(&f.t, FOLDER "mon_data/mon_L3_08/mbm_local_bytes", "5000000");
	tree_write(&f.t, FOLDER "mon_data/mon_L3_08/mbm_total_bytes", "13000000");
	tree_write(&f.t, FOLDER "batch/mon_data/mon_L3_08/mbm_local_bytes", "1100");
	tree_write(&f.t, FOLDER "batch/mon_data/mon_L3_08/mbm_total_bytes", "2200");
	tree_write(&f.t, FOLDER "mon_data/mon_L3_09/mbm_local_bytes", "300"); /* 400 more */
	tree_write(&f.t, FOLDER "mon_data/mon_L3_09/mbm_total_bytes", "900"); /* 400 more */
	machine_files_pass(2);
	b = machine_files_until(&f, NEEDS, has_rates)->bandwidth;
	expect_eq(b->nr_llcs, 2);
	expect_eq(b->nr_groups, 2);
	expect_eq(b->llcs[0].id, 0); /* the kernel's 8 */
	expect_near(b->llcs[0].values[BANDWIDTH_LOCAL], 2000000 + 500);
	expect_near(b->llcs[0].values[BANDWIDTH_TOTAL], 5000000 + 1000);
	expect_near(b->llcs[0].values[BANDWIDTH_REMOTE], 3000500);
	expect_eq(b->llcs[1].id, 1);
	expect_near(b->llcs[1].values[BANDWIDTH_LOCAL], 200); /* across the end of 64 bits */
	expect_near(b->llcs[1].values[BANDWIDTH_TOTAL], 200);
	expect_near(b->llcs[1].values[BANDWIDTH_REMOTE], 0);
	expect_eq(b->nr_nodes, 2);
	expect_near(b->nodes[0].values[BANDWIDTH_TOTAL], 5001000);
	expect_near(b->nodes[1].values[BANDWIDTH_OCCUPANCY], 1048576);
	expect_eq(b->llcs[0].histories[BANDWIDTH_TOTAL].nr, 1);
	expect_eq(b->llcs[0].histories[BANDWIDTH_OCCUPANCY].nr, 2);
	assert_non_null(strstr(b->note, "3 counts are not available"));
	machine_files_done(&f);
}

static void a_counter_that_was_set_back_has_no_rate(void **state)
{
	const struct machine_bandwidth *b;
	struct machine_files f;

	(void)state;
	start(&f);
	machine_files_until(&f, NEEDS, has_rows);
	tree_write(&f.t, FOLDER "mon_data/mon_L3_08/mbm_local_bytes", "0");
	machine_files_pass(1);
	b = machine_files_until(&f, NEEDS, has_rates)->bandwidth;
	/* That of the other group is left: nothing was moved there. */
	expect_near(b->llcs[0].values[BANDWIDTH_LOCAL], 0);
	machine_files_done(&f);
}

static void what_is_missing_has_a_remedy(void **state)
{
	struct machine_files f;
	const struct machine *m;

	(void)state;
	machine_files_init(&f, "0-1", NULL);
	machine_files_open(&f);
	m = machine_files_until(&f, NEEDS, has_reason);
	assert_non_null(strstr(m->bandwidth->reason, "needs a CPU"));
	m = machine_files_refresh(&f, MACHINE_CPUS);
	assert_null(m->bandwidth);
	tree_write(&f.t, "proc/filesystems", "nodev\tproc\nnodev\tresctrl");
	machine_files_pass(5);
	m = machine_files_until(&f, NEEDS, has_reason);
	assert_non_null(strstr(m->bandwidth->reason, "mount -t resctrl resctrl /sys/fs/resctrl"));
	tree_mkdir(&f.t, FOLDER "info");
	machine_files_refresh(&f, MACHINE_CPUS);
	machine_files_pass(5);
	m = machine_files_until(&f, NEEDS, has_reason);
	assert_non_null(strstr(m->bandwidth->reason, "counts no memory traffic"));
	machine_files_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches_and_nodes_have_what_all_groups_moved),
		cmocka_unit_test(a_counter_that_was_set_back_has_no_rate),
		cmocka_unit_test(what_is_missing_has_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
