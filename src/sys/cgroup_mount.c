#include "sys/cgroup_mount.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define MOUNTINFO_CAP (4UL << 20)
#define CGROUP_CAP    (256UL << 10)

/* Three octal digits up to 377; 0 for anything else, a NUL too: no path has one. */
static char escaped_char(const char *s)
{
	for (int i = 0; i < 3; i++)
		if (s[i] < '0' || s[i] > (i ? '7' : '3'))
			return 0;
	return (char)((s[0] - '0') * 64 + (s[1] - '0') * 8 + (s[2] - '0'));
}

/* The kernel writes space, tab, newline and backslash in mount points as a backslash and octal digits. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; to++) {
		char c = *s == '\\' ? escaped_char(s + 1) : 0;

		*to = c ? c : *s;
		s += c ? 4 : 1;
	}
	*to = '\0';
}

struct mount_line {
	char *root; /* what of the file system is mounted */
	char *point;
};

/* One of the words of a list that commas separate. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, len) == 0 && (at[len] == ',' || !at[len]))
			return true;
	}
	return false;
}

/* id parent major:minor ROOT POINT options [tags...] - TYPE source OPTIONS; of v1 the options name the controllers. */
static bool take_mount_line(char *line, const char *controller, struct mount_line *out)
{
	char *type = strstr(line, " - "), *rest, *word;
	const char *wanted = controller ? "cgroup " : "cgroup2 ", *options;

	if (!type || strncmp(type + 3, wanted, strlen(wanted)) != 0)
		return false;
	options = strrchr(type, ' ');
	if (controller && !has_word(options + 1, controller))
		return false;
	word = strtok_r(line, " ", &rest);
	for (int i = 0; i < 3 && word; i++)
		word = strtok_r(NULL, " ", &rest);
	out->root = word;
	out->point = word ? strtok_r(NULL, " ", &rest) : NULL;
	return out->point != NULL;
}

/* Of v2 without a controller. -ENOENT: not mounted. */
static int find_mount(const char *mountinfo, const char *controller, char **out)
{
	SCOPED(scoped_free) char *text = NULL;
	struct mount_line line, best = { NULL, NULL };
	char *rest, *s;
	int err = text_read_file(mountinfo, MOUNTINFO_CAP, &text);

	*out = NULL;
	if (err)
		return err;
	for (s = strtok_r(text, "\n", &rest); s; s = strtok_r(NULL, "\n", &rest)) {
		if (!take_mount_line(s, controller, &line))
			continue;
		/* Containers may see parts of the hierarchy as well as the whole. */
		if (!best.point || (strcmp(best.root, "/") != 0 && !strcmp(line.root, "/")))
			best = line;
	}
	if (!best.point)
		return 0;
	unescape(best.point);
	*out = strdup(best.point);
	return *out ? 0 : -ENOMEM;
}

/* Lines are ID:CONTROLLERS:PATH; that of v2 is 0::PATH. */
static int find_cpu_line(const char *path, int *id)
{
	SCOPED(scoped_free) char *text = NULL;
	char *rest, *s, *end;
	int err = text_read_file(path, CGROUP_CAP, &text);

	*id = 0;
	for (s = err ? NULL : strtok_r(text, "\n", &rest); s; s = strtok_r(NULL, "\n", &rest)) {
		long number = strtol(s, &end, 10);
		char *list = *end == ':' ? end + 1 : NULL, *colon = list ? strchr(list, ':') : NULL;

		if (!colon || number <= 0 || number > INT_MAX)
			continue;
		*colon = '\0';
		if (has_word(list, "cpu"))
			*id = (int)number;
	}
	return err;
}

int cgroup_find_cpu(const char *proc_self, struct cgroup_hierarchy *out)
{
	char path[PATH_MAX];
	struct cgroup_hierarchy h = { 0 };
	int err;

	(void)snprintf(path, sizeof(path), "%s/cgroup", proc_self);
	err = find_cpu_line(path, &h.id);
	if (err)
		return err;
	h.is_v1 = h.id != 0;
	(void)snprintf(path, sizeof(path), "%s/mountinfo", proc_self);
	err = find_mount(path, h.is_v1 ? "cpu" : NULL, &h.mount);
	if (err)
		return err;
	*out = h;
	return 0;
}

void cgroup_hierarchy_done(struct cgroup_hierarchy *h)
{
	free(h->mount);
	*h = (struct cgroup_hierarchy){ 0 };
}
