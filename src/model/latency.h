/*
 * model/latency — how long tasks wait, by what they wait for: all together, by CPU and by task.
 *
 *   wakeup to run     from the waking (the wakeup where no waking was recorded) of a woken or new task to its
 *                     switch-in
 *   dispatch queue    from the last insertion into a dispatch queue to the switch-in
 *   CPU migration     from the last migration of a waiting task to its switch-in
 *   scheduling delay  from becoming runnable (wakeup, first wakeup, preemption) to the switch-in
 *
 * Waits come from model/pair, dispatch queues from the records themselves, which must go through model/pair
 * first. Counts, extremes, means and percentiles are of all samples; the last LATENCY_RECENT of each kind are
 * kept as they are, for histograms over any buckets. Bounded: of CPUs and tasks beyond max_rows the one that
 * was silent for longest is forgotten. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/hist.h"
#include "model/live.h"
#include "model/small_hist.h"

#define LATENCY_RECENT      16384U
#define LATENCY_MAX_BUCKETS 64U

struct latency;

enum latency_kind {
	LATENCY_WAKEUP_TO_RUN,
	LATENCY_DSQ_WAIT,
	LATENCY_CPU_MIGRATION,
	LATENCY_SCHEDULING_DELAY,
	LATENCY_KINDS
};

enum latency_by { LATENCY_BY_CPU, LATENCY_BY_TASK, LATENCY_BYS };

struct latency_row {
	uint32_t id; /* CPU, or tid */
	uint32_t comm_id;
	struct live_latency time;
	struct small_hist hist;
};

struct latency_cfg {
	const struct tasks *tasks; /* lent */
	uint32_t max_rows;         /* per kind, CPUs and tasks each; 0 picks 1024 */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int latency_new(const struct latency_cfg *cfg, struct latency **out);
void latency_free(struct latency *l); /* NULL is fine */
struct pair_out latency_out(struct latency *l);
struct ev_sink latency_sink(struct latency *l);
void latency_reset(struct latency *l);

const char *latency_name(enum latency_kind kind); /* "WakeupToRun", ... */
const struct hist *latency_all(const struct latency *l, enum latency_kind kind);
uint32_t latency_nr(const struct latency *l, enum latency_kind kind, enum latency_by by);
/* NULL beyond the last, and for a row that is nobody's now. */
const struct latency_row *latency_at(const struct latency *l, enum latency_kind kind,
                                     enum latency_by by, uint32_t i);
uint64_t latency_percentile_ns(const struct latency_row *r, uint32_t p10000);
uint64_t latency_forgotten(const struct latency *l);

/*
 * Recent samples by buckets: out[0] counts those below bounds_ns[0], out[i] those from bounds_ns[i - 1] on and
 * below bounds_ns[i], out[nr] the rest. How many samples there are, or -EINVAL unless there are 1 to
 * LATENCY_MAX_BUCKETS bounds, ascending.
 */
MUST_USE int64_t latency_histogram(const struct latency *l, enum latency_kind kind,
                                   const uint64_t *bounds_ns, uint32_t nr, uint64_t *out);
