/*
 * cli/trace_args — what the commands on recordings share: filters, the file with progress, the shape of the output.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"
#include "record/recording.h"

struct trace_args {
	uint64_t pid;
	uint64_t tid;
	const char *comm;
	const char *cgroup;
	uint64_t cpu;
	bool has_cpu;
	const char *from;
	const char *to;
	uint64_t limit;
	bool has_limit;
};

#define TRACE_ARGS_PID_MAX (UINT32_MAX - 1) /* the last one means any */

/* Entries of an option table; field is the struct trace_args within the command's own. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and fields take none */
#define TRACE_ARGS_OPTIONS(st, field)                                                                         \
	OPT_U64('p', "pid", "PID", st, field.pid, 1, TRACE_ARGS_PID_MAX, "only this process",                 \
	        .heading = "Which rows"),                                                                     \
		OPT_U64(0, "tid", "TID", st, field.tid, 1, TRACE_ARGS_PID_MAX,                                \
	                "only this thread"),                                                                  \
		OPT_STRING('c', "comm", "PATTERN", st, field.comm,                                            \
	                   "only threads with matching names: NAME, with * and ?, or /REGEX/"),               \
		OPT_STRING(                                                                                   \
			0, "cgroup", "PATTERN", st, field.cgroup,                                             \
			"only while in matching cgroups, or below: a path or name, with * and ?, or /REGEX/", \
			.list = "cgroups"),                                                                   \
		OPT_U64(0, "cpu", "CPU", st, field.cpu, 0, UINT16_MAX - 1, "only this CPU",                   \
	                OPT_GIVEN(st, field.has_cpu)),                                                        \
		OPT_STRING(0, "from", "TIME", st, field.from,                                                 \
	                   "start here: 1.5s after the start, or @NS on the trace's clock"),                  \
		OPT_STRING(0, "to", "TIME", st, field.to, "end here"),                                        \
		OPT_U64('n', "limit", "N", st, field.limit, 1, UINT32_MAX,                                    \
	                "at most N rows of each list", OPT_GIVEN(st, field.has_limit))
/* NOLINTEND(bugprone-macro-parentheses) */

/* Of what takes a while, on stderr if that is a terminal: begin says whether it is. */
struct trace_progress {
	const char *what; /* "loading" */
	uint64_t start_ns;
	uint64_t shown_ns; /* 0 = never */
};
MUST_USE bool trace_progress_begin(struct trace_progress *p, const char *what);
void trace_progress_show(void *ctx, uint64_t done, uint64_t total);
void trace_progress_end(const struct trace_progress *p);

/* Loads the file; shows progress on stderr if that is a terminal and it takes a while. */
MUST_USE int trace_args_open(const char *path, struct diag *d, struct recording **out);
/* The same of an open file, which is lent; 0 = path is opened. */
MUST_USE int trace_args_open_fd(const char *path, int fd, struct diag *d, struct recording **out);
/* A time as an option gives it; 0 for NULL. */
MUST_USE int trace_args_time(const char *text, const char *option, const struct source *s,
                             struct diag *d, uint64_t *out);
/* Whether exactly one file is named; what is the command, for a sentence that says how it is written. */
MUST_USE int trace_args_one(const struct opt_list *words, const char *what, struct diag *d);
/* Also patterns and the order of times; nothing about what the trace has. */
MUST_USE int trace_args_fill(const struct trace_args *args, const struct source *s, struct diag *d,
                             struct pass_args *out);
/* -ENODATA with a sentence if the trace has no such thread, process, name or CPU. */
MUST_USE int trace_args_find(const struct pass_args *args, const struct source *s, struct diag *d);
/* What rows add up, as --by names it. */
MUST_USE int trace_args_by(const char *word, struct diag *d, enum pass_by *out);
/* Columns of the terminal that stdout is; 0 = none. */
size_t trace_args_width(void);
/* Lines of it. */
size_t trace_args_height(void);
bool trace_args_is_utf8(void);
/* Whether it is one that shows colours, and they are wanted: NO_COLOR is not set. */
bool trace_args_is_colored(void);
