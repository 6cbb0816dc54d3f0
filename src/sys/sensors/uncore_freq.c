#include "sys/sensors/uncore_freq.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define FOLDER "/sys/devices/system/cpu/intel_uncore_frequency"

static void read_one(const struct sensor_files *f, const char *name, int32_t package,
                     struct uncore_freqs *out)
{
	uint64_t khz;

	if (out->nr == UNCORE_FREQS_MAX || package < 0 ||
	    sensor_u64(f, &khz, FOLDER "/%s/current_freq_khz", name))
		return;
	out->items[out->nr++] = (struct uncore_freq){ package, (double)khz / 1000 };
}

static void read_dies(const struct sensor_files *f, struct uncore_freqs *out)
{
	SCOPED(scoped_sensor_names) struct sensor_names names = { 0 };

	sensor_list(f, FOLDER, "package_", &names);
	for (size_t i = 0; i < names.nr; i++) {
		int package = -1, die, end = 0;

		if (sscanf(names.names[i], "package_%6d_die_%6d%n", &package, &die, &end) == 2 &&
		    end && !names.names[i][end])
			read_one(f, names.names[i], package, out);
	}
}

static void read_clusters(const struct sensor_files *f, struct uncore_freqs *out)
{
	SCOPED(scoped_sensor_names) struct sensor_names names = { 0 };

	sensor_list(f, FOLDER, "uncore", &names);
	for (size_t i = 0; i < names.nr; i++) {
		uint64_t package;

		if (!sensor_u64(f, &package, FOLDER "/%s/package_id", names.names[i]) &&
		    package <= INT32_MAX)
			read_one(f, names.names[i], (int32_t)package, out);
	}
}

void uncore_freqs_read(const struct sensor_files *f, struct uncore_freqs *out)
{
	out->nr = 0;
	/* Where there are clusters, the folders of dies are their sums, and have no frequency. */
	read_clusters(f, out);
	if (!out->nr)
		read_dies(f, out);
}

double uncore_freqs_mhz(const struct uncore_freqs *u, int32_t package_id)
{
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < u->nr; i++) {
		if (u->items[i].package_id == package_id) {
			sum += u->items[i].mhz;
			nr++;
		}
	}
	return nr ? sum / (double)nr : NAN;
}
