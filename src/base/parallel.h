/*
 * base/parallel — one function for many items, on several threads.
 *
 * Items are handed out in order, one at a time, to the next free worker; the caller's thread takes
 * part as worker 0 and the call returns when all are done. The function must cope with any order
 * and with several at once, and protects what it shares itself. If threads cannot be created, fewer
 * work.
 */
#pragma once

#include <stddef.h>

#define PARALLEL_MAX 256U

struct parallel {
	unsigned int nr_workers; /* 0 = as many as there are CPUs to run on */
	void (*fn)(void *ctx, unsigned int worker, size_t item);
	/* On the caller's thread, after each of its own items; how many are taken. May be NULL. */
	void (*progress)(void *ctx, size_t nr_taken);
	void *ctx;
};

/* How many workers there will be at most, for tables of their own. */
unsigned int parallel_nr(unsigned int nr_workers, size_t nr_items);
void parallel_for(const struct parallel *p, size_t nr_items);
