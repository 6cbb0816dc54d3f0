#include "../unit.h"

#include "abi/event.h"
#include "collect/stat/stat_plan.h"

static const struct stat_kernel new_kernel = { .switch_args = ABI_SWITCH_STATE_LAST,
	                                       .may_create_storage = true };
static const struct stat_kernel old_kernel = { .switch_args = ABI_SWITCH_3 };

static struct stat_plan plan_for(uint32_t groups)
{
	struct stat_request req = { .groups = groups, .nr_cpus = 4, .ring_bytes = 1 << 20 };
	struct stat_plan plan;

	stat_plan_make(&req, &new_kernel, &plan);
	return plan;
}

static void latency_alone_keeps_two_histograms(void **state)
{
	struct stat_plan p = plan_for(STAT_GROUP_LATENCY);

	(void)state;
	expect_eq(p.cfg.index[STAT_DELAY_WOKEN], 0);
	expect_eq(p.cfg.index[STAT_DELAY_PREEMPTED], 1);
	assert_true(p.cfg.index[STAT_SLICE_VOLUNTARY] < 0);
	assert_true(p.cfg.index[STAT_SLEEP_S] < 0);
	expect_eq(p.cfg.value_bytes, sizeof(struct stat_task) + 2 * sizeof(struct abi_hist));
	assert_true(p.wants_wakeup);
	assert_false(p.wants_waking || p.wants_migrate || p.wants_flush);
}

static void nothing_is_loaded_that_no_group_needs(void **state)
{
	struct stat_plan slice = plan_for(STAT_GROUP_SLICE);
	struct stat_plan migration = plan_for(STAT_GROUP_MIGRATION);

	(void)state;
	assert_false(slice.wants_wakeup || slice.wants_waking || slice.wants_migrate);
	assert_true(migration.wants_migrate);
	expect_eq(migration.cfg.value_bytes, sizeof(struct stat_task));
	assert_false(migration.cfg.has_delay || migration.cfg.has_sleep || migration.cfg.has_depth);
}

static void waits_from_the_waking_load_its_program_and_no_histogram(void **state)
{
	struct stat_request req = { .groups = STAT_GROUP_LATENCY,
		                    .nr_cpus = 4,
		                    .is_from_waking = true,
		                    .is_for_screen = true };
	struct stat_plan p;

	(void)state;
	stat_plan_make(&req, &new_kernel, &p);
	assert_true(p.wants_waking && p.cfg.is_from_waking && !p.cfg.has_waking);
	assert_true(p.wants_asking); /* the stamp is in the task's own storage */
	expect_eq(p.cfg.value_bytes, sizeof(struct stat_task) + 2 * sizeof(struct abi_hist));
	req.groups = STAT_GROUP_SLICE;
	stat_plan_make(&req, &new_kernel, &p);
	assert_false(p.wants_waking || p.cfg.is_from_waking);
}

static void a_screen_has_times_instead_of_depths(void **state)
{
	struct stat_request req = { .groups = STAT_GROUP_LATENCY | STAT_GROUP_SLICE, .nr_cpus = 4 };
	struct stat_plan p;

	(void)state;
	stat_plan_make(&req, &new_kernel, &p);
	assert_true(p.cfg.has_depth && !p.cfg.has_times);
	req.is_for_screen = true;
	stat_plan_make(&req, &new_kernel, &p);
	assert_true(!p.cfg.has_depth && p.cfg.has_times);
	req.groups = STAT_GROUP_LATENCY;
	stat_plan_make(&req, &new_kernel, &p);
	assert_false(p.cfg.has_times); /* nothing would say how long tasks ran */
}

/* Linux 7 allocates task storage with a limit of 8 KiB, and 4 KiB pages bound the slab before that. */
static void all_groups_fit_into_one_slab_object(void **state)
{
	struct stat_plan p = plan_for(~0U);

	(void)state;
	assert_true(p.cfg.value_bytes <= 8192 - 256);
	assert_true(sizeof(struct stat_waking) <= 4096 - 256);
	assert_true(sizeof(struct stat_queued) <= 4096 - 256);
}

static void places_of_histograms_do_not_overlap(void **state)
{
	(void)state;
	for (uint32_t groups = 0; groups < 128; groups++) {
		struct stat_plan p = plan_for(groups);
		unsigned int seen = 0, nr = 0;

		for (int m = 0; m < STAT_METRICS; m++) {
			if (p.cfg.index[m] < 0)
				continue;
			expect_eq(seen & (1U << p.cfg.index[m]), 0);
			seen |= 1U << p.cfg.index[m];
			nr++;
		}
		expect_eq(p.cfg.value_bytes,
		          sizeof(struct stat_task) + nr * sizeof(struct abi_hist));
	}
}

static void outliers_bring_the_latency_times(void **state)
{
	struct stat_request req = { .groups = STAT_GROUP_SLICE, .outlier_ns = 5, .nr_cpus = 2 };
	struct stat_plan p;

	(void)state;
	stat_plan_make(&req, &new_kernel, &p);
	assert_true(p.cfg.has_delay && p.cfg.has_history && p.wants_wakeup);
}

static void old_kernels_create_no_storage_under_locks(void **state)
{
	struct stat_request req = { .groups = STAT_GROUP_LATENCY, .nr_cpus = 2 };
	struct stat_plan p;

	(void)state;
	stat_plan_make(&req, &old_kernel, &p);
	assert_false(p.cfg.may_create);
	expect_eq(p.cfg.switch_args, ABI_SWITCH_3);
}

static void queues_are_watched_where_the_kernel_has_what_it_takes(void **state)
{
	struct stat_request req = { .groups = STAT_GROUP_DSQ, .nr_cpus = 2 };
	struct stat_kernel kernel = new_kernel;
	struct stat_plan p;

	(void)state;
	stat_plan_make(&req, &kernel, &p);
	assert_false(p.cfg.has_dsq);
	expect_eq(p.scx.nr, 0);
	kernel.scx = (struct scx_plan){ .kinds = EV_BIT(EV_DSQ_LEAVE),
		                        .nr = 1,
		                        .programs = { { .program = "on_dsq_enter",
		                                        .function = "dispatch_enqueue" } },
		                        .dsq_at = 2 };
	stat_plan_make(&req, &kernel, &p);
	assert_true(p.cfg.has_dsq);
	expect_eq(p.cfg.dsq_at, 2);
	expect_eq(p.scx.nr, 1);
	/* Its histogram has a storage of its own. */
	expect_eq(p.cfg.value_bytes, sizeof(struct stat_task));
	assert_false(p.cfg.is_dsq_by_kprobe);
	kernel.scx.way = SCX_BY_KPROBE;
	stat_plan_make(&req, &kernel, &p);
	assert_true(p.cfg.is_dsq_by_kprobe);
	req.groups = STAT_GROUP_LATENCY;
	stat_plan_make(&req, &kernel, &p);
	assert_false(p.cfg.has_dsq);
	assert_false(p.cfg.is_dsq_by_kprobe);
	expect_eq(p.scx.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency_alone_keeps_two_histograms),
		cmocka_unit_test(nothing_is_loaded_that_no_group_needs),
		cmocka_unit_test(waits_from_the_waking_load_its_program_and_no_histogram),
		cmocka_unit_test(a_screen_has_times_instead_of_depths),
		cmocka_unit_test(all_groups_fit_into_one_slab_object),
		cmocka_unit_test(places_of_histograms_do_not_overlap),
		cmocka_unit_test(outliers_bring_the_latency_times),
		cmocka_unit_test(old_kernels_create_no_storage_under_locks),
		cmocka_unit_test(queues_are_watched_where_the_kernel_has_what_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
