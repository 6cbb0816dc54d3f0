/*
 * analyze/latency — what a wait counts for, in every analysis alike.
 *
 * Wakeup latency is the wait of a task that was woken, or that is new: from its waking where that was recorded,
 * else from its wakeup, to the switch-in. Scheduling delay is any wait, that of a preempted task too, from the moment
 * since which it was in a queue: the wakeup where recorded, else the waking, or the switch-out. A wait
 * that had not ended when the recording did has no latency yet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/report.h"
#include "analyze/source.h"
#include "model/pair.h"

/* Where latencies begin, to be reported with them. */
struct latency_from {
	uint64_t waking;
	uint64_t wakeup;
	uint64_t switch_out; /* of preempted tasks, where an analysis takes them in */
};

/* Whether it is one of a task woken or new, and over. */
bool latency_counts(const struct pair_wait *w);
/* Of a wait of any cause. */
static inline uint64_t latency_ns(const struct pair_wait *w)
{
	return w->end_ns - pair_wait_woken_ns(w);
}
uint64_t latency_queue_ns(const struct pair_wait *w);
/* The interrupt_key() of a waking in an interrupt. */
uint32_t latency_interrupt(uint8_t flags, uint16_t by);
/* Its waker: a task, an interrupt (interrupt_key()), or TASKS_NONE for idle or unknown. */
static inline uint32_t latency_waker(const struct pair_wait *w)
{
	return w->flags & (EV_FLAG_NMI | EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ)
	               ? latency_interrupt(w->flags, w->by)
	               : w->waker;
}
const char *latency_cause(const struct pair_wait *w); /* woken, new, preempted */
/* Whether a quota took its CPU, and not the task that had it next. Needs the index of throttlings by task. */
bool latency_is_throttled(const struct source *s, const struct pair_wait *w);

void latency_from_add(struct latency_from *f, const struct pair_wait *w);
/*
 * Members from (waking if any begins there, else wakeup, else switch_out, null if none), from_waking and
 * from_wakeup; from_switch_out where there are such.
 */
void latency_from_report(const struct latency_from *f, struct report *r);
/* The member from of one wait: waking, wakeup or switch_out. */
void latency_from_one(const struct pair_wait *w, struct report *r);
