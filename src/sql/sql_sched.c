/* The tables of what the scheduler did: slices, waits, sleeps, wakeups, migrations. */
#include <stdio.h>

#include "abi/event_check.h"
#include "analyses/sleep_ends.h"
#include "analyze/latency.h"
#include "model/interrupt.h"
#include "sql/sql_table_priv.h"

#define DEV_MINOR_BITS 20

static void row_id(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->id);
}

static void slice_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.slice.start_ns);
}

static void slice_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.slice.end_ns - r->row.slice.start_ns);
}

static void slice_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.slice.cpu);
}

static void slice_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.slice.task);
}

static void slice_end_state(const struct sql_row *r, struct sql_cell *c)
{
	if (r->row.slice.end == PAIR_END_RUNNABLE && r->row.slice.state_bits == EV_STATE_RUNNABLE)
		cell_text(c, "R");
	else if (r->row.slice.end != PAIR_END_OPEN)
		cell_state(c, r->row.slice.state_bits);
}

static void slice_priority(const struct sql_row *r, struct sql_cell *c)
{
	cell_priority(r, c, r->row.slice.prio);
}

static void slice_policy(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, ev_policy_name(r->row.slice.policy));
}

static void slice_is_open(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.slice.end == PAIR_END_OPEN);
}

static void slice_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_tid(r, c, r->row.slice.task);
}

static void slice_comm(const struct sql_row *r, struct sql_cell *c)
{
	cell_comm(r, c, r->row.slice.task, r->row.slice.start_ns);
}

static void slice_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	cell_cgroup(r, c, r->row.slice.task, r->row.slice.start_ns);
}

/* clang-format off */
static const struct sql_column slice_columns[] = {
	{ "id", SQL_INTEGER, SQL_KEY, "number of the row", row_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "switched in", slice_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until it was switched out; of one that is open, until the recording ends", slice_dur },
	{ "cpu", SQL_INTEGER, SQL_CPU, "on which it ran", slice_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task", slice_utid },
	{ "end_state", SQL_TEXT, SQL_PLAIN, "as it left: R or R+ still runnable, S, D, T, t, X, Z, P, I; null while open", slice_end_state },
	{ "priority", SQL_INTEGER, SQL_PLAIN, "as the kernel counts: -1 deadline, 0 to 99 real time, 100 to 139 fair (120 is nice 0)", slice_priority },
	{ "policy", SQL_TEXT, SQL_PLAIN, "NORMAL, FIFO, RR, BATCH, IDLE, DEADLINE, EXT, when it began", slice_policy },
	{ "is_open", SQL_INTEGER, SQL_PLAIN, "1 if it still ran when the recording ended", slice_is_open },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task", slice_tid },
	{ "comm", SQL_TEXT, SQL_PLAIN, "the name that the task had then", slice_comm },
	{ "cgroup_id", SQL_INTEGER, SQL_PLAIN, "cgroup.cgroup_id in which it was then", slice_cgroup },
};
/* clang-format on */

const struct sql_table sql_table_slice = {
	.name = "sched_slice",
	.doc = "times on a CPU, one row from each switch-in to the switch-out; idle is in the table idle",
	SQL_COLUMNS(slice_columns),
	.rows = TIMELINE_SLICE,
};

static uint64_t woken_ns(const struct sql_row *r)
{
	return pair_wait_woken_ns(&r->row.wait);
}

static void wait_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, woken_ns(r));
}

static void wait_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.wait.end_ns - woken_ns(r));
}

static void wait_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.wait.cpu);
}

static void wait_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.wait.task);
}

static void wait_cause(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, latency_cause(&r->row.wait));
}

static void wait_wakeup_ts(const struct sql_row *r, struct sql_cell *c)
{
	if (r->row.wait.cause != PAIR_PREEMPTED)
		cell_time(c, r->row.wait.wakeup_ns);
}

static void wait_queue_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.wait.end_ns - pair_wait_start_ns(&r->row.wait));
}

static void wait_waker_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_waker_utid(c, latency_waker(&r->row.wait));
}

static void wait_waker(const struct sql_row *r, struct sql_cell *c)
{
	cell_waker(r, c, latency_waker(&r->row.wait), woken_ns(r));
}

static void wait_waker_cpu(const struct sql_row *r, struct sql_cell *c)
{
	if (r->row.wait.cause != PAIR_PREEMPTED)
		cell_cpu(c, r->row.wait.waker_cpu);
}

static void wait_from_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.wait.from_cpu);
}

static void wait_is_open(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.wait.is_open);
}

static void wait_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_tid(r, c, r->row.wait.task);
}

static void wait_comm(const struct sql_row *r, struct sql_cell *c)
{
	cell_comm(r, c, r->row.wait.task, woken_ns(r));
}

static void wait_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	cell_cgroup(r, c, r->row.wait.task, woken_ns(r));
}

/* clang-format off */
static const struct sql_column wait_columns[] = {
	{ "id", SQL_INTEGER, SQL_KEY, "number of the row", row_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "woken (sched_waking where recorded, else the wakeup), or preempted", wait_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until it ran; of one that is open, until the recording ends; the sum of its wait_part.dur", wait_dur },
	{ "cpu", SQL_INTEGER, SQL_CPU, "where it ran in the end; while open, where it queues", wait_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task that waited", wait_utid },
	{ "cause", SQL_TEXT, SQL_PLAIN, "woken, new or preempted", wait_cause },
	{ "wakeup_ts", SQL_INTEGER, SQL_MANY, "put into a queue; null if not recorded, and of preempted tasks", wait_wakeup_ts },
	{ "queue_dur", SQL_INTEGER, SQL_MANY, "the part of dur since it was in a queue: from wakeup_ts where known", wait_queue_dur },
	{ "waker_utid", SQL_INTEGER, SQL_PLAIN, "the task that woke or forked it, or took its CPU; null for an interrupt", wait_waker_utid },
	{ "waker", SQL_TEXT, SQL_PLAIN, "the name of that task then, or the interrupt", wait_waker },
	{ "waker_cpu", SQL_INTEGER, SQL_PLAIN, "where the waker ran", wait_waker_cpu },
	{ "from_cpu", SQL_INTEGER, SQL_PLAIN, "where the task ran before", wait_from_cpu },
	{ "is_open", SQL_INTEGER, SQL_PLAIN, "1 if it still waited when the recording ended", wait_is_open },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task", wait_tid },
	{ "comm", SQL_TEXT, SQL_PLAIN, "the name that the task had then", wait_comm },
	{ "cgroup_id", SQL_INTEGER, SQL_PLAIN, "cgroup.cgroup_id in which it was then", wait_cgroup },
};
/* clang-format on */

const struct sql_table sql_table_wait = {
	.name = "wait",
	.doc = "times in which a task was runnable and did not run; why: wait_part",
	SQL_COLUMNS(wait_columns),
	.rows = TIMELINE_WAIT,
};

static void sleep_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.sleep.start_ns);
}

static void sleep_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.sleep.end_ns - r->row.sleep.start_ns);
}

static void sleep_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.sleep.cpu);
}

static void sleep_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.sleep.task);
}

static void sleep_state(const struct sql_row *r, struct sql_cell *c)
{
	cell_state(c, r->row.sleep.state_bits);
}

static void sleep_syscall(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, ev_call_name(r->row.sleep.call));
}

static void sleep_arg(const struct sql_row *r, struct sql_cell *c)
{
	if (ev_call_name(r->row.sleep.call))
		cell_hex(c, r->row.sleep.arg);
}

static void sleep_reason(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, sleep_for(sleep_call(r->v->s, &r->row.sleep)));
}

static uint32_t sleep_waker_key(const struct pair_sleep *s)
{
	enum abi_context in = interrupt_context(s->flags, s->by);

	return interrupt_is(in) ? interrupt_key(in, s->by) : s->waker;
}

static void sleep_waker_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_waker_utid(c, sleep_waker_key(&r->row.sleep));
}

static void sleep_waker(const struct sql_row *r, struct sql_cell *c)
{
	if (!r->row.sleep.is_open)
		cell_waker(r, c, sleep_waker_key(&r->row.sleep), r->row.sleep.end_ns);
}

static void sleep_device(const struct sql_row *r, struct sql_cell *c)
{
	uint32_t dev = r->row.sleep.dev;

	if (!dev)
		return;
	(void)snprintf(c->buf, sizeof(c->buf), "%u:%u", dev >> DEV_MINOR_BITS,
	               dev & ((1U << DEV_MINOR_BITS) - 1));
	cell_own(c);
}

static void sleep_is_open(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.sleep.is_open);
}

static void sleep_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_tid(r, c, r->row.sleep.task);
}

static void sleep_comm(const struct sql_row *r, struct sql_cell *c)
{
	cell_comm(r, c, r->row.sleep.task, r->row.sleep.start_ns);
}

static void sleep_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	cell_cgroup(r, c, r->row.sleep.task, r->row.sleep.start_ns);
}

/* clang-format off */
static const struct sql_column sleep_columns[] = {
	{ "id", SQL_INTEGER, SQL_KEY, "number of the row", row_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "switched out", sleep_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until the wakeup; of one that is open, until the recording ends", sleep_dur },
	{ "cpu", SQL_INTEGER, SQL_CPU, "on which it ran before", sleep_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task", sleep_utid },
	{ "state", SQL_TEXT, SQL_PLAIN, "S, D (uninterruptible), T, t, P, I", sleep_state },
	{ "syscall", SQL_TEXT, SQL_PLAIN, "system call in which it slept; needs record --events default,sleep", sleep_syscall },
	{ "arg", SQL_TEXT, SQL_MANY, "first argument of that call: a futex, a file; as 0x...", sleep_arg },
	{ "reason", SQL_TEXT, SQL_PLAIN, "what such a call waits for: a timer, a lock or a condition, ...", sleep_reason },
	{ "waker_utid", SQL_INTEGER, SQL_PLAIN, "the task that ended it; null for an interrupt", sleep_waker_utid },
	{ "waker", SQL_TEXT, SQL_PLAIN, "the name of that task then, or the interrupt", sleep_waker },
	{ "device", SQL_TEXT, SQL_PLAIN, "major:minor of the disk whose request ended it, where proven", sleep_device },
	{ "is_open", SQL_INTEGER, SQL_PLAIN, "1 if it still slept when the recording ended", sleep_is_open },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task", sleep_tid },
	{ "comm", SQL_TEXT, SQL_PLAIN, "the name that the task had then", sleep_comm },
	{ "cgroup_id", SQL_INTEGER, SQL_PLAIN, "cgroup.cgroup_id in which it was then", sleep_cgroup },
};
/* clang-format on */

const struct sql_table sql_table_sleep = {
	.name = "sleep",
	.doc = "times in which a task slept or was blocked",
	SQL_COLUMNS(sleep_columns),
	.rows = TIMELINE_SLEEP,
};

static void wakeup_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.wakeup.ts_ns);
}

static void wakeup_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.wakeup.task);
}

static void wakeup_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.wakeup.cpu);
}

static void wakeup_target_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.wakeup.target_cpu);
}

static uint32_t wakeup_key(const struct pair_wakeup *w)
{
	enum abi_context in = interrupt_context(w->flags, w->by);

	return interrupt_is(in) ? interrupt_key(in, w->by) : w->waker;
}

static void wakeup_waker_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_waker_utid(c, wakeup_key(&r->row.wakeup));
}

static void wakeup_waker(const struct sql_row *r, struct sql_cell *c)
{
	cell_waker(r, c, wakeup_key(&r->row.wakeup), r->row.wakeup.ts_ns);
}

static void wakeup_is_new(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.wakeup.is_new);
}

static void wakeup_is_running(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.wakeup.is_running);
}

static void wakeup_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_tid(r, c, r->row.wakeup.task);
}

static void wakeup_comm(const struct sql_row *r, struct sql_cell *c)
{
	cell_comm(r, c, r->row.wakeup.task, r->row.wakeup.ts_ns);
}

/* clang-format off */
static const struct sql_column wakeup_columns[] = {
	{ "id", SQL_INTEGER, SQL_KEY, "number of the row", row_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "sched_waking where recorded, else sched_wakeup", wakeup_ts },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task that is woken", wakeup_utid },
	{ "cpu", SQL_INTEGER, SQL_CPU, "where the waker runs", wakeup_cpu },
	{ "target_cpu", SQL_INTEGER, SQL_PLAIN, "where the task is put", wakeup_target_cpu },
	{ "waker_utid", SQL_INTEGER, SQL_PLAIN, "the task that wakes it, or its parent; null for an interrupt", wakeup_waker_utid },
	{ "waker", SQL_TEXT, SQL_PLAIN, "the name of that task then, or the interrupt", wakeup_waker },
	{ "is_new", SQL_INTEGER, SQL_PLAIN, "1 for the first one of a new task", wakeup_is_new },
	{ "is_running", SQL_INTEGER, SQL_PLAIN, "1 if the task was on a CPU at that moment: no wait follows", wakeup_is_running },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task", wakeup_tid },
	{ "comm", SQL_TEXT, SQL_PLAIN, "the name that the task had then", wakeup_comm },
};
/* clang-format on */

const struct sql_table sql_table_wakeup = {
	.name = "wakeup",
	.doc = "which task or interrupt woke which task, and when",
	SQL_COLUMNS(wakeup_columns),
	.rows = TIMELINE_WAKEUP,
};

static void migration_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.migration.ts_ns);
}

static void migration_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.migration.task);
}

static void migration_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.migration.cpu);
}

static void migration_from_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.migration.from_cpu);
}

static void migration_to_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.migration.to_cpu);
}

static void migration_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_tid(r, c, r->row.migration.task);
}

static void migration_comm(const struct sql_row *r, struct sql_cell *c)
{
	cell_comm(r, c, r->row.migration.task, r->row.migration.ts_ns);
}

/* clang-format off */
static const struct sql_column migration_columns[] = {
	{ "id", SQL_INTEGER, SQL_KEY, "number of the row", row_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "when", migration_ts },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task", migration_utid },
	{ "cpu", SQL_INTEGER, SQL_CPU, "which CPU moved it", migration_cpu },
	{ "from_cpu", SQL_INTEGER, SQL_PLAIN, "where it was", migration_from_cpu },
	{ "to_cpu", SQL_INTEGER, SQL_PLAIN, "where it is now", migration_to_cpu },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task", migration_tid },
	{ "comm", SQL_TEXT, SQL_PLAIN, "the name that the task had then", migration_comm },
};
/* clang-format on */

const struct sql_table sql_table_migration = {
	.name = "migration",
	.doc = "moves of a task to the queue of another CPU",
	SQL_COLUMNS(migration_columns),
	.rows = TIMELINE_MIGRATION,
};
