/* sys/sensors/freq_reading — frequencies of CPUs, read once: for sys/sensors/sensor_reader. Kernels before 5.19 take 10 ms for each. */
#pragma once

#include <stdint.h>

#include "sys/sensors/sensor_file.h"

struct freq_reading {
	uint32_t nr;
	uint64_t khz[]; /* by CPU; 0 = unknown */
};

/* Of CPUs below nr. */
void *freq_reading_new(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t nr);
