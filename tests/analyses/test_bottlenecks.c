/* Who lost how much time to what: worlds whose answer is known. */
#include "../analyze/pass_fixture.h"

#include <string.h>

#include "abi/event_make.h"
#include "analyses/passes.h"

#define MS 1000000ULL

static void sw_prio(struct pass_fixture *p, uint64_t ts, uint32_t prev, uint32_t next, int prio)
{
	struct ev_switch rec = { .hdr = { sizeof(rec), EV_SWITCH, 0, 0, ts },
		                 .prev_tid = prev,
		                 .next_tid = next,
		                 .prev_state = EV_STATE_S,
		                 .prev_prio = 120,
		                 .next_prio = (int16_t)prio };

	push(&p->f, &rec);
}

/* In a word what kept the first one, and how sure that is. */
static void expect_cause(const struct report_node *root, const char *cause, const char *confidence)
{
	assert_string_equal(text_at(root, "bottlenecks.0.cause"), cause);
	assert_string_equal(text_at(root, "bottlenecks.0.confidence"), confidence);
}

/*
 * CPU 0: "hog" 10 runs from 1000 ms on, of real time; "web" 20 is woken at 1100 ms and never runs. On CPU 1 "ping" 30
 * and "pong" 31 switch 20,000 times per second.
 */
static void a_starvation_stands_above_every_rate(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	forked(&p->f, 900 * MS, 1, 30, "ping");
	forked(&p->f, 900 * MS, 1, 31, "pong");
	sw(&p->f, 950 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw_prio(p, 1000 * MS, 20, 10, 49);
	wakeup(&p->f, 1100 * MS, 0, 20, 0);
	for (uint32_t i = 0; i < 2000; i++)
		sw(&p->f, 1200 * MS + i * 50000ULL, 1, i ? 30 + (i + 1) % 2 : 0, 30 + i % 2,
		   EV_STATE_S);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	expect_eq(num_at(root, "total_lost_ns"), 900 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 900ms for a CPU: 900ms behind hog (real-time "
	                    "priority 50), not over at the end");
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "hog has real-time priority 50: lower it, or give hog CPUs of its own");
	expect_cause(root, "real_time", "proved");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 900 * MS);
	expect_eq(num_at(root, "bottlenecks.0.time_range.0"), 1100 * MS);
	expect_eq(num_at(root, "bottlenecks.0.time_range.1"), 2000 * MS);
	expect_eq(num_at(root, "bottlenecks.0.affected_pids.0"), 20);
	expect_eq(num_at(root, "bottlenecks.0.bottleneck_type.LostTime.max_wait_tid"), 20);
	expect_eq(num_at(root, "bottlenecks.0.bottleneck_type.LostTime.max_wait_timestamp"),
	          1100 * MS);
	assert_false(report_at(root, "bottlenecks.0.bottleneck_type.LostTime.is_over")->b);
	assert_string_equal(text_at(root, "bottlenecks.0.causes.0.class"), "real-time priority 50");
	expect_eq(len_at(root, "high_rates"), 1);
	assert_string_equal(text_at(root, "high_rates.0.description"),
	                    "CPU 1 switched tasks 20000 times per second");
	expect_eq(num_at(root, "high_rates.0.time_range.0"), 1200 * MS);
	expect_eq(num_at(root, "high_rates.0.time_range.1"), 1300 * MS);
}

/* "a" waits 40 ms behind "hog" and 20 ms behind "b"; "b" waits 30 ms, in three waits of 10 ms. */
static void victims_are_ranked_by_time_lost(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "a");
	forked(&p->f, 900 * MS, 1, 21, "b");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 995 * MS, 0, 20, 21, EV_STATE_S);
	sw(&p->f, 1000 * MS, 0, 21, 10, EV_STATE_S);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t ts = 1010 * MS + i * 20 * MS;

		wakeup(&p->f, ts, 0, 21, 0);
		if (!i)
			wakeup(&p->f, ts, 0, 20, 0);
		sw(&p->f, ts + 10 * MS, 0, 10, 21, EV_STATE_S);
		wakeup(&p->f, ts + 10 * MS, 0, 10, 1); /* elsewhere: nobody waits */
		sw(&p->f, ts + 10 * MS, 1, i ? 10 : 0, 10, EV_STATE_S);
		sw(&p->f, ts + 20 * MS, 1, 10, 0, EV_STATE_S);
		sw(&p->f, ts + 20 * MS, 0, 21, 10, EV_STATE_S);
	}
	sw(&p->f, 1070 * MS, 0, 10, 20, EV_STATE_S);
	finish(p, 1100 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.comm"), "a");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 60 * MS);
	assert_string_equal(text_at(root, "bottlenecks.1.comm"), "b");
	expect_eq(num_at(root, "bottlenecks.1.lost_ns"), 30 * MS);
	expect_eq(num_at(root, "bottlenecks.1.bottleneck_type.LostTime.waits"), 3);
	expect_eq(num_at(root, "bottlenecks.1.bottleneck_type.LostTime.max_wait_ns"), 10 * MS);
	assert_string_equal(
		text_at(root, "bottlenecks.1.description"),
		"b (21) waited 30.0ms for a CPU: 30.0ms behind hog; longest wait 10.0ms");
	assert_string_equal(text_at(root, "bottlenecks.1.remedy"),
	                    "give hog less of the CPU (nice, cpu.weight, cpu.max), or other CPUs "
	                    "(cpuset)");
}

/* 20 waits for CPU 0 behind "hog" from 1010 to 1040 ms, is moved to CPU 1 and waits there for "db" until 1042. */
static void moved(struct pass_fixture *p)
{
	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 11, "db");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 10, EV_STATE_S);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_S);
	wakeup(&p->f, 1010 * MS, 0, 20, 0);
	migrate(&p->f, 1040 * MS, 20, 0, 1);
	sw(&p->f, 1042 * MS, 1, 11, 20, EV_STATE_S);
	finish(p, 1100 * MS);
}

static void one_that_was_moved_blames_who_held_its_queues(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	moved(p);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 32.0ms for a CPU: 30.0ms behind hog, 2.00ms behind db");
	expect_eq(num_at(root, "bottlenecks.0.causes.0.wait_ns"), 30 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.causes.1.comm"), "db");
}

/* Woken for CPU 0, which stays idle for 30 ms. */
static void an_idle_cpu_that_does_not_run_it_is_a_cause(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 0, EV_STATE_S);
	wakeup(&p->f, 1010 * MS, 0, 20, 0);
	sw(&p->f, 1040 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	finish(p, 1100 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.causes.0.kind"), "idle");
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 30.0ms for a CPU: 30.0ms while its CPU was idle");
	assert_non_null(strstr(text_at(root, "bottlenecks.0.remedy"), "CPU quota"));
	expect_cause(root, "idle_cpu", "unknown");
}

/* 20 is throttled from 1000 to 1080 ms; 10 has the CPU from then on, until 1090. */
static void a_quota_is_named_and_no_task_blamed(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_QUOTA | EV_MEASURES_STEAL);
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 10, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * MS + 1, 0, 20, 77);
	refill(&p->f, 1080 * MS, 77, EVERY_CPU);
	sw(&p->f, 1090 * MS, 0, 10, 20, EV_STATE_S);
	finish(p, 1100 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.causes.0.kind"), "throttled");
	expect_eq(num_at(root, "bottlenecks.0.causes.0.wait_ns"), 80 * MS);
	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"),
	                       "waited 90.0ms for a CPU: 80.0ms throttled (cgroup quota"));
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "raise the quota (cpu.max) of its cgroup");
	expect_cause(root, "throttled", "proved");
}

static void name_cgroup(struct pass_fixture *p, uint64_t cgroup, const char *path)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, cgroup, path, 900 * MS);
	push(&p->f, &rec);
}

/* 20 is throttled by one cgroup for 20 ms, then for 60 by the one above it. */
static void of_two_quotas_the_one_that_took_more_is_named(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_QUOTA);
	name_cgroup(p, 77, "/a/b");
	name_cgroup(p, 78, "/a");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 0, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * MS + 1, 0, 20, 77);
	refill(&p->f, 1020 * MS, 77, EVERY_CPU);
	sw(&p->f, 1020 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1030 * MS, 0, 20, 0, EV_STATE_RUNNABLE);
	throttle(&p->f, 1030 * MS + 1, 0, 20, 78);
	refill(&p->f, 1090 * MS, 78, EVERY_CPU);
	sw(&p->f, 1090 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	finish(p, 1100 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "bottlenecks.0.causes.0.wait_ns"), 80 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "raise the quota (cpu.max) of cgroup /a");
}

/* 20 is woken 25 times while 10 has the CPU: it is not started. */
static void tasks_that_are_woken_often_are_not_too_many(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	for (uint64_t ts = 1000 * MS; ts < 1250 * MS; ts += 10 * MS) {
		sw(&p->f, ts, 0, 20, 10, EV_STATE_S);
		wakeup(&p->f, ts + MS, 0, 20, 0);
		sw(&p->f, ts + 5 * MS, 0, 10, 20, EV_STATE_S);
	}
	finish(p, 1300 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.comm"), "web");
	assert_non_null(strstr(text_at(root, "bottlenecks.0.remedy"), "give hog less of the CPU"));
	expect_cause(root, "neighbour", "proved");
}

/* 30 tasks called "cc" are started at once on CPU 0 and run 1 ms each: they wait 0 + 1 + ... + 29 ms. */
static void a_storm_of_new_tasks_waits_for_itself(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	for (uint32_t i = 0; i < 30; i++)
		forked(&p->f, 900 * MS, 1, 100 + i, "cc");
	sw(&p->f, 950 * MS, 0, 0, 9, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < 30; i++)
		wakeup_new(&p->f, 1000 * MS, 0, 100 + i, 9);
	for (uint32_t i = 0; i < 30; i++)
		sw(&p->f, (1000 + i) * MS, 0, i ? 99 + i : 9, 100 + i, EV_STATE_S);
	finish(p, 1030 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "cc (29 tasks) waited 435ms for a CPU: 435ms behind each other; "
	                    "longest wait 29.0ms");
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "30 of them were started meanwhile: start fewer");
	expect_cause(root, "new_tasks", "proved");
	expect_eq(len_at(root, "bottlenecks.0.affected_pids"), 10);
	expect_eq(num_at(root, "bottlenecks.0.affected_pids.0"), 129);
}

/* Three "web" share a CPU. */
static void a_crowd_waits_for_itself(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	for (uint32_t tid = 10; tid < 13; tid++) {
		forked(&p->f, 900 * MS, 1, tid, "web");
		wakeup(&p->f, 1000 * MS, 0, tid, 0);
	}
	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	for (uint32_t i = 1; i <= 10; i++)
		sw(&p->f, (1000 + 10 * i) * MS, 0, 10 + (i - 1) % 3, 10 + i % 3, EV_STATE_RUNNABLE);
	finish(p, 1110 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 220 * MS); /* two wait at any time */
	assert_true(real_at(root, "bottlenecks.0.severity") > 1);   /* of the 210 ms since 900 */
	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"), "behind each other"));
	assert_non_null(strstr(text_at(root, "bottlenecks.0.remedy"), "than there are CPUs"));
	expect_cause(root, "overload", "proved");
}

static void only_who_is_asked_for_is_a_victim(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	moved(p);
	p->args.comm = "db";
	expect_eq(num_at(run_pass(p, &pass_scheduling_bottlenecks), "total_bottlenecks"), 0);
	p->args.comm = NULL;
	p->args.from_ns = 1030 * MS;
	p->args.to_ns = 1100 * MS;
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 12 * MS);
	expect_eq(num_at(root, "bottlenecks.0.time_range.0"), 1030 * MS);
}

static void a_quiet_machine_has_no_bottleneck(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1001 * MS, 0, 10, 0, EV_STATE_S);
	wakeup(&p->f, 1100 * MS, 0, 10, 0);
	sw(&p->f, 1101 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 1200 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 0);
	expect_eq(num_at(root, "total_lost_ns"), 1 * MS);
	expect_eq(len_at(root, "high_rates"), 0);
	assert_ptr_equal(pass_find("find_scheduling_bottlenecks"), &pass_scheduling_bottlenecks);
}

/* A wait of tid for CPU 0 behind 10; both are asleep before. */
static void wait_once(struct pass_fixture *p, uint64_t ts, uint32_t tid, uint64_t ns)
{
	sw(&p->f, ts, 0, 0, 10, EV_STATE_RUNNABLE);
	wakeup(&p->f, ts, 0, tid, 0);
	sw(&p->f, ts + ns, 0, 10, tid, EV_STATE_S);
	sw(&p->f, ts + ns + MS, 0, tid, 0, EV_STATE_S);
}

/* Of 10 s: one wait of 20 ms, 30 of 5 ms, one of 5 ms. */
static void one_long_wait_counts_and_many_short_ones(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 1000 * MS, 1, 10, "hog");
	forked(&p->f, 1000 * MS, 1, 20, "long");
	forked(&p->f, 1000 * MS, 1, 21, "short");
	forked(&p->f, 1000 * MS, 1, 22, "few");
	for (uint32_t tid = 20; tid < 23; tid++)
		sw(&p->f, 1000 * MS + tid, 0, tid == 20 ? 0 : tid - 1, tid, EV_STATE_S);
	sw(&p->f, 1001 * MS, 0, 22, 0, EV_STATE_S);
	wait_once(p, 1100 * MS, 20, 20 * MS);
	wait_once(p, 1200 * MS, 22, 5 * MS);
	for (uint32_t i = 0; i < 30; i++)
		wait_once(p, (1300 + 10 * i) * MS, 21, 5 * MS);
	finish(p, 11000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 2);
	assert_string_equal(text_at(root, "bottlenecks.0.comm"), "short");
	assert_string_equal(text_at(root, "bottlenecks.1.comm"), "long");
}

/* 20 waits from 1000 to 1100 ms behind "hog", first of priority 49, then of 19; 21 from 1050 to 1060 on CPU 1. */
static void the_time_is_from_the_first_to_the_last_and_the_most_urgent_is_named(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 11, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	forked(&p->f, 900 * MS, 1, 21, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw_prio(p, 995 * MS, 20, 10, 49);
	sw(&p->f, 990 * MS, 1, 0, 21, EV_STATE_RUNNABLE);
	sw(&p->f, 995 * MS, 1, 21, 12, EV_STATE_S);
	wakeup(&p->f, 1000 * MS, 0, 20, 0);
	wakeup(&p->f, 1050 * MS, 1, 21, 1);
	sw(&p->f, 1060 * MS, 1, 12, 21, EV_STATE_S);
	sw_prio(p, 1060 * MS, 10, 11, 19);
	sw(&p->f, 1100 * MS, 0, 11, 20, EV_STATE_S);
	finish(p, 1200 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 110 * MS);
	expect_eq(num_at(root, "bottlenecks.0.time_range.0"), 1000 * MS);
	expect_eq(num_at(root, "bottlenecks.0.time_range.1"), 1100 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.causes.0.class"), "real-time priority 80");
}

/* 20 waits for 100 ms behind "hog", 10 of them while that has a priority. */
static void a_priority_is_named_only_if_it_counts(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 11, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 990 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw_prio(p, 1000 * MS, 20, 10, 49);
	wakeup(&p->f, 1000 * MS, 0, 20, 0);
	sw_prio(p, 1010 * MS, 10, 11, 120);
	sw(&p->f, 1100 * MS, 0, 11, 20, EV_STATE_S);
	finish(p, 1200 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "web (20) waited 100ms for a CPU: 100ms behind hog");
	assert_true(is_null_at(root, "bottlenecks.0.causes.0.class"));
}

static void moves_are_a_rate(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < 20; i++)
		migrate(&p->f, 1950 * MS, 11, 0, 1);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 0);
	assert_string_equal(text_at(root, "high_rates.0.description"),
	                    "tasks moved between CPUs 200 times per second");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_starvation_stands_above_every_rate),
		CASE(victims_are_ranked_by_time_lost),
		CASE(one_that_was_moved_blames_who_held_its_queues),
		CASE(an_idle_cpu_that_does_not_run_it_is_a_cause),
		CASE(a_quota_is_named_and_no_task_blamed),
		CASE(of_two_quotas_the_one_that_took_more_is_named),
		CASE(tasks_that_are_woken_often_are_not_too_many),
		CASE(a_storm_of_new_tasks_waits_for_itself),
		CASE(a_crowd_waits_for_itself),
		CASE(only_who_is_asked_for_is_a_victim),
		CASE(a_quiet_machine_has_no_bottleneck),
		CASE(one_long_wait_counts_and_many_short_ones),
		CASE(the_time_is_from_the_first_to_the_last_and_the_most_urgent_is_named),
		CASE(a_priority_is_named_only_if_it_counts),
		CASE(moves_are_a_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
