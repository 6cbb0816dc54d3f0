/*
 * session/machine_zoom — the part of a machine that looks at one thread (machine_wish.tid), see analyze/machine_zoom.h.
 *
 * Its programs are loaded by a thread of its own when it is first wished, attached while a thread is looked at, detached
 * when that is left. What is added up stays in the kernel until a look reads it. Without BPF the row of the thread is kept
 * all the same, and a sentence says what is missing.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_zoom;
