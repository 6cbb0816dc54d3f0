#include "sys/proc/memory_left.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FILE_CAP ((size_t)1 << 20)

/* Names of the files of a memory cgroup, by version. */
struct memory_files {
	const char *limit, *used, *cache; /* cache: a line of memory.stat */
};

static const struct memory_files files_v1 = { "memory.limit_in_bytes", "memory.usage_in_bytes",
	                                      "total_inactive_file" };
static const struct memory_files files_v2 = { "memory.max", "memory.current", "inactive_file" };

static char *read_text(const char *root, const char *path)
{
	char full[PATH_MAX], *text;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full) ||
	    text_read_file(full, FILE_CAP, &text))
		return NULL;
	return text;
}

/* The number behind a word that begins a line; false if there is none. */
static bool number_after(const char *text, const char *word, uint64_t *out)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		unsigned long long value;

		line += *line == '\n';
		if (!strncmp(line, word, len) && strchr(" :\t", line[len]) &&
		    sscanf(line + len, "%*[: \t]%llu", &value) == 1) {
			*out = value;
			return true;
		}
	}
	return false;
}

static uint64_t available(const char *root)
{
	SCOPED(scoped_free) char *text = read_text(root, "/proc/meminfo");
	uint64_t kib;

	return text && number_after(text, "MemAvailable", &kib) ? kib * 1024 : UINT64_MAX;
}

static bool read_number(const char *root, const char *dir, const char *name, uint64_t *out)
{
	char path[PATH_MAX];
	SCOPED(scoped_free) char *text = NULL;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return false;
	text = read_text(root, path);
	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return text_to_u64(text, out); /* "max" is not a number: no limit */
}

static uint64_t left_in(const char *root, const char *dir, const struct memory_files *names)
{
	SCOPED(scoped_free) char *stat = NULL;
	uint64_t limit, used, cache = 0;
	char path[PATH_MAX];

	if (!read_number(root, dir, names->limit, &limit) ||
	    !read_number(root, dir, names->used, &used))
		return UINT64_MAX;
	if (snprintf(path, sizeof(path), "%s/memory.stat", dir) < (int)sizeof(path))
		stat = read_text(root, path);
	if (stat)
		(void)number_after(stat, names->cache, &cache);
	used -= cache < used ? cache : used;
	return limit > used ? limit - used : 0;
}

/* From the group up to where the hierarchy is mounted. */
static uint64_t left_up_to(const char *root, const char *mount, const char *group,
                           const struct memory_files *names)
{
	uint64_t least = UINT64_MAX;
	char dir[PATH_MAX];
	size_t top = strlen(mount);

	if (snprintf(dir, sizeof(dir), "%s%s", mount, group) >= (int)sizeof(dir))
		return UINT64_MAX;
	for (;;) {
		uint64_t left = left_in(root, dir, names);
		char *slash = strrchr(dir, '/');

		least = left < least ? left : least;
		if (!slash || (size_t)(slash - dir) < top)
			return least;
		*slash = '\0';
	}
}

/* The path of our group in /proc/self/cgroup: of the hierarchy with that controller, "" is that of version 2. */
static bool find_group(const char *text, const char *controller, char *out, size_t size)
{
	SCOPED(scoped_free) char *copy = strdup(text);
	char *rest, *line = copy ? strtok_r(copy, "\n", &rest) : NULL;

	for (; line; line = strtok_r(NULL, "\n", &rest)) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (strcmp(names + 1, controller) == 0)
			return snprintf(out, size, "%s", strcmp(path, "/") ? path : "") < (int)size;
	}
	return false;
}

/*
 * "id parent dev ROOT POINT options... - TYPE source options"; a mounted part of a hierarchy is the
 * whole below its root.
 */
static bool take_mount(char *line, const char *type, const char *option, char *group, char *point)
{
	char fs[32], options[256], root[PATH_MAX];
	char *end = strstr(line, " - ");
	size_t len;

	if (!end || sscanf(end + 3, "%31s %*s %255s", fs, options) != 2 || strcmp(fs, type) != 0)
		return false;
	if (*option && !strstr(options, option))
		return false;
	if (sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
		return false;
	len = strcmp(root, "/") ? strlen(root) : 0;
	if (strncmp(group, root, len) == 0 && (group[len] == '/' || !group[len]))
		memmove(group, group + len, strlen(group + len) + 1);
	else if (len)
		group[0] = '\0'; /* it cannot be seen from here: what is mounted bounds it */
	return true;
}

static uint64_t left_in_groups(const char *root, const char *controller, const char *type,
                               const struct memory_files *names)
{
	SCOPED(scoped_free) char *groups = read_text(root, "/proc/self/cgroup");
	SCOPED(scoped_free) char *mounts = read_text(root, "/proc/self/mountinfo");
	char group[PATH_MAX], point[PATH_MAX], *rest, *line;

	if (!groups || !mounts || !find_group(groups, controller, group, sizeof(group)))
		return UINT64_MAX;
	for (line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (take_mount(line, type, controller, group, point))
			return left_up_to(root, point, group, names);
	return UINT64_MAX;
}

uint64_t memory_left(const char *root)
{
	uint64_t least = available(root), v1, v2;

	v1 = left_in_groups(root, "memory", "cgroup", &files_v1);
	v2 = left_in_groups(root, "", "cgroup2", &files_v2);
	least = v1 < least ? v1 : least;
	return v2 < least ? v2 : least;
}
