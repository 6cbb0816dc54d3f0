/*
 * mcp/live_desk — what the live tools and resources remember between calls: subscriptions to the stream, the last CPU times,
 * samples of BPF programs.
 *
 * One per server; locks for itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/sys_stats.h"

struct live_desk;
struct live_feed;
struct prog_watch;

/* feed may be NULL: without --daemon. It is lent. */
MUST_USE int live_desk_new(struct live_feed *feed, struct diag *d, struct live_desk **out);
void live_desk_free(struct live_desk *k); /* NULL is fine */
struct prog_watch *live_desk_programs(struct live_desk *k);

/* Subscriptions by the query of their URI; each begin needs an end. */
MUST_USE int live_desk_subscribe(struct live_desk *k, const char *query, struct diag *d);
void live_desk_unsubscribe(struct live_desk *k, const char *query);
/* The number of the newest event that it wants. */
uint64_t live_desk_newest(struct live_desk *k, const char *query);

struct cpu_times {
	struct sys_stats now, before; /* to be given back by cpu_times_done() */
	bool has_before;              /* else now counts since boot */
	uint64_t elapsed_ns;          /* between both */
};

/* Now, and what the last call got. */
MUST_USE int live_desk_cpu_times(struct live_desk *k, struct cpu_times *out, struct diag *d);
void cpu_times_done(struct cpu_times *t);
