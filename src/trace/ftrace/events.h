/*
 * trace/ftrace/events — events of the kernel become records, whatever format they come in.
 *
 * Events and their fields go by the numbers that Perfetto's FtraceEvent gives them (perfetto/schema.h), as it has one for
 * each name of the kernel: ftrace_member() and ftrace_field() find them by name. A format fills struct ftrace_event_in and
 * calls ftrace_event_record(), or ftrace_cpus_take() (cpus.h), which also counts it and its time.
 *
 * Lanes of a CPU are numbered so that where times are equal a loss comes first and a switch last.
 */
#pragma once

#include "trace/decoder.h"
#include "trace/perfetto/schema.h"

enum { LANE_LOST, LANE_WAKINGS, LANE_EVENTS, LANE_SWITCHES, LANES_PER_CPU };

/* The CPU whose events are read. */
struct ftrace_cpu {
	struct decoder *dec;
	const struct fixups *fix;
	uint32_t cpu;
	uint64_t first_ts_ns, last_ts_ns; /* of its events so far; first > last = none */
	uint64_t nr_events;
	uint64_t nr_losses; /* times that events before these are missing */
	uint64_t nr_lost;   /* how many, as far as it is known */
	/* The text of decoder_text() that is the name of the function at an address; 0 = unknown. NULL = all are. */
	uint32_t (*find_symbol)(struct ftrace_cpu *on, uint64_t address);
	const void *find_ctx;
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
	struct pb_in body; /* where its texts are; read beyond them to the end of it */
	/* Its fields, those below EVENT_FIELDS. */
	uint32_t has;   /* bit per field */
	uint32_t texts; /* bit per field that is bytes */
	uint64_t values[EVENT_FIELDS];
	const uint8_t *bytes[EVENT_FIELDS];
};

/* The name of an event, NULL if we do not know it. */
const char *ftrace_name(uint32_t member);
/* The number of an event of the kernel; 0 = unknown. Slow: once per format, or per name. */
uint32_t ftrace_member(const char *name, size_t len);
/* The number of one of its fields, below EVENT_FIELDS; 0 = of no use to us. names.c */
uint32_t ftrace_field(uint32_t member, const char *name, size_t len);
/* All of them, a bit each. */
uint32_t ftrace_fields(uint32_t member);
/* Whether it has a record; others are only counted. */
bool ftrace_makes_record(uint32_t member);
/* Its record; fields are read. Only where there is one. */
void ftrace_event_record(struct ftrace_cpu *on, const struct ftrace_event_in *e);
/* cgroup.c */
void ftrace_cgroup(struct ftrace_cpu *on, const struct ftrace_event_in *e);
void ftrace_cgroup_info(struct ftrace_cpu *on, const struct ftrace_event_in *e);
/* own.c */
void ftrace_policy(struct ftrace_cpu *on, const struct ftrace_event_in *e);
void ftrace_lock(struct ftrace_cpu *on, const struct ftrace_event_in *e);
/* calls.c: system calls. Their fields have numbers of our own, but for the first. */
enum { CALL_ID = 1, CALL_ARG0 = 20, CALL_ARG1 = 21 };
enum { FTRACE_SYS_ENTER = 329, FTRACE_SYS_EXIT = 330 }; /* members */
void ftrace_on_call(struct ftrace_cpu *on, const struct ftrace_event_in *e);
/* The call of a number on that machine; false if the machine is not known to us. */
bool ftrace_call_of(const struct trace_info *info, uint64_t nr, uint16_t *out);
/* marks.c: what programs write into trace_marker; of the driver's own event, a name and whether it begins. */
enum { FTRACE_MARK = 80 }; /* its member */
enum { MARK_TEXT = PRINT_BUF, MARK_BEGINS = 3 };
void ftrace_on_mark(struct ftrace_cpu *on, const struct ftrace_event_in *e);
/* What Android's kernels say of a CPU when they place a task: three values, of no process. */
void ftrace_on_cpu_util(struct ftrace_cpu *on, const struct ftrace_event_in *e);
/* Those that only our recorder writes. */
void ftrace_on_throttle(struct ftrace_cpu *on, const struct ftrace_event_in *e);
void ftrace_on_refill(struct ftrace_cpu *on, const struct ftrace_event_in *e);
void ftrace_on_steal(struct ftrace_cpu *on, const struct ftrace_event_in *e);
void ftrace_on_rt_limit(struct ftrace_cpu *on, const struct ftrace_event_in *e);
void ftrace_on_throttled(struct ftrace_cpu *on, const struct ftrace_event_in *e);

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

/* What was open on this CPU ends in the dark, whatever it was; how many events were lost is not known. */
void ftrace_loss(struct ftrace_cpu *on, uint64_t ts_ns);
/* Its counts into those of its decoder; once. */
void ftrace_cpu_count(const struct ftrace_cpu *on);

/* fixups.state_dialect of the kernel that a trace names. */
uint32_t ftrace_state_dialect(const struct trace_info *info);
/* prev_state as a current kernel reports it, whatever dialect it is in. */
uint32_t ftrace_state(struct ftrace_cpu *on, uint64_t raw);

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
