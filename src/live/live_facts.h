/*
 * live/live_facts — what the live analyzers with a state of their own have found, as analyze/facts, with the keys that
 * scxtop's clients know: the last records, the last moments of each task, how much happens per second.
 *
 * Texts are those of the tables: they are valid as long as nothing changes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct event_rates;
struct facts;
struct history;
struct live_events;
struct tasks;

struct live_facts_args {
	uint32_t limit; /* rows of a list */
	bool is_running;
	bool has_pid;
	uint32_t pid;   /* of the history: a thread */
	uint64_t after; /* of the events: only those with a higher number; then the oldest first */
	double multiplier; /* of the rates: how much above the usual is strange; 0 picks 2 */
};

void event_buffer_facts(const struct live_events *e, const struct live_facts_args *args,
                        struct facts *out);
void event_rates_facts(const struct event_rates *r, const struct live_facts_args *args,
                       struct facts *out);
/* Of one task, its moments; of all, which has how many. -ENOMEM. */
MUST_USE int history_facts(const struct history *h, const struct tasks *tasks,
                           const struct live_facts_args *args, struct facts *out);
