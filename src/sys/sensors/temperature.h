/*
 * sys/sensors/temperature — temperatures of CPUs: hwmon's coretemp, k10temp, zenpower and those of ARM; else thermal zones.
 *
 * The owner of a sensor is given as far as the kernel reports it. Sensors of disks, boards and
 * radios are left out. Blocks on /sys; some chips take long to answer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sys/sensors/sensor_file.h"

#define TEMPERATURES_MAX 1024U

struct temperature {
	char chip[24];
	char label[32];     /* Core 5, Tctl, ...; "" = none */
	int32_t chip_nr;    /* among the chips of that name, from 0 */
	int32_t package_id; /* the kernel's numbers, of a chip that reports them; -1 = unknown */
	int32_t core_id;    /* -1 = of the whole package, or unknown */
	double celsius;
	double critical; /* NAN = unknown */
};

struct temperatures {
	struct temperature items[TEMPERATURES_MAX];
	size_t nr;
};

void temperatures_read(const struct sensor_files *f, struct temperatures *out);
