/*
 * sys/proc/schedstat — the scheduler's own counters: /proc/schedstat of versions 15, 16 and 17.
 *
 * A schedstat is a table, read at one moment or the difference of two. A field that a version, a kernel
 * or a CPU does not have is absent: its bit in "present" is off and its value means nothing. Text is
 * untrusted. Tables never change once made: any thread may read them. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

/* Where the kernel's counting is switched on and off. */
#define SCHEDSTAT_SWITCH "/proc/sys/kernel/sched_schedstats"

/* The cpu line, in the order of the file. */
enum schedstat_cpu_field {
	SCHEDSTAT_YLD_COUNT,   /* calls of sched_yield() */
	SCHEDSTAT_ARRAY_EXP,   /* always 0 since Linux 2.6.23 */
	SCHEDSTAT_SCHED_COUNT, /* calls of schedule() */
	SCHEDSTAT_SCHED_GOIDLE,
	SCHEDSTAT_TTWU_COUNT,
	SCHEDSTAT_TTWU_LOCAL,
	SCHEDSTAT_RQ_CPU_TIME, /* ns */
	SCHEDSTAT_RUN_DELAY,   /* ns */
	SCHEDSTAT_PCOUNT,      /* time slices */
	SCHEDSTAT_CPU_FIELDS,
};

/* Load balancing is counted by what the CPU was doing; names are the kernel's. */
enum schedstat_idle {
	SCHEDSTAT_IDLE,
	SCHEDSTAT_NOT_IDLE,
	SCHEDSTAT_NEWLY_IDLE,
	SCHEDSTAT_IDLE_TYPES
};

enum schedstat_balance_field {
	SCHEDSTAT_LB_COUNT,
	SCHEDSTAT_LB_BALANCE, /* found nothing to do */
	SCHEDSTAT_LB_FAILED,
	SCHEDSTAT_LB_IMBALANCE,      /* versions 15 and 16 */
	SCHEDSTAT_LB_IMBALANCE_LOAD, /* these four: version 17 */
	SCHEDSTAT_LB_IMBALANCE_UTIL,
	SCHEDSTAT_LB_IMBALANCE_TASK,
	SCHEDSTAT_LB_IMBALANCE_MISFIT,
	SCHEDSTAT_LB_GAINED,
	SCHEDSTAT_LB_HOT_GAINED,
	SCHEDSTAT_LB_NOBUSYQ,
	SCHEDSTAT_LB_NOBUSYG,
	SCHEDSTAT_BALANCE_FIELDS,
};

enum schedstat_common_field {
	SCHEDSTAT_ALB_COUNT,
	SCHEDSTAT_ALB_FAILED,
	SCHEDSTAT_ALB_PUSHED,
	SCHEDSTAT_SBE_CNT,
	SCHEDSTAT_SBE_BALANCED,
	SCHEDSTAT_SBE_PUSHED,
	SCHEDSTAT_SBF_CNT,
	SCHEDSTAT_SBF_BALANCED,
	SCHEDSTAT_SBF_PUSHED,
	SCHEDSTAT_TTWU_WAKE_REMOTE,
	SCHEDSTAT_TTWU_MOVE_AFFINE,
	SCHEDSTAT_TTWU_MOVE_BALANCE,
	SCHEDSTAT_COMMON_FIELDS,
};

/* Fields of a domain have one number in all versions. */
#define SCHEDSTAT_LB(idle, field) ((idle)*SCHEDSTAT_BALANCE_FIELDS + (field))
#define SCHEDSTAT_COMMON(field)   (SCHEDSTAT_IDLE_TYPES * SCHEDSTAT_BALANCE_FIELDS + (field))
#define SCHEDSTAT_DOMAIN_FIELDS   SCHEDSTAT_COMMON(SCHEDSTAT_COMMON_FIELDS)

#define SCHEDSTAT_NAME_LEN 16

struct schedstat_domain {
	uint32_t level;                /* K of domainK; 0 is the smallest */
	char name[SCHEDSTAT_NAME_LEN]; /* "MC"; "domainK" before version 17 */
	uint64_t present;              /* bit per field */
	uint64_t values[SCHEDSTAT_DOMAIN_FIELDS];
};

struct schedstat_cpu {
	uint32_t cpu;
	uint32_t first_domain; /* index into domains */
	uint32_t nr_domains;
	uint32_t present;
	uint64_t values[SCHEDSTAT_CPU_FIELDS];
};

struct schedstat {
	int version;
	struct schedstat_cpu *cpus; /* ascending by cpu */
	uint32_t nr_cpus;
	struct schedstat_domain *domains; /* by cpu, then as in the file */
	uint32_t nr_domains;
	uint32_t nr_skipped; /* differences: CPUs and domains that only one side has */
};

/* "lb_count_newly_idle", "alb_count"; NULL past the end. */
const char *schedstat_domain_field_name(uint32_t field);

/* -ENOTSUP for another version, -EINVAL for text that is not a schedstat. */
MUST_USE int schedstat_parse(const char *text, size_t len, struct diag *d, struct schedstat **out);
MUST_USE int schedstat_read(const char *path, struct diag *d, struct schedstat **out);
void schedstat_free(struct schedstat *s); /* NULL is fine */
DEFINE_SCOPED(schedstat, schedstat_free)

/*
 * to - from, per CPU and domain. A counter of 32 bits that went backwards has wrapped, unless that would
 * mean more than 2^31 steps: then the kernel has rebuilt its domains, and the new value is what was
 * counted since. A counter of 64 bits that went backwards is absent.
 */
MUST_USE int schedstat_delta(const struct schedstat *from, const struct schedstat *to,
                             struct diag *d, struct schedstat **out);

/* Sums over CPUs; a field is present if any CPU has it. */
struct schedstat_totals {
	struct schedstat_cpu cpu;         /* .cpu and the domain fields mean nothing */
	struct schedstat_domain all;      /* over all domains; .level and .name mean nothing */
	struct schedstat_domain *by_name; /* smallest domains first */
	uint32_t nr_names;
};
MUST_USE int schedstat_sum(const struct schedstat *s, struct schedstat_totals *out);
void schedstat_totals_done(struct schedstat_totals *t);

/* Writes to the switch at path; 0 or -errno. */
MUST_USE int schedstat_switch_to(const char *path, bool is_on);

/* What schedstat_enable() found, for schedstat_restore(). */
struct schedstat_switch {
	bool is_changed;
};

/* path is SCHEDSTAT_SWITCH, which the broker writes if there is one. Nothing is written where it is on already. */
MUST_USE int schedstat_enable(const char *path, struct diag *d, struct schedstat_switch *out);
MUST_USE int schedstat_restore(const char *path, struct schedstat_switch *sw, struct diag *d);
