#include "analyze/cgroups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cgroup_pattern.h"
#include "base/cleanup.h"
#include "model/tasks.h"

int cgroups_check(const struct source *s, struct diag *d)
{
	if (s->facts->kinds[EV_CGROUP])
		return 0;
	if (s->facts->is_live)
		return diag_set(d, -ENODATA, "this kernel does not tell",
		                "the live window does not say in which cgroups tasks are");
	return diag_set(d, -ENODATA, "record again with this version of schedscope",
	                "the recording does not say in which cgroups its tasks were");
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
		const char *path = tasks_cgroup_path(s->tasks, i);

		picks[i] = path && path[0] == '/' && cgroup_pattern_means(pattern, path);
		has_any |= picks[i];
	}
	if (!has_any)
		return diag_set(d, -ENODATA, CGROUP_PATTERN_HINT,
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
