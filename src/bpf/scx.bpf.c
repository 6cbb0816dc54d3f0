/*
 * What sched_ext does: an object of its own, because it can be loaded only where the kernel has sched_ext and
 * lets functions be traced. Where the programs attach is set by user space, which looks at the functions of
 * the running kernel (collect/scx_plan). The rings are those of the event stream.
 *
 * A task's way through the dispatch queues: it enters one in dispatch_enqueue(), which also sees tasks bound
 * for the queue of a CPU; a CPU that takes it from a queue unlinks it and moves it to its own queue without a
 * further call, or, for another CPU, enters it there. So the queue that counts is the last one that is not a
 * CPU's own, and the stay there ends with the switch to the task.
 *
 * Each program exists twice, for fentry and for kprobe (bpf/scx_args). The latter learn at the
 * switch whether a task is wanted.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scx_args.bpf.h"
#include "bpf/switch_args.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define SCX_DSQ_LOCAL ((1ULL << 63) | 2) /* a CPU's own */

/* Linux 6.12: static variables, so only their addresses are available. */
extern const void scx_exit_kind __ksym __weak;
extern const void scx_exit_info __ksym __weak;

/* Which argument of dispatch_enqueue() is the queue; the task and the flags follow it. */
const volatile __u32 dsq_at = 0;

/* Whether a scheduler is on, and its name; user space says what was so at the start. */
__u32 is_on;
char scheduler[32];
__u64 coming; /* by kprobe: the scheduler being registered; only one at a time can be */

/* Set by user space: the programs are those by kprobe. */
const volatile __u32 by_kprobe = 0;

struct queued {
	__u64 at_ns; /* 0 = in none that we know */
	__u64 dsq_id;
	__u64 vtime;
	__u32 how;       /* EV_DSQ_* */
	__u32 is_wanted; /* by kprobe: as the last switch to it said */
};

/* By kprobe, instead of the storage of a task; unused entries are evicted by the map. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queued);
} queues_by_tid SEC(".maps");

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

static __always_inline __u32 layer_of(struct task_struct *p, bool has_kprobes)
{
	char *value;

	if (has_kprobes || !has_layers || !is_layered)
		return EV_NO_LAYER;
	value = bpf_task_storage_get(&task_ctxs, p, NULL, 0);
	return value ? *(__u32 *)(value + layer_at) : EV_NO_LAYER;
}

static __always_inline struct queued *queued_of(struct task_struct *p, bool has_kprobes,
                                                bool creates)
{
	struct queued zero = { 0 }, *q;
	__u32 tid;

	if (!has_kprobes)
		return bpf_task_storage_get(&queues, p, NULL,
		                            creates ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	tid = (__u32)BPF_CORE_READ(p, pid);
	q = bpf_map_lookup_elem(&queues_by_tid, &tid);
	if (q || !creates)
		return q;
	bpf_map_update_elem(&queues_by_tid, &tid, &zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&queues_by_tid, &tid);
}

static __always_inline bool is_wanted_here(struct task_struct *p, const struct queued *q,
                                           bool has_kprobes)
{
	if (!has_kprobes)
		return is_wanted(p);
	return q->is_wanted || (!cfg.filter_tgid && !cfg.filter_cgroup);
}

static __always_inline bool is_vtime(const struct queued *q)
{
	return q->how == EV_DSQ_INSERT_VTIME || q->how == EV_DSQ_MOVE_VTIME;
}

enum leave { LEAVE_TO_CPU, LEAVE_TO_QUEUE, LEAVE_DEQUEUED };

static __always_inline void put_leave(struct task_struct *p, const struct queued *q, enum leave how,
                                      bool has_kprobes)
{
	struct slot s;
	struct ev_dsq_leave *e = begin(&s, EV_DSQ_LEAVE, sizeof(*e));

	if (!e)
		return;
	e->start_ns = q->at_ns;
	e->dsq_id = q->dsq_id;
	e->vtime = q->vtime;
	e->tid = (__u32)READ(p, pid);
	e->layer = layer_of(p, has_kprobes);
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
	e->layer = layer_of(p, false);
	e->flags = EV_SCX_HAS_SLICE | (is_vtime(q) ? EV_SCX_HAS_VTIME : 0);
	e->pad_ = 0;
	end(&s);
}

static __always_inline void put_depth(struct scx_dispatch_q *dsq, int change, bool has_kprobes)
{
	__u64 dsq_id = READ(dsq, id);
	struct ev_dsq_depth *e;
	struct slot s;

	if (dsq_id == SCX_DSQ_LOCAL) /* one id for those of all CPUs */
		return;
	e = begin(&s, EV_DSQ_DEPTH, sizeof(*e));
	if (!e)
		return;
	e->dsq_id = dsq_id;
	e->depth = READ(dsq, nr) + (__u32)change;
	end(&s);
}

static __always_inline void enter(struct scx_dispatch_q *dsq, struct task_struct *p, __u64 flags,
                                  bool has_kprobes)
{
	struct queued *q = queued_of(p, has_kprobes, true);
	struct ev_cpu *c = this_cpu();
	__u64 dsq_id = READ(dsq, id);
	bool is_known, is_local = dsq_id == SCX_DSQ_LOCAL;

	if (!q) {
		if (c)
			c->lost[EV_DSQ_LEAVE]++;
		return;
	}
	is_known = q->at_ns && q->dsq_id != SCX_DSQ_LOCAL;
	if (is_local && is_known) /* on its way from a queue to a CPU */
		return;
	is_known = is_known && q->dsq_id != dsq_id;
	if (is_known && is_wanted_here(p, q, has_kprobes))
		put_leave(p, q, LEAVE_TO_QUEUE, has_kprobes);
	q->how = (is_known ? EV_DSQ_MOVE : EV_DSQ_INSERT) + (flags & SCX_ENQ_DSQ_PRIQ ? 1 : 0);
	q->dsq_id = dsq_id;
	q->vtime = READ(p, scx.dsq_vtime);
	q->at_ns = bpf_ktime_get_boot_ns();
}

/* dsq_at is a constant to the verifier, which never checks the other branches. */
SEC("fentry")
int on_dsq_enter(__u64 *ctx)
{
	struct scx_dispatch_q *dsq;

	if (!is_open)
		return 0;
	if (dsq_at == 0) {
		dsq = (struct scx_dispatch_q *)ctx[0];
		enter(dsq, (struct task_struct *)ctx[1], ctx[2], false);
	} else if (dsq_at == 1) {
		dsq = (struct scx_dispatch_q *)ctx[1];
		enter(dsq, (struct task_struct *)ctx[2], ctx[3], false);
	} else {
		dsq = (struct scx_dispatch_q *)ctx[2];
		enter(dsq, (struct task_struct *)ctx[3], ctx[4], false);
	}
	put_depth(dsq, 1, false);
	return 0;
}

SEC("kprobe")
int on_dsq_enter_k(struct pt_regs *ctx)
{
	struct scx_enter_args a;

	scx_enter_args_k(ctx, dsq_at, &a);
	if (!is_open)
		return 0;
	enter(a.dsq, a.p, a.flags, true);
	put_depth(a.dsq, 1, true);
	return 0;
}

SEC("fentry")
int on_dsq_unlink(__u64 *ctx)
{
	put_depth((struct scx_dispatch_q *)ctx[1], -1, false);
	return 0;
}

SEC("kprobe")
int on_dsq_unlink_k(struct pt_regs *ctx)
{
	put_depth((struct scx_dispatch_q *)PT_REGS_PARM2(ctx), -1, true);
	return 0;
}

/* dispatch_dequeue(rq, p): not only what it says, but also a step on the way from a queue to a CPU. */
static __always_inline void dequeue(struct task_struct *p, bool has_kprobes)
{
	struct scx_dispatch_q *dsq = READ(p, scx.dsq);
	struct queued *q;
	__u64 dsq_id;

	if (!is_open || !dsq || READ(p, scx.holding_cpu) >= 0)
		return;
	dsq_id = READ(dsq, id);
	q = dsq_id != SCX_DSQ_LOCAL ? queued_of(p, has_kprobes, false) : NULL;
	if (!q || !q->at_ns || q->dsq_id != dsq_id)
		return;
	if (is_wanted_here(p, q, has_kprobes))
		put_leave(p, q, LEAVE_DEQUEUED, has_kprobes);
	q->at_ns = 0;
}

SEC("fentry")
int on_dsq_dequeue(__u64 *ctx)
{
	dequeue((struct task_struct *)ctx[1], false);
	return 0;
}

SEC("kprobe")
int on_dsq_dequeue_k(struct pt_regs *ctx)
{
	dequeue((struct task_struct *)PT_REGS_PARM2(ctx), true);
	return 0;
}

SEC("tp_btf/sched_switch")
int on_scx_switch(__u64 *ctx)
{
	struct switch_args a;
	struct queued *q;

	switch_args_read(ctx, cfg.switch_args, &a);
	q = by_kprobe ? queued_of(a.next, true, false) : queued_of(a.next, false, false);
	if (!q || !q->at_ns)
		return 0;
	q->is_wanted = is_wanted(a.next);
	if (q->is_wanted) {
		put_run(a.next, q);
		put_leave(a.next, q, LEAVE_TO_CPU, false);
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

/* A scheduler that has not been unregistered by now was ejected, or exited by itself. */
static __always_inline void go(__u32 exit_kind, struct scx_exit_info *info)
{
	bool is_fault = !exit_kind || exit_kind >= EV_SCX_EXIT_ERROR;

	if (is_on)
		put_state(is_fault ? EV_SCX_EJECTED : EV_SCX_OFF, exit_kind, info);
	is_on = is_layered = 0;
}

static __always_inline void come(struct sched_ext_ops *ops)
{
	__builtin_memset(scheduler, 0, sizeof(scheduler));
	bpf_probe_read_kernel_str(scheduler, sizeof(scheduler), &ops->name);
	is_on = 1;
	put_state(EV_SCX_ON, 0, NULL);
}

/* bpf_scx_reg(ops, link), and what it returned. */
SEC("fexit")
int on_scx_reg(__u64 *ctx)
{
	if (!(int)ctx[2])
		come((struct sched_ext_ops *)ctx[0]);
	return 0;
}

SEC("kprobe")
int on_scx_reg_k(struct pt_regs *ctx)
{
	coming = PT_REGS_PARM1(ctx);
	return 0;
}

SEC("kretprobe")
int on_scx_regret_k(struct pt_regs *ctx)
{
	if (!(int)PT_REGS_RC(ctx))
		come((struct sched_ext_ops *)coming);
	return 0;
}

static __always_inline void take_back(void)
{
	if (is_on)
		put_state(EV_SCX_OFF, EV_SCX_EXIT_UNREG, NULL);
	is_on = is_layered = 0;
}

SEC("fentry")
int on_scx_unreg(__u64 *ctx)
{
	take_back();
	return 0;
}

SEC("kprobe")
int on_scx_unreg_k(struct pt_regs *ctx)
{
	take_back();
	return 0;
}

/* The way out for all of them. Linux 6.12 keeps the reason in variables of its own. */
static __always_inline void go_by_variables(void)
{
	struct scx_exit_info *info = NULL;
	__u32 kind = 0;

	if (&scx_exit_kind && &scx_exit_info) {
		bpf_probe_read_kernel(&kind, sizeof(kind), &scx_exit_kind);
		bpf_probe_read_kernel(&info, sizeof(info), &scx_exit_info);
	}
	go(kind, info);
}

SEC("fentry")
int on_scx_disable(__u64 *ctx)
{
	go_by_variables();
	return 0;
}

SEC("kprobe")
int on_scx_disable_k(struct pt_regs *ctx)
{
	go_by_variables();
	return 0;
}

/* Linux 7, where each scheduler has them. */
static __always_inline void go_by_scheduler(struct scx_sched *sch)
{
	struct scx_exit_info *info = BPF_CORE_READ(sch, exit_info);

	go(info ? (__u32)BPF_CORE_READ(info, kind) : 0, info);
}

SEC("fentry")
int on_scx_disabled(__u64 *ctx)
{
	go_by_scheduler((struct scx_sched *)ctx[0]);
	return 0;
}

SEC("kprobe")
int on_scx_disabled_k(struct pt_regs *ctx)
{
	go_by_scheduler((struct scx_sched *)PT_REGS_PARM1(ctx));
	return 0;
}
