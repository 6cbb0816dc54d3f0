/*
 * tui/task_matches — which tasks a filter leaves, kept from frame to frame: a new frame checks only
 * those that have changed.
 *
 * Some filters are remembered at a time, those of processes and of threads apart. What is
 * remembered is valid as long as the machine reports what has changed with each refresh (struct
 * machine_order), and no refresh was missed; else all tasks are checked. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "machine/machine.h"
#include "tui/task_filter.h"

struct task_matches;

struct task_set {
	const struct machine_task *tasks;
	size_t nr;
	bool is_threads;                   /* else processes */
	const struct machine_order *order; /* must be there */
	uint64_t refresh_nr;
};

MUST_USE int task_matches_new(struct task_matches **out); /* 0 or -ENOMEM */
void task_matches_free(struct task_matches *m);           /* NULL is fine */
/* Those that a filter leaves; lent until the next call. */
struct filtered_tasks {
	const uint32_t *rows; /* indexes, by ascending tid */
	size_t nr;
	const uint32_t *place_of; /* where in rows an index is, if it is there */
};

MUST_USE int task_matches_find(struct task_matches *m, const struct task_set *s,
                               const struct task_filter *f, const char *text,
                               struct filtered_tasks *out); /* 0 or -ENOMEM */
