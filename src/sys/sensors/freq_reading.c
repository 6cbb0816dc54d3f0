#include "sys/sensors/freq_reading.h"

#include <errno.h>
#include <stdlib.h>

#define FOLDER "/sys/devices/system/cpu"

static uint64_t read_khz(const struct sensor_files *f, uint32_t cpu)
{
	uint64_t khz;
	int err = sensor_u64(f, &khz, FOLDER "/cpu%u/cpufreq/scaling_cur_freq", cpu);

	/* A governor may not know it; then the hardware is asked, where root may. */
	if (err && err != -ENOENT)
		err = sensor_u64(f, &khz, FOLDER "/cpu%u/cpufreq/cpuinfo_cur_freq", cpu);
	return err ? 0 : khz;
}

void *freq_reading_new(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t nr)
{
	struct freq_reading *r = calloc(1, sizeof(*r) + nr * sizeof(r->khz[0]));

	(void)clock;
	if (!r)
		return NULL;
	r->nr = nr;
	for (uint32_t cpu = 0; cpu < nr; cpu++)
		r->khz[cpu] = read_khz(f, cpu);
	return r;
}
