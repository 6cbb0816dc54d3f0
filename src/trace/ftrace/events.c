#include "trace/ftrace/events.h"
#include "trace/ftrace/fields.h"
#include "trace/perfetto/schema.h"

enum { /* members that we read and do not write */
       FTRACE_CPU_FREQUENCY_LIMITS = 12,
       FTRACE_SCHED_CPU_HOTPLUG = 19,
       FTRACE_SOFTIRQ_RAISE = 26,
       FTRACE_WORKQUEUE_ACTIVATE = 56,
       FTRACE_WORKQUEUE_QUEUE = 59,
       FTRACE_SWITCH_WITH_CTRS = 487,
       FTRACE_BLOCK_IO_START = 546,
       FTRACE_BLOCK_IO_DONE = 547,
};

static void on_switch(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_switch *rec;

	if (on->fix->drops_ftrace_switches)
		return;
	see(on, e, tid(e, SWITCH_PREV_PID), SWITCH_PREV_COMM);
	see(on, e, tid(e, SWITCH_NEXT_PID), SWITCH_NEXT_COMM);
	rec = ADD(on, e, EV_SWITCH, ev_switch);
	rec->prev_tid = tid(e, SWITCH_PREV_PID);
	rec->next_tid = tid(e, SWITCH_NEXT_PID);
	rec->prev_state = ftrace_state(on, num(e, SWITCH_PREV_STATE));
	rec->prev_prio = prio_of(num(e, SWITCH_PREV_PRIO));
	rec->next_prio = prio_of(num(e, SWITCH_NEXT_PRIO));
}

/* A dialect of Android's: other fields, the same meaning, no priorities. */
static void on_switch_with_ctrs(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	enum {
		OLD_PID = 1,
		NEW_PID = 2,
		PREV_COMM = 12,
		PREV_PID = 13,
		NEXT_PID = 18,
		NEXT_COMM = 19,
		STATE = 20
	};
	uint32_t prev = tid(e, e->has & 1U << PREV_PID ? PREV_PID : OLD_PID);
	uint32_t next = tid(e, e->has & 1U << NEXT_PID ? NEXT_PID : NEW_PID);
	struct ev_switch *rec;

	see(on, e, prev, PREV_COMM);
	see(on, e, next, NEXT_COMM);
	rec = ADD(on, e, EV_SWITCH, ev_switch);
	rec->prev_tid = prev;
	rec->next_tid = next;
	rec->prev_state = ftrace_state(on, num(e, STATE));
	rec->prev_prio = rec->next_prio = 0;
}

static void wake(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint8_t kind)
{
	struct ev_wake *rec;
	bool is_inferred = on->fix->infers_waker || !e->has_pid;

	if (on->fix->drops_ftrace_wakes)
		return;
	see(on, e, tid(e, WAKE_PID), WAKE_COMM);
	if (!is_inferred)
		decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, kind, ev_wake);
	if (on->fix->is_waker_unknown)
		rec->hdr.flags |= EV_FLAG_UNKNOWN;
	else if (is_inferred)
		rec->hdr.flags |= REC_INFER;
	rec->tid = tid(e, WAKE_PID);
	rec->waker_tid = is_inferred || on->fix->is_waker_unknown ? 0 : e->pid;
	rec->target_cpu = (uint32_t)num(e, WAKE_TARGET_CPU);
	rec->prio = prio_of(num(e, WAKE_PRIO));
	/* A new task is never started in an interrupt. */
	rec->by = kind == EV_WAKEUP_NEW ? ABI_BY_UNKNOWN : e->by;
}

static void on_waking(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	wake(on, e, EV_WAKING);
}

static void on_wakeup(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	wake(on, e, EV_WAKEUP);
}

static void on_wakeup_new(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	wake(on, e, EV_WAKEUP_NEW);
}

static void on_migrate(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_migrate *rec;

	see(on, e, tid(e, MIGRATE_PID), MIGRATE_COMM);
	rec = ADD(on, e, EV_MIGRATE, ev_migrate);
	rec->tid = tid(e, MIGRATE_PID);
	rec->from_cpu = (uint32_t)num(e, MIGRATE_ORIG_CPU);
	rec->to_cpu = (uint32_t)num(e, MIGRATE_DEST_CPU);
	rec->prio = prio_of(num(e, MIGRATE_PRIO));
	rec->pad_ = 0;
}

/* Processes are filled in by the merge, which knows the parent's. */
static void on_newtask(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_fork *rec;
	bool is_thread = num(e, NEWTASK_CLONE_FLAGS) & CLONE_FLAG_THREAD;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_FORK, ev_fork);
	rec->parent_tid = e->pid;
	rec->parent_tgid = 0;
	rec->tid = tid(e, NEWTASK_PID);
	rec->tgid = is_thread ? 0 : rec->tid;
	copy_text(rec->comm, sizeof(rec->comm), e, NEWTASK_COMM);
}

static void on_fork(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_fork *rec;

	see(on, e, tid(e, FORK_PARENT_PID), FORK_PARENT_COMM);
	rec = ADD(on, e, EV_FORK, ev_fork);
	rec->hdr.flags |= REC_IS_FORK;
	rec->parent_tid = tid(e, FORK_PARENT_PID);
	rec->parent_tgid = 0;
	rec->tid = tid(e, FORK_CHILD_PID);
	rec->tgid = 0;
	copy_text(rec->comm, sizeof(rec->comm), e, FORK_CHILD_COMM);
}

/* The new name is the end of the file's. */
static void on_exec(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	size_t len = e->texts & 1U << EXEC_FILENAME ? (size_t)e->values[EXEC_FILENAME] : 0;
	const uint8_t *name = len ? e->bytes[EXEC_FILENAME] : NULL;
	const uint8_t *slash = len ? memrchr(name, '/', len) : NULL;
	struct ev_exec *rec;

	if (slash) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	decoder_see_tid(on->dec, e->ts_ns, tid(e, EXEC_PID));
	rec = ADD(on, e, EV_EXEC, ev_exec);
	rec->tid = tid(e, EXEC_PID);
	rec->old_tid = e->has & 1U << EXEC_OLD_PID ? tid(e, EXEC_OLD_PID) : rec->tid;
	names_comm(rec->comm, name, len);
}

static void on_exit(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_exit *rec;

	see(on, e, tid(e, EXIT_PID), EXIT_COMM);
	rec = ADD(on, e, EV_EXIT, ev_exit);
	rec->tid = tid(e, EXIT_PID);
	rec->tgid = tid(e, EXIT_TGID);
	rec->prio = prio_of(num(e, EXIT_PRIO));
	memset(rec->pad_, 0, sizeof(rec->pad_));
	copy_text(rec->comm, sizeof(rec->comm), e, EXIT_COMM);
}

static void on_rename(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_rename *rec;

	see(on, e, tid(e, RENAME_PID), RENAME_OLDCOMM);
	rec = ADD(on, e, EV_RENAME, ev_rename);
	rec->tid = tid(e, RENAME_PID);
	rec->tgid = 0;
	copy_text(rec->old_comm, sizeof(rec->old_comm), e, RENAME_OLDCOMM);
	copy_text(rec->comm, sizeof(rec->comm), e, RENAME_NEWCOMM);
}

/* Free, hang and wait have records of one shape. */
static void task(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint8_t kind, uint32_t who)
{
	struct ev_task *rec;

	see(on, e, who, TASK_COMM);
	rec = ADD(on, e, kind, ev_task);
	rec->tid = who;
	rec->prio = prio_of(num(e, TASK_PRIO));
	rec->pad_ = 0;
	copy_text(rec->comm, sizeof(rec->comm), e, TASK_COMM);
}

static void on_free(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	task(on, e, EV_FREE, tid(e, TASK_PID));
}

static void on_hang(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	task(on, e, EV_HANG, tid(e, TASK_PID));
}

/* The name and priority are those of the task that waits, the pid is the one for which it waits. */
static void on_wait(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	task(on, e, EV_WAIT, e->has_pid && e->pid ? e->pid : tid(e, TASK_PID));
}

static void on_softirq(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_softirq *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, e->member == FTRACE_SOFTIRQ_ENTRY ? EV_SOFTIRQ_ENTRY : EV_SOFTIRQ_EXIT,
	          ev_softirq);
	rec->vector = (uint32_t)num(e, SOFTIRQ_VEC);
	rec->tid = e->pid;
}

static void on_irq_entry(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_irq_entry *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_IRQ_ENTRY, ev_irq_entry);
	rec->irq = (uint32_t)num(e, IRQ_ENTRY_IRQ);
	rec->tid = e->pid;
	copy_text(rec->name, sizeof(rec->name), e, IRQ_ENTRY_NAME);
}

static void on_irq_exit(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_irq_exit *rec = ADD(on, e, EV_IRQ_EXIT, ev_irq_exit);

	rec->irq = (uint32_t)num(e, IRQ_EXIT_IRQ);
	rec->ret = pb_to_int32(num(e, IRQ_EXIT_RET));
}

static void on_ipi(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_ipi *rec = ADD(on, e, e->member == FTRACE_IPI_ENTRY ? EV_IPI_ENTRY : EV_IPI_EXIT,
	                         ev_ipi);

	copy_text(rec->reason, sizeof(rec->reason), e, IPI_REASON);
}

static void on_ipi_raise(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	uint64_t mask = num(e, IPI_RAISE_TARGET_CPUS);
	struct ev_ipi_send *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_IPI_SEND, ev_ipi_send);
	rec->tid = e->pid;
	rec->callsite = rec->callback = 0;
	if (on->fix->has_ipi_number)
		rec->target_cpu = (uint32_t)mask;
	else
		rec->target_cpu = mask && !(mask & (mask - 1)) ? (uint32_t)__builtin_ctzll(mask)
		                                               : ~0U;
}

/* The name of a function where it is known, else its address. */
static uint64_t symbol(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint32_t field)
{
	uint32_t text = 0;

	if (e->texts & 1U << field)
		text = decoder_text(on->dec, (const char *)e->bytes[field],
		                    (size_t)e->values[field]);
	else if (on->find_symbol)
		text = on->find_symbol(on, num(e, field));
	if (!text)
		return num(e, field);
	tally_text(&on->dec->tally->symbols, text, 1);
	return READER_SYMBOL | text;
}

static void on_work(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_work *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, e->member == FTRACE_WORKQUEUE_EXECUTE_START ? EV_WORK_START : EV_WORK_END,
	          ev_work);
	rec->work = num(e, WORK_WORK);
	rec->function = symbol(on, e, WORK_FUNCTION);
	rec->tid = e->pid;
	rec->pad_ = 0;
}

static void on_blocked(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_blocked *rec;

	decoder_see_tid(on->dec, e->ts_ns, tid(e, BLOCKED_PID));
	rec = ADD(on, e, EV_BLOCKED, ev_blocked);
	rec->caller = symbol(on, e, BLOCKED_CALLER);
	rec->tid = tid(e, BLOCKED_PID);
	rec->is_io = num(e, BLOCKED_IO_WAIT) != 0;
}

static void on_sleep(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	uint64_t call = num(e, SLEEP_CALL);
	struct ev_sleep *rec;

	decoder_see_tid(on->dec, e->ts_ns, tid(e, SLEEP_PID));
	rec = ADD(on, e, EV_SLEEP, ev_sleep);
	rec->tid = tid(e, SLEEP_PID);
	rec->call = (uint16_t)(call < ABI_CALL_MAX ? call : ABI_CALL_UNKNOWN);
	rec->nr = (uint16_t)num(e, SLEEP_NR);
	rec->args[0] = num(e, SLEEP_ARG0);
	rec->args[1] = num(e, SLEEP_ARG1);
}

static void on_cpu_idle(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_cpu_idle *rec = ADD(on, e, EV_CPU_IDLE, ev_cpu_idle);

	rec->state = (uint32_t)num(e, CPU_IDLE_STATE);
	rec->cpu = (uint32_t)num(e, CPU_IDLE_CPU);
}

static void on_cpu_freq(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_cpu_freq *rec = ADD(on, e, EV_CPU_FREQ, ev_cpu_freq);

	rec->khz = (uint32_t)num(e, CPU_FREQUENCY_STATE);
	rec->cpu = (uint32_t)num(e, CPU_FREQUENCY_CPU);
}

static void on_cpuhp(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_cpu_hotplug *rec = ADD(on, e, EV_CPU_HOTPLUG, ev_cpu_hotplug);
	bool is_exit = e->member == FTRACE_CPUHP_EXIT;

	rec->cpu = (uint32_t)num(e, is_exit ? CPUHP_EXIT_CPU : CPUHP_ENTER_CPU);
	rec->target = pb_to_int32(num(e, is_exit ? CPUHP_EXIT_STATE : CPUHP_ENTER_TARGET));
	rec->step = pb_to_int32(num(e, is_exit ? CPUHP_EXIT_IDX : CPUHP_ENTER_IDX));
	rec->ret = is_exit ? pb_to_int32(num(e, CPUHP_EXIT_RET)) : 0;
	rec->is_exit = is_exit;
	rec->pad_ = 0;
}

static void on_gpu_mem(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_gpu_mem *rec;

	decoder_see_tid(on->dec, e->ts_ns, tid(e, GPU_MEM_PID));
	rec = ADD(on, e, EV_GPU_MEM, ev_gpu_mem);
	rec->bytes = num(e, GPU_MEM_SIZE);
	rec->gpu = (uint32_t)num(e, GPU_MEM_GPU_ID);
	rec->tgid = tid(e, GPU_MEM_PID);
}

/* The number of the probe is that of its name until the merge assigns its own. */
static void on_kprobe(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	size_t len = e->texts & 1U << KPROBE_NAME ? (size_t)e->values[KPROBE_NAME] : 0;
	struct ev_probe *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_PROBE, ev_probe);
	rec->probe = len ? decoder_text(on->dec, (const char *)e->bytes[KPROBE_NAME], len) : 0;
	rec->tid = e->pid;
	rec->ip = num(e, KPROBE_TYPE); /* until the merge has paired it */
}

static void on_block(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_block *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_BLOCK, ev_block);
	rec->dev = num(e, BLOCK_DEV);
	rec->sector = num(e, BLOCK_SECTOR);
	rec->nr_sectors = (uint32_t)num(e, BLOCK_NR_SECTOR);
	rec->tid = e->pid;
	if (e->member == FTRACE_BLOCK_RQ_INSERT)
		rec->step = EV_BLOCK_INSERT;
	else
		rec->step = e->member == FTRACE_BLOCK_RQ_ISSUE ? EV_BLOCK_ISSUE : EV_BLOCK_COMPLETE;
	copy_text(rec->rwbs, sizeof(rec->rwbs), e, BLOCK_RWBS);
}

/* The same request seen by the accounting of the kernel: the merge drops it where block_rq_issue is recorded, too. */
static void on_block_io(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	enum { RWBS_AFTER_IOPRIO = 6 };
	struct ev_block *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_BLOCK, ev_block);
	rec->hdr.flags |= REC_IS_IO;
	rec->dev = num(e, BLOCK_DEV);
	rec->sector = num(e, BLOCK_SECTOR);
	rec->nr_sectors = (uint32_t)num(e, BLOCK_NR_SECTOR);
	rec->tid = e->pid;
	rec->step = e->member == FTRACE_BLOCK_IO_START ? EV_BLOCK_ISSUE : EV_BLOCK_COMPLETE;
	copy_text(rec->rwbs, sizeof(rec->rwbs), e,
	          e->texts & 1U << BLOCK_RWBS ? BLOCK_RWBS : RWBS_AFTER_IOPRIO);
}

static void on_net(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_net *rec = ADD(on, e, EV_NET, ev_net);

	rec->bytes = (uint32_t)num(e, NET_LEN);
	rec->is_sent = e->member == FTRACE_NET_DEV_XMIT;
	copy_text(rec->name, sizeof(rec->name), e, NET_NAME);
}

static void on_memory(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_memory *rec;
	uint64_t order = 0;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_MEMORY, ev_memory);
	rec->tid = e->pid;
	rec->pad_ = 0;
	if (e->member == FTRACE_MM_PAGE_ALLOC) {
		rec->step = EV_PAGE_ALLOC;
		order = num(e, PAGE_ALLOC_ORDER);
	} else if (e->member == FTRACE_MM_PAGE_FREE) {
		rec->step = EV_PAGE_FREE;
		order = num(e, PAGE_FREE_ORDER);
	} else if (e->member == FTRACE_DIRECT_RECLAIM_BEGIN) {
		rec->step = EV_RECLAIM_BEGIN;
		order = num(e, RECLAIM_BEGIN_ORDER);
	} else {
		rec->step = EV_RECLAIM_END;
	}
	rec->order = (uint8_t)(order < 64 ? order : 0);
}

static void on_fsync(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_fsync *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = ADD(on, e, EV_FSYNC, ev_fsync);
	rec->dev = num(e, SYNC_FILE_DEV);
	rec->inode = num(e, SYNC_FILE_INO);
	rec->tid = e->pid;
	rec->is_end = e->member == FTRACE_EXT4_SYNC_FILE_EXIT;
}

static void on_suspend(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_suspend *rec = ADD(on, e, EV_SUSPEND, ev_suspend);

	rec->value = pb_to_int32(num(e, SUSPEND_VAL));
	rec->is_start = num(e, SUSPEND_START) != 0;
	copy_text(rec->action, sizeof(rec->action), e, SUSPEND_ACTION);
}

struct ftrace_member {
	const char *name;
	void (*record)(struct ftrace_cpu *on,
	               const struct ftrace_event_in *e); /* NULL = only counted */
};

static const struct ftrace_member members[FTRACE_KNOWN] = {
	[FTRACE_PRINT] = { "print", ftrace_on_mark },
	[FTRACE_SCHED_SWITCH] = { "sched_switch", on_switch },
	[FTRACE_CPU_FREQUENCY] = { "cpu_frequency", on_cpu_freq },
	[FTRACE_CPU_FREQUENCY_LIMITS] = { "cpu_frequency_limits", NULL },
	[FTRACE_CPU_IDLE] = { "cpu_idle", on_cpu_idle },
	[FTRACE_SCHED_WAKEUP] = { "sched_wakeup", on_wakeup },
	[FTRACE_SCHED_BLOCKED_REASON] = { "sched_blocked_reason", on_blocked },
	[FTRACE_SCHED_CPU_HOTPLUG] = { "sched_cpu_hotplug", NULL },
	[FTRACE_SCHED_WAKING] = { "sched_waking", on_waking },
	[FTRACE_IPI_ENTRY] = { "ipi_entry", on_ipi },
	[FTRACE_IPI_EXIT] = { "ipi_exit", on_ipi },
	[FTRACE_IPI_RAISE] = { "ipi_raise", on_ipi_raise },
	[FTRACE_SOFTIRQ_ENTRY] = { "softirq_entry", on_softirq },
	[FTRACE_SOFTIRQ_EXIT] = { "softirq_exit", on_softirq },
	[FTRACE_SOFTIRQ_RAISE] = { "softirq_raise", NULL },
	[FTRACE_IRQ_HANDLER_ENTRY] = { "irq_handler_entry", on_irq_entry },
	[FTRACE_IRQ_HANDLER_EXIT] = { "irq_handler_exit", on_irq_exit },
	[FTRACE_EXT4_SYNC_FILE_ENTER] = { "ext4_sync_file_enter", on_fsync },
	[FTRACE_EXT4_SYNC_FILE_EXIT] = { "ext4_sync_file_exit", on_fsync },
	[FTRACE_BLOCK_RQ_ISSUE] = { "block_rq_issue", on_block },
	[FTRACE_DIRECT_RECLAIM_BEGIN] = { "mm_vmscan_direct_reclaim_begin", on_memory },
	[FTRACE_DIRECT_RECLAIM_END] = { "mm_vmscan_direct_reclaim_end", on_memory },
	[FTRACE_WORKQUEUE_ACTIVATE] = { "workqueue_activate_work", NULL },
	[FTRACE_WORKQUEUE_EXECUTE_END] = { "workqueue_execute_end", on_work },
	[FTRACE_WORKQUEUE_EXECUTE_START] = { "workqueue_execute_start", on_work },
	[FTRACE_WORKQUEUE_QUEUE] = { "workqueue_queue_work", NULL },
	[FTRACE_CGROUP_ATTACH_TASK] = { "cgroup_attach_task", ftrace_cgroup },
	[FTRACE_CGROUP_MKDIR] = { "cgroup_mkdir", ftrace_cgroup_info },
	[FTRACE_MARK] = { "tracing_mark_write", ftrace_on_mark },
	[FTRACE_SUSPEND_RESUME] = { "suspend_resume", on_suspend },
	[FTRACE_SCHED_WAKEUP_NEW] = { "sched_wakeup_new", on_wakeup_new },
	[117] = { "block_bio_complete", NULL },
	[119] = { "block_bio_queue", NULL },
	[123] = { "block_plug", NULL },
	[FTRACE_BLOCK_RQ_COMPLETE] = { "block_rq_complete", on_block },
	[FTRACE_BLOCK_RQ_INSERT] = { "block_rq_insert", on_block },
	[128] = { "block_rq_remap", NULL },
	[129] = { "block_rq_requeue", NULL },
	[133] = { "block_unplug", NULL },
	[FTRACE_TASK_NEWTASK] = { "task_newtask", on_newtask },
	[FTRACE_TASK_RENAME] = { "task_rename", on_rename },
	[FTRACE_SCHED_PROCESS_EXEC] = { "sched_process_exec", on_exec },
	[FTRACE_SCHED_PROCESS_EXIT] = { "sched_process_exit", on_exit },
	[FTRACE_SCHED_PROCESS_FORK] = { "sched_process_fork", on_fork },
	[FTRACE_SCHED_PROCESS_FREE] = { "sched_process_free", on_free },
	[FTRACE_SCHED_PROCESS_HANG] = { "sched_process_hang", on_hang },
	[FTRACE_SCHED_PROCESS_WAIT] = { "sched_process_wait", on_wait },
	[FTRACE_MM_PAGE_ALLOC] = { "mm_page_alloc", on_memory },
	[FTRACE_MM_PAGE_FREE] = { "mm_page_free", on_memory },
	[313] = { "rss_stat", NULL },
	[324] = { "signal_deliver", NULL },
	[325] = { "signal_generate", NULL },
	[FTRACE_SYS_ENTER] = { "sys_enter", ftrace_on_call },
	[FTRACE_SYS_EXIT] = { "sys_exit", ftrace_on_call },
	[FTRACE_GPU_MEM_TOTAL] = { "gpu_mem_total", on_gpu_mem },
	[FTRACE_CPUHP_EXIT] = { "cpuhp_exit", on_cpuhp },
	[FTRACE_CPUHP_ENTER] = { "cpuhp_enter", on_cpuhp },
	[353] = { "sched_pi_setprio", NULL },
	[FTRACE_NETIF_RECEIVE_SKB] = { "netif_receive_skb", on_net },
	[FTRACE_NET_DEV_XMIT] = { "net_dev_xmit", on_net },
	[FTRACE_SCHED_CPU_UTIL_CFS] = { "sched_cpu_util_cfs", ftrace_on_cpu_util },
	[FTRACE_SWITCH_WITH_CTRS] = { "sched_switch_with_ctrs", on_switch_with_ctrs },
	[FTRACE_SCHED_MIGRATE_TASK] = { "sched_migrate_task", on_migrate },
	[540] = { "sched_wakeup_task_attr", NULL },
	[FTRACE_KPROBE_EVENT] = { "kprobe_event", on_kprobe },
	[FTRACE_BLOCK_IO_START] = { "block_io_start", on_block_io },
	[FTRACE_BLOCK_IO_DONE] = { "block_io_done", on_block_io },
	[551] = { "hrtimer_start", NULL },
	[552] = { "hrtimer_cancel", NULL },
	[553] = { "hrtimer_expire_entry", NULL },
	[554] = { "hrtimer_expire_exit", NULL },
	[555] = { "timer_start", NULL },
	[556] = { "timer_cancel", NULL },
	[557] = { "timer_expire_entry", NULL },
	[558] = { "timer_expire_exit", NULL },
	[559] = { "local_timer_entry", NULL },
	[560] = { "local_timer_exit", NULL },
	[FTRACE_THROTTLE] = { "throttle", ftrace_on_throttle },
	[FTRACE_REFILL] = { "refill", ftrace_on_refill },
	[FTRACE_STEAL] = { "steal", ftrace_on_steal },
	[FTRACE_SLEEP] = { "sleep", on_sleep },
	[FTRACE_RT_LIMIT] = { "rt_limit", ftrace_on_rt_limit },
	[FTRACE_THROTTLED] = { "throttled", ftrace_on_throttled },
	[FTRACE_POLICY] = { "policy", ftrace_policy },
	[FTRACE_LOCK] = { "lock", ftrace_lock },
};

const char *ftrace_name(uint32_t member)
{
	return member < FTRACE_KNOWN ? members[member].name : NULL;
}

bool ftrace_makes_record(uint32_t member)
{
	return member < FTRACE_KNOWN && members[member].record;
}

void ftrace_event_record(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	members[e->member].record(on, e);
}

uint32_t ftrace_member(const char *name, size_t len)
{
	for (uint32_t i = 0; i < FTRACE_KNOWN; i++)
		if (members[i].name && strlen(members[i].name) == len &&
		    memcmp(members[i].name, name, len) == 0)
			return i;
	return 0;
}
