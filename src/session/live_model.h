/*
 * session/live_model — everything that a live stream of records is turned into, behind one sink.
 *
 * Aggregates, the ten analyzers and the last records for clients that follow the stream. The stream may be interrupted and
 * go on with other kinds: live_model_pause() and live_model_resume() stand around the hole, across which nothing is paired.
 * One thread at a time; the caller locks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "model/analyzers.h"
#include "session/live_source.h"

struct topology;

struct live_model {
	struct tasks *tasks;
	struct pair *pair;
	struct live *live;
	struct analyzers *analyzers;
	struct event_buffer *stream;
	bool is_streaming; /* records go into the stream, too */
	uint32_t nr_cpus;
	uint32_t paused; /* analyzers that ran before the hole */
};

MUST_USE int live_model_init(struct live_model *m, const struct topology *topology, struct diag *d);
void live_model_done(struct live_model *m); /* a zeroed one is fine */
struct ev_sink live_model_sink(struct live_model *m);

void live_model_pause(struct live_model *m, uint64_t ts_ns);
/* Those of the analyzers go on that ran before and are still wanted. */
void live_model_resume(struct live_model *m, uint32_t wanted, uint64_t ts_ns);
/* Who is there: tasks that came meanwhile are told of one by one, in the end those that went are taken out. */
void live_model_task(struct live_model *m, const struct proc_task *task, uint64_t ts_ns);
/* Living tasks whose tid is_there() does not know. */
void live_model_bury(struct live_model *m, bool (*is_there)(void *ctx, uint32_t tid), void *ctx,
                     uint64_t ts_ns);
