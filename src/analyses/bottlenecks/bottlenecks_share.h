/*
 * analyses/bottlenecks/bottlenecks_share — the bottlenecks for analyses that run together, in several threads: found for the first
 * one that asks, copied for all that ask for the same ones.
 *
 * Lent by the source (struct source), so those who use it are done before it is freed.
 */
#pragma once

#include <stdint.h>

#include "analyze/pass.h"
#include "base/attr.h"

struct bottlenecks_share;

/* NULL without memory. */
struct bottlenecks_share *bottlenecks_share_new(void);
void bottlenecks_share_free(struct bottlenecks_share *share); /* NULL is fine */

/* What finds them, and adds their members to the object that is open. */
typedef int (*bottlenecks_find_fn)(const struct source *s, const struct pass_args *args,
                                   struct report *r, struct diag *d);
/* The same members by the share of the source, which it has; args->limit is at most `most`. What find() returns. */
MUST_USE int bottlenecks_share_run(const struct source *s, const struct pass_args *args,
                                   uint32_t most, bottlenecks_find_fn find, struct report *r,
                                   struct diag *d);
