/*
 * Stacks for the event stream: what CPUs execute, at a fixed rate; where tasks leave them to sleep;
 * where tasks are woken. A separate object, loaded on demand. The maps are those of the event
 * stream.
 *
 * A stack is walked into a scratch of its CPU first, as only then it is known how large the record is; the ring
 * takes sizes that are constants, so the next larger one of a few is reserved and the record says how much of
 * it counts. Each event has its own scratch, because a sample may interrupt a switch. Within one event nothing
 * nests: switches and wakings happen with interrupts off, and a CPU has one sampling event.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"
/* Needs context_here() of events_ring. */
#include "bpf/context.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind_follow.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define STACK_BYTES (EV_SAMPLE_DEPTH * sizeof(__u64))
#define NR_EVENTS   3U

/* User stacks by tables; zeroed: by frame pointers. */
const volatile struct stacks_cfg stacks_cfg = {};

struct stack_scratch {
	__u64 addresses[2 * EV_SAMPLE_DEPTH];
	struct unwind_walk walk;
	struct prof_stack user;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_EVENTS);
	__type(key, __u32);
	__type(value, struct stack_scratch);
} scratches SEC(".maps");

struct stack {
	struct stack_scratch *scratch;
	__u32 kernel_bytes;
	__u32 user_bytes;
	__u32 user_end; /* enum prof_end */
};

struct stack_owner {
	__u32 tid; /* 0 = an interrupt's */
	__u32 tgid;
};

static __always_inline struct stack_owner of_task(struct task_struct *p)
{
	return (struct stack_owner){ (__u32)p->pid, (__u32)p->tgid };
}

/* Apart from its callers: the verifier goes through it once in each program. */
static __noinline bool walk_user(struct stack_scratch *s)
{
	return s && unwind_user(&s->walk, bpf_get_current_task_btf(), &s->user, stacks_cfg.pc_mask);
}

/* Behind so many bytes of the kernel's frames; how many bytes it takes. */
static __always_inline long put_user(void *ctx, struct stack_scratch *s, long kernel, __u32 *end)
{
	char *to = (char *)s->addresses + kernel;
	__u32 bytes;

	*end = stacks_cfg.by_tables ? PROF_END_NO_TABLE : PROF_END_NOT_KNOWN;
	if (!stacks_cfg.by_tables || !walk_user(s))
		return bpf_get_stack(ctx, to, STACK_BYTES, BPF_F_USER_STACK);
	*end = s->user.end;
	bytes = s->user.nr * sizeof(__u64);
	barrier_var(bytes);
	if (bytes > STACK_BYTES || bpf_probe_read_kernel(to, bytes, s->user.ips))
		return 0;
	return bytes;
}

/* Kernel threads have no user stack; neither has a task that is about to lose its memory. */
static __always_inline bool walk(void *ctx, __u32 event, bool has_user, struct stack *out)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratches, &event);
	__u32 user_end = PROF_END_NOT_KNOWN;
	long kernel, user = 0;

	if (!s)
		return false;
	kernel = bpf_get_stack(ctx, s->addresses, STACK_BYTES, 0);
	if (kernel < 0)
		kernel = 0;
	if (kernel > (long)STACK_BYTES) /* never: for the verifier */
		return false;
	if (has_user)
		user = put_user(ctx, s, kernel, &user_end);
	out->scratch = s;
	out->kernel_bytes = (__u32)kernel;
	out->user_bytes = user > 0 ? (__u32)user : 0;
	out->user_end = user_end;
	return true;
}

/* room is a constant. */
static __always_inline void put_in(const struct stack_owner *w, __u32 event, __u64 period,
                                   const struct stack *stack, __u32 room)
{
	__u32 bytes = stack->kernel_bytes + stack->user_bytes;
	struct slot s;
	struct ev_sample *e = begin(&s, EV_SAMPLE, sizeof(*e) + room);

	if (!e)
		return;
	barrier_var(
		bytes); /* else the compiler leaves the next line out, which verifiers up to Linux 6.1 need */
	if (bytes > room) {
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
		return;
	}
	e->hdr.size = (__u16)(sizeof(*e) + bytes);
	bpf_probe_read_kernel(e + 1, bytes, stack->scratch->addresses);
	e->tid = w->tid;
	e->tgid = w->tgid;
	e->period = period;
	e->nr_kernel = (__u16)(stack->kernel_bytes / sizeof(__u64));
	e->nr_user = (__u16)(stack->user_bytes / sizeof(__u64));
	e->event = (__u16)event;
	e->user_end = (__u16)stack->user_end;
	end(&s);
}

static __always_inline int put_sample(const struct stack_owner *p, __u32 event, __u64 period,
                                      const struct stack *stack)
{
	__u32 bytes = stack->kernel_bytes + stack->user_bytes;

	if (bytes <= 128)
		put_in(p, event, period, stack, 128);
	else if (bytes <= 256)
		put_in(p, event, period, stack, 256);
	else if (bytes <= 512)
		put_in(p, event, period, stack, 512);
	else if (bytes <= 1024)
		put_in(p, event, period, stack, 1024);
	else
		put_in(p, event, period, stack, 2 * STACK_BYTES);
	return 0;
}

SEC("perf_event")
int on_clock(struct bpf_perf_event_data *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct stack_owner whose = of_task(p);
	struct stack stack;

	if (!is_open || !p->pid || !is_wanted(p) || !walk(ctx, EV_SAMPLE_CPU, true, &stack))
		return 0;
	return put_sample(&whose, EV_SAMPLE_CPU, ctx->sample_period, &stack);
}

/* Only tasks that go to sleep; one that is still runnable, or exits, waits for nothing. */
SEC("tp_btf/sched_switch")
int on_sleep(__u64 *ctx)
{
	struct switch_args a;
	struct stack_owner whose;
	struct stack stack;

	switch_args_read(ctx, cfg.switch_args, &a);
	whose = of_task(a.prev);
	if (!is_open || a.is_preempt || !a.prev->pid || !(a.state & TASK_REPORT) ||
	    a.prev->exit_state || !is_wanted(a.prev) || !walk(ctx, EV_SAMPLE_OFF_CPU, true, &stack))
		return 0;
	return put_sample(&whose, EV_SAMPLE_OFF_CPU, 1, &stack);
}

/*
 * The stack is the waker's; whether it is wanted is up to the task that it wakes, as for the waking
 * itself. For an interrupt only the kernel part is its own: the user part belongs to the
 * interrupted task.
 */
SEC("tp_btf/sched_waking")
int on_wake(__u64 *ctx)
{
	struct task_struct *wakee = (struct task_struct *)ctx[0];
	const struct context_cpu *here = context_here();
	struct stack_owner whose = of_task(bpf_get_current_task_btf());
	struct stack stack;
	bool is_task;

	if (!is_open || !here || !wakee->pid || !is_wanted(wakee))
		return 0;
	is_task = !context_is_interrupt(context_of(here));
	if (!is_task)
		whose = (struct stack_owner){ 0 };
	if (!walk(ctx, EV_SAMPLE_WAKER, is_task, &stack))
		return 0;
	return put_sample(&whose, EV_SAMPLE_WAKER, 1, &stack);
}
