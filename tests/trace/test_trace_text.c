#include "loaded.h"

/* Lines of each form, written by hand; what real programs print is in test_text_real.py. */

static struct loaded l;

static int teardown(void **state)
{
	(void)state;
	loaded_done(&l);
	return 0;
}

static void read_text(const char *text)
{
	loaded_done(&l);
	load_cfg(&l, text, strlen(text), NULL);
}

static void load_text(const char *text)
{
	read_text(text);
	if (l.err)
		print_message("%s\n", l.d.what);
	expect_eq(l.err, 0);
}

static void refuses(const char *text)
{
	read_text(text);
	expect_eq(l.err, -EINVAL);
	expect_eq(l.nr, 0);
}

static const struct ev_task_info *info_of(uint32_t tid)
{
	const struct ev_task_info *found = NULL;

	for (size_t i = 0; i < l.nr; i++) {
		const struct ev_task_info *at = (const void *)l.recs[i];

		if (at->hdr.kind == EV_TASK_INFO && at->tid == tid)
			found = at;
	}
	assert_non_null(found);
	return found;
}

#define HEADER                                                             \
	"# tracer: nop\n"                                                  \
	"#\n"                                                              \
	"# entries-in-buffer/entries-written: 3/3   #P:4\n"                \
	"#\n"                                                              \
	"#                                _-----=> irqs-off/BH-disabled\n" \
	"#                               / _----=> need-resched\n"         \
	"#                              | / _---=> hardirq/softirq\n"      \
	"#                              || / _--=> preempt-depth\n"        \
	"#                              ||| / _-=> migrate-disable\n"      \
	"#                              |||| /     delay\n"                \
	"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"      \
	"#              | |         |   |||||     |         |\n"

static void a_file_of_tracefs_is_read(void **state)
{
	const struct ev_switch *sw;
	const struct ev_wake *wake;

	(void)state;
	load_text(
		HEADER
		"          <idle>-0       [001] dNh2.    12.000034: sched_waking: comm=perl pid=31 prio=120 target_cpu=003\n"
		"              sh-20      [002] d..2.    12.000035: sched_switch: prev_comm=sh prev_pid=20 prev_prio=120 prev_state=R+ ==> next_comm=perl next_pid=31 next_prio=-1\n"
		"            perl-31      [002] ..s1.    12.000036: softirq_entry: vec=1 [action=TIMER]\n");
	expect_eq(l.nr, 3);
	wake = rec_at(&l, 0, EV_WAKING);
	expect_eq(wake->hdr.ts_ns, 12000034000);
	expect_eq(wake->hdr.cpu, 1);
	expect_eq(wake->hdr.flags, EV_FLAG_HARDIRQ);
	expect_eq(wake->tid, 31);
	expect_eq(wake->waker_tid, 0);
	expect_eq(wake->target_cpu, 3);
	expect_eq(wake->prio, 120);
	sw = rec_at(&l, 1, EV_SWITCH);
	expect_eq(sw->hdr.cpu, 2);
	expect_eq(sw->hdr.flags, 0);
	expect_eq(sw->prev_tid, 20);
	expect_eq(sw->next_tid, 31);
	expect_eq(sw->prev_state, EV_STATE_PREEMPTED);
	expect_eq(sw->next_prio, -1);
	expect_eq(((const struct ev_softirq *)rec_at(&l, 2, EV_SOFTIRQ_ENTRY))->vector, 1);
	expect_eq(l.recs[2]->flags, EV_FLAG_SOFTIRQ);
	expect_eq(l.info->nr_cpus_reported, 4);
	expect_eq(l.info->clock, 0);
	expect_eq(l.info->nr_packets, 3);
	expect_eq(l.info->nr_damage, 0);
	assert_string_equal(l.info->producer_name, "ftrace");
}

static void columns_may_be_missing(void **state)
{
	static const char *const texts[] = {
		"  sh-20  [002] 12.000035: cpu_idle: state=4294967295 cpu_id=2\n",
		"sh-20 [002] 12.000035: cpu_idle: state=4294967295 cpu_id=2\n",
		"              sh-20      (     20) [002] d..2.    12.000035: cpu_idle: state=4294967295 cpu_id=2\n",
		"              sh-20      (-------) [002] d..2    12.000035: cpu_idle: state=4294967295 cpu_id=2\r\n",
		"              sh-20      [002] d..2...    12.000035: cpu_idle: state=4294967295 cpu_id=2\n",
		"           <...>-20      [002] ....    12.000035000: cpu_idle: state=4294967295 cpu_id=2\n",
		"      sh-20        2d..2.  12000035us : cpu_idle: state=4294967295 cpu_id=2\n",
		"      sh-20        2d..2  12000035us+: cpu_idle: state=4294967295 cpu_id=2\n",
		"    sh    20 [002]    12.000035: power:cpu_idle: state=4294967295 cpu_id=2\n",
		"sh    20/20    [002]    12.000035:          1    power:cpu_idle: state=4294967295 cpu_id=2\n",
		"cpus=4\nCPU 1 is empty\n              sh-20    [002]    12.000035: cpu_idle:             state=4294967295 cpu_id=2\n",
		"sub:               sh-20    [002]    12.000035: (+12)  cpu_idle:             state=4294967295 cpu_id=2\n",
		"sub:       sh-20      2d..2.    12.000035: cpu_idle:             state=4294967295 cpu_id=2\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct ev_cpu_idle *rec;

		load_text(texts[i]);
		rec = rec_at(&l, 0, EV_CPU_IDLE);
		expect_eq(rec->hdr.ts_ns, 12000035000);
		expect_eq(rec->hdr.cpu, 2);
		expect_eq(rec->state, 4294967295);
		expect_eq(rec->cpu, 2);
		expect_eq(l.info->nr_damage, 0);
		expect_eq(l.info->nr_threads, 1);
		assert_string_equal(l.info->threads[0].name, strstr(texts[i], "<...>") ? "" : "sh");
	}
}

/* Without the column it is not known whether the waker was an interrupt. */
static void flags_say_whether_an_interrupt_wakes(void **state)
{
	const struct ev_wake *wake;

	(void)state;
	load_text(
		"              sh-20      [001] dN.2.    12.000034: sched_waking: comm=a pid=31 prio=120 target_cpu=003\n"
		"              sh-20      [001]    12.000035: sched_waking: comm=a pid=31 prio=120 target_cpu=003\n");
	wake = rec_at(&l, 0, EV_WAKING);
	expect_eq(wake->by, ABI_BY_UNKNOWN);
	wake = rec_at(&l, 1, EV_WAKING);
	expect_eq(wake->by, ABI_BY_NOT_RECORDED);
}

/* They are in order of nanoseconds that are not printed. */
static void lines_of_one_microsecond_stay_in_order(void **state)
{
	(void)state;
	load_text("              sh-20      [003] dN.2.    12.000034: softirq_exit: vec=1\n"
	          "              sh-20      [001] dN.2.    12.000034: softirq_exit: vec=2\n"
	          "              sh-20      [001] dN.2.    12.000034000: softirq_exit: vec=3\n"
	          "              sh-20      [001] dN.2.    12.000035: softirq_exit: vec=4\n");
	expect_eq(l.recs[0]->ts_ns, 12000034000);
	expect_eq(l.recs[1]->ts_ns, 12000034000);
	expect_eq(l.recs[2]->ts_ns, 12000034001);
	expect_eq(l.recs[3]->ts_ns, 12000035000);
	expect_eq(((const struct ev_softirq *)l.recs[2])->vector, 2);
}

static void times_are_exact(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} times[] = { { "0.000001", 1000 },
		      { "25788.172421", 25788172421000 },
		      { "25788.172421123", 25788172421123 },
		      { "1.5", 1500000000 },
		      { "9000000000.999999999", 9000000000999999999 } };

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), " sh-20 [000] .... %s: softirq_exit: vec=3\n",
		               times[i].text);
		load_text(text);
		expect_eq(rec_at(&l, 0, EV_SOFTIRQ_EXIT) ? l.recs[0]->ts_ns : 0, times[i].ns);
	}
}

/* Fifteen bytes of anything, as users call their tasks. */
static void names_hold_anything(void **state)
{
	static const char *const names[] = {
		"a b", "a=b ==> c",     "x y [001] z:",   "a-5 (12) [3]",
		"-",   "x prev_pid=7",  "next_comm=1",    "1.5: a: b=c",
		"#x",  "kworker/u8:2H", "a-5 [1] 1.5: x:"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct ev_switch *sw;
		char text[512];

		(void)snprintf(text, sizeof(text),
		               "%16s-20      [002] d..2.    12.000035: sched_switch: prev_comm=%s "
		               "prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=%s "
		               "next_pid=31 next_prio=120\n"
		               "%16s-33      [002] d..2.    12.000035: sched_waking: comm=%s "
		               "pid=34 prio=120 target_cpu=001\n",
		               names[i], names[i], names[i], names[i], names[i]);
		l.with_names = true;
		loaded_done(&l);
		l.with_names = true;
		load_cfg(&l, text, strlen(text), NULL);
		expect_eq(l.err, 0);
		for (uint32_t tid = 20; tid <= 34; tid++)
			if (tid == 20 || tid == 31 || tid == 33 || tid == 34)
				assert_string_equal(info_of(tid)->comm, names[i]);
		for (size_t k = 0; k < l.nr; k++)
			if (l.recs[k]->kind == EV_SWITCH) {
				sw = (const void *)l.recs[k];
				expect_eq(sw->prev_tid, 20);
				expect_eq(sw->next_tid, 31);
				expect_eq(sw->prev_state, EV_STATE_S);
			}
		expect_eq(l.info->nr_damage, 0);
	}
}

static void processes_come_from_the_column(void **state)
{
	const char *text =
		"          <...>-31      (     20) [002] d..2.    12.000035: softirq_exit: vec=1\n"
		"           perl-32      (-------) [002] d..2.    12.000036: softirq_exit: vec=1\n";

	(void)state;
	l.with_names = true;
	load_cfg(&l, text, strlen(text), NULL);
	expect_eq(l.err, 0);
	expect_eq(info_of(31)->tgid, 20);
	assert_string_equal(info_of(31)->comm, "");
	expect_eq(info_of(32)->tgid, 0);
	assert_string_equal(info_of(32)->comm, "perl");
}

/* The column has the name that the task had at the end; events have that of their time. */
static void names_in_events_go_first(void **state)
{
	const char *fork =
		"             new-20      [002] ....    12.000035: sched_process_fork: comm=x y pid=20 child_comm=b child_pid=33\n";
	const char *text =
		"             new-20      [002] ....    12.000035: sched_waking: comm=a pid=7 prio=120 target_cpu=001\n"
		"             new-20      [002] d..2    12.000036: sched_switch: prev_comm=old prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=a next_pid=7 next_prio=120\n";

	(void)state;
	l.with_names = true;
	load_cfg(&l, text, strlen(text), NULL);
	expect_eq(l.err, 0);
	assert_string_equal(info_of(20)->comm, "old");
	loaded_done(&l);
	l.with_names = true;
	load_cfg(&l, fork, strlen(fork), NULL);
	assert_string_equal(info_of(20)->comm, "x y");
}

static void states_are_letters(void **state)
{
	static const struct {
		const char *text;
		uint32_t state;
	} states[] = { { "R", 0 },
		       { "R+", EV_STATE_PREEMPTED },
		       { "S", EV_STATE_S },
		       { "D", EV_STATE_D },
		       { "D|W", EV_STATE_D },
		       { "D|K", EV_STATE_D },
		       { "S|K", EV_STATE_S },
		       { "D|N", EV_STATE_IDLE },
		       { "T", EV_STATE_STOPPED },
		       { "t", EV_STATE_TRACED },
		       { "X", EV_STATE_DEAD },
		       { "x", EV_STATE_DEAD },
		       { "Z", EV_STATE_ZOMBIE },
		       { "X|Z", EV_STATE_DEAD | EV_STATE_ZOMBIE },
		       { "P", EV_STATE_PARKED },
		       { "I", EV_STATE_IDLE },
		       { "1", EV_STATE_S },
		       { "256", EV_STATE_PREEMPTED } };

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text),
		               "sh-20 [002] 12.000035: sched_switch: prev_comm=sh prev_pid=20 "
		               "prev_prio=120 prev_state=%s ==> next_comm=b next_pid=31 "
		               "next_prio=120\n",
		               states[i].text);
		load_text(text);
		expect_eq(((const struct ev_switch *)rec_at(&l, 0, EV_SWITCH))->prev_state,
		          states[i].state);
	}
}

/* Its letters are bits: what it calls x is parked, W is idle on a current kernel. */
static void what_trace_cmd_prints_in_its_own_way_is_read(void **state)
{
	static const struct {
		const char *text;
		uint32_t state;
	} states[] = { { "R", 0 },
		       { "S", EV_STATE_S },
		       { "W", EV_STATE_IDLE },
		       { "x", EV_STATE_PARKED },
		       { "D|W", EV_STATE_D | EV_STATE_IDLE } };
	const struct ev_switch *sw;
	const struct ev_wake *wake;

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		char text[512];

		(void)snprintf(
			text, sizeof(text),
			"cpus=2\n"
			"          <idle>-0     [001]    12.000034: sched_wakeup:         a:1 [2]:31 [120] success=1 CPU:001\n"
			"          <idle>-0     [001]    12.000035: sched_wakeup_new:     x ==> y:32 [98] CPU:000\n"
			"          <idle>-0     [001]    12.000036: sched_switch:         swapper/1:0 [120] %s ==> a:b [1]:31 [120]\n",
			states[i].text);
		load_text(text);
		wake = rec_at(&l, 0, EV_WAKEUP);
		expect_eq(wake->tid, 31);
		expect_eq(wake->target_cpu, 1);
		wake = rec_at(&l, 1, EV_WAKEUP_NEW);
		expect_eq(wake->tid, 32);
		expect_eq(wake->prio, 98);
		sw = rec_at(&l, 2, EV_SWITCH);
		expect_eq(sw->prev_tid, 0);
		expect_eq(sw->prev_state, states[i].state);
		expect_eq(sw->next_tid, 31);
		expect_eq(l.info->nr_cpus_reported, 2);
		assert_string_equal(l.info->producer_name, "trace-cmd");
	}
}

#define AT "              sh-20      [002] d..2.    12.000035: "

static void lives_are_read(void **state)
{
	const struct ev_fork *fork;
	const struct ev_exec *exec;
	const struct ev_exit *ended;
	const struct ev_rename *renamed;
	const struct ev_migrate *moved;

	(void)state;
	load_text(
		AT
		"task_newtask: pid=31 comm=a b clone_flags=3d0f00 oom_score_adj=0\n"
		"              sh-20      [002] d..2.    14.000035: sched_process_fork: comm=sh x pid=20 child_comm=a b child_pid=33\n");
	fork = rec_at(&l, 0, EV_FORK);
	expect_eq(fork->parent_tid, 20);
	expect_eq(fork->tid, 31);
	expect_eq(fork->tgid, 0); /* a thread, of a process that is not known */
	assert_string_equal(fork->comm, "a b");
	fork = rec_at(&l, 1, EV_FORK);
	expect_eq(fork->parent_tid, 20);
	expect_eq(fork->tid, 33);
	assert_string_equal(fork->comm, "a b");

	load_text(AT "sched_process_exec: filename=/a b/x pid=1 y pid=31 old_pid=32\n" AT
	             "sched_process_exit: comm=a pid=31 prio=120 group_dead=true\n" AT
	             "sched_process_free: comm=a pid=31 prio=120\n" AT
	             "sched_process_wait: comm=sh pid=0 prio=120\n" AT
	             "task_rename: pid=31 oldcomm=a b newcomm=c d oom_score_adj=0\n" AT
	             "sched_migrate_task: comm=a pid=31 prio=120 orig_cpu=0 dest_cpu=13\n");
	exec = rec_at(&l, 0, EV_EXEC);
	expect_eq(exec->tid, 31);
	expect_eq(exec->old_tid, 32);
	assert_string_equal(exec->comm, "x pid=1 y");
	ended = rec_at(&l, 1, EV_EXIT);
	expect_eq(ended->tid, 31);
	assert_string_equal(ended->comm, "a");
	(void)rec_at(&l, 2, EV_FREE);
	(void)rec_at(&l, 3, EV_WAIT);
	renamed = rec_at(&l, 4, EV_RENAME);
	assert_string_equal(renamed->old_comm, "a b");
	assert_string_equal(renamed->comm, "c d");
	moved = rec_at(&l, 5, EV_MIGRATE);
	expect_eq(moved->from_cpu, 0);
	expect_eq(moved->to_cpu, 13);
	expect_eq(l.info->nr_damage, 0);
}

static void interrupts_and_work_are_read(void **state)
{
	const struct ev_irq_entry *irq;
	const struct ev_work *work;

	(void)state;
	load_text(
		AT
		"irq_handler_entry: irq=36 name=virtio1-req.0\n" AT
		"irq_handler_exit: irq=36 ret=handled\n" AT
		"ipi_raise: target_mask=00000000,00000004 (Function call interrupts)\n" AT
		"ipi_entry: (Rescheduling interrupts)\n" AT
		"workqueue_execute_start: work struct 00000000e3fedeb7: function blk_mq_run_work_fn\n" AT
		"workqueue_execute_end: work struct 0xffff8881029b5020\n" AT
		"workqueue_execute_end: work struct 0xffff8881029b5020: function 0xffffffff8218ac60\n");
	irq = rec_at(&l, 0, EV_IRQ_ENTRY);
	expect_eq(irq->irq, 36);
	expect_eq(irq->tid, 20);
	assert_string_equal(irq->name, "virtio1-req.0");
	expect_eq(((const struct ev_irq_exit *)rec_at(&l, 1, EV_IRQ_EXIT))->ret, 1);
	expect_eq(((const struct ev_ipi_send *)rec_at(&l, 2, EV_IPI_SEND))->target_cpu, 2);
	assert_string_equal(((const struct ev_ipi *)rec_at(&l, 3, EV_IPI_ENTRY))->reason,
	                    "Rescheduling interrupts");
	work = rec_at(&l, 4, EV_WORK_START);
	expect_eq(work->work, 0xe3fedeb7);
	expect_eq(l.info->nr_symbols, 1);
	expect_eq(work->function, l.info->symbols[0].value);
	assert_string_equal(l.info->symbols[0].name, "blk_mq_run_work_fn");
	work = rec_at(&l, 5, EV_WORK_END);
	expect_eq(work->work, 0xffff8881029b5020);
	work = rec_at(&l, 6, EV_WORK_END);
	expect_eq(work->function, 0xffffffff8218ac60);
	expect_eq(l.info->nr_damage, 0);
}

static void disks_and_power_are_read(void **state)
{
	const struct ev_block *block;
	const struct ev_fsync *sync;
	const struct ev_suspend *suspend;
	const struct ev_cpu_hotplug *plug;

	(void)state;
	load_text(AT "block_rq_issue: 254,3 RA 4096 () 135282128 + 8 be,0,4 [ccache]\n" AT
	             "block_rq_insert: 8,0 WS 4096 () 4096 + 16 [a + b]\n" AT
	             "block_rq_complete: 8,0 FWFSM () 18446744073709551615 + 0 [0]\n" AT
	             "ext4_sync_file_enter: dev 8,1 ino 12 parent 2 datasync 0 \n" AT
	             "suspend_resume: machine_suspend[3] begin\n" AT
	             "cpu_frequency: state=1800000 cpu_id=1\n" AT
	             "cpuhp_enter: cpu: 0001 target: 149 step: 150 (sched_cpu_activate)\n" AT
	             "cpuhp_exit:  cpu: 0001  state: 149 step: 150 ret: -22\n");
	block = rec_at(&l, 0, EV_BLOCK);
	expect_eq(block->dev, 254U << 20 | 3);
	expect_eq(block->sector, 135282128);
	expect_eq(block->nr_sectors, 8);
	expect_eq(block->step, EV_BLOCK_ISSUE);
	assert_string_equal(block->rwbs, "RA");
	block = rec_at(&l, 1, EV_BLOCK);
	expect_eq(block->sector, 4096);
	expect_eq(block->nr_sectors, 16);
	block = rec_at(&l, 2, EV_BLOCK);
	expect_eq(block->sector, UINT64_MAX);
	sync = rec_at(&l, 3, EV_FSYNC);
	expect_eq(sync->dev, 8U << 20 | 1);
	expect_eq(sync->inode, 12);
	suspend = rec_at(&l, 4, EV_SUSPEND);
	expect_eq(suspend->value, 3);
	expect_eq(suspend->is_start, 1);
	expect_eq(((const struct ev_cpu_freq *)rec_at(&l, 5, EV_CPU_FREQ))->khz, 1800000);
	plug = rec_at(&l, 6, EV_CPU_HOTPLUG);
	expect_eq(plug->target, 149);
	expect_eq(plug->step, 150);
	plug = rec_at(&l, 7, EV_CPU_HOTPLUG);
	expect_eq(plug->ret, -22);
	expect_eq(l.info->nr_damage, 0);
}

static void a_blocked_reason_names_its_function(void **state)
{
	const struct ev_blocked *rec;

	(void)state;
	load_text(AT "sched_blocked_reason: pid=31 iowait=1 caller=io_schedule+0x12/0x40\n");
	rec = rec_at(&l, 0, EV_BLOCKED);
	expect_eq(rec->tid, 31);
	expect_eq(rec->is_io, 1);
	assert_string_equal(l.info->symbols[0].name, "io_schedule");
}

static void losses_are_of_their_cpu(void **state)
{
	const struct trace_cpu_info *cpu;

	(void)state;
	load_text("              sh-20      [002] ....    10.000035: softirq_exit: vec=1\n"
	          "CPU:2 [LOST 1234 EVENTS]\n"
	          "CPU:1 [LOST 9 EVENTS]\n"
	          "              sh-20      [001] ....    11.000035: softirq_exit: vec=1\n"
	          "              sh-20      [002] ....    12.000035: softirq_exit: vec=1\n"
	          "sub: CPU:2 [7 EVENTS DROPPED]\n"
	          "              sh-20      [002] ....    13.000035: softirq_exit: vec=1\n");
	expect_eq(l.info->nr_cpus, 2);
	cpu = &l.info->cpus[1];
	expect_eq(cpu->cpu, 2);
	expect_eq(cpu->nr_losses, 2);
	expect_eq(cpu->nr_lost, 1241);
	expect_eq(l.info->cpus[0].nr_losses, 0); /* nothing was recorded there before */
	expect_eq(l.info->valid_from_ns, 11000035000);
	expect_eq(l.recs[2]->kind, EV_LOST);
	expect_eq(l.recs[2]->ts_ns, 12000035000);
	expect_eq(counted_damage(l.info, "text_lines_unreadable"), 0);
}

static void cpus_begin_where_their_buffers_do(void **state)
{
	(void)state;
	load_text("              sh-20      [001] ....    11.000035: softirq_exit: vec=1\n"
	          "##### CPU 2 buffer started ####\n"
	          "              sh-20      [002] ....    12.000035: softirq_exit: vec=1\n"
	          "              sh-20      [002] ....    13.000035: softirq_exit: vec=1\n");
	expect_eq(l.info->valid_from_ns, 12000035000);
	expect_eq(l.nr, 3);
}

/* Kernels for real time have one flag more before that of interrupts. */
static void the_header_says_which_flag_is_which(void **state)
{
	(void)state;
	load_text("# tracer: nop\n"
	          "#                                _-----=> irqs-off\n"
	          "#                               / _----=> need-resched\n"
	          "#                              | / _---=> need-resched-lazy\n"
	          "#                              || / _--=> hardirq/softirq\n"
	          "#                              ||| / _-=> preempt-depth\n"
	          "              sh-20      [001] dNLh..1    11.000035: softirq_exit: vec=1\n"
	          "              sh-20      [001] d.h...1    11.000036: softirq_exit: vec=1\n");
	expect_eq(l.recs[0]->flags, EV_FLAG_HARDIRQ);
	expect_eq(l.recs[1]->flags, 0);
}

static void events_without_use_are_counted_by_name(void **state)
{
	(void)state;
	load_text(AT "sched_stat_runtime: comm=sh pid=20 runtime=349981 [ns]\n" AT "my_event: \n" AT
	             "tracing_mark_write: B|20|draw\n" AT "do_idle <-cpu_startup_entry\n" AT
	             "<stack trace>\n"
	             " => schedule\n"
	             " => do_nanosleep\n" AT
	             "sched_stat_runtime: comm=sh pid=20 runtime=349981 [ns]\n");
	expect_eq(counted_events(l.info, "sched_stat_runtime"), 2);
	expect_eq(counted_events(l.info, "my_event"), 1);
	expect_eq(counted_events(l.info, "tracing_mark_write"), 1);
	expect_eq(counted_events(l.info, "function"), 1);
	expect_eq(counted_events(l.info, "kernel_stack"), 1);
	expect_eq(l.info->nr_packets, 6);
	expect_eq(l.info->nr_damage, 0);
}

/* As 'trace-cmd report -R' prints them: other fields, in another order. */
static void raw_fields_are_read_by_their_names(void **state)
{
	const struct ev_fork *fork;
	const struct ev_net *net;

	(void)state;
	load_text(
		AT
		"sched_process_fork: parent_comm=a b parent_pid=20 child_comm=x=y child_pid=21\n" AT
		"net_dev_xmit: skbaddr=0xffff888170528900 len=43 rc=0 name=lo\n" AT
		"irq_handler_exit: irq=36 ret=1\n" AT "irq_handler_exit: irq=36 ret=0\n" AT
		"workqueue_execute_start: work=0xffff8881028bb440 function=add+0x10\n" AT
		"suspend_resume: action=freeze val=3 start=1\n" AT
		"net_dev_xmit: skbaddr=0xffff888170528900 name=lo\n");
	expect_eq(counted_damage(l.info, "text_events_unreadable"), 1);
	expect_eq(l.info->nr_damage, 1);
	fork = rec_at(&l, 0, EV_FORK);
	expect_eq(fork->parent_tid, 20);
	expect_eq(fork->tid, 21);
	net = rec_at(&l, 1, EV_NET);
	expect_eq(net->bytes, 43);
	assert_string_equal(net->name, "lo");
	expect_eq(((const struct ev_irq_exit *)rec_at(&l, 2, EV_IRQ_EXIT))->ret, 1);
	expect_eq(((const struct ev_irq_exit *)rec_at(&l, 3, EV_IRQ_EXIT))->ret, 0);
	expect_eq(((const struct ev_work *)rec_at(&l, 4, EV_WORK_START))->work, 0xffff8881028bb440);
	expect_eq(l.info->nr_symbols, 1);
	assert_string_equal(l.info->symbols[0].name, "add");
	rec_at(&l, 5, EV_SUSPEND);
}

static void unreadable_lines_are_counted(void **state)
{
	(void)state;
	load_text("is the end of a line\n" AT "softirq_exit: vec=1\n"
	          "rubbish\n"
	          "              sh-20      [0\n" AT "sched_switch: prev_comm=sh prev_pid=\n" AT
	          "softirq_exit: vec=99999999999999999999999\n"
	          "              sh-20      [9999] ....    11.000035: softirq_exit: vec=1\n" AT
	          "softirq_exit: vec=2\n"
	          "              sh-20      [001] ....    11.00003");
	expect_eq(l.nr, 2);
	expect_eq(counted_damage(l.info, "text_lines_unreadable"), 2);
	expect_eq(counted_of(l.info, "text_lines_unreadable"), 7);
	expect_eq(counted_of(l.info, "text_events_unreadable"), 7);
	expect_eq(counted_damage(l.info, "text_events_unreadable"), 2);
	expect_eq(counted_damage(l.info, "cpu_out_of_range"), 1);
	expect_eq(counted_damage(l.info, "truncated_bytes"), 47);
	expect_eq(l.info->nr_packets, 7);
	expect_eq(counted_events(l.info, "sched_switch"), 0);
}

static void counts_are_no_times(void **state)
{
	(void)state;
	refuses(HEADER "              sh-20      [001] ....         2037: softirq_exit: vec=1\n"
	               "              sh-20      [001] ....         2038: softirq_exit: vec=1\n");
	assert_non_null(strstr(l.d.what, "counts without a unit"));
}

static void other_tracers_are_named(void **state)
{
	(void)state;
	refuses("# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n"
	        " 0)   0.633 us    |  idle_cpu();\n");
	assert_non_null(strstr(l.d.what, "function_graph"));
}

static void an_empty_trace_has_no_events(void **state)
{
	(void)state;
	load_text(HEADER);
	expect_eq(l.nr, 0);
	expect_eq(l.info->has_time, false);
}

static void other_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"root:x:0:0:root:/root:/bin/bash\nbin:x:1:1:bin:/bin:/sbin/nologin\n",
		"#include <stdio.h>\n\nint main(void)\n{\n\treturn a[0] - 1;\n}\n",
		"{\"traceEvents\":[{\"ts\":12.5,\"pid\":1}]}\n",
		"Nov 17 22:28:01 host sshd[123]: Accepted publickey for a from 1.2.3.4 port 5\n",
		"[   12.345678] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n",
		"2026-11-17 22:28:01.123456 app-1 [main] INFO  a.b.C: started in 1.5 s\n",
		"1700000000.123456: app: started\n",
		"server 12 1700000000.123456: module: started\n",
		"a-1 [2] b\nc-1 [2] d\n",
		"#!/bin/sh\n# tracer\necho 1\n",
		"# comments\n# only\n",
		"cpus=2\n",
		"\n\n\n",
		"x",
		"<!DOCTYPE html><html><body>class=\"trace-data\"</body></html>",
		"<html><script class=\"trace-data\" type=\"application/text\">USER PID\nroot 1\n</script>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_text(texts[i]);
		if (!l.err)
			print_message("%s\n", texts[i]);
		assert_true(l.err < 0);
		assert_null(strstr(l.d.what, "CPU"));
	}
}

static void systrace_is_html(void **state)
{
	(void)state;
	load_text(
		"\n<!DOCTYPE html>\n<html><head><script>var x = 'class=';</script></head><body>\n"
		"<script class=\"trace-data\" type=\"application/text\">\nUSER PID PPID\nroot 1 0\n</script>\n"
		"  <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n#\n"
		"          <idle>-0     (-----) [001] d.h2  12.000034: sched_waking: comm=perl pid=31 prio=120 target_cpu=003\n"
		"          perl-31      (   31) [001] d..2  12.000035: softirq_exit: vec=1\n"
		"  </script>\n"
		"<script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n#\n"
		"       &lt;...&gt;-32     (   31) [001] d.h2  12.000036: sched_switch: prev_comm=a&amp;b prev_pid=32 prev_prio=120 prev_state=S ==&gt; next_comm=perl next_pid=31 next_prio=120\n"
		"</script></body></html>\n");
	expect_eq(l.nr, 3);
	(void)rec_at(&l, 0, EV_WAKING);
	(void)rec_at(&l, 1, EV_SOFTIRQ_EXIT);
	expect_eq(((const struct ev_switch *)rec_at(&l, 2, EV_SWITCH))->prev_tid, 32);
	expect_eq(counted_damage(l.info, "text_lines_unreadable"), 0);
}

/* Bytes of any kind, lines of any length: nothing is read beyond them, and each takes its time only once. */
static void hostile_lines_are_skipped(void **state)
{
	static const char good[] = AT "softirq_exit: vec=1\n";
	size_t size = 1 << 20, len = sizeof(good) - 1;
	char *text = malloc(size + 2 * len);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < 4; i++) {
		static const char fill[] = { '[', '-', ' ', ':' };

		loaded_done(&l);
		memcpy(text, good, len);
		memset(text + len, fill[i], size - 1);
		text[len + size - 1] = '\n';
		memcpy(text + len + size, good, len);
		load_cfg(&l, text, size + 2 * len, NULL);
		expect_eq(l.err, 0);
		expect_eq(l.nr, 2);
	}
	free(text);
}

static void a_small_budget_is_said(void **state)
{
	const struct trace_read_cfg cfg = { .max_bytes = 100 };
	const char *text = AT "softirq_exit: vec=1\n";

	(void)state;
	load_cfg(&l, text, strlen(text), &cfg);
	expect_eq(l.err, -E2BIG);
}

static void an_error_of_the_sink_ends_it(void **state)
{
	const char *text = AT "softirq_exit: vec=1\n" AT "softirq_exit: vec=1\n";

	(void)state;
	l.fail_after = 2;
	load_cfg(&l, text, strlen(text), NULL);
	expect_eq(l.err, -EPIPE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_file_of_tracefs_is_read),
		TEST(columns_may_be_missing),
		TEST(flags_say_whether_an_interrupt_wakes),
		TEST(lines_of_one_microsecond_stay_in_order),
		TEST(times_are_exact),
		TEST(names_hold_anything),
		TEST(processes_come_from_the_column),
		TEST(names_in_events_go_first),
		TEST(states_are_letters),
		TEST(what_trace_cmd_prints_in_its_own_way_is_read),
		TEST(lives_are_read),
		TEST(interrupts_and_work_are_read),
		TEST(disks_and_power_are_read),
		TEST(a_blocked_reason_names_its_function),
		TEST(losses_are_of_their_cpu),
		TEST(cpus_begin_where_their_buffers_do),
		TEST(the_header_says_which_flag_is_which),
		TEST(events_without_use_are_counted_by_name),
		TEST(raw_fields_are_read_by_their_names),
		TEST(unreadable_lines_are_counted),
		TEST(counts_are_no_times),
		TEST(other_tracers_are_named),
		TEST(an_empty_trace_has_no_events),
		TEST(other_text_is_refused),
		TEST(systrace_is_html),
		TEST(hostile_lines_are_skipped),
		TEST(a_small_budget_is_said),
		TEST(an_error_of_the_sink_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
