/*
 * sys/cgroup — a hierarchy of cgroups: what is in it, which parts a user means.
 *
 * A tree is one walk over the directories, capped in depth and number; directories that vanish meanwhile
 * are left out. Walk again to see newer ones. Ids are those that the kernel reports for tasks. Only
 * cgroup_tree_read() and cgroup_path() touch files. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define CGROUP_MAX_DEPTH 64
#define CGROUP_MAX_NR    131072

struct cgroup_tree;

/* What a filter lets through: one cgroup alone, or with all below it. */
struct cgroup_pick {
	uint64_t id;
	bool is_exact;
};

struct cgroup_set {
	struct cgroup_pick *picks; /* no pick is part of another one */
	size_t nr;
	uint64_t nr_aborted; /* searches that were given up at a limit */
};

/* A cgroup by its number, for its path only (O_PATH): a descriptor or -errno. Needs CAP_DAC_READ_SEARCH. */
MUST_USE int cgroup_open_id(int mount_fd, uint64_t id);

MUST_USE int cgroup_tree_read(const char *mount, struct diag *d, struct cgroup_tree **out);
void cgroup_tree_free(struct cgroup_tree *t); /* NULL is fine */
size_t cgroup_tree_nr(const struct cgroup_tree *t);
bool cgroup_tree_is_cut(const struct cgroup_tree *t); /* a cap was reached */
/* Each with its path below the mount, parents first, until fn returns something else than 0, which is then returned. */
MUST_USE int cgroup_tree_each(const struct cgroup_tree *t,
                              int (*fn)(void *ctx, uint64_t id, const char *path), void *ctx);

/*
 * Patterns are joined by OR. The word "root" means the root cgroup alone; another regex that matches
 * "root" means everything; the others match the name or the path below the mount ("/a/b") of a cgroup and
 * take it with all below it. No match at all gives an empty set. -EINVAL for a bad regex.
 */
MUST_USE int cgroup_resolve(const struct cgroup_tree *t, const char *const *patterns, size_t nr,
                            struct diag *d, struct cgroup_set *out);
/*
 * Those that patterns of base/cgroup_pattern mean, joined by OR. -ENODATA with a sentence for one that fits no cgroup.
 */
MUST_USE int cgroup_match(const struct cgroup_tree *t, const char *const *patterns, size_t nr,
                          struct diag *d, struct cgroup_set *out);
bool cgroup_set_has(const struct cgroup_tree *t, const struct cgroup_set *s, uint64_t id);
void cgroup_set_done(struct cgroup_set *s);

/*
 * The path below the mount, "/" for the root: asked of the kernel where it lets us, so that newer cgroups
 * have names too, otherwise as the walk saw it. -ENOENT if unknown. Not cached: callers keep it.
 */
MUST_USE int cgroup_path(const struct cgroup_tree *t, uint64_t id, char **out);
