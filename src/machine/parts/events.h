/*
 * machine/parts/events — the requested event on every CPU, and the lists of events to choose from,
 * as parts of a machine.
 *
 * Counters are open only while they are shown. When the request or the set of online CPUs changes,
 * they are reopened, by a thread where that takes long; the first interval after that is unknown. A
 * list is read once, by a separate thread.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_events, machine_part_event_lists;
