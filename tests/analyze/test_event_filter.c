#include "../unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_filter.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/diag.h"

static int setup(void **state)
{
	*state = arena_new(1 << 20);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static const struct report_node *a_switch(struct arena *mem)
{
	struct facts *f = facts_new(mem);

	facts_string(f, "type", "sched_switch");
	facts_u64(f, "cpu", 2);
	facts_u64(f, "prev_pid", 5);
	facts_null(f, "next_tgid");
	facts_u64(f, "next_pid", 7);
	facts_string(f, "prev_comm", "old");
	facts_string(f, "next_comm", "kworker/2:1");
	facts_us(f, "next_dsq_lat_us", true, 1500);
	return &f->node;
}

static const struct report_node *a_waking(struct arena *mem)
{
	struct facts *f = facts_new(mem);

	facts_string(f, "type", "sched_waking");
	facts_u64(f, "cpu", 1);
	facts_u64(f, "pid", 9);
	facts_u64(f, "tgid", 8);
	facts_null(f, "comm");
	return &f->node;
}

static bool passes(struct event_filter_cfg cfg, const struct report_node *event)
{
	struct event_filter *f = NULL;
	bool does;

	if (cfg.sample_rate == 0)
		cfg.sample_rate = 1;
	expect_eq(event_filter_new(&cfg, NULL, &f), 0);
	does = event_filter_passes(f, event, 1);
	event_filter_free(f);
	return does;
}

static void no_condition_lets_all_pass(void **state)
{
	assert_true(passes((struct event_filter_cfg){ 0 }, a_switch(*state)));
	assert_true(passes((struct event_filter_cfg){ 0 }, &facts_new(*state)->node));
}

static void each_condition_restricts(void **state)
{
	static const char *const types[] = { "fork", "sched_switch" };
	static const uint32_t seven[] = { 3, 7 }, five[] = { 5 }, two[] = { 2 }, eight[] = { 8 };
	struct event_filter_cfg type = { .event_types = types, .nr_event_types = 2 };
	struct event_filter_cfg pid = { .pids = seven, .nr_pids = 2 };
	struct event_filter_cfg prev = { .pids = five, .nr_pids = 1 };
	struct event_filter_cfg cpu = { .cpus = two, .nr_cpus = 1 };
	struct event_filter_cfg tgid = { .tgids = eight, .nr_tgids = 1 };

	assert_true(passes(type, a_switch(*state)));
	assert_false(passes(type, a_waking(*state)));
	assert_true(passes(pid, a_switch(*state)));
	assert_false(passes(prev, a_switch(*state))); /* next comes before prev */
	assert_false(passes(pid, a_waking(*state)));
	assert_true(passes(cpu, a_switch(*state)));
	assert_false(passes(cpu, a_waking(*state)));
	assert_true(passes(tgid, a_waking(*state)));
	assert_false(passes(tgid, a_switch(*state))); /* unknown */
	type.cpus = eight;
	type.nr_cpus = 1;
	assert_false(passes(type, a_switch(*state))); /* all must hold */
}

static void names_are_searched_by_expression(void **state)
{
	assert_true(passes((struct event_filter_cfg){ .comm_regex = "^kworker/\\d" },
	                   a_switch(*state)));
	assert_false(passes((struct event_filter_cfg){ .comm_regex = "old" }, a_switch(*state)));
	assert_false(passes((struct event_filter_cfg){ .comm_regex = "." }, a_waking(*state)));
}

static void latency_must_be_known_and_long_enough(void **state)
{
	struct event_filter_cfg cfg = { .has_min_latency = true, .min_latency_us = 1.5 };
	struct facts *leave = facts_new(*state);

	facts_us(leave, "latency_us", true, 2000);
	assert_true(passes(cfg, a_switch(*state)));
	assert_true(passes(cfg, &leave->node));
	assert_false(passes(cfg, a_waking(*state)));
	cfg.min_latency_us = 1.6;
	assert_false(passes(cfg, a_switch(*state)));
}

static void sampling_is_even_and_repeatable(void **state)
{
	struct event_filter *f = NULL;
	uint32_t nr = 0;

	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = 0.25 }, NULL, &f), 0);
	for (uint64_t i = 1; i <= 10000; i++) {
		bool does = event_filter_passes(f, a_waking(*state), i);

		nr += does;
		assert_int_equal(event_filter_passes(f, &facts_new(*state)->node, i), does);
		if (i % 100 == 0)
			arena_reset(*state);
	}
	assert_in_range(nr, 2450, 2550);
	event_filter_free(f);
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = 0 }, NULL, &f), 0);
	assert_false(event_filter_passes(f, a_waking(*state), 1));
	event_filter_free(f);
}

static void nonsense_is_refused(void **state)
{
	struct event_filter *f = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = 1.1 }, &d, &f),
	          -EINVAL);
	assert_non_null(strstr(d.what, "sample rate"));
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = -0.1 }, NULL, &f),
	          -EINVAL);
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = NAN }, NULL, &f),
	          -EINVAL);
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = 1,
	                                                       .comm_regex = "(" },
	                           NULL, &f),
	          -EINVAL);
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .sample_rate = 1,
	                                                       .nr_pids = 1 << 20 },
	                           NULL, &f),
	          -E2BIG);
	event_filter_free(NULL);
}

static void what_does_not_fit_is_reported(void **state)
{
	struct arena *small = arena_new(4096);
	struct facts *f = facts_new(small), *list = facts_list(f, "list");
	double number;

	(void)state;
	assert_true(facts_is_whole(f));
	for (int i = 0; i < 1000; i++)
		facts_u64(facts_object(list, NULL), "x", 1);
	assert_false(facts_is_whole(f));
	assert_false(facts_is_whole(NULL));
	assert_null(report_at(NULL, "x"));
	assert_false(report_number(NULL, &number));
	arena_free(small);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void searches_that_were_given_up_are_counted(void **state)
{
	struct event_filter_cfg cfg = { .comm_regex = "(*NO_AUTO_POSSESS)^(((a+)+)+)+$",
		                        .sample_rate = 1 };
	struct facts *bad = facts_new(*state);
	struct event_filter *f = NULL;

	facts_string(bad, "comm", "aaaaaaaaaaaaaa!");
	expect_eq(event_filter_new(&cfg, NULL, &f), 0);
	assert_false(event_filter_passes(f, a_switch(*state), 1));
	expect_eq(event_filter_nr_aborted(f), 0); /* it was looked through */
	assert_false(event_filter_passes(f, &bad->node, 2));
	assert_false(event_filter_passes(f, &bad->node, 3));
	expect_eq(event_filter_nr_aborted(f), 2);
	event_filter_free(f);
	expect_eq(event_filter_nr_aborted(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(no_condition_lets_all_pass),       T(each_condition_restricts),
		T(names_are_searched_by_expression), T(latency_must_be_known_and_long_enough),
		T(sampling_is_even_and_repeatable),  T(nonsense_is_refused),
		T(what_does_not_fit_is_reported),    T(searches_that_were_given_up_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
