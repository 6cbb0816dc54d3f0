/*
 * report/devices — what of interrupts, idle states, frequencies and dispatch queues was recorded, by bucket: tables "irq", "idle",
 * "dsq" of report/tables, and "frequency".
 *
 * Of all tasks, whatever filter the report has. A row counts in the bucket in which it begins, its time where it lies.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/json_write.h"
#include "report/gather.h"
#include "report/pack.h"

#define DEVICE_MAX_NAMES 1000U /* of one list; the last stands for all others */

struct device_name {
	uint64_t id;
	uint32_t name_id;
	uint32_t kind; /* enum pair_span_kind */
};

struct device_names {
	struct device_name *at;
	uint32_t nr, room;
	struct map *places;
};

/* The frequency of a CPU in a bucket. */
struct device_level {
	uint32_t min, max;
	uint64_t known_ns;
	uint64_t sum; /* kHz times us */
};

struct devices {
	const struct source *s;
	struct device_names irqs, idle_states, queues;
	struct device_level *levels; /* [bucket * nr_cpus + cpu]; NULL = none were recorded */
	uint32_t nr_buckets, nr_cpus;
};

/* g has its axis and tables. -ENOMEM. */
MUST_USE int devices_gather(struct devices *d, struct gather *g);
/* The table "frequency": bucket, cpu, min_khz, max_khz, mean_khz. -ENOMEM. */
MUST_USE int devices_pack(const struct devices *d, struct pack *out);
/* Members "irqs", "idle_states" and "queues", where there are any. */
void devices_document(const struct devices *d, struct json_writer *out);
void devices_done(struct devices *d);
