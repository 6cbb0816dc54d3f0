/* What the analyses share: sorting, ranking, groups, windows, edges. */
#include "../unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/depth_sweep.h"
#include "analyze/edges.h"
#include "analyze/grouped.h"
#include "analyze/sort_u64.h"
#include "analyze/top.h"
#include "analyze/windows.h"
#include "base/hist.h"

static uint64_t any(unsigned int *seed)
{
	uint64_t value = 0;

	for (int i = 0; i < 5; i++)
		value = value << 15 ^ (uint64_t)rand_r(seed);
	return value >> rand_r(seed) % 64;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void numbers_of_any_size_are_sorted(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 100, 511, 512, 5000, 70000 };
	unsigned int seed = 1;

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		size_t nr = sizes[k];
		uint64_t *mine = malloc((nr + 1) * sizeof(*mine));
		uint64_t *want = malloc((nr + 1) * sizeof(*want));

		assert_non_null(mine);
		assert_non_null(want);
		for (size_t i = 0; i < nr; i++)
			mine[i] = want[i] = i % 7 ? any(&seed) : UINT64_MAX;
		sort_u64(mine, nr);
		if (nr)
			qsort(want, nr, sizeof(*want), by_value);
		assert_memory_equal(mine, want, nr * sizeof(*want));
		free(mine);
		free(want);
	}
}

/* Only the upper bits are in order, and every number is still there. */
static void the_lowest_bits_may_be_left_out(void **state)
{
	static const size_t sizes[] = { 2, 100, 5000 };
	unsigned int seed = 3;

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		size_t nr = sizes[k];
		uint64_t mine[5000], sum = 0, after = 0;

		for (size_t i = 0; i < nr; i++)
			sum += mine[i] = any(&seed);
		sort_u64_above(mine, nr, 18);
		for (size_t i = 0; i < nr; i++) {
			after += mine[i];
			assert_true(!i || mine[i - 1] >> 18 <= mine[i] >> 18);
		}
		expect_eq(after, sum);
	}
}

static void published_percentiles_come_out(void **state)
{
	struct samples s = { 0 };

	(void)state;
	expect_eq(samples_percentile(&s, HIST_P(50)), 0);
	for (uint64_t i = 100; i > 0; i--)
		samples_add(&s, i);
	expect_eq(samples_percentile(&s, HIST_P(95)), 95);
	expect_eq(samples_percentile(&s, HIST_P(99)), 99);
	samples_done(&s);
	for (uint64_t i = 10; i > 0; i--)
		samples_add(&s, i);
	assert_true(samples_mean(&s) == 5.5);
	expect_eq(samples_percentile(&s, HIST_P(50)), 5);
	expect_eq(samples_percentile(&s, HIST_P(90)), 9);
	samples_done(&s);
	samples_add(&s, 42);
	expect_eq(samples_percentile(&s, 0), 42);
	expect_eq(samples_percentile(&s, HIST_P(99.9)), 42);
	samples_done(&s);
}

static void check_bin(const struct report_node *root, const char *path, uint64_t from,
                      uint64_t below, uint64_t count)
{
	const struct report_node *bin = report_at(root, path);

	assert_non_null(bin);
	expect_eq(report_at(bin, "at_least_ns")->u64, from);
	if (below)
		expect_eq(report_at(bin, "below_ns")->u64, below);
	else
		assert_int_equal(report_at(bin, "below_ns")->type, REPORT_NULL);
	expect_eq(report_at(bin, "count")->u64, count);
}

static void histograms_go_in_ones_twos_and_fives(void **state)
{
	static const uint64_t few[] = { 10, 19, 20, 49, 50, 199 };
	struct samples s = { 0 }, wide = { 0 };
	struct report *r = report_new(0);
	const struct report_node *root;

	(void)state;
	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
		samples_add(&s, few[i]);
	samples_add(&wide, 0);
	samples_add(&wide, 1);
	samples_add(&wide, UINT64_MAX);
	report_begin_object(r, NULL);
	samples_report_histogram(&s, r, "few");
	samples_report_histogram(&wide, r, "wide");
	samples_report_histogram(&(struct samples){ 0 }, r, "none");
	report_end_object(r);
	root = report_root(r);
	expect_eq(report_at(root, "few")->nr, 4);
	check_bin(root, "few.0", 10, 20, 2);
	check_bin(root, "few.1", 20, 50, 2);
	check_bin(root, "few.2", 50, 100, 1);
	check_bin(root, "few.3", 100, 200, 1);
	expect_eq(report_at(root, "wide")->nr, 20); /* the small ones share a row */
	check_bin(root, "wide.0", 0, 10000000000000ULL, 2);
	check_bin(root, "wide.19", 10000000000000000000ULL, 0, 1);
	expect_eq(report_at(root, "none")->nr, 0);
	samples_done(&s);
	samples_done(&wide);
	report_free(r);
}

static void the_best_are_kept_best_first(void **state)
{
	struct top t = { .limit = 3 };
	static const uint64_t scores[] = { 5, 9, 1, 9, 7, 3, 9 };

	(void)state;
	for (uint64_t i = 0; i < 7; i++)
		top_add(&t, scores[i], i);
	top_rank(&t);
	expect_eq(t.nr, 3);
	expect_eq(t.entries[0].id, 1); /* of the same score, the lower id */
	expect_eq(t.entries[1].id, 3);
	expect_eq(t.entries[2].id, 6);
	top_done(&t);
	t.limit = 0;
	top_add(&t, 1, 1);
	top_rank(&t);
	expect_eq(t.nr, 0);
	top_done(&t);
}

static void many_are_ranked_as_sorting_would(void **state)
{
	struct top t = { .limit = 1000 };
	uint64_t all[5000];
	unsigned int seed = 3;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		all[i] = any(&seed);
		top_add(&t, all[i], i);
	}
	qsort(all, 5000, sizeof(all[0]), by_value);
	top_rank(&t);
	for (uint32_t i = 0; i < 1000; i++)
		expect_eq(t.entries[i].score, all[4999 - i]);
	top_done(&t);
	assert_true(top_lowest(3) > top_lowest(4));
	assert_true(top_fraction(0.5) > top_fraction(0.499));
	expect_eq(top_fraction(-1), 0);
	expect_eq(top_fraction(1e30), UINT64_MAX);
}

static void numbers_come_back_by_their_key(void **state)
{
	struct grouped g = { 0 };
	struct samples s;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		grouped_add(&g, i * 7 % 5, 1000 - i);
	expect_eq(grouped_order(&g, 6), 0);
	for (uint32_t key = 0; key < 5; key++) {
		s = grouped_at(&g, key);
		expect_eq(s.nr, 200);
		for (size_t i = 0; i < s.nr; i++)
			expect_eq((1000 - s.values[i]) * 7 % 5, key);
	}
	expect_eq(grouped_at(&g, 5).nr, 0);
	expect_eq(grouped_at(&g, 6).nr, 0);
	grouped_done(&g);
	expect_eq(grouped_order(&g, 0), 0);
	expect_eq(grouped_at(&g, 0).nr, 0);
	grouped_done(&g);
}

static void pairs_are_counted_once_each(void **state)
{
	struct edges e;
	uint64_t count = 0;

	(void)state;
	expect_eq(edges_init(&e), 0);
	for (uint32_t i = 0; i < 1000; i++)
		expect_eq(edges_add(&e, i % 3 ? i % 10 : UINT32_MAX, i % 4, i), 0);
	for (uint32_t i = 0; i < e.nr; i++) {
		count += e.at[i].count;
		assert_true(e.at[i].max_ns * e.at[i].count >= e.at[i].sum_ns);
		for (uint32_t k = 0; k < i; k++)
			assert_false(e.at[i].by == e.at[k].by && e.at[i].to == e.at[k].to);
		expect_eq(edges_find(&e, e.at[i].by, e.at[i].to), i);
		assert_ptr_equal(edges_get(&e, e.at[i].by, e.at[i].to), &e.at[i]);
	}
	expect_eq(count, 1000);
	expect_eq(edges_find(&e, 77, 1), EDGES_NONE);
	expect_eq(edges_get(&e, 77, 1)->count, 0);
	expect_eq(edges_find(&e, 77, 1), e.nr - 1);
	edges_done(&e);
}

static void pairs_are_found_by_their_first(void **state)
{
	const struct edge *at;
	struct edges e;

	(void)state;
	expect_eq(edges_init(&e), 0);
	edges_sort(&e);
	expect_eq(edges_of(&e, 0, &at), 0); /* there is none at all */
	for (uint32_t i = 0; i < 4; i++) {
		expect_eq(edges_add(&e, 7, i, i % 2 ? 10 : 20), 0);
		expect_eq(edges_add(&e, UINT32_MAX, i, 1), 0);
		expect_eq(edges_add(&e, 5, 9, 100), 0);
	}
	edges_sort(&e);
	expect_eq(edges_of(&e, 7, &at), 4); /* the most time first, then the lowest number */
	expect_eq(at[0].to, 0);
	expect_eq(at[1].to, 2);
	expect_eq(at[2].to, 1);
	expect_eq(at[3].to, 3);
	expect_eq(edges_of(&e, 5, &at), 1);
	expect_eq(at[0].sum_ns, 400);
	expect_eq(edges_of(&e, UINT32_MAX, &at), 4);
	expect_eq(edges_of(&e, 6, &at), 0);
	edges_done(&e);
}

#define MS 1000000ULL

static void the_worst_stretch_is_found(void **state)
{
	struct windows w;
	struct stretch at = { 0 };

	(void)state;
	expect_eq(windows_init(&w, 5 * MS, 1000 * MS, 2), 0);
	expect_eq(w.nr, 10);
	for (uint64_t i = 0; i < 1000; i++)
		windows_count(&w, 1,
		              5 * MS + i * MS / (i < 300 ? 10 : 1)); /* 0 to 30, 300 to 1000 ms */
	windows_count(&w, 1, 4 * MS);
	windows_count(&w, 7, 6 * MS);
	assert_true(windows_worst(&w, 1, 1500, &at));
	expect_eq(at.from_ns, 5 * MS);
	expect_eq(at.to_ns, 105 * MS);
	assert_true(at.per_second == 3000.0);
	assert_true(windows_worst(&w, 1, 500, &at));
	expect_eq(at.from_ns, 305 * MS);
	expect_eq(at.to_ns, 1005 * MS);
	expect_eq(windows_sum(&w, 1, &at), 700);
	assert_false(windows_worst(&w, 0, 0, &at));
	windows_done(&w);
}

/* A slice 0..10, waits 2..10 and 4..20, the first of which is followed by the slice 10..20, and a last slice 30..40. */
static void depths_are_counted_over_time(void **state)
{
	uint64_t slices[] = { 0 << 1 | 1, 10 << 1, 10 << 1 | 1, 20 << 1, 30 << 1 | 1, 40 << 1 };
	uint64_t ended[] = { 10 << 1, 20 << 1 }, begun[] = { 4 << 1 | 1, 2 << 1 | 1 };
	uint64_t room[8], at_ns[5] = { 0 };
	struct depth_times times = { at_ns, 4 };
	struct samples a = { .values = slices, .nr = 6 }, b = { .values = ended, .nr = 2 };
	struct samples c = { .values = begun, .nr = 2 }, others = depth_join(&a, &b, room);
	struct depth_found found;

	(void)state;
	expect_eq(others.nr, 6); /* without a slice and the wait before it */
	depth_sweep(&c, &others, 50, &times, &found);
	/* 1 for 2, 2 for 2, 3 for 6, 2 for 10, none for 10, 1 for 10, none. */
	expect_eq(found.sum, 2 + 4 + 18 + 20 + 10);
	expect_eq(found.max, 3);
	expect_eq(found.max_at, 4);
	expect_eq(found.p99, 3);
	for (int i = 0; i < 5; i++)
		expect_eq(at_ns[i], 0);
}

static void no_time_has_one_window(void **state)
{
	struct windows w;
	struct stretch at = { 0 };

	(void)state;
	expect_eq(windows_init(&w, 5, 0, 1), 0);
	windows_count(&w, 0, 5);
	assert_false(windows_worst(&w, 0, 0, &at));
	windows_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histograms_go_in_ones_twos_and_fives),
		cmocka_unit_test(numbers_of_any_size_are_sorted),
		cmocka_unit_test(the_lowest_bits_may_be_left_out),
		cmocka_unit_test(published_percentiles_come_out),
		cmocka_unit_test(the_best_are_kept_best_first),
		cmocka_unit_test(many_are_ranked_as_sorting_would),
		cmocka_unit_test(numbers_come_back_by_their_key),
		cmocka_unit_test(pairs_are_counted_once_each),
		cmocka_unit_test(pairs_are_found_by_their_first),
		cmocka_unit_test(the_worst_stretch_is_found),
		cmocka_unit_test(no_time_has_one_window),
		cmocka_unit_test(depths_are_counted_over_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
