/* CPUs that were idle while a task waited for another one: worlds whose answer is known. */
#include "../analyze/pass_fixture.h"

#include <string.h>

#include "analyses/passes.h"
#include "model/allowed.h"

#define MS 1000000ULL

/* In a word what kept the first one, and how sure that is. */
static void expect_cause(const struct report_node *root, const char *cause, const char *confidence)
{
	assert_string_equal(text_at(root, "bottlenecks.0.cause"), cause);
	assert_string_equal(text_at(root, "bottlenecks.0.confidence"), confidence);
}

static void bind(struct allowed *a, uint32_t tid, uint64_t mask)
{
	struct {
		struct ev_affinity head;
		uint64_t mask;
	} rec = { .head = { .hdr = { .size = sizeof(rec), .kind = EV_AFFINITY, .ts_ns = 1 },
		            .tid = tid,
		            .nr = 1 },
		  .mask = mask };
	struct ev_sink sink = allowed_sink(a);

	assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
}

/* CPU 1 is idle while "web" waits for CPU 0 from 1010 to 1050 ms. */
static void beside_an_idle_cpu(struct pass_fixture *p)
{
	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 10, EV_STATE_S);
	sw(&p->f, 1000 * MS, 1, 11, 0, EV_STATE_S);
	wakeup(&p->f, 1010 * MS, 0, 20, 0);
	sw(&p->f, 1050 * MS, 0, 10, 20, EV_STATE_S);
	finish(p, 1100 * MS);
}

static void an_idle_cpu_that_it_may_not_use_is_named(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct allowed *affinity;

	beside_an_idle_cpu(p);
	assert_int_equal(allowed_new(0, &affinity), 0);
	bind(affinity, 20, 0x1);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 40.0ms for a CPU, 100 % of it while CPU 1 was idle, "
	                    "but its affinity forbids it: 40.0ms behind hog");
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "let it use CPU 1, too (taskset, cpuset)");
	expect_cause(root, "affinity", "proved");
	allowed_free(affinity);
}

/* Behind "hog" on CPU 0, beside an idle CPU 1: 20 waits 40 ms, 21 then 10 ms, 22 then 30 ms. */
static void three_beside_an_idle_cpu(struct pass_fixture *p)
{
	static const uint64_t until[] = { 1050, 1160, 1290 };

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	forked(&p->f, 900 * MS, 1, 21, "web");
	forked(&p->f, 900 * MS, 2, 22, "kworker"); /* by kthreadd */
	sw(&p->f, 990 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 990 * MS, 1, 11, 0, EV_STATE_S);
	for (uint32_t i = 0; i < 3; i++) {
		wakeup(&p->f, (i == 0 ? 1010 : i == 1 ? 1150 : 1260) * MS, 0, 20 + i, 0);
		sw(&p->f, until[i] * MS, 0, 10, 20 + i, EV_STATE_S);
		sw(&p->f, (until[i] + 1) * MS, 0, 20 + i, 10, EV_STATE_S);
	}
	finish(p, 1300 * MS);
}

/* One of two tasks of a name is bound, and so is the kernel thread, which has to be where it is. */
static void each_task_is_judged_by_its_own_affinity(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct allowed *affinity;

	three_beside_an_idle_cpu(p);
	assert_int_equal(allowed_new(0, &affinity), 0);
	bind(affinity, 20, 0x1);
	bind(affinity, 22, 0x1);
	p->source.affinity = affinity;
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (2 tasks) waited 50.0ms for a CPU, 80 % of it while CPU 1 was "
	                    "idle, but its affinity forbids it: 50.0ms behind hog; longest wait "
	                    "40.0ms");
	assert_string_equal(text_at(root, "bottlenecks.1.description"),
	                    "kworker (22) waited 30.0ms for a CPU: 30.0ms behind hog");
	allowed_free(affinity);
}

static void each_victim_has_its_own_share(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	three_beside_an_idle_cpu(p);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"),
	                       "waited 50.0ms for a CPU, 100 % of it while CPU 1"));
	assert_non_null(strstr(text_at(root, "bottlenecks.1.description"),
	                       "waited 30.0ms for a CPU, 100 % of it while CPU 1"));
}

static void an_idle_cpu_that_it_may_use_is_named(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	beside_an_idle_cpu(p);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 40.0ms for a CPU, 100 % of it while CPU 1 was idle, "
	                    "and it may use it: 40.0ms behind hog");
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "the scheduler left it waiting beside an idle CPU: look at "
	                    "wasted_cores");
	expect_cause(root, "wasted_cores", "proved");
}

/* "web" waits five times behind "hog" on CPU 0; CPU 1 is idle, but during the third wait, which is the longest. */
static void a_busy_moment_does_not_hide_an_idle_cpu(void **state)
{
	struct pass_fixture *p = *state;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 990 * MS, 1, 11, 0, EV_STATE_S);
	for (uint64_t i = 0, at = 1000; i < 5; i++, at += 100) {
		sw(&p->f, at * MS, 0, 20, 10, EV_STATE_S);
		wakeup(&p->f, (at + 10) * MS, 0, 20, 0);
		if (i == 2)
			sw(&p->f, (at + 10) * MS, 1, 0, 11, EV_STATE_RUNNABLE);
		sw(&p->f, (at + (i == 2 ? 55 : 50)) * MS, 0, 10, 20, EV_STATE_S);
		if (i == 2)
			sw(&p->f, (at + 55) * MS, 1, 11, 0, EV_STATE_S);
	}
	finish(p, 1600 * MS);
	/* Four waits of 40 ms, and one of 45. */
	assert_string_equal(text_at(run_pass(p, &pass_scheduling_bottlenecks),
	                            "bottlenecks.0.description"),
	                    "web (20) waited 205ms for a CPU, 78 % of it while CPU 1 was idle, and "
	                    "it may use it: 205ms behind hog; longest wait 45.0ms");
}

/* It waits thirty times; CPU 1 is idle, but during the last eight of these waits. */
static void a_busy_end_does_not_hide_an_idle_cpu(void **state)
{
	struct pass_fixture *p = *state;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 990 * MS, 1, 11, 0, EV_STATE_S);
	for (uint64_t i = 0, at = 1000; i < 30; i++, at += 100) {
		if (i == 22)
			sw(&p->f, at * MS, 1, 0, 11, EV_STATE_RUNNABLE);
		sw(&p->f, at * MS, 0, 20, 10, EV_STATE_S);
		wakeup(&p->f, (at + 10) * MS, 0, 20, 0);
		sw(&p->f, (at + 50) * MS, 0, 10, 20, EV_STATE_S);
	}
	finish(p, 4100 * MS);
	assert_non_null(strstr(
		text_at(run_pass(p, &pass_scheduling_bottlenecks), "bottlenecks.0.description"),
		"73 % of it while CPU 1 was idle, and it may use it")); /* 22 of 30 */
}

/* "web" waits 5 times for 40 ms beside an idle CPU 1, and 50 times for 6 ms while that is busy. */
static void what_long_waits_have_beside_them_is_not_said_of_all(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t at = 1000 * MS;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 990 * MS, 1, 11, 0, EV_STATE_S);
	for (uint64_t i = 0; i < 55; i++, at += 50 * MS) {
		sw(&p->f, at, 0, 20, 10, EV_STATE_S);
		if (i == 5)
			sw(&p->f, at, 1, 0, 11, EV_STATE_RUNNABLE);
		wakeup(&p->f, at + MS, 0, 20, 0);
		sw(&p->f, at + (i < 5 ? 41 : 7) * MS, 0, 10, 20, EV_STATE_S);
	}
	finish(p, at);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 500ms for a CPU: 500ms behind hog; longest wait "
	                    "40.0ms");
	expect_cause(root, "neighbour", "proved");
	/* Of the third wait 20 ms are asked for. */
	p->args.from_ns = 1121 * MS;
	p->args.to_ns = 1300 * MS;
	assert_non_null(strstr(text_at(run_pass(p, &pass_scheduling_bottlenecks),
	                               "bottlenecks.0.description"),
	                       "web (20) waited 106ms for a CPU, 94 % of it while CPU 1 was idle"));
	p->args.to_ns = 1131 * MS;
	assert_non_null(strstr(text_at(run_pass(p, &pass_scheduling_bottlenecks),
	                               "bottlenecks.0.description"),
	                       "web (20) waited 10.0ms for a CPU, 100 % of it while CPU 1"));
}

/* 20 waits for 60 ms, of which it is throttled for the first 25; CPU 1 is idle for some of that. */
static const struct report_node *throttled_beside_an_idle_cpu(struct pass_fixture *p, uint64_t ms)
{
	measures(&p->f, EV_MEASURES_QUOTA | EV_MEASURES_STEAL);
	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 990 * MS, 1, 11, 0, EV_STATE_S);
	sw(&p->f, 1000 * MS, 0, 20, 10, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * MS + 1, 0, 20, 77);
	refill(&p->f, 1025 * MS, 77, EVERY_CPU);
	sw(&p->f, (1000 + ms) * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1060 * MS, 0, 10, 20, EV_STATE_S);
	finish(p, 1100 * MS);
	return run_pass(p, &pass_scheduling_bottlenecks);
}

static void time_in_which_it_was_throttled_could_not_be_used(void **state)
{
	const struct report_node *root = throttled_beside_an_idle_cpu(*state, 54);

	assert_string_equal(text_at(root, "bottlenecks.0.causes.1.kind"), "throttled");
	assert_null(strstr(text_at(root, "bottlenecks.0.description"), "CPU 1"));
	expect_cause(root, "neighbour", "proved");
}

static void an_idle_cpu_is_named_if_most_of_the_rest_was_beside_it(void **state)
{
	const struct report_node *root = throttled_beside_an_idle_cpu(*state, 56);

	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"),
	                       "93 % of it while CPU 1 was idle, and it may use it"));
	expect_cause(root, "wasted_cores", "proved");
}

static void an_idle_cpu_that_is_isolated_is_not_named(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	beside_an_idle_cpu(p);
	p->places[1].is_isolated = true;
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_null(strstr(text_at(root, "bottlenecks.0.description"), "CPU 1"));
	assert_null(strstr(text_at(root, "bottlenecks.0.remedy"), "CPU 1"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_idle_cpu_that_it_may_not_use_is_named),
		CASE(each_task_is_judged_by_its_own_affinity),
		CASE(each_victim_has_its_own_share),
		CASE(an_idle_cpu_that_it_may_use_is_named),
		CASE(a_busy_moment_does_not_hide_an_idle_cpu),
		CASE(a_busy_end_does_not_hide_an_idle_cpu),
		CASE(what_long_waits_have_beside_them_is_not_said_of_all),
		CASE(time_in_which_it_was_throttled_could_not_be_used),
		CASE(an_idle_cpu_is_named_if_most_of_the_rest_was_beside_it),
		CASE(an_idle_cpu_that_is_isolated_is_not_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
