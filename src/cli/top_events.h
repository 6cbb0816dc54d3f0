/*
 * cli/top_events — the events that analyses on the screen are about: live, those of the last five seconds; of a recording,
 * those of the interval that is shown.
 *
 * Live they are recorded into a rolling timeline (live/live_run), from the first refresh that needs them to the first that does
 * not; loading takes a moment, in a thread of its own. A window is new once a second, for an analysis reads all of it. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "live/live_run.h"

struct machine;
struct machine_attach;
struct source;

struct top_events {
	const struct source *recording; /* lent; NULL = live */
	uint32_t analyzers;             /* that run is, or was to be, for */
	struct machine_attach *attach;  /* of run, which is on its way */
	struct live_run *run;
	struct live_shot *shot;
	uint64_t from_ns, to_ns; /* of the last window; 0 = there was none */
};

/* A time of a source, lent until the next call. */
struct top_window {
	const struct source *source;
	uint64_t from_ns, to_ns;
	uint64_t lost; /* events, since the recording of them began */
};

/* analyzers: a set of live/live_analyzers. False = nothing new; what is wrong is in d. */
bool top_events_window(struct top_events *e, uint32_t analyzers, const struct machine *m,
                       struct diag *d, struct top_window *out);
/* The interval of a recording that is shown; empty for a live machine. */
void top_events_of_play(const struct top_events *e, const struct machine *m,
                        struct top_window *out);
/* The next window is new, for another question; what could not be loaded is tried again. */
void top_events_renew(struct top_events *e);
/* Ends the recording of events. */
void top_events_stop(struct top_events *e);
