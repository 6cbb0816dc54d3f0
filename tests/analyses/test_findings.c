/* Time lost that is no wait for a CPU: worlds whose answer is known. */
#include "../analyze/pass_fixture.h"

#include <linux/futex.h>
#include <string.h>

#include "abi/call.h"
#include "analyses/passes.h"

#define MS 1000000ULL

/* In a word what kept the first one, and how sure that is. */
static void expect_cause(const struct report_node *root, const char *cause, const char *confidence)
{
	assert_string_equal(text_at(root, "bottlenecks.0.cause"), cause);
	assert_string_equal(text_at(root, "bottlenecks.0.confidence"), confidence);
}

/* From running on a CPU of its own, which is idle then; runs again at the end. */
static void sleeps(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid, uint16_t call,
                   uint32_t state)
{
	push_sleep(&p->f, ts, cpu, tid, call, 0x1000, 0);
	sw(&p->f, ts, cpu, tid, 0, (uint16_t)state);
}

static void sleeps_on_futex(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid,
                            uint32_t operation)
{
	push_sleep(&p->f, ts, cpu, tid, ABI_CALL_futex, 0x1000, operation);
	sw(&p->f, ts, cpu, tid, 0, EV_STATE_S);
}

static void wakes(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t by_cpu,
                  uint32_t waker)
{
	waking(&p->f, ts, by_cpu, tid, waker);
	sw(&p->f, ts + 1, cpu, 0, tid, EV_STATE_RUNNABLE);
}

/* "a" 20, "b" 21 and "c" 22, each on a CPU of its own from 1000 ms on. */
static void three(struct pass_fixture *p)
{
	thread_of(&p->f, 900 * MS, 20, "a");
	thread_of(&p->f, 900 * MS, 21, "b");
	thread_of(&p->f, 900 * MS, 22, "c");
	for (uint32_t i = 0; i < 3; i++)
		sw(&p->f, 1000 * MS, i, 0, 20 + i, EV_STATE_RUNNABLE);
}

/* 21 sleeps until 20 wakes it, 20 sleeps until 21 does, 22 is woken by 20. */
static void pass_around(struct pass_fixture *p, uint32_t operation)
{
	three(p);
	sleeps_on_futex(p, 1100 * MS, 1, 21, operation);
	wakes(p, 1200 * MS, 1, 21, 0, 20);
	sleeps_on_futex(p, 1210 * MS, 0, 20, operation);
	sleeps_on_futex(p, 1250 * MS, 2, 22, operation);
	wakes(p, 1260 * MS, 0, 20, 1, 21);
	wakes(p, 1280 * MS, 2, 22, 0, 20);
	finish(p, 2000 * MS);
}

static void a_lock_that_its_waiters_pass_on_is_lost_time(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	pass_around(p, FUTEX_WAIT_PRIVATE);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_string_equal(text_at(root, "bottlenecks.0.kind"), "lock");
	/* 100 of 21, 50 of 20 and 30 of 22; of those, 10 are charged to 21, which releases at 1260. */
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 180 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "b (21) and 2 others slept 180ms for the lock at 0x1000 while it was "
	                    "held by a (20) for 120ms, b (21) for 60.0ms");
	assert_string_equal(text_at(root, "bottlenecks.0.next"),
	                    "explain FILE --tid 21 --at @1150000000");
	assert_string_equal(text_at(root, "bottlenecks.0.comm"), "b");
	expect_eq(num_at(root, "bottlenecks.0.affected_pids.0"), 21);
	expect_cause(root, "lock", "likely");
}

static void a_condition_is_no_lock(void **state)
{
	struct pass_fixture *p = *state;

	pass_around(p, FUTEX_WAIT_BITSET_PRIVATE);
	expect_eq(num_at(run_pass(p, &pass_scheduling_bottlenecks), "total_bottlenecks"), 0);
}

/* 21 and 22 wait for work that 20 brings, which never waits itself. */
static void idle_workers_lose_nothing(void **state)
{
	struct pass_fixture *p = *state;

	three(p);
	for (uint64_t ts = 1100 * MS; ts < 1900 * MS; ts += 200 * MS) {
		sleeps_on_futex(p, ts, 1, 21, FUTEX_WAIT);
		sleeps_on_futex(p, ts, 2, 22, FUTEX_WAIT);
		wakes(p, ts + 100 * MS, 1, 21, 0, 20);
		wakes(p, ts + 100 * MS, 2, 22, 0, 20);
	}
	finish(p, 2000 * MS);
	expect_eq(num_at(run_pass(p, &pass_scheduling_bottlenecks), "total_bottlenecks"), 0);
}

static void uninterruptible_sleeps_say_what_for(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	three(p);
	sleeps(p, 1100 * MS, 1, 21, ABI_CALL_fsync, EV_STATE_D);
	wakes(p, 1400 * MS, 1, 21, 0, 20);
	sleeps(p, 1500 * MS, 1, 21, ABI_CALL_NONE, EV_STATE_D);
	wakes(p, 1600 * MS, 1, 21, 0, 20);
	sleeps(p, 1100 * MS + 1, 2, 22, ABI_CALL_vfork, EV_STATE_D);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_string_equal(text_at(root, "bottlenecks.0.kind"), "blocked");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 400 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "b (21) was blocked for 400ms: 300ms in fsync (data to reach the "
	                    "disk), 100ms in page faults or other exceptions; longest 300ms");
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "write out less often, in another thread, or to a faster disk");
	expect_cause(root, "disk_sync", "proved");
	p->facts.lost = 1;
	expect_cause(run_pass(p, &pass_scheduling_bottlenecks), "disk_sync", "likely");
}

static void page_faults_have_their_own_remedy(void **state)
{
	struct pass_fixture *p = *state;

	three(p);
	sleeps(p, 1100 * MS, 1, 21, ABI_CALL_NONE, EV_STATE_D);
	wakes(p, 1400 * MS, 1, 21, 0, 20);
	finish(p, 2000 * MS);
	assert_string_equal(text_at(run_pass(p, &pass_scheduling_bottlenecks),
	                            "bottlenecks.0.remedy"),
	                    "keep what it touches in memory (mlock, more memory, read ahead)");
	expect_cause(run_pass(p, &pass_scheduling_bottlenecks), "page_faults", "proved");
}

/* Those that kthreadd starts sleep so when they have nothing to do. */
static void kernel_threads_are_not_blocked(void **state)
{
	struct pass_fixture *p = *state;

	forked(&p->f, 900 * MS, 2, 30, "kw");
	three(p);
	sw(&p->f, 1010 * MS, 2, 22, 30, EV_STATE_S);
	sleeps(p, 1100 * MS, 2, 30, 0, EV_STATE_D);
	wakes(p, 1400 * MS, 2, 30, 0, 20);
	finish(p, 2000 * MS);
	expect_eq(num_at(run_pass(p, &pass_scheduling_bottlenecks), "total_bottlenecks"), 0);
}

static void without_system_calls_the_remedy_is_to_record_them(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	three(p);
	sw(&p->f, 1100 * MS, 1, 21, 0, EV_STATE_D);
	wakes(p, 1400 * MS, 1, 21, 0, 20);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "b (21) was blocked for 300ms; longest 300ms");
	assert_string_equal(text_at(root, "bottlenecks.0.remedy"),
	                    "record with --events default,sleep to see what for");
	assert_string_equal(text_at(root, "bottlenecks.0.next"),
	                    "explain FILE --tid 21 --at @1250000000");
	expect_cause(root, "unknown", "unknown");
}

/* "sh" 20 starts one task every 10 ms, which runs for 5 ms on CPU 1 and exits. */
struct storm {
	uint32_t nr;
	uint64_t run_us; /* of each */
	bool is_early;   /* all are started long before they run */
	uint64_t end_ms;
	uint32_t nr_others; /* of the same name, which start some of them */
};

static void storm(struct pass_fixture *p, const struct storm *x)
{
	for (uint32_t i = 0; i <= x->nr_others; i++)
		thread_of(&p->f, 800 * MS, 20 + i, "sh");
	for (uint32_t i = 0; x->is_early && i < x->nr; i++)
		forked(&p->f, 900 * MS + i, 20, 1000 + i, "true");
	sw(&p->f, 1000 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < x->nr; i++) {
		uint64_t ts = 1010 * MS + i * 10 * MS, end = ts + x->run_us * 1000;
		uint32_t tid = 1000 + i;

		if (!x->is_early)
			forked(&p->f, ts, 20 + i % (x->nr_others + 1), tid, "true");
		wakeup_new(&p->f, ts, 1, tid, 20);
		sw(&p->f, ts, 1, 0, tid, EV_STATE_RUNNABLE);
		push(&p->f, &(struct ev_exit){ { sizeof(struct ev_exit), EV_EXIT, 0, 1, end - 1 },
		                               .tid = tid,
		                               .tgid = tid,
		                               .comm = "true" });
		sw(&p->f, end, 1, tid, 0, EV_STATE_DEAD);
	}
	finish(p, x->end_ms * MS);
}

static void a_storm_of_short_lived_tasks_names_who_starts_them(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	storm(p, &(struct storm){ .nr = 90, .run_us = 5000, .end_ms = 2000 });
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_string_equal(text_at(root, "bottlenecks.0.kind"), "short_lived_tasks");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 450 * MS);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "sh (20) started 90 tasks that lived less than 100ms (true was the "
	                    "last); they ran for 450ms");
	expect_cause(root, "fork_storm", "proved");
}

static void a_storm_by_several_of_a_name_names_none_of_them(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	storm(p, &(struct storm){ .nr = 90, .run_us = 5000, .end_ms = 2000, .nr_others = 29 });
	root = run_pass(p, &pass_scheduling_bottlenecks);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "sh (30 tasks) started 90 tasks that lived less than 100ms (true was "
	                    "the last); they ran for 450ms");
}

static void is_no_storm(struct pass_fixture *p, const struct storm *x)
{
	storm(p, x);
	expect_eq(num_at(run_pass(p, &pass_scheduling_bottlenecks), "total_bottlenecks"), 0);
}

static void a_few_short_lived_tasks_are_no_storm(void **state)
{
	is_no_storm(*state, &(struct storm){ .nr = 15, .run_us = 5000, .end_ms = 2000 });
}

static void a_few_in_a_short_time_are_none_either(void **state)
{
	is_no_storm(*state, &(struct storm){ .nr = 15, .run_us = 5000, .end_ms = 1200 });
}

static void tasks_that_hardly_run_are_no_storm(void **state)
{
	is_no_storm(*state, &(struct storm){ .nr = 90, .run_us = 100, .end_ms = 2000 });
}

static void tasks_that_live_long_are_no_storm(void **state)
{
	is_no_storm(*state,
	            &(struct storm){ .nr = 90, .run_us = 5000, .is_early = true, .end_ms = 2000 });
}

/* Nobody waits: the tasks that run lose it. */
static void stolen_time_counts_where_nobody_waits(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_STEAL);
	three(p);
	sw(&p->f, 1500 * MS, 1, 21, 0, EV_STATE_S);
	steal(&p->f, 1500 * MS + 1, 1, 200 * MS);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_string_equal(text_at(root, "bottlenecks.0.kind"), "stolen");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 200 * MS);
	assert_non_null(
		strstr(text_at(root, "bottlenecks.0.description"),
	               "the hypervisor stole 200ms of the CPUs' time, 200ms of it from CPU 1"));
	assert_true(is_null_at(root, "bottlenecks.0.comm"));
	expect_cause(root, "steal", "proved");
}

/* Of 1100 ms: 60 from "a", 10 of them by a timer; 40 from "b", too little to count; 90 from a thread of the kernel. */
static void softirqs_take_time_from_tasks_that_run(void **state)
{
	static const struct {
		uint32_t from_ms, ms, cpu, tid, vector;
	} all[] = { { 1100, 50, 0, 20, 3 },
		    { 1200, 10, 0, 20, 1 },
		    { 1300, 40, 1, 21, 3 },
		    { 1400, 90, 2, 30, 3 } };
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * MS, 2, 30, "kw");
	three(p);
	sw(&p->f, 1010 * MS, 2, 22, 30, EV_STATE_S);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		softirq_in(&p->f, all[i].from_ms * MS, all[i].cpu, all[i].tid, all[i].vector,
		           false);
		softirq_in(&p->f, (all[i].from_ms + all[i].ms) * MS, all[i].cpu, all[i].tid,
		           all[i].vector, true);
	}
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 1);
	assert_string_equal(text_at(root, "bottlenecks.0.kind"), "softirqs");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 60 * MS);
	expect_eq(num_at(root, "bottlenecks.0.affected_pids.0"), 20);
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "softirqs took 60.0ms from a (20) while it was on a CPU (5 % of the "
	                    "recording), 50.0ms of it net-rx");
	expect_cause(root, "softirqs", "likely");
}

/* 21 is starved for longer than anything; what happened to the scheduler comes first all the same. */
static void a_scheduler_that_was_thrown_out_comes_first(void **state)
{
	struct pass_fixture *p = *state;
	struct ev_scx_state ev = { .hdr = { sizeof(ev), EV_SCX_STATE, 0, 0, 1900 * MS },
		                   .state = EV_SCX_EJECTED,
		                   .name = "stall" };
	const struct report_node *root;

	three(p);
	sw(&p->f, 1100 * MS, 1, 21, 0, EV_STATE_S);
	wakeup(&p->f, 1200 * MS, 0, 21, 1);
	push(&p->f, &ev);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_scheduling_bottlenecks);
	expect_eq(num_at(root, "total_bottlenecks"), 2);
	assert_string_equal(text_at(root, "bottlenecks.0.kind"), "ejected");
	assert_true(is_null_at(root, "bottlenecks.0.lost_ns"));
	assert_non_null(strstr(text_at(root, "bottlenecks.0.description"),
	                       "the kernel threw the sched_ext scheduler stall out "));
	expect_cause(root, "scheduler_ejected", "proved");
	assert_string_equal(text_at(root, "bottlenecks.1.kind"), "wait");
	p->args.tid = 21;
	root = run_pass(p, &pass_explain);
	assert_string_equal(text_at(root, "waits.0.sentences.2"),
	                    "The sched_ext scheduler stall had not run it when the kernel threw it "
	                    "out, 1.00s after the start.");
}

/* Before the wait of 21 begins, and after it: neither has to do with it. */
static void a_scheduler_that_was_thrown_out_before_or_after_a_wait_is_not_named(void **state)
{
	struct pass_fixture *p = *state;
	struct ev_scx_state ev = { .hdr = { sizeof(ev), EV_SCX_STATE, 0, 0, 1150 * MS },
		                   .state = EV_SCX_EJECTED,
		                   .name = "stall" };

	three(p);
	sw(&p->f, 1100 * MS, 1, 21, 0, EV_STATE_S);
	push(&p->f, &ev);
	wakeup(&p->f, 1200 * MS, 0, 21, 1);
	sw(&p->f, 1300 * MS, 1, 0, 21, EV_STATE_RUNNABLE);
	ev.hdr.ts_ns = 1400 * MS;
	push(&p->f, &ev);
	finish(p, 2000 * MS);
	p->args.tid = 21;
	p->args.at_ns = 1250 * MS;
	for (const struct report_node *at =
	             report_at(run_pass(p, &pass_explain), "waits.0.sentences")->first;
	     at; at = at->next)
		assert_null(strstr(at->text, "sched_ext scheduler stall"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_lock_that_its_waiters_pass_on_is_lost_time),
		CASE(a_condition_is_no_lock),
		CASE(idle_workers_lose_nothing),
		CASE(uninterruptible_sleeps_say_what_for),
		CASE(page_faults_have_their_own_remedy),
		CASE(kernel_threads_are_not_blocked),
		CASE(without_system_calls_the_remedy_is_to_record_them),
		CASE(a_storm_of_short_lived_tasks_names_who_starts_them),
		CASE(a_storm_by_several_of_a_name_names_none_of_them),
		CASE(a_few_short_lived_tasks_are_no_storm),
		CASE(a_few_in_a_short_time_are_none_either),
		CASE(tasks_that_hardly_run_are_no_storm),
		CASE(tasks_that_live_long_are_no_storm),
		CASE(softirqs_take_time_from_tasks_that_run),
		CASE(stolen_time_counts_where_nobody_waits),
		CASE(a_scheduler_that_was_thrown_out_comes_first),
		CASE(a_scheduler_that_was_thrown_out_before_or_after_a_wait_is_not_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
