/*
 * sys/pmu/event_names — what can be traced here: the kernel's tracepoints and the functions that a probe can be put on.
 *
 * From tracefs where it is mounted and readable. Else tracepoints come from the kernel's BTF, which
 * does not have their subsystem, and functions from /proc/kallsyms. Blocks on those files. Names
 * are untrusted bytes without white space.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct event_name {
	const char *subsystem; /* "unknown" where it is not available */
	const char *name;
};

struct event_names {
	struct event_name *items; /* by subsystem, then name; of functions: by place in the file */
	size_t nr;
	const char *source; /* "tracefs", "btf" or "kallsyms" */
	char *text;
};

/* root is "" or a copy of such a tree. -ENOENT with a diag where none of the sources is there. */
MUST_USE int event_names_tracepoints(const char *root, struct diag *d, struct event_names *out);
MUST_USE int event_names_functions(const char *root, struct diag *d, struct event_names *out);
/*
 * The kernel's number of a tracepoint: -ENOENT where tracefs has none of that name, -ENODEV where
 * it has no ids.
 */
MUST_USE int event_names_id(const char *root, const char *subsystem, const char *name,
                            uint64_t *out);
void event_names_done(struct event_names *n); /* a zeroed one is fine */
