#include "../unit.h"

#include "sys/proc/memory_left.h"
#include "tree.h"

#define MIB (1ULL << 20)
#define V2  "29 23 0:26 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1  "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"

static void write_machine(const struct tree *t, const char *cgroup, const char *mounts)
{
	tree_write(t, "proc/meminfo",
	           "MemTotal: 4194304 kB\nMemFree: 1024 kB\nMemAvailable: 1048576 kB\n");
	tree_write(t, "proc/self/cgroup", cgroup);
	tree_write(t, "proc/self/mountinfo", mounts);
}

static void nothing_known_is_no_limit(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	expect_eq(memory_left(t.root), UINT64_MAX);
	tree_done(&t);
}

static void without_limits_it_is_what_the_machine_has_available(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	write_machine(&t, "0::/\n", V2);
	expect_eq(memory_left(t.root), 1024 * MIB);
	write_machine(&t, "0::/a/b\n", V2);
	tree_write(&t, "sys/fs/cgroup/a/b/memory.max", "max\n");
	tree_write(&t, "sys/fs/cgroup/a/b/memory.current", "1048576\n");
	expect_eq(memory_left(t.root), 1024 * MIB);
	tree_done(&t);
}

/* 512 MiB, 300 in use, 100 of those a cache that can go; the group above it has 150 left. */
static void the_tightest_group_counts(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	write_machine(&t, "0::/a/b\n", V2);
	tree_write(&t, "sys/fs/cgroup/a/b/memory.max", "536870912\n");
	tree_write(&t, "sys/fs/cgroup/a/b/memory.current", "314572800\n");
	tree_write(&t, "sys/fs/cgroup/a/b/memory.stat",
	           "anon 1\ninactive_file 104857600\nactive_file 5\n");
	expect_eq(memory_left(t.root), 312 * MIB);
	tree_write(&t, "sys/fs/cgroup/a/memory.max", "157286400\n");
	tree_write(&t, "sys/fs/cgroup/a/memory.current", "0\n");
	expect_eq(memory_left(t.root), 150 * MIB);
	tree_write(&t, "sys/fs/cgroup/a/memory.current", "999999999\n");
	expect_eq(memory_left(t.root), 0);
	tree_done(&t);
}

static void version_1_and_mounted_parts_are_understood(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	write_machine(&t, "5:memory:/box/one\n4:cpu:/\n0::/\n", V1);
	tree_write(&t, "sys/fs/cgroup/memory/box/one/memory.limit_in_bytes", "209715200\n");
	tree_write(&t, "sys/fs/cgroup/memory/box/one/memory.usage_in_bytes", "104857600\n");
	tree_write(&t, "sys/fs/cgroup/memory/box/one/memory.stat", "total_inactive_file 1048576\n");
	expect_eq(memory_left(t.root), 101 * MIB);
	/* In a container the path is that of the host, and its part of the hierarchy is mounted. */
	write_machine(&t, "5:memory:/docker/c1\n",
	              "35 31 0:32 /docker/c1 /cg rw - cgroup cgroup rw,memory\n");
	tree_write(&t, "cg/memory.limit_in_bytes", "52428800\n");
	tree_write(&t, "cg/memory.usage_in_bytes", "0\n");
	expect_eq(memory_left(t.root), 50 * MIB);
	write_machine(&t, "5:memory:/elsewhere\n",
	              "35 31 0:32 /docker/c1 /cg rw - cgroup cgroup rw,memory\n");
	expect_eq(memory_left(t.root), 50 * MIB);
	tree_done(&t);
}

static void this_machine_has_some(void **state)
{
	(void)state;
	assert_true(memory_left("") > 0);
	assert_true(memory_left("") < UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_known_is_no_limit),
		cmocka_unit_test(without_limits_it_is_what_the_machine_has_available),
		cmocka_unit_test(the_tightest_group_counts),
		cmocka_unit_test(version_1_and_mounted_parts_are_understood),
		cmocka_unit_test(this_machine_has_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
