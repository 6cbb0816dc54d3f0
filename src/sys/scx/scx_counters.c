#include "sys/scx/scx_counters.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define PATH           "/sys/kernel/sched_ext/root/events"
#define PREFIX         "SCX_EV_"
#define FILE_BYTES_MAX 8192U

/* "SCX_EV_SELECT_CPU_FALLBACK 12" */
static int parse(char *line, struct scx_counter *out)
{
	char *value = strchr(line, ' '), *end;
	const char *name = line;
	size_t len;

	if (!value)
		return -EIO;
	*value++ = '\0';
	errno = 0;
	out->value = strtoll(value, &end, 10);
	if (errno || end == value || *end)
		return -EIO;
	if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
		name += strlen(PREFIX);
	len = strlen(name);
	if (len == 0 || len >= sizeof(out->name))
		return -EIO;
	for (size_t i = 0; i <= len; i++)
		out->name[i] = (char)tolower((unsigned char)name[i]);
	return 0;
}

int scx_counters_read(const char *root, struct scx_counters *out)
{
	SCOPED(scoped_free) char *text = NULL;
	struct scx_counters all = { 0 };
	char path[256], *rest, *line;

	(void)snprintf(path, sizeof(path), "%s%s", root, PATH);
	if (text_read_file(path, FILE_BYTES_MAX, &text))
		return -ENOENT;
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (!*line)
			continue;
		if (all.nr == SCX_COUNTERS_MAX)
			break;
		if (parse(line, &all.items[all.nr++]))
			return -EIO;
	}
	*out = all;
	return 0;
}
