/*
 * stat/report/stat_build — what the parts of stat_report share while they build it; not for others.
 *
 * A table is made in three steps: each part lists candidates (an entry with what it is sorted by),
 * stat_rank() orders them and keeps those to be shown, and the part fills their numbers in. Functions
 * return 0 or -ENOMEM.
 */
#pragma once

#include "base/arena.h"
#include "stat/report/stat_report.h"

/* Rows of the tally that are shown as one. */
struct stat_entry {
	const struct tally_row *const *rows;
	size_t nr_rows;
	struct stat_identity identity;
};

struct stat_entries {
	struct stat_entry *items;
	size_t nr;
};

struct stat_cand {
	const struct stat_entry *entry;
	double key;
	uint64_t count;
	uint32_t band; /* of the set of bands */
};

struct stat_build {
	const struct stat_report_in *in;
	struct arena *mem;
	struct stat_entries entries; /* behind the tables of tasks */
	struct stat_entries counted; /* behind those of counters: no latency filter */
	struct stat_cand *cands;     /* room for all of either */
	struct stat_report *out;
};

#define STAT_BANDS 5

struct stat_band_set {
	struct {
		const char *label;
		const char *slug;
		uint64_t limit; /* first value beyond the band */
	} bands[STAT_BANDS];
	bool is_highest_first;
};

extern const struct stat_band_set stat_latency_bands; /* limits in ns */
extern const struct stat_band_set stat_idle_bands;    /* ns */
extern const struct stat_band_set stat_cycle_bands;   /* cycles per second */

/* stat_entries.c: groups the rows by what they are shown by, with or without the latency filter. */
MUST_USE int stat_entries_build(struct stat_build *b, bool is_filtered, struct stat_entries *out);
bool stat_is_below(const struct hist *const *parts, size_t nr, uint64_t limit_us);

/* stat_rank.c */
uint32_t stat_band_of(const struct stat_band_set *set, uint64_t value);
double stat_hist_key(const struct hist *h, enum stat_sort sort);
/* Of waits, sleeps or slices. */
struct stat_cand stat_cand_of(const struct stat_entry *e, const struct hist *h,
                              enum stat_sort sort);
void stat_values_of_depth(const struct tally_depth *depth, struct stat_values *out);
double stat_values_key(const struct stat_values *values, enum stat_sort sort);
/* How many rows of the table, or of each of its bands, are shown. */
size_t stat_rank_limit(const struct stat_report_in *in, const struct stat_table *t);
/* Sorts the candidates and keeps the first of them; rows get task and band. set may be NULL. */
MUST_USE int stat_rank(struct stat_build *b, struct stat_table *t, size_t nr_cands,
                       const struct stat_band_set *set);
/* The same of all entries with durations, which add() merges, by the bands of latencies; with bins where they are wanted. */
typedef void stat_hist_fn(const struct stat_entry *e, enum tally_view_kind view, const void *ctx,
                          struct hist *into);
MUST_USE int stat_rank_hists(struct stat_build *b, struct stat_table *t, stat_hist_fn *add,
                             const void *ctx);
/* Bands that hold something, in the order of showing; slot[] says where a band of the set went. */
MUST_USE int stat_bands_build(struct arena *mem, const struct stat_band_set *set,
                              const size_t *nr_total, struct stat_table *t, uint32_t *slot);

/* stat_bins.c */
void stat_dist_of(const struct hist *h, struct stat_dist *out);
MUST_USE int stat_bins_of_hist(struct arena *mem, const struct hist *h, struct stat_bins *out);
MUST_USE int stat_bins_of_depth(struct arena *mem, const uint64_t *slots, struct stat_bins *out);
MUST_USE int stat_bins_of_rates(struct arena *mem, const struct rates *r, struct stat_bins *out);

/* One function per family of tables; each fills a table whose id and name are set. */
MUST_USE int stat_build_durations(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_slices(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_depth(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_migrations(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_dsqs(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_dsq_tasks(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_counter(struct stat_build *b, struct stat_table *t,
                                const struct stat_counter_in *counter);
MUST_USE int stat_build_cpus(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_ipc(struct stat_build *b, struct stat_table *t);
MUST_USE int stat_build_schedstat(struct stat_build *b, struct stat_schedstat *out);
