/*
 * model/migrations — which tasks move between CPUs, from where to where, and who only goes back and forth.
 *
 * Fed by model/pair. A ping-pong is a migration that takes a task back to where its migration before came
 * from, whatever other tasks did meanwhile. Bounded: of tasks beyond max_rows the one that moved last longest
 * ago is forgotten; migrations between CPU pairs beyond max_rows are counted as left out. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/pair.h"

#define MIGRATIONS_CPUS 32 /* kept per task */

struct migrations;

struct migrations_pair {
	uint16_t from_cpu;
	uint16_t to_cpu;
	uint64_t count;
};

struct migrations_task {
	uint32_t tid;
	uint32_t comm_id;
	uint64_t count;
	uint64_t nr_ping_pongs;
	uint16_t last_from;
	uint16_t last_to;
	uint16_t nr_cpus;   /* where it was, ascending */
	bool has_more_cpus; /* than there is room for */
	uint16_t cpus[MIGRATIONS_CPUS];
};

struct migrations_cfg {
	const struct tasks *tasks; /* lent */
	uint32_t max_rows;         /* tasks and CPU pairs each; 0 picks 4096 */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int migrations_new(const struct migrations_cfg *cfg, struct migrations **out);
void migrations_free(struct migrations *m); /* NULL is fine */
struct pair_out migrations_out(struct migrations *m);
void migrations_reset(struct migrations *m);

uint64_t migrations_total(const struct migrations *m);
uint32_t migrations_nr_pairs(const struct migrations *m);
const struct migrations_pair *migrations_pair_at(const struct migrations *m, uint32_t i);
uint32_t migrations_nr_tasks(const struct migrations *m);
/* NULL beyond the last, and for a row that is nobody's now. */
const struct migrations_task *migrations_task_at(const struct migrations *m, uint32_t i);
/* Migrations that are missing among the pairs, and tasks forgotten. */
uint64_t migrations_left_out(const struct migrations *m);
