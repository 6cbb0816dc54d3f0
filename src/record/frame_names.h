/*
 * record/frame_names — names of functions that a recording knows by place alone, from files of this machine.
 *
 * A file counts only if it has the build id that the recording gives; the kernel only if its _text is where it was in
 * the recording, and it is of the same release: this is then the boot that was recorded. What cannot be looked up stays
 * without a name. Files are parsed by another process without rights (symbol/parser).
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/cleanup.h"

struct frame_names;
struct trace_info;

/* *out stays NULL where there is nothing to look up. 0 or -ENOMEM: that nothing is found is no error. */
MUST_USE int frame_names_new(const struct trace_info *info, struct frame_names **out);
void frame_names_free(struct frame_names *n); /* NULL is fine */
DEFINE_SCOPED(frame_names, frame_names_free)
/* Of a frame by its index in the info; NULL = none was found. NULL for NULL. */
const char *frame_names_of(const struct frame_names *n, size_t frame);
