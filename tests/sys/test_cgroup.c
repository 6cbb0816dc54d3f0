#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/cgroup.h"
#include "sys/cgroup_mount.h"
#include "sys/rights/caps.h"
#include "tree.h"

static void make_tree(struct tree *tree)
{
	tree_init(tree);
	tree_mkdir(tree, "user.slice/app.slice/web/worker");
	tree_mkdir(tree, "user.slice/other");
	tree_mkdir(tree, "system.slice/web.service");
	tree_mkdir(tree, "init.scope");
	tree_write(tree, "cgroup.procs", "1");
	tree_write(tree, "user.slice/cpu.stat", "usage_usec 1");
}

static struct cgroup_tree *walk(const struct tree *tree)
{
	struct cgroup_tree *t = NULL;
	struct diag d = { 0 };

	expect_eq(cgroup_tree_read(tree->root, &d, &t), 0);
	return t;
}

static uint64_t inode(const struct tree *tree, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", tree->root, path);
	expect_eq(stat(full, &st), 0);
	return st.st_ino;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Expected are paths by name: "/a" for a pick with all below it, "=/a" for an exact one. */
static void expect_set(const struct cgroup_tree *t, struct cgroup_set set, const char *expected)
{
	char *names[16];
	char got[512] = "";
	size_t len = 0;

	assert_true(set.nr < 16);
	for (size_t i = 0; i < set.nr; i++) {
		char *path = NULL;

		expect_eq(cgroup_path(t, set.picks[i].id, &path), 0);
		assert_true(asprintf(&names[i], "%s%s", set.picks[i].is_exact ? "=" : "", path) >
		            0);
		free(path);
	}
	qsort(names, set.nr, sizeof(names[0]), compare);
	for (size_t i = 0; i < set.nr; i++) {
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%s", i ? " " : "",
		                        names[i]);
		free(names[i]);
	}
	assert_string_equal(got, expected);
	cgroup_set_done(&set);
}

static void expect_picks(const struct cgroup_tree *t, const char *const *patterns, size_t nr,
                         const char *expected)
{
	struct cgroup_set set = { 0 };
	struct diag d = { 0 };

	expect_eq(cgroup_resolve(t, patterns, nr, &d, &set), 0);
	expect_set(t, set, expected);
}

static void wildcards_fit_paths_and_names_as_in_analyses(void **state)
{
	static const struct {
		const char *patterns[2];
		size_t nr;
		const char *expected; /* NULL: one fits none */
	} cases[] = {
		{ { "/" }, 1, "=/" },
		{ { "web" }, 1, "/user.slice/app.slice/web" },
		{ { "web*" }, 1, "/system.slice/web.service /user.slice/app.slice/web" },
		{ { "*.slice" }, 1, "/system.slice /user.slice" },
		{ { "/user.slice/*" }, 1, "/user.slice/app.slice /user.slice/other" },
		{ { "/user.slice/?????" }, 1, "/user.slice/other" },
		{ { "worker", "/user.slice/app.slice" }, 2, "/user.slice/app.slice" },
		{ { "/", "init.scope" }, 2, "/init.scope =/" },
		{ { "*" }, 1, "/init.scope /system.slice /user.slice =/" },
		{ { "root" }, 1, NULL },
		{ { "we" }, 1, NULL },
		{ { "^web$" }, 1, NULL },
		{ { "web", "none" }, 2, NULL },
	};
	struct tree tree;
	struct cgroup_tree *t;

	(void)state;
	make_tree(&tree);
	t = walk(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_set set = { 0 };
		struct diag d = { 0 };

		expect_eq(cgroup_match(t, cases[i].patterns, cases[i].nr, &d, &set),
		          cases[i].expected ? 0 : -ENODATA);
		if (cases[i].expected)
			expect_set(t, set, cases[i].expected);
		else
			assert_non_null(strstr(d.what, "no cgroup matches '"));
	}
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void patterns_follow_the_rules(void **state)
{
	static const struct {
		const char *patterns[3];
		size_t nr;
		const char *expected;
	} cases[] = {
		{ { "root" }, 1, "=/" },
		{ { ".*" }, 1, "/" },
		{ { "ro+t" }, 1, "/" },
		{ { "" }, 1, "/" },
		{ { "^web$" }, 1, "/user.slice/app.slice/web" },
		{ { "web" }, 1, "/system.slice/web.service /user.slice/app.slice/web" },
		{ { "slice$" }, 1, "/system.slice /user.slice" },
		{ { "^/user.slice/other$" }, 1, "/user.slice/other" },
		{ { "app.slice/web" }, 1, "/user.slice/app.slice/web" },
		{ { "nothing at all" }, 1, "" },
		{ { NULL }, 0, "" },
		{ { "root", "^init" }, 2, "/init.scope =/" },
		{ { "root", "^init", ".*" }, 3, "/" },
		{ { "^worker$", "^app" }, 2, "/user.slice/app.slice" },
		{ { "^worker$", "other" }, 2, "/user.slice/app.slice/web/worker /user.slice/other" },
	};
	struct tree tree;
	struct cgroup_tree *t;

	(void)state;
	make_tree(&tree);
	t = walk(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_picks(t, cases[i].patterns, cases[i].nr, cases[i].expected);
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void a_bad_pattern_is_explained(void **state)
{
	static const char *const patterns[] = { "fine", "(" };
	struct cgroup_set set = { 0 };
	struct diag d = { 0 };
	struct tree tree;
	struct cgroup_tree *t;

	(void)state;
	make_tree(&tree);
	t = walk(&tree);
	expect_eq(cgroup_resolve(t, patterns, 2, &d, &set), -EINVAL);
	assert_true(d.what[0]);
	assert_null(set.picks);
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void a_set_knows_what_lies_below_its_picks(void **state)
{
	static const char *const patterns[] = { "root", "^app" };
	struct cgroup_set set = { 0 };
	struct tree tree;
	struct cgroup_tree *t;

	(void)state;
	make_tree(&tree);
	t = walk(&tree);
	expect_eq(cgroup_resolve(t, patterns, 2, NULL, &set), 0);
	assert_true(cgroup_set_has(t, &set, inode(&tree, "")));
	assert_true(cgroup_set_has(t, &set, inode(&tree, "/user.slice/app.slice")));
	assert_true(cgroup_set_has(t, &set, inode(&tree, "/user.slice/app.slice/web/worker")));
	assert_false(cgroup_set_has(t, &set, inode(&tree, "/user.slice")));
	assert_false(cgroup_set_has(t, &set, inode(&tree, "/init.scope")));
	assert_false(cgroup_set_has(t, &set, 0));
	cgroup_set_done(&set);
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void directories_alone_are_cgroups_and_have_paths(void **state)
{
	struct tree tree;
	struct cgroup_tree *t;
	char *path = NULL;

	(void)state;
	make_tree(&tree);
	t = walk(&tree);
	expect_eq(cgroup_tree_nr(t), 9);
	assert_false(cgroup_tree_is_cut(t));
	expect_eq(cgroup_path(t, inode(&tree, "/user.slice/app.slice/web"), &path), 0);
	assert_string_equal(path, "/user.slice/app.slice/web");
	free(path);
	expect_eq(cgroup_path(t, inode(&tree, ""), &path), 0);
	assert_string_equal(path, "/");
	free(path);
	expect_eq(cgroup_path(t, UINT64_MAX, &path), -ENOENT);
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void links_are_not_followed(void **state)
{
	struct tree tree;
	struct cgroup_tree *t;
	char link[128];

	(void)state;
	tree_init(&tree);
	snprintf(link, sizeof(link), "%s/loop", tree.root);
	expect_eq(symlink(tree.root, link), 0);
	t = walk(&tree);
	expect_eq(cgroup_tree_nr(t), 1);
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void a_walk_ends_at_the_depth_cap(void **state)
{
	struct tree tree;
	struct cgroup_tree *t;
	char path[512] = "d";

	(void)state;
	tree_init(&tree);
	for (int i = 0; i < CGROUP_MAX_DEPTH + 5; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
	tree_mkdir(&tree, path);
	t = walk(&tree);
	assert_true(cgroup_tree_is_cut(t));
	expect_eq(cgroup_tree_nr(t), CGROUP_MAX_DEPTH + 1);
	cgroup_tree_free(t);
	tree_done(&tree);
}

static void a_missing_mount_is_an_error(void **state)
{
	struct cgroup_tree *t = NULL;
	struct diag d = { 0 };
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_done(&tree);
	expect_eq(cgroup_tree_read(tree.root, &d, &t), -ENOENT);
	assert_non_null(strstr(d.what, tree.root));
	assert_true(d.hint[0]);
	cgroup_tree_free(NULL);
}

static void the_mount_is_found_in_all_layouts(void **state)
{
	static const struct {
		const char *mountinfo, *point;
	} cases[] = {
		{ "25 1 0:21 / /sys rw - sysfs sysfs rw\n"
		  "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate",
		  "/sys/fs/cgroup" },
		{ "33 25 0:30 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
		  "34 33 0:31 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
		  "43 33 0:40 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
		  "/sys/fs/cgroup/unified" },
		{ "43 33 0:40 / /mnt/my\\040cgroups\\134x rw shared:1 master:2 - cgroup2 none rw",
		  "/mnt/my cgroups\\x" },
		{ "43 33 0:40 / \\000/x\\400\\08 rw - cgroup2 none rw", "\\000/x\\400\\08" },
		{ "40 33 0:40 /docker/1 /inner rw - cgroup2 cgroup2 rw\n"
		  "43 33 0:40 / /outer rw - cgroup2 cgroup2 rw\n"
		  "44 33 0:40 / /later rw - cgroup2 cgroup2 rw",
		  "/outer" },
		{ "40 33 0:40 /docker/1 /inner rw - cgroup2 cgroup2 rw", "/inner" },
		{ "34 33 0:31 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu", NULL },
		{ "cgroup2 - cgroup2 \n - cgroup2 x\n\n", NULL },
		{ "", NULL },
	};
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "cgroup", "0::/\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_hierarchy h;

		tree_write(&tree, "mountinfo", cases[i].mountinfo);
		expect_eq(cgroup_find_cpu(tree.root, &h), 0);
		if (cases[i].point)
			assert_string_equal(h.mount, cases[i].point);
		else
			assert_null(h.mount);
		cgroup_hierarchy_done(&h);
	}
	tree_done(&tree);
}

static void a_missing_mountinfo_is_an_error(void **state)
{
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "cgroup", "0::/\n");
	expect_eq(cgroup_find_cpu(tree.root, &(struct cgroup_hierarchy){ 0 }), -ENOENT);
	tree_done(&tree);
}

static void quotas_are_where_the_controller_cpu_is(void **state)
{
	static const char hybrid[] =
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
		"33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
	static const struct {
		const char *cgroup, *mountinfo, *mount;
		int id;
	} cases[] = {
		{ "0::/user.slice\n", hybrid, "/sys/fs/cgroup/unified", 0 },
		{ "5:cpuset:/\n12:cpuacct,cpu:/a\n1:name=systemd:/\n0::/\n", hybrid,
		  "/sys/fs/cgroup/cpu,cpuacct", 12 },
		{ "3:cpuset,cpuacct:/\n0::/\n", hybrid, "/sys/fs/cgroup/unified", 0 },
		{ "4:cpu:/\n", "41 31 0:38 / /x rw - cgroup2 none rw\n", NULL, 4 },
		{ "0::/\n", "", NULL, 0 },
		{ "cpu:4\nx:cpu:/\n-2:cpu:/\n99999999999:cpu:/\n7:cpu\n", "", NULL, 0 },
		{ "", "", NULL, 0 },
	};
	struct tree tree;

	(void)state;
	tree_init(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_hierarchy h;

		tree_write(&tree, "cgroup", cases[i].cgroup);
		tree_write(&tree, "mountinfo", cases[i].mountinfo);
		expect_eq(cgroup_find_cpu(tree.root, &h), 0);
		expect_eq(h.id, cases[i].id);
		expect_eq(h.is_v1, cases[i].id != 0);
		if (cases[i].mount)
			assert_string_equal(h.mount, cases[i].mount);
		else
			assert_null(h.mount);
		cgroup_hierarchy_done(&h);
	}
	tree_done(&tree);
	expect_eq(cgroup_find_cpu(tree.root, &(struct cgroup_hierarchy){ 0 }), -ENOENT);
}

/* NULL: this machine has none. */
static char *find_mount(void)
{
	struct cgroup_hierarchy h = { 0 };

	return cgroup_find_cpu("/proc/self", &h) ? NULL : h.mount;
}

static bool has_hierarchy(void)
{
	char *mount = find_mount();

	free(mount);
	return mount;
}

/* Making a cgroup takes a hierarchy that is ours; asking for its name takes the right to open by handle. */
static bool may_make_cgroups(void)
{
	struct caps caps = { 0 };
	char *mount = find_mount();
	bool may;

	may = caps_get(&caps) == 0 && caps_has(&caps, CAP_DAC_READ_SEARCH) && mount &&
	      access(mount, W_OK) == 0;
	free(mount);
	return may;
}

/* Kernels without CONFIG_FHANDLE open nothing by its id. */
static bool has_handles(void)
{
	struct file_handle handle = { 0 };
	int mount_id;

	return name_to_handle_at(AT_FDCWD, "/", &handle, &mount_id, 0) == 0 || errno != ENOSYS;
}

static struct cgroup_tree *walk_machine(char **mount)
{
	struct cgroup_tree *t = NULL;
	struct diag d = { 0 };

	*mount = find_mount();
	assert_non_null(*mount);
	expect_eq(cgroup_tree_read(*mount, &d, &t), 0);
	return t;
}

static void ids_names_and_inodes_of_this_machine_agree(void **state)
{
	char *mount = NULL, *path = NULL;
	struct cgroup_tree *t;
	struct stat st;

	(void)state;
	t = walk_machine(&mount);
	expect_eq(stat(mount, &st), 0);
	expect_eq(cgroup_path(t, st.st_ino, &path), 0);
	assert_string_equal(path, "/");
	free(path);
	free(mount);
	cgroup_tree_free(t);
}

static void a_cgroup_newer_than_the_walk_has_a_name(void **state)
{
	char *mount = NULL, *path = NULL;
	struct cgroup_tree *t;
	char dir[PATH_MAX];
	struct stat st;
	int err;

	(void)state;
	t = walk_machine(&mount);
	snprintf(dir, sizeof(dir), "%s/schedscope-test-%d", mount, (int)getpid());
	expect_eq(mkdir(dir, 0755), 0);
	err = stat(dir, &st) == 0 ? cgroup_path(t, st.st_ino, &path) : -errno;
	expect_eq(rmdir(dir), 0);
	expect_eq(err, 0);
	assert_string_equal(path, dir + strlen(mount));
	free(path);
	free(mount);
	cgroup_tree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_follow_the_rules),
		cmocka_unit_test(wildcards_fit_paths_and_names_as_in_analyses),
		cmocka_unit_test(a_bad_pattern_is_explained),
		cmocka_unit_test(a_set_knows_what_lies_below_its_picks),
		cmocka_unit_test(directories_alone_are_cgroups_and_have_paths),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(a_walk_ends_at_the_depth_cap),
		cmocka_unit_test(a_missing_mount_is_an_error),
		cmocka_unit_test(the_mount_is_found_in_all_layouts),
		cmocka_unit_test(quotas_are_where_the_controller_cpu_is),
		cmocka_unit_test(a_missing_mountinfo_is_an_error),
		unit_test_if(has_hierarchy(), ids_names_and_inodes_of_this_machine_agree,
		             "needs cgroup v2"),
		unit_test_if(may_make_cgroups() && has_handles(),
		             a_cgroup_newer_than_the_walk_has_a_name,
		             "needs the right to make cgroups, and CONFIG_FHANDLE"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
