#include "sys/sensors/power_reading.h"

#include <stdlib.h>

/* Counters first: sensors that answer slowly are read after them, and do not lengthen their interval. */
void *power_reading_new(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t what)
{
	struct power_reading *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return NULL;
	r->what = what;
	if (what & POWER_ALL) {
		r->energy_ns = clock();
		rapl_read(f, &r->rapl);
	}
	r->idle_ns = clock();
	err = cpu_idles_read(f, what & POWER_ALL, &r->cpus);
	if (err) {
		free(r);
		return NULL;
	}
	uncore_freqs_read(f, &r->uncore);
	if (what & POWER_ALL) {
		batteries_read(f, &r->batteries);
		temperatures_read(f, &r->temperatures);
	}
	return r;
}

void power_reading_free(void *reading)
{
	struct power_reading *r = reading;

	if (!r)
		return;
	cpu_idles_done(&r->cpus);
	free(r);
}
