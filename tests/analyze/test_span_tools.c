#include "../unit.h"

#include <stdlib.h>

#include "analyze/buckets.h"
#include "analyze/cover.h"
#include "analyze/figures.h"

static void what_lies_inside_counts_once(void **state)
{
	struct cover c;

	(void)state;
	assert_int_equal(cover_init(&c, 2), 0);
	cover_add(&c, 0, 10, 20);
	cover_add(&c, 0, 30, 40);
	cover_add(&c, 0, 5, 50); /* holds both */
	cover_add(&c, 0, 50, 60);
	cover_add(&c, 1, 7, 7);
	cover_add(&c, 9, 1, 5); /* no such CPU */
	expect_eq(cover_ns(&c, 0), 55);
	expect_eq(cover_ns(&c, 1), 0);
	expect_eq(cover_ns(&c, 9), 0);
	expect_eq(cover_sum_ns(&c), 55);
	cover_done(&c);
}

static void intervals_that_overlap_or_come_late_count_once(void **state)
{
	struct cover c;

	(void)state;
	assert_int_equal(cover_init(&c, 1), 0);
	cover_add(&c, 0, 10, 30);
	cover_add(&c, 0, 20, 40);
	expect_eq(cover_ns(&c, 0), 30);
	cover_add(&c, 0, 15, 25);
	expect_eq(cover_ns(&c, 0), 30);
	cover_done(&c);
}

/* Many more keys than the cache has places, against plain arrays. */
static void buckets_keep_keys_apart(void **state)
{
	static uint64_t counts[2000], sums[2000], maxima[2000];
	struct buckets b = { 0 };

	(void)state;
	srandom(7);
	for (int i = 0; i < 50000; i++) {
		uint32_t key = (uint32_t)random() % 2000;
		uint64_t ns = (uint64_t)random() % 1000;

		counts[key]++;
		sums[key] += ns;
		maxima[key] = ns > maxima[key] ? ns : maxima[key];
		assert_int_not_equal(buckets_add(&b, bucket_pair(key, 3), ns), BUCKETS_NONE);
	}
	assert_int_equal(buckets_order(&b), 0);
	for (uint32_t i = 0; i < b.nr; i++) {
		uint32_t key = bucket_high(b.at[i].key);
		struct samples samples = buckets_at(&b, i);

		expect_eq(bucket_low(b.at[i].key), 3);
		expect_eq(b.at[i].count, counts[key]);
		expect_eq(b.at[i].sum_ns, sums[key]);
		expect_eq(b.at[i].max_ns, maxima[key]);
		expect_eq(samples.nr, counts[key]);
		expect_eq(samples_sum(&samples), sums[key]);
	}
	buckets_done(&b);
}

static void the_top_is_by_sum_or_by_count(void **state)
{
	struct buckets b = { 0 };
	struct top by_sum = { .limit = 1 }, by_count = { .limit = 1 };

	(void)state;
	buckets_add(&b, 10, 500);
	buckets_sum(&b, 11, 100);
	buckets_count(&b, 11);
	assert_int_equal(buckets_order(&b), 0);
	buckets_top(&b, false, &by_sum);
	buckets_top(&b, true, &by_count);
	expect_eq(b.at[by_sum.entries[0].id].key, 10);
	expect_eq(b.at[by_count.entries[0].id].key, 11);
	expect_eq(buckets_at(&b, 1).nr, 0); /* of sums there are no samples */
	top_done(&by_sum);
	top_done(&by_count);
	buckets_done(&b);
}

static void queues_and_devices_have_names(void **state)
{
	struct report *r = report_new(0);

	(void)state;
	assert_non_null(r);
	assert_string_equal(figure_dsq_name(r, 0x8000000000000001ULL), "GLOBAL");
	assert_string_equal(figure_dsq_name(r, 0x8000000000000002ULL), "LOCAL");
	assert_string_equal(figure_dsq_name(r, 0xC000000000000011ULL), "LOCAL_ON|17");
	assert_string_equal(figure_dsq_name(r, 0x8000000000000009ULL), "0x8000000000000009");
	assert_string_equal(figure_dsq_name(r, 0), "0x0");
	assert_string_equal(figure_device(r, 259ULL << 20 | 5), "259:5");
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_inside_counts_once),
		cmocka_unit_test(intervals_that_overlap_or_come_late_count_once),
		cmocka_unit_test(buckets_keep_keys_apart),
		cmocka_unit_test(the_top_is_by_sum_or_by_count),
		cmocka_unit_test(queues_and_devices_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
