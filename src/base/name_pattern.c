#include "base/name_pattern.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/match.h"

/* A path that ends in a slash is one, too: it finds the same cgroups, and those below. */
static bool is_between_slashes(const char *pattern)
{
	size_t len = strlen(pattern);

	return len > 2 && pattern[0] == '/' && pattern[len - 1] == '/';
}

/* What a glob has no use for. Brackets alone are of both; rsched's users mean a part of the name by them. */
static bool is_bare_regex(const char *pattern)
{
	return strpbrk(pattern, "^$|()+{}\\") || strstr(pattern, ".*") || strstr(pattern, ".?") ||
	       (strchr(pattern, '[') && !strpbrk(pattern, "*?"));
}

enum name_pattern_kind name_pattern_kind(const char *pattern)
{
	if (is_between_slashes(pattern))
		return NAME_PATTERN_REGEX;
	if (is_bare_regex(pattern))
		return NAME_PATTERN_BARE_REGEX;
	return strpbrk(pattern, "*?[") ? NAME_PATTERN_GLOB : NAME_PATTERN_PLAIN;
}

/* One byte of a glob, or a whole set; returns what comes behind it. */
static const char *put_part(const char *p, char **to)
{
	const char *end = *p == '[' ? strchr(p + 2 + (p[1] == '!' || p[1] == '^'), ']') : NULL;

	if (*p == '*') {
		*(*to)++ = '.';
		*(*to)++ = '*';
	} else if (*p == '?') {
		*(*to)++ = '.';
	} else if (end) {
		*(*to)++ = *p++;
		if (*p == '!')
			*(*to)++ = '^', p++;
		for (; p <= end; p++) {
			if (*p == '[' || *p == '\\')
				*(*to)++ = '\\';
			*(*to)++ = *p;
		}
		return p;
	} else {
		if (!isalnum((unsigned char)*p))
			*(*to)++ = '\\';
		*(*to)++ = *p;
	}
	return p + 1;
}

static char *regex_of_glob(const char *glob)
{
	static const char head[] = "(?s)\\A", tail[] = "\\z";
	char *regex = malloc(sizeof(head) + 2 * strlen(glob) + sizeof(tail)), *to = regex;

	if (!regex)
		return NULL;
	to = stpcpy(to, head);
	while (*glob)
		glob = put_part(glob, &to);
	memcpy(to, tail, sizeof(tail));
	return regex;
}

int name_pattern_regex(const char *pattern, char **out)
{
	enum name_pattern_kind kind = name_pattern_kind(pattern);

	if (kind == NAME_PATTERN_REGEX)
		*out = strndup(pattern + 1, strlen(pattern) - 2);
	else
		*out = kind == NAME_PATTERN_GLOB ? regex_of_glob(pattern) : strdup(pattern);
	return *out ? 0 : -ENOMEM;
}

static int compile(const char *pattern, struct diag *d, struct match **out)
{
	SCOPED(scoped_free) char *regex = NULL;
	const char *words[1];

	if (name_pattern_regex(pattern, &regex))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	words[0] = regex;
	return match_new(words, 1, d, out);
}

int name_pattern_check(const char *pattern, struct diag *d)
{
	SCOPED(scoped_match) struct match *m = NULL;

	return is_between_slashes(pattern) ? compile(pattern, d, &m) : 0;
}

bool name_pattern_fits(const char *pattern, const char *name)
{
	SCOPED(scoped_match) struct match *m = NULL;

	if (!is_between_slashes(pattern))
		return fnmatch(pattern, name, 0) == 0;
	return compile(pattern, NULL, &m) == 0 && match_any(m, name, strlen(name));
}
