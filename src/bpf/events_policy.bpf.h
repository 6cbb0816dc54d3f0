/*
 * bpf/events_policy — by which policy, with which priority and on which CPUs a task may run.
 *
 * The kernel has no tracepoint for changes of these, so each switch compares the task that comes with what was last
 * recorded of it. That is kept in a plain array by tid, which costs less than storage of tasks: where tids share a place, records are
 * repeated, never missing.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"

#define MASK_WORDS ((cfg.nr_cpus + 63) / 64)

struct seen_task {
	__u32 tid;
	__u32 policy; /* and its priority */
	__u64 cpus;   /* the CPUs themselves if one word holds them, else a hash */
	__u64 cookie;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct seen_task);
} seen_tasks SEC(".maps");

static __always_inline __u32 policy_word(struct task_struct *p)
{
	return p->policy << 16 | (__u16)p->normal_prio;
}

static __always_inline __u64 core_cookie(struct task_struct *p)
{
	return bpf_core_field_exists(p->core_cookie) ? p->core_cookie : 0;
}

#define HASH_WORD(n)          \
	if (MASK_WORDS > (n)) \
	hash = (hash ^ p->cpus_mask.bits[n]) * 0x9e3779b97f4a7c15ULL

/* Kernels for fewer CPUs have fewer words: what lies behind MASK_WORDS is never loaded. */
static __always_inline __u64 cpus_word(struct task_struct *p)
{
	__u64 hash = (__u32)p->nr_cpus_allowed;

	if (MASK_WORDS == 1)
		return p->cpus_mask.bits[0];
	HASH_WORD(0);
	HASH_WORD(1);
	HASH_WORD(2);
	HASH_WORD(3);
	HASH_WORD(4);
	HASH_WORD(5);
	HASH_WORD(6);
	HASH_WORD(7);
	HASH_WORD(8);
	HASH_WORD(9);
	HASH_WORD(10);
	HASH_WORD(11);
	HASH_WORD(12);
	HASH_WORD(13);
	HASH_WORD(14);
	HASH_WORD(15);
	return hash;
}

/* False if there was no room. */
static __always_inline bool put_policy(struct task_struct *p)
{
	__u64 cookie = core_cookie(p);
	struct ev_policy *e;
	struct slot s;

	e = begin(&s, EV_POLICY, sizeof(*e));
	if (!e)
		return false;
	e->tid = (__u32)p->pid;
	e->prio = (__s16)p->normal_prio;
	e->policy = (__u8)(p->policy + 1);
	e->pad_ = 0;
	/* Files should have no addresses of the kernel. */
	e->cookie = cookie ? (__u32)(cookie * 0x9e3779b97f4a7c15ULL >> 32) | 1 : 0;
	e->pad2_ = 0;
	end(&s);
	return true;
}

static __always_inline bool put_cpus(struct task_struct *p)
{
	struct ev_affinity *e;
	struct slot s;
	__u64 *words;

	e = begin(&s, EV_AFFINITY, (__u32)(sizeof(*e) + MASK_WORDS * sizeof(__u64)));
	if (!e)
		return false;
	words = (__u64 *)(e + 1);
	e->tid = (__u32)p->pid;
	e->nr = (__u16)MASK_WORDS;
	e->flags = 0;
	bpf_probe_read_kernel(words, MASK_WORDS * sizeof(__u64), &p->cpus_mask);
	if (cfg.nr_cpus % 64) /* tasks of the boot may have bits of CPUs that cannot be */
		words[MASK_WORDS - 1] &= (1ULL << cfg.nr_cpus % 64) - 1;
	end(&s);
	return true;
}

static __always_inline struct seen_task *seen_task(struct task_struct *p)
{
	__u32 at = (__u32)p->pid % EV_SEEN_TASKS;

	return bpf_map_lookup_elem(&seen_tasks, &at);
}

/* Rare, so it is kept out of the way of each switch. */
static __noinline int put_changes(struct task_struct *p, bool is_new)
{
	struct seen_task *seen = seen_task(p);
	__u32 tid = (__u32)p->pid, policy = policy_word(p);
	__u64 cpus = cpus_word(p);

	if (!seen)
		return 0;
	is_new |= seen->tid != tid;
	seen->tid = tid;
	if (is_new || seen->policy != policy || seen->cookie != core_cookie(p)) {
		seen->policy = put_policy(p) ? policy : ~0U;
		seen->cookie = core_cookie(p);
	}
	if (is_new || seen->cpus != cpus)
		seen->cpus = put_cpus(p) ? cpus : 0;
	return 0;
}

/*
 * At the switch-in: so each slice begins with what holds then. What changes within a slice is recorded before the next one.
 */
static __always_inline void note_policy(struct task_struct *p)
{
	struct seen_task *seen;

	if (!cfg.has_policies || !p->pid)
		return;
	seen = seen_task(p);
	if (seen && (seen->tid != (__u32)p->pid || seen->policy != policy_word(p) ||
	             seen->cpus != cpus_word(p) || seen->cookie != core_cookie(p)))
		put_changes(p, false);
}
