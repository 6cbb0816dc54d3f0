/*
 * sys/sensors/rapl — energy that packages, cores, memory and the platform have used, as powercap counts it.
 *
 * From /sys/class/powercap alone: nothing is written, no module is loaded, no MSR is read. Counters
 * are since boot and wrap at their own range; rapl_watts() turns two readings into watts. Zones
 * that count the same energy by another way (intel-rapl-mmio beside intel-rapl) are left out.
 * Blocks on /sys only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/sensors/sensor_file.h"

#define RAPL_ZONES_MAX 256U

enum rapl_kind { RAPL_PACKAGE, RAPL_CORES, RAPL_DRAM, RAPL_UNCORE, RAPL_PLATFORM, RAPL_OTHER };

struct rapl_zone {
	char id[SENSOR_TEXT];   /* intel-rapl:0:1 */
	char name[SENSOR_TEXT]; /* package-0, core, ... */
	enum rapl_kind kind;
	int32_t package; /* the kernel's number; -1 = of the whole platform */
	int energy_err;  /* why energy_uj is unknown; 0 = it is known */
	uint64_t energy_uj;
	uint64_t range_uj; /* where it wraps; 0 = unknown */
	/* NAN = unknown. most_watts is what the maker allows for the long term. */
	double limit_watts, short_limit_watts, most_watts;
};

struct rapl {
	struct rapl_zone zones[RAPL_ZONES_MAX];
	size_t nr;
	/* On AMD the zone "core" counts one core of the package, not all. */
	bool has_single_cores;
};

void rapl_read(const struct sensor_files *f, struct rapl *out);
const struct rapl_zone *rapl_find(const struct rapl *r, const char *id); /* NULL = none */
/* Over the time between two readings of a zone; NAN if one is unknown. */
double rapl_watts(const struct rapl_zone *before, const struct rapl_zone *now, double seconds);
