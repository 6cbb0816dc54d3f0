/*
 * stat/stat_patterns — names as `stat` takes them: the language of all commands (base/name_pattern), and the regular expressions of rsched.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"

/* Regular expressions for base/match; strings are its own. */
struct stat_patterns {
	char **items;
	size_t nr;
};

/*
 * Of the words of an option, such as "-c": the first bare expression is announced on stderr, and how it is written now. -EINVAL for
 * one that does not compile.
 */
MUST_USE int stat_patterns_make(const struct opt_list *words, const char *option, struct diag *d,
                                struct stat_patterns *out);
void stat_patterns_done(struct stat_patterns *p);
