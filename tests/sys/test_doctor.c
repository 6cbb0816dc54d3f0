#include "../unit.h"
#include "tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/doctor.h"

struct machine {
	struct tree tree;
	struct caps caps;
	struct doctor_cfg cfg;
	struct doctor_report report;
};

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	tree_init(&m->tree);
	m->cfg = (struct doctor_cfg){ .root = m->tree.root, .binary = "/usr/bin/schedscope" };
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	tree_done(&m->tree);
	free(m);
	return 0;
}

static const struct doctor_row *row(struct machine *m, const char *check)
{
	doctor_run(&m->cfg, &m->report);
	for (size_t i = 0; i < m->report.nr; i++)
		if (strcmp(m->report.rows[i].check, check) == 0)
			return &m->report.rows[i];
	fail_msg("no check '%s'", check);
	abort();
}

static void expect_row(struct machine *m, const char *check, enum doctor_state state,
                       const char *word)
{
	const struct doctor_row *r = row(m, check);

	if (r->state != state || !strstr(r->meaning, word))
		fail_msg("%s: %s, '%s' instead of %s, '%s'", check, doctor_state_name(r->state),
		         r->meaning, doctor_state_name(state), word);
}

static void put_link(struct machine *m, const char *path, const char *target)
{
	char full[2 * PATH_MAX];

	tree_write(&m->tree, path, "");
	snprintf(full, sizeof(full), "%s/%s", m->tree.root, path);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(symlink(target, full), 0);
}

static void an_empty_machine_gets_an_answer_to_every_check(void **state)
{
	struct machine *m = *state;

	doctor_run(&m->cfg, &m->report);
	assert_true(m->report.nr >= 13);
	assert_string_equal(m->report.release, "");
	for (size_t i = 0; i < m->report.nr; i++) {
		const struct doctor_row *r = &m->report.rows[i];

		assert_true(r->meaning[0] != '\0');
		if (r->state == DOCTOR_OK)
			assert_string_equal(r->check, "lockdown");
	}
}

static void the_kernel_is_judged_by_its_release(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/sys/kernel/osrelease", "6.12.5");
	expect_row(m, "kernel", DOCTOR_OK, "6.12.5");
	assert_string_equal(m->report.release, "6.12.5");
	tree_write(&m->tree, "proc/sys/kernel/osrelease", "6.1.0-18-amd64");
	expect_row(m, "kernel", DOCTOR_OK, "6.1.0-18-amd64; task data");
	tree_write(&m->tree, "proc/sys/kernel/osrelease", "4.19.0");
	expect_row(m, "kernel", DOCTOR_MISSING, "too old");
}

static void missing_capabilities_come_with_the_setcap_line(void **state)
{
	struct machine *m = *state;

	m->cfg.caps = &m->caps;
	expect_row(m, "capabilities", DOCTOR_MISSING, "cap_bpf,cap_perfmon");
	assert_non_null(strstr(row(m, "capabilities")->remedy, "setcap cap_bpf,cap_perfmon,"));
	assert_non_null(strstr(row(m, "capabilities")->remedy,
	                       "f=/usr/bin/schedscope; chgrp adm \"$f\" && chmod 750"));
	m->caps.effective = CAPS_BIT(CAP_BPF);
	expect_row(m, "capabilities", DOCTOR_MISSING, "without cap_perfmon");
	m->caps.effective = CAPS_TRACE;
	expect_row(m, "capabilities", DOCTOR_OK, "");
	assert_string_equal(row(m, "capabilities")->remedy, "");
}

static void loading_a_program_is_reported(void **state)
{
	struct machine *m = *state;

	expect_row(m, "bpf", DOCTOR_LIMITED, "not tried");
	m->cfg.has_tried_bpf = true;
	expect_row(m, "bpf", DOCTOR_OK, "loaded");
	m->cfg.bpf_error = -EPERM;
	expect_row(m, "bpf", DOCTOR_MISSING, "refuses");
	m->cfg.bpf_error = -ENOSYS;
	expect_row(m, "bpf", DOCTOR_MISSING, "no program");
}

static void watching_functions_is_reported_as_it_was_tried(void **state)
{
	struct machine *m = *state;

	expect_row(m, "functions", DOCTOR_LIMITED, "not tried");
	m->cfg.has_tried_bpf = true;
	expect_row(m, "functions", DOCTOR_OK, "by fentry and by kprobe");
	m->cfg.fentry_error = -EPERM;
	expect_row(m, "functions", DOCTOR_OK, "not by fentry (Operation not permitted)");
	m->cfg.kprobe_error = -ENOENT;
	expect_row(m, "functions", DOCTOR_LIMITED, "cannot be traced");
	m->cfg.fentry_error = 0;
	expect_row(m, "functions", DOCTOR_LIMITED, "not by kprobe (this kernel has none)");
}

static void a_refused_program_makes_an_unknown_lockdown_suspect(void **state)
{
	struct machine *m = *state;

	m->cfg.has_tried_bpf = true;
	expect_row(m, "lockdown", DOCTOR_OK, "not active");
	m->cfg.fentry_error = -EPERM;
	expect_row(m, "lockdown", DOCTOR_LIMITED, "unknown; it may be why");
	tree_write(&m->tree, "sys/kernel/security/lockdown", "none [integrity] confidentiality");
	expect_row(m, "lockdown", DOCTOR_LIMITED, "lockdown=integrity");
	tree_write(&m->tree, "sys/kernel/security/lockdown", "[none] integrity confidentiality");
	expect_row(m, "lockdown", DOCTOR_OK, "not active");
}

static void lockdown_of_confidentiality_is_reported(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "sys/kernel/security/lockdown", "none integrity [confidentiality]");
	expect_row(m, "lockdown", DOCTOR_MISSING, "confidentiality");
}

static void counters_are_named(void **state)
{
	struct machine *m = *state;

	expect_row(m, "pmu", DOCTOR_MISSING, "no hardware counters");
	tree_unpack(&m->tree, "pmu/intel_hybrid.txt");
	expect_row(m, "pmu", DOCTOR_OK, "cpu_atom, cpu_core");
}

static void paranoid_matters_without_the_capability_only(void **state)
{
	struct machine *m = *state;

	expect_row(m, "perf_event_paranoid", DOCTOR_MISSING, "no performance events");
	tree_write(&m->tree, "proc/sys/kernel/perf_event_paranoid", "2");
	expect_row(m, "perf_event_paranoid", DOCTOR_LIMITED, "is 2");
	m->cfg.caps = &m->caps;
	m->caps.effective = CAPS_BIT(CAP_PERFMON);
	expect_row(m, "perf_event_paranoid", DOCTOR_OK, "is 2");
	m->caps.effective = 0;
	tree_write(&m->tree, "proc/sys/kernel/perf_event_paranoid", "-1");
	expect_row(m, "perf_event_paranoid", DOCTOR_OK, "is -1");
}

static void schedstats_may_be_missing_off_or_on(void **state)
{
	struct machine *m = *state;

	expect_row(m, "schedstats", DOCTOR_MISSING, "no /proc/schedstat");
	tree_write(&m->tree, "proc/schedstat", "version 15");
	tree_write(&m->tree, "proc/sys/kernel/sched_schedstats", "0");
	expect_row(m, "schedstats", DOCTOR_OK, "switched off");
	tree_write(&m->tree, "proc/sys/kernel/sched_schedstats", "1");
	expect_row(m, "schedstats", DOCTOR_OK, "");
}

static void a_bpf_scheduler_is_named(void **state)
{
	struct machine *m = *state;

	expect_row(m, "sched_ext", DOCTOR_MISSING, "not in this kernel");
	tree_write(&m->tree, "sys/kernel/sched_ext/state", "disabled");
	expect_row(m, "sched_ext", DOCTOR_OK, "no scheduler");
	tree_write(&m->tree, "sys/kernel/sched_ext/state", "enabled");
	tree_write(&m->tree, "sys/kernel/sched_ext/root/ops", "rus\ty");
	expect_row(m, "sched_ext", DOCTOR_OK, "enabled: rus?y");
}

static void the_mount_of_cgroup2_is_found(void **state)
{
	struct machine *m = *state;

	expect_row(m, "cgroups", DOCTOR_LIMITED, "cannot be read");
	tree_write(&m->tree, "proc/self/mountinfo",
	           "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu");
	expect_row(m, "cgroups", DOCTOR_LIMITED, "no cgroup2");
	tree_write(&m->tree, "proc/self/mountinfo",
	           "30 24 0:26 / /c/cpu rw - cgroup cgroup rw,cpu\n"
	           "31 24 0:27 / /c/unified rw,nosuid shared:4 - cgroup2 cgroup2 rw");
	expect_row(m, "cgroups", DOCTOR_OK, "/c/unified");
}

static void hidden_addresses_are_reported(void **state)
{
	struct machine *m = *state;

	expect_row(m, "kallsyms", DOCTOR_LIMITED, "no /proc/kallsyms");
	tree_write(&m->tree, "proc/kallsyms", "0000000000000000 T _stext");
	tree_write(&m->tree, "proc/sys/kernel/kptr_restrict", "1");
	expect_row(m, "kallsyms", DOCTOR_LIMITED, "kptr_restrict is 1");
	tree_write(&m->tree, "proc/kallsyms", "ffff800080010000 T _stext");
	expect_row(m, "kallsyms", DOCTOR_OK, "");
	tree_write(&m->tree, "proc/kallsyms",
	           "0000000000000000 A fixed_percpu_data\n0000000000000000 A __per_cpu_start\n"
	           "0000000000001000 A cpu_debug_store\n");
	expect_row(m, "kallsyms", DOCTOR_OK, "");
}

static void a_pid_namespace_is_noticed(void **state)
{
	struct machine *m = *state;

	expect_row(m, "container", DOCTOR_LIMITED, "unknown");
	put_link(m, "proc/self/ns/mnt", "mnt:[4026531841]");
	expect_row(m, "container", DOCTOR_OK, "no pid namespaces");
	put_link(m, "proc/self/ns/pid", "pid:[4026531836]");
	expect_row(m, "container", DOCTOR_OK, "first");
	tree_write(&m->tree, ".dockerenv", "");
	expect_row(m, "container", DOCTOR_OK, "container");
	put_link(m, "proc/self/ns/pid", "pid:[4026532567]");
	expect_row(m, "container", DOCTOR_LIMITED, "pid namespace");
}

static void cpus_and_their_caches_are_counted(void **state)
{
	struct machine *m = *state;

	expect_row(m, "cpus", DOCTOR_LIMITED, "unknown");
	tree_write(&m->tree, "sys/devices/system/cpu/online", "garbage");
	expect_row(m, "cpus", DOCTOR_LIMITED, "unknown");
	tree_write(&m->tree, "sys/devices/system/cpu/online", "2-5,8");
	expect_row(m, "cpus", DOCTOR_LIMITED, "5 online (2-5,8)");
	tree_write(&m->tree, "sys/devices/system/cpu/cpu2/cache/index3/id", "0");
	expect_row(m, "cpus", DOCTOR_OK, "5 online");
}

static void a_kernel_without_a_filter_of_calls_is_reported(void **state)
{
	struct machine *m = *state;

	expect_row(m, "seccomp", DOCTOR_LIMITED, "cannot filter system calls");
	tree_write(&m->tree, "proc/sys/kernel/seccomp/actions_avail", "kill_process errno allow");
	expect_row(m, "seccomp", DOCTOR_OK, "can make few system calls");
}

static void tracefs_may_be_mounted_or_not(void **state)
{
	struct machine *m = *state;

	expect_row(m, "tracefs", DOCTOR_LIMITED, "not mounted");
	tree_write(&m->tree, "sys/kernel/tracing/events/sched/enable", "0");
	expect_row(m, "tracefs", DOCTOR_OK, "");
}

static void absent_tracepoints_are_named(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "sys/kernel/tracing/events/sched/sched_switch/format", "");
	expect_row(m, "tracepoints", DOCTOR_LIMITED, "sched_waking, ");
	assert_null(strstr(row(m, "tracepoints")->meaning, "sched_switch"));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(an_empty_machine_gets_an_answer_to_every_check),
		WITH(the_kernel_is_judged_by_its_release),
		WITH(missing_capabilities_come_with_the_setcap_line),
		WITH(loading_a_program_is_reported),
		WITH(watching_functions_is_reported_as_it_was_tried),
		WITH(a_refused_program_makes_an_unknown_lockdown_suspect),
		WITH(lockdown_of_confidentiality_is_reported),
		WITH(counters_are_named),
		WITH(paranoid_matters_without_the_capability_only),
		WITH(schedstats_may_be_missing_off_or_on),
		WITH(a_bpf_scheduler_is_named),
		WITH(the_mount_of_cgroup2_is_found),
		WITH(hidden_addresses_are_reported),
		WITH(a_pid_namespace_is_noticed),
		WITH(cpus_and_their_caches_are_counted),
		WITH(a_kernel_without_a_filter_of_calls_is_reported),
		WITH(tracefs_may_be_mounted_or_not),
		WITH(absent_tracepoints_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
