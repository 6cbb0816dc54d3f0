/*
 * The accounts that our schedulers keep, per task and dispatch queue: what they did, what became of it, and between which two
 * looks at the clock it happened where they do not see it themselves.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sched_kernel.bpf.h"

#define SPIN_COMM   0x6e697073ULL /* "spin" */
#define MAX_ENTRIES 4096

/* Which task in which queue, and what became of it. The loader prints it. */
struct account_key {
	__u64 dsq_id;
	__u32 tid;
	__u32 pad_;
};

struct account {
	__u64 inserts;
	__u64 moves;   /* from here to another queue */
	__u64 runs;    /* that followed a stay */
	__u64 wait_ns; /* from the insertion to the run, or to the move */
	__u64 ran_ns;  /* in those runs, up to the first time that it stopped */
	__u64 held_ns; /* the same up to the last stop before the next insertion: it may go on, without a queue */
	__u64 first_vtime, last_vtime;
	__u64 slice_ns; /* given in those runs, in all */
	/*
	 * Between what the scheduler hears and the switch, in those runs: before it began, after it stopped. By two
	 * programs, the first and the last at the tracepoint: all others see the switch in between.
	 */
	__u64 early_ns[2], late_ns[2];
	__u64 placing_ns; /* in which it was put here or moved away: when exactly, the scheduler does not know */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ENTRIES);
	__type(key, struct account_key);
	__type(value, struct account);
} accounts SEC(".maps");

/* Where a task is. */
struct place {
	__u64 dsq_id; /* 0: in none */
	__u64 at_ns;
	__u64 ran_dsq_id; /* from which it came on the CPU */
	__u64 ran_at_ns;
	__u64 held_dsq_id; /* the same, until it is inserted again */
	__u64 stopped_at_ns;
	__u64 nr;              /* insertions in all ways */
	__u64 early_dsq_id[2]; /* it runs, and is not yet switched to */
	__u64 late_dsq_id[2];  /* it stopped, and is not yet switched from */
	__u64 placing_dsq_id;  /* it is on its way there, */
	__u64 placing_ns;      /* since then */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct place);
} places SEC(".maps");

__u64 lost; /* not counted: there was no room */
/*
 * Queues of our own by number (id % 64): how many are in them, and were at most: by our own count, which is a moment
 * ahead of the queue; and by the kernel's when a spinner came, without that spinner.
 */
__u64 depth[64];
__u64 max_depth[64];
__u64 max_queued[64];

static struct account *account_of(struct task_struct *p, __u64 dsq_id)
{
	struct account_key key = { .dsq_id = dsq_id, .tid = (__u32)p->pid };
	struct account zero = { 0 }, *a = bpf_map_lookup_elem(&accounts, &key);

	if (!a) {
		bpf_map_update_elem(&accounts, &key, &zero, BPF_NOEXIST);
		a = bpf_map_lookup_elem(&accounts, &key);
	}
	if (!a)
		__sync_fetch_and_add(&lost, 1);
	return a;
}

static struct place *place_of(struct task_struct *p)
{
	return bpf_task_storage_get(&places, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* p comes to a queue. */
static void count_in(struct task_struct *p, __u64 dsq_id)
{
	__u64 nr = __sync_fetch_and_add(&depth[dsq_id % 64], 1) + 1;
	int queued;

	if (nr > max_depth[dsq_id % 64])
		max_depth[dsq_id % 64] = nr;
	if (*(__u64 *)p->comm != SPIN_COMM)
		return;
	queued = scx_bpf_dsq_nr_queued(dsq_id);
	if (queued > 0 && (__u64)queued > max_queued[dsq_id % 64])
		max_queued[dsq_id % 64] = (__u64)queued;
}

static void count_out(__u64 dsq_id)
{
	__sync_fetch_and_add(&depth[dsq_id % 64], -1);
}

static void count_insert(struct task_struct *p, __u64 dsq_id, __u64 vtime)
{
	struct account *a = account_of(p, dsq_id);
	struct place *at = place_of(p);

	if (!a || !at)
		return;
	if (!a->inserts++)
		a->first_vtime = vtime;
	a->last_vtime = vtime;
	at->dsq_id = dsq_id;
	at->at_ns = bpf_ktime_get_ns();
	at->held_dsq_id = 0;
}

/* It was put into the queue, or taken from it, since then. Another CPU may run it already. */
static void count_placing(struct task_struct *p, __u64 dsq_id, __u64 since_ns)
{
	struct account *a = account_of(p, dsq_id);

	if (a)
		__sync_fetch_and_add(&a->placing_ns, bpf_ktime_get_ns() - since_ns);
}

/*
 * The kernel puts it there after we have returned, of which we are not notified. It was there at the latest when its wakeup
 * came, when its CPU was switched to another task, or when it runs.
 */
static void begin_placing(struct task_struct *p, __u64 dsq_id, __u64 since_ns)
{
	struct place *at = place_of(p);

	if (!at)
		return;
	at->placing_ns = since_ns;
	at->placing_dsq_id = dsq_id;
}

static void end_placing(struct task_struct *p)
{
	struct place *at = bpf_task_storage_get(&places, p, NULL, 0);
	__u64 dsq_id = at ? at->placing_dsq_id : 0;

	if (!dsq_id)
		return;
	at->placing_dsq_id = 0;
	count_placing(p, dsq_id, at->placing_ns);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(at_wakeup, struct task_struct *p)
{
	end_placing(p);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(at_wakeup_new, struct task_struct *p)
{
	end_placing(p);
	return 0;
}

static void count_run(struct task_struct *p)
{
	struct place *at = place_of(p);
	struct account *a = at && at->dsq_id ? account_of(p, at->dsq_id) : NULL;

	if (!at)
		return;
	end_placing(p);
	at->ran_dsq_id = at->late_dsq_id[0] = at->late_dsq_id[1] = 0;
	at->ran_at_ns = bpf_ktime_get_ns();
	at->early_dsq_id[0] = at->early_dsq_id[1] = at->dsq_id;
	if (!a) {
		a = at->held_dsq_id ? account_of(p, at->held_dsq_id) : NULL;
		if (a)
			a->held_ns += at->ran_at_ns - at->stopped_at_ns;
		return;
	}
	a->runs++;
	a->slice_ns += p->scx.slice;
	a->wait_ns += at->ran_at_ns - at->at_ns;
	at->ran_dsq_id = at->held_dsq_id = at->dsq_id;
	at->dsq_id = 0;
}

static void count_stop(struct task_struct *p)
{
	struct place *at = place_of(p);
	struct account *a = at && at->held_dsq_id ? account_of(p, at->held_dsq_id) : NULL;
	__u64 now_ns = bpf_ktime_get_ns();

	if (!a)
		return;
	a->held_ns += now_ns - at->ran_at_ns;
	if (at->ran_dsq_id)
		a->ran_ns += now_ns - at->ran_at_ns;
	at->ran_dsq_id = 0;
	at->stopped_at_ns = now_ns;
	at->late_dsq_id[0] = at->late_dsq_id[1] = at->held_dsq_id;
}

/* Beside the scheduler: when the switch comes of which it has heard already. */
static void count_switch(struct task_struct *prev, struct task_struct *next, int which)
{
	struct place *from = bpf_task_storage_get(&places, prev, NULL, 0);
	struct place *to = bpf_task_storage_get(&places, next, NULL, 0);
	struct account *a;
	__u64 now_ns = bpf_ktime_get_ns();

	if (from && from->late_dsq_id[which]) {
		a = account_of(prev, from->late_dsq_id[which]);
		if (a)
			a->late_ns[which] += now_ns - from->stopped_at_ns;
		from->late_dsq_id[which] = 0;
	}
	if (to && to->early_dsq_id[which]) {
		a = account_of(next, to->early_dsq_id[which]);
		if (a)
			a->early_ns[which] += now_ns - to->ran_at_ns;
		to->early_dsq_id[which] = 0;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(first_at_switch, bool is_preempt, struct task_struct *prev, struct task_struct *next)
{
	(void)is_preempt;
	end_placing(prev);
	count_switch(prev, next, 0);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(last_at_switch, bool is_preempt, struct task_struct *prev, struct task_struct *next)
{
	(void)is_preempt;
	count_switch(prev, next, 1);
	return 0;
}
