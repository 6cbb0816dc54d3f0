#include "../unit.h"

#include <string.h>

#include "abi/event_check.h"
#include "abi/event_make.h"

/* Room for every kind with a variable part. */
union record {
	struct ev_hdr hdr;
	struct ev_rename rename;
	struct ev_sample sample;
	struct ev_pmu pmu;
	struct ev_affinity affinity;
	struct ev_probe_info probe_info;
	char bytes[256];
};

static union record blank(unsigned int kind)
{
	union record r = { 0 };

	r.hdr.kind = (__u8)kind;
	r.hdr.size = (__u16)ev_fixed_size(kind);
	if (kind == EV_PROBE_INFO || kind == EV_STRING || kind == EV_CGROUP_INFO) {
		r.hdr.size = (__u16)(r.hdr.size + 8);
		memcpy(r.bytes + sizeof(r.probe_info), "read", 5);
	}
	return r;
}

static void every_kind_passes_at_its_size_and_at_no_other(void **state)
{
	unsigned int nr = 0;

	(void)state;
	for (unsigned int kind = 0; kind < 256; kind++) {
		union record r = blank(kind);
		__u16 size = r.hdr.size;

		if (!ev_fixed_size(kind)) {
			r.hdr.size = 64;
			assert_false(ev_check(&r, sizeof(r)));
			continue;
		}
		nr++;
		assert_true(ev_check(&r, size));
		assert_true(ev_check(&r, sizeof(r)));
		assert_false(ev_check(&r, size - 1U));
		r.hdr.size = (__u16)(size - 8);
		assert_false(ev_check(&r, sizeof(r)));
		r.hdr.size = (__u16)(size + 4);
		assert_false(ev_check(&r, sizeof(r)));
		r.hdr.size = (__u16)(size + 8);
		if (kind != EV_PROBE_INFO && kind != EV_STRING &&
		    kind != EV_CGROUP_INFO) /* a text may be padded further */
			assert_false(ev_check(&r, sizeof(r)));
	}
	expect_eq(nr, 59);
}

static void locks_are_called_by_their_kind(void **state)
{
	(void)state;
	assert_string_equal(ev_lock_name(EV_LOCK_SPIN), "spinlock");
	assert_string_equal(ev_lock_name(EV_LOCK_SPIN | EV_LOCK_INTERRUPT), "spinlock");
	assert_string_equal(ev_lock_name(EV_LOCK_SPIN | EV_LOCK_READ), "rwlock");
	assert_string_equal(ev_lock_name(EV_LOCK_WRITE), "rwsem");
	assert_string_equal(ev_lock_name(EV_LOCK_READ | EV_LOCK_PERCPU), "percpu_rwsem");
	assert_string_equal(ev_lock_name(EV_LOCK_RT | EV_LOCK_READ), "rt_mutex");
	assert_string_equal(ev_lock_name(EV_LOCK_MUTEX | EV_LOCK_FAILED), "mutex");
	assert_string_equal(ev_lock_name(0), "semaphore");
	assert_string_equal(ev_policy_name(ABI_POLICY_RR), "RR");
	assert_null(ev_policy_name(ABI_POLICY_UNKNOWN));
	assert_null(ev_policy_name(5));
	assert_null(ev_policy_name(ABI_POLICIES));
}

static void less_than_a_header_is_nothing(void **state)
{
	union record r = blank(EV_SWITCH);

	(void)state;
	assert_false(ev_check(&r, 0));
	assert_false(ev_check(&r, sizeof(struct ev_hdr) - 1));
	r.hdr.size = sizeof(struct ev_hdr);
	assert_false(ev_check(&r, sizeof(struct ev_hdr)));
}

static void a_set_of_cpus_must_be_as_long_as_it_says(void **state)
{
	union record r = blank(EV_AFFINITY);

	(void)state;
	r.affinity.nr = 2;
	assert_false(ev_check(&r, sizeof(r)));
	r.hdr.size = sizeof(r.affinity) + 2 * 8;
	assert_true(ev_check(&r, sizeof(r)));
	r.affinity.nr = 0xffff;
	assert_false(ev_check(&r, sizeof(r)));
}

static void a_stack_must_be_as_long_as_it_says(void **state)
{
	union record r = blank(EV_SAMPLE);

	(void)state;
	r.sample.nr_kernel = 2;
	r.sample.nr_user = 1;
	assert_false(ev_check(&r, sizeof(r)));
	r.hdr.size = sizeof(r.sample) + 3 * 8;
	assert_true(ev_check(&r, sizeof(r)));
	r.sample.nr_user = 0xffff;
	r.sample.nr_kernel = 0xffff;
	assert_false(ev_check(&r, sizeof(r)));
}

static void counters_must_be_as_many_as_it_says(void **state)
{
	union record r = blank(EV_PMU);

	(void)state;
	r.pmu.nr = 2;
	assert_false(ev_check(&r, sizeof(r)));
	r.hdr.size = sizeof(r.pmu) + 2 * 8;
	assert_true(ev_check(&r, sizeof(r)));
	r.pmu.nr = 0x20000002; /* times 8 is 16 in 32 bits */
	assert_false(ev_check(&r, sizeof(r)));
}

static void a_string_must_end(void **state)
{
	union record r = blank(EV_STRING);
	char *text = r.bytes + sizeof(struct ev_string);

	(void)state;
	memset(text, 'x', 8);
	assert_false(ev_check(&r, sizeof(r)));
	text[7] = '\0';
	assert_true(ev_check(&r, sizeof(r)));
	text[0] = '\0'; /* an empty one is a text too */
	assert_true(ev_check(&r, sizeof(r)));
	r.hdr.size = sizeof(struct ev_string);
	assert_false(ev_check(&r, sizeof(r)));
}

static void a_path_of_a_cgroup_must_end(void **state)
{
	struct ev_cgroup_named r;
	char longest[2 * EV_CGROUP_PATH_MAX];

	(void)state;
	ev_make_cgroup_info(&r, 7, "/build", 5);
	expect_eq(r.info.hdr.size, sizeof(r.info) + 8);
	assert_true(ev_check(&r, sizeof(r)));
	assert_string_equal(r.path, "/build");
	r.path[7] = 'x';
	assert_false(ev_check(&r, sizeof(r)));
	ev_make_cgroup_info(&r, 7, "/build12", 5); /* the NUL takes a word of its own */
	expect_eq(r.info.hdr.size, sizeof(r.info) + 16);
	assert_true(ev_check(&r, sizeof(r)));
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ev_make_cgroup_info(&r, 7, longest, 5);
	expect_eq(r.info.hdr.size, sizeof(r));
	assert_true(ev_check(&r, sizeof(r)));
	expect_eq(strlen(r.path), EV_CGROUP_PATH_MAX - 1);
}

static void a_probe_needs_a_name_that_ends(void **state)
{
	union record r = blank(EV_PROBE_INFO);
	char *name = r.bytes + sizeof(r.probe_info);

	(void)state;
	memset(name, 'x', 8);
	assert_false(ev_check(&r, sizeof(r)));
	r.hdr.size = sizeof(r.probe_info) + 16;
	assert_true(ev_check(&r, sizeof(r)));
	name[0] = '\0';
	assert_false(ev_check(&r, sizeof(r)));
	r.hdr.size = sizeof(r.probe_info);
	assert_false(ev_check(&r, sizeof(r)));
}

static void texts_that_do_not_end_are_refused(void **state)
{
	static const unsigned int kinds[] = { EV_FORK,       EV_EXEC,      EV_EXIT,
		                              EV_RENAME,     EV_FREE,      EV_HANG,
		                              EV_WAIT,       EV_TASK_INFO, EV_IRQ_ENTRY,
		                              EV_IPI_EXIT,   EV_IPI_ENTRY, EV_SCX_STATE,
		                              EV_SCX_COUNTER };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		union record r = blank(kinds[i]);

		r.bytes[r.hdr.size - 1] = 'x'; /* the text is the last field of all of them */
		assert_false(ev_check(&r, sizeof(r)));
	}
	union record r = blank(EV_RENAME);

	memset(r.rename.old_comm, 'x', EV_COMM_LEN);
	assert_false(ev_check(&r, sizeof(r)));
}

static void why_a_scheduler_went_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(ev_scx_reason(EV_SCX_EXIT_UNREG), "unregistered from user space");
	assert_string_equal(ev_scx_reason(1026), "runnable task stall");
	assert_null(ev_scx_reason(0));
	assert_null(ev_scx_reason(63));
	assert_null(ev_scx_reason(1030));
}

static void names_go_both_ways(void **state)
{
	(void)state;
	assert_string_equal(ev_kind_name(EV_WAKEUP_NEW), "WAKEUP_NEW");
	assert_null(ev_kind_name(0));
	assert_null(ev_kind_name(63));
	assert_null(ev_kind_name(1000));
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (ev_kind_name(kind))
			expect_eq(ev_kind_by_name(ev_kind_name(kind)), kind);
	expect_eq(ev_kind_by_name("wakeup-new"), EV_WAKEUP_NEW);
	expect_eq(ev_kind_by_name("Cpu_Idle"), EV_CPU_IDLE);
	expect_eq(ev_kind_by_name("wakeup-"), 0);
	expect_eq(ev_kind_by_name("wakeups"), 0);
	expect_eq(ev_kind_by_name(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_passes_at_its_size_and_at_no_other),
		cmocka_unit_test(locks_are_called_by_their_kind),
		cmocka_unit_test(less_than_a_header_is_nothing),
		cmocka_unit_test(a_set_of_cpus_must_be_as_long_as_it_says),
		cmocka_unit_test(a_stack_must_be_as_long_as_it_says),
		cmocka_unit_test(counters_must_be_as_many_as_it_says),
		cmocka_unit_test(a_string_must_end),
		cmocka_unit_test(a_path_of_a_cgroup_must_end),
		cmocka_unit_test(a_probe_needs_a_name_that_ends),
		cmocka_unit_test(texts_that_do_not_end_are_refused),
		cmocka_unit_test(why_a_scheduler_went_has_a_name),
		cmocka_unit_test(names_go_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
