#include "analyses/explain/explain_sleep.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/call.h"
#include "analyses/sleep_ends.h"
#include "base/grow.h"
#include "model/interrupt.h"

#define SMALL_SHARE 20 /* less than a 20th of the sleep is not followed */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int find(const struct source *s, enum timeline_table table, uint32_t task, uint64_t from_ns,
                uint64_t to_ns, struct timeline_iter *it)
{
	struct timeline_query q = { .table = table,
		                    .task = task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = from_ns,
		                    .to_ns = to_ns };

	return timeline_find(s->timeline, &q, it);
}

uint64_t explain_sleep_ns(const struct explain_sleep *e)
{
	return e->to_ns - e->from_ns;
}

bool explain_is_ended_by_task(const struct pair_sleep *row)
{
	return !row->is_open && row->waker != TASKS_NONE &&
	       interrupt_context(row->flags, row->by) == ABI_IN_TASK;
}

/* Whether it slept on the same futex: an address is one of a process. */
static bool is_same_futex(const struct source *s, const struct pair_sleep *a,
                          const struct pair_sleep *b)
{
	return a->call == ABI_CALL_futex && a->arg == b->arg &&
	       (a->task == b->task ||
	        (source_tgid(s, a->task) && source_tgid(s, a->task) == source_tgid(s, b->task)));
}

struct holders {
	struct explain_holder *at;
	uint32_t nr, room;
};

/* A task releases the futex, or ends the sleep; since when it was responsible comes later. */
static int add_release(struct holders *h, uint32_t task, uint64_t ts_ns)
{
	if (GROW(h->at, h->room, h->nr))
		return -ENOMEM;
	h->at[h->nr++] = (struct explain_holder){ .to_ns = ts_ns, .task = task };
	return 0;
}

/* Every sleep on the futex that a task ends meanwhile, this one included, is a release by that task. */
static int find_releases(const struct source *s, const struct explain_sleep *e, struct holders *h)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find(s, TIMELINE_SLEEP, TASKS_NONE, e->from_ns, e->to_ns, &it);

	while (!err && timeline_next(&it, NULL, &row))
		if (row.sleep.end_ns > e->from_ns && row.sleep.end_ns <= e->to_ns &&
		    explain_is_ended_by_task(&row.sleep) && is_same_futex(s, &row.sleep, &e->sleep))
			err = add_release(h, row.sleep.waker, row.sleep.end_ns);
	return err;
}

static int by_release(const void *a, const void *b)
{
	const struct explain_holder *left = a, *right = b;

	if (left->to_ns != right->to_ns)
		return left->to_ns < right->to_ns ? -1 : 1;
	return (left->task > right->task) - (left->task < right->task);
}

/* Each is responsible since the release before. Releases one after the other by the same task are one. */
static void join_releases(const struct explain_sleep *e, struct holders *h)
{
	uint64_t from_ns = e->from_ns;
	uint32_t nr = 0;

	if (h->nr)
		qsort(h->at, h->nr, sizeof(*h->at), by_release);
	for (uint32_t i = 0; i < h->nr; i++) {
		struct explain_holder one = h->at[i];

		if (nr && h->at[nr - 1].task == one.task) {
			h->at[nr - 1].to_ns = one.to_ns;
		} else if (one.to_ns > from_ns) {
			one.from_ns = from_ns;
			h->at[nr++] = one;
		}
		from_ns = one.to_ns;
	}
	h->nr = nr;
}

static uint64_t had_ns(const struct explain_holder *h)
{
	return h->to_ns - h->from_ns;
}

/* One more in the order of time: where there is no room, the shortest goes. */
static void keep_holder(struct explain_sleep *e, const struct explain_holder *one)
{
	uint32_t shortest = 0;

	if (e->nr_holders == EXPLAIN_MAX_HOLDERS) {
		for (uint32_t i = 1; i < EXPLAIN_MAX_HOLDERS; i++)
			if (had_ns(&e->holders[i]) < had_ns(&e->holders[shortest]))
				shortest = i;
		if (had_ns(one) <= had_ns(&e->holders[shortest]))
			return;
		e->nr_holders--;
		for (uint32_t i = shortest; i < e->nr_holders; i++)
			e->holders[i] = e->holders[i + 1];
	}
	e->holders[e->nr_holders++] = *one;
}

static void keep_holders(const struct holders *h, struct explain_sleep *e)
{
	e->all_holders = h->nr;
	for (uint32_t i = 0; i < h->nr; i++) {
		e->held_ns += had_ns(&h->at[i]);
		keep_holder(e, &h->at[i]);
	}
}

/* From, to: the part of it that is explained. */
static int measure(const struct source *s, const struct pair_sleep *row, uint64_t from_ns,
                   uint64_t to_ns, struct explain_sleep *e)
{
	struct holders h = { 0 };
	int err = 0;

	*e = (struct explain_sleep){
		.sleep = *row,
		.from_ns = later(row->start_ns, from_ns),
		.to_ns = earlier(row->end_ns, to_ns),
		.call = sleep_call(s, row),
		.is_futex = row->call == ABI_CALL_futex,
	};
	if (e->is_futex)
		err = find_releases(s, e, &h);
	else if (explain_is_ended_by_task(row))
		err = add_release(&h, row->waker, e->to_ns);
	join_releases(e, &h);
	if (!err)
		keep_holders(&h, e);
	free(h.at);
	return err;
}

static void add_piece(struct explain_doing *d, enum explain_doing_kind kind, uint64_t start_ns,
                      uint64_t end_ns)
{
	struct explain_piece *shortest = d->pieces;

	d->ns[kind] += end_ns - start_ns;
	if (d->nr_pieces < EXPLAIN_MAX_PIECES) {
		shortest = &d->pieces[d->nr_pieces++];
	} else {
		for (uint32_t i = 1; i < EXPLAIN_MAX_PIECES; i++)
			if (d->pieces[i].end_ns - d->pieces[i].start_ns <
			    shortest->end_ns - shortest->start_ns)
				shortest = &d->pieces[i];
		if (shortest->end_ns - shortest->start_ns >= end_ns - start_ns)
			return;
	}
	*shortest = (struct explain_piece){ start_ns, end_ns, (uint8_t)kind };
}

static int add_runs(const struct source *s, struct explain_doing *d)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find(s, TIMELINE_SLICE, d->task, d->from_ns, d->to_ns, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		uint64_t from = later(row.slice.start_ns, d->from_ns),
			 to = earlier(row.slice.end_ns, d->to_ns);

		if (from < to)
			add_piece(d, DOING_RUN, from, to);
	}
	return err;
}

/* The parts of a wait that lie in the time. */
static int add_parts(struct ledger *l, const struct pair_wait *w, uint64_t from_ns, uint64_t to_ns,
                     struct gathered_parts *g)
{
	struct ledger_walk walk;
	struct ledger_part part;
	int err = ledger_begin(l, w, &walk);

	while (!err && ledger_next(&walk, &part)) {
		part.start_ns = later(part.start_ns, from_ns);
		part.end_ns = earlier(part.end_ns, to_ns);
		if (part.start_ns < part.end_ns)
			err = parts_add(g, &part);
	}
	return err;
}

/* A wait counts from its wakeup here: until then the task is asleep. */
static int add_waits(const struct source *s, struct ledger *l, struct explain_doing *d)
{
	struct gathered_parts g = { .s = s,
		                    .names_ns = d->to_ns,
		                    .cgroup = tasks_cgroup_at(s->tasks, d->task, d->from_ns) };
	struct timeline_iter it;
	union timeline_row row;
	int err = find(s, TIMELINE_WAIT, d->task, d->from_ns, d->to_ns, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		uint64_t from = later(pair_wait_start_ns(&row.wait), d->from_ns),
			 to = earlier(row.wait.end_ns, d->to_ns);

		if (from >= to)
			continue;
		add_piece(d, DOING_WAIT, from, to);
		err = add_parts(l, &row.wait, from, to, &g);
	}
	if (!err)
		parts_keep(&g, &d->parts);
	d->parts.is_steal_estimated = true; /* shares of amounts that are known of longer times */
	parts_done(&g);
	return err;
}

struct calls {
	struct explain_call *at;
	uint32_t nr, room;
};

static int add_call(struct calls *c, uint16_t call, const struct pair_sleep *row, uint64_t ns)
{
	struct explain_call *one;
	uint32_t i = 0;

	while (i < c->nr && c->at[i].call != call)
		i++;
	if (i == c->nr) {
		if (GROW(c->at, c->room, c->nr))
			return -ENOMEM;
		c->at[c->nr++] = (struct explain_call){ .call = call };
	}
	one = &c->at[i];
	one->ns += ns;
	one->nr++;
	if (ns > one->longest_ns) {
		one->longest_ns = ns;
		one->longest = *row;
	}
	return 0;
}

static int by_call_time(const void *a, const void *b)
{
	const struct explain_call *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return (left->call > right->call) - (left->call < right->call);
}

static int add_sleeps(const struct source *s, struct explain_doing *d)
{
	struct calls c = { 0 };
	struct timeline_iter it;
	union timeline_row row;
	int err = find(s, TIMELINE_SLEEP, d->task, d->from_ns, d->to_ns, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		uint64_t from = later(row.sleep.start_ns, d->from_ns),
			 to = earlier(row.sleep.end_ns, d->to_ns);

		if (from >= to)
			continue;
		add_piece(d, DOING_SLEEP, from, to);
		err = add_call(&c, sleep_call(s, &row.sleep), &row.sleep, to - from);
	}
	if (c.nr)
		qsort(c.at, c.nr, sizeof(*c.at), by_call_time);
	for (; d->nr_calls < c.nr && d->nr_calls < EXPLAIN_MAX_CALLS; d->nr_calls++)
		d->calls[d->nr_calls] = c.at[d->nr_calls];
	free(c.at);
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct explain_piece *left = a, *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int see_doing(const struct source *s, struct ledger *l, const struct explain_holder *when,
                     struct explain_doing *d)
{
	const struct task *t = tasks_at(s->tasks, when->task);
	int err;

	*d = (struct explain_doing){ .from_ns = when->from_ns,
		                     .to_ns = when->to_ns,
		                     .task = when->task };
	d->is_born = t && t->start_ns > d->from_ns && t->start_ns < d->to_ns;
	if (d->is_born)
		d->from_ns = t->start_ns;
	err = add_runs(s, d);
	if (!err)
		err = add_waits(s, l, d);
	if (!err)
		err = add_sleeps(s, d);
	if (d->nr_pieces)
		qsort(d->pieces, d->nr_pieces, sizeof(*d->pieces), by_start);
	d->unknown_ns = d->to_ns - d->from_ns;
	for (int i = 0; i < DOING_KINDS; i++)
		d->unknown_ns -= earlier(d->ns[i], d->unknown_ns);
	return err;
}

struct climb {
	const struct source *s;
	struct ledger *l;
	struct explain_tree *tree;
	uint32_t path[EXPLAIN_MAX_DEPTH + 1]; /* tasks above, by depth */
};

static struct explain_node *add_node(struct climb *c, uint8_t depth)
{
	struct explain_node *n;

	if (c->tree->nr == EXPLAIN_MAX_NODES || depth >= EXPLAIN_MAX_DEPTH) {
		c->tree->is_cut = true;
		return NULL;
	}
	n = &c->tree->nodes[c->tree->nr++];
	*n = (struct explain_node){ .depth = depth };
	return n;
}

static bool is_above(const struct climb *c, uint32_t task, uint8_t depth)
{
	for (uint8_t i = 0; i < depth; i++)
		if (c->path[i] == task)
			return true;
	return false;
}

static int climb_holder(struct climb *c, const struct explain_holder *h, bool is_futex,
                        uint8_t depth);

/* Of a task of the chain, all sleeps in a call; the longest is followed. A sleep has the depth of its task plus one. */
static int climb_sleep(struct climb *c, const struct explain_call *call, uint64_t from_ns,
                       uint64_t to_ns, uint8_t depth)
{
	struct explain_node *n = add_node(c, depth);
	int err = 0;

	if (!n)
		return 0;
	n->kind = NODE_SLEEP;
	n->nr_sleeps = call->nr;
	n->sum_ns = call->ns;
	err = measure(c->s, &call->longest, from_ns, to_ns, &n->sleep);
	c->path[depth] = call->longest.task;
	for (uint32_t i = 0; i < n->sleep.nr_holders && !err; i++) {
		const struct explain_holder *h = &n->sleep.holders[i];

		if (h->to_ns - h->from_ns >= c->tree->small_ns)
			err = climb_holder(c, h, n->sleep.is_futex, (uint8_t)(depth + 1));
	}
	return err;
}

static int climb_holder(struct climb *c, const struct explain_holder *h, bool is_futex,
                        uint8_t depth)
{
	struct explain_node *n = add_node(c, depth);
	int err;

	if (!n)
		return 0;
	n->kind = is_futex ? NODE_HOLDER : NODE_WAKER;
	n->is_repeated = is_above(c, h->task, depth);
	err = see_doing(c->s, c->l, h, &n->doing);
	c->path[depth] = h->task;
	for (uint32_t i = 0; i < n->doing.nr_calls && !n->is_repeated && !err; i++)
		if (n->doing.calls[i].ns >= c->tree->small_ns)
			err = climb_sleep(c, &n->doing.calls[i], h->from_ns, h->to_ns,
			                  (uint8_t)(depth + 1));
	return err;
}

int explain_sleep_tree(const struct source *s, struct ledger *l, const struct pair_sleep *row,
                       struct explain_tree *out)
{
	uint64_t ns = row->end_ns - row->start_ns;
	struct explain_call whole = { .ns = ns, .nr = 1, .longest = *row, .longest_ns = ns };
	struct climb c = { .s = s, .l = l, .tree = out };

	out->nr = 0;
	out->small_ns = ns / SMALL_SHARE;
	out->is_cut = false;
	return climb_sleep(&c, &whole, row->start_ns, row->end_ns, 0);
}
