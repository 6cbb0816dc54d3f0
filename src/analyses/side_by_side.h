/*
 * analyses/side_by_side — recordings of several hosts in one table: a row each, so that the one that differs is seen.
 *
 * Recordings are added one after the other and can be closed then. The numbers are those of the analyses summary and wakeup_latency.
 */
#pragma once

#include "analyze/pass.h"
#include "base/cleanup.h"

#define SIDE_BY_SIDE_MAX 4096

struct side_by_side;

/* NULL without memory. */
struct side_by_side *side_by_side_new(void);
void side_by_side_free(struct side_by_side *t); /* NULL is fine */
DEFINE_SCOPED(side_by_side, side_by_side_free)

/* -E2BIG beyond SIDE_BY_SIDE_MAX, -ENOMEM, or what the analyses say. */
MUST_USE int side_by_side_add(struct side_by_side *t, const struct source *s,
                              const struct pass_args *args, struct diag *d);
/* {analysis_type, hosts, recordings: [...]}, in the order in which they were added. -ENOMEM. */
MUST_USE int side_by_side_report(const struct side_by_side *t, struct diag *d, struct report **out);
