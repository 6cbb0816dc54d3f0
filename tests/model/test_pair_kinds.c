/* What recorded traces tell besides switches and wakeups: queues, counters, requests, files, marks. */
#include "pair_fixture.h"

#include <stdlib.h>
#include <string.h>

#define HDR(k, type, at_cpu, ts) \
	.hdr = { .size = sizeof(struct type), .kind = (k), .cpu = (at_cpu), .ts_ns = (ts) }

static const char *name_of(const struct fixture *f, uint32_t id)
{
	return tasks_string(f->tasks, id);
}

static void string(struct fixture *f, uint32_t id, const char *text)
{
	struct {
		struct ev_string head;
		char text[64];
	} ev = { .head = { HDR(EV_STRING, ev_string, 0, 1), .id = id } };

	ev.head.hdr.size = sizeof(ev);
	memcpy(ev.text, text, strlen(text));
	push(f, &ev.head);
}

static void block(struct fixture *f, uint64_t ts, uint8_t step, uint64_t dev, uint64_t sector,
                  const char *rwbs)
{
	struct ev_block ev = { HDR(EV_BLOCK, ev_block, 2, ts),
		               .dev = dev,
		               .sector = sector,
		               .nr_sectors = 8,
		               .tid = 7,
		               .step = step };

	memcpy(ev.rwbs, rwbs, strlen(rwbs));
	push(f, &ev);
}

static void memory(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint8_t step)
{
	push(f, &(struct ev_memory){ HDR(EV_MEMORY, ev_memory, cpu, ts), .tid = tid, .step = step,
	                             .order = 3 });
}

static void sync_file(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, bool is_end)
{
	push(f, &(struct ev_fsync){ HDR(EV_FSYNC, ev_fsync, cpu, ts), .dev = 5, .inode = 77,
	                            .tid = tid, .is_end = is_end });
}

static void span(struct fixture *f, uint64_t ts, uint64_t start_ns, uint32_t tid)
{
	push(f, &(struct ev_span){ HDR(EV_SPAN, ev_span, 1, ts), .start_ns = start_ns, .id = 42,
	                           .tid = tid, .category = 3, .name = 4 });
}

static void a_task_leaves_its_queue(void **state)
{
	struct fixture *f = *state;
	struct ev_dsq_leave ev = { HDR(EV_DSQ_LEAVE, ev_dsq_leave, 3, 500),
		                   .start_ns = 200,
		                   .dsq_id = 0xc000000000000003,
		                   .vtime = 11,
		                   .tid = 7,
		                   .layer = 2,
		                   .flags = EV_SCX_HAS_VTIME,
		                   .how = EV_DSQ_MOVE_VTIME,
		                   .is_moved = 1 };

	push(f, &ev);
	expect_eq(f->nr_dsqs, 1);
	expect_eq(f->dsqs[0].start_ns, 200);
	expect_eq(f->dsqs[0].end_ns, 500);
	expect_eq(f->dsqs[0].has_start, 1);
	expect_eq(f->dsqs[0].dsq_id, 0xc000000000000003);
	expect_eq(f->dsqs[0].vtime, 11);
	expect_eq(f->dsqs[0].task, task_of(f, 7));
	expect_eq(f->dsqs[0].layer, 2);
	expect_eq(f->dsqs[0].cpu, 3);
	expect_eq(f->dsqs[0].how, EV_DSQ_MOVE_VTIME);
	expect_eq(f->dsqs[0].flags, EV_SCX_HAS_VTIME);
	expect_eq(f->dsqs[0].is_moved, 1);
}

static void a_queue_of_unknown_time_has_no_start(void **state)
{
	struct fixture *f = *state;
	struct ev_dsq_leave ev = { HDR(EV_DSQ_LEAVE, ev_dsq_leave, 3, 500), .dsq_id = 9 };

	push(f, &ev);
	ev.start_ns = 501; /* later than its end: it cannot be */
	push(f, &ev);
	ev.dsq_id = EV_DSQ_INVALID;
	push(f, &ev);
	done(f, 600);
	expect_eq(f->nr_dsqs, 2);
	for (int i = 0; i < 2; i++) {
		expect_eq(f->dsqs[i].has_start, 0);
		expect_eq(f->dsqs[i].start_ns, 500);
		expect_eq(f->dsqs[i].end_ns, 500);
		expect_eq(f->dsqs[i].task, TASKS_NONE);
	}
	expect_eq(f->breaks.unmatched_spans, 1);
}

static void depths_are_counters_of_their_queue(void **state)
{
	struct fixture *f = *state;
	struct ev_dsq_depth ev = { HDR(EV_DSQ_DEPTH, ev_dsq_depth, 1, 10), .dsq_id = 1ULL << 40,
		                   .depth = 6 };

	push(f, &ev);
	ev.dsq_id = EV_DSQ_INVALID;
	push(f, &ev);
	expect_eq(f->nr_counters, 1);
	expect_eq(f->counters[0].kind, PAIR_DSQ_DEPTH);
	expect_eq(f->counters[0].id, 1ULL << 40);
	expect_eq(f->counters[0].value, 6);
	expect_eq(f->counters[0].cpu, PAIR_NO_CPU);
}

static void what_the_kernel_counts_are_counters_by_name(void **state)
{
	struct fixture *f = *state;

	push(f, &(struct ev_scx_counter){ HDR(EV_SCX_COUNTER, ev_scx_counter, 1, 10), .value = 6,
	                                  .name = "keep_last" });
	expect_eq(f->nr_counters, 1);
	expect_eq(f->counters[0].kind, PAIR_SCX_COUNTER);
	assert_string_equal(tasks_string(f->tasks, (uint32_t)f->counters[0].id), "keep_last");
	expect_eq(f->counters[0].value, 6);
	expect_eq(f->counters[0].cpu, PAIR_NO_CPU);
}

static void what_programs_write_are_counters_of_a_process(void **state)
{
	struct fixture *f = *state;

	push(f, &(struct ev_counter){ HDR(EV_COUNTER, ev_counter, 1, 10), .value = -6, .tid = 9,
	                              .tgid = 8, .name = "queue" });
	expect_eq(f->nr_counters, 1);
	expect_eq(f->counters[0].kind, PAIR_PROGRAM_COUNTER);
	assert_string_equal(tasks_string(f->tasks, (uint32_t)f->counters[0].id), "queue");
	expect_eq((int64_t)f->counters[0].value, -6);
	expect_eq(f->counters[0].tgid, 8);
	expect_eq(f->counters[0].cpu, PAIR_NO_CPU);
}

static void what_sched_ext_says_of_a_slice(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 1, 0, 7, 0);
	push(f, &(struct ev_scx_run){ HDR(EV_SCX_RUN, ev_scx_run, 1, 100), .dsq_id = EV_DSQ_INVALID,
	                              .slice_ns = 20000000, .vtime = 5, .tid = 7,
	                              .layer = EV_NO_LAYER, .flags = EV_SCX_HAS_SLICE });
	expect_eq(f->nr_runs, 1);
	expect_eq(f->runs[0].ts_ns, 100);
	expect_eq(f->runs[0].dsq_id, EV_DSQ_INVALID);
	expect_eq(f->runs[0].slice_ns, 20000000);
	expect_eq(f->runs[0].vtime, 5);
	expect_eq(f->runs[0].task, task_of(f, 7));
	expect_eq(f->runs[0].layer, EV_NO_LAYER);
	expect_eq(f->runs[0].cpu, 1);
	expect_eq(f->runs[0].flags, EV_SCX_HAS_SLICE);
}

static void each_counter_of_a_slice_is_a_row(void **state)
{
	struct fixture *f = *state;
	struct {
		struct ev_pmu head;
		__u64 values[4];
	} ev = { .head = { HDR(EV_PMU, ev_pmu, 1, 100), .tid = 7, .nr = 4 },
		 .values = { 10, 20, UINT64_MAX - 1, EV_PMU_UNKNOWN } }; /* the last makes none */

	ev.head.hdr.size = sizeof(ev);
	push(f, &ev.head);
	expect_eq(f->nr_pmus, 3);
	for (uint16_t i = 0; i < 3; i++) {
		expect_eq(f->pmus[i].ts_ns, 100);
		expect_eq(f->pmus[i].value, ev.values[i]);
		expect_eq(f->pmus[i].task, task_of(f, 7));
		expect_eq(f->pmus[i].cpu, 1);
		expect_eq(f->pmus[i].index, i);
	}
}

static void a_request_waits_and_is_worked_on(void **state)
{
	struct fixture *f = *state;

	block(f, 100, EV_BLOCK_INSERT, 8, 1000, "WS");
	block(f, 130, EV_BLOCK_ISSUE, 8, 1000, "WS");
	block(f, 190, EV_BLOCK_COMPLETE, 8, 1000, "WS");
	done(f, 200);
	expect_eq(f->nr_spans, 3);
	expect_eq(f->spans[0].kind, PAIR_BLOCK_QUEUE);
	expect_eq(f->spans[0].start_ns, 100);
	expect_eq(f->spans[0].end_ns, 130);
	expect_eq(f->spans[1].kind, PAIR_BLOCK_DEVICE);
	expect_eq(f->spans[1].start_ns, 130);
	expect_eq(f->spans[1].end_ns, 190);
	expect_eq(f->spans[2].kind, PAIR_BLOCK_TOTAL);
	expect_eq(f->spans[2].start_ns, 100);
	expect_eq(f->spans[2].end_ns, 190);
	for (int i = 0; i < 3; i++) {
		expect_eq(f->spans[i].id, 8);
		expect_eq(f->spans[i].value, 4096);
		expect_eq(f->spans[i].flags, PAIR_SPAN_WRITE);
		expect_eq(f->spans[i].task, task_of(f, 7));
		assert_string_equal(name_of(f, f->spans[i].name_id), "WS");
	}
	expect_eq(f->breaks.unmatched_spans, 0);
}

/* The sector alone does not say which request it is. */
static void requests_of_two_devices_do_not_mix(void **state)
{
	struct fixture *f = *state;

	block(f, 100, EV_BLOCK_ISSUE, 8, 1000, "R");
	block(f, 110, EV_BLOCK_ISSUE, 9, 1000, "FWS");
	block(f, 120, EV_BLOCK_ISSUE, 8, 1008, "D");
	block(f, 130, EV_BLOCK_COMPLETE, 9, 1000, "FWS");
	block(f, 140, EV_BLOCK_COMPLETE, 8, 1000, "R");
	block(f, 150, EV_BLOCK_COMPLETE, 8, 1008, "D");
	expect_eq(f->nr_spans, 3);
	expect_eq(f->spans[0].id, 9);
	expect_eq(f->spans[0].start_ns, 110);
	expect_eq(f->spans[0].flags, PAIR_SPAN_WRITE);
	expect_eq(f->spans[1].start_ns, 100);
	expect_eq(f->spans[1].flags, PAIR_SPAN_READ);
	expect_eq(f->spans[2].start_ns, 120);
	expect_eq(f->spans[2].flags, 0);
}

static void half_requests_are_counted(void **state)
{
	struct fixture *f = *state;

	block(f, 100, EV_BLOCK_COMPLETE, 8, 1, "R"); /* from before */
	block(f, 110, EV_BLOCK_INSERT, 8, 2, "R");
	block(f, 120, EV_BLOCK_COMPLETE, 8, 2, "R"); /* never issued */
	block(f, 130, EV_BLOCK_ISSUE, 8, 3, "R");
	block(f, 140, EV_BLOCK_ISSUE, 8, 3, "R"); /* again */
	block(f, 150, EV_BLOCK_COMPLETE, 8, 3, "R");
	block(f, 160, EV_BLOCK_ISSUE, 8, 4, "R");
	lost(f, 170, 0, EV_BLOCK, 1);
	block(f, 180, EV_BLOCK_COMPLETE, 8, 4, "R"); /* its task is unknown */
	done(f, 200);
	expect_eq(f->nr_spans, 1);
	expect_eq(f->spans[0].start_ns, 140);
	expect_eq(f->breaks.unmatched_spans, 5);
}

static void requests_under_way_are_bounded(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < PAIR_MAX_REQUESTS + 10; i++)
		block(f, 100, EV_BLOCK_ISSUE, 8, i, "");
	pair_breaks(f->pair, &f->breaks);
	expect_eq(f->breaks.no_room, 10);
	block(f, 110, EV_BLOCK_COMPLETE, 8, 5, "");
	block(f, 120, EV_BLOCK_ISSUE, 8, PAIR_MAX_REQUESTS + 1, "");
	pair_breaks(f->pair, &f->breaks);
	expect_eq(f->breaks.no_room, 10);
	expect_eq(f->nr_spans, 1);
}

/* Reclaim and fsync sleep and come back elsewhere: who did it counts, not where. */
static void reclaim_and_fsync_follow_their_task(void **state)
{
	struct fixture *f = *state;

	memory(f, 100, 0, 7, EV_RECLAIM_BEGIN);
	memory(f, 105, 0, 8, EV_RECLAIM_BEGIN); /* on the same CPU, while the other sleeps */
	sync_file(f, 110, 0, 9, false);
	memory(f, 150, 1, 7, EV_RECLAIM_END);
	memory(f, 160, 0, 8, EV_RECLAIM_END);
	sync_file(f, 200, 3, 9, true);
	done(f, 300);
	expect_eq(f->nr_spans, 3);
	expect_eq(f->spans[0].kind, PAIR_RECLAIM);
	expect_eq(f->spans[0].task, task_of(f, 7));
	expect_eq(f->spans[0].start_ns, 100);
	expect_eq(f->spans[0].end_ns, 150);
	expect_eq(f->spans[0].cpu, 1);
	expect_eq(f->spans[0].value, 3);
	expect_eq(f->spans[1].start_ns, 105);
	expect_eq(f->spans[1].end_ns, 160);
	expect_eq(f->spans[2].kind, PAIR_FSYNC);
	expect_eq(f->spans[2].task, task_of(f, 9));
	expect_eq(f->spans[2].id, 77);
	expect_eq(f->spans[2].value, 5);
	expect_eq(f->spans[2].end_ns - f->spans[2].start_ns, 90);
	expect_eq(f->breaks.unmatched_spans, 0);
}

static void a_new_owner_of_a_tid_does_not_end_what_the_old_one_began(void **state)
{
	struct fixture *f = *state;

	forked(f, 50, 1, 7, "a");
	sync_file(f, 100, 0, 7, false);
	freed(f, 110, 7);
	forked(f, 120, 1, 7, "b");
	sync_file(f, 130, 0, 7, true);
	done(f, 200);
	expect_eq(f->nr_spans, 0);
	expect_eq(f->breaks.unmatched_spans, 2);
}

static void named_spans_have_a_name_and_a_category(void **state)
{
	struct fixture *f = *state;

	string(f, 3, "REQUEST");
	string(f, 4, "GET /");
	span(f, 300, 100, 7);
	string(f, 4, "PUT /"); /* the number means something else from here on */
	span(f, 400, 400, 0);
	span(f, 500, 501, 0);
	done(f, 600);
	expect_eq(f->nr_spans, 2);
	expect_eq(f->spans[0].kind, PAIR_NAMED);
	expect_eq(f->spans[0].start_ns, 100);
	expect_eq(f->spans[0].end_ns, 300);
	expect_eq(f->spans[0].id, 42);
	expect_eq(f->spans[0].task, task_of(f, 7));
	assert_string_equal(name_of(f, f->spans[0].name_id), "GET /");
	assert_string_equal(name_of(f, f->spans[0].category_id), "REQUEST");
	assert_string_equal(name_of(f, f->spans[1].name_id), "PUT /");
	expect_eq(f->spans[1].task, TASKS_NONE);
	expect_eq(f->breaks.unmatched_spans, 1);
}

static void numbers_of_texts_are_bounded(void **state)
{
	struct fixture *f = *state;

	string(f, PAIR_MAX_STRINGS - 1, "last");
	string(f, PAIR_MAX_STRINGS, "beyond");
	string(f, UINT32_MAX, "far beyond");
	pair_breaks(f->pair, &f->breaks);
	expect_eq(f->breaks.no_room, 2);
	assert_string_equal(name_of(f, pair_string(f->pair, PAIR_MAX_STRINGS - 1)), "last");
	expect_eq(pair_string(f->pair, PAIR_MAX_STRINGS), 0);
	expect_eq(pair_string(f->pair, 17), 0);
}

static void sleeping(struct fixture *f, uint64_t ts, uint32_t tid, uint16_t call, uint64_t arg)
{
	push(f, &(struct ev_sleep){ HDR(EV_SLEEP, ev_sleep, 0, ts), .tid = tid, .call = call,
	                            .args = { arg, 0 } });
}

static void a_sleep_has_its_system_call_and_its_end(void **state)
{
	struct fixture *f = *state;

	sw(f, 10, 0, 0, 7, EV_STATE_RUNNABLE);
	sleeping(f, 19, 7, ABI_CALL_futex, 0x1000);
	sw(f, 20, 0, 7, 8, EV_STATE_S);
	waking(f, 50, 0, 7, 8);
	sw(f, 60, 0, 8, 7, EV_STATE_PREEMPTED);
	sw(f, 70, 0, 7, 8, EV_STATE_S); /* its record was lost */
	waking(f, 80, 0, 7, 8);
	sw(f, 90, 0, 8, 7, EV_STATE_PREEMPTED);
	sleeping(f, 99, 7, ABI_CALL_NONE, 0);
	sw(f, 100, 0, 7, 8, EV_STATE_D);
	done(f, 200);
	expect_eq(f->nr_sleeps, 3);
	expect_eq(f->sleeps[0].start_ns, 20);
	expect_eq(f->sleeps[0].end_ns, 50);
	expect_eq(f->sleeps[0].call, ABI_CALL_futex);
	expect_eq(f->sleeps[0].arg, 0x1000);
	expect_eq(f->sleeps[0].waker, task_of(f, 8));
	expect_eq(f->sleeps[1].call, ABI_CALL_UNKNOWN);
	expect_eq(f->sleeps[1].arg, 0);
	expect_eq(f->sleeps[2].call, ABI_CALL_NONE);
	assert_true(f->sleeps[2].is_open);
	expect_eq(f->sleeps[2].waker, TASKS_NONE);
}

/* Task 7 sleeps from ts on, and ends it ten later, woken on CPU 2 by that interrupt. */
static void ended_by(struct fixture *f, uint64_t ts, uint8_t flags, uint16_t by)
{
	struct ev_wake ev = { HDR(EV_WAKING, ev_wake, 2, ts + 10), .tid = 7, .by = by };

	ev.hdr.flags = flags;
	push(f, &ev);
	sw(f, ts + 15, 0, 0, 7, EV_STATE_S);
}

static void goes_to_sleep(struct fixture *f, uint64_t ts)
{
	sw(f, ts, 0, 7, 0, EV_STATE_D);
	block(f, ts + 1, EV_BLOCK_ISSUE, 0xfe00001, ts, "R");
}

static void a_sleep_names_the_disk_whose_request_ended_it(void **state)
{
	struct fixture *f = *state;

	sw(f, 90, 0, 0, 7, EV_STATE_RUNNABLE);
	goes_to_sleep(f, 100); /* by the handler of the disk */
	irq(f, 108, 2, 24, false);
	block(f, 109, EV_BLOCK_COMPLETE, 0xfe00001, 100, "R");
	ended_by(f, 100, EV_FLAG_HARDIRQ, ABI_BY_IRQ + 24);
	irq(f, 116, 2, 24, true);
	goes_to_sleep(f, 200); /* by the softirq of disks */
	softirq(f, 208, 2, 4, false);
	block(f, 209, EV_BLOCK_COMPLETE, 0xfe00001, 200, "R");
	ended_by(f, 200, EV_FLAG_SOFTIRQ, ABI_BY_SOFTIRQ + 4);
	goes_to_sleep(f, 300); /* by the timer, inside of it */
	ended_by(f, 300, EV_FLAG_HARDIRQ, ABI_BY_TIMER);
	softirq(f, 316, 2, 4, true);
	goes_to_sleep(f, 400); /* by the next interrupt */
	irq(f, 404, 2, 24, false);
	block(f, 405, EV_BLOCK_COMPLETE, 0xfe00001, 400, "R");
	irq(f, 406, 2, 24, true);
	irq(f, 407, 2, 24, false);
	ended_by(f, 400, EV_FLAG_HARDIRQ, ABI_BY_IRQ + 24);
	irq(f, 416, 2, 24, true);
	goes_to_sleep(f, 500); /* completed outside of a handler that is known */
	block(f, 505, EV_BLOCK_COMPLETE, 0xfe00001, 500, "R");
	irq(f, 507, 2, 24, false);
	ended_by(f, 500, EV_FLAG_HARDIRQ, ABI_BY_IRQ + 24);
	irq(f, 516, 2, 24, true);
	goes_to_sleep(f, 600); /* a task woke it, whatever the recording says of interrupts */
	irq(f, 607, 2, 24, false);
	block(f, 608, EV_BLOCK_COMPLETE, 0xfe00001, 600, "R");
	ended_by(f, 600, 0, ABI_BY_UNKNOWN);
	done(f, 700);
	expect_eq(f->nr_sleeps, 6);
	expect_eq(f->sleeps[0].dev, 0xfe00001);
	expect_eq(f->sleeps[1].dev, 0xfe00001);
	for (uint32_t i = 2; i < 6; i++)
		expect_eq(f->sleeps[i].dev, 0);
}

static void a_wait_for_a_lock_of_the_kernel_is_a_span(void **state)
{
	struct fixture *f = *state;
	struct ev_lock ev = { HDR(EV_LOCK, ev_lock, 2, 100),
		              .lock = 0xff00,
		              .start_ns = 50,
		              .end_ns = 90,
		              .tid = 7,
		              .type = EV_LOCK_MUTEX };

	sw(f, 10, 0, 0, 7, EV_STATE_RUNNABLE);
	push(f, &ev);
	ev.type = EV_LOCK_SPIN | EV_LOCK_INTERRUPT; /* not the task's own */
	push(f, &ev);
	ev.end_ns = 101; /* not yet */
	push(f, &ev);
	ev.end_ns = 40;
	push(f, &ev);
	done(f, 200);
	expect_eq(f->nr_spans, 2);
	expect_eq(f->spans[0].kind, PAIR_LOCK);
	expect_eq(f->spans[0].start_ns, 50);
	expect_eq(f->spans[0].end_ns, 90);
	expect_eq(f->spans[0].id, 0xff00);
	expect_eq(f->spans[0].value, EV_LOCK_MUTEX);
	expect_eq(f->spans[0].task, task_of(f, 7));
	expect_eq(f->spans[1].task, TASKS_NONE);
	expect_eq(f->breaks.unmatched_spans, 2);
}

static void policy(struct fixture *f, uint64_t ts, uint32_t tid, uint8_t policy)
{
	push(f, &(struct ev_policy){ HDR(EV_POLICY, ev_policy, 0, ts), .tid = tid, .prio = 49,
	                             .policy = policy });
}

static void a_slice_has_the_policy_with_which_it_began(void **state)
{
	struct fixture *f = *state;

	sw(f, 10, 0, 0, 7, EV_STATE_RUNNABLE);
	policy(f, 20, 7, ABI_POLICY_FIFO); /* it changed while it ran */
	policy(f, 20, 8, ABI_POLICY_IDLE);
	sw(f, 20, 0, 7, 8, EV_STATE_S);
	sw(f, 30, 0, 8, 7, EV_STATE_S);
	policy(f, 40, 7, 200); /* no policy at all */
	sw(f, 40, 0, 7, 0, EV_STATE_S);
	sw(f, 50, 0, 0, 7, EV_STATE_S);
	done(f, 60);
	expect_eq(f->nr_slices, 4);
	expect_eq(f->slices[0].policy, ABI_POLICY_UNKNOWN);
	expect_eq(f->slices[1].policy, ABI_POLICY_IDLE);
	expect_eq(f->slices[2].policy, ABI_POLICY_FIFO);
	expect_eq(f->slices[3].policy, ABI_POLICY_UNKNOWN);
}

static void packets_pages_and_suspends_are_marks(void **state)
{
	struct fixture *f = *state;

	push(f, &(struct ev_net){ HDR(EV_NET, ev_net, 1, 10), .bytes = 1500, .is_sent = 1,
	                          .name = "eth0" });
	push(f, &(struct ev_net){ HDR(EV_NET, ev_net, 1, 11), .bytes = 60, .name = "lo" });
	memory(f, 12, 2, 7, EV_PAGE_ALLOC);
	memory(f, 13, 2, 7, EV_PAGE_FREE);
	memory(f, 13, 2, 7, 99); /* no such step */
	push(f, &(struct ev_suspend){ HDR(EV_SUSPEND, ev_suspend, 0, 14), .value = 3, .is_start = 1,
	                              .action = "machine_suspend" });
	push(f, &(struct ev_scx_state){ HDR(EV_SCX_STATE, ev_scx_state, 0, 15),
	                                .state = EV_SCX_EJECTED, .name = "simple" });
	push(f, &(struct ev_blocked){ HDR(EV_BLOCKED, ev_blocked, 0, 16), .caller = 0xffff0000,
	                              .tid = 7, .is_io = 1 });
	expect_eq(f->nr_marks, 7);
	expect_eq(f->marks[0].kind, EV_NET);
	expect_eq(f->marks[0].value, 1500);
	expect_eq(f->marks[0].flags, PAIR_MARK_SENT);
	assert_string_equal(name_of(f, f->marks[0].name_id), "eth0");
	expect_eq(f->marks[1].value, 60);
	expect_eq(f->marks[1].flags, 0);
	expect_eq(f->marks[2].kind, EV_MEMORY);
	expect_eq(f->marks[2].value, 3);
	expect_eq(f->marks[2].flags, 0);
	expect_eq(f->marks[3].flags, PAIR_MARK_FREE);
	expect_eq(f->marks[4].kind, EV_SUSPEND);
	expect_eq(f->marks[4].flags, PAIR_MARK_START);
	assert_string_equal(name_of(f, f->marks[4].name_id), "machine_suspend");
	expect_eq(f->marks[5].value, EV_SCX_EJECTED);
	assert_string_equal(name_of(f, f->marks[5].name_id), "simple");
	expect_eq(f->marks[6].value, 0xffff0000);
	expect_eq(f->marks[6].task, task_of(f, 7));
	expect_eq(f->marks[6].flags, PAIR_MARK_IO);
}

/* Requests and files in any order, against a plain list of what is open. */
struct open {
	bool is_open;
	bool is_issued;
	uint64_t insert_ns, issue_ns;
};

struct sums {
	uint64_t nr[PAIR_SPAN_KINDS];
	uint64_t ns[PAIR_SPAN_KINDS];
};

static void add(struct sums *s, enum pair_span_kind kind, uint64_t ns)
{
	s->nr[kind]++;
	s->ns[kind] += ns;
}

static void sum_span(void *ctx, const struct pair_span *r)
{
	add(ctx, (enum pair_span_kind)r->kind, r->end_ns - r->start_ns);
}

static void step_block(struct fixture *f, struct open *o, uint64_t ts, struct sums *want)
{
	uint32_t i = (uint32_t)rand() % 64;
	uint8_t step = (uint8_t)(rand() % 3);
	struct open *q = &o[i];

	block(f, ts, step, i / 8, i % 8, "R");
	if (step == EV_BLOCK_INSERT) {
		*q = (struct open){ .is_open = true, .insert_ns = ts };
		return;
	}
	if (step == EV_BLOCK_ISSUE) {
		if (q->is_issued)
			q->insert_ns = 0; /* another one, which was not inserted */
		if (q->is_open && !q->is_issued && q->insert_ns)
			add(want, PAIR_BLOCK_QUEUE, ts - q->insert_ns);
		q->is_open = q->is_issued = true;
		q->issue_ns = ts;
		return;
	}
	if (q->is_issued) {
		add(want, PAIR_BLOCK_DEVICE, ts - q->issue_ns);
		if (q->insert_ns)
			add(want, PAIR_BLOCK_TOTAL, ts - q->insert_ns);
	}
	*q = (struct open){ 0 };
}

static void step_fsync(struct fixture *f, struct open *o, uint64_t ts, struct sums *want)
{
	uint32_t i = (uint32_t)rand() % 16;
	bool is_end = rand() % 2;

	sync_file(f, ts, (uint32_t)rand() % 4, 100 + i, is_end);
	if (is_end && o[i].is_open)
		add(want, PAIR_FSYNC, ts - o[i].insert_ns);
	o[i] = (struct open){ .is_open = !is_end, .insert_ns = ts };
}

static void random_requests_pair_as_a_list_of_open_ones_does(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 20; seed++) {
		struct open blocks[64] = { 0 }, files[16] = { 0 };
		struct sums want = { 0 }, got = { 0 };
		struct pair_out out = { .ctx = &got, .span = sum_span };
		struct fixture f = { 0 };

		srand(seed);
		expect_eq(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = 1 }, &f.tasks), 0);
		expect_eq(pair_new(&(struct pair_cfg){ .tasks = f.tasks }, &f.pair), 0);
		expect_eq(pair_add_out(f.pair, &out), 0);
		f.sink = pair_sink(f.pair);
		for (uint64_t ts = 1; ts < 5000; ts++) {
			if (rand() % 2)
				step_block(&f, blocks, ts, &want);
			else
				step_fsync(&f, files, ts, &want);
		}
		assert_memory_equal(&want, &got, sizeof(want));
		assert_true(got.nr[PAIR_BLOCK_TOTAL] > 30 && got.nr[PAIR_FSYNC] > 100);
		pair_free(f.pair);
		tasks_free(f.tasks);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_task_leaves_its_queue),
		T(a_queue_of_unknown_time_has_no_start),
		T(depths_are_counters_of_their_queue),
		T(what_the_kernel_counts_are_counters_by_name),
		T(what_programs_write_are_counters_of_a_process),
		T(what_sched_ext_says_of_a_slice),
		T(each_counter_of_a_slice_is_a_row),
		T(a_request_waits_and_is_worked_on),
		T(requests_of_two_devices_do_not_mix),
		T(half_requests_are_counted),
		T(requests_under_way_are_bounded),
		T(reclaim_and_fsync_follow_their_task),
		T(a_new_owner_of_a_tid_does_not_end_what_the_old_one_began),
		T(named_spans_have_a_name_and_a_category),
		T(numbers_of_texts_are_bounded),
		T(a_sleep_has_its_system_call_and_its_end),
		T(a_slice_has_the_policy_with_which_it_began),
		T(a_wait_for_a_lock_of_the_kernel_is_a_span),
		T(a_sleep_names_the_disk_whose_request_ended_it),
		T(packets_pages_and_suspends_are_marks),
		cmocka_unit_test(random_requests_pair_as_a_list_of_open_ones_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
