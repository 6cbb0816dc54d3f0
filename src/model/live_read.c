/* What the live model tells, of what live.c has added up. */
#include <string.h>

#include "model/live_priv.h"

uint64_t live_since_ns(const struct live *l)
{
	return l->since_ns;
}

enum live_from live_from(const struct live *l)
{
	return l->cfg.from;
}

uint32_t live_nr_cpus(const struct live *l)
{
	return l->nr_cpus;
}

const struct live_cpu *live_cpu_at(const struct live *l, uint32_t cpu)
{
	return cpu < l->nr_cpus ? &l->cpus[cpu] : NULL;
}

/* The group of that id among nr, or a new one in its place; NULL when there is no room. */
static struct live_group *group_for(struct live_group *out, uint32_t *nr, uint32_t max, int32_t id)
{
	uint32_t i = *nr;

	while (i && out[i - 1].id > id)
		i--;
	if (i && out[i - 1].id == id)
		return &out[i - 1];
	if (*nr == max)
		return NULL;
	memmove(&out[i + 1], &out[i], (*nr - i) * sizeof(*out));
	(*nr)++;
	out[i] = (struct live_group){ .id = id };
	return &out[i];
}

static uint32_t groups(const struct live *l, bool is_node, struct live_group *out, uint32_t max)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < l->nr_cpus && i < l->cfg.nr_places; i++) {
		const struct live_cpu *c = &l->cpus[i];
		int32_t id = is_node ? l->places[i].node : l->places[i].llc;
		struct live_group *g;

		if (id < 0 || !c->is_known)
			continue;
		g = group_for(out, &nr, max, id);
		if (!g)
			continue;
		g->nr_cpus++;
		g->sum.is_known = true;
		g->sum.nr_switches += c->nr_switches;
		g->sum.nr_wakeups += c->nr_wakeups;
		g->sum.nr_migrations += c->nr_migrations;
		live_latency_merge(&g->sum.latency, &c->latency);
	}
	return nr;
}

uint32_t live_llcs(const struct live *l, struct live_group *out, uint32_t max)
{
	return groups(l, false, out, max);
}

uint32_t live_nodes(const struct live *l, struct live_group *out, uint32_t max)
{
	return groups(l, true, out, max);
}

uint32_t live_nr_threads(const struct live *l)
{
	return l->nr_threads;
}

bool live_thread_at(const struct live *l, uint32_t task, struct live_thread *out)
{
	const struct task *t = tasks_at(l->cfg.tasks, task);
	uint64_t since_ns, now_ns = pair_now_ns(l->cfg.pair);
	const struct live_thread_row *row;

	if (!t || task >= l->nr_threads || !l->threads[task].is_used)
		return false;
	row = &l->threads[task];
	if (live_is_old(l, row->end_ns, now_ns))
		return false;
	*out = (struct live_thread){
		.tid = t->tid,
		.tgid = t->tgid,
		.comm_id = t->comm_id,
		.is_dead = row->end_ns != 0,
		.nr_switches = row->nr_switches,
		.nr_wakeups = row->nr_wakeups,
		.runtime_ns = row->run_ns,
		.latency = row->latency,
	};
	if (pair_task_runs(l->cfg.pair, task, &since_ns))
		out->runtime_ns += now_ns - (since_ns < l->since_ns ? l->since_ns : since_ns);
	return true;
}

uint32_t live_nr_processes(const struct live *l)
{
	return l->nr_processes;
}

bool live_process_at(const struct live *l, uint32_t i, struct live_process *out)
{
	const struct live_process_row *p = i < l->nr_processes ? &l->processes[i] : NULL;
	const struct task *leader;

	if (!p || !p->is_used || live_is_old(l, p->end_ns, pair_now_ns(l->cfg.pair)))
		return false;
	*out = p->pub;
	leader = tasks_at(l->cfg.tasks, tasks_find(l->cfg.tasks, p->pub.tgid));
	if (leader && leader->tgid == p->pub.tgid && leader->comm_id)
		out->comm_id = leader->comm_id;
	return true;
}

uint32_t live_nr_dsqs(const struct live *l)
{
	return l->nr_dsqs;
}

const struct live_dsq *live_dsq_at(const struct live *l, uint32_t i)
{
	return i < l->nr_dsqs ? &l->dsqs[i] : NULL;
}

const char *live_string(const struct live *l, uint32_t id)
{
	return tasks_string(l->cfg.tasks, id);
}

const struct pair *live_pair(const struct live *l)
{
	return l->cfg.pair;
}

void live_loss(const struct live *l, struct live_loss *out)
{
	*out = l->loss;
}
