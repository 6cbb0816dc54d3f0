/*
 * base/cgroup_pattern — which cgroups a user means: a pattern (base/name_pattern) that fits the path ("/a/b") or the name ("b").
 *
 * It means a cgroup with all below it; "/" is the root alone, below which all are.
 */
#pragma once

#include <stdbool.h>

#define CGROUP_PATTERN_HINT "write a path (/a/b) or a name (b), with * and ?, or /REGEX/"

/* Whether it fits this one; paths begin with a slash. */
bool cgroup_pattern_fits(const char *pattern, const char *path);
/* Whether it means this one, which may lie below one that it fits. */
bool cgroup_pattern_means(const char *pattern, const char *path);
