#include "sys/sensors/temperature.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define HWMON   "/sys/class/hwmon"
#define THERMAL "/sys/class/thermal"
#define MILLI   1000.0

static bool is_of_cpus(const char *chip)
{
	static const char *const names[] = { "coretemp", "k10temp", "zenpower", "fam15h_power" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], chip) == 0)
			return true;
	return strncmp(chip, "cpu", 3) == 0;
}

static int32_t count_chips(const struct temperatures *t, const char *chip)
{
	int32_t last = -1;

	for (size_t i = 0; i < t->nr; i++)
		if (strcmp(t->items[i].chip, chip) == 0)
			last = t->items[i].chip_nr;
	return last + 1;
}

static void read_input(const struct sensor_files *f, const char *folder, int32_t nr,
                       struct temperature *t)
{
	char label[SENSOR_TEXT];
	int64_t critical;

	t->critical = sensor_i64(f, &critical, "%s/temp%d_crit", folder, nr)
	                      ? NAN
	                      : (double)critical / MILLI;
	if (!sensor_text(f, label, "%s/temp%d_label", folder, nr))
		(void)snprintf(t->label, sizeof(t->label), "%.31s", label);
	t->core_id = sensor_number(t->label, "Core ");
}

/* The sensor of the whole package names it. */
static void name_package(struct temperature *first, struct temperature *end)
{
	int32_t package = -1;

	for (struct temperature *t = first; t < end && package < 0; t++) {
		package = sensor_number(t->label, "Package id ");
		if (package < 0)
			package = sensor_number(t->label, "Physical id ");
	}
	for (struct temperature *t = first; t < end; t++)
		t->package_id = package;
}

static void read_chip(const struct sensor_files *f, const char *name, struct temperatures *out)
{
	SCOPED(scoped_sensor_names) struct sensor_names files = { 0 };
	char folder[SENSOR_PATH], chip[SENSOR_TEXT];
	size_t first = out->nr;
	int32_t chip_nr;

	(void)snprintf(folder, sizeof(folder), HWMON "/%s", name);
	if (sensor_text(f, chip, "%s/name", folder) || !is_of_cpus(chip))
		return;
	chip_nr = count_chips(out, chip);
	sensor_list(f, folder, "temp", &files);
	for (size_t i = 0; i < files.nr && out->nr < TEMPERATURES_MAX; i++) {
		struct temperature *t = &out->items[out->nr];
		int64_t value;
		int nr = 0, end = 0;

		if (sscanf(files.names[i], "temp%6d_input%n", &nr, &end) != 1 || !end ||
		    files.names[i][end] || sensor_i64(f, &value, "%s/%s", folder, files.names[i]))
			continue;
		*t = (struct temperature){ .celsius = (double)value / MILLI,
			                   .chip_nr = chip_nr,
			                   .package_id = -1 };
		(void)snprintf(t->chip, sizeof(t->chip), "%.23s", chip);
		read_input(f, folder, nr, t);
		out->nr++;
	}
	name_package(out->items + first, out->items + out->nr);
}

static bool is_zone_of_cpus(const char *type)
{
	return strcasestr(type, "cpu") || strcmp(type, "x86_pkg_temp") == 0;
}

static void read_zone(const struct sensor_files *f, const char *name, struct temperatures *out)
{
	struct temperature *t = &out->items[out->nr];
	char type[SENSOR_TEXT];
	int64_t value;

	if (out->nr == TEMPERATURES_MAX || sensor_text(f, type, THERMAL "/%s/type", name) ||
	    !is_zone_of_cpus(type) || sensor_i64(f, &value, THERMAL "/%s/temp", name))
		return;
	*t = (struct temperature){ .celsius = (double)value / MILLI,
		                   .critical = NAN,
		                   .chip_nr = count_chips(out, "thermal"),
		                   .package_id = -1,
		                   .core_id = -1 };
	(void)snprintf(t->chip, sizeof(t->chip), "thermal");
	(void)snprintf(t->label, sizeof(t->label), "%.31s", type);
	out->nr++;
}

void temperatures_read(const struct sensor_files *f, struct temperatures *out)
{
	SCOPED(scoped_sensor_names) struct sensor_names chips = { 0 };
	SCOPED(scoped_sensor_names) struct sensor_names zones = { 0 };

	out->nr = 0;
	sensor_list(f, HWMON, "hwmon", &chips);
	for (size_t i = 0; i < chips.nr; i++)
		read_chip(f, chips.names[i], out);
	/* They are the same sensors once more where there is hwmon. */
	if (out->nr)
		return;
	sensor_list(f, THERMAL, "thermal_zone", &zones);
	for (size_t i = 0; i < zones.nr; i++)
		read_zone(f, zones.names[i], out);
}
