/*
 * machine/parts/scx — sched_ext: its queues, its state, statistics of kernel and scheduler. See
 * machine/parts/part.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_scx;
