/*
 * live/live_shot — the rolling timeline as it was at one moment, for analyses: a source that nothing changes any more.
 *
 * Made while the stream waits, in the time that it takes to copy who the tasks are; read without any lock, on any thread. What
 * is open then (a task that runs, waits or sleeps) is in it, as in a recording that ended there. The rows are shared with the
 * timeline and with other shots; memory that only shots hold still counts towards the budget. Counted references.
 */
#pragma once

#include "analyze/source.h"
#include "base/attr.h"
#include "base/cleanup.h"

struct live_model;
struct live_shot;

/* is_live: the stream goes on; not so what is kept of an analyzer that has stopped. -ENOMEM. */
MUST_USE int live_shot_new(const struct live_model *m, bool is_live, struct live_shot **out);
struct live_shot *live_shot_get(struct live_shot *shot); /* one more reference; NULL is fine */
void live_shot_put(struct live_shot *shot);              /* NULL is fine */
DEFINE_SCOPED(live_shot, live_shot_put)
/* Its start is that of the window, or later if the cap has cut it. */
const struct source *live_shot_source(const struct live_shot *shot);
/* Where the answer to a question about the time since then begins: there, or at the start. */
uint64_t live_shot_from_ns(const struct live_shot *shot, uint64_t since_ns);
