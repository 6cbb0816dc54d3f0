/*
 * bpf/events_quota — tasks that the quota of their cgroup takes off a CPU, the timers that refill it, and what
 * the hypervisor steals.
 *
 * A throttled task is recognized at its switch-out (Linux 6.18 marks it). It may run again once a timer of the cgroup has
 * refilled the quota of its CPU. The functions of these timers are learned from the first throttled task, so that
 * nothing has to be looked up by name; until then every other timer of the machine costs one comparison, and from then
 * on three.
 *
 * Before 6.18 a quota acts on the run queue that a cgroup has on a CPU: when one of its timers expires, the kernel knows
 * since when each of them is throttled. Which tasks were in it is told by the cgroups of those that wait.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"

#define MAX_LEVELS    16         /* of cgroups */
#define MAX_LISTED    64         /* run queues of a cgroup that are read at a refill */
#define CLOCK_JUMP_NS 1000000000 /* the machine slept: one of the clocks stood still */
#define CLOCK_SHARE   64

__u64 period_function, slack_function;

/* Ids of cgroups of which a task was throttled since the last refill of all CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u8);
} throttled_cgroups SEC(".maps");

/* The cgroup that throttles a task: the nearest one that has no quota left on this CPU. */
static __always_inline struct task_group *throttling_group(struct task_struct *p)
{
	struct sched_entity *se = &p->se;
	struct cfs_rq *q = se->cfs_rq;

	for (int i = 0; i < MAX_LEVELS; i++) {
		if (!q || BPF_CORE_READ_BITFIELD_PROBED(q, throttled))
			break;
		se = i ? BPF_CORE_READ(se, parent) : p->se.parent;
		q = se ? BPF_CORE_READ(se, cfs_rq) : NULL;
	}
	return q ? BPF_CORE_READ(q, tg) : NULL;
}

static __noinline int put_throttle(struct task_struct *p)
{
	struct task_group *tg = throttling_group(p);
	struct ev_throttle *e;
	struct slot s;
	__u64 cgroup = tg ? BPF_CORE_READ(tg, css.cgroup, kn, id) : 0;
	__u8 one = 1;

	if (cgroup) {
		period_function = (__u64)BPF_CORE_READ(tg, cfs_bandwidth.period_timer.function);
		slack_function = (__u64)BPF_CORE_READ(tg, cfs_bandwidth.slack_timer.function);
		bpf_map_update_elem(&throttled_cgroups, &cgroup, &one, BPF_ANY);
	}
	e = begin(&s, EV_THROTTLE, sizeof(*e));
	if (!e)
		return 0;
	e->cgroup = cgroup;
	e->quota_ns = cgroup ? BPF_CORE_READ(tg, cfs_bandwidth.quota) : 0;
	e->period_ns = cgroup ? (__u64)BPF_CORE_READ(tg, cfs_bandwidth.period) : 0;
	e->until_ns = 0; /* a refill tells */
	e->tid = (__u32)p->pid;
	e->limit = EV_LIMIT_QUOTA;
	end(&s);
	return 0;
}

static __noinline int put_steal(__u64 ns)
{
	struct ev_steal *e;
	struct slot s;

	e = begin(&s, EV_STEAL, sizeof(*e));
	if (!e)
		return 0;
	e->ns = ns;
	end(&s);
	return 0;
}

/* After the record of a switch. prev is a task of this CPU, the idle one too. */
static __always_inline void note_steal(struct ev_cpu *c, struct task_struct *prev)
{
	__u64 now_ns = prev->se.cfs_rq->rq->prev_steal_time_rq + 1, before_ns = c->steal_ns;

	if (now_ns == before_ns)
		return;
	c->steal_ns = now_ns;
	if (before_ns)
		put_steal(now_ns - before_ns);
}

/*
 * At a switch, where the clock of the run queue has just been read. What a hypervisor takes between that and ts_ns makes
 * the distance of the clocks too large, never too small; so it follows slowly when it grows, as if they drift.
 */
static __always_inline void note_clock(struct ev_cpu *c, struct task_struct *prev, __u64 ts_ns)
{
	struct cfs_rq *q = prev->se.cfs_rq;
	__u64 clock_ns = ts_ns - q->rq->clock;
	__s64 more = (__s64)(clock_ns - c->clock_ns);

	if (c->clock_ns && more > 0 && more < CLOCK_JUMP_NS)
		clock_ns = c->clock_ns + (__u64)more / CLOCK_SHARE;
	c->clock_ns = clock_ns;
	if (period_function)
		return;
	slack_function = (__u64)q->tg->cfs_bandwidth.slack_timer.function;
	period_function = (__u64)q->tg->cfs_bandwidth.period_timer.function;
}

/* NULL if the timer is not one of a quota. */
static __always_inline struct cfs_bandwidth *bandwidth_of(struct hrtimer *timer)
{
	__u64 function;

	if (!period_function)
		return NULL;
	function = (__u64)timer->function;
	if (function == period_function)
		return (void *)timer - bpf_core_field_offset(struct cfs_bandwidth, period_timer);
	if (function == slack_function)
		return (void *)timer - bpf_core_field_offset(struct cfs_bandwidth, slack_timer);
	return NULL;
}

static __always_inline struct task_group *group_of(struct cfs_bandwidth *b)
{
	return (void *)b - bpf_core_field_offset(struct task_group, cfs_bandwidth);
}

static __always_inline struct list_head *throttled_queues(struct cfs_bandwidth *b)
{
	return (void *)b + bpf_core_field_offset(struct cfs_bandwidth, throttled_cfs_rq);
}

static __always_inline struct cfs_rq *queue_of(struct list_head *at)
{
	return (void *)at - bpf_core_field_offset(struct cfs_rq, throttled_list);
}

static __always_inline void put_throttled(struct cfs_bandwidth *b, __u64 cgroup, struct cfs_rq *q)
{
	__u64 since = BPF_CORE_READ(q, throttled_clock);
	struct ev_throttled *e;
	struct slot s;

	if (!since)
		return;
	e = begin(&s, EV_THROTTLED, sizeof(*e));
	if (!e)
		return;
	e->cgroup = cgroup;
	e->quota_ns = BPF_CORE_READ(b, quota);
	e->period_ns = (__u64)BPF_CORE_READ(b, period);
	e->start_ns = since + s.c->clock_ns;
	e->cpu = (__u32)BPF_CORE_READ(q, rq, cpu);
	e->pad_ = 0;
	end(&s);
}

/* Before the timer has done its work. */
SEC("tp_btf/hrtimer_expire_entry")
int on_throttled(__u64 *ctx)
{
	struct cfs_bandwidth *b = bandwidth_of((struct hrtimer *)ctx[0]);
	const struct ev_cpu *c = b ? this_cpu() : NULL;
	struct list_head *head, *at;
	__u64 cgroup;

	if (!c || !c->clock_ns)
		return 0;
	head = throttled_queues(b);
	at = BPF_CORE_READ(head, next);
	cgroup = BPF_CORE_READ(group_of(b), css.cgroup, kn, id);
	for (int i = 0; i < MAX_LISTED && at && at != head; i++) {
		put_throttled(b, cgroup, queue_of(at));
		at = BPF_CORE_READ(at, next);
	}
	return 0;
}

/* The CPUs on which a cgroup has no quota in spite of the refill; others are about to run its tasks. */
static __always_inline void list_empty_cpus(struct cfs_bandwidth *b, struct ev_refill *e)
{
	struct list_head *head = throttled_queues(b);
	struct list_head *at = BPF_CORE_READ(head, next);
	int i;

	e->nr_cpus = 0;
	__builtin_memset(e->cpus, 0, sizeof(e->cpus));
	for (i = 0; i < MAX_LISTED && at && at != head; i++) {
		struct cfs_rq *q = queue_of(at);

		if (BPF_CORE_READ(q, runtime_remaining) <= 0) {
			if (e->nr_cpus < EV_REFILL_CPUS)
				e->cpus[e->nr_cpus & (EV_REFILL_CPUS - 1)] =
					(__u16)BPF_CORE_READ(q, rq, cpu);
			e->nr_cpus++;
		}
		at = BPF_CORE_READ(at, next);
	}
	if (i == MAX_LISTED)
		e->nr_cpus = EV_REFILL_CPUS + 1;
}

/* At its exit a timer has done its work, and is still there: who cancels one waits for it. */
SEC("tp_btf/hrtimer_expire_exit")
int on_refill(__u64 *ctx)
{
	struct cfs_bandwidth *b = bandwidth_of((struct hrtimer *)ctx[0]);
	struct ev_refill *e;
	struct slot s;
	__u64 cgroup;

	if (!b)
		return 0;
	cgroup = BPF_CORE_READ(group_of(b), css.cgroup, kn, id);
	if (!bpf_map_lookup_elem(&throttled_cgroups, &cgroup))
		return 0;
	e = begin(&s, EV_REFILL, sizeof(*e));
	if (!e)
		return 0;
	e->cgroup = cgroup;
	e->pad_ = 0;
	list_empty_cpus(b, e);
	if (!e->nr_cpus)
		bpf_map_delete_elem(&throttled_cgroups, &cgroup);
	end(&s);
	return 0;
}
