/* bpf/task — facts about a task, read the way each kernel release keeps them. */
#pragma once

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel.bpf.h"

#define FIRST_FAIR_PRIO 100 /* below are real-time and deadline tasks */

/* The CPU whose queue the task is on, or where it last ran. */
static __always_inline __u32 task_cpu(struct task_struct *p)
{
	struct task_struct___cpu *old = (void *)p;

	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return BPF_CORE_READ(old, cpu);
}

/* For kernels whose sched_switch does not pass it. Renamed in 5.14. */
static __always_inline __u32 task_state(struct task_struct *p)
{
	struct task_struct___state *old = (void *)p;

	if (bpf_core_field_exists(p->__state))
		return p->__state;
	return (__u32)BPF_CORE_READ(old, state);
}

/* In the hierarchy of version 2, or in that of version 1 which has the controller cpu. To be read with BPF_CORE_READ(). */
static __always_inline struct cgroup *task_cgroup(struct task_struct *p, bool is_v1)
{
	struct cgroup_subsys_state *css = NULL;

	if (!is_v1)
		return p->cgroups->dfl_cgrp;
	bpf_probe_read_kernel(
		&css, sizeof(css),
		&p->cgroups->subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)]);
	return BPF_CORE_READ(css, cgroup);
}

static __always_inline __u64 task_cgroup_id(struct task_struct *p, bool is_v1)
{
	return is_v1 ? BPF_CORE_READ(task_cgroup(p, true), kn, id) : p->cgroups->dfl_cgrp->kn->id;
}

/* Id of the cgroup that many levels below the root on the way to this one. */
static __always_inline __u64 cgroup_ancestor_id(struct cgroup *cgrp, __u32 level)
{
	struct cgroup___ancestors *by_pointer = (void *)cgrp;
	struct cgroup___ancestor_ids *by_id = (void *)cgrp;
	struct cgroup *ancestor = NULL;
	__u64 id = 0;

	if (bpf_core_field_exists(by_pointer->ancestors)) {
		bpf_probe_read_kernel(&ancestor, sizeof(ancestor), &by_pointer->ancestors[level]);
		return BPF_CORE_READ(ancestor, kn, id);
	}
	bpf_probe_read_kernel(&id, sizeof(id), &by_id->ancestor_ids[level]);
	return id;
}

/*
 * Runnable tasks on the task's queue, itself included; 0 = unknown. Since delayed dequeue (6.12),
 * nr_running also counts tasks that sleep already; the fields that distinguish them came with 6.13
 * and 6.14. Goes through the entity because the symbol `runqueues` is missing from some kernels'
 * kallsyms.
 */
static __always_inline __u32 task_queue_depth(struct task_struct *p)
{
	struct rq___delayed *delayed;
	struct rq *rq;

	if (!bpf_core_field_exists(p->se.cfs_rq))
		return 0;
	rq = p->se.cfs_rq->rq;
	if (bpf_core_field_exists(rq->cfs.h_nr_runnable))
		return rq->nr_running - (rq->cfs.h_nr_queued - rq->cfs.h_nr_runnable);
	delayed = (void *)rq;
	if (bpf_core_field_exists(delayed->cfs.h_nr_delayed))
		return rq->nr_running - BPF_CORE_READ(delayed, cfs.h_nr_delayed);
	return rq->nr_running;
}

/*
 * The task that runs on the CPU whose queue the task is on; NULL = unknown. Under the lock of that
 * queue.
 */
static __always_inline struct task_struct *task_queue_runs(struct task_struct *p)
{
	if (!bpf_core_field_exists(p->se.cfs_rq))
		return NULL;
	return p->se.cfs_rq->rq->curr;
}

/* Asleep, though still in the queue (Linux 6.12). */
static __always_inline bool task_is_delayed(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.sched_delayed) && p->se.sched_delayed;
}

/*
 * Whether a task that leaves its CPU stays in the queue, for which the state alone is not proof: kernels
 * up to 6.14 report the state with which a task went to sleep even if a pending signal kept it from doing
 * so.
 */
static __always_inline bool task_stays_queued(struct task_struct *p)
{
	return p->on_rq == 1 && !task_is_delayed(p);
}

/* The same at any moment, also while it is moved to another queue. */
static __always_inline bool task_is_queued(struct task_struct *p)
{
	return p->on_rq && !task_is_delayed(p);
}

/* Runnable, but the quota of a cgroup is used up. Before Linux 6.18 that is a matter of its queue, for fair tasks. */
static __always_inline bool task_is_throttled(struct task_struct *p)
{
	struct cfs_rq *q;

	if (bpf_core_field_exists(p->throttled))
		return p->throttled;
	if (!bpf_core_field_exists(p->se.cfs_rq))
		return false;
	q = p->se.cfs_rq;
	return bpf_core_field_exists(q->throttle_count) && p->prio >= FIRST_FAIR_PRIO &&
	       BPF_CORE_READ(q, throttle_count) > 0;
}
