#include "../analyze/more_records.h"

#include <string.h>

#include "analyses/passes.h"

/* 10 on CPU 0 wakes 11, which runs on CPU 1 and wakes 12, which runs on CPU 2. */
static void three_in_a_row(struct pass_fixture *p)
{
	wakeup(&p->f, 500, 0, 10, 0); /* without a waker */
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 0, 11, 10);
	sw(&p->f, 2300, 1, 0, 11, EV_STATE_RUNNABLE);
	waking(&p->f, 3000, 1, 12, 11);
	sw(&p->f, 3070, 2, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 4000, 1, 11, 0, EV_STATE_S);
	waking(&p->f, 5000, 0, 11, 10);
	sw(&p->f, 5100, 0, 10, 11, EV_STATE_RUNNABLE); /* preempted */
	sw(&p->f, 6100, 0, 11, 10, EV_STATE_S);
	finish(p, 7000);
}

static void wakeup_relations_have_waker_wakee_and_distance(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	three_in_a_row(p);
	root = run_pass(p, &pass_wakeup_relations);
	expect_eq(num_at(root, "total_wakeups"), 4);
	expect_eq(num_at(root, "total_relationships"), 3);
	expect_eq(num_at(root, "wakeups_by_interrupt_or_idle"), 1);
	assert_true(is_null_at(root, "relationships.0.waker_pid")); /* 500 ns in all */
	expect_eq(num_at(root, "relationships.1.waker_pid"), 10);
	expect_eq(num_at(root, "relationships.1.wakee_pid"), 11);
	expect_eq(num_at(root, "relationships.1.wakeup_count"), 2);
	assert_true(real_at(root, "relationships.1.min_latency_us") == 0.1);
	assert_true(real_at(root, "relationships.1.max_latency_us") == 0.3);
	assert_true(real_at(root, "relationships.1.avg_latency_us") == 0.2);
	expect_eq(num_at(root, "relationships.1.same_cpu_count"), 1);
	expect_eq(num_at(root, "relationships.1.cross_cpu_count"), 1);
	expect_eq(num_at(root, "relationships.1.same_llc_count"), 2);
	expect_eq(num_at(root, "relationships.2.wakee_pid"), 12);
	expect_eq(num_at(root, "relationships.2.cross_llc_count"), 1);
	expect_eq(num_at(root, "relationships.2.same_node_count"), 1);
	expect_eq(num_at(root, "relationships.1.first_seen_ns"), 2000);
	expect_eq(num_at(root, "relationships.1.last_seen_ns"), 5000);
	p->args.tid = 12;
	expect_eq(num_at(run_pass(p, &pass_wakeup_relations), "total_wakeups"), 1);
	p->args.tid = 11; /* as waker and as woken one */
	expect_eq(num_at(run_pass(p, &pass_wakeup_relations), "total_wakeups"), 3);
}

static void delays_add_up_along_wakeups(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	three_in_a_row(p);
	root = run_pass(p, &pass_compound_delay);
	/* 10: 500; 11: 300 + 500; 12: 70 + 800; 11 again: 100 + 500; 10 preempted: 1000 + 500 */
	expect_eq(num_at(root, "total_waits"), 5);
	expect_eq(num_at(root, "longest_chain"), 3);
	expect_eq(num_at(root, "compound_delay.min"), 500);
	expect_eq(num_at(root, "compound_delay.max"), 1500);
	assert_true(real_at(root, "compound_delay.mean") == (500 + 800 + 870 + 600 + 1500) / 5.0);
	expect_eq(num_at(root, "top_chains.0.compound_delay_ns"), 1500);
	assert_string_equal(text_at(root, "top_chains.0.chain.0.cause"), "preempted");
	expect_eq(num_at(root, "top_chains.0.chain_length"), 2);
	expect_eq(num_at(root, "top_chains.1.compound_delay_ns"), 870);
	expect_eq(num_at(root, "top_chains.1.chain_length"), 3);
	expect_eq(num_at(root, "top_chains.1.chain.0.pid"), 12);
	expect_eq(num_at(root, "top_chains.1.chain.0.delay_ns"), 70);
	expect_eq(num_at(root, "top_chains.1.chain.1.pid"), 11);
	expect_eq(num_at(root, "top_chains.1.chain.2.pid"), 10);
	p->args.tid = 12; /* what others waited still counts for it */
	root = run_pass(p, &pass_compound_delay);
	expect_eq(num_at(root, "total_waits"), 1);
	expect_eq(num_at(root, "compound_delay.max"), 870);
}

/* The waker waits again before the woken task comes on: what it had when it woke counts. */
static void the_wakers_delay_is_that_at_the_wakeup(void **state)
{
	struct pass_fixture *p = *state;

	wakeup(&p->f, 900, 0, 10, 0);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE); /* 100 */
	waking(&p->f, 2000, 0, 11, 10);
	sw(&p->f, 2500, 0, 10, 0, EV_STATE_S);
	wakeup(&p->f, 3000, 1, 10, 0);
	sw(&p->f, 8000, 0, 0, 10, EV_STATE_RUNNABLE); /* 5000 */
	sw(&p->f, 9000, 1, 0, 11, EV_STATE_RUNNABLE); /* 7000 + 100 */
	finish(p, 9500);
	p->args.tid = 11;
	expect_eq(num_at(run_pass(p, &pass_compound_delay), "compound_delay.max"), 7100);
}

/* 10 and 11 wake each other 50 times; each waits 100 ns and runs 100 ns. */
static void two_that_wake_each_other_do_not_add_up_for_ever(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1000;

	wakeup(&p->f, ts, 0, 10, 0);
	sw(&p->f, ts + 100, 0, 0, 10, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < 50; i++) {
		uint32_t from = i % 2 ? 11 : 10, to = i % 2 ? 10 : 11;

		ts += 200;
		waking(&p->f, ts, from - 10, to, from);
		sw(&p->f, ts, from - 10, from, 0, EV_STATE_S);
		sw(&p->f, ts + 100, to - 10, 0, to, EV_STATE_RUNNABLE);
	}
	finish(p, ts + 200);
	root = run_pass(p, &pass_compound_delay);
	expect_eq(num_at(root, "total_waits"), 51);
	expect_eq(num_at(root, "longest_chain"), 2);
	expect_eq(num_at(root, "compound_delay.max"), 200);
	expect_eq(num_at(root, "top_chains.0.chain_length"), 2);
	expect_eq(num_at(root, "top_chains.0.chain.0.compound_delay_ns"), 200);
	expect_eq(num_at(root, "top_chains.0.chain.1.compound_delay_ns"), 100);
}

/* 10 waits 100 ns, wakes 11, which waits 700 ns and still does. */
static void a_wait_that_is_not_over_has_a_compound_delay(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 800, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 850, 1, 11, 12, EV_STATE_S);
	wakeup(&p->f, 900, 0, 10, 0);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 0, 11, 10);
	finish(p, 2700);
	root = run_pass(p, &pass_compound_delay);
	expect_eq(num_at(root, "total_waits"), 2);
	expect_eq(num_at(root, "compound_delay.max"), 800);
	assert_true(report_at(root, "top_chains.0.chain.0.is_open")->b);
	assert_false(report_at(root, "top_chains.0.chain.1.is_open")->b);
}

static void an_interrupt_has_waited_for_no_task(void **state)
{
	struct pass_fixture *p = *state;
	struct ev_wake ev = { .hdr = { .size = sizeof(ev),
		                       .kind = EV_WAKING,
		                       .flags = EV_FLAG_HARDIRQ,
		                       .ts_ns = 2000 },
		              .tid = 11,
		              .waker_tid = 10 };

	wakeup(&p->f, 900, 0, 10, 0);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	push(&p->f, &ev);
	sw(&p->f, 2300, 1, 0, 11, EV_STATE_RUNNABLE);
	finish(p, 3000);
	p->args.tid = 11;
	expect_eq(num_at(run_pass(p, &pass_compound_delay), "compound_delay.max"), 300);
}

static void requests_report_what_their_thread_did(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	string(&p->f, 1000, 1, "GET /");
	string(&p->f, 1000, 2, "PUT /");
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	wakeup(&p->f, 4000, 0, 10, 0);
	sw(&p->f, 4500, 0, 0, 10, EV_STATE_RUNNABLE);
	span(&p->f, 5000, 2000, 10, 1, 7); /* ran 1000 + 500, slept 1000, waited 500 */
	span(&p->f, 5500, 5100, 10, 1, 8); /* ran 400, on and on */
	span(&p->f, 6000, 1500, 0, 2, 9);
	sw(&p->f, 7000, 0, 10, 0, EV_STATE_S);
	finish(p, 8000);
	root = run_pass(p, &pass_requests);
	expect_eq(num_at(root, "total_requests"), 3);
	expect_eq(num_at(root, "latency.max"), 4500);
	assert_string_equal(text_at(root, "by_name.0.name"), "PUT /");
	assert_true(is_null_at(root, "by_name.0.running_ns"));
	assert_string_equal(text_at(root, "by_name.1.name"), "GET /");
	expect_eq(num_at(root, "by_name.1.count"), 2);
	expect_eq(num_at(root, "by_name.1.total_duration_ns"), 3400);
	expect_eq(num_at(root, "by_name.1.running_ns"), 1900);
	expect_eq(num_at(root, "by_name.1.waiting_ns"), 500);
	expect_eq(num_at(root, "by_name.1.sleeping_ns"), 1000);
	expect_eq(num_at(root, "by_name.1.unknown_ns"), 0);
	expect_eq(num_at(root, "slowest.0.id"), 9);
	expect_eq(num_at(root, "slowest.1.id"), 7);
	expect_eq(num_at(root, "slowest.1.sleeping_ns"), 1000);
}

static void tasks_come_and_go(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	forked(&p->f, 2000, 10, 20, "child");
	forked(&p->f, 3000, 10, 21, "other");
	exec(&p->f, 4000, 20, 20, "ls");
	exiting(&p->f, 52000, 20);
	forked(&p->f, 60000, 21, 22, "leaf");
	exiting(&p->f, 200003000, 21); /* 200 ms: not short */
	finish(p, 1000001000);         /* one second */
	root = run_pass(p, &pass_lifecycle);
	expect_eq(num_at(root, "forks"), 3);
	expect_eq(num_at(root, "execs"), 1);
	expect_eq(num_at(root, "exits"), 2);
	assert_true(real_at(root, "forks_per_sec") == 3.0);
	expect_eq(num_at(root, "lifetime_ns.min"), 50000);
	expect_eq(num_at(root, "lifetime_ns.max"), 200000000);
	expect_eq(num_at(root, "by_parent.0.pid"), 10);
	expect_eq(num_at(root, "by_parent.0.forks"), 2);
	expect_eq(num_at(root, "short_lived_tasks"), 1);
	expect_eq(num_at(root, "shortest_lived.0.pid"), 20);
	assert_string_equal(text_at(root, "shortest_lived.0.comm"), "ls");
}

static int refused(struct pass_fixture *p, const struct pass *pass, struct diag *d)
{
	struct report *r = NULL;
	int err = pass_run(pass, &p->source, &p->args, d, &r);

	report_free(r);
	return err;
}

static void a_cpu_event_by_event(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct diag d = { 0 };

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1500, 1, 0, 11, EV_STATE_RUNNABLE);
	softirq(&p->f, 2000, 0, 7, false);
	softirq(&p->f, 2100, 0, 7, true);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	finish(p, 4000);
	assert_true(pass_cpu_timeline.is_single);
	assert_int_not_equal(refused(p, &pass_cpu_timeline, &d), 0);
	assert_string_equal(d.hint, "name one with --cpu");
	p->args.cpu = 0;
	root = run_pass(p, &pass_cpu_timeline);
	expect_eq(num_at(root, "total_events"), 4);
	expect_eq(num_at(root, "events.0.timestamp"), 1000);
	expect_eq(num_at(root, "events.0.event_type.ContextSwitch.next_pid"), 10);
	assert_string_equal(text_at(root, "events.0.event_type.ContextSwitch.prev_comm"),
	                    "swapper/0");
	expect_eq(num_at(root, "events.1.event_type.Softirq.vec"), 7);
	assert_true(report_at(root, "events.1.event_type.Softirq.entry")->b);
	assert_false(report_at(root, "events.2.event_type.Softirq.entry")->b);
	expect_eq(num_at(root, "events.3.event_type.ContextSwitch.prev_pid"), 10);
	p->args.limit = 1;
	root = run_pass(p, &pass_cpu_timeline);
	expect_eq(num_at(root, "total_events"), 4);
	expect_eq(len_at(root, "events"), 1);
}

static void a_task_event_by_event(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct diag d = { 0 };

	sw(&p->f, 800, 1, 0, 11, EV_STATE_RUNNABLE);
	wakeup_new(&p->f, 900, 1, 10, 9);
	migrate(&p->f, 950, 10, 1, 0);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	forked(&p->f, 1500, 10, 20, "child");
	sw(&p->f, 2000, 0, 10, 0, EV_STATE_S);
	waking(&p->f, 2500, 1, 10, 11);
	sw(&p->f, 3000, 0, 0, 10, EV_STATE_RUNNABLE);
	exiting(&p->f, 3500, 10);
	finish(p, 4000);
	assert_int_not_equal(refused(p, &pass_process_timeline, &d), 0);
	p->args.tid = 10;
	root = run_pass(p, &pass_process_timeline);
	expect_eq(num_at(root, "total_events"), 8);
	expect_eq(num_at(root, "events.0.Woken.timestamp"), 900);
	expect_eq(num_at(root, "events.1.Migrated.from_cpu"), 1); /* not always 0 */
	expect_eq(num_at(root, "events.1.Migrated.to_cpu"), 0);
	expect_eq(num_at(root, "events.2.Scheduled.cpu"), 0);
	expect_eq(num_at(root, "events.3.Forked.child_pid"), 20);
	expect_eq(num_at(root, "events.4.Preempted.state"), EV_STATE_S);
	assert_true(report_at(root, "events.4.Preempted.is_voluntary")->b);
	expect_eq(num_at(root, "events.5.Woken.by_pid"), 11);
	expect_eq(num_at(root, "events.6.Scheduled.timestamp"), 3000);
	expect_eq(num_at(root, "events.7.Exited.timestamp"), 3500);
}

static void w35_discovery_reports_what_applies_and_what_is_missing(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root, *list;
	uint64_t nr = 0, applies = 0;

	freq(&p->f, 1000, 0, 0, 1000000);
	finish(p, 2000);
	root = run_pass(p, &pass_discover);
	list = report_at(root, "analyzers");
	for (const struct report_node *at = list->first; at; at = at->next, nr++) {
		const char *id = report_at(at, "id")->text;
		bool does = report_at(at, "applies")->b;

		applies += does;
		assert_true(does == pass_applies(pass_find(id), &p->source));
		assert_true(does == is_null_at(at, "missing"));
		if (!strcmp(id, "cpu_frequency")) {
			assert_true(does);
			assert_string_equal(text_at(at, "required_events.0"), "cpu_frequency");
			assert_string_equal(text_at(at, "category"), "Power");
		}
	}
	expect_eq(nr, nr_passes);
	expect_eq(num_at(root, "applicable_analyzers"), applies);
	p->args.category = "power";
	expect_eq(num_at(run_pass(p, &pass_discover), "total_analyzers"), 3);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		T(wakeup_relations_have_waker_wakee_and_distance),
		T(delays_add_up_along_wakeups),
		T(the_wakers_delay_is_that_at_the_wakeup),
		T(two_that_wake_each_other_do_not_add_up_for_ever),
		T(a_wait_that_is_not_over_has_a_compound_delay),
		T(an_interrupt_has_waited_for_no_task),
		T(requests_report_what_their_thread_did),
		T(tasks_come_and_go),
		T(a_cpu_event_by_event),
		T(a_task_event_by_event),
		T(w35_discovery_reports_what_applies_and_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
