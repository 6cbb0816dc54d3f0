/*
 * machine/machine_blame — who kept whom waiting, as the screen shows it: victims, and what they waited for.
 *
 * The parts of a row add up to wait_ns. What was not measured is 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct machine_blame_row {
	const char *victim; /* tasks of one name, or of one of by; untrusted */
	const char *blames; /* "make 71%, cc1 20%": the tasks behind which it waited */
	uint64_t waits;
	uint64_t wait_ns, max_ns; /* all of them, and the longest */
	uint64_t task_ns, throttled_ns, stolen_ns, interrupt_ns, idle_ns, other_ns, unknown_ns;
};

struct machine_blame {
	const struct machine_blame_row *rows; /* who waited most first */
	size_t nr;
	uint64_t nr_victims; /* also those that are not among the rows */
	uint64_t wait_ns, task_ns;
	double seconds;   /* that it is about; 0 = nothing yet */
	uint64_t lost;    /* events, since the view was opened */
	const char *note; /* why there is nothing; NULL = there is */
	const char *by;   /* "cgroup", ...: what a row adds up; NULL = tasks of one name */
};
