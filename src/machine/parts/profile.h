/*
 * machine/parts/profile — the part of a machine that samples which functions its CPUs are in (profile/machine_profile.h).
 *
 * Sampling begins with the first refresh that requests it and ends when it is no longer requested. Another rate, or one more
 * clear, begins anew: samples of two rates do not add up. A refresh takes what profile/profiler/profile_thread has ready.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_profile;
