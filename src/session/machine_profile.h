/*
 * session/machine_profile — the part of a machine that samples which functions its CPUs are in (analyze/machine_profile.h).
 *
 * Sampling begins with the first look that wishes it and ends when it is not wished any more. Another rate, or one more
 * clear, begins anew: samples of two rates do not add up. A look takes what session/profile_thread has ready.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_profile;
