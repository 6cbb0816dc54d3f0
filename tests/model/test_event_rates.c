#include "pair_fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hist.h"
#include "model/event_rates.h"

#define S 1000000000ULL

static struct event_rates *watch(struct fixture *f, uint32_t max_histories, uint32_t max_pairs)
{
	struct event_rates_cfg cfg = { f->tasks, max_histories, max_pairs };
	struct event_rates *r = NULL;
	struct pair_out out;

	expect_eq(event_rates_new(&cfg, &r), 0);
	out = event_rates_out(r);
	expect_eq(pair_add_out(f->pair, &out), 0);
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
	struct fixture *f = *state;
	struct event_rates *r = watch(f, 0, 0);
	struct event_rates_kind k;

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
	struct fixture *f = *state;
	struct event_rates *r = watch(f, 0, 0);
	struct ev_sink sink = event_rates_sink(r);
	struct event_rates_kind k;

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

static void hot_cpus_come_hottest_first(void **state)
{
	struct fixture *f = *state;
	struct event_rates *r = watch(f, 0, 0);
	struct event_rates_cpu c;
	uint32_t hot[4];

	for (uint32_t cpu = 0; cpu < 4; cpu++)
		for (uint32_t i = 0; i <= cpu * 2; i++)
			sw(f, 10 * S, cpu, i % 2 ? 50 + cpu : 0, i % 2 ? 0 : 50 + cpu, EV_STATE_S);
	assert_false(event_rates_cpu(r, 0, &c));
	sw(f, 11 * S, 0, 50, 0, EV_STATE_S);
	assert_true(event_rates_cpu(r, 3, &c));
	assert_true(c.per_second[EVENT_RATES_SWITCH] == 7.0);
	expect_eq(event_rates_hot(r, EVENT_RATES_SWITCH, HIST_P(0), hot, 4), 4);
	expect_eq(hot[0], 3);
	expect_eq(hot[3], 0);
	expect_eq(event_rates_hot(r, EVENT_RATES_SWITCH, HIST_P(75), hot, 4), 2);
	expect_eq(hot[1], 2);
	expect_eq(event_rates_hot(r, EVENT_RATES_SWITCH, HIST_P(0), hot, 1), 1);
	expect_eq(event_rates_hot(r, EVENT_RATES_IPI, HIST_P(0), hot, 4), 0);
	event_rates_free(r);
}

static void migrations_are_counted_by_pair_and_by_task(void **state)
{
	struct fixture *f = *state;
	struct event_rates *r = watch(f, 0, 0);

	migrate(f, 100, 7, 0, 1);
	migrate(f, 200, 8, 2, 3); /* another task does not break the ping-pong */
	migrate(f, 300, 7, 1, 0);
	migrate(f, 400, 7, 0, 2);
	expect_eq(event_rates_migrations(r), 4);
	expect_eq(event_rates_nr_pairs(r), 4);
	expect_eq(event_rates_pair_at(r, 0)->count, 1);
	expect_eq(event_rates_nr_movers(r), 2);
	expect_eq(event_rates_mover_at(r, 0)->nr_migrations, 3);
	expect_eq(event_rates_mover_at(r, 0)->nr_ping_pongs, 1);
	assert_null(event_rates_mover_at(r, 2));
	assert_null(event_rates_pair_at(r, 4));
	event_rates_free(r);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct fixture *f = *state;
	struct event_rates *r = watch(f, 2, 1);
	struct event_rates_moment m[4];
	struct event_rates_loss loss;

	migrate(f, 100, 7, 0, 1);
	migrate(f, 200, 8, 2, 3);
	migrate(f, 250, 7, 0, 1);
	migrate(f, 300, 9, 2, 3); /* 8 has been silent for longest */
	event_rates_loss(r, &loss);
	expect_eq(loss.pairs, 2);
	expect_eq(loss.movers, 2);
	expect_eq(loss.histories, 1);
	expect_eq(event_rates_history(r, task_of(f, 7), m, 4), 2);
	expect_eq(event_rates_history(r, task_of(f, 8), m, 4), 0);
	event_rates_free(r);
	expect_eq(event_rates_new(&(struct event_rates_cfg){ 0 }, &r), -EINVAL);
}

static void a_history_is_newest_first(void **state)
{
	struct fixture *f = *state;
	struct event_rates *r = watch(f, 0, 0);
	struct event_rates_moment m[EVENT_RATES_HISTORY + 1];

	forked(f, 100, 5, 7, "child");
	wakeup_new(f, 110, 0, 7, 5);
	sw(f, 120, 1, 0, 7, 0);
	exiting(f, 130, 7);
	expect_eq(event_rates_history(r, task_of(f, 7), m, EVENT_RATES_HISTORY), 3);
	expect_eq(m[0].kind, EV_EXIT);
	expect_eq(m[1].kind, EV_SWITCH);
	expect_eq(m[1].cpu, 1);
	expect_eq(m[2].kind, EV_WAKEUP_NEW);
	for (uint64_t i = 0; i < 200; i++)
		migrate(f, 200 + i, 7, 0, 1);
	expect_eq(event_rates_history(r, task_of(f, 7), m, EVENT_RATES_HISTORY + 1),
	          EVENT_RATES_HISTORY);
	expect_eq(m[0].ts_ns, 399);
	expect_eq(m[EVENT_RATES_HISTORY - 1].ts_ns, 300);
	event_rates_free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rates_are_over_the_seconds_observed),
		T(silence_counts_too_and_old_seconds_go),
		T(hot_cpus_come_hottest_first),
		T(migrations_are_counted_by_pair_and_by_task),
		T(what_does_not_fit_is_counted),
		T(a_history_is_newest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
