/*
 * machine/machine_bandwidth — memory traffic and the use of last-level caches, by cache and by node, from resctrl.
 *
 * Sums over all groups of control. Remote is total less local. Unknown is NAN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

enum machine_bandwidth_kind {
	BANDWIDTH_LOCAL,
	BANDWIDTH_REMOTE,
	BANDWIDTH_TOTAL,
	BANDWIDTH_OCCUPANCY, /* bytes; the others are bytes a second */
	BANDWIDTHS
};

struct machine_bandwidth_row {
	int32_t id; /* of the LLC or node; -1 = not known which */
	double values[BANDWIDTHS];
	struct machine_history histories[BANDWIDTHS];
};

struct machine_bandwidth {
	const char *
		reason; /* nothing can be measured: what is missing and what helps; NULL = something can */
	const char *note; /* what of it cannot; NULL = nothing is missing */
	bool has[BANDWIDTHS];
	const struct machine_bandwidth_row *llcs; /* in no order, as nodes */
	size_t nr_llcs;
	const struct machine_bandwidth_row *nodes;
	size_t nr_nodes;
	uint32_t nr_groups;
};
