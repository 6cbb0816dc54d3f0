/*
 * base/worker — work that may take long, or hang, on a thread of its own: start, poll, cancel, end or abandon.
 *
 * Both sides share a state, a lock for it, and a condition that either signals. To end, a worker is cancelled: run() calls
 * worker_is_cancelled() wherever it can leave. The state is freed once, after run() has returned: by worker_end(), which
 * waits for that, or by the thread of an abandoned worker whenever it comes back. Waits go by the monotonic clock.
 * worker_end() and worker_abandon() are called once, by one thread; all else by any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define WORKER_FOREVER UINT64_MAX

struct worker;

struct worker_job {
	void (*run)(struct worker *w, void *state); /* on the thread, without the lock */
	void (*free)(void *state);                  /* NULL: nothing is freed */
	bool runs_anyway; /* where no thread can be started, worker_start() runs it */
};

/* 0, -ENOMEM or -EAGAIN; after a failure the state is the caller's. */
MUST_USE int worker_start(const struct worker_job *job, void *state, struct worker **out);
/* True once run() has returned: then the state is the caller's alone, until worker_end(). Waits so long at most. */
MUST_USE bool worker_poll(struct worker *w, uint64_t wait_ms);
void worker_cancel(struct worker *w);  /* does not wait */
void worker_end(struct worker *w);     /* cancels and waits; NULL is fine */
void worker_abandon(struct worker *w); /* cancels and does not wait; NULL is fine */

void worker_lock(struct worker *w);
void worker_unlock(struct worker *w);
/* These three with the lock held. A wait ends with the next signal or cancel, after ms, or early. */
bool worker_is_cancelled(const struct worker *w);
void worker_signal(struct worker *w);
void worker_wait(struct worker *w, uint64_t ms);
