#include "sys/sensors/battery.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define FOLDER "/sys/class/power_supply"
#define MICRO  1e6

/* Some drivers report currents with a sign, some without. */
static double value_of(const struct sensor_files *f, const char *name, const char *file)
{
	int64_t value;

	return sensor_i64(f, &value, FOLDER "/%s/%s", name, file) ? NAN : fabs((double)value);
}

static double watts_of(const struct sensor_files *f, const char *name)
{
	double uw = value_of(f, name, "power_now");

	if (!isnan(uw))
		return uw / MICRO;
	return value_of(f, name, "current_now") / MICRO * value_of(f, name, "voltage_now") / MICRO;
}

/* The remaining time at the present rate, if the battery does not report it. */
static double seconds_left(const struct sensor_files *f, const char *name, double watts)
{
	double reported = value_of(f, name, "time_to_empty_now");
	double joules = value_of(f, name, "energy_now") / MICRO * 3600;

	if (!isnan(reported))
		return reported;
	if (isnan(joules))
		joules = value_of(f, name, "charge_now") / MICRO * 3600 *
		         value_of(f, name, "voltage_now") / MICRO;
	return watts > 0 ? joules / watts : NAN;
}

static void read_battery(const struct sensor_files *f, const char *name, struct batteries *out)
{
	struct battery *b = &out->items[out->nr];
	char text[SENSOR_TEXT];

	if (sensor_text(f, text, FOLDER "/%s/type", name) || strcmp(text, "Battery") != 0)
		return;
	if (!sensor_text(f, text, FOLDER "/%s/scope", name) && strcmp(text, "Device") == 0)
		return;
	*b = (struct battery){ .seconds_left = NAN };
	memcpy(b->name, name, strlen(name) + 1);
	if (sensor_text(f, b->status, FOLDER "/%s/status", name))
		b->status[0] = '\0';
	b->level = value_of(f, name, "capacity") / 100;
	b->watts = watts_of(f, name);
	if (strcmp(b->status, "Discharging") == 0)
		b->seconds_left = seconds_left(f, name, b->watts);
	out->nr++;
}

void batteries_read(const struct sensor_files *f, struct batteries *out)
{
	SCOPED(scoped_sensor_names) struct sensor_names names = { 0 };

	out->nr = 0;
	sensor_list(f, FOLDER, "", &names);
	for (size_t i = 0; i < names.nr && out->nr < BATTERIES_MAX; i++)
		if (names.names[i][0] != '.')
			read_battery(f, names.names[i], out);
}
