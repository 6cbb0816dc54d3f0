/*
 * trace/perfetto/write/names_out — names of tasks as ProcessTree packets, once per task and again when they change.
 *
 * Entries wait for the next flush or until they fill a packet. A thread whose process is unknown is
 * written without one. Processes have a command line if the caller knows it, else the name of their
 * leader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/pb_write.h"
#include "trace/perfetto/write/chunk_out.h"
#include "trace/trace_tasks.h"

/* Arguments separated by NULs into buf; how many bytes, 0 = unknown. */
typedef size_t trace_cmdline_fn(void *ctx, uint32_t tgid, char *buf, size_t size);

struct names_out {
	struct chunk_out *chunk;
	struct trace_tasks *tasks;
	trace_cmdline_fn *cmdline; /* NULL = none */
	void *cmdline_ctx;
	struct pb entries; /* of the packet to come */
	uint64_t ts_ns;    /* of that packet */
};

void names_init(struct names_out *n, struct chunk_out *chunk, struct trace_tasks *tasks);
void names_done(struct names_out *n);

/*
 * The task is part of an event at ts_ns. A change (fork, exec, rename) gets a packet with its own
 * time; others share one.
 */
MUST_USE int names_show(struct names_out *n, struct trace_task *task, uint64_t ts_ns);
MUST_USE int names_change(struct names_out *n, struct trace_task *task, uint64_t ts_ns);
MUST_USE int names_flush(struct names_out *n);
