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

static void wakes(struct pass_fixture *p, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker)
{
	waking(&p->f, ts, 3, tid, waker);
	sw(&p->f, ts + 1, cpu, 0, tid, EV_STATE_RUNNABLE);
}

/* "holder" 10 runs on CPU 3 and wakes; "waiter" 20 and 21 sleep on CPUs 0 and 1. */
static void threads(struct pass_fixture *p)
{
	thread_of(&p->f, 900 * US, 10, "holder");
	thread_of(&p->f, 900 * US, 20, "waiter");
	thread_of(&p->f, 900 * US, 21, "waiter");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 21, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 3, 0, 10, EV_STATE_RUNNABLE);
}

static void sleeps_have_reasons_and_ends(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	wakes(p, 1150 * US, 0, 20, 10);
	sleeps(p, 1200 * US, 0, 20, ABI_CALL_clock_nanosleep, 1);
	waking(&p->f, 1500 * US, 3, 20, 10);
	sw(&p->f, 1501 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sleeps(p, 1600 * US, 1, 21, ABI_CALL_futex, 0x1000); /* not ended */
	finish(p, 1700 * US);
	root = run_pass(p, &pass_sleeps);
	assert_string_equal(text_at(root, "aggregation_mode"), "per_comm");
	expect_eq(num_at(root, "sleeps"), 3);
	expect_eq(num_at(root, "sleep_ns"), (50 + 300 + 100) * US);
	expect_eq(len_at(root, "reasons"), 2);
	assert_string_equal(text_at(root, "reasons.0.syscall"), "clock_nanosleep");
	assert_string_equal(text_at(root, "reasons.0.for"), "a timer");
	expect_eq(num_at(root, "reasons.0.sleep_ns"), 300 * US);
	assert_string_equal(text_at(root, "reasons.1.for"), "a lock or a condition");
	expect_eq(num_at(root, "reasons.1.sleeps"), 2);
	expect_eq(num_at(root, "reasons.1.max_sleep_ns"), 100 * US);
	expect_eq(len_at(root, "sleepers"), 1);
	expect_eq(len_at(root, "sleepers.0.ended_by"), 1);
	assert_string_equal(text_at(root, "sleepers.0.ended_by.0.waker_comm"), "holder");
	expect_eq(num_at(root, "sleepers.0.ended_by.0.sleeps"), 2);
	p->args.by = PASS_BY_THREAD;
	p->args.from_ns = 1400 * US;
	p->args.to_ns = 1650 * US;
	root = run_pass(p, &pass_sleeps);
	expect_eq(num_at(root, "sleep_ns"), (100 + 50) * US);
	expect_eq(num_at(root, "sleepers.0.pid"), 20);
}

static void sleeps_for_a_disk_are_added_up_by_disk(void **state)
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
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_NONE, 0);
	irq(&p->f, 1170 * US, 3, 7, false);
	push(&p->f, &end);
	push(&p->f, &wake);
	irq(&p->f, 1195 * US, 3, 7, true);
	sw(&p->f, 1200 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sleeps(p, 1300 * US, 1, 21, ABI_CALL_futex, 0x1000);
	wakes(p, 1310 * US, 1, 21, 10);
	finish(p, 1700 * US);
	root = run_pass(p, &pass_sleeps);
	expect_eq(len_at(root, "sleepers.0.block_io"), 1);
	assert_string_equal(text_at(root, "sleepers.0.block_io.0.device"), "254:16");
	assert_string_equal(text_at(root, "sleepers.0.block_io.0.for"), "block I/O on 254:16");
	expect_eq(num_at(root, "sleepers.0.block_io.0.sleeps"), 1);
	expect_eq(num_at(root, "sleepers.0.block_io.0.sleep_ns"), 90 * US);
	p->facts.kinds[EV_BLOCK] = 0; /* not recorded: nothing is said */
	assert_null(report_at(run_pass(p, &pass_sleeps), "sleepers.0.block_io"));
}

static void waits_for(struct pass_fixture *p, uint64_t start_ns, uint64_t end_ns, uint32_t tid,
                      uint8_t type)
{
	push(&p->f, &(struct ev_lock){ { sizeof(struct ev_lock), EV_LOCK, 0, 0, end_ns },
	                               .lock = 0xffff888000001000,
	                               .start_ns = start_ns,
	                               .end_ns = end_ns,
	                               .tid = tid,
	                               .type = type });
}

/* Recorded without the system calls of sleeps: futexes are not known, which is not the same as none. */
static void locks_of_the_kernel_need_no_system_calls(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	waits_for(p, 1100 * US, 1250 * US, 20, EV_LOCK_WRITE);
	finish(p, 1700 * US);
	root = run_pass(p, &pass_locks);
	assert_null(report_at(root, "total_locks"));
	expect_eq(num_at(root, "total_kernel_locks"), 1);
	expect_eq(num_at(root, "kernel_wait_ns"), 150 * US);
}

/* 20 waits from 1100 to 1250, and sleeps twice of it; 10 ends the last sleep. 21 waits from 1150 and is killed. */
static void a_lock_of_the_kernel_has_waiters_and_holders(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1110 * US, 0, 20, ABI_CALL_write, 1);
	wakes(p, 1120 * US, 0, 20, 21);
	sleeps(p, 1130 * US, 0, 20, ABI_CALL_write, 1);
	sleeps(p, 1160 * US, 1, 21, ABI_CALL_write, 1);
	wakes(p, 1240 * US, 0, 20, 10);
	waits_for(p, 1100 * US, 1250 * US, 20, EV_LOCK_WRITE);
	waits_for(p, 1250 * US, 1251 * US, 20, EV_LOCK_SPIN);
	wakes(p, 1300 * US, 1, 21, 20);
	waits_for(p, 1150 * US, 1310 * US, 21, EV_LOCK_READ | EV_LOCK_FAILED);
	waits_for(p, 1310 * US, 1320 * US, 21, EV_LOCK_SPIN | EV_LOCK_INTERRUPT);
	finish(p, 1700 * US);
	root = run_pass(p, &pass_locks);
	expect_eq(num_at(root, "total_locks"), 0);
	expect_eq(num_at(root, "total_kernel_locks"), 1);
	expect_eq(num_at(root, "kernel_wait_ns"), (150 + 1 + 160 + 10) * US);
	assert_string_equal(text_at(root, "kernel_locks.0.lock"), "0xffff888000001000");
	expect_eq(num_at(root, "kernel_locks.0.waits"), 4);
	expect_eq(num_at(root, "kernel_locks.0.max_wait_ns"), 160 * US);
	expect_eq(num_at(root, "kernel_locks.0.waiters"), 2);
	expect_eq(num_at(root, "kernel_locks.0.longest_waiter.pid"), 21);
	/* Until 1250 both waited for 10, from then on 21 for 20. */
	expect_eq(len_at(root, "kernel_locks.0.held_by"), 3);
	expect_eq(num_at(root, "kernel_locks.0.held_by.0.pid"), 10);
	expect_eq(num_at(root, "kernel_locks.0.held_by.0.sleep_ns"), (150 + 100) * US);
	expect_eq(num_at(root, "kernel_locks.0.held_by.1.pid"), 20);
	expect_eq(num_at(root, "kernel_locks.0.held_by.1.sleep_ns"), (60 + 1) * US);
}

static void a_recording_without_calls_is_refused(void **state)
{
	struct pass_fixture *p = *state;
	struct report *r = NULL;
	struct diag d = { 0 };

	threads(p);
	finish(p, 1700 * US);
	assert_int_not_equal(pass_run(&pass_locks, &p->source, &p->args, &d, &r), 0);
	assert_non_null(strstr(d.hint, "--events default,sleep"));
}

/*
 * 20 waits from 1100, 21 from 1110. 10 releases at 1200, which wakes 20; 20 releases at 1230, which wakes 21: what both
 * waited until 1200 is the fault of 10, the remainder of 21's that of 20.
 */
static void a_convoy_is_charged_to_who_held_the_lock(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	sleeps(p, 1110 * US, 1, 21, ABI_CALL_futex, 0x1000);
	wakes(p, 1200 * US, 0, 20, 10);
	waking(&p->f, 1230 * US, 0, 21, 20);
	sw(&p->f, 1231 * US, 1, 0, 21, EV_STATE_RUNNABLE);
	sleeps(p, 1300 * US, 1, 21, ABI_CALL_futex, 0x2000);
	wakes(p, 1305 * US, 1, 21, 10);
	sleeps(p, 1310 * US, 1, 21, ABI_CALL_read, 0x1000); /* no lock */
	finish(p, 1700 * US);
	root = run_pass(p, &pass_locks);
	expect_eq(num_at(root, "total_locks"), 2);
	expect_eq(num_at(root, "sleep_ns"), (100 + 120 + 5) * US);
	assert_string_equal(text_at(root, "locks.0.futex"), "0x1000");
	expect_eq(num_at(root, "locks.0.tgid"), 100);
	expect_eq(num_at(root, "locks.0.sleeps"), 2);
	expect_eq(num_at(root, "locks.0.waiters"), 2);
	expect_eq(num_at(root, "locks.0.longest_waiter.pid"), 21);
	expect_eq(len_at(root, "locks.0.held_by"), 2);
	expect_eq(num_at(root, "locks.0.held_by.0.pid"), 10);
	expect_eq(num_at(root, "locks.0.held_by.0.sleep_ns"), (100 + 90) * US);
	expect_eq(num_at(root, "locks.0.held_by.0.releases"), 1);
	expect_eq(num_at(root, "locks.0.held_by.1.pid"), 20);
	expect_eq(num_at(root, "locks.0.held_by.1.sleep_ns"), 30 * US);
	assert_string_equal(text_at(root, "locks.1.futex"), "0x2000");
}

/* A timeout releases nothing: 10 has the lock until 1300. Then nobody is seen to release it. */
static void timeouts_and_open_waits_release_nothing(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct ev_wake timeout = { { sizeof(timeout), EV_WAKING, EV_FLAG_HARDIRQ, 0, 1150 * US },
		                   .tid = 20,
		                   .by = ABI_BY_TIMER };

	threads(p);
	sleeps(p, 1100 * US, 0, 20, ABI_CALL_futex, 0x1000);
	push(&p->f, &timeout);
	sw(&p->f, 1151 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sleeps(p, 1200 * US, 1, 21, ABI_CALL_futex, 0x1000);
	wakes(p, 1300 * US, 1, 21, 10);
	sleeps(p, 1400 * US, 1, 21, ABI_CALL_futex, 0x1000);
	finish(p, 1410 * US);
	root = run_pass(p, &pass_locks);
	expect_eq(num_at(root, "locks.0.sleep_ns"), (50 + 100 + 10) * US);
	expect_eq(num_at(root, "locks.0.held_ns"), 150 * US);
	expect_eq(num_at(root, "held_ns"), 150 * US);
	expect_eq(num_at(root, "locks.0.timeouts"), 1);
	expect_eq(num_at(root, "locks.0.still_waiting"), 1);
	expect_eq(num_at(root, "locks.0.held_by.0.pid"), 10);
	expect_eq(num_at(root, "locks.0.held_by.0.sleep_ns"), 150 * US);
	assert_true(is_null_at(root, "locks.0.held_by.1.pid"));
	expect_eq(num_at(root, "locks.0.held_by.1.sleep_ns"), 10 * US);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(sleeps_have_reasons_and_ends),
		CASE(sleeps_for_a_disk_are_added_up_by_disk),
		CASE(locks_of_the_kernel_need_no_system_calls),
		CASE(a_lock_of_the_kernel_has_waiters_and_holders),
		CASE(a_recording_without_calls_is_refused),
		CASE(a_convoy_is_charged_to_who_held_the_lock),
		CASE(timeouts_and_open_waits_release_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
