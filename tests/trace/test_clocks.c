#include "../unit.h"

#include "enc.h"
#include "trace/perfetto/clocks.h"

struct reading {
	uint32_t id;
	uint64_t value;
	bool is_incremental;
	uint64_t unit;
};

static void snapshot(struct clocks *c, uint32_t primary, uint32_t seq, const struct reading *r,
                     size_t nr)
{
	static struct enc e, sub;
	bool is_good;

	e.len = sub.len = 0;
	for (size_t i = 0; i < nr; i++) {
		enc_uint(&sub, 1, r[i].id);
		enc_uint(&sub, 2, r[i].value);
		if (r[i].is_incremental)
			enc_uint(&sub, 3, 1);
		if (r[i].unit)
			enc_uint(&sub, 4, r[i].unit);
		enc_msg(&e, 1, &sub);
	}
	if (primary)
		enc_uint(&e, 2, primary);
	expect_eq(clocks_snapshot(c, e.buf, e.len, seq, &is_good), 0);
	assert_true(is_good);
}

#define SNAPSHOT(c, primary, seq, ...)                                     \
	snapshot(c, primary, seq, (const struct reading[]){ __VA_ARGS__ }, \
	         sizeof((const struct reading[]){ __VA_ARGS__ }) / sizeof(struct reading))

static void times_go_by_the_last_snapshot_before_them(void **state)
{
	static struct clocks c;
	uint32_t mono;
	uint64_t real;

	(void)state;
	clocks_init(&c);
	SNAPSHOT(&c, 0, 0, { 6, 1000, 0, 0 }, { 3, 100, 0, 0 }, { 1, 50000, 0, 0 });
	SNAPSHOT(&c, 0, 0, { 6, 2050, 0, 0 }, { 3, 1100, 0, 0 }, { 1, 60000, 0, 0 });
	expect_eq(clocks_link(&c), 0);
	mono = clocks_get(&c, 3, 0);
	assert_true(clocks_has_way(&c, mono));
	expect_eq(clocks_to_trace(&c, mono, 100), 1000);
	expect_eq(clocks_to_trace(&c, mono, 1099), 1999);
	expect_eq(clocks_to_trace(&c, mono, 1100), 2050);
	expect_eq(clocks_to_trace(&c, mono, 90), 990); /* before all: by the first */
	expect_eq(clocks_to_trace(&c, clocks_get(&c, 6, 0), 77), 77);
	assert_true(clocks_from_trace(&c, 1, 2051, &real));
	expect_eq(real, 60001);
	assert_false(clocks_from_trace(&c, 5, 1, &real));
	clocks_done(&c);
}

static void a_way_may_lead_over_another_clock(void **state)
{
	static struct clocks c;
	uint32_t own;

	(void)state;
	clocks_init(&c);
	SNAPSHOT(&c, 3, 9, { 64, 5, 0, 1000 }, { 5, 700, 0, 0 });
	SNAPSHOT(&c, 0, 0, { 5, 800, 0, 0 }, { 3, 10800, 0, 0 });
	own = clocks_get(&c, 64, 9);
	expect_eq(clocks_take(&c, own, 6), 6000); /* in its unit */
	expect_eq(clocks_link(&c), 0);
	expect_eq(c.all[c.trace].id, 3); /* as the first snapshot said */
	expect_eq(clocks_to_trace(&c, own, 6000), 6000 - 5000 + 700 + 10000);
	/* The same number of another sequence is another clock. */
	assert_false(clocks_has_way(&c, clocks_get(&c, 64, 10)));
	expect_eq(clocks_to_trace(&c, clocks_get(&c, 64, 10), 5), 5);
	clocks_done(&c);
}

static void increments_add_up(void **state)
{
	static struct clocks c;
	uint32_t own;

	(void)state;
	clocks_init(&c);
	SNAPSHOT(&c, 0, 4, { 65, 10, true, 1000 }, { 6, 500000, 0, 0 });
	own = clocks_get(&c, 65, 4);
	expect_eq(clocks_take(&c, own, 2), 12000);
	expect_eq(clocks_take(&c, own, 3), 15000);
	expect_eq(clocks_link(&c), 0);
	expect_eq(clocks_to_trace(&c, own, 15000), 505000);
	clocks_done(&c);
}

static void a_clock_that_goes_back_is_only_a_goal(void **state)
{
	static struct clocks c;
	uint64_t real;

	(void)state;
	clocks_init(&c);
	SNAPSHOT(&c, 0, 0, { 6, 100, 0, 0 }, { 1, 5000, 0, 0 });
	SNAPSHOT(&c, 0, 0, { 6, 200, 0, 0 }, { 1, 4000, 0, 0 });
	expect_eq(clocks_link(&c), 0);
	assert_false(clocks_has_way(&c, clocks_get(&c, 1, 0)));
	assert_true(clocks_from_trace(&c, 1, 210, &real));
	expect_eq(real, 4010);
	clocks_done(&c);
}

static void too_many_clocks_are_as_if_never_mentioned(void **state)
{
	static struct clocks c;

	(void)state;
	clocks_init(&c);
	for (uint32_t i = 0; i < CLOCKS_MAX; i++)
		assert_true(clocks_get(&c, 128 + i, 0) != CLOCK_NONE);
	expect_eq(clocks_get(&c, 1000, 0), CLOCK_NONE);
	expect_eq(clocks_take(&c, CLOCK_NONE, 5), 5);
	expect_eq(clocks_link(&c), 0);
	expect_eq(clocks_to_trace(&c, CLOCK_NONE, 5), 5);
	clocks_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_go_by_the_last_snapshot_before_them),
		cmocka_unit_test(a_way_may_lead_over_another_clock),
		cmocka_unit_test(increments_add_up),
		cmocka_unit_test(a_clock_that_goes_back_is_only_a_goal),
		cmocka_unit_test(too_many_clocks_are_as_if_never_mentioned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
