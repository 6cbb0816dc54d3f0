/*
 * trace/perfetto/write/ftrace_out — events of the kernel as bundles per CPU, as Perfetto expects them.
 *
 * Switches and wakings are kept as plain rows and become columns when the bundle is written; all others are
 * encoded at once. A bundle is written at 1024 events, below 64 kB, or 100 ms of trace time. Within a CPU
 * time never goes backwards: a late event is moved to the time of the last event, and counted.
 *
 * A column of switches has only the next task, and one of wakings no waker: both follow from the
 * order on the CPU. Where the order would give the wrong task (the first switch, after a loss, or
 * when prev is not the last next), the event is written in full. One thread; memory only at a CPU's
 * first event.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"
#include "base/pb_write.h"
#include "trace/perfetto/write/names_out.h"
#include "trace/trace_tasks.h"

#define FTRACE_CPUS_MAX      8192U /* Perfetto itself reads those below 1024 */
#define FTRACE_BUNDLE_EVENTS 1024U
#define FTRACE_BUNDLE_NS     100000000ULL
#define FTRACE_BUNDLE_BYTES  65536U
#define FTRACE_BUNDLE_COMMS  512U

/* A switch (tid is next) or a waking. */
struct compact_row {
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t value; /* prev_state or target_cpu */
	int16_t prio;
	uint16_t comm_idx;
	uint8_t flags; /* common_flags of a waking */
	uint8_t pad_;
	uint16_t by; /* ABI_BY_* of a waking */
};

struct ftrace_cpu {
	uint32_t cpu;
	bool knows_current; /* since the last loss */
	uint32_t current_tid;
	bool has_lost;         /* before the first event of this bundle */
	bool has_switched;     /* current_tid is what readers take for the task on the CPU */
	bool is_cut;           /* events were lost since the last switch */
	uint64_t last_seen_ns; /* when current_tid was last known to be on the CPU */
	uint64_t last_full_ns; /* of the last switch that is not a row */
	bool has_loss;         /* an event that marks one */
	uint64_t last_loss_ns; /* of the last such event */
	bool has_lost_track, has_pressure_track, has_idle_track; /* see track_out */
	uint64_t nr_lost;                     /* of all kinds, for the track of the CPU */
	uint64_t nr_sampled[EV_SAMPLE_KINDS]; /* sums of the periods of samples */
	uint64_t last_ts_ns;                  /* of the last event, in this bundle or before */
	uint64_t prev_end_ns;                 /* end of the bundle before; 0 = there was none */
	bool has_end; /* its recorder was killed: nothing is known of it after end_ns */
	uint64_t end_ns;
	/* The open bundle. */
	uint32_t number; /* unique, so that tasks know whether their comm_idx is of this one; never 0 */
	uint64_t first_ts_ns;
	uint32_t nr_switches, nr_wakings, nr_verbose;
	uint32_t nr_inferred; /* of nr_verbose; their times are not those of the bundle */
	/* Switches from the front, wakings from the back: both together are one bundle's worth. */
	struct compact_row rows[FTRACE_BUNDLE_EVENTS];
	struct pb verbose; /* encoded FtraceEvents */
	uint32_t nr_comms;
	uint32_t comm_bytes; /* that they may take in the file */
	uint32_t idle_comm;  /* 1 + its index; 0 = not in the table */
	char comms[FTRACE_BUNDLE_COMMS][EV_COMM_LEN];
	uint16_t comm_slots[2 * FTRACE_BUNDLE_COMMS]; /* 1 + index, by hash */
};

struct ftrace_out {
	struct chunk_out *chunk;
	struct names_out *names;
	struct ftrace_cpu **cpus;
	uint32_t nr_cpus; /* allocated pointers */
	uint32_t next_number;
	bool is_started; /* the sequence has its first packet */
	uint64_t nr_clamped;
	uint64_t nr_breaks; /* switches whose prev was not the last next, losses aside */
};

void ftrace_init(struct ftrace_out *o, struct chunk_out *chunk, struct names_out *names);
void ftrace_done(struct ftrace_out *o);

/*
 * The CPU with room for one more event at *ts_ns, which is moved if it is late. -ERANGE for a CPU that
 * cannot be; -ENOMEM; or the error of writing a full bundle.
 */
MUST_USE int ftrace_at(struct ftrace_out *o, uint32_t cpu, uint64_t *ts_ns,
                       struct ftrace_cpu **out);
/* Whether a switch from prev_tid, a waking by waker_tid can be a row. */
bool ftrace_is_current(const struct ftrace_cpu *c, uint32_t tid);

/* Rows; next and task are NULL for the idle task. */
void ftrace_add_switch(struct ftrace_cpu *c, uint64_t ts_ns, const struct ev_switch *rec,
                       struct trace_task *next);
void ftrace_add_waking(struct ftrace_cpu *c, uint64_t ts_ns, const struct ev_wake *rec,
                       struct trace_task *task);

/* An event in full: its fields go between begin and end into the buffer of the CPU. */
struct ftrace_event {
	struct pb_mark event, body;
	struct pb *w;
};
struct ftrace_event ftrace_begin(struct ftrace_cpu *c, uint64_t ts_ns, uint32_t pid,
                                 uint32_t member);
void ftrace_end(struct ftrace_event *e, uint32_t flags); /* flags of the record */
/* The same of an event that was not recorded: its time may lie before that of the last one. */
struct ftrace_event ftrace_begin_inferred(struct ftrace_cpu *c, uint64_t ts_ns, uint32_t pid,
                                          uint32_t member);
void ftrace_end_inferred(struct ftrace_event *e);
/* The task on the CPU from here on. */
void ftrace_set_current(struct ftrace_cpu *c, uint32_t tid, uint64_t ts_ns);

/* Events were lost before whatever comes next on this CPU. */
MUST_USE int ftrace_lost(struct ftrace_out *o, struct ftrace_cpu *c);
/* Writes all bundles that began before ts_ns; UINT64_MAX = all. */
MUST_USE int ftrace_flush(struct ftrace_out *o, uint64_t ts_ns);
/* The rows of the open bundle as a field of a bundle, as ftrace_flush() writes them. */
void ftrace_put_compact(struct pb *w, const struct ftrace_cpu *c);
