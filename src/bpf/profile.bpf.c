/*
 * Stacks, counted in the kernel. Which of the programs is loaded depends on what is sampled: an event of perf, a
 * tracepoint, a uprobe, a task that goes to sleep, a wakeup.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/context.h"
#include "abi/profile.h"
#include "bpf/kernel.bpf.h"
#include "bpf/profile_rows.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind_follow.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* A task that is off its CPU, asleep. Written under the lock of the queue that it is on. */
struct prof_off {
	struct prof_key key;
	__u64 since_ns; /* 0 = it is not, or it is not needed */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct prof_off);
} off_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct context_cpu);
} contexts SEC(".maps");

static __always_inline struct context_cpu *context_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&contexts, &zero);
}

#include "bpf/context.bpf.h"

SEC("perf_event")
int on_event(struct bpf_perf_event_data *ctx)
{
	return take_sample(ctx, ctx->sample_period);
}

static __always_inline int take_hit(void *ctx)
{
	return take_sample(ctx, cfg.every ? cfg.every : 1);
}

SEC("tp_btf")
int on_tracepoint(__u64 *ctx)
{
	return take_hit(ctx);
}

SEC("uprobe")
int on_uprobe(void *ctx)
{
	return take_hit(ctx);
}

/*
 * An interrupt that wakes belongs to no process; the frames of the task it interrupted are not part
 * of its stack.
 */
static __always_inline int take_interrupt(void *ctx)
{
	struct prof_cpu *c = this_cpu();
	struct profile_scratch *s;
	long err = -EBUSY;

	if (!c || !is_open || !is_here() || cfg.filter_tgid || cfg.filter_cgroup || !is_turn(c) ||
	    !take_one())
		return 0;
	s = scratch_get();
	if (s) {
		err = fill_interrupt(ctx, c, s);
		if (!err)
			err = add_to_row(&s->key, cfg.every ? cfg.every : 1,
			                 bpf_ktime_get_boot_ns());
		scratch_put(s);
	}
	count_row(c, err);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	const struct context_cpu *here = context_here();

	if (here && context_is_interrupt(context_of(here)))
		return take_interrupt(ctx);
	return take_hit(ctx);
}

static __always_inline void come_back(struct task_struct *p, struct prof_cpu *c, __u64 now)
{
	struct prof_off *off = bpf_task_storage_get(&off_tasks, p, 0, 0);
	__u64 since, ns;

	if (!off || !off->since_ns)
		return;
	since = off->since_ns;
	off->since_ns = 0;
	ns = now > since ? now - since : 0; /* clocks of two CPUs may differ by nanoseconds */
	if (ns < cfg.min_off_ns || !take_one())
		return;
	off->key.generation = generation; /* of the row; its stacks may be of an earlier one */
	count_row(c, add_to_row(&off->key, ns, since));
}

static __always_inline bool is_leaving_asleep(const struct switch_args *a)
{
	return a->prev->pid && a->state && !(a->state & TASK_DEAD) && !task_stays_queued(a->prev);
}

static __always_inline void leave(void *ctx, struct task_struct *p, struct prof_cpu *c, __u64 now)
{
	struct prof_off *off = bpf_task_storage_get(&off_tasks, p, 0,
	                                            cfg.may_create ? BPF_LOCAL_STORAGE_GET_F_CREATE
	                                                           : 0);
	struct profile_scratch *s = off ? scratch_get() : NULL;

	if (!s) {
		count(&c->seen);
		count(&c->lost);
		return;
	}
	if (fill_key(ctx, c, s, p)) {
		count(&c->seen);
		count(&c->lost);
	} else {
		off->key = s->key;
		off->since_ns = now;
	}
	scratch_put(s);
}

/* The stack is that of the task that leaves: where it blocks. It counts once the task is back. */
SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct prof_cpu *c = this_cpu();
	struct switch_args a;
	__u64 now;

	if (!c || !is_open || is_full())
		return 0;
	switch_args_read(ctx, cfg.switch_args, &a);
	now = bpf_ktime_get_boot_ns();
	if (a.next->pid)
		come_back(a.next, c, now);
	if (is_leaving_asleep(&a) && is_here() && is_wanted(a.prev))
		leave(ctx, a.prev, c, now);
	return 0;
}

/* How many CPUs run wanted tasks is known at every moment: a sample says it of its own CPU alone. */
SEC("tp_btf/sched_switch")
int on_switch_busy(__u64 *ctx)
{
	struct switch_args a;

	if (!is_open)
		return 0;
	switch_args_read(ctx, cfg.switch_args, &a);
	note_busy(a.next);
	return 0;
}

/* Children of the wanted process are wanted too. */
SEC("tp_btf/sched_process_fork")
int on_fork_follow(__u64 *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	struct prof_cpu *c = this_cpu();
	__u32 tgid = (__u32)child->tgid;
	__u64 start_ns = child->start_boottime;

	if (child->pid != child->tgid || !is_in_family(parent))
		return 0;
	if (bpf_map_update_elem(&family, &tgid, &start_ns, BPF_ANY) && c)
		count(&c->lost);
	return 0;
}

SEC("tp_btf/sched_process_free")
int on_free(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	__u32 tgid = (__u32)p->tgid;

	if (p->pid == p->tgid && is_in_family(p))
		bpf_map_delete_elem(&family, &tgid);
	return 0;
}

/*
 * Tasks get their storage at fork, and existing ones before anything is attached: before Linux 6.4 it could
 * not be allocated under scheduler locks, and later the kernel's cache of it may be empty there for a moment.
 */
SEC("tp_btf/sched_process_fork")
int on_fork_prepare(__u64 *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx[1];

	(void)bpf_task_storage_get(&off_tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

SEC("iter/task")
int prepare_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;

	if (p && p->pid)
		(void)bpf_task_storage_get(&off_tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}
