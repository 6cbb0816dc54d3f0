#include "fixture_sensors.h"

#include <math.h>
#include <stdlib.h>

#include "fixture.h"

double fixture_watts(uint32_t package)
{
	return 20 + 7.5 * package;
}

double fixture_bytes(uint32_t cache, enum machine_bandwidth_kind kind)
{
	double local = 1048576.0 * (cache + 1), remote = 524288.0 * (cache + 1);

	switch (kind) {
	case BANDWIDTH_LOCAL:
		return local;
	case BANDWIDTH_REMOTE:
		return remote;
	case BANDWIDTH_TOTAL:
		return local + remote;
	default:
		return 65536.0 * (cache + 1);
	}
}

static void make_packages(struct fixture_sensors *s, const struct fixture_cfg *cfg, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		s->packages[i] = (struct machine_power_package){
			.id = (int32_t)i,
			.nr_cpus = cfg->nr_cpus / nr,
			.watts = fixture_watts(i),
			.core_watts = fixture_watts(i) / 2,
			.dram_watts = NAN,
			.uncore_watts = 0.25,
			.limit_watts = 125,
			.short_limit_watts = 253,
			.most_watts = 150,
			.celsius = 61 + i,
			.critical_celsius = 100,
			.uncore_mhz = 2400,
			.throttles_per_s = i == 1 ? 2 : 0,
			.throttled = i == 1 ? 0.125 : 0,
			.history = { s->watts, MACHINE_HISTORY },
		};
}

static void make_power(struct fixture_sensors *s, const struct fixture_cfg *cfg)
{
	static const char *const names[] = { "POLL", "C1E", "C6", "C10" };
	uint32_t per = cfg->cpus_per_node ? cfg->cpus_per_node : cfg->nr_cpus;
	uint32_t nr = cfg->nr_cpus ? (cfg->nr_cpus + per - 1) / per : 0;
	const char *hostile = fixture_hostile_names[0];
	double sum = 0;

	make_packages(s, cfg, nr);
	for (uint32_t i = 0; i < nr; i++)
		sum += fixture_watts(i);
	for (uint32_t i = 0; i < 4; i++)
		s->idles[i] = (struct machine_power_idle){ cfg->is_hostile ? hostile : names[i],
			                                   80.0 * i,
			                                   cfg->nr_cpus,
			                                   0.2 * i,
			                                   150.0 * i,
			                                   i ? 1500.0 * i : NAN };
	for (uint32_t i = 0; i < cfg->nr_cpus; i++)
		s->cpus[i] =
			(struct machine_power_cpu){ .cpu = i,
			                            .package = (int32_t)(i / per),
			                            .celsius = 40 + i % 50,
			                            .throttles_per_s = 0,
			                            .throttled = i == 5 ? 0.5 : 0,
			                            .idle = { 0, 0.1, 0.2, 0.003 * (i % 100) } };
	s->sensors[0] = (struct machine_power_sensor){ "k10temp", "Tccd1", 51, NAN };
	s->sensors[1] = (struct machine_power_sensor){ cfg->is_hostile ? hostile : "thermal",
		                                       "cpu-thermal", 44, NAN };
	s->batteries[0] = (struct machine_power_battery){ cfg->is_hostile ? hostile : "BAT0",
		                                          "Discharging", 0.73, 12.5, 10512 };
	s->power = (struct machine_power){
		.packages = s->packages,
		.nr_packages = nr,
		.cpus = s->cpus,
		.nr_cpus = cfg->nr_cpus,
		.idles = s->idles,
		.nr_idles = 4,
		.sensors = s->sensors,
		.nr_sensors = 2,
		.batteries = s->batteries,
		.nr_batteries = 1,
		.watts = sum,
		.platform_watts = sum + 30,
		.history = { s->watts, MACHINE_HISTORY },
		.platform_history = { s->watts, MACHINE_HISTORY },
	};
}

static void make_row(struct fixture_sensors *s, struct machine_bandwidth_row *row, uint32_t i)
{
	row->id = (int32_t)i;
	for (int k = 0; k < BANDWIDTHS; k++) {
		row->values[k] = fixture_bytes(i, (enum machine_bandwidth_kind)k);
		row->histories[k] = (struct machine_history){ s->bytes, MACHINE_HISTORY };
	}
}

static void make_bandwidth(struct fixture_sensors *s, const struct fixture_cfg *cfg)
{
	uint32_t llcs = cfg->cpus_per_llc
	                        ? (cfg->nr_cpus + cfg->cpus_per_llc - 1) / cfg->cpus_per_llc
	                        : 0;
	uint32_t nodes = cfg->cpus_per_node
	                         ? (cfg->nr_cpus + cfg->cpus_per_node - 1) / cfg->cpus_per_node
	                         : 0;

	for (uint32_t i = 0; i < llcs; i++)
		make_row(s, &s->llcs[i], llcs - 1 - i); /* in no order */
	for (uint32_t i = 0; i < nodes; i++)
		make_row(s, &s->nodes[i], i);
	s->bandwidth = (struct machine_bandwidth){
		.note = cfg->is_hostile ? fixture_hostile_names[1] : NULL,
		.has = { true, true, true, true },
		.llcs = s->llcs,
		.nr_llcs = llcs,
		.nodes = s->nodes,
		.nr_nodes = nodes,
		.nr_groups = 2,
	};
}

static void make_game(struct fixture_sensors *s, const struct fixture_cfg *cfg)
{
	s->game = (struct machine_game){
		.pid = FIXTURE_TID,
		.comm = cfg->is_hostile ? fixture_hostile_names[0] : "portal",
		.engine = cfg->is_hostile ? fixture_hostile_names[1] : "vkd3d",
		.width = 2560,
		.height = 1440,
		.refresh_hz = 144,
		.frame_ns = 8333333,
		.visible_ns = NAN,
		.latency_ns = 31000000,
		.fps = 120,
		.age_s = 0.5,
		.nr_frames = 4321,
		.frames = { s->frames, MACHINE_HISTORY },
		.latencies = { s->frames, MACHINE_HISTORY },
		.rates = { s->frames, 100 },
	};
}

struct fixture_sensors *fixture_sensors_new(struct machine *m, const struct fixture_cfg *cfg)
{
	struct fixture_sensors *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->cpus = calloc((size_t)cfg->nr_cpus + 1, sizeof(*s->cpus));
	if (!s->cpus)
		abort();
	for (uint32_t i = 0; i < MACHINE_HISTORY; i++) {
		s->watts[i] = 10 + i % 40;
		s->bytes[i] = 1048576.0 * (1 + i % 8);
		s->frames[i] = 8e6 + 1e5 * (i % 30);
	}
	make_power(s, cfg);
	make_bandwidth(s, cfg);
	make_game(s, cfg);
	m->power = &s->power;
	m->bandwidth = &s->bandwidth;
	m->game = &s->game;
	return s;
}

void fixture_sensors_free(struct fixture_sensors *s)
{
	if (s)
		free(s->cpus);
	free(s);
}
