/* stat/report/stat_shares — what the CPUs of the machine did, for the head of a screen. Plain data. */
#pragma once

#include <stdint.h>

/* Between two looks; below 0 = unknown. */
struct stat_machine_shares {
	uint32_t nr_cpus;
	double busy;           /* of the CPUs' time, without what was stolen */
	double steal;          /* of the same, taken by the hypervisor */
	double pressure;       /* of the time: some task waited, as the kernel counts it */
	char throttled[128];   /* the cgroup that its quota throttled in most periods; "" = none */
	uint64_t nr_periods;   /* of it, in which it had something to run */
	uint64_t nr_throttled; /* of these */
};
