/*
 * trace/perfetto/perfetto_in — the inside of the reader of Perfetto's format: its passes and their order.
 *
 * 1. Index pass (index.c, caller's thread, in file order). Walks the packets of the file and of the inflated
 *    blocks. Headers, interned data, defaults, clocks and everything that describes (process tree, system
 *    info, track descriptors, ...) are read here; payloads that hold events are only noted, as one struct
 *    packet each, with the state of their sequence at that moment (struct seq_state, immutable).
 * 2. Between (read.c): clocks are linked, interned tables sorted, the producer is known (producers.c) and with
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

#include "trace/reader_priv.h"

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
	PACKET_FIRST_OF_CPU = 4, /* no bundle of this CPU was before it */
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

/* The recorder, and what follows from it; after the index pass. producers.c */
void producer_find(struct reader *r);
/* Whether the file is whole, and the ends of CPUs that are not. After decoding. reach.c */
void reach_find(struct reader *r, struct rec_out *out);
