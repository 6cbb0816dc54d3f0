/*
 * model/history — what each task did last.
 *
 * Fed with the records themselves, after model/pair has seen them. A moment is a record that is about the
 * task: a switch is one of the task that leaves and one of the task that comes on. Bounded: the last
 * HISTORY_MOMENTS of each task, and of tasks beyond max_tasks the one that was silent for longest is
 * forgotten. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "model/pair.h"

#define HISTORY_MOMENTS 100

struct history;

struct history_moment {
	uint64_t ts_ns;
	uint32_t a,
		b; /* switch: the state it leaves in; wake: the waker; migrate: from, to; fork: the other */
	uint16_t cpu;  /* PAIR_NO_CPU = out of range */
	uint8_t kind;  /* EV_* */
	bool comes_on; /* of a switch */
};

struct history_task {
	uint32_t tid;
	uint32_t comm_id;
	uint64_t nr;                  /* all that ever came */
	uint32_t counts[EV_KIND_MAX]; /* of those */
};

struct history_cfg {
	const struct tasks *tasks; /* lent */
	uint32_t max_tasks;        /* 0 picks 1024 */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int history_new(const struct history_cfg *cfg, struct history **out);
void history_free(struct history *h); /* NULL is fine */
struct ev_sink history_sink(struct history *h);
struct pair_out history_out(struct history *h); /* for who comes and goes */
void history_reset(struct history *h);

uint32_t history_nr_tasks(const struct history *h);
/* NULL beyond the last, and for an unused row. */
const struct history_task *history_task_at(const struct history *h, uint32_t i);
/* The living task of a tid, else the last one that had it; false if there is none. */
bool history_find(const struct history *h, uint32_t tid, uint32_t *out);
/* Newest first, at most max; how many. */
uint32_t history_read(const struct history *h, uint32_t i, struct history_moment *out,
                      uint32_t max);
uint64_t history_forgotten(const struct history *h);
