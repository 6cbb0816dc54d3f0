/*
 * model/event_notes — what only the stream knows of a record, noted behind it in a log of records.
 *
 * Fed with the records themselves, after model/pair has seen them. Each goes into the log (model/event_log, which keeps
 * them whole) with the names of its tasks at that moment. Switches carry how long the previous task was on the
 * CPU, and what the records of sched_ext around the switch say of both; ends of softirqs, how long they took. What becomes known
 * of a switch after it is added to it there, unless a snapshot has it already.
 *
 * Nothing is allocated per record once all CPUs have been seen. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "model/tasks.h"

struct event_log;
struct event_notes;

/* What sched_ext says of a task on a CPU; what it does not say is EV_DSQ_INVALID, EV_NO_LAYER or without has_. */
struct event_scx {
	uint64_t dsq_id;
	uint64_t dsq_ns; /* from the insertion to the switch-in */
	uint64_t vtime;
	uint64_t slice_ns;
	uint64_t depth; /* of the queue */
	uint32_t layer;
	uint32_t tid;
	bool has_dsq_ns, has_vtime, has_slice, has_depth;
};

/* The two tasks of a record: switch: prev, next; wake: wakee, waker; fork: parent, child; else the one, none. */
struct event_task {
	uint32_t comm_id; /* 0 = unknown */
	uint32_t tgid;    /* 0 = unknown */
};

struct event_entry {
	const struct ev_hdr *rec;
	uint32_t size; /* of the record without the notes, which its header counts */
	struct event_task tasks[2];
	uint64_t used_ns; /* switch: how long prev was on the CPU; end of a softirq: how long; 0 = unknown */
	const struct event_scx *prev, *next; /* of a switch; NULL = nothing known */
};

/* tasks and log are lent; the log must keep records whole. -ENOMEM. */
MUST_USE int event_notes_new(const struct tasks *tasks, struct event_log *log,
                             struct event_notes **out);
void event_notes_free(struct event_notes *n); /* NULL is fine */
struct ev_sink event_notes_sink(struct event_notes *n);
/* Records are missing between the last and the next one: the task on each CPU is unknown. */
void event_notes_resume(struct event_notes *n);
/* A record of the log with its notes; what it points to is valid as long as the record is. */
struct event_entry event_notes_read(const struct ev_hdr *rec);
