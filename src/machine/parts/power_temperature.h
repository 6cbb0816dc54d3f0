/* machine/parts/power_temperature — what a temperature belongs to: a package, the CPUs of a core, or neither. */
#pragma once

#include "machine/parts/power_sum.h"

/* Packages are known, in the order of their numbers. */
void power_temperatures(const struct power_reading *now, struct power_sum *s);
