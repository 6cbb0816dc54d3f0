#include "analyze/cgroups.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/tasks.h"

int cgroups_check(const struct source *s, struct diag *d)
{
	if (s->facts->kinds[EV_CGROUP])
		return 0;
	if (s->facts->is_live)
		return diag_set(d, -ENODATA, "record, and ask about the recording",
		                "the live window does not say in which cgroups tasks are");
	return diag_set(d, -ENODATA, "record again with this version of schedscope",
	                "the recording does not say in which cgroups its tasks were");
}

static bool fits(const char *pattern, const char *path)
{
	return !fnmatch(pattern, path, 0) || !fnmatch(pattern, strrchr(path, '/') + 1, 0);
}

/* Itself, or one that it lies below; all lie below the root, which is meant only by itself. */
static bool is_meant(const char *pattern, const char *path)
{
	char part[EV_CGROUP_PATH_MAX];

	if (!path || path[0] != '/')
		return false;
	if (strcmp(pattern, "/") == 0 || strcmp(path, "/") == 0)
		return !fnmatch(pattern, path, 0);
	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *slash; part[0]; *slash = '\0') {
		if (fits(pattern, part))
			return true;
		slash = strrchr(part, '/');
	}
	return false;
}

int cgroups_pick(const struct source *s, const char *pattern, struct diag *d, uint8_t **out)
{
	uint32_t nr = tasks_nr_cgroups(s->tasks);
	SCOPED(scoped_free) uint8_t *picks = NULL;
	bool has_any = false;
	int err = cgroups_check(s, d);

	if (err)
		return err;
	picks = calloc(nr + 1ULL, 1);
	if (!picks)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t i = 1; i <= nr; i++) {
		picks[i] = is_meant(pattern, tasks_cgroup_path(s->tasks, i));
		has_any |= picks[i];
	}
	if (!has_any)
		return diag_set(d, -ENODATA,
		                "write a path (/a/b) or a name (b); * and ? are wildcards",
		                "no cgroup of the recording matches '%.64s'", pattern);
	*out = TAKE_PTR(picks);
	return 0;
}

const char *cgroup_name(const struct source *s, uint32_t cgroup, struct report *r)
{
	const char *path = tasks_cgroup_path(s->tasks, cgroup);

	if (!cgroup)
		return "?";
	return path ? path
	            : report_printf(r, "cgroup %llu",
	                            (unsigned long long)tasks_cgroup_id(s->tasks, cgroup));
}
