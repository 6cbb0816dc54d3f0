#include "collect/stat_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/match.h"
#include "sys/cgroup_mount.h"

#define NAMES_MAX   65536
#define REREADS_MAX 8

struct stat_filter {
	struct match *comm;
	struct match *global_comm;
	const char *const *patterns; /* the caller's */
	size_t nr_patterns;
	bool is_regex;
	struct cgroup_hierarchy hierarchy;
	struct cgroup_tree *tree;
	struct cgroup_set wanted;
	struct map *name_of; /* cgroup id -> index into names */
	char **names;
	uint32_t nr_names, names_room;
	uint32_t nr_rereads; /* since the last refresh */
};

DEFINE_SCOPED(stat_filter, stat_filter_free)

static int setup_cgroups(struct stat_filter *f, const struct stat_filter_cfg *cfg, struct diag *d)
{
	int err = cgroup_find_cpu("/proc/self", &f->hierarchy);

	if (!err && f->hierarchy.mount)
		return stat_filter_refresh(f, d);
	/* Names are nice to have; a filter that cannot be applied is not. */
	if (!cfg->nr_cgroup)
		return 0;
	return diag_set(d, err ? err : -ENOENT, "mount it: mount -t cgroup2 none /sys/fs/cgroup",
	                "no hierarchy of cgroups that has the controller cpu is mounted");
}

int stat_filter_new(const struct stat_filter_cfg *cfg, struct diag *d, struct stat_filter **out)
{
	SCOPED(scoped_stat_filter) struct stat_filter *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	f->patterns = cfg->cgroup;
	f->nr_patterns = cfg->nr_cgroup;
	f->is_regex = cfg->is_cgroup_regex;
	err = map_new(sizeof(uint64_t), NAMES_MAX, &f->name_of);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = match_new(cfg->comm, cfg->nr_comm, d, &f->comm);
	if (!err)
		err = match_new(cfg->global_comm, cfg->nr_global_comm, d, &f->global_comm);
	if (!err && (cfg->nr_cgroup || cfg->wants_cgroup_names))
		err = setup_cgroups(f, cfg, d);
	if (err)
		return err;
	*out = TAKE_PTR(f);
	return 0;
}

void stat_filter_free(struct stat_filter *f)
{
	if (!f)
		return;
	match_free(f->comm);
	match_free(f->global_comm);
	cgroup_set_done(&f->wanted);
	cgroup_tree_free(f->tree);
	cgroup_hierarchy_done(&f->hierarchy);
	map_free(f->name_of);
	for (uint32_t i = 0; i < f->nr_names; i++)
		free(f->names[i]);
	free(f->names);
	free(f);
}

static int read_tree(struct stat_filter *f, struct diag *d)
{
	struct cgroup_tree *tree = NULL;
	struct cgroup_set wanted = { 0 };
	int err;

	if (!f->hierarchy.mount)
		return 0;
	err = cgroup_tree_read(f->hierarchy.mount, d, &tree);
	if (!err && f->nr_patterns)
		err = (f->is_regex ? cgroup_resolve : cgroup_match)(tree, f->patterns,
		                                                    f->nr_patterns, d, &wanted);
	if (err) {
		cgroup_tree_free(tree);
		return err;
	}
	cgroup_tree_free(f->tree);
	cgroup_set_done(&f->wanted);
	f->tree = tree;
	f->wanted = wanted;
	return 0;
}

int stat_filter_refresh(struct stat_filter *f, struct diag *d)
{
	f->nr_rereads = 0;
	return read_tree(f, d);
}

bool stat_filter_is_v1(const struct stat_filter *f)
{
	return f->hierarchy.is_v1;
}

bool stat_filter_is_cgroup_only(const struct stat_filter *f)
{
	return f->nr_patterns && match_is_empty(f->global_comm);
}

bool stat_filter_is_cut(const struct stat_filter *f)
{
	return f->tree && cgroup_tree_is_cut(f->tree);
}

uint64_t stat_filter_nr_aborted(const struct stat_filter *f)
{
	return match_nr_aborted(f->comm) + match_nr_aborted(f->global_comm) + f->wanted.nr_aborted;
}

const struct cgroup_set *stat_filter_cgroups(const struct stat_filter *f)
{
	return &f->wanted;
}

bool stat_filter_accepts(void *filter, const struct stat_id *id)
{
	struct stat_filter *f = filter;
	size_t len = strnlen(id->comm, sizeof(id->comm));

	if (!match_is_empty(f->global_comm) && match_any(f->global_comm, id->comm, len))
		return true;
	if (!match_is_empty(f->comm) && !match_any(f->comm, id->comm, len))
		return false;
	/* Where the kernel filters, what arrives is wanted, new cgroups below wanted ones included. */
	if (!f->nr_patterns || stat_filter_is_cgroup_only(f))
		return true;
	if (cgroup_set_has(f->tree, &f->wanted, id->cgroup_id))
		return true;
	/* It may be newer than our last read of the tree. Few are; many at once wait for the next read. */
	if (f->nr_rereads >= REREADS_MAX)
		return false;
	f->nr_rereads++;
	return read_tree(f, NULL) == 0 && cgroup_set_has(f->tree, &f->wanted, id->cgroup_id);
}

/* All of them: a daemon sees more cgroups come and go than there is room for. */
static void forget_names(struct stat_filter *f)
{
	map_clear(f->name_of);
	for (uint32_t i = 0; i < f->nr_names; i++)
		free(f->names[i]);
	f->nr_names = 0;
}

/* Remembers a name, or that there is none (NULL), so that the kernel is not asked twice. */
static const char *keep_name(struct stat_filter *f, uint64_t id, char *name)
{
	if (map_nr(f->name_of) >= NAMES_MAX)
		forget_names(f);
	if (GROW(f->names, f->names_room, f->nr_names)) {
		free(name);
		return NULL;
	}
	if (map_insert(f->name_of, &id, f->nr_names)) {
		free(name);
		return NULL;
	}
	f->names[f->nr_names++] = name;
	return name;
}

const char *stat_filter_cgroup_name(void *filter, uint64_t cgroup_id)
{
	struct stat_filter *f = filter;
	char *name = NULL;
	uint32_t idx;

	if (map_find(f->name_of, &cgroup_id, &idx))
		return f->names[idx];
	if (!f->tree)
		return NULL;
	if (cgroup_path(f->tree, cgroup_id, &name))
		name = NULL;
	return keep_name(f, cgroup_id, name);
}
