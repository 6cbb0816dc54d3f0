#include "model/pair.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "model/pair_priv.h"

static int begin_task(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct pair *p = ctx;

	(void)ts_ns;
	if (GROW_ZEROED(p->states, p->max_states, task))
		return -ENOMEM;
	pair_task_init(p, task, PAIR_GAP_START);
	for (uint32_t i = 0; i < p->nr_outs; i++)
		if (p->outs[i].task_begin)
			p->outs[i].task_begin(p->outs[i].ctx, task, p->now_ns);
	return 0;
}

static void end_task(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct pair *p = ctx;

	(void)ts_ns;
	pair_task_close(p, task, false);
	pair_requests_forget_task(p, task);
	for (uint32_t i = 0; i < p->nr_outs; i++)
		if (p->outs[i].task_end)
			p->outs[i].task_end(p->outs[i].ctx, task, p->now_ns);
}

void pair_free(struct pair *p)
{
	static const struct tasks_hook none = { 0 };

	if (!p)
		return;
	tasks_set_hook(p->tasks, &none);
	pair_requests_free(p);
	free(p->irq_names);
	free(p->throttles);
	free(p->states);
	free(p->cpus);
	free(p);
}

void pair_note_moves(struct pair *p)
{
	p->has_moves = true;
}

void pair_note_scx(struct pair *p)
{
	p->has_scx = true;
}

int pair_new(const struct pair_cfg *cfg, struct pair **out)
{
	SCOPED(scoped_pair) struct pair *p = NULL;

	if (!cfg->tasks || cfg->nr_cpus > PAIR_MAX_CPUS)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->tasks = cfg->tasks;
	p->one_in = 1;
	if (pair_requests_new(p) < 0)
		return -ENOMEM;
	if (cfg->nr_cpus && !pair_cpu_get(p, cfg->nr_cpus - 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->nr_cpus; i++)
		p->cpus[i].is_seen = true;
	tasks_set_hook(p->tasks, &(struct tasks_hook){ begin_task, end_task, p });
	*out = TAKE_PTR(p);
	return 0;
}

int pair_add_out(struct pair *p, const struct pair_out *out)
{
	if (p->nr_outs == PAIR_MAX_OUTS)
		return -E2BIG;
	p->outs[p->nr_outs++] = *out;
	return 0;
}

void pair_change_out(struct pair *p, const struct pair_out *out)
{
	for (uint32_t i = 0; i < p->nr_outs; i++)
		if (p->outs[i].ctx == out->ctx)
			p->outs[i] = *out;
}

void pair_start(struct pair *p, uint64_t ts_ns)
{
	if (p->has_started)
		return;
	p->has_started = true;
	p->start_ns = p->now_ns = ts_ns;
	for (uint32_t i = 0; i < p->nr_cpus; i++)
		p->cpus[i].since_ns = ts_ns;
}

/* Time goes on. */
static void move_on(struct pair *p, uint64_t ts_ns)
{
	pair_start(p, ts_ns);
	if (ts_ns < p->now_ns)
		p->breaks.time_went_back++;
	else
		p->now_ns = ts_ns;
	if (p->until_ns && p->until_ns <= p->now_ns)
		pair_throttle_expire(p);
}

static void take_wake(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_wake *ev = (const struct ev_wake *)rec;
	uint32_t task;

	if (rec->kind == EV_WAKEUP_NEW)
		task = tasks_wakeup_new(p->tasks, ev->tid, p->now_ns);
	else
		task = pair_living(p, ev->tid);
	if (task == TASKS_NONE)
		return;
	if (rec->kind == EV_WAKING)
		pair_task_waking(p, task, ev);
	else if (rec->kind == EV_WAKEUP)
		pair_task_wakeup(p, task, ev);
	else
		pair_task_wakeup_new(p, task, ev);
}

static void take_migrate(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_migrate *ev = (const struct ev_migrate *)rec;
	struct pair_migration row = {
		.ts_ns = p->now_ns,
		.task = tasks_see(p->tasks, ev->tid, p->now_ns),
		.cpu = pair_cpu_nr(rec->cpu),
		.from_cpu = pair_cpu_nr(ev->from_cpu),
		.to_cpu = pair_cpu_nr(ev->to_cpu),
	};

	pair_note_moves(p);
	if (row.task == TASKS_NONE)
		return;
	PAIR_EMIT(p, migration, &row);
	pair_task_moved(p, row.task, ev->to_cpu);
}

static void take_exec(struct pair *p, const struct ev_hdr *rec)
{
	uint32_t task = tasks_exec(p->tasks, (const struct ev_exec *)rec);
	const struct pair_task *st = pair_task_of(p, task);

	if (!st)
		return;
	pair_task_drop_wakeups(p, task);
	if (st->mode == TASK_RUNNING)
		p->cpus[st->cpu].tid = tasks_at(p->tasks, task)->tid;
	pair_mark_record(p, rec);
}

static void take_exit(struct pair *p, const struct ev_hdr *rec)
{
	uint32_t task = tasks_exit(p->tasks, (const struct ev_exit *)rec);

	if (task == TASKS_NONE)
		return;
	pair_task_drop_wakeups(p, task);
	pair_mark_record(p, rec);
}

static void take_fork(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_fork(p->tasks, (const struct ev_fork *)rec);
	pair_mark_record(p, rec);
}

static void take_rename(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_rename(p->tasks, (const struct ev_rename *)rec);
	pair_mark_record(p, rec);
}

static void take_free(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_freed(p->tasks, (const struct ev_free *)rec);
}

static void take_task_info(struct pair *p, const struct ev_hdr *rec)
{
	(void)tasks_info(p->tasks, (const struct ev_task_info *)rec);
}

static void take_cgroup(struct pair *p, const struct ev_hdr *rec)
{
	tasks_cgroup(p->tasks, (const struct ev_cgroup *)rec);
}

static void take_cgroup_info(struct pair *p, const struct ev_hdr *rec)
{
	tasks_cgroup_info(p->tasks, (const struct ev_cgroup_info *)rec);
}

static void take_lost(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_lost *ev = (const struct ev_lost *)rec;
	struct pair_cpu_state *c = pair_cpu_get(p, rec->cpu);

	p->breaks.lost_records += ev->count;
	tasks_lost(p->tasks, ev->kind, p->now_ns);
	if (!c) {
		p->breaks.bad_cpu++;
		return;
	}
	if (rec->flags & EV_FLAG_LAST)
		pair_cpu_end(p, c);
	else if (ev->kind == EV_SWITCH)
		pair_cpu_lose(p, c);
	else if (ev->kind == EV_WAKING || ev->kind == EV_WAKEUP)
		p->losses.wakes++;
	else if (ev->kind == EV_BLOCK || ev->kind == EV_MEMORY || ev->kind == EV_FSYNC)
		pair_requests_lost(p, ev->kind);
	else
		pair_span_lost(p, c, ev->kind);
}

static void take_sampling(struct pair *p, const struct ev_hdr *rec)
{
	uint64_t one_in = ((const struct ev_sampling *)rec)->one_in;

	p->one_in = one_in ? one_in : 1;
}

static void take_sample(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_sample *ev = (const struct ev_sample *)rec;

	tasks_set_tgid(p->tasks, tasks_see(p->tasks, ev->tid, p->now_ns), ev->tgid);
}

/* By the operation of the futex: the libraries use bitsets for conditions. */
static bool is_for_lock(uint32_t operation)
{
	uint32_t command = operation & (uint32_t)FUTEX_CMD_MASK;

	return command == FUTEX_WAIT || command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
}

/* It is about to sleep: its switch is the next record of this CPU. */
static void take_sleep(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_sleep *ev = (const struct ev_sleep *)rec;
	struct pair_task *st = pair_task_of(p, pair_living(p, ev->tid));

	if (!st)
		return;
	st->call = ev->call;
	st->arg = ev->args[0];
	st->is_for_lock = ev->call == ABI_CALL_futex && is_for_lock((uint32_t)ev->args[1]);
}

static void take_policy(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_policy *ev = (const struct ev_policy *)rec;
	uint32_t task = pair_living(p, ev->tid);
	struct pair_task *st = pair_task_of(p, task);
	struct pair_mark row = { .ts_ns = p->now_ns,
		                 .value = ev->cookie,
		                 .task = task,
		                 .cpu = pair_cpu_nr(rec->cpu),
		                 .kind = EV_POLICY };

	if (!st)
		return;
	st->policy = ev->policy < ABI_POLICIES ? ev->policy : ABI_POLICY_UNKNOWN;
	if (st->cookie == ev->cookie)
		return;
	st->cookie = ev->cookie;
	p->has_cookies = true;
	PAIR_EMIT(p, mark, &row);
}

bool pair_has_cookies(const struct pair *p)
{
	return p->has_cookies;
}

static void take_lock(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_lock *ev = (const struct ev_lock *)rec;
	bool is_interrupt = ev->type & EV_LOCK_INTERRUPT;
	struct pair_span row = {
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns,
		.id = ev->lock,
		.value = ev->type,
		.task = is_interrupt || !ev->tid ? TASKS_NONE : pair_living(p, ev->tid),
		.cpu = pair_cpu_nr(rec->cpu),
		.kind = PAIR_LOCK,
	};

	if (row.start_ns <= row.end_ns && row.end_ns <= p->now_ns)
		PAIR_EMIT(p, span, &row);
	else
		p->breaks.unmatched_spans++;
}

static void (*const handlers[EV_KIND_MAX])(struct pair *p, const struct ev_hdr *rec) = {
	[EV_SWITCH] = pair_switch_record,
	[EV_WAKING] = take_wake,
	[EV_WAKEUP] = take_wake,
	[EV_WAKEUP_NEW] = take_wake,
	[EV_MIGRATE] = take_migrate,
	[EV_FORK] = take_fork,
	[EV_EXEC] = take_exec,
	[EV_EXIT] = take_exit,
	[EV_RENAME] = take_rename,
	[EV_FREE] = take_free,
	[EV_HANG] = pair_mark_record,
	[EV_WAIT] = pair_mark_record,
	[EV_SOFTIRQ_ENTRY] = pair_span_record,
	[EV_SOFTIRQ_EXIT] = pair_span_record,
	[EV_IRQ_ENTRY] = pair_span_record,
	[EV_IRQ_EXIT] = pair_span_record,
	[EV_IPI_SEND] = pair_mark_record,
	[EV_IPI_ENTRY] = pair_span_record,
	[EV_IPI_EXIT] = pair_span_record,
	[EV_WORK_START] = pair_span_record,
	[EV_WORK_END] = pair_span_record,
	[EV_CPU_IDLE] = pair_counter_record,
	[EV_CPU_FREQ] = pair_counter_record,
	[EV_CPU_HOTPLUG] = pair_hotplug_record,
	[EV_HW_PRESSURE] = pair_counter_record,
	[EV_GPU_MEM] = pair_counter_record,
	[EV_PROBE] = pair_mark_record,
	[EV_SAMPLE] = take_sample,
	[EV_PMU] = pair_pmu_record,
	[EV_SCX_RUN] = pair_run_record,
	[EV_DSQ_LEAVE] = pair_dsq_record,
	[EV_DSQ_DEPTH] = pair_counter_record,
	[EV_SCX_COUNTER] = pair_counter_record,
	[EV_COUNTER] = pair_counter_record,
	[EV_SCX_STATE] = pair_mark_record,
	[EV_SPAN] = pair_named_record,
	[EV_BLOCK] = pair_block_record,
	[EV_NET] = pair_mark_record,
	[EV_MEMORY] = pair_memory_record,
	[EV_FSYNC] = pair_fsync_record,
	[EV_SUSPEND] = pair_mark_record,
	[EV_BLOCKED] = pair_mark_record,
	[EV_CGROUP] = take_cgroup,
	[EV_CGROUP_INFO] = take_cgroup_info,
	[EV_THROTTLE] = pair_throttle_record,
	[EV_REFILL] = pair_refill_record,
	[EV_THROTTLED] = pair_throttled_record,
	[EV_RT_LIMIT] = pair_rt_limit_record,
	[EV_STEAL] = pair_steal_record,
	[EV_SLEEP] = take_sleep,
	[EV_POLICY] = take_policy,
	[EV_LOCK] = take_lock,
	[EV_TASK_INFO] = take_task_info,
	[EV_LOST] = take_lost,
	[EV_SAMPLING] = take_sampling,
	[EV_STRING] = pair_string_record,
	[EV_MEASURES] = pair_measures_record,
};

/* Those that the CPU of their header executes, also while it is idle. */
#define BY_CPU_KINDS                                                                               \
	(EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_IRQ_ENTRY) | \
	 EV_BIT(EV_IPI_ENTRY))
#define SCX_KINDS \
	(EV_BIT(EV_SCX_RUN) | EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_STATE))

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct pair *p = ctx;

	if (p->is_finished)
		return -EINVAL;
	move_on(p, rec->ts_ns);
	if (rec->kind >= EV_KIND_MAX || !handlers[rec->kind])
		return 0;
	if (EV_BIT(rec->kind) & BY_CPU_KINDS && rec->cpu < p->nr_cpus)
		p->cpus[rec->cpu].alive_ns = p->now_ns;
	else if (EV_BIT(rec->kind) & SCX_KINDS)
		p->has_scx = true;
	handlers[rec->kind](p, rec);
	return 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct pair *p = ctx;

	if (p->is_finished)
		return -EINVAL;
	pair_start(p, ts_ns);
	if (ts_ns > p->now_ns)
		p->now_ns = ts_ns;
	if (p->until_ns && p->until_ns <= p->now_ns)
		pair_throttle_expire(p);
	return 0;
}

struct ev_sink pair_sink(struct pair *p)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = p };
}

void pair_finish(struct pair *p, uint64_t ts_ns)
{
	if (advance(p, ts_ns) < 0)
		return;
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		if (!p->cpus[i].is_seen)
			continue;
		pair_cpu_finish(p, i);
		if (p->cpus[i].task != TASKS_NONE)
			p->states[p->cpus[i].task].mode =
				TASK_DEAD; /* nothing is counted any more */
	}
	for (uint32_t i = 0; i < tasks_nr(p->tasks) && i < p->max_states; i++)
		pair_task_close(p, i, true);
	p->is_finished = true;
}

uint64_t pair_span_ns(const struct pair *p)
{
	return p->now_ns - p->start_ns;
}

uint64_t pair_now_ns(const struct pair *p)
{
	return p->now_ns;
}

uint64_t pair_sampling(const struct pair *p)
{
	return p->one_in;
}

void pair_breaks(const struct pair *p, struct pair_breaks *out)
{
	*out = p->breaks;
}
