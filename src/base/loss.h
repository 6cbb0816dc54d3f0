/*
 * base/loss — everything that can be lost, cut or left out on the way from a record to an answer,
 * and how to report it.
 *
 * One line per loss: its name for programs, and a sentence for people that follows the count. Each list
 * is turned into a table of functions that read the counters, read_NAME(), so a loss that nothing reads
 * does not compile:
 *   LOSSES_OF_RECORDING  analyze/losses.c, of what holds a recording: summary, MCP, query, the screen
 *   LOSSES_OF_RUN        collect/run_losses.c, of what collects: stat, record, the flight recorder. A recording holds them
 *                        (trace_writer_losses()), so that its readers report them too
 * What the kernel side loses is counted there, by kind and CPU, and is part of the stream (EV_LOST).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define LOSSES_OF_RECORDING(X) \
	X(timeline_rows, "slices, waits and other rows found no memory: analyses lack them") \
	X(timeline_cut, "rows of the timeline were forgotten early for lack of memory: the oldest times are missing") \
	X(tasks, "times a task found no place in the table: what it did belongs to no task") \
	X(tasks_forgotten, "ended tasks were forgotten early: their names are missing") \
	X(task_names, "names of tasks found no place: those tasks have none") \
	X(logged_events, "events are beyond the size of the event log: queries and exports lack them, analyses do not") \
	X(affinities, "changes of CPU affinity found no place: the tasks count as bound as they were before") \
	X(cgroups, "words about the cgroups of tasks found no place: those cgroups are unknown") \
	X(unproven_waits, "tasks were woken and must have run unseen: what they did then is unknown")

#define LOSSES_OF_RUN(X) \
	X(cgroups_cut, "reading of the cgroup tree ended at its limit: cgroups beyond it match no pattern and have no name") \
	X(searches_aborted, "searches for a pattern were given up at their limit: names that it matches may be missing") \
	X(trigger_calls, "calls were not timed by their trigger: too many tasks were in one at once") \
	X(mapped_files, "reports of mapped files were lost: frames of stacks may have no names")

#define LOSSES(X) LOSSES_OF_RECORDING(X) LOSSES_OF_RUN(X)
/* clang-format on */

enum loss {
#define X(name, what) LOSS_##name,
	LOSSES(X)
#undef X
		NR_LOSSES,
};

struct losses {
	uint64_t nr[NR_LOSSES];
};

const char *loss_name(enum loss loss);
const char *loss_what(enum loss loss);
/* False = there is none of that name. */
bool loss_by_name(const char *name, enum loss *out);
/* "3 names of tasks found no place: ..." */
const char *loss_sentence(char *buf, size_t size, enum loss loss, uint64_t nr);
