#include "pair_fixture.h"

#include <errno.h>
#include <string.h>

static void a_slice_lasts_from_switch_in_to_switch_out(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 250, 0, 7, 0, EV_STATE_S);

	expect_eq(f->nr_slices, 1);
	expect_eq(f->slices[0].start_ns, 100);
	expect_eq(f->slices[0].end_ns, 250);
	expect_eq(f->slices[0].task, task_of(f, 7));
	expect_eq(f->slices[0].cpu, 0);
	expect_eq(f->slices[0].prio, 120);
	expect_eq(f->slices[0].end, PAIR_END_SLEEP);
}

static void a_slice_is_involuntary_if_the_task_was_still_runnable(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 200, 0, 7, 8, EV_STATE_RUNNABLE);
	sw(f, 300, 0, 8, 7, EV_STATE_PREEMPTED);
	sw(f, 400, 0, 7, 0, EV_STATE_D);

	expect_eq(f->slices[0].end, PAIR_END_RUNNABLE);
	expect_eq(f->slices[1].end, PAIR_END_RUNNABLE);
	expect_eq(f->slices[2].end, PAIR_END_SLEEP);
	expect_eq(f->slices[0].state_bits, EV_STATE_RUNNABLE);
	expect_eq(f->slices[1].state_bits, EV_STATE_PREEMPTED);
	expect_eq(f->slices[2].state_bits, EV_STATE_D);
	expect_eq(f->waits[0].cause, PAIR_PREEMPTED);
	expect_eq(f->waits[0].task, task_of(f, 7));
	expect_eq(f->waits[0].waker, task_of(f, 8)); /* the waker */
}

static void a_woken_task_waits_from_wakeup_to_switch_in(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 1, 7, 0, EV_STATE_S);
	waking(f, 300, 0, 7, 5);
	wakeup(f, 310, 1, 7, 1);
	sw(f, 350, 1, 0, 7, 0);

	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].cause, PAIR_WOKEN);
	expect_eq(f->waits[0].waking_ns, 300);
	expect_eq(f->waits[0].wakeup_ns, 310);
	expect_eq(f->waits[0].end_ns, 350);
	expect_eq(f->waits[0].waker_cpu, 0);
	expect_eq(f->waits[0].from_cpu, 1);
	expect_eq(f->waits[0].cpu, 1);
	expect_eq(f->waits[0].is_open, 0);
	expect_eq(pair_wait_start_ns(&f->waits[0]), 310);
}

static void the_waker_is_that_of_the_waking(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 5, 0);
	sw(f, 100, 1, 7, 0, EV_STATE_S);
	waking(f, 300, 0, 7, 5);
	wakeup(f, 310, 1, 7, 1); /* says tid 0 */
	sw(f, 350, 1, 0, 7, 0);

	expect_eq(f->waits[0].waker, task_of(f, 5));
	expect_eq(f->nr_wakeups, 1);
	expect_eq(f->wakeups[0].waker, task_of(f, 5));
	expect_eq(f->wakeups[0].ts_ns, 300);
}

static void wake_by(struct fixture *f, uint64_t ts, uint32_t tid, uint8_t flags, uint16_t by)
{
	push(f, &(struct ev_wake){ .hdr = { sizeof(struct ev_wake), EV_WAKING, flags, 0, ts },
	                           .tid = tid,
	                           .waker_tid = 5,
	                           .by = by });
}

static void expect_by(const struct fixture *f, uint32_t i, uint32_t flags, uint32_t by)
{
	expect_eq(f->wakeups[i].waker, TASKS_NONE);
	expect_eq(f->wakeups[i].flags, flags);
	expect_eq(f->wakeups[i].by, by);
}

/* 5 runs on CPU 0 all the time; whatever comes upon it there wakes others. */
static void an_interrupted_task_is_not_a_waker(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 5, 0);
	wake_by(f, 100, 20, EV_FLAG_HARDIRQ, ABI_BY_TIMER);
	wake_by(f, 110, 21, EV_FLAG_NMI, ABI_BY_UNKNOWN);
	wake_by(f, 120, 22, EV_FLAG_HARDIRQ, ABI_BY_NOT_RECORDED);
	wake_by(f, 130, 23, 0, ABI_BY_UNKNOWN);
	sw(f, 140, 1, 0, 20, 0);
	done(f, 200);
	expect_by(f, 0, EV_FLAG_HARDIRQ, ABI_BY_TIMER);
	expect_by(f, 1, EV_FLAG_NMI, ABI_BY_UNKNOWN);
	expect_by(f, 2, EV_FLAG_HARDIRQ, ABI_BY_UNKNOWN);
	expect_eq(f->wakeups[3].waker, task_of(f, 5));
	expect_eq(f->waits[0].waker, TASKS_NONE);
	expect_eq(f->waits[0].by, ABI_BY_TIMER);
	expect_eq(f->waits[0].flags, EV_FLAG_HARDIRQ);
}

/* Recorders that do not say in which context a waking came may have recorded the interrupts. */
static void records_of_interrupts_give_the_context(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 5, 0);
	softirq(f, 100, 0, 3, false);
	wake_by(f, 101, 20, 0, ABI_BY_NOT_RECORDED);
	wake_by(f, 102, 21, EV_FLAG_SOFTIRQ, ABI_BY_UNKNOWN);
	irq(f, 110, 0, 27, false);
	wake_by(f, 111, 22, 0, ABI_BY_NOT_RECORDED);
	wake_by(f, 112, 23, EV_FLAG_HARDIRQ, ABI_BY_TIMER); /* knows better */
	wake_by(f, 113, 24, EV_FLAG_SOFTIRQ, ABI_BY_UNKNOWN);
	irq(f, 120, 0, 27, true);
	softirq(f, 130, 0, 3, true);
	wake_by(f, 140, 25, EV_FLAG_HARDIRQ, ABI_BY_UNKNOWN);
	wake_by(f, 150, 26, 0, ABI_BY_NOT_RECORDED);
	done(f, 200);
	expect_by(f, 0, EV_FLAG_SOFTIRQ, ABI_BY_SOFTIRQ + 3);
	expect_by(f, 1, EV_FLAG_SOFTIRQ, ABI_BY_SOFTIRQ + 3);
	expect_by(f, 2, EV_FLAG_HARDIRQ, ABI_BY_IRQ + 27);
	expect_by(f, 3, EV_FLAG_HARDIRQ, ABI_BY_TIMER);
	expect_by(f, 4, EV_FLAG_SOFTIRQ, ABI_BY_UNKNOWN);
	expect_by(f, 5, EV_FLAG_HARDIRQ, ABI_BY_UNKNOWN);
	/* None was under way: it is still not known whether all are recorded. */
	expect_eq(f->wakeups[6].waker, task_of(f, 5));
	expect_eq(f->wakeups[6].by, ABI_BY_NOT_RECORDED);
	assert_string_equal(tasks_string(f->tasks, pair_irq_name(f->pair, 27)), "timer");
	expect_eq(pair_irq_name(f->pair, 26), 0);
	expect_eq(pair_irq_name(f->pair, 1U << 20), 0);
}

static void without_a_wakeup_the_wait_starts_at_the_waking(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 300, 0, 7, 5);
	sw(f, 350, 0, 0, 7, 0);

	expect_eq(f->waits[0].waking_ns, 300);
	expect_eq(f->waits[0].wakeup_ns, 0);
	expect_eq(pair_wait_start_ns(&f->waits[0]), 300);
	expect_eq(f->nr_sleeps, 1);
	expect_eq(f->sleeps[0].end_ns, 300);
}

static void without_a_waking_the_waking_time_is_unknown(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	wakeup(f, 310, 0, 7, 0);
	sw(f, 350, 0, 0, 7, 0);

	expect_eq(f->waits[0].waking_ns, 0);
	expect_eq(f->waits[0].wakeup_ns, 310);
	expect_eq(f->nr_wakeups, 1);
}

static void the_first_of_two_wakings_counts(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 300, 0, 7, 5);
	waking(f, 320, 0, 7, 6);
	sw(f, 350, 0, 0, 7, 0);
	done(f, 400);

	expect_eq(f->waits[0].waking_ns, 300);
	expect_eq(f->nr_wakeups, 1);
	expect_eq(f->breaks.double_waking, 1);
}

static void a_waking_on_the_cpu_belongs_to_the_next_sleep(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	waking(f, 90, 1, 7, 5);
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	wakeup(f, 105, 0, 7, 0);
	sw(f, 150, 0, 0, 7, 0);

	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].waking_ns, 100);
	expect_eq(f->waits[0].wakeup_ns, 105);
	expect_eq(f->waits[0].waker_cpu, 1);
	expect_eq(f->nr_wakeups, 1);
	expect_eq(f->wakeups[0].is_running, 1);
}

static void a_wakeup_without_a_switch_out_takes_the_waking_back(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	waking(f, 90, 1, 7, 5);
	wakeup(f, 91, 1, 7, 0);
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 200, 1, 7, 5);
	sw(f, 250, 0, 0, 7, 0);
	done(f, 300);

	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].waking_ns, 200);
	expect_eq(f->nr_wakeups, 2);
	expect_eq(f->sleeps[0].end_ns, 200);
	expect_eq(f->breaks.double_waking, 0);
}

static void a_preempting_switch_out_keeps_the_waking(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	waking(f, 60, 1, 7, 5);
	sw(f, 70, 0, 7, 8, EV_STATE_PREEMPTED);
	sw(f, 80, 0, 8, 7, EV_STATE_S);
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	sw(f, 150, 0, 0, 7, 0);

	expect_eq(f->nr_waits, 2);
	expect_eq(f->waits[0].cause, PAIR_PREEMPTED);
	expect_eq(f->waits[0].waking_ns, 0);
	expect_eq(f->waits[1].cause, PAIR_WOKEN);
	expect_eq(f->waits[1].waking_ns, 100);
}

/* Without wakeups in the stream, a waking on the CPU may have been used up unseen; one after the sleep is right. */
static void a_waking_after_the_sleep_beats_one_before_it(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	waking(f, 60, 1, 7, 5);
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 900, 1, 7, 5);
	sw(f, 950, 0, 0, 7, 0);
	done(f, 1000);

	expect_eq(f->waits[0].waking_ns, 900);
	expect_eq(f->sleeps[0].start_ns, 100);
	expect_eq(f->sleeps[0].end_ns, 900);
	expect_eq(f->breaks.double_waking, 0);
}

static void waking_a_preempted_task_does_not_restart_its_wait(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	sw(f, 70, 0, 7, 8, EV_STATE_PREEMPTED);
	waking(f, 75, 1, 7, 5);
	wakeup(f, 76, 1, 7, 0);
	sw(f, 80, 0, 8, 7, EV_STATE_S);
	sw(f, 90, 0, 7, 0, EV_STATE_S);
	sw(f, 99, 0, 0, 9, 0);
	done(f, 100);

	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].cause, PAIR_PREEMPTED);
	expect_eq(f->waits[0].wakeup_ns, 70);
	expect_eq(f->waits[0].end_ns, 80);
	expect_eq(f->breaks.missed_run, 0);
}

static void a_new_task_waits_from_its_first_wakeup(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 5, 0);
	forked(f, 100, 5, 7, "child");
	wakeup_new(f, 110, 0, 7, 5);
	sw(f, 150, 1, 0, 7, 0);

	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].cause, PAIR_NEW);
	expect_eq(f->waits[0].wakeup_ns, 110);
	expect_eq(f->waits[0].waking_ns, 0);
	expect_eq(f->waits[0].waker, task_of(f, 5));
	expect_eq(f->waits[0].from_cpu, PAIR_NO_CPU);
	expect_eq(f->wakeups[0].is_new, 1);
	expect_eq(f->nr_begun, 2);
}

static void a_preempted_task_waits_from_its_switch_out(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 200, 0, 7, 8, EV_STATE_RUNNABLE);
	migrate(f, 220, 7, 0, 1);
	sw(f, 250, 1, 0, 7, 0);

	expect_eq(f->waits[0].cause, PAIR_PREEMPTED);
	expect_eq(f->waits[0].wakeup_ns, 200);
	expect_eq(f->waits[0].end_ns, 250);
	expect_eq(f->waits[0].waker, task_of(f, 8));
	expect_eq(f->waits[0].from_cpu, 0);
	expect_eq(f->waits[0].cpu, 1);
	expect_eq(f->nr_migrations, 1);
	expect_eq(f->migrations[0].to_cpu, 1);
}

static void a_preemption_needs_a_runnable_task_and_another_one(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 200, 0, 7, 8, EV_STATE_RUNNABLE);
	sw(f, 300, 0, 8, 7, EV_STATE_S);
	sw(f, 400, 0, 7, 0, EV_STATE_RUNNABLE); /* throttled */

	assert_false(f->switches[0].is_preemption);
	assert_true(f->switches[1].is_preemption);
	expect_eq(f->switches[1].prev, task_of(f, 7));
	expect_eq(f->switches[1].next, task_of(f, 8));
	assert_false(f->switches[2].is_preemption);
	assert_false(f->switches[3].is_preemption);
}

static void sleeps_are_distinguished_by_state(void **state)
{
	static const uint32_t states[] = { EV_STATE_S, EV_STATE_D, EV_STATE_IDLE,
		                           EV_STATE_STOPPED };
	static const uint8_t kinds[] = { PAIR_SLEEP_S, PAIR_SLEEP_D, PAIR_SLEEP_OTHER,
		                         PAIR_SLEEP_OTHER };
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 4; i++) {
		sw(f, 100 + i * 100, 0, 0, 7, 0);
		sw(f, 110 + i * 100, 0, 7, 0, states[i]);
		wakeup(f, 150 + i * 100, 0, 7, 0);
	}
	expect_eq(f->nr_sleeps, 4);
	for (uint32_t i = 0; i < 4; i++) {
		expect_eq(f->sleeps[i].state, kinds[i]);
		expect_eq(f->sleeps[i].start_ns, 110 + i * 100);
		expect_eq(f->sleeps[i].end_ns, 150 + i * 100);
	}
}

static void idle_lasts_from_tid_0_to_the_next_task(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 3, 7, 0, EV_STATE_S);
	sw(f, 180, 3, 0, 7, 0);

	expect_eq(f->nr_idles, 1);
	expect_eq(f->idles[0].start_ns, 100);
	expect_eq(f->idles[0].end_ns, 180);
	expect_eq(f->idles[0].cpu, 3);
	expect_eq(tasks_nr(f->tasks), 1);
}

static void a_dead_task_has_no_state_any_more(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	exiting(f, 60, 7);
	sw(f, 70, 0, 7, 0, EV_STATE_DEAD);
	freed(f, 90, 7);
	done(f, 200);

	expect_eq(f->nr_slices, 1);
	expect_eq(f->slices[0].end, PAIR_END_DEAD);
	expect_eq(f->nr_sleeps, 0);
	expect_eq(f->nr_ended, 1);
	for (uint32_t i = 0; i < f->nr_gaps; i++)
		assert_true(f->gaps[i].cpu == 0 || f->gaps[i].end_ns <= 50);
}

static void a_tid_that_comes_back_is_another_task(void **state)
{
	struct fixture *f = *state;
	uint32_t first;

	sw(f, 50, 0, 0, 7, 0);
	first = task_of(f, 7);
	sw(f, 70, 0, 7, 0, EV_STATE_DEAD);
	sw(f, 90, 0, 0, 7, 0); /* its fork was missed */
	sw(f, 95, 0, 7, 0, EV_STATE_S);

	expect_eq(f->nr_slices, 2);
	expect_eq(f->slices[0].task, first);
	assert_true(f->slices[1].task != first);
	expect_eq(f->nr_waits, 0);
}

static void a_thread_that_execs_runs_on_under_its_leaders_tid(void **state)
{
	struct fixture *f = *state;
	uint32_t thread;

	sw(f, 10, 1, 7, 0, EV_STATE_DEAD); /* the leader is gone */
	sw(f, 50, 0, 0, 8, 0);
	thread = task_of(f, 8);
	exec(f, 60, 7, 8, "prog");
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	done(f, 100);

	expect_eq(f->breaks.prev_mismatch, 0);
	expect_eq(f->slices[0].task, thread);
	expect_eq(f->slices[0].end_ns, 100);
	expect_eq(task_of(f, 7), thread);
}

static void what_is_open_at_the_end_is_reported_as_open(void **state)
{
	struct fixture *f = *state;

	sw(f, 10, 0, 5, 6, EV_STATE_S);
	sw(f, 20, 1, 8, 0, EV_STATE_RUNNABLE);
	wakeup(f, 30, 0, 9, 0);
	done(f, 100);

	expect_eq(f->nr_slices, 1);
	expect_eq(f->slices[0].end, PAIR_END_OPEN);
	expect_eq(f->nr_idles, 1);
	expect_eq(f->idles[0].is_open, 1);
	expect_eq(f->nr_sleeps, 1);
	expect_eq(f->sleeps[0].is_open, 1);
	expect_eq(f->nr_waits, 2);
	expect_eq(f->waits[0].is_open & f->waits[1].is_open, 1);
	expect_eq(f->sink.push(f->sink.ctx, (const struct ev_hdr *)&(struct ev_switch){ 0 }),
	          -EINVAL);
}

static void interrupts_inside_softirqs_are_spans_of_their_own(void **state)
{
	struct fixture *f = *state;

	softirq(f, 10, 0, 3, false);
	irq(f, 12, 0, 30, false);
	irq(f, 15, 0, 30, true);
	softirq(f, 20, 0, 3, true);
	done(f, 30);

	expect_eq(f->nr_spans, 2);
	expect_eq(f->spans[0].kind, PAIR_IRQ);
	expect_eq(f->spans[0].start_ns, 12);
	expect_eq(f->spans[0].id, 30);
	assert_string_equal(tasks_string(f->tasks, f->spans[0].name_id), "timer");
	expect_eq(f->spans[1].kind, PAIR_SOFTIRQ);
	expect_eq(f->spans[1].end_ns - f->spans[1].start_ns, 10);
	expect_eq(f->breaks.unmatched_spans, 0);
}

static void work_follows_its_worker_to_another_cpu(void **state)
{
	struct fixture *f = *state;
	struct ev_work ev = { .hdr = { sizeof(ev), EV_WORK_START, 0, 0, 10 },
		              .function = 0xabc,
		              .tid = 7 };

	push(f, &ev);
	ev.hdr = (struct ev_hdr){ sizeof(ev), EV_WORK_END, 0, 1, 60 };
	ev.function = 0;
	push(f, &ev);

	expect_eq(f->nr_spans, 1);
	expect_eq(f->spans[0].kind, PAIR_WORK);
	expect_eq(f->spans[0].id, 0xabc);
	expect_eq(f->spans[0].end_ns - f->spans[0].start_ns, 50);
	expect_eq(f->spans[0].task, task_of(f, 7));
}

static void counters_belong_to_the_cpu_that_they_name(void **state)
{
	struct fixture *f = *state;
	struct ev_cpu_freq ev = { .hdr = { sizeof(ev), EV_CPU_FREQ, 0, 0, 10 },
		                  .khz = 1800000,
		                  .cpu = 3 };

	push(f, &ev);
	expect_eq(f->nr_counters, 1);
	expect_eq(f->counters[0].kind, PAIR_CPU_FREQ_KHZ);
	expect_eq(f->counters[0].cpu, 3);
	expect_eq(f->counters[0].value, 1800000);
}

static void cpus_that_were_only_numbered_past_are_not_reported(void **state)
{
	struct fixture *f = *state;
	struct pair_cpu c;

	sw(f, 100, 5, 0, 7, 0);
	assert_false(pair_cpu_at(f->pair, 4, &c));
	assert_true(pair_cpu_at(f->pair, 5, &c));
	assert_false(pair_cpu_at(f->pair, 6, &c));
	expect_eq(c.mode, PAIR_CPU_BUSY);
	expect_eq(c.task, task_of(f, 7));
}

static void an_empty_stream_has_no_rows(void **state)
{
	struct fixture *f = *state;

	done(f, 100);
	expect_eq(f->nr_gaps + f->nr_slices + f->nr_idles, 0);
	expect_eq(pair_span_ns(f->pair), 0);
}

static void time_passes_without_records(void **state)
{
	struct fixture *f = *state;
	struct pair_cpu c;

	sw(f, 100, 0, 0, 7, 0);
	expect_eq(f->sink.advance(f->sink.ctx, 500), 0);
	assert_true(pair_cpu_at(f->pair, 0, &c));
	expect_eq(c.busy_ns, 400);
}

static void sampling_is_reported(void **state)
{
	struct fixture *f = *state;

	expect_eq(pair_sampling(f->pair), 1);
	push(f, &(struct ev_sampling){ .hdr = { sizeof(struct ev_sampling), EV_SAMPLING, 0, 0, 1 },
	                               .one_in = 128 });
	expect_eq(pair_sampling(f->pair), 128);
}

static void a_bad_configuration_is_refused(void **state)
{
	struct fixture *f = *state;
	struct pair *p;

	expect_eq(pair_new(&(struct pair_cfg){ 0 }, &p), -EINVAL);
	expect_eq(pair_new(&(struct pair_cfg){ f->tasks, PAIR_MAX_CPUS + 1 }, &p), -EINVAL);
	for (int i = 1; i < PAIR_MAX_OUTS; i++)
		expect_eq(pair_add_out(f->pair, &(struct pair_out){ 0 }), 0);
	expect_eq(pair_add_out(f->pair, &(struct pair_out){ 0 }), -E2BIG);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_slice_lasts_from_switch_in_to_switch_out),
		T(a_slice_is_involuntary_if_the_task_was_still_runnable),
		T(a_woken_task_waits_from_wakeup_to_switch_in),
		T(the_waker_is_that_of_the_waking),
		T(an_interrupted_task_is_not_a_waker),
		T(records_of_interrupts_give_the_context),
		T(without_a_wakeup_the_wait_starts_at_the_waking),
		T(without_a_waking_the_waking_time_is_unknown),
		T(the_first_of_two_wakings_counts),
		T(a_waking_on_the_cpu_belongs_to_the_next_sleep),
		T(a_wakeup_without_a_switch_out_takes_the_waking_back),
		T(a_preempting_switch_out_keeps_the_waking),
		T(a_waking_after_the_sleep_beats_one_before_it),
		T(waking_a_preempted_task_does_not_restart_its_wait),
		T(a_new_task_waits_from_its_first_wakeup),
		T(a_preempted_task_waits_from_its_switch_out),
		T(a_preemption_needs_a_runnable_task_and_another_one),
		T(sleeps_are_distinguished_by_state),
		T(idle_lasts_from_tid_0_to_the_next_task),
		T(a_dead_task_has_no_state_any_more),
		T(a_tid_that_comes_back_is_another_task),
		T(a_thread_that_execs_runs_on_under_its_leaders_tid),
		T(what_is_open_at_the_end_is_reported_as_open),
		T(interrupts_inside_softirqs_are_spans_of_their_own),
		T(work_follows_its_worker_to_another_cpu),
		T(counters_belong_to_the_cpu_that_they_name),
		T(cpus_that_were_only_numbered_past_are_not_reported),
		T(an_empty_stream_has_no_rows),
		T(time_passes_without_records),
		T(sampling_is_reported),
		T(a_bad_configuration_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
