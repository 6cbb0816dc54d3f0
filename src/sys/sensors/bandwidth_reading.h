/* sys/sensors/bandwidth_reading — resctrl's counts, read once: for sys/sensors/sensor_reader. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sys/sensors/resctrl.h"

enum bandwidth_what { BANDWIDTH_COUNTS = 1, BANDWIDTH_PLACES = 2 };

struct bandwidth_reading {
	uint64_t ns;
	struct resctrl counts;
	bool is_supported;       /* the kernel could mount it */
	struct bandwidth_place { /* with BANDWIDTH_PLACES: which cache a CPU has */
		uint32_t cpu;
		int32_t domain;
	} * places;
	size_t nr_places;
};

void *bandwidth_reading_new(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t what);
void bandwidth_reading_free(void *reading); /* NULL is fine */
