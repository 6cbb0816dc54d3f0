/*
 * trace/perfetto/write/track_out — TrackEvents: what ftrace has no event for. Strings are interned, tracks described once.
 *
 * A thread's track is identified by (process, thread, start); the idle task of each CPU has its
 * own. When the table of strings is full it is restarted, which the packet says. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/intern.h"
#include "base/pb_write.h"
#include "trace/perfetto/write/chunk_out.h"
#include "trace/perfetto/write/ftrace_out.h"
#include "trace/perfetto/write/packets.h"
#include "trace/trace_tasks.h"

#define TRACK_STRINGS_MAX 4096U

/* Where an interned string is used; each has numbers of its own, ours are the same in all. */
enum track_use { USE_CATEGORY, USE_NAME, USE_ARG };

struct track_out {
	struct chunk_out *chunk;
	struct intern *strings;
	uint8_t used_as[TRACK_STRINGS_MAX + 1]; /* bit per track_use: defined already */
	struct pb interned;                     /* new ones, for the next packet */
	bool is_cleared;                        /* the next packet restarts the table */
	bool has_lost_folder, has_folder;
	bool has_scheduler;
};

/* A dispatch queue and its two counters. */
struct track_dsq {
	uint64_t dsq_id;
	uint32_t number; /* counts up: its place among the others */
	bool has_depth, has_latency;
	uint64_t depth; /* as written last */
	uint64_t depth_ns;
};

MUST_USE int track_init(struct track_out *t, struct chunk_out *chunk);
void track_done(struct track_out *t);

/* Before the strings of an event: makes room for some. */
MUST_USE int track_begin(struct track_out *t);
/* The number of a string; 0 if it cannot be interned. */
uint64_t track_iid(struct track_out *t, enum track_use use, const char *text);

/* Describes the track if that has not been done, and gives its uuid. task is NULL for the idle task. */
MUST_USE int track_of_task(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task,
                           uint64_t ts_ns, uint64_t *out);
MUST_USE int track_of_pmu(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task,
                          uint64_t ts_ns, uint64_t *out);

/* The child track "scx" of a task. */
MUST_USE int track_of_scx(struct track_out *t, struct ftrace_cpu *c, struct trace_task *task,
                          uint64_t ts_ns, uint64_t *out);
/* A lane of spans below a task, or of no task (NULL); *uuid is 0, or the track that the lane has had so far. */
MUST_USE int track_of_spans(struct track_out *t, struct trace_task *task, uint32_t lane,
                            uint64_t ts_ns, uint64_t *uuid);
/* The root track "sched_ext". */
MUST_USE int track_of_scheduler(struct track_out *t, uint64_t ts_ns, uint64_t *out);
/* The one for marks, which belong to no task. */
MUST_USE int track_of_marks(struct track_out *t, uint64_t ts_ns, uint64_t *out);

/* Writes an instant; head and type of the event are filled in here. */
MUST_USE int track_instant(struct track_out *t, uint64_t ts_ns, struct track_event *event);
/* A counter of the whole machine. */
struct track_counter {
	const char *folder; /* that it is shown in */
	const char *name;
	uint64_t id; /* unique */
	bool is_new; /* its first value */
};
MUST_USE int track_machine_counter(struct track_out *t, uint64_t ts_ns,
                                   const struct track_counter *counter, uint64_t value);
/* One of the scheduler, below the track "sched_ext"; the folder does not count. */
MUST_USE int track_scheduler_counter(struct track_out *t, uint64_t ts_ns,
                                     const struct track_counter *counter, uint64_t value);
/* A slice that is over: begin has its name, both have arguments of their own. */
MUST_USE int track_slice(struct track_out *t, uint64_t start_ns, uint64_t end_ns,
                         struct track_event *begin, struct track_event *end);
/* Counters of a queue. A depth that stays the same is written once a second. */
MUST_USE int track_dsq_depth(struct track_out *t, struct track_dsq *dsq, uint64_t ts_ns,
                             uint64_t depth);
MUST_USE int track_dsq_latency(struct track_out *t, struct track_dsq *dsq, uint64_t ts_ns,
                               uint64_t ns);
/* Counters of a CPU: "lost events", and what it has lost to heat. */
MUST_USE int track_lost(struct track_out *t, struct ftrace_cpu *c, uint64_t ts_ns);
MUST_USE int track_pressure(struct track_out *t, struct ftrace_cpu *c, uint64_t ts_ns,
                            uint64_t value);
