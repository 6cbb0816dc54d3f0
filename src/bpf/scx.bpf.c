/*
 * What sched_ext does: an object of its own, because it can be loaded only where the kernel has sched_ext and
 * lets functions be traced. Where the programs attach is set by user space, which looks at the functions of
 * the running kernel (collect/scx_plan). The rings are those of the event stream.
 *
 * A task's way through the dispatch queues: it enters one in dispatch_enqueue(), which also sees what is
 * bound for the queue of a CPU; a CPU that takes it from a queue unlinks it and moves it to its own queue
 * without a further call, or, for another CPU, enters it there. So the queue that counts is the last one that
 * is not a CPU's own, and the stay there ends with the switch to the task.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/switch_args.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define SCX_DSQ_LOCAL    ((1ULL << 63) | 2) /* a CPU's own */
#define SCX_ENQ_DSQ_PRIQ (1ULL << 57)       /* in the order of vtime */

/* Linux 6.12: static variables, so their addresses are all that can be had. */
extern const void scx_exit_kind __ksym __weak;
extern const void scx_exit_info __ksym __weak;

/* Which argument of dispatch_enqueue() is the queue; the task and the flags follow it. */
const volatile __u32 dsq_at = 0;

/* Whether a scheduler is on, and its name; user space says what was so at the start. */
__u32 is_on;
char scheduler[32];

struct queued {
	__u64 at_ns; /* 0 = in none that we know */
	__u64 dsq_id;
	__u64 vtime;
	__u32 how; /* EV_DSQ_* */
	__u32 pad_;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct queued);
} queues SEC(".maps");

/*
 * What a layered scheduler keeps of its tasks: its own map takes the place of this one before loading. layer_at is where
 * the number lies in a value; a constant to the verifier.
 */
const volatile __u32 has_layers = 0;
const volatile __u32 layer_at = 0;
__u32 is_layered; /* as long as that scheduler is on */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} task_ctxs SEC(".maps");

static __always_inline __u32 layer_of(struct task_struct *p)
{
	char *value;

	if (!has_layers || !is_layered)
		return EV_NO_LAYER;
	value = bpf_task_storage_get(&task_ctxs, p, NULL, 0);
	return value ? *(__u32 *)(value + layer_at) : EV_NO_LAYER;
}

static __always_inline bool is_vtime(const struct queued *q)
{
	return q->how == EV_DSQ_INSERT_VTIME || q->how == EV_DSQ_MOVE_VTIME;
}

enum leave { LEAVE_TO_CPU, LEAVE_TO_QUEUE, LEAVE_DEQUEUED };

static __always_inline void put_leave(struct task_struct *p, const struct queued *q, enum leave how)
{
	struct slot s;
	struct ev_dsq_leave *e = begin(&s, EV_DSQ_LEAVE, sizeof(*e));

	if (!e)
		return;
	e->start_ns = q->at_ns;
	e->dsq_id = q->dsq_id;
	e->vtime = q->vtime;
	e->tid = (__u32)p->pid;
	e->layer = layer_of(p);
	e->flags = (is_vtime(q) ? EV_SCX_HAS_VTIME : 0) |
	           (how == LEAVE_DEQUEUED ? EV_SCX_DEQUEUED : 0);
	e->how = (__u8)q->how;
	e->is_moved = how == LEAVE_TO_QUEUE;
	e->pad_ = 0;
	end(&s);
}

static __always_inline void put_run(struct task_struct *p, const struct queued *q)
{
	struct slot s;
	struct ev_scx_run *e = begin(&s, EV_SCX_RUN, sizeof(*e));

	if (!e)
		return;
	e->dsq_id = q->dsq_id;
	e->slice_ns = p->scx.slice;
	e->vtime = p->scx.dsq_vtime;
	e->tid = (__u32)p->pid;
	e->layer = layer_of(p);
	e->flags = EV_SCX_HAS_SLICE | (is_vtime(q) ? EV_SCX_HAS_VTIME : 0);
	e->pad_ = 0;
	end(&s);
}

static __always_inline void put_depth(struct scx_dispatch_q *dsq, int change)
{
	struct ev_dsq_depth *e;
	struct slot s;

	if (dsq->id == SCX_DSQ_LOCAL) /* one id for those of all CPUs */
		return;
	e = begin(&s, EV_DSQ_DEPTH, sizeof(*e));
	if (!e)
		return;
	e->dsq_id = dsq->id;
	e->depth = dsq->nr + (__u32)change;
	end(&s);
}

static __always_inline void enter(struct scx_dispatch_q *dsq, struct task_struct *p, __u64 flags)
{
	struct queued *q = bpf_task_storage_get(&queues, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct ev_cpu *c = this_cpu();
	bool is_known, is_local = dsq->id == SCX_DSQ_LOCAL;

	if (!q) {
		if (c)
			c->lost[EV_DSQ_LEAVE]++;
		return;
	}
	is_known = q->at_ns && q->dsq_id != SCX_DSQ_LOCAL;
	if (is_local && is_known) /* on its way from a queue to a CPU */
		return;
	is_known = is_known && q->dsq_id != dsq->id;
	if (is_known && is_wanted(p))
		put_leave(p, q, LEAVE_TO_QUEUE);
	q->how = (is_known ? EV_DSQ_MOVE : EV_DSQ_INSERT) + (flags & SCX_ENQ_DSQ_PRIQ ? 1 : 0);
	q->dsq_id = dsq->id;
	q->vtime = p->scx.dsq_vtime;
	q->at_ns = bpf_ktime_get_boot_ns();
}

/* dsq_at is a constant to the verifier, which never looks at the other branches. */
SEC("fentry")
int on_dsq_enter(__u64 *ctx)
{
	struct scx_dispatch_q *dsq;

	if (!is_open)
		return 0;
	if (dsq_at == 0) {
		dsq = (struct scx_dispatch_q *)ctx[0];
		enter(dsq, (struct task_struct *)ctx[1], ctx[2]);
	} else if (dsq_at == 1) {
		dsq = (struct scx_dispatch_q *)ctx[1];
		enter(dsq, (struct task_struct *)ctx[2], ctx[3]);
	} else {
		dsq = (struct scx_dispatch_q *)ctx[2];
		enter(dsq, (struct task_struct *)ctx[3], ctx[4]);
	}
	put_depth(dsq, 1);
	return 0;
}

SEC("fentry")
int on_dsq_unlink(__u64 *ctx)
{
	put_depth((struct scx_dispatch_q *)ctx[1], -1);
	return 0;
}

/* dispatch_dequeue(rq, p): not only what it says, but also a step on the way from a queue to a CPU. */
SEC("fentry")
int on_dsq_dequeue(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[1];
	struct scx_dispatch_q *dsq = p->scx.dsq;
	struct queued *q;

	if (!is_open || !dsq || dsq->id == SCX_DSQ_LOCAL || p->scx.holding_cpu >= 0)
		return 0;
	q = bpf_task_storage_get(&queues, p, NULL, 0);
	if (!q || !q->at_ns || q->dsq_id != dsq->id)
		return 0;
	if (is_wanted(p))
		put_leave(p, q, LEAVE_DEQUEUED);
	q->at_ns = 0;
	return 0;
}

SEC("tp_btf/sched_switch")
int on_scx_switch(__u64 *ctx)
{
	struct switch_args a;
	struct queued *q;

	switch_args_read(ctx, cfg.switch_args, &a);
	q = bpf_task_storage_get(&queues, a.next, NULL, 0);
	if (!q || !q->at_ns)
		return 0;
	if (is_wanted(a.next)) {
		put_run(a.next, q);
		put_leave(a.next, q, LEAVE_TO_CPU);
	}
	q->at_ns = 0;
	return 0;
}

/* info is the kernel's word on it, or NULL. */
static __always_inline void put_state(__u32 state, __u32 exit_kind, struct scx_exit_info *info)
{
	struct slot s;
	struct ev_scx_state *e = begin(&s, EV_SCX_STATE, sizeof(*e));

	if (!e)
		return;
	e->state = state;
	e->exit_kind = exit_kind;
	e->exit_code = info ? BPF_CORE_READ(info, exit_code) : 0;
	__builtin_memcpy(e->name, scheduler, sizeof(e->name));
	if (!info ||
	    bpf_probe_read_kernel_str(e->message, sizeof(e->message), BPF_CORE_READ(info, msg)) < 0)
		e->message[0] = '\0';
	end(&s);
}

/* Whoever has not been taken back by now was thrown out, or went by itself. */
static __always_inline void go(__u32 exit_kind, struct scx_exit_info *info)
{
	bool is_fault = !exit_kind || exit_kind >= EV_SCX_EXIT_ERROR;

	if (is_on)
		put_state(is_fault ? EV_SCX_EJECTED : EV_SCX_OFF, exit_kind, info);
	is_on = is_layered = 0;
}

/* bpf_scx_reg(ops, link), and what it returned. */
SEC("fexit")
int on_scx_reg(__u64 *ctx)
{
	struct sched_ext_ops *ops = (struct sched_ext_ops *)ctx[0];

	if ((int)ctx[2])
		return 0;
	__builtin_memset(scheduler, 0, sizeof(scheduler));
	bpf_probe_read_kernel_str(scheduler, sizeof(scheduler), &ops->name);
	is_on = 1;
	put_state(EV_SCX_ON, 0, NULL);
	return 0;
}

SEC("fentry")
int on_scx_unreg(__u64 *ctx)
{
	if (is_on)
		put_state(EV_SCX_OFF, EV_SCX_EXIT_UNREG, NULL);
	is_on = is_layered = 0;
	return 0;
}

/* The way out for all of them. Linux 6.12 keeps the reason in variables of its own. */
SEC("fentry")
int on_scx_disable(__u64 *ctx)
{
	struct scx_exit_info *info = NULL;
	__u32 kind = 0;

	if (&scx_exit_kind && &scx_exit_info) {
		bpf_probe_read_kernel(&kind, sizeof(kind), &scx_exit_kind);
		bpf_probe_read_kernel(&info, sizeof(info), &scx_exit_info);
	}
	go(kind, info);
	return 0;
}

/* Linux 7, where each scheduler has them. */
SEC("fentry")
int on_scx_disabled(__u64 *ctx)
{
	struct scx_sched *sch = (struct scx_sched *)ctx[0];
	struct scx_exit_info *info = sch->exit_info;

	go(info ? (__u32)info->kind : 0, info);
	return 0;
}
