/*
 * collect/stat_filter — which tasks are counted, and the names of cgroups.
 *
 *   include = global-comm matches, or (comm matches and cgroup is wanted)
 *
 * where what was not given always matches. Thread and process ids, and cgroups where nothing bypasses them,
 * are filtered in the kernel; everything else here, per task, before anything is added up. The cgroup tree
 * is read again on stat_filter_refresh(), so that new cgroups are found and have names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/diag.h"
#include "sys/cgroup.h"

struct stat_filter;

struct stat_filter_cfg {
	const char *const *comm;
	size_t nr_comm;
	const char *const *global_comm;
	size_t nr_global_comm;
	const char *const *cgroup; /* patterns of base/cgroup_pattern */
	size_t nr_cgroup;
	bool is_cgroup_regex; /* they are regular expressions instead: cgroup_resolve() */
	bool wants_cgroup_names;
};

/*
 * -EINVAL for a bad regular expression; -ENOENT when cgroups are asked for and none can be read, or no cgroup fits a pattern. Of
 * regular expressions some may fit later.
 */
MUST_USE int stat_filter_new(const struct stat_filter_cfg *cfg, struct diag *d,
                             struct stat_filter **out);
void stat_filter_free(struct stat_filter *f); /* NULL is fine */

bool stat_filter_accepts(void *filter, const struct stat_id *id); /* fits tally_cfg.accept */

/* Whether cgroups are those of v1's hierarchy of the controller cpu. */
bool stat_filter_is_v1(const struct stat_filter *f);
/* Whether the kernel can do the cgroup part, and with which ones. */
bool stat_filter_is_cgroup_only(const struct stat_filter *f);
const struct cgroup_set *stat_filter_cgroups(const struct stat_filter *f);
MUST_USE int stat_filter_refresh(struct stat_filter *f, struct diag *d);

/* Whether the tree of cgroups was too large to be read as a whole; how many searches for a pattern were given up. */
bool stat_filter_is_cut(const struct stat_filter *f);
uint64_t stat_filter_nr_aborted(const struct stat_filter *f);

/* Path of a cgroup, or NULL; fits stat_report_in.cgroup_name. */
const char *stat_filter_cgroup_name(void *filter, uint64_t cgroup_id);
