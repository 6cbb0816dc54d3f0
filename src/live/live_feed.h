/*
 * session/live_feed — live data while somebody needs it, and only then.
 *
 * Who needs something says which kinds of records: a running analyzer, a holder (until it lets go), a reader (for a while
 * after its last look). The stream out of the kernel has the union of those kinds; when the union changes, another one is
 * opened, and nothing is paired across the hole between them. While nobody needs anything no program is loaded, and the
 * feed's own thread sleeps. A stream that cannot be had is refused with the kernel's reason, and what was there goes on.
 *
 * All functions may be called on any thread. Those that need something wait until it flows. What the stream was turned into
 * is read between live_feed_lock() and live_feed_unlock(), which should be short: the stream waits meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "session/live_source.h"

struct analyzers;
struct event_buffer;
struct live;
struct live_feed;
struct tasks;
struct topology;

/* What the records are needed for, besides the analyzers. */
enum live_use {
	LIVE_USE_STATS = 1,  /* aggregates: they count from the moment when this begins */
	LIVE_USE_STREAM = 2, /* the records themselves */
};

struct live_feed_cfg {
	uint32_t tgid;                    /* records of this process only; 0 = all */
	uint64_t lease_ns;                /* how long a reader is remembered; 0 = 30 s */
	uint64_t first_look_ns;           /* what the first reader waits for; 0 = 200 ms */
	const struct live_source *source; /* instead of the kernel's; NULL = none */
	const struct topology *topology;  /* lent with a source; NULL = of this machine */
};

MUST_USE int live_feed_open(const struct live_feed_cfg *cfg, struct diag *d,
                            struct live_feed **out);
void live_feed_close(struct live_feed *f); /* NULL is fine; detaches */

/* Kinds, as bits, by the names of stream_type_name(), separated by commas; NULL or "" = the usual ones, "all" = all. */
MUST_USE int live_feed_kinds(const char *types, struct diag *d, uint64_t *out);
uint64_t live_feed_stats_kinds(void);
uint64_t live_feed_all_kinds(void);

/* Until live_feed_drop(). */
MUST_USE int live_feed_hold(struct live_feed *f, unsigned int uses, uint64_t kinds, struct diag *d,
                            uint32_t *out);
void live_feed_drop(struct live_feed *f, uint32_t holder);
/* For lease_ns from now on; the first one waits for first_look_ns of records. */
MUST_USE int live_feed_borrow(struct live_feed *f, unsigned int uses, uint64_t kinds,
                              struct diag *d);
/* Everything, until it is switched off. */
MUST_USE int live_feed_track(struct live_feed *f, bool is_on, struct diag *d);

/* Sets of analyzers, as in model/analyzers. */
MUST_USE int live_feed_start(struct live_feed *f, uint32_t set, struct diag *d);
void live_feed_stop(struct live_feed *f, uint32_t set);
void live_feed_reset(struct live_feed *f, uint32_t set);

struct live_view {
	const struct live *live;
	const struct analyzers *analyzers;
	const struct event_buffer *stream;
	const struct tasks *tasks;
};

/* Everything that the kernel had told by the time of the call is in there. */
struct live_view live_feed_lock(struct live_feed *f);
/* What is in there already: never waits for the stream. */
struct live_view live_feed_lock_now(struct live_feed *f);
void live_feed_unlock(struct live_feed *f);

struct live_feed_status {
	bool is_attached;
	bool is_tracking;
	unsigned int uses;    /* bits of enum live_use that somebody needs */
	uint32_t nr_holders;  /* tracking left out */
	uint32_t nr_readers;  /* with a lease */
	uint32_t running;     /* analyzers */
	uint64_t kinds;       /* of the stream, those that there are */
	uint64_t missing;     /* asked for, but this kernel has none */
	uint64_t nr_streams;  /* opened so far */
	uint64_t hole_ns;     /* between streams that followed one another */
	uint64_t attached_ns; /* how long in all */
};

void live_feed_status(struct live_feed *f, struct live_feed_status *out);
