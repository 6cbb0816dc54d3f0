/*
 * query/chrome — the timeline of a recording as JSON trace events, which chrome://tracing, ui.perfetto.dev and others show.
 *
 * Three processes that do not exist (numbers above the kernel's) hold a track per CPU: what runs there, interrupts, counters.
 * Each thread has a track of its states: running, runnable, asleep. Wakeups are flows from the waker to the first run. Requests,
 * disk and other work that may overlap are async events. Times are microseconds after the start, with all nanoseconds. Rows
 * are written as they are read, so nothing grows with the file but the indexes of the timeline. One thread.
 */
#pragma once

#include <stdio.h>

#include "analyze/source.h"
#include "base/attr.h"

struct chrome_cfg {
	uint64_t from_ns, to_ns; /* rows that overlap it; 0 = all */
};

/* -ENOMEM, or the error of the stream. */
MUST_USE int chrome_write(const struct source *s, const struct chrome_cfg *cfg, FILE *out);
