/* Fields of the kernel's events by their names, as /sys/kernel/tracing/events/.../format has them. */
#include <string.h>

#include "trace/ftrace/events.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct field_name {
	uint8_t nr;
	const char *name;
};

static const struct field_name switch_fields[] = {
	{ SWITCH_PREV_COMM, "prev_comm" }, { SWITCH_PREV_PID, "prev_pid" },
	{ SWITCH_PREV_PRIO, "prev_prio" }, { SWITCH_PREV_STATE, "prev_state" },
	{ SWITCH_NEXT_COMM, "next_comm" }, { SWITCH_NEXT_PID, "next_pid" },
	{ SWITCH_NEXT_PRIO, "next_prio" },
};
static const struct field_name wake_fields[] = {
	{ WAKE_COMM, "comm" },
	{ WAKE_PID, "pid" },
	{ WAKE_PRIO, "prio" },
	{ WAKE_TARGET_CPU, "target_cpu" },
};
static const struct field_name blocked_fields[] = {
	{ BLOCKED_PID, "pid" },
	{ BLOCKED_CALLER, "caller" },
	{ BLOCKED_IO_WAIT, "io_wait" },
};
static const struct field_name migrate_fields[] = {
	{ MIGRATE_COMM, "comm" },         { MIGRATE_PID, "pid" },
	{ MIGRATE_PRIO, "prio" },         { MIGRATE_ORIG_CPU, "orig_cpu" },
	{ MIGRATE_DEST_CPU, "dest_cpu" },
};
static const struct field_name newtask_fields[] = {
	{ NEWTASK_PID, "pid" },
	{ NEWTASK_COMM, "comm" },
	{ NEWTASK_CLONE_FLAGS, "clone_flags" },
};
static const struct field_name rename_fields[] = {
	{ RENAME_PID, "pid" },
	{ RENAME_OLDCOMM, "oldcomm" },
	{ RENAME_NEWCOMM, "newcomm" },
};
static const struct field_name fork_fields[] = {
	{ FORK_PARENT_COMM, "parent_comm" },
	{ FORK_PARENT_PID, "parent_pid" },
	{ FORK_CHILD_COMM, "child_comm" },
	{ FORK_CHILD_PID, "child_pid" },
};
static const struct field_name exec_fields[] = {
	{ EXEC_FILENAME, "filename" },
	{ EXEC_PID, "pid" },
	{ EXEC_OLD_PID, "old_pid" },
};
static const struct field_name exit_fields[] = {
	{ EXIT_COMM, "comm" },
	{ EXIT_PID, "pid" },
	{ EXIT_PRIO, "prio" },
};
static const struct field_name task_fields[] = {
	{ TASK_COMM, "comm" },
	{ TASK_PID, "pid" },
	{ TASK_PRIO, "prio" },
};
static const struct field_name irq_entry_fields[] = {
	{ IRQ_ENTRY_IRQ, "irq" },
	{ IRQ_ENTRY_NAME, "name" },
};
static const struct field_name irq_exit_fields[] = {
	{ IRQ_EXIT_IRQ, "irq" },
	{ IRQ_EXIT_RET, "ret" },
};
static const struct field_name softirq_fields[] = { { SOFTIRQ_VEC, "vec" } };
static const struct field_name ipi_fields[] = { { IPI_REASON, "reason" } };
static const struct field_name ipi_raise_fields[] = { { IPI_RAISE_TARGET_CPUS, "target_cpus" } };
static const struct field_name work_fields[] = {
	{ WORK_WORK, "work" },
	{ WORK_FUNCTION, "function" },
};
static const struct field_name idle_fields[] = {
	{ CPU_IDLE_STATE, "state" },
	{ CPU_IDLE_CPU, "cpu_id" },
};
static const struct field_name frequency_fields[] = {
	{ CPU_FREQUENCY_STATE, "state" },
	{ CPU_FREQUENCY_CPU, "cpu_id" },
};
static const struct field_name cpuhp_enter_fields[] = {
	{ CPUHP_ENTER_CPU, "cpu" },
	{ CPUHP_ENTER_IDX, "idx" },
	{ CPUHP_ENTER_TARGET, "target" },
};
static const struct field_name cpuhp_exit_fields[] = {
	{ CPUHP_EXIT_CPU, "cpu" },
	{ CPUHP_EXIT_IDX, "idx" },
	{ CPUHP_EXIT_RET, "ret" },
	{ CPUHP_EXIT_STATE, "state" },
};
static const struct field_name gpu_mem_fields[] = {
	{ GPU_MEM_GPU_ID, "gpu_id" },
	{ GPU_MEM_PID, "pid" },
	{ GPU_MEM_SIZE, "size" },
};
static const struct field_name cpu_util_fields[] = {
	{ CPU_UTIL_CAPACITY, "capacity" },
	{ CPU_UTIL_CPU, "cpu" },
	{ CPU_UTIL_UTIL, "cpu_util" },
	{ CPU_UTIL_NR_RUNNING, "nr_running" },
};
static const struct field_name block_fields[] = {
	{ BLOCK_DEV, "dev" },
	{ BLOCK_SECTOR, "sector" },
	{ BLOCK_NR_SECTOR, "nr_sector" },
	{ BLOCK_RWBS, "rwbs" },
};
static const struct field_name net_fields[] = {
	{ NET_LEN, "len" },
	{ NET_NAME, "name" },
};
static const struct field_name page_alloc_fields[] = { { PAGE_ALLOC_ORDER, "order" } };
static const struct field_name page_free_fields[] = { { PAGE_FREE_ORDER, "order" } };
static const struct field_name reclaim_fields[] = { { RECLAIM_BEGIN_ORDER, "order" } };
static const struct field_name fsync_fields[] = {
	{ SYNC_FILE_DEV, "dev" },
	{ SYNC_FILE_INO, "ino" },
};
static const struct field_name suspend_fields[] = {
	{ SUSPEND_ACTION, "action" },
	{ SUSPEND_VAL, "val" },
	{ SUSPEND_START, "start" },
};

static const struct field_name print_fields[] = { { MARK_TEXT, "buf" } };

/* Arguments are an array, see format.c. */
static const struct field_name call_fields[] = { { CALL_ID, "id" }, { CALL_ARG0, "args" } };

#define EVENT(member, fields)                                \
	{                                                    \
		fields, FTRACE_##member, (uint8_t)NR(fields) \
	}
static const struct {
	const struct field_name *fields;
	uint32_t member;
	uint8_t nr;
} events[] = {
	EVENT(SCHED_SWITCH, switch_fields),
	EVENT(SCHED_WAKING, wake_fields),
	EVENT(SCHED_WAKEUP, wake_fields),
	EVENT(SCHED_WAKEUP_NEW, wake_fields),
	EVENT(SCHED_BLOCKED_REASON, blocked_fields),
	EVENT(SCHED_MIGRATE_TASK, migrate_fields),
	EVENT(TASK_NEWTASK, newtask_fields),
	EVENT(TASK_RENAME, rename_fields),
	EVENT(SCHED_PROCESS_FORK, fork_fields),
	EVENT(SCHED_PROCESS_EXEC, exec_fields),
	EVENT(SCHED_PROCESS_EXIT, exit_fields),
	EVENT(SCHED_PROCESS_FREE, task_fields),
	EVENT(SCHED_PROCESS_HANG, task_fields),
	EVENT(SCHED_PROCESS_WAIT, task_fields),
	EVENT(IRQ_HANDLER_ENTRY, irq_entry_fields),
	EVENT(IRQ_HANDLER_EXIT, irq_exit_fields),
	EVENT(SOFTIRQ_ENTRY, softirq_fields),
	EVENT(SOFTIRQ_EXIT, softirq_fields),
	EVENT(IPI_ENTRY, ipi_fields),
	EVENT(IPI_EXIT, ipi_fields),
	EVENT(IPI_RAISE, ipi_raise_fields),
	EVENT(WORKQUEUE_EXECUTE_START, work_fields),
	EVENT(WORKQUEUE_EXECUTE_END, work_fields),
	EVENT(CPU_IDLE, idle_fields),
	EVENT(CPU_FREQUENCY, frequency_fields),
	EVENT(CPUHP_ENTER, cpuhp_enter_fields),
	EVENT(CPUHP_EXIT, cpuhp_exit_fields),
	EVENT(GPU_MEM_TOTAL, gpu_mem_fields),
	EVENT(SCHED_CPU_UTIL_CFS, cpu_util_fields),
	EVENT(BLOCK_RQ_INSERT, block_fields),
	EVENT(BLOCK_RQ_ISSUE, block_fields),
	EVENT(BLOCK_RQ_COMPLETE, block_fields),
	EVENT(NETIF_RECEIVE_SKB, net_fields),
	EVENT(NET_DEV_XMIT, net_fields),
	EVENT(MM_PAGE_ALLOC, page_alloc_fields),
	EVENT(MM_PAGE_FREE, page_free_fields),
	EVENT(DIRECT_RECLAIM_BEGIN, reclaim_fields),
	EVENT(EXT4_SYNC_FILE_ENTER, fsync_fields),
	EVENT(EXT4_SYNC_FILE_EXIT, fsync_fields),
	EVENT(SUSPEND_RESUME, suspend_fields),
	EVENT(PRINT, print_fields),
	EVENT(SYS_ENTER, call_fields),
	EVENT(SYS_EXIT, call_fields),
};

uint32_t ftrace_fields(uint32_t member)
{
	uint32_t all = 0;

	for (size_t i = 0; i < NR(events); i++)
		for (size_t k = 0; k < events[i].nr && events[i].member == member; k++)
			all |= 1U << events[i].fields[k].nr;
	return all;
}

uint32_t ftrace_field(uint32_t member, const char *name, size_t len)
{
	const struct field_name *f = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < NR(events); i++)
		if (events[i].member == member) {
			f = events[i].fields;
			nr = events[i].nr;
		}
	for (size_t i = 0; i < nr; i++)
		if (strlen(f[i].name) == len && memcmp(f[i].name, name, len) == 0)
			return f[i].nr;
	return 0;
}
