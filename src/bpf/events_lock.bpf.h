/*
 * bpf/events_lock — waits for locks of the kernel (Linux 5.19).
 *
 * A CPU that has waited for a spinning lock holds it when that is reported, and it may be the lock of a ring. So nothing is
 * written there: the wait is kept with the CPU until its next switch. Nothing is allocated and no other lock is taken, as
 * any lock may be the one that was waited for.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"

#define MAX_SPINS 4  /* one inside of the other: task, softirq, interrupt, NMI */
#define MAX_SPUN  16 /* between two switches of a CPU */

struct contention {
	__u64 lock;
	__u64 start_ns; /* 0 = it does not wait */
	__u64 end_ns;
	__u32 tid;
	__u32 type;
};

struct lock_cpu {
	struct contention spins[MAX_SPINS];
	struct contention spun[MAX_SPUN];
	__u32 nr_spins;
	__u32 nr_spun;
	__u32 is_writing; /* locks that our own writing waits for are not part of it */
	__u32 pad_;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_cpu);
} lock_cpus SEC(".maps");

/* By tid: a task sleeps for one lock at a time. Where tids share a place, the later wait counts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct contention);
} lock_tasks SEC(".maps");

static __always_inline struct lock_cpu *lock_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&lock_cpus, &zero);
}

static __always_inline void put_lock(const struct contention *from)
{
	struct slot s;
	struct ev_lock *e = begin(&s, EV_LOCK, sizeof(*e));

	if (!e)
		return;
	e->lock = from->lock;
	e->start_ns = from->start_ns;
	e->end_ns = from->end_ns;
	e->tid = from->tid;
	e->type = (__u8)from->type;
	e->pad_[0] = e->pad_[1] = e->pad_[2] = 0;
	end(&s);
}

static long put_spun(__u32 i, void *unused)
{
	const struct lock_cpu *c = lock_cpu();
	struct contention one;

	(void)unused;
	if (!c || i >= c->nr_spun || i >= MAX_SPUN)
		return 1;
	one = c->spun[i];
	put_lock(&one);
	return 0;
}

/* At a switch. While it writes, the lock of the ring may add one more. */
static __always_inline void put_spins(void)
{
	struct lock_cpu *c = lock_cpu();

	if (!c || !c->nr_spun)
		return;
	bpf_loop(MAX_SPUN, put_spun, NULL, 0);
	c->nr_spun = 0;
}

static __always_inline bool is_spin(__u32 flags)
{
	return (flags & (EV_LOCK_SPIN | EV_LOCK_MUTEX)) == EV_LOCK_SPIN;
}

static __always_inline void begin_spin(struct lock_cpu *c, __u64 lock, __u32 flags)
{
	const struct ev_cpu *cpu = this_cpu();
	/* As many are open only if ends were missed. */
	__u32 at = c->nr_spins < MAX_SPINS ? c->nr_spins : 0;
	bool is_interrupt = cpu && (cpu->context.hard || cpu->context.soft);

	c->spins[at & (MAX_SPINS - 1)] = (struct contention){
		.lock = lock,
		.start_ns = bpf_ktime_get_boot_ns(),
		.tid = current_tid(),
		.type = flags | (is_interrupt ? EV_LOCK_INTERRUPT : 0),
	};
	c->nr_spins = at + 1;
}

/* Of a mutex it comes twice: it spins first, and then sleeps. The first one counts. */
static __always_inline void begin_sleep(__u64 lock, __u32 flags)
{
	__u32 tid = current_tid(), at = tid % EV_LOCK_TASKS;
	struct contention *wait = bpf_map_lookup_elem(&lock_tasks, &at);

	if (!wait || (wait->tid == tid && wait->lock == lock && wait->start_ns))
		return;
	*wait = (struct contention){
		.lock = lock,
		.start_ns = bpf_ktime_get_boot_ns(),
		.tid = tid,
		.type = flags & ~(__u32)EV_LOCK_SPIN,
	};
}

SEC("tp_btf/contention_begin")
int on_lock_begin(__u64 *ctx)
{
	__u32 flags = (__u32)ctx[1] & (EV_LOCK_FAILED - 1);
	struct lock_cpu *c;

	if (!is_open || !is_wanted(bpf_get_current_task_btf()))
		return 0;
	c = lock_cpu();
	if (!c || c->is_writing)
		return 0;
	if (is_spin(flags))
		begin_spin(c, ctx[0], flags);
	else
		begin_sleep(ctx[0], flags);
	return 0;
}

static __always_inline void keep_spun(struct lock_cpu *c, const struct contention *spin)
{
	struct ev_cpu *cpu = this_cpu();
	struct contention *to = &c->spun[c->nr_spun & (MAX_SPUN - 1)];

	if (c->nr_spun < MAX_SPUN) {
		*to = *spin;
		to->end_ns = bpf_ktime_get_boot_ns();
		c->nr_spun++;
	} else if (cpu) {
		cpu->seen[EV_LOCK]++;
		cpu->lost[EV_LOCK]++;
	}
}

/* The innermost one; those inside of it have missed their ends. */
static __always_inline bool end_spin(struct lock_cpu *c, __u64 lock)
{
	for (int i = MAX_SPINS - 1; i >= 0; i--) {
		if ((__u32)i >= c->nr_spins || c->spins[i].lock != lock)
			continue;
		keep_spun(c, &c->spins[i]);
		c->nr_spins = (__u32)i;
		return true;
	}
	return false;
}

static __always_inline void end_sleep(struct lock_cpu *c, __u64 lock, bool is_failed)
{
	__u32 tid = current_tid(), at = tid % EV_LOCK_TASKS;
	struct contention *wait = bpf_map_lookup_elem(&lock_tasks, &at);

	if (!wait || wait->tid != tid || wait->lock != lock || !wait->start_ns)
		return;
	wait->end_ns = bpf_ktime_get_boot_ns();
	wait->type |= is_failed ? EV_LOCK_FAILED : 0;
	c->is_writing = 1;
	put_lock(wait);
	c->is_writing = 0;
	wait->start_ns = 0;
}

SEC("tp_btf/contention_end")
int on_lock_end(__u64 *ctx)
{
	struct lock_cpu *c = lock_cpu();

	if (!c || c->is_writing)
		return 0;
	if (!end_spin(c, ctx[0]))
		end_sleep(c, ctx[0], (__s32)ctx[1] < 0);
	return 0;
}
