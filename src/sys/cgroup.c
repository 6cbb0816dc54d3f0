#include "sys/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cgroup_pattern.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/match.h"
#include "sys/rights/broker.h"

#define TREE_CAP      (64UL << 20) /* bytes of paths */
#define KERNFS_HANDLE 0xfe         /* FILEID_KERNFS, absent from older headers; Linux 5.5 */

struct cgroup_node {
	uint64_t id;
	const char *path; /* below the mount: "/a/b" */
	uint32_t parent;  /* index, always smaller than its own */
	uint16_t depth;
};

struct cgroup_tree {
	struct cgroup_node *groups; /* the root first, parents before children */
	uint32_t nr, capacity;
	uint32_t *by_id; /* indexes, ascending by id */
	bool is_cut;
	int mount_fd;
	char *mount; /* as /proc shows it: without links */
	struct arena *paths;
};

void cgroup_tree_free(struct cgroup_tree *t)
{
	if (!t)
		return;
	if (t->mount_fd >= 0)
		close(t->mount_fd);
	arena_free(t->paths);
	free(t->groups);
	free(t->by_id);
	free(t->mount);
	free(t);
}

DEFINE_SCOPED(cgroup_tree, cgroup_tree_free)

size_t cgroup_tree_nr(const struct cgroup_tree *t)
{
	return t->nr;
}

bool cgroup_tree_is_cut(const struct cgroup_tree *t)
{
	return t->is_cut;
}

union kernfs_handle {
	struct file_handle handle;
	struct {
		unsigned int bytes;
		int type;
		uint64_t id;
	} k;
};

_Static_assert(offsetof(union kernfs_handle, k.id) == offsetof(struct file_handle, f_handle),
               "the id follows the header of the handle");

/*
 * The handle of a cgroup's directory is its id. Elsewhere, and in tests, the inode serves: the same
 * number on 64-bit kernels.
 */
static int read_id(int dir_fd, const char *path, uint64_t *out)
{
	union kernfs_handle h = { .k = { .bytes = sizeof(h.k.id) } };
	int mount_id;
	struct stat st;

	if (name_to_handle_at(dir_fd, path, &h.handle, &mount_id, 0) == 0 &&
	    h.k.type == KERNFS_HANDLE && h.k.bytes == sizeof(h.k.id)) {
		*out = h.k.id;
		return 0;
	}
	if (fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*out = st.st_ino;
	return 0;
}

int cgroup_tree_each(const struct cgroup_tree *t,
                     int (*fn)(void *ctx, uint64_t id, const char *path), void *ctx)
{
	int err = 0;

	for (uint32_t i = 0; i < t->nr && !err; i++)
		err = fn(ctx, t->groups[i].id, t->groups[i].path);
	return err;
}

/* -E2BIG at a cap; -ENOENT and the like for a directory that has gone. */
static int add_group(struct cgroup_tree *t, int dir_fd, const char *name, uint32_t parent)
{
	struct cgroup_node *g;
	int err;

	if (t->nr == CGROUP_MAX_NR)
		return -E2BIG;
	if (GROW(t->groups, t->capacity, t->nr))
		return -ENOMEM;
	g = &t->groups[t->nr];
	*g = (struct cgroup_node){ .parent = parent };
	err = read_id(dir_fd, name, &g->id);
	if (err)
		return err;
	if (t->nr == 0) {
		g->path = "/";
	} else {
		const struct cgroup_node *p = &t->groups[parent];

		g->depth = (uint16_t)(p->depth + 1);
		g->path = arena_printf(t->paths, "%s/%s", parent ? p->path : "", name);
	}
	if (!g->path)
		return -E2BIG;
	t->nr++;
	return 0;
}

static void scoped_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

static bool is_directory(int dir_fd, const struct dirent *e)
{
	struct stat st;

	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
		return false;
	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Adds what lies in one directory; one that cannot be opened has most likely gone and has none. */
static int add_children(struct cgroup_tree *t, uint32_t parent)
{
	SCOPED(scoped_dir) DIR *dir = NULL;
	const char *path = parent ? t->groups[parent].path + 1 : ".";
	struct dirent *e;
	int fd = openat(t->mount_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return 0;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(dir))) {
		int err;

		if (!is_directory(fd, e))
			continue;
		if (t->groups[parent].depth == CGROUP_MAX_DEPTH)
			return -E2BIG;
		err = add_group(t, fd, e->d_name, parent);
		if (err == -E2BIG || err == -ENOMEM)
			return err;
	}
	return 0;
}

static int compare_ids(const void *a, const void *b, void *ctx)
{
	const struct cgroup_node *groups = ctx;
	uint64_t x = groups[*(const uint32_t *)a].id, y = groups[*(const uint32_t *)b].id;

	return (x > y) - (x < y);
}

static int index_ids(struct cgroup_tree *t)
{
	if (!t->nr)
		return 0;
	t->by_id = malloc(t->nr * sizeof(*t->by_id));
	if (!t->by_id)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr; i++)
		t->by_id[i] = i;
	qsort_r(t->by_id, t->nr, sizeof(*t->by_id), compare_ids, t->groups);
	return 0;
}

int cgroup_tree_read(const char *mount, struct diag *d, struct cgroup_tree **out)
{
	SCOPED(scoped_cgroup_tree) struct cgroup_tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the cgroups");
	t->mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->mount_fd < 0)
		return diag_set(d, -errno, "check that cgroups are mounted there",
		                "cannot open '%s'", mount);
	t->mount = realpath(mount, NULL);
	t->paths = arena_new(TREE_CAP);
	if (!t->mount || !t->paths)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the cgroups");
	err = add_group(t, t->mount_fd, ".", 0);
	for (uint32_t i = 0; i < t->nr && !err; i++) {
		err = add_children(t, i);
		if (err == -E2BIG) {
			t->is_cut = true;
			err = 0;
		}
	}
	if (!err)
		err = index_ids(t);
	if (err)
		return diag_set(d, err, NULL, "cannot read the cgroups in '%s'", mount);
	*out = TAKE_PTR(t);
	return 0;
}

static const struct cgroup_node *find_group(const struct cgroup_tree *t, uint64_t id)
{
	uint32_t lo = 0, hi = t->nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct cgroup_node *g = &t->groups[t->by_id[mid]];

		if (g->id == id)
			return g;
		if (g->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

struct cgroup_patterns {
	bool is_root_alone;
	bool is_everything;
	struct match *others; /* those that are neither */
};

static void scoped_patterns(struct cgroup_patterns *p)
{
	match_free(p->others);
}

static int sort_patterns(const char *const *patterns, size_t nr, struct diag *d,
                         struct cgroup_patterns *out)
{
	SCOPED(scoped_free) const char **others = calloc(nr + 1, sizeof(*others));
	size_t nr_others = 0;

	if (!others)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the cgroup patterns");
	for (size_t i = 0; i < nr; i++) {
		SCOPED(scoped_match) struct match *one = NULL;
		int err;

		if (!strcmp(patterns[i], "root")) {
			out->is_root_alone = true;
			continue;
		}
		err = match_new(&patterns[i], 1, d, &one);
		if (err)
			return err;
		if (match_any(one, "root", strlen("root")))
			out->is_everything = true;
		else
			others[nr_others++] = patterns[i];
	}
	return nr_others ? match_new(others, nr_others, d, &out->others) : 0;
}

static bool is_named(struct match *m, const struct cgroup_node *g)
{
	const char *name = strrchr(g->path, '/') + 1;

	return match_any(m, name, strlen(name)) || match_any(m, g->path, strlen(g->path));
}

/* Parents come first, so one pass knows whether a cgroup lies below a pick; those are not searched. */
static size_t pick_named(const struct cgroup_tree *t, struct match *m, bool *is_below,
                         struct cgroup_pick *picks)
{
	size_t nr = 0;

	for (uint32_t i = 1; i < t->nr; i++) {
		const struct cgroup_node *g = &t->groups[i];

		is_below[i] = is_below[g->parent];
		if (is_below[i] || !is_named(m, g))
			continue;
		is_below[i] = true;
		picks[nr++] = (struct cgroup_pick){ g->id, false };
	}
	return nr;
}

int cgroup_resolve(const struct cgroup_tree *t, const char *const *patterns, size_t nr,
                   struct diag *d, struct cgroup_set *out)
{
	SCOPED(scoped_patterns) struct cgroup_patterns p = { 0 };
	SCOPED(scoped_free) bool *is_below = calloc(t->nr, sizeof(*is_below));
	SCOPED(scoped_free) struct cgroup_pick *picks = calloc(t->nr, sizeof(*picks));
	size_t nr_picks = 0;
	int err = sort_patterns(patterns, nr, d, &p);

	if (err)
		return err;
	if (!is_below || !picks)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the matching cgroups");
	if (p.is_everything || p.is_root_alone)
		picks[nr_picks++] = (struct cgroup_pick){ t->groups[0].id, !p.is_everything };
	if (!p.is_everything && p.others)
		nr_picks += pick_named(t, p.others, is_below, picks + nr_picks);
	out->picks = TAKE_PTR(picks);
	out->nr = nr_picks;
	out->nr_aborted = match_nr_aborted(p.others);
	return 0;
}

static bool is_meant(const struct cgroup_node *g, const char *const *patterns, size_t nr,
                     bool *is_used)
{
	bool is_any = false;

	for (size_t i = 0; i < nr; i++)
		if (cgroup_pattern_fits(patterns[i], g->path))
			is_any = is_used[i] = true;
	return is_any;
}

int cgroup_match(const struct cgroup_tree *t, const char *const *patterns, size_t nr,
                 struct diag *d, struct cgroup_set *out)
{
	SCOPED(scoped_free) bool *is_below = calloc(t->nr + 1UL, sizeof(*is_below));
	SCOPED(scoped_free) bool *is_used = calloc(nr + 1, sizeof(*is_used));
	SCOPED(scoped_free) struct cgroup_pick *picks = calloc(t->nr + 1UL, sizeof(*picks));
	size_t nr_picks = 0;

	if (!is_below || !is_used || !picks)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the matching cgroups");
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct cgroup_node *g = &t->groups[i];
		bool is_picked = is_meant(g, patterns, nr, is_used);

		is_below[i] = i && is_below[g->parent];
		if (!is_picked || is_below[i])
			continue;
		is_below[i] = i != 0; /* of the root, only itself is meant */
		picks[nr_picks++] = (struct cgroup_pick){ g->id, !i };
	}
	for (size_t i = 0; i < nr; i++)
		if (!is_used[i])
			return diag_set(d, -ENODATA, CGROUP_PATTERN_HINT,
			                "no cgroup matches '%.64s'", patterns[i]);
	*out = (struct cgroup_set){ .picks = TAKE_PTR(picks), .nr = nr_picks };
	return 0;
}

bool cgroup_set_has(const struct cgroup_tree *t, const struct cgroup_set *s, uint64_t id)
{
	const struct cgroup_node *g = find_group(t, id);

	while (g) {
		for (size_t i = 0; i < s->nr; i++)
			if (s->picks[i].id == g->id && (g->id == id || !s->picks[i].is_exact))
				return true;
		g = g == t->groups ? NULL : &t->groups[g->parent];
	}
	return false;
}

void cgroup_set_done(struct cgroup_set *s)
{
	free(s->picks);
	*s = (struct cgroup_set){ 0 };
}

int cgroup_open_id(int mount_fd, uint64_t id)
{
	union kernfs_handle h = { .k = { sizeof(h.k.id), KERNFS_HANDLE, id } };
	struct statfs fs;
	int fd;

	if (fstatfs(mount_fd, &fs))
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC)
		return -EINVAL;
	fd = open_by_handle_at(mount_fd, &h.handle, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int path_from_kernel(const struct cgroup_tree *t, uint64_t id, char **out)
{
	SCOPED(scoped_close) int fd = -1;
	size_t prefix = strcmp(t->mount, "/") != 0 ? strlen(t->mount) : 0;
	char link[64], path[PATH_MAX];
	ssize_t len;

	fd = broker_cgroup(t->mount_fd, id);
	if (fd < 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return -errno;
	path[len] = '\0';
	if (strncmp(path, t->mount, prefix) != 0 || (path[prefix] && path[prefix] != '/'))
		return -ENOENT;
	*out = strdup(path[prefix] ? path + prefix : "/");
	return *out ? 0 : -ENOMEM;
}

int cgroup_path(const struct cgroup_tree *t, uint64_t id, char **out)
{
	const struct cgroup_node *g;

	if (path_from_kernel(t, id, out) == 0)
		return 0;
	g = find_group(t, id);
	if (!g)
		return -ENOENT;
	*out = strdup(g->path);
	return *out ? 0 : -ENOMEM;
}
