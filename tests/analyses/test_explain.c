#include "pass_fixture.h"

#include <string.h>

#include "analyze/passes.h"
#include "model/allowed.h"

#define US 1000ULL

/*
 * 20 sleeps. 30 runs on CPU 1 after a wait of 40 us, and 10 us later wakes 20, which waits 100 us for CPU 0: 80 us for
 * 10 (two slices, with a softirq of 5 us inside), 20 us for 11. CPU 2 is idle for the last 60 us of that; CPU 3 never
 * speaks. 20 was moved once meanwhile.
 */
static void one_long_wait(struct pass_fixture *p)
{
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 2, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 31, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	waking(&p->f, 1050 * US, 0, 30, 10);
	sw(&p->f, 1090 * US, 1, 31, 30, EV_STATE_S);
	waking(&p->f, 1100 * US, 1, 20, 30);
	migrate(&p->f, 1101 * US, 20, 1, 0);
	softirq(&p->f, 1110 * US, 0, 1, false);
	softirq(&p->f, 1115 * US, 0, 1, true);
	sw(&p->f, 1130 * US, 0, 10, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1140 * US, 2, 12, 0, EV_STATE_S);
	sw(&p->f, 1150 * US, 0, 11, 10, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 10, 20, EV_STATE_S);
	finish(p, 1300 * US);
}

static const struct report_node *explain_20(struct pass_fixture *p)
{
	one_long_wait(p);
	p->args.tid = 20;
	return run_pass(p, &pass_explain);
}

static void who_ran_meanwhile_adds_up_to_the_wait(void **state)
{
	const struct report_node *root = explain_20(*state);

	expect_eq(num_at(root, "waits_explained"), 1);
	expect_eq(num_at(root, "waits.0.wait_ns"), 100 * US);
	assert_string_equal(text_at(root, "waits.0.from"), "waking");
	expect_eq(len_at(root, "waits.0.ran_meanwhile"), 2);
	expect_eq(num_at(root, "waits.0.ran_meanwhile.0.tid"), 10);
	expect_eq(num_at(root, "waits.0.ran_meanwhile.0.runtime_ns"), 80 * US);
	expect_eq(num_at(root, "waits.0.ran_meanwhile.0.slices"), 2);
	expect_eq(num_at(root, "waits.0.ran_meanwhile.1.tid"), 11);
	expect_eq(num_at(root, "waits.0.ran_meanwhile.1.runtime_ns"), 20 * US);
	expect_eq(num_at(root, "waits.0.busy_ns"), 100 * US);
	expect_eq(num_at(root, "waits.0.idle_ns"), 0);
	expect_eq(num_at(root, "waits.0.unknown_ns"), 0);
	expect_eq(num_at(root, "waits.0.softirq_ns"), 5 * US);
	expect_eq(num_at(root, "waits.0.irq_ns"), 0);
	expect_eq(num_at(root, "waits.0.migrations"), 1);
}

static void idle_cpus_are_named(void **state)
{
	const struct report_node *root = explain_20(*state);

	expect_eq(len_at(root, "waits.0.idle_cpus"), 1);
	expect_eq(num_at(root, "waits.0.idle_cpus.0.cpu"), 2);
	expect_eq(num_at(root, "waits.0.idle_cpus.0.idle_ns"), 60 * US);
	expect_eq(num_at(root, "waits.0.other_cpu_idle_ns"), 60 * US);
}

static void the_chain_leads_back_to_the_first_waker(void **state)
{
	const struct report_node *root = explain_20(*state);

	/* 20 was woken by 30, 30 by 10, and 10 came on without a wait that was seen. */
	expect_eq(len_at(root, "waits.0.chain"), 2);
	expect_eq(num_at(root, "waits.0.chain.1.tid"), 30);
	expect_eq(num_at(root, "waits.0.chain.1.wait_ns"), 40 * US);
	expect_eq(num_at(root, "waits.0.chain.1.run_ns"), 10 * US);
	expect_eq(num_at(root, "waits.0.compound_delay_ns"), 140 * US);
}

static void sentences_say_it(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	forked(&p->f, 900 * US, 1, 10, "hog");
	forked(&p->f, 900 * US, 1, 30, "waker");
	root = explain_20(p);
	assert_string_equal(
		text_at(root, "waits.0.sentences.0"),
		"late (20) was woken by waker (30) 200us after the start and waited 100us for CPU 0.");
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "Meanwhile CPU 0 ran hog (10) for 80.0us of it (80 %), in 2 slices.");
	assert_non_null(strstr(text_at(root, "waits.0.sentences.4"),
	                       "(60 %) another CPU that it may use was idle, CPU 2"));
}

/* mask: CPUs that tid may use. */
static bool has_sentence(struct pass_fixture *p, uint32_t tid, uint64_t mask, const char *text)
{
	struct {
		struct ev_affinity head;
		uint64_t mask;
	} rec = { .head = { .hdr = { .size = sizeof(rec), .kind = EV_AFFINITY, .ts_ns = 1 },
		            .tid = tid,
		            .nr = 1 },
		  .mask = mask };
	const struct report_node *sentences;
	struct allowed *affinity;
	struct ev_sink sink;
	bool is_said = false;

	assert_int_equal(allowed_new(0, &affinity), 0);
	sink = allowed_sink(affinity);
	assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
	p->source.affinity = affinity;
	sentences = report_at(run_pass(p, &pass_explain), "waits.0.sentences");
	assert_non_null(sentences);
	for (const struct report_node *at = sentences->first; at; at = at->next)
		is_said |= strcmp(at->text, text) == 0;
	allowed_free(affinity);
	p->source.affinity = NULL;
	return is_said;
}

static void a_bound_task_is_told_so(void **state)
{
	struct pass_fixture *p = *state;
	uint32_t tid;

	one_long_wait(p);
	tid = (uint32_t)num_at(run_pass(p, &pass_explain), "waits.0.tid");
	assert_true(has_sentence(p, tid, 1, "It is bound to CPU 0 and may run nowhere else."));
	assert_false(
		has_sentence(p, tid, UINT64_MAX, "It is bound to CPU 0 and may run nowhere else."));
	assert_false(
		has_sentence(p, tid + 1000, 1, "It is bound to CPU 0 and may run nowhere else."));
}

static void the_longest_waits_come_first(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_long_wait(p);
	p->args.limit = 2;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 2);
	expect_eq(num_at(root, "waits.0.tid"), 20);
	expect_eq(num_at(root, "waits.1.tid"), 30);
}

static void a_moment_finds_its_wait(void **state)
{
	struct pass_fixture *p = *state;

	one_long_wait(p);
	p->args.at_ns = 1060 * US;
	expect_eq(num_at(run_pass(p, &pass_explain), "waits.0.tid"), 30);
	p->args.at_ns = 1045 * US;
	expect_eq(num_at(run_pass(p, &pass_explain), "waits_explained"), 0);
}

/* Two tasks that wake each other for ever: links go back in time and end. */
static void a_ping_pong_does_not_turn_in_circles(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1001 * US, 1, 11, 0, EV_STATE_S);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = (1010 + 10 * i) * US;
		uint32_t waker = i % 2 ? 11 : 10, wakee = i % 2 ? 10 : 11, cpu = (uint32_t)(i % 2);

		waking(&p->f, t, cpu, wakee, waker);
		sw(&p->f, t + 1 * US, cpu, waker, 0, EV_STATE_S);
		sw(&p->f, t + 2 * US, 1 - cpu, 0, wakee, EV_STATE_RUNNABLE);
	}
	finish(p, 2000 * US);
	p->args.limit = 1;
	p->args.from_ns = 1390 * US;
	root = run_pass(p, &pass_explain);
	expect_eq(len_at(root, "waits.0.chain"), 16);
	expect_eq(num_at(root, "waits.0.compound_delay_ns"), 16 * 2 * US);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(who_ran_meanwhile_adds_up_to_the_wait),
		CASE(idle_cpus_are_named),
		CASE(the_chain_leads_back_to_the_first_waker),
		CASE(sentences_say_it),
		CASE(a_bound_task_is_told_so),
		CASE(the_longest_waits_come_first),
		CASE(a_moment_finds_its_wait),
		CASE(a_ping_pong_does_not_turn_in_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
