/*
 * trace/perfetto/tracks/track_event_in — one TrackEvent, read: what it is, its track, and the annotations that we
 * know.
 *
 * Strings of a TrackEvent are numbers of a table that may come later in the file, so events are read once all
 * tables are known, through struct track_strings. Integers may be written as int, uint, double or bool, and
 * strings inline or by number. Nothing is copied or allocated. Nested annotations are skipped. An event is as
 * large as its keys and used again for the next one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/perfetto/pb_read.h"
#include "trace/perfetto/tracks/track_desc_in.h"

/* Categories with a meaning: name, as the file has it. */
/* clang-format off */
#define TRACK_CATEGORIES(X) \
	X(ONCPU) X(WAKER) X(WAKER_NEW) X(WAKEE) X(WAKEE_NEW) X(WAKEE_UNKNOWN) X(PREEMPTOR) \
	X(PREEMPTEE) X(TIMER) X(PMU) X(FORKING) X(FORKED) X(EXEC) X(RENAME) X(EXIT) X(FREE) \
	X(HARDIRQ) X(SOFTIRQ) X(WQ) X(IPI_SEND) X(IPI) X(SCX_DSQ) X(REQUEST) \
	X(REQUEST_THREAD) X(REQUEST_ONCPU) X(REQUEST_OFFCPU) X(kprobe) X(uprobe) \
	X(uretprobe) X(tracepoint) X(probe) X(affinity) X(scx) X(span)
/* clang-format on */

enum track_category {
	CATEGORY_OTHER, /* one that means nothing to us, or none */
#define X(name) CATEGORY_##name,
	TRACK_CATEGORIES(X)
#undef X
		CATEGORY_MAX,
};

/* Keys of annotations with a meaning: constant, text. */
/* clang-format off */
#define TRACK_KEYS(X) \
	X(CPU, "cpu") X(NUMA_NODE, "numa_node") X(OFFCPU_REASON, "offcpu_reason") \
	X(OFFCPU_REASON_OLD, "standby_reason") X(WAKER, "waker") X(WAKER_TID, "waker_tid") \
	X(WAKER_CPU, "waker_cpu") X(WAKING_REASON, "waking_reason") \
	X(WAKING_DELAY_US, "waking_delay_us") X(COMPOUND_DELAY_US, "compound_delay_us") \
	X(COMPOUND_CHAIN_LEN, "compound_chain_len") X(SWITCH_FROM, "switch_from") \
	X(SWITCH_FROM_TID, "switch_from_tid") X(SWITCH_TO, "switch_to") \
	X(SWITCH_TO_TID, "switch_to_tid") X(SCX_LAYER_ID, "scx_layer_id") \
	X(SCX_DSQ_ID, "scx_dsq_id") X(LAYER_ID, "layer_id") X(DSQ_ID, "dsq_id") \
	X(SCX_SLICE_NS, "scx_slice_ns") X(SCX_VTIME, "scx_vtime") X(SCX_MOVED, "scx_moved") X(SCX_DEQUEUED, "scx_dequeued") \
	X(SCX_DSQ_CUT, "scx_dsq_cut") X(SCX_OPS, "scx_ops") X(SCX_EXIT_KIND, "scx_exit_kind") \
	X(SCX_EXIT_CODE, "scx_exit_code") X(SCX_MESSAGE, "scx_message") X(WAKEE, "wakee") \
	X(WAKEE_TID, "wakee_tid") X(FORKED_INTO, "forked_into") \
	X(FORKED_INTO_TID, "forked_into_tid") X(FORKED_INTO_PID, "forked_into_pid") \
	X(FORKED_FROM_TID, "forked_from_tid") X(FORKED_FROM_PID, "forked_from_pid") \
	X(FILENAME, "filename") X(TID_CHANGED_FROM, "tid_changed_from") \
	X(OLD_NAME, "old_name") X(NEW_NAME, "new_name") X(RENAMED_TO, "renamed_to") \
	X(IRQ, "irq") X(ACTION, "action") X(TARGET_CPU, "target_cpu") \
	X(SENDER_CPU, "sender_cpu") X(REQ_NAME, "req_name") X(REQ_ID, "req_id") \
	X(SAMPLE_PERIOD, "sample_period") X(IP, "ip") X(CPUS_ALLOWED, "cpus_allowed") \
	X(SPAN_CATEGORY, "span_category")
/* clang-format on */

enum track_key {
	KEY_OTHER,
#define X(name, text) KEY_##name,
	TRACK_KEYS(X)
#undef X
		KEY_MAX,
	KEY_PMU = 62,  /* "pmu:*" */
	KEY_KILO = 63, /* "*_kilo": thousands */
};

enum track_value_type { VALUE_INT, VALUE_DOUBLE, VALUE_TEXT, VALUE_TEXT_IID };

struct track_value {
	uint32_t type;
	union {
		int64_t i;
		double d;
		uint64_t iid;
		struct track_text text;
	};
};

#define TRACK_COUNTS_MAX 32U /* performance counters of one event */
#define TRACK_FLOWS_MAX  8U
#define TRACK_EXTRAS_MAX 8U

struct track_pmu_value {
	struct track_text key;
	double value;
};

/* Where the strings of one event's table are. */
struct track_strings {
	/* Text number iid of the table of InternedData field; false if there is none. *id is its number. */
	bool (*find)(const void *ctx, uint32_t field, uint64_t iid, struct track_text *out,
	             uint32_t *id);
	const void *ctx;
	const uint8_t *keys; /* enum track_key of each text, by its number; may be NULL */
	size_t nr_keys;
};

/* Values of counters that are part of another event; doubles as their bits. */
struct track_extras {
	uint64_t uuids[TRACK_EXTRAS_MAX], values[TRACK_EXTRAS_MAX];
	uint32_t nr_uuids, nr_values;
};

struct track_event_in {
	uint64_t uuid;
	uint64_t name_iid, category_iid, callstack_iid;
	struct track_text name, category; /* inline ones */
	uint64_t flows[TRACK_FLOWS_MAX];
	uint64_t has_keys; /* bit per enum track_key */
	uint32_t nr_flows, nr_counts;
	uint8_t type;
	bool has_uuid, has_counter, has_double, has_absolute_us, has_delta_us, is_bad;
	int64_t counter, time_us;
	double double_counter;
	struct track_extras extra, extra_double;
	struct track_strings strings;
	struct track_value values[KEY_MAX];
	struct track_pmu_value counts[TRACK_COUNTS_MAX];
};

/* All but the annotations: type, track, times, flows, counters. */
void track_event_head(struct track_event_in *e, struct pb_in in);
/* Everything. */
void track_event_read(struct track_event_in *e, struct pb_in in, struct track_strings strings);

struct track_text track_event_name(const struct track_event_in *e);
struct track_text track_event_category_text(const struct track_event_in *e);
enum track_category track_category_of(struct track_text text);
enum track_key track_key_of(struct track_text text);

/* False if the event has no such annotation, or one of another type. *out then stays as it is. */
bool track_arg_int(const struct track_event_in *e, enum track_key key, int64_t *out);
bool track_arg_text(const struct track_event_in *e, enum track_key key, struct track_text *out);
/* An int that fits 32 bits; otherwise what is given. */
uint32_t track_arg_u32(const struct track_event_in *e, enum track_key key, uint32_t otherwise);

bool track_text_is(struct track_text text, const char *s);
bool track_text_begins(struct track_text text, const char *s);
