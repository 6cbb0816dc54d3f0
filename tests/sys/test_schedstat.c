#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sys/proc/schedstat.h"
#include "tree.h"

static struct schedstat *parse(const char *text)
{
	struct schedstat *s = NULL;
	struct diag d = { 0 };

	expect_eq(schedstat_parse(text, strlen(text), &d, &s), 0);
	return s;
}

static struct schedstat *read_fixture(const char *name)
{
	char *text = fixture_read(name);
	struct schedstat *s = parse(text);

	free(text);
	return s;
}

static struct schedstat *delta(const char *from, const char *to)
{
	struct schedstat *a = parse(from), *b = parse(to), *result = NULL;
	struct diag d = { 0 };

	expect_eq(schedstat_delta(a, b, &d, &result), 0);
	schedstat_free(a);
	schedstat_free(b);
	return result;
}

static uint32_t field_of(const char *name)
{
	for (uint32_t i = 0; schedstat_domain_field_name(i); i++)
		if (!strcmp(schedstat_domain_field_name(i), name))
			return i;
	fail_msg("no field '%s'", name);
	return 0;
}

static void expect_field(const struct schedstat_domain *domain, const char *name, uint64_t value)
{
	uint32_t field = field_of(name);

	assert_true(domain->present >> field & 1);
	expect_eq(domain->values[field], value);
}

static void expect_absent(const struct schedstat_domain *domain, const char *name)
{
	assert_false(domain->present >> field_of(name) & 1);
}

/* In the fixtures idle fields count from 100, not_idle from 200, newly_idle from 300, others from 400. */
static void check_common(const struct schedstat *s)
{
	const struct schedstat_domain *domain = &s->domains[0];

	expect_eq(s->nr_cpus, 2);
	expect_eq(s->nr_domains, 4);
	expect_eq(s->cpus[1].first_domain, 2);
	expect_eq(s->cpus[1].nr_domains, 2);
	expect_eq(s->domains[3].level, 1);
	expect_field(domain, "lb_count_idle", 100);
	expect_field(domain, "lb_balance_idle", 101);
	expect_field(domain, "lb_failed_idle", 102);
	expect_field(domain, "lb_count_not_idle", 200);
	expect_field(domain, "lb_count_newly_idle", 300);
	expect_field(domain, "alb_count", 400);
	expect_field(domain, "ttwu_wake_remote", 409);
	expect_field(domain, "ttwu_move_balance", 411);
	expect_field(&s->domains[3], "lb_count_not_idle", 11200);
}

static void version_15_starts_with_idle(void **state)
{
	struct schedstat *s = read_fixture("schedstat/v15.txt");

	(void)state;
	expect_eq(s->version, 15);
	check_common(s);
	assert_string_equal(s->domains[1].name, "domain1");
	expect_field(&s->domains[0], "lb_imbalance_idle", 103);
	expect_field(&s->domains[0], "lb_nobusyg_not_idle", 207);
	expect_absent(&s->domains[0], "lb_imbalance_load_idle");
	expect_eq(__builtin_popcountll(s->domains[0].present), 36);
	schedstat_free(s);
}

static void version_16_starts_with_not_idle(void **state)
{
	struct schedstat *s = read_fixture("schedstat/v16.txt");

	(void)state;
	expect_eq(s->version, 16);
	check_common(s);
	expect_field(&s->domains[0], "lb_gained_newly_idle", 304);
	expect_eq(__builtin_popcountll(s->domains[0].present), 36);
	schedstat_free(s);
}

static void version_17_names_domains_and_splits_the_imbalance(void **state)
{
	struct schedstat *s = read_fixture("schedstat/v17.txt");

	(void)state;
	expect_eq(s->version, 17);
	check_common(s);
	assert_string_equal(s->domains[0].name, "MC");
	assert_string_equal(s->domains[1].name, "PKG");
	expect_field(&s->domains[0], "lb_imbalance_load_idle", 103);
	expect_field(&s->domains[0], "lb_imbalance_misfit_idle", 106);
	expect_field(&s->domains[0], "lb_nobusyg_newly_idle", 310);
	expect_absent(&s->domains[0], "lb_imbalance_idle");
	expect_eq(__builtin_popcountll(s->domains[0].present), 45);
	schedstat_free(s);
}

static void nine_cpu_fields_have_their_right_places(void **state)
{
	/* yld_count, array_exp, sched_count, sched_goidle, ttwu_count, ttwu_local, rq_cpu_time, run_delay, pcount */
	static const uint64_t expected[] = { 11, 0, 33, 44, 55, 66, 7000000, 8000000, 40 };
	struct schedstat *s = read_fixture("schedstat/v15.txt");

	(void)state;
	expect_eq(s->cpus[0].present, 0x1ff);
	for (uint32_t i = 0; i < SCHEDSTAT_CPU_FIELDS; i++)
		expect_eq(s->cpus[0].values[i], expected[i]);
	schedstat_free(s);
}

/* Distributions move features between versions: the name is found by its form. */
static void a_name_is_detected_in_any_version(void **state)
{
	struct schedstat *s = parse("version 15\ncpu0 1\ndomain0 SMT ff 7 8\n");

	(void)state;
	assert_string_equal(s->domains[0].name, "SMT");
	expect_field(&s->domains[0], "lb_count_idle", 7);
	schedstat_free(s);
}

static void missing_fields_are_absent_and_extra_ones_ignored(void **state)
{
	struct schedstat *s = parse("version 17\n"
	                            "timestamp 1\n"
	                            "cpu0 1 0 x 4\n"
	                            "domain0 MC 3 1 2\n"
	                            "a line of the future\n"
	                            "cpu7 1 2 3 4 5 6 7 8 9 10 11\n"
	                            "domain0");

	(void)state;
	expect_eq(s->cpus[0].present, 0xb);
	expect_eq(s->cpus[1].cpu, 7);
	expect_eq(s->cpus[1].present, 0x1ff);
	expect_eq(s->cpus[1].values[SCHEDSTAT_PCOUNT], 9);
	expect_eq(__builtin_popcountll(s->domains[0].present), 2);
	expect_eq(s->domains[1].present, 0);
	schedstat_free(s);
}

static void text_that_is_no_schedstat_is_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *what;
	} bad[] = {
		{ "", -EINVAL, "do not start with their version" },
		{ "cpu0 1 2 3\n", -EINVAL, "do not start with their version" },
		{ "version x\n", -EINVAL, "do not start with their version" },
		{ "version 14\n", -ENOTSUP, "version 14 of the scheduler statistics is not known" },
		{ "version 18\n", -ENOTSUP, "version 18 of the scheduler statistics is not known" },
		{ "version 15\ndomain0 3 1\n", -EINVAL, "domain 0 out of place" },
		{ "version 15\ncpu0\ndomain64 3 1\n", -EINVAL, "domain 64 out of place" },
		{ "version 15\ncpu1\ncpu1\n", -EINVAL, "CPU 1 out of order" },
		{ "version 15\ncpu65536\n", -EINVAL, "CPU 65536 out of order" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct schedstat *s = NULL;
		struct diag d = { 0 };

		expect_eq(schedstat_parse(bad[i].text, strlen(bad[i].text), &d, &s), bad[i].code);
		assert_non_null(strstr(d.what, bad[i].what));
		assert_null(s);
	}
}

static void the_end_of_the_text_is_respected(void **state)
{
	struct schedstat *s = NULL;

	(void)state;
	expect_eq(schedstat_parse("version 15\ncpu0 12345", strlen("version 15\ncpu0 12"), NULL,
	                          &s),
	          0);
	expect_eq(s->cpus[0].values[0], 12);
	schedstat_free(s);
}

static void differences_are_per_cpu_and_domain(void **state)
{
	struct schedstat *s =
		delta("version 17\ncpu0 1 0 10\ndomain0 MC 3 5\ncpu1 1 0 20\ndomain0 MC 3 7\n",
	              "version 17\ncpu0 4 0 10\ndomain0 MC 3 9\ncpu1 1 0 25\ndomain0 MC 3 7\n");

	(void)state;
	expect_eq(s->nr_cpus, 2);
	expect_eq(s->nr_skipped, 0);
	expect_eq(s->cpus[0].values[SCHEDSTAT_YLD_COUNT], 3);
	expect_eq(s->cpus[0].values[SCHEDSTAT_SCHED_COUNT], 0);
	expect_eq(s->cpus[1].values[SCHEDSTAT_SCHED_COUNT], 5);
	expect_eq(s->cpus[0].present, 7);
	expect_field(&s->domains[0], "lb_count_not_idle", 4);
	expect_field(&s->domains[1], "lb_count_not_idle", 0);
	expect_absent(&s->domains[0], "lb_failed_not_idle");
	schedstat_free(s);
}

static void counters_that_wrap_at_32_bits_are_corrected(void **state)
{
	struct schedstat *s = delta("version 15\ncpu0 4294967290 0 1\ndomain0 3 4294967295\n",
	                            "version 15\ncpu0 4 0 1\ndomain0 3 1\n");

	(void)state;
	expect_eq(s->cpus[0].values[SCHEDSTAT_YLD_COUNT], 10);
	expect_field(&s->domains[0], "lb_count_idle", 2);
	schedstat_free(s);
}

/* When domains are rebuilt, as hotplug makes the kernel do, they count from 0 again. */
static void counters_that_start_again_count_from_zero(void **state)
{
	struct schedstat *s = delta("version 15\ncpu0 1\ndomain0 3 5000\n",
	                            "version 15\ncpu0 1\ndomain0 3 17\n");

	(void)state;
	expect_field(&s->domains[0], "lb_count_idle", 17);
	schedstat_free(s);
}

static void wide_counters_that_go_backwards_are_absent(void **state)
{
	struct schedstat *s =
		delta("version 15\ncpu0 0 0 0 0 0 0 900 100 50\ndomain0 3 5000000000\n",
	              "version 15\ncpu0 0 0 0 0 0 0 800 150 60\ndomain0 3 1\n");

	(void)state;
	assert_false(s->cpus[0].present >> SCHEDSTAT_RQ_CPU_TIME & 1);
	expect_eq(s->cpus[0].values[SCHEDSTAT_RUN_DELAY], 50);
	expect_absent(&s->domains[0], "lb_count_idle");
	schedstat_free(s);
}

static void cpus_and_domains_of_one_side_are_skipped(void **state)
{
	struct schedstat *s = delta("version 17\n"
	                            "cpu0 1\ndomain0 SMT 3 1\ndomain1 MC f 1\n"
	                            "cpu1 1\n"
	                            "cpu3 1\ndomain0 MC f 10\n",
	                            "version 17\n"
	                            "cpu0 2\ndomain0 MC f 100\ndomain1 MC f 3\n"
	                            "cpu2 5\n"
	                            "cpu3 4\ndomain0 MC f 12\n"
	                            "cpu4 1\n");

	(void)state;
	expect_eq(s->nr_cpus, 2);
	expect_eq(s->cpus[1].cpu, 3);
	expect_eq(s->cpus[1].values[0], 3);
	expect_eq(s->nr_domains, 2);
	expect_eq(s->domains[0].level, 1);
	expect_field(&s->domains[0], "lb_count_not_idle", 2);
	expect_field(&s->domains[1], "lb_count_not_idle", 2);
	expect_eq(s->nr_skipped, 5);
	schedstat_free(s);
}

static void versions_are_not_mixed(void **state)
{
	struct schedstat *a = parse("version 15\n"), *b = parse("version 16\n"), *s = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(schedstat_delta(a, b, &d, &s), -EINVAL);
	assert_string_equal(d.what,
	                    "scheduler statistics of versions 15 and 16 cannot be compared");
	schedstat_free(a);
	schedstat_free(b);
}

static void sums_are_by_name_and_over_all(void **state)
{
	struct schedstat *s = parse("version 17\n"
	                            "cpu0 1 0 2\ndomain0 MC f 5 1\ndomain1 PKG ff 7\n"
	                            "cpu1 2 0 3\ndomain0 SMT 3 11\ndomain1 MC f 13\n");
	struct schedstat_totals t;

	(void)state;
	expect_eq(schedstat_sum(s, &t), 0);
	expect_eq(t.cpu.present, 7);
	expect_eq(t.cpu.values[SCHEDSTAT_YLD_COUNT], 3);
	expect_eq(t.cpu.values[SCHEDSTAT_SCHED_COUNT], 5);
	expect_field(&t.all, "lb_count_not_idle", 36);
	expect_field(&t.all, "lb_balance_not_idle", 1);
	expect_absent(&t.all, "alb_count");
	expect_eq(t.nr_names, 3);
	assert_string_equal(t.by_name[0].name, "MC");
	assert_string_equal(t.by_name[1].name, "SMT");
	assert_string_equal(t.by_name[2].name, "PKG");
	expect_field(&t.by_name[0], "lb_count_not_idle", 18);
	expect_field(&t.by_name[2], "lb_count_not_idle", 7);
	schedstat_totals_done(&t);
	schedstat_free(s);
}

static void nothing_sums_to_nothing(void **state)
{
	struct schedstat *s = parse("version 15\n");
	struct schedstat_totals t;

	(void)state;
	expect_eq(schedstat_sum(s, &t), 0);
	expect_eq(t.nr_names, 0);
	expect_eq(t.cpu.present, 0);
	expect_eq(t.all.present, 0);
	schedstat_totals_done(&t);
	schedstat_free(s);
	schedstat_free(NULL);
}

static void expect_file(const char *path, const char *expected)
{
	char *text = NULL;

	expect_eq(text_read_file(path, 64, &text), 0);
	text_chomp(text);
	assert_string_equal(text, expected);
	free(text);
}

static void the_switch_is_put_back_as_it_was(void **state)
{
	struct schedstat_switch sw = { 0 };
	struct diag d = { 0 };
	struct tree tree;
	char path[128];

	(void)state;
	tree_init(&tree);
	snprintf(path, sizeof(path), "%s/switch", tree.root);
	tree_write(&tree, "switch", "0");
	expect_eq(schedstat_enable(path, &d, &sw), 0);
	expect_file(path, "1");
	expect_eq(schedstat_restore(path, &sw, &d), 0);
	expect_file(path, "0");

	tree_write(&tree, "switch", "1");
	expect_eq(schedstat_enable(path, &d, &sw), 0);
	assert_false(sw.is_changed);
	expect_eq(schedstat_restore(path, &sw, &d), 0);
	expect_file(path, "1");
	tree_done(&tree);
}

static void a_kernel_without_statistics_says_so(void **state)
{
	struct schedstat_switch sw = { 0 };
	struct schedstat *s = NULL;
	struct diag d = { 0 }, d2 = { 0 };
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_done(&tree);
	expect_eq(schedstat_enable(tree.root, &d, &sw), -ENOENT);
	assert_non_null(strstr(d.hint, "CONFIG_SCHEDSTATS"));
	assert_false(sw.is_changed);
	expect_eq(schedstat_read(tree.root, &d2, &s), -ENOENT);
	assert_non_null(strstr(d2.hint, "CONFIG_SCHEDSTATS"));
}

static void files_are_read_by_their_path(void **state)
{
	struct schedstat *s = NULL;
	struct tree tree;
	char path[128];

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "schedstat", "version 15\ncpu0 1");
	snprintf(path, sizeof(path), "%s/schedstat", tree.root);
	expect_eq(schedstat_read(path, NULL, &s), 0);
	expect_eq(s->nr_cpus, 1);
	schedstat_free(s);
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_15_starts_with_idle),
		cmocka_unit_test(version_16_starts_with_not_idle),
		cmocka_unit_test(version_17_names_domains_and_splits_the_imbalance),
		cmocka_unit_test(nine_cpu_fields_have_their_right_places),
		cmocka_unit_test(a_name_is_detected_in_any_version),
		cmocka_unit_test(missing_fields_are_absent_and_extra_ones_ignored),
		cmocka_unit_test(text_that_is_no_schedstat_is_refused),
		cmocka_unit_test(the_end_of_the_text_is_respected),
		cmocka_unit_test(differences_are_per_cpu_and_domain),
		cmocka_unit_test(counters_that_wrap_at_32_bits_are_corrected),
		cmocka_unit_test(counters_that_start_again_count_from_zero),
		cmocka_unit_test(wide_counters_that_go_backwards_are_absent),
		cmocka_unit_test(cpus_and_domains_of_one_side_are_skipped),
		cmocka_unit_test(versions_are_not_mixed),
		cmocka_unit_test(sums_are_by_name_and_over_all),
		cmocka_unit_test(nothing_sums_to_nothing),
		cmocka_unit_test(the_switch_is_put_back_as_it_was),
		cmocka_unit_test(a_kernel_without_statistics_says_so),
		cmocka_unit_test(files_are_read_by_their_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
