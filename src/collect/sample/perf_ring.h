/*
 * collect/sample/perf_ring — the consumer of one ring of perf: records one by one, each whole.
 *
 * The kernel writes, we read and then release; what it finds no room for it drops and counts in a record of its own.
 * Sizes in the ring are not trusted: what cannot be a record ends the reading, and is skipped with all behind it.
 * One thread per ring. Nothing blocks.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define PERF_RING_RECORD_MAX 65536 /* a stack, and what comes with it */

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL = not mapped */
	const uint8_t *data;
	size_t bytes;   /* of data; a power of two */
	uint64_t at;    /* read up to here */
	uint64_t until; /* as last read */
	uint8_t *whole; /* a record that went round the end */
};

/* bytes is a power of two of pages. 0 or -errno. */
MUST_USE int perf_ring_map(struct perf_ring *r, int fd, size_t bytes);
void perf_ring_unmap(struct perf_ring *r); /* a zeroed one is fine */
/* Reads how far the kernel has written: that is where perf_ring_peek() ends. */
void perf_ring_update(struct perf_ring *r);
/* The next record, lent until the next call for this ring; NULL at the end. *is_bad: some were skipped. */
const struct perf_event_header *perf_ring_peek(struct perf_ring *r, bool *is_bad);
void perf_ring_skip(struct perf_ring *r, const struct perf_event_header *record);
void perf_ring_release(struct perf_ring *r); /* all that was skipped, to the kernel */
