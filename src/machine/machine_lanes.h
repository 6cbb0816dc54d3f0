/*
 * machine/machine_lanes — what each CPU ran over a time, and how many tasks waited for it: a lane per CPU, cut into columns of
 * equal length.
 *
 * Tasks of one name count as one. A column shows what had most of its time: one of the names that ran longest, the other tasks
 * together, or nothing. A wait counts to the CPU on which the task came to run, or queues.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_LANES_NAMES   16U
#define MACHINE_LANES_WAITS   32U
#define MACHINE_LANES_COLUMNS 512U /* at most */

/* What has a column; below these it is the index of a name. */
enum { MACHINE_LANE_OTHERS = 0xfd, MACHINE_LANE_IDLE = 0xfe, MACHINE_LANE_UNKNOWN = 0xff };

struct machine_lane_column {
	uint8_t what;
	double busy;    /* of 1; NAN = unknown */
	double waiting; /* tasks, the mean */
};

struct machine_lane {
	uint32_t cpu;
	const struct machine_lane_column *columns;
	double waiting; /* the mean over all columns */
};

struct machine_lane_name {
	const char *comm; /* untrusted */
	uint64_t run_ns;
};

struct machine_lane_wait {
	const char *comm; /* untrusted */
	uint32_t tid, cpu;
	uint64_t wait_ns, end_ns;
	bool is_open; /* it has not ended */
};

struct machine_lanes {
	const struct machine_lane *lanes; /* by CPU */
	size_t nr;
	uint32_t nr_columns;
	const struct machine_lane_name *names; /* which ran longest first */
	size_t nr_names;
	uint64_t others_ns;                    /* that tasks of other names ran */
	const struct machine_lane_wait *waits; /* that ended or last then, the longest first */
	size_t nr_waits;
	double waiting_max;      /* of all columns */
	uint64_t from_ns, to_ns; /* equal = nothing yet */
	uint64_t start_ns;       /* of the recording, if it is one */
	bool is_live;
	uint64_t lost;    /* events, since the view was opened */
	const char *note; /* why there is nothing; NULL = there is */
};
