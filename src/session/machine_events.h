/*
 * session/machine_events — the wished event on every CPU, and the lists of events to choose from, as parts of a machine.
 *
 * Counters are open only while someone looks. When the wish or the set of CPUs that are online changes, they are opened
 * anew, by a thread where that takes long; the first interval after that is not known yet. A list is read once, by a
 * thread of its own.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_events, machine_part_event_lists;
