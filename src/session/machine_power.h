/*
 * session/machine_power — power, temperatures, idle states, batteries; and uncore frequencies, for the panels of CPUs.
 *
 * Read once a second at most, for asking a core wakes it; only while someone looks.
 */
#pragma once

#include "session/machine_part.h"

extern const struct machine_part machine_part_power;
