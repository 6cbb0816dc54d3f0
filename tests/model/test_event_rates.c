#include "../unit.h"

#include "model/event_rates.h"

#define S 1000000000ULL

static struct event_rates *watch(void)
{
	struct event_rates *r = NULL;

	expect_eq(event_rates_new(&r), 0);
	return r;
}

static void record(struct event_rates *r, uint64_t ts, uint8_t kind, uint32_t times)
{
	struct ev_sink sink = event_rates_sink(r);
	struct ev_hdr hdr = { .size = sizeof(hdr), .kind = kind, .ts_ns = ts };

	while (times--)
		expect_eq(sink.push(sink.ctx, &hdr), 0);
}

static void rates_are_over_the_seconds_observed(void **state)
{
	struct event_rates *r = watch();
	struct event_rates_kind k;

	(void)state;
	record(r, 100 * S, EV_WAKING, 10);
	assert_true(event_rates_kind(r, EV_WAKING, &k));
	expect_eq(k.total, 10);
	assert_true(k.per_second == 0.0 && !k.has_usual); /* no second is over */
	record(r, 101 * S, EV_WAKING, 30);
	record(r, 102 * S, EV_WAKING, 999);
	expect_eq(event_rates_seconds(r), 2);
	assert_true(event_rates_kind(r, EV_WAKING, &k));
	expect_eq(k.last, 30);
	assert_true(k.per_second == 20.0);
	assert_true(k.has_usual && k.usual == 10.0 && k.spike == 3.0);
	assert_false(event_rates_kind(r, EV_EXIT, &k));
	assert_false(event_rates_kind(r, 200, &k));
	event_rates_free(r);
}

static void silence_counts_too_and_old_seconds_go(void **state)
{
	struct event_rates *r = watch();
	struct ev_sink sink = event_rates_sink(r);
	struct event_rates_kind k;

	(void)state;
	record(r, 100 * S, EV_WAKING, 60);
	expect_eq(sink.advance(sink.ctx, 160 * S), 0);
	assert_true(event_rates_kind(r, EV_WAKING, &k));
	assert_true(k.per_second == 1.0);
	expect_eq(sink.advance(sink.ctx, 161 * S), 0);
	assert_true(event_rates_kind(r, EV_WAKING, &k));
	assert_true(k.per_second == 0.0);
	expect_eq(k.total, 60);
	expect_eq(sink.advance(sink.ctx, UINT64_MAX), 0);
	expect_eq(event_rates_seconds(r), EVENT_RATES_SECONDS);
	event_rates_free(r);
}

static void seconds_begin_with_the_first_record(void **state)
{
	struct event_rates *r = watch();
	struct event_rates_kind k;

	(void)state;
	record(r, 100 * S + 900000000, EV_WAKING, 10);
	record(r, 101 * S + 800000000, EV_WAKING, 30); /* 0.9 s after the first */
	record(r, 101 * S + 900000000, EV_WAKING, 7);
	expect_eq(event_rates_seconds(r), 1);
	assert_true(event_rates_kind(r, EV_WAKING, &k));
	expect_eq(k.last, 40);
	assert_true(k.per_second == 40.0);
	event_rates_free(r);
}

static void a_pause_is_not_taken_for_silence(void **state)
{
	struct event_rates *r = watch();
	struct event_rates_kind k;

	(void)state;
	record(r, 100 * S, EV_WAKING, 10);
	record(r, 101 * S, EV_WAKING, 10);
	event_rates_resume(r, 200 * S);
	expect_eq(event_rates_seconds(r), 0);
	record(r, 200 * S, EV_WAKING, 30);
	record(r, 201 * S, EV_WAKING, 1);
	assert_true(event_rates_kind(r, EV_WAKING, &k));
	assert_true(k.per_second == 30.0 && !k.has_usual);
	expect_eq(k.total, 51);
	event_rates_reset(r);
	assert_false(event_rates_kind(r, EV_WAKING, &k));
	event_rates_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_over_the_seconds_observed),
		cmocka_unit_test(silence_counts_too_and_old_seconds_go),
		cmocka_unit_test(seconds_begin_with_the_first_record),
		cmocka_unit_test(a_pause_is_not_taken_for_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
