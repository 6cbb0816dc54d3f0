/*
 * trace/perfetto/tracks/tracks_in — the inside of the reading of track events, shared by the files track_*_in.c and tracks_*.c.
 *
 * 1. tracks_link() goes once over the heads of all events: rows {time, track, category}, the task at the other end of
 *    each flow, and whether this file's switches and wakes are to be made from its track events.
 * 2. tracks_settle() puts the rows in order of time and reads each event in full, all events of one instant as a
 *    group: a switch is the end of one slice and the begin of another at the same time on the same CPU.
 *    Each category has a handler (tracks_settle.c); handlers put records into the output at once, or leave
 *    them in struct track_group for the end of the group.
 *
 * All of one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/map.h"
#include "trace/perfetto/perfetto_in.h"
#include "trace/perfetto/tracks/track_desc_in.h"
#include "trace/perfetto/tracks/track_event_in.h"

#define TRACK_PMU_MAX   32U
#define TRACK_NAMESAKES 1024U /* threads of one name that are checked */
/* The priority is not recorded: that of an ordinary task. */
#define TRACK_PRIO 120

enum { FLOW_NONE = ~0U };

/* Of a file whose switches come from ftrace: the task on a CPU before its first one. */
struct in_first {
	struct ev_hdr hdr; /* kind IN_TRACK */
	__u32 tid;
	__u32 pad_;
};

struct track_row {
	uint64_t ts_ns;
	uint32_t packet; /* in reader.packets */
	uint32_t track;
	uint8_t category; /* enum track_category */
	uint8_t type;
	bool has_extras; /* values of counters */
	uint32_t order;  /* in the file, of events of the same time */
};

/* The tasks that have events with one flow's number. */
struct track_flow {
	uint32_t wakee;  /* track; TRACK_NONE = unknown */
	uint32_t child;  /* track of FORKED */
	uint32_t begin;  /* packet with the begin of the slice that followed; FLOW_NONE = none */
	bool has_waker;  /* an instant of its own */
	bool has_parent; /* likewise, of a fork */
};

/* An open slice; below it, an older one of the same track and category. */
struct track_open {
	uint64_t ts_ns;
	struct track_text name;
	uint64_t id; /* of an interrupt, a request */
	uint32_t cpu;
	uint32_t below; /* index; TRACK_NONE = none */
	uint8_t how;
};

/* One CPU, as track events describe it. */
struct track_cpu {
	uint32_t cpu;
	uint64_t nr_events, first_ts_ns, last_ts_ns;
	uint32_t end_tid, end_state;
	uint32_t begin_tid;
	int16_t end_prio, begin_prio, current_prio;
	bool has_end, has_begin;
	bool ends_in_idle;     /* what switch_to says */
	bool begins_from_idle; /* what switch_from says */
	bool is_unknown;       /* since a switch to a task that is not in this file */
	bool has_current;
	uint32_t current; /* since the last switch */
};

/*
 * The file says whether it was for another queue; else the task that begins to run at that instant
 * was not.
 */
enum { LEAVE_IS_REPORTED = 1 };

/* What waits for the end of its instant. */
struct track_group {
	struct ev_switch *switches; /* with EV_LOST where size is 0 */
	size_t nr_switches, cap_switches;
	struct ev_scx_run *runs;
	size_t nr_runs, cap_runs;
	struct ev_dsq_leave *leaves; /* hdr.flags: LEAVE_* */
	size_t nr_leaves, cap_leaves;
	uint32_t *begun; /* tids that are switched in */
	size_t nr_begun, cap_begun;
	uint32_t *cpus; /* touched, as indices */
	size_t nr_cpus, cap_cpus;
};

/* Whose strings: the state of a sequence. */
struct track_strings_at {
	const struct reader *r;
	uint32_t state;
};

/* One thread that has had a name; below it, others that had the same. */
struct track_name_of {
	uint32_t tid;
	uint32_t below; /* index; TRACK_NONE = none */
};

/* What is known of the life of a thread, as bits. */
enum { LIFE_HAS_BIRTH = 1, LIFE_IS_BORN = 2, LIFE_IS_OVER = 4 };

struct tracks {
	struct track_descs *descs;
	uint8_t *keys, *categories; /* by text */
	size_t nr_texts;
	struct track_row *rows;
	size_t nr_rows, cap_rows;
	uint64_t first_ts_ns; /* of all rows */
	struct map *flow_ids;
	struct track_flow *flows;
	size_t nr_flows, cap_flows;
	uint64_t nr_begins, nr_ends, nr_ftrace_switches;
	bool has_ftrace, is_wprof, is_old; /* of wprof */
	bool has_missing_tasks;            /* tasks that ran are not in the file */
	bool has_losses; /* nor are events of those that are: then nothing is sure */
	bool uses_switches, uses_wakes;
	bool has_stays; /* slices of tasks in dispatch queues */

	struct map *cpu_ids;
	struct track_cpu *cpus;
	size_t nr_cpus, cap_cpus;
	struct map *last_cpus; /* tid -> CPU it last ran on */
	struct map *open_tops; /* {track, category} -> index in opens */
	struct track_open *opens;
	size_t nr_opens, cap_opens;
	uint32_t free_open;
	struct track_group group;

	struct intern *names; /* of threads */
	uint32_t *name_tops;  /* by name: the last thread to have it, in name_of */
	size_t nr_name_tops, cap_name_tops;
	struct track_name_of *name_of;
	size_t nr_name_of, cap_name_of;
	struct map *lives; /* tid -> LIFE_* */

	struct track_text pmu_keys[TRACK_PMU_MAX];
	bool pmu_is_ratio[TRACK_PMU_MAX];
	uint32_t nr_pmu;
	struct intern *probes; /* type and name */
	struct map *generic;   /* tid -> enum of its last state, and where it runs */
	struct track_stacks *stacks;
};

/* One event and where we are. */
struct track_at {
	struct reader *r;
	struct tracks *t;
	struct decoder *dec;
	struct track_event_in e;
	struct track_strings_at strings;
	const struct track_in *track;
	const struct packet *packet;
	uint64_t ts_ns;
	uint32_t track_idx;
	uint32_t tid;  /* of the track's thread; 0 = idle, or none */
	uint32_t tgid; /* 0 = unknown */
	uint32_t cpu;
	bool has_cpu;
	uint8_t category;
	int16_t prio; /* of the task, where the event says it; else TRACK_PRIO */
	int err;      /* -ENOMEM; sticks */
};

/* A record of a kind at the time of the event, its fixed part cleared. */
void *track_rec(struct track_at *at, uint8_t kind, size_t size, uint32_t cpu, uint64_t ts_ns);
/* Cut to what fits, ended by a NUL. */
void track_comm(char *dst, size_t size, struct track_text text);
void track_damage(struct track_at *at, enum damage what);
/* The strings of a sequence; at must live as long. */
struct track_strings track_strings_of(const struct track_strings_at *at);
/* The flow of that number, a new one if is_new; NULL if there is none. */
struct track_flow *track_flow_get(struct tracks *t, uint64_t id, bool is_new);
/* The thread that alone, of those alive, has this name. */
bool track_tid_by_name(struct track_at *at, struct track_text name, uint32_t *tid);
/* Sets and clears bits of LIFE_*. */
MUST_USE int track_live(struct tracks *t, uint32_t tid, uint32_t set, uint32_t clear);

/* Handlers. */
void track_oncpu(struct track_at *at);
void track_waker(struct track_at *at);
void track_wakee(struct track_at *at);
void track_forking(struct track_at *at);
void track_forked(struct track_at *at);
void track_exec(struct track_at *at);
void track_rename(struct track_at *at);
void track_exit(struct track_at *at);
void track_affinity(struct track_at *at);
void track_free(struct track_at *at);
void track_hardirq(struct track_at *at);
void track_softirq(struct track_at *at);
void track_work(struct track_at *at);
void track_ipi(struct track_at *at);
void track_ipi_send(struct track_at *at);
void track_dsq(struct track_at *at);
void track_scx(struct track_at *at);
void track_request(struct track_at *at);
void track_span(struct track_at *at);
void track_timer(struct track_at *at);
/* A sample that an event has caused, by its name: of a CPU if that is its clock or its cycles. */
void track_event_sample(struct track_at *at, struct track_text event, uint64_t weight);
void track_pmu(struct track_at *at);
void track_probe(struct track_at *at);
void track_counter(struct track_at *at);
void track_extra_counters(struct track_at *at); /* that are part of another event */

/* Slices: one begins, and one ends; false if none was open. */
void track_open(struct track_at *at, const struct track_open *open);
bool track_close(struct track_at *at, struct track_open *out);

/* One half of a switch on at->cpu: the task of at->tid is switched out, or in. */
void track_task_leaves(struct track_at *at, uint32_t state, bool is_to_idle);
void track_task_comes(struct track_at *at, bool is_from_idle);
void track_put_wake(struct track_at *at, uint32_t tid, uint32_t waker, bool is_new);

/* Parts of handlers. */
void track_scx_run(struct track_at *at);
void track_pmu_values(struct track_at *at);
void track_group_end(struct track_at *at);
MUST_USE int track_pmu_scan(struct reader *r); /* which counters there are */
/* A time span in a dispatch queue that ends now. */
void track_dsq_leave(struct track_at *at, const struct ev_dsq_leave *leave);

/* Stacks and samples. */
MUST_USE int track_stacks_new(struct track_stacks **out);
void track_stacks_free(struct track_stacks *s);
void track_sample(struct track_at *at, enum trace_sample_kind kind, uint64_t callstack_iid,
                  uint64_t weight);
void track_perf_sample(struct track_at *at);
MUST_USE int track_stacks_finish(struct reader *r);

/* Of kernels without ftrace. */
void track_task_state(struct track_at *at);
void track_task_rename(struct track_at *at);
void track_cpu_freq(struct track_at *at);
