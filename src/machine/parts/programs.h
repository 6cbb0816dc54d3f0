/*
 * machine/parts/programs — the BPF programs of the kernel and what they cost (machine/machine_program.h).
 *
 * While it is shown, the kernel counts runs and their time, which itself costs about 80 ns per run.
 * One program can be shown in detail, and sampled; the sampling ends with the refresh that no
 * longer requests it.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_programs;
