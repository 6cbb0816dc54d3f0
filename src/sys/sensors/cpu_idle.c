#include "sys/sensors/cpu_idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"

#define FOLDER     "/sys/devices/system/cpu"
#define LIST_BYTES 65536U

static void read_states(const struct sensor_files *f, struct cpu_idle *c)
{
	for (uint32_t i = 0; i < CPU_IDLE_STATES; i++) {
		struct cpu_idle_state *s = &c->states[i];
		char name[SENSOR_TEXT];

		if (sensor_text(f, name, FOLDER "/cpu%u/cpuidle/state%u/name", c->cpu, i) ||
		    sensor_u64(f, &s->entries, FOLDER "/cpu%u/cpuidle/state%u/usage", c->cpu, i) ||
		    sensor_u64(f, &s->time_us, FOLDER "/cpu%u/cpuidle/state%u/time", c->cpu, i))
			return;
		(void)snprintf(s->name, sizeof(s->name), "%.15s", name);
		if (sensor_u64(f, &s->latency_us, FOLDER "/cpu%u/cpuidle/state%u/latency", c->cpu,
		               i))
			s->latency_us = 0;
		c->nr_states++;
	}
}

static bool read_throttle(const struct sensor_files *f, uint32_t cpu, const char *file,
                          uint64_t *out)
{
	return !sensor_u64(f, out, FOLDER "/cpu%u/thermal_throttle/%s", cpu, file);
}

static void read_throttles(const struct sensor_files *f, struct cpu_idle *c)
{
	c->has_throttles = read_throttle(f, c->cpu, "core_throttle_count", &c->core_throttles) &&
	                   read_throttle(f, c->cpu, "package_throttle_count",
	                                 &c->package_throttles);
	/* Linux 5.8. */
	c->has_throttled_ms = c->has_throttles &&
	                      read_throttle(f, c->cpu, "core_throttle_total_time_ms",
	                                    &c->core_throttled_ms) &&
	                      read_throttle(f, c->cpu, "package_throttle_total_time_ms",
	                                    &c->package_throttled_ms);
}

static int32_t read_place(const struct sensor_files *f, uint32_t cpu, const char *file)
{
	uint64_t id;

	return sensor_u64(f, &id, FOLDER "/cpu%u/topology/%s", cpu, file) || id > INT32_MAX
	               ? -1
	               : (int32_t)id;
}

int cpu_idles_read(const struct sensor_files *f, bool has_counts, struct cpu_idles *out)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_free) char *text = NULL;
	char path[SENSOR_PATH];

	*out = (struct cpu_idles){ 0 };
	(void)snprintf(path, sizeof(path), "%s" FOLDER "/online", f->root);
	if (text_read_file(path, LIST_BYTES, &text) || cpulist_parse(text, &online))
		return 0;
	out->cpus = calloc((size_t)online.nr + 1, sizeof(*out->cpus));
	if (!out->cpus)
		return -ENOMEM;
	cpulist_for_each(cpu, &online)
	{
		struct cpu_idle *c = &out->cpus[out->nr++];

		c->cpu = (uint32_t)cpu;
		c->package_id = read_place(f, c->cpu, "physical_package_id");
		c->core_id = read_place(f, c->cpu, "core_id");
		if (!has_counts)
			continue;
		read_states(f, c);
		read_throttles(f, c);
	}
	return 0;
}

void cpu_idles_done(struct cpu_idles *c)
{
	free(c->cpus);
	*c = (struct cpu_idles){ 0 };
}

static int by_cpu(const void *key, const void *item)
{
	uint32_t cpu = *(const uint32_t *)key, other = ((const struct cpu_idle *)item)->cpu;

	return (cpu > other) - (cpu < other);
}

const struct cpu_idle *cpu_idles_find(const struct cpu_idles *c, uint32_t cpu)
{
	return c->nr ? bsearch(&cpu, c->cpus, c->nr, sizeof(*c->cpus), by_cpu) : NULL;
}
