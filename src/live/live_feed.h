/*
 * live/live_feed — live data only while it is needed.
 *
 * Who needs something says which kinds of records: a running analyzer, a holder (until it lets go), a reader (for a while
 * after its last read). The stream out of the kernel has the union of those kinds; when the union changes, another one is
 * opened, and nothing is paired across the hole between them. While nothing is needed no program is loaded, and the
 * feed's own thread sleeps. A stream that cannot be opened is refused with the kernel's reason, and what was there goes on.
 *
 * All functions may be called on any thread. Those that need something wait until it flows. Analyses run over a shot
 * (live_feed_observe()), beside the stream. What is not in the timeline is read between live_feed_lock() and
 * live_feed_unlock(), which should be short: the stream waits meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "live/live_analyzers.h"
#include "live/live_events.h"
#include "live/live_source.h"
#include "model/trigger_eval.h"

struct event_rates;
struct history;
struct live_feed;
struct live_shot;
struct tasks;
struct topology;

/* The timeline keeps so much, unless memory is short. */
#define LIVE_WINDOW_NS 30000000000ULL

/* What the records are needed for, besides the analyzers. */
enum live_use {
	LIVE_USE_STATS = 1,  /* totals: they count from the moment when this begins */
	LIVE_USE_STREAM = 2, /* the records themselves */
	LIVE_USE_WHY = 4,    /* what explains waits and sleeps, from then on */
};

struct live_feed_cfg {
	uint32_t tgid;                    /* records of this process only; 0 = all */
	uint64_t lease_ns;                /* how long a reader is remembered; 0 = 30 s */
	uint64_t first_batch_ns;          /* what the first reader waits for; 0 = 200 ms */
	const struct live_source *source; /* instead of the kernel's; NULL = none */
	const struct topology *topology;  /* lent with a source; NULL = of this machine */
};

MUST_USE int live_feed_open(const struct live_feed_cfg *cfg, struct diag *d,
                            struct live_feed **out);
void live_feed_close(struct live_feed *f); /* NULL is fine; detaches */

/* Kinds, as bits, by the names of stream_type_name(), separated by commas; NULL or "" = the usual ones, "all" = all. */
MUST_USE int live_feed_kinds(const char *types, struct diag *d, uint64_t *out);
uint64_t live_feed_stats_kinds(void);
uint64_t live_feed_why_kinds(void);
uint64_t live_feed_all_kinds(void);

/* Until live_feed_drop(). */
MUST_USE int live_feed_hold(struct live_feed *f, unsigned int uses, uint64_t kinds, struct diag *d,
                            uint32_t *out);
void live_feed_drop(struct live_feed *f, uint32_t holder);
/* For lease_ns from now on; the first one waits for first_look_ns of records. */
MUST_USE int live_feed_borrow(struct live_feed *f, unsigned int uses, uint64_t kinds,
                              struct diag *d);
/* The same for at least so long, or until it is returned; also where others hold it. */
MUST_USE int live_feed_lease(struct live_feed *f, unsigned int uses, uint64_t kinds, uint64_t ns,
                             struct diag *d);
void live_feed_return(struct live_feed *f, unsigned int uses, uint64_t kinds);
/* Everything, until it is switched off. */
MUST_USE int live_feed_track(struct live_feed *f, bool is_on, struct diag *d);

/* Sets of analyzers, by live/live_analyzers. A start begins anew; a stop keeps what was observed. */
MUST_USE int live_feed_start(struct live_feed *f, uint32_t set, struct diag *d);
void live_feed_stop(struct live_feed *f, uint32_t set);
void live_feed_reset(struct live_feed *f, uint32_t set);

/* What an answer is about: the window, or less where it began or was reset later, or where memory was short. */
struct live_observed {
	bool is_running;
	bool was_started; /* once */
	bool has_data;    /* since the last reset */
	bool is_released; /* what was kept at its stop had to make room */
	bool is_cut;      /* the cap made from_ns later */
	uint64_t from_ns, to_ns;
	uint64_t records;  /* since it was started or reset, of kinds that it needs */
	uint64_t lost;     /* of those, reported lost */
	uint64_t one_in;   /* one wakeup in so many is recorded; 1 = all */
	uint64_t cut_rows; /* that the cap has ever cut */
};

/*
 * All that the kernel had reported by the time of the call, as a source for analyses, to be put back; NULL for an
 * analyzer that has its own state, or was never started. The stream waits only while it is made.
 */
MUST_USE int live_feed_observe(struct live_feed *f, enum analyzer_id id, struct diag *d,
                               struct live_shot **shot, struct live_observed *out);
/* The same for totals, or for what explains waits: one of these two uses. */
MUST_USE int live_feed_look(struct live_feed *f, enum live_use use, struct diag *d,
                            struct live_shot **shot, struct live_observed *out);
/* Records of those kinds that have come so far: a number that changes when they do. Never waits for the stream. */
uint64_t live_feed_seen(struct live_feed *f, uint64_t kinds);

/* The last records: all that came before the call, or, if !is_fresh, those that are in there already; that never waits. */
MUST_USE int live_feed_events(struct live_feed *f, bool is_fresh, struct diag *d,
                              struct live_events *out);
/* Those that the analyzer event_buffer has seen, or had when it was stopped. */
MUST_USE int live_feed_buffer(struct live_feed *f, struct diag *d, struct live_events *out);

/* What is no part of the timeline. */
struct live_view {
	const struct history *history; /* NULL before its first start, as the next one */
	const struct event_rates *rates;
	const struct tasks *tasks;
};

/* Everything that the kernel had reported by the time of the call is in there. */
struct live_view live_feed_lock(struct live_feed *f);
/* What is in there already: never waits for the stream. */
struct live_view live_feed_lock_now(struct live_feed *f);
void live_feed_unlock(struct live_feed *f);

/*
 * A condition, held until it is dropped. fire() is called on the feed's thread, which waits meanwhile, and must not call
 * the feed. -ENOTSUP where this kernel cannot tell, or the feed does not watch such things; -EUSERS if there are too many.
 */
MUST_USE int live_feed_watch(struct live_feed *f, const struct trigger *t, trigger_fire_fn *fire,
                             void *ctx, struct diag *d, uint32_t *out);
/* After it no fire() is under way. */
void live_feed_unwatch(struct live_feed *f, uint32_t watch);

struct live_feed_status {
	bool is_attached;
	bool is_tracking;
	unsigned int uses;    /* bits of enum live_use that are needed */
	uint32_t nr_holders;  /* tracking left out */
	uint32_t nr_readers;  /* with a lease */
	uint32_t running;     /* analyzers */
	uint32_t started;     /* analyzers that ran once */
	uint64_t kinds;       /* of the stream, those that there are */
	uint64_t missing;     /* asked for, but this kernel has none */
	uint64_t nr_streams;  /* opened so far */
	uint64_t hole_ns;     /* between streams that followed one another */
	uint64_t attached_ns; /* how long in all */
	uint64_t lost;        /* records that were reported lost */
	uint64_t cut_rows;    /* that the cap on the timeline has cut */
};

void live_feed_status(struct live_feed *f, struct live_feed_status *out);
