/*
 * live/live_source — an event stream of chosen kinds that can be opened again and again: what live/live_feed drains.
 *
 * The table stands between the feed and the kernel, so that tests can put a stream of their own there. Of a stream: open
 * loads and attaches nothing; from attach on records flow; poll hands on what is complete and never waits; finish detaches
 * and hands on the rest. One thread.
 */
#pragma once

#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "sys/proc/proc_tasks.h"

struct topology;

struct live_source {
	int (*open)(void *ctx, uint64_t kinds, struct diag *d, void **out);
	int (*attach)(void *stream, struct diag *d);
	int (*poll)(void *stream, const struct ev_sink *sink, struct diag *d);
	int (*finish)(void *stream, const struct ev_sink *sink, struct diag *d);
	int (*fd)(void *stream);            /* readable when a ring fills up; -1 = none */
	uint64_t (*missing)(void *stream);  /* kinds that this kernel does not have */
	uint64_t (*start_ns)(void *stream); /* after attach: no record is older */
	void (*close)(void *stream);
	/* The tasks that are there now; not 0: they cannot be read completely. */
	int (*tasks)(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d);
	void *ctx;
};

/* Kinds that come with switches: quotas and steal. */
#define LIVE_MEASURES (EV_BIT(EV_THROTTLE) | EV_BIT(EV_STEAL))

struct live_kernel;

/* The kernel's own; of one process if tgid is not 0. topology is lent. */
MUST_USE int live_kernel_new(const struct topology *topology, uint32_t tgid, struct diag *d,
                             struct live_kernel **out);
void live_kernel_free(struct live_kernel *k); /* NULL is fine; after all streams */
struct live_source live_kernel_source(struct live_kernel *k);
