#include <errno.h>

#include "analyze/analyzers_report_priv.h"
#include "analyze/event_facts.h"
#include "base/arena.h"
#include "base/diag.h"
#include "model/chains.h"
#include "model/history.h"
#include "model/migrations.h"

#define DEFAULT_CHAIN 10U

static void put_mover(const struct view *r, struct facts *list, uint32_t i)
{
	const struct migrations_task *t = migrations_task_at(analyzers_migrations(r->a), i);
	struct facts *f = facts_object(list, NULL), *cpus;

	facts_u64(f, "pid", t->tid);
	facts_string(f, "comm", report_comm(r, t->comm_id));
	facts_u64(f, "migration_count", t->count);
	cpus = facts_list(f, "cpu_affinity");
	for (uint16_t k = 0; k < t->nr_cpus; k++)
		facts_u64(cpus, NULL, t->cpus[k]);
	facts_bool(f, "has_more_cpus", t->has_more_cpus);
	facts_u64(f, "ping_pong_count", t->nr_ping_pongs);
}

static void put_cpu_pairs(const struct view *r, struct ranked *rows)
{
	const struct migrations *m = analyzers_migrations(r->a);
	struct facts *list = facts_list(r->out, "cpu_pairs"), *f;
	uint32_t nr = migrations_nr_pairs(m);

	for (uint32_t i = 0; i < nr; i++)
		rows[i] = (struct ranked){ .key = (double)migrations_pair_at(m, i)->count, .i = i };
	report_rank(rows, nr);
	for (uint32_t i = 0; i < report_limit(r, nr); i++) {
		const struct migrations_pair *p = migrations_pair_at(m, rows[i].i);

		f = facts_object(list, NULL);
		facts_u64(f, "from_cpu", p->from_cpu);
		facts_u64(f, "to_cpu", p->to_cpu);
		facts_u64(f, "count", p->count);
	}
}

int report_migrations(struct view *r)
{
	const struct migrations *m = analyzers_migrations(r->a);
	struct ranked *rows = report_rank_new(r, migrations_nr_tasks(m));
	struct ranked *pairs = report_rank_new(r, migrations_nr_pairs(m));
	struct facts *list;
	uint32_t nr = 0;

	if (!rows || !pairs)
		return -ENOMEM;
	for (uint32_t i = 0; i < migrations_nr_tasks(m); i++) {
		const struct migrations_task *t = migrations_task_at(m, i);

		if (t)
			rows[nr++] = (struct ranked){ (double)t->count, t->nr_ping_pongs, i };
	}
	report_rank(rows, nr);
	facts_u64(r->out, "total_migrations", migrations_total(m));
	report_rate(r, r->out, "migration_rate", migrations_total(m));
	list = facts_list(r->out, "process_patterns");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		put_mover(r, list, rows[i].i);
	put_cpu_pairs(r, pairs);
	r->left_out = migrations_left_out(m);
	return 0;
}

static void put_moment(struct facts *list, const struct history_moment *m)
{
	struct facts *f = facts_object(list, NULL), *data;

	facts_u64(f, "timestamp", m->ts_ns);
	facts_string(f, "event_type", stream_type_name(m->kind));
	facts_known_u64(f, "cpu", m->cpu != PAIR_NO_CPU, m->cpu);
	data = facts_object(f, "data");
	if (m->kind == EV_SWITCH) {
		facts_bool(data, "comes_on", m->comes_on);
		if (!m->comes_on)
			facts_u64(data, "prev_state", m->a);
	} else if (m->kind == EV_WAKING || m->kind == EV_WAKEUP || m->kind == EV_WAKEUP_NEW) {
		facts_known_u64(data, "waker_pid", m->kind != EV_WAKEUP, m->a);
	} else if (m->kind == EV_MIGRATE) {
		facts_u64(data, "from_cpu", m->a);
		facts_u64(data, "to_cpu", m->b);
	} else if (m->kind == EV_FORK) {
		facts_u64(data, "other_pid", m->a);
	}
}

static void put_history_stats(const struct view *r, const struct history_task *t,
                              const struct history_moment *m, uint32_t nr)
{
	struct facts *f = facts_object(r->out, "stats"), *counts;

	facts_u64(f, "pid", t->tid);
	facts_string(f, "comm", report_comm(r, t->comm_id));
	facts_u64(f, "total_events", t->nr);
	counts = facts_object(f, "event_counts");
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (t->counts[kind] && stream_type_name(kind))
			facts_u64(counts, stream_type_name(kind), t->counts[kind]);
	facts_known_u64(f, "oldest_timestamp", nr, nr ? m[nr - 1].ts_ns : 0);
	facts_known_u64(f, "newest_timestamp", nr, nr ? m[0].ts_ns : 0);
}

static int put_one_history(struct view *r)
{
	const struct history *h = analyzers_history(r->a);
	struct history_moment *m = ARENA_ARRAY(r->mem, struct history_moment, HISTORY_MOMENTS);
	struct facts *list;
	uint32_t i, nr;

	if (!m)
		return -ENOMEM;
	facts_u64(r->out, "pid", r->args->pid);
	if (!history_find(h, r->args->pid, &i)) {
		facts_null(r->out, "stats");
		(void)facts_list(r->out, "events");
		return 0;
	}
	nr = history_read(h, i, m, HISTORY_MOMENTS);
	put_history_stats(r, history_task_at(h, i), m, nr);
	list = facts_list(r->out, "events");
	for (i = 0; i < report_limit(r, nr); i++)
		put_moment(list, &m[i]);
	return 0;
}

/* Of one task, its moments; of all, who has how many. */
int report_history(struct view *r)
{
	const struct history *h = analyzers_history(r->a);
	struct ranked *rows = report_rank_new(r, history_nr_tasks(h));
	struct facts *list, *f;
	uint32_t nr = 0;

	r->left_out = history_forgotten(h);
	if (r->args->has_pid)
		return put_one_history(r);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < history_nr_tasks(h); i++)
		if (history_task_at(h, i))
			rows[nr++] = (struct ranked){ .key = (double)history_task_at(h, i)->nr,
				                      .i = i };
	report_rank(rows, nr);
	facts_u64(r->out, "total_processes", nr);
	list = facts_list(r->out, "processes");
	for (uint32_t i = 0; i < report_limit(r, nr); i++) {
		const struct history_task *t = history_task_at(h, rows[i].i);

		f = facts_object(list, NULL);
		facts_u64(f, "pid", t->tid);
		facts_string(f, "comm", report_comm(r, t->comm_id));
		facts_u64(f, "total_events", t->nr);
	}
	return 0;
}

static void put_chain(const struct view *r, struct facts *list, const struct chains_chain *c)
{
	static const char *const ends[] = { "unknown", "interrupt", "cycle", "cut" };
	const struct chains_link *root = &c->links[c->nr - 1];
	struct facts *f = facts_object(list, NULL), *links, *row;
	uint64_t total_ns = 0;

	facts_known_u64(f, "root_pid", root->waker_tid, root->waker_tid);
	facts_string(f, "root_comm", report_comm(r, root->waker_comm_id));
	links = facts_list(f, "chain");
	for (uint32_t i = c->nr; i-- > 0;) {
		const struct chains_link *l = &c->links[i];

		row = facts_object(links, NULL);
		facts_known_u64(row, "pid", l->waker_tid, l->waker_tid);
		facts_string(row, "comm", report_comm(r, l->waker_comm_id));
		facts_u64(row, "wakes", l->wakee_tid);
		facts_string(row, "wakes_comm", report_comm(r, l->wakee_comm_id));
		facts_us(row, "latency_us", true, l->run_ns - l->waking_ns);
		facts_u64(row, "timestamp", l->waking_ns);
		total_ns += l->run_ns - l->waking_ns;
	}
	facts_us(f, "total_latency_us", true, total_ns);
	facts_u64(f, "chain_length", c->nr);
	facts_string(f, "begins_with", ends[c->end]);
}

/* Chains of one task, or of all: the longest first, then those that took longest. */
int report_chains(struct view *r)
{
	const struct chains *c = analyzers_chains(r->a);
	struct ranked *rows = report_rank_new(r, chains_nr_tasks(c));
	struct chains_chain chain;
	struct facts *list;
	uint32_t nr = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < chains_nr_tasks(c); i++) {
		uint64_t ns = 0;

		if (!chains_find(c, chains_task_at(c, i), DEFAULT_CHAIN, &chain) ||
		    (r->args->has_pid && chain.links[0].wakee_tid != r->args->pid))
			continue;
		for (uint32_t k = 0; k < chain.nr; k++)
			ns += chain.links[k].run_ns - chain.links[k].waking_ns;
		rows[nr++] = (struct ranked){ chain.nr, ns, chains_task_at(c, i) };
	}
	report_rank(rows, nr);
	facts_u64(r->out, "total_wakeups", chains_nr_wakeups(c));
	list = facts_list(r->out, "chains");
	for (uint32_t i = 0; i < report_limit(r, nr); i++)
		if (chains_find(c, rows[i].i, DEFAULT_CHAIN, &chain))
			put_chain(r, list, &chain);
	r->left_out = chains_forgotten(c);
	return 0;
}
