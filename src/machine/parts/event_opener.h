/*
 * machine/parts/event_opener — a thread that closes one event_counter and opens another, so that a screen need not wait.
 *
 * A process with thousands of threads has a counter for each of them on every CPU: opening them takes a second. One
 * thread calls these functions; the other is ours.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/parts/event_counter.h"

struct event_opener;

/* Takes old (may be NULL), whatever happens. Without cfg nothing is opened. 0 or -ENOMEM. */
MUST_USE int event_opener_start(const struct event_counter_cfg *cfg, struct event_counter *old,
                                struct event_opener **out);
/*
 * Waits so long at most; true once it is done and o is gone. Then out is the counter, or NULL with d, or without if
 * nothing was to be opened.
 */
bool event_opener_poll(struct event_opener *o, uint32_t wait_ms, struct diag *d,
                       struct event_counter **out);
/* What it opens is not wanted any more: it closes that as well. It is still to be polled, or ended. */
void event_opener_drop(struct event_opener *o);
void event_opener_end(struct event_opener *o); /* waits until it is done; NULL is fine */
