/*
 * profile/source_profile — the stacks of a recording as a profile: of CPUs, of sleeps, of wakers.
 *
 * CPU and waker stacks count samples. Off-CPU stacks weigh nanoseconds: each sleep of a task that the timeline knows,
 * under the stack with which it went to sleep, so that they add up to the timeline's sleeps exactly. A sleep without
 * a stack is shown by its state, and by the function in which it was blocked where that is recorded. Filters hold as
 * for every analysis: sleeps are cut to the time asked for. Samples of idle CPUs are left out.
 *
 * By wall clock, samples of CPUs weigh the time between two of them, divided by the number of CPUs that ran tasks of the filter
 * then (profile/parallel).
 *
 * Reads only. One profile at a time and thread; different ones may be made at once.
 */
#pragma once

#include <stdbool.h>

#include "analyze/pass.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"
#include "profile/profile.h"

/*
 * By the words cpu, off-cpu, waker, wall, or the name of another event at which stacks were taken; NULL is what there is: cpu,
 * else off-cpu. -EINVAL for another word.
 */
MUST_USE int source_stack_kind(const struct source *s, const char *word, struct diag *d,
                               enum source_stack_kind *out);
const char *source_stack_name(const struct source *s, enum source_stack_kind kind);
/* How many samples there are of that kind. */
uint64_t source_stack_nr(const struct source *s, enum source_stack_kind kind);

/* -ENODATA with a sentence if there are none of that kind. */
MUST_USE int source_profile(const struct source *s, const struct pass_args *args,
                            enum source_stack_kind kind, struct diag *d, struct profile **out);
