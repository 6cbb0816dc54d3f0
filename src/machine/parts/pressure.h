/* machine/parts/pressure — hardware pressure of CPUs (collect/pressure), while shown. */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_pressure;
