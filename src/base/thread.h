/*
 * base/thread — threads that are deaf to signals: those are for the thread that waits for them (the one that shows the
 * screen, or serves), and a signal that arrives elsewhere would interrupt somebody's wait for nothing.
 */
#pragma once

#include <pthread.h>

#include "base/attr.h"

/* Runs run(ctx) beside the caller, who joins it. 0 or -errno. */
MUST_USE int thread_start(pthread_t *out, void *(*run)(void *), void *ctx);
/* The same, and nobody joins it: what it uses is its own. */
MUST_USE int thread_start_detached(void *(*run)(void *), void *ctx);
