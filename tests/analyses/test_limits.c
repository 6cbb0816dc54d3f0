/* Waits of deadline and real-time tasks that a limit kept off their CPU: what is said of them. */
#include "../analyze/pass_fixture.h"

#include <string.h>

#include "analyses/passes.h"

#define MS 1000000ULL

static void urgent_sw(struct pass_fixture *p, uint64_t ts, uint32_t prev, uint32_t next,
                      const int16_t prios[2])
{
	struct ev_switch rec = { { sizeof(rec), EV_SWITCH, 0, 0, ts },
		                 .prev_tid = prev,
		                 .next_tid = next,
		                 .prev_prio = prios[0],
		                 .next_prio = prios[1] };

	push(&p->f, &rec);
}

/* Of a task "job" 20, which is woken before. */
static void begin(struct pass_fixture *p)
{
	forked(&p->f, 900 * MS, 1, 20, "job");
	waking(&p->f, 989 * MS, 1, 20, 1);
}

/* "job" 20 runs on CPU 0 from 990 to 1000 ms, 10 from then to 1090; job might run again from until_ms on. */
static void deadline(struct pass_fixture *p, uint32_t limit, uint64_t until_ms)
{
	struct ev_throttle rec = { { sizeof(rec), EV_THROTTLE, 0, 0, 1000 * MS + 1 },
		                   .quota_ns = 10 * MS,
		                   .period_ns = 100 * MS,
		                   .until_ns = until_ms * MS,
		                   .tid = 20,
		                   .limit = limit };

	measures(&p->f, EV_MEASURES_LIMITS);
	begin(p);
	urgent_sw(p, 990 * MS, 0, 20, (int16_t[2]){ 120, -1 });
	urgent_sw(p, 1000 * MS, 20, 10, (int16_t[2]){ -1, 120 });
	push(&p->f, &rec);
	urgent_sw(p, 1090 * MS, 10, 20, (int16_t[2]){ 120, -1 });
	finish(p, 1100 * MS);
	p->args.tid = 20;
}

static void expect_limit(struct pass_fixture *p, const char *limit, const char *text,
                         const char *remedy)
{
	const struct report_node *root = run_pass(p, &pass_explain);

	expect_eq(num_at(root, "waits.0.throttled_ns"), 80 * MS);
	expect_eq(num_at(root, "waits.0.task_ns"), 10 * MS);
	assert_string_equal(text_at(root, "waits.0.parts.0.limit"), limit);
	assert_string_equal(text_at(root, "waits.0.parts.0.text"), text);
	assert_non_null(strstr(text_at(root, "waits.0.sentences.0"), "was throttled on CPU 0"));
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"), text));
	assert_non_null(strstr(text_at(root, "bottlenecks.0.remedy"), remedy));
}

static void a_deadline_task_has_used_up_its_runtime(void **state)
{
	deadline(*state, EV_LIMIT_DEADLINE, 1080);
	expect_limit(*state, "deadline",
	             "throttled (its deadline runtime, 10.0ms per 100ms, was used up)",
	             "raise its runtime");
}

static void a_deadline_task_that_yields_lost_nothing(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	deadline(p, EV_LIMIT_YIELD, 1080);
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits.0.throttled_ns"), 80 * MS);
	assert_string_equal(text_at(root, "waits.0.parts.0.limit"), "yield");
	assert_string_equal(text_at(root, "waits.0.parts.0.text"),
	                    "throttled (it had yielded until its next deadline period)");
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 0);
}

static void what_it_waits_after_its_period_has_begun_is_lost(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	deadline(p, EV_LIMIT_YIELD, 1010);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"), ": 80.0ms behind "));
}

/* "job" 20 is a FIFO task; real-time tasks may not run on CPU 0 from 1000 to 1080 ms. */
static void a_real_time_task_has_had_its_share(void **state)
{
	struct ev_rt_limit rec = { { sizeof(rec), EV_RT_LIMIT, 0, 0, 1000 * MS + 1 }, .is_on = 1 };
	struct pass_fixture *p = *state;

	measures(&p->f, EV_MEASURES_LIMITS);
	begin(p);
	urgent_sw(p, 990 * MS, 0, 20, (int16_t[2]){ 120, 49 });
	urgent_sw(p, 1000 * MS, 20, 10, (int16_t[2]){ 49, 120 });
	push(&p->f, &rec);
	rec.hdr.ts_ns = 1080 * MS;
	rec.is_on = 0;
	push(&p->f, &rec);
	urgent_sw(p, 1090 * MS, 10, 20, (int16_t[2]){ 120, 49 });
	finish(p, 1100 * MS);
	p->args.tid = 20;
	expect_limit(p, "real_time",
	             "throttled (real-time tasks had used up their share of the CPU)",
	             "sched_rt_runtime_us");
}

/* Quotas were not measured: what is 0 then is unknown. */
static void without_quotas_nothing_throttled_is_unknown(void **state)
{
	struct pass_fixture *p = *state;

	measures(&p->f, EV_MEASURES_LIMITS);
	begin(p);
	urgent_sw(p, 990 * MS, 0, 20, (int16_t[2]){ 120, 120 });
	urgent_sw(p, 1000 * MS, 20, 10, (int16_t[2]){ 120, 120 });
	urgent_sw(p, 1090 * MS, 10, 20, (int16_t[2]){ 120, 120 });
	finish(p, 1100 * MS);
	p->args.tid = 20;
	assert_true(is_null_at(run_pass(p, &pass_explain), "waits.0.throttled_ns"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_deadline_task_has_used_up_its_runtime),
		CASE(a_deadline_task_that_yields_lost_nothing),
		CASE(what_it_waits_after_its_period_has_begun_is_lost),
		CASE(a_real_time_task_has_had_its_share),
		CASE(without_quotas_nothing_throttled_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
