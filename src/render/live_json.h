/*
 * render/live_json — the aggregates of analyze/live_report as JSON, with the keys that scxtop's clients know.
 *
 * Besides those keys there is one more, "observed": how long, one wakeup in how many, what latency is
 * measured from, and records lost. A latency without samples has null for avg, min and max; so has the depth
 * of a queue that the kernel has not told.
 */
#pragma once

struct json_writer;
struct live_report;

/* The members of an object that is open. */
void live_json_members(struct json_writer *w, const struct live_report *r);
/* One object, under key (NULL at the top or in an array). */
void live_json_put(struct json_writer *w, const char *key, const struct live_report *r);
