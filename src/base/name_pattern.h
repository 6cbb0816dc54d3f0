/*
 * base/name_pattern — the one language in which names of tasks and cgroups are chosen, in every command.
 *
 * "nginx" is that name, "nginx*" and "w?rker[0-9]" are globs over the whole name, and "/^ngin(x|y)/" is a regular expression (base/match),
 * found anywhere in it. A regular expression is compiled for each call: for what is asked once per name.
 *
 * `stat` took bare regular expressions before, as rsched does. It still does: a word without anything special is a part of the name
 * there, and one that only makes sense as an expression is NAME_PATTERN_BARE_REGEX, of which it says how to write it.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"

enum name_pattern_kind {
	NAME_PATTERN_PLAIN,
	NAME_PATTERN_GLOB,
	NAME_PATTERN_REGEX, /* between slashes */
	NAME_PATTERN_BARE_REGEX, /* without them: only where such are known, else it is plain or a glob */
};

enum name_pattern_kind name_pattern_kind(const char *pattern);
/* -EINVAL with a sentence for an expression that does not compile. */
MUST_USE int name_pattern_check(const char *pattern, struct diag *d);
bool name_pattern_fits(const char *pattern, const char *name);
/* As a regular expression for base/match, to be freed: globs anchored, others as they are, without their slashes. */
MUST_USE int name_pattern_regex(const char *pattern, char **out);
