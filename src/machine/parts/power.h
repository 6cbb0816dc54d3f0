/*
 * machine/parts/power — power, temperatures, idle states, batteries; and uncore frequencies, for the panels of CPUs.
 *
 * Read once a second at most, because reading a core wakes it; only while shown.
 */
#pragma once

#include "machine/parts/part.h"

extern const struct machine_part machine_part_power;
