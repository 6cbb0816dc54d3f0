/*
 * replay/machine_replay — a recording as a machine, shown interval by interval on a screen.
 *
 * Time is cut into intervals of the requested length, from the start of the recording on. A refresh
 * moves forward or back by the requested number and shows the interval at which it arrives, so the
 * same position always shows the same, however it was reached; another refresh there shows what
 * else is requested. replay/replay_cell says what belongs to an interval, replay/replay_sums what
 * is counted. The cost of a refresh depends on the interval, not on the recording; the history of
 * CPUs is filled in over some refreshes after a far jump (replay/replay_past). Definitions are
 * those of the analyses: all of it as one interval has their numbers.
 *
 * The share of time that a CPU is busy is that of the time that the recording covers; the remainder
 * is not attributed. Wakeups of a CPU are those made on it. Not reported, because a recording has
 * none of it: machine_play.absent, loads, time in user and kernel mode. All calls come
 * from one thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine.h"

struct machine_replay;
struct trace_info;

struct machine_replay_cfg {
	const struct source *source; /* lent, with all its indexes: no more records may be added */
	const struct trace_info *info; /* lent; NULL = nothing more is known */
	uint32_t tgid;                 /* only this process; 0 = all */
};

MUST_USE int machine_replay_open(const struct machine_replay_cfg *cfg, struct diag *d,
                                 struct machine_replay **out);
void machine_replay_close(struct machine_replay *r); /* NULL is fine */
/* Lent until the next. The first refresh shows the first interval, unless it is to go further. */
MUST_USE int machine_replay_refresh(struct machine_replay *r, const struct machine_request *request,
                                    struct diag *d, const struct machine **out);
