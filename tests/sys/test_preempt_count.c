#include "../unit.h"

#include <errno.h>
#include <stdio.h>

#include "sys/preempt_count.h"
#include "tree.h"

static int find(const char *text, struct preempt_count *out)
{
	char path[512];
	struct tree t;
	int err;

	tree_init(&t);
	tree_write(&t, "kallsyms", text);
	snprintf(path, sizeof(path), "%s/kallsyms", t.root);
	err = preempt_count_find(path, out);
	tree_done(&t);
	return err;
}

static void it_is_found_by_either_name(void **state)
{
	struct preempt_count p = { 0 };

	(void)state;
	expect_eq(find("0000000000000000 A fixed_percpu_data\n"
	               "0000000000019c04 A __preempt_count\n"
	               "ffffffff82b2a4e0 D __per_cpu_offset\n"
	               "ffffffff82b2b000 D __preempt_count\t[some_module]\n",
	               &p),
	          0);
	expect_eq(p.address, 0x19c04);
	expect_eq(p.offsets, 0xffffffff82b2a4e0);
	expect_eq(find("ffffffff82b2a4e0 D __per_cpu_offset\n0000000000034f40 A pcpu_hot\n", &p),
	          0);
	expect_eq(p.address, 0x34f48);
}

static void hidden_or_absent_it_is_unknown(void **state)
{
	struct preempt_count p = { .address = 7 };

	(void)state;
	assert_int_equal(find("0000000000000000 A pcpu_hot\n0000000000000000 D __per_cpu_offset\n",
	                      &p),
	                 -ENOENT);
	assert_int_equal(find("ffffffff82b2a4e0 D __per_cpu_offset\n", &p), -ENOENT);
	assert_int_equal(find("0000000000034f40 A pcpu_hot\n", &p), -ENOENT);
	assert_int_equal(find("\n\x01 garbage\nxyz D __per_cpu_offset\n12\n", &p), -ENOENT);
	assert_int_equal(preempt_count_find("/nonexistent", &p), -ENOENT);
	expect_eq(p.address, 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_by_either_name),
		cmocka_unit_test(hidden_or_absent_it_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
