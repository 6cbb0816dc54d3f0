/*
 * profile/profiler/profile_names — rows of a sampler become a profile with names.
 *
 * Remembers what processes are called, also of those that end. The symbolizer is lent. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "collect/sample/sampler.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

struct profile_names;

MUST_USE int profile_names_new(struct symbolizer *symbols, struct profile_names **out);
void profile_names_free(struct profile_names *n); /* NULL is fine */

/* From now on tasks have the names of their cgroups, of those that are there now and later. -ENOMEM. */
MUST_USE int profile_names_read_cgroups(struct profile_names *n);
/* Reads a process while it is alive: its name, its mappings. Known ones cost a lookup. -ENOMEM. */
MUST_USE int profile_names_read_process(struct profile_names *n, uint32_t tgid, uint64_t ts_ns);
/* It became another program. */
MUST_USE int profile_names_execed(struct profile_names *n, uint32_t tgid);

/* Adds a row, its addresses named. */
MUST_USE int profile_names_add(struct profile_names *n, const struct sampler_row *row,
                               struct profile *out);
