/*
 * session/machine_programs — the BPF programs of the kernel and what they cost.
 *
 * While it is looked at, the kernel counts runs and their time, which itself costs about 80 ns per run.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_programs;
