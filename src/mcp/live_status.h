/* mcp/live_status — what is attached and collected, for several answers. */
#pragma once

#include <stdint.h>

#include "base/json_write.h"

struct live_feed_status;
struct live_observed;
struct prog_watch;

/* Names of kinds of records, given as bits. */
void live_status_put_types(struct json_writer *w, const char *key, uint64_t kinds);
void live_status_put_tracking(struct json_writer *w, const char *key,
                              const struct live_feed_status *s);
/* "observed": the time that an answer is about, and what it rests on. */
void live_status_put_observed(struct json_writer *w, const struct live_observed *o);
void live_status_put_collection(struct json_writer *w, const char *key,
                                struct prog_watch *programs);
