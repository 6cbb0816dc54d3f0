/*
 * record/frame_names — names of functions that a recording knows by place alone, from files of this machine.
 *
 * A file counts only if it has the build id that the recording gives; the kernel only if its _text is where it was in
 * the recording, and it is of the same release: this is then the boot that was recorded. What cannot be looked up stays
 * without a name. Files are opened with the rights of this process alone, no device and nothing of /proc among them, and parsed by
 * another process without rights (symbol/parser).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

struct frame_names;
struct frame_query;
struct trace_info;

/* All may be 0: then it takes what it takes. Names that were not found by then are left out. */
struct frame_limits {
	uint64_t wall_ns;
	uint32_t max_files;
	bool (*should_stop)(void *ctx);
	void *ctx;
};

/* Who looks up: this process, or one that may open files (mcp/traces). *out stays NULL where nothing is found. */
struct frame_namer {
	int (*find)(void *ctx, const struct frame_query *q, struct frame_names **out);
	void *ctx;
};

/* 0 or -ENOMEM: that nothing is found is no error. */
MUST_USE int frame_names_find(const struct frame_query *q, const struct frame_limits *limits,
                              struct frame_names **out);
/* As a namer: without limits; ctx is not used. */
MUST_USE int frame_names_find_all(void *ctx, const struct frame_query *q, struct frame_names **out);
/* Asks the namer about the frames of a recording; without one (find is NULL) nothing is looked up. */
MUST_USE int frame_names_new(const struct trace_info *info, const struct frame_namer *namer,
                             struct frame_names **out);

/* None of nr frames has a name yet. */
MUST_USE int frame_names_begin(size_t nr, struct frame_names **out);
/* A copy; false: there is no room for more, or no such frame. */
bool frame_names_set(struct frame_names *n, size_t frame, const char *name);
void frame_names_free(struct frame_names *n); /* NULL is fine */
DEFINE_SCOPED(frame_names, frame_names_free)
/* Of a frame by its index in the info; NULL = none was found. NULL for NULL. */
const char *frame_names_of(const struct frame_names *n, size_t frame);
