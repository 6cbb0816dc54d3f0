/*
 * serve/waste — on which CPUs tasks may run, for the idle time that was wasted in an interval of the event stream.
 *
 * The stream reports the CPUs of a task when it is new and when they change. These reports are kept for one interval, so that their
 * memory is bounded. Tasks that waited, and of which nothing was reported in the interval, are looked up in the kernel; those that have exited
 * by then stay unknown.
 */
#pragma once

#include <stdint.h>

#include "analyze/scope.h"
#include "base/attr.h"

struct allowed;
struct ledger;

/* Adds to reports what the kernel says of tasks that waited in the time asked for. -ENOMEM. */
MUST_USE int waste_look_up(const struct scope *sc, struct allowed *reports);
/* Of the time asked for: when at least one task waited while a CPU was idle that it may use. The source has the reports. -ENOMEM, -E2BIG. */
MUST_USE int waste_of_interval(const struct scope *sc, struct ledger *l, uint64_t *out_ns);
