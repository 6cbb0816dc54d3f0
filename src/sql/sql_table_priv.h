/* sql/sql_table_priv — what the files that define tables share. */
#pragma once

#include "analyze/scope.h"
#include "analyze/units.h"
#include "base/map.h"
#include "sql/sql_table.h"

struct sql_view {
	const struct source *s;
	struct pass_args args;
	struct scope scope;
	struct units processes;
	struct map *cgroups;   /* by the kernel's id */
	struct ledger *ledger; /* NULL until a part of a wait is asked for */
	bool has_priorities;
};

/* -ENOMEM. */
MUST_USE int sql_view_ledger(struct sql_view *v);

/* The tables, by file. */
extern const struct sql_table sql_table_thread, sql_table_process, sql_table_cgroup,
	sql_table_trace;
extern const struct sql_table sql_table_slice, sql_table_wait, sql_table_wait_part, sql_table_sleep;
extern const struct sql_table sql_table_wakeup, sql_table_migration;
extern const struct sql_table sql_table_counter, sql_table_pmu, sql_table_span, sql_table_throttle;
extern const struct sql_table sql_table_idle, sql_table_gap;
extern const struct sql_table sql_table_sample, sql_table_stack;

/* How cells are filled. A cell is null until then. */
static inline void cell_u64(struct sql_cell *c, uint64_t value)
{
	c->is_null = false;
	c->i = (int64_t)value; /* identifiers of 64 bits keep their bits */
}

static inline void cell_i64(struct sql_cell *c, int64_t value)
{
	c->is_null = false;
	c->i = value;
}

/* NULL and "" are unknown. */
static inline void cell_text(struct sql_cell *c, const char *text)
{
	c->is_null = !text || !*text;
	c->text = text;
}

/* What was written into the cell. */
static inline void cell_own(struct sql_cell *c)
{
	c->is_null = false;
	c->text = c->buf;
}

/* Null for 0. */
static inline void cell_time(struct sql_cell *c, uint64_t ns)
{
	if (ns)
		cell_u64(c, ns);
}

static inline void cell_cpu(struct sql_cell *c, uint32_t cpu)
{
	if (cpu != PAIR_NO_CPU && cpu != UINT32_MAX)
		cell_u64(c, cpu);
}

static inline void cell_utid(struct sql_cell *c, uint32_t task)
{
	if (task != TASKS_NONE)
		cell_u64(c, (uint64_t)task + 1);
}

static inline void cell_tid(const struct sql_row *r, struct sql_cell *c, uint32_t task)
{
	const struct task *t = tasks_at(r->v->s->tasks, task);

	if (t)
		cell_u64(c, t->tid);
}

/* The name that it had then. */
static inline void cell_comm(const struct sql_row *r, struct sql_cell *c, uint32_t task,
                             uint64_t ts_ns)
{
	uint32_t id = task == TASKS_NONE ? 0 : tasks_comm_at(r->v->s->tasks, task, ts_ns);

	cell_text(c, id ? tasks_string(r->v->s->tasks, id) : NULL);
}

static inline void cell_cgroup(const struct sql_row *r, struct sql_cell *c, uint32_t task,
                               uint64_t ts_ns)
{
	uint32_t cgroup = task == TASKS_NONE ? 0 : tasks_cgroup_at(r->v->s->tasks, task, ts_ns);

	if (cgroup)
		cell_u64(c, cgroup);
}

/* 0x..., for what is an address. */
void cell_hex(struct sql_cell *c, uint64_t value);
/* The cgroup by the kernel's id. */
void cell_cgroup_of(const struct sql_row *r, struct sql_cell *c, uint64_t kernel_id);
/* A waker: the name that the task had then, or the interrupt. */
void cell_waker(const struct sql_row *r, struct sql_cell *c, uint32_t key, uint64_t ts_ns);
/* Whether a key is that of a task: its utid. */
void cell_waker_utid(struct sql_cell *c, uint32_t key);
/* The letters of EV_STATE_*, as Perfetto has them. */
void cell_state(struct sql_cell *c, uint32_t bits);
/* A priority as the kernel counts, where the recorder knew them. */
void cell_priority(const struct sql_row *r, struct sql_cell *c, int16_t prio);

/* quota, real_time, deadline, yield. */
void cell_limit(struct sql_cell *c, uint8_t limit);
void cell_span_name(const struct sql_row *r, struct sql_cell *c, const struct pair_span *s);

#define SQL_COLUMNS(list) .columns = (list), .nr_columns = sizeof(list) / sizeof((list)[0])
