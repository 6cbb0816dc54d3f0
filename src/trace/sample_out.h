/*
 * trace/sample_out — stacks as PerfSamples: frames and callstacks are interned, root first.
 *
 * A frame is an address of the kernel or of one process; its name comes from the caller, who may not know
 * it. When a table is full all are begun anew, which the packet says. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"
#include "base/map.h"
#include "base/pb_write.h"
#include "trace/chunk_out.h"

/* The name of an address into buf, tgid 0 = of the kernel; false = unknown. */
typedef bool trace_symbol_fn(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size);

struct sample_out {
	struct chunk_out *chunk;
	trace_symbol_fn *symbol; /* NULL = none */
	void *symbol_ctx;
	struct map *frames;
	struct map *stacks;
	struct pb interned; /* new ones, for the next packet */
	bool is_cleared;    /* the next packet begins the tables anew */
};

MUST_USE int sample_init(struct sample_out *s, struct chunk_out *chunk);
void sample_done(struct sample_out *s);
/* count: the sampled event of this CPU so far, as the sum of the periods. */
MUST_USE int sample_put(struct sample_out *s, uint64_t ts_ns, const struct ev_sample *rec,
                        uint64_t count);
