#include "analyze/live_report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"

#define DEFAULT_LIMIT 100

static int by_switches(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;

	if (x->nr_switches != y->nr_switches)
		return x->nr_switches > y->nr_switches ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_id(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct live_row row_of_cpu(uint64_t id, const struct live_cpu *c)
{
	return (struct live_row){
		.id = id,
		.nr_switches = c->nr_switches,
		.nr_wakeups = c->nr_wakeups,
		.nr_migrations = c->nr_migrations,
		.latency = c->latency,
	};
}

static int make_cpus(const struct live *l, struct arena *mem, struct live_report *out)
{
	uint32_t nr = live_nr_cpus(l);

	out->rows = ARENA_ARRAY(mem, struct live_row, nr + 1);
	if (!out->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		if (live_cpu_at(l, i)->is_known)
			out->rows[out->nr++] = row_of_cpu(i, live_cpu_at(l, i));
	return 0;
}

static int make_groups(const struct live *l, struct arena *mem, struct live_report *out)
{
	uint32_t nr = live_nr_cpus(l) + 1; /* no more groups than CPUs */
	struct live_group *groups = ARENA_ARRAY(mem, struct live_group, nr);

	out->rows = ARENA_ARRAY(mem, struct live_row, nr);
	if (!groups || !out->rows)
		return -ENOMEM;
	nr = out->kind == LIVE_LLCS ? live_llcs(l, groups, nr) : live_nodes(l, groups, nr);
	for (uint32_t i = 0; i < nr; i++) {
		out->rows[i] = row_of_cpu((uint64_t)groups[i].id, &groups[i].sum);
		out->rows[i].nr_cpus = groups[i].nr_cpus;
	}
	out->nr = nr;
	return 0;
}

static int make_dsqs(const struct live *l, struct arena *mem, struct live_report *out)
{
	out->nr = live_nr_dsqs(l);
	out->rows = ARENA_ARRAY(mem, struct live_row, out->nr + 1);
	if (!out->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->nr; i++) {
		const struct live_dsq *d = live_dsq_at(l, i);

		out->rows[i] = (struct live_row){
			.id = d->dsq_id,
			.nr_enqueues = d->nr_enqueues,
			.nr_dispatches = d->nr_dispatches,
			.queue_depth = d->queue_depth,
			.has_depth = d->has_depth,
		};
	}
	qsort(out->rows, out->nr, sizeof(*out->rows), by_id);
	return 0;
}

static int make_processes(const struct live *l, struct arena *mem, struct live_report *out)
{
	uint32_t nr = live_nr_processes(l);
	struct live_process p;

	out->rows = ARENA_ARRAY(mem, struct live_row, nr + 1);
	if (!out->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		if (!live_process_at(l, i, &p))
			continue;
		out->rows[out->nr++] = (struct live_row){
			.id = p.tgid,
			.comm = p.comm_id ? live_string(l, p.comm_id) : NULL,
			.nr_switches = p.nr_switches,
			.nr_wakeups = p.nr_wakeups,
			.runtime_ns = p.runtime_ns,
			.latency = p.latency,
		};
	}
	return 0;
}

static int make_threads(const struct live *l, struct arena *mem, struct live_report *out)
{
	uint32_t nr = live_nr_threads(l);
	struct live_thread t;

	out->rows = ARENA_ARRAY(mem, struct live_row, nr + 1);
	if (!out->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		if (!live_thread_at(l, i, &t))
			continue;
		out->rows[out->nr++] = (struct live_row){
			.id = t.tid,
			.tgid = t.tgid,
			.comm = t.comm_id ? live_string(l, t.comm_id) : NULL,
			.nr_switches = t.nr_switches,
			.nr_wakeups = t.nr_wakeups,
			.runtime_ns = t.runtime_ns,
			.latency = t.latency,
		};
	}
	return 0;
}

static void note_source(const struct live *l, struct live_report *out)
{
	const struct pair *p = live_pair(l);
	uint64_t now_ns = pair_now_ns(p);
	struct pair_breaks breaks;

	pair_breaks(p, &breaks);
	out->from = live_from(l);
	out->observed_ns = now_ns > live_since_ns(l) ? now_ns - live_since_ns(l) : 0;
	out->one_in = pair_sampling(p);
	out->lost = breaks.lost_records;
}

int live_report_make(const struct live *l, enum live_kind kind, size_t limit, struct arena *mem,
                     struct live_report *out)
{
	static int (*const make[])(const struct live *l, struct arena *mem,
	                           struct live_report *out) = {
		[LIVE_CPUS] = make_cpus,           [LIVE_LLCS] = make_groups,
		[LIVE_NODES] = make_groups,        [LIVE_DSQS] = make_dsqs,
		[LIVE_PROCESSES] = make_processes, [LIVE_THREADS] = make_threads,
	};
	struct live_report r = { .kind = kind };
	int err;

	err = make[kind](l, mem, &r);
	if (err)
		return err;
	r.nr_total = r.nr;
	if (kind == LIVE_PROCESSES || kind == LIVE_THREADS) {
		qsort(r.rows, r.nr, sizeof(*r.rows), by_switches);
		if (!limit)
			limit = DEFAULT_LIMIT;
		r.nr = r.nr < limit ? r.nr : limit;
	}
	note_source(l, &r);
	*out = r;
	return 0;
}
