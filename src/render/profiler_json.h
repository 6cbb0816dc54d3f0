/* render/profiler_json — the status of a profiler, with the keys of scxtop's. */
#pragma once

#include "base/json_write.h"
#include "profile/profiler_status.h"

/* An object under key: status, samples_collected, duration_ms, config, and more. */
void profiler_status_members(struct json_writer *w, const struct profiler_status *s);
void profiler_status_json(struct json_writer *w, const char *key, const struct profiler_status *s);
