#include "../analyze/pass_fixture.h"

#include <string.h>

#include "abi/call.h"
#include "analyses/passes.h"

#define US 1000ULL

/* From running on a CPU of its own, which is idle then. */
static void sleeps(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid, uint16_t call,
                   uint64_t arg)
{
	push_sleep(&p->f, ts, cpu, tid, call, arg, 0);
	sw(&p->f, ts, cpu, tid, 0, EV_STATE_S);
}

/* It runs a nanosecond later, on a CPU that was idle. */
static void wakes(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid,
                  uint32_t waker_cpu, uint32_t waker)
{
	waking(&p->f, ts, waker_cpu, tid, waker);
	sw(&p->f, ts + 1, cpu, 0, tid, EV_STATE_RUNNABLE);
}

static void timer_wakes(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid)
{
	push(&p->f,
	     &(struct ev_wake){ { sizeof(struct ev_wake), EV_WAKING, EV_FLAG_HARDIRQ, cpu, ts },
	                        .tid = tid,
	                        .by = ABI_BY_TIMER });
	sw(&p->f, ts + US, cpu, 0, tid, EV_STATE_RUNNABLE);
}

/* "web" 20 on CPU 0, "other" 21 on CPU 1, "third" 22 on CPU 2, "backup" 10 on CPU 3. */
static void threads(struct pass_fixture *p)
{
	thread_of(&p->f, 900 * US, 10, "backup");
	thread_of(&p->f, 900 * US, 20, "web");
	thread_of(&p->f, 900 * US, 21, "other");
	thread_of(&p->f, 900 * US, 22, "third");
	thread_of(&p->f, 900 * US, 40, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 21, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 2, 0, 22, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 3, 0, 10, EV_STATE_RUNNABLE);
}

static const struct report_node *explain(struct pass_fixture *p, uint32_t tid)
{
	p->args.tid = tid;
	p->args.category = "sleeps";
	return run_pass(p, &pass_explain);
}

/*
 * 20 sleeps on a futex that 10 releases after 100 us. Of these 10 waited 60 us behind 40, slept 10 us in fsync until the timer, which
 * took 1 us to bring it back, and ran for the rest.
 */
static void convoy(struct pass_fixture *p)
{
	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	sw(&p->f, 1110 * US, 3, 10, 40, EV_STATE_RUNNABLE);
	sw(&p->f, 1170 * US, 3, 40, 10, EV_STATE_S);
	sleeps(p, 1180 * US, 3, 10, ABI_CALL_fsync, 7);
	timer_wakes(p, 1190 * US, 3, 10);
	wakes(p, 1200 * US, 0, 20, 3, 10);
	finish(p, 1300 * US);
}

static void a_sleep_names_the_holder_and_what_it_did(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	convoy(p);
	root = explain(p, 20);
	expect_eq(num_at(root, "sleeps_explained"), 1);
	expect_eq(num_at(root, "sleeps.0.sleep_ns"), 100 * US);
	assert_string_equal(text_at(root, "sleeps.0.call"), "futex(0x1000)");
	assert_string_equal(text_at(root, "sleeps.0.for"), "a lock or a condition");
	expect_eq(num_at(root, "sleeps.0.waker_pid"), 10);
	expect_eq(len_at(root, "sleeps.0.held_by"), 1);
	expect_eq(num_at(root, "sleeps.0.held_by.0.tid"), 10);
	expect_eq(num_at(root, "sleeps.0.held_by.0.ns"), 100 * US);
	expect_eq(num_at(root, "sleeps.0.held_by.0.released_timestamp"), 1200 * US);
	expect_eq(len_at(root, "sleeps.0.sentences"), 3);
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.0"),
		"web (20) slept 100us in futex(0x1000), for a lock or a condition, from 200us after the start.");
	assert_string_equal(text_at(root, "sleeps.0.sentences.1"),
	                    "backup (10) had it all that time, and then released it.");
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.2"),
		"Meanwhile backup (10) waited 61.0us for a CPU (behind hog (40) on CPU 3), ran 29.0us, "
		"slept 10.0us in fsync(7) until the timer interrupt.");
}

static void its_chain_is_a_tree(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	convoy(p);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.chain"), 5);
	assert_string_equal(text_at(root, "sleeps.0.chain.0.text"),
	                    "web (20) slept 100us in futex(0x1000)");
	expect_eq(num_at(root, "sleeps.0.chain.1.depth"), 1);
	assert_string_equal(text_at(root, "sleeps.0.chain.1.kind"), "holder");
	assert_string_equal(text_at(root, "sleeps.0.chain.1.text"), "backup (10) had it for 100us");
	expect_eq(num_at(root, "sleeps.0.chain.2.depth"), 2);
	assert_string_equal(text_at(root, "sleeps.0.chain.2.kind"), "wait");
	assert_string_equal(text_at(root, "sleeps.0.chain.2.text"),
	                    "waited 60.0us behind hog (40) on CPU 3");
	assert_string_equal(text_at(root, "sleeps.0.chain.3.text"), "ran 29.0us");
	expect_eq(num_at(root, "sleeps.0.chain.4.depth"), 2);
	assert_string_equal(text_at(root, "sleeps.0.chain.4.text"),
	                    "backup (10) slept 10.0us in fsync(7) until the timer interrupt");
	assert_null(report_at(root, "sleeps.0.lanes"));
	p->args.is_drawn = true;
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.lanes"), 1);
	expect_eq(len_at(root, "sleeps.0.lanes.0.pieces"), 6);
	assert_string_equal(text_at(root, "sleeps.0.lanes.0.pieces.1.kind"), "waits");
	expect_eq(num_at(root, "sleeps.0.lanes.0.pieces.1.start_timestamp"), 1110 * US);
	expect_eq(num_at(root, "sleeps.0.lanes.0.pieces.1.end_timestamp"), 1170 * US);
}

/* 10, which 20 sleeps for, sleeps on another futex for 80 us, which 21 has meanwhile. */
static void a_chain_goes_through_sleeps(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	sleeps(p, 1110 * US, 3, 10, ABI_CALL_futex, 0x2000);
	wakes(p, 1190 * US, 3, 10, 1, 21);
	wakes(p, 1200 * US, 0, 20, 3, 10);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.chain"), 6);
	assert_string_equal(text_at(root, "sleeps.0.chain.3.text"),
	                    "backup (10) slept 80.0us in futex(0x2000)");
	expect_eq(num_at(root, "sleeps.0.chain.4.depth"), 3);
	assert_string_equal(text_at(root, "sleeps.0.chain.4.text"), "other (21) had it for 80.0us");
	assert_string_equal(text_at(root, "sleeps.0.chain.5.text"), "ran 80.0us");
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.3"),
		"While backup (10) slept in futex(0x2000), other (21) had that for 80.0us: it ran all that time.");
	assert_false(report_at(root, "sleeps.0.is_chain_cut")->b);
}

/* Another process has a futex at the same address, and another call the same number: neither is a release. */
static void a_futex_passes_from_hand_to_hand(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sw(&p->f, 1010 * US, 3, 10, 50, EV_STATE_RUNNABLE); /* of a process of its own */
	sleeps(p, 1050 * US, 3, 50, ABI_CALL_futex, 0x1000);
	sw(&p->f, 1060 * US, 3, 0, 10, EV_STATE_RUNNABLE);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	sleeps(p, 1110 * US, 1, 21, ABI_CALL_futex, 0x1000);
	waking(&p->f, 1120 * US, 2, 50, 22);
	wakes(p, 1140 * US, 1, 21, 3, 10);
	sleeps(p, 1150 * US, 3, 10, ABI_CALL_read, 0x1000);
	wakes(p, 1160 * US, 3, 10, 2, 22);
	wakes(p, 1200 * US, 0, 20, 1, 21);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.held_by"), 2);
	expect_eq(num_at(root, "sleeps.0.held_by.0.tid"), 10);
	expect_eq(num_at(root, "sleeps.0.held_by.0.ns"), 40 * US);
	expect_eq(num_at(root, "sleeps.0.held_by.1.tid"), 21);
	expect_eq(num_at(root, "sleeps.0.held_by.1.ns"), 60 * US);
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.1"),
		"backup (10) had it for 40.0us, then other (21) for 60.0us, and then released it.");
}

/* 10 releases it after 2 us: it is a holder, but what it did in that time is not told. */
static void what_is_short_is_not_followed(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1090 * US, 1, 21, ABI_CALL_futex, 0x1000);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	wakes(p, 1102 * US, 1, 21, 3, 10);
	wakes(p, 1200 * US, 0, 20, 2, 22);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.held_by"), 2);
	expect_eq(num_at(root, "sleeps.0.held_by.0.ns"), 2 * US);
	expect_eq(len_at(root, "sleeps.0.chain"), 3);
	expect_eq(num_at(root, "sleeps.0.chain.1.tid"), 22);
	assert_string_equal(text_at(root, "sleeps.0.chain.2.text"), "ran 98.0us");
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33) % n;
}

/* 20 and 21 sleep on a futex for at most four steps of 10 us; 10 or 22 wakes them. */
static void random_convoy(struct pass_fixture *p, uint64_t seed)
{
	uint64_t asleep[2] = { 0 }, ts = 1100 * US;

	threads(p);
	for (uint32_t step = 0; step < 60; step++, ts += 10 * US)
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t by = random_below(&seed, 2);

			if (asleep[i] > 4 || (asleep[i] && random_below(&seed, 2))) {
				wakes(p, ts + i * US, i, 20 + i, by ? 2 : 3, by ? 22 : 10);
				asleep[i] = 0;
			} else if (asleep[i] || random_below(&seed, 2)) {
				if (!asleep[i]++)
					sleeps(p, ts + i * US, i, 20 + i, ABI_CALL_futex, 0x1000);
			}
		}
	finish(p, ts);
}

/* What each holder of all explained sleeps had adds up to what `locks` charges it with. */
static void holders_are_those_of_locks(void **state)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint64_t had[2] = { 0 }, charged[2] = { 0 };
		struct pass_fixture *p;

		if (seed > 1) {
			pass_teardown(state);
			pass_setup(state);
		}
		p = *state;
		random_convoy(p, seed);
		p->args.limit = 100;
		for (const struct report_node *at = report_at(explain(p, 0), "sleeps")->first; at;
		     at = at->next)
			for (const struct report_node *h = report_at(at, "held_by")->first; h;
			     h = h->next)
				had[num_at(h, "tid") == 22] += num_at(h, "ns");
		p->args.category = NULL;
		for (const struct report_node *h =
		             report_at(run_pass(p, &pass_locks), "locks.0.held_by")->first;
		     h; h = h->next)
			if (!is_null_at(h, "pid"))
				charged[num_at(h, "pid") == 22] += num_at(h, "sleep_ns");
		assert_true(had[0] && had[1]);
		expect_eq(had[0], charged[0]);
		expect_eq(had[1], charged[1]);
	}
}

/* Only the longest are named, and each is in its place. */
static void of_many_holders_the_longest_are_named(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1110;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	for (uint32_t i = 0; i < 6; i++) { /* 10 and 22 release by turns: after 10, 11, ... us */
		sleeps(p, ts * US, 1, 21, ABI_CALL_futex, 0x1000);
		ts += 10 + i;
		wakes(p, ts * US, 1, 21, i % 2 ? 2 : 3, i % 2 ? 22 : 10);
	}
	wakes(p, 1200 * US, 0, 20, 3, 10);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.held_by"), 4);
	expect_eq(num_at(root, "sleeps.0.held_by.0.ns"), 20 * US); /* the first, from 1100 on */
	expect_eq(num_at(root, "sleeps.0.held_by.3.tid"), 10);
	expect_eq(num_at(root, "sleeps.0.held_by.3.released_timestamp"), 1200 * US);
	assert_non_null(strstr(text_at(root, "sleeps.0.sentences.1"),
	                       "; 3 others had it for shorter times."));
}

static void a_timeout_is_no_release(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	timer_wakes(p, 1150 * US, 0, 20);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.held_by"), 0);
	expect_eq(len_at(root, "sleeps.0.chain"), 1);
	expect_eq(len_at(root, "sleeps.0.sentences"), 2);
	assert_string_equal(text_at(root, "sleeps.0.sentences.1"),
	                    "It was ended by the timer interrupt: a timeout, and not a release.");
}

static void what_is_no_lock_has_no_holder_but_a_waker(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_read, 5);
	wakes(p, 1150 * US, 0, 20, 1, 21);
	sleeps(p, 1200 * US, 0, 20, ABI_CALL_clock_nanosleep, 1);
	timer_wakes(p, 1220 * US, 0, 20);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(num_at(root, "sleeps_explained"), 2);
	expect_eq(len_at(root, "sleeps.0.held_by"), 0);
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.0"),
		"web (20) slept 50.0us in read(5), for data from a file, a pipe or a socket, from 200us after the start.");
	assert_string_equal(text_at(root, "sleeps.0.sentences.1"), "It was ended by other (21).");
	assert_string_equal(text_at(root, "sleeps.0.sentences.2"),
	                    "Meanwhile other (21) ran all that time.");
	assert_string_equal(text_at(root, "sleeps.0.chain.1.kind"), "waker");
	assert_string_equal(text_at(root, "sleeps.1.sentences.1"),
	                    "It was ended by the timer interrupt.");
	expect_eq(num_at(root, "total_sleeps"), 2);
	assert_string_equal(
		text_at(root, "in_all"),
		"In all 2 sleeps of thread 20, together 70.0us: 50.0us (71 %) in read, 20.0us (29 %) in clock_nanosleep; "
		"ended 50.0us by other (21), 20.0us by the timer interrupt.");
}

static void a_disk_that_ended_it_is_named(void **state)
{
	struct pass_fixture *p = *state;
	struct ev_block end = { { sizeof(end), EV_BLOCK, 0, 3, 1180 * US },
		                .dev = 254ULL << 20 | 16,
		                .step = EV_BLOCK_COMPLETE,
		                .rwbs = "R" };
	struct ev_wake wake = { { sizeof(wake), EV_WAKING, EV_FLAG_HARDIRQ, 3, 1190 * US },
		                .tid = 20,
		                .by = ABI_BY_IRQ + 7 };
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_fsync, 5);
	irq(&p->f, 1170 * US, 3, 7, false);
	push(&p->f, &end);
	push(&p->f, &wake);
	irq(&p->f, 1195 * US, 3, 7, true);
	sw(&p->f, 1200 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.sentences"), 2);
	assert_non_null(strstr(text_at(root, "sleeps.0.sentences.0"),
	                       "in fsync(5), for data to reach the disk"));
	assert_non_null(
		strstr(text_at(root, "sleeps.0.sentences.1"), "(block I/O on 254:16 was done)."));
}

/* 20 waits for a child, which is started 40 us later. */
static void a_task_that_was_started_meanwhile_did_nothing_before(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_wait4, 5);
	forked(&p->f, 1140 * US, 21, 33, "child");
	sw(&p->f, 1150 * US, 1, 21, 33, EV_STATE_RUNNABLE);
	wakes(p, 1200 * US, 0, 20, 1, 33);
	finish(p, 1300 * US);
	root = explain(p, 20);
	assert_string_equal(text_at(root, "sleeps.0.sentences.1"), "It was ended by child (33).");
	assert_non_null(strstr(text_at(root, "sleeps.0.sentences.2"),
	                       "Meanwhile child (33), which was started then, "));
	expect_eq(num_at(root, "sleeps.0.chain.1.ns"), 60 * US);
	expect_eq(num_at(root, "sleeps.0.chain.1.start_timestamp"), 1140 * US);
}

/* Switches of CPU 3 are lost while 10, which has the futex, waits for that CPU. */
static void what_is_unknown_is_said_to_be(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	sw(&p->f, 1110 * US, 3, 10, 40, EV_STATE_RUNNABLE);
	lost(&p->f, 1120 * US, 3, EV_SWITCH, 3);
	sw(&p->f, 1190 * US, 3, 40, 10, EV_STATE_S);
	wakes(p, 1200 * US, 0, 20, 3, 10);
	finish(p, 1300 * US);
	root = explain(p, 20);
	assert_non_null(strstr(text_at(root, "sleeps.0.sentences.2"), "what was not recorded"));
	assert_string_equal(text_at(root, "sleeps.0.chain.2.kind"), "run");
	assert_string_equal(text_at(root, "sleeps.0.chain.3.kind"), "unknown");
	expect_eq(num_at(root, "sleeps.0.chain.2.ns") + num_at(root, "sleeps.0.chain.3.ns"),
	          100 * US);
}

/* Whether 21 or an interrupt during it woke 20 is not known: what 21 did proves nothing. */
static void an_unproven_waker_is_not_followed(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	push(&p->f, &(struct ev_wake){ { sizeof(struct ev_wake), EV_WAKING, 0, 1, 1150 * US },
	                               .tid = 20,
	                               .waker_tid = 21,
	                               .by = ABI_BY_NOT_RECORDED });
	sw(&p->f, 1151 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	finish(p, 1300 * US);
	root = explain(p, 20);
	expect_eq(len_at(root, "sleeps.0.held_by"), 0);
	expect_eq(len_at(root, "sleeps.0.chain"), 1);
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.1"),
		"It was ended by other (21) or an interrupt during it (interrupts were not recorded).");
}

static void without_calls_the_waker_is_known_and_what_to_record_is_said(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sw(&p->f, 1100 * US, 0, 20, 0, EV_STATE_D);
	wakes(p, 1150 * US, 0, 20, 1, 21);
	finish(p, 1300 * US);
	root = explain(p, 20);
	assert_true(is_null_at(root, "sleeps.0.syscall"));
	assert_string_equal(text_at(root, "sleeps.0.sentences.0"),
	                    "web (20) slept 50.0us uninterruptibly, from 200us after the start.");
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.1"),
		"What it slept for was not recorded: that takes record --events default,sleep.");
	assert_string_equal(text_at(root, "sleeps.0.sentences.2"), "It was ended by other (21).");
}

static void a_sleep_that_has_not_ended_is_explained_so_far(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1050 * US, 1, 21, ABI_CALL_clock_nanosleep, 1);
	timer_wakes(p, 1060 * US, 1, 21);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	finish(p, 1300 * US);
	root = explain(p, 20);
	assert_true(report_at(root, "sleeps.0.is_open")->b);
	assert_string_equal(
		text_at(root, "sleeps.0.sentences.0"),
		"web (20) slept 200us in futex(0x1000), for a lock or a condition, from 200us after the start, and still did at the end.");
	assert_string_equal(text_at(root, "sleeps.0.sentences.1"),
	                    "No task was seen to release it.");
}

static void a_moment_asleep_finds_its_sleep(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	convoy(p);
	p->args.tid = 20;
	p->args.at_ns = 1150 * US;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "sleeps_explained"), 1);
	assert_null(report_at(root, "waits"));
	p->args.category = "waits";
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 0);
	p->args.category = NULL;
	p->args.at_ns = 1250 * US; /* it runs */
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 0);
	p->args.at_ns = 0;
	p->args.tid = 10;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 2);
}

/* The longest of a task is that of a timer. Of all, those that a task has ended come first. */
static void of_all_tasks_those_that_a_task_ended_come_first(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	wakes(p, 1150 * US, 0, 20, 1, 21);
	sleeps(p, 1200 * US, 0, 20, ABI_CALL_clock_nanosleep, 1);
	timer_wakes(p, 1280 * US, 0, 20);
	finish(p, 1300 * US);
	assert_string_equal(text_at(explain(p, 20), "sleeps.0.syscall"), "clock_nanosleep");
	root = explain(p, 0);
	assert_string_equal(text_at(root, "sleeps.0.syscall"), "futex");
	assert_string_equal(text_at(root, "sleeps.1.syscall"), "clock_nanosleep");
}

/* Twelve tasks, each of which sleeps on a futex that the next one has. */
static void a_deep_chain_is_cut(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root, *chain;
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < 12; i++)
		thread_of(&p->f, 900 * US, 60 + i, "link");
	for (uint32_t i = 0; i < 12; i++) {
		sw(&p->f, (1000 + i) * US, i, 0, 60 + i, EV_STATE_RUNNABLE);
		if (i < 11)
			sleeps(p, (1100 + i) * US, i, 60 + i, ABI_CALL_futex, 0x1000 + 8 * i);
	}
	for (uint32_t i = 11; i-- > 0;)
		wakes(p, (1300 - i) * US, i, 60 + i, i + 1, 61 + i);
	finish(p, 1400 * US);
	root = explain(p, 60);
	assert_true(report_at(root, "sleeps.0.is_chain_cut")->b);
	chain = report_at(root, "sleeps.0.chain");
	for (const struct report_node *at = chain->first; at; at = at->next)
		deepest = num_at(at, "depth") > deepest ? (uint32_t)num_at(at, "depth") : deepest;
	expect_eq(deepest, 7);
}

/* Two tasks that wake each other all the time: the chain of one sleep leads no further than to the other. */
static void a_ping_pong_does_not_turn_in_circles(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	for (uint64_t ts = 1100; ts < 2000; ts += 100) {
		sleeps(p, ts * US, 0, 20, ABI_CALL_read, 5);
		wakes(p, (ts + 40) * US, 0, 20, 1, 21);
		sleeps(p, (ts + 50) * US, 1, 21, ABI_CALL_read, 6);
		wakes(p, (ts + 90) * US, 1, 21, 0, 20);
	}
	finish(p, 2100 * US);
	root = explain(p, 20);
	expect_eq(num_at(root, "total_sleeps"), 9);
	expect_eq(len_at(root, "sleeps.0.chain"), 3);
	expect_eq(num_at(root, "sleeps.0.chain.1.tid"), 21);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_sleep_names_the_holder_and_what_it_did),
		CASE(its_chain_is_a_tree),
		CASE(a_chain_goes_through_sleeps),
		CASE(a_futex_passes_from_hand_to_hand),
		CASE(what_is_short_is_not_followed),
		CASE(holders_are_those_of_locks),
		CASE(of_many_holders_the_longest_are_named),
		CASE(a_timeout_is_no_release),
		CASE(what_is_no_lock_has_no_holder_but_a_waker),
		CASE(a_disk_that_ended_it_is_named),
		CASE(a_task_that_was_started_meanwhile_did_nothing_before),
		CASE(what_is_unknown_is_said_to_be),
		CASE(an_unproven_waker_is_not_followed),
		CASE(without_calls_the_waker_is_known_and_what_to_record_is_said),
		CASE(a_sleep_that_has_not_ended_is_explained_so_far),
		CASE(a_moment_asleep_finds_its_sleep),
		CASE(of_all_tasks_those_that_a_task_ended_come_first),
		CASE(a_deep_chain_is_cut),
		CASE(a_ping_pong_does_not_turn_in_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
