/*
 * trace/perfetto/reader_priv — the inside of the reader: its passes and their order.
 *
 * 1. Index pass (index.c, caller's thread, in file order). Walks the packets of the file and of the inflated
 *    blocks. Headers, interned data, defaults, clocks and everything that describes (process tree, system
 *    info, track descriptors, ...) are read here; payloads that hold events are only noted, as one struct
 *    packet each, with the state of their sequence at that moment (struct seq_state, immutable).
 * 2. Between (reader.c): clocks are linked, interned tables sorted, the producer is known (producers.c) and with
 *    it struct fixups.
 * 3. Decoding (all workers): runs of packets ("shards") become records in a struct rec_out, each through the
 *    decoder of its payload. A decoder gets struct decoder (per worker), the packet, and its time, already
 *    converted to the trace's clock. It may read everything in struct reader and change nothing there;
 *    what it counts goes to dec->tally. iids are looked up lazily by state_find(): all tables are complete
 *    by now, so a string may be defined after its use.
 * 4. Merging (merge.c, caller's thread). Runs are merged by time. Kinds below IN_FIRST go to the sink, after the
 *    merge has filled in what follows only from the order: the task on the CPU (REC_INFER), processes of tasks, names
 *    before their first use. Kinds from IN_FIRST on are ours: IN_NAME names a task; IN_TRACK is the task on a CPU
 *    before its first switch.
 * 5. tracks_finish(): samples and their stacks go into trace_info, while the bytes of the file are still there.
 *
 * Track events (tracks_in.h): tracks_new() before 1; tracks_descriptor() in 1, per TrackDescriptor; tracks_link() in
 * 2; tracks_settle() in 3, once for the whole file, by one worker beside the others, as pairing the two ends of
 * slices, flows and switches needs all of them in order of time; tracks_resolve() in 4; tracks_finish() in 5;
 * tracks_free().
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

/* Damage and oddities, by their names in trace_info. */
#define DAMAGE(X)                                                                    \
	X(TRUNCATED_BYTES, "truncated_bytes")                                        \
	X(PACKET_BAD, "packet_damaged")                                              \
	X(INFLATE_FAILED, "compressed_packets_damaged")                              \
	X(SKIPPED_SEQ_INVALID, "packet_skipped_seq_needs_incremental_state_invalid") \
	X(SKIPPED_NO_SEQ, "packet_skipped_needs_state_without_sequence")             \
	X(INTERNED_INVALID, "interned_data_skipped_incremental_state_invalid")       \
	X(INTERNED_NO_SEQ, "interned_data_missing_sequence_id")                      \
	X(INTERNED_REDEFINED, "interned_data_redefined")                             \
	X(OTHER_MACHINE, "packet_of_other_machine")                                  \
	X(CLOCK_FAILED, "clock_conversion_failures")                                 \
	X(BUNDLE_BAD, "ftrace_bundle_tokenizer_errors")                              \
	X(BUNDLE_NO_CPU, "ftrace_bundle_missing_cpu")                                \
	X(EVENT_NO_ID, "ftrace_missing_event_id")                                    \
	X(EVENT_NO_TS, "ftrace_missing_timestamp")                                   \
	X(EVENT_BEFORE_START, "ftrace_packet_before_tracing_start")                  \
	X(CPU_DATA_LOSS, "ftrace_cpu_has_data_loss")                                 \
	X(COMPACT_BAD, "compact_sched_has_parse_errors")                             \
	X(COMPACT_SWITCH_NO_PREV, "compact_sched_switch_skipped")                    \
	X(COMPACT_WAKING_NO_WAKER, "compact_sched_waking_skipped")                   \
	X(SWITCH_MISMATCH, "mismatched_sched_switch_tids")                           \
	X(STATE_INVALID, "task_state_invalid")                                       \
	X(PACKETS_DROPPED, "previous_packet_dropped")                                \
	X(TRACK_NO_SEQ, "track_event_missing_sequence_id")                           \
	X(TRACK_NO_TS, "track_event_missing_timestamp")                              \
	X(TRACK_NO_VALUE, "track_event_counter_missing_value")                       \
	X(TRACK_BAD, "track_event_damaged")                                          \
	X(DESC_NO_UUID, "track_descriptor_missing_uuid")                             \
	X(DESC_CYCLE, "track_descriptor_cycle")                                      \
	X(SLICE_NEGATIVE, "slice_negative_duration")                                 \
	X(SLICE_END_MISPLACED, "misplaced_end_event")                                \
	X(FLOW_NO_START, "flow_step_without_start")                                  \
	X(STACK_UNKNOWN, "callstack_unknown")                                        \
	X(BAD_CPU, "cpu_out_of_range")                                               \
	X(OVER_CAP, "beyond_the_caps")

enum damage {
#define X(name, text) DAMAGE_##name,
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
	uint64_t ftrace[FTRACE_KNOWN]; /* by member */
	struct map *others; /* {is_event, number} of unknown or generic ones -> index of counts */
	struct trace_unknown *other;
	size_t nr_other, cap_other;
	uint64_t min_ts_ns, max_ts_ns; /* of events; min > max = none */
	struct text_counts categories; /* of track events */
	struct text_counts generic;    /* events of ftrace that bring their own name */
	struct map *generic_ids;       /* their members -> text */
	struct trace_cpu_info *cpus;   /* by number; places are unknown */
	size_t nr_cpus;
};

enum payload {
	PAYLOAD_NONE,
	PAYLOAD_FTRACE,
	PAYLOAD_TRACK_EVENT,
	PAYLOAD_PERF_SAMPLE,
	PAYLOAD_TASK_STATE,  /* generic_kernel_task_state_event */
	PAYLOAD_TASK_RENAME, /* generic_kernel_task_rename_event */
	PAYLOAD_CPU_FREQ,    /* generic_kernel_cpu_freq_event */
};

/* One packet with events. */
struct packet {
	const uint8_t *body; /* of the payload */
	uint64_t raw_ts;     /* of its clock, delta and unit applied; NO_TS = none */
	uint32_t len;
	uint32_t state; /* in reader.states */
	uint32_t clock; /* index in clocks, or CLOCK_OF_TRACE */
	uint16_t kind;  /* enum payload */
	uint16_t flags; /* PACKET_* */
};

enum {
	PACKET_AFTER_LOSS = 1, /* its sequence lost packets since the last bundle of this CPU */
	PACKET_HAS_SEQ = 2,
};

/* What a sequence has said by now. Many packets share one; never changes once the index pass is over. */
struct seq_state {
	uint32_t seq;      /* trusted_packet_sequence_id; 0 = none */
	uint32_t interned; /* index of its tables; the same for states that differ in defaults alone */
	bool is_valid;
	uint64_t default_track; /* 0 = none */
	struct pb_in defaults;  /* TracePacketDefaults; empty = none */
};

/* One entry of an interned table. */
struct iid_entry {
	uint64_t iid;
	const uint8_t *bytes; /* of the string; of the whole entry where it is not a string */
	uint32_t len;
	uint32_t text;  /* in reader.texts, of strings; 0 = empty or no string */
	uint32_t field; /* of InternedData */
	uint32_t order; /* in file order, to keep the last definition */
};

struct iid_table {
	struct iid_entry *entries; /* by field, iid once linked */
	size_t nr, cap;
	uint32_t *first; /* where each field begins; NULL in small tables, which are searched */
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

struct tracks; /* of track_in.c */

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
	struct read_counts tally;   /* of the caller's thread */
	uint64_t drop_before_ns;    /* ftrace events from before tracing began; 0 = keep all */
	struct reader_meta *meta;   /* of meta_in.c */
	struct reader_index *index; /* of index.c */
};

/* Kinds of records that never leave the reader. */
enum {
	IN_FIRST = 128,
	IN_NAME = 128,  /* struct in_name */
	IN_TRACK = 160, /* struct in_first of tracks_in.h */
};

/* Bits of ev_hdr.flags that never leave the reader. */
enum {
	REC_INFER =
		0x80, /* switch: prev is the running task; wake: the waker is the task running on hdr.cpu */
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

/* The time of a packet on the trace's clock; NO_TS if it has none. */
uint64_t packet_ts_ns(const struct reader *r, const struct packet *pk, struct read_counts *t);

/* The entry of an interned table; NULL if it is not defined, or iid is 0. */
const struct iid_entry *state_find(const struct reader *r, uint32_t state, uint32_t field,
                                   uint64_t iid);

/* Decoders of payloads. Each begins and ends its runs (decoder.h); a bad payload is counted, what decoded is kept. */
void ftrace_decode(struct decoder *dec, const struct packet *pk);

/* Track events; see the top. 0 or -ENOMEM. */
MUST_USE int tracks_new(struct reader *r);
void tracks_free(struct tracks *t); /* NULL is fine */
MUST_USE int tracks_descriptor(struct reader *r, struct pb_in body, uint64_t raw_ts);
MUST_USE int tracks_link(
	struct reader *r); /* after the index pass: parents, idle threads, wprof's version, fixups */
/* All events and samples as one run of records. By one worker only. 0 or -ENOMEM */
MUST_USE int tracks_settle(struct reader *r, struct decoder *dec);
struct merge;
MUST_USE int tracks_resolve(struct merge *m, struct reader *r, struct ev_hdr *rec);
MUST_USE int tracks_finish(struct reader *r); /* names of counters, samples and stacks */

/* The task running on the CPU of a record, unless that is known already. */
void merge_first(struct merge *m, const struct ev_hdr *rec, uint32_t tid);
/* To the sink; rec is changed on its way (flags, texts). Times before the last one are moved to it. */
MUST_USE int merge_push(struct merge *m, struct ev_hdr *rec);

/* The recorder, and what follows from it; after the index pass. producers.c */
void producer_find(struct reader *r);
/* Whether the file is whole, and the ends of CPUs that are not. After decoding. reach.c */
void reach_find(struct reader *r, struct rec_out *out);
/* The counts of all threads into lists of the info. info.c; 0 or -ENOMEM */
MUST_USE int info_finish(struct reader *r);
/* A text with the lifetime of the info; "" without memory. */
const char *info_text(struct reader *r, const void *s, size_t len);
/* As GROW(), for arrays that grow with the file: out of the budget. False without memory. */
bool grow_counted(const struct reader *r, void *array, size_t nr, size_t *cap, size_t size);
