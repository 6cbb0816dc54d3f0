/*
 * record/sink_thread — a sink whose work is done on a separate thread, so that producer and
 * consumer run concurrently.
 *
 * Records are copied into batches of a fixed size; when all batches are full, push() waits for one. The order stays.
 * The first error of the target comes back from a later push(), or from sink_thread_finish(). Between open and
 * finish the target belongs to the other thread.
 */
#pragma once

#include "abi/sink.h"
#include "base/attr.h"

struct sink_thread;

/* -ENOMEM or -EAGAIN. */
MUST_USE int sink_thread_open(const struct ev_sink *target, struct sink_thread **out);
struct ev_sink sink_thread_sink(struct sink_thread *t);
/*
 * Hands over the remaining records, waits until all is done, ends the thread and frees everything;
 * 0 or the first error.
 */
MUST_USE int sink_thread_finish(struct sink_thread *t);
