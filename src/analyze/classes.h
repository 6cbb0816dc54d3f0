/*
 * analyze/classes — in which class of the scheduler tasks ran, by the priorities of their slices.
 *
 * Deadline and real-time tasks have priorities of their own, and so does the kernel's stop class, which counts as real-time. The
 * others are of sched_ext where that reported the slice, of the policy idle where that was recorded, or of the fair class.
 */
#pragma once

#include <stdint.h>

#include "analyze/scope.h"
#include "base/attr.h"

enum sched_class {
	CLASS_UNKNOWN, /* it never ran, or priorities were not recorded */
	CLASS_DEADLINE,
	CLASS_REAL_TIME,
	CLASS_FAIR,
	CLASS_IDLE,
	CLASS_EXT,
	SCHED_CLASSES,
};

struct class_change {
	uint64_t from_ns;
	uint32_t before; /* of the same task, plus one; 0 = it is the first */
	uint8_t class;   /* enum sched_class */
};

struct classes {
	uint32_t *last; /* by task: its last change, plus one; 0 = none */
	uint32_t nr_tasks;
	struct class_change *changes;
	uint32_t nr, room;
};

/* -ENOMEM. */
MUST_USE int classes_init(struct classes *c, const struct scope *sc);
void classes_done(struct classes *c);
/* In which it last ran by then; in which it first ran for earlier times. */
enum sched_class classes_at(const struct classes *c, uint32_t task, uint64_t ts_ns);
const char *class_name(enum sched_class class);
