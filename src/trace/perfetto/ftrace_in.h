/*
 * trace/perfetto/ftrace_in — bundles of the kernel's events become records of one CPU.
 *
 * Inside of ftrace_decode(): what the parts of it share. A bundle makes up to four runs: losses, wakings and
 * switches in compact form, events in full. Lanes of a CPU are numbered so that where times are equal a loss
 * comes first and a switch last.
 */
#pragma once

#include "trace/perfetto/decoder.h"
#include "trace/perfetto/schema.h"

enum { LANE_LOST, LANE_WAKINGS, LANE_EVENTS, LANE_SWITCHES, LANES_PER_CPU };

struct bundle {
	struct decoder *dec;
	const struct fixups *fix;
	uint32_t cpu;
	uint32_t state; /* of its sequence, for interned symbols */
	uint32_t clock; /* CLOCK_OF_TRACE = as it is */
	bool has_offset;
	uint64_t offset_ns; /* to add, for clocks that the bundle itself explains */
	uint64_t first_ts_ns, last_ts_ns;
	uint64_t nr_events;
	bool is_lost; /* events before these are missing */
};

/* One event in full. */
#define EVENT_FIELDS 24U
struct ftrace_event_in {
	uint64_t ts_ns;
	uint32_t pid; /* 0 unless has_pid */
	bool has_pid;
	uint8_t flags; /* EV_FLAG_* */
	uint16_t by;   /* ABI_BY_*, of wakes */
	uint64_t ours; /* CGROUP_*, of cgroups */
	uint32_t member;
	struct pb_in body;
	/* Its fields, those below EVENT_FIELDS. */
	uint32_t has;   /* bit per field */
	uint32_t texts; /* bit per field that is bytes */
	uint64_t values[EVENT_FIELDS];
	const uint8_t *bytes[EVENT_FIELDS];
};

/* The name of an event, NULL if we do not know it. */
const char *ftrace_name(uint32_t member);
/* The record of an event, if there is one for it; fields are read. False for a member that we do not know. */
bool ftrace_event_record(struct bundle *b, struct ftrace_event_in *e);
/* ftrace_cgroup.c */
void ftrace_cgroup(struct bundle *b, const struct ftrace_event_in *e);
void ftrace_cgroup_info(struct bundle *b, const struct ftrace_event_in *e);
/* ftrace_own.c */
void ftrace_policy(struct bundle *b, const struct ftrace_event_in *e);
void ftrace_lock(struct bundle *b, const struct ftrace_event_in *e);
void compact_decode(struct bundle *b, struct pb_in body);

/* Those that only our recorder writes. */
void ftrace_on_throttle(struct bundle *b, const struct ftrace_event_in *e);
void ftrace_on_refill(struct bundle *b, const struct ftrace_event_in *e);
void ftrace_on_steal(struct bundle *b, const struct ftrace_event_in *e);
void ftrace_on_rt_limit(struct bundle *b, const struct ftrace_event_in *e);
void ftrace_on_throttled(struct bundle *b, const struct ftrace_event_in *e);

/* A time of the bundle on the trace's clock; false if it is from before the recording. Counts it. */
static inline bool bundle_time(struct bundle *b, uint64_t raw, uint64_t *out)
{
	uint64_t ns = b->has_offset ? raw + b->offset_ns : raw;

	if (!b->has_offset && b->clock != CLOCK_OF_TRACE)
		ns = clocks_to_trace(&b->dec->r->clocks, b->clock, raw);
	if (ns < b->dec->r->drop_before_ns) {
		b->dec->tally->damage[DAMAGE_EVENT_BEFORE_START]++;
		return false;
	}
	if (ns < b->first_ts_ns)
		b->first_ts_ns = ns;
	if (ns > b->last_ts_ns)
		b->last_ts_ns = ns;
	b->nr_events++;
	*out = ns;
	return true;
}

/* Negative ones are idle threads of some dialect. */
static inline uint32_t tid_of(uint64_t value)
{
	int32_t tid = pb_to_int32(value);

	return tid < 0 ? 0 : (uint32_t)tid;
}

static inline int16_t prio_of(uint64_t value)
{
	int32_t prio = pb_to_int32(value);

	return (int16_t)(prio < INT16_MIN || prio > INT16_MAX ? 0 : prio);
}

/* prev_state as a current kernel reports it, whatever dialect it is in. */
uint32_t ftrace_state(struct bundle *b, uint64_t raw);

static inline uint8_t flags_of(uint64_t common_flags)
{
	return (uint8_t)((common_flags & COMMON_FLAG_HARDIRQ ? EV_FLAG_HARDIRQ : 0) |
	                 (common_flags & COMMON_FLAG_SOFTIRQ ? EV_FLAG_SOFTIRQ : 0) |
	                 (common_flags & COMMON_FLAG_NMI ? EV_FLAG_NMI : 0));
}

/* Our own word for the interrupt; what is out of range says nothing. */
static inline uint16_t by_of(uint64_t value)
{
	return value <= UINT16_MAX ? (uint16_t)value : ABI_BY_NOT_RECORDED;
}
