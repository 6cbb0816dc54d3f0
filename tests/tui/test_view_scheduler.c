/* The scheduler view: its numbers are those of the synthetic machine, recomputed here. */
#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "analyze/dsq_name.h"
#include "screen.h"
#include "tui/format.h"
#include "tui/views/dsq_list.h"

enum { QUEUES, PROCESSES, DETAILS };

static struct fixture f;

static int setup(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	fixture_init(&f, &fixture_small);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_done(&f);
	return 0;
}

static char *draw(struct screen s, uint16_t width, uint16_t height)
{
	return screen_draw("scheduler", &f.m, &s, width, height);
}

static void expect_golden(struct screen s, uint16_t width, uint16_t height, const char *name)
{
	char *text = draw(s, width, height);

	golden_compare(name, text);
	free(text);
}

static void both_layouts_are_as_they_were(void **state)
{
	struct screen bars = { .tick_ms = 250 };
	struct screen sparks = { .tick_ms = 250, .shape = SHAPE_SPARKS };
	struct screen details = { .tick_ms = 250, .scheduler_page = DETAILS };
	struct screen details_sparks = { .tick_ms = 250,
		                         .scheduler_page = DETAILS,
		                         .shape = SHAPE_SPARKS };

	(void)state;
	expect_golden(bars, 120, 40, "tui-scheduler-bars.txt");
	expect_golden(sparks, 120, 40, "tui-scheduler-sparks.txt");
	expect_golden(details, 120, 40, "tui-scheduler-details.txt");
	expect_golden(details_sparks, 120, 40, "tui-scheduler-details-sparks.txt");
	details.shape = SHAPE_TABLE;
	expect_golden(details, 160, 30, "tui-scheduler-details-table.txt");
}

/* The line of a queue below a title. */
static char *line_below(const char *text, const char *title, const char *part)
{
	const char *at = strstr(text, title);

	assert_non_null(at);
	return screen_find(at, part);
}

static void the_summary_has_its_columns(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = draw(s, 160, 30);
	char *head = screen_find(text, "Q_MAX");
	static const char *const titles[] = { "DSQ", "P50",   "P90",   "P99",    "AVG",
		                              "MAX", "COUNT", "DEPTH", "VTIME+", "USED" };

	(void)state;
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		assert_true(screen_has(head, titles[i]));
	free(head);
	for (uint32_t i = 2; i < fixture_small.nr_dsqs; i++) {
		const struct machine_dsq *d = &f.dsqs[i];
		char id[16], number[FORMAT_BYTES];
		char *line;

		snprintf(id, sizeof(id), " 0x%x ", i);
		line = line_below(text, "6 queues", id);
		assert_true(screen_has(line, format_ns(number, (double)d->latency.p50_ns)));
		assert_true(screen_has(line, format_ns(number, (double)d->latency.p90_ns)));
		assert_true(screen_has(line, format_ns(number, (double)d->latency.p99_ns)));
		assert_true(screen_has(line, format_ns(number, d->latency.mean_ns)));
		assert_true(screen_has(line, format_ns(number, (double)d->latency.max_ns)));
		assert_true(screen_has(line, format_count(number, (double)d->depth_max, false)));
		assert_true(
			screen_has(line, format_count(number, (double)d->latency.count, false)));
		assert_true(screen_has(line, format_count(number, d->inserts_per_s, false)));
		assert_true(screen_has(line, format_ns(number, d->used_ns)));
		if (!isnan(d->vtime_delta) && d->vtime_delta < 0)
			assert_true(screen_has(line, "-2000"));
		free(line);
	}
	free(text);
}

/* By the mean, then the 99th percentile, then the depth; unknown last. */
static void queues_are_in_the_order_of_their_mean(void **state)
{
	struct screen s = { 0 };
	struct dsq_list l;

	(void)state;
	f.dsqs[3].latency.mean_ns = f.dsqs[4].latency.mean_ns = f.dsqs[5].latency.mean_ns = 7e6;
	f.dsqs[3].latency.p99_ns = f.dsqs[4].latency.p99_ns = 9000000;
	f.dsqs[5].latency.p99_ns = 8000000;
	f.dsqs[3].depth_max = 2;
	f.dsqs[4].depth_max = 1;
	expect_eq(dsq_list_init(&l, &f.m, &s), 0);
	expect_eq(l.nr, 6);
	assert_ptr_equal(l.rows[0], &f.dsqs[3]);
	assert_ptr_equal(l.rows[1], &f.dsqs[4]);
	assert_ptr_equal(l.rows[2], &f.dsqs[5]);
	assert_ptr_equal(l.rows[3], &f.dsqs[2]);
	assert_ptr_equal(l.rows[5], &f.dsqs[1]);
	dsq_list_done(&l);
	s.sort = SORT_P50;
	s.is_ascending = true;
	expect_eq(dsq_list_init(&l, &f.m, &s), 0);
	assert_ptr_equal(l.rows[0], &f.dsqs[2]);
	assert_ptr_equal(l.rows[5], &f.dsqs[1]);
	dsq_list_done(&l);
}

static void processes_have_what_they_waited(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = draw(s, 120, 40), title[64], *before = NULL;
	uint64_t last = UINT64_MAX;

	(void)state;
	snprintf(title, sizeof(title), "Process scheduling latency: %zu processes",
	         f.m.nr_processes);
	assert_true(screen_has(text, title));
	for (size_t i = 0; i < f.m.nr_processes; i++) {
		char id[16], name[DSQ_NAME], number[FORMAT_BYTES];
		char *line;

		snprintf(id, sizeof(id), " %zu ", FIXTURE_TID + i * FIXTURE_THREADS);
		line = line_below(text, title, id);
		assert_true(screen_has(line,
		                       format_ns(number, (double)fixture_dsq_p90_ns((uint32_t)i))));
		assert_true(screen_has(line, dsq_name(f.scx_tasks[i].dsq, name)));
		assert_true(screen_has(line, format_ns(number, f.scx_tasks[i].used_ns)));
		free(line);
	}
	/* The longest 90th percentile first. */
	for (size_t i = 0; i < f.m.nr_processes; i++) {
		size_t best = 0;
		const char *at;
		char id[16];

		for (size_t k = 1; k < f.m.nr_processes; k++)
			if (f.scx_tasks[k].latency.p90_ns < last &&
			    (f.scx_tasks[best].latency.p90_ns >= last ||
			     f.scx_tasks[k].latency.p90_ns > f.scx_tasks[best].latency.p90_ns))
				best = k;
		last = f.scx_tasks[best].latency.p90_ns;
		snprintf(id, sizeof(id), " %u ", f.scx_tasks[best].tid);
		at = strstr(strstr(text, title), id);
		assert_true(!before || at > before);
		before = (char *)at;
	}
	free(text);
}

static void the_filter_leaves_queues_and_their_processes(void **state)
{
	struct screen s = { .shape = SHAPE_TABLE, .filter = "0X3" };
	char *text = draw(s, 120, 40);

	(void)state;
	expect_eq(view_find("scheduler")->rows(&f.m, &s), 1);
	s.scheduler_page = PROCESSES;
	expect_eq(view_find("scheduler")->rows(&f.m, &s), 2); /* 3 and 9 of 10 */
	assert_true(screen_has(text, "filter: 0X3"));
	assert_true(screen_has(text, " 1012 ") && screen_has(text, " 1036 "));
	assert_false(screen_has(text, " 1004 "));
	free(text);
	strcpy(s.filter, "nothing");
	s.scheduler_page = QUEUES;
	text = draw(s, 120, 40);
	assert_true(screen_has(text, "no queue matches"));
	assert_true(screen_has(text, "no process was dispatched from such a queue"));
	free(text);
}

static void sums_of_sparks_leave_out_what_is_unknown(void **state)
{
	struct screen s = { .shape = SHAPE_SPARKS };
	char *text = draw(s, 120, 40);

	(void)state;
	for (uint32_t i = 2; i < fixture_small.nr_dsqs; i++) {
		double sum = 0, max = 0, min = INFINITY;
		char id[16], avg[FORMAT_BYTES], most[FORMAT_BYTES], least[FORMAT_BYTES], want[128];
		uint32_t nr = 0;
		char *line;

		for (uint32_t k = 0; k < MACHINE_HISTORY; k++) {
			double v = f.dsqs[i].latency_history.values[k];

			if (isnan(v))
				continue;
			sum += v;
			max = fmax(max, v);
			min = fmin(min, v);
			nr++;
		}
		snprintf(want, sizeof(want), "avg %s  max %s  min %s", format_ns(avg, sum / nr),
		         format_ns(most, max), format_ns(least, min));
		snprintf(id, sizeof(id), " 0x%x ", i);
		line = line_below(text, "Latency, mean", id);
		assert_true(screen_has(line, want));
		free(line);
	}
	free(text);
}

static void details_have_every_chart_and_what_the_scheduler_says(void **state)
{
	struct screen s = { .scheduler_page = DETAILS, .tick_ms = 250 };
	static const char *const titles[] = { "Latency, mean", "Slice used, mean",
		                              "Vtime delta, mean", "Depth" };
	char *text = draw(s, 120, 60), *line;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_true(screen_has(text, titles[i]));
	assert_true(screen_has(text, " simple "));
	assert_true(screen_has(text, "\"nr_queued\": 17,"));
	assert_true(screen_has(text, "select_cpu_fallback 120 (3/s)"));
	assert_true(screen_has(text, "dispatch_keep_last 45"));
	assert_true(screen_has(text, "seq 7  all tasks  rejected 2"));
	assert_true(screen_has(text, "last: old: runnable task stall"));
	line = line_below(text, "Vtime delta, mean", " 0x2 ");
	assert_true(screen_has(line, "-2000"));
	free(line);
	line = line_below(text, "Vtime delta, mean", " 0x3 ");
	assert_true(screen_has(line, " - "));
	free(line);
	free(text);
}

/* In the peer the statistics are fetched and not shown any more. */
static void all_lines_of_the_statistics_can_be_reached(void **state)
{
	struct screen s = { .scheduler_page = DETAILS };
	char *text;

	(void)state;
	assert_true(view_find("scheduler")->rows(&f.m, &s) > 30);
	text = screen_draw("scheduler", &f.m, &s, 100, 24);
	assert_false(screen_has(text, "\"last\": 34"));
	free(text);
	s.selected = view_find("scheduler")->rows(&f.m, &s) - 1;
	text = screen_draw("scheduler", &f.m, &s, 100, 24);
	assert_true(screen_has(text, "\"last\": 34"));
	free(text);
}

static void why_there_are_no_statistics_is_reported(void **state)
{
	struct screen s = { .scheduler_page = DETAILS };
	char *text;

	(void)state;
	f.scx.stats = NULL;
	f.scx.no_stats = "the scheduler did not answer within 1000 ms";
	text = draw(s, 100, 24);
	assert_true(screen_has(text, "the scheduler did not answer within 1000 ms"));
	free(text);
}

static void why_there_are_no_queues_is_reported(void **state)
{
	struct screen s = { 0 };
	char *text;

	(void)state;
	f.m.nr_dsqs = 0;
	f.scx.is_counting = false;
	text = draw(s, 100, 24);
	assert_true(screen_has(text, "attaching"));
	assert_true(screen_has(text, "Processes by wakeup latency"));
	free(text);
	f.scx.reason = "dispatch queues cannot be traced on this kernel";
	text = draw(s, 100, 24);
	assert_true(screen_has(text, f.scx.reason));
	free(text);
}

static void a_scheduler_that_is_gone_leaves_its_reason(void **state)
{
	struct screen s = { .scheduler_page = DETAILS };
	char *text;

	(void)state;
	f.m.scheduler = NULL;
	f.m.scx_state = "disabled";
	f.m.nr_dsqs = 0;
	text = draw(s, 100, 24);
	assert_true(screen_has(text, "The kernel's own classes, sched_ext disabled"));
	assert_true(screen_has(text, "the kernel's own classes schedule"));
	assert_true(screen_has(text, "last: old: runnable task stall"));
	assert_true(screen_has(text, "Processes by wakeup latency"));
	free(text);
}

static void a_key_changes_what_is_shown(void **state)
{
	const struct view *v = view_find("scheduler");
	struct screen s = { .selected = 3 };

	(void)state;
	assert_false(v->act(&f.m, &s, ACTION_SHAPE));
	assert_true(v->act(&f.m, &s, ACTION_GROUP));
	expect_eq(s.scheduler_page, PROCESSES);
	expect_eq(s.selected, 0);
	assert_true(screen_has(s.message, "processes"));
	expect_eq(v->rows(&f.m, &s), f.m.nr_processes);
	assert_true(v->act(&f.m, &s, ACTION_GROUP));
	expect_eq(s.scheduler_page, DETAILS);
	assert_true(v->act(&f.m, &s, ACTION_GROUP));
	expect_eq(s.scheduler_page, QUEUES);
	f.m.scheduler = NULL;
	f.m.nr_dsqs = 0;
	assert_false(v->act(&f.m, &s, ACTION_GROUP));
}

static void every_process_can_be_reached(void **state)
{
	struct screen s = { .scheduler_page = PROCESSES, .selected = 9, .shape = SHAPE_TABLE };
	char *text = draw(s, 80, 18);

	(void)state;
	assert_true(screen_has(text, " 1004 ")); /* with the shortest wait */
	free(text);
}

static void no_size_and_no_name_does_harm(void **state)
{
	struct fixture_cfg cfg = fixture_small;
	struct fixture hostile;

	(void)state;
	cfg.is_hostile = true;
	fixture_init(&hostile, &cfg);
	for (int page = QUEUES; page <= DETAILS; page++)
		for (uint16_t width = 1; width < 130; width += 3)
			for (uint16_t height = 1; height < 45; height += 4) {
				struct screen s = { .scheduler_page = (uint8_t)page,
					            .shape = (enum view_shape)(width % 3) };

				free(screen_draw("scheduler", &hostile.m, &s, width, height));
				free(screen_draw("scheduler", &f.m, &s, width, height));
			}
	fixture_done(&hostile);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_layouts_are_as_they_were),
		TEST(the_summary_has_its_columns),
		TEST(queues_are_in_the_order_of_their_mean),
		TEST(processes_have_what_they_waited),
		TEST(the_filter_leaves_queues_and_their_processes),
		TEST(sums_of_sparks_leave_out_what_is_unknown),
		TEST(details_have_every_chart_and_what_the_scheduler_says),
		TEST(all_lines_of_the_statistics_can_be_reached),
		TEST(why_there_are_no_statistics_is_reported),
		TEST(why_there_are_no_queues_is_reported),
		TEST(a_scheduler_that_is_gone_leaves_its_reason),
		TEST(a_key_changes_what_is_shown),
		TEST(every_process_can_be_reached),
		TEST(no_size_and_no_name_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
