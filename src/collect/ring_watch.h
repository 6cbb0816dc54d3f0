/*
 * collect/ring_watch — one descriptor that is readable when a producer signals, whatever the number
 * of rings.
 *
 * A ring that holds records is not reported, only a signal of its producers: rings are watched for
 * edges. An edge stays until it is taken, and otherwise the descriptor would be readable for as
 * long as its ring is not empty, which on a busy machine is always: so take the signals before
 * reading the rings. One thread.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

/* A descriptor to wait for, and to close; or -errno. */
MUST_USE int ring_watch_open(const int *ring_fds, size_t nr);
/* Takes all calls so far; waits at most timeout_ms for the first one. 0 or -errno. */
MUST_USE int ring_watch_take(int watch_fd, int timeout_ms);
