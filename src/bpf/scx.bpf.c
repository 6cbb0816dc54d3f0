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

static __always_inline bool is_vtime(const struct queued *q)
{
	return q->how == EV_DSQ_INSERT_VTIME || q->how == EV_DSQ_MOVE_VTIME;
}

static __always_inline void put_leave(struct task_struct *p, const struct queued *q, bool is_moved)
{
	struct slot s;
	struct ev_dsq_leave *e = begin(&s, EV_DSQ_LEAVE, sizeof(*e));

	if (!e)
		return;
	e->start_ns = q->at_ns;
	e->dsq_id = q->dsq_id;
	e->vtime = q->vtime;
	e->tid = (__u32)p->pid;
	e->layer = EV_NO_LAYER;
	e->flags = is_vtime(q) ? EV_SCX_HAS_VTIME : 0;
	e->how = (__u8)q->how;
	e->is_moved = is_moved;
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
	e->layer = EV_NO_LAYER;
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
		put_leave(p, q, true);
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
		put_leave(a.next, q, false);
	}
	q->at_ns = 0;
	return 0;
}

static __always_inline void put_state(__u32 state)
{
	struct slot s;
	struct ev_scx_state *e = begin(&s, EV_SCX_STATE, sizeof(*e));

	if (!e)
		return;
	e->state = state;
	e->pad_ = 0;
	__builtin_memcpy(e->name, scheduler, sizeof(e->name));
	end(&s);
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
	put_state(EV_SCX_ON);
	return 0;
}

SEC("fentry")
int on_scx_unreg(__u64 *ctx)
{
	if (is_on)
		put_state(EV_SCX_OFF);
	is_on = 0;
	return 0;
}

/* The way out for all of them: whoever has not been taken back by then is thrown out. */
SEC("fentry")
int on_scx_disable(__u64 *ctx)
{
	if (is_on)
		put_state(EV_SCX_EJECTED);
	is_on = 0;
	return 0;
}
