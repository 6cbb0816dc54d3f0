/*
 * base/match — regular expressions (PCRE2 syntax) with limits, searched unanchored.
 *
 * A pattern that explodes on some input counts as "no match" and is counted, never hangs. Patterns and
 * input are bytes: "." is one byte, and only ASCII letters have a case. "$" is the very end. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

#define MATCH_MAX_PATTERNS      256
#define MATCH_MAX_PATTERN_BYTES 4096

struct match;

/* Patterns are joined by OR. -EINVAL with a diag that shows the pattern and where it is wrong. */
MUST_USE int match_new(const char *const *patterns, size_t nr, struct diag *d, struct match **out);
void match_free(struct match *m); /* NULL is fine */
DEFINE_SCOPED(match, match_free)
bool match_any(struct match *m, const char *s, size_t len); /* false without patterns */
bool match_is_empty(const struct match *m);                 /* no pattern at all; NULL too */
uint64_t match_nr_aborted(const struct match *m);           /* searches given up at a limit */
