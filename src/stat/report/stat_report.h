/*
 * stat/report/stat_report — what `stat` shows, as plain data: which tables, in which order, which rows.
 *
 * Input is the tally's rows and what else the session measured; output are structs in the caller's
 * arena, valid as long as the arena and the strings of the input are. Pure: no I/O, no clock. Names
 * are copied as they came, so a renderer has to treat them as untrusted.
 *
 * Scheduling delay is the queue delay of all causes (woken, preempted, new), sleep that of all states;
 * each row keeps the parts. nr_tasks counts the threads of a row with any sample in the view. Tables
 * hold only the rows to be shown, sorted by the sort key, then by count, then by name and id; a band is
 * a class of severity by the 90th percentile. Rates of migrations and counters are samples of one
 * thread and second each, since the start in either view.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "stat/tally/dsq_tally.h"
#include "stat/tally/outliers.h"
#include "stat/tally/tally.h"

struct arena;
struct diag;

/* DEFAULT is the 90th percentile; for slices the share of preemptions, for cycles their rate. */
enum stat_sort {
	STAT_SORT_DEFAULT,
	STAT_SORT_P50,
	STAT_SORT_P90,
	STAT_SORT_P99,
	STAT_SORT_MAX,
	STAT_SORT_MEAN,
	STAT_SORT_COUNT,
	STAT_SORT_NAME, /* ascending; all others descending */
};
extern const char *const stat_sort_names[]; /* by enum stat_sort; NULL-terminated */

enum stat_ipc_counter {
	STAT_IPC_USER_CYCLES,
	STAT_IPC_KERNEL_CYCLES,
	STAT_IPC_USER_INSTRUCTIONS,
	STAT_IPC_KERNEL_INSTRUCTIONS,
	STAT_IPC_COUNTERS,
};

#define STAT_TOP_DEFAULT  10 /* rows per band, or per table without bands */
#define STAT_TOP_COUNTERS 20 /* rows per table of a counter, and of dispatch queues */
#define STAT_TOP_ALL      UINT32_MAX

struct stat_pair {
	const char *name;
	uint64_t value;
	bool is_part; /* reported, but not part of the total */
};

struct stat_pairs {
	const struct stat_pair *items;
	size_t nr;
};
uint64_t stat_pairs_total(const struct stat_pairs *pairs);

/* What happened in one scheduling domain level, over all CPUs. */
struct stat_domain {
	const char *name; /* "MC"; "domain0" where the kernel gives no name */
	struct stat_pairs fields;
};

/* Differences of the cpu lines of /proc/schedstat, summed over CPUs. */
struct stat_sched_cpu {
	uint64_t yld_count;
	uint64_t sched_count;
	uint64_t sched_goidle;
	uint64_t ttwu_count;
	uint64_t ttwu_local;
	uint64_t rq_cpu_time_ns;
	uint64_t run_delay_ns;
	uint64_t pcount;
	uint32_t absent; /* bit per field above, in their order: not known */
};

/* Over the time of the report's view. */
struct stat_schedstat_in {
	const struct stat_domain *domains;
	size_t nr_domains;
	struct stat_sched_cpu cpu;
};

struct stat_counter_in {
	const char *name;
	uint32_t index; /* among the counters of struct tally_view */
};

/* Long waits, and what had the CPU meanwhile. */
struct stat_outliers {
	bool is_asked;
	uint64_t threshold_us;
	uint64_t nr_total; /* seen in the view; there may be fewer items */
	const struct outlier *const *items;
	size_t nr;
};

/* Waits that have not ended are reported from here on. */
#define STAT_OPEN_WAIT_NS 100000000ULL

/* A wait that lasts, and what its CPU does at that moment. */
struct stat_open_wait {
	struct tally_open_wait wait;
	bool is_cpu_idle;
	uint32_t running_tid; /* on its CPU; 0 = unknown, or idle */
	char running_comm[STAT_COMM_LEN];
};

struct stat_open_waits {
	struct stat_open_wait *items; /* longest first; of each row the longest */
	size_t nr;
	size_t nr_more; /* rows that are not among them */
};

/* Whether sched_ext has a scheduler. Texts are lent. */
struct stat_scx {
	bool is_known;         /* it was measured */
	const char *state;     /* as the kernel says: "enabled", ... */
	const char *scheduler; /* NULL = none */
	bool has_enable_seq;
	uint64_t enable_seq; /* schedulers since boot */
};

/* What the measurement itself saw, lost and cost. */
struct stat_own {
	struct stat_pairs events; /* by kind */
	struct stat_pairs lost;   /* by kind, zeros included */
	uint64_t nr_scaled;       /* counter readings scaled because counters took turns */
	bool has_bpf_ns;
	double bpf_ns_per_event;
	bool has_cpu_pct;
	double cpu_pct; /* of one CPU: this process, in user space and in the kernel */
	bool has_bpf_pct;
	double bpf_pct; /* of one CPU: its BPF programs, in whatever task or interrupt they ran */
};

struct stat_report_in {
	const struct tally_row *const *rows;
	size_t nr_rows;
	const struct tally_cpu *const *cpus; /* by CPU number; NULL where nothing is known */
	uint32_t nr_cpus;
	enum tally_by by;      /* what the rows are kept by */
	enum tally_by display; /* what they are shown by: the same, or anything if kept by tid */
	uint32_t groups;       /* bits of enum stat_group */
	enum tally_view_kind view;
	enum stat_sort sort;
	uint32_t top;            /* 0 takes the defaults; STAT_TOP_ALL is no limit */
	bool is_detailed;        /* flat and unlimited */
	bool has_bins;           /* distributions are wanted */
	uint64_t min_latency_us; /* 0 = off; else rows have to be kept by tid */
	bool is_by_name;         /* names choose the rows; delays per CPU would be those of all */
	uint32_t nr_llcs;
	uint32_t nr_nodes;
	uint64_t time_ns;  /* boot time of the last drain */
	uint64_t wall_ns;  /* the same moment since 1970; 0 = unknown */
	double interval_s; /* real length of the last interval */
	double elapsed_s;  /* since the start */
	bool has_ipc;
	int ipc[STAT_IPC_COUNTERS]; /* indices among the counters, -1 = not counted */
	const struct stat_counter_in *counters;
	size_t nr_counters;
	const struct stat_schedstat_in *schedstat; /* NULL = unknown */
	const struct dsq_row *const *dsqs;
	size_t nr_dsqs;
	struct stat_scx scx;
	/* Path of a cgroup, or NULL; copied at once. May be NULL itself. */
	const char *(*cgroup_name)(void *ctx, uint64_t cgroup_id);
	void *cgroup_ctx;
	struct stat_outliers outliers;
	struct stat_open_waits open_waits; /* lent to the report, too */
	struct stat_own own;
};

/* A distribution of durations; nothing but count means anything while count is 0. */
struct stat_dist {
	uint64_t count;
	uint64_t min_ns;
	uint64_t p50_ns;
	uint64_t p90_ns;
	uint64_t p99_ns;
	uint64_t max_ns;
	uint64_t max_at_ns; /* 0 = unknown, and max_cpu with it */
	double mean_ns;
	uint32_t max_cpu;
};

/* A distribution of whole numbers, likewise. */
struct stat_values {
	uint64_t count; /* samples */
	uint64_t p50;
	uint64_t p90;
	uint64_t p99;
	uint64_t max;
	uint64_t max_at_ns;
	double mean;
	uint32_t max_cpu;
	bool has_total;
	uint64_t total; /* events in the view; may be above 0 with 0 samples of a rate */
};

/* The task or group of a row. Which ids are known depends on what rows are shown by. */
struct stat_identity {
	const char *name;   /* what people read first: comm, process or cgroup */
	const char *comm;   /* NULL by cgroup */
	const char *cgroup; /* path; NULL = unknown */
	bool has_tid;
	bool has_tgid;
	bool has_cgroup;
	uint32_t tid;
	uint32_t tgid;
	uint64_t cgroup_id;
	struct tally_members members;
};

#define STAT_MAX_PARTS 3

struct stat_part {
	const char *name; /* "woken" */
	uint32_t nr_tasks;
	struct stat_dist dist;
};

struct stat_durations {
	struct stat_dist all;
	uint32_t nr_parts; /* 0 where there is nothing to split */
	struct stat_part parts[STAT_MAX_PARTS];
};

struct stat_slices {
	struct stat_dist all;
	struct stat_dist voluntary;
	struct stat_dist involuntary;
	double preempt_pct; /* means nothing while all.count is 0 */
	uint64_t run_ns;
	uint64_t open_ns; /* longest slice that still runs; 0 = none */
	uint32_t open_tid;
};

/* A dispatch queue. */
struct stat_dsq_row {
	uint64_t id;
	const char *name; /* "global", "0x64": see analyze/dsq_name.h */
	uint64_t nr_now;
	uint64_t inserts, moved_in, moved_out, runs, endless;
	struct stat_dist latency;
	uint32_t latency_max_tid; /* 0 = unknown */
	struct stat_dist given;
	struct stat_dist used;
	struct stat_values depth;
	struct dsq_vtime vtime; /* count 0: not in the order of vtime */
};

/* What tasks got from queues. */
struct stat_dsq_task {
	struct stat_dist latency;
	bool has_dsq;
	uint64_t dsq_id; /* the last one */
	const char *dsq; /* its name */
	struct tally_runs runs;
};

struct stat_cpu_row {
	uint32_t cpu;
	struct stat_dist dist;
	uint64_t open_ns; /* idle now for so long; 0 = busy or unknown */
};

/* Rates are per second of the view. */
struct stat_ipc {
	bool has[STAT_IPC_COUNTERS];
	uint64_t total[STAT_IPC_COUNTERS];
	double per_s[STAT_IPC_COUNTERS];
	bool has_user_ipc;
	bool has_kernel_ipc;
	double user_ipc;
	double kernel_ipc;
};

enum stat_table_id {
	STAT_TABLE_LATENCY,
	STAT_TABLE_WAKING,
	STAT_TABLE_SLICE,
	STAT_TABLE_SLEEP,
	STAT_TABLE_DEPTH,
	STAT_TABLE_MIGRATION,
	STAT_TABLE_CROSS_LLC,
	STAT_TABLE_CROSS_NODE,
	STAT_TABLE_DSQ_TASKS,
	STAT_TABLE_DSQ,
	STAT_TABLE_SCHEDSTAT,
	STAT_TABLE_CPU_LATENCY,
	STAT_TABLE_CPU_IDLE,
	STAT_TABLE_IPC,
	STAT_TABLE_COUNTER, /* one table per counter */
	STAT_TABLES,
};

/* Which member of struct stat_row's union is in use. */
enum stat_kind {
	STAT_KIND_DURATIONS,
	STAT_KIND_SLICES,
	STAT_KIND_VALUES,
	STAT_KIND_CPU,
	STAT_KIND_IPC,
	STAT_KIND_DSQ_TASK,
	STAT_KIND_DSQ,       /* no identity */
	STAT_KIND_SCHEDSTAT, /* no rows; struct stat_schedstat instead */
};

#define STAT_NO_BAND UINT32_MAX

struct stat_row {
	struct stat_identity identity; /* not for CPUs and dispatch queues */
	uint32_t band;                 /* index into the table's bands, or STAT_NO_BAND */
	union {
		struct stat_durations durations;
		struct stat_slices slices;
		struct stat_values values;
		struct stat_cpu_row cpu;
		struct stat_ipc ipc;
		struct stat_dsq_task dsq_task;
		const struct stat_dsq_row *dsq;
	};
};

struct stat_band {
	const char *label; /* "Low (10-100μs)" */
	const char *slug;  /* "low" */
	size_t nr_total;
	size_t nr_rows;        /* of them in the table */
	struct stat_dist dist; /* tables of CPUs: all of the band merged */
};

struct stat_bin {
	uint64_t first; /* both included; ns for durations */
	uint64_t last;  /* UINT64_MAX: all larger values, too */
	uint64_t count;
};

struct stat_bins {
	const struct stat_bin *items; /* neighbours, from the smallest value on */
	uint32_t nr;
};

struct stat_table {
	enum stat_table_id id;
	enum stat_kind kind;
	const char *name;    /* "latency", "counter:cache-misses" */
	const char *title;   /* "Scheduling Delays (microseconds from sched_wakeup)" */
	const char *counter; /* its name in a table of a counter, else NULL */
	bool is_since_start; /* whatever the view is */
	bool is_flat;        /* rows are in one list; bands may still be known */
	struct stat_band *bands;
	uint32_t nr_bands; /* in the order of showing; empty ones are left out */
	struct stat_row *rows;
	size_t nr_rows;
	size_t nr_total;
	struct stat_bins bins;   /* of all rows, shown or not; empty unless asked for */
	struct stat_dist global; /* tables of CPUs */
	struct stat_ipc ipc;     /* STAT_TABLE_IPC: sum over all rows */
};

struct stat_schedstat {
	struct stat_pairs total; /* all domains, by name */
	const struct stat_domain *domains;
	size_t nr_domains;
	struct stat_sched_cpu cpu;
	bool has_mean_delay;
	double mean_delay_us; /* waits per time slice; absent without slices */
};

struct stat_report {
	enum tally_by display;
	enum tally_view_kind view;
	bool is_detailed;
	bool has_bins;
	bool has_no_cpus; /* delays per CPU: the kernel counts them without regard to names */
	bool is_nothing_matched; /* a table of tasks was asked for and no task is left */
	uint64_t time_ns;
	uint64_t wall_ns;
	double interval_s;
	double elapsed_s;
	struct stat_table *tables; /* in the order of showing */
	size_t nr_tables;
	struct stat_schedstat schedstat; /* with STAT_TABLE_SCHEDSTAT */
	struct stat_scx scx;             /* with STAT_TABLE_DSQ */
	struct stat_outliers outliers;   /* longest first, cut to the limit */
	struct stat_open_waits open_waits;
	struct stat_own own;
};

const char *stat_cause_name(enum stat_cause cause); /* NULL for what is none */

/* 0, -EINVAL on an impossible combination, -ENOMEM once the arena is full. */
MUST_USE int stat_report_build(const struct stat_report_in *in, struct arena *mem, struct diag *d,
                               struct stat_report *out);
