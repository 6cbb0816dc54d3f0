/* stat/stat_priv — what the two halves of a stat session share; not for others. */
#pragma once

#include "collect/bpf_cost.h"
#include "collect/stat/stat_collector.h"
#include "stat/stat_counters.h"
#include "stat/stat_schedstat.h"
#include "stat/stat_session.h"
#include "stat/tally/dsq_tally.h"
#include "stat/tally/outliers.h"
#include "stat/tally/tally.h"
#include "sys/online_watch.h"
#include "sys/scx/scx_state.h"

#define STAT_NOTES_MAX    8
#define STAT_NOTE_LEN     600
#define STAT_RING_BYTES   (16U * 1024 * 1024)
#define STAT_RING_SMALL   (4U * 1024 * 1024) /* for a daemon, which is woken when a quarter is full */
#define STAT_OUTLIERS_MAX 1024               /* per interval; the longest are kept */

struct topology;
struct watch;

#define STAT_OPEN_WAITS_MAX 5 /* rows that are listed */

struct stat_session {
	struct stat_session_cfg cfg;
	uint32_t groups; /* those that are really there */
	uint32_t nr_cpus;
	enum tally_by kept_by;
	struct topology *machine;
	struct topology *placement; /* NULL unless a file was given */
	struct stat_cpu_place *places;
	uint32_t *possible; /* CPUs that the kernel may have, ascending */
	uint32_t nr_possible;
	struct stat_filter *filter;
	struct stat_counters *counters;          /* NULL without the perf group */
	struct online_watch online;              /* for the counters */
	struct stat_schedstat_source *schedstat; /* NULL without that group */
	struct watch *watch;
	struct stat_collector *collector; /* NULL if no group needs the kernel's events */
	struct tally *tally;
	struct dsq_tally *dsqs; /* NULL without the group dsq */
	struct bpf_cost cost;
	size_t nr_notes;
	char notes[STAT_NOTES_MAX][STAT_NOTE_LEN];

	/* While running; times are of the boot clock. */
	uint64_t start_ns;
	double start_cpu_s;
	uint64_t interval_start_ns;
	uint64_t tick_start_ns;
	uint64_t drained_ns;
	size_t nr_rows_kept;      /* when gone ones were last forgotten */
	struct outlier *outliers; /* of this interval */
	size_t nr_outliers;
	uint64_t nr_outliers_seen;

	/* Lists of pointers for the report, kept from one to the next. */
	const struct outlier **outlier_list;
	const struct tally_row **rows;
	size_t nr_rows, rows_capacity;
	const struct tally_cpu **cpus;
	const struct dsq_row **dsq_list;
	size_t dsq_capacity;
	struct scx_state scx; /* as of the last drain, with the group dsq */
	struct stat_open_wait open_waits[STAT_OPEN_WAITS_MAX];
};

/* The longest waits of rows that last at the last drain. */
void stat_open_waits(struct stat_session *s, struct stat_open_waits *out);
const struct topology *stat_placement(const struct stat_session *s);
MUST_USE int stat_push_cgroups(struct stat_session *s, struct diag *d);
