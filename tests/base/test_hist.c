#include "../unit.h"

#include <stdlib.h>

#include "base/hist.h"

#define US 1000ULL

static void slots_cover_all_values_without_gaps(void **state)
{
	(void)state;
	expect_eq(hist_slot_range(0).first, 0);
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		struct hist_range r = hist_slot_range(i);

		expect_eq(hist_slot(r.first), i);
		expect_eq(hist_slot(r.last), i);
		if (i + 1 < HIST_SLOTS)
			expect_eq(hist_slot_range(i + 1).first, r.last + 1);
	}
	expect_eq(hist_slot(UINT64_MAX), HIST_SLOTS - 1);
	assert_true(hist_slot_range(HIST_SLOTS - 1).last >= 64000000 * US);
}

static void slots_are_as_fine_as_published(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		struct hist_range r = hist_slot_range(i);
		uint64_t width = r.last - r.first + 1;

		if (r.first < 32 * US)
			expect_eq(width, 1 * US);
		else if (r.first < 512 * US)
			expect_eq(width, 10 * US);
		else
			assert_true(width * 8 <= r.first);
	}
}

static void extremes_sum_and_count_are_exact(void **state)
{
	struct hist h = { 0 }, other = { 0 }, empty = { 0 };

	(void)state;
	hist_add(&h, 7001, 100, 3);
	hist_add(&h, 1234567, 200, 1);
	hist_add(&other, 12, 300, 2);
	hist_merge(&h, &other);
	hist_merge(&h, &empty);

	expect_eq(h.count, 3);
	expect_eq(h.sum_ns, 7001 + 1234567 + 12);
	expect_eq(h.min_ns, 12);
	expect_eq(h.max_ns, 1234567);
	expect_eq(h.max_at_ns, 200);
	expect_eq(h.max_cpu, 1);
}

static void rank_is_the_ceiling_and_at_least_one(void **state)
{
	(void)state;
	expect_eq(percentile_rank(1, HIST_P(50)), 1);
	expect_eq(percentile_rank(2, HIST_P(50)), 1);
	expect_eq(percentile_rank(3, HIST_P(50)), 2);
	expect_eq(percentile_rank(100, HIST_P(99)), 99);
	expect_eq(percentile_rank(101, HIST_P(99)), 100);
	expect_eq(percentile_rank(10, HIST_P(0)), 1);
	expect_eq(percentile_rank(10, HIST_P(100)), 10);
	expect_eq(percentile_rank(10000, HIST_P(99.99)), 9999);
	expect_eq(percentile_rank(UINT64_MAX, HIST_P(100)), UINT64_MAX);
}

static void an_empty_histogram_has_no_percentile(void **state)
{
	struct hist h = { 0 };

	(void)state;
	expect_eq(hist_percentile_ns(&h, HIST_P(50)), 0);
	assert_true(hist_mean_ns(&h) == 0.0);
}

static void one_sample_is_every_percentile(void **state)
{
	struct hist h = { 0 };

	(void)state;
	hist_add(&h, 3000 * US + 17, 0, 0);
	expect_eq(hist_percentile_ns(&h, HIST_P(50)), 3000 * US + 17);
	expect_eq(hist_percentile_ns(&h, HIST_P(99)), 3000 * US + 17);
}

static void values_beyond_the_last_slot_reach_up_to_the_maximum(void **state)
{
	struct hist h = { 0 };

	(void)state;
	hist_add(&h, 1 * US, 0, 0);
	hist_add(&h, 3600ULL * 1000 * 1000 * US, 0, 0);
	expect_eq(hist_percentile_ns(&h, HIST_P(99)), 3600ULL * 1000 * 1000 * US);
}

/* The histogram's answer and the exact one always fall into the same slot. */
static void percentiles_agree_with_sorted_values(void **state)
{
	static const uint32_t ps[] = { 1, 2500, 5000, 9000, 9900, 9990, 10000 };
	uint64_t values[997];

	(void)state;
	srand(7);
	for (int round = 0; round < 50; round++) {
		struct hist h = { 0 };
		uint64_t n = 1 + (uint64_t)rand() % 997;

		for (uint64_t i = 0; i < n; i++) {
			values[i] = (uint64_t)rand() % ((uint64_t)1 << (1 + rand() % 31));
			hist_add(&h, values[i], 0, 0);
			for (uint64_t k = i; k && values[k - 1] > values[k]; k--) {
				uint64_t swap = values[k];

				values[k] = values[k - 1];
				values[k - 1] = swap;
			}
		}
		for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
			uint64_t exact = percentile_of_sorted(values, n, ps[i]);

			expect_eq(hist_slot(hist_percentile_ns(&h, ps[i])), hist_slot(exact));
		}
	}
}

/* rsched's slots, in microseconds, for its published examples. */
static struct hist_range rsched_range(uint32_t slot)
{
	struct hist_range r;

	if (slot < 50)
		r = (struct hist_range){ slot * 10, slot * 10 + 9 };
	else if (slot == 50)
		r = (struct hist_range){ 500, 511 };
	else
		r = (struct hist_range){ 1ULL << (slot - 42), (1ULL << (slot - 41)) - 1 };
	return r;
}

static struct hist_range linear_range(uint32_t slot)
{
	return (struct hist_range){ slot, slot };
}

struct vector {
	struct {
		uint32_t slot;
		uint64_t count;
	} in[3];
	uint64_t p50, p90, p99;
};

static void check_vectors(const struct vector *v, size_t n, struct hist_range (*range)(uint32_t),
                          uint32_t nr_slots)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t slots[1025] = { 0 };
		struct hist_view view = { slots, nr_slots, range, 0, UINT64_MAX };
		uint64_t p50, p90, p99;

		for (int k = 0; k < 3; k++)
			slots[v[i].in[k].slot] += v[i].in[k].count;
		assert_true(hist_view_percentile(&view, HIST_P(50), &p50));
		assert_true(hist_view_percentile(&view, HIST_P(90), &p90));
		assert_true(hist_view_percentile(&view, HIST_P(99), &p99));
		expect_eq(p50, v[i].p50);
		expect_eq(p90, v[i].p90);
		expect_eq(p99, v[i].p99);
	}
}

static void published_examples_on_coarse_slots(void **state)
{
	static const struct vector v[] = {
		{ { { 0, 100 } }, 5, 9, 9 },
		{ { { 0, 50 }, { 1, 50 } }, 9, 18, 19 },
		{ { { 0, 90 }, { 25, 9 }, { 53, 1 } }, 5, 9, 259 },
		{ { { 51, 2 } }, 768, 1023, 1023 },
		{ { { 2, 9 }, { 56, 1 } }, 25, 29, 32767 },
		{ { { 51, 1000 } }, 768, 972, 1018 },
		{ { { 50, 600 }, { 63, 400 } }, 510, 3670016, 4141875 },
		{ { { 10, 4 }, { 51, 4 }, { 52, 2 } }, 640, 1536, 2047 },
		{ { { 49, 100 }, { 50, 60 }, { 52, 40 } }, 499, 1536, 1996 },
		{ { { 0, 3 }, { 9, 4 } }, 92, 99, 99 },
		{ { { 53, 1 } }, 4095, 4095, 4095 },
		{ { { 0, 1 } }, 9, 9, 9 },
		{ { { 0, 1 }, { 55, 1 } }, 9, 16383, 16383 },
	};

	(void)state;
	check_vectors(v, sizeof(v) / sizeof(v[0]), rsched_range, 64);
}

static void published_examples_on_whole_numbers(void **state)
{
	static const struct vector v[] = {
		{ { { 1, 80 }, { 2, 15 }, { 5, 5 } }, 1, 2, 5 },
		{ { { 4, 6 }, { 40, 3 }, { 300, 1 } }, 4, 40, 300 },
		{ { { 3, 1 }, { 9, 1 } }, 3, 9, 9 },
		{ { { 7, 1 } }, 7, 7, 7 },
	};

	(void)state;
	check_vectors(v, sizeof(v) / sizeof(v[0]), linear_range, 1025);
}

/* The samples of the same examples through our own slots: never outside what was measured. */
static void published_examples_on_our_slots(void **state)
{
	static const struct {
		struct {
			uint64_t us, count;
		} in[3];
		uint64_t p50_us, p90_us, p99_us; /* the true ones */
	} v[] = {
		{ { { 3, 100 } }, 3, 3, 3 },
		{ { { 5, 50 }, { 15, 50 } }, 5, 15, 15 },
		{ { { 5, 90 }, { 250, 9 }, { 3000, 1 } }, 5, 5, 250 },
		{ { { 700, 2 } }, 700, 700, 700 },
		{ { { 20, 9 }, { 20000, 1 } }, 20, 20, 20000 },
		{ { { 1000, 1000 } }, 1000, 1000, 1000 },
		{ { { 505, 600 }, { 5000000, 400 } }, 505, 5000000, 5000000 },
		{ { { 100, 4 }, { 600, 4 }, { 1500, 2 } }, 600, 1500, 1500 },
		{ { { 495, 100 }, { 505, 60 }, { 1100, 40 } }, 495, 1100, 1100 },
		{ { { 0, 3 }, { 95, 4 } }, 95, 95, 95 },
		{ { { 3000, 1 } }, 3000, 3000, 3000 },
		{ { { 4, 1 } }, 4, 4, 4 },
		{ { { 5, 1 }, { 9000, 1 } }, 5, 9000, 9000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct hist h = { 0 };
		uint64_t truth[3] = { v[i].p50_us * US, v[i].p90_us * US, v[i].p99_us * US };
		uint32_t ps[3] = { HIST_P(50), HIST_P(90), HIST_P(99) };

		for (int k = 0; k < 3; k++)
			for (uint64_t n = 0; n < v[i].in[k].count; n++)
				hist_add(&h, v[i].in[k].us * US, 0, 0);
		for (int k = 0; k < 3; k++) {
			uint64_t got = hist_percentile_ns(&h, ps[k]);

			expect_eq(hist_slot(got), hist_slot(truth[k]));
			assert_true(got >= h.min_ns && got <= h.max_ns);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_cover_all_values_without_gaps),
		cmocka_unit_test(slots_are_as_fine_as_published),
		cmocka_unit_test(extremes_sum_and_count_are_exact),
		cmocka_unit_test(rank_is_the_ceiling_and_at_least_one),
		cmocka_unit_test(an_empty_histogram_has_no_percentile),
		cmocka_unit_test(one_sample_is_every_percentile),
		cmocka_unit_test(values_beyond_the_last_slot_reach_up_to_the_maximum),
		cmocka_unit_test(percentiles_agree_with_sorted_values),
		cmocka_unit_test(published_examples_on_coarse_slots),
		cmocka_unit_test(published_examples_on_whole_numbers),
		cmocka_unit_test(published_examples_on_our_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
