/* machine/machine_play — the position of a played recording, and its speed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of the longest waits of a recording. */
struct machine_play_wait {
	uint64_t end_ns;
	uint64_t wait_ns;
	uint32_t tid;
	const char *comm; /* untrusted */
};

struct machine_play {
	const char *name; /* of the recording; untrusted */
	uint64_t start_ns, end_ns;
	uint64_t position_ns; /* the interval that is shown ends here */
	uint64_t interval_ns; /* the last one may be shorter: machine.interval_s */
	uint64_t unix_ns;     /* wall clock at the position; 0 = unknown */
	double speed;         /* 1 = as it happened */
	bool is_paused;
	const struct machine_play_wait *waits; /* by their ends */
	size_t nr_waits;
	uint32_t absent; /* bits of enum machine_need that it has no data for */
};
