/*
 * record/recording_stacks — the stacks of a trace as analyses read them.
 *
 * What recorders add to names is removed: "[K] ", "[U] " and "[Py] " of wprof, paths of modules.
 * Texts stay those of the trace, or live here.
 */
#pragma once

#include "analyze/source.h"
#include "base/attr.h"

struct frame_namer;
struct recording_stacks;
struct trace_info;

/*
 * *out stays NULL if there are no samples. info must stay as long. namer: who finds functions
 * that the file does not name, see record/frame_names. -ENOMEM.
 */
MUST_USE int recording_stacks_new(const struct trace_info *info, const struct frame_namer *namer,
                                  struct recording_stacks **out);
void recording_stacks_free(struct recording_stacks *s); /* NULL is fine */
/* NULL for NULL. */
const struct source_stacks *recording_stacks_get(const struct recording_stacks *s);
