/* session/machine_pressure — hardware pressure of CPUs (collect/pressure), while someone looks. */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_pressure;
