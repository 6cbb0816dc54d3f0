/*
 * mcp/profile_desk — one profiler for all clients of a server: started, watched over by a thread of its own, read.
 *
 * While it runs the thread polls it, so that it ends in time and knows who was sampled, whether or not somebody asks.
 * Any thread.
 */
#pragma once

#include "analyze/profiler_status.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "render/profile_export.h"
#include "session/profiler.h"

struct profile_desk;

MUST_USE int profile_desk_new(struct profile_desk **out);
void profile_desk_free(struct profile_desk *p); /* NULL is fine; stops */

/* As profiler_start(); texts of cfg are copied. */
MUST_USE int profile_desk_start(struct profile_desk *p, const struct profiler_cfg *cfg,
                                struct diag *d);
MUST_USE int profile_desk_stop(struct profile_desk *p, struct diag *d);
/* As render/profiler_json: an object under key, or its members where key is NULL. */
void profile_desk_status(struct profile_desk *p, struct json_writer *w, const char *key);
enum profiler_state profile_desk_state(struct profile_desk *p);
/* Everything so far, named. -ENODATA while nothing was ever started. */
MUST_USE int profile_desk_profile(struct profile_desk *p, struct diag *d, struct profile **out,
                                  uint64_t *collected);
/* Changes with every sample and every change of state. */
uint64_t profile_desk_revision(struct profile_desk *p);
