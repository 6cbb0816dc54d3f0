/*
 * profile/parallel — how many CPUs ran tasks of a scope, at moments that come one after the other.
 *
 * The tasks are those that the arguments select, on whatever CPU: a filter of CPUs does not make a program serial. Reads the
 * timeline once. One thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/pass.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

struct parallel;

/* -ENODATA with a sentence where the source does not say what ran. */
MUST_USE int parallel_new(const struct source *s, const struct pass_args *args, struct diag *d,
                          struct parallel **out);
void parallel_free(struct parallel *p); /* NULL is fine */
DEFINE_SCOPED(parallel, parallel_free)

/* At that time, which is not before that of the last call. */
uint32_t parallel_at(struct parallel *p, uint64_t ts_ns);
