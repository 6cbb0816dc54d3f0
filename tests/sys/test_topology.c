#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/cpulist.h"
#include "sys/topology.h"
#include "tree.h"

static struct topology *read_tree(const struct tree *tree)
{
	struct topology *t = NULL;
	struct diag d = { 0 };

	expect_eq(topology_read(tree->root, &d, &t), 0);
	return t;
}

static struct topology *read_fixture(const char *name)
{
	struct tree tree;
	struct topology *t;

	tree_init(&tree);
	tree_unpack(&tree, name);
	t = read_tree(&tree);
	tree_done(&tree);
	return t;
}

enum field { LLC, CORE, THREAD, NODE, DIE, PACKAGE, TYPE };

static int32_t value(const struct topology_cpu *cpu, enum field field)
{
	const int32_t values[] = {
		[LLC] = cpu->llc,
		[CORE] = cpu->core,
		[THREAD] = cpu->thread,
		[NODE] = cpu->node,
		[DIE] = cpu->die,
		[PACKAGE] = cpu->package,
		[TYPE] = (int32_t)cpu->core_type,
	};

	return values[field];
}

/* One number per CPU id, from 0 on, as text: "0 0 1 1"; "." for a CPU that is not possible. */
static void expect_field(const struct topology *t, enum field field, const char *expected)
{
	char got[4096] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < topology_counts(t)->nr_cpu_ids; i++) {
		const struct topology_cpu *cpu = topology_cpu(t, i);
		const char *space = i ? " " : "";

		if (cpu)
			len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%d", space,
			                        value(cpu, field));
		else
			len += (size_t)snprintf(got + len, sizeof(got) - len, "%s.", space);
	}
	assert_string_equal(got, expected);
}

static void a_captured_arm64_machine(void **state)
{
	struct topology *t = read_fixture("topology/arm64_2cpu.txt");
	const struct topology_counts *c = topology_counts(t);

	(void)state;
	expect_eq(c->nr_possible, 2);
	expect_eq(c->nr_online, 2);
	expect_eq(c->nr_llcs, 1);
	expect_eq(c->nr_cores, 2);
	expect_eq(c->nr_packages, 1);
	expect_eq(c->nr_dies, 0);
	expect_eq(c->nr_nodes, 1);
	expect_field(t, LLC, "0 0");
	expect_field(t, DIE, "-1 -1");
	expect_field(t, TYPE, "0 0");
	expect_eq(topology_cpu(t, 0)->capacity, 1024);
	expect_eq(topology_llc_source(t), TOPOLOGY_LLC_CACHE);
	assert_null(topology_llc_note(t));
	assert_null(topology_cpu(t, 2));
	topology_free(t);
}

static void several_caches_in_one_die_are_distinguished(void **state)
{
	struct topology *t = read_fixture("topology/epyc.txt");
	const struct topology_counts *c = topology_counts(t);

	(void)state;
	expect_eq(c->nr_packages, 2);
	expect_eq(c->nr_dies, 2);
	expect_eq(c->nr_llcs, 4);
	expect_eq(c->nr_cores, 8);
	expect_field(t, LLC, "0 0 1 1 2 2 3 3 0 0 1 1 2 2 3 3");
	expect_field(t, DIE, "0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1");
	expect_field(t, CORE, "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7");
	expect_field(t, THREAD, "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1");
	expect_field(t, NODE, "0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1");
	expect_eq(topology_cpu(t, 4)->core_id, 0);
	expect_eq(topology_cpu(t, 4)->package_id, 1);
	expect_eq(topology_distance(t, 0, 1), 32);
	expect_eq(topology_distance(t, 1, 1), 10);
	topology_free(t);
}

static void hybrid_cores_have_types_and_gaps_in_their_ids(void **state)
{
	struct topology *t = read_fixture("topology/hybrid.txt");

	(void)state;
	expect_eq(topology_counts(t)->nr_cores, 8);
	expect_field(t, CORE, "0 0 1 1 2 3 4 5 6 7");
	expect_field(t, THREAD, "0 1 0 1 0 0 0 0 0 0");
	expect_field(t, LLC, "0 0 0 0 0 0 0 0 1 1");
	expect_field(t, TYPE, "1 1 1 1 3 3 3 3 4 4");
	expect_eq(topology_cpu(t, 2)->core_id, 4);
	topology_free(t);
}

static void capacities_give_core_types(void **state)
{
	struct topology *t = read_fixture("topology/capacity.txt");

	(void)state;
	expect_field(t, TYPE, "3 3 2 1");
	expect_eq(topology_cpu(t, 2)->capacity, 762);
	topology_free(t);
}

static void memory_without_cpus_is_a_node(void **state)
{
	struct topology *t = read_fixture("topology/cxl.txt");

	(void)state;
	expect_eq(topology_counts(t)->nr_nodes, 3);
	expect_eq(topology_node(t, 0)->nr_cpus, 2);
	expect_eq(topology_node(t, 2)->id, 3);
	expect_eq(topology_node(t, 2)->nr_cpus, 0);
	assert_null(topology_node(t, 3));
	expect_eq(topology_distance(t, 0, 3), 24);
	expect_eq(topology_distance(t, 3, 1), 14);
	expect_eq(topology_distance(t, 0, 2), -1);
	topology_free(t);
}

static void offline_cpus_and_gaps_stay_unknown(void **state)
{
	struct topology *t = read_fixture("topology/sparse.txt");
	const struct topology_counts *c = topology_counts(t);
	struct cpulist online = { 0 };
	uint32_t possible[64];

	(void)state;
	expect_eq(c->nr_cpu_ids, 64);
	expect_eq(c->nr_possible, 15);
	expect_eq(c->nr_online, 5);
	expect_eq(c->nr_llcs, 3);
	expect_eq(topology_cpu(t, 2)->llc, 0);
	expect_eq(topology_cpu(t, 8)->llc, 1);
	expect_eq(topology_cpu(t, 40)->llc, 2);
	expect_eq(topology_cpu(t, 40)->node, 1);
	assert_true(topology_cpu(t, 1)->is_present);
	assert_false(topology_cpu(t, 1)->is_online);
	expect_eq(topology_cpu(t, 1)->llc, -1);
	expect_eq(topology_cpu(t, 1)->node, -1);
	expect_eq(topology_node(t, 0)->nr_cpus, 4);
	assert_false(topology_cpu(t, 63)->is_present);
	assert_null(topology_cpu(t, 20));
	expect_eq(topology_possible(t, possible), 15);
	for (uint32_t i = 0; i < 15; i++) {
		assert_non_null(topology_cpu(t, possible[i]));
		assert_true(i == 0 || possible[i] > possible[i - 1]);
	}
	expect_eq(topology_online(t, &online), 0);
	expect_eq(online.nr, 5);
	assert_true(cpulist_has(&online, 40));
	assert_false(cpulist_has(&online, 1));
	cpulist_done(&online);
	topology_free(t);
}

static void four_threads_share_a_core(void **state)
{
	struct topology *t = read_fixture("topology/smt4.txt");

	(void)state;
	expect_eq(topology_counts(t)->nr_cores, 2);
	expect_field(t, CORE, "0 0 0 0 1 1 1 1");
	expect_field(t, THREAD, "0 1 2 3 0 1 2 3");
	expect_field(t, LLC, "0 0 0 0 1 1 1 1");
	topology_free(t);
}

static void dies_stand_in_for_hidden_caches(void **state)
{
	struct topology *t = read_fixture("topology/nocache.txt");

	(void)state;
	expect_eq(topology_llc_source(t), TOPOLOGY_LLC_DIE);
	assert_non_null(strstr(topology_llc_note(t), "dies stand for"));
	expect_field(t, LLC, "0 0 1 1 2 2 3 3");
	expect_field(t, NODE, "-1 -1 -1 -1 -1 -1 -1 -1");
	expect_eq(topology_counts(t)->nr_nodes, 0);
	expect_eq(topology_distance(t, 0, 0), -1);
	topology_free(t);
}

static void packages_stand_in_for_hidden_dies(void **state)
{
	struct topology *t = read_fixture("topology/nocache_nodie.txt");

	(void)state;
	expect_eq(topology_llc_source(t), TOPOLOGY_LLC_PACKAGE);
	assert_non_null(strstr(topology_llc_note(t), "packages stand for"));
	expect_field(t, LLC, "0 0 1 1");
	topology_free(t);
}

static void a_tree_of_cpu_numbers_alone_is_enough(void **state)
{
	struct tree tree;
	struct topology *t;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "devices/system/cpu/online", "0-2");
	t = read_tree(&tree);
	expect_eq(topology_counts(t)->nr_possible, 3);
	expect_eq(topology_counts(t)->nr_online, 3);
	expect_eq(topology_counts(t)->nr_llcs, 0);
	expect_eq(topology_llc_source(t), TOPOLOGY_LLC_UNKNOWN);
	assert_non_null(topology_llc_note(t));
	expect_field(t, LLC, "-1 -1 -1");
	topology_free(t);
	tree_done(&tree);
}

static void isolated_cpus_are_known(void **state)
{
	struct tree tree;
	struct topology *t;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "devices/system/cpu/online", "0-3");
	tree_write(&tree, "devices/system/cpu/isolated", "1,3");
	t = read_tree(&tree);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		expect_eq(topology_cpu(t, cpu)->is_isolated, cpu % 2);
	topology_free(t);
	tree_done(&tree);
}

static void broken_files_are_unknown_not_zero(void **state)
{
	struct tree tree;
	struct topology *t;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "devices/system/cpu/possible", "0-1");
	tree_write(&tree, "devices/system/cpu/cpu0/topology/core_id", "-1");
	tree_write(&tree, "devices/system/cpu/cpu0/topology/package_cpus_list", "nonsense");
	tree_write(&tree, "devices/system/cpu/cpu0/topology/core_cpus_list", "1");
	/* An L3 without its list: the L2 must not pass for the last level. */
	tree_write(&tree, "devices/system/cpu/cpu0/cache/index0/level", "2");
	tree_write(&tree, "devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0");
	tree_write(&tree, "devices/system/cpu/cpu0/cache/index1/level", "3");
	tree_write(&tree, "devices/system/node/online", "0");
	tree_write(&tree, "devices/system/node/node0/cpulist", "0-");
	tree_write(&tree, "devices/system/node/node0/distance", "near");
	t = read_tree(&tree);
	expect_eq(topology_cpu(t, 0)->core_id, -1);
	expect_eq(topology_cpu(t, 0)->package, -1);
	expect_eq(topology_cpu(t, 0)->core, -1);
	expect_eq(topology_cpu(t, 0)->thread, -1);
	expect_eq(topology_cpu(t, 0)->llc, -1);
	expect_eq(topology_cpu(t, 0)->node, -1);
	expect_eq(topology_distance(t, 0, 0), -1);
	topology_free(t);
	tree_done(&tree);
}

static void a_tree_without_cpus_is_an_error_with_a_hint(void **state)
{
	struct tree tree;
	struct topology *t = NULL;
	struct diag d = { 0 }, d2 = { 0 }, d3 = { 0 };

	(void)state;
	tree_init(&tree);
	expect_eq(topology_read(tree.root, &d, &t), -ENOENT);
	assert_non_null(strstr(d.what, "devices/system/cpu"));
	assert_string_equal(d.hint, "is sysfs mounted?");
	tree_mkdir(&tree, "devices/system/cpu");
	expect_eq(topology_read(tree.root, &d2, &t), -ENOENT);
	tree_write(&tree, "devices/system/cpu/online", "");
	expect_eq(topology_read(tree.root, &d3, &t), -EINVAL);
	assert_null(t);
	tree_done(&tree);
}

/* Four sockets, 64 cores with two threads, an L3 for eight cores. */
static void five_hundred_and_twelve_cpus(void **state)
{
	struct tree tree;
	struct topology *t;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "devices/system/cpu/possible", "0-511");
	tree_write(&tree, "devices/system/node/online", "0-3");
	for (int cpu = 0; cpu < 512; cpu++) {
		int first = cpu % 256;
		char path[128], list[64];

		snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/topology/core_cpus_list",
		         cpu);
		snprintf(list, sizeof(list), "%d,%d", first, first + 256);
		tree_write(&tree, path, list);
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/cache/index3/level", cpu);
		tree_write(&tree, path, "3");
		snprintf(path, sizeof(path),
		         "devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpu);
		first -= first % 8;
		snprintf(list, sizeof(list), "%d-%d,%d-%d", first, first + 7, first + 256,
		         first + 263);
		tree_write(&tree, path, list);
	}
	for (int node = 0; node < 4; node++) {
		char path[128], list[64];

		snprintf(path, sizeof(path), "devices/system/node/node%d/cpulist", node);
		snprintf(list, sizeof(list), "%d-%d,%d-%d", node * 64, node * 64 + 63,
		         node * 64 + 256, node * 64 + 319);
		tree_write(&tree, path, list);
	}
	t = read_tree(&tree);
	expect_eq(topology_counts(t)->nr_online, 512);
	expect_eq(topology_counts(t)->nr_cores, 256);
	expect_eq(topology_counts(t)->nr_llcs, 32);
	expect_eq(topology_counts(t)->nr_nodes, 4);
	expect_eq(topology_cpu(t, 511)->llc, 31);
	expect_eq(topology_cpu(t, 511)->core, 255);
	expect_eq(topology_cpu(t, 511)->thread, 1);
	expect_eq(topology_cpu(t, 300)->node, 0);
	expect_eq(topology_node(t, 3)->nr_cpus, 128);
	topology_free(t);
	tree_done(&tree);
}

static void tables_are_renumbered_by_their_lowest_cpu(void **state)
{
	struct topology_cpu cpus[3] = { topology_cpu_unknown, topology_cpu_unknown,
		                        topology_cpu_unknown };
	struct topology_table table = { .cpus = cpus, .nr_cpus = 3 };
	struct topology *t = NULL;
	struct diag d = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		cpus[i].is_possible = cpus[i].is_online = true;
	cpus[0].llc = 70;
	cpus[1].llc = 7;
	cpus[2].llc = 70;
	cpus[2].node = 5;
	expect_eq(topology_new(&table, &d, &t), 0);
	expect_field(t, LLC, "0 1 0");
	expect_field(t, NODE, "-1 -1 5");
	expect_eq(topology_node(t, 0)->id, 5);
	expect_eq(topology_distance(t, 5, 5), -1);
	topology_free(t);
	table.nr_cpus = CPULIST_MAX + 1;
	expect_eq(topology_new(&table, &d, &t), -E2BIG);
	topology_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_captured_arm64_machine),
		cmocka_unit_test(several_caches_in_one_die_are_distinguished),
		cmocka_unit_test(hybrid_cores_have_types_and_gaps_in_their_ids),
		cmocka_unit_test(capacities_give_core_types),
		cmocka_unit_test(memory_without_cpus_is_a_node),
		cmocka_unit_test(offline_cpus_and_gaps_stay_unknown),
		cmocka_unit_test(four_threads_share_a_core),
		cmocka_unit_test(dies_stand_in_for_hidden_caches),
		cmocka_unit_test(packages_stand_in_for_hidden_dies),
		cmocka_unit_test(a_tree_of_cpu_numbers_alone_is_enough),
		cmocka_unit_test(isolated_cpus_are_known),
		cmocka_unit_test(broken_files_are_unknown_not_zero),
		cmocka_unit_test(a_tree_without_cpus_is_an_error_with_a_hint),
		cmocka_unit_test(five_hundred_and_twelve_cpus),
		cmocka_unit_test(tables_are_renumbered_by_their_lowest_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
