/*
 * trace/perfdata/perfdata — the inside of the reader of perf.data: its parts and their order.
 *
 * 1. header.c finds the sections of the file, or that it is a pipe's; attr.c reads what was sampled and how its records are laid
 *    out, features.c and places.c what perf says about the machine, tracing_data.c the kernel's descriptions of its
 *    events. In a pipe these are records of their own, so that it is walked twice: first for them (header_records.c), then for events.
 * 2. records.c walks the records, also those that are packed with zstd (unpack.c), and hands each to its reader: sample.c,
 *    switches.c, life.c (tasks, cgroups) and stacks.c (samples, mappings). Kernel events become records by trace/ftrace.
 * 3. stacks_finish() sorts samples and mappings by time, as a file is only in order per CPU, and makes stacks of addresses.
 *
 * Records may be hostile: every length is checked, tables are capped or taken from the budget. One thread.
 */
#pragma once

#include "trace/bytes_in.h"
#include "trace/ftrace/cpus.h"
#include "trace/ftrace/format.h"
#include "trace/ftrace/functions.h"
#include "trace/reader_priv.h"

#define PD_HEADER_BYTES 8U /* of a record: type, misc, size */
#define PD_RECORD_MAX   65536U
#define PD_NONE         UINT32_MAX
#define PD_ABSENT       0U /* of an offset in a record, which begins with its header */

/* Bits of sample_type. */
enum {
	PD_IP = 1 << 0,
	PD_TID = 1 << 1,
	PD_TIME = 1 << 2,
	PD_ADDR = 1 << 3,
	PD_READ = 1 << 4,
	PD_CALLCHAIN = 1 << 5,
	PD_ID = 1 << 6,
	PD_CPU = 1 << 7,
	PD_PERIOD = 1 << 8,
	PD_STREAM_ID = 1 << 9,
	PD_RAW = 1 << 10,
	PD_BRANCH_STACK = 1 << 11,
	PD_REGS_USER = 1 << 12,
	PD_STACK_USER = 1 << 13,
	PD_WEIGHT = 1 << 14,
	PD_DATA_SRC = 1 << 15,
	PD_IDENTIFIER = 1 << 16,
	PD_TRANSACTION = 1 << 17,
	PD_REGS_INTR = 1 << 18,
	PD_PHYS_ADDR = 1 << 19,
	PD_CGROUP = 1 << 21,
	PD_WEIGHT_STRUCT = 1 << 24,
};

enum { /* perf_event_attr.type */
       PD_TYPE_HARDWARE,
       PD_TYPE_SOFTWARE,
       PD_TYPE_TRACEPOINT
};

/* Records of the kernel, and from 64 on of perf itself. */
enum {
	PD_MMAP = 1,
	PD_LOST = 2,
	PD_COMM = 3,
	PD_EXIT = 4,
	PD_THROTTLE = 5,
	PD_UNTHROTTLE = 6,
	PD_FORK = 7,
	PD_SAMPLE = 9,
	PD_MMAP2 = 10,
	PD_LOST_SAMPLES = 13,
	PD_SWITCH = 14,
	PD_SWITCH_CPU_WIDE = 15,
	PD_KSYMBOL = 17,
	PD_CGROUP_PATH = 19,
	PD_LAST_OF_KERNEL = 22,
	PD_HEADER_ATTR = 64,
	PD_HEADER_TRACING_DATA = 66,
	PD_HEADER_BUILD_ID = 67,
	PD_AUXTRACE = 71,
	PD_EVENT_UPDATE = 78,
	PD_HEADER_FEATURE = 80,
	PD_COMPRESSED = 81,
	PD_COMPRESSED2 = 83,
	PD_LAST_OF_PERF = 90,
};

/* Sections of the header, by their bit. */
enum {
	PD_FEATURE_TRACING_DATA = 1,
	PD_FEATURE_BUILD_ID = 2,
	PD_FEATURE_HOSTNAME = 3,
	PD_FEATURE_OSRELEASE = 4,
	PD_FEATURE_VERSION = 5,
	PD_FEATURE_ARCH = 6,
	PD_FEATURE_NRCPUS = 7,
	PD_FEATURE_CMDLINE = 11,
	PD_FEATURE_EVENT_DESC = 12,
	PD_FEATURE_CPU_TOPOLOGY = 13,
	PD_FEATURE_NUMA_TOPOLOGY = 14,
	PD_FEATURE_CACHE = 20,
	PD_FEATURE_FOLDER = 24,
	PD_FEATURE_CLOCK_DATA = 29,
	PD_FEATURES = 256,
};

/* An event that was asked for: what its records hold, and where. */
struct pd_attr {
	uint32_t type;
	uint64_t config;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t regs_user, regs_intr; /* masks */
	uint64_t period;               /* or frequency */
	bool is_freq;
	bool has_trailer; /* sample_id_all */
	bool is_on_exec;  /* of a command and its children only */
	/* Of samples, from their beginning; PD_ABSENT = not there. Behind the fixed part is what varies. */
	uint16_t at_id, at_ip, at_tid, at_time, at_cpu, at_period, fixed_end;
	/* Of the trailer of other records, from their end. */
	uint16_t end_tid, end_time, end_cpu, trailer;
	uint32_t name;   /* in reader.texts; 0 = unknown */
	uint32_t format; /* index in formats plus one; 0 = no kernel event, or not described */
	uint32_t member; /* ftrace_member() */
	uint8_t kind;    /* enum trace_sample_kind */
};

struct pd_id {
	uint64_t id;
	uint32_t attr;
};

#define PD_ID_SLOTS   256U
#define PD_TASK_SLOTS 1024U

/* What the file says about one record, besides its body. */
struct pd_when {
	uint64_t ts_ns;         /* 0 = unknown, or from before the recording */
	uint32_t pid, tid, cpu; /* PD_NONE = unknown */
};

struct pd_record {
	uint32_t type;
	uint16_t misc;
	uint32_t size; /* with its header */
	const uint8_t *bytes;
};

struct pd_task {
	uint32_t tid;
	uint32_t tgid;
	uint64_t cgroup;
	char comm[EV_COMM_LEN];
};

struct pd_symbol {
	uint64_t start, end;
	uint32_t name; /* in paths of the stacks */
	uint32_t order;
};

/* Functions of BPF programs, and others that the kernel reports. */
struct pd_symbols {
	struct pd_symbol *all;
	size_t nr, cap, nr_sorted; /* those that can be found */
};

struct pd_stacks;
struct pd_unpack;

struct perfdata {
	struct reader *r;
	struct ftrace_cpus cpus;
	struct ftrace_formats formats;
	bool is_swapped; /* against this machine */
	bool is_big;     /* the recorded one is big-endian */
	bool is_pipe;
	bool has_identifier; /* the id is the first of a sample, the last of a trailer */
	bool is_filtered;    /* only some tasks were recorded */
	bool is_of_folder;   /* other files hold most of its records */
	struct pd_attr *attrs;
	size_t nr_attrs, cap_attrs;
	struct map *ids; /* -> attribute */
	struct pd_id id_cache[PD_ID_SLOTS];
	uint64_t members[FTRACE_KNOWN / 64]; /* bit per kernel event that was asked for */
	struct map *task_ids;
	struct pd_task *tasks;
	size_t nr_tasks, cap_tasks;
	uint32_t task_cache[PD_TASK_SLOTS]; /* index plus one */
	struct map *cgroup_ids;             /* -> text of its path */
	struct map *cgroups_told;
	uint32_t *exiting; /* by CPU: the task that is about to leave for good */
	size_t cap_exiting;
	struct pd_stacks *stacks;
	struct pd_symbols symbols;
	struct pd_unpack *unpack;
	struct functions kallsyms; /* of old files */
	uint64_t lost_told;        /* by the kernel, where it happened */
	uint64_t lost_total;       /* by perf, at the end */
	uint64_t last_ns;          /* of events so far */
	uint64_t nr_records;
	uint64_t nr_unpacked; /* bytes */
	uint32_t nr_places;   /* that the file names: bounded */
	size_t file_len;
	int err; /* the first of memory; nothing is read after it */
};

/* Numbers in the byte order of the file. */
static inline uint16_t pd_u16(const struct perfdata *d, const uint8_t *p)
{
	return bytes_u16_at(p, d->is_swapped);
}

static inline uint32_t pd_u32(const struct perfdata *d, const uint8_t *p)
{
	return bytes_u32_at(p, d->is_swapped);
}

static inline uint64_t pd_u64(const struct perfdata *d, const uint8_t *p)
{
	return bytes_u64_at(p, d->is_swapped);
}

static inline struct bytes_in pd_in_of(const struct perfdata *d, const uint8_t *p, size_t len)
{
	return (struct bytes_in){ .at = p, .end = p + len, .is_swapped = d->is_swapped };
}

/* A text of perf: its room, then itself with NULs behind it. */
static inline const char *pd_in_text(struct bytes_in *in, size_t *len)
{
	uint32_t room = bytes_u32(in);
	const char *s = (const char *)bytes_take(in, room);

	*len = s ? strnlen(s, room) : 0;
	return s ? s : "";
}

static inline bool pd_has_member(const struct perfdata *d, uint32_t member)
{
	return d->members[member / 64] >> member % 64 & 1;
}

static inline void pd_fail(struct perfdata *d, int err)
{
	if (err && !d->err)
		d->err = err;
}

static inline void pd_damage(struct perfdata *d, enum damage damage)
{
	d->r->tally.damage[damage]++;
}

/* header.c */
/* Sections, attributes, features; where its records are. 0, or an error that is in diag. */
MUST_USE int pd_header(struct perfdata *d, const struct trace_bytes *in, struct bytes_in *records,
                       struct diag *diag);

/* attr.c */
/* One attribute of len bytes, with its ids; what is too short or beyond the cap is damage. */
void pd_attr_add(struct perfdata *d, const uint8_t *attr, size_t len, struct bytes_in ids);
void pd_attr_name(struct perfdata *d, struct pd_attr *a, const char *name, size_t len);
struct pd_attr *pd_attr_of_id(struct perfdata *d, uint64_t id);
/* All are known: names, kinds, which kernel events. */
void pd_attrs_link(struct perfdata *d);
/* Of a sample, and of another record; NULL if it is of none. */
const struct pd_attr *pd_attr_of_sample(struct perfdata *d, const struct pd_record *rec);
/* The trailer of a record that is no sample; body_end: how much of the record is its own. */
struct pd_when pd_when_of(struct perfdata *d, const struct pd_record *rec, uint32_t *body_end);

/* features.c, places.c, tracing_data.c */
void pd_feature(struct perfdata *d, uint32_t nr, struct bytes_in in);
void pd_cpu_topology(struct perfdata *d, struct bytes_in in);
void pd_numa_topology(struct perfdata *d, struct bytes_in in);
void pd_caches(struct perfdata *d, struct bytes_in in);
void pd_tracing_data(struct perfdata *d, struct bytes_in in);
/* build_ids.c: records in a row; one of them. */
void pd_build_ids(struct perfdata *d, struct bytes_in in);
void pd_build_id(struct perfdata *d, const struct pd_record *rec);
/* What all features together say; once. */
void pd_features_link(struct perfdata *d);

/* records.c */
/* The next record of the bytes; false at their end. One that is cut ends them. */
bool pd_record_next(struct perfdata *d, struct bytes_in *in, struct pd_record *out);
/* Bytes that follow a record and belong to it. */
uint64_t pd_record_tail(struct perfdata *d, const struct pd_record *rec);
void pd_records(struct perfdata *d, struct bytes_in in);
/* After the last of them. */
void pd_records_end(struct perfdata *d);
void pd_record(struct perfdata *d, const struct pd_record *rec);

/* header_records.c */
void pd_header_records(struct perfdata *d, struct bytes_in in);

/* unpack.c */
void pd_unpack(struct perfdata *d, const struct pd_record *rec);
void pd_unpack_done(struct perfdata *d);

/* sample.c */
void pd_sample(struct perfdata *d, const struct pd_record *rec);

/* switches.c */
void pd_switch(struct perfdata *d, const struct pd_record *rec);
void pd_switch_exits(struct perfdata *d, uint32_t cpu, uint32_t tid);

/* life.c */
void pd_comm(struct perfdata *d, const struct pd_record *rec);
void pd_fork(struct perfdata *d, const struct pd_record *rec);
void pd_exit(struct perfdata *d, const struct pd_record *rec);
void pd_cgroup_path(struct perfdata *d, const struct pd_record *rec);
/* The task of a sample: its process. */
void pd_task_seen(struct perfdata *d, uint64_t ts_ns, uint32_t pid, uint32_t tid);
void pd_task_cgroup(struct perfdata *d, struct ftrace_cpu *on, uint64_t ts_ns, uint32_t tid,
                    uint64_t cgroup);

/* stacks.c; chain: addresses as in the file, or one of ip. */
struct pd_chain {
	const uint8_t *bytes;
	uint32_t nr;
};

MUST_USE int pd_stacks_new(struct perfdata *d);
void pd_stacks_free(struct pd_stacks *s); /* NULL is fine */
void pd_stacks_sample(struct perfdata *d, const struct pd_attr *a, const struct trace_sample *s,
                      uint32_t pid, struct pd_chain chain);
void pd_mmap(struct perfdata *d, const struct pd_record *rec);
void pd_ksymbol(struct perfdata *d, const struct pd_record *rec);
/* For mappings: a process is forked, or runs another program. */
void pd_stacks_fork(struct perfdata *d, uint64_t ts_ns, uint32_t parent, uint32_t child);
void pd_stacks_exec(struct perfdata *d, uint64_t ts_ns, uint32_t pid);
MUST_USE int pd_stacks_finish(struct perfdata *d);

/* symbols.c: those that were added so far can be found; sorts, so call it rarely. */
void pd_symbols_sort(struct perfdata *d);
uint32_t pd_find_symbol(struct ftrace_cpu *on, uint64_t address);
