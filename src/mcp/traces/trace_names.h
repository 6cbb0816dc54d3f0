/*
 * mcp/traces/trace_names — names of functions for a process that holds a trace: it may open no file, the server may.
 *
 * While a trace is loaded, its process asks once: which places of which files (record/frame_query). The server looks them up as the
 * command line does (record/frame_names): with its own rights, by path and build id, each file parsed by another process without
 * rights; for so long, so many files and so many names, and no longer. What the process asks is trusted no more than
 * the file that it has read: it may be crafted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define TRACE_NAMES_WALL_NS 30000000000ULL
#define TRACE_NAMES_FILES   4096U
#define TRACE_NAMES_PLACES  (1U << 20)
#define TRACE_NAMES_BYTES   ((size_t)64 << 20)

struct frame_limits;
struct frame_names;
struct frame_query;
struct sandbox_msg;

/* The question; what is beyond TRACE_NAMES_PLACES is not asked. */
void trace_names_put_query(struct sandbox_msg *m, const struct frame_query *q);
/* In the server: answers it. -EBADMSG: it is none; -ENOMEM. */
MUST_USE int trace_names_answer(struct sandbox_msg *question, const struct frame_limits *limits,
                                struct sandbox_msg *answer);
/* What is in the answer, for nr frames. -EBADMSG or -ENOMEM. */
MUST_USE int trace_names_get(struct sandbox_msg *answer, size_t nr, struct frame_names **out);
