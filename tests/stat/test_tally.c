/* What the tally adds up: differences and identities. */
#include "../unit.h"

#include "fake_task.h"

static const struct tally_cfg by_comm = { .by = TALLY_BY_COMM };

static void nothing_in_gives_nothing_out(void **state)
{
	struct tally *t = fake_tally(&(struct tally_cfg){ .nr_cpus = 2 });
	struct tally_loss loss;

	(void)state;
	tally_begin_interval(t);
	tally_end_tick(t, S);
	tally_end_tick(t, 0);
	expect_eq(tally_nr_rows(t), 0);
	assert_null(tally_row_at(t, 0));
	assert_false(tally_cpu_at(t, 1)->is_known);
	assert_null(tally_cpu_at(t, 2));
	tally_loss(t, &loss);
	expect_eq(loss.other_rows, 0);
	expect_eq(loss.bad_records, 0);
	tally_free(t);
	tally_free(NULL);
}

static void configurations_out_of_range_are_refused(void **state)
{
	struct tally *t = NULL;

	(void)state;
	expect_eq(tally_new(&(struct tally_cfg){ .by = (enum tally_by)4 }, &t), -EINVAL);
	expect_eq(tally_new(&(struct tally_cfg){ .nr_cpus = UINT32_MAX }, &t), -EINVAL);
	expect_eq(tally_new(&(struct tally_cfg){ .max_rows = UINT32_MAX }, &t), -EINVAL);
	assert_null(t);
}

static void a_record_is_counted_once_however_often_it_comes(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct hist *h;
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add(&f.hists[STAT_SLEEP_D], 1, 50 * US, 111, 3);
	fake_add(&f.hists[STAT_SLEEP_D], 1, 70 * US, 222, 4);
	for (int i = 0; i < 3; i++)
		fake_send(t, &f);

	expect_eq(tally_nr_rows(t), 1);
	h = fake_hist(t, "a", TALLY_TOTAL, STAT_SLEEP_D);
	expect_eq(h->count, 2);
	expect_eq(h->sum_ns, 120 * US);
	expect_eq(h->min_ns, 50 * US);
	expect_eq(h->max_ns, 70 * US);
	expect_eq(h->max_at_ns, 222);
	expect_eq(h->max_cpu, 4);
	expect_eq(h->slots[hist_slot(50 * US)], 1);
	expect_eq(h->slots[hist_slot(70 * US)], 1);
	assert_null(fake_hist(t, "a", TALLY_TOTAL, STAT_SLEEP_S));
	assert_null(fake_row(t, "a")->view[TALLY_TOTAL].depth);
	assert_null(fake_row(t, "a")->migration_rates);
	tally_free(t);
}

static void histograms_follow_in_the_order_of_the_mask(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	for (uint32_t m = 0; m < STAT_STORED_METRICS; m++)
		for (uint32_t n = 0; n <= m; n++)
			fake_add(&f.hists[m], 1, m * US, 1, 1);
	fake_send_at(t, &f, 1U << STAT_SLEEP_S | 1U << STAT_DELAY_PREEMPTED, false, 0);
	for (uint32_t m = 0; m < STAT_STORED_METRICS; m++) {
		const struct hist *h = fake_hist(t, "a", TALLY_TOTAL, m);

		if (m == STAT_SLEEP_S || m == STAT_DELAY_PREEMPTED)
			expect_eq(h->slots[m], m + 1);
		else
			assert_null(h);
	}
	fake_send_at(t, &f, 0, false, 0);
	fake_send(t, &f);
	for (uint32_t m = 0; m < STAT_STORED_METRICS; m++)
		expect_eq(fake_hist(t, "a", TALLY_TOTAL, m)->count, m + 1);
	tally_free(t);
}

/* Slots that were outside the range seen before, on either side. */
static void a_widening_range_is_counted_exactly(void **state)
{
	static const uint64_t ns[] = { 300 * US, 20 * US, 5 * S, 0, 7200 * S, 1 * US };
	struct tally *t = fake_tally(&by_comm);
	const struct hist *h;
	struct fake_task f;
	uint64_t sum = 0;

	(void)state;
	fake_init(&f, 7, "a");
	for (uint32_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		fake_add(&f.hists[0], i + 1, ns[i], i, i);
		sum += ns[i];
		fake_send(t, &f);
		h = fake_hist(t, "a", TALLY_TOTAL, 0);
		expect_eq(h->count, i + 1);
		expect_eq(h->sum_ns, sum);
		for (uint32_t k = 0; k < HIST_SLOTS; k++)
			expect_eq(h->slots[k], f.hists[0].slots[k]);
	}
	expect_eq(h->min_ns, 0);
	expect_eq(h->max_ns, 7200 * S);
	tally_free(t);
}

static void counters_of_32_bits_may_wrap(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;
	uint32_t slot = hist_slot(3 * US);

	(void)state;
	fake_init(&f, 7, "a");
	f.hists[0].slots[slot] = UINT32_MAX - 1;
	f.hists[0].count = UINT32_MAX - 1;
	fake_send(t, &f);
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->count, UINT32_MAX - 1);
	f.hists[0].slots[slot] += 5;
	f.hists[0].count += 5;
	fake_send(t, &f);
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->count, UINT32_MAX + 4ULL);
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->slots[slot], UINT32_MAX + 4ULL);
	f.hists[0].slots[slot] = 0; /* an older copy: behind, not 2^32 - 3 ahead */
	fake_send(t, &f);
	f.hists[0].slots[slot] = 4;
	fake_send(t, &f);
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->slots[slot], UINT32_MAX + 5ULL);
	tally_free(t);
}

static void older_copies_are_made_up_for_later(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f, old;

	(void)state;
	fake_init(&f, 7, "a");
	old = f;
	for (int i = 0; i < 10; i++) {
		old = f;
		fake_add(&f.hists[0], 1, 5 * US, 1, 1);
		fake_depth(&f, 3, 1, 1);
		f.head.run_ns += 5;
		f.head.migrations.all++;
		f.head.counters[2] += 7;
	}
	fake_send(t, &f);
	fake_send(t, &old);
	fake_send(t, &f);
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->count, 10);
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->sum_ns, 50 * US);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].depth->count, 10);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].depth->sum, 30);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].run_ns, 50);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].migrations.all, 10);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].counters[2], 70);
	tally_free(t);
}

static void torn_copies_agree_in_the_end(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct hist *h;
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	f.hists[0].sum_ns = 5 * US; /* the sum, ahead of everything else */
	f.hists[0].count = 1;
	fake_send(t, &f);
	assert_true(tally_nr_rows(t) == 0 || !fake_hist(t, "a", TALLY_TOTAL, 0));
	f.hists[0].slots[5]++; /* the slot without its extremes */
	fake_send(t, &f);
	h = fake_hist(t, "a", TALLY_TOTAL, 0);
	expect_eq(h->count, 1);
	expect_eq(h->sum_ns, 5 * US);
	expect_eq(h->min_ns, 6 * US - 1);
	expect_eq(h->max_ns, 6 * US - 1);
	f.hists[0].slots[100]++; /* a slot without sum, count and extremes */
	fake_send(t, &f);
	expect_eq(h->count, 2);
	expect_eq(h->sum_ns, 5 * US);
	expect_eq(h->max_ns, hist_slot_range(100).first);
	f.hists[0].slots[100]--;
	fake_add(&f.hists[0], 1, hist_slot_range(100).first + 3, 9, 1); /* the rest of it */
	fake_add(&f.hists[0], 1, 6 * US, 10, 1);
	fake_send(t, &f);
	expect_eq(h->count, 3);
	expect_eq(h->sum_ns, hist_slot_range(100).first + 3 + 11 * US);
	expect_eq(h->max_ns, hist_slot_range(100).first + 3);
	expect_eq(h->max_at_ns, 9);
	tally_free(t);
}

static void a_renamed_task_goes_on_in_another_row(void **state)
{
	struct fake_task before, after;

	(void)state;
	fake_init(&before, 7, "old");
	fake_add(&before.hists[0], 1, 5 * US, 1, 1);
	before.head.run_ns = 1000;
	after = before;
	fake_rename(&after, "new");
	fake_add(&after.hists[0], 2, 90 * US, 2, 1);
	after.head.run_ns = 70;
	for (int order = 0; order < 2; order++) {
		struct tally *t = fake_tally(&by_comm);
		struct fake_task last = before;

		fake_send(t, &before);
		fake_add(&last.hists[0], 1, 6 * US, 1, 1);
		if (order)
			fake_send(t, &after);
		fake_send_last(t, &last);
		if (!order)
			fake_send(t, &after);
		fake_send(t, &after);
		expect_eq(tally_nr_rows(t), 2);
		expect_eq(fake_hist(t, "old", TALLY_TOTAL, 0)->count, 2);
		expect_eq(fake_hist(t, "old", TALLY_TOTAL, 0)->max_ns, 6 * US);
		expect_eq(fake_row(t, "old")->view[TALLY_TOTAL].run_ns, 1000);
		expect_eq(fake_hist(t, "new", TALLY_TOTAL, 0)->count, 1);
		expect_eq(fake_hist(t, "new", TALLY_TOTAL, 0)->min_ns, 90 * US);
		expect_eq(fake_row(t, "new")->view[TALLY_TOTAL].run_ns, 70);
		expect_eq(fake_row(t, "old")->view[TALLY_TOTAL].members.nr_tasks, 1);
		expect_eq(fake_row(t, "new")->view[TALLY_TOTAL].members.nr_tasks, 1);
		tally_free(t);
	}
}

static void a_task_that_came_and_went_between_drains_is_counted(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fake_init(&f, 7 + (uint32_t)i, "short");
		fake_add(&f.hists[0], 1, 5 * US, 1, 1);
		fake_add(&f.waking.hist, 1, 8 * US, 1, 1);
		f.head.wait_new = (struct stat_sample){ 4 * US, 5, 6, 1 };
		if (i)
			fake_send_waking(t, &f, true);
		fake_send_last(t, &f);
		if (!i)
			fake_send_waking(t, &f, true);
		fake_send(t, &f); /* met again by the drain before it vanished */
	}
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, STAT_DELAY_WOKEN)->count, 2);
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, STAT_WAKING)->count, 2);
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, STAT_WAKING)->max_ns, 8 * US);
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, TALLY_DELAY_NEW)->count, 2);
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, TALLY_DELAY_NEW)->max_ns, 4 * US);
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, TALLY_DELAY_NEW)->max_at_ns, 5);
	expect_eq(fake_hist(t, "short", TALLY_TOTAL, TALLY_DELAY_NEW)->max_cpu, 6);
	expect_eq(fake_row(t, "short")->view[TALLY_TOTAL].members.nr_tasks, 2);
	tally_free(t);
}

static void a_thread_id_may_come_back_as_another_task(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		fake_init(&f, 7, "a");
		f.head.id.start_ns = 1 + i;
		fake_add(&f.hists[0], 1, 5 * US, 1, 1);
		fake_send(t, &f);
		fake_add(&f.hists[0], 1, 6 * US, 1, 1);
		fake_send_last(t, &f);
		tally_end_tick(t, S);
	}
	expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->count, 6);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].members.nr_tasks, 3);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].members.nr_shown, 1);
	tally_free(t);
}

static void many_tasks_come_and_go(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task *f = calloc(5000, sizeof(*f));

	(void)state;
	assert_non_null(f);
	for (uint32_t i = 0; i < 5000; i++)
		fake_init(&f[i], i + 1, i % 2 ? "odd" : "even");
	for (uint32_t round = 1; round <= 3; round++) {
		tally_begin_interval(t);
		for (uint32_t i = 0; i < 5000; i++) {
			fake_add(&f[i].hists[i % 7], round, i * US, round, i);
			f[i].head.migrations.all++;
			if (round == 3 && i >= 4000)
				fake_send_last(t, &f[i]);
			else
				fake_send(t, &f[i]);
		}
		tally_end_tick(t, S);
	}
	for (uint32_t i = 4000; i < 5000; i++) { /* their places are taken by new ones */
		fake_init(&f[i], i + 10001, i % 2 ? "odd" : "even");
		fake_add(&f[i].hists[0], 4, 1 * US, 1, 1);
		fake_send(t, &f[i]);
	}
	expect_eq(tally_nr_rows(t), 2);
	expect_eq(fake_row(t, "odd")->view[TALLY_TOTAL].migrations.all, 7500);
	expect_eq(fake_row(t, "odd")->migration_rates[0].count, 7500);
	expect_eq(fake_row(t, "odd")->view[TALLY_TOTAL].members.nr_tasks, 3000);
	expect_eq(fake_row(t, "even")->view[TALLY_TOTAL].members.nr_tasks, 3000);
	expect_eq(fake_row(t, "even")->view[TALLY_TOTAL].members.tids[2], 5);
	expect_eq(fake_row(t, "even")->view[TALLY_INTERVAL].members.nr_tasks, 3000);
	free(f);
	tally_free(t);
}

static void rows_beyond_the_cap_are_added_to_one(void **state)
{
	struct tally *t = fake_tally(&(struct tally_cfg){ .by = TALLY_BY_TID, .max_rows = 10 });
	const struct tally_row *other;
	struct tally_loss loss;
	struct fake_task f;

	(void)state;
	for (uint32_t round = 1; round <= 2; round++) {
		for (uint32_t i = 1; i <= 25; i++) {
			fake_init(&f, i, "x");
			for (uint32_t n = 0; n < round; n++)
				fake_add(&f.hists[0], n + 1, i * US, 1, 1);
			fake_send(t, &f);
		}
	}
	expect_eq(tally_nr_rows(t), 11);
	other = fake_row(t, "(other)");
	expect_eq(other->view[TALLY_TOTAL].hist[0]->count, 30);
	expect_eq(other->view[TALLY_TOTAL].members.nr_tasks, 15);
	expect_eq(other->view[TALLY_TOTAL].members.tids[0], 11);
	tally_loss(t, &loss);
	expect_eq(loss.other_rows, 15);
	tally_free(t);
}

struct wanted {
	uint32_t tid;
	int nr_asked;
};

static bool accept_tid(void *ctx, const struct stat_id *id)
{
	struct wanted *wanted = ctx;

	wanted->nr_asked++;
	return id->tid == wanted->tid;
}

static void unwanted_tasks_are_asked_about_once_and_left_out(void **state)
{
	struct wanted wanted = { .tid = 8 };
	struct tally *t = fake_tally(
		&(struct tally_cfg){ .accept = accept_tid, .accept_ctx = &wanted });
	struct fake_task f;

	(void)state;
	for (uint32_t round = 1; round <= 3; round++) {
		for (uint32_t tid = 7; tid < 10; tid++) {
			fake_init(&f, tid, tid == 8 ? "yes" : "no");
			for (uint32_t n = 0; n < round; n++)
				fake_add(&f.hists[0], n, 5 * US, 1, 1);
			f.head.migrations.all = round;
			fake_send_at(t, &f, ALL_HISTS, round == 3, 0);
			fake_send_waking(t, &f, round == 3);
		}
	}
	tally_end_tick(t, S);
	expect_eq(wanted.nr_asked, 3);
	expect_eq(tally_nr_rows(t), 1);
	expect_eq(fake_hist(t, "yes", TALLY_TOTAL, 0)->count, 3);
	tally_free(t);
}

/* What tasks got from dispatch queues: sums, and the last one. */
static void runs_from_queues_are_added_up(void **state)
{
	const struct tally_cfg cfg = { .by = TALLY_BY_COMM, .nr_cpus = 1 };
	struct tally *t = fake_tally(&cfg);
	const struct tally_runs *runs;
	struct fake_task f;

	(void)state;
	fake_init(&f, 5, "queued");
	fake_send_queued(t, &f, false);
	assert_false(fake_row(t, "queued")->has_dsq);
	f.queued.runs = (struct stat_runs){ 100, 3, 2, 40 * MS, 2, 7 * MS };
	fake_add(&f.queued.hist, 1, 9 * US, 1, 0);
	fake_send_queued(t, &f, false);
	tally_begin_interval(t);
	f.queued.runs = (struct stat_runs){ 101, 4, 3, 60 * MS, 4, 12 * MS };
	fake_send_queued(t, &f, true);
	fake_send_queued(t, &f, true); /* late: nothing of it counts twice */
	runs = &fake_row(t, "queued")->view[TALLY_TOTAL].runs;
	expect_eq(runs->nr, 4);
	expect_eq(runs->given_ns, 60 * MS);
	expect_eq(runs->used_ns, 12 * MS);
	runs = &fake_row(t, "queued")->view[TALLY_INTERVAL].runs;
	expect_eq(runs->nr, 1);
	expect_eq(runs->nr_given, 1);
	expect_eq(runs->nr_used, 2);
	expect_eq(runs->used_ns, 5 * MS);
	assert_true(fake_row(t, "queued")->has_dsq);
	expect_eq(fake_row(t, "queued")->dsq_id, 101);
	expect_eq(fake_hist(t, "queued", TALLY_TOTAL, STAT_DSQ_LATENCY)->count, 1);
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_from_queues_are_added_up),
		cmocka_unit_test(nothing_in_gives_nothing_out),
		cmocka_unit_test(configurations_out_of_range_are_refused),
		cmocka_unit_test(a_record_is_counted_once_however_often_it_comes),
		cmocka_unit_test(histograms_follow_in_the_order_of_the_mask),
		cmocka_unit_test(a_widening_range_is_counted_exactly),
		cmocka_unit_test(counters_of_32_bits_may_wrap),
		cmocka_unit_test(older_copies_are_made_up_for_later),
		cmocka_unit_test(torn_copies_agree_in_the_end),
		cmocka_unit_test(a_renamed_task_goes_on_in_another_row),
		cmocka_unit_test(a_task_that_came_and_went_between_drains_is_counted),
		cmocka_unit_test(a_thread_id_may_come_back_as_another_task),
		cmocka_unit_test(many_tasks_come_and_go),
		cmocka_unit_test(rows_beyond_the_cap_are_added_to_one),
		cmocka_unit_test(unwanted_tasks_are_asked_about_once_and_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
