/* What one thread waited and slept for: worked out on paper, and as the analyses of all threads have it. */
#include "../analyze/pass_fixture.h"

#include <stdio.h>
#include <string.h>

#include "abi/call.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"

#define US 1000ULL

/*
 * CPU 0: "web" 20 waits from 1100 us on, behind "hog" 10 until 1150 and "hog" 11 until 1160, with a softirq of 4 us. It runs
 * until 1200, is preempted by "db" 12, and waits for it until 1230.
 */
static void two_waits(struct pass_fixture *p)
{
	forked(&p->f, 900 * US, 1, 10, "hog");
	forked(&p->f, 900 * US, 1, 11, "hog");
	forked(&p->f, 900 * US, 1, 12, "db");
	forked(&p->f, 900 * US, 1, 20, "web");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 1, 20, 0);
	softirq(&p->f, 1110 * US, 0, 1, false);
	softirq(&p->f, 1114 * US, 0, 1, true);
	sw(&p->f, 1150 * US, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 1160 * US, 0, 11, 20, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 20, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1230 * US, 0, 12, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
}

static uint64_t sum_of_parts(const struct report_node *root)
{
	uint64_t sum = 0;

	for (const struct report_node *at = report_at(root, "parts")->first; at; at = at->next)
		sum += num_at(at, "ns");
	return sum;
}

/* The parts of one kind. */
static uint64_t sum_of(const struct report_node *root, const char *kind)
{
	uint64_t sum = 0;

	for (const struct report_node *at = report_at(root, "parts")->first; at; at = at->next)
		sum += strcmp(text_at(at, "kind"), kind) == 0 ? num_at(at, "ns") : 0;
	return sum;
}

static void expect_part(const struct report_node *root, uint32_t i, const char *name, uint64_t ns)
{
	char path[32];

	snprintf(path, sizeof(path), "parts.%u", i);
	assert_string_equal(text_at(report_at(root, path), "name"), name);
	expect_eq(num_at(report_at(root, path), "ns"), ns);
}

static void parts_have_names_and_add_up(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_waits(p);
	root = run_pass(p, &pass_thread);
	expect_eq(num_at(root, "waits"), 2);
	expect_eq(num_at(root, "wait_ns"), 90 * US);
	expect_eq(len_at(root, "parts"), 3);
	expect_part(root, 0, "hog", 56 * US); /* both of that name */
	expect_part(root, 1, "db", 30 * US);
	expect_part(root, 2, "the timer softirq", 4 * US);
	expect_eq(sum_of_parts(root), 90 * US);
}

static void only_the_time_that_was_asked_for_counts(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_waits(p);
	p->args.from_ns = 1155 * US;
	p->args.to_ns = 1220 * US;
	root = run_pass(p, &pass_thread);
	expect_eq(num_at(root, "waits"), 2);
	expect_part(root, 0, "db", 20 * US);
	expect_part(root, 1, "hog", 5 * US);
	expect_eq(num_at(root, "wait_ns"), 25 * US);
	/* The longest is the one of which most lies in that time, and it is told whole. */
	expect_eq(num_at(root, "longest.0.wait_ns"), 30 * US);
}

/* Every 7 us another start and end: as `blame` has it, and the sentences of `explain`. */
static void other_analyses_agree(void **state)
{
	static const struct {
		const char *kind, *key;
	} kinds[] = { { "task", "task_ns" },
		      { "softirq", "softirq_ns" },
		      { "idle", "idle_ns" },
		      { "unknown", "unknown_ns" } };
	struct pass_fixture *p = *state;
	struct report *mine;

	two_waits(p);
	for (uint64_t from = 1000 * US; from < 1290 * US; from += 7 * US) {
		const struct report_node *root, *blame;

		p->args.from_ns = from;
		p->args.to_ns = from + 90 * US;
		root = run_pass(p, &pass_thread);
		mine = p->report;
		p->report = NULL;
		blame = run_pass(p, &pass_blame);
		expect_eq(num_at(root, "wait_ns"), num_at(blame, "wait_ns"));
		expect_eq(sum_of_parts(root), num_at(blame, "wait_ns"));
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			expect_eq(sum_of(root, kinds[i].kind), num_at(blame, kinds[i].key));
		report_free(mine);
	}
	p->args.from_ns = p->args.to_ns = 0;
	run_pass(p, &pass_thread);
	mine = p->report;
	p->report = NULL;
	p->args.limit = 1;
	assert_string_equal(text_at(report_root(mine), "longest.0.sentences.0"),
	                    text_at(run_pass(p, &pass_explain), "waits.0.sentences.0"));
	report_free(mine);
}

/* 40 tasks of other names run for 1 us each while it waits, and one for 960. */
static void small_parts_are_one(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	char name[16];

	forked(&p->f, 900 * US, 1, 20, "web");
	forked(&p->f, 900 * US, 1, 10, "hog");
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "small-%u", i);
		forked(&p->f, 900 * US, 1, 100 + i, name);
	}
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 1040 * US, 1, 20, 0);
	for (uint32_t i = 0; i < 40; i++)
		sw(&p->f, (2000 + i) * US, 0, i ? 99 + i : 10, 100 + i, EV_STATE_S);
	sw(&p->f, 2040 * US, 0, 139, 20, EV_STATE_S);
	finish(p, 2100 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_thread);
	expect_eq(len_at(root, "parts"), 2);
	expect_part(root, 0, "hog", 960 * US);
	expect_part(root, 1, "others (40)", 40 * US);
	expect_eq(num_at(root, "wait_ns"), 1000 * US);
}

/* 10,000 times it waits 2 us behind one of two tasks: more pieces than are kept one by one. */
static void many_pieces_add_up(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t at = 1000 * US;

	forked(&p->f, 900 * US, 1, 10, "hog");
	forked(&p->f, 900 * US, 1, 11, "db");
	forked(&p->f, 900 * US, 1, 20, "web");
	waking(&p->f, 950 * US, 1, 12, 0);
	sw(&p->f, at, 0, 0, 20, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < 10000; i++, at += 5 * US) {
		uint32_t other = i % 4 ? 10 : 11;

		sw(&p->f, at + 3 * US, 0, 20, other, EV_STATE_RUNNABLE);
		sw(&p->f, at + 5 * US, 0, other, 20, EV_STATE_S);
	}
	finish(p, at + 100 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_thread);
	expect_eq(num_at(root, "waits"), 10000);
	expect_eq(len_at(root, "parts"), 2);
	expect_part(root, 0, "hog", 15000 * US);
	expect_part(root, 1, "db", 5000 * US);
}

/* 20 is throttled from 1000 to 1300 us behind 10, then waits for it 100 us, of which a tenth is stolen. */
static void a_quota_and_stolen_time_have_parts_of_their_own(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_QUOTA | EV_MEASURES_STEAL);
	waking(&p->f, 800 * US, 0, 12, 0);
	forked(&p->f, 900 * US, 1, 10, "hog");
	forked(&p->f, 900 * US, 1, 20, "web");
	sw(&p->f, 900 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 0, 20, 10, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * US + 1, 0, 20, 77);
	refill(&p->f, 1300 * US, 77, EVERY_CPU);
	sw(&p->f, 1400 * US, 0, 10, 20, EV_STATE_S);
	steal(&p->f, 1400 * US + 1, 0, 40 * US);
	finish(p, 1500 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_thread);
	expect_part(root, 0, "throttled", 300 * US);
	expect_part(root, 1, "hog", 90 * US);
	expect_part(root, 2, "stolen by the hypervisor", 10 * US);
}

static void a_wait_that_lasts_is_open(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 10, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 1, 20, 0);
	finish(p, 1300 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_thread);
	expect_eq(num_at(root, "longest.0.wait_ns"), 200 * US);
	assert_true(report_at(root, "longest.0.is_open")->b);
}

static void sleeps_are_summed_by_what_they_are_for(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	thread_of(&p->f, 900 * US, 10, "holder");
	thread_of(&p->f, 900 * US, 20, "waiter");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	for (uint64_t at = 1100 * US; at < 1400 * US; at += 100 * US) {
		bool is_last = at == 1300 * US;

		push_sleep(&p->f, at, 0, 20, is_last ? ABI_CALL_clock_nanosleep : ABI_CALL_futex,
		           0x1000, 0);
		sw(&p->f, at, 0, 20, 0, EV_STATE_S);
		waking(&p->f, at + (is_last ? 70 : 50) * US, 3, 20, 10);
		sw(&p->f, at + 80 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	}
	finish(p, 1500 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_thread);
	expect_eq(num_at(root, "sleep_ns"), 170 * US);
	expect_eq(len_at(root, "reasons"), 2);
	assert_string_equal(text_at(root, "reasons.0.for"), "a lock or a condition");
	expect_eq(num_at(root, "reasons.0.sleeps"), 2);
	expect_eq(num_at(root, "reasons.0.sleep_ns"), 100 * US);
	assert_string_equal(text_at(root, "reasons.1.for"), "a timer");
}

static void what_is_not_there_is_said(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_waits(p);
	p->args.tid = 4711;
	root = run_pass(p, &pass_thread);
	expect_eq(num_at(root, "wait_ns"), 0);
	expect_eq(len_at(root, "parts"), 0);
	expect_eq(len_at(root, "longest"), 0);
	assert_true(is_null_at(root, "reasons")); /* not recorded */
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(parts_have_names_and_add_up),
		CASE(only_the_time_that_was_asked_for_counts),
		CASE(other_analyses_agree),
		CASE(small_parts_are_one),
		CASE(many_pieces_add_up),
		CASE(a_quota_and_stolen_time_have_parts_of_their_own),
		CASE(a_wait_that_lasts_is_open),
		CASE(sleeps_are_summed_by_what_they_are_for),
		CASE(what_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
