#include "../analyze/pass_fixture.h"

#include "analyses/passes.h"

static const struct source_count events[] = {
	{ "sched_switch", 5 }, { "sched_waking", 1 }, { "not_known", 2 }, { "none", 0 }
};
static const struct source_damage damage[] = { { "truncated_bytes", 3, 40 },
	                                       { "mismatched_sched_switch_tids", 0, 0 } };

/*
 * CPU 0: 10 runs 1000..3000, idle to 4000, 11 runs 4000..9000 after it was woken at 3500 without a waker, idle to 11000.
 * CPU 1: first heard of at 5000, when 12 comes on; still on at the end.
 */
static void two_cpus(struct pass_fixture *p)
{
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 4000, 0, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 5000, 1, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 9000, 0, 11, 0, EV_STATE_S);
	finish(p, 11000);
	p->facts.events = events;
	p->facts.nr_events_names = 4;
}

static void busy_idle_and_unknown_make_the_whole(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	root = run_pass(p, &pass_summary);
	expect_eq(len_at(root, "cpus"), 2);
	assert_true(real_at(root, "cpus.0.busy_percent") == 70.0);
	assert_true(real_at(root, "cpus.0.idle_percent") == 30.0);
	assert_true(real_at(root, "cpus.1.busy_percent") == 60.0);
	assert_true(real_at(root, "cpus.1.unknown_percent") == 40.0);
	expect_eq(num_at(root, "busiest_tasks.0.tid"), 12);
	expect_eq(num_at(root, "busiest_tasks.0.runtime_ns"), 6000);
	expect_eq(num_at(root, "busiest_tasks.1.tid"), 11);
	expect_eq(num_at(root, "busiest_tasks.2.runtime_ns"), 2000);
}

static void time_and_tasks_can_be_cut(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	p->args.from_ns = 2000;
	p->args.to_ns = 6000;
	p->args.tid = 11;
	root = run_pass(p, &pass_summary);
	/* CPUs are as busy as all tasks make them. */
	assert_true(real_at(root, "cpus.0.busy_percent") == 75.0);
	assert_true(real_at(root, "cpus.1.busy_percent") == 25.0);
	expect_eq(len_at(root, "busiest_tasks"), 1);
	expect_eq(num_at(root, "busiest_tasks.0.runtime_ns"), 2000);
	assert_true(real_at(root, "busiest_tasks.0.of_one_cpu_percent") == 50.0);
}

static void the_worst_waits_come_first(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 10, 0, EV_STATE_S);
	for (uint32_t i = 0; i < 15; i++) {
		uint64_t at = 10000 + 10000ULL * i;

		waking(&p->f, at, 0, 20, 0);
		sw(&p->f, at + 100ULL * (i + 1), 0, 0, 20, EV_STATE_RUNNABLE);
		sw(&p->f, at + 5000, 0, 20, 0, EV_STATE_S);
	}
	finish(p, 200000);
	root = run_pass(p, &pass_summary);
	expect_eq(len_at(root, "longest_waits"), 10);
	expect_eq(num_at(root, "longest_waits.0.wait_ns"), 1500);
	expect_eq(num_at(root, "longest_waits.0.after_start_ns"), 10000 + 140000 - 1000);
	expect_eq(num_at(root, "longest_waits.9.wait_ns"), 600);
	assert_string_equal(text_at(root, "longest_waits.0.cause"), "woken");
}

/* 20 is woken at 2000 and still waits at 9000. */
static void a_wait_that_is_not_over_is_one_of_the_longest(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1100, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 2000, 0, 20, 0);
	finish(p, 9000);
	root = run_pass(p, &pass_summary);
	expect_eq(num_at(root, "longest_waits.0.wait_ns"), 7000);
	assert_true(report_at(root, "longest_waits.0.is_open")->b);
	expect_eq(num_at(root, "bottlenecks.0.lost_ns"), 7000);
}

static void capabilities_name_what_is_there(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	root = run_pass(p, &pass_summary);
	expect_eq(len_at(root, "capabilities.available_events"),
	          1); /* what never came is not there */
	expect_eq(num_at(root, "capabilities.event_counts.sched_switch"), 5);
	expect_eq(num_at(root, "total_events"), 5);
	expect_eq(num_at(root, "capabilities.unread_event_counts.not_known"), 2);
	assert_null(report_at(root, "capabilities.unread_event_counts.sched_waking"));
	assert_null(report_at(root, "capabilities.unread_event_counts.none"));
	expect_eq(num_at(root, "capabilities.time_range.0"), 1000);
	expect_eq(num_at(root, "capabilities.time_range.1"), 11000);
	expect_eq(num_at(root, "applicable_analyzers"), len_at(root, "applicable_analyses"));
	expect_eq(num_at(root, "num_threads"), 3);
	expect_eq(num_at(root, "num_processes"), 3);
}

static void damage_is_reported_once(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	p->facts.damage = damage;
	p->facts.nr_damage = 2;
	root = run_pass(p, &pass_summary);
	expect_eq(len_at(root, "damage"), 2);
	expect_eq(num_at(root, "damage.0.count"), 3);
	expect_eq(num_at(root, "damage.0.of"), 40);
	assert_true(is_null_at(root, "damage.1.of"));
}

static void losses_that_were_not_counted_are_unknown(void **state)
{
	struct pass_fixture *p = *state;

	two_cpus(p);
	expect_eq(num_at(run_pass(p, &pass_summary), "lost_events"), 0);
	p->facts.kinds[EV_LOST] = 1;
	assert_true(is_null_at(run_pass(p, &pass_summary), "lost_events"));
	p->facts.lost = 5;
	expect_eq(num_at(run_pass(p, &pass_summary), "lost_events"), 5);
}

/* With the tool at hand where that can record it, with ours where it cannot. */
static void what_the_file_lacks_is_said_with_the_command(void **state)
{
	static const char *const texts[][2] = {
		{ "perf",
		  "wakeups (perf record -a -e 'sched:sched_waking'), migrations (perf record -a -e "
		  "'sched:sched_migrate_task'), interrupts (perf record -a -e 'irq:*'), throttling, "
		  "steal (schedscope record)" },
		{ "trace-cmd",
		  "wakeups (trace-cmd record -e sched:sched_waking), migrations (trace-cmd record "
		  "-e sched:sched_migrate_task), interrupts (trace-cmd record -e irq), "
		  "throttling, steal (schedscope record)" },
		{ "perfetto",
		  "wakeups, migrations, interrupts, throttling, steal (schedscope record)" },
	};
	struct pass_fixture *p = *state;

	two_cpus(p);
	p->facts.kinds[EV_SWITCH] = 5;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		p->facts.producer = texts[i][0];
		assert_string_equal(text_at(run_pass(p, &pass_summary), "not_in_file"),
		                    texts[i][1]);
	}
	p->facts.kinds[EV_WAKEUP] = p->facts.kinds[EV_SOFTIRQ_ENTRY] = 1;
	p->facts.kinds[EV_MIGRATE] = p->facts.kinds[EV_STEAL] = 1;
	assert_string_equal(text_at(run_pass(p, &pass_summary), "not_in_file"),
	                    "throttling (schedscope record)");
	p->facts.producer = "schedscope";
	assert_true(is_null_at(run_pass(p, &pass_summary), "not_in_file"));
}

static void nothing_at_all_is_summarised_too(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	finish(p, 0);
	root = run_pass(p, &pass_summary);
	expect_eq(len_at(root, "cpus"), 0);
	assert_true(is_null_at(root, "bottlenecks"));
	assert_true(len_at(root, "inapplicable_analyses") > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(busy_idle_and_unknown_make_the_whole),
		TEST(a_wait_that_is_not_over_is_one_of_the_longest),
		TEST(time_and_tasks_can_be_cut),
		TEST(the_worst_waits_come_first),
		TEST(capabilities_name_what_is_there),
		TEST(damage_is_reported_once),
		TEST(losses_that_were_not_counted_are_unknown),
		TEST(what_the_file_lacks_is_said_with_the_command),
		TEST(nothing_at_all_is_summarised_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
