/* session/power_temperature — whose a temperature is: of a package, of the CPUs of a core, or of neither. */
#pragma once

#include "session/power_sum.h"

/* Packages are known, in the order of their numbers. */
void power_temperatures(const struct power_reading *now, struct power_sum *s);
