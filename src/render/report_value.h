/*
 * render/report_value — single values of a report as people read them, and names made from keys.
 *
 * Units follow from the keys: `_ns` and `_us` are times unless it is a moment of the trace, `percent` and `_pct` are parts.
 * Where an object says in `metric` what its value and thresholds measure, they take that unit; the members of an
 * object of min, max, percentiles are times if its name is that of one (`read_latency`, `percentiles`).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"

/* From when moments are counted, where that is known; else they are shown as they are. */
struct report_clock {
	bool is_known;
	uint64_t start_ns; /* of the recording */
};

/* The context of a value: zeroed where there is none. */
struct report_place {
	const struct report_node *measured; /* the object that says what is measured */
	const char *of;                     /* key of the object that holds it */
	struct report_clock clock;
};

/* A moment in microseconds after the start, rounded up so that it lies within what begins there: "1.500001s". */
char *report_moment(uint64_t ns, uint64_t start_ns, char *buf, size_t size);

/* A value as shown in a cell. */
char *report_value(const struct report_node *node, struct report_place place, char *buf,
                   size_t size);
/* "top_utilized_cpus" -> "top utilized cpus", without a unit that the values show. */
char *report_title(const char *key, bool is_unit_shown, char *buf, size_t size);
/* A moment of the trace. */
bool report_is_moment(const char *key);
bool report_is_scalar(const struct report_node *node);
/* Numbers are right-aligned; so is what is unknown. */
bool report_is_number(const struct report_node *node);
/* An array of objects. */
bool report_is_rows(const struct report_node *node);
