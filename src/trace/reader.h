/*
 * trace/reader — a trace in a file becomes records, in exact order of time, and facts about it.
 *
 * Reads Perfetto's format, plain, gzip or zstd, with compressed packets of either kind, as written by our
 * recorder, Perfetto's own, wprof, systing and scxtop; what their dialects get wrong is corrected here,
 * so that records mean the same whichever recorder wrote them. Damage is counted in trace_info and
 * skipped; only a file that cannot be read, or is not a trace at all, is an error.
 *
 * The file is read into memory and decoded on several threads of our own; records are pushed from the
 * caller's thread only, such that ev_check() accepts them, in order of time. Every tid is introduced
 * by an EV_TASK_INFO before the first record that mentions it. Times are those of the trace's clock
 * (boot time, where the trace knows it; relative ones stay so). Memory is bounded by one budget for
 * all threads; nothing is allocated per event. Blocks until all is pushed. A sink that has advance()
 * gets the start of the trace first, which may lie before the first record.
 *
 * Losses: where a recorder says that a CPU lost events, EV_LOST records of count 0 (how many is unknown)
 * come before its next event, for switches, wakes and interrupts each. Where a CPU ends before the file does, as its
 * recorder was killed, an EV_LOST with EV_FLAG_LAST comes after its last event.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"

enum trace_producer {
	TRACE_BY_OTHER,
	TRACE_BY_US,
	TRACE_BY_WPROF,
	TRACE_BY_SCXTOP,
	TRACE_BY_SYSTING,
	TRACE_BY_PERFETTO, /* traced_probes */
};

struct budget;

/* The files "data.0", "data.1" and so on of a folder that 'perf record --threads' has made: a descriptor, -ENOENT behind the last. */
#define TRACE_PARTS_MAX 65536U
struct trace_parts {
	int (*open)(void *ctx, unsigned int nr); /* NULL = it is no folder */
	void *ctx;
};

/* All may be 0. */
struct trace_read_cfg {
	unsigned int nr_workers; /* 0 = as many as there are CPUs */
	/*
	 * Of all that grows with the file: its bytes, what they unpack to, tables, records that are not pushed yet.
	 * -E2BIG when it does not suffice. NULL = one of max_bytes, or of half the machine's memory if that is 0.
	 */
	struct budget *budget;
	uint64_t max_bytes;
	uint64_t max_packets;     /* 0 = 2^30 */
	int fd;                   /* of the file, lent; 0 = it is opened */
	struct trace_parts parts; /* with fd, which is then the file "data" of a folder of perf */
	/* Called now and then from the caller's thread: so much is done of so much. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

struct trace_count {
	const char *name;
	uint64_t count;
};

/* What could not be read, or is odd. */
struct trace_damage {
	const char *name;
	uint64_t count;
	uint64_t of; /* so many that are in the file; 0 = not counted */
};

/* A number that we do not know: of a packet's payload, or of an event of ftrace. */
struct trace_unknown {
	bool is_event;
	uint32_t number;
	uint64_t count;
};

struct trace_key {
	const char *key;
	const char *text; /* NULL: number counts */
	int64_t number;
};

/* -1 is unknown. */
struct trace_cpu_info {
	uint32_t cpu;
	int32_t core;
	int32_t llc;
	int32_t node;
	int32_t isolated;     /* from load balancing: 1; 0 = no, or unknown */
	uint32_t capacity;    /* 0 = unknown */
	uint64_t nr_events;   /* of ftrace */
	uint64_t nr_losses;   /* times that events were lost */
	uint64_t nr_lost;     /* events, as far as the recorder counted them */
	uint64_t first_ts_ns; /* of its events; 0 with no events */
	uint64_t last_ts_ns;
	uint64_t until_ns; /* after that nothing is known of it; 0 = known to the end of the file */
};

struct trace_process {
	uint32_t tgid;
	uint32_t ppid; /* 0 = none or unknown */
	bool is_kthread;
	uint64_t start_ns;   /* since boot; 0 = unknown */
	const char *name;    /* "" = unknown */
	const char *cmdline; /* arguments joined by spaces; "" = unknown */
};

struct trace_thread {
	uint32_t tid;
	uint32_t tgid;
	const char *name; /* as of the last description */
};

/* A function's name in place of its address: such values are in EV_WORK and EV_BLOCKED. */
struct trace_symbol {
	uint64_t value;
	const char *name;
};

/* Of a file with code. */
#define TRACE_FRAME_ID_MAX 20U
struct trace_frame_id {
	uint8_t bytes[TRACE_FRAME_ID_MAX];
	uint8_t nr;
};

struct trace_frame {
	const char *name;    /* "" = unknown */
	const char *mapping; /* path, or its end, as the recorder gives it; "" = unknown */
	const char *file;    /* of the source; "" = unknown */
	const struct trace_frame_id
		*build_id; /* of the mapping's file, in which rel_pc is the place; NULL = unknown */
	uint64_t rel_pc;
	uint64_t address; /* of the kernel's code when it was recorded; 0 = unknown */
	uint32_t line;    /* 0 = unknown */
	bool is_kernel;
	bool is_inlined;
};

/* Frames as indices into trace_info.frames, leaf first. */
struct trace_stack {
	uint32_t first; /* in trace_info.stack_frames */
	uint32_t nr;
};

enum trace_sample_kind {
	TRACE_SAMPLE_CPU,    /* where a CPU was: by time, or by its cycles */
	TRACE_SAMPLE_OFFCPU, /* where a task left it; at its switch, or right behind */
	TRACE_SAMPLE_WAKER,  /* the waker's stack, at a waking */
	TRACE_SAMPLE_OTHER   /* at something else that was counted, as page faults */
};

struct trace_sample {
	uint64_t ts_ns;
	uint64_t weight; /* 1 where the recorder gave none */
	uint32_t tid;
	uint32_t cpu;   /* ~0 = unknown */
	uint32_t stack; /* in trace_info.stacks; ~0 = none */
	uint16_t event; /* by which it was taken: in trace_info.sample_events */
	uint8_t kind;   /* enum trace_sample_kind */
	uint8_t end; /* enum prof_end of abi/profile: why its user stack is not whole; 0 = it is, or that is not known */
};

/* Plain data of one lifetime. Texts are never NULL unless said; "" is unknown. */
struct trace_info {
	enum trace_producer producer;
	uint32_t clock;     /* Perfetto's number of the clock that times are of; 6 = boot time */
	const char *format; /* of the file: "a Perfetto trace" */
	const char *producer_name;    /* "perfetto", "wprof", ...; "" = none that we know */
	const char *producer_version; /* as the file gives it */
	uint64_t nr_bytes;            /* of the file */
	uint64_t nr_plain_bytes;      /* after decompression */
	uint64_t nr_packets;
	uint64_t nr_records; /* pushed */
	const char *
		incomplete; /* why its end is missing; NULL = it is there, as far as the file says */
	const char *filter; /* which tasks were recorded; NULL = all, or the file does not say */

	uint64_t start_ns, end_ns; /* of events; 0 unless has_time */
	uint64_t valid_from_ns;    /* from here on all CPUs are recorded; 0 = from the start */
	uint64_t start_real_ns;    /* wall clock at start_ns, if has_wall_clock */
	int64_t mono_offset_ns; /* to add to a time of the trace for CLOCK_MONOTONIC, if has_mono */
	bool has_time;          /* at least one event */
	bool has_wall_clock;
	bool has_mono;
	bool has_topology;
	uint32_t nr_cpus_reported; /* by the recorder; 0 = not given */

	const char *sysname, *release, *version, *machine, *machine_name;
	const struct trace_cpu_info *cpus; /* those with events or described, by number */
	size_t nr_cpus;
	const char *scheduler; /* name of the sched_ext scheduler */
	const struct trace_key *attrs;
	size_t nr_attrs;
	const char *const *enabled; /* events of ftrace that were asked for, "sched/sched_switch" */
	size_t nr_enabled;

	const struct trace_process *processes; /* by tgid; the last one given of each */
	size_t nr_processes;
	const struct trace_thread *threads; /* by tid; the last one given of each */
	size_t nr_threads;
	const struct trace_symbol *symbols; /* by value */
	size_t nr_symbols;

	const struct trace_count *events; /* of ftrace, compact ones included, most frequent first */
	size_t nr_events;
	const struct trace_count *categories; /* of track events; "" = none */
	size_t nr_categories;
	const struct trace_damage *damage; /* only what happened, by name */
	size_t nr_damage;
	const struct trace_unknown *unknown;
	size_t nr_unknown;

	const char *const *pmu_names; /* of the values of EV_PMU, in order */
	size_t nr_pmu_names;
	const struct trace_sample *samples; /* by time */
	size_t nr_samples;
	const struct trace_stack *stacks;
	size_t nr_stacks;
	const uint32_t *stack_frames;
	const struct trace_frame *frames;
	size_t nr_frames;
	const char *const *sample_events; /* as the recorder calls them; the first is "", unknown */
	size_t nr_sample_events;
	uint64_t kernel_text;        /* the address of _text in frames of the kernel; 0 = unknown */
	uint64_t sampling_frequency; /* of TRACE_SAMPLE_CPU, that was asked for; 0 = unknown */
};

/*
 * Reads path, "-" for standard input, or a folder of 'perf record --threads', and pushes its records. A negative errno from the sink stops and is
 * returned. 0 also for damaged and empty traces of the right format; *out is set on success only.
 */
MUST_USE int trace_read_file(const char *path, const struct trace_read_cfg *cfg,
                             const struct ev_sink *sink, struct diag *d, struct trace_info **out);

struct trace_bytes {
	const void *bytes;
	size_t len;
	const char *name; /* for messages */
	const size_t *
		ends; /* of a folder of perf: where each of its files ends; NULL = it is one file */
	size_t nr_ends;
};
/* The same from bytes in memory, which stay the caller's. */
MUST_USE int trace_read_memory(const struct trace_bytes *in, const struct trace_read_cfg *cfg,
                               const struct ev_sink *sink, struct diag *d, struct trace_info **out);
void trace_info_free(struct trace_info *info); /* NULL is fine */

/* Whether a kernel of that release numbers the states of tasks as kernels do since 4.14. */
bool trace_states_are_new(const char *release);
/* Says that the budget was exceeded: -E2BIG. */
int trace_too_large(const char *name, const struct budget *budget, struct diag *d);
