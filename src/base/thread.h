#ifndef SCHEDSCOPE_BASE_THREAD_H
#define SCHEDSCOPE_BASE_THREAD_H

/*
 * Threads that are deaf to signals: those are for the thread that waits for them (the one that shows the screen, or
 * serves), and a signal that arrives elsewhere interrupts nobody's wait.
 */
#include <pthread.h>

/* Runs run(ctx) beside the caller, who joins it. 0 or -errno. */
int thread_start(pthread_t *out, void *(*run)(void *), void *ctx);

/* The same, and nobody joins it: what it uses is its own. */
int thread_start_detached(void *(*run)(void *), void *ctx);

#endif
