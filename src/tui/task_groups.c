#include "tui/task_groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash.h"
#include "machine/machine_sum.h"
#include "tui/task_metrics.h"
#include "tui/task_sort.h"

#define NAME_BYTES 64
#define DEPTH_MOST 8     /* that is drawn */
#define DEPTH_MAX  1000U /* below that a process stands alone: a frame must not take long */
#define NONE       UINT32_MAX

struct group {
	const char *key;
	uint32_t next; /* of the same slot */
};

/* A process of the tree. */
struct node {
	const struct machine_task *task;
	struct task_entry entry;
	uint32_t parent; /* index; NONE = a root */
	uint32_t depth;
	uint32_t child, sibling; /* the first of each, sorted */
};

struct task_groups {
	uint64_t seed;
	struct machine_task *rows;
	size_t nr, cap;
	struct group *groups;
	size_t groups_cap;
	uint32_t *slots;
	size_t nr_slots;
	char (*names)[NAME_BYTES]; /* of the rows of a tree */
	size_t names_cap;
	enum task_by by; /* of the rows */
};

int task_groups_new(struct task_groups **out)
{
	struct task_groups *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->seed = hash_seed();
	*out = g;
	return 0;
}

void task_groups_free(struct task_groups *g)
{
	if (!g)
		return;
	free(g->rows);
	free(g->groups);
	free(g->slots);
	free(g->names);
	free(g);
}

static const char *key_of(const struct machine_task *t, enum task_by by)
{
	return by == TASKS_BY_CGROUP ? t->cgroup : t->comm;
}

static int reset(struct task_groups *g, size_t nr, enum task_by by)
{
	size_t wanted = 64;

	while (wanted < nr)
		wanted *= 2;
	if (wanted > g->nr_slots) {
		uint32_t *slots = realloc(g->slots, wanted * sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		g->slots = slots;
		g->nr_slots = wanted;
	}
	memset(g->slots, 0xff, g->nr_slots * sizeof(*g->slots)); /* NONE */
	g->nr = 0;
	g->by = by;
	return 0;
}

static int add_group(struct task_groups *g, uint32_t slot, const char *key, size_t *out)
{
	if (GROW(g->rows, g->cap, g->nr) || GROW(g->groups, g->groups_cap, g->nr))
		return -ENOMEM;
	g->rows[g->nr] = (struct machine_task){ .comm = key };
	machine_sum_begin_group(&g->rows[g->nr]);
	g->groups[g->nr] = (struct group){ key, g->slots[slot] };
	g->slots[slot] = (uint32_t)g->nr;
	*out = g->nr++;
	return 0;
}

static int add_to_group(struct task_groups *g, const struct machine_task *t)
{
	const char *key = key_of(t, g->by) ? key_of(t, g->by) : "?";
	uint32_t slot = (uint32_t)(hash_bytes(key, strlen(key), g->seed) & (g->nr_slots - 1));
	size_t at = g->slots[slot];
	int err = 0;

	while (at != NONE && strcmp(g->groups[at].key, key) != 0)
		at = g->groups[at].next;
	if (at == NONE)
		err = add_group(g, slot, key, &at);
	if (!err)
		machine_sum_add_process(&g->rows[at], t);
	return err;
}

static int make_groups(struct task_groups *g, const struct machine *m,
                       const struct task_filter *filter)
{
	int err = 0;

	for (size_t i = 0; i < m->nr_processes && !err; i++)
		if (task_filter_match(filter, &m->processes[i]))
			err = add_to_group(g, &m->processes[i]);
	return err;
}

/* What sorts the children of a process. */
struct order {
	const struct screen *s;
	const struct node *nodes;
};

static int by_order(const void *a, const void *b, void *ctx)
{
	const struct order *o = ctx;
	const struct node *first = &o->nodes[*(const uint32_t *)a],
			  *second = &o->nodes[*(const uint32_t *)b];

	return task_sort_order(&first->entry, &second->entry, o->s);
}

static int by_id(const void *a, const void *b)
{
	const struct node *first = a, *second = b;

	return (first->task->tid > second->task->tid) - (first->task->tid < second->task->tid);
}

/* Nodes are in the order of their ids. */
static uint32_t find(const struct node *nodes, size_t nr, uint32_t tid)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (nodes[mid].task->tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr && nodes[low].task->tid == tid ? (uint32_t)low : NONE;
}

/* Ids may be used again while some are read: a circle of parents has no root, and one of them becomes it. */
static void link_parents(struct node *nodes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		nodes[i].parent = nodes[i].task->parent ? find(nodes, nr, nodes[i].task->parent)
		                                        : NONE;
	for (size_t i = 0; i < nr; i++) {
		uint32_t at = nodes[i].parent;
		size_t steps = 0;

		while (at != NONE && at != i && steps++ < DEPTH_MAX)
			at = nodes[at].parent;
		if (at != NONE)
			nodes[i].parent = NONE;
	}
}

/* Sorted from the last to the first, so that each goes before those that are there. */
static void link_children(struct node *nodes, const uint32_t *sorted, size_t nr, uint32_t *root)
{
	*root = NONE;
	for (size_t i = nr; i-- > 0;) {
		struct node *n = &nodes[sorted[i]];
		uint32_t *first = n->parent == NONE ? root : &nodes[n->parent].child;

		n->sibling = *first;
		*first = sorted[i];
	}
}

static void name_row(struct task_groups *g, const struct node *n, size_t at)
{
	int indent = 2 * (int)(n->depth < DEPTH_MOST ? n->depth : DEPTH_MOST);

	(void)snprintf(g->names[at], NAME_BYTES, "%*s%s%s", indent ? indent - 2 : 0, "",
	               indent ? "\xe2\x94\x94 " : "", n->task->comm ? n->task->comm : "?");
}

/* Parents before their children. */
static void walk(struct task_groups *g, struct node *nodes, uint32_t root)
{
	uint32_t at = root;

	while (at != NONE) {
		name_row(g, &nodes[at], g->nr);
		g->rows[g->nr] = *nodes[at].task;
		g->rows[g->nr].comm = g->names[g->nr];
		g->nr++;
		if (nodes[at].child != NONE) {
			nodes[nodes[at].child].depth = nodes[at].depth + 1;
			at = nodes[at].child;
			continue;
		}
		while (at != NONE && nodes[at].sibling == NONE)
			at = nodes[at].parent;
		if (at != NONE) {
			nodes[nodes[at].sibling].depth = nodes[at].depth;
			at = nodes[at].sibling;
		}
	}
}

static int reserve(struct task_groups *g, size_t nr)
{
	if (nr > g->cap) {
		struct machine_task *rows = realloc(g->rows, nr * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		g->rows = rows;
		g->cap = nr;
	}
	if (nr > g->names_cap) {
		char(*names)[NAME_BYTES] = realloc(g->names, nr * sizeof(*names));

		if (!names)
			return -ENOMEM;
		g->names = names;
		g->names_cap = nr;
	}
	return 0;
}

static int make_tree(struct task_groups *g, const struct machine *m, const struct screen *s,
                     const struct task_filter *filter)
{
	SCOPED(scoped_free) struct node *nodes = calloc(m->nr_processes + 1, sizeof(*nodes));
	SCOPED(scoped_free) uint32_t *sorted = calloc(m->nr_processes + 1, sizeof(*sorted));
	const struct task_metric *by = task_metric_sorted(s);
	struct order order = { s, nodes };
	uint32_t root;
	size_t nr = 0;

	if (!nodes || !sorted || reserve(g, m->nr_processes + 1))
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_processes; i++) {
		const struct machine_task *t = &m->processes[i];

		if (task_filter_match(filter, t))
			nodes[nr++] = (struct node){ .task = t,
				                     .entry = task_sort_entry(m, t, by),
				                     .child = NONE };
	}
	qsort(nodes, nr, sizeof(*nodes), by_id);
	link_parents(nodes, nr);
	for (size_t i = 0; i < nr; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, nr, sizeof(*sorted), by_order, &order);
	link_children(nodes, sorted, nr, &root);
	walk(g, nodes, root);
	return 0;
}

int task_groups_make(struct task_groups *g, const struct machine *m, const struct screen *s,
                     const struct task_filter *filter, const struct machine_task **out, size_t *nr)
{
	int err = reset(g, m->nr_processes, s->by);

	if (!err)
		err = s->by == TASKS_AS_TREE ? make_tree(g, m, s, filter)
		                             : make_groups(g, m, filter);
	if (err)
		return err;
	*out = g->rows;
	*nr = g->nr;
	return 0;
}

const char *task_groups_key(const struct task_groups *g, uint32_t tid)
{
	for (size_t i = 0; g->by != TASKS_AS_TREE && i < g->nr; i++)
		if (g->rows[i].tid == tid)
			return g->groups[i].key;
	return NULL;
}
