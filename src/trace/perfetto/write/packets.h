/*
 * trace/perfetto/write/packets — single packets of a trace, from plain values to bytes; nothing is remembered here.
 *
 * Each function appends one whole packet to the buffer. Errors are those of the buffer and stick there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pb_write.h"
#include "trace/facts.h"

/* What comes before the payload. */
struct packet_head {
	bool has_ts;
	uint64_t ts_ns;
	uint32_t seq;
	uint32_t seq_flags;
	const struct pb *interned; /* fields of an InternedData; NULL or empty = none */
	const struct pb *defaults; /* fields of a TracePacketDefaults; likewise */
};

struct pb_mark packet_begin(struct pb *w, const struct packet_head *head);
void packet_end(struct pb *w, struct pb_mark mark);

void packet_clock_snapshot(struct pb *w, const struct trace_clocks *clocks);
void packet_system_info(struct pb *w, const struct trace_system *system, const char *tool);
void packet_uuid(struct pb *w, const struct trace_uuid *uuid);
void packet_attributes(struct pb *w, const struct trace_attr *attrs, size_t nr);
void packet_cpu_info(struct pb *w, const struct trace_cpu *cpus, size_t nr);
/* A TraceConfig with the events of ftrace that were asked for: then absence means something. */
void packet_config(struct pb *w, const char *const *events, size_t nr);

enum track_kind { TRACK_PLAIN, TRACK_OF_THREAD, TRACK_OF_COUNTER };

struct track_desc {
	enum track_kind kind;
	uint64_t ts_ns; /* at or before its first event */
	uint64_t uuid;
	uint64_t parent_uuid; /* 0 = none */
	const char *name;
	uint32_t tgid, tid; /* of a thread; of one whose process is unknown, the tid alone */
	const char *unit;   /* of a counter; NULL = a plain count */
	bool is_time;       /* a counter of nanoseconds */
	bool has_ranks;     /* its children say in which order they come */
	int32_t rank;       /* among its siblings, if they have ranks; 0 = first, or none */
};
void packet_track(struct pb *w, const struct track_desc *desc);

enum track_arg_type { ARG_INT, ARG_UINT, ARG_DOUBLE, ARG_POINTER, ARG_TEXT };

struct track_arg {
	uint64_t name_iid;
	enum track_arg_type type;
	union {
		int64_t i;
		uint64_t u; /* also a pointer */
		double d;
		const char *text;
	};
};

/* values of TrackEvent.type */
enum track_event_type {
	TRACK_SLICE_BEGIN = 1,
	TRACK_SLICE_END = 2,
	TRACK_INSTANT = 3,
	TRACK_COUNTER_VALUE = 4,
};

struct track_event {
	struct packet_head head;
	enum track_event_type type;
	uint64_t track_uuid;
	uint64_t name_iid;     /* 0 = none */
	uint64_t category_iid; /* 0 = none */
	int64_t value;         /* of a counter */
	const struct track_arg *args;
	size_t nr_args;
	const uint64_t *flows; /* unique in the file */
	size_t nr_flows;
	const uint64_t *last_flows; /* those that end here */
	size_t nr_last_flows;
};
void packet_track_event(struct pb *w, const struct track_event *event);
