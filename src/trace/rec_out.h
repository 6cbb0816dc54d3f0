/*
 * trace/rec_out — where decoders put records: chunks of memory, cut into runs that are each in order of time.
 *
 * rec_run_begin(), then records through rec_add(), then rec_run_end(), which puts the run in order if it is not
 * (records of equal time keep the order in which they were added). One thread fills an output; the merge reads
 * it later and frees each chunk as soon as its records are consumed. Chunks are taken from the budget and given
 * back to it. Errors stick: after -ENOMEM or -E2BIG rec_add() hands out a scratch record that goes nowhere, so
 * that callers check err once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"

struct budget;

#define REC_CHUNK_BYTES (256U << 10)
#define REC_MAX_BYTES   2048U /* of one record */

struct rec_chunk {
	struct rec_chunk *next;
	uint8_t *bytes; /* NULL once consumed */
	uint32_t len;
	uint32_t nr_left; /* records not yet consumed */
};

/*
 * Records of one lane, in order. Runs of the same lane follow each other in time in a sane file, so
 * that the merge considers only one run per lane; the lane has no other meaning.
 */
struct rec_run {
	struct rec_chunk *chunk;
	uint32_t offset;
	uint32_t lane;
	uint64_t nr;
	uint64_t first_ts_ns, last_ts_ns;
	struct ev_hdr **sorted; /* where the run had to be put in order */
};

struct rec_out {
	struct rec_chunk *head, *tail;
	struct rec_run *runs;
	size_t nr_runs, cap_runs;
	struct budget *budget; /* NULL = none */
	bool is_open;
	bool is_unsorted; /* the open run */
	int err;
	_Alignas(8) uint8_t scratch[REC_MAX_BYTES];
};

void rec_out_done(struct rec_out *o); /* what was not consumed */
/* Gives the memory of a chunk back; its records are gone. */
void rec_chunk_drop(struct rec_chunk *c, struct budget *budget);
void rec_run_begin(struct rec_out *o, uint32_t lane);
void rec_run_end(struct rec_out *o);
/* For rec_add(): the tail has no room. */
void *rec_add_slow(struct rec_out *o, uint32_t size);

/*
 * A record of size bytes (a multiple of 8, at most REC_MAX_BYTES) with its header; the body is not
 * cleared.
 */
static inline void *rec_add(struct rec_out *o, uint8_t kind, uint32_t size, uint32_t cpu,
                            uint64_t ts_ns)
{
	struct rec_chunk *c = o->tail;
	struct rec_run *run;
	struct ev_hdr *rec;

	if (__builtin_expect(!o->is_open || o->err || !c || c->len + size > REC_CHUNK_BYTES, 0)) {
		rec = rec_add_slow(o, size);
	} else {
		rec = (struct ev_hdr *)(c->bytes + c->len);
		c->len += size;
		c->nr_left++;
	}
	*rec = (struct ev_hdr){ .size = (uint16_t)size, .kind = kind, .cpu = cpu, .ts_ns = ts_ns };
	if (__builtin_expect(!o->is_open || o->err, 0))
		return rec;
	run = &o->runs[o->nr_runs - 1];
	if (run->nr++ == 0)
		run->first_ts_ns = ts_ns;
	else if (ts_ns < run->last_ts_ns)
		o->is_unsorted = true;
	run->last_ts_ns = ts_ns;
	return rec;
}
