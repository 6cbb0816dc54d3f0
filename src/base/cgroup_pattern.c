#include "base/cgroup_pattern.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/name_pattern.h"

bool cgroup_pattern_fits(const char *pattern, const char *path)
{
	if (strcmp(pattern, "/") == 0 || strcmp(path, "/") == 0)
		return name_pattern_fits(pattern, path);
	return name_pattern_fits(pattern, path) ||
	       name_pattern_fits(pattern, strrchr(path, '/') + 1);
}

bool cgroup_pattern_means(const char *pattern, const char *path)
{
	char part[PATH_MAX];

	if (strcmp(path, "/") == 0)
		return cgroup_pattern_fits(pattern, path);
	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *slash; part[0]; *slash = '\0') {
		if (cgroup_pattern_fits(pattern, part))
			return true;
		slash = strrchr(part, '/');
	}
	return false;
}
