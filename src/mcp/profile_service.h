/*
 * mcp/profile_service — one profiler for all clients of a server: started, polled by a separate
 * thread, read.
 *
 * While it runs the thread polls it, so that it ends in time and names the sampled processes,
 * whether or not a client reads it. Any thread.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "profile/profiler/profiler.h"
#include "profile/profiler_status.h"
#include "render/profile_export.h"

struct profile_service;

MUST_USE int profile_service_new(struct profile_service **out);
void profile_service_free(struct profile_service *p); /* NULL is fine; stops */

/* As profiler_start(); texts of cfg are copied. */
MUST_USE int profile_service_start(struct profile_service *p, const struct profiler_cfg *cfg,
                                   struct diag *d);
MUST_USE int profile_service_stop(struct profile_service *p, struct diag *d);
/* As render/profiler_json: an object under key, or its members where key is NULL. */
void profile_service_status(struct profile_service *p, struct json_writer *w, const char *key);
enum profiler_state profile_service_state(struct profile_service *p);
/* Everything so far, named. -ENODATA while nothing was ever started. */
MUST_USE int profile_service_profile(struct profile_service *p, struct diag *d,
                                     struct profile **out, uint64_t *collected);
/* Changes with every sample and every change of state. */
uint64_t profile_service_revision(struct profile_service *p);
