#include "../analyze/more_records.h"

#include "analyses/passes.h"

#define SDA (8U << 20)
#define SDB (8U << 20 | 16)

static const struct block_step sda_read = { SDA, 100, 8, 10, "R" };
static const struct block_step sdb_write = { SDB, 100, 16, 11, "WS" };
static const struct block_step sda_flush = { SDA, 500, 0, 10, "F" };

/* Two requests for the same sector of two devices at once; one inserted, one not. */
static void two_devices(struct pass_fixture *p)
{
	block(&p->f, 1000, EV_BLOCK_INSERT, &sda_read);
	block(&p->f, 1200, EV_BLOCK_ISSUE, &sdb_write);
	block(&p->f, 1500, EV_BLOCK_ISSUE, &sda_read);
	block(&p->f, 2200, EV_BLOCK_COMPLETE, &sdb_write);
	block(&p->f, 3000, EV_BLOCK_COMPLETE, &sda_read);
	block(&p->f, 3100, EV_BLOCK_ISSUE, &sda_flush);
	block(&p->f, 3200, EV_BLOCK_COMPLETE, &sda_flush);
	finish(p, 9000);
}

static void w43_requests_pair_by_device_and_sector(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_devices(p);
	root = run_pass(p, &pass_block_io);
	expect_eq(num_at(root, "total_ios"), 3);
	expect_eq(num_at(root, "queue_latency.count"), 1);
	expect_eq(num_at(root, "queue_latency.max"), 500);
	expect_eq(num_at(root, "device_latency.count"), 3);
	expect_eq(num_at(root, "device_latency.max"), 1500);
	expect_eq(num_at(root, "total_latency.count"), 1);
	expect_eq(num_at(root, "total_latency.max"), 2000);
}

static void w43_reads_and_writes_count_without_an_insert_too(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_devices(p);
	root = run_pass(p, &pass_block_io);
	expect_eq(num_at(root, "read_count"), 1);
	expect_eq(num_at(root, "write_count"), 1);
	expect_eq(num_at(root, "other_count"), 1);
	expect_eq(num_at(root, "read_latency.max"), 2000);
	expect_eq(num_at(root, "write_latency.max"), 1000);
}

static void w43_sizes_throughput_devices_and_tasks(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_devices(p);
	root = run_pass(p, &pass_block_io);
	expect_eq(num_at(root, "read_bytes"), 4096);
	expect_eq(num_at(root, "write_bytes"), 8192);
	/* 4096 bytes in 8 us */
	assert_true(real_at(root, "read_bandwidth_mbps") == 4096.0);
	expect_eq(num_at(root, "size_bytes.max"), 8192);
	/* 1500 + 1000 + 100 ns of 8000 */
	assert_true(real_at(root, "avg_in_flight") == 0.325);
	expect_eq(len_at(root, "by_device"), 2);
	assert_string_equal(text_at(root, "by_device.0.device"), "8:0");
	expect_eq(num_at(root, "by_device.0.count"), 2);
	expect_eq(num_at(root, "by_device.0.total_duration_ns"), 2100);
	assert_string_equal(text_at(root, "by_device.1.device"), "8:16");
	expect_eq(num_at(root, "by_device.1.write_bytes"), 8192);
	expect_eq(num_at(root, "by_process.0.pid"), 10);
	p->args.tid = 11;
	expect_eq(num_at(run_pass(p, &pass_block_io), "total_ios"), 1);
	p->args.tid = 0;
	p->args.from_ns = 2500;
	expect_eq(num_at(run_pass(p, &pass_block_io), "total_ios"), 2);
}

static void w43_a_completion_before_its_issue_wraps_nowhere(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	block(&p->f, 1000, EV_BLOCK_COMPLETE, &sda_read);
	block(&p->f, 2000, EV_BLOCK_INSERT, &sda_read);
	block(&p->f, 2100, EV_BLOCK_COMPLETE, &sda_read);
	finish(p, 3000);
	root = run_pass(p, &pass_block_io);
	expect_eq(num_at(root, "total_ios"), 0);
	assert_true(is_null_at(root, "read_latency"));
	assert_true(is_null_at(root, "device_latency"));
}

static void packets_by_direction_and_device(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	packet(&p->f, 1000, "eth0", 1000, true);
	packet(&p->f, 2000, "eth0", 250, false);
	packet(&p->f, 3000, "lo", 750, false);
	finish(p, 1000001000); /* one second */
	root = run_pass(p, &pass_network_io);
	expect_eq(num_at(root, "tx_packets"), 1);
	expect_eq(num_at(root, "rx_packets"), 2);
	expect_eq(num_at(root, "tx_bytes"), 1000);
	expect_eq(num_at(root, "rx_bytes"), 1000);
	assert_true(real_at(root, "tx_bandwidth_mbps") == 0.008);
	assert_true(real_at(root, "duration_secs") == 1.0);
	assert_string_equal(text_at(root, "by_device.0.device"), "eth0");
	expect_eq(num_at(root, "by_device.0.rx_bytes"), 250);
	expect_eq(num_at(root, "by_device.1.rx_bytes"), 750);
}

/* W44: paired by CPU, two tasks that reclaim at once would get each other's ends. */
static void w44_reclaim_belongs_to_its_task_wherever_it_ends(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	memory(&p->f, 1000, 0, 10, EV_RECLAIM_BEGIN, 0);
	memory(&p->f, 1100, 1, 11, EV_RECLAIM_BEGIN, 0);
	memory(&p->f, 1500, 0, 11, EV_RECLAIM_END, 0);
	memory(&p->f, 3000, 1, 10, EV_RECLAIM_END, 0);
	memory(&p->f, 3100, 0, 10, EV_PAGE_ALLOC, 3);
	memory(&p->f, 3200, 0, 10, EV_PAGE_ALLOC, 0);
	memory(&p->f, 3300, 0, 11, EV_PAGE_FREE, 4);
	finish(p, 4000);
	root = run_pass(p, &pass_memory_pressure);
	expect_eq(num_at(root, "reclaim_count"), 2);
	expect_eq(num_at(root, "reclaim_latency.min"), 400);
	expect_eq(num_at(root, "reclaim_latency.max"), 2000);
	expect_eq(num_at(root, "reclaim_by_process.0.pid"), 10);
	expect_eq(num_at(root, "reclaim_by_process.0.total_duration_ns"), 2000);
	expect_eq(num_at(root, "page_alloc_count"), 2);
	expect_eq(num_at(root, "page_free_count"), 1);
	expect_eq(num_at(root, "allocated_pages"), 9);
	expect_eq(num_at(root, "freed_pages"), 16);
	assert_true(report_at(root, "net_allocation")->i64 == -7);
	expect_eq(num_at(root, "allocated_by_process.0.pages"), 9);
}

static void w44_fsync_belongs_to_its_task_wherever_it_ends(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	fsync_at(&p->f, 1000, 0, 10, 77, false);
	fsync_at(&p->f, 1100, 0, 11, 78, false);
	fsync_at(&p->f, 1300, 0, 11, 78, true);
	fsync_at(&p->f, 5000, 3, 10, 77, true);
	finish(p, 6000);
	root = run_pass(p, &pass_file_io);
	expect_eq(num_at(root, "sync_count"), 2);
	expect_eq(num_at(root, "sync_latency.min"), 200);
	expect_eq(num_at(root, "sync_latency.max"), 4000);
	expect_eq(num_at(root, "by_process.0.pid"), 10);
	expect_eq(num_at(root, "by_process.0.total_duration_ns"), 4000);
	expect_eq(num_at(root, "by_inode.0.inode"), 77);
	assert_string_equal(text_at(root, "by_device.0.device"), "8:1");
}

/* All recorded by CPU 0: of CPU 2 from 2000 on, 3000 ns at 1 GHz, 1000 ns at 4 GHz; of CPU 3 at the very end. */
static void frequencies(struct pass_fixture *p)
{
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	freq(&p->f, 2000, 0, 2, 1000000);
	freq(&p->f, 5000, 0, 2, 4000000);
	freq(&p->f, 5500, 0, 3, 2000000);
	finish(p, 6000);
}

static void w45_frequency_is_that_of_the_cpu_it_is_about(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	frequencies(p);
	root = run_pass(p, &pass_cpu_frequency);
	expect_eq(num_at(root, "total_transitions"), 3);
	expect_eq(num_at(root, "cpu_count"), 2);
	expect_eq(num_at(root, "cpu_stats.0.cpu"), 2);
	expect_eq(num_at(root, "cpu_stats.1.cpu"), 3);
}

static void w45_the_mean_is_weighted_and_the_last_interval_counts(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	frequencies(p);
	root = run_pass(p, &pass_cpu_frequency);
	expect_eq(num_at(root, "cpu_stats.0.avg_frequency_khz"), 1750000);
	expect_eq(num_at(root, "cpu_stats.0.min_frequency_khz"), 1000000);
	expect_eq(num_at(root, "cpu_stats.0.max_frequency_khz"), 4000000);
	expect_eq(num_at(root, "cpu_stats.0.most_common_frequency_khz"), 1000000);
	expect_eq(num_at(root, "cpu_stats.0.freq_durations.1000000"), 3000);
	expect_eq(num_at(root, "cpu_stats.0.freq_durations.4000000"), 1000);
	/* the first interval: unknown, not absent */
	expect_eq(num_at(root, "cpu_stats.0.unknown_time_ns"), 1000);
	expect_eq(num_at(root, "cpu_stats.1.unknown_time_ns"), 4500);
	/* what was set before the time asked for holds in it */
	p->args.from_ns = 3000;
	p->args.to_ns = 4000;
	root = run_pass(p, &pass_cpu_frequency);
	expect_eq(num_at(root, "cpu_count"), 1);
	expect_eq(num_at(root, "cpu_stats.0.transition_count"), 0);
	expect_eq(num_at(root, "cpu_stats.0.avg_frequency_khz"), 1000000);
	expect_eq(num_at(root, "cpu_stats.0.unknown_time_ns"), 0);
}

static void w45_many_samples_at_4_ghz_do_not_overflow(void **state)
{
	struct pass_fixture *p = *state;

	for (uint32_t i = 0; i < 5000; i++)
		freq(&p->f, 1000 + 1000ULL * i, 0, 0, i % 2 ? 4000000 : 4000001);
	finish(p, 1000 + 5000ULL * 1000);
	expect_eq(num_at(run_pass(p, &pass_cpu_frequency), "cpu_stats.0.avg_frequency_khz"),
	          4000000);
}

static void w45_idle_states_hold_until_left_also_the_last(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	idle_state(&p->f, 1000, 0, 3, 1);
	idle_state(&p->f, 4000, 0, 3, UINT32_MAX);
	idle_state(&p->f, 5000, 0, 3, 2);
	finish(p, 9000);
	root = run_pass(p, &pass_cpu_idle);
	expect_eq(num_at(root, "total_transitions"), 3);
	expect_eq(num_at(root, "cpu_stats.0.cpu"), 3);
	expect_eq(num_at(root, "cpu_stats.0.active_time_ns"), 1000);
	expect_eq(num_at(root, "cpu_stats.0.idle_time_ns"), 7000);
	assert_true(real_at(root, "cpu_stats.0.idle_percentage") == 87.5);
	expect_eq(num_at(root, "cpu_stats.0.state_durations.1"), 3000);
	expect_eq(num_at(root, "cpu_stats.0.state_durations.2"), 4000);
	expect_eq(num_at(root, "cpu_stats.0.state_entries.2"), 1);
	expect_eq(num_at(root, "cpu_stats.0.unknown_time_ns"), 0);
}

static void steps_of_suspend_have_durations(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	suspend(&p->f, 1000, "suspend_enter", true);
	suspend(&p->f, 1500, "dpm_suspend", true);
	suspend(&p->f, 2500, "dpm_suspend", false);
	suspend(&p->f, 4000, "suspend_enter", false);
	suspend(&p->f, 5000, "thaw_processes", false); /* its start was not seen */
	finish(p, 6000);
	root = run_pass(p, &pass_power_state);
	expect_eq(num_at(root, "suspend_resume_count"), 5);
	assert_string_equal(text_at(root, "suspend_resume_events.0.action"), "suspend_enter");
	expect_eq(num_at(root, "suspend_resume_events.0.timestamp"), 1000);
	assert_true(is_null_at(root, "suspend_resume_events.0.duration_ns"));
	expect_eq(num_at(root, "suspend_resume_events.2.duration_ns"), 1000);
	expect_eq(num_at(root, "suspend_resume_events.3.duration_ns"), 3000);
	assert_true(is_null_at(root, "suspend_resume_events.4.duration_ns"));
	expect_eq(len_at(root, "by_action"), 2);
	assert_string_equal(text_at(root, "by_action.0.action"), "suspend_enter");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		T(w43_requests_pair_by_device_and_sector),
		T(w43_reads_and_writes_count_without_an_insert_too),
		T(w43_sizes_throughput_devices_and_tasks),
		T(w43_a_completion_before_its_issue_wraps_nowhere),
		T(packets_by_direction_and_device),
		T(w44_reclaim_belongs_to_its_task_wherever_it_ends),
		T(w44_fsync_belongs_to_its_task_wherever_it_ends),
		T(w45_frequency_is_that_of_the_cpu_it_is_about),
		T(w45_the_mean_is_weighted_and_the_last_interval_counts),
		T(w45_many_samples_at_4_ghz_do_not_overflow),
		T(w45_idle_states_hold_until_left_also_the_last),
		T(steps_of_suspend_have_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
