#include "query/event_fields.h"

#include <string.h>

#include "abi/event_check.h"
#include "model/interrupt.h"
#include "model/task_lives.h"

#define FIELD(type, member, name_, how)                                  \
	{                                                                \
		name_, EVENT_FIELD_##how, offsetof(struct type, member), \
			sizeof(((struct type *)0)->member)               \
	}

#define WAKE_FIELDS                                                                 \
	{                                                                           \
		FIELD(ev_wake, tid, "pid", U64), FIELD(ev_wake, tid, "comm", COMM), \
			FIELD(ev_wake, prio, "prio", I64),                          \
			FIELD(ev_wake, target_cpu, "target_cpu", U64),              \
			FIELD(ev_wake, waker_tid, "waker_pid", U64),                \
			FIELD(ev_wake, waker_tid, "waker_comm", COMM)               \
	}
#define TASK_FIELDS                                                                  \
	{                                                                            \
		FIELD(ev_task, tid, "pid", U64), FIELD(ev_task, comm, "comm", TEXT), \
			FIELD(ev_task, prio, "prio", I64)                            \
	}
#define IPI_FIELDS                                    \
	{                                             \
		FIELD(ev_ipi, reason, "reason", TEXT) \
	}
#define WORK_FIELDS                                                                 \
	{                                                                           \
		FIELD(ev_work, tid, "pid", U64), FIELD(ev_work, tid, "comm", COMM), \
			FIELD(ev_work, work, "work", ID),                           \
			FIELD(ev_work, function, "function", SYMBOL)                \
	}

struct event_type {
	const char *name;
	struct event_field fields[EVENT_FIELDS_MAX + 1];
};

static const struct event_type types[EV_KIND_MAX] = {
	[EV_SWITCH] = { "sched_switch",
	                { FIELD(ev_switch, prev_tid, "prev_pid", U64),
	                  FIELD(ev_switch, prev_tid, "prev_comm", COMM),
	                  FIELD(ev_switch, prev_prio, "prev_prio", I64),
	                  FIELD(ev_switch, prev_state, "prev_state", U64),
	                  FIELD(ev_switch, next_tid, "next_pid", U64),
	                  FIELD(ev_switch, next_tid, "next_comm", COMM),
	                  FIELD(ev_switch, next_prio, "next_prio", I64) } },
	[EV_WAKING] = { "sched_waking", WAKE_FIELDS },
	[EV_WAKEUP] = { "sched_wakeup", WAKE_FIELDS },
	[EV_WAKEUP_NEW] = { "sched_wakeup_new", WAKE_FIELDS },
	[EV_MIGRATE] = { "sched_migrate_task",
	                 { FIELD(ev_migrate, tid, "pid", U64), FIELD(ev_migrate, tid, "comm", COMM),
	                   FIELD(ev_migrate, prio, "prio", I64),
	                   FIELD(ev_migrate, from_cpu, "orig_cpu", U64),
	                   FIELD(ev_migrate, to_cpu, "dest_cpu", U64) } },
	[EV_FORK] = { "sched_process_fork",
	              { FIELD(ev_fork, parent_tid, "pid", U64),
	                FIELD(ev_fork, parent_tid, "comm", COMM),
	                FIELD(ev_fork, parent_tid, "parent_pid", U64),
	                FIELD(ev_fork, parent_tgid, "parent_tgid", U64),
	                FIELD(ev_fork, tid, "child_pid", U64),
	                FIELD(ev_fork, tgid, "child_tgid", U64),
	                FIELD(ev_fork, comm, "child_comm", TEXT) } },
	[EV_EXEC] = { "sched_process_exec",
	              { FIELD(ev_exec, tid, "pid", U64), FIELD(ev_exec, comm, "comm", TEXT),
	                FIELD(ev_exec, old_tid, "old_pid", U64) } },
	[EV_EXIT] = { "sched_process_exit",
	              { FIELD(ev_exit, tid, "pid", U64), FIELD(ev_exit, comm, "comm", TEXT),
	                FIELD(ev_exit, tgid, "tgid", U64), FIELD(ev_exit, prio, "prio", I64) } },
	[EV_RENAME] = { "task_rename",
	                { FIELD(ev_rename, tid, "pid", U64), FIELD(ev_rename, comm, "comm", TEXT),
	                  FIELD(ev_rename, old_comm, "oldcomm", TEXT),
	                  FIELD(ev_rename, comm, "newcomm", TEXT) } },
	[EV_FREE] = { "sched_process_free",
	              { FIELD(ev_free, tid, "pid", U64), FIELD(ev_free, comm, "comm", TEXT) } },
	[EV_HANG] = { "sched_process_hang", TASK_FIELDS },
	[EV_WAIT] = { "sched_process_wait", TASK_FIELDS },
	[EV_SOFTIRQ_ENTRY] = { "softirq_entry",
	                       { FIELD(ev_softirq, tid, "pid", U64),
	                         FIELD(ev_softirq, tid, "comm", COMM),
	                         FIELD(ev_softirq, vector, "vec", U64) } },
	[EV_SOFTIRQ_EXIT] = { "softirq_exit",
	                      { FIELD(ev_softirq, tid, "pid", U64),
	                        FIELD(ev_softirq, tid, "comm", COMM),
	                        FIELD(ev_softirq, vector, "vec", U64) } },
	[EV_IRQ_ENTRY] = { "irq_handler_entry",
	                   { FIELD(ev_irq_entry, tid, "pid", U64),
	                     FIELD(ev_irq_entry, tid, "comm", COMM),
	                     FIELD(ev_irq_entry, irq, "irq", U64),
	                     FIELD(ev_irq_entry, name, "name", TEXT) } },
	[EV_IRQ_EXIT] = { "irq_handler_exit",
	                  { FIELD(ev_irq_exit, irq, "irq", U64),
	                    FIELD(ev_irq_exit, ret, "ret", I64) } },
	[EV_IPI_SEND] = { "ipi_raise",
	                  { FIELD(ev_ipi_send, tid, "pid", U64),
	                    FIELD(ev_ipi_send, tid, "comm", COMM),
	                    FIELD(ev_ipi_send, target_cpu, "target_cpu", U64),
	                    FIELD(ev_ipi_send, callback, "callback", ID) } },
	[EV_IPI_ENTRY] = { "ipi_entry", IPI_FIELDS },
	[EV_IPI_EXIT] = { "ipi_exit", IPI_FIELDS },
	[EV_WORK_START] = { "workqueue_execute_start", WORK_FIELDS },
	[EV_WORK_END] = { "workqueue_execute_end", WORK_FIELDS },
	[EV_CPU_IDLE] = { "cpu_idle",
	                  { FIELD(ev_cpu_idle, state, "state", U64),
	                    FIELD(ev_cpu_idle, cpu, "cpu_id", U64) } },
	[EV_CPU_FREQ] = { "cpu_frequency",
	                  { FIELD(ev_cpu_freq, khz, "frequency_khz", U64),
	                    FIELD(ev_cpu_freq, khz, "state", U64),
	                    FIELD(ev_cpu_freq, cpu, "cpu_id", U64) } },
	[EV_CPU_HOTPLUG] = { "cpuhp",
	                     { FIELD(ev_cpu_hotplug, cpu, "cpu_id", U64),
	                       FIELD(ev_cpu_hotplug, step, "state", I64),
	                       FIELD(ev_cpu_hotplug, target, "target", I64),
	                       FIELD(ev_cpu_hotplug, ret, "ret", I64) } },
	[EV_HW_PRESSURE] = { "hw_pressure",
	                     { FIELD(ev_hw_pressure, pressure, "pressure", U64),
	                       FIELD(ev_hw_pressure, cpu, "cpu_id", U64) } },
	[EV_GPU_MEM] = { "gpu_mem_total",
	                 { FIELD(ev_gpu_mem, tgid, "pid", U64),
	                   FIELD(ev_gpu_mem, gpu, "gpu_id", U64),
	                   FIELD(ev_gpu_mem, bytes, "size", U64) } },
	[EV_PROBE] = { "probe",
	               { FIELD(ev_probe, tid, "pid", U64), FIELD(ev_probe, tid, "comm", COMM),
	                 FIELD(ev_probe, probe, "probe", PROBE),
	                 FIELD(ev_probe, probe, "probe_id", U64), FIELD(ev_probe, ip, "ip", ID) } },
	[EV_PMU] = { "pmu", { FIELD(ev_pmu, tid, "pid", U64), FIELD(ev_pmu, tid, "comm", COMM) } },
	[EV_SCX_RUN] = { "scx_run",
	                 { FIELD(ev_scx_run, tid, "pid", U64), FIELD(ev_scx_run, tid, "comm", COMM),
	                   FIELD(ev_scx_run, dsq_id, "dsq_id", ID),
	                   FIELD(ev_scx_run, layer, "layer_id", U64),
	                   FIELD(ev_scx_run, vtime, "vtime", U64),
	                   FIELD(ev_scx_run, slice_ns, "slice_ns", U64) } },
	[EV_DSQ_LEAVE] = { "dsq_leave",
	                   { FIELD(ev_dsq_leave, tid, "pid", U64),
	                     FIELD(ev_dsq_leave, tid, "comm", COMM),
	                     FIELD(ev_dsq_leave, dsq_id, "dsq_id", ID),
	                     FIELD(ev_dsq_leave, start_ns, "start_timestamp", U64),
	                     FIELD(ev_dsq_leave, layer, "layer_id", U64),
	                     FIELD(ev_dsq_leave, vtime, "vtime", U64),
	                     FIELD(ev_dsq_leave, is_moved, "is_moved", U64),
	                     FIELD(ev_dsq_leave, flags, "is_dequeued", DEQUEUED) } },
	[EV_DSQ_DEPTH] = { "dsq_depth",
	                   { FIELD(ev_dsq_depth, dsq_id, "dsq_id", ID),
	                     FIELD(ev_dsq_depth, depth, "depth", U64) } },
	[EV_SCX_STATE] = { "scx_state",
	                   { FIELD(ev_scx_state, state, "state", U64),
	                     FIELD(ev_scx_state, name, "name", TEXT),
	                     FIELD(ev_scx_state, exit_kind, "exit_kind", U64),
	                     FIELD(ev_scx_state, exit_kind, "reason", REASON),
	                     FIELD(ev_scx_state, exit_code, "exit_code", I64),
	                     FIELD(ev_scx_state, message, "message", TEXT) } },
	[EV_SCX_COUNTER] = { "scx_event",
	                     { FIELD(ev_scx_counter, name, "name", TEXT),
	                       FIELD(ev_scx_counter, value, "value", I64) } },
	[EV_COUNTER] = { "counter",
	                 { FIELD(ev_counter, tid, "pid", U64), FIELD(ev_counter, tid, "comm", COMM),
	                   FIELD(ev_counter, tgid, "tgid", U64),
	                   FIELD(ev_counter, name, "name", TEXT),
	                   FIELD(ev_counter, value, "value", I64) } },
	[EV_SPAN] = { "span",
	              { FIELD(ev_span, tid, "pid", U64), FIELD(ev_span, tid, "comm", COMM),
	                FIELD(ev_span, start_ns, "start_timestamp", U64),
	                FIELD(ev_span, id, "id", ID) } },
	[EV_BLOCK] = { "block_rq",
	               { FIELD(ev_block, tid, "pid", U64), FIELD(ev_block, tid, "comm", COMM),
	                 FIELD(ev_block, step, "step", U64), FIELD(ev_block, dev, "dev", U64),
	                 FIELD(ev_block, sector, "sector", U64),
	                 FIELD(ev_block, nr_sectors, "nr_sector", U64),
	                 FIELD(ev_block, rwbs, "rwbs", TEXT) } },
	[EV_NET] = { "net",
	             { FIELD(ev_net, bytes, "len", U64), FIELD(ev_net, is_sent, "is_sent", U64),
	               FIELD(ev_net, name, "name", TEXT) } },
	[EV_MEMORY] = { "mm",
	                { FIELD(ev_memory, tid, "pid", U64), FIELD(ev_memory, tid, "comm", COMM),
	                  FIELD(ev_memory, step, "step", U64),
	                  FIELD(ev_memory, order, "order", U64) } },
	[EV_FSYNC] = { "fsync",
	               { FIELD(ev_fsync, tid, "pid", U64), FIELD(ev_fsync, tid, "comm", COMM),
	                 FIELD(ev_fsync, inode, "ino", ID),
	                 FIELD(ev_fsync, is_end, "is_end", U64) } },
	[EV_SUSPEND] = { "suspend_resume",
	                 { FIELD(ev_suspend, action, "action", TEXT),
	                   FIELD(ev_suspend, value, "val", I64),
	                   FIELD(ev_suspend, is_start, "start", U64) } },
	[EV_BLOCKED] = { "sched_blocked_reason",
	                 { FIELD(ev_blocked, tid, "pid", U64), FIELD(ev_blocked, tid, "comm", COMM),
	                   FIELD(ev_blocked, caller, "caller", SYMBOL),
	                   FIELD(ev_blocked, is_io, "io_wait", U64) } },
	[EV_THROTTLE] = { "throttle",
	                  { FIELD(ev_throttle, tid, "pid", U64),
	                    FIELD(ev_throttle, tid, "comm", COMM),
	                    FIELD(ev_throttle, cgroup, "cgroup", ID),
	                    FIELD(ev_throttle, quota_ns, "quota_ns", U64),
	                    FIELD(ev_throttle, period_ns, "period_ns", U64),
	                    FIELD(ev_throttle, until_ns, "until_ns", U64),
	                    FIELD(ev_throttle, limit, "limit", U64) } },
	[EV_REFILL] = { "refill",
	                { FIELD(ev_refill, cgroup, "cgroup", ID),
	                  FIELD(ev_refill, nr_cpus, "empty_cpus", U64) } },
	[EV_THROTTLED] = { "throttled",
	                   { FIELD(ev_throttled, cgroup, "cgroup", ID),
	                     FIELD(ev_throttled, quota_ns, "quota_ns", U64),
	                     FIELD(ev_throttled, period_ns, "period_ns", U64),
	                     FIELD(ev_throttled, start_ns, "start_ns", U64),
	                     FIELD(ev_throttled, cpu, "throttled_cpu", U64) } },
	[EV_RT_LIMIT] = { "rt_limit", { FIELD(ev_rt_limit, is_on, "is_on", U64) } },
	[EV_STEAL] = { "steal", { FIELD(ev_steal, ns, "ns", U64) } },
	[EV_AFFINITY] = { "affinity",
	                  { FIELD(ev_affinity, tid, "pid", U64),
	                    FIELD(ev_affinity, tid, "comm", COMM),
	                    { "cpu_mask", EVENT_FIELD_ID, sizeof(struct ev_affinity), 8 } } },
	[EV_POLICY] = { "policy",
	                { FIELD(ev_policy, tid, "pid", U64), FIELD(ev_policy, tid, "comm", COMM),
	                  FIELD(ev_policy, policy, "policy", POLICY),
	                  FIELD(ev_policy, prio, "prio", I64),
	                  FIELD(ev_policy, cookie, "cookie", U64) } },
	[EV_LOCK] = { "lock",
	              { FIELD(ev_lock, tid, "pid", U64), FIELD(ev_lock, tid, "comm", COMM),
	                FIELD(ev_lock, lock, "lock", ID), FIELD(ev_lock, type, "lock_type", LOCK),
	                FIELD(ev_lock, type, "lock_flags", U64),
	                FIELD(ev_lock, start_ns, "start_ns", U64),
	                FIELD(ev_lock, end_ns, "end_ns", U64) } },
	[EV_SLEEP] = { "sleep",
	               { FIELD(ev_sleep, tid, "pid", U64), FIELD(ev_sleep, tid, "comm", COMM),
	                 FIELD(ev_sleep, call, "syscall", CALL),
	                 FIELD(ev_sleep, nr, "syscall_nr", U64),
	                 FIELD(ev_sleep, args[0], "arg0", ID),
	                 FIELD(ev_sleep, args[1], "arg1", ID) } },
};

static const struct {
	const char *name;
	uint64_t kinds;
} groups[] = {
	{ "sched_migrate", EV_BIT(EV_MIGRATE) },
	{ "softirq", EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT) },
	{ "irq", EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_IRQ_EXIT) },
	{ "ipi", EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IPI_EXIT) | EV_BIT(EV_IPI_SEND) },
	{ "workqueue", EV_BIT(EV_WORK_START) | EV_BIT(EV_WORK_END) },
	{ "wakeups", EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW) },
};

const char *event_type_name(unsigned int kind)
{
	return kind < EV_KIND_MAX ? types[kind].name : NULL;
}

uint64_t event_type_count(const struct source_facts *f, unsigned int kind)
{
	return event_type_name(kind) ? f->kinds[kind] : 0;
}

static uint64_t all_kinds(void)
{
	uint64_t kinds = 0;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (types[kind].name)
			kinds |= EV_BIT(kind);
	return kinds;
}

uint64_t event_kinds_by_name(const char *name)
{
	if (!strcmp(name, "all"))
		return all_kinds();
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i].name, name))
			return groups[i].kinds;
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (types[kind].name && !strcmp(types[kind].name, name))
			return EV_BIT(kind);
	return 0;
}

const struct event_field *event_fields(unsigned int kind)
{
	static const struct event_field none = { 0 };

	return kind < EV_KIND_MAX && types[kind].name ? types[kind].fields : &none;
}

static uint64_t read_number(const struct ev_hdr *rec, const struct event_field *f)
{
	const char *at = (const char *)rec + f->offset;
	uint64_t value = 0;

	memcpy(&value, at,
	       f->size); /* the machine's byte order is little-endian on all that we support */
	return value;
}

static int64_t sign_extend(uint64_t value, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;

	return (int64_t)(value << shift) >> shift;
}

/* The task that had the tid at the time of the event. */
static uint32_t task_of(const struct source *s, uint32_t tid, uint64_t ts_ns)
{
	return s->lives ? task_lives_at(s->lives, tid, ts_ns) : tasks_find(s->tasks, tid);
}

/* Idle has its own name. */
static const char *comm_of(const struct source *s, uint32_t tid, uint64_t ts_ns)
{
	uint32_t task = task_of(s, tid, ts_ns);

	if (tid == 0)
		return "swapper";
	return task == TASKS_NONE ? NULL
	                          : tasks_string(s->tasks, tasks_comm_at(s->tasks, task, ts_ns));
}

static bool is_unknown_of_run(const struct ev_scx_run *run, size_t offset)
{
	switch (offset) {
	case offsetof(struct ev_scx_run, layer):
		return run->layer == EV_NO_LAYER;
	case offsetof(struct ev_scx_run, dsq_id):
		return run->dsq_id == EV_DSQ_INVALID;
	case offsetof(struct ev_scx_run, vtime):
		return !(run->flags & EV_SCX_HAS_VTIME);
	case offsetof(struct ev_scx_run, slice_ns):
		return !(run->flags & EV_SCX_HAS_SLICE);
	default:
		return false;
	}
}

static bool is_unknown_of_leave(const struct ev_dsq_leave *leave, size_t offset)
{
	switch (offset) {
	case offsetof(struct ev_dsq_leave, layer):
		return leave->layer == EV_NO_LAYER;
	case offsetof(struct ev_dsq_leave, start_ns):
		return !leave->start_ns;
	case offsetof(struct ev_dsq_leave, vtime):
		return !(leave->flags & EV_SCX_HAS_VTIME);
	default:
		return false;
	}
}

static bool is_unknown_of_state(const struct ev_scx_state *state, size_t offset)
{
	switch (offset) {
	case offsetof(struct ev_scx_state, exit_kind):
		return !state->exit_kind;
	case offsetof(struct ev_scx_state, exit_code):
		return !state->exit_code;
	case offsetof(struct ev_scx_state, message):
		return !state->message[0];
	default:
		return false;
	}
}

static bool is_wake(const struct ev_hdr *rec)
{
	return rec->kind == EV_WAKING || rec->kind == EV_WAKEUP || rec->kind == EV_WAKEUP_NEW;
}

/* The previous task, or the waker, where the recorder did not say: 0 there would be the idle task. */
static bool is_unknown(const struct ev_hdr *rec, const struct event_field *field)
{
	if (rec->kind == EV_IPI_SEND && field->offset == offsetof(struct ev_ipi_send, target_cpu))
		return ((const struct ev_ipi_send *)(const void *)rec)->target_cpu == ~0U;
	if (rec->kind == EV_SCX_RUN)
		return is_unknown_of_run((const void *)rec, field->offset);
	if (rec->kind == EV_DSQ_LEAVE)
		return is_unknown_of_leave((const void *)rec, field->offset);
	if (rec->kind == EV_SCX_STATE)
		return is_unknown_of_state((const void *)rec, field->offset);
	if (rec->kind == EV_AFFINITY && field->offset == sizeof(struct ev_affinity))
		return !((const struct ev_affinity *)(const void *)rec)->nr;
	if (is_wake(rec) && field->offset == offsetof(struct ev_wake, waker_tid) &&
	    interrupt_is(interrupt_context(rec->flags, ABI_BY_UNKNOWN)))
		return true;
	if (!(rec->flags & EV_FLAG_UNKNOWN))
		return false;
	if (rec->kind == EV_SWITCH)
		return field->offset == offsetof(struct ev_switch, prev_tid) ||
		       field->offset == offsetof(struct ev_switch, prev_prio);
	return is_wake(rec) && field->offset == offsetof(struct ev_wake, waker_tid);
}

bool event_field_value(const struct source *s, const struct ev_hdr *rec,
                       const struct event_field *field, struct event_value *out)
{
	*out = (struct event_value){ 0 };
	if (is_unknown(rec, field))
		return false;
	switch (field->type) {
	case EVENT_FIELD_TEXT:
		out->is_text = true;
		out->text = (const char *)rec + field->offset;
		return true;
	case EVENT_FIELD_COMM:
		out->is_text = true;
		out->text = comm_of(s, (uint32_t)read_number(rec, field), rec->ts_ns);
		return out->text && out->text[0];
	case EVENT_FIELD_DEQUEUED:
		out->u64 = (read_number(rec, field) & EV_SCX_DEQUEUED) != 0;
		return true;
	case EVENT_FIELD_REASON:
		out->is_text = true;
		out->text = ev_scx_reason((unsigned int)read_number(rec, field));
		return out->text != NULL;
	case EVENT_FIELD_CALL:
		out->is_text = true;
		out->text = ev_call_name((unsigned int)read_number(rec, field));
		return out->text != NULL;
	case EVENT_FIELD_POLICY:
		out->is_text = true;
		out->text = ev_policy_name((unsigned int)read_number(rec, field));
		return out->text != NULL;
	case EVENT_FIELD_LOCK:
		out->is_text = true;
		out->text = ev_lock_name((unsigned int)read_number(rec, field));
		return true;
	case EVENT_FIELD_PROBE:
		out->is_text = true;
		out->text = source_probe(s, (uint32_t)read_number(rec, field));
		return out->text != NULL;
	case EVENT_FIELD_SYMBOL:
		out->text = source_symbol(s, read_number(rec, field));
		out->is_text = out->text != NULL;
		if (out->is_text)
			return true;
		out->is_id = true;
		break;
	case EVENT_FIELD_I64:
		out->is_signed = true;
		out->i64 = sign_extend(read_number(rec, field), field->size);
		return true;
	case EVENT_FIELD_ID:
		out->is_id = true;
		break;
	case EVENT_FIELD_U64:
		break;
	}
	out->u64 = read_number(rec, field);
	return true;
}

static const struct event_field *find(unsigned int kind, const char *name)
{
	for (const struct event_field *f = event_fields(kind); f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/* Of a switch, the one that was on the CPU. */
static const char *own_name(unsigned int kind, const char *name)
{
	if (kind == EV_SWITCH && !strcmp(name, "pid"))
		return "prev_pid";
	if (kind == EV_SWITCH && !strcmp(name, "comm"))
		return "prev_comm";
	return name;
}

/* Of the event's own task, at that time. */
static const char *cgroup_of(const struct source *s, const struct ev_hdr *rec)
{
	struct event_value tid;
	uint32_t task;

	if (!event_value(s, rec, "pid", &tid))
		return NULL;
	task = task_of(s, (uint32_t)tid.u64, rec->ts_ns);
	return tasks_cgroup_path(s->tasks, tasks_cgroup_at(s->tasks, task, rec->ts_ns));
}

bool event_value(const struct source *s, const struct ev_hdr *rec, const char *field,
                 struct event_value *out)
{
	const struct event_field *own;

	*out = (struct event_value){ 0 };
	if (!strcmp(field, "timestamp")) {
		out->u64 = rec->ts_ns;
		return true;
	}
	if (!strcmp(field, "cpu")) {
		out->u64 = rec->cpu;
		return true;
	}
	if (!strcmp(field, "event_type")) {
		out->is_text = true;
		out->text = event_type_name(rec->kind);
		return out->text != NULL;
	}
	if (!strcmp(field, "cgroup")) {
		out->is_text = true;
		out->text = cgroup_of(s, rec);
		return out->text != NULL;
	}
	own = find(rec->kind, own_name(rec->kind, field));
	return own && event_field_value(s, rec, own, out);
}

bool event_field_exists(const char *field)
{
	static const char *const common[] = { "timestamp", "cpu",  "event_type",
		                              "pid",       "comm", "cgroup" };

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (!strcmp(common[i], field))
			return true;
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (find(kind, field))
			return true;
	return false;
}

bool event_field_is_number(const char *field)
{
	if (!event_field_exists(field) || !strcmp(field, "event_type") || !strcmp(field, "comm") ||
	    !strcmp(field, "cgroup"))
		return false;
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++) {
		const struct event_field *f = find(kind, field);

		if (f && (f->type == EVENT_FIELD_TEXT || f->type == EVENT_FIELD_COMM ||
		          f->type == EVENT_FIELD_REASON || f->type == EVENT_FIELD_CALL ||
		          f->type == EVENT_FIELD_POLICY || f->type == EVENT_FIELD_LOCK ||
		          f->type == EVENT_FIELD_PROBE || f->type == EVENT_FIELD_SYMBOL))
			return false;
	}
	return true;
}
