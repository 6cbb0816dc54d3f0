/*
 * session/machine_replay — a recording as a machine, looked at interval by interval, for a screen.
 *
 * Time is cut into intervals of the length that is wished, from the start of the recording on. A look goes on or back by as
 * many as are wished and shows the one at which it arrives, so the same place always tells the same, however one came there;
 * looking again at it shows what else is wished. session/replay_cell says what belongs to an interval, session/replay_sums
 * what is counted. A look costs what the interval holds, not the recording; how busy CPUs were before comes by and by after a
 * far jump (session/replay_past). Definitions are those of the analyses: all of it as one interval has their numbers.
 *
 * The share of time that a CPU is busy is that of the time of which the recording tells; the rest is nobody's. Wakeups of a
 * CPU are those made on it. Not told, as a recording has none of it: machine_play.absent, loads, time in user and kernel
 * mode, cgroups. All calls come from one thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/machine.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

struct machine_replay;
struct trace_info;

struct machine_replay_cfg {
	const struct source *source;   /* lent, with all its indexes: no record may come any more */
	const struct trace_info *info; /* lent; NULL = nothing more is known */
	uint32_t tgid;                 /* only this process; 0 = all */
};

MUST_USE int machine_replay_open(const struct machine_replay_cfg *cfg, struct diag *d,
                                 struct machine_replay **out);
void machine_replay_close(struct machine_replay *r); /* NULL is fine */
/* Lent until the next. The first look shows the first interval, unless it is to go further. */
MUST_USE int machine_replay_look(struct machine_replay *r, const struct machine_wish *wish,
                                 struct diag *d, const struct machine **out);
