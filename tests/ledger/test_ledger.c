#include "ledger_fixture.h"

#include "abi/event.h"

#define MAX_PARTS 16

/* Of the wait of a task that ended then; a part of a task says its tid. */
static void expect_parts(struct world *w, uint32_t tid, uint64_t end_ns,
                         const struct ledger_part *expected, uint32_t nr)
{
	struct pair_wait wait = world_wait(w, tid, end_ns);
	struct ledger_part got[MAX_PARTS];

	expect_eq(world_parts(w, &wait, got, MAX_PARTS), nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t what = expected[i].what;

		if (expected[i].kind == LEDGER_TASK)
			what = task_of(w->f, (uint32_t)what);
		expect_eq(got[i].start_ns, expected[i].start_ns);
		expect_eq(got[i].end_ns, expected[i].end_ns);
		expect_eq(got[i].kind, expected[i].kind);
		expect_eq(got[i].prio, expected[i].kind == LEDGER_TASK ? 120 : 0);
		expect_eq(got[i].cpu, expected[i].cpu);
		expect_eq(got[i].what, what);
	}
}

#define EXPECT_PARTS(w, tid, end_ns, ...)                                         \
	expect_parts((w), (tid), (end_ns), (struct ledger_part[]){ __VA_ARGS__ }, \
	             sizeof((struct ledger_part[]){ __VA_ARGS__ }) / sizeof(struct ledger_part))

/* CPU 0 runs task 10 from 100 on, CPU 1 is idle from 100 on; task 20 sleeps from 100 on. */
static void begin(struct world *w)
{
	world_begin(w);
	sw(w->f, 50, 0, 0, 20, 0);
	sw(w->f, 100, 0, 20, 10, EV_STATE_S);
	sw(w->f, 100, 1, 11, 0, EV_STATE_S);
}

static void a_moved_task_waited_for_the_task_of_its_first_cpu(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	waking(w.f, 200, 1, 20, 0);
	wakeup(w.f, 210, 1, 20, 0);
	migrate(w.f, 900, 20, 0, 1);
	sw(w.f, 910, 1, 0, 20, 0);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 20, 910, { 200, 210, 0, PAIR_NO_CPU, 0, 0, LEDGER_WAKING },
	             { 210, 900, 10, 0, 0, 0, LEDGER_TASK }, { 900, 910, 0, 1, 0, 0, LEDGER_IDLE });
	world_end(&w);
}

static void a_task_is_placed_before_it_is_in_a_queue(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	waking(w.f, 200, 0, 20, 10);
	migrate(w.f, 203, 20, 0, 1); /* by the waker, on CPU 0 */
	sw(w.f, 250, 1, 0, 20, 0);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 20, 250, { 200, 203, 0, PAIR_NO_CPU, 0, 0, LEDGER_WAKING },
	             { 203, 250, 0, 1, 0, 0, LEDGER_IDLE });
	world_end(&w);
}

static void without_migrations_it_waited_where_it_then_ran(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	wakeup(w.f, 210, 1, 20, 0);
	sw(w.f, 910, 1, 0, 20, 0);
	world_done(&w, 1000, false);
	EXPECT_PARTS(&w, 20, 910, { 210, 910, 0, 1, 0, 0, LEDGER_IDLE });
	world_end(&w);
}

static void a_preempted_task_that_runs_elsewhere_was_moved_unseen(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	sw(w.f, 300, 0, 10, 12, 0);
	sw(w.f, 400, 1, 0, 10, 0);
	world_done(&w, 1000, false);
	EXPECT_PARTS(&w, 10, 400, { 300, 400, 0, PAIR_NO_CPU, 0, 0, LEDGER_UNKNOWN });
	world_end(&w);
}

static void a_migration_from_another_cpu_leaves_the_place_unknown(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	sw(w.f, 300, 0, 10, 12, 0);
	migrate(w.f, 350, 10, 2, 1);
	sw(w.f, 400, 1, 0, 10, 0);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 10, 400, { 300, 350, 0, PAIR_NO_CPU, 0, 0, LEDGER_UNKNOWN },
	             { 350, 400, 0, 1, 0, 0, LEDGER_IDLE });
	world_end(&w);
}

static void interrupts_and_softirqs_are_parts_of_their_own(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	wakeup(w.f, 200, 1, 20, 0);
	softirq(w.f, 300, 0, 3, false);
	irq(w.f, 320, 0, 7, false);
	irq(w.f, 340, 0, 7, true);
	softirq(w.f, 360, 0, 3, true);
	sw(w.f, 400, 0, 10, 20, EV_STATE_S);
	world_done(&w, 1000, true);
	/* The rows of spans: the interrupt ends first. */
	EXPECT_PARTS(&w, 20, 400, { 200, 300, 10, 0, 0, 0, LEDGER_TASK },
	             { 300, 320, 1, 0, 0, 0, LEDGER_SOFTIRQ },
	             { 320, 340, 0, 0, 0, 0, LEDGER_INTERRUPT },
	             { 340, 360, 1, 0, 0, 0, LEDGER_SOFTIRQ },
	             { 360, 400, 10, 0, 0, 0, LEDGER_TASK });
	world_end(&w);
}

static void a_cpu_is_unknown_before_its_first_record(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	wakeup(w.f, 200, 1, 20, 2);
	sw(w.f, 300, 2, 30, 0, EV_STATE_S);
	sw(w.f, 350, 2, 0, 20, 0);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 20, 350, { 200, 300, 0, 2, 0, 0, LEDGER_UNKNOWN },
	             { 300, 350, 0, 2, 0, 0, LEDGER_IDLE });
	world_end(&w);
}

static void an_open_wait_has_parts_up_to_the_end(void **state)
{
	struct world w;
	struct pair_wait wait;
	struct ledger_part parts[MAX_PARTS];

	(void)state;
	begin(&w);
	waking(w.f, 200, 1, 20, 0);
	wakeup(w.f, 210, 1, 20, 0);
	world_done(&w, 1000, true);
	wait = world_wait(&w, 20, 1000);
	assert_true(wait.is_open);
	expect_eq(world_parts(&w, &wait, parts, MAX_PARTS), 2);
	expect_eq(parts[1].end_ns, 1000);
	expect_eq(parts[1].kind, LEDGER_TASK);
	expect_eq(parts[1].what, task_of(w.f, 10));
	world_end(&w);
}

static void dsq(struct world *w, uint64_t start_ns, uint64_t end_ns, uint64_t id, uint32_t tid)
{
	struct pair_out out = timeline_out(w->timeline);

	out.dsq(out.ctx, &(struct pair_dsq){ .start_ns = start_ns,
	                                     .end_ns = end_ns,
	                                     .dsq_id = id,
	                                     .task = task_of(w->f, tid),
	                                     .has_start = 1 });
}

static void a_queue_of_several_cpus_is_what_a_task_waited_for(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	wakeup(w.f, 200, 1, 20, 0);
	dsq(&w, 250, 300, 0x42, 20);
	migrate(w.f, 270, 20, 0, 1);
	dsq(&w, 300, 350, 1ULL << 63 | 1ULL << 62 | 1, 20); /* that of CPU 1 */
	sw(w.f, 350, 1, 0, 20, 0);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 20, 350, { 200, 250, 10, 0, 0, 0, LEDGER_TASK },
	             { 250, 300, 0x42, PAIR_NO_CPU, 0, 0, LEDGER_QUEUE },
	             { 300, 350, 0, 1, 0, 0, LEDGER_IDLE });
	world_end(&w);
}

/* 10 is throttled at 300; 12 has its CPU until 500, then 13; the quota is refilled at 600, and it runs at 700. */
static void a_throttled_task_waits_for_its_quota_whoever_runs(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	sw(w.f, 300, 0, 10, 12, 0);
	throttle(w.f, 301, 0, 10, 77);
	irq(w.f, 350, 0, 7, false);
	irq(w.f, 360, 0, 7, true);
	sw(w.f, 500, 0, 12, 13, EV_STATE_S);
	steal(w.f, 501, 0, 50);
	refill(w.f, 600, 77, EVERY_CPU);
	sw(w.f, 700, 0, 13, 10, EV_STATE_S);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 10, 700, { 300, 600, 0, 0, 0, 0, LEDGER_THROTTLED },
	             { 600, 700, 13, 0, 0, 0, LEDGER_TASK });
	world_end(&w);
}

/* What the CPU of a throttled task does need not be known. */
static void a_throttled_task_that_is_moved_stays_throttled(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	sw(w.f, 300, 0, 10, 0, 0);
	throttle(w.f, 301, 0, 10, 77);
	migrate(w.f, 400, 10, 0, 2);
	sw(w.f, 600, 2, 0, 10, 0);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 10, 600, { 300, 400, 0, 0, 0, 0, LEDGER_THROTTLED },
	             { 400, 600, 0, 2, 0, 0, LEDGER_THROTTLED });
	world_end(&w);
}

/* 100 of the 400 that 10 had are stolen; 20 waits for the last half of them. */
static void stolen_time_is_shared_by_the_parts_of_its_time(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	wakeup(w.f, 300, 1, 20, 0);
	irq(w.f, 400, 0, 7, false);
	irq(w.f, 440, 0, 7, true);
	sw(w.f, 500, 0, 10, 20, EV_STATE_S);
	steal(w.f, 502, 0, 100);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 20, 500, { 300, 375, 10, 0, 0, 0, LEDGER_TASK },
	             { 375, 400, 0, 0, 0, 0, LEDGER_STOLEN },
	             { 400, 430, 0, 0, 0, 0, LEDGER_INTERRUPT },
	             { 430, 440, 0, 0, 0, 0, LEDGER_STOLEN },
	             { 440, 485, 10, 0, 0, 0, LEDGER_TASK },
	             { 485, 500, 0, 0, 0, 0, LEDGER_STOLEN });
	world_end(&w);
}

static void all_of_a_time_can_be_stolen(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	wakeup(w.f, 300, 1, 20, 1);
	sw(w.f, 500, 1, 0, 20, 0);
	steal(w.f, 502, 1, 400);
	world_done(&w, 1000, true);
	EXPECT_PARTS(&w, 20, 500, { 300, 500, 0, 1, 0, 0, LEDGER_STOLEN });
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moved_task_waited_for_the_task_of_its_first_cpu),
		cmocka_unit_test(a_task_is_placed_before_it_is_in_a_queue),
		cmocka_unit_test(without_migrations_it_waited_where_it_then_ran),
		cmocka_unit_test(a_preempted_task_that_runs_elsewhere_was_moved_unseen),
		cmocka_unit_test(a_migration_from_another_cpu_leaves_the_place_unknown),
		cmocka_unit_test(interrupts_and_softirqs_are_parts_of_their_own),
		cmocka_unit_test(a_cpu_is_unknown_before_its_first_record),
		cmocka_unit_test(an_open_wait_has_parts_up_to_the_end),
		cmocka_unit_test(a_queue_of_several_cpus_is_what_a_task_waited_for),
		cmocka_unit_test(a_throttled_task_waits_for_its_quota_whoever_runs),
		cmocka_unit_test(a_throttled_task_that_is_moved_stays_throttled),
		cmocka_unit_test(stolen_time_is_shared_by_the_parts_of_its_time),
		cmocka_unit_test(all_of_a_time_can_be_stolen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
