/* sys/sensors/battery — batteries that feed the machine, not those of mice. Blocks on /sys only; some answer slowly. */
#pragma once

#include <stddef.h>

#include "sys/sensors/sensor_file.h"

#define BATTERIES_MAX 8U

struct battery {
	char name[SENSOR_TEXT];
	char status[SENSOR_TEXT]; /* Charging, Discharging, Full, ...; "" = unknown */
	double level;             /* of 1; NAN = unknown, as below */
	double watts;             /* that flow, in or out */
	double seconds_left;      /* until it is empty, while it discharges */
};

struct batteries {
	struct battery items[BATTERIES_MAX];
	size_t nr;
};

void batteries_read(const struct sensor_files *f, struct batteries *out);
