/*
 * mcp/pool — a few threads that do what would keep a connection waiting.
 *
 * Threads start with the first job and end with the pool, after the jobs that were taken. The queue is bounded.
 */
#pragma once

#include "base/attr.h"

struct pool;

typedef void pool_fn(void *ctx);

MUST_USE int pool_new(unsigned int nr_threads, struct pool **out);
void pool_free(struct pool *p); /* NULL is fine; waits */
/* -EAGAIN when too many wait already; -errno where no thread can be made. */
MUST_USE int pool_do(struct pool *p, pool_fn *fn, void *ctx);
