/*
 * mcp/live_service — what the live tools and resources remember between calls: subscriptions to the stream, the last CPU times,
 * samples of BPF programs.
 *
 * One per server; locks for itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/proc/sys_stats.h"

struct live_service;
struct live_feed;
struct prog_watch;

/* feed may be NULL: without --daemon. It is lent. */
MUST_USE int live_service_new(struct live_feed *feed, struct diag *d, struct live_service **out);
void live_service_free(struct live_service *s); /* NULL is fine */
struct prog_watch *live_service_programs(struct live_service *s);

/* Subscriptions by the query of their URI; each begin needs an end. */
MUST_USE int live_service_subscribe(struct live_service *s, const char *query, struct diag *d);
void live_service_unsubscribe(struct live_service *s, const char *query);
/* The aggregates count while they are held; each hold needs a drop. Without a feed there is nothing to do. */
MUST_USE int live_service_hold_stats(struct live_service *s, struct diag *d);
void live_service_drop_stats(struct live_service *s);
/* The number of the newest event that it wants. */
uint64_t live_service_newest(struct live_service *s, const char *query);

/*
 * Who began what goes on until it is stopped. What a client began ends with it, unless another one began it, too. Bits: analyzers
 * by enum analyzer_id, and these.
 */
enum {
	BEGUN_TRACKING = 1 << 24, /* control_event_tracking */
	BEGUN_PROGRAMS = 1 << 25, /* control_stats_collection */
	BEGUN_PROFILE = 1 << 26,
	BEGUN_LIVE = 1 << 27, /* the tool live */
};
void live_service_began(struct live_service *s, uint64_t owner, uint32_t things);
/* By whomever. */
void live_service_stopped(struct live_service *s, uint32_t things);
/* One client leaves them: those that are to be stopped, because no other one began them. */
uint32_t live_service_leave(struct live_service *s, uint64_t owner, uint32_t things);
bool live_service_has_begun(struct live_service *s, uint64_t owner);
bool live_service_is_on(struct live_service *s,
                        uint32_t things); /* some client began some of them */

struct cpu_times {
	struct sys_stats now, before; /* to be given back by cpu_times_done() */
	bool has_before;              /* else now counts since boot */
	uint64_t elapsed_ns;          /* between both */
};

/* Now, and what the last call got. */
MUST_USE int live_service_cpu_times(struct live_service *s, struct cpu_times *out, struct diag *d);
void cpu_times_done(struct cpu_times *t);
