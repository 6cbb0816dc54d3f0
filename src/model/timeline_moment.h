/*
 * model/timeline_moment — rows of a timeline by when they ended, and the state at a moment, for
 * callers that read one interval after the other. The cost depends on the interval, hardly on the
 * remaining rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/timeline.h"

/* A walk over the rows that end in [from_ns, to_ns), in the order of their ids. Zeroed but for these it is at the beginning. */
struct timeline_ended {
	const struct timeline *t;
	enum timeline_table table;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t at; /* rows behind the first one of the table */
};

/* False at the end. */
bool timeline_ended_next(struct timeline_ended *it, union timeline_row *row);

/* One task, or one CPU: the other is TASKS_NONE or TIMELINE_ANY_CPU. */
struct timeline_whose {
	enum timeline_table table;
	uint32_t task;
	uint32_t cpu;
};

/*
 * The row that ends first after ts_ns, whenever it began; of what tiles its task or CPU, the one that holds then, or the
 * next. False if there is none, or no memory for the index.
 */
bool timeline_after(struct timeline *t, const struct timeline_whose *w, uint64_t ts_ns,
                    union timeline_row *row);
/* The row that ended last, at ts_ns or before. */
bool timeline_before(struct timeline *t, const struct timeline_whose *w, uint64_t ts_ns,
                     union timeline_row *row);
