/* Idle CPUs that core scheduling keeps from taking a task: that is said, with the task that had the core. */
#include "../analyze/pass_fixture.h"

#include <string.h>

#include "analyses/passes.h"

#define MS 1000000ULL

static void has_cookie(struct pass_fixture *p, uint64_t ts, uint32_t tid, uint32_t cookie)
{
	struct ev_policy rec = { { sizeof(rec), EV_POLICY, 0, 0, ts },
		                 .tid = tid,
		                 .prio = 120,
		                 .policy = 1,
		                 .cookie = cookie };

	push(&p->f, &rec);
}

/*
 * CPUs 0 and 1 are of one core. "web" 20 is woken for CPU 0, which is idle, at 1010 ms, and runs at 1052 ms; "other" 30 has CPU 1
 * until 1050 ms. It waits once more, for 5 ms behind "first".
 */
struct cookies {
	uint32_t web, other;
	uint32_t late; /* that web has from its switch-in on; 0 = the same */
};

static const struct report_node *wait_with(struct pass_fixture *p, const struct cookies *c)
{
	p->places[0].core = p->places[1].core = 0;
	p->places[2].core = 1;
	p->places[3].core = -1;
	forked(&p->f, 900 * MS, 1, 19, "first");
	forked(&p->f, 900 * MS, 1, 20, "web");
	forked(&p->f, 900 * MS, 1, 30, "other");
	has_cookie(p, 901 * MS, 20, c->web);
	has_cookie(p, 901 * MS, 30, c->other);
	sw(&p->f, 990 * MS, 0, 0, 20, 0);
	sw(&p->f, 1000 * MS, 0, 20, 0, EV_STATE_S);
	sw(&p->f, 1000 * MS, 1, 0, 30, 0);
	waking(&p->f, 1010 * MS, 0, 20, 0);
	wakeup(&p->f, 1010 * MS, 0, 20, 0);
	sw(&p->f, 1050 * MS, 1, 30, 0, EV_STATE_S);
	if (c->late)
		has_cookie(p, 1052 * MS, 20, c->late);
	sw(&p->f, 1052 * MS, 0, 0, 20, 0);
	sw(&p->f, 1060 * MS, 0, 20, 19, EV_STATE_RUNNABLE);
	sw(&p->f, 1065 * MS, 0, 19, 20, EV_STATE_S);
	finish(p, 1100 * MS);
	p->args.tid = 20;
	return run_pass(p, &pass_explain);
}

static const struct report_node *wait_of_web(struct pass_fixture *p, uint32_t cookie,
                                             uint32_t other_cookie)
{
	return wait_with(p, &(struct cookies){ cookie, other_cookie, 0 });
}

static void another_cookie_on_the_core_keeps_the_cpu_idle(void **state)
{
	const struct report_node *root = wait_of_web(*state, 7, 9);

	expect_eq(num_at(root, "waits.0.wait_ns"), 42 * MS);
	expect_eq(num_at(root, "waits.0.idle_ns"), 42 * MS);
	expect_eq(num_at(root, "waits.0.forced_idle_ns"), 40 * MS);
	expect_eq(len_at(root, "waits.0.parts"), 2);
	expect_eq(num_at(root, "waits.0.parts.0.ns"), 40 * MS);
	assert_string_equal(text_at(root, "waits.0.parts.0.forced_by"), "other");
	expect_eq(num_at(root, "waits.0.parts.0.forced_by_tid"), 30);
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "It waited 40.0ms of it (95 %) while core scheduling kept CPU 0 idle "
	                    "because of other (30) on its core.");
	assert_string_equal(text_at(root, "waits.0.parts.1.text"), "while CPU 0 was idle");
}

static void a_task_without_a_cookie_does_not_share_either(void **state)
{
	expect_eq(num_at(wait_of_web(*state, 0, 9), "waits.0.forced_idle_ns"), 40 * MS);
}

static void expect_plain(const struct report_node *root)
{
	expect_eq(num_at(root, "waits.0.idle_ns"), 42 * MS);
	assert_null(report_at(root, "waits.0.forced_idle_ns"));
	expect_eq(len_at(root, "waits.0.parts"), 1);
	assert_string_equal(text_at(root, "waits.0.parts.0.text"), "while CPU 0 was idle");
}

static void the_same_cookie_keeps_nothing_idle(void **state)
{
	expect_plain(wait_of_web(*state, 7, 7));
}

static void without_cookies_idle_is_idle(void **state)
{
	expect_plain(wait_of_web(*state, 0, 0));
}

static void another_core_keeps_nothing_idle(void **state)
{
	struct pass_fixture *p = *state;

	wait_of_web(p, 7, 9);
	p->places[1].core = 1;
	expect_plain(run_pass(p, &pass_explain));
	p->places[0].core = p->places[1].core = -1;
	expect_plain(run_pass(p, &pass_explain));
}

/* The other one had a cookie before, and has none any more. */
static void a_cookie_counts_from_its_change_on(void **state)
{
	struct pass_fixture *p = *state;

	has_cookie(p, 800 * MS, 30, 9);
	has_cookie(p, 850 * MS, 30, 0);
	expect_plain(wait_of_web(p, 0, 0));
}

/* It is recorded when the task runs: then it may have had it for all of the wait. */
static void the_cookie_of_the_switch_in_counts(void **state)
{
	expect_plain(wait_with(*state, &(struct cookies){ 7, 9, 9 }));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(another_cookie_on_the_core_keeps_the_cpu_idle),
		CASE(a_task_without_a_cookie_does_not_share_either),
		CASE(the_same_cookie_keeps_nothing_idle),
		CASE(without_cookies_idle_is_idle),
		CASE(another_core_keeps_nothing_idle),
		CASE(a_cookie_counts_from_its_change_on),
		CASE(the_cookie_of_the_switch_in_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
