/*
 * abi/sink — where records go. Live and recorded data enter the program through the same interface.
 *
 * Records come in time order (ts_ns never goes backwards) unless a source says otherwise. push() is called
 * from the thread that owns the sink; the record is valid during the call only. A negative errno from push()
 * stops the source.
 */
#pragma once

#include "abi/event.h"

struct ev_sink {
	int (*push)(void *ctx, const struct ev_hdr *rec);
	/* Everything up to ts_ns has been pushed: time has passed even if nothing happened. May be NULL. */
	int (*advance)(void *ctx, __u64 ts_ns);
	void *ctx;
};
