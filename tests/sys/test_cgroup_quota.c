/* Cgroups and their quotas, as files that look like those of the kernel. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cgroup_quota.h"
#include "tree.h"

static void set(struct tree *tree, const char *group, const char *quota, unsigned int periods,
                unsigned int throttled)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "%s/cpu.max", group);
	tree_write(tree, path, quota);
	snprintf(path, sizeof(path), "%s/cpu.stat", group);
	snprintf(text, sizeof(text),
	         "usage_usec 7\nnr_periods %u\nnr_throttled %u\nthrottled_usec 123\n", periods,
	         throttled);
	tree_write(tree, path, text);
}

static struct cgroup_throttled look(struct cgroup_quota *q, bool is_total)
{
	struct cgroup_throttled out;

	cgroup_quota_look(q, is_total, &out);
	return out;
}

static void the_most_throttled_is_found(void **state)
{
	struct cgroup_throttled got;
	struct cgroup_quota *q;
	struct tree tree;

	(void)state;
	tree_init(&tree);
	set(&tree, "shop.slice", "15000 100000", 100, 90);
	set(&tree, "shop.slice/web", "20000 100000", 50, 10);
	set(&tree, "free.slice", "max 100000", 0, 0);
	q = cgroup_quota_open(tree.root);
	assert_non_null(q);
	got = look(q, false);
	assert_string_equal(got.path, ""); /* what was before is not counted */
	set(&tree, "shop.slice", "15000 100000", 110, 92);
	set(&tree, "shop.slice/web", "20000 100000", 60, 19);
	got = look(q, false);
	assert_string_equal(got.path, "/shop.slice/web");
	expect_eq(got.nr_throttled, 9);
	expect_eq(got.nr_periods, 10);
	set(&tree, "shop.slice", "15000 100000", 130, 112);
	assert_string_equal(look(q, false).path, "/shop.slice");
	got = look(q, true);
	assert_string_equal(got.path, "/shop.slice");
	expect_eq(got.nr_throttled, 22);
	expect_eq(got.nr_periods, 30);
	assert_string_equal(look(q, false).path, "");
	set(&tree, "shop.slice", "15000 100000", 3, 2); /* made anew */
	assert_string_equal(look(q, false).path, "");
	cgroup_quota_close(q);
	tree_done(&tree);
}

static void version_1_has_its_own_files(void **state)
{
	struct cgroup_quota *q;
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "web/cpu.cfs_quota_us", "20000\n");
	tree_write(&tree, "web/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_time 9\n");
	tree_write(&tree, "any/cpu.cfs_quota_us", "-1\n");
	tree_write(&tree, "any/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_time 9\n");
	q = cgroup_quota_open(tree.root);
	assert_non_null(q);
	(void)look(q, false);
	tree_write(&tree, "web/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 99\n");
	tree_write(&tree, "any/cpu.stat", "nr_periods 9\nnr_throttled 5\nthrottled_time 99\n");
	assert_string_equal(look(q, false).path, "/web");
	cgroup_quota_close(q);
	tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_throttled_is_found),
		cmocka_unit_test(version_1_has_its_own_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
