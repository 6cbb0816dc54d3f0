/*
 * mcp/trigger_story — why a trigger fired, in sentences, from the rolling timeline: the answer of `explain` for the wait or the
 * sleep that it was about, in short.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct json_writer;
struct live_feed;
struct report_node;
struct trigger_hit;

struct trigger_story {
	char *json; /* an object; NULL without memory */
	size_t len;
	bool is_open; /* what it is about lasts */
};

/* The first wait or sleep that a report of `explain` has, as members; false if it has none. */
bool trigger_story_put(struct json_writer *w, const struct report_node *root, bool *is_open);
/* Waits for what the kernel has reported by now. To be given back by trigger_story_done(). */
void trigger_story_tell(struct live_feed *feed, const struct trigger_hit *hit,
                        struct trigger_story *out);
void trigger_story_done(struct trigger_story *s);
