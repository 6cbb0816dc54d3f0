/* stat/stat_machine — the machine's line of `stat` on a terminal: what its CPUs did between two looks, from /proc. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stat/report/stat_shares.h"
#include "sys/proc/sys_stats.h"

/* As the kernel counts up. */
struct stat_machine_times {
	uint64_t at_ns; /* 0 = not read yet */
	uint64_t busy_ns, steal_ns, all_ns, pressure_ns;
};

struct cgroup_quota;

struct stat_machine {
	struct sys_stats now;
	struct stat_machine_times first, last;
	struct cgroup_quota *quota; /* NULL = quotas cannot be read */
	bool is_open;
};

void stat_machine_done(struct stat_machine *m);
/* Since the last look, or if is_total since the first; what cannot be read is unknown. Zeroed at first. */
void stat_machine_look(struct stat_machine *m, bool is_total, struct stat_machine_shares *out);
