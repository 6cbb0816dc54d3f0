/* Rows of tasks that a quota throttled, and of time that was stolen. */
#include "pair_fixture.h"

#include "abi/event_make.h"

#define GROUP 77

/* 20 runs on CPU 1 from 100 on, and is throttled at 200. */
static void begin(struct fixture *f)
{
	pair_start(f->pair, 0);
	sw(f, 90, 0, 0, 10, 0);
	sw(f, 100, 1, 0, 20, 0);
	sw(f, 200, 1, 20, 0, 0);
	throttle(f, 201, 1, 20, GROUP);
}

static void expect_throttle(const struct fixture *f, uint64_t start_ns, uint64_t end_ns)
{
	expect_eq(f->nr_throttles, 1);
	expect_eq(f->throttles[0].start_ns, start_ns);
	expect_eq(f->throttles[0].end_ns, end_ns);
	expect_eq(f->throttles[0].task, task_of(f, 20));
	expect_eq(f->throttles[0].cpu, 1);
	expect_eq(f->throttles[0].cgroup, GROUP);
	expect_eq(f->throttles[0].quota_ns, 20000000);
	expect_eq(f->throttles[0].period_ns, 100000000);
}

static void a_throttling_ends_with_the_refill(void **state)
{
	struct fixture *f = *state;

	begin(f);
	refill(f, 250, GROUP + 1, EVERY_CPU);
	refill(f, 300, GROUP, EVERY_CPU);
	refill(f, 350, GROUP, EVERY_CPU);
	sw(f, 400, 1, 0, 20, 0);
	done(f, 500);
	expect_throttle(f, 200, 300);
	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].wakeup_ns, 200);
	expect_eq(f->waits[0].end_ns, 400);
}

static void a_refill_that_does_not_reach_its_cpu_ends_nothing(void **state)
{
	struct fixture *f = *state;

	begin(f);
	refill(f, 300, GROUP, 1);
	refill(f, 350, GROUP, 0);
	sw(f, 400, 1, 0, 20, 0);
	done(f, 500);
	expect_throttle(f, 200, 350);
}

static void a_refill_of_too_many_cpus_to_name_ends_nothing(void **state)
{
	struct ev_refill rec = {
		.hdr = { .size = sizeof(rec), .kind = EV_REFILL, .ts_ns = 300 },
		.cgroup = GROUP,
		.nr_cpus = EV_REFILL_CPUS + 1,
	};
	struct fixture *f = *state;

	begin(f);
	push(f, &rec);
	sw(f, 400, 1, 0, 20, 0);
	done(f, 500);
	expect_throttle(f, 200, 400);
}

static void a_switch_in_ends_it_at_last(void **state)
{
	struct fixture *f = *state;

	begin(f);
	sw(f, 400, 1, 0, 20, 0);
	refill(f, 450, GROUP, EVERY_CPU);
	done(f, 500);
	expect_throttle(f, 200, 400);
}

static void one_that_does_not_end_lasts_to_the_end(void **state)
{
	struct fixture *f = *state;

	begin(f);
	done(f, 500);
	expect_throttle(f, 200, 500);
}

static void of_a_task_that_was_lost_nothing_is_said(void **state)
{
	struct fixture *f = *state;

	begin(f);
	lost(f, 300, 1, EV_SWITCH, 1);
	sw(f, 400, 1, 0, 20, 0);
	done(f, 500);
	expect_eq(f->nr_throttles, 0);
	expect_eq(f->nr_waits, 0);
}

static void a_task_that_sleeps_is_not_throttled(void **state)
{
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	sw(f, 100, 1, 0, 20, 0);
	sw(f, 200, 1, 20, 0, EV_STATE_S);
	throttle(f, 201, 1, 20, GROUP);
	done(f, 500);
	expect_eq(f->nr_throttles, 0);
}

static void several_tasks_end_at_one_refill(void **state)
{
	struct fixture *f = *state;

	begin(f);
	sw(f, 210, 0, 10, 0, 0);
	throttle(f, 211, 0, 10, GROUP);
	sw(f, 220, 0, 0, 11, 0);
	sw(f, 230, 0, 11, 0, 0);
	throttle(f, 231, 0, 11, GROUP + 1);
	refill(f, 300, GROUP, EVERY_CPU);
	refill(f, 310, GROUP + 1, EVERY_CPU);
	done(f, 500);
	expect_eq(f->nr_throttles, 3);
	expect_eq(f->throttles[0].end_ns, 300);
	expect_eq(f->throttles[1].end_ns, 300);
	expect_eq(f->throttles[2].task, task_of(f, 11));
	expect_eq(f->throttles[2].end_ns, 310);
}

static void keep(void *ctx, const struct pair_throttle *row)
{
	*(struct pair_throttle *)ctx = *row;
}

static void a_snapshot_has_what_is_under_way(void **state)
{
	struct fixture *f = *state;
	struct tasks *tasks = NULL;
	struct pair *pair = NULL;
	struct pair_throttle row = { 0 };
	struct pair_out out = { .ctx = &row, .throttle = keep };

	begin(f);
	expect_eq(tasks_copy(f->tasks, &tasks), 0);
	expect_eq(pair_snapshot(f->pair, tasks, &out, 260, &pair), 0);
	expect_eq(row.start_ns, 200);
	expect_eq(row.end_ns, 260);
	pair_free(pair);
	tasks_free(tasks);
	refill(f, 300, GROUP, EVERY_CPU);
	done(f, 500);
	expect_throttle(f, 200, 300);
}

static void name_cgroup(struct fixture *f, uint64_t id, const char *path)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, id, path, 0);
	push(f, &rec.info.hdr);
}

static void put_into(struct fixture *f, uint32_t tid, uint64_t cgroup)
{
	push(f, &(struct ev_cgroup){ .hdr = { .size = sizeof(struct ev_cgroup), .kind = EV_CGROUP },
	                             .tid = tid,
	                             .cgroup = cgroup });
}

static void throttled(struct fixture *f, uint64_t ts, uint32_t cpu, uint64_t start_ns)
{
	push(f, &(struct ev_throttled){ .hdr = { .size = sizeof(struct ev_throttled),
	                                         .kind = EV_THROTTLED,
	                                         .ts_ns = ts },
	                                .cgroup = GROUP,
	                                .start_ns = start_ns,
	                                .cpu = cpu });
}

/* 20 in /a, 21 in /a/b, 22 in /ab and 23, real-time, in /a wait for CPU 1; 24 in /a for CPU 0. */
static void crowd(struct fixture *f)
{
	static const uint64_t groups[] = { GROUP, GROUP + 1, GROUP + 2, GROUP, GROUP };

	pair_start(f->pair, 0);
	name_cgroup(f, GROUP, "/a");
	name_cgroup(f, GROUP + 1, "/a/b");
	name_cgroup(f, GROUP + 2, "/ab");
	for (uint32_t i = 0; i < 5; i++) {
		put_into(f, 20 + i, groups[i]);
		sw(f, 10 + 10 * i, 1, i ? 19 + i : 0, 20 + i, EV_STATE_S);
	}
	sw(f, 60, 1, 24, 30, EV_STATE_S);
	wakeup(f, 100, 0, 20, 1);
	waking(f, 150, 0, 21, 0); /* that it is in a queue is not recorded */
	wakeup(f, 100, 0, 22, 1);
	push(f, &(struct ev_wake){
			.hdr = { .size = sizeof(struct ev_wake), .kind = EV_WAKEUP, .ts_ns = 150 },
			.tid = 23,
			.target_cpu = 1,
			.prio = 10 });
	wakeup(f, 150, 0, 24, 0);
}

static void before_6_18_all_that_wait_in_the_cgroup_are_throttled(void **state)
{
	struct fixture *f = *state;

	crowd(f);
	throttled(f, 200, 1, 120);
	throttled(f, 300, 1, 120); /* the first timer refilled nothing */
	sw(f, 350, 1, 30, 20, EV_STATE_S);
	throttled(f, 400, 1, 380);
	done(f, 500);
	expect_eq(f->nr_throttles, 5);
	for (uint32_t i = 0; i < 5; i++) {
		static const uint64_t rows[][3] = {
			{ 20, 120, 200 }, { 21, 150, 200 }, { 20, 200, 300 },
			{ 21, 200, 300 }, { 21, 380, 400 },
		};

		expect_eq(f->throttles[i].task, task_of(f, (uint32_t)rows[i][0]));
		expect_eq(f->throttles[i].start_ns, rows[i][1]);
		expect_eq(f->throttles[i].end_ns, rows[i][2]);
		expect_eq(f->throttles[i].cgroup, GROUP);
		expect_eq(f->throttles[i].cpu, 1);
	}
}

static void what_was_stolen_is_of_the_time_before_the_switch(void **state)
{
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	sw(f, 100, 1, 0, 20, 0);
	sw(f, 200, 1, 20, 0, EV_STATE_S);
	steal(f, 203, 1, 30);
	sw(f, 250, 1, 0, 20, 0);
	steal(f, 251, 1, 80); /* more than there was */
	done(f, 500);
	expect_eq(f->nr_steals, 2);
	expect_eq(f->steals[0].start_ns, 100);
	expect_eq(f->steals[0].end_ns, 200);
	expect_eq(f->steals[0].ns, 30);
	expect_eq(f->steals[0].cpu, 1);
	expect_eq(f->steals[1].start_ns, 200);
	expect_eq(f->steals[1].end_ns, 250);
	expect_eq(f->steals[1].ns, 50);
}

static void the_stream_says_what_it_measures(void **state)
{
	struct fixture *f = *state;

	expect_eq(pair_measures(f->pair), 0);
	measures(f, EV_MEASURES_STEAL);
	expect_eq(pair_measures(f->pair), EV_MEASURES_STEAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		CASE(a_throttling_ends_with_the_refill),
		CASE(a_refill_that_does_not_reach_its_cpu_ends_nothing),
		CASE(a_refill_of_too_many_cpus_to_name_ends_nothing),
		CASE(a_switch_in_ends_it_at_last),
		CASE(one_that_does_not_end_lasts_to_the_end),
		CASE(of_a_task_that_was_lost_nothing_is_said),
		CASE(a_task_that_sleeps_is_not_throttled),
		CASE(several_tasks_end_at_one_refill),
		CASE(a_snapshot_has_what_is_under_way),
		CASE(before_6_18_all_that_wait_in_the_cgroup_are_throttled),
		CASE(what_was_stolen_is_of_the_time_before_the_switch),
		CASE(the_stream_says_what_it_measures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
