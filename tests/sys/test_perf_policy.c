/* Which events of perf are handed to a process without rights. */
#include "../unit.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sys/rights/perf_policy.h"
#include "tree.h"

struct fixture {
	struct tree tree;
	char devices[PATH_MAX];
};

static void write_pmu(struct fixture *f, const char *name, const char *type)
{
	char path[256];

	snprintf(path, sizeof(path), "devices/%s/type", name);
	tree_write(&f->tree, path, type);
}

static int setup(void **state)
{
	static struct fixture f;

	tree_init(&f.tree);
	snprintf(f.devices, sizeof(f.devices), "%s/devices", f.tree.root);
	write_pmu(&f, "cpu", "4\n");
	write_pmu(&f, "kprobe", "8\n");
	write_pmu(&f, "uprobe", "9\n");
	write_pmu(&f, "intel_pt", "10\n");
	write_pmu(&f, "uncore_imc_0", "11\n");
	write_pmu(&f, "armv8_pmuv3_0", "12\n");
	tree_write(&f.tree, "devices/armv8_pmuv3_0/cpus", "0-1\n");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	tree_done(&((struct fixture *)*state)->tree);
	return 0;
}

static struct perf_event_attr counter(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_hv = 1,
		.exclude_idle = 1,
	};
}

static void what_the_program_opens_is_allowed(void **state)
{
	const struct fixture *f = *state;
	struct perf_event_attr attr = counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	assert_true(perf_policy_allows(&attr, f->devices));
	attr.inherit = attr.inherit_thread = 1;
	assert_true(perf_policy_allows(&attr, f->devices));
	attr = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.freq = 1;
	attr.sample_freq = 999;
	assert_true(perf_policy_allows(&attr, f->devices));
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_user = 1;
	attr.sample_max_stack = 8;
	attr.watermark = 1;
	attr.wakeup_watermark = 4096;
	assert_true(perf_policy_allows(&attr, f->devices));
	attr = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_BOOTTIME;
	assert_true(perf_policy_allows(&attr, f->devices));
	attr = counter(PERF_TYPE_TRACEPOINT, 300);
	assert_true(perf_policy_allows(&attr, f->devices));
	attr = counter(PERF_TYPE_RAW, 0x3c);
	assert_true(perf_policy_allows(&attr, f->devices));
}

static void what_reads_other_processes_is_refused(void **state)
{
	static const uint64_t samples[] = {
		PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,   PERF_SAMPLE_ADDR,
		PERF_SAMPLE_RAW,       PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_INTR,
		PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_AUX,          1ULL << 63,
	};
	const struct fixture *f = *state;
	struct perf_event_attr attr;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		attr = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
		attr.sample_type = samples[i];
		assert_false(perf_policy_allows(&attr, f->devices));
	}
	attr = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN; /* with the stacks of processes */
	assert_false(perf_policy_allows(&attr, f->devices));
	attr = counter(PERF_TYPE_BREAKPOINT, 0);
	assert_false(perf_policy_allows(&attr, f->devices));
}

/* Each byte of the attributes that no event of ours sets. */
static void what_is_not_known_is_refused(void **state)
{
	const struct fixture *f = *state;
	size_t from = offsetof(struct perf_event_attr, branch_sample_type), nr_refused = 0;

	for (size_t at = from; at < sizeof(struct perf_event_attr); at++) {
		struct perf_event_attr attr = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

		((unsigned char *)&attr)[at] = 0x80;
		nr_refused += !perf_policy_allows(&attr, f->devices);
	}
	/* All but the clock (4 bytes), of which any is harmless. */
	expect_eq(nr_refused, sizeof(struct perf_event_attr) - from - 4);
	for (uint32_t size = 0; size < 2 * sizeof(struct perf_event_attr); size += 8) {
		struct perf_event_attr attr = counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

		attr.size = size;
		expect_eq(perf_policy_allows(&attr, f->devices), size == sizeof(attr));
	}
}

static void pmus_that_take_addresses_or_write_down_branches_are_refused(void **state)
{
	const struct fixture *f = *state;
	struct perf_event_attr attr;

	for (uint32_t type = 8; type <= 10; type++) {
		attr = counter(type, 0);
		assert_false(perf_policy_allows(&attr, f->devices));
	}
	attr = counter(11, 1);
	assert_true(perf_policy_allows(&attr, f->devices));
	attr.sample_period = 1000; /* no core */
	assert_false(perf_policy_allows(&attr, f->devices));
	attr = counter(12, 1);
	attr.sample_period = 1000;
	assert_true(perf_policy_allows(&attr, f->devices));
	attr = counter(77, 1); /* there is none */
	assert_false(perf_policy_allows(&attr, f->devices));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_program_opens_is_allowed),
		cmocka_unit_test(what_reads_other_processes_is_refused),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(pmus_that_take_addresses_or_write_down_branches_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
