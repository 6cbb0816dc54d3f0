/*
 * analyses/explain/explain_parts — the parts of one or several waits of a task, added up by their causes.
 *
 * Pieces of the same cause on the same CPU are one part. Tasks of the same priority and cgroup are one by what is asked for: those of
 * one process, of one name, or of one cgroup; or each is one. If nothing is asked for, they are by name, and where there are too
 * many to be named, tasks of several names that share another cgroup are one, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/pass.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "ledger/ledger.h"

#define EXPLAIN_MAX_PARTS 16
#define EXPLAIN_MAX_NAMED 5 /* parts that have sentences of their own */

/* What the task waited for, on one CPU: parts of the ledger that have the same cause are one. */
struct explain_part {
	uint64_t ns;
	/*
	 * Task: the one that had most of it; queue: its id; interrupt, softirq: ABI_BY_*; throttled: the cgroup's id; idle
	 * because of core scheduling: 1 + the task that had the core.
	 */
	uint64_t what;
	uint64_t quota_ns, period_ns; /* throttled: in each period, the last known; 0 = unknown */
	uint32_t nr_tasks;            /* tasks of the same name, which had this time together */
	uint32_t cgroup;              /* of these tasks then; 0 = unknown */
	uint32_t nr_times;            /* in so many pieces */
	int16_t prio;                 /* of a task, as the kernel counts */
	uint16_t cpu;                 /* PAIR_NO_CPU = none, or unknown */
	uint8_t policy;               /* of a task: ABI_POLICY_* */
	uint8_t limit;                /* throttled: EV_LIMIT_* */
	uint8_t kind;                 /* enum ledger_kind */
	uint8_t shared; /* what its tasks have in common: PASS_BY_PROCESS, _COMM, _CGROUP; PASS_BY_THREAD = it is one */
};

/* The longest first; beyond the room the others are one of LEDGER_KINDS. */
struct explain_parts {
	struct explain_part at[EXPLAIN_MAX_PARTS];
	uint32_t nr;
	uint32_t cgroup;         /* of the task that waits; 0 = unknown */
	uint32_t nr_others;      /* causes that found no room */
	uint64_t names_ns;       /* tasks are called as they were then */
	bool is_steal_estimated; /* only the sum of a longer time is known */
};

/* What they are gathered in; with source, names_ns, cgroup and by set, it is empty. */
struct gathered_parts {
	const struct source *s;
	struct explain_part *at;
	uint32_t nr, room;
	uint32_t max; /* where they are added up so far; 0 = not yet set */
	uint64_t names_ns;
	uint32_t cgroup;
	enum pass_by by;  /* which tasks are one; PASS_BY_CLASS is none of them */
	bool is_anywhere; /* neither CPUs nor cgroups tell causes apart */
};

/* -ENOMEM. */
MUST_USE int parts_add(struct gathered_parts *g, const struct ledger_part *p);
/* Adds them up; nothing can be added any more. */
void parts_keep(struct gathered_parts *g, struct explain_parts *out);
void parts_done(struct gathered_parts *g);
