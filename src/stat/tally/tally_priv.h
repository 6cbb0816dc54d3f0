/*
 * stat/tally/tally_priv — what the files of the tally share; private to them.
 *
 * seen: what one histogram of one task or CPU held when it came last (tally_seen.c).
 * task: all that was seen of one task under one identity (tally_task.c).
 * row:  what people read (tally_row.c).
 */
#pragma once

#include "stat/tally/tally.h"

struct arena;
struct map;

#define TALLY_NONE       UINT32_MAX                /* no index */
#define SEEN_HIST_BLOCKS ((1U << HIST_BLOCKS) - 1) /* all of a histogram */

struct seen_extremes {
	uint64_t min_ns;
	uint64_t max_ns;
	uint32_t epoch; /* 0 = none yet */
};

/* Slots outside [first, first + nr) were 0: few tasks use more than a part of a histogram. */
struct seen {
	uint64_t sum;
	struct seen_extremes extremes[2];
	uint32_t first;
	uint32_t nr;
	uint32_t slots[];
};

/* How far counters are ahead of what was seen. Slots are set from first to last only. */
struct slot_growth {
	uint64_t count; /* of all slots; the other fields have no meaning when it is 0 */
	uint32_t first; /* the lowest slot that grew */
	uint32_t last;
	uint32_t slots[HIST_SLOTS];
};

/*
 * Compares the slots of the blocks in use (abi_hist.blocks), and makes the room that the functions below
 * need; -ENOMEM changes nothing. No bit may be set for a block that does not exist.
 */
MUST_USE int seen_compare(struct seen **s, const uint32_t *now, uint32_t blocks,
                          struct slot_growth *out);
/* These count what has grown and note it as seen; g->count > 0. */
void seen_take_hist(struct seen *s, const struct abi_hist *now, const struct slot_growth *g,
                    struct hist *const into[TALLY_VIEWS]);
void seen_take_depth(struct seen *s, const struct stat_depth *now, const struct slot_growth *g,
                     struct tally_depth *const into[TALLY_VIEWS]);
/* When no slot grew: takes what earlier copies lacked. Views may be NULL. */
void seen_take_late_hist(struct seen *s, const struct abi_hist *now, bool is_last,
                         struct hist *const into[TALLY_VIEWS]);
void seen_take_late_depth(struct seen *s, const struct stat_depth *now,
                          struct tally_depth *const into[TALLY_VIEWS]);
/* How much a 64-bit counter grew since *seen, and notes it; 0 for one that went backwards. */
uint64_t seen_advance(uint64_t *seen, uint64_t now);

/* Keys are compared as bytes: no padding. */
struct tally_task_key {
	uint64_t start_ns;
	uint32_t tid;
	uint32_t generation;
};

/* A task has three storages in the kernel, each with its own last record. */
enum { TASK_PART_MAIN = 1, TASK_PART_WAKING = 2, TASK_PART_QUEUED = 4 };

#define MEMBERS_ANY TALLY_METRICS /* bit after those of the metrics: any sample at all */

struct tally_task {
	struct tally_task_key key;
	uint32_t row_idx;     /* TALLY_NONE: not wanted */
	uint32_t next;        /* in the list of touched ones, or of free ones */
	uint8_t live_parts;   /* more records will come */
	uint8_t ended_parts;  /* the last record came */
	bool is_touched;      /* in the list of touched ones */
	bool has_new;         /* its wait as a new task is counted */
	uint16_t counted;     /* bit per metric and MEMBERS_ANY: counted among the row's members */
	uint16_t counted_now; /* the same for the interval interval_nr */
	uint32_t interval_nr;
	struct seen *hists[STAT_METRICS];
	struct seen *depth;
	uint64_t run_ns;
	struct tally_times times;
	uint64_t nr_gaps;
	uint64_t migrations[3];
	uint64_t counters[STAT_COUNTERS];
	uint64_t counter_slices;
	struct tally_runs runs;
	/* Growth since the last tick. */
	uint64_t tick_migrations[3];
	uint64_t tick_counters[STAT_COUNTERS];
};

/* Which fields are set depends on tally_by; the others are 0. */
struct tally_key {
	uint64_t number;
	uint64_t cgroup_id;
	uint32_t tid;
	uint32_t pad_;
	char name[STAT_COMM_LEN];
};

struct tally_entry {
	struct tally_row pub;
	struct tally_key key;
	struct tally_entry *next_touched;
	struct tally_entry *next_open;
	bool is_touched; /* its interval view is not empty */
	bool is_open;    /* a slice was open at the last drain */
};

struct cpu_state {
	struct tally_cpu pub;
	struct seen *delay;
	struct seen *idle;
};

struct tally {
	struct tally_cfg cfg;
	struct tally_loss loss;

	struct tally_entry **rows;
	uint32_t nr_rows;
	uint32_t rows_capacity;
	struct map *row_of;              /* struct tally_key -> index of rows */
	uint32_t other_row;              /* TALLY_NONE until there is one */
	struct tally_entry *touched_row; /* since the interval began; a list */
	struct tally_entry *open_row;    /* a list, too */

	struct tally_task *tasks;
	uint32_t nr_tasks; /* free ones included */
	uint32_t tasks_capacity;
	struct map *task_of; /* struct tally_task_key -> index of tasks */
	uint32_t free_task;
	uint32_t touched_task;
	uint32_t last_task; /* whose record came last */

	uint32_t interval_nr;
	struct arena *interval; /* histograms of the interval views */
	struct cpu_state *cpus;

	/* A record that does not lie at a multiple of 8 is copied here. */
	union {
		struct stat_waking waking;
		struct stat_queued queued;
		struct {
			struct stat_task task;
			struct abi_hist hists[STAT_STORED_METRICS];
		} task;
	} aligned;
	struct slot_growth growth;
};

/* The row of an identity, created if needed. */
MUST_USE int tally_row_of(struct tally *t, const struct stat_id *id, uint32_t *out);
void tally_row_free(struct tally_entry *row);
/* The histograms of both views, created if needed. */
MUST_USE int tally_row_hists(struct tally *t, struct tally_entry *row, uint32_t metric,
                             struct hist *out[TALLY_VIEWS]);
MUST_USE int tally_row_depths(struct tally *t, struct tally_entry *row,
                              struct tally_depth *out[TALLY_VIEWS]);
/* Notes that the task has samples of the metric, or MEMBERS_ANY, in both views. */
void tally_row_note(struct tally *t, struct tally_task *task, uint32_t metric);
void tally_row_touch(struct tally *t,
                     struct tally_entry *row); /* before its interval view is written */
void tally_row_clear_interval(struct tally *t);
/* One sample for each of nr rates, from growth within tick_ns; returns how many found no memory. */
uint64_t tally_row_rates(struct rates **rates, const uint64_t *grown, uint32_t nr,
                         uint64_t tick_ns);

/* Sound records only. */
MUST_USE int tally_task_take(struct tally *t, const struct stat_task *now, uint64_t drained_ns);
MUST_USE int tally_task_take_waking(struct tally *t, const struct stat_waking *now);
MUST_USE int tally_task_take_queued(struct tally *t, const struct stat_queued *now);
void tally_task_done(struct tally_task *task); /* frees what it points to */

_Static_assert(sizeof(struct tally_task_key) == 16, "no padding");
_Static_assert(sizeof(struct tally_key) == 40, "no padding");
_Static_assert(MEMBERS_ANY < 16, "fits into tally_task.counted");
