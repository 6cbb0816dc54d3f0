/*
 * profile/profile_tree — callers and callees: a profile, or two that are compared, as one tree.
 *
 * Below the root are processes, merged by name, below them threads if asked for, then calls from the outermost in. Calls
 * of one function by the same caller are one node, whatever their address; addresses without a name are one per
 * module. Children are in the order of their names, which no run changes. The tree lends frames and texts of the
 * profiles, which must stay as they are. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "profile/profile.h"
#include "profile/profile_join.h"

#define PROFILE_TREE_ROOT 0U

enum profile_node_kind { PROFILE_ROOT, PROFILE_PROCESS, PROFILE_THREAD, PROFILE_CALL };

/* self: in the function itself. total: with all that it called. */
struct profile_weight {
	uint64_t self_count;
	uint64_t self_value;
	uint64_t total_count;
	uint64_t total_value;
};

struct profile_node {
	enum profile_node_kind kind;
	uint32_t depth;                    /* of the root 0 */
	uint32_t parent;                   /* PROFILE_NONE */
	uint32_t child;                    /* the first; PROFILE_NONE */
	uint32_t next;                     /* of the same parent; PROFILE_NONE */
	const char *name;                  /* of a call its symbol, or the module's in brackets */
	const struct profile_frame *frame; /* of a call, where most of it was; else NULL */
	uint32_t function;                 /* of a call, a number; else PROFILE_NONE */
	uint32_t id;                       /* pid or tid of the first */
	uint32_t nr_ids;                   /* processes or threads of the name */
	bool is_inlined;                   /* always */
	struct profile_weight w[PROFILE_SIDES];
};

struct profile_tree;

struct profile_tree_cfg {
	const struct profile *before; /* NULL = none */
	bool is_by_thread;            /* each on its own; of two profiles by name */
};

MUST_USE int profile_tree_new(const struct profile *p, const struct profile_tree_cfg *cfg,
                              struct profile_tree **out);
void profile_tree_free(struct profile_tree *t); /* NULL is fine */
DEFINE_SCOPED(profile_tree, profile_tree_free)

/* Nodes by number; parents come before their children. */
uint32_t profile_tree_nr(const struct profile_tree *t);
const struct profile_node *profile_tree_at(const struct profile_tree *t, uint32_t idx);
uint32_t profile_tree_depth(const struct profile_tree *t); /* of the deepest node */
uint32_t profile_tree_nr_functions(const struct profile_tree *t);
/*
 * The next one of a walk that meets callers before callees, siblings by name, and stays below top; PROFILE_NONE at
 * its end. With is_leaf it does not go below idx.
 */
uint32_t profile_tree_next(const struct profile_tree *t, uint32_t top, uint32_t idx, bool is_leaf);

/* Functions of the subtree below top, by number: a function that calls itself counts once. */
struct profile_function_sum {
	uint32_t node; /* one of its nodes, that with the most; PROFILE_NONE = it is not there */
	struct profile_weight w[PROFILE_SIDES];
};
/* out has room for profile_tree_nr_functions(). */
MUST_USE int profile_tree_sum(const struct profile_tree *t, uint32_t top,
                              struct profile_function_sum *out);
