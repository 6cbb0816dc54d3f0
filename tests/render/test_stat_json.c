#include "../unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../stat/stat_fixture.h"
#include "render/stat/stat_json.h"

static struct stat_fixture f;
static json_t *doc;

static int setup(void **state)
{
	(void)state;
	doc = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(doc);
	stat_fixture_done(&f);
	return 0;
}

static char *render(bool is_pretty)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fixture_build(&f);
	expect_eq(stat_json_print(&f.report, is_pretty, out), 0);
	fclose(out);
	return text;
}

static void parse(void)
{
	char *text = render(false);
	json_error_t error;

	doc = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		fail_msg("%s at %d in %s", error.text, error.position, text);
	free(text);
}

/* Steps down by keys, and by numbers inside arrays; fails where there is nothing. */
static json_t *at(const char *path)
{
	char copy[256], *rest = copy, *step;
	json_t *here = doc;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((step = strsep(&rest, "/"))) {
		here = json_is_array(here) ? json_array_get(here, (size_t)atoi(step))
		                           : json_object_get(here, step);
		if (!here)
			fail_msg("nothing at '%s' of '%s'", step, path);
	}
	return here;
}

static void expect_int(const char *path, long long want)
{
	assert_true(json_is_integer(at(path)));
	expect_eq(json_integer_value(at(path)), want);
}

static void expect_real(const char *path, double want)
{
	double got = json_number_value(at(path));

	assert_true(json_is_number(at(path)));
	if (got < want - 0.0005 || got > want + 0.0005)
		fail_msg("%s is %f, not %f", path, got, want);
}

static void expect_text(const char *path, const char *want)
{
	assert_true(json_is_string(at(path)));
	assert_string_equal(json_string_value(at(path)), want);
}

static void the_head_says_what_when_and_at_which_cost(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	parse();
	expect_text("schema", "schedscope-stat/1");
	expect_int("time_ns", (long long)FIXTURE_NOW);
	expect_text("time", "2023-11-14T22:13:20.005000000Z");
	expect_real("interval_s", 1.0);
	expect_real("elapsed_s", 12.0);
	expect_text("view", "total");
	expect_text("by", "comm");
	expect_int("events/total", 9000);
	expect_int("events/switch", 5000);
	expect_int("lost/total", 3);
	expect_int("lost/storage", 0);
	expect_real("own/bpf_ns_per_event", 85.4);
	expect_real("own/cpu_pct", 0.42);
	expect_real("own/bpf_cpu_pct", 1.18);
	expect_real("own/total_cpu_pct", 1.60);
}

static void a_row_has_all_its_numbers(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY | STAT_GROUP_SLEEP);
	parse();
	expect_text("groups/latency/0/comm", "encoder");
	expect_text("groups/latency/1/comm", "dbserver");
	expect_text("groups/latency/1/severity", "low");
	expect_int("groups/latency/1/nr_tasks", 12);
	expect_int("groups/latency/1/tids/2", 2103);
	expect_int("groups/latency/1/count", 1530);
	expect_real("groups/latency/1/min_us", 4.0);
	expect_real("groups/latency/1/mean_us",
	            (1200 * 4 + 306 * 38 + 12 * 1500 + 12 * 7) / 1530.0);
	expect_real("groups/latency/1/max_us", 1500.0);
	expect_int("groups/latency/1/max_time_ns", (long long)FIXTURE_NOW - 1500000);
	expect_int("groups/latency/1/max_cpu", 3);
	assert_true(json_number_value(at("groups/latency/1/p50_us")) >= 4.0);
	assert_true(json_number_value(at("groups/latency/1/p50_us")) < 5.0);
	expect_int("groups/latency/1/by_cause/preempted/count", 318);
	expect_int("groups/latency/1/by_cause/preempted/nr_tasks", 12);
	expect_real("groups/latency/1/by_cause/new/max_us", 7.0);
	expect_int("groups/latency/0/by_cause/woken/count", 0);
	expect_int("groups/sleep/1/by_state/uninterruptible/count", 120);
	assert_null(json_object_get(at("groups/latency/1"), "tid"));
	assert_null(json_object_get(at("groups"), "slice"));
}

static void what_is_unknown_is_null(void **state)
{
	static const char *const nulls[] = {
		"time",
		"own/bpf_ns_per_event",
		"own/cpu_pct",
		"own/bpf_cpu_pct",
		"own/total_cpu_pct",
		"groups/latency/0/by_cause/woken/min_us",
		"groups/latency/0/by_cause/woken/p99_us",
		"groups/latency/0/by_cause/woken/max_cpu",
		"groups/slice/0/p50_us",
		"groups/slice/0/preempt_pct",
		"groups/slice/1/open_slice_us",
		"groups/slice/1/voluntary/p50_us",
		"groups/cpu_idle/5/severity",
		"groups/cpu_idle/5/p50_us",
		"groups/cpu_idle/0/open_idle_us",
		"groups/perf/ipc/rows/0/kernel_ipc",
		"groups/perf/ipc/global/kernel_cycles_per_s",
		"groups/schedstat/cpu/mean_delay_us",
		"groups/schedstat/cpu/ttwu_count",
		"groups/schedstat/cpu/rq_run_delay_us",
	};
	static const struct stat_schedstat_in some = {
		.cpu = { .pcount = 5, .absent = 1U << 3 | 1U << 6 },
	};

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	f.in.wall_ns = 0;
	f.in.own.has_bpf_ns = false;
	f.in.own.has_cpu_pct = false;
	f.in.own.has_bpf_pct = false;
	f.in.ipc[STAT_IPC_KERNEL_CYCLES] = -1;
	f.in.schedstat = &some;
	parse();
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		if (!json_is_null(at(nulls[i])))
			fail_msg("%s is not null", nulls[i]);
}

static void a_maximum_without_a_time_has_no_place(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_WAKING);
	for (size_t i = 0; i < 12; i++)
		f.rows[i].view[TALLY_TOTAL].hist[STAT_WAKING]->max_at_ns = 0;
	parse();
	assert_true(json_is_null(at("groups/waking/0/max_time_ns")));
	assert_true(json_is_null(at("groups/waking/0/max_cpu")));
	expect_real("groups/waking/0/max_us", 6.0);
}

static void the_key_decides_the_ids(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	parse();
	expect_int("groups/latency/0/tid", 2301);
	expect_int("groups/latency/0/tgid", 2301);
	expect_text("groups/latency/0/cgroup", "/user.slice/μservice");
	expect_int("groups/latency/0/cgroup_id", 77);
	json_decref(doc);
	stat_fixture_done(&f);

	fixture_machine(&f, TALLY_BY_CGROUP, STAT_GROUP_SLICE);
	parse();
	assert_true(json_is_null(at("groups/slice/0/cgroup")));
	expect_int("groups/slice/0/cgroup_id", 99);
	assert_null(json_object_get(at("groups/slice/0"), "comm"));
	json_decref(doc);
	stat_fixture_done(&f);

	fixture_machine(&f, TALLY_BY_TGID, STAT_GROUP_LATENCY);
	parse();
	expect_int("groups/latency/1/tgid", 2101);
	assert_null(json_object_get(at("groups/latency/1"), "tid"));
}

static void the_other_tables_have_their_own_keys(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	parse();
	expect_real("groups/slice/1/preempt_pct", 100.0);
	expect_int("groups/slice/1/involuntary/count", 920);
	expect_real("groups/slice/0/open_slice_us", 12000000.0);
	expect_int("groups/slice/0/open_slice_tid", 2400);
	expect_int("groups/depth/0/p90", 3);
	expect_int("groups/migration/0/p50_per_s", 8);
	expect_int("groups/migration/0/samples", 24);
	expect_int("groups/migration/0/total", 204);
	expect_int("groups/migration_cross_llc/0/total", 12);
	expect_int("groups/migration_cross_node/0/max_per_s", 2);
	expect_int("groups/schedstat/total/lb_count_idle", 5120);
	expect_text("groups/schedstat/domains/1/name", "MC");
	expect_int("groups/schedstat/domains/1/fields/alb_count", 3);
	expect_real("groups/schedstat/cpu/rq_run_delay_us", 88000.0);
	expect_int("groups/cpu_latency/2/cpu", 2);
	expect_text("groups/cpu_latency/2/severity", "high");
	expect_real("groups/perf/ipc/rows/1/user_ipc", 2.4);
	expect_text("groups/perf/counters/0/name", "L2 Cache Misses");
	expect_int("groups/perf/counters/0/rows/0/samples", 48);
	expect_text("groups/outliers/0/cause", "preempted");
	expect_text("groups/outliers/1/held_by/0/comm", "encoder");
	expect_real("groups/outliers/1/held_by/0/held_us", 4100.0);
	expect_real("groups/outliers/1/held_by/0/held_pct", 82.0);
	expect_real("groups/outliers/1/idle_us", 150.0);
	expect_real("groups/outliers/1/unexplained_us", 250.0);
	expect_int("rows_total/slice", 4);
	expect_int("rows_total/outliers", 2);
	assert_null(json_object_get(doc, "histograms"));
}

static void lists_that_are_cut_report_how_many_rows_there_are(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	f.in.top = 2;
	parse();
	expect_eq(json_array_size(at("groups/latency")), 4);
	expect_int("rows_total/latency", 14);
}

static void waits_that_last_are_a_list(void **state)
{
	static struct stat_open_wait waits[] = {
		{ .wait = { .ns = 1900000500, .tid = 7, .cpu = 3, .comm = "victim" },
		  .running_tid = 8,
		  .running_comm = "hog" },
		{ .wait = { .ns = 150000000, .tid = 10, .is_throttled = true, .comm = "c" } },
	};

	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	f.in.open_waits = (struct stat_open_waits){ .items = waits, .nr = 2 };
	parse();
	expect_text("open_waits/0/comm", "victim");
	expect_int("open_waits/0/tid", 7);
	expect_real("open_waits/0/wait_us", 1900000.5);
	expect_int("open_waits/0/cpu", 3);
	expect_int("open_waits/0/running_tid", 8);
	expect_text("open_waits/0/running_comm", "hog");
	assert_true(json_is_false(at("open_waits/0/is_throttled")));
	assert_true(json_is_true(at("open_waits/1/is_throttled")));
	assert_true(json_is_null(at("open_waits/1/running_tid")));
	assert_true(json_is_null(at("open_waits/1/running_comm")));
}

static void histograms_hold_the_slots_in_use(void **state)
{
	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY | STAT_GROUP_WAKING);
	f.in.has_bins = true;
	parse();
	expect_eq(json_array_size(at("histograms/waking")), 1);
	expect_int("histograms/waking/0/from_us", 6);
	expect_int("histograms/waking/0/to_us", 6);
	expect_int("histograms/waking/0/count", 1200);
	expect_int("histograms/depth/2/from", 3);
	expect_int("histograms/depth/2/count", 400);
}

static void names_are_escaped(void **state)
{
	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	fixture_sample(&f, fixture_row(&f, "\"\n\x01\xff", 1), STAT_DELAY_WOKEN, 5, 1);
	parse();
	expect_text("groups/latency/0/comm", "\"\n\x01\xef\xbf\xbd");
}

static void nothing_is_an_object_too(void **state)
{
	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	parse();
	expect_eq(json_array_size(at("groups/latency")), 0);
	expect_eq(json_array_size(at("open_waits")), 0);
	expect_int("events/total", 0);
	assert_null(json_object_get(at("groups"), "schedstat"));
	assert_null(json_object_get(at("groups"), "perf"));
	assert_null(json_object_get(at("groups"), "outliers"));
}

static void one_object_is_one_line_unless_it_is_pretty(void **state)
{
	char *text;

	(void)state;
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	text = render(false);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	text = render(true);
	assert_true(strchr(text, '\n') < text + strlen(text) - 1);
	free(text);
}

static void a_stream_that_refuses_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	fixture_build(&f);
	assert_true(stat_json_print(&f.report, false, full) < 0);
	fclose(full);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_head_says_what_when_and_at_which_cost),
		TEST(a_row_has_all_its_numbers),
		TEST(what_is_unknown_is_null),
		TEST(a_maximum_without_a_time_has_no_place),
		TEST(the_key_decides_the_ids),
		TEST(the_other_tables_have_their_own_keys),
		TEST(lists_that_are_cut_report_how_many_rows_there_are),
		TEST(waits_that_last_are_a_list),
		TEST(histograms_hold_the_slots_in_use),
		TEST(names_are_escaped),
		TEST(nothing_is_an_object_too),
		TEST(one_object_is_one_line_unless_it_is_pretty),
		TEST(a_stream_that_refuses_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
