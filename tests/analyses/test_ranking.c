/* Who is named first: those that are made late, or the crowd that keeps them waiting. Twenty rounds of 10 ms on CPU 0. */
#include "../analyze/pass_fixture.h"

#include "abi/event_make.h"
#include "analyses/passes.h"

#define MS       1000000ULL
#define US       1000ULL
#define ROUNDS   20
#define ROUND_NS (10 * MS)
#define START_NS (1000 * MS)

enum { BATCH = 10, BATCH_TOO, OTHER, SERVER = 20, HOG = 30 };

/* At that time of each round a task is woken, or gets CPU 0. */
struct step {
	uint32_t at_us;
	uint32_t tid;
	enum { WAKES, RUNS_AND_OTHER_SLEEPS, RUNS_AND_OTHER_WAITS } what;
};

static void run_step(struct pass_fixture *p, uint64_t ts, const struct step *s, uint32_t *current)
{
	struct ev_switch rec = { .hdr = { sizeof(rec), EV_SWITCH, 0, 0, ts },
		                 .prev_tid = *current,
		                 .next_tid = s->tid,
		                 .prev_state = s->what == RUNS_AND_OTHER_WAITS ? EV_STATE_RUNNABLE
		                                                               : EV_STATE_S,
		                 .prev_prio = *current == HOG ? 49 : 120,
		                 .next_prio = s->tid == HOG ? 49 : 120 };

	if (s->what == WAKES) {
		wakeup(&p->f, ts, 0, s->tid, 0);
		return;
	}
	push(&p->f, &rec);
	*current = s->tid;
}

/* The rounds, in which this is repeated; first runs at the beginning. */
static const struct report_node *play(struct pass_fixture *p, uint32_t first,
                                      const struct step *steps, size_t nr)
{
	uint32_t current = first;

	sw(&p->f, START_NS, 0, 0, first, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < nr; k++)
			run_step(p, START_NS + i * ROUND_NS + steps[k].at_us * US, &steps[k],
			         &current);
	finish(p, START_NS + ROUNDS * ROUND_NS);
	return run_pass(p, &pass_scheduling_bottlenecks);
}

#define PLAY(p, first, ...)                                      \
	play((p), (first), (const struct step[]){ __VA_ARGS__ }, \
	     sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

static void named(struct pass_fixture *p, uint32_t tid, const char *comm)
{
	forked(&p->f, START_NS, 1, tid, comm);
}

static void expect_order(const struct report_node *root, const char *first, const char *second)
{
	assert_string_equal(text_at(root, "bottlenecks.0.comm"), first);
	assert_string_equal(text_at(root, "bottlenecks.1.comm"), second);
}

/* Two batch jobs never sleep. A server works for 1 ms of each round, and is woken some time before it gets the CPU, at 5 ms. */
static const struct report_node *two_jobs(struct pass_fixture *p, uint32_t server_waits_us)
{
	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, SERVER, "server");
	return PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 5000 - server_waits_us, SERVER, WAKES },
	            { 5000, SERVER, RUNS_AND_OTHER_WAITS },
	            { 6000, BATCH_TOO, RUNS_AND_OTHER_SLEEPS },
	            { 9999, BATCH, RUNS_AND_OTHER_WAITS });
}

static void one_that_sleeps_stands_before_the_crowd_that_keeps_it_waiting(void **state)
{
	const struct report_node *root = two_jobs(*state, 4000);

	expect_order(root, "server", "batch");
	assert_string_equal(text_at(root, "bottlenecks.0.description"),
	                    "server (20) waited 80.0ms for a CPU: 80.0ms behind batch; longest "
	                    "wait 4.00ms");
	/* What each lost is as before. */
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 80 * MS);
	assert_true(num_at(root, "bottlenecks.1.lost_ns") > 200 * MS);
	assert_string_equal(text_at(root, "bottlenecks.1.cause"), "overload");
	expect_eq(num_at(root, "total_bottlenecks"), 2);
}

static void a_tenth_of_the_time_is_much(void **state)
{
	expect_order(two_jobs(*state, 1000), "server", "batch");
}

static void a_crowd_that_keeps_nobody_waiting_for_long_is_the_problem(void **state)
{
	const struct report_node *root = two_jobs(*state, 990);

	expect_order(root, "batch", "server");
	assert_string_equal(text_at(root, "bottlenecks.0.cause"), "overload");
}

/* Of the 5 ms that are asked for, it waited 0.99 ms: that is much. */
static void the_time_that_is_asked_for_counts(void **state)
{
	struct pass_fixture *p = *state;

	two_jobs(p, 990);
	p->args.from_ns = START_NS + 5 * ROUND_NS + 3 * MS;
	p->args.to_ns = START_NS + 5 * ROUND_NS + 8 * MS;
	expect_order(run_pass(p, &pass_scheduling_bottlenecks), "server", "batch");
}

/* Of its run of 2 ms only 0.5 are asked for, and it slept for 1 ms before. */
static void time_on_a_cpu_counts_as_far_as_it_is_asked_for(void **state)
{
	struct pass_fixture *p = *state;

	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, SERVER, "server");
	PLAY(p, BATCH_TOO, { 0, BATCH, WAKES }, { 2000, BATCH, RUNS_AND_OTHER_WAITS },
	     { 2000, SERVER, WAKES }, { 5000, SERVER, RUNS_AND_OTHER_WAITS },
	     { 7000, BATCH_TOO, RUNS_AND_OTHER_SLEEPS });
	p->args.from_ns = START_NS + 5 * ROUND_NS + 1 * MS;
	p->args.to_ns = START_NS + 5 * ROUND_NS + 5500 * US;
	expect_order(run_pass(p, &pass_scheduling_bottlenecks), "server", "batch");
}

static void a_thread_of_the_kernel_is_not_made_late(void **state)
{
	struct pass_fixture *p = *state;

	forked(&p->f, START_NS, 2, SERVER, "kworker"); /* by kthreadd */
	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	expect_order(PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 1000, SERVER, WAKES },
	                  { 5000, SERVER, RUNS_AND_OTHER_WAITS },
	                  { 6000, BATCH_TOO, RUNS_AND_OTHER_SLEEPS },
	                  { 9999, BATCH, RUNS_AND_OTHER_WAITS }),
	             "batch", "kworker");
}

/* Three clerks are woken at once and have 2 ms of work each; the expiry waits behind two of them. */
static void a_crowd_that_sleeps_in_between_is_late_itself(void **state)
{
	struct pass_fixture *p = *state;

	for (uint32_t tid = 10; tid < 13; tid++)
		named(p, tid, "clerk");
	named(p, SERVER, "expiry");
	expect_order(PLAY(p, SERVER, { 1000, 10, WAKES }, { 1000, 11, WAKES }, { 1000, 12, WAKES },
	                  { 1000, 10, RUNS_AND_OTHER_SLEEPS }, { 3000, 11, RUNS_AND_OTHER_SLEEPS },
	                  { 4000, SERVER, WAKES }, { 5000, 12, RUNS_AND_OTHER_SLEEPS },
	                  { 7000, SERVER, RUNS_AND_OTHER_SLEEPS }),
	             "clerk", "expiry");
}

/* Jobs that sleep for some of the time between what they do: for 50 or 950 us after 4 ms of running. */
static const struct report_node *jobs_that_sleep(struct pass_fixture *p, uint32_t us)
{
	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, SERVER, "server");
	return PLAY(p, BATCH, { us, BATCH_TOO, WAKES }, { 1000, SERVER, WAKES },
	            { 4000, SERVER, RUNS_AND_OTHER_SLEEPS }, { 4000 + us, BATCH, WAKES },
	            { 6000, BATCH_TOO, RUNS_AND_OTHER_SLEEPS },
	            { 9999, BATCH, RUNS_AND_OTHER_SLEEPS });
}

static void a_short_nap_leaves_a_job_always_busy(void **state)
{
	expect_order(jobs_that_sleep(*state, 50), "server", "batch");
}

static void jobs_that_sleep_for_a_tenth_of_their_time_are_ranked_by_time(void **state)
{
	expect_order(jobs_that_sleep(*state, 950), "batch", "server");
}

/* One of three tasks of that name sleeps but for a moment: those that wait are always busy. */
static void tasks_that_only_sleep_do_not_make_a_name_sleep(void **state)
{
	struct pass_fixture *p = *state;

	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, OTHER, "batch");
	named(p, SERVER, "server");
	expect_order(PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 1000, SERVER, WAKES },
	                  { 5000, SERVER, RUNS_AND_OTHER_WAITS }, { 5990, OTHER, WAKES },
	                  { 6000, OTHER, RUNS_AND_OTHER_SLEEPS },
	                  { 6010, BATCH_TOO, RUNS_AND_OTHER_SLEEPS },
	                  { 9999, BATCH, RUNS_AND_OTHER_WAITS }),
	             "server", "batch");
}

/* One of three workers is always busy; the others, which are woken together, wait most of what the name waits. */
static void one_busy_task_does_not_make_a_name_busy(void **state)
{
	struct pass_fixture *p = *state;

	for (uint32_t tid = 10; tid < 13; tid++)
		named(p, tid, "worker");
	named(p, SERVER, "server");
	expect_order(PLAY(p, 12, { 1000, 10, WAKES }, { 1000, 11, WAKES }, { 3000, SERVER, WAKES },
	                  { 5000, 10, RUNS_AND_OTHER_WAITS }, { 6000, 11, RUNS_AND_OTHER_SLEEPS },
	                  { 7000, SERVER, RUNS_AND_OTHER_SLEEPS },
	                  { 8000, 12, RUNS_AND_OTHER_SLEEPS }),
	             "worker", "server");
}

/* Three that never sleep, of two names: none is late, more time is more. */
static void one_that_never_sleeps_is_ranked_by_its_time(void **state)
{
	struct pass_fixture *p = *state;

	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, OTHER, "encode");
	expect_order(PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 1, OTHER, WAKES },
	                  { 4000, BATCH_TOO, RUNS_AND_OTHER_WAITS },
	                  { 8000, OTHER, RUNS_AND_OTHER_WAITS },
	                  { 9999, BATCH, RUNS_AND_OTHER_WAITS }),
	             "batch", "encode");
}

/* It sleeps for 2.5 ms and runs for 3: that is work, not a request now and then. */
static void one_that_runs_longer_than_it_sleeps_is_ranked_by_its_time(void **state)
{
	struct pass_fixture *p = *state;

	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, SERVER, "cc1");
	expect_order(PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 500, SERVER, WAKES },
	                  { 5000, SERVER, RUNS_AND_OTHER_WAITS },
	                  { 8000, BATCH_TOO, RUNS_AND_OTHER_SLEEPS },
	                  { 9999, BATCH, RUNS_AND_OTHER_WAITS }),
	             "batch", "cc1");
}

/* Two jobs of different names, both of which lose more than the server: it waits 1.2 and 1.4 ms of each round behind them. */
static void all_crowds_stand_after_it_in_the_order_of_what_they_cost(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	named(p, BATCH, "backup");
	named(p, BATCH_TOO, "index");
	named(p, SERVER, "server");
	root = PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 2800, SERVER, WAKES },
	            { 4000, BATCH_TOO, RUNS_AND_OTHER_WAITS },
	            { 5400, SERVER, RUNS_AND_OTHER_WAITS }, { 7400, BATCH, RUNS_AND_OTHER_SLEEPS });
	expect_order(root, "server", "index");
	assert_string_equal(text_at(root, "bottlenecks.2.comm"), "backup");
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 52 * MS);
	assert_true(num_at(root, "bottlenecks.2.lost_ns") > 52 * MS);
}

/* Of two servers the one that lost more stands first, then the crowd, then the other. */
static void a_crowd_counts_as_much_as_the_one_that_it_hurts_most(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	named(p, BATCH, "batch");
	named(p, BATCH_TOO, "batch");
	named(p, SERVER, "web");
	named(p, SERVER + 1, "db");
	root = PLAY(p, BATCH, { 0, BATCH_TOO, WAKES }, { 1000, SERVER + 1, WAKES },
	            { 3000, SERVER, WAKES }, { 5000, SERVER, RUNS_AND_OTHER_WAITS },
	            { 5500, SERVER + 1, RUNS_AND_OTHER_SLEEPS },
	            { 6000, BATCH_TOO, RUNS_AND_OTHER_SLEEPS },
	            { 9999, BATCH, RUNS_AND_OTHER_WAITS });
	expect_order(root, "db", "batch");
	assert_string_equal(text_at(root, "bottlenecks.2.comm"), "web");
}

/* The job waits for 6 ms of each round behind a real-time task, and the server for 1.5 behind the job. */
static void a_job_that_waits_for_a_real_time_task_is_a_victim(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	named(p, BATCH, "batch");
	named(p, SERVER, "server");
	named(p, HOG, "hog");
	root = PLAY(p, BATCH, { 1, HOG, WAKES }, { 2, HOG, RUNS_AND_OTHER_WAITS },
	            { 6000, BATCH, RUNS_AND_OTHER_SLEEPS }, { 7500, SERVER, WAKES },
	            { 9000, SERVER, RUNS_AND_OTHER_WAITS }, { 9999, BATCH, RUNS_AND_OTHER_SLEEPS });
	expect_order(root, "batch", "server");
	assert_string_equal(text_at(root, "bottlenecks.0.cause"), "real_time");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_that_sleeps_stands_before_the_crowd_that_keeps_it_waiting),
		CASE(a_tenth_of_the_time_is_much),
		CASE(a_crowd_that_keeps_nobody_waiting_for_long_is_the_problem),
		CASE(the_time_that_is_asked_for_counts),
		CASE(time_on_a_cpu_counts_as_far_as_it_is_asked_for),
		CASE(a_thread_of_the_kernel_is_not_made_late),
		CASE(a_crowd_that_sleeps_in_between_is_late_itself),
		CASE(a_short_nap_leaves_a_job_always_busy),
		CASE(jobs_that_sleep_for_a_tenth_of_their_time_are_ranked_by_time),
		CASE(tasks_that_only_sleep_do_not_make_a_name_sleep),
		CASE(one_busy_task_does_not_make_a_name_busy),
		CASE(one_that_never_sleeps_is_ranked_by_its_time),
		CASE(one_that_runs_longer_than_it_sleeps_is_ranked_by_its_time),
		CASE(all_crowds_stand_after_it_in_the_order_of_what_they_cost),
		CASE(a_crowd_counts_as_much_as_the_one_that_it_hurts_most),
		CASE(a_job_that_waits_for_a_real_time_task_is_a_victim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
