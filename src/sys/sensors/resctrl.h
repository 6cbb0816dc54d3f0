/*
 * sys/sensors/resctrl — what each last-level cache holds and how much memory its CPUs move, as the kernel's resctrl
 * counts it.
 *
 * /sys/fs/resctrl must be mounted; nothing is written and no group is made. A group of control counts its own tasks and
 * those of its monitoring groups, so the machine is the sum over the groups of control, of which the first is the
 * mount itself. A count that the hardware has not ready ("Unavailable", "Error") is absent. Blocks on /sys only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/sensors/sensor_file.h"

#define RESCTRL_ROWS_MAX 1024U

enum resctrl_count { RESCTRL_LOCAL, RESCTRL_TOTAL, RESCTRL_OCCUPANCY, RESCTRL_COUNTS };

/* One group in one domain. */
struct resctrl_row {
	char group[SENSOR_TEXT]; /* "" = the mount itself */
	int32_t domain;          /* the id of the cache */
	bool is_known[RESCTRL_COUNTS];
	uint64_t bytes[RESCTRL_COUNTS];
};

struct resctrl {
	bool is_mounted;
	bool has[RESCTRL_COUNTS]; /* the hardware counts it */
	struct resctrl_row *rows;
	size_t nr;
	uint32_t nr_groups;
	uint32_t nr_absent; /* counts that were not ready */
};

MUST_USE int resctrl_read(const struct sensor_files *f, struct resctrl *out); /* -ENOMEM */
void resctrl_done(struct resctrl *r);
const struct resctrl_row *resctrl_find(const struct resctrl *r, const char *group, int32_t domain);
/*
 * Bytes a second between two readings of a counter of 64 bits, which may have wrapped; NAN if the
 * rate is impossible: then it was reset.
 */
double resctrl_rate(uint64_t before, uint64_t now, double seconds);
/* The id of the last-level cache of a CPU, as domains are numbered; -1 = unknown. */
int32_t resctrl_domain_of(const struct sensor_files *f, uint32_t cpu);
