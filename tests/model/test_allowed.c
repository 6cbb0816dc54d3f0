#include "../unit.h"

#include "model/allowed.h"

static void add_affinity(struct allowed *a, uint64_t ts, uint32_t tid, uint64_t low, uint64_t high,
                         uint16_t flags)
{
	struct {
		struct ev_affinity head;
		uint64_t mask[2];
	} rec = { .head = { .hdr = { .size = sizeof(rec), .kind = EV_AFFINITY, .ts_ns = ts },
		            .tid = tid,
		            .nr = 2,
		            .flags = flags },
		  .mask = { low, high } };
	struct ev_sink sink = allowed_sink(a);

	assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
}

static void the_last_word_by_then_counts(void **state)
{
	struct allowed *a;

	(void)state;
	assert_int_equal(allowed_new(0, &a), 0);
	add_affinity(a, 100, 7, 0x1, 0, 0);
	add_affinity(a, 200, 7, 0x2, 1, 0);
	add_affinity(a, 300, 7, 0, 0, EV_AFFINITY_ALL);
	assert_true(allowed_cpu(a, 7, 0, 50)); /* before the first word, the first */
	assert_false(allowed_cpu(a, 7, 1, 199));
	assert_true(allowed_cpu(a, 7, 1, 200));
	assert_false(allowed_cpu(a, 7, 0, 200));
	assert_true(allowed_cpu(a, 7, 64, 250));   /* the second word of the mask */
	assert_false(allowed_cpu(a, 7, 200, 250)); /* beyond the mask */
	assert_true(allowed_cpu(a, 7, 200, 300));
	allowed_free(a);
}

static void nothing_is_known_of_others(void **state)
{
	struct allowed *a;

	(void)state;
	assert_int_equal(allowed_new(0, &a), 0);
	add_affinity(a, 100, 7, 0x1, 0, 0);
	expect_eq(allowed_word(a, 7, 100), 1);
	expect_eq(allowed_word(a, 8, 100), 0);
	assert_true(allowed_is_known(a, 7));
	assert_false(allowed_is_known(a, 8));
	assert_true(allowed_cpu(a, 8, 5, 100));
	allowed_free(a);
}

static void one_that_may_use_every_cpu_is_not_bound(void **state)
{
	struct allowed *a;

	(void)state;
	assert_int_equal(allowed_new(0, &a), 0);
	add_affinity(a, 100, 7, ~0ULL, ~0ULL, EV_AFFINITY_ALL);
	expect_eq(allowed_word(a, 7, 100), 0);
	add_affinity(a, 200, 7, 0x3, 0, 0);
	expect_eq(allowed_word(a, 7, 199), 0);
	expect_eq(allowed_word(a, 7, 200), 2);
	expect_eq(allowed_nr_words(a), 2);
	allowed_free(a);
}

static void the_cap_bounds_it(void **state)
{
	struct allowed *a;

	(void)state;
	assert_int_equal(allowed_new(4096, &a), 0);
	for (uint32_t tid = 1; tid <= 1000; tid++)
		add_affinity(a, tid, tid, 1, 0, 0);
	assert_true(allowed_dropped(a) > 800);
	expect_eq(allowed_nr_words(a) + allowed_dropped(a), 1000);
	assert_false(allowed_cpu(a, 1, 3, 1));
	allowed_free(a);
}

/* Whatever way is taken through them. */
static void each_of_many_words_is_found(void **state)
{
	struct allowed *a;

	(void)state;
	assert_int_equal(allowed_new(0, &a), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		add_affinity(a, 100 + 10 * i, 7, i + 1, 0, 0);
		add_affinity(a, 100 + 10 * i, 8, 1, 0, 0);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		expect_eq(allowed_word(a, 7, 100 + 10 * i), 2 * i + 1);
		expect_eq(allowed_word(a, 7, 109 + 10 * i), 2 * i + 1);
	}
	expect_eq(allowed_word(a, 7, 0), 1);
	expect_eq(allowed_word(a, 7, UINT64_MAX), 1999);
	allowed_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_word_by_then_counts),
		cmocka_unit_test(nothing_is_known_of_others),
		cmocka_unit_test(one_that_may_use_every_cpu_is_not_bound),
		cmocka_unit_test(the_cap_bounds_it),
		cmocka_unit_test(each_of_many_words_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
