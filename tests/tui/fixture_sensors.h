/* tests/tui/fixture_sensors — power, bandwidth and a game of the synthetic machine; numbers follow from their place. */
#pragma once

#include "machine/machine_bandwidth.h"
#include "machine/machine_game.h"
#include "machine/machine_power.h"

struct fixture_cfg;

#define FIXTURE_PACKAGES_MAX 130
#define FIXTURE_CACHES_MAX   520

struct fixture_sensors {
	struct machine_power power;
	struct machine_power_package packages[FIXTURE_PACKAGES_MAX];
	struct machine_power_cpu *cpus;
	struct machine_power_idle idles[4];
	struct machine_power_sensor sensors[2];
	struct machine_power_battery batteries[1];
	struct machine_bandwidth bandwidth;
	struct machine_bandwidth_row llcs[FIXTURE_CACHES_MAX], nodes[FIXTURE_PACKAGES_MAX];
	struct machine_game game;
	double watts[MACHINE_HISTORY], bytes[MACHINE_HISTORY], frames[MACHINE_HISTORY];
};

/* A package for each node; watts, caches and a game whose first thread is FIXTURE_TID. */
struct fixture_sensors *fixture_sensors_new(struct machine *m, const struct fixture_cfg *cfg);
void fixture_sensors_free(struct fixture_sensors *s);

double fixture_watts(uint32_t package);
double fixture_bytes(uint32_t cache, enum machine_bandwidth_kind kind);
