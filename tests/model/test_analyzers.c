#include "pair_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "model/analyzers.h"
#include "model/chains.h"
#include "model/dsq_monitor.h"
#include "model/event_buffer.h"
#include "model/event_rates.h"
#include "model/history.h"
#include "model/hotspots.h"
#include "model/latency.h"
#include "model/migrations.h"
#include "model/softirq.h"
#include "model/wakers.h"

#define BIT(id) (1U << (id))

static struct analyzers *watch(struct fixture *f)
{
	struct analyzers_cfg cfg = { .pair = f->pair, .tasks = f->tasks };
	struct analyzers *a = NULL;
	struct pair_out out;

	expect_eq(analyzers_new(&cfg, &a), 0);
	out = analyzers_out(a);
	expect_eq(pair_add_out(f->pair, &out), 0);
	f->also = analyzers_sink(a);
	return a;
}

/* 5 wakes 7, which moves and runs 60 later, and a softirq of 30 on the way. */
static void something_happens(struct fixture *f, uint64_t ts)
{
	sw(f, ts, 1, 7, 0, EV_STATE_S);
	waking(f, ts + 100, 0, 7, 5);
	migrate(f, ts + 110, 7, 1, 2);
	softirq(f, ts + 120, 0, 1, false);
	softirq(f, ts + 150, 0, 1, true);
	sw(f, ts + 160, 2, 0, 7, 0);
	push(f, &(struct ev_dsq_leave){
			.hdr = { sizeof(struct ev_dsq_leave), EV_DSQ_LEAVE, 0, 2, ts + 160 },
			.start_ns = ts + 115,
			.dsq_id = 3,
			.tid = 7 });
	sw(f, ts + 170, 2, 7, 0, EV_STATE_S);
	waking(f, ts + 180, 0, 7, 5);
	sw(f, ts + 190, 1, 0, 7, 0);
}

/* W17: of ten, three were never fed and three refused all that they got. */
static void every_one_of_the_ten_is_fed(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);
	struct event_buffer_stats stats;
	struct event_rates_kind rate;
	struct chains_chain chain;

	sw(f, 50, 0, 0, 5, 0);
	expect_eq(analyzers_start(a, ANALYZERS_ALL, 0, NULL), 0);
	expect_eq(analyzers_running(a), ANALYZERS_ALL);
	something_happens(f, 1000);
	event_buffer_stats(analyzers_event_buffer(a), &stats);
	expect_eq(stats.current_size, 10);
	expect_eq(latency_all(analyzers_latency(a), LATENCY_WAKEUP_TO_RUN)->sum_ns, 60 + 10);
	expect_eq(latency_all(analyzers_latency(a), LATENCY_DSQ_WAIT)->sum_ns, 45);
	expect_eq(hotspots_cpu_at(analyzers_hotspots(a), 2)->nr_switches, 2);
	expect_eq(migrations_total(analyzers_migrations(a)), 1);
	expect_eq(history_nr_tasks(analyzers_history(a)), 1);
	expect_eq(dsq_monitor_nr(analyzers_dsqs(a)), 1);
	assert_true(event_rates_kind(analyzers_rates(a), EV_WAKING, &rate));
	expect_eq(rate.total, 2);
	assert_true(chains_find(analyzers_chains(a), task_of(f, 7), 10, &chain));
	expect_eq(wakers_nr(analyzers_wakers(a)), 1);
	expect_eq(softirq_nr_tasks(analyzers_softirq(a)), 1);
	analyzers_free(a);
}

/* W18: what is needed was computed at the first start only, and without switches for waker_wakee. */
static void kinds_are_the_union_of_those_that_run(void **state)
{
	uint64_t each = 0;

	(void)state;
	expect_eq(analyzers_kinds(0), 0);
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		assert_true(analyzers_kinds(BIT(i)) != 0);
		each |= analyzers_kinds(BIT(i));
	}
	expect_eq(analyzers_kinds(ANALYZERS_ALL), each);
	expect_eq(analyzers_kinds(BIT(ANALYZER_SOFTIRQ) | BIT(ANALYZER_WAKER_WAKEE)),
	          analyzers_kinds(BIT(ANALYZER_SOFTIRQ)) |
	                  analyzers_kinds(BIT(ANALYZER_WAKER_WAKEE)));
	assert_true(analyzers_kinds(BIT(ANALYZER_WAKER_WAKEE)) & EV_BIT(EV_SWITCH));
	assert_true(analyzers_kinds(BIT(ANALYZER_WAKEUP_TRACKER)) & EV_BIT(EV_SWITCH));
	assert_false(analyzers_kinds(BIT(ANALYZER_DSQ_MONITOR)) & EV_BIT(EV_SWITCH));
	assert_false(analyzers_kinds(BIT(ANALYZER_SOFTIRQ)) & EV_BIT(EV_WAKING));
	assert_true(analyzers_kinds(BIT(ANALYZER_MIGRATION)) & EV_BIT(EV_MIGRATE));
}

/* Each alone gets what it needs out of a stream that holds nothing else. */
static void the_kinds_of_one_are_enough_for_it(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);
	uint64_t kinds = analyzers_kinds(BIT(ANALYZER_WAKER_WAKEE));

	assert_true(kinds & EV_BIT(EV_WAKING) && kinds & EV_BIT(EV_SWITCH));
	expect_eq(analyzers_start(a, BIT(ANALYZER_WAKER_WAKEE), 0, NULL), 0);
	sw(f, 100, 1, 7, 0, EV_STATE_S);
	waking(f, 200, 0, 7, 5);
	sw(f, 260, 1, 0, 7, 0);
	expect_eq(wakers_nr(analyzers_wakers(a)), 1);
	assert_null(analyzers_latency(a)); /* never started: no memory, no work */
	assert_null(analyzers_event_buffer(a));
	analyzers_free(a);
}

/* W19: nothing could be read after a stop. */
static void what_was_found_stays_after_a_stop(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);
	struct analyzers_status s;

	sw(f, 50, 0, 0, 5, 0);
	expect_eq(analyzers_start(a, ANALYZERS_ALL, 0, NULL), 0);
	something_happens(f, 1000);
	analyzers_stop(a, ANALYZERS_ALL, 0);
	expect_eq(analyzers_running(a), 0);
	something_happens(f, 3000);
	expect_eq(wakers_at(analyzers_wakers(a), 0)->latency.samples, 2);
	expect_eq(latency_all(analyzers_latency(a), LATENCY_WAKEUP_TO_RUN)->count, 2);
	expect_eq(migrations_total(analyzers_migrations(a)), 1);
	analyzers_status(a, ANALYZER_WAKER_WAKEE, &s);
	assert_false(s.is_running);
	assert_true(s.has_data);
	/* It goes on where it was. */
	expect_eq(analyzers_start(a, BIT(ANALYZER_WAKER_WAKEE), 0, NULL), 0);
	something_happens(f, 5000);
	expect_eq(wakers_at(analyzers_wakers(a), 0)->latency.samples, 4);
	expect_eq(migrations_total(analyzers_migrations(a)), 1);
	analyzers_reset(a, ANALYZERS_ALL, 0);
	expect_eq(wakers_nr(analyzers_wakers(a)), 0);
	expect_eq(migrations_total(analyzers_migrations(a)), 0);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	assert_false(s.has_data);
	analyzers_status(a, ANALYZER_WAKER_WAKEE, &s);
	assert_true(s.has_data && s.is_running);
	expect_eq(s.observed_ns, 0);
	analyzers_free(a);
}

/* W20: rates divided by a constant, whatever time was observed. */
static void observed_time_leaves_pauses_out(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);
	struct ev_sink sink = analyzers_sink(a);
	struct analyzers_status s;

	expect_eq(analyzers_start(a, BIT(ANALYZER_MIGRATION), 1000, NULL), 0);
	migrate(f, 1100, 7, 0, 1);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.observed_ns, 100);
	expect_eq(sink.advance(sink.ctx, 1500), 0); /* silence counts, too */
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.observed_ns, 500);
	analyzers_stop(a, BIT(ANALYZER_MIGRATION), 1600);
	migrate(f, 2000, 7, 0, 1);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.observed_ns, 600);
	expect_eq(s.records, 1);
	expect_eq(analyzers_start(a, BIT(ANALYZER_MIGRATION), 3000, NULL), 0);
	expect_eq(analyzers_start(a, BIT(ANALYZER_MIGRATION), 3005, NULL), 0); /* runs already */
	migrate(f, 3010, 7, 1, 0);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.observed_ns, 610);
	expect_eq(s.records, 2);
	analyzers_free(a);
}

static void without_a_time_observation_begins_with_the_first_record(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);
	struct analyzers_status s;

	expect_eq(analyzers_start(a, BIT(ANALYZER_MIGRATION), 0, NULL), 0);
	migrate(f, 5000, 7, 0, 1);
	migrate(f, 5070, 7, 1, 0);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.observed_ns, 70);
	analyzers_free(a);
}

/* W11: sampling and losses were invisible. */
static void sampling_and_losses_are_told(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);
	struct analyzers_status s;

	analyzers_status(a, ANALYZER_SOFTIRQ, &s);
	expect_eq(s.one_in, 1);
	push(f, &(struct ev_sampling){ .hdr = { sizeof(struct ev_sampling), EV_SAMPLING, 0, 0, 10 },
	                               .one_in = 128 });
	expect_eq(analyzers_start(a, BIT(ANALYZER_SOFTIRQ) | BIT(ANALYZER_MIGRATION), 0, NULL), 0);
	lost(f, 20, 0, EV_SOFTIRQ_EXIT, 5);
	lost(f, 30, 0, EV_MIGRATE, 3);
	lost(f, 40, 0, 200, 3); /* no such kind */
	analyzers_status(a, ANALYZER_SOFTIRQ, &s);
	expect_eq(s.one_in, 128);
	expect_eq(s.lost, 5);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.lost, 3);
	analyzers_stop(a, ANALYZERS_ALL, 0);
	lost(f, 50, 0, EV_MIGRATE, 3);
	analyzers_status(a, ANALYZER_MIGRATION, &s);
	expect_eq(s.lost, 3);
	analyzers_free(a);
}

static void they_are_known_by_name(void **state)
{
	struct diag d = { 0 };
	uint32_t set;

	(void)state;
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		expect_eq(analyzers_set(analyzers_name((enum analyzer_id)i), NULL, &set), 0);
		expect_eq(set, BIT(i));
	}
	expect_eq(analyzers_set("all", NULL, &set), 0);
	expect_eq(set, ANALYZERS_ALL);
	expect_eq(analyzers_set("softirq", &d, &set), -EINVAL);
	assert_non_null(strstr(d.what, "softirq"));
	assert_non_null(strstr(d.hint, "softirq_analyzer"));
	expect_eq(analyzers_new(&(struct analyzers_cfg){ 0 }, &(struct analyzers *){ NULL }),
	          -EINVAL);
}

/* A tid that comes back while an analyzer is stopped is somebody else when it goes on. */
static void lives_are_followed_while_stopped(void **state)
{
	struct fixture *f = *state;
	struct analyzers *a = watch(f);

	expect_eq(analyzers_start(a, BIT(ANALYZER_MIGRATION), 0, NULL), 0);
	migrate(f, 100, 7, 0, 1);
	analyzers_stop(a, ANALYZERS_ALL, 0);
	freed(f, 110, 7);
	forked(f, 120, 5, 7, "new");
	expect_eq(analyzers_start(a, BIT(ANALYZER_MIGRATION), 0, NULL), 0);
	migrate(f, 130, 7, 1, 0);
	for (uint32_t i = 0; i < migrations_nr_tasks(analyzers_migrations(a)); i++)
		expect_eq(migrations_task_at(analyzers_migrations(a), i)->nr_ping_pongs, 0);
	analyzers_free(a);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_one_of_the_ten_is_fed),
		T(kinds_are_the_union_of_those_that_run),
		T(the_kinds_of_one_are_enough_for_it),
		T(what_was_found_stays_after_a_stop),
		T(observed_time_leaves_pauses_out),
		T(without_a_time_observation_begins_with_the_first_record),
		T(sampling_and_losses_are_told),
		T(they_are_known_by_name),
		T(lives_are_followed_while_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
