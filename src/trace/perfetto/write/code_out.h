/*
 * trace/perfetto/write/code_out — places in code as interned frames: functions, mappings, build ids, source files.
 *
 * The caller looks up what is at an address, and may not know it. Everything is written once, as
 * fields of an InternedData that collect in .interned until the next packet takes them; texts and
 * mappings are compared by hashes of 128 bits instead of being kept. When a table is full, all
 * tables must be restarted: code_clear(). An inlined call is a separate frame whose name says so.
 * One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/map.h"
#include "base/pb_write.h"
#include "trace/facts.h"
#include "trace/reader.h"

/* What is at an address then; tgid 0 = of the kernel. False = unknown. */
typedef bool trace_place_fn(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                            struct trace_place *out);
/* Its name alone, into buf. */
typedef bool trace_symbol_fn(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size);

/* Whose code: each program that a process executed has its own number. */
struct code_where {
	uint32_t tgid; /* 0 = kernel */
	uint32_t image;
	uint64_t ts_ns;
};

/* Frames of one address: so many iids from the first on, innermost first. */
struct code_run {
	uint32_t first;
	uint16_t nr;
	bool is_tracing; /* of the machinery that takes stacks at tracepoints */
};

enum code_text { CODE_FUNCTION, CODE_SOURCE, CODE_PATH, CODE_BUILD_ID, CODE_MAPPING, CODE_TEXTS };

struct code_out {
	trace_place_fn *place;   /* NULL = ask symbol */
	trace_symbol_fn *symbol; /* NULL = nothing has a name */
	void *ctx;
	struct map *addresses; /* -> runs */
	struct code_run *runs;
	size_t cap_runs;
	uint32_t nr_frames;
	struct map *texts[CODE_TEXTS]; /* hash -> iid */
	struct pb interned;            /* new ones, for the next packet */
};

MUST_USE int code_init(struct code_out *c);
void code_done(struct code_out *c);
/* -E2BIG if a table is full, or -ENOMEM. */
MUST_USE int code_at(struct code_out *c, const struct code_where *where, uint64_t address,
                     struct code_run *out);
/* A frame that is known already, by its number in the caller's table. The same errors. */
MUST_USE int code_frame(struct code_out *c, uint32_t number, const struct trace_frame *frame,
                        uint32_t *iid);
/* Clears all tables, as a reader does at a packet that restarts them. */
void code_clear(struct code_out *c);
