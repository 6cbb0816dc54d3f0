/*
 * serve/sums — everything that the daemon has counted since it started, whatever it is counted from.
 *
 * A source (serve/source_live, serve/source_replay) adds what came since the last time; a page (serve/metrics_page) shows it. All sums
 * only grow, also when a source is replaced. What no source gives is not there: has_group says which groups are.
 * One thread. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/hist.h"
#include "serve/metric.h"
#include "serve/seats.h"
#include "stat/tally/tally.h"

enum dist_id {
	DIST_DELAY_WOKEN,
	DIST_DELAY_PREEMPTED,
	DIST_DELAY_NEW,
	DIST_WAKING,
	DIST_SLICE_SLEPT,
	DIST_SLICE_PREEMPTED,
	DIST_SLEEP_S,
	DIST_SLEEP_D,
	DIST_SLEEP_OTHER,
	DIST_CPU_IDLE,
	DIST_DSQ_LOCAL,
	DIST_DSQ_GLOBAL,
	DIST_DSQ_USER,
	DISTS,
};

/* A single long duration, and whose it was. */
struct sums_peak {
	uint64_t ns;    /* 0 = none */
	uint64_t at_ns; /* when it ended, in the clock of the source */
	uint32_t tid;
	uint32_t cpu;
	char comm[STAT_COMM_LEN];
};

struct dist {
	struct hist hist;
	struct sums_peak recent;  /* of this window */
	struct sums_peak before;  /* of the one before */
	struct sums_peak longest; /* since a Parquet file had it last */
};

struct dist_def {
	const char *label; /* NULL = none */
	const char *value;
	enum metric_id metric;
	uint32_t group; /* bit of enum stat_group */
};

extern const struct dist_def dist_defs[DISTS];

/* A counter with a name. */
struct sums_count {
	const char *name; /* of a table in code, or of a recording that stays open */
	uint64_t before;  /* of sources that were replaced */
	uint64_t now;     /* of this one */
};

#define SUMS_COUNTS_MAX 64U
#define SUMS_PAIRS_MAX  4096U

struct sums_counts {
	size_t nr;
	struct sums_count items[SUMS_COUNTS_MAX];
};

/* Culprits that are no cgroup. */
enum blame_other {
	BLAME_THROTTLED,
	BLAME_INTERRUPTS,
	BLAME_STOLEN,
	BLAME_IDLE,
	BLAME_QUEUE,
	BLAME_WAKING,
	BLAME_UNKNOWN,
	BLAME_OTHERS,
};
#define BLAME_SPECIAL 0x80000000U /* a culprit is this and an enum blame_other, or a seat */

struct sums_pair {
	uint32_t victim;  /* a seat */
	uint32_t culprit; /* a seat, or BLAME_SPECIAL and more */
	uint64_t ns;
	uint64_t written_ns; /* what Parquet files have of it */
};

struct sums_blame {
	bool is_on;
	size_t nr;
	struct sums_pair *pairs; /* SUMS_PAIRS_MAX */
	uint64_t merged_ns;
	uint64_t covered_ns;
	uint64_t gone_ns; /* of pairs that were forgotten, and no Parquet file has */
};

struct sums_scx {
	bool is_known;
	bool is_enabled;
	char scheduler[128];
	int64_t nr_enables;  /* -1 = unknown */
	int64_t nr_rejected; /* -1 = unknown */
};

/* Of the Parquet files, by table. */
struct sums_columns {
	bool is_on;
	struct sums_counts files, failures;
	uint64_t written_unix_ns; /* up to when latency_hist is in files; 0 = none yet */
};

struct sums {
	uint32_t groups; /* bits of enum stat_group that are, or were, counted */
	struct dist dists[DISTS];
	struct tally_depth depth;
	uint64_t migrations, migrations_llc, migrations_node;
	struct seats *cgroups;
	struct sums_counts events;
	struct sums_counts lost;
	struct sums_blame blame;
	bool has_wasted;
	uint64_t wasted_ns;       /* tasks waited while a CPU was idle that they may use */
	bool has_dumps;           /* there is a flight recorder */
	struct sums_counts dumps; /* by trigger */
	uint64_t nr_dumps_kept;
	struct sums_columns columns;
	struct sums_scx scx;
	uint64_t window_ns; /* where the window of peaks begins */
	uint64_t nr_reloads;
	uint64_t unmeasured_ns;
	bool is_replay;
	uint64_t position_ns; /* of a replay */
};

MUST_USE int sums_new(uint32_t top, struct sums **out); /* -ENOMEM */
void sums_free(struct sums *s);                         /* NULL is fine */
DEFINE_SCOPED(sums, sums_free)

void sums_add(struct sums *s, enum dist_id dist, const struct hist *grown);
void sums_peak(struct sums *s, enum dist_id dist, const struct sums_peak *peak);
/* Peaks older than one to two minutes are forgotten; now_ns is of the source's clock. */
void sums_age(struct sums *s, uint64_t now_ns);
/* The longest of late; ns is 0 if there is none. */
const struct sums_peak *dist_peak(const struct dist *d);
/* A counter of the present source. What does not fit is left out. */
void counts_set(struct sums_counts *c, const char *name, uint64_t now);
/* The present source ends: the next one begins at 0. */
void counts_rebase(struct sums_counts *c);
/* seats: those of sums. */
void sums_blame_add(struct sums *s, uint32_t victim, uint32_t culprit, uint64_t ns);
/* A seat has been given to another cgroup: its pairs are gone. */
void sums_blame_forget(struct sums *s, uint32_t seat);
/* The name of a culprit, a cgroup or "(idle)" and such. */
const char *sums_culprit(const struct sums *s, uint32_t culprit);
