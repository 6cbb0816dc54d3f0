#include "analyses/explain/explain_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/interrupt.h"

#define MANY_PIECES 4096 /* of which memory may be full, while causes are few */
#define CROWD_NAMES 3    /* so many names of one cgroup are better told by the cgroup */

/* Handlers of the same interrupt are one cause. */
static uint16_t handler_of(const struct source *s, uint64_t span)
{
	union timeline_row row;

	if (!timeline_row(s->timeline, TIMELINE_SPAN, span, &row))
		return ABI_BY_UNKNOWN;
	if (row.span.kind == PAIR_SOFTIRQ && row.span.id < SOFTIRQ_VECTORS)
		return (uint16_t)(ABI_BY_SOFTIRQ + row.span.id);
	if (row.span.kind == PAIR_IRQ && row.span.id < ABI_BY_IRQS)
		return (uint16_t)(ABI_BY_IRQ + row.span.id);
	return ABI_BY_UNKNOWN;
}

/* Throttlings by the same cgroup are one cause, and so are those by each of the other limits. */
static void name_limit(const struct source *s, uint64_t throttle, struct explain_part *out)
{
	union timeline_row row;

	out->what = 0;
	if (!timeline_row(s->timeline, TIMELINE_THROTTLE, throttle, &row))
		return;
	out->what = row.throttle.cgroup;
	out->limit = row.throttle.limit;
	out->quota_ns = row.throttle.quota_ns;
	out->period_ns = row.throttle.period_ns;
}

static uint32_t cgroup_of(const struct source *s, const struct ledger_part *p)
{
	return p->kind == LEDGER_TASK ? tasks_cgroup_at(s->tasks, (uint32_t)p->what, p->start_ns)
	                              : 0;
}

/* By kind, CPU, priority, policy, cgroup and limit, then by the cause itself. */
static int by_cause(const void *a, const void *b)
{
	const struct explain_part *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	if (left->prio != right->prio)
		return left->prio < right->prio ? -1 : 1;
	if (left->policy != right->policy)
		return left->policy < right->policy ? -1 : 1;
	if (left->cgroup != right->cgroup)
		return left->cgroup < right->cgroup ? -1 : 1;
	if (left->limit != right->limit)
		return left->limit < right->limit ? -1 : 1;
	return (left->what > right->what) - (left->what < right->what);
}

/* Tasks that only their names or processes can tell apart. */
static bool is_same_place(const struct explain_part *a, const struct explain_part *b)
{
	return a->kind == LEDGER_TASK && b->kind == LEDGER_TASK && a->cpu == b->cpu &&
	       a->prio == b->prio && a->policy == b->policy && a->cgroup == b->cgroup;
}

/* Tasks of the same place: the order of what they are grouped by. */
static int by_key(const struct gathered_parts *g, const struct explain_part *a,
                  const struct explain_part *b)
{
	uint32_t left = (uint32_t)a->what, right = (uint32_t)b->what;

	switch (g->by) {
	case PASS_BY_CGROUP:
		return 0;
	case PASS_BY_THREAD:
		break;
	case PASS_BY_PROCESS:
		left = source_tgid(g->s, left);
		right = source_tgid(g->s, right);
		break;
	default:
		return strcmp(source_comm_at(g->s, left, g->names_ns),
		              source_comm_at(g->s, right, g->names_ns));
	}
	return (left > right) - (left < right);
}

/* By cause, but tasks by what they are grouped by. */
static int by_group(const void *a, const void *b, void *ctx)
{
	const struct explain_part *left = a, *right = b;
	int order;

	if (!is_same_place(left, right))
		return by_cause(a, b);
	order = by_key(ctx, left, right);
	if (order)
		return order;
	/* The one with the most time gives its tid. */
	return (left->ns < right->ns) - (left->ns > right->ns);
}

/* Tasks of which the name, process or cgroup is unknown are different ones. */
static bool is_group_known(const struct gathered_parts *g, const struct explain_part *p)
{
	switch (g->by) {
	case PASS_BY_CGROUP:
		return p->cgroup;
	case PASS_BY_THREAD:
		return false;
	case PASS_BY_PROCESS:
		return source_tgid(g->s, (uint32_t)p->what);
	default:
		return strcmp(source_comm_at(g->s, (uint32_t)p->what, g->names_ns), "?") != 0;
	}
}

static bool is_same_group(const struct gathered_parts *g, const struct explain_part *a,
                          const struct explain_part *b)
{
	return is_same_place(a, b) && is_group_known(g, a) && by_key(g, a, b) == 0;
}

/* Neighbours become one: pieces of the same cause first, then tasks of the same group. */
static void merge(struct gathered_parts *g, bool is_by_group)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->nr; i++) {
		struct explain_part *last = nr ? &g->at[nr - 1] : NULL;
		const struct explain_part *p = &g->at[i];

		if (!last || (is_by_group ? !is_same_group(g, last, p) : by_cause(last, p) != 0)) {
			g->at[nr++] = *p;
			continue;
		}
		last->ns += p->ns;
		last->nr_times += p->nr_times;
		if (!is_by_group)
			continue;
		last->nr_tasks += p->nr_tasks;
		last->shared = (uint8_t)(g->by == PASS_BY_DEFAULT ? PASS_BY_COMM : g->by);
	}
	g->nr = nr;
}

/* Pieces of the same cause become one. */
static void add_up(struct gathered_parts *g)
{
	qsort(g->at, g->nr, sizeof(*g->at), by_cause);
	merge(g, false);
}

int parts_add(struct gathered_parts *g, const struct ledger_part *p)
{
	struct explain_part *out;

	if (g->nr >= (g->max ? g->max : MANY_PIECES)) {
		add_up(g);
		g->max = 2 * g->nr > MANY_PIECES ? 2 * g->nr : MANY_PIECES;
	}
	if (GROW(g->at, g->room, g->nr))
		return -ENOMEM;
	out = &g->at[g->nr++];
	*out = (struct explain_part){ .ns = p->end_ns - p->start_ns,
		                      .what = p->what,
		                      .nr_tasks = p->kind == LEDGER_TASK,
		                      .nr_times = 1,
		                      .shared = PASS_BY_THREAD,
		                      .cgroup = cgroup_of(g->s, p),
		                      .prio = p->prio,
		                      .policy = p->policy,
		                      .cpu = p->cpu,
		                      .kind = p->kind };
	if (p->kind == LEDGER_INTERRUPT || p->kind == LEDGER_SOFTIRQ)
		out->what = handler_of(g->s, p->what);
	else if (p->kind == LEDGER_THROTTLED)
		name_limit(g->s, p->what, out);
	if (g->is_anywhere) {
		out->cpu = PAIR_NO_CPU;
		out->cgroup = 0;
	}
	return 0;
}

/* Where there are too many to be named, those of another cgroup become one, if that is shorter. They are in the order of by_group(). */
static void merge_crowds(struct gathered_parts *g)
{
	uint32_t nr = 0, end;

	for (uint32_t i = 0; i < g->nr; i = end) {
		struct explain_part crowd = g->at[i];
		uint64_t most_ns = 0;

		for (end = i + 1; end < g->nr && is_same_place(&g->at[i], &g->at[end]); end++)
			;
		if (end - i < CROWD_NAMES || !crowd.cgroup || crowd.cgroup == g->cgroup) {
			while (i < end)
				g->at[nr++] = g->at[i++];
			continue;
		}
		crowd.ns = crowd.nr_tasks = crowd.nr_times = 0;
		crowd.shared = PASS_BY_CGROUP;
		for (; i < end; i++) {
			crowd.what = g->at[i].ns > most_ns ? g->at[i].what : crowd.what;
			most_ns = g->at[i].ns > most_ns ? g->at[i].ns : most_ns;
			crowd.ns += g->at[i].ns;
			crowd.nr_tasks += g->at[i].nr_tasks;
			crowd.nr_times += g->at[i].nr_times;
		}
		g->at[nr++] = crowd;
	}
	g->nr = nr;
}

static int by_time(const void *a, const void *b)
{
	const struct explain_part *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return by_cause(a, b);
}

void parts_keep(struct gathered_parts *g, struct explain_parts *out)
{
	struct explain_part others = { .cpu = PAIR_NO_CPU, .kind = LEDGER_KINDS };

	*out = (struct explain_parts){ .names_ns = g->names_ns, .cgroup = g->cgroup };
	if (!g->nr)
		return;
	add_up(g);
	qsort_r(g->at, g->nr, sizeof(*g->at), by_group, g);
	merge(g, true);
	if (g->nr > EXPLAIN_MAX_NAMED && g->by == PASS_BY_DEFAULT)
		merge_crowds(g);
	qsort(g->at, g->nr, sizeof(*g->at), by_time);
	for (uint32_t i = 0; i < g->nr; i++) {
		if (i < EXPLAIN_MAX_PARTS - 1 || g->nr == EXPLAIN_MAX_PARTS) {
			out->at[out->nr++] = g->at[i];
			continue;
		}
		out->nr_others++;
		others.ns += g->at[i].ns;
		others.nr_tasks += g->at[i].nr_tasks;
		others.nr_times += g->at[i].nr_times;
	}
	if (others.ns)
		out->at[out->nr++] = others;
}

void parts_done(struct gathered_parts *g)
{
	free(g->at);
}
