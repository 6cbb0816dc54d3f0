/*
 * tui/task_matches — which tasks a filter leaves, kept from frame to frame: a new frame looks only at those that have changed.
 *
 * Some filters are remembered at a time, those of processes and of threads apart. What is remembered serves as long as
 * the machine tells what has changed with each look (struct machine_order), and no look was missed; else all tasks are
 * looked at. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/machine.h"
#include "base/attr.h"
#include "tui/task_filter.h"

struct task_matches;

struct task_crowd {
	const struct machine_task *tasks;
	size_t nr;
	bool is_threads;                   /* else processes */
	const struct machine_order *order; /* must be there */
	uint64_t look_nr;
};

MUST_USE int task_matches_new(struct task_matches **out); /* 0 or -ENOMEM */
void task_matches_free(struct task_matches *m);           /* NULL is fine */
/* Those that a filter leaves; lent until the next call. */
struct task_left {
	const uint32_t *rows; /* indexes, by ascending tid */
	size_t nr;
	const uint32_t *place_of; /* where in rows an index is, if it is there */
};

MUST_USE int task_matches_find(struct task_matches *m, const struct task_crowd *c,
                               const struct task_filter *f, const char *text,
                               struct task_left *out); /* 0 or -ENOMEM */
