#include "../unit.h"
#include "tree.h"

#include <bpf/btf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/features.h"

struct machine {
	struct tree tree;
	struct btf *btf;
	int id_int, id_bool, id_ptr, id_task_ptr;
	struct features f;
};

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));
	int task, const_task;

	assert_non_null(m);
	tree_init(&m->tree);
	m->btf = btf__new_empty();
	assert_non_null(m->btf);
	m->id_int = btf__add_int(m->btf, "unsigned int", 4, 0);
	m->id_bool = btf__add_int(m->btf, "_Bool", 1, BTF_INT_BOOL);
	m->id_ptr = btf__add_ptr(m->btf, 0);
	task = btf__add_struct(m->btf, "task_struct", 64);
	assert_int_equal(btf__add_field(m->btf, "__state", m->id_int, 0, 0), 0);
	const_task = btf__add_const(m->btf, task);
	m->id_task_ptr = btf__add_ptr(m->btf, const_task);
	assert_true(m->id_task_ptr > 0);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	btf__free(m->btf);
	tree_done(&m->tree);
	free(m);
	return 0;
}

/* One letter per argument: b = bool, s = state, t = task. */
static void add_tracepoint(struct machine *m, const char *name, const char *args)
{
	char full[64];
	int proto = btf__add_func_proto(m->btf, 0);
	int ptr;

	assert_true(proto > 0);
	assert_int_equal(btf__add_func_param(m->btf, "", m->id_ptr), 0);
	for (; *args; args++) {
		int type = *args == 'b' ? m->id_bool : *args == 's' ? m->id_int : m->id_task_ptr;

		assert_int_equal(btf__add_func_param(m->btf, "", type), 0);
	}
	ptr = btf__add_ptr(m->btf, proto);
	snprintf(full, sizeof(full), "btf_trace_%s", name);
	assert_true(btf__add_typedef(m->btf, full, ptr) > 0);
}

static void add_struct(struct machine *m, const char *name, const char *member)
{
	assert_true(btf__add_struct(m->btf, name, 64) > 0);
	assert_int_equal(btf__add_field(m->btf, member, m->id_int, 0, 0), 0);
}

static void write_btf(struct machine *m)
{
	char path[PATH_MAX + 64];
	__u32 size = 0;
	const void *data = btf__raw_data(m->btf, &size);
	FILE *f;

	tree_write(&m->tree, "sys/kernel/btf/vmlinux", "");
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", m->tree.root);
	f = fopen(path, "we");
	assert_non_null(f);
	expect_eq(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static const struct features *probe(struct machine *m, const struct caps *caps)
{
	struct features_cfg cfg = { .root = m->tree.root, .caps = caps };

	features_probe(&cfg, &m->f);
	return &m->f;
}

static void check_switch(struct machine *m, const char *args, enum features_switch_args expected)
{
	add_tracepoint(m, "sched_switch", args);
	write_btf(m);
	expect_eq(probe(m, NULL)->switch_args, expected);
	expect_eq(m->f.btf, TRI_YES);
	expect_eq(m->f.tracepoints[FEATURES_TP_sched_switch], TRI_YES);
	expect_eq(m->f.tracepoints[FEATURES_TP_sched_waking], TRI_NO);
}

static void sched_switch_with_three_arguments_is_known(void **state)
{
	check_switch(*state, "btt", SWITCH_ARGS_NO_STATE);
}

static void sched_switch_with_the_state_second_is_known(void **state)
{
	check_switch(*state, "bstt", SWITCH_ARGS_STATE_2ND);
}

static void sched_switch_with_the_state_last_is_known(void **state)
{
	check_switch(*state, "btts", SWITCH_ARGS_STATE_LAST);
}

static void further_arguments_at_the_end_do_no_harm(void **state)
{
	check_switch(*state, "bttss", SWITCH_ARGS_STATE_LAST);
}

static void a_sched_switch_of_another_shape_is_unknown(void **state)
{
	check_switch(*state, "bsst", SWITCH_ARGS_UNKNOWN);
}

static void a_sched_switch_with_two_arguments_is_unknown(void **state)
{
	check_switch(*state, "bt", SWITCH_ARGS_UNKNOWN);
}

static void fields_are_found_also_in_anonymous_parts(void **state)
{
	struct machine *m = *state;
	const struct features *f;
	int anonymous;

	anonymous = btf__add_struct(m->btf, NULL, 8);
	assert_int_equal(btf__add_field(m->btf, "h_nr_runnable", m->id_int, 0, 0), 0);
	assert_true(btf__add_struct(m->btf, "cfs_rq", 64) > 0);
	assert_int_equal(btf__add_field(m->btf, "h_nr_queued", m->id_int, 0, 0), 0);
	assert_int_equal(btf__add_field(m->btf, "", anonymous, 64, 0), 0);
	write_btf(m);
	f = probe(m, NULL);
	expect_eq(f->fields[FEATURES_CFS_RQ_H_NR_QUEUED], TRI_YES);
	expect_eq(f->fields[FEATURES_CFS_RQ_H_NR_RUNNABLE], TRI_YES);
	expect_eq(f->fields[FEATURES_CFS_RQ_H_NR_DELAYED], TRI_NO);
	expect_eq(f->fields[FEATURES_SE_CFS_RQ], TRI_NO);
	expect_eq(f->fields[FEATURES_TASK_STATE], TRI_YES);
	expect_eq(f->sched_ext, TRI_NO);
}

static void task_storage_is_decided_by_btf_before_the_release(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/sys/kernel/osrelease", "5.14.0-503.el9.x86_64");
	add_struct(m, "bpf_local_storage_map", "selem_ma");
	write_btf(m);
	expect_eq(probe(m, NULL)->task_storage_in_tracing, TRI_YES);
	expect_eq(m->f.version, 5 << 16 | 14 << 8);
}

static void task_storage_without_btf_goes_by_the_release(void **state)
{
	struct machine *m = *state;

	expect_eq(probe(m, NULL)->task_storage_in_tracing, TRI_UNKNOWN);
	tree_write(&m->tree, "proc/sys/kernel/osrelease", "6.3.9");
	expect_eq(probe(m, NULL)->task_storage_in_tracing, TRI_NO);
	tree_write(&m->tree, "proc/sys/kernel/osrelease", "6.4.0-rc1");
	expect_eq(probe(m, NULL)->task_storage_in_tracing, TRI_YES);
}

static void releases_are_read_with_care(void **state)
{
	static const struct {
		const char *release;
		uint32_t version;
	} v[] = {
		{ "6.1.0-18-amd64", 6 << 16 | 1 << 8 },
		{ "4.19.321", 4 << 16 | 19 << 8 | 255 },
		{ "7.0", 7 << 16 },
		{ "banana", 0 },
		{ "999.1.2", 0 },
		{ "", 0 },
	};
	struct machine *m = *state;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		tree_write(&m->tree, "proc/sys/kernel/osrelease", v[i].release);
		expect_eq(probe(m, NULL)->version, v[i].version);
		assert_string_equal(m->f.release, v[i].release);
	}
}

static void nothing_known_is_unknown(void **state)
{
	const struct features *f = probe(*state, NULL);

	expect_eq(f->version, 0);
	assert_string_equal(f->release, "");
	expect_eq(f->btf, TRI_NO);
	expect_eq(f->switch_args, SWITCH_ARGS_UNKNOWN);
	expect_eq(f->tracepoints[FEATURES_TP_sched_switch], TRI_UNKNOWN);
	expect_eq(f->fields[FEATURES_RQ_NR_RUNNING], TRI_UNKNOWN);
	expect_eq(f->sched_ext, TRI_UNKNOWN);
	expect_eq(f->lockdown, LOCKDOWN_UNKNOWN);
	expect_eq(f->bpf_stats, TRI_UNKNOWN);
	expect_eq(f->unprivileged_bpf, TRI_UNKNOWN);
}

static void garbage_instead_of_btf_is_unknown(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "sys/kernel/btf/vmlinux", "this is no BTF");
	expect_eq(probe(m, NULL)->btf, TRI_UNKNOWN);
	expect_eq(m->f.fields[FEATURES_RQ_NR_RUNNING], TRI_UNKNOWN);
}

static void without_btf_tracefs_knows_the_tracepoints(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "sys/kernel/tracing/events/sched/sched_switch/format", "x");
	expect_eq(probe(m, NULL)->tracepoints[FEATURES_TP_sched_switch], TRI_YES);
	expect_eq(m->f.tracepoints[FEATURES_TP_sched_waking], TRI_NO);
}

static void files_of_proc_and_sys_are_read(void **state)
{
	struct machine *m = *state;
	struct caps admin = { .effective = CAPS_BIT(CAP_SYS_ADMIN) };
	struct caps none = { 0 };

	tree_write(&m->tree, "proc/sys/kernel/osrelease", "6.12.1");
	tree_write(&m->tree, "proc/sys/kernel/unprivileged_bpf_disabled", "2");
	tree_write(&m->tree, "sys/kernel/security/lockdown", "none [integrity] confidentiality");
	expect_eq(probe(m, &admin)->unprivileged_bpf, TRI_NO);
	expect_eq(m->f.lockdown, LOCKDOWN_INTEGRITY);
	expect_eq(m->f.bpf_stats, TRI_YES);
	expect_eq(probe(m, &none)->bpf_stats, TRI_NO);

	tree_write(&m->tree, "sys/kernel/security/lockdown", "none integrity [confidentiality]");
	tree_write(&m->tree, "proc/sys/kernel/unprivileged_bpf_disabled", "0");
	tree_write(&m->tree, "sys/kernel/sched_ext/state", "disabled");
	expect_eq(probe(m, &admin)->lockdown, LOCKDOWN_CONFIDENTIALITY);
	expect_eq(m->f.unprivileged_bpf, TRI_YES);
	expect_eq(m->f.sched_ext, TRI_YES);
}

static void this_machine_has_the_scheduler_in_its_btf(void **state)
{
	struct features_cfg cfg = { .root = "" };
	struct features f;

	(void)state;
	features_probe(&cfg, &f);
	expect_eq(f.btf == TRI_YES, access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	if (f.btf != TRI_YES)
		return;
	assert_true(f.version > 0);
	assert_true(f.switch_args != SWITCH_ARGS_UNKNOWN);
	expect_eq(f.tracepoints[FEATURES_TP_sched_waking], TRI_YES);
	expect_eq(f.fields[FEATURES_RQ_NR_RUNNING], TRI_YES);
	assert_true(f.task_storage_in_tracing != TRI_UNKNOWN);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sched_switch_with_three_arguments_is_known),
		WITH(sched_switch_with_the_state_second_is_known),
		WITH(sched_switch_with_the_state_last_is_known),
		WITH(further_arguments_at_the_end_do_no_harm),
		WITH(a_sched_switch_of_another_shape_is_unknown),
		WITH(a_sched_switch_with_two_arguments_is_unknown),
		WITH(fields_are_found_also_in_anonymous_parts),
		WITH(task_storage_is_decided_by_btf_before_the_release),
		WITH(task_storage_without_btf_goes_by_the_release),
		WITH(releases_are_read_with_care),
		WITH(nothing_known_is_unknown),
		WITH(garbage_instead_of_btf_is_unknown),
		WITH(without_btf_tracefs_knows_the_tracepoints),
		WITH(files_of_proc_and_sys_are_read),
		cmocka_unit_test(this_machine_has_the_scheduler_in_its_btf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
