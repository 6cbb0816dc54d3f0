#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat/tally/outliers.h"

/* A wait of 100 ns on [900, 1000), with no history. */
static struct stat_outlier outlier(void)
{
	struct stat_outlier o = {
		.rec = { sizeof(o), STAT_REC_OUTLIER, 0, 0 },
		.at_ns = 1000,
		.wait_ns = 100,
		.cause = STAT_CAUSE_PREEMPTED,
		.cpu = 3,
		.wait_cpu = 2,
		.tid = 77,
		.tgid = 70,
		.comm = "waiter",
	};

	return o;
}

static void add_slice(struct stat_outlier *o, uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	struct stat_slice *s = &o->history.slices[o->history.next++ % STAT_HISTORY];

	*s = (struct stat_slice){ start_ns, end_ns, tid, tid + 1, "holder" };
}

static uint64_t sum_of(const struct outlier *o)
{
	uint64_t sum = o->idle_ns + o->unexplained_ns;

	for (uint32_t i = 0; i < o->nr_holders; i++)
		sum += o->holders[i].ns;
	return sum;
}

static void a_wait_without_history_is_unexplained(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);
	expect_eq(out.nr_holders, 0);
	expect_eq(out.unexplained_ns, 100);
	expect_eq(out.idle_ns, 0);
	expect_eq(out.at_ns, 1000);
	expect_eq(out.wait_ns, 100);
	expect_eq(out.cause, STAT_CAUSE_PREEMPTED);
	expect_eq(out.cpu, 3);
	expect_eq(out.wait_cpu, 2);
	expect_eq(out.tid, 77);
	expect_eq(out.tgid, 70);
	assert_string_equal(out.comm, "waiter");
}

static void holders_are_merged_and_the_longest_comes_first(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	add_slice(&in, 9, 100, 890); /* over before the wait began */
	add_slice(&in, 1, 890, 920); /* 20 of it within */
	add_slice(&in, 2, 920, 955);
	add_slice(&in, 0, 955, 960); /* idle */
	add_slice(&in, 1, 965, 990);
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);

	expect_eq(out.nr_holders, 2);
	expect_eq(out.holders[0].tid, 1);
	expect_eq(out.holders[0].tgid, 2);
	expect_eq(out.holders[0].ns, 45);
	expect_eq(out.holders[0].nr_slices, 2);
	assert_string_equal(out.holders[0].comm, "holder");
	expect_eq(out.holders[1].tid, 2);
	expect_eq(out.holders[1].ns, 35);
	expect_eq(out.idle_ns, 5);
	expect_eq(out.unexplained_ns, 15);
}

static void a_slice_longer_than_the_wait_explains_all_of_it(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	add_slice(&in, 5, 1, 5000);
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);
	expect_eq(out.nr_holders, 1);
	expect_eq(out.holders[0].ns, 100);
	expect_eq(out.unexplained_ns, 0);
}

static void the_ring_is_read_past_its_end_and_past_the_wrap_of_its_counter(void **state)
{
	struct outlier out;

	(void)state;
	for (uint32_t start = 0; start < 2; start++) {
		struct stat_outlier in = outlier();

		in.history.next = start ? UINT32_MAX - 3 : 7;
		for (uint32_t i = 0; i < 20; i++)
			add_slice(&in, i + 1, 800 + i * 10, 810 + i * 10);
		expect_eq(outlier_read(&in, sizeof(in), &out), 0);
		expect_eq(out.nr_holders, 10);
		expect_eq(out.unexplained_ns, 0);
		for (uint32_t i = 0; i < 10; i++) {
			expect_eq(out.holders[i].tid, 11 + i); /* equal times: by tid */
			expect_eq(out.holders[i].ns, 10);
		}
	}
}

static void as_many_holders_as_slices_fit(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	in.wait_ns = 900;
	for (uint32_t i = 0; i < STAT_HISTORY; i++)
		add_slice(&in, i + 1, 200 + i, 201 + i);
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);
	expect_eq(out.nr_holders, STAT_HISTORY);
	expect_eq(out.unexplained_ns, 900 - STAT_HISTORY);
}

/* It waited on one CPU and was taken to another: who ran there runs on. */
static void the_one_that_still_runs_counts_too(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	add_slice(&in, 7, 850, 930);
	in.history.running = (struct stat_slice){ .start_ns = 930, .tid = 9, .comm = "hog" };
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);
	expect_eq(out.nr_holders, 2);
	expect_eq(out.holders[0].tid, 9);
	expect_eq(out.holders[0].ns, 70);
	expect_eq(out.holders[1].ns, 30);
	expect_eq(out.unexplained_ns, 0);
}

static void torn_and_overlapping_slices_never_explain_more_than_the_wait(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	add_slice(&in, 1, 900, 1000);
	add_slice(&in, 2, 910, 990); /* within the first one */
	add_slice(&in, 3, 980, 940); /* ends before it starts */
	add_slice(&in, 4, 950, 1000);
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);
	expect_eq(sum_of(&out), 100);
	expect_eq(out.holders[0].tid, 4);
	expect_eq(out.holders[0].ns, 50);
	expect_eq(out.holders[1].tid, 2);
	expect_eq(out.holders[1].ns, 40);
	expect_eq(out.holders[2].tid, 1);
	expect_eq(out.holders[2].ns, 10);
}

static void random_histories_always_add_up(void **state)
{
	struct outlier out;

	(void)state;
	srand(3);
	for (int round = 0; round < 2000; round++) {
		struct stat_outlier in = outlier();

		in.history.next = (uint32_t)rand();
		for (int i = 0; i < STAT_HISTORY; i++)
			add_slice(&in, (uint32_t)rand() % 4, 850 + (uint64_t)rand() % 200,
			          850 + (uint64_t)rand() % 200);
		expect_eq(outlier_read(&in, sizeof(in), &out), 0);
		expect_eq(sum_of(&out), 100);
		for (uint32_t i = 0; i < out.nr_holders; i++)
			assert_true(out.holders[i].ns > 0 && out.holders[i].ns <= 100);
	}
}

static void names_without_an_end_are_cut(void **state)
{
	struct stat_outlier in = outlier();
	struct outlier out;

	(void)state;
	add_slice(&in, 1, 900, 1000);
	memset(in.comm, 'x', sizeof(in.comm));
	memset(in.history.slices[0].comm, 'y', sizeof(in.comm));
	expect_eq(outlier_read(&in, sizeof(in), &out), 0);
	assert_string_equal(out.comm, "xxxxxxxxxxxxxxx");
	assert_string_equal(out.holders[0].comm, "yyyyyyyyyyyyyyy");
}

static void malformed_records_are_refused(void **state)
{
	struct stat_outlier in = outlier(), bad;
	struct outlier out;

	(void)state;
	expect_eq(outlier_read(&in, sizeof(in) - 1, &out), -EBADMSG);
	expect_eq(outlier_read(&in, 0, &out), -EBADMSG);
	bad = in;
	bad.rec.size--;
	expect_eq(outlier_read(&bad, sizeof(bad), &out), -EBADMSG);
	bad = in;
	bad.rec.kind = STAT_REC_TASK;
	expect_eq(outlier_read(&bad, sizeof(bad), &out), -EBADMSG);
	bad = in;
	bad.wait_ns = bad.at_ns + 1;
	expect_eq(outlier_read(&bad, sizeof(bad), &out), -EBADMSG);
	bad = in;
	bad.cause = STAT_CAUSE_NEW + 1;
	expect_eq(outlier_read(&bad, sizeof(bad), &out), -EBADMSG);
	bad = in;
	bad.tid = 0;
	expect_eq(outlier_read(&bad, sizeof(bad), &out), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_without_history_is_unexplained),
		cmocka_unit_test(holders_are_merged_and_the_longest_comes_first),
		cmocka_unit_test(a_slice_longer_than_the_wait_explains_all_of_it),
		cmocka_unit_test(the_ring_is_read_past_its_end_and_past_the_wrap_of_its_counter),
		cmocka_unit_test(as_many_holders_as_slices_fit),
		cmocka_unit_test(the_one_that_still_runs_counts_too),
		cmocka_unit_test(torn_and_overlapping_slices_never_explain_more_than_the_wait),
		cmocka_unit_test(random_histories_always_add_up),
		cmocka_unit_test(names_without_an_end_are_cut),
		cmocka_unit_test(malformed_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
