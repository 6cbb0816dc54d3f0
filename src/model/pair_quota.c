/* Tasks that the quota of a cgroup or another limit keeps off their CPUs, and the time that the hypervisor takes from CPUs. */
#include <string.h>

#include "base/grow.h"
#include "model/pair_priv.h"

void pair_throttle_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_throttle *ev = (const struct ev_throttle *)rec;
	uint32_t task = tasks_see(p->tasks, ev->tid, p->now_ns);
	struct pair_task *st = pair_task_of(p, task);

	if (!st || st->mode != TASK_WAITING || st->cause != PAIR_PREEMPTED || st->is_throttled ||
	    GROW(p->throttles, p->max_throttles, p->nr_throttles))
		return;
	st->is_throttled = true;
	if (ev->until_ns && (!p->until_ns || ev->until_ns < p->until_ns))
		p->until_ns = ev->until_ns;
	p->throttles[p->nr_throttles++] = (struct open_throttle){
		.row = { .start_ns = st->wakeup_ns,
		         .cgroup = ev->cgroup,
		         .quota_ns = ev->quota_ns,
		         .period_ns = ev->period_ns,
		         .task = task,
		         .cpu = st->cpu,
		         .limit = (uint8_t)ev->limit },
		.until_ns = ev->until_ns,
	};
}

/* Its place may be taken by another. */
static void end_at(struct pair *p, uint32_t i, uint64_t end_ns, bool is_known)
{
	struct pair_throttle row = p->throttles[i].row;

	p->throttles[i] = p->throttles[--p->nr_throttles];
	p->states[row.task].is_throttled = false;
	row.end_ns = end_ns;
	if (is_known && row.end_ns > row.start_ns)
		PAIR_EMIT(p, throttle, &row);
}

/* One after the other: rows are in the order of their ends. */
void pair_throttle_expire(struct pair *p)
{
	while (p->until_ns && p->until_ns <= p->now_ns) {
		uint64_t end_ns = p->until_ns;

		p->until_ns = 0;
		for (uint32_t i = p->nr_throttles; i-- > 0;) {
			uint64_t until_ns = p->throttles[i].until_ns;

			if (until_ns && until_ns <= end_ns)
				end_at(p, i, end_ns, true);
			else if (until_ns && (!p->until_ns || until_ns < p->until_ns))
				p->until_ns = until_ns;
		}
	}
}

void pair_throttle_end(struct pair *p, uint32_t task, bool is_known)
{
	for (uint32_t i = 0; i < p->nr_throttles; i++)
		if (p->throttles[i].row.task == task) {
			end_at(p, i, p->now_ns, is_known);
			return;
		}
}

uint64_t pair_throttled_since(const struct pair *p, uint32_t task)
{
	if (!p->states[task].is_throttled)
		return 0;
	for (uint32_t i = 0; i < p->nr_throttles; i++)
		if (p->throttles[i].row.task == task)
			return p->throttles[i].row.start_ns;
	return 0;
}

static bool is_still_empty(const struct ev_refill *ev, uint32_t cpu)
{
	if (ev->nr_cpus > EV_REFILL_CPUS)
		return true;
	for (uint32_t i = 0; i < ev->nr_cpus; i++)
		if (ev->cpus[i] == cpu)
			return true;
	return false;
}

void pair_refill_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_refill *ev = (const struct ev_refill *)rec;

	for (uint32_t i = p->nr_throttles; i-- > 0;) {
		const struct pair_throttle *t = &p->throttles[i].row;

		if (t->limit == EV_LIMIT_QUOTA && t->cgroup == ev->cgroup &&
		    !is_still_empty(ev, p->states[t->task].cpu))
			end_at(p, i, p->now_ns, true);
	}
}

/* A cgroup by the kernel's id; 0 = unknown. */
static uint32_t cgroup_of(const struct pair *p, uint64_t id)
{
	for (uint32_t i = 1; i <= tasks_nr_cgroups(p->tasks); i++)
		if (tasks_cgroup_id(p->tasks, i) == id)
			return i;
	return 0;
}

/* Whether a task is in a cgroup or below it. */
static bool is_below(const struct pair *p, uint32_t task, uint32_t cgroup)
{
	uint32_t own = tasks_cgroup_now(p->tasks, task);
	const char *path = tasks_cgroup_path(p->tasks, own),
		   *top = tasks_cgroup_path(p->tasks, cgroup);
	size_t len;

	if (own == cgroup || !own || !path || !top)
		return own && own == cgroup;
	len = strlen(top);
	return strncmp(path, top, len) == 0 && (path[len] == '/' || strcmp(top, "/") == 0);
}

/* Since when a task is in a queue, or about to be; 0 = it is not. */
static uint64_t queued_since(const struct pair_task *st)
{
	if (st->mode == TASK_WAITING)
		return st->wakeup_ns;
	return st->mode == TASK_SLEEPING && !st->is_early_waking ? st->waking_ns : 0;
}

static bool is_fair(const struct pair_task *st)
{
	return !st->prio || st->prio >= PAIR_FAIR_PRIO;
}

/* The highest real-time priority is a 0, as one that is not known. */
static bool is_realtime(const struct pair_task *st)
{
	if (st->prio)
		return st->prio > 0 && st->prio < PAIR_FAIR_PRIO;
	return st->policy == ABI_POLICY_FIFO || st->policy == ABI_POLICY_RR;
}

/*
 * Until now no task of the cgroup could run there: the fair ones that wait there were throttled, from their wakeups on. A
 * timer that refills nothing leaves them so, and the next one says so again.
 */
void pair_throttled_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_throttled *ev = (const struct ev_throttled *)rec;
	uint32_t cgroup = cgroup_of(p, ev->cgroup);

	for (uint32_t i = 0; cgroup && i < tasks_nr(p->tasks) && i < p->max_states; i++) {
		struct pair_task *st = &p->states[i];
		uint64_t since_ns = st->cpu == ev->cpu ? queued_since(st) : 0;
		struct pair_throttle row = {
			.start_ns = ev->start_ns,
			.end_ns = p->now_ns,
			.cgroup = ev->cgroup,
			.quota_ns = ev->quota_ns,
			.period_ns = ev->period_ns,
			.task = i,
			.cpu = st->cpu,
		};

		if (!since_ns || !is_fair(st) || !is_below(p, i, cgroup))
			continue;
		if (row.start_ns < since_ns)
			row.start_ns = since_ns;
		if (row.start_ns < st->throttled_ns)
			row.start_ns = st->throttled_ns;
		st->throttled_ns = p->now_ns;
		if (row.end_ns > row.start_ns)
			PAIR_EMIT(p, throttle, &row);
	}
}

void pair_rt_limit_end(struct pair *p, struct pair_cpu_state *c)
{
	uint32_t cpu = (uint32_t)(c - p->cpus);

	for (uint32_t i = 0; i < tasks_nr(p->tasks) && i < p->max_states; i++) {
		const struct pair_task *st = &p->states[i];
		uint64_t since_ns = st->cpu == cpu ? queued_since(st) : 0;
		struct pair_throttle row = {
			.start_ns = since_ns > c->rt_limit_ns ? since_ns : c->rt_limit_ns,
			.end_ns = p->now_ns,
			.task = i,
			.cpu = st->cpu,
			.limit = EV_LIMIT_RT,
		};

		if (since_ns && is_realtime(st) && row.end_ns > row.start_ns)
			PAIR_EMIT(p, throttle, &row);
	}
	c->rt_limit_ns = 0;
}

void pair_rt_limit_record(struct pair *p, const struct ev_hdr *rec)
{
	struct pair_cpu_state *c = pair_cpu_get(p, rec->cpu);

	if (!c) {
		p->breaks.bad_cpu++;
		return;
	}
	if (c->rt_limit_ns)
		pair_rt_limit_end(p, c);
	if (((const struct ev_rt_limit *)rec)->is_on && c->mode != PAIR_CPU_UNKNOWN)
		c->rt_limit_ns = c->since_ns;
}

void pair_steal_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_steal *ev = (const struct ev_steal *)rec;
	const struct pair_cpu_state *c = pair_cpu_get(p, rec->cpu);
	struct pair_steal row;

	if (!c) {
		p->breaks.bad_cpu++;
		return;
	}
	row = (struct pair_steal){ .start_ns = c->before_ns,
		                   .end_ns = c->since_ns,
		                   .cpu = (uint16_t)rec->cpu };
	if (row.end_ns <= row.start_ns || !ev->ns)
		return;
	row.ns = ev->ns < row.end_ns - row.start_ns ? ev->ns : row.end_ns - row.start_ns;
	PAIR_EMIT(p, steal, &row);
}

void pair_measures_record(struct pair *p, const struct ev_hdr *rec)
{
	p->measures = ((const struct ev_measures *)rec)->flags;
}

uint32_t pair_measures(const struct pair *p)
{
	return p->measures;
}
