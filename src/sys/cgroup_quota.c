#include "sys/cgroup_quota.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cgroup.h"
#include "sys/cgroup_mount.h"

#define MAX_LIMITED  256
#define FILE_BYTES   4096
#define LOOKS_A_WALK 10

/* Of cpu.stat. */
struct counts {
	uint64_t nr_periods, nr_throttled;
};

struct limited {
	char *path;
	struct counts first, last;
	bool is_known;
};

struct cgroup_quota {
	char *mount;
	unsigned int nr_looks;
	struct limited items[MAX_LIMITED];
	size_t nr;
};

static char *read_member(const struct cgroup_quota *q, const char *path, const char *name)
{
	char whole[PATH_MAX], *text = NULL;
	int len = snprintf(whole, sizeof(whole), "%s%s/%s", q->mount, path, name);

	if (len >= (int)sizeof(whole) || text_read_file(whole, FILE_BYTES, &text))
		return NULL;
	return text;
}

/* "max 100000" of version 2, -1 of version 1: none. */
static bool has_quota(const struct cgroup_quota *q, const char *path)
{
	SCOPED(scoped_free) char *v2 = read_member(q, path, "cpu.max");
	SCOPED(scoped_free) char *v1 = v2 ? NULL : read_member(q, path, "cpu.cfs_quota_us");

	return v2 ? strncmp(v2, "max", 3) != 0 : v1 && v1[0] != '-';
}

static int add(void *ctx, uint64_t id, const char *path)
{
	struct cgroup_quota *q = ctx;
	char *copy;

	(void)id;
	if (q->nr == MAX_LIMITED)
		return 1;
	for (size_t i = 0; i < q->nr; i++)
		if (strcmp(q->items[i].path, path) == 0)
			return 0;
	/* The root has none. */
	if (strcmp(path, "/") == 0 || !has_quota(q, path))
		return 0;
	copy = strdup(path);
	if (copy)
		q->items[q->nr++] = (struct limited){ .path = copy };
	return 0;
}

static void walk(struct cgroup_quota *q)
{
	struct cgroup_tree *t = NULL;

	if (cgroup_tree_read(q->mount, NULL, &t))
		return;
	(void)!cgroup_tree_each(t, add, q);
	cgroup_tree_free(t);
}

struct cgroup_quota *cgroup_quota_open(const char *mount)
{
	SCOPED(cgroup_hierarchy_done) struct cgroup_hierarchy h = { 0 };
	struct cgroup_quota *q;

	if (!mount && !cgroup_find_cpu("/proc/self", &h))
		mount = h.mount;
	q = mount ? calloc(1, sizeof(*q)) : NULL;
	if (!q)
		return NULL;
	q->mount = strdup(mount);
	if (q->mount)
		return q;
	free(q);
	return NULL;
}

void cgroup_quota_close(struct cgroup_quota *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->nr; i++)
		free(q->items[i].path);
	free(q->mount);
	free(q);
}

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static bool read_counts(const struct cgroup_quota *q, const char *path, struct counts *out)
{
	SCOPED(scoped_free) char *text = read_member(q, path, "cpu.stat");

	if (!text)
		return false;
	out->nr_periods = number_after(text, "nr_periods ");
	out->nr_throttled = number_after(text, "nr_throttled ");
	return true;
}

/* A cgroup of the same name that was made anew counts from 0. */
static void look_at(struct cgroup_quota *q, struct limited *l, bool is_total,
                    struct cgroup_throttled *most)
{
	struct counts now, since;

	if (!read_counts(q, l->path, &now))
		return;
	if (!l->is_known || now.nr_periods < l->last.nr_periods)
		l->first = l->last = now;
	l->is_known = true;
	since = is_total ? l->first : l->last;
	l->last = now;
	if (now.nr_throttled - since.nr_throttled <= most->nr_throttled)
		return;
	most->nr_throttled = now.nr_throttled - since.nr_throttled;
	most->nr_periods = now.nr_periods - since.nr_periods;
	(void)snprintf(most->path, sizeof(most->path), "%s", l->path);
}

void cgroup_quota_look(struct cgroup_quota *q, bool is_total, struct cgroup_throttled *out)
{
	*out = (struct cgroup_throttled){ 0 };
	if (q->nr_looks++ % LOOKS_A_WALK == 0)
		walk(q);
	for (size_t i = 0; i < q->nr; i++)
		look_at(q, &q->items[i], is_total, out);
}
