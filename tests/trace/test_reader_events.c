#include "loaded.h"

#include "bundles.h"

static struct loaded l;
static struct enc trace, packet, bundle, sub;

static int setup(void **state)
{
	(void)state;
	trace.len = packet.len = bundle.len = sub.len = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	loaded_done(&l);
	return 0;
}

static uint64_t damage(const char *name)
{
	return counted_damage(l.info, name);
}

/* Names and whole numbers of one event: fields from 1 on, texts where there are some. */
struct value {
	uint32_t field;
	const char *text;
	uint64_t number;
};

static void put(uint64_t ts, uint32_t pid, uint32_t member, const struct value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (values[i].text)
			enc_text(&sub, values[i].field, values[i].text);
		else
			enc_uint(&sub, values[i].field, values[i].number);
	}
	put_event(&bundle, ts, pid, member, &sub);
}

#define PUT(ts, pid, member, ...)                                   \
	put(ts, pid, member, (const struct value[]){ __VA_ARGS__ }, \
	    sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value))
#define N(field, number)            \
	{                           \
		field, NULL, number \
	}
#define S(field, text)         \
	{                      \
		field, text, 0 \
	}

static void tasks_live_and_die(void **state)
{
	const struct ev_fork *fork;
	const struct ev_exec *exec;
	const struct ev_exit *exit;
	const struct ev_rename *rename;

	(void)state;
	PUT(10, 100, 235, N(1, 101), S(2, "thread"), N(3, 0x10000));
	PUT(11, 100, 239, S(1, "main"), N(2, 100), S(3, "thread"), N(4, 101)); /* the same birth */
	PUT(12, 101, 235, N(1, 300), S(2, "thread"), N(3, 0));
	PUT(13, 100, 239, S(1, "main"), N(2, 100), S(3, "main"), N(4, 301)); /* alone */
	PUT(14, 300, 236, N(1, 300), S(2, "thread"), S(3, "child"));
	PUT(15, 300, 237, S(1, "/usr/bin/a-very-long-program"), N(2, 300), N(3, 300));
	PUT(16, 101, 238, S(1, "thread"), N(2, 101), N(4, 120));
	PUT(17, 0, 240, S(1, "thread"), N(2, 101), N(3, 120));
	PUT(18, 1, 241, S(1, "hung"), N(2, 9));
	PUT(19, 1, 242, S(1, "main"), N(2, 100), N(3, 120));
	put_bundle(&trace, 2, 0, &bundle);
	/* Recorded later: the name of 100. */
	enc_uint(&sub, 1, 100);
	enc_text(&sub, 2, "main");
	enc_uint(&sub, 3, 90);
	enc_msg(&packet, 2, &sub);
	enc_msg(&sub, 2, &packet);
	put_packet(&trace, &sub);
	load(&l, &trace);
	expect_eq(l.nr, 9);
	fork = rec_at(&l, 0, EV_FORK);
	expect_eq(fork->parent_tid, 100);
	expect_eq(fork->parent_tgid, 90);
	expect_eq(fork->tid, 101);
	expect_eq(fork->tgid, 90); /* a thread of its parent's process */
	fork = rec_at(&l, 1, EV_FORK);
	expect_eq(fork->tid, 300);
	expect_eq(fork->tgid, 300);
	expect_eq(fork->parent_tgid, 90);
	fork = rec_at(&l, 2, EV_FORK);
	expect_eq(fork->tid, 301);
	expect_eq(fork->tgid, 301);
	rename = rec_at(&l, 3, EV_RENAME);
	expect_eq(rename->tgid, 300);
	assert_string_equal(rename->comm, "child");
	exec = rec_at(&l, 4, EV_EXEC);
	assert_string_equal(exec->comm, "a-very-long-pro");
	expect_eq(exec->old_tid, 300);
	exit = rec_at(&l, 5, EV_EXIT);
	expect_eq(exit->tgid, 90);
	expect_eq(((const struct ev_free *)rec_at(&l, 6, EV_FREE))->tid, 101);
	expect_eq(((const struct ev_task *)rec_at(&l, 7, EV_HANG))->tid, 9);
	expect_eq(((const struct ev_task *)rec_at(&l, 8, EV_WAIT))->prio, 120);
	/* The task that waits, not the one that it waits for. */
	expect_eq(((const struct ev_task *)rec_at(&l, 8, EV_WAIT))->tid, 1);
}

static void interrupts_work_and_power(void **state)
{
	const struct ev_irq_entry *irq;
	const struct ev_ipi_send *ipi;
	const struct ev_cpu_hotplug *hp;
	const struct ev_counter *counter;

	(void)state;
	PUT(10, 5, 36, N(1, 9), S(2, "a-name-longer-than-fits"));
	PUT(11, 5, 37, N(1, 9), N(2, 1));
	PUT(12, 5, 24, N(1, 3));
	PUT(13, 5, 25, N(1, 3));
	PUT(14, 5, 23, N(1, 0x20), S(2, "Rescheduling"));
	PUT(15, 5, 23, N(1, 0x3));
	PUT(16, 5, 21, S(1, "Rescheduling"));
	PUT(17, 5, 22, S(1, "Rescheduling"));
	PUT(18, 5, 58, N(1, 0x1000), N(2, 0x2000));
	PUT(19, 5, 57, N(1, 0x1000), N(2, 0x2000));
	PUT(20, 0, 13, N(1, 4294967295), N(2, 3));
	PUT(21, 0, 11, N(1, 2400000), N(2, 3));
	PUT(22, 0, 345, N(1, 3), N(3, 7), N(4, 9));
	PUT(23, 0, 343, N(1, 3), N(2, 7), N(3, UINT64_MAX), N(4, 9));
	PUT(24, 0, 340, N(1, 1), N(2, 5), N(3, 4096));
	PUT(25, 0, 113, S(1, "suspend_enter"), N(2, 3), N(3, 1));
	PUT(26, 5, 421, N(2, 1024), N(4, 3), N(6, 300), N(11, 2));
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 19);
	irq = rec_at(&l, 0, EV_IRQ_ENTRY);
	assert_string_equal(irq->name, "a-name-longer-t");
	expect_eq(irq->tid, 5);
	expect_eq(((const struct ev_irq_exit *)rec_at(&l, 1, EV_IRQ_EXIT))->ret, 1);
	expect_eq(((const struct ev_softirq *)rec_at(&l, 2, EV_SOFTIRQ_ENTRY))->vector, 3);
	rec_at(&l, 3, EV_SOFTIRQ_EXIT);
	ipi = rec_at(&l, 4, EV_IPI_SEND);
	expect_eq(ipi->target_cpu, 5);
	ipi = rec_at(&l, 5, EV_IPI_SEND);
	expect_eq(ipi->target_cpu, ~0U);
	rec_at(&l, 6, EV_IPI_ENTRY);
	rec_at(&l, 7, EV_IPI_EXIT);
	expect_eq(((const struct ev_work *)rec_at(&l, 8, EV_WORK_START))->function, 0x2000);
	expect_eq(((const struct ev_work *)rec_at(&l, 9, EV_WORK_END))->work, 0x1000);
	expect_eq(((const struct ev_cpu_idle *)rec_at(&l, 10, EV_CPU_IDLE))->state, ~0U);
	expect_eq(((const struct ev_cpu_freq *)rec_at(&l, 11, EV_CPU_FREQ))->khz, 2400000);
	hp = rec_at(&l, 12, EV_CPU_HOTPLUG);
	assert_true(hp->cpu == 3 && hp->step == 7 && hp->target == 9 && !hp->is_exit);
	hp = rec_at(&l, 13, EV_CPU_HOTPLUG);
	assert_true(hp->cpu == 3 && hp->step == 7 && hp->target == 9 && hp->ret == -1 &&
	            hp->is_exit);
	expect_eq(((const struct ev_gpu_mem *)rec_at(&l, 14, EV_GPU_MEM))->bytes, 4096);
	assert_string_equal(((const struct ev_suspend *)rec_at(&l, 15, EV_SUSPEND))->action,
	                    "suspend_enter");
	expect_eq(((const struct ev_counter *)rec_at(&l, 16, EV_COUNTER))->value, 1024);
	counter = rec_at(&l, 17, EV_COUNTER);
	assert_true(counter->value == 300 && strcmp(counter->name, "CPU 3 utilization") == 0);
	expect_eq(((const struct ev_counter *)rec_at(&l, 18, EV_COUNTER))->value, 2);
}

static void block_network_memory_and_files(void **state)
{
	const struct ev_block *block;
	const struct ev_net *net;
	const struct ev_memory *mem;
	const struct ev_fsync *fsync;
	const struct ev_blocked *blocked;

	(void)state;
	PUT(10, 5, 126, N(1, 8), N(2, 1000), N(3, 8), N(4, 4096), S(5, "WS"));
	PUT(11, 5, 45, N(1, 8), N(2, 1000), N(3, 8), N(4, 4096), S(5, "WS"));
	PUT(12, 0, 125, N(1, 8), N(2, 1000), N(3, 8), S(5, "WSFMPRAX"));
	PUT(13, 5, 361, N(1, 1500), S(2, "eth0"));
	PUT(14, 0, 360, N(1, 60), S(2, "eth0"));
	PUT(15, 5, 307, N(1, 1), N(2, 1), N(3, 2), N(4, 9), N(5, 9));
	PUT(16, 5, 310, N(1, 2), N(2, 9), N(3, 9));
	PUT(17, 5, 46, N(1, 3));
	PUT(18, 5, 47, N(1, 100));
	PUT(19, 5, 43, N(1, 8), N(2, 77), N(3, 2), N(4, 1));
	PUT(20, 5, 44, N(1, 8), N(2, 77), N(3, 0));
	PUT(21, 0, 18, N(1, 5), N(2, 0xabcd), N(3, 1));
	put_bundle(&trace, 2, 1, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 12);
	block = rec_at(&l, 0, EV_BLOCK);
	assert_true(block->step == EV_BLOCK_INSERT && block->sector == 1000 &&
	            block->nr_sectors == 8);
	assert_string_equal(block->rwbs, "WS");
	expect_eq(((const struct ev_block *)rec_at(&l, 1, EV_BLOCK))->step, EV_BLOCK_ISSUE);
	block = rec_at(&l, 2, EV_BLOCK);
	expect_eq(block->step, EV_BLOCK_COMPLETE);
	assert_string_equal(block->rwbs, "WSFMPR");
	net = rec_at(&l, 3, EV_NET);
	assert_true(net->bytes == 1500 && net->is_sent == 1);
	assert_string_equal(net->name, "eth0");
	expect_eq(((const struct ev_net *)rec_at(&l, 4, EV_NET))->is_sent, 0);
	mem = rec_at(&l, 5, EV_MEMORY);
	assert_true(mem->step == EV_PAGE_ALLOC && mem->order == 2 && mem->tid == 5);
	mem = rec_at(&l, 6, EV_MEMORY);
	assert_true(mem->step == EV_PAGE_FREE && mem->order == 2);
	expect_eq(((const struct ev_memory *)rec_at(&l, 7, EV_MEMORY))->step, EV_RECLAIM_BEGIN);
	expect_eq(((const struct ev_memory *)rec_at(&l, 8, EV_MEMORY))->step, EV_RECLAIM_END);
	fsync = rec_at(&l, 9, EV_FSYNC);
	assert_true(fsync->inode == 77 && fsync->dev == 8 && !fsync->is_end);
	expect_eq(((const struct ev_fsync *)rec_at(&l, 10, EV_FSYNC))->is_end, 1);
	blocked = rec_at(&l, 11, EV_BLOCKED);
	assert_true(blocked->tid == 5 && blocked->caller == 0xabcd && blocked->is_io);
}

/* Requests as the kernel accounts for them, where nothing else records them. */
static void block_io_is_read_unless_requests_are(void **state)
{
	const struct ev_block *block;

	(void)state;
	PUT(10, 5, 546, N(1, 8), N(2, 4096), N(3, 16), N(4, 8192), N(5, 0), S(6, "WS"), S(7, "dd"));
	PUT(30, 0, 547, N(1, 8), N(2, 4096), N(3, 16), N(4, 8192), N(5, 0), S(6, "WS"), S(7, "dd"));
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 2);
	block = rec_at(&l, 0, EV_BLOCK);
	expect_eq(block->step, EV_BLOCK_ISSUE);
	expect_eq(block->hdr.flags, 0);
	expect_eq(block->dev, 8);
	expect_eq(block->sector, 4096);
	expect_eq(block->nr_sectors, 16);
	expect_eq(block->tid, 5);
	assert_string_equal(block->rwbs, "WS");
	expect_eq(((const struct ev_block *)rec_at(&l, 1, EV_BLOCK))->step, EV_BLOCK_COMPLETE);
	loaded_done(&l);
	PUT(20, 5, 45, N(1, 8), N(2, 4096), N(3, 16), N(4, 8192), S(5, "WS"));
	PUT(29, 0, 125, N(1, 8), N(2, 4096), N(3, 16), N(4, 0), S(5, "WS"));
	put_bundle(&trace, 2, 1, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 2);
	expect_eq(l.recs[0]->ts_ns, 20);
	expect_eq(l.recs[1]->ts_ns, 29);
}

static const struct ev_span *span_at(size_t nr)
{
	for (size_t i = 0; i < l.nr; i++)
		if (l.recs[i]->kind == EV_SPAN && nr-- == 0)
			return (const struct ev_span *)l.recs[i];
	return NULL;
}

/* A kprobe of a function and its return: a span of the task, also when it calls itself. */
static void kprobes_that_end_are_spans(void **state)
{
	size_t nr_probes = 0;

	(void)state;
	PUT(10, 5, 542, S(1, "do_read"), N(2, 1));
	PUT(20, 5, 542, S(1, "do_read"), N(2, 1));
	PUT(25, 6, 542, S(1, "do_read"), N(2, 2)); /* of another task: never begun */
	PUT(30, 5, 542, S(1, "do_read"), N(2, 2));
	PUT(40, 5, 542, S(1, "do_exit"), N(2, 3));
	PUT(50, 5, 542, S(1, "do_read"), N(2, 2));
	put_bundle(&trace, 2, 3, &bundle);
	load(&l, &trace);
	for (size_t i = 0; i < l.nr; i++)
		nr_probes += l.recs[i]->kind == EV_PROBE;
	expect_eq(nr_probes, 3); /* two begins, one instant */
	assert_non_null(span_at(1));
	expect_eq(span_at(0)->start_ns, 20);
	expect_eq(span_at(0)->hdr.ts_ns, 30);
	expect_eq(span_at(1)->start_ns, 10);
	expect_eq(span_at(1)->hdr.ts_ns, 50);
	expect_eq(span_at(1)->tid, 5);
	expect_eq(span_at(1)->hdr.cpu, 3);
	expect_eq(span_at(0)->name, span_at(1)->name);
	assert_int_not_equal(span_at(0)->category, span_at(0)->name);
	assert_null(span_at(2));
	expect_eq(damage("misplaced_end_event"), 1);
}

static void marks_of_programs_are_spans(void **state)
{
	(void)state;
	PUT(10, 5, 3, N(1, 77), S(2, "B|5|draw\n"));
	PUT(20, 5, 3, S(2, "B|5|a|b"));
	PUT(21, 6, 3, S(2, "S|5|load|7\n"));
	PUT(22, 6, 3, S(2, "S|5|load|8\n"));
	PUT(25, 6, 3, S(2, "E|5")); /* of a task that began none */
	PUT(30, 5, 3, S(2, "E|5\n"));
	PUT(31, 6, 3, S(2, "F|5|load|7\n"));
	PUT(35, 5, 3, S(2, "I|5|click"));
	PUT(36, 5, 3, S(2, "C|5|queue|3"));
	PUT(37, 5, 3, S(2, "B|x|no process"));
	PUT(38, 5, 3, S(2, "Begin: what a person wrote"));
	PUT(40, 5, 3, S(2, "E"));
	PUT(50, 8, 80, N(1, 8), S(2, "driver"), N(3, 1)); /* a driver's own event */
	PUT(60, 8, 80, N(1, 8), S(2, "driver"), N(3, 0));
	put_bundle(&trace, 2, 3, &bundle);
	load(&l, &trace);
	expect_eq(span_at(0)->start_ns, 20);
	expect_eq(span_at(0)->hdr.ts_ns, 30);
	expect_eq(span_at(0)->tid, 5);
	expect_eq(span_at(1)->start_ns, 21);
	expect_eq(span_at(1)->hdr.ts_ns, 31);
	expect_eq(span_at(1)->tid, 5);
	expect_eq(span_at(2)->start_ns, 35);
	expect_eq(span_at(2)->hdr.ts_ns, 35);
	expect_eq(span_at(3)->start_ns, 10);
	expect_eq(span_at(3)->hdr.ts_ns, 40);
	expect_eq(span_at(3)->category, span_at(0)->category);
	assert_int_not_equal(span_at(3)->name, span_at(0)->name);
	expect_eq(span_at(4)->start_ns, 50);
	assert_null(span_at(5));
	expect_eq(damage("misplaced_end_event"), 1);
	expect_eq(counted_events(l.info, "print"), 12);
}

static void a_bundle_out_of_order_is_put_in_order(void **state)
{
	static const uint64_t order[] = { 50, 10, 40, 10, 30 };

	(void)state;
	for (size_t i = 0; i < 5; i++)
		put_switch(&bundle, order[i], (uint32_t)i + 1, 0, (uint32_t)i + 10);
	put_bundle(&trace, 2, 0, &bundle);
	put_switch(&bundle, 20, 7, 0, 8); /* a later packet, an earlier time */
	put_bundle(&trace, 2, 0, &bundle);
	l.with_names = true;
	load(&l, &trace);
	{
		static const uint32_t want[] = { 2, 4, 7, 5, 3, 1 };
		size_t nr = 0;
		bool is_named[32] = { false };

		for (size_t i = 0; i < l.nr; i++) {
			const struct ev_switch *sw = (const void *)l.recs[i];

			if (sw->hdr.kind == EV_TASK_INFO) {
				is_named[((const struct ev_task_info *)sw)->tid] = true;
				continue;
			}
			expect_eq(sw->prev_tid, want[nr++]);
			assert_true(is_named[sw->prev_tid] && is_named[sw->next_tid]);
		}
		expect_eq(nr, 6);
	}
}

/* At one time on three CPUs: T leaves CPU 5, CPU 1 wakes it, CPU 0 takes it on. */
static void at_one_time_a_task_leaves_is_woken_and_comes_on(void **state)
{
	(void)state;
	put_switch(&bundle, 100, 0, 0, 7);
	put_bundle(&trace, 2, 5, &bundle);
	put_switch(&bundle, 200, 0, 0, 7); /* comes on */
	put_bundle(&trace, 2, 0, &bundle);
	put_wake(&bundle, 20, 200, 3, 7, 0); /* is woken */
	put_bundle(&trace, 2, 1, &bundle);
	put_switch(&bundle, 200, 7, 1, 0); /* leaves */
	put_bundle(&trace, 2, 5, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 4);
	expect_eq(((const struct ev_switch *)rec_at(&l, 1, EV_SWITCH))->prev_tid, 7);
	expect_eq(l.recs[1]->cpu, 5);
	rec_at(&l, 2, EV_WAKING);
	expect_eq(((const struct ev_switch *)rec_at(&l, 3, EV_SWITCH))->next_tid, 7);
}

static void a_loss_comes_before_the_events_after_it(void **state)
{
	static const uint64_t ts[] = { 300 }, state_s[] = { 1 }, next[] = { 0 };

	(void)state;
	put_switch(&bundle, 100, 0, 0, 7);
	put_bundle(&trace, 2, 0, &bundle);
	enc_uint(&bundle, 3, 1);
	enc_packed(&sub, 1, ts, 1);
	enc_packed(&sub, 2, state_s, 1);
	enc_packed(&sub, 3, next, 1);
	enc_packed(&sub, 4, next, 1);
	enc_packed(&sub, 6, next, 1);
	enc_text(&sub, 5, "swapper/0");
	enc_msg(&bundle, 4, &sub);
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, 7);
	for (size_t i = 1; i < 6; i++) {
		const struct ev_lost *lost = rec_at(&l, i, EV_LOST);

		expect_eq(lost->count, 0);
		expect_eq(lost->hdr.ts_ns, 300);
	}
	expect_eq(((const struct ev_lost *)l.recs[1])->kind, EV_SWITCH);
	/* Who was on the CPU is forgotten. */
	expect_eq(l.recs[6]->flags, EV_FLAG_UNKNOWN);
	expect_eq(damage("ftrace_cpu_has_data_loss"), 1);
}

static void cpus_and_tids_may_be_far_apart(void **state)
{
	(void)state;
	put_switch(&bundle, 10, 0, 0, 0x7ffffffe);
	put_bundle(&trace, 2, 8191, &bundle);
	put_switch(&bundle, 11, 5000000, 1, 0);
	put_bundle(&trace, 2, 17, &bundle);
	put_switch(&bundle, 12, 1, 1, 2);
	put_bundle(&trace, 2, 8192, &bundle); /* no machine has that many */
	load(&l, &trace);
	expect_eq(l.nr, 2);
	expect_eq(((const struct ev_switch *)l.recs[0])->next_tid, 0x7ffffffe);
	expect_eq(l.info->nr_cpus, 2);
	expect_eq(l.info->cpus[0].cpu, 17);
	expect_eq(l.info->cpus[1].cpu, 8191);
	expect_eq(damage("cpu_out_of_range"), 1);
}

static void idle_threads_of_every_dialect_are_tid_0(void **state)
{
	(void)state;
	PUT(10, 0, 4, N(2, (uint64_t)-3), N(4, 0), S(5, "a"), N(6, 5));
	PUT(11, 0, 4, S(1, "a"), N(2, 5), N(4, 1)); /* no next at all */
	put_bundle(&trace, 2, 2, &bundle);
	load(&l, &trace);
	expect_eq(((const struct ev_switch *)rec_at(&l, 0, EV_SWITCH))->prev_tid, 0);
	expect_eq(((const struct ev_switch *)rec_at(&l, 1, EV_SWITCH))->next_tid, 0);
	expect_eq(l.nr_names, 1);
}

static void put_clocks(uint32_t a, uint64_t a_ns, uint32_t b, uint64_t b_ns)
{
	enc_uint(&sub, 1, a);
	enc_uint(&sub, 2, a_ns);
	enc_msg(&packet, 1, &sub);
	enc_uint(&sub, 1, b);
	enc_uint(&sub, 2, b_ns);
	enc_msg(&packet, 1, &sub);
	enc_msg(&sub, 6, &packet);
	put_packet(&trace, &sub);
	sub.len = 0;
}

static void bundles_of_other_clocks_are_converted(void **state)
{
	(void)state;
	put_switch(&bundle, 100, 0, 0, 1);
	enc_uint(&bundle, 5, 2); /* GLOBAL: explained by the bundle */
	enc_uint(&bundle, 6, 90);
	enc_uint(&bundle, 7, 5090);
	put_bundle(&trace, 2, 0, &bundle);
	put_switch(&bundle, 100, 0, 0, 1);
	enc_uint(&bundle, 5, 4); /* MONO_RAW: by a snapshot, which comes later */
	put_bundle(&trace, 2, 1, &bundle);
	put_clocks(6, 10000, 5, 1000);
	load(&l, &trace);
	expect_eq(l.recs[0]->ts_ns, 5100);
	expect_eq(l.recs[1]->ts_ns, 9100);
	expect_eq(l.info->clock, 6);
}

static void scxtop_is_put_right(void **state)
{
	const struct ev_wake *wake;
	const struct ev_switch *sw;

	(void)state;
	put_clocks(6, 10000, 3, 9000); /* its times are MONOTONIC, and nothing says so */
	enc_uint(&packet, 1, 55);
	enc_text(&packet, 10,
	         "scxtop_topo:{\"cpu_to_llc\":{\"0\":0,\"1\":4},\"cpu_to_numa\":{\"0\":0,\"1\":1},"
	         "\"cpu_to_core\":{\"0\":0,\"1\":2},\"nr_cpus\":2}");
	enc_msg(&sub, 60, &packet);
	put_packet(&trace, &sub);
	PUT(100, 0, 4, N(4, 0), S(5, "b"), N(6, 20), N(7, 120));      /* from idle: no prev */
	PUT(200, 30, 20, S(1, "c"), N(2, 30), N(3, 120), N(5, 1));    /* pid is the wakee's */
	PUT(300, 20, 23, N(1, 3), S(2, "IPI raise"));                 /* a number, not a mask */
	PUT(400, 20, 4, S(1, "b"), N(2, 20), N(3, 120), N(4, 0x402)); /* raw state, to idle */
	put_bundle(&trace, 0, 1, &bundle);
	load(&l, &trace);
	assert_string_equal(l.info->producer_name, "scxtop");
	expect_eq(l.nr, 4);
	expect_eq(l.recs[0]->ts_ns, 1100);
	wake = rec_at(&l, 1, EV_WAKING);
	expect_eq(wake->tid, 30);
	expect_eq(wake->waker_tid, 20);
	expect_eq(((const struct ev_ipi_send *)rec_at(&l, 2, EV_IPI_SEND))->target_cpu, 3);
	sw = rec_at(&l, 3, EV_SWITCH);
	expect_eq(sw->prev_state, EV_STATE_IDLE);
	expect_eq(sw->next_tid, 0);
	assert_true(l.info->has_topology);
	expect_eq(l.info->nr_cpus, 2);
	expect_eq(l.info->cpus[1].llc, 4);
	expect_eq(l.info->cpus[1].node, 1);
	expect_eq(l.info->cpus[1].core, 2);
}

static void put_topology(const char *json)
{
	enc_text(&packet, 1, "topology");
	enc_text(&packet, 3, json);
	enc_msg(&bundle, 1, &packet);
	enc_msg(&sub, 126, &bundle);
	put_packet(&trace, &sub);
}

/* As sys/topology_json writes it: the last CPU is on no node that is known. */
static void our_own_topology_is_read_back(void **state)
{
	(void)state;
	put_topology("{\"cpus\": {\"0\": {\"die\": 0, \"llc\": 0, \"numa\": 0},"
	             "\"2\": {\"die\": 0, \"llc\": 1, \"numa\": 0, \"isolated\": 1},"
	             "\"4\": {\"die\": 1, \"llc\": 2, \"numa\": -1}}}");
	put_switch(&bundle, 100, 20, 0, 21);
	put_bundle(&trace, 0, 0, &bundle);
	load(&l, &trace);
	assert_true(l.info->has_topology);
	expect_eq(l.info->nr_cpus, 3);
	expect_eq(l.info->cpus[1].cpu, 2);
	expect_eq(l.info->cpus[1].llc, 1);
	expect_eq(l.info->cpus[1].node, 0);
	expect_eq(l.info->cpus[1].isolated, 1);
	expect_eq(l.info->cpus[2].isolated, 0);
	expect_eq(l.info->cpus[2].llc, 2);
	assert_int_equal(l.info->cpus[2].node, -1);
}

static void a_topology_that_knows_nothing_is_none(void **state)
{
	static const char *const texts[] = { "{\"cpus\": {}}", "{\"cpus\": 3}", "[]", "{", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		put_topology(texts[i]);
	put_switch(&bundle, 100, 20, 0, 21);
	put_bundle(&trace, 0, 1, &bundle);
	load(&l, &trace);
	assert_false(l.info->has_topology);
}

static void raw_states_know_the_dead(void **state)
{
	static const struct {
		uint32_t raw, want;
	} cases[] = {
		{ 0, EV_STATE_RUNNABLE },
		{ 0x80, EV_STATE_DEAD }, /* TASK_DEAD, which no exit state shows */
		{ 0x402, EV_STATE_IDLE },
		{ 0x1000, EV_STATE_D }, /* waits for a lock of a real-time kernel */
		{ 0x8000, EV_STATE_D },
		{ 0x102, EV_STATE_D }, /* frozen; killable */
		{ 0x2001, EV_STATE_S },
		{ 0x104, EV_STATE_STOPPED }, /* freezable; stopped */
	};
	uint32_t nr = sizeof(cases) / sizeof(cases[0]);

	(void)state;
	enc_uint(&packet, 1, 55);
	enc_text(&packet, 10, "scxtop_topo:{\"cpu_to_llc\":{\"0\":0},\"nr_cpus\":1}");
	enc_msg(&sub, 60, &packet);
	put_packet(&trace, &sub);
	for (uint32_t i = 0; i < nr; i++)
		put_switch(&bundle, 10 * i + 10, 20 + i, cases[i].raw, 21 + i);
	put_bundle(&trace, 0, 1, &bundle);
	load(&l, &trace);
	expect_eq(l.nr, nr);
	for (size_t i = 0; i < nr; i++)
		expect_eq(((const struct ev_switch *)rec_at(&l, i, EV_SWITCH))->prev_state,
		          cases[i].want);
}

static void put_systing_process(const char *name, const char *cmdline)
{
	enc_uint(&sub, 1, 7);
	enc_text(&sub, 2, cmdline);
	enc_text(&sub, 6, name);
	enc_uint(&packet, 1, 99);
	enc_text(&packet, 2, name);
	enc_msg(&packet, 3, &sub);
	enc_msg(&sub, 60, &packet);
	put_packet(&trace, &sub);
}

/* Others leave the number of the sequence out, too: that alone is no evidence. */
static void a_trace_without_sequences_is_not_by_systing(void **state)
{
	(void)state;
	put_switch(&bundle, 50, 0, 0, 3);
	put_wake(&bundle, 20, 60, 3, 7, 0);
	put_bundle(&trace, 0, 0, &bundle);
	put_systing_process("seven", "/bin/seven");
	load(&l, &trace);
	assert_string_equal(l.info->producer_name, "");
	expect_eq(((const struct ev_wake *)rec_at(&l, 1, EV_WAKING))->waker_tid, 3);
}

static void systing_does_not_record_the_waker(void **state)
{
	static const uint64_t ts[] = { 100 }, pid[] = { 7 }, one[] = { 1 }, prio[] = { 120 },
			      zero[] = { 0 };
	const struct ev_wake *wake;

	(void)state;
	put_switch(&bundle, 50, 0, 0, 3);
	enc_packed(&sub, 7, ts, 1);
	enc_packed(&sub, 8, pid, 1);
	enc_packed(&sub, 9, one, 1);
	enc_packed(&sub, 10, prio, 1);
	enc_packed(&sub, 11, zero, 1);
	enc_packed(&sub, 12, one, 1);
	enc_text(&sub, 5, "woken");
	enc_msg(&bundle, 4, &sub);
	put_bundle(&trace, 0, 0, &bundle);
	put_systing_process("woken", "woken");
	load(&l, &trace);
	assert_string_equal(l.info->producer_name, "systing");
	wake = rec_at(&l, 1, EV_WAKING);
	expect_eq(wake->waker_tid, 0);
	expect_eq(wake->hdr.flags, EV_FLAG_UNKNOWN);
}

static void states_of_old_kernels_are_translated(void **state)
{
	(void)state;
	enc_text(&sub, 1, "Linux");
	enc_text(&sub, 3, "4.9.100-android");
	enc_msg(&packet, 1, &sub);
	enc_uint(&sub, 10, 1);
	enc_msg(&sub, 45, &packet);
	put_packet(&trace, &sub);
	sub.len = 0;
	put_switch(&bundle, 1, 1, 0x1000, 2); /* preempted, from 4.8 to 4.13 */
	put_switch(&bundle, 2, 2, 0x40, 3);   /* dead */
	put_switch(&bundle, 3, 3, 0x402, 4);  /* idle */
	put_bundle(&trace, 2, 0, &bundle);
	load(&l, &trace);
	expect_eq(((const struct ev_switch *)l.recs[0])->prev_state, EV_STATE_PREEMPTED);
	expect_eq(((const struct ev_switch *)l.recs[1])->prev_state, EV_STATE_DEAD);
	expect_eq(((const struct ev_switch *)l.recs[2])->prev_state, EV_STATE_IDLE);
}

static void names_follow_the_events(void **state)
{
	static const char *const want[] = { "one", "two", "tree-name" };
	size_t nr = 0;

	(void)state;
	PUT(10, 0, 20, S(1, "one"), N(2, 7));
	PUT(20, 0, 20, S(1, "one"), N(2, 7));
	PUT(30, 0, 20, S(1, "two"), N(2, 7)); /* renamed without a record */
	PUT(40, 8, 24, N(1, 1));              /* no name in the event */
	put_bundle(&trace, 2, 0, &bundle);
	enc_uint(&sub, 1, 8);
	enc_text(&sub, 2, "tree-name");
	enc_uint(&sub, 3, 6);
	enc_msg(&packet, 2, &sub);
	enc_uint(&sub, 1, 6);
	enc_uint(&sub, 2, 1);
	enc_text(&sub, 3, "/bin/six");
	enc_text(&sub, 3, "-v");
	enc_msg(&packet, 1, &sub);
	enc_msg(&sub, 2, &packet);
	put_packet(&trace, &sub);
	l.with_names = true;
	load(&l, &trace);
	for (size_t i = 0; i < l.nr; i++) {
		const struct ev_task_info *task = (const void *)l.recs[i];

		if (task->hdr.kind != EV_TASK_INFO)
			continue;
		assert_string_equal(task->comm, want[nr++]);
		if (task->tid == 8) {
			expect_eq(task->tgid, 6);
			expect_eq(task->ppid, 1);
		}
	}
	expect_eq(nr, 3);
	expect_eq(l.info->nr_processes, 1);
	assert_string_equal(l.info->processes[0].cmdline, "/bin/six -v");
	expect_eq(l.info->nr_threads, 2);
}

/* Some recorders free a task before the switch by which it leaves, or at the same time. */
static void a_task_is_freed_when_it_has_left(void **state)
{
	const struct ev_switch *out;
	const struct ev_free *gone;

	(void)state;
	l.with_names = true;
	put_switch(&bundle, 100, 0, 0, 5);
	PUT(150, 0, 240, S(1, "task-5"), N(2, 5), N(3, 120));
	put_switch(&bundle, 200, 5, 16, 6);
	PUT(210, 0, 240, S(1, "task-7"), N(2, 7), N(3, 120)); /* does not run */
	PUT(220, 0, 240, S(1, "task-6"), N(2, 6), N(3, 120)); /* never seen to leave */
	put_bundle(&trace, 2, 3, &bundle);
	load(&l, &trace);
	expect_eq(l.nr_names, 3);
	rec_at(&l, 0, EV_TASK_INFO);
	rec_at(&l, 1, EV_SWITCH);
	rec_at(&l, 2, EV_TASK_INFO); /* of 6, which comes; 5 is known */
	out = rec_at(&l, 3, EV_SWITCH);
	expect_eq(out->prev_tid, 5);
	gone = rec_at(&l, 4, EV_FREE);
	expect_eq(gone->tid, 5);
	expect_eq(gone->hdr.ts_ns, 200);
	expect_eq(((const struct ev_free *)rec_at(&l, 6, EV_FREE))->tid, 7);
	gone = rec_at(&l, 7, EV_FREE);
	expect_eq(gone->tid, 6);
	expect_eq(gone->hdr.ts_ns, 220);
	expect_eq(l.nr, 8);
}

/* A state of a task, as kernels without ftrace report it. */
static void put_state(uint64_t ts, uint64_t tid, uint32_t state, uint32_t prio)
{
	enc_uint(&sub, 1, 2);
	enc_text(&sub, 2, "task");
	enc_uint(&sub, 3, tid);
	enc_uint(&sub, 4, state);
	enc_uint(&sub, 5, prio);
	enc_uint(&packet, 8, ts);
	enc_msg(&packet, 117, &sub);
	put_packet(&trace, &packet);
}

static void generic_events_have_priorities_and_small_tids(void **state)
{
	const struct ev_switch *sw;

	(void)state;
	put_state(10, 5, 2, 90);               /* runnable */
	put_state(20, 5, 3, 100);              /* running */
	put_state(25, 5 + (1ULL << 32), 2, 7); /* not the same task */
	put_state(30, 5, 4, 101);              /* asleep */
	load(&l, &trace);
	expect_eq(l.nr, 3);
	expect_eq(((const struct ev_wake *)rec_at(&l, 0, EV_WAKING))->prio, 90);
	sw = rec_at(&l, 1, EV_SWITCH);
	expect_eq(sw->next_tid, 5);
	expect_eq(sw->next_prio, 100);
	sw = rec_at(&l, 2, EV_SWITCH);
	expect_eq(sw->prev_tid, 5);
	expect_eq(sw->prev_prio, 101);
	expect_eq(sw->next_prio, 120);
	expect_eq(damage("tid_out_of_range"), 1);
}

static void events_from_before_the_recording_are_left_out(void **state)
{
	(void)state;
	put_switch(&bundle, 100, 1, 0, 2);
	put_switch(&bundle, 300, 2, 0, 1);
	put_bundle(&trace, 2, 0, &bundle);
	enc_uint(&sub, 8, 200);
	enc_uint(&packet, 2, 1);
	enc_msg(&sub, 69, &packet);
	put_packet(&trace, &sub);
	load(&l, &trace);
	expect_eq(l.nr, 1);
	expect_eq(l.recs[0]->ts_ns, 300);
	expect_eq(damage("ftrace_packet_before_tracing_start"), 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(tasks_live_and_die),
		T(interrupts_work_and_power),
		T(block_network_memory_and_files),
		T(block_io_is_read_unless_requests_are),
		T(kprobes_that_end_are_spans),
		T(marks_of_programs_are_spans),
		T(a_bundle_out_of_order_is_put_in_order),
		T(at_one_time_a_task_leaves_is_woken_and_comes_on),
		T(a_loss_comes_before_the_events_after_it),
		T(cpus_and_tids_may_be_far_apart),
		T(idle_threads_of_every_dialect_are_tid_0),
		T(bundles_of_other_clocks_are_converted),
		T(scxtop_is_put_right),
		T(our_own_topology_is_read_back),
		T(a_topology_that_knows_nothing_is_none),
		T(raw_states_know_the_dead),
		T(systing_does_not_record_the_waker),
		T(a_trace_without_sequences_is_not_by_systing),
		T(states_of_old_kernels_are_translated),
		T(names_follow_the_events),
		T(a_task_is_freed_when_it_has_left),
		T(generic_events_have_priorities_and_small_tids),
		T(events_from_before_the_recording_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
