/*
 * analyze/source_profile — the stacks of a recording as a profile: of CPUs, of sleeps, of wakers.
 *
 * CPU and waker stacks count samples. Off-CPU stacks weigh nanoseconds: each sleep of a task that the timeline knows,
 * under the stack with which it went to sleep, so that they add up to the timeline's sleeps exactly. A sleep
 * without a stack is told by its state, and by the function in which it was blocked where the recording tells that.
 * Filters hold as for every analysis: sleeps are cut to the time asked for. Samples of idle CPUs are left out.
 *
 * Reads only. One profile at a time and thread; different ones may be made at once.
 */
#pragma once

#include <stdbool.h>

#include "analyze/pass.h"
#include "analyze/profile.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

/* By the words cpu, off-cpu, waker; NULL is what there is: cpu, else off-cpu. -EINVAL for another word. */
MUST_USE int source_stack_kind(const struct source *s, const char *word, struct diag *d,
                               enum source_stack_kind *out);
const char *source_stack_name(enum source_stack_kind kind);

/* -ENODATA with a sentence if there are none of that kind. */
MUST_USE int source_profile(const struct source *s, const struct pass_args *args,
                            enum source_stack_kind kind, struct diag *d, struct profile **out);
