#include "../unit.h"

#include "model/affinity.h"

static void tell(struct affinity *a, uint64_t ts, uint32_t tid, uint64_t low, uint64_t high,
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
	struct ev_sink sink = affinity_sink(a);

	assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
}

static void the_last_word_by_then_counts(void **state)
{
	struct affinity *a;

	(void)state;
	assert_int_equal(affinity_new(0, &a), 0);
	tell(a, 100, 7, 0x1, 0, 0);
	tell(a, 200, 7, 0x2, 1, 0);
	tell(a, 300, 7, 0, 0, EV_AFFINITY_ALL);
	assert_true(affinity_allows(a, 7, 0, 50)); /* before the first word, the first */
	assert_false(affinity_allows(a, 7, 1, 199));
	assert_true(affinity_allows(a, 7, 1, 200));
	assert_false(affinity_allows(a, 7, 0, 200));
	assert_true(affinity_allows(a, 7, 64, 250));   /* the second word of the mask */
	assert_false(affinity_allows(a, 7, 200, 250)); /* beyond the mask */
	assert_true(affinity_allows(a, 7, 200, 300));
	expect_eq(affinity_nr(a), 2);
	affinity_free(a);
}

static void nothing_is_known_of_others(void **state)
{
	struct affinity *a;

	(void)state;
	assert_int_equal(affinity_new(0, &a), 0);
	tell(a, 100, 7, 0x1, 0, 0);
	assert_true(affinity_is_bound(a, 7));
	assert_false(affinity_is_bound(a, 8));
	assert_true(affinity_allows(a, 8, 5, 100));
	affinity_free(a);
}

static void the_cap_bounds_it(void **state)
{
	struct affinity *a;

	(void)state;
	assert_int_equal(affinity_new(4096, &a), 0);
	for (uint32_t tid = 1; tid <= 1000; tid++)
		tell(a, tid, tid, 1, 0, 0);
	assert_true(affinity_dropped(a) > 800);
	expect_eq(affinity_nr(a) + affinity_dropped(a), 1000);
	assert_false(affinity_allows(a, 1, 3, 1));
	affinity_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_word_by_then_counts),
		cmocka_unit_test(nothing_is_known_of_others),
		cmocka_unit_test(the_cap_bounds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
