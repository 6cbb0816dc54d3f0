#include "../unit.h"

#include <bpf/btf.h>
#include <stdint.h>
#include <string.h>

#include "sys/bpf/bpf_struct_ops.h"

#define BITS 8U

/* As the kernel lays such a value out: what all have in common, then the struct itself, which begins a cache line. */
struct value {
	uint32_t refcnt, state;
	uint8_t pad[56];
	struct {
		uint64_t select_cpu, enqueue;
		uint32_t flags, timeout_ms;
		uint64_t dispatch;
		char name[128];
		uint64_t unknown_pointer;
	} data;
};

struct types {
	struct btf *btf;
	uint32_t value, ops;
};

static struct types make_types(const char *value_name)
{
	struct types t = { .btf = btf__new_empty() };
	int u64, u32, chars, proto, function, number, common;

	assert_non_null(t.btf);
	u64 = btf__add_int(t.btf, "unsigned long", 8, 0);
	u32 = btf__add_int(t.btf, "unsigned int", 4, 0);
	chars = btf__add_array(t.btf, u32, btf__add_int(t.btf, "char", 1, BTF_INT_CHAR), 128);
	proto = btf__add_func_proto(t.btf, u32);
	/* Behind a name and const, as some are. */
	function = btf__add_const(t.btf,
	                          btf__add_typedef(t.btf, "op_fn", btf__add_ptr(t.btf, proto)));
	number = btf__add_ptr(t.btf, u64);
	common = btf__add_struct(t.btf, "bpf_struct_ops_common_value", 8);
	t.ops = (uint32_t)btf__add_struct(t.btf, "sched_ext_ops",
	                                  sizeof(((struct value *)0)->data));
#define AT(member)                                              \
	(BITS * (uint32_t)offsetof(struct value, data.member) - \
	 BITS * (uint32_t)offsetof(struct value, data))
	btf__add_field(t.btf, "select_cpu", function, AT(select_cpu), 0);
	btf__add_field(t.btf, "enqueue", function, AT(enqueue), 0);
	btf__add_field(t.btf, "flags", u32, AT(flags), 0);
	btf__add_field(t.btf, "timeout_ms", u32, AT(timeout_ms), 0);
	btf__add_field(t.btf, "dispatch", function, AT(dispatch), 0);
	btf__add_field(t.btf, "name", chars, AT(name), 0);
	btf__add_field(t.btf, "unknown_pointer", number, AT(unknown_pointer), 0);
#undef AT
	t.value = (uint32_t)btf__add_struct(t.btf, value_name, sizeof(struct value));
	btf__add_field(t.btf, "common", common, 0, 0);
	btf__add_field(t.btf, "data", (int)t.ops, BITS * (uint32_t)offsetof(struct value, data), 0);
	return t;
}

static struct value make_value(void)
{
	struct value v = { .refcnt = 1, .state = 1 };

	v.data.enqueue = 501;
	v.data.dispatch = 502;
	v.data.flags = 77;
	v.data.timeout_ms = 88;
	v.data.unknown_pointer = 99; /* points to data: no program */
	strcpy(v.data.name, "simple");
	return v;
}

static void operations_are_named_by_the_kernel(void **state)
{
	struct types t = make_types("bpf_struct_ops_sched_ext_ops");
	struct value v = make_value();
	struct bpf_ops_value value = { 33, t.value, &v, sizeof(v) };
	struct bpf_op ops[8];

	(void)state;
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 2);
	expect_eq(ops[0].prog_id, 501);
	assert_string_equal(ops[0].op, "enqueue");
	assert_string_equal(ops[0].struct_name, "sched_ext_ops");
	assert_string_equal(ops[0].name, "simple");
	expect_eq(ops[0].map_id, 33);
	expect_eq(ops[1].prog_id, 502);
	assert_string_equal(ops[1].op, "dispatch");
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 1), 2); /* there is room for one */
	btf__free(t.btf);
}

static void a_short_value_is_not_read_beyond_its_end(void **state)
{
	struct types t = make_types("bpf_struct_ops_sched_ext_ops");
	struct value v = make_value();
	struct bpf_ops_value value = { 33, t.value, &v, offsetof(struct value, data.flags) };
	struct bpf_op ops[8];

	(void)state;
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 1);
	assert_string_equal(ops[0].name, "");
	memset(v.data.name, 'x', sizeof(v.data.name)); /* no end of text */
	value.size = offsetof(struct value, data.unknown_pointer);
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 2);
	expect_eq(strlen(ops[0].name), 127);
	value.size = 0;
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 0);
	btf__free(t.btf);
}

static void what_is_no_struct_of_operations_has_none(void **state)
{
	struct types t = make_types("some_other_struct");
	struct value v = make_value();
	struct bpf_ops_value value = { 33, t.value, &v, sizeof(v) };
	struct bpf_op ops[8];

	(void)state;
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 0);
	value.type_id = 1; /* a number */
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 0);
	value.type_id = 100000;
	expect_eq(bpf_ops_of_value(t.btf, &value, ops, 8), 0);
	btf__free(t.btf);
}

static void nothing_is_found_where_nothing_was_read(void **state)
{
	struct bpf_struct_ops *s = NULL;

	(void)state;
	assert_int_equal(bpf_struct_ops_new(&s), 0);
	assert_null(bpf_struct_ops_find(s, 1));
	assert_null(bpf_struct_ops_struct(s, 1));
	bpf_struct_ops_free(s);
	bpf_struct_ops_free(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_named_by_the_kernel),
		cmocka_unit_test(a_short_value_is_not_read_beyond_its_end),
		cmocka_unit_test(what_is_no_struct_of_operations_has_none),
		cmocka_unit_test(nothing_is_found_where_nothing_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
