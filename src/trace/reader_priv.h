/*
 * trace/reader_priv — the inside of the reader: what its formats share.
 *
 * trace/reader finds the format of the bytes by their beginning (struct trace_format) and lets it read them. A format
 * puts what it says about the machine and itself into struct reader, names of tasks into names, and its events as runs
 * of records into struct rec_out; merge_all() pushes these in order of time, and info_finish() makes the lists of
 * trace_info. Records are made by struct decoder, one per thread or per CPU (trace/decoder); the kernel's events are
 * made by trace/ftrace, whatever format they come in.
 *
 * Kinds below IN_FIRST go to the sink, after the merge has filled in what follows only from the order: the task on the
 * CPU (REC_INFER), processes of tasks, names before their first use. Kinds from IN_FIRST on are ours: IN_NAME names a
 * task; IN_TRACK is the task on a CPU before its first switch.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "trace/perfetto/clocks.h"
#include "trace/perfetto/names_in.h"
#include "trace/perfetto/pb_read.h"
#include "trace/reader.h"
#include "trace/rec_out.h"

#define NO_TS          UINT64_MAX
#define CLOCK_OF_TRACE UINT32_MAX /* of a packet: needs no conversion */
/*
 * Probes that track events describe by EV_PROBE_INFO have numbers from here on, those of ftrace
 * below.
 */
#define READER_PROBES_NAMED 0x40000000U
#define READER_CPUS_MAX     8192U
#define READER_SYMBOL       (0x5359ULL << 48) /* | text: a function known by name, never an address */
#define FTRACE_KNOWN        1024U /* members of FtraceEvent below are counted in an array */

/* Of what there was so much in the file. */
enum read_total {
	OF_NOTHING, /* that is counted */
	OF_BYTES,
	OF_PACKETS,
	OF_EVENTS,
	OF_LINES,
	OF_RECORDS, /* of perf */
	OF_PAGES,   /* of the kernel's ring buffer */
	OF_CHUNKS,
	OF_FORMATS, /* descriptions of events */
	NR_TOTALS,
};

/* Damage and oddities, by their names in trace_info, and what they are a part of. */
#define DAMAGE(X)                                                                             \
	X(TRUNCATED_BYTES, "truncated_bytes", BYTES)                                          \
	X(PACKET_BAD, "packet_damaged", PACKETS)                                              \
	X(INFLATE_FAILED, "compressed_packets_damaged", NOTHING)                              \
	X(SKIPPED_SEQ_INVALID, "packet_skipped_seq_needs_incremental_state_invalid", PACKETS) \
	X(SKIPPED_NO_SEQ, "packet_skipped_needs_state_without_sequence", PACKETS)             \
	X(INTERNED_INVALID, "interned_data_skipped_incremental_state_invalid", NOTHING)       \
	X(INTERNED_NO_SEQ, "interned_data_missing_sequence_id", NOTHING)                      \
	X(INTERNED_REDEFINED, "interned_data_redefined", NOTHING)                             \
	X(OTHER_MACHINE, "packet_of_other_machine", PACKETS)                                  \
	X(CLOCK_FAILED, "clock_conversion_failures", NOTHING)                                 \
	X(BUNDLE_BAD, "ftrace_bundle_tokenizer_errors", NOTHING)                              \
	X(BUNDLE_NO_CPU, "ftrace_bundle_missing_cpu", NOTHING)                                \
	X(EVENT_NO_ID, "ftrace_missing_event_id", EVENTS)                                     \
	X(EVENT_NO_TS, "ftrace_missing_timestamp", EVENTS)                                    \
	X(EVENT_BEFORE_START, "ftrace_packet_before_tracing_start", EVENTS)                   \
	X(EVENT_BEFORE_ALL, "ftrace_events_before_all_cpus_are_recorded", EVENTS)             \
	X(CPU_DATA_LOSS, "ftrace_cpu_has_data_loss", NOTHING)                                 \
	X(COMPACT_BAD, "compact_sched_has_parse_errors", NOTHING)                             \
	X(COMPACT_SWITCH_NO_PREV, "compact_sched_switch_skipped", NOTHING)                    \
	X(COMPACT_WAKING_NO_WAKER, "compact_sched_waking_skipped", NOTHING)                   \
	X(SWITCH_MISMATCH, "mismatched_sched_switch_tids", NOTHING)                           \
	X(STATE_INVALID, "task_state_invalid", NOTHING)                                       \
	X(PACKETS_DROPPED, "previous_packet_dropped", NOTHING)                                \
	X(TRACK_NO_SEQ, "track_event_missing_sequence_id", NOTHING)                           \
	X(TRACK_NO_TS, "track_event_missing_timestamp", NOTHING)                              \
	X(TRACK_NO_VALUE, "track_event_counter_missing_value", NOTHING)                       \
	X(TRACK_BAD, "track_event_damaged", NOTHING)                                          \
	X(DESC_NO_UUID, "track_descriptor_missing_uuid", NOTHING)                             \
	X(DESC_CYCLE, "track_descriptor_cycle", NOTHING)                                      \
	X(SLICE_NEGATIVE, "slice_negative_duration", NOTHING)                                 \
	X(SLICE_END_MISPLACED, "misplaced_end_event", NOTHING)                                \
	X(FLOW_NO_START, "flow_step_without_start", NOTHING)                                  \
	X(STACK_UNKNOWN, "callstack_unknown", NOTHING)                                        \
	X(TEXT_LINE, "text_lines_unreadable", LINES)                                          \
	X(TEXT_FIELDS, "text_events_unreadable", LINES)                                       \
	X(TEXT_COUNT, "text_lines_without_time", LINES)                                       \
	X(TEXT_NO_CPU, "text_lines_without_cpu", LINES)                                       \
	X(SECTION_BAD, "sections_damaged", NOTHING)                                           \
	X(OPTION_BAD, "options_damaged", NOTHING)                                             \
	X(FORMAT_BAD, "event_descriptions_damaged", FORMATS)                                  \
	X(CHUNK_BAD, "compressed_chunks_damaged", CHUNKS)                                     \
	X(PAGE_BAD, "ring_buffer_pages_damaged", PAGES)                                       \
	X(EVENT_SHORT, "events_shorter_than_described", EVENTS)                               \
	X(EVENT_TWICE, "events_that_another_buffer_has_too", EVENTS)                          \
	X(BUFFER_CLOCK, "buffers_of_another_clock", NOTHING)                                  \
	X(PERF_BAD, "perf_records_damaged", RECORDS)                                          \
	X(PERF_UNKNOWN, "perf_records_unknown", RECORDS)                                      \
	X(PERF_AUX, "perf_auxtrace_skipped", RECORDS)                                         \
	X(PERF_THROTTLED, "perf_samples_throttled", RECORDS)                                  \
	X(BAD_TID, "tid_out_of_range", NOTHING)                                               \
	X(BAD_CPU, "cpu_out_of_range", NOTHING)                                               \
	X(OVER_CAP, "beyond_the_caps", NOTHING)

enum damage {
#define X(name, text, of) DAMAGE_##name,
	DAMAGE(X)
#undef X
		NR_DAMAGE,
};

/* Counts by a number of decoder_text(). */
struct text_counts {
	uint64_t *counts;
	size_t nr;
};

/* What one thread counted; added up at the end. */
struct read_counts {
	uint64_t damage[NR_DAMAGE];
	uint64_t totals[NR_TOTALS];    /* events: only those that are in no CPU's count */
	uint64_t ftrace[FTRACE_KNOWN]; /* by member */
	struct map *others; /* {is_event, number} of unknown or generic ones -> index of counts */
	struct trace_unknown *other;
	size_t nr_other, cap_other;
	uint64_t min_ts_ns, max_ts_ns; /* of events; min > max = none */
	uint64_t valid_from_ns;        /* trace_info's */
	struct text_counts categories; /* of track events */
	struct text_counts generic;    /* events of ftrace that bring their own name */
	struct text_counts symbols; /* functions whose names stand in records for their addresses */
	struct map *generic_ids;    /* their members -> text */
	struct trace_cpu_info *cpus; /* by number; places are unknown */
	size_t nr_cpus;
};

/* How this producer's dialect differs. Set by producers.c before decoding. */
struct fixups {
	bool has_raw_states;    /* prev_state is task->__state, not what the tracepoint reports */
	uint32_t state_dialect; /* 0: Linux 4.14 and later, 1: 4.8 to 4.13, 2: before */
	bool are_flags_partial; /* ours, before it said which interrupt wakes: not all of them were known */
	bool is_waker_unknown; /* systing: wakings do not name the waker */
	bool infers_waker; /* scxtop: pid of a wakeup is the wakee; the waker is the running task */
	bool has_ipi_number;        /* scxtop: ipi_raise has a CPU's number for a mask */
	bool is_mono;               /* scxtop: times of ftrace and packets are CLOCK_MONOTONIC */
	bool drops_ftrace_switches; /* switches come from track events (wprof, filtered) */
	bool drops_ftrace_wakes;    /* wakes come from track events (wprof up to 0.5) */
	bool uses_track_sched;      /* switches and wakes are made from track events */
	bool hides_others; /* ours, filtered: tid 0 is the idle task, or one that was not asked for */
};

struct packet;
struct seq_state;
struct iid_table;
struct tracks;
struct merge;

struct reader {
	struct trace_read_cfg cfg;
	struct trace_info info; /* filled as we go; its texts are in mem */
	struct arena *mem;      /* of the info */
	struct packet *packets;
	size_t nr_packets, cap_packets;
	struct seq_state *states;
	size_t nr_states, cap_states;
	struct iid_table *tables;
	size_t nr_tables, cap_tables;
	struct intern *
		texts; /* strings of interned data; ids count up in file order. Read-only from 2 on */
	struct intern *late_texts; /* found inline while decoding; behind the lock */
	pthread_mutex_t late_lock;
	struct clocks clocks;
	uint32_t default_clock; /* of packets that name none; CLOCK_OF_TRACE unless the dialect says otherwise */
	struct names_in names;
	struct tracks *tracks;
	struct fixups fix;
	struct read_counts tally; /* of the caller's thread */
	bool is_converted; /* from another file, by us: attributes say what is known of that one */
	uint64_t drop_before_ns; /* ftrace events from before tracing began; 0 = keep all */
	uint64_t crop_ns; /* those of before only say which tasks there are; 0 = there are none */
	struct reader_meta *meta;   /* of meta_in.c */
	struct reader_index *index; /* of index.c */
};

/* Kinds of records that never leave the reader. */
enum {
	IN_FIRST = 128,
	IN_NAME = 128,  /* struct in_name */
	IN_CALL = 129,  /* struct in_call */
	IN_MARK = 130,  /* struct in_mark */
	IN_TRACK = 160, /* struct in_first of tracks_in.h */
};

/* Bits of ev_hdr.flags that never leave the reader. */
enum {
	REC_INFER =
		0x80, /* switch: prev is the running task; wake: the waker is the task running on hdr.cpu */
	REC_IS_IO = 0x80, /* of EV_BLOCK: from block_io_*; ignored if block_rq_issue reported it */
	REC_IS_FORK =
		0x40, /* of EV_FORK: from sched_process_fork, without flags; ignored if newtask reported it */
};

/* A task showed up under this name; an empty one says nothing but that it is there. */
struct in_name {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 pad_;
	char comm[EV_COMM_LEN];
};

/* A task begins or ends a system call. */
struct in_call {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 is_end;
	__u64 nr; /* as the machine counts that was recorded */
	__u64 args[2];
};

#define MARK_OF_TASK UINT32_MAX /* the last one of the task */
/* A program says that something begins, ends or happens. */
struct in_mark {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 name; /* of decoder_text() */
	__u32 key;  /* what a beginning and its end have in common: a text, or MARK_OF_TASK */
	__u32 kind; /* 'B' and 'S' begin, 'E' and 'F' end, 'I' happens */
};

/* Of one worker. */
struct decoder {
	const struct reader *r;
	struct rec_out *out;
	struct read_counts *tally;
	struct name_cache *names;
	struct decode_scratch *scratch;
	uint32_t shard;
};

/*
 * The number of a text for a record (EV_SPAN, or a kind of your own): below intern_nr(r->texts) it is that of
 * interned data (so iid_entry.text serves as it is), above it is one that was found inline. The merge gives
 * it its final number. 0 = empty, or no room.
 */
uint32_t decoder_text(struct decoder *dec, const char *s, size_t len);
/* The text of such a number, "" if there is none. Not while others decode, unless it is of interned data. */
const char *reader_text(const struct reader *r, uint32_t text, size_t *len);
/* Describes a task before its first record in this run; comm NULL or "" if the name is unknown. */
void decoder_name(struct decoder *dec, uint64_t ts_ns, uint32_t tid, const char *comm, size_t len);
/* Counts an event in the range of time. */
static inline void tally_time(struct read_counts *t, uint64_t ts_ns)
{
	if (ts_ns < t->min_ts_ns)
		t->min_ts_ns = ts_ns;
	if (ts_ns > t->max_ts_ns)
		t->max_ts_ns = ts_ns;
}

MUST_USE int tally_init(struct read_counts *t); /* of a zeroed one */
void tally_done(struct read_counts *t);
void tally_add(struct read_counts *to, const struct read_counts *from);
void tally_text(struct text_counts *t, uint32_t text, uint64_t count);
void tally_other(struct read_counts *t, bool is_event, uint32_t number);
/* Adds what happened on a CPU. */
void tally_cpu(struct read_counts *t, const struct trace_cpu_info *more);

/* The task running on the CPU of a record, unless that is known already. */
void merge_first(struct merge *m, const struct ev_hdr *rec, uint32_t tid);
/* To the sink; rec is changed on its way (flags, texts). Times before the last one are moved to it. */
MUST_USE int merge_push(struct merge *m, struct ev_hdr *rec);

/* The counts of all threads into lists of the info. info.c; 0 or -ENOMEM */
MUST_USE int info_finish(struct reader *r);
/* A text with the lifetime of the info; "" without memory. */
const char *info_text(struct reader *r, const void *s, size_t len);
/* As GROW(), for arrays that grow with the file: out of the budget. False without memory. */
bool grow_counted(const struct reader *r, void *array, size_t nr, size_t *cap, size_t size);
