/*
 * stat/tally/tally — adds up what the BPF side hands over into rows that people read.
 *
 * Input are the records of abi/stat.h, in any order and from any source; the kernel's counters only
 * grow, so the tally remembers what it has seen of each task and adds the difference. Each row has two
 * views: since the start, and since tally_begin_interval(). Samples stay with the identity (name,
 * cgroup) under which they were earned; a task that changes it continues in another row.
 *
 * Pure: no I/O, no clock, no printing. One thread. Input is untrusted: a malformed record is refused
 * with -EBADMSG and changes nothing; numbers of one record may be a sample apart, as they are copied
 * while the task runs. Memory is bounded by max_rows and by how many tasks live at a time: an identity
 * that does not fit is added to one row named "(other)" and counted. Without memory (-ENOMEM) the part
 * of a record that was not counted is not noted as seen, so that the task's next record makes up for it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/hist.h"
#include "base/rates.h"

struct tally;

enum tally_by { TALLY_BY_COMM, TALLY_BY_TID, TALLY_BY_TGID, TALLY_BY_CGROUP };

/* The kernel's metrics, and the wait of a new task, which is a single sample there. */
enum tally_metric { TALLY_DELAY_NEW = STAT_METRICS, TALLY_METRICS };

enum tally_view_kind { TALLY_TOTAL, TALLY_INTERVAL, TALLY_VIEWS };

#define TALLY_SHOWN_TIDS 3 /* the smallest thread ids of a row, for people */

struct tally_depth {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t max_at_ns;
	uint32_t max_cpu;
	uint64_t slots[STAT_DEPTH_SLOTS];
};

/* Which tasks a number covers: how many (once per identity), and the smallest ids. */
struct tally_members {
	uint32_t nr_tasks;
	uint32_t nr_shown;
	uint32_t tids[TALLY_SHOWN_TIDS]; /* ascending */
};

/* What tasks got from dispatch queues of sched_ext. */
struct tally_runs {
	uint64_t nr;                 /* that began from a queue */
	uint64_t nr_given, given_ns; /* slices with an end */
	uint64_t nr_used, used_ns;   /* runs that are over */
};

struct tally_times {
	uint64_t run_ns, wait_ns;
};

/* One view of a row. Pointers are NULL where nothing was counted. */
struct tally_view {
	struct tally_members members; /* tasks with any sample in this view */
	struct tally_members metric_members[TALLY_METRICS];
	struct hist *hist[TALLY_METRICS];
	struct tally_depth *depth;
	struct stat_migrations migrations;
	uint64_t counters[STAT_COUNTERS];
	uint64_t counter_slices;
	uint64_t run_ns; /* finished slices */
	/* Up to the drain, the slices and waits under way included; where the kernel side has them. */
	struct tally_times times;
	bool has_gap; /* part of the times is missing: switches were not seen */
	struct tally_runs runs;
};

/* A wait for a CPU that has not ended. */
struct tally_open_wait {
	uint64_t ns; /* so far; 0 = none */
	uint32_t tid;
	uint32_t cpu; /* in whose queue */
	bool is_throttled;
	char comm[STAT_COMM_LEN]; /* of the thread */
};

struct tally_row {
	char comm[STAT_COMM_LEN];    /* of the thread; by tgid: of the process */
	char process[STAT_COMM_LEN]; /* the group leader's name */
	uint32_t tid;                /* meaningful by tid */
	uint32_t tgid;               /* by tid and tgid */
	uint64_t cgroup_id;          /* by tid, tgid and cgroup */
	struct tally_view view[TALLY_VIEWS];
	/* One sample per task and second with at least one migration: how many, all since the start. */
	struct rates *migration_rates; /* NULL, or three: all, cross-LLC, cross-node */
	struct rates *counter_rates;   /* NULL, or STAT_COUNTERS: events per second */
	uint64_t open_slice_ns;        /* longest slice still running at the last drain; 0 = none */
	uint32_t open_slice_tid;
	struct tally_open_wait open_wait; /* longest at the last drain, of those that it has */
	bool has_dsq;
	uint64_t dsq_id; /* from which a task of it was dispatched, as of the last record */
};

struct tally_cpu {
	bool is_known;
	struct hist delay[TALLY_VIEWS]; /* all causes */
	struct hist idle[TALLY_VIEWS];
	uint64_t open_idle_ns; /* idle right now for so long; 0 = busy */
};

struct tally_loss {
	uint64_t other_rows;  /* identities that went into "(other)" */
	uint64_t bad_records; /* refused */
	uint64_t rates;       /* samples of rates that found no memory */
};

/* A sample that is longer than any other of its row and metric in this interval, and whose it is. */
struct tally_peak {
	const struct stat_id *id;
	uint32_t metric; /* enum stat_metric or tally_metric */
	uint64_t ns;
	uint64_t at_ns; /* when it ended, boot time; 0 = unknown */
	uint32_t cpu;
};

struct tally_cfg {
	enum tally_by by;
	uint32_t nr_cpus;  /* possible CPUs */
	uint32_t max_rows; /* 0 picks 65536 */
	/* Whether a task is wanted; asked once per identity. NULL takes all. */
	bool (*accept)(void *ctx, const struct stat_id *id);
	void *accept_ctx;
	/* Told of each new maximum, so also of those that a later one exceeds. NULL = not told. */
	void (*peak)(void *ctx, const struct tally_peak *peak);
	void *peak_ctx;
};

/* -EINVAL for a configuration out of range. */
MUST_USE int tally_new(const struct tally_cfg *cfg, struct tally **out);
void tally_free(struct tally *t); /* NULL is fine */

/* Before the records of a drain: what is still running follows from them. */
void tally_begin_drain(struct tally *t);

/* Starts a new interval: the interval views are empty from here on. The first begins by itself. */
void tally_begin_interval(struct tally *t);

/* One record of kind TASK, WAKING or QUEUED. drained_ns is the time of the drain, for slices still open. */
MUST_USE int tally_record(struct tally *t, const void *rec, size_t len, uint64_t drained_ns);

/* The counters of one CPU. One that is not below nr_cpus is ignored. */
void tally_cpu_update(struct tally *t, uint32_t cpu, const struct stat_cpu *now,
                      uint64_t drained_ns);

/*
 * Ends a tick of tick_ns: migrations and counters since the last one become per-second rates, unless it
 * was shorter than half a second. Tasks that are gone are let go here, so it must be called now and then.
 */
void tally_end_tick(struct tally *t, uint64_t tick_ns);

/*
 * Frees the rows, with all they have counted, that belong to no living task and are empty in this
 * interval: for callers that show intervals only. Otherwise rows by tid grow with every task that
 * ever lived. 0 or -ENOMEM, and then nothing has changed.
 */
MUST_USE int tally_forget_gone(struct tally *t);

/* Rows in no particular order; valid until the next call that adds. NULL beyond the last. */
const struct tally_row *tally_row_at(const struct tally *t, size_t i);
size_t tally_nr_rows(const struct tally *t);
/* Rows with anything in the interval, or with an open slice, up to room of them; returns how many there are. */
size_t tally_rows_touched(const struct tally *t, const struct tally_row **out, size_t room);
const struct tally_cpu *tally_cpu_at(const struct tally *t, uint32_t cpu);
void tally_loss(const struct tally *t, struct tally_loss *out);
