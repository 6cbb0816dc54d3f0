/*
 * machine/parts/power_sum — what two readings of all sensors say of the time between them, as struct machine_power.
 *
 * Names point into the newer reading, which must outlive the sum. Histories are not its business.
 */
#pragma once

#include "base/attr.h"
#include "machine/machine_power.h"
#include "sys/sensors/power_reading.h"

#define POWER_PACKAGES_MAX 64U
#define POWER_SENSORS_MAX  64U

struct power_sum {
	struct machine_power_package packages[POWER_PACKAGES_MAX];
	struct machine_power_idle idles[MACHINE_IDLE_STATES];
	struct machine_power_sensor sensors[POWER_SENSORS_MAX];
	struct machine_power_battery batteries[BATTERIES_MAX];
	struct machine_power_cpu *cpus;
	size_t nr_packages, nr_idles, nr_sensors, nr_batteries, nr_cpus;
	double watts, platform_watts;
};

/* before NULL: what needs a time between is unknown. -ENOMEM. */
MUST_USE int power_sum_make(const struct power_reading *before, const struct power_reading *now,
                            struct power_sum *out);
void power_sum_done(struct power_sum *s);
