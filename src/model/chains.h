/*
 * model/chains — who woke the one who woke the one who woke a task: chains of wakeups, followed back in time.
 *
 * Fed by model/pair: a link is a wakeup whose task came on a CPU, with its latency from the waking (the wakeup
 * where no waking was recorded). A chain begins with a task's most recent link; each further one is the most
 * recent of the waker that was over before it woke the next. It ends at an interrupt, at what is not known, at
 * max links, or where a task would come twice, which is said. Bounded: the last CHAINS_LINKS of each task, and
 * of tasks beyond max_tasks the one that was silent for longest is forgotten. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/pair.h"

#define CHAINS_LINKS 8
#define CHAINS_MAX   32 /* links of a chain */

struct chains;

struct chains_link {
	uint64_t waking_ns;
	uint64_t run_ns;
	uint32_t waker; /* task; TASKS_NONE = an interrupt, idle or unknown */
	uint32_t waker_tid;
	uint32_t waker_comm_id;
	uint32_t wakee_tid;
	uint32_t wakee_comm_id;
};

enum chains_end { CHAINS_UNKNOWN, CHAINS_NOBODY, CHAINS_CYCLE, CHAINS_CUT };

struct chains_chain {
	uint32_t nr;
	enum chains_end end;
	struct chains_link links[CHAINS_MAX]; /* the last wakeup first */
};

struct chains_cfg {
	const struct tasks *tasks; /* lent */
	uint32_t max_tasks;        /* 0 picks 4096 */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int chains_new(const struct chains_cfg *cfg, struct chains **out);
void chains_free(struct chains *c); /* NULL is fine */
struct pair_out chains_out(struct chains *c);
void chains_reset(struct chains *c);

uint32_t chains_nr_tasks(const struct chains *c);
uint64_t chains_nr_wakeups(const struct chains *c);
/* The task of a row, with links or not; TASKS_NONE beyond the last. */
uint32_t chains_task_at(const struct chains *c, uint32_t i);
/* At most max (and CHAINS_MAX) links; false without any. */
bool chains_find(const struct chains *c, uint32_t task, uint32_t max, struct chains_chain *out);
uint64_t chains_forgotten(const struct chains *c);
