/*
 * tui/task_list — which tasks a table shows: those that a filter leaves (tui/task_filter), in order (tui/task_sort),
 * the part of them in sight.
 *
 * Where the machine reports which tasks are active (struct machine_order), an order by something measured costs what the
 * active ones do: the quiet ones are alike, and follow each other by their ids. An order by what quiet tasks have, too
 * (name, state, cgroup, ...) costs one pass over those that the filter leaves, but for the id, which costs nothing. A
 * filter costs what has changed since the last frame, where the screen has room to remember it (screen.matches). Without
 * an order of the machine everything costs one pass over all tasks. Nothing but the part in sight is ever sorted.
 */
#pragma once

#include "tui/task_filter.h"
#include "tui/view.h"

struct task_list {
	const struct machine *m;
	const struct machine_task *tasks;
	size_t nr;
	const struct machine_order *order; /* NULL = unknown */
	struct task_matches *matches;
	const char *text; /* of the filter; lent by the screen */
	struct task_filter filter;
	bool is_filtered; /* by what the user typed */
	bool is_grouped;  /* rows are groups of processes (screen.by) */
	bool is_ordered;  /* rows stand in their order: a tree */
};

/* Part of a list in order; rows are lent by the machine. */
struct task_window {
	const void **rows;
	int nr;
	int total; /* that the filter leaves */
};

/* What a screen shows: processes, or the threads of screen.process. The screen is lent as long as the list is used. */
void task_list_init(struct task_list *l, const struct machine *m, const struct screen *s);
void task_list_init_threads(struct task_list *l, const struct machine *m, const struct screen *s);

int task_list_count(const struct task_list *l);
/* The place of a tid in the order; -1 = not there. */
int task_list_place(const struct task_list *l, const struct screen *s, uint32_t tid);
/* Rows [first, first + nr). -ENOMEM; the caller frees out->rows. */
MUST_USE int task_list_window(const struct task_list *l, const struct screen *s, int first, int nr,
                              struct task_window *out);
/* The name or cgroup of the group whose row has that number; false = none has. */
bool task_list_group(const struct machine *m, const struct screen *s, uint32_t tid, char *out,
                     size_t size);
/* NULL = not there. */
const struct machine_task *task_list_find_process(const struct machine *m, uint32_t tgid);
