/*
 * base/thread — threads with all signals blocked: signals are for the thread that waits for them
 * (the one that shows the screen, or serves), and a signal delivered elsewhere would only interrupt
 * another thread's wait.
 *
 * Timed waits use the monotonic clock, because the wall clock may be set meanwhile.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "base/attr.h"

/* Runs run(ctx) in a thread that the caller joins. 0 or -errno. */
MUST_USE int thread_start(pthread_t *out, void *(*run)(void *), void *ctx);

/* A condition for the two waits below. */
void thread_cond_init(pthread_cond_t *cond);
/* 0, or -ETIMEDOUT once the monotonic clock has passed until_ns. The lock is held, as for pthread_cond_wait(). */
int thread_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns);
int thread_cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t ms);
