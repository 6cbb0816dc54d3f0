/*
 * analyze/event_facts — a record with its notes (model/event_notes) as names and values, as scxtop's clients know them.
 *
 * "type", "ts" (nanoseconds) and "cpu", then the fields of the kind; what is unknown is null. "pid"
 * is the thread's id, as there. A softirq is reported when it ends, with both times and its number.
 */
#pragma once

#include <stdint.h>

struct event_entry;
struct facts;
struct tasks;

/* "sched_switch", ...; NULL for a kind that does not exist. */
const char *stream_type_name(unsigned int kind);
/* Into an empty object. */
void event_facts(const struct event_entry *e, const struct tasks *tasks, struct facts *out);
