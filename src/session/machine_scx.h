/* session/machine_scx — sched_ext: its queues, its state, what kernel and scheduler say of it. See session/machine_part. */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_scx;
