/*
 * trace/perfetto/write/sample_out — stacks of one kind as PerfSamples: frames and callstacks are interned, root first.
 *
 * Each kind of EV_SAMPLE_* has a sequence of its own, whose defaults say what was sampled; so readers keep them
 * apart. What the frames are comes from trace/perfetto/write/code_out. At tracepoints, the kernel's tracing code is not part
 * of a stack and left out. When a table is full all are restarted, which the packet says. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"
#include "base/map.h"
#include "base/pb_write.h"
#include "trace/perfetto/write/chunk_out.h"
#include "trace/perfetto/write/code_out.h"

struct sample_out {
	struct chunk_out *chunk;
	uint32_t event; /* EV_SAMPLE_* */
	struct code_out code;
	struct map *stacks;
	struct pb defaults; /* of the sequence */
	bool is_cleared;    /* the next packet restarts the tables */
};

/* of says how EV_SAMPLE_CPU is sampled; its fields may be unknown. */
MUST_USE int sample_init(struct sample_out *s, struct chunk_out *chunk, uint32_t event,
                         const struct trace_sampling *of);
void sample_done(struct sample_out *s);

struct sample_in {
	const struct ev_sample *rec;
	uint64_t ts_ns;
	uint32_t image; /* which program the process was then; see code_out */
	uint64_t count; /* the sampled event of this CPU so far, as the sum of the periods */
};
MUST_USE int sample_put(struct sample_out *s, const struct sample_in *in);
