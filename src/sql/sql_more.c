/* The tables of what happened beside scheduling: counters, spans, limits, and times without data. */
#include <stdio.h>

#include "abi/event_check.h"
#include "analyze/dsq_name.h"
#include "model/interrupt.h"
#include "sql/sql_table_priv.h"

#define DEV_MINOR_BITS 20

static const char *const span_kinds[PAIR_SPAN_KINDS] = {
	[PAIR_IRQ] = "irq",
	[PAIR_SOFTIRQ] = "softirq",
	[PAIR_IPI] = "ipi",
	[PAIR_WORK] = "work",
	[PAIR_BLOCK_QUEUE] = "block_queue",
	[PAIR_BLOCK_DEVICE] = "block_device",
	[PAIR_BLOCK_TOTAL] = "block",
	[PAIR_RECLAIM] = "reclaim",
	[PAIR_FSYNC] = "fsync",
	[PAIR_LOCK] = "lock",
	[PAIR_NAMED] = "named",
};

static void row_id(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->id);
}

/* Of all these the time, or the beginning, comes first. */
static void first_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.counter.ts_ns);
}

static void counter_name(const struct sql_row *r, struct sql_cell *c)
{
	static const char *const names[] = {
		[PAIR_CPU_FREQ_KHZ] = "cpu_frequency_khz",
		[PAIR_CPU_IDLE_STATE] = "cpu_idle_state",
		[PAIR_HW_PRESSURE] = "hw_pressure",
		[PAIR_GPU_MEM_BYTES] = "gpu_memory_bytes",
		[PAIR_DSQ_DEPTH] = "dsq_depth",
	};
	const struct pair_counter *x = &r->row.counter;

	if (x->kind == PAIR_SCX_COUNTER || x->kind == PAIR_PROGRAM_COUNTER)
		cell_text(c, tasks_string(r->v->s->tasks, (uint32_t)x->id));
	else if (x->kind < sizeof(names) / sizeof(names[0]))
		cell_text(c, names[x->kind]);
}

static void counter_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.counter.cpu);
}

static void counter_value(const struct sql_row *r, struct sql_cell *c)
{
	if (r->row.counter.kind == PAIR_PROGRAM_COUNTER)
		cell_i64(c, (int64_t)r->row.counter.value);
	else if (r->row.counter.kind != PAIR_CPU_IDLE_STATE || r->row.counter.value != UINT32_MAX)
		cell_u64(c, r->row.counter.value);
}

static void counter_object(const struct sql_row *r, struct sql_cell *c)
{
	const struct pair_counter *x = &r->row.counter;

	if (x->kind == PAIR_DSQ_DEPTH) {
		cell_text(c, dsq_name(x->id, c->buf));
	} else if (x->kind == PAIR_GPU_MEM_BYTES) {
		(void)snprintf(c->buf, sizeof(c->buf), "gpu %llu", (unsigned long long)x->id);
		cell_own(c);
	}
}

static void counter_pid(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, r->row.counter.tgid);
}

/* clang-format off */
static const struct sql_column counter_columns[] = {
	{ "ts", SQL_INTEGER, SQL_TIME, "from then on it has the value", first_ts },
	{ "name", SQL_TEXT, SQL_PLAIN, "cpu_frequency_khz, cpu_idle_state, hw_pressure, gpu_memory_bytes, dsq_depth, a counter of sched_ext, or what a program has written into trace_marker", counter_name },
	{ "cpu", SQL_INTEGER, SQL_CPU, "of which CPU", counter_cpu },
	{ "object", SQL_TEXT, SQL_MANY, "of which dispatch queue or GPU", counter_object },
	{ "value", SQL_INTEGER, SQL_MANY, "null for an idle state that was left", counter_value },
	{ "pid", SQL_INTEGER, SQL_PLAIN, "of GPU memory and values of programs: of which process", counter_pid },
};
/* clang-format on */

const struct sql_table sql_table_counter = {
	.name = "counter",
	.doc = "values that change with time",
	SQL_COLUMNS(counter_columns),
	.rows = TIMELINE_COUNTER,
};

static void pmu_name(const struct sql_row *r, struct sql_cell *c)
{
	const struct source_facts *f = r->v->s->facts;

	if (r->row.pmu.index < f->nr_pmu_names)
		cell_text(c, f->pmu_names[r->row.pmu.index]);
}

static void pmu_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.pmu.cpu);
}

static void pmu_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.pmu.task);
}

static void pmu_value(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.pmu.value);
}

/* clang-format off */
static const struct sql_column pmu_columns[] = {
	{ "ts", SQL_INTEGER, SQL_TIME, "the slice ends", first_ts },
	{ "cpu", SQL_INTEGER, SQL_CPU, "on which it was", pmu_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task", pmu_utid },
	{ "name", SQL_TEXT, SQL_PLAIN, "of the counter, as record --pmu has it", pmu_name },
	{ "value", SQL_INTEGER, SQL_MANY, "by how much it moved during the slice", pmu_value },
};
/* clang-format on */

const struct sql_table sql_table_pmu = {
	.name = "pmu",
	.doc = "what counters of the CPU or the kernel counted in each slice (record --pmu)",
	SQL_COLUMNS(pmu_columns),
	.rows = TIMELINE_PMU,
};

void cell_span_name(const struct sql_row *r, struct sql_cell *c, const struct pair_span *s)
{
	const char *name = s->name_id ? tasks_string(r->v->s->tasks, s->name_id) : NULL;

	if (s->kind == PAIR_SOFTIRQ)
		name = softirq_name((uint32_t)s->id);
	else if (s->kind == PAIR_WORK && source_symbol(r->v->s, s->id))
		name = source_symbol(r->v->s, s->id);
	else if (s->kind == PAIR_LOCK)
		name = ev_lock_name((unsigned int)s->value);
	cell_text(c, name);
}

static void span_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.span.end_ns - r->row.span.start_ns);
}

static void span_kind(const struct sql_row *r, struct sql_cell *c)
{
	if (r->row.span.kind < PAIR_SPAN_KINDS)
		cell_text(c, span_kinds[r->row.span.kind]);
}

static void span_name(const struct sql_row *r, struct sql_cell *c)
{
	cell_span_name(r, c, &r->row.span);
}

static void span_category(const struct sql_row *r, struct sql_cell *c)
{
	uint32_t id = r->row.span.category_id;

	cell_text(c, id ? tasks_string(r->v->s->tasks, id) : NULL);
}

static void span_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.span.cpu);
}

static void span_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.span.task);
}

/* Which one of its kind it is about. */
static void span_object(const struct sql_row *r, struct sql_cell *c)
{
	const struct pair_span *s = &r->row.span;
	bool is_address = s->kind == PAIR_WORK || s->kind == PAIR_LOCK;
	bool is_device = s->kind >= PAIR_BLOCK_QUEUE && s->kind <= PAIR_BLOCK_TOTAL;

	if (s->kind == PAIR_RECLAIM || s->kind == PAIR_IPI)
		return;
	if (is_address)
		(void)snprintf(c->buf, sizeof(c->buf), "0x%llx", (unsigned long long)s->id);
	else if (is_device)
		(void)snprintf(c->buf, sizeof(c->buf), "%llu:%llu",
		               (unsigned long long)s->id >> DEV_MINOR_BITS,
		               (unsigned long long)s->id & ((1U << DEV_MINOR_BITS) - 1));
	else
		(void)snprintf(c->buf, sizeof(c->buf), "%llu", (unsigned long long)s->id);
	cell_own(c);
}

static void span_bytes(const struct sql_row *r, struct sql_cell *c)
{
	const struct pair_span *s = &r->row.span;

	if (s->kind >= PAIR_BLOCK_QUEUE && s->kind <= PAIR_BLOCK_TOTAL)
		cell_u64(c, s->value);
}

/* clang-format off */
static const struct sql_column span_columns[] = {
	{ "id", SQL_INTEGER, SQL_KEY, "number of the row", row_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "entry", first_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until its exit", span_dur },
	{ "kind", SQL_TEXT, SQL_PLAIN, "irq, softirq, ipi, work, block (block_queue and block_device are its steps), reclaim, fsync, lock, named", span_kind },
	{ "name", SQL_TEXT, SQL_PLAIN, "handler, softirq, reason, function, letters of a request, kind of lock, or its own name", span_name },
	{ "cpu", SQL_INTEGER, SQL_CPU, "where it ended", span_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "the task in which it was; of an interrupt, the one that it interrupted", span_utid },
	{ "object", SQL_TEXT, SQL_MANY, "number of the interrupt or softirq, address of the function or lock, major:minor, inode, request", span_object },
	{ "bytes", SQL_INTEGER, SQL_MANY, "of a block request", span_bytes },
	{ "category", SQL_TEXT, SQL_PLAIN, "of a named span", span_category },
};
/* clang-format on */

const struct sql_table sql_table_span = {
	.name = "span",
	.doc = "interrupts, kernel work, disk requests, reclaim, fsync, lock waits, named spans: from entry to exit",
	SQL_COLUMNS(span_columns),
	.rows = TIMELINE_SPAN,
};

void cell_limit(struct sql_cell *c, uint8_t limit)
{
	static const char *const limits[EV_LIMITS] = {
		[EV_LIMIT_QUOTA] = "quota",
		[EV_LIMIT_RT] = "real_time",
		[EV_LIMIT_DEADLINE] = "deadline",
		[EV_LIMIT_YIELD] = "yield",
	};

	if (limit < EV_LIMITS)
		cell_text(c, limits[limit]);
}

static void throttle_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.throttle.end_ns - r->row.throttle.start_ns);
}

static void throttle_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.throttle.cpu);
}

static void throttle_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.throttle.task);
}

static void throttle_limit(const struct sql_row *r, struct sql_cell *c)
{
	cell_limit(c, r->row.throttle.limit);
}

static void throttle_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	cell_cgroup_of(r, c, r->row.throttle.cgroup);
}

static void throttle_quota(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, r->row.throttle.quota_ns);
}

static void throttle_period(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, r->row.throttle.period_ns);
}

/* clang-format off */
static const struct sql_column throttle_columns[] = {
	{ "ts", SQL_INTEGER, SQL_TIME, "the limit takes the task off its CPU, or keeps it from one", first_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until the refill, or until it ran", throttle_dur },
	{ "cpu", SQL_INTEGER, SQL_CPU, "in whose queue it was", throttle_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task", throttle_utid },
	{ "kind", SQL_TEXT, SQL_PLAIN, "quota, real_time, deadline, yield", throttle_limit },
	{ "cgroup_id", SQL_INTEGER, SQL_PLAIN, "whose quota it is: the cgroup of the task, or one above", throttle_cgroup },
	{ "quota", SQL_INTEGER, SQL_PLAIN, "CPU time in each period", throttle_quota },
	{ "period", SQL_INTEGER, SQL_PLAIN, "its length", throttle_period },
};
/* clang-format on */

const struct sql_table sql_table_throttle = {
	.name = "throttle",
	.doc = "times in which a quota or another limit kept a runnable task off its CPU, in task-seconds",
	SQL_COLUMNS(throttle_columns),
	.rows = TIMELINE_THROTTLE,
};

static void idle_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.idle.end_ns - r->row.idle.start_ns);
}

static void idle_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.idle.cpu);
}

/* clang-format off */
static const struct sql_column idle_columns[] = {
	{ "ts", SQL_INTEGER, SQL_TIME, "the idle task is switched in", first_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until another task is, or the recording ends", idle_dur },
	{ "cpu", SQL_INTEGER, SQL_CPU, "which one", idle_cpu },
};
/* clang-format on */

const struct sql_table sql_table_idle = {
	.name = "idle",
	.doc = "times in which a CPU was idle; with sched_slice and gap they tile each CPU",
	SQL_COLUMNS(idle_columns),
	.rows = TIMELINE_IDLE,
};

static void gap_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->row.gap.end_ns - r->row.gap.start_ns);
}

static void gap_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->row.gap.cpu);
}

static void gap_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.gap.task);
}

static void gap_reason(const struct sql_row *r, struct sql_cell *c)
{
	static const char *const reasons[] = {
		[PAIR_GAP_START] = "start",     [PAIR_GAP_LOST] = "lost",
		[PAIR_GAP_MISSING] = "missing", [PAIR_GAP_NO_WAKEUP] = "no_wakeup",
		[PAIR_GAP_DROPPED] = "dropped", [PAIR_GAP_LEFT_OUT] = "left_out",
		[PAIR_GAP_END] = "end",         [PAIR_GAP_OFFLINE] = "offline",
	};

	if (r->row.gap.reason < sizeof(reasons) / sizeof(reasons[0]))
		cell_text(c, reasons[r->row.gap.reason]);
}

/* clang-format off */
static const struct sql_column gap_columns[] = {
	{ "ts", SQL_INTEGER, SQL_TIME, "begins", first_ts },
	{ "dur", SQL_INTEGER, SQL_MANY, "until something is known again", gap_dur },
	{ "cpu", SQL_INTEGER, SQL_CPU, "of which CPU; null for one of a task", gap_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "of which task; null for one of a CPU", gap_utid },
	{ "reason", SQL_TEXT, SQL_PLAIN, "start, lost, missing, no_wakeup, dropped, left_out, end, offline", gap_reason },
};
/* clang-format on */

const struct sql_table sql_table_gap = {
	.name = "gap",
	.doc = "times for which a CPU or a task has no data",
	SQL_COLUMNS(gap_columns),
	.rows = TIMELINE_GAP,
};
