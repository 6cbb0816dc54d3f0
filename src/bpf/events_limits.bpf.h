/*
 * bpf/events_limits — deadline tasks that have used up their runtime, and CPUs on which real-time tasks may not run for a
 * while because they had their share.
 *
 * Linux takes the CPU from real-time tasks either by marking their queue (rt_throttled) or, since 6.8, by running fair
 * tasks on the time of a deadline server. Both begin at a switch from a real-time task, so other switches cost two
 * comparisons.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/task.bpf.h"

/* At a switch to a fair or idle task: whether real-time tasks could not run instead of it. */
static __always_inline bool is_rt_limited(struct task_struct *next)
{
	struct rq *rq = BPF_CORE_READ(next, se.cfs_rq, rq);

	if (bpf_core_field_exists(next->dl_server) && next->dl_server)
		return true;
	return bpf_core_field_exists(rq->rt.rt_throttled) && BPF_CORE_READ(rq, rt.rt_throttled);
}

static __always_inline void put_rt_limit(bool is_on)
{
	struct ev_rt_limit *e;
	struct slot s;

	e = begin(&s, EV_RT_LIMIT, sizeof(*e));
	if (!e)
		return;
	e->is_on = is_on;
	e->pad_ = 0;
	end(&s);
}

/* By the clock of records, which is now_ns. */
static __always_inline __u64 next_period_ns(struct task_struct *p, __u64 now_ns)
{
	if (!bpf_core_field_exists(p->dl.dl_timer.node.expires))
		return 0;
	return now_ns + (__u64)BPF_CORE_READ(p, dl.dl_timer.node.expires) - bpf_ktime_get_ns();
}

static __always_inline void put_deadline(struct task_struct *p)
{
	struct ev_throttle *e;
	struct slot s;

	e = begin(&s, EV_THROTTLE, sizeof(*e));
	if (!e)
		return;
	e->cgroup = 0;
	e->quota_ns = BPF_CORE_READ(p, dl.dl_runtime);
	e->period_ns = BPF_CORE_READ(p, dl.dl_period);
	e->until_ns = next_period_ns(p, e->hdr.ts_ns);
	e->tid = (__u32)p->pid;
	e->limit = BPF_CORE_READ_BITFIELD_PROBED(p, dl.dl_yielded) ? EV_LIMIT_YIELD
	                                                           : EV_LIMIT_DEADLINE;
	end(&s);
}

/* After the record of a switch from a task that is not fair, or while real-time tasks are kept off this CPU. */
static __noinline int note_limits(struct ev_cpu *c, struct task_struct *prev,
                                  struct task_struct *next)
{
	bool is_limited = next->prio >= FIRST_FAIR_PRIO && is_rt_limited(next);

	if (is_limited != c->is_rt_limited) {
		c->is_rt_limited = is_limited;
		put_rt_limit(is_limited);
	}
	if (prev->prio < 0 && task_stays_queued(prev) &&
	    BPF_CORE_READ_BITFIELD_PROBED(prev, dl.dl_throttled))
		put_deadline(prev);
	return 0;
}
