/* The table of the parts of waits: the ledger's, one row each, made as they are read. */
#include <stdio.h>

#include "abi/event_check.h"
#include "analyses/explain/explain.h"
#include "analyze/dsq_name.h"
#include "sql/sql_table_priv.h"

/* A guess, for the planner: on a busy CPU waits have more, on an idle one a single part. */
#define PARTS_OF_WAIT 3

static uint64_t nr_parts(struct sql_view *v)
{
	const struct timeline *t = v->s->timeline;

	return PARTS_OF_WAIT * (timeline_end(t, TIMELINE_WAIT) - timeline_first(t, TIMELINE_WAIT));
}

static int begin_parts(struct sql_scan *scan)
{
	const struct sql_filter *f = &scan->filter;
	struct timeline_query q = { .table = TIMELINE_WAIT,
		                    .task = f->task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = f->from_ns,
		                    .to_ns = f->to_ns };
	int err = sql_view_ledger(scan->row.v);

	if (err || f->has_key)
		return err;
	return timeline_find(scan->row.v->s->timeline, &q, &scan->it);
}

static bool next_wait(struct sql_scan *scan)
{
	struct sql_row *r = &scan->row;

	if (!scan->filter.has_key)
		return timeline_next(&scan->it, &r->id, &r->row);
	if (scan->at++)
		return false;
	r->id = scan->filter.key;
	return timeline_row(r->v->s->timeline, TIMELINE_WAIT, r->id, &r->row);
}

static bool next_part(struct sql_scan *scan)
{
	struct sql_row *r = &scan->row;

	for (;;) {
		if (scan->is_in_wait && ledger_next(&scan->walk, &r->part)) {
			r->inner++;
			return true;
		}
		/* Indexes were built when the scan began: only memory can fail, and then parts are missing. */
		if (!next_wait(scan))
			return false;
		scan->is_in_wait = ledger_begin(r->v->ledger, &r->row.wait, &scan->walk) == 0;
		if (!scan->is_in_wait) {
			scan->has_failed = true;
			return false;
		}
		r->inner = 0;
	}
}

static void part_wait_id(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->id);
}

static void part_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->part.start_ns);
}

static void part_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->part.end_ns - r->part.start_ns);
}

static void part_kind(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, explain_kind(r->part.kind));
}

static void part_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, r->part.cpu);
}

static void part_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, r->row.wait.task);
}

/* The task that had the CPU, or the core. */
static uint32_t culprit(const struct ledger_part *p)
{
	if (p->kind == LEDGER_TASK)
		return (uint32_t)p->what;
	return p->kind == LEDGER_IDLE && p->what ? (uint32_t)p->what - 1 : TASKS_NONE;
}

static void part_culprit_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, culprit(&r->part));
}

static bool throttle_of(const struct sql_row *r, struct pair_throttle *out)
{
	union timeline_row row;

	if (r->part.kind != LEDGER_THROTTLED ||
	    !timeline_row(r->v->s->timeline, TIMELINE_THROTTLE, r->part.what, &row))
		return false;
	*out = row.throttle;
	return true;
}

static void name_throttle(const struct sql_row *r, struct sql_cell *c)
{
	struct pair_throttle t;
	uint32_t cgroup;

	if (!throttle_of(r, &t))
		return;
	if (t.limit != EV_LIMIT_QUOTA)
		cell_limit(c, t.limit);
	else if (t.cgroup && map_find(r->v->cgroups, &t.cgroup, &cgroup))
		cell_text(c, tasks_cgroup_path(r->v->s->tasks, cgroup));
}

static void part_culprit(const struct sql_row *r, struct sql_cell *c)
{
	const struct ledger_part *p = &r->part;
	union timeline_row span;

	switch (p->kind) {
	case LEDGER_TASK:
	case LEDGER_IDLE:
		cell_comm(r, c, culprit(p), p->start_ns);
		break;
	case LEDGER_THROTTLED:
		name_throttle(r, c);
		break;
	case LEDGER_INTERRUPT:
	case LEDGER_SOFTIRQ:
		if (timeline_row(r->v->s->timeline, TIMELINE_SPAN, p->what, &span))
			cell_span_name(r, c, &span.span);
		break;
	case LEDGER_QUEUE:
		cell_text(c, dsq_name(p->what, c->buf));
		break;
	default:
		break;
	}
}

static void part_priority(const struct sql_row *r, struct sql_cell *c)
{
	if (r->part.kind == LEDGER_TASK)
		cell_priority(r, c, r->part.prio);
}

static void part_policy(const struct sql_row *r, struct sql_cell *c)
{
	if (r->part.kind == LEDGER_TASK)
		cell_text(c, ev_policy_name(r->part.policy));
}

static void part_culprit_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	struct pair_throttle t;

	if (throttle_of(r, &t))
		cell_cgroup_of(r, c, t.cgroup);
	else
		cell_cgroup(r, c, culprit(&r->part), r->part.start_ns);
}

static void part_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_tid(r, c, r->row.wait.task);
}

static void part_comm(const struct sql_row *r, struct sql_cell *c)
{
	cell_comm(r, c, r->row.wait.task, pair_wait_woken_ns(&r->row.wait));
}

static void part_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	cell_cgroup(r, c, r->row.wait.task, pair_wait_woken_ns(&r->row.wait));
}

/* clang-format off */
static const struct sql_column part_columns[] = {
	{ "wait_id", SQL_INTEGER, SQL_KEY, "wait.id of which it is a part", part_wait_id },
	{ "ts", SQL_INTEGER, SQL_TIME, "begins", part_ts },
	{ "dur", SQL_INTEGER, SQL_PLAIN, "the parts of a wait add up to wait.dur", part_dur },
	{ "kind", SQL_TEXT, SQL_PLAIN, "task, idle, irq, softirq, throttled, stolen, waking, queue, unknown; what is not recorded is none of them", part_kind },
	{ "cpu", SQL_INTEGER, SQL_PLAIN, "in whose queue the task was; null if in none, or unknown", part_cpu },
	{ "utid", SQL_INTEGER, SQL_TASK, "thread.utid of the task that waited", part_utid },
	{ "culprit_utid", SQL_INTEGER, SQL_PLAIN, "the task that had the CPU (or, of an idle one, by core scheduling the core)", part_culprit_utid },
	{ "culprit", SQL_TEXT, SQL_PLAIN, "its name then; the interrupt; whose quota (a cgroup's path) or limit; the dispatch queue", part_culprit },
	{ "culprit_cgroup_id", SQL_INTEGER, SQL_PLAIN, "cgroup of that task then, or whose quota it was", part_culprit_cgroup },
	{ "priority", SQL_INTEGER, SQL_PLAIN, "of that task, as in sched_slice", part_priority },
	{ "policy", SQL_TEXT, SQL_PLAIN, "of that task, as in sched_slice", part_policy },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task that waited", part_tid },
	{ "comm", SQL_TEXT, SQL_PLAIN, "the name that the task that waited had then", part_comm },
	{ "cgroup_id", SQL_INTEGER, SQL_PLAIN, "cgroup in which the task that waited was then", part_cgroup },
};
/* clang-format on */

static const struct sql_ops part_ops = { nr_parts, begin_parts, next_part };

const struct sql_table sql_table_wait_part = {
	.name = "wait_part",
	.doc = "what each wait was for, without remainder: what had the CPU in whose queue the task was",
	SQL_COLUMNS(part_columns),
	.rows = TIMELINE_TABLES,
	.ops = &part_ops,
	.rows_per_key = PARTS_OF_WAIT,
};
