/*
 * replay/replay_sums — what happened in one cell of a recording: per CPU, per task and per process.
 *
 * Times are cut at the ends of the cell; what is counted, and every duration, belongs to the cell in which it ends, and
 * what was still open at the end of the recording is not a duration. Latency is that of analyze/latency: after a
 * wakeup, or as a new task; what CPUs and all wait is any wait, with the same beginning. Slices and idle times that
 * begin are switches. Migrations are those recorded, else those that slices show (analyze/moves). Waits that go on
 * behind the cell are not in it: replay/replay_tracks knows them. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/grouped.h"
#include "analyze/units.h"
#include "base/attr.h"
#include "machine/machine_interval.h"
#include "replay/replay_cell.h"

struct replay_cpu_sum {
	struct machine_cpu_interval sums;
	uint64_t busy_ns, idle_ns;
	/* At the last moment. */
	bool is_idle;
	uint32_t task; /* TASKS_NONE = idle or unknown */
};

/* Tasks with any data, each with a place; the others cost nothing. */
struct replay_places {
	uint32_t *place_of; /* by number, + 1; 0 = none */
	uint32_t *numbers;  /* by place */
	uint32_t nr;
	uint32_t nr_numbers;
};

struct replay_sums {
	const struct source *s;
	const struct units *processes; /* lent */
	const struct scope *scope;     /* lent: the tasks that count */
	struct replay_cpu_sum *cpus;
	uint32_t nr_cpus;
	struct replay_places tasks, units;
	struct machine_interval *of_tasks,
		*of_units;   /* by place; ids are numbers of tasks and units */
	uint16_t *last_cpus; /* by place, of the last slice; PAIR_NO_CPU = not looked up */
	/* From here on of one cell. */
	struct grouped by_task[INTERVAL_DISTS], by_unit[INTERVAL_DISTS], by_cpu;
	struct samples waits; /* of all */
};

/* scope is that of the whole recording. -ENOMEM. */
MUST_USE int replay_sums_init(struct replay_sums *x, const struct scope *scope,
                              const struct units *processes);
void replay_sums_done(struct replay_sums *x);

MUST_USE int replay_sums_collect(struct replay_sums *x, const struct replay_cell *c); /* -ENOMEM */

/* NULL = it did nothing. */
const struct machine_interval *replay_sums_task(const struct replay_sums *x, uint32_t task);
/* The same of a process, without times: what still waits is known of its threads alone. */
const struct machine_interval *replay_sums_unit(const struct replay_sums *x, uint32_t unit);
struct machine_dist replay_sums_cpu_dist(const struct replay_sums *x, uint32_t cpu);
struct machine_dist replay_sums_dist(struct samples *of);
