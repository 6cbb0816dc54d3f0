/*
 * tui/task_filter — which tasks a table shows.
 *
 * A filter is words that must all match. A word matches a part of the name or the cgroup (upper and lower case alike),
 * the start of the tid or of the process' id, the name of a state (running, sleeping, blocked, stopped, zombie, idle);
 * "R" and the other letters alone are states, "cpu:6" is the last CPU, "class:ext" the class, "cgroup:web*" a cgroup with all
 * below it, by a pattern of base/cgroup_pattern.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

#define TASK_FILTER_WORDS 8
#define TASK_FILTER_TEXT  64

/* Points into itself: not to be copied. */
struct task_filter {
	char text[TASK_FILTER_TEXT], lower[TASK_FILTER_TEXT];
	const char *words[TASK_FILTER_WORDS];
	const char *lower_words[TASK_FILTER_WORDS];
	int nr;
	uint32_t tgid;             /* 0 = any */
	const char *name, *cgroup; /* exactly; NULL = any; lent */
};

void task_filter_parse(struct task_filter *f, const char *text);
bool task_filter_match(const struct task_filter *f, const struct machine_task *t);
