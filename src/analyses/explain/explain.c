#include "analyses/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ledger/occupancy.h"
#include "model/interrupt.h"

struct cut {
	uint64_t from, to;
};

/* The part of [start, end) within the cut; 0 if there is none. */
static uint64_t overlap(const struct cut *c, uint64_t start, uint64_t end)
{
	uint64_t from = start > c->from ? start : c->from, to = end < c->to ? end : c->to;

	return from < to ? to - from : 0;
}

static int find(const struct source *s, enum timeline_table table, uint32_t task, uint32_t cpu,
                const struct cut *c, struct timeline_iter *it)
{
	struct timeline_query q = {
		.table = table, .task = task, .cpu = cpu, .from_ns = c->from, .to_ns = c->to
	};

	return timeline_find(s->timeline, &q, it);
}

static void keep_idle(struct explain_wait *e, uint32_t cpu, uint64_t ns)
{
	uint32_t nr = e->nr_idle < EXPLAIN_MAX_IDLE ? e->nr_idle : EXPLAIN_MAX_IDLE;
	uint32_t at = nr < EXPLAIN_MAX_IDLE ? nr : EXPLAIN_MAX_IDLE - 1;

	e->nr_idle++;
	if (nr == EXPLAIN_MAX_IDLE && e->idle[at].ns >= ns)
		return;
	for (; at > 0 && e->idle[at - 1].ns < ns; at--)
		e->idle[at] = e->idle[at - 1];
	e->idle[at] = (struct explain_idle){ cpu, ns };
}

static int by_start(const void *a, const void *b)
{
	const struct cut *left = a, *right = b;

	return (left->from > right->from) - (left->from < right->from);
}

/* Idle times of all CPUs laid over each other. */
static uint64_t covered(struct cut *cuts, size_t nr)
{
	uint64_t sum = 0, until = 0;

	if (nr)
		qsort(cuts, nr, sizeof(*cuts), by_start);
	for (size_t i = 0; i < nr; i++) {
		uint64_t from = cuts[i].from > until ? cuts[i].from : until;

		if (cuts[i].to > from)
			sum += cuts[i].to - from;
		if (cuts[i].to > until)
			until = cuts[i].to;
	}
	return sum;
}

struct idle_cuts {
	struct cut *at;
	size_t nr, capacity;
};

static int add_cut(struct idle_cuts *all, const struct cut *c, uint64_t start, uint64_t end)
{
	if (GROW(all->at, all->capacity, all->nr))
		return -ENOMEM;
	all->at[all->nr++] = (struct cut){ start > c->from ? start : c->from,
		                           end < c->to ? end : c->to };
	return 0;
}

static int measure_idle(const struct source *s, const struct cut *c, uint32_t cpu,
                        struct idle_cuts *all, uint64_t *idle_ns)
{
	struct timeline_iter it;
	union timeline_row row;

	*idle_ns = 0;
	if (find(s, TIMELINE_IDLE, TASKS_NONE, cpu, c, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row)) {
		uint64_t ns = overlap(c, row.idle.start_ns, row.idle.end_ns);

		*idle_ns += ns;
		if (ns && add_cut(all, c, row.idle.start_ns, row.idle.end_ns))
			return -ENOMEM;
	}
	return 0;
}

/* The part of the wait in which a CPU's activity is unknown. */
static int measure_gaps(const struct source *s, const struct cut *c, uint32_t cpu, uint64_t *ns)
{
	struct timeline_iter it;
	union timeline_row row;

	*ns = 0;
	if (find(s, TIMELINE_GAP, TASKS_NONE, cpu, c, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row))
		if (row.gap.reason != PAIR_GAP_OFFLINE)
			*ns += overlap(c, row.gap.start_ns, row.gap.end_ns);
	return 0;
}

/* What the other CPUs that the task may use did while it waited for one, or in a queue of several. */
struct elsewhere {
	uint64_t *idle_ns, *unknown_ns; /* by CPU */
	uint32_t nr_cpus;
	struct idle_cuts cuts;
};

static int elsewhere_init(struct elsewhere *x, uint32_t nr_cpus)
{
	size_t nr = nr_cpus ? nr_cpus : 1;

	*x = (struct elsewhere){ .nr_cpus = nr_cpus };
	x->idle_ns = calloc(nr, sizeof(*x->idle_ns));
	x->unknown_ns = calloc(nr, sizeof(*x->unknown_ns));
	return x->idle_ns && x->unknown_ns ? 0 : -ENOMEM;
}

static void elsewhere_done(struct elsewhere *x)
{
	free(x->idle_ns);
	free(x->unknown_ns);
	free(x->cuts.at);
}

static int elsewhere_add(struct elsewhere *x, const struct source *s, uint32_t task,
                         const struct explain_stay *stay)
{
	struct cut c = { stay->start_ns, stay->end_ns };
	int err = 0;

	for (uint32_t cpu = 0; cpu < x->nr_cpus && !err; cpu++) {
		uint64_t idle = 0, unknown = 0;

		if (cpu == stay->cpu || source_is_isolated(s, cpu) ||
		    !source_may_use(s, task, cpu, c.from))
			continue;
		err = measure_idle(s, &c, cpu, &x->cuts, &idle);
		if (!err)
			err = measure_gaps(s, &c, cpu, &unknown);
		x->idle_ns[cpu] += idle;
		x->unknown_ns[cpu] += unknown;
	}
	return err;
}

static void elsewhere_sum(struct elsewhere *x, struct explain_wait *e)
{
	for (uint32_t cpu = 0; cpu < x->nr_cpus; cpu++) {
		if (x->idle_ns[cpu])
			keep_idle(e, cpu, x->idle_ns[cpu]);
		if (x->unknown_ns[cpu] > e->unknown_elsewhere_ns)
			e->unknown_elsewhere_ns = x->unknown_ns[cpu];
	}
	e->any_idle_ns = covered(x->cuts.at, x->cuts.nr);
}

/* Parts in the same place, one after the other, are one stay. */
static void add_to_stay(struct explain_stay *now, const struct ledger_part *p,
                        struct explain_wait *e)
{
	if (p->kind == LEDGER_WAKING)
		return;
	if (!e->nr_stays || now->cpu != p->cpu) {
		*now = (struct explain_stay){ p->start_ns, p->end_ns, p->cpu };
		e->nr_stays++;
	}
	now->end_ns = p->end_ns;
	if (e->nr_stays <= EXPLAIN_MAX_STAYS)
		e->stays[e->nr_stays - 1] = *now;
}

/* A time in one place in which it could have run. */
struct chance {
	const struct source *s;
	const struct ledger *l;
	struct elsewhere *other;
	struct explain_stay now;
	bool has;
	bool is_steal_estimated;
};

static int end_chance(struct chance *x, struct explain_wait *e)
{
	if (!x->has)
		return 0;
	x->has = false;
	if (x->now.cpu != PAIR_NO_CPU &&
	    (occupancy_is_in_steal(ledger_cpu(x->l, x->now.cpu), x->now.start_ns) ||
	     occupancy_is_in_steal(ledger_cpu(x->l, x->now.cpu), x->now.end_ns)))
		x->is_steal_estimated = true;
	return elsewhere_add(x->other, x->s, e->wait.task, &x->now);
}

static int add_to_chance(struct chance *x, const struct ledger_part *p, struct explain_wait *e)
{
	int err;

	if (p->kind == LEDGER_WAKING)
		return 0;
	if (x->has && x->now.cpu == p->cpu && p->kind != LEDGER_THROTTLED) {
		x->now.end_ns = p->end_ns;
		return 0;
	}
	err = end_chance(x, e);
	x->now = (struct explain_stay){ p->start_ns, p->end_ns, p->cpu };
	x->has = p->kind != LEDGER_THROTTLED;
	return err;
}

static int divide(const struct source *s, struct ledger *l, struct elsewhere *other,
                  enum pass_by by, struct explain_wait *e)
{
	struct gathered_parts g = {
		.s = s, .names_ns = e->wait.end_ns, .cgroup = e->cgroup, .by = by
	};
	struct chance chance = { .s = s, .l = l, .other = other };
	struct explain_stay stay = { 0 };
	struct ledger_walk walk;
	struct ledger_part part;
	int err = ledger_begin(l, &e->wait, &walk);

	while (!err && ledger_next(&walk, &part)) {
		e->ns[part.kind] += part.end_ns - part.start_ns;
		if (part.kind == LEDGER_IDLE && part.what)
			e->forced_idle_ns += part.end_ns - part.start_ns;
		if (part.kind == LEDGER_THROTTLED && part.start_ns == e->start_ns)
			e->is_throttled_first = e->wait.cause == PAIR_PREEMPTED;
		add_to_stay(&stay, &part, e);
		err = add_to_chance(&chance, &part, e);
		if (!err)
			err = parts_add(&g, &part);
	}
	if (!err)
		err = end_chance(&chance, e);
	if (!err)
		parts_keep(&g, &e->parts);
	e->parts.is_steal_estimated = chance.is_steal_estimated;
	parts_done(&g);
	return err;
}

uint64_t explain_wait_ns(const struct explain_wait *e)
{
	return e->wait.end_ns - e->start_ns;
}

/* NULL unless core scheduling is in use, and all changes of cookies are there: a window forgets the old ones. -ENOMEM. */
static int list_cores(const struct source *s, int32_t **out)
{
	uint32_t nr = pair_nr_cpus(s->pair);

	*out = NULL;
	if (!pair_has_cookies(s->pair) || timeline_first(s->timeline, TIMELINE_MARK))
		return 0;
	*out = calloc(nr ? nr : 1, sizeof(**out));
	for (uint32_t cpu = 0; *out && cpu < nr; cpu++)
		(*out)[cpu] = source_core(s, cpu);
	return *out ? 0 : -ENOMEM;
}

int explain_ledger(const struct source *s, uint64_t start_ns, uint64_t end_ns, struct ledger **out)
{
	SCOPED(scoped_free) int32_t *cores = NULL;
	struct ledger_cfg cfg = { .nr_cpus = pair_nr_cpus(s->pair),
		                  .start_ns = start_ns,
		                  .end_ns = end_ns,
		                  .has_migrations = s->facts->kinds[EV_MIGRATE] > 0 };

	if (s->ledger && start_ns >= s->start_ns && end_ns <= s->end_ns) {
		*out = ledger_share(s->ledger);
		return 0;
	}
	if (list_cores(s, &cores))
		return -ENOMEM;
	cfg.cores = cores;
	return ledger_new(s->timeline, &cfg, out);
}

int explain_measure(const struct source *s, struct ledger *l, const struct pair_wait *wait,
                    enum pass_by by, struct explain_wait *out)
{
	struct elsewhere other;
	int err = elsewhere_init(&other, pair_nr_cpus(s->pair));

	*out = (struct explain_wait){ .wait = *wait,
		                      .start_ns = pair_wait_woken_ns(wait),
		                      .cgroup = tasks_cgroup_at(s->tasks, wait->task,
		                                                pair_wait_woken_ns(wait)),
		                      .is_from_waking = wait->waking_ns != 0 };
	if (!err)
		err = divide(s, l, &other, by, out);
	if (!err)
		elsewhere_sum(&other, out);
	elsewhere_done(&other);
	return err;
}

/* The slice of a task in which a moment lies. */
static int slice_at(const struct source *s, uint32_t task, uint64_t ts_ns, struct pair_slice *out,
                    bool *is_found)
{
	struct cut c = { ts_ns, ts_ns + 1 };
	struct timeline_iter it;
	union timeline_row row;

	*is_found = false;
	if (find(s, TIMELINE_SLICE, task, TIMELINE_ANY_CPU, &c, &it))
		return -ENOMEM;
	while (!*is_found && timeline_next(&it, NULL, &row))
		if (row.slice.start_ns <= ts_ns && ts_ns <= row.slice.end_ns) {
			*out = row.slice;
			*is_found = true;
		}
	return 0;
}

/* The wait that ended when a slice began. */
static int wait_before(const struct source *s, const struct pair_slice *slice,
                       struct pair_wait *out, bool *is_found)
{
	struct cut c = { slice->start_ns ? slice->start_ns - 1 : 0, slice->start_ns + 1 };
	struct timeline_iter it;
	union timeline_row row;

	*is_found = false;
	if (find(s, TIMELINE_WAIT, slice->task, TIMELINE_ANY_CPU, &c, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row))
		if (row.wait.end_ns == slice->start_ns && !row.wait.is_open) {
			*out = row.wait;
			*is_found = true;
		}
	return 0;
}

/*
 * A task that an interrupt woke waited for none; one that was preempted waits for the one that took its CPU. Where it is
 * not known whether the task that ran woke or an interrupt did, what that task had waited proves nothing.
 */
static bool has_waker(const struct pair_wait *w)
{
	return w->waker != TASKS_NONE && w->cause != PAIR_PREEMPTED &&
	       interrupt_context(w->flags, w->by) == ABI_IN_TASK;
}

int explain_links(const struct source *s, const struct pair_wait *wait,
                  struct explain_link links[EXPLAIN_MAX_LINKS], uint32_t *nr)
{
	links[0] = (struct explain_link){ .wait = *wait,
		                          .wait_ns = wait->end_ns - pair_wait_woken_ns(wait) };
	*nr = 1;
	while (*nr < EXPLAIN_MAX_LINKS && has_waker(&links[*nr - 1].wait)) {
		const struct pair_wait *last = &links[*nr - 1].wait;
		struct pair_slice slice;
		struct pair_wait before;
		bool is_found;
		int err = slice_at(s, last->waker, pair_wait_woken_ns(last), &slice, &is_found);

		if (!err && is_found)
			err = wait_before(s, &slice, &before, &is_found);
		if (err)
			return err;
		if (!is_found ||
		    before.end_ns >
		            pair_wait_woken_ns(
				    last)) /* time must go back, or a link would follow itself */
			return 0;
		links[(*nr)++] = (struct explain_link){
			.wait = before,
			.wait_ns = before.end_ns - pair_wait_woken_ns(&before),
			.run_ns = pair_wait_woken_ns(last) - slice.start_ns,
		};
	}
	return 0;
}
