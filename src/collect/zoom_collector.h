/*
 * collect/zoom_collector — loads the programs that watch one thread, attaches them while it is
 * shown, reads what they keep.
 *
 * Opening loads, which takes a while; nothing is attached until zoom_collector_start() names a
 * thread, and nothing after zoom_collector_stop(). Starting drops the data of the last one. What
 * was read is lent until the next read or start. All calls come from one thread at a time. Nothing
 * blocks. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/zoom.h"
#include "base/attr.h"
#include "base/diag.h"

struct zoom_collector;

struct zoom_reading {
	const struct zoom_state *state; /* its waits left out: they are here, the newest first */
	const struct zoom_wait *waits;
	size_t nr_waits;
	const struct zoom_waker_key *waker_keys;
	const struct zoom_waker *wakers;
	size_t nr_wakers;
	const uint32_t *rival_tids;
	const struct zoom_rival *rivals;
	size_t nr_rivals;
	uint64_t missed; /* runs that the kernel skipped because a program was already running */
};

/* is_counted: collect/context. */
MUST_USE int zoom_collector_open(const struct zoom_cfg *cfg, bool is_counted, struct diag *d,
                                 struct zoom_collector **out);
MUST_USE int zoom_collector_start(struct zoom_collector *c, uint32_t tid, struct diag *d);
void zoom_collector_stop(struct zoom_collector *c);
MUST_USE int zoom_collector_read(struct zoom_collector *c,
                                 struct zoom_reading *out); /* or -errno */
void zoom_collector_close(struct zoom_collector *c);        /* NULL is fine; detaches */
