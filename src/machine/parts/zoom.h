/*
 * machine/parts/zoom — the part of a machine that shows one thread (machine_wish.tid), see
 * machine/machine_zoom.h.
 *
 * Its programs are loaded by a separate thread when it is first requested, attached while a thread
 * is shown, detached afterwards. What is added up stays in the kernel until a refresh reads it.
 * Without BPF the row of the thread is still kept, and a sentence says what is missing.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_zoom;
