/* collect/event_sources — which programs of the event stream serve a kind, and at which tracepoints. */
#pragma once

#include <stddef.h>

/* A kind is there if one of its programs can be loaded. */
struct event_source {
	unsigned int kind;
	const char *program;
	const char *tracepoint;
};

extern const struct event_source event_sources[];
extern const size_t nr_event_sources;
