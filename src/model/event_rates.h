/*
 * model/event_rates — how much happens per second: by kind of record and by CPU, now and against what is usual;
 * which tasks move between CPUs, and what the tasks did last.
 *
 * Two doors: records themselves through a sink, rows of model/pair through its callbacks. Time is that of the
 * records, cut into seconds; the last EVENT_RATES_SECONDS finished ones are kept. Rates are over the seconds
 * that were really observed. A task's history is its last EVENT_RATES_HISTORY moments; of tasks beyond
 * max_histories, the one that was silent for longest is forgotten. Everything is bounded, and nothing is
 * allocated per record once all CPUs and tasks have been seen. One thread. Pure: no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/pair.h"

#define EVENT_RATES_SECONDS  60
#define EVENT_RATES_BASELINE 10 /* finished seconds before the last one that say what is usual */
#define EVENT_RATES_HISTORY  100

struct event_rates;

enum event_rates_what {
	EVENT_RATES_SWITCH,
	EVENT_RATES_IPI,
	EVENT_RATES_MIGRATION,
	EVENT_RATES_WHATS
};

struct event_rates_cfg {
	struct tasks *tasks;    /* lent */
	uint32_t max_histories; /* 0 picks 1024 */
	uint32_t max_pairs;     /* CPU pairs and tasks with migrations; 0 picks 4096 each */
};

struct event_rates_kind {
	uint64_t total;
	uint64_t last;     /* in the last finished second */
	double per_second; /* over the seconds kept */
	double usual;      /* mean of the seconds before the last one */
	bool has_usual;
	double spike; /* last over usual; meaningful with has_usual and usual > 0 */
};

/* Over the seconds kept. */
struct event_rates_cpu {
	double per_second[EVENT_RATES_WHATS];
};

struct event_rates_pair {
	uint16_t from_cpu;
	uint16_t to_cpu;
	uint64_t count;
};

struct event_rates_mover {
	uint32_t task;
	uint64_t nr_migrations;
	uint64_t nr_ping_pongs; /* back to where the migration before came from */
	uint16_t last_from;
	uint16_t last_to;
};

struct event_rates_moment {
	uint64_t ts_ns;
	uint8_t kind; /* EV_SWITCH (came on), EV_WAKING, EV_MIGRATE, or what a mark says */
	uint16_t cpu;
};

struct event_rates_loss {
	uint64_t pairs;
	uint64_t movers;
	uint64_t histories; /* forgotten */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int event_rates_new(const struct event_rates_cfg *cfg, struct event_rates **out);
void event_rates_free(struct event_rates *r); /* NULL is fine */
struct ev_sink event_rates_sink(struct event_rates *r);
struct pair_out event_rates_out(struct event_rates *r);

uint32_t event_rates_seconds(const struct event_rates *r); /* finished ones that are kept */
/* False for a kind that never came. */
bool event_rates_kind(const struct event_rates *r, unsigned int kind, struct event_rates_kind *out);
uint32_t event_rates_nr_cpus(const struct event_rates *r);
bool event_rates_cpu(const struct event_rates *r, uint32_t cpu, struct event_rates_cpu *out);
/* CPUs whose rate is at least the percentile of all, hottest first, at most max; how many. */
uint32_t event_rates_hot(const struct event_rates *r, enum event_rates_what what, uint32_t p10000,
                         uint32_t *out, uint32_t max);

uint64_t event_rates_migrations(const struct event_rates *r);
uint32_t event_rates_nr_pairs(const struct event_rates *r);
const struct event_rates_pair *event_rates_pair_at(const struct event_rates *r, uint32_t i);
uint32_t event_rates_nr_movers(const struct event_rates *r);
const struct event_rates_mover *event_rates_mover_at(const struct event_rates *r, uint32_t i);
/* The task's last moments, newest first, at most max; how many. */
uint32_t event_rates_history(const struct event_rates *r, uint32_t task,
                             struct event_rates_moment *out, uint32_t max);
void event_rates_loss(const struct event_rates *r, struct event_rates_loss *out);
