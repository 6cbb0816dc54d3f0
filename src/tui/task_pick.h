/*
 * tui/task_pick — a part of the order of some tasks, without putting all of them in order.
 *
 * With an order of the machine, rows come by ascending tid. Then those that are quiet have one
 * place in the order: before and after them are active ones, which alone are compared; among them
 * also active ones that measure the same, all by their tids. Pure but for memory that it gives
 * back.
 */
#pragma once

#include "tui/task_filter.h"
#include "tui/view.h"

struct task_pick {
	const struct machine *m;
	const struct machine_task *tasks;
	const uint32_t *rows; /* indexes of tasks */
	size_t nr;
	const uint32_t *place_of; /* where in rows an index is, if it is there; NULL = unknown */
	const struct machine_order *order; /* NULL = unknown; rows may be in any order then */
	const struct task_filter *filter;  /* that has left rows; NULL = none */
};

/* Writes the tasks [from, from + nr) of the order; how many there were, or -ENOMEM. from + nr is not beyond the end. */
MUST_USE long task_pick_window(const struct task_pick *p, const struct screen *s, size_t from,
                               size_t nr, const void **out);
/* -1 = not among them, or without memory. */
int task_pick_place(const struct task_pick *p, const struct screen *s, uint32_t tid);
/* The place of a tid among rows that are in the order of tids. */
bool task_pick_find(const struct task_pick *p, uint32_t tid, size_t *at);
