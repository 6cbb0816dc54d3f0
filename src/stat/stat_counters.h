/*
 * stat/stat_counters — performance counters for `stat`: which are open, on which CPUs, in which slot.
 *
 * Instructions per cycle takes the first four slots (user cycles, kernel cycles, user instructions, kernel
 * instructions), each event one more. On hybrid CPUs a slot is filled by the PMU of each CPU.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/diag.h"
#include "stat/report/stat_report.h"
#include "stat/stat_groups.h"

struct cpulist;
struct stat_counters;

/* A failure to count what was only implied is not a failure: *out has no counters, and d says why. */
MUST_USE int stat_counters_open(const struct stat_groups *groups, const struct cpulist *online,
                                uint32_t nr_cpus, struct diag *d, struct stat_counters **out);
void stat_counters_close(struct stat_counters *c); /* NULL is fine */

uint32_t stat_counters_nr(const struct stat_counters *c);    /* slots */
const int *stat_counters_fds(const struct stat_counters *c); /* slot * nr_cpus + cpu; -1 = none */
MUST_USE int stat_counters_start(const struct stat_counters *c);
/* As counter_set_follow(); the descriptors are others then. */
MUST_USE int stat_counters_follow(struct stat_counters *c, const struct cpulist *online,
                                  struct diag *d);
/* Names and slots for the report. */
void stat_counters_describe(const struct stat_counters *c, struct stat_report_in *in);
