#include "analyze/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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

/* Keeps the ones with the most time, in order. */
static void keep_runner(struct explain_wait *e, const struct explain_runner *run)
{
	uint32_t nr = e->nr_runners < EXPLAIN_MAX_RUNNERS ? e->nr_runners : EXPLAIN_MAX_RUNNERS;
	uint32_t at = nr < EXPLAIN_MAX_RUNNERS ? nr : EXPLAIN_MAX_RUNNERS - 1;

	e->nr_runners++;
	if (nr == EXPLAIN_MAX_RUNNERS && e->runners[at].ns >= run->ns)
		return;
	for (; at > 0 && e->runners[at - 1].ns < run->ns; at--)
		e->runners[at] = e->runners[at - 1];
	e->runners[at] = *run;
}

static int by_task(const void *a, const void *b)
{
	const struct explain_runner *left = a, *right = b;

	return (left->task > right->task) - (left->task < right->task);
}

/* Slices of one task become one runner. */
static void merge_runners(struct explain_runner *all, uint32_t nr, struct explain_wait *e)
{
	uint32_t i = 0;

	if (nr)
		qsort(all, nr, sizeof(*all), by_task);
	while (i < nr) {
		struct explain_runner sum = all[i++];

		for (; i < nr && all[i].task == sum.task; i++) {
			sum.ns += all[i].ns;
			sum.nr_slices++;
		}
		keep_runner(e, &sum);
	}
}

static int look_at_runners(const struct source *s, const struct cut *c, struct explain_wait *e)
{
	SCOPED(scoped_free) struct explain_runner *all = NULL;
	uint32_t nr = 0, capacity = 0;
	struct timeline_iter it;
	union timeline_row row;

	if (find(s, TIMELINE_SLICE, TASKS_NONE, e->wait.cpu, c, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row)) {
		uint64_t ns = overlap(c, row.slice.start_ns, row.slice.end_ns);

		if (!ns)
			continue;
		if (nr == capacity) {
			struct explain_runner *more =
				reallocarray(all, capacity ? 2 * capacity : 64, sizeof(*more));

			if (!more)
				return -ENOMEM;
			all = more;
			capacity = capacity ? 2 * capacity : 64;
		}
		all[nr++] =
			(struct explain_runner){ .task = row.slice.task, .ns = ns, .nr_slices = 1 };
		e->busy_ns += ns;
	}
	merge_runners(all, nr, e);
	return 0;
}

static int look_at_spans(const struct source *s, const struct cut *c, struct explain_wait *e)
{
	struct timeline_iter it;
	union timeline_row row;

	if (find(s, TIMELINE_SPAN, TASKS_NONE, e->wait.cpu, c, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row)) {
		uint64_t ns = overlap(c, row.span.start_ns, row.span.end_ns);

		if (row.span.kind == PAIR_IRQ)
			e->irq_ns += ns;
		else if (row.span.kind == PAIR_SOFTIRQ)
			e->softirq_ns += ns;
	}
	return 0;
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
	if (all->nr == all->capacity) {
		size_t capacity = all->capacity ? 2 * all->capacity : 64;
		struct cut *more = reallocarray(all->at, capacity, sizeof(*more));

		if (!more)
			return -ENOMEM;
		all->at = more;
		all->capacity = capacity;
	}
	all->at[all->nr++] = (struct cut){ start > c->from ? start : c->from,
		                           end < c->to ? end : c->to };
	return 0;
}

static int look_at_idle(const struct source *s, const struct cut *c, uint32_t cpu,
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
		if (ns && all && add_cut(all, c, row.idle.start_ns, row.idle.end_ns))
			return -ENOMEM;
	}
	return 0;
}

static int look_elsewhere(const struct source *s, const struct cut *c, struct explain_wait *e)
{
	struct idle_cuts all = { 0 };
	int err = 0;

	for (uint32_t cpu = 0; cpu < pair_nr_cpus(s->pair) && !err; cpu++) {
		uint64_t ns;

		if (cpu == e->wait.cpu || !source_may_use(s, e->wait.task, cpu, c->from))
			continue;
		err = look_at_idle(s, c, cpu, &all, &ns);
		if (!err && ns)
			keep_idle(e, cpu, ns);
	}
	if (!err)
		e->any_idle_ns = covered(all.at, all.nr);
	free(all.at);
	return err;
}

static int count_migrations(const struct source *s, const struct cut *c, struct explain_wait *e)
{
	struct timeline_iter it;

	if (find(s, TIMELINE_MIGRATION, e->wait.task, TIMELINE_ANY_CPU, c, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, NULL))
		e->nr_migrations++;
	return 0;
}

static uint64_t start_of(const struct pair_wait *w)
{
	return w->waking_ns ? w->waking_ns : w->wakeup_ns;
}

uint64_t explain_wait_ns(const struct explain_wait *e)
{
	return e->wait.end_ns - e->start_ns;
}

int explain_look(const struct source *s, const struct pair_wait *wait, struct explain_wait *out)
{
	struct cut c = { start_of(wait), wait->end_ns };
	int err;

	*out = (struct explain_wait){ .wait = *wait,
		                      .start_ns = c.from,
		                      .is_from_waking = wait->waking_ns != 0 };
	err = look_at_runners(s, &c, out);
	if (!err)
		err = look_at_spans(s, &c, out);
	if (!err)
		err = look_at_idle(s, &c, wait->cpu, NULL, &out->idle_ns);
	if (!err)
		err = look_elsewhere(s, &c, out);
	if (!err)
		err = count_migrations(s, &c, out);
	if (explain_wait_ns(out) > out->busy_ns + out->idle_ns)
		out->unknown_ns = explain_wait_ns(out) - out->busy_ns - out->idle_ns;
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

/* A wakeup out of an interrupt has nobody for a waker; one who was preempted waits for who took its CPU. */
static bool has_waker(const struct pair_wait *w)
{
	return w->waker != TASKS_NONE && w->cause != PAIR_PREEMPTED &&
	       !(w->flags & (EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ));
}

int explain_links(const struct source *s, const struct pair_wait *wait,
                  struct explain_link links[EXPLAIN_MAX_LINKS], uint32_t *nr)
{
	links[0] = (struct explain_link){ .wait = *wait, .wait_ns = wait->end_ns - start_of(wait) };
	*nr = 1;
	while (*nr < EXPLAIN_MAX_LINKS && has_waker(&links[*nr - 1].wait)) {
		const struct pair_wait *last = &links[*nr - 1].wait;
		struct pair_slice slice;
		struct pair_wait before;
		bool is_found;
		int err = slice_at(s, last->waker, start_of(last), &slice, &is_found);

		if (!err && is_found)
			err = wait_before(s, &slice, &before, &is_found);
		if (err)
			return err;
		if (!is_found ||
		    before.end_ns >
		            start_of(last)) /* time must go back, or a link would follow itself */
			return 0;
		links[(*nr)++] = (struct explain_link){
			.wait = before,
			.wait_ns = before.end_ns - start_of(&before),
			.run_ns = start_of(last) - slice.start_ns,
		};
	}
	return 0;
}
