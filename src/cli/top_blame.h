/*
 * cli/top_blame — what the blame view of the screen shows: the analysis blame over the last seconds, live, or over the
 * interval of a recording that is shown.
 *
 * Live it records events into a rolling timeline (live/live_run), from the first refresh that needs it to the first that does
 * not. One thread.
 */
#pragma once

#include "machine/machine.h"

struct source;
struct top_blame;

/* Of a recording, lent; NULL = live. NULL without memory: then there is no data. */
struct top_blame *top_blame_new(const struct source *recording);
void top_blame_free(struct top_blame *b); /* NULL is fine */
/* Puts a machine with the data in the place of *m, if the request needs it; lent until the next call. b may be NULL. */
void top_blame_show(struct top_blame *b, const struct machine_request *request,
                    const struct machine **m);
