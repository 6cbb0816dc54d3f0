/*
 * cli/profile_files — a profile into the files that options name: a flame graph, and forms for other programs.
 *
 * "-" is standard output, but for flame graphs.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"
#include "profile/profile.h"

struct output;

/* Paths; NULL = not wanted. */
struct profile_files {
	const char *flamegraph; /* .svg or .html */
	const char *folded;
	const char *pprof;
	const char *speedscope;
	bool is_by_thread; /* pictures separate the threads of a process */
	bool is_icicle;    /* callers on top */
};

/* Entries of an option table; field is the struct profile_files within the command's own. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and fields take none */
#define PROFILE_FILES_OPTIONS(st, field)                                                        \
	OPT_STRING(0, "flamegraph", "FILE", st, field.flamegraph,                               \
	           "draw a flame graph: FILE.svg, or FILE.html", .is_file = true,               \
	           .heading = "Files of stacks"),                                               \
		OPT_STRING(0, "folded", "FILE", st, field.folded,                               \
	                   "one line per stack, as flame graph scripts read them",              \
	                   .is_file = true),                                                    \
		OPT_STRING(0, "pprof", "FILE", st, field.pprof, "for 'go tool pprof'",          \
	                   .is_file = true),                                                    \
		OPT_STRING(0, "speedscope", "FILE", st, field.speedscope, "for speedscope.app", \
	                   .is_file = true),                                                    \
		OPT_FLAG(0, "by-thread", st, field.is_by_thread,                                \
	                 "in pictures, separate the threads of a process"),                     \
		OPT_FLAG(0, "icicle", st, field.is_icicle, "in pictures, callers on top")
/* NOLINTEND(bugprone-macro-parentheses) */

bool profile_files_any(const struct profile_files *f);
/* Whether one of them is standard output, which then has nothing else. */
bool profile_files_take_stdout(const struct profile_files *f);
/* -EINVAL for a flame graph of another kind, or two on standard output. */
MUST_USE int profile_files_check(const struct profile_files *f, struct diag *d);

#define PROFILE_FILES 4U

/* In the order of struct profile_files; NULL = not wanted, or standard output. */
struct profile_outputs {
	struct output *all[PROFILE_FILES];
};

/* Checks, and finds all places, so that a file that cannot be written is reported before anything is measured. */
MUST_USE int profile_files_open(const struct profile_files *f, struct profile_outputs *out,
                                struct diag *d);
void profile_outputs_done(struct profile_outputs *o);
/* before: to compare with in pictures and folded text; NULL = nothing. */
MUST_USE int profile_files_write(const struct profile_files *f, struct profile_outputs *to,
                                 const struct profile *p, const struct profile *before,
                                 struct diag *d);
