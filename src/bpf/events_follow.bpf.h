/*
 * bpf/events_follow — sampling: one wakeup in N is chosen, and followed until the slice that
 * results from it has ended. So the recorded waits and slices are complete, and other events cost
 * two lookups.
 *
 * A followed task is found by tid in a preallocated table. Its steps happen one after the other
 * under the kernel's own locks (waking under the task's, switches under the queue's), so plain
 * stores suffice. The choice is random, not by counting: two tasks that wake each other in turn
 * would share an even number so that only one of them is ever seen.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"

enum {
	FOLLOW_EARLY =
		1, /* chosen while it was on a CPU: its wakeup will show whether it slept at all */
	FOLLOW_WAIT,  /* until its switch-in */
	FOLLOW_SLICE, /* until its switch-out */
};

/* tid -> FOLLOW_*; sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} followed SEC(".maps");

static __always_inline bool is_sampling(void)
{
	return cfg.one_in > 1;
}

static __always_inline __u32 *follow_state(struct task_struct *p)
{
	__u32 tid = (__u32)p->pid;

	return tid ? bpf_map_lookup_elem(&followed, &tid) : NULL;
}

static __always_inline void follow_end(struct task_struct *p)
{
	__u32 tid = (__u32)p->pid;

	bpf_map_delete_elem(&followed, &tid);
}

/* Gaps between two that are chosen are any of 1 to 2N - 1, which is N on average. */
static __always_inline bool is_chosen(struct ev_cpu *c)
{
	if (c->nr_to_skip) {
		c->nr_to_skip--;
		return false;
	}
	c->nr_to_skip = bpf_get_prandom_u32() % (2 * cfg.one_in - 1);
	return true;
}

static __noinline bool follow_begin(struct task_struct *p, __u32 state)
{
	struct ev_cpu *c = this_cpu();
	__u32 tid = (__u32)p->pid;

	if (!c || !is_open || !is_chosen(c))
		return false;
	if (!bpf_map_update_elem(&followed, &tid, &state, BPF_NOEXIST))
		return true;
	c->lost[EV_WAKING]++;
	return false;
}

/*
 * Whether this waking is recorded. If the task has not left its CPU yet, only the wakeup will be.
 */
static __always_inline bool follow_waking(struct task_struct *p)
{
	bool is_on_cpu = p->on_cpu;

	if (follow_state(p))
		return false;
	if (!is_on_cpu && task_stays_queued(p)) /* it did not sleep */
		return false;
	return follow_begin(p, is_on_cpu ? FOLLOW_EARLY : FOLLOW_WAIT) && !is_on_cpu;
}

static __always_inline bool follow_wakeup(struct task_struct *p)
{
	__u32 *state = follow_state(p);

	if (!state)
		return false;
	if (*state == FOLLOW_EARLY) {
		if (p->on_cpu) { /* it was running all the time */
			follow_end(p);
			return false;
		}
		*state = FOLLOW_WAIT;
	}
	return *state == FOLLOW_WAIT;
}

static __always_inline bool follow_migrate(struct task_struct *p)
{
	__u32 *state = follow_state(p);

	return state && *state == FOLLOW_WAIT;
}

/*
 * Which of both tasks the record is about: a followed task was wanted when following began. True if
 * that of prev ends here.
 */
static __always_inline bool follow_switch(const struct switch_args *a, bool *has_prev,
                                          bool *has_next)
{
	__u32 *prev = follow_state(a->prev), *next = follow_state(a->next);

	/* In a slice, or marked as waiting although it ran: then its switch-in was not reported. */
	*has_prev = prev && *prev != FOLLOW_EARLY;
	*has_next = next && *next == FOLLOW_WAIT;
	if (*has_next)
		*next = FOLLOW_SLICE;
	if (*has_prev)
		follow_end(a->prev);
	return *has_prev;
}

/* A thread other than the leader that becomes another program takes the leader's tid. */
static __always_inline void follow_exec(struct task_struct *p, __u32 old_tid)
{
	__u32 *state = bpf_map_lookup_elem(&followed, &old_tid);
	__u32 tid = (__u32)p->pid, copy;

	if (!state || tid == old_tid)
		return;
	copy = *state;
	bpf_map_update_elem(&followed, &tid, &copy, BPF_ANY);
	bpf_map_delete_elem(&followed, &old_tid);
}
