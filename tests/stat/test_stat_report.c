#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "stat_fixture.h"

#define US 1000ULL

static int setup(void **state)
{
	static struct stat_fixture f;

	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	stat_fixture_done(*state);
	return 0;
}

static const struct stat_row *row_named(const struct stat_table *t, const char *name)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (strcmp(t->rows[i].identity.name, name) == 0)
			return &t->rows[i];
	return NULL;
}

static void no_rows_give_empty_tables(void **state)
{
	struct stat_fixture *f = *state;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_LATENCY | STAT_GROUP_MIGRATION);
	fixture_build(f);
	assert_true(f->report.is_nothing_matched);
	expect_eq(f->report.nr_tables, 4);
	for (size_t i = 0; i < f->report.nr_tables; i++)
		expect_eq(f->report.tables[i].nr_rows, 0);
}

/* The kernel counts them without regard to names. */
static void a_filter_of_names_has_no_delays_per_cpu(void **state)
{
	struct stat_fixture *f = *state;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_LATENCY | STAT_GROUP_SLEEP);
	fixture_build(f);
	assert_false(f->report.has_no_cpus);
	f->in.is_by_name = true;
	fixture_build(f);
	assert_true(f->report.has_no_cpus);
	for (size_t i = 0; i < f->report.nr_tables; i++)
		assert_true(f->report.tables[i].id != STAT_TABLE_CPU_LATENCY);
}

static void tables_come_in_their_order_and_only_when_asked_for(void **state)
{
	static const enum stat_table_id order[] = {
		STAT_TABLE_LATENCY,     STAT_TABLE_WAKING,     STAT_TABLE_SLICE,
		STAT_TABLE_SLEEP,       STAT_TABLE_DEPTH,      STAT_TABLE_MIGRATION,
		STAT_TABLE_CROSS_LLC,   STAT_TABLE_CROSS_NODE, STAT_TABLE_SCHEDSTAT,
		STAT_TABLE_CPU_LATENCY, STAT_TABLE_CPU_IDLE,   STAT_TABLE_IPC,
		STAT_TABLE_COUNTER,
	};
	struct stat_fixture *f = *state;

	fixture_machine(f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	fixture_build(f);
	expect_eq(f->report.nr_tables, sizeof(order) / sizeof(order[0]));
	for (size_t i = 0; i < f->report.nr_tables; i++)
		expect_eq(f->report.tables[i].id, order[i]);
	assert_string_equal(f->report.tables[12].name, "counter:L2 Cache Misses");
	assert_false(f->report.is_nothing_matched);
	stat_fixture_done(f);

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_WAKING | STAT_GROUP_MIGRATION);
	f->in.nr_llcs = 1;
	f->in.nr_nodes = 1;
	fixture_build(f);
	expect_eq(f->report.nr_tables, 2);
	expect_eq(f->report.tables[0].id, STAT_TABLE_WAKING);
	expect_eq(f->report.tables[1].id, STAT_TABLE_MIGRATION);
}

static void delay_is_the_sum_of_its_causes_and_keeps_them(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_durations *d;
	struct tally_row *row;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	row = fixture_row(f, "a", 1);
	fixture_sample(f, row, STAT_DELAY_WOKEN, 5, 90);
	fixture_sample(f, row, STAT_DELAY_PREEMPTED, 250, 9);
	fixture_sample(f, row, TALLY_DELAY_NEW, 3000, 1);
	fixture_build(f);
	d = &fixture_table(f, STAT_TABLE_LATENCY)->rows[0].durations;
	expect_eq(d->all.count, 100);
	expect_eq(d->all.min_ns, 5 * US);
	expect_eq(d->all.max_ns, 3000 * US);
	expect_eq(d->all.max_cpu, 3);
	expect_eq(d->all.max_at_ns, FIXTURE_NOW - 3000 * US);
	assert_true(d->all.mean_ns == (90 * 5 + 9 * 250 + 3000) * 10.0);
	expect_eq(hist_slot(d->all.p50_ns), hist_slot(5 * US));
	expect_eq(hist_slot(d->all.p90_ns), hist_slot(5 * US));
	expect_eq(hist_slot(d->all.p99_ns), hist_slot(250 * US));
	expect_eq(d->nr_parts, 3);
	assert_string_equal(d->parts[0].name, "woken");
	expect_eq(d->parts[0].dist.count, 90);
	assert_string_equal(d->parts[1].name, "preempted");
	expect_eq(d->parts[1].dist.count, 9);
	assert_string_equal(d->parts[2].name, "new");
	expect_eq(d->parts[2].dist.p99_ns, 3000 * US);
	expect_eq(d->parts[2].nr_tasks, 1);
}

static void sleep_is_split_by_state(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_durations *d;
	struct tally_row *row;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_SLEEP);
	row = fixture_row(f, "a", 1);
	fixture_sample(f, row, STAT_SLEEP_S, 100, 3);
	fixture_sample(f, row, STAT_SLEEP_OTHER, 100, 1);
	fixture_build(f);
	d = &fixture_table(f, STAT_TABLE_SLEEP)->rows[0].durations;
	expect_eq(d->all.count, 4);
	expect_eq(d->parts[0].dist.count, 3);
	expect_eq(d->parts[1].dist.count, 0);
	expect_eq(d->parts[1].nr_tasks, 0);
	expect_eq(d->parts[2].dist.count, 1);
}

/* D-04: the only sample of a row is its every percentile. */
static void a_single_sample_is_every_percentile(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_dist *d;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	fixture_sample(f, fixture_row(f, "a", 1), STAT_DELAY_WOKEN, 3000, 1);
	fixture_depth(f, &f->rows[0], 7, 1);
	fixture_build(f);
	d = &fixture_table(f, STAT_TABLE_LATENCY)->rows[0].durations.all;
	expect_eq(d->p50_ns, 3000 * US);
	expect_eq(d->p90_ns, 3000 * US);
	expect_eq(d->p99_ns, 3000 * US);
	expect_eq(fixture_table(f, STAT_TABLE_DEPTH)->rows[0].values.p50, 7);
}

static void the_view_decides_which_samples_count(void **state)
{
	struct stat_fixture *f = *state;
	struct tally_row *row;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	row = fixture_row(f, "old", 1);
	fixture_total_sample(f, row, STAT_DELAY_WOKEN, 5, 10);
	row = fixture_row(f, "new", 2);
	fixture_total_sample(f, row, STAT_DELAY_WOKEN, 5, 10);
	fixture_sample(f, row, STAT_DELAY_WOKEN, 5, 3);

	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->nr_rows, 2);
	f->in.view = TALLY_INTERVAL;
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->nr_rows, 1);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->rows[0].durations.all.count, 3);
}

static void bands_follow_the_90th_percentile(void **state)
{
	static const uint64_t us[] = { 9, 10, 99, 100, 999, 1000, 9999, 10000, 60000000 };
	static const char *const slugs[] = { "very_low", "low",  "low",       "medium",   "medium",
		                             "high",     "high", "very_high", "very_high" };
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	for (uint32_t i = 0; i < 9; i++)
		fixture_sample(f, fixture_row(f, "a", i + 1), STAT_DELAY_WOKEN, us[i], 1);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_LATENCY);
	expect_eq(t->nr_bands, 5);
	expect_eq(t->nr_rows, 9);
	assert_false(t->is_flat);
	for (size_t i = 0; i < t->nr_rows; i++)
		assert_string_equal(t->bands[t->rows[i].band].slug,
		                    slugs[t->rows[i].identity.tid - 1]);
	expect_eq(t->bands[0].nr_total, 1);
	assert_string_equal(t->bands[4].label, "Very High (>10ms)");
}

static void add_many(struct stat_fixture *f)
{
	for (uint32_t i = 0; i < 30; i++) {
		struct tally_row *row = fixture_row(f, "x", 100 + i);

		fixture_sample(f, row, STAT_DELAY_WOKEN, i < 15 ? 5 : 500, 1);
		fixture_sample(f, row, STAT_SLICE_VOLUNTARY, 10, 1);
		fixture_counter(f, row, 0, 1000, 1);
	}
}

static void each_band_keeps_the_first_ten(void **state)
{
	static const struct stat_counter_in counter = { "misses", 0 };
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY | STAT_GROUP_SLICE | STAT_GROUP_PERF);
	f->in.counters = &counter;
	f->in.nr_counters = 1;
	add_many(f);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_LATENCY);
	expect_eq(t->nr_total, 30);
	expect_eq(t->nr_rows, 20);
	expect_eq(t->bands[0].nr_total, 15);
	expect_eq(t->bands[0].nr_rows, 10);
	expect_eq(fixture_table(f, STAT_TABLE_SLICE)->nr_rows, 10);
	expect_eq(fixture_table(f, STAT_TABLE_COUNTER)->nr_rows, 20);

	f->in.top = 3;
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->nr_rows, 6);
	expect_eq(fixture_table(f, STAT_TABLE_COUNTER)->nr_rows, 3);
	f->in.top = STAT_TOP_ALL;
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->nr_rows, 30);
	f->in.top = 3;
	f->in.is_detailed = true;
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->nr_rows, 30);
	assert_true(fixture_table(f, STAT_TABLE_LATENCY)->is_flat);
}

/* D-19: equal keys fall back to count, then to name and id. */
static void ties_have_one_order(void **state)
{
	static const struct {
		const char *comm;
		uint32_t tid;
		uint64_t count;
	} in[] = { { "b", 5, 2 }, { "a", 9, 2 }, { "a", 4, 2 }, { "z", 1, 7 } };
	static const uint32_t order[] = { 1, 4, 9, 5 };
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	for (int i = 0; i < 4; i++)
		fixture_sample(f, fixture_row(f, in[i].comm, in[i].tid), STAT_DELAY_WOKEN, 5,
		               in[i].count);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_LATENCY);
	for (int i = 0; i < 4; i++)
		expect_eq(t->rows[i].identity.tid, order[i]);
}

static void every_sort_key_sorts(void **state)
{
	static const char *const first[] = {
		[STAT_SORT_DEFAULT] = "tail", [STAT_SORT_P50] = "mid",   [STAT_SORT_P90] = "tail",
		[STAT_SORT_P99] = "tail",     [STAT_SORT_MAX] = "spike", [STAT_SORT_MEAN] = "spike",
		[STAT_SORT_COUNT] = "spike",  [STAT_SORT_NAME] = "busy",
	};
	struct stat_fixture *f = *state;
	struct tally_row *row;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	fixture_sample(f, fixture_row(f, "busy", 1), STAT_DELAY_WOKEN, 5, 100);
	fixture_sample(f, fixture_row(f, "mid", 2), STAT_DELAY_WOKEN, 20, 10);
	row = fixture_row(f, "tail", 3);
	fixture_sample(f, row, STAT_DELAY_WOKEN, 1, 8);
	fixture_sample(f, row, STAT_DELAY_WOKEN, 80, 2);
	row = fixture_row(f, "spike", 4);
	fixture_sample(f, row, STAT_DELAY_WOKEN, 6, 999);
	fixture_sample(f, row, STAT_DELAY_WOKEN, 5000000, 1);
	for (int sort = STAT_SORT_DEFAULT; sort <= STAT_SORT_NAME; sort++) {
		f->in.sort = (enum stat_sort)sort;
		fixture_build(f);
		assert_string_equal(fixture_table(f, STAT_TABLE_LATENCY)->rows[0].identity.name,
		                    first[sort]);
	}
	assert_string_equal(stat_sort_names[STAT_SORT_NAME], "name");
	assert_null(stat_sort_names[STAT_SORT_NAME + 1]);
}

static void threads_collapse_by_what_is_shown(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_row *row;

	fixture_machine(f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	fixture_build(f);
	row = row_named(fixture_table(f, STAT_TABLE_LATENCY), "dbserver");
	assert_non_null(row);
	expect_eq(row->identity.members.nr_tasks, 12);
	expect_eq(row->identity.members.nr_shown, 3);
	expect_eq(row->identity.members.tids[0], 2101);
	expect_eq(row->identity.members.tids[2], 2103);
	assert_false(row->identity.has_tid);
	expect_eq(row->durations.parts[0].dist.count, 1200);
	expect_eq(row->durations.parts[0].nr_tasks, 12);
	/* The distribution over threads and seconds, not the sum of the threads. */
	row = row_named(fixture_table(f, STAT_TABLE_MIGRATION), "dbserver");
	expect_eq(row->values.count, 24);
	expect_eq(row->values.p50, 8);
	expect_eq(row->values.max, 14);
	expect_eq(row->values.total, 2 * (3 + 14) * 12 / 2);
	stat_fixture_done(f);

	fixture_machine(f, TALLY_BY_CGROUP, FIXTURE_ALL_GROUPS);
	fixture_build(f);
	row = row_named(fixture_table(f, STAT_TABLE_LATENCY), "/system.slice/db.service");
	assert_non_null(row);
	expect_eq(row->identity.members.nr_tasks, 13);
	expect_eq(row->identity.cgroup_id, 42);
	assert_null(row->identity.comm);
	row = row_named(fixture_table(f, STAT_TABLE_SLICE), "cgroup 99");
	assert_non_null(row);
	assert_null(row->identity.cgroup);
	stat_fixture_done(f);

	fixture_machine(f, TALLY_BY_TGID, FIXTURE_ALL_GROUPS);
	fixture_build(f);
	row = row_named(fixture_table(f, STAT_TABLE_LATENCY), "dbserver");
	expect_eq(row->identity.tgid, 2101);
	assert_true(row->identity.has_tgid);
	expect_eq(row->identity.members.nr_tasks, 12);
}

/* A thread that was renamed has two rows, but is one thread. */
static void a_thread_under_two_names_counts_once(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_row *row;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	f->in.display = TALLY_BY_TGID;
	fixture_sample(f, fixture_row(f, "before", 7), STAT_DELAY_WOKEN, 5, 1);
	fixture_sample(f, fixture_row(f, "after", 7), STAT_DELAY_WOKEN, 5, 1);
	fixture_build(f);
	row = &fixture_table(f, STAT_TABLE_LATENCY)->rows[0];
	expect_eq(row->identity.members.nr_tasks, 1);
	expect_eq(row->durations.parts[0].nr_tasks, 1);
	expect_eq(row->durations.all.count, 2);
}

static void merged_rows_cannot_be_taken_apart(void **state)
{
	struct stat_fixture *f = *state;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	f->in.display = TALLY_BY_TID;
	expect_eq(stat_report_build(&f->in, f->mem, &f->diag, &f->report), -EINVAL);
	assert_true(f->diag.what[0] && f->diag.hint[0]);
	f->in.display = TALLY_BY_COMM;
	f->in.min_latency_us = 1;
	expect_eq(stat_report_build(&f->in, f->mem, NULL, &f->report), -EINVAL);
}

static void a_counter_that_does_not_exist_is_refused(void **state)
{
	static const struct stat_counter_in counter = { "misses", STAT_COUNTERS };
	struct stat_fixture *f = *state;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_PERF);
	f->in.counters = &counter;
	f->in.nr_counters = 1;
	expect_eq(stat_report_build(&f->in, f->mem, &f->diag, &f->report), -EINVAL);
}

static void a_full_arena_is_an_error(void **state)
{
	struct stat_fixture *f = *state;
	struct arena *small = arena_new(1024);

	fixture_machine(f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	expect_eq(stat_report_build(&f->in, small, &f->diag, &f->report), -ENOMEM);
	assert_true(f->diag.hint[0]);
	arena_free(small);
}

static void the_least_latency_hides_threads_before_they_collapse(void **state)
{
	static const struct stat_counter_in counter = { "misses", 0 };
	struct stat_fixture *f = *state;
	struct tally_row *row;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY | STAT_GROUP_SLEEP | STAT_GROUP_PERF);
	f->in.display = TALLY_BY_COMM;
	f->in.counters = &counter;
	f->in.nr_counters = 1;
	f->in.min_latency_us = 50;
	for (uint32_t i = 0; i < 2; i++) {
		row = fixture_row(f, "pool", 10 + i);
		/* Its preempted half lifts the median of the second thread over the limit. */
		fixture_sample(f, row, STAT_DELAY_WOKEN, 5, 10);
		fixture_sample(f, row, STAT_DELAY_PREEMPTED, 900, i ? 11 : 1);
		fixture_sample(f, row, STAT_SLEEP_S, 10, 1);
		fixture_counter(f, row, 0, 100, 1);
	}
	row = fixture_row(f, "no delay", 30);
	fixture_sample(f, row, STAT_SLEEP_S, 10, 1);
	fixture_cpu(f, 0, 49, 10, 5);
	fixture_cpu(f, 1, 51, 10, 5);
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->nr_rows, 1);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->rows[0].durations.all.count, 21);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->rows[0].identity.members.nr_tasks, 1);
	expect_eq(fixture_table(f, STAT_TABLE_SLEEP)->nr_rows, 2);
	expect_eq(fixture_table(f, STAT_TABLE_COUNTER)->rows[0].values.count, 2);
	expect_eq(fixture_table(f, STAT_TABLE_CPU_LATENCY)->nr_rows, 1);
	expect_eq(fixture_table(f, STAT_TABLE_CPU_LATENCY)->rows[0].cpu.cpu, 1);
	expect_eq(fixture_table(f, STAT_TABLE_CPU_IDLE)->nr_rows, 2);

	/* Without delays there is nothing to filter by. */
	f->in.groups = STAT_GROUP_SLEEP;
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_SLEEP)->rows[0].identity.members.nr_tasks +
	                  fixture_table(f, STAT_TABLE_SLEEP)->rows[1].identity.members.nr_tasks,
	          3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_rows_give_empty_tables),
		TEST(a_filter_of_names_has_no_delays_per_cpu),
		TEST(tables_come_in_their_order_and_only_when_asked_for),
		TEST(delay_is_the_sum_of_its_causes_and_keeps_them),
		TEST(sleep_is_split_by_state),
		TEST(a_single_sample_is_every_percentile),
		TEST(the_view_decides_which_samples_count),
		TEST(bands_follow_the_90th_percentile),
		TEST(each_band_keeps_the_first_ten),
		TEST(ties_have_one_order),
		TEST(every_sort_key_sorts),
		TEST(threads_collapse_by_what_is_shown),
		TEST(a_thread_under_two_names_counts_once),
		TEST(merged_rows_cannot_be_taken_apart),
		TEST(a_counter_that_does_not_exist_is_refused),
		TEST(a_full_arena_is_an_error),
		TEST(the_least_latency_hides_threads_before_they_collapse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
