#include "../unit.h"

#include <bpf/btf.h>
#include <stdio.h>

#include "sys/preempt_count.h"
#include "tree.h"

static const char both[] = "0000000000000000 A fixed_percpu_data\n"
			   "0000000000019c04 A __preempt_count\n"
			   "ffffffff82b2a4e0 D __per_cpu_offset\n"
			   "ffffffff82b2b000 D __preempt_count\t[some_module]\n";

static struct preempt_count find(const struct btf *btf, const char *text)
{
	struct preempt_count found;
	char path[512];
	struct tree t;

	tree_init(&t);
	tree_write(&t, "kallsyms", text);
	(void)snprintf(path, sizeof(path), "%s/kallsyms", t.root);
	preempt_count_find(btf, path, &found);
	tree_done(&t);
	return found;
}

static struct btf *empty(void)
{
	struct btf *btf = btf__new_empty();

	assert_non_null(btf);
	assert_true(btf__add_int(btf, "int", 4, 0) > 0);
	return btf;
}

static void add_struct(struct btf *btf, const char *name, const char *member)
{
	assert_true(btf__add_struct(btf, name, 16) > 0);
	assert_int_equal(btf__add_field(btf, member, 1, 64, 0), 0);
}

/* What x86-64 has with group scheduling: tasks know the run queue. */
static struct btf *with_groups(void)
{
	struct btf *btf = empty();

	add_struct(btf, "sched_entity", "cfs_rq");
	add_struct(btf, "cfs_rq", "rq");
	return btf;
}

/* Variables of each CPU; the last one is of that type. */
static void add_per_cpu(struct btf *btf, const char *name, int type)
{
	int queues = btf__add_var(btf, "runqueues", BTF_VAR_GLOBAL_ALLOCATED, 1);
	int count = btf__add_var(btf, name, BTF_VAR_GLOBAL_ALLOCATED, type);

	assert_true(btf__add_datasec(btf, ".data..percpu", 0x40000) > 0);
	assert_int_equal(btf__add_datasec_var_info(btf, count, 0x15030, 4), 0);
	assert_int_equal(btf__add_datasec_var_info(btf, queues, 0x2ba40, 4), 0);
}

static void a_task_may_have_it(void **state)
{
	struct btf *btf = with_groups();
	int inner;

	(void)state;
	inner = btf__add_union(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, "preempt_count", 1, 0, 0), 0);
	assert_true(btf__add_struct(btf, "thread_info", 24) > 0);
	assert_int_equal(btf__add_field(btf, "flags", 1, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, inner, 64, 0), 0);
	add_per_cpu(btf, "__preempt_count", 1);
	expect_eq(find(btf, both).place, PREEMPT_COUNT_TASK);
	btf__free(btf);
}

static void types_give_the_distance_from_the_run_queue(void **state)
{
	struct btf *btf = with_groups(), *hot = with_groups();
	struct preempt_count p;
	int type;

	(void)state;
	add_per_cpu(btf, "__preempt_count", 1);
	p = find(btf, both);
	expect_eq(p.place, PREEMPT_COUNT_QUEUE);
	expect_eq(p.address, 0x15030ULL - 0x2ba40ULL);
	type = btf__add_struct(hot, "pcpu_hot", 64);
	assert_int_equal(btf__add_field(hot, "current_task", 1, 0, 0), 0);
	assert_int_equal(btf__add_field(hot, "preempt_count", 1, 64, 0), 0);
	add_per_cpu(hot, "pcpu_hot", type);
	p = find(hot, "");
	expect_eq(p.place, PREEMPT_COUNT_QUEUE);
	expect_eq(p.address, 0x15038ULL - 0x2ba40ULL);
	btf__free(btf);
	btf__free(hot);
}

static void without_group_scheduling_kallsyms_decides(void **state)
{
	struct btf *btf = empty();
	struct preempt_count p;

	(void)state;
	add_per_cpu(btf, "__preempt_count", 1);
	p = find(btf, both);
	expect_eq(p.place, PREEMPT_COUNT_OFFSETS);
	expect_eq(p.address, 0x19c04);
	expect_eq(p.offsets, 0xffffffff82b2a4e0);
	p = find(btf, "ffffffff82b2a4e0 D __per_cpu_offset\n0000000000034f40 A pcpu_hot\n");
	expect_eq(p.address, 0x34f48);
	btf__free(btf);
}

static void hidden_or_absent_it_is_unknown(void **state)
{
	struct btf *btf = with_groups(), *other = with_groups();
	struct preempt_count p;

	(void)state;
	expect_eq(find(btf, "0000000000000000 A pcpu_hot\n0000000000000000 D __per_cpu_offset\n")
	                  .place,
	          PREEMPT_COUNT_UNKNOWN);
	expect_eq(find(btf, "ffffffff82b2a4e0 D __per_cpu_offset\n").place, PREEMPT_COUNT_UNKNOWN);
	expect_eq(find(btf, "0000000000034f40 A pcpu_hot\n").place, PREEMPT_COUNT_UNKNOWN);
	expect_eq(find(btf, "\n\x01 garbage\nxyz D __per_cpu_offset\n12\n").place,
	          PREEMPT_COUNT_UNKNOWN);
	add_per_cpu(other, "pcpu_hot", 1); /* of a type that has no such member */
	preempt_count_find(other, "/nonexistent", &p);
	expect_eq(p.place, PREEMPT_COUNT_UNKNOWN);
	preempt_count_find(other, NULL, &p);
	expect_eq(p.place, PREEMPT_COUNT_UNKNOWN);
	btf__free(btf);
	btf__free(other);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_may_have_it),
		cmocka_unit_test(types_give_the_distance_from_the_run_queue),
		cmocka_unit_test(without_group_scheduling_kallsyms_decides),
		cmocka_unit_test(hidden_or_absent_it_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
