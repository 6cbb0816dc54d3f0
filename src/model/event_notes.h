/*
 * model/event_buffer — the last records, with who their tasks were at that moment.
 *
 * Fed with the records themselves, after model/pair has seen them. Records have numbers that only grow, so
 * that a reader who knows the last number it has seen goes on from there and knows what it missed. Switches
 * carry what only the stream knows: how long the task that leaves was on the CPU, and what the records of
 * sched_ext around the switch say of both; ends of softirqs, how long they took.
 *
 * Bounded by max_events and max_bytes: the oldest make room. Nothing is allocated per record once all CPUs
 * have been seen. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "model/tasks.h"

struct event_buffer;

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
struct event_who {
	uint32_t comm_id; /* 0 = unknown */
	uint32_t tgid;    /* 0 = unknown */
};

struct event_entry {
	uint64_t number; /* from 1 on */
	const struct ev_hdr *rec;
	struct event_who who[2];
	uint64_t used_ns; /* switch: how long prev was on the CPU; end of a softirq: how long; 0 = unknown */
	const struct event_scx *prev, *next; /* of a switch; NULL = nothing known */
};

struct event_buffer_cfg {
	const struct tasks *tasks; /* lent */
	uint32_t max_events;       /* 0 picks 100000 */
	uint32_t max_bytes;        /* 0 picks 16 MiB */
};

struct event_buffer_stats {
	uint32_t current_size; /* records */
	uint32_t max_size;
	uint64_t total_received;
	uint64_t total_dropped; /* of those, no longer there */
	uint64_t oldest_ns;     /* meaningful when current_size > 0 */
	uint64_t newest_ns;
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int event_buffer_new(const struct event_buffer_cfg *cfg, struct event_buffer **out);
void event_buffer_free(struct event_buffer *b); /* NULL is fine */
struct ev_sink event_buffer_sink(struct event_buffer *b);
void event_buffer_reset(struct event_buffer *b);
/* Records are missing between the last and the next one: who is on a CPU is not known. */
void event_buffer_resume(struct event_buffer *b);
void event_buffer_stats(const struct event_buffer *b, struct event_buffer_stats *out);
/* Record i, the oldest is 0. What it points to is valid until the next record comes. False beyond the last. */
bool event_buffer_at(const struct event_buffer *b, uint32_t i, struct event_entry *out);
/* How many of the oldest have a number up to that one: where a reader goes on. */
uint32_t event_buffer_after(const struct event_buffer *b, uint64_t number);
