/*
 * machine/machine — the state of a machine at one moment and over the last interval: what a screen shows, as plain data.
 *
 * Made by machine/machine_source (live, from /proc, from a trace) and by tests; drawn by tui/. Arrays are lent until the
 * next one is made. What is unknown is NAN, -1, NULL or absent as said, never 0. Names are untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine_bandwidth;
struct machine_bpf;
struct machine_event;
struct machine_event_list;
struct machine_game;
struct machine_blame;
struct machine_lanes;
struct machine_ledger;
struct machine_play;
struct machine_power;
struct machine_profile;
struct machine_programs;
struct machine_scx;
struct machine_verdict;
struct machine_zoom;

#define MACHINE_HISTORY   256U /* intervals that are remembered */
#define MACHINE_HEAT_ROWS 24U  /* powers of two of microseconds: below 1 us, 1 to 2 us, ... */

/* What the screen shows; nothing else is measured. */
enum machine_need {
	MACHINE_CPUS = 1,
	MACHINE_TASKS = 2,
	MACHINE_LATENCY = 4, /* of tasks and CPUs: BPF */
	MACHINE_DSQS = 8,    /* and the rest of struct machine_scx */
	MACHINE_MEMORY = 16,
	MACHINE_NET = 32,
	MACHINE_BPF = 64,
	MACHINE_HEAT = 128,
	MACHINE_EVENT = 256, /* machine_wish.event */
	MACHINE_POWER = 512,
	MACHINE_BANDWIDTH = 1024,
	MACHINE_PROFILE = 2048,
	MACHINE_GAME = 4096,
	MACHINE_ZOOM = 8192, /* machine_wish.tid */
	MACHINE_UNCORE = 16384,
	MACHINE_PRESSURE = 32768,
	MACHINE_TRACEPOINTS = 1 << 16, /* machine.event_list: events of perf */
	MACHINE_FUNCTIONS = 1 << 17,   /* the same: functions of the kernel */
	/* Both are added by the command, which may run analyses. */
	MACHINE_BLAME = 1 << 18,
	MACHINE_LEDGER = 1 << 19, /* machine_request.tid */
	MACHINE_VERDICT = 1 << 20,
	MACHINE_LANES = 1 << 21,      /* as the first two */
	MACHINE_STANDSTILL = 1 << 22, /* pressure of machine.memory; MACHINE_MEMORY has it, too */
};

/* How a recording is to be played; a live machine does not care. */
struct machine_play_request {
	uint64_t interval_ns; /* 0 = a quarter of a second */
	int64_t steps;        /* intervals to go on, back if negative; beyond the ends is at them */
	double speed;         /* reported back, as is_paused is */
	bool is_paused;
};

/* Texts are lent until the next refresh. */
struct machine_request {
	uint32_t needs;      /* bits of enum machine_need */
	uint32_t tid;        /* the thread whose wakers and rivals are shown; 0 = none */
	const char *event;   /* counted per CPU: machine/event_word; NULL = none */
	uint32_t program;    /* BPF program shown in detail; 0 = none */
	bool is_program_hot; /* it is sampled */
	double sample_hz;    /* of the profile; 0 = the usual */
	uint32_t nr_columns; /* of lanes */
	uint32_t nr_clears;  /* when it grows, the profile restarts */
	struct machine_play_request play;
};

/* A distribution of the interval; all but count are unknown while count is 0. */
struct machine_dist {
	uint64_t count;
	uint64_t p50_ns, p99_ns, max_ns;
	double mean_ns;
	uint64_t p90_ns;
};

/*
 * What an interval measures of a task or a process, besides its times: distributions of durations that ended in it, and
 * counts of what happened in it, which rows show per second. docs/definitions.md (The screen) says what each is. The names
 * become members of struct machine_task, the numbers indexes of its arrays and of those of machine/machine_interval.
 */
#define INTERVAL_DIST_LIST(X)                                \
	X(LATENCY, latency)     /* of woken and new tasks */ \
	X(PREEMPTED, preempted) /* waits after preemption */ \
	X(SLICE, slice)                                      \
	X(SLEEP, sleep)
#define INTERVAL_COUNT_LIST(X)                             \
	X(VOLUNTARY, voluntary) /* slices that ended so */ \
	X(INVOLUNTARY, involuntary)                        \
	X(MIGRATIONS, migrations)                          \
	X(LLC_MIGRATIONS, llc_migrations)                  \
	X(NODE_MIGRATIONS, node_migrations)

enum interval_dist {
#define X(number, member) INTERVAL_##number,
	INTERVAL_DIST_LIST(X) INTERVAL_DISTS
};

enum interval_count { INTERVAL_COUNT_LIST(X) INTERVAL_COUNTS };
#undef X

/* Newest last; nr of them. */
struct machine_history {
	const double *values;
	uint32_t nr;
};

struct machine_cpu {
	uint32_t cpu;
	int32_t core, llc, node; /* -1 = unknown */
	bool is_online;
	double busy; /* of 1 */
	double user, system, irq, iowait, steal;
	double mhz;            /* NAN = unknown */
	double switches_per_s; /* NAN = unknown, here and below */
	double wakeups_per_s;
	double migrations_per_s;  /* onto it */
	struct machine_dist wait; /* of tasks that came to run there */
	double waiting; /* tasks, the mean of the interval, by where each is or ran last; NAN = unknown */
	struct machine_history busy_history;
	/* With the same newest; values may be unknown. */
	struct machine_history user_history, system_history, irq_history, waiting_history;
	int64_t tid; /* that runs, -1 = unknown */
	const char *comm;
	double event_per_s; /* of machine.event; NAN = unknown, none, or one that is not a rate */
	struct machine_history event_history; /* of machine.event: per s, of 1, or MHz */
	double hw_pressure;                   /* of 1024; NAN = unknown */
	double uncore_mhz;                    /* of its package; NAN = unknown */
};

/* A thread, or a process: then the sums of its threads. */
#define MACHINE_NO_PRIO INT32_MIN
/* A wait that has not ended counts as a stall from here on. */
#define MACHINE_STALL_NS 250000000ULL

struct machine_task {
	uint32_t tid; /* of a process: its tgid */
	uint32_t tgid;
	uint32_t nr_threads;
	const char *comm;
	const char *cmdline;    /* NULL = unknown */
	const char *cgroup;     /* NULL = unknown */
	const char *class_name; /* fair, rt, dl, ext, idle; NULL = unknown */
	char state;             /* R S D T Z I; X = ended in the interval; '?' = unknown */
	int32_t last_cpu;
	int32_t prio; /* the kernel's: 120 = nice 0, -1 = deadline; MACHINE_NO_PRIO = unknown */
	double run;   /* of one CPU */
	double wait;  /* runnable, of the interval; NAN = unknown */
	uint64_t stall_ns; /* it waits for a CPU, and has for so long, MACHINE_STALL_NS at least; 0 = it does not */
	union {
		struct machine_dist dists[INTERVAL_DISTS];
#define X(number, member) struct machine_dist member;
		struct {
			INTERVAL_DIST_LIST(X)
		};
#undef X
	};
	union {
		double rates[INTERVAL_COUNTS]; /* per second; NAN = unknown */
#define X(number, member) double member##_per_s;
		struct {
			INTERVAL_COUNT_LIST(X)
		};
#undef X
	};
	int64_t layer; /* -1 = none */
	uint64_t dsq;  /* last one; 0 with has_dsq false */
	bool has_dsq;
	struct machine_history run_history, wait_history; /* of 1 */
	/* Of processes: */
	uint32_t parent;       /* its tgid; 0 = none, or unknown */
	uint32_t nr_processes; /* of a group that is shown as one; 0 = it is none */
	double memory_bytes; /* resident, as of when it ran last; NAN = unknown, or none of its own */
};

/*
 * Indexes into an array of tasks, so that not every task has to be read. Tasks that are not active are
 * quiet: all that an interval measures of them (run, wait, distributions, rates) is the same for all of
 * them, 0 or unknown.
 */
struct machine_order {
	const uint32_t *by_id;    /* all, by ascending tid */
	const uint32_t *place_of; /* where in by_id an index is */
	const uint32_t *active;
	size_t nr_active;
	/*
	 * Those that may have another tid, name, state, CPU, class or cgroup than one refresh ago,
	 * new ones included.
	 */
	const uint32_t *changed;
	size_t nr_changed;
	bool is_all_changed;
};

struct machine_dsq {
	uint64_t id;
	struct machine_dist latency; /* from the last insertion to running */
	struct machine_dist used;    /* time on a CPU after it */
	double depth;                /* tasks in it now; NAN = unknown, as of those of CPUs */
	uint64_t depth_max; /* at an insertion of the interval, itself included; 0 = there was none */
	double slice_ns;    /* given, mean; NAN = none, or without end */
	double used_ns;     /* mean; NAN = none */
	double vtime_delta; /* between two insertions, mean; NAN = none, or not in the order of vtime */
	double behind; /* insertions with a lower vtime than the one before, of 1; NAN likewise */
	uint64_t inserts; /* in the interval */
	double inserts_per_s;
	double dispatches_per_s;
	/* Of the intervals before: mean latency and time used in ns, mean vtime delta, depth. */
	struct machine_history latency_history, used_history, vtime_history, depth_history;
};

/* Members and their names in /proc/meminfo. */
#define MACHINE_MEMORY_LIST(X)                  \
	X(total, "MemTotal")                    \
	X(free, "MemFree")                      \
	X(available, "MemAvailable")            \
	X(buffers, "Buffers")                   \
	X(cached, "Cached")                     \
	X(active, "Active")                     \
	X(inactive, "Inactive")                 \
	X(swap_total, "SwapTotal")              \
	X(swap_free, "SwapFree")                \
	X(swap_cached, "SwapCached")            \
	X(active_anonymous, "Active(anon)")     \
	X(inactive_anonymous, "Inactive(anon)") \
	X(active_file, "Active(file)")          \
	X(inactive_file, "Inactive(file)")      \
	X(unevictable, "Unevictable")           \
	X(locked, "Mlocked")                    \
	X(anonymous, "AnonPages")               \
	X(mapped, "Mapped")                     \
	X(shared, "Shmem")                      \
	X(slab, "Slab")                         \
	X(slab_reclaimable, "SReclaimable")     \
	X(slab_unreclaimable, "SUnreclaim")     \
	X(kernel_stacks, "KernelStack")         \
	X(page_tables, "PageTables")            \
	X(dirty, "Dirty")                       \
	X(writeback, "Writeback")               \
	X(writeback_temporary, "WritebackTmp")  \
	X(nfs_unstable, "NFS_Unstable")         \
	X(bounce, "Bounce")                     \
	X(commit_limit, "CommitLimit")          \
	X(committed, "Committed_AS")
#define MACHINE_NO_KIB UINT64_MAX /* this kernel does not report it */

/* Per second; and pressure: shares of the interval in which some tasks, or all that could run, stood still. */
#define MACHINE_PAGING_LIST(X) \
	X(minor_faults_per_s)  \
	X(major_faults_per_s)  \
	X(swap_in_per_s)       \
	X(swap_out_per_s)
#define MACHINE_PRESSURE_LIST(X) \
	X(cpu_some)              \
	X(memory_some)           \
	X(memory_full)           \
	X(io_some)               \
	X(io_full)

struct machine_memory {
#define X(member, name) uint64_t member##_kib;
	MACHINE_MEMORY_LIST(X)
#undef X
#define X(member) double member; /* NAN = unknown */
	MACHINE_PAGING_LIST(X)
	MACHINE_PRESSURE_LIST(X)
#undef X
	/* While it is read without a break. Values may be unknown. */
	struct machine_memory_past {
		struct machine_history used, swap_used; /* of all of it */
#define X(member) struct machine_history member;
		MACHINE_PAGING_LIST(X)
		MACHINE_PRESSURE_LIST(X)
#undef X
	} past;
};

struct machine_net {
	const char *name;
	double rx_bytes_per_s, tx_bytes_per_s, rx_packets_per_s, tx_packets_per_s, errors_per_s,
		drops_per_s;
	uint64_t rx_bytes, tx_bytes;                   /* since boot */
	struct machine_history rx_history, tx_history; /* bytes per second; may be unknown */
	struct machine_history rx_packets_history, tx_packets_history;
};

/* Wakeup latencies over time: columns of MACHINE_HEAT_ROWS counts, the newest last. */
struct machine_heat {
	const uint32_t (*columns)[MACHINE_HEAT_ROWS];
	uint32_t nr;
	uint32_t max; /* the largest count of all */
};

struct machine {
	const char *host;
	const char *release;
	const char *scheduler; /* of sched_ext; NULL = none */
	const char *scx_state; /* enabled, disabled, ...; NULL = the kernel has none */
	const char *source;    /* bpf, proc, trace, synthetic */
	const char *notice;    /* what is missing and what helps; NULL = nothing */
	/* Why no CPU has one, although it was requested; NULL = some have, or it was not requested. */
	const char *no_uncore, *no_pressure;
	uint64_t boot_ns;
	double interval_s;
	uint64_t lost;  /* events, since the start */
	double own_cpu; /* of one CPU, our own cost; NAN = unknown */
	double load[3];

	const struct machine_cpu *cpus;
	size_t nr_cpus;
	const struct machine_task *processes; /* in no order */
	size_t nr_processes;
	const struct machine_task *threads;
	size_t nr_threads;
	/* NULL = unknown: any may be active, and in any place. */
	const struct machine_order *process_order, *thread_order;
	uint64_t refresh_nr; /* incremented with each refresh; 0 = unknown */
	const struct machine_dsq *dsqs;
	size_t nr_dsqs;
	struct machine_memory memory;
	const struct machine_net *nets;
	size_t nr_nets;
	const struct machine_bpf *programs; /* machine_program.h */
	size_t nr_programs;
	struct machine_heat heat;
	struct machine_dist wait; /* of all */
	const char *const *log;   /* what happened, newest last */
	size_t nr_log;

	/* Each in a header of its own, machine_NAME.h; NULL = not requested, or not available. */
	const struct machine_event *event;
	const struct machine_event_list *event_list; /* the one that is requested */
	const struct machine_power *power;
	const struct machine_bandwidth *bandwidth;
	const struct machine_profile *profile;
	const struct machine_programs *bpf;
	const struct machine_game *game;
	const struct machine_zoom *zoom;
	const struct machine_scx *scx;
	const struct machine_blame *blame;
	const struct machine_ledger *ledger;
	const struct machine_lanes *lanes;
	const struct machine_verdict *verdict; /* NULL = nothing waited */
	const struct machine_play *play;       /* where in a recording; NULL = live */
};
