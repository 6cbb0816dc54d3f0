#include "../unit.h"

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

static void slices_are_sorted_by_preemption_and_show_endless_ones(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_SLICE);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_SLICE);
	expect_eq(t->nr_rows, 4);
	assert_string_equal(t->rows[0].identity.name, "bad\033[2Jname");
	expect_eq(t->rows[0].slices.all.count, 0);
	expect_eq(t->rows[0].slices.open_ns, 12000000 * US);
	expect_eq(t->rows[0].slices.open_tid, 2400);
	assert_string_equal(t->rows[1].identity.name, "encoder");
	assert_true(t->rows[1].slices.preempt_pct == 100.0);
	expect_eq(t->rows[1].slices.voluntary.count, 0);
	expect_eq(t->rows[1].slices.run_ns, (900 * 2870 + 20 * 3901) * US);
	assert_string_equal(t->rows[2].identity.name, "dbserver");
	assert_true(t->rows[2].slices.preempt_pct > 0.9 && t->rows[2].slices.preempt_pct < 1.0);
	assert_true(t->rows[3].slices.preempt_pct == 0.0);
}

static void the_deepest_queues_are_not_cut_at_the_last_slot(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_values *v;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	fixture_depth(f, fixture_row(f, "a", 1), 1, 80);
	fixture_depth(f, &f->rows[0], 2, 15);
	fixture_depth(f, &f->rows[0], 500, 5);
	f->in.has_bins = true;
	fixture_build(f);
	v = &fixture_table(f, STAT_TABLE_DEPTH)->rows[0].values;
	expect_eq(v->p50, 1);
	expect_eq(v->p90, 2);
	assert_true(v->p99 >= 63 && v->p99 <= 500);
	expect_eq(v->max, 500);
	expect_eq(v->max_cpu, 1);
	assert_true(v->mean == (80 + 30 + 2500) / 100.0);
	expect_eq(fixture_table(f, STAT_TABLE_DEPTH)->bins.nr, STAT_DEPTH_SLOTS);
	expect_eq(fixture_table(f, STAT_TABLE_DEPTH)->bins.items[63].last, UINT64_MAX);
}

static void migrations_without_a_full_second_have_no_rate(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_MIGRATION);
	f->in.nr_llcs = 2;
	fixture_row(f, "a", 1)->view[TALLY_TOTAL].migrations.all = 9;
	fixture_migrations(f, fixture_row(f, "b", 2), 0, 4, 1);
	fixture_migrations(f, &f->rows[1], 1, 0, 1);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_MIGRATION);
	expect_eq(t->nr_rows, 2);
	assert_true(t->is_since_start);
	assert_string_equal(t->rows[0].identity.name, "b");
	expect_eq(t->rows[1].values.count, 0);
	expect_eq(t->rows[1].values.total, 9);
	/* It never crossed: no row, although its seconds are samples of zero. */
	expect_eq(fixture_table(f, STAT_TABLE_CROSS_LLC)->nr_rows, 0);
}

static void rates_of_cycles_are_per_real_second_of_the_view(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;
	const struct stat_row *row;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_PERF);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_IPC);
	assert_string_equal(t->bands[0].slug, "medium");
	row = row_named(t, "dbserver");
	assert_true(row->ipc.per_s[STAT_IPC_USER_CYCLES] == 200000000.0);
	assert_true(row->ipc.user_ipc == 2.4);
	assert_true(row->ipc.kernel_ipc == 0.9);
	row = row_named(t, "encoder");
	assert_true(row->ipc.has[STAT_IPC_KERNEL_CYCLES]);
	assert_false(row->ipc.has_kernel_ipc);

	f->in.view = TALLY_INTERVAL;
	f->in.ipc[STAT_IPC_KERNEL_CYCLES] = -1;
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_IPC);
	/* Highest first, unlike the other tables. */
	assert_string_equal(t->bands[0].slug, "high");
	assert_string_equal(t->bands[1].slug, "very_low");
	row = row_named(t, "dbserver");
	assert_true(row->ipc.per_s[STAT_IPC_USER_CYCLES] == 2400000000.0);
	assert_false(row->ipc.has[STAT_IPC_KERNEL_CYCLES]);
	assert_false(row->ipc.has_kernel_ipc);
	assert_true(t->ipc.per_s[STAT_IPC_USER_CYCLES] == 5400500000.0);
}

static void no_time_gives_no_rates(void **state)
{
	struct stat_fixture *f = *state;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_PERF);
	f->in.elapsed_s = 0.0;
	fixture_build(f);
	assert_false(fixture_table(f, STAT_TABLE_IPC)->ipc.has[STAT_IPC_USER_CYCLES]);
}

static void cpus_are_grouped_and_merged(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_LATENCY | STAT_GROUP_SLEEP);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_CPU_LATENCY);
	expect_eq(t->nr_rows, 5);
	expect_eq(t->nr_bands, 3);
	assert_string_equal(t->bands[1].slug, "low");
	expect_eq(t->bands[1].nr_total, 3);
	expect_eq(t->bands[1].dist.count, 150);
	expect_eq(t->global.count, 210);
	expect_eq(t->global.max_cpu, 2);
	t = fixture_table(f, STAT_TABLE_CPU_IDLE);
	expect_eq(t->nr_rows, 6);
	assert_string_equal(t->bands[0].slug, "short");
	assert_string_equal(t->bands[1].slug, "long");
	expect_eq(t->rows[5].cpu.cpu, 7);
	expect_eq(t->rows[5].cpu.dist.count, 0);
	expect_eq(t->rows[5].band, STAT_NO_BAND);
	expect_eq(t->rows[5].cpu.open_ns, 12000000 * US);
}

static void domains_add_up_by_name(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_schedstat *s;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_SCHEDSTAT);
	fixture_build(f);
	s = &f->report.schedstat;
	expect_eq(s->total.nr, 5);
	assert_string_equal(s->total.items[0].name, "alb_count");
	expect_eq(s->total.items[0].value, 3);
	assert_string_equal(s->total.items[1].name, "lb_count_idle");
	expect_eq(s->total.items[1].value, 5120);
	assert_true(s->has_mean_delay);
	assert_true(s->mean_delay_us > 4.88 && s->mean_delay_us < 4.89);
	assert_false(f->report.is_nothing_matched);
}

static void no_time_slices_give_no_mean_delay(void **state)
{
	static const struct stat_schedstat_in empty = { .cpu = { .run_delay_ns = 5 } };
	struct stat_fixture *f = *state;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_SCHEDSTAT);
	fixture_build(f);
	assert_null(fixture_table(f, STAT_TABLE_SCHEDSTAT));
	f->in.schedstat = &empty;
	fixture_build(f);
	assert_non_null(fixture_table(f, STAT_TABLE_SCHEDSTAT));
	assert_false(f->report.schedstat.has_mean_delay);
	expect_eq(f->report.schedstat.total.nr, 0);
}

static void bins_hold_all_rows_even_those_not_shown(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_bins *bins;
	uint64_t count = 0;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_LATENCY);
	for (uint32_t i = 0; i < 30; i++)
		fixture_sample(f, fixture_row(f, "x", 100 + i), STAT_DELAY_WOKEN, i < 15 ? 5 : 500,
		               1);
	fixture_build(f);
	expect_eq(fixture_table(f, STAT_TABLE_LATENCY)->bins.nr, 0);
	f->in.has_bins = true;
	fixture_build(f);
	bins = &fixture_table(f, STAT_TABLE_LATENCY)->bins;
	for (uint32_t i = 0; i < bins->nr; i++) {
		count += bins->items[i].count;
		expect_eq(bins->items[i].first, hist_slot_range(i).first);
		expect_eq(bins->items[i].last,
		          i == HIST_SLOTS - 1 ? UINT64_MAX : hist_slot_range(i).last);
	}
	expect_eq(count, 30);
	expect_eq(bins->items[hist_slot(500 * US)].count, 15);
}

static void bins_of_rates_are_exact_when_small_and_powers_of_two_else(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_bins *bins;

	stat_fixture_init(f, TALLY_BY_TID, STAT_GROUP_MIGRATION);
	f->in.has_bins = true;
	fixture_migrations(f, fixture_row(f, "a", 1), 0, 3, 4);
	fixture_build(f);
	bins = &fixture_table(f, STAT_TABLE_MIGRATION)->bins;
	expect_eq(bins->items[3].first, 3);
	expect_eq(bins->items[3].last, 3);
	expect_eq(bins->items[3].count, 4);
	fixture_migrations(f, &f->rows[0], 0, 1000, 2);
	fixture_build(f);
	bins = &fixture_table(f, STAT_TABLE_MIGRATION)->bins;
	expect_eq(bins->items[10].first, 512);
	expect_eq(bins->items[10].last, 1023);
	expect_eq(bins->items[10].count, 2);
	expect_eq(bins->items[2].count, 4);
}

static void outliers_are_the_longest_first(void **state)
{
	struct stat_fixture *f = *state;

	fixture_machine(f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	fixture_build(f);
	expect_eq(f->report.outliers.nr, 2);
	expect_eq(f->report.outliers.nr_total, 2);
	expect_eq(f->report.outliers.items[0]->tid, 2301);
	f->in.top = 1;
	f->in.outliers.nr_total = 40;
	fixture_build(f);
	expect_eq(f->report.outliers.nr, 1);
	expect_eq(f->report.outliers.nr_total, 40);
}

static void a_name_that_fills_its_field_is_not_read_beyond(void **state)
{
	struct stat_fixture *f = *state;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	fixture_sample(f, fixture_row(f, "0123456789abcdefXXX", 1), STAT_DELAY_WOKEN, 5, 1);
	fixture_build(f);
	assert_string_equal(fixture_table(f, STAT_TABLE_LATENCY)->rows[0].identity.name,
	                    "0123456789abcdef");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void queues_have_their_numbers(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;
	const struct stat_dsq_row *d;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_DSQ);
	fixture_dsqs(f);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_DSQ);
	expect_eq(t->nr_rows, 3);
	d = t->rows[0].dsq; /* the longest waits first */
	expect_eq(d->id, 0x64);
	assert_string_equal(d->name, "0x64");
	expect_eq(d->latency.count, 10);
	expect_eq(d->latency.max_ns, 100 * US);
	expect_eq(d->latency_max_tid, 2400);
	expect_eq(d->inserts, 12);
	expect_eq(d->runs, 10);
	expect_eq(d->depth.max, 3);
	assert_true(d->given.mean_ns == 20000000.0 && d->used.mean_ns == 5000000.0);
	assert_true(d->vtime.sum == -2000);
	expect_eq(t->rows[1].dsq->vtime.count, 0);
	assert_string_equal(t->rows[2].dsq->name, "local");
	f->in.top = 1;
	f->in.sort = STAT_SORT_COUNT;
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_DSQ);
	expect_eq(t->nr_rows, 1);
	expect_eq(t->nr_total, 3);
	expect_eq(t->rows[0].dsq->id, STAT_DSQ_LOCAL);
}

static void tasks_have_what_they_got_from_queues(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;
	const struct stat_row *row;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_DSQ);
	fixture_dsqs(f);
	fixture_sample(f, fixture_row(f, "fair", 1), STAT_DELAY_WOKEN, 70, 10);
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_DSQ_TASKS);
	expect_eq(t->nr_rows, 2); /* the other has nothing to do with queues */
	row = row_named(t, "queued");
	assert_string_equal(row->dsq_task.dsq, "0x64");
	expect_eq(row->dsq_task.latency.count, 10);
	expect_eq(row->dsq_task.runs.given_ns, 8 * 20000000ULL);
	row = row_named(t, "endless");
	assert_string_equal(row->dsq_task.dsq, "local");
	expect_eq(row->dsq_task.runs.nr_given, 0);
}

/* One in which tasks are stuck has no news, and is the one to look at. */
static void a_queue_without_changes_is_shown_while_tasks_are_in_it(void **state)
{
	struct stat_fixture *f = *state;
	const struct stat_table *t;

	stat_fixture_init(f, TALLY_BY_COMM, STAT_GROUP_DSQ);
	fixture_dsqs(f);
	f->in.view = TALLY_INTERVAL;
	for (int i = 0; i < 3; i++)
		memset(&f->dsqs[i].view[TALLY_INTERVAL], 0, sizeof(struct dsq_view));
	f->dsqs[2].nr_now = 0;
	fixture_build(f);
	t = fixture_table(f, STAT_TABLE_DSQ);
	expect_eq(t->nr_rows, 1);
	expect_eq(t->rows[0].dsq->id, 0x65);
	expect_eq(t->rows[0].dsq->latency.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(queues_have_their_numbers),
		TEST(tasks_have_what_they_got_from_queues),
		TEST(a_queue_without_changes_is_shown_while_tasks_are_in_it),
		TEST(slices_are_sorted_by_preemption_and_show_endless_ones),
		TEST(the_deepest_queues_are_not_cut_at_the_last_slot),
		TEST(migrations_without_a_full_second_have_no_rate),
		TEST(rates_of_cycles_are_per_real_second_of_the_view),
		TEST(no_time_gives_no_rates),
		TEST(cpus_are_grouped_and_merged),
		TEST(domains_add_up_by_name),
		TEST(no_time_slices_give_no_mean_delay),
		TEST(bins_hold_all_rows_even_those_not_shown),
		TEST(bins_of_rates_are_exact_when_small_and_powers_of_two_else),
		TEST(outliers_are_the_longest_first),
		TEST(a_name_that_fills_its_field_is_not_read_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
