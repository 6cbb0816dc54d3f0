#include "symbol/proc_maps.h"

#include <string.h>

#define DELETED " (deleted)"

bool proc_maps_undelete(char *path)
{
	size_t len = strlen(path), cut = strlen(DELETED);

	if (len <= cut || strcmp(path + len - cut, DELETED) != 0)
		return false;
	path[len - cut] = '\0';
	return true;
}

/* The kernel writes a newline in a path as \012, and nothing else so; what does not fit is cut. */
static void copy_path(struct scan s, char *out, size_t size)
{
	size_t len = 0;

	for (; s.at < s.end && len + 1 < size; s.at++) {
		char c = *s.at;

		if (c == '\\' && s.end - s.at >= 4 && memcmp(s.at + 1, "012", 3) == 0) {
			c = '\n';
			s.at += 3;
		}
		if (c == '\0')
			break;
		out[len++] = c;
	}
	out[len] = '\0';
}

/* "start-end rwxp offset major:minor inode path" */
static bool parse_line(struct scan s, struct proc_maps_line *out)
{
	uint64_t major, minor;
	struct scan rights;

	if (!scan_hex(&s, &out->start) || !scan_char(&s, '-') || !scan_hex(&s, &out->end) ||
	    out->end <= out->start || !scan_word(&s, &rights) || rights.end - rights.at != 4 ||
	    !scan_hex(&s, &out->offset) || !scan_hex(&s, &major) || !scan_char(&s, ':') ||
	    !scan_hex(&s, &minor) || major > UINT32_MAX || minor > UINT32_MAX ||
	    !scan_number(&s, &out->inode))
		return false;
	out->dev_major = (uint32_t)major;
	out->dev_minor = (uint32_t)minor;
	out->is_executable = rights.at[2] == 'x';
	scan_spaces(&s);
	copy_path(s, out->path, sizeof(out->path));
	out->is_deleted = proc_maps_undelete(out->path);
	return true;
}

bool proc_maps_next(struct scan *text, struct proc_maps_line *out)
{
	struct scan row;

	while (scan_row(text, &row))
		if (parse_line(row, out))
			return true;
	return false;
}
