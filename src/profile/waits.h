/*
 * profile/waits — of a stack that ends in the scheduler: the function that waits or wakes, and what it waits for.
 *
 * Stacks of sleeps and of wakers all begin with the same functions: those that put a task to sleep or wake it. The function that
 * waits is the innermost one that is none of these. It is what the kernel itself calls the wait channel (/proc/PID/wchan),
 * which leaves out what the sources mark as __sched: schedule() and its kin, and the locks of the kernel. They are known by
 * name here, so that recordings of other machines are read the same. Pure; one thread per profile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

/* Whether a function of the kernel puts tasks to sleep or wakes them on behalf of its callers. */
bool wait_is_scheduler(const char *symbol);
/* Whether all stacks of a profile begin in the scheduler: sleeps, wakers. */
bool profile_is_of_waits(const struct profile *p);
/* Which frame is the function that waits or wakes; 0 where all are of the scheduler. */
size_t profile_waiter(const struct profile *p, const struct profile_stack *stack);
/* What a sleep with that stack was for; the name of the function that waits where the kind of wait is not known. */
const char *profile_waited_for(const struct profile *p, const struct profile_stack *stack);
