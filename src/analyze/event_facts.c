#include "analyze/event_facts.h"

#include <stddef.h>

#include "abi/event.h"
#include "abi/event_check.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "model/event_notes.h"
#include "model/interrupt.h"

struct fact_ctx {
	const struct event_entry *e;
	const struct tasks *tasks;
	struct facts *out;
};

static const char *const type_names[EV_KIND_MAX] = {
	[EV_SWITCH] = "sched_switch",
	[EV_WAKING] = "sched_waking",
	[EV_WAKEUP] = "sched_wakeup",
	[EV_WAKEUP_NEW] = "sched_wakeup_new",
	[EV_MIGRATE] = "sched_migrate_task",
	[EV_FORK] = "fork",
	[EV_EXEC] = "exec",
	[EV_EXIT] = "exit",
	[EV_RENAME] = "rename",
	[EV_FREE] = "free",
	[EV_HANG] = "sched_hang",
	[EV_WAIT] = "wait",
	[EV_SOFTIRQ_ENTRY] = "softirq_entry",
	[EV_SOFTIRQ_EXIT] = "softirq",
	[EV_IRQ_ENTRY] = "irq_entry",
	[EV_IRQ_EXIT] = "irq_exit",
	[EV_IPI_SEND] = "ipi",
	[EV_IPI_ENTRY] = "ipi_entry",
	[EV_IPI_EXIT] = "ipi_exit",
	[EV_WORK_START] = "work_start",
	[EV_WORK_END] = "work_end",
	[EV_CPU_IDLE] = "cpu_idle",
	[EV_CPU_FREQ] = "cpu_frequency",
	[EV_CPU_HOTPLUG] = "cpuhp_enter",
	[EV_HW_PRESSURE] = "hw_pressure",
	[EV_GPU_MEM] = "gpu_mem",
	[EV_PROBE] = "kprobe",
	[EV_SAMPLE] = "perf_sample",
	[EV_PMU] = "pmu",
	[EV_AFFINITY] = "affinity",
	[EV_CGROUP] = "cgroup",
	[EV_SCX_RUN] = "scx_run",
	[EV_DSQ_LEAVE] = "dsq_leave",
	[EV_DSQ_DEPTH] = "dsq_depth",
	[EV_SCX_STATE] = "scx_state",
	[EV_SCX_COUNTER] = "scx_event",
	[EV_COUNTER] = "counter",
	[EV_SPAN] = "span",
	[EV_BLOCK] = "block",
	[EV_NET] = "net",
	[EV_MEMORY] = "memory",
	[EV_FSYNC] = "fsync",
	[EV_SUSPEND] = "suspend",
	[EV_BLOCKED] = "blocked",
	[EV_THROTTLE] = "throttle",
	[EV_REFILL] = "refill",
	[EV_STEAL] = "steal",
	[EV_SLEEP] = "sleep",
	[EV_POLICY] = "policy",
	[EV_LOCK] = "lock",
	[EV_THROTTLED] = "throttled",
	[EV_RT_LIMIT] = "rt_limit",
	[EV_TASK_INFO] = "task_info",
	[EV_PROBE_INFO] = "probe_info",
	[EV_LOST] = "lost",
	[EV_SAMPLING] = "sampling",
	[EV_STRING] = "string",
	[EV_CGROUP_INFO] = "cgroup_info",
	[EV_MEASURES] = "measures",
};

const char *stream_type_name(unsigned int kind)
{
	return kind < EV_KIND_MAX ? type_names[kind] : NULL;
}

static const char *comm_of(const struct fact_ctx *c, int i)
{
	uint32_t id = c->e->tasks[i].comm_id;

	return id ? tasks_string(c->tasks, id) : NULL;
}

static void put_tgid(const struct fact_ctx *c, const char *key, int i)
{
	facts_known_u64(c->out, key, c->e->tasks[i].tgid, c->e->tasks[i].tgid);
}

/* Names in records fill their room, or end with a NUL. */
static void put_text(const struct fact_ctx *c, const char *key, const char *text, int max)
{
	char *copy = text[0] ? arena_printf(c->out->mem, "%.*s", max, text) : NULL;

	facts_string(c->out, key, copy);
}

static void put_dsq(const struct fact_ctx *c, const char *key, bool is_known, uint64_t dsq_id)
{
	if (is_known)
		facts_id(c->out, key, dsq_id);
	else
		facts_null(c->out, key);
}

static void put_scx_dsq(const struct fact_ctx *c, const char *key, const struct event_scx *s)
{
	put_dsq(c, key, s && s->dsq_id != EV_DSQ_INVALID, s ? s->dsq_id : 0);
}

static void put_layer(const struct fact_ctx *c, const char *key, const struct event_scx *s)
{
	bool is_known = s && s->layer != EV_NO_LAYER;

	facts_known_u64(c->out, key, is_known, is_known ? s->layer : 0);
}

static void put_prev(const struct fact_ctx *c, const struct ev_switch *ev)
{
	const struct event_scx *s = c->e->prev;

	facts_u64(c->out, "prev_pid", ev->prev_tid);
	put_tgid(c, "prev_tgid", 0);
	facts_i64(c->out, "prev_prio", ev->prev_prio);
	facts_string(c->out, "prev_comm", comm_of(c, 0));
	put_layer(c, "prev_layer_id", s);
	facts_u64(c->out, "prev_state", ev->prev_state);
	put_scx_dsq(c, "prev_dsq_id", s);
	facts_known_u64(c->out, "prev_used_slice_ns", c->e->used_ns, c->e->used_ns);
	facts_known_u64(c->out, "prev_slice_ns", s && s->has_slice, s ? s->slice_ns : 0);
}

static void put_switch(const struct fact_ctx *c)
{
	const struct ev_switch *ev = (const struct ev_switch *)c->e->rec;
	const struct event_scx *s = c->e->next;
	bool is_runnable = ev->prev_state == EV_STATE_RUNNABLE ||
	                   (ev->prev_state & EV_STATE_PREEMPTED);

	put_prev(c, ev);
	facts_u64(c->out, "next_pid", ev->next_tid);
	put_tgid(c, "next_tgid", 1);
	facts_i64(c->out, "next_prio", ev->next_prio);
	facts_string(c->out, "next_comm", comm_of(c, 1));
	put_layer(c, "next_layer_id", s);
	put_scx_dsq(c, "next_dsq_id", s);
	facts_us(c->out, "next_dsq_lat_us", s && s->has_dsq_ns, s ? s->dsq_ns : 0);
	facts_known_u64(c->out, "next_dsq_nr_queued", s && s->has_depth, s ? s->depth : 0);
	facts_known_u64(c->out, "next_dsq_vtime", s && s->has_vtime, s ? s->vtime : 0);
	facts_known_u64(c->out, "next_slice_ns", s && s->has_slice, s ? s->slice_ns : 0);
	facts_bool(c->out, "preempt", ev->prev_tid && ev->next_tid && is_runnable);
}

static void put_wake(const struct fact_ctx *c)
{
	const struct ev_wake *ev = (const struct ev_wake *)c->e->rec;
	enum abi_context in = interrupt_context(ev->hdr.flags, ev->by);
	bool is_irq = interrupt_is(in);
	struct interrupt i = { .in = in, .by = ev->by };
	char text[INTERRUPT_TEXT];

	facts_u64(c->out, "pid", ev->tid);
	put_tgid(c, "tgid", 0);
	facts_i64(c->out, "prio", ev->prio);
	facts_string(c->out, "comm", comm_of(c, 0));
	/* An interrupt is not a task; the waker is known at the waking, not at the wakeup. */
	facts_known_u64(c->out, "waker_pid", !is_irq && ev->hdr.kind != EV_WAKEUP, ev->waker_tid);
	facts_string(c->out, "waker_comm",
	             is_irq || ev->hdr.kind == EV_WAKEUP ? NULL : comm_of(c, 1));
	facts_string(c->out, "waker_interrupt",
	             is_irq ? arena_printf(c->out->mem, "%s", interrupt_title(&i, text)) : NULL);
	facts_u64(c->out, "target_cpu", ev->target_cpu);
}

static void put_migrate(const struct fact_ctx *c)
{
	const struct ev_migrate *ev = (const struct ev_migrate *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_i64(c->out, "prio", ev->prio);
	facts_string(c->out, "comm", comm_of(c, 0));
	facts_u64(c->out, "orig_cpu", ev->from_cpu);
	facts_u64(c->out, "dest_cpu", ev->to_cpu);
}

static void put_fork(const struct fact_ctx *c)
{
	const struct ev_fork *ev = (const struct ev_fork *)c->e->rec;

	facts_u64(c->out, "parent_pid", ev->parent_tid);
	facts_u64(c->out, "parent_tgid", ev->parent_tgid);
	facts_string(c->out, "parent_comm", comm_of(c, 0));
	facts_null(c->out, "parent_layer_id");
	facts_u64(c->out, "child_pid", ev->tid);
	facts_u64(c->out, "child_tgid", ev->tgid);
	put_text(c, "child_comm", ev->comm, EV_COMM_LEN);
	facts_null(c->out, "child_layer_id");
}

static void put_exec(const struct fact_ctx *c)
{
	const struct ev_exec *ev = (const struct ev_exec *)c->e->rec;

	facts_u64(c->out, "old_pid", ev->old_tid);
	facts_u64(c->out, "pid", ev->tid);
	facts_null(c->out, "layer_id");
	put_text(c, "comm", ev->comm, EV_COMM_LEN);
}

static void put_exit(const struct fact_ctx *c)
{
	const struct ev_exit *ev = (const struct ev_exit *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_u64(c->out, "tgid", ev->tgid);
	put_text(c, "comm", ev->comm, EV_COMM_LEN);
}

static void put_rename(const struct fact_ctx *c)
{
	const struct ev_rename *ev = (const struct ev_rename *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_u64(c->out, "tgid", ev->tgid);
	put_text(c, "old_comm", ev->old_comm, EV_COMM_LEN);
	put_text(c, "comm", ev->comm, EV_COMM_LEN);
}

static void put_task(const struct fact_ctx *c)
{
	const struct ev_task *ev = (const struct ev_task *)c->e->rec;

	put_text(c, "comm", ev->comm, EV_COMM_LEN);
	facts_u64(c->out, "pid", ev->tid);
	if (ev->hdr.kind == EV_WAIT)
		facts_i64(c->out, "prio", ev->prio);
}

static void put_softirq(const struct fact_ctx *c)
{
	const struct ev_softirq *ev = (const struct ev_softirq *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_u64(c->out, "softirq_nr", ev->vector);
	if (ev->hdr.kind == EV_SOFTIRQ_ENTRY)
		return;
	facts_known_u64(c->out, "entry_ts", c->e->used_ns, ev->hdr.ts_ns - c->e->used_ns);
	facts_u64(c->out, "exit_ts", ev->hdr.ts_ns);
}

static void put_ipi(const struct fact_ctx *c)
{
	const struct ev_ipi_send *ev = (const struct ev_ipi_send *)c->e->rec;

	facts_known_u64(c->out, "target_cpu", ev->target_cpu != UINT32_MAX, ev->target_cpu);
	facts_u64(c->out, "pid", ev->tid);
}

static void put_gpu_mem(const struct fact_ctx *c)
{
	const struct ev_gpu_mem *ev = (const struct ev_gpu_mem *)c->e->rec;

	facts_u64(c->out, "size", ev->bytes);
	facts_u64(c->out, "gpu", ev->gpu);
	facts_u64(c->out, "pid", ev->tgid);
}

static void put_hotplug(const struct fact_ctx *c)
{
	const struct ev_cpu_hotplug *ev = (const struct ev_cpu_hotplug *)c->e->rec;

	facts_i64(c->out, "target", ev->target);
	facts_i64(c->out, "state", ev->step);
	facts_u64(c->out, "hotplug_cpu", ev->cpu);
	if (ev->is_exit)
		facts_i64(c->out, "ret", ev->ret);
}

static void put_hw_pressure(const struct fact_ctx *c)
{
	const struct ev_hw_pressure *ev = (const struct ev_hw_pressure *)c->e->rec;

	facts_u64(c->out, "hw_pressure", ev->pressure);
}

static void put_probe(const struct fact_ctx *c)
{
	const struct ev_probe *ev = (const struct ev_probe *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_id(c->out, "instruction_pointer", ev->ip);
	facts_u64(c->out, "probe", ev->probe);
}

/* Addresses follow the record's fixed part; the sizes were checked when it came. */
static void put_sample(const struct fact_ctx *c)
{
	const struct ev_sample *ev = (const struct ev_sample *)c->e->rec;
	const uint64_t *ips = (const uint64_t *)(ev + 1);
	uint32_t room = (c->e->size - (uint32_t)sizeof(*ev)) / 8;
	uint32_t nr_kernel = ev->nr_kernel < room ? ev->nr_kernel : room;
	uint32_t nr_user = ev->nr_user < room - nr_kernel ? ev->nr_user : room - nr_kernel;
	struct facts *list;

	facts_u64(c->out, "pid", ev->tid);
	facts_known_u64(c->out, "instruction_pointer", nr_kernel + nr_user,
	                nr_kernel + nr_user ? ips[0] : 0);
	facts_u64(c->out, "cpu_id", ev->hdr.cpu);
	facts_bool(c->out, "is_kernel", nr_kernel > 0);
	list = facts_list(c->out, "kernel_stack");
	for (uint32_t i = 0; i < nr_kernel; i++)
		facts_u64(list, NULL, ips[i]);
	list = facts_list(c->out, "user_stack");
	for (uint32_t i = 0; i < nr_user; i++)
		facts_u64(list, NULL, ips[nr_kernel + i]);
	facts_null(c->out, "layer_id");
}

static void put_scx_run(const struct fact_ctx *c)
{
	const struct ev_scx_run *ev = (const struct ev_scx_run *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_string(c->out, "comm", comm_of(c, 0));
	put_dsq(c, "dsq_id", ev->dsq_id != EV_DSQ_INVALID, ev->dsq_id);
	facts_known_u64(c->out, "slice_ns", ev->flags & EV_SCX_HAS_SLICE, ev->slice_ns);
	facts_known_u64(c->out, "vtime", ev->flags & EV_SCX_HAS_VTIME, ev->vtime);
	facts_known_u64(c->out, "layer_id", ev->layer != EV_NO_LAYER, ev->layer);
}

static void put_dsq_leave(const struct fact_ctx *c)
{
	const struct ev_dsq_leave *ev = (const struct ev_dsq_leave *)c->e->rec;
	bool has_start = ev->start_ns && ev->start_ns <= ev->hdr.ts_ns;

	facts_known_u64(c->out, "pid", ev->tid, ev->tid);
	facts_string(c->out, "comm", comm_of(c, 0));
	put_dsq(c, "dsq_id", ev->dsq_id != EV_DSQ_INVALID, ev->dsq_id);
	facts_us(c->out, "latency_us", has_start, has_start ? ev->hdr.ts_ns - ev->start_ns : 0);
	facts_known_u64(c->out, "vtime", ev->flags & EV_SCX_HAS_VTIME, ev->vtime);
	facts_known_u64(c->out, "layer_id", ev->layer != EV_NO_LAYER, ev->layer);
	facts_bool(c->out, "is_moved", ev->is_moved);
}

static void put_dsq_depth(const struct fact_ctx *c)
{
	const struct ev_dsq_depth *ev = (const struct ev_dsq_depth *)c->e->rec;

	put_dsq(c, "dsq_id", ev->dsq_id != EV_DSQ_INVALID, ev->dsq_id);
	facts_u64(c->out, "nr_queued", ev->depth);
}

static void put_scx_state(const struct fact_ctx *c)
{
	static const char *const states[] = {
		[EV_SCX_OFF] = "disabled",
		[EV_SCX_ON] = "enabled",
		[EV_SCX_EJECTED] = "ejected",
	};
	const struct ev_scx_state *ev = (const struct ev_scx_state *)c->e->rec;
	bool is_known = ev->state < sizeof(states) / sizeof(states[0]);

	facts_string(c->out, "state", is_known ? states[ev->state] : NULL);
	put_text(c, "name", ev->name, sizeof(ev->name));
	facts_string(c->out, "reason", ev_scx_reason(ev->exit_kind));
	put_text(c, "message", ev->message, sizeof(ev->message));
}

static void put_scx_counter(const struct fact_ctx *c)
{
	const struct ev_scx_counter *ev = (const struct ev_scx_counter *)c->e->rec;

	put_text(c, "name", ev->name, sizeof(ev->name));
	facts_i64(c->out, "value", ev->value);
}

static void put_counter(const struct fact_ctx *c)
{
	const struct ev_counter *ev = (const struct ev_counter *)c->e->rec;

	facts_known_u64(c->out, "pid", ev->tgid, ev->tgid);
	put_text(c, "name", ev->name, sizeof(ev->name));
	facts_i64(c->out, "value", ev->value);
}

static void put_sleep(const struct fact_ctx *c)
{
	const struct ev_sleep *ev = (const struct ev_sleep *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_string(c->out, "comm", comm_of(c, 0));
	facts_string(c->out, "syscall", ev_call_name(ev->call));
}

static void put_policy(const struct fact_ctx *c)
{
	const struct ev_policy *ev = (const struct ev_policy *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_string(c->out, "comm", comm_of(c, 0));
	facts_string(c->out, "policy", ev_policy_name(ev->policy));
	facts_i64(c->out, "prio", ev->prio);
}

static void put_lock(const struct fact_ctx *c)
{
	const struct ev_lock *ev = (const struct ev_lock *)c->e->rec;

	facts_u64(c->out, "pid", ev->tid);
	facts_string(c->out, "comm", comm_of(c, 0));
	facts_string(c->out, "lock_type", ev_lock_name(ev->type));
	facts_us(c->out, "wait_us", true, ev->end_ns - ev->start_ns);
}

static void put_lost(const struct fact_ctx *c)
{
	const struct ev_lost *ev = (const struct ev_lost *)c->e->rec;

	facts_string(c->out, "event_type", stream_type_name(ev->kind));
	facts_u64(c->out, "count", ev->count);
}

void event_facts(const struct event_entry *e, const struct tasks *tasks, struct facts *out)
{
	static void (*const put[EV_KIND_MAX])(const struct fact_ctx *c) = {
		[EV_SWITCH] = put_switch,
		[EV_WAKING] = put_wake,
		[EV_WAKEUP] = put_wake,
		[EV_WAKEUP_NEW] = put_wake,
		[EV_MIGRATE] = put_migrate,
		[EV_FORK] = put_fork,
		[EV_EXEC] = put_exec,
		[EV_EXIT] = put_exit,
		[EV_RENAME] = put_rename,
		[EV_HANG] = put_task,
		[EV_WAIT] = put_task,
		[EV_SOFTIRQ_ENTRY] = put_softirq,
		[EV_SOFTIRQ_EXIT] = put_softirq,
		[EV_IPI_SEND] = put_ipi,
		[EV_GPU_MEM] = put_gpu_mem,
		[EV_CPU_HOTPLUG] = put_hotplug,
		[EV_HW_PRESSURE] = put_hw_pressure,
		[EV_PROBE] = put_probe,
		[EV_SAMPLE] = put_sample,
		[EV_SCX_RUN] = put_scx_run,
		[EV_DSQ_LEAVE] = put_dsq_leave,
		[EV_DSQ_DEPTH] = put_dsq_depth,
		[EV_SCX_STATE] = put_scx_state,
		[EV_SCX_COUNTER] = put_scx_counter,
		[EV_COUNTER] = put_counter,
		[EV_SLEEP] = put_sleep,
		[EV_POLICY] = put_policy,
		[EV_LOCK] = put_lock,
		[EV_LOST] = put_lost,
	};
	struct fact_ctx c = { e, tasks, out };
	unsigned int kind = e->rec->kind;
	const char *type = stream_type_name(kind);

	if (kind == EV_CPU_HOTPLUG && ((const struct ev_cpu_hotplug *)e->rec)->is_exit)
		type = "cpuhp_exit";
	facts_string(out, "type", type ? type : "unknown");
	facts_u64(out, "ts", e->rec->ts_ns);
	facts_u64(out, "cpu",
	          kind == EV_HW_PRESSURE ? ((const struct ev_hw_pressure *)e->rec)->cpu
	                                 : e->rec->cpu);
	if (kind < EV_KIND_MAX && put[kind])
		put[kind](&c);
}
