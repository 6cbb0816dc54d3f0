#include "profile/profile_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"

#define MAX_NODES   (1U << 22)
#define LABEL_BYTES ((size_t)256 << 20) /* of brackets around modules */
#define MAX_MEMBERS (1U << 22)
#define NO_NAME     "unknown"

struct node_key {
	uint32_t parent;
	uint32_t kind;
	uint32_t what; /* the function, or the name's text */
	uint32_t id;   /* of a thread that stands for itself */
};

struct tree_entry {
	struct profile_node node;
	uint64_t vote; /* for its frame, against all others */
};

/* A process of the name, or a thread. */
struct tree_member {
	uint32_t node;
	uint32_t id;
};

struct profile_tree {
	struct tree_entry *entries;
	uint32_t nr;
	uint32_t room;
	uint32_t depth;
	bool is_by_thread;
	bool has_before;
	struct profile_join *join;
	struct intern *names; /* of processes and threads */
	struct arena *labels;
	struct map *ids;
	struct map *members;
};

/* What is being added. */
struct tree_source {
	const struct profile *p;
	enum profile_side side;
};

static int grow(struct profile_tree *t)
{
	if (t->nr >= MAX_NODES)
		return -E2BIG;
	return GROW(t->entries, t->room, t->nr);
}

static int add_node(struct profile_tree *t, const struct node_key *key, uint32_t *out)
{
	struct profile_node node = { .kind = (enum profile_node_kind)key->kind,
		                     .parent = key->parent,
		                     .child = PROFILE_NONE,
		                     .next = PROFILE_NONE,
		                     .function = PROFILE_NONE,
		                     .is_inlined = true };
	int err;

	if (map_find(t->ids, key, out))
		return 0;
	err = grow(t);
	if (!err)
		err = map_insert(t->ids, key, t->nr);
	if (err)
		return err;
	if (key->parent != PROFILE_NONE)
		node.depth = t->entries[key->parent].node.depth + 1;
	if (key->kind == PROFILE_CALL)
		node.function = key->what;
	else
		node.name = key->kind == PROFILE_ROOT ? "all"
		                                      : intern_string(t->names, key->what, NULL);
	t->depth = node.depth > t->depth ? node.depth : t->depth;
	*out = t->nr;
	t->entries[t->nr++] = (struct tree_entry){ .node = node };
	return 0;
}

/* Counts processes and threads of the newer profile; those of the older one are others. */
static int add_member(struct profile_tree *t, enum profile_side side, uint32_t node, uint32_t id)
{
	struct tree_member member = { .node = node, .id = id };
	struct profile_node *n = &t->entries[node].node;
	uint32_t known;

	if (side == PROFILE_BEFORE || map_find(t->members, &member, &known))
		return 0;
	if (n->nr_ids == 0)
		n->id = id;
	n->nr_ids++;
	return map_insert(t->members, &member, 0);
}

static int add_task_node(struct profile_tree *t, const struct tree_source *from,
                         const struct node_key *of, const char *name, uint32_t *out)
{
	struct node_key key = *of;
	int err;

	if (!name || !*name)
		name = NO_NAME;
	err = intern_add(t->names, name, strlen(name), &key.what);
	if (key.kind == PROFILE_PROCESS || t->has_before)
		key.id = 0;
	if (!err)
		err = add_node(t, &key, out);
	if (!err)
		err = add_member(t, from->side, *out, of->id);
	return err;
}

static int add_task(struct profile_tree *t, const struct tree_source *from, uint32_t task,
                    uint32_t *out)
{
	const struct profile_task *known = profile_task_at(from->p, task);
	struct node_key key = { .parent = PROFILE_TREE_ROOT,
		                .kind = PROFILE_PROCESS,
		                .id = known->tgid };
	int err = add_task_node(t, from, &key, known->process ? known->process : known->comm, out);

	if (err || !t->is_by_thread)
		return err;
	key = (struct node_key){ .parent = *out, .kind = PROFILE_THREAD, .id = known->tid };
	return add_task_node(t, from, &key, known->comm, out);
}

/* The frame that has more than all others keeps the node; where there is none, one of the heavy ones. */
static void vote(struct tree_entry *e, const struct profile_frame *frame, uint64_t value)
{
	if (!e->node.frame || e->vote == 0) {
		e->node.frame = frame;
		e->vote = value;
	} else if (e->node.frame == frame) {
		e->vote += value;
	} else if (value > e->vote) {
		e->node.frame = frame;
		e->vote = value - e->vote;
	} else {
		e->vote -= value;
	}
	e->node.is_inlined &= frame->is_inlined;
}

static int add_stack(struct profile_tree *t, const struct tree_source *from, size_t idx)
{
	struct node_key key = { .kind = PROFILE_CALL };
	struct profile_stack stack;
	struct profile_weight *w;
	uint32_t at = 0;
	int err;

	profile_stack_at(from->p, idx, &stack);
	err = add_task(t, from, stack.task, &at);
	for (size_t i = stack.nr; i-- > 0 && !err;) {
		key.parent = at;
		key.what = profile_join_function(t->join, from->side, stack.frames[i]);
		err = add_node(t, &key, &at);
		if (!err)
			vote(&t->entries[at], profile_frame_at(from->p, stack.frames[i]),
			     stack.value);
	}
	if (err)
		return err;
	w = &t->entries[at].node.w[from->side];
	w->self_count += stack.count;
	w->self_value += stack.value;
	return 0;
}

static int add_profile(struct profile_tree *t, const struct tree_source *from)
{
	size_t nr = from->p ? profile_nr_stacks(from->p) : 0;

	for (size_t i = 0; i < nr; i++) {
		int err = add_stack(t, from, i);

		if (err)
			return err;
	}
	return 0;
}

static void sum_up(struct profile_tree *t)
{
	for (uint32_t i = t->nr; i-- > 0;) {
		struct profile_node *n = &t->entries[i].node;

		for (int side = 0; side < PROFILE_SIDES; side++) {
			n->w[side].total_count += n->w[side].self_count;
			n->w[side].total_value += n->w[side].self_value;
			if (n->parent == PROFILE_NONE)
				continue;
			t->entries[n->parent].node.w[side].total_count += n->w[side].total_count;
			t->entries[n->parent].node.w[side].total_value += n->w[side].total_value;
		}
	}
}

static int name_calls(struct profile_tree *t)
{
	char buf[PROFILE_NAME_BYTES];

	for (uint32_t i = 0; i < t->nr; i++) {
		struct profile_node *n = &t->entries[i].node;

		if (n->kind != PROFILE_CALL) {
			n->is_inlined = false;
			continue;
		}
		n->name = profile_frame_name(n->frame, buf);
		if (n->name == buf)
			n->name = arena_strdup(t->labels, buf);
		if (!n->name)
			return -ENOMEM;
	}
	return 0;
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct tree_entry *entries = ctx;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
	const struct profile_node *na = &entries[ia].node, *nb = &entries[ib].node;
	int order;

	if (na->parent != nb->parent)
		return na->parent < nb->parent ? -1 : 1;
	order = strcmp(na->name, nb->name);
	if (order == 0 && na->frame && nb->frame)
		order = strcmp(na->frame->module, nb->frame->module);
	if (order == 0 && na->frame && nb->frame)
		order = na->frame->is_kernel - nb->frame->is_kernel;
	if (order == 0 && na->id != nb->id)
		order = na->id < nb->id ? -1 : 1;
	return order ? order : (ia > ib) - (ia < ib);
}

static int link_children(struct profile_tree *t)
{
	SCOPED(scoped_free) uint32_t *order = calloc(t->nr, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr; i++)
		order[i] = i;
	qsort_r(order, t->nr, sizeof(*order), by_place, t->entries);
	for (uint32_t i = t->nr; i-- > 0;) {
		struct profile_node *n = &t->entries[order[i]].node;

		if (n->parent == PROFILE_NONE)
			continue;
		n->next = t->entries[n->parent].node.child;
		t->entries[n->parent].node.child = order[i];
	}
	return 0;
}

static int build(struct profile_tree *t, const struct profile *p, const struct profile *before)
{
	struct tree_source now = { p, PROFILE_NOW }, old = { before, PROFILE_BEFORE };
	struct node_key root = { .parent = PROFILE_NONE, .kind = PROFILE_ROOT };
	uint32_t idx;
	int err = add_node(t, &root, &idx);

	if (!err)
		err = add_profile(t, &now);
	if (!err)
		err = add_profile(t, &old);
	if (!err)
		err = name_calls(t);
	if (err)
		return err;
	sum_up(t);
	return link_children(t);
}

int profile_tree_new(const struct profile *p, const struct profile_tree_cfg *cfg,
                     struct profile_tree **out)
{
	struct profile_join_cfg join = { .sides = { p, cfg->before }, .merges_unknown = true };
	SCOPED(scoped_profile_tree) struct profile_tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->is_by_thread = cfg->is_by_thread;
	t->has_before = cfg->before;
	t->names = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	t->labels = arena_new(LABEL_BYTES);
	if (!t->names || !t->labels)
		return -ENOMEM;
	err = map_new(sizeof(struct node_key), MAX_NODES, &t->ids);
	if (!err)
		err = map_new(sizeof(struct tree_member), MAX_MEMBERS, &t->members);
	if (!err)
		err = profile_join_new(&join, &t->join);
	if (!err)
		err = build(t, p, cfg->before);
	if (!err)
		*out = TAKE_PTR(t);
	return err;
}

void profile_tree_free(struct profile_tree *t)
{
	if (!t)
		return;
	free(t->entries);
	profile_join_free(t->join);
	intern_free(t->names);
	arena_free(t->labels);
	map_free(t->ids);
	map_free(t->members);
	free(t);
}

uint32_t profile_tree_nr(const struct profile_tree *t)
{
	return t->nr;
}

const struct profile_node *profile_tree_at(const struct profile_tree *t, uint32_t idx)
{
	return &t->entries[idx].node;
}

uint32_t profile_tree_depth(const struct profile_tree *t)
{
	return t->depth;
}

uint32_t profile_tree_nr_functions(const struct profile_tree *t)
{
	return profile_join_nr(t->join);
}

uint32_t profile_tree_next(const struct profile_tree *t, uint32_t top, uint32_t idx, bool is_leaf)
{
	const struct profile_node *n = profile_tree_at(t, idx);

	if (!is_leaf && n->child != PROFILE_NONE)
		return n->child;
	while (idx != top && n->next == PROFILE_NONE) {
		idx = n->parent;
		n = profile_tree_at(t, idx);
	}
	return idx == top ? PROFILE_NONE : n->next;
}
