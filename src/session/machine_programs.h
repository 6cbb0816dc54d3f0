/*
 * session/machine_programs — the BPF programs of the kernel and what they cost (analyze/machine_program.h).
 *
 * While it is looked at, the kernel counts runs and their time, which itself costs about 80 ns per run. One program can be
 * looked at closely, and sampled; the sampling ends with the look that does not wish it any more.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_programs;
