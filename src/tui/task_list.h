/*
 * tui/task_list — which tasks a table shows: those that a filter leaves, in order, the part of them in sight.
 *
 * Finding the part costs one pass over all tasks and memory for those up to its end; nothing else is sorted. Ties are
 * in the order of tids, and what is unknown comes last whichever way rows are sorted: rows stay calm.
 *
 * A filter is words that must all match. A word matches a part of the name or the cgroup (upper and lower case alike),
 * the start of the tid or of the process' id, the name of a state (running, sleeping, blocked, stopped, zombie, idle);
 * "R" and the other letters alone are states, "cpu:6" is the last CPU, "class:ext" the class.
 */
#pragma once

#include "tui/view.h"

#define TASK_LIST_WORDS 8

/* Points into itself: not to be copied. */
struct task_filter {
	char text[64], lower[64];
	const char *words[TASK_LIST_WORDS];
	const char *lower_words[TASK_LIST_WORDS];
	int nr;
	uint32_t tgid; /* 0 = any */
};

struct task_list {
	const struct machine_task *tasks;
	size_t nr;
	struct task_filter filter;
};

/* Part of a list in order; rows are lent by the machine. */
struct task_window {
	const void **rows;
	int nr;
	int total; /* that the filter leaves */
};

/* What a screen shows: processes, or the threads of screen.process. */
void task_list_init(struct task_list *l, const struct machine *m, const struct screen *s);
void task_list_init_threads(struct task_list *l, const struct machine *m, const struct screen *s);
void task_filter_parse(struct task_filter *f, const char *text);
bool task_filter_match(const struct task_filter *f, const struct machine_task *t);
/* Below 0 if a comes before b. */
int task_order(const struct machine_task *a, const struct machine_task *b, const struct screen *s);

int task_list_count(const struct task_list *l);
/* The place of a tid in the order; -1 = not there. */
int task_list_place(const struct task_list *l, const struct screen *s, uint32_t tid);
/* Rows [first, first + nr). -ENOMEM; the caller frees out->rows. */
MUST_USE int task_list_window(const struct task_list *l, const struct screen *s, int first, int nr,
                              struct task_window *out);
