/* stat/stat_machine — the machine's line of `stat` on a terminal: what its CPUs did between two looks, from /proc. */
#pragma once

#include <stdint.h>

#include "stat/report/stat_shares.h"
#include "sys/proc/sys_stats.h"

struct stat_machine {
	struct sys_stats now;
	uint64_t at_ns; /* of the last look; 0 = none yet */
	uint64_t busy_ns, steal_ns, all_ns, pressure_ns;
};

void stat_machine_done(struct stat_machine *m);
/* Since the last look; what cannot be read is unknown. */
void stat_machine_look(struct stat_machine *m, struct stat_machine_shares *out);
