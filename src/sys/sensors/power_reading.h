/* sys/sensors/power_reading — all sensors of power, read once: for sys/sensors/sensor_reader. */
#pragma once

#include <stdint.h>

#include "sys/sensors/battery.h"
#include "sys/sensors/cpu_idle.h"
#include "sys/sensors/rapl.h"
#include "sys/sensors/temperature.h"
#include "sys/sensors/uncore_freq.h"

enum power_what { POWER_ALL = 1, POWER_UNCORE = 2 };

struct power_reading {
	uint32_t what;               /* bits of enum power_what; everything else is empty */
	uint64_t energy_ns, idle_ns; /* when these were read */
	struct rapl rapl;
	struct temperatures temperatures;
	struct cpu_idles cpus;
	struct batteries batteries;
	struct uncore_freqs uncore;
};

void *power_reading_new(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t what);
void power_reading_free(void *reading); /* NULL is fine */
