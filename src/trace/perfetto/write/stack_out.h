/*
 * trace/perfetto/write/stack_out — stacks that come with their frames, as another recorder gave them, as PerfSamples.
 *
 * Each pair of a kind and an event has a sequence of its own, behind those of sample_out, whose defaults say what was
 * sampled. Frames and stacks are interned; when a table is full all tables of the sequence are restarted, which the packet
 * says. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "trace/perfetto/write/chunk_out.h"
#include "trace/perfetto/write/writer.h"

struct stack_stream;

struct stack_out {
	struct chunk_out *chunk;
	uint64_t frequency; /* of stacks of CPUs; 0 = unknown */
	struct stack_stream **streams;
	uint32_t nr_streams, room;
};

void stacks_init(struct stack_out *s, struct chunk_out *chunk, uint64_t frequency);
void stacks_done(struct stack_out *s);
/* -ERANGE when there are too many events. tgid 0 = unknown. */
MUST_USE int stacks_put(struct stack_out *s, const struct trace_known_stack *stack, uint32_t tgid);
