#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../stat/stat_fixture.h"
#include "golden.h"
#include "render/bars.h"
#include "render/stat/stat_text.h"

static struct stat_fixture f;
static const struct stat_text_cfg utf8 = { .is_utf8 = true };

static int setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stat_fixture_done(&f);
	return 0;
}

static char *render(const struct stat_text_cfg *cfg)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fixture_build(&f);
	expect_eq(stat_text_print(&f.report, cfg, out), 0);
	fclose(out);
	return text;
}

static void expect_golden(const char *name, const struct stat_text_cfg *cfg)
{
	char *text = render(cfg);

	golden_compare(name, text);
	free(text);
}

static void collapsed_by_command(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	expect_golden("stat-collapsed.txt", &utf8);
}

static void grouped_by_thread(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_TID, FIXTURE_ALL_GROUPS);
	f.in.view = TALLY_INTERVAL;
	expect_golden("stat-grouped.txt", &utf8);
}

static void detailed(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_TID, FIXTURE_ALL_GROUPS);
	f.in.is_detailed = true;
	expect_golden("stat-detailed.txt", &utf8);
}

static void histogram(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	f.in.has_bins = true;
	expect_golden("stat-histogram.txt", &utf8);
}

static void histogram_without_utf8(void **state)
{
	static const struct stat_text_cfg ascii = { .is_utf8 = false };

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	f.in.has_bins = true;
	expect_golden("stat-histogram-ascii.txt", &ascii);
}

static void by_cgroup(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_CGROUP, FIXTURE_ALL_GROUPS);
	expect_golden("stat-by-cgroup.txt", &utf8);
}

static void by_process(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_TGID, STAT_GROUP_LATENCY | STAT_GROUP_SLICE);
	expect_golden("stat-by-process.txt", &utf8);
}

static void nothing_at_all(void **state)
{
	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	f.in.outliers.is_asked = true;
	f.in.outliers.threshold_us = 1000;
	expect_golden("stat-empty.txt", &utf8);
}

static void what_is_unknown_is_not_zero(void **state)
{
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_PERF);
	f.in.ipc[STAT_IPC_KERNEL_CYCLES] = -1;
	f.in.own.has_bpf_ns = false;
	f.in.own.has_cpu_pct = false;
	f.in.own.has_bpf_pct = false;
	f.in.wall_ns = 0;
	text = render(&utf8);
	assert_non_null(strstr(text, "Kernel - cycles/sec (IPC: -)"));
	assert_non_null(strstr(text, "lost 3 (ring 3), own cost unknown\n"));
	assert_non_null(strstr(text, "99.600s")); /* an outlier's time, by the boot clock */
	free(text);
	f.in.own.has_cpu_pct = true;
	text = render(&utf8);
	assert_non_null(strstr(text, ", own cost unknown, user space 0.4% of a CPU\n"));
	free(text);
}

static void fields_that_went_missing_are_not_zero(void **state)
{
	static const struct stat_schedstat_in some = {
		.cpu = { .pcount = 5, .absent = 1U << 0 | 1U << 6 },
	};
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_SCHEDSTAT);
	f.in.schedstat = &some;
	text = render(&utf8);
	assert_non_null(strstr(text, "yld_count                    - | sched_count"));
	assert_non_null(strstr(text, "rq_run_delay usec            - | rq_pcount"));
	assert_non_null(strstr(text, "delay/slice usec             -\n"));
	free(text);
}

static void more_rows_than_the_limit_are_reported(void **state)
{
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	f.in.top = 5;
	f.in.outliers.nr_total = 9;
	text = render(&utf8);
	assert_non_null(strstr(text, "(12 entries):"));
	assert_non_null(strstr(text, "  ... and 7 more\n"));
	free(text);
}

static void waits_that_last_are_reported(void **state)
{
	static struct stat_open_wait waits[] = {
		{ .wait = { .ns = 1900000000, .tid = 7, .cpu = 3, .comm = "vic\033tim" },
		  .running_tid = 8,
		  .running_comm = "hog" },
		{ .wait = { .ns = 200000000,
		            .tid = 9,
		            .cpu = 1,
		            .is_throttled = true,
		            .comm = "build" },
		  .running_tid = 8,
		  .running_comm = "hog" },
		{ .wait = { .ns = 150000000, .tid = 10, .cpu = 0, .comm = "c" },
		  .is_cpu_idle = true },
		{ .wait = { .ns = 140000000, .tid = 11, .cpu = 2, .comm = "d" } },
	};
	char *text;

	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	f.in.open_waits = (struct stat_open_waits){ .items = waits, .nr = 4, .nr_more = 2 };
	text = render(&utf8);
	assert_non_null(strstr(
		text, "\nstill waiting: vic?tim [7] for 1.90s on CPU 3, which runs hog [8]\n"
		      "still waiting: build [9] for 200ms: throttled, the quota of its cgroup "
		      "is used up\n"
		      "still waiting: c [10] for 150ms on CPU 0, which is idle\n"
		      "still waiting: d [11] for 140ms on CPU 2\n"
		      "and 2 more\n"));
	free(text);
}

static void scaled_counters_are_reported(void **state)
{
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_PERF);
	f.in.own.nr_scaled = 17;
	text = render(&utf8);
	assert_non_null(strstr(text, "\n17 counter readings were scaled"));
	free(text);
}

/* Line feeds aside, nothing that a terminal would obey ever comes out. */
static void output_has_no_control_bytes(void **state)
{
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	text = render(&utf8);
	assert_non_null(strstr(text, "bad?[2Jname"));
	for (const char *s = text; *s; s++)
		assert_true((unsigned char)*s >= ' ' || *s == '\n');
	free(text);
}

static void no_line_ends_in_a_blank(void **state)
{
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	f.in.has_bins = true;
	text = render(&utf8);
	assert_null(strstr(text, " \n"));
	free(text);
}

static void a_stream_that_refuses_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	fixture_build(&f);
	expect_eq(stat_text_print(&f.report, &utf8, full), -EIO);
	fclose(full);
}

static char *print_bars(const struct stat_bins *bins, bool is_utf8)
{
	struct bars_cfg cfg = { .title = "us", .unit = 1000, .is_utf8 = is_utf8 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	bars_print(bins, &cfg, out);
	fclose(out);
	return text;
}

static void bars_are_proportional_and_never_vanish(void **state)
{
	static const struct stat_bin bins[] = {
		{ 0, 999, 0 },      { 1000, 1999, 80 },           { 2000, 2999, 0 },
		{ 3000, 3999, 21 }, { 4000, UINT64_MAX, 100000 }, { 9000, 9999, 0 },
	};
	struct stat_bins in = { bins, 6 };
	char *text;

	(void)state;
	memset(&f, 0, sizeof(f));
	text = print_bars(&in, true);
	assert_string_equal(text, "  us  COUNT\n"
	                          "   1     80 |▏\n"
	                          "   2      0 |\n"
	                          "   3     21 |▏\n"
	                          "  4+ 100000 |████████████████████████████████████████\n");
	free(text);
	text = print_bars(&in, false);
	assert_non_null(strstr(text, "   1     80 |*\n"));
	assert_non_null(strstr(text, "100000 |########################################\n"));
	free(text);
	in.nr = 1;
	text = print_bars(&in, true);
	assert_string_equal(text, "");
	free(text);
}

static void long_distributions_are_coarsened_without_losing_samples(void **state)
{
	struct hist h = { 0 };
	unsigned long long total = 0, lines = 0;
	const struct stat_table *t;
	char *text, *line;

	(void)state;
	stat_fixture_init(&f, TALLY_BY_TID, STAT_GROUP_WAKING);
	f.in.has_bins = true;
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		hist_add(&h, hist_slot_range(i).first, 0, 0);
	fixture_row(&f, "a", 1)->view[TALLY_TOTAL].hist[STAT_WAKING] = &h;
	fixture_build(&f);
	t = fixture_table(&f, STAT_TABLE_WAKING);
	text = print_bars(&t->bins, true);
	strtok(text, "\n"); /* the head */
	while ((line = strtok(NULL, "\n"))) {
		unsigned long long count;

		expect_eq(sscanf(line, " %*s %llu |", &count), 1);
		total += count;
		lines++;
	}
	expect_eq(total, HIST_SLOTS);
	assert_true(lines > 8 && lines <= 24);
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void queues_and_the_tasks_that_came_from_them(void **state)
{
	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_DSQ);
	fixture_dsqs(&f);
	expect_golden("stat-dsq.txt", &utf8);
}

static void no_scheduler_is_reported(void **state)
{
	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_DSQ);
	f.in.scx = (struct stat_scx){ .is_known = true, .state = "disabled" };
	expect_golden("stat-dsq-none.txt", &utf8);
}

static void holders_of_one_name_are_one(void **state)
{
	static const struct outlier wait = {
		.at_ns = FIXTURE_NOW,
		.wait_ns = 10000000,
		.cause = STAT_CAUSE_PREEMPTED,
		.tid = 7,
		.comm = "late",
		.nr_holders = 3,
		.holders = { { .ns = 4000000, .tid = 1, .comm = "other" },
		             { .ns = 3000000, .tid = 2, .comm = "hog" },
		             { .ns = 2000000, .tid = 3, .comm = "hog" } },
		.unexplained_ns = 1000000,
	};
	static const struct outlier *const items[] = { &wait };
	char *text;

	(void)state;
	stat_fixture_init(&f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	f.in.outliers = (struct stat_outliers){ true, 1000, 1, items, 1 };
	text = render(&utf8);
	assert_non_null(
		strstr(text, "hog (2 tasks) 5.00ms 50%, other/1 4.00ms 40%, unknown 1.00ms 10%"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(holders_of_one_name_are_one),
		TEST(collapsed_by_command),
		TEST(queues_and_the_tasks_that_came_from_them),
		TEST(no_scheduler_is_reported),
		TEST(grouped_by_thread),
		TEST(detailed),
		TEST(histogram),
		TEST(histogram_without_utf8),
		TEST(by_cgroup),
		TEST(by_process),
		TEST(nothing_at_all),
		TEST(what_is_unknown_is_not_zero),
		TEST(fields_that_went_missing_are_not_zero),
		TEST(more_rows_than_the_limit_are_reported),
		TEST(waits_that_last_are_reported),
		TEST(scaled_counters_are_reported),
		TEST(output_has_no_control_bytes),
		TEST(no_line_ends_in_a_blank),
		TEST(a_stream_that_refuses_is_an_error),
		TEST(bars_are_proportional_and_never_vanish),
		TEST(long_distributions_are_coarsened_without_losing_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
