/* cli/profile_output — where a profile goes: pictures and files for other programs, JSON, a table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/attr.h"
#include "base/diag.h"

struct profile_output {
	const char *flamegraph; /* .svg or .html; NULL = none, here and below */
	const char *folded;
	const char *pprof;
	const char *speedscope;
	const char *diff; /* an older profile to compare with */
	bool is_by_thread;
	bool is_icicle;
};

/* Entries of an option table; field is the struct profile_output within the command's own. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and fields take none */
#define PROFILE_OUTPUT_OPTIONS(st, field)                                                       \
	OPT_STRING(0, "flamegraph", "FILE", st, field.flamegraph,                               \
	           "a flame graph, FILE.svg or FILE.html, to zoom and search in a browser",     \
	           .is_file = true, .heading = "Where to"),                                     \
		OPT_STRING(0, "folded", "FILE", st, field.folded,                               \
	                   "one line per stack, for flame graph scripts", .is_file = true),     \
		OPT_STRING(0, "pprof", "FILE", st, field.pprof, "for 'go tool pprof'",          \
	                   .is_file = true),                                                    \
		OPT_STRING(0, "speedscope", "FILE", st, field.speedscope, "for speedscope.app", \
	                   .is_file = true),                                                    \
		OPT_STRING(0, "diff", "OLD", st, field.diff,                                    \
	                   "compare with OLD, written before by --folded or --json",            \
	                   .is_file = true),                                                    \
		OPT_FLAG(0, "by-thread", st, field.is_by_thread,                                \
	                 "in pictures, tell the threads of a process apart"),                   \
		OPT_FLAG(0, "icicle", st, field.is_icicle, "in pictures, callers on top")
/* NOLINTEND(bugprone-macro-parentheses) */

bool profile_output_has_files(const struct profile_output *o);
/* Says what cannot be written before anything is measured, and reads the older profile. */
MUST_USE int profile_output_check(const struct profile_output *o, struct diag *d,
                                  struct profile **before);
/* All files that were asked for; each appears whole or not at all. before may be NULL. */
MUST_USE int profile_output_write(const struct profile_output *o, const struct profile *p,
                                  const struct profile *before, struct diag *d);
