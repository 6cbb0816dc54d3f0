/*
 * machine/machine_power — power, temperatures, idle states and batteries: what sensors measure, nothing else.
 *
 * Watts are over the real time between two readings of an energy counter. There is no power of a
 * single CPU: no sensor measures it. Unknown is NAN; what does not exist is absent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

#define MACHINE_IDLE_STATES 10U

struct machine_power_package {
	int32_t id;       /* the kernel's number */
	uint32_t nr_cpus; /* online */
	double watts, core_watts, dram_watts, uncore_watts;
	bool has_single_core; /* core_watts is that of one core only, as on AMD */
	double limit_watts, short_limit_watts, most_watts; /* that it may draw */
	double celsius, critical_celsius;
	double uncore_mhz;
	double throttles_per_s;         /* of the package, by heat */
	double throttled;               /* of 1: time of the interval */
	struct machine_history history; /* of watts */
};

extern const struct machine_power_package machine_power_unknown; /* nothing is known of it */

/* Sensors that belong to no package that we know of. */
struct machine_power_sensor {
	const char *chip, *label;
	double celsius, critical_celsius;
};

/* One kind of idle state, over all CPUs that have it. */
struct machine_power_idle {
	const char *name;
	double latency_us; /* to wake from it */
	uint32_t nr_cpus;
	double part;          /* of 1: time of those CPUs in it */
	double entries_per_s; /* of all of them */
	double stay_us;       /* mean; NAN = never entered */
};

struct machine_power_cpu {
	uint32_t cpu;
	int32_t package;                   /* the kernel's number; -1 = unknown */
	double celsius;                    /* of its core */
	double throttles_per_s, throttled; /* of its core */
	/* In the order of machine_power.idles. The kernel adds an idle time when it ends: at most 1 is shown. */
	double idle[MACHINE_IDLE_STATES];
};

struct machine_power_battery {
	const char *name, *status;
	double level; /* of 1 */
	double watts;
	double seconds_left;
};

struct machine_power {
	const char *
		reason; /* nothing can be measured: what is missing and what helps; NULL = something can */
	const char *note; /* what of it cannot; NULL = nothing is missing */
	const struct machine_power_package *packages;
	size_t nr_packages;
	const struct machine_power_cpu *cpus; /* online */
	size_t nr_cpus;
	const struct machine_power_idle *idles;
	size_t nr_idles;
	const struct machine_power_sensor *sensors;
	size_t nr_sensors;
	const struct machine_power_battery *batteries;
	size_t nr_batteries;
	double watts;          /* of all packages and their memory */
	double platform_watts; /* of everything, where the board measures it */
	struct machine_history history, platform_history; /* of both */
};
