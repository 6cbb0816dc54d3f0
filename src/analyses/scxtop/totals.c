/*
 * What happened in all, by CPU, last-level cache, node, process, thread or dispatch queue: what scxtop's clients know as
 * stats://aggregated. A switch counts where a task begins to run, of a CPU also where it goes idle; a wakeup and a migration
 * of a CPU where they were begun; latency is wakeup latency (analyze/latency). Only what did anything has a row.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/dsq_rows.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

struct total {
	uint64_t switches, wakeups, migrations, run_ns;
	uint64_t samples, sum_ns, min_ns, max_ns; /* of the latency */
	uint32_t nr_cpus;                         /* of a cache or a node */
};

struct totals {
	struct scope sc;
	struct units units;
	struct total *cpus;  /* and one for those out of range */
	struct total *tasks; /* by unit */
	struct total *groups;
	uint32_t nr_groups;
};

static void done(struct totals *x)
{
	free(x->cpus);
	free(x->tasks);
	free(x->groups);
	units_done(&x->units);
	scope_done(&x->sc);
}

static struct total *of_cpu(struct totals *x, uint32_t cpu)
{
	return &x->cpus[cpu < x->sc.nr_cpus ? cpu : x->sc.nr_cpus];
}

static struct total *of_task(struct totals *x, uint32_t task)
{
	return &x->tasks[task < x->sc.nr_tasks ? units_of(&x->units, task) : x->units.nr];
}

static bool is_known(const struct total *t)
{
	return t->switches || t->wakeups || t->migrations || t->run_ns || t->samples;
}

static void add_latency(struct total *t, uint64_t ns)
{
	if (!t->samples || ns < t->min_ns)
		t->min_ns = ns;
	if (ns > t->max_ns)
		t->max_ns = ns;
	t->samples++;
	t->sum_ns += ns;
}

static void collect_runs(struct totals *x)
{
	struct rows slices = { .sc = &x->sc }, idles = { .sc = &x->sc };
	struct pair_slice slice;
	struct pair_idle idle;

	while (rows_slice(&slices, &slice)) {
		bool begins = scope_has(&x->sc, slice.start_ns);
		struct total *task = of_task(x, slice.task);

		of_cpu(x, slice.cpu)->switches += begins;
		task->switches += begins;
		task->run_ns += scope_cut(&x->sc, slice.start_ns, slice.end_ns);
	}
	while (rows_idle(&idles, &idle))
		of_cpu(x, idle.cpu)->switches += scope_has(&x->sc, idle.start_ns);
}

static void collect_wakeups(struct totals *x)
{
	struct rows wakeups = { .sc = &x->sc }, moves = { .sc = &x->sc }, waits = { .sc = &x->sc };
	struct pair_migration move;
	struct pair_wakeup wakeup;
	struct pair_wait wait;

	while (rows_wakeup(&wakeups, &wakeup)) {
		of_cpu(x, wakeup.cpu)->wakeups++;
		of_task(x, wakeup.task)->wakeups++;
	}
	while (rows_migration(&moves, &move))
		of_cpu(x, move.cpu)->migrations++;
	while (rows_wait(&waits, &wait)) {
		if (!latency_counts(&wait))
			continue;
		add_latency(of_cpu(x, wait.cpu), latency_ns(&wait));
		add_latency(of_task(x, wait.task), latency_ns(&wait));
	}
}

static int collect(struct totals *x)
{
	x->cpus = calloc(x->sc.nr_cpus + 1U, sizeof(*x->cpus));
	x->tasks = calloc(x->units.nr + 1U, sizeof(*x->tasks));
	if (!x->cpus || !x->tasks)
		return -ENOMEM;
	collect_runs(x);
	collect_wakeups(x);
	return 0;
}

static void merge(struct total *into, const struct total *t)
{
	into->switches += t->switches;
	into->wakeups += t->wakeups;
	into->migrations += t->migrations;
	if (t->samples && (!into->samples || t->min_ns < into->min_ns))
		into->min_ns = t->min_ns;
	if (t->max_ns > into->max_ns)
		into->max_ns = t->max_ns;
	into->samples += t->samples;
	into->sum_ns += t->sum_ns;
	into->nr_cpus++;
}

/* CPUs of unknown place are left out. */
static int group(struct totals *x, int32_t (*place)(const struct source *s, uint32_t cpu))
{
	for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++) {
		int32_t id = place(x->sc.s, cpu);

		if (id >= 0 && (uint32_t)id >= x->nr_groups)
			x->nr_groups = (uint32_t)id + 1;
	}
	x->groups = calloc(x->nr_groups + 1U, sizeof(*x->groups));
	for (uint32_t cpu = 0; x->groups && cpu < x->sc.nr_cpus; cpu++)
		if (place(x->sc.s, cpu) >= 0 && is_known(&x->cpus[cpu]))
			merge(&x->groups[place(x->sc.s, cpu)], &x->cpus[cpu]);
	return x->groups ? 0 : -ENOMEM;
}

static void show_ns(struct report *r, const char *key, const struct total *t, uint64_t ns)
{
	report_u64_if(r, key, t->samples, ns);
}

static void show_latency(const struct total *t, struct report *r)
{
	report_begin_object(r, "latency");
	show_ns(r, "avg_ns", t, t->samples ? t->sum_ns / t->samples : 0);
	show_ns(r, "min_ns", t, t->min_ns);
	show_ns(r, "max_ns", t, t->max_ns);
	report_u64(r, "total_ns", t->sum_ns);
	report_u64(r, "samples", t->samples);
	report_end_object(r);
}

static void show_places(const struct total *t, uint32_t nr, const char *id, struct report *r)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (!is_known(&t[i]))
			continue;
		report_begin_object(r, NULL);
		report_u64(r, id, i);
		if (t[i].nr_cpus)
			report_u64(r, "nr_cpus", t[i].nr_cpus);
		report_u64(r, "nr_switches", t[i].switches);
		report_u64(r, "nr_wakeups", t[i].wakeups);
		report_u64(r, "nr_migrations", t[i].migrations);
		show_latency(&t[i], r);
		report_end_object(r);
	}
}

static uint64_t nr_known(const struct total *t, uint32_t nr)
{
	uint64_t known = 0;

	for (uint32_t i = 0; i < nr; i++)
		known += is_known(&t[i]);
	return known;
}

static int show_cpus(struct totals *x, struct report *r)
{
	report_begin_array(r, "cpus");
	show_places(x->cpus, x->sc.nr_cpus, "cpu_id", r);
	report_end_array(r);
	report_u64(r, "total_cpus", nr_known(x->cpus, x->sc.nr_cpus));
	return 0;
}

static int show_llcs(struct totals *x, struct report *r)
{
	int err = group(x, source_llc);

	report_begin_array(r, "llcs");
	show_places(x->groups, err ? 0 : x->nr_groups, "llc_id", r);
	report_end_array(r);
	report_u64(r, "total_llcs", err ? 0 : nr_known(x->groups, x->nr_groups));
	return err;
}

static int show_nodes(struct totals *x, struct report *r)
{
	int err = group(x, source_node);

	report_begin_array(r, "nodes");
	show_places(x->groups, err ? 0 : x->nr_groups, "node_id", r);
	report_end_array(r);
	report_u64(r, "total_nodes", err ? 0 : nr_known(x->groups, x->nr_groups));
	return err;
}

static void show_unit(const struct totals *x, uint32_t unit, struct report *r)
{
	const struct total *t = &x->tasks[unit];
	bool is_process = x->units.by == PASS_BY_PROCESS;
	uint32_t name = is_process ? x->units.names[unit] : unit;
	uint32_t tgid = source_tgid(x->sc.s, name);

	if (!is_process)
		report_u64(r, "tid", source_tid(x->sc.s, unit));
	report_u64_if(r, "pid", is_process || tgid, is_process ? units_pid(&x->units, unit) : tgid);
	report_string(r, "comm", tasks_comm(x->sc.s->tasks, name));
	report_u64(r, "nr_switches", t->switches);
	report_u64(r, "nr_wakeups", t->wakeups);
	if (!is_process)
		report_u64(r, "runtime_ns", t->run_ns);
	show_latency(t, r);
}

/* Most switches first. */
static int show_tasks(struct totals *x, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_totals, x->sc.args) };

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (is_known(&x->tasks[i]))
			top_add(&top, x->tasks[i].switches, i);
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "processes"); i++)
		show_unit(x, (uint32_t)top.entries[i].id, r);
	report_u64(r, "total_processes", nr_known(x->tasks, x->units.nr));
	report_u64(r, "shown", top.nr);
	return 0;
}

/* Enqueues are those of tasks that have left; dispatches those that went to a CPU, not to another queue. */
static int show_dsqs(struct totals *x, struct report *r)
{
	struct dsq_rows q = { 0 };
	SCOPED(top_done) struct top top = { .limit = UINT32_MAX };
	int err = dsq_rows_collect(&q, &x->sc);

	for (uint32_t i = 0; !err && i < q.waits.nr; i++)
		top_add(&top, top_lowest(q.waits.at[i].key), i);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "dsqs"); i++) {
		const struct bucket *b = &q.waits.at[top.entries[i].id];
		const struct dsq *queue = &q.at[top.entries[i].id];

		report_id(r, "dsq_id", b->key);
		report_u64(r, "nr_enqueues", b->count);
		report_u64(r, "nr_dispatches", b->count - queue->moved);
		report_u64_if(r, "queue_depth", queue->has_depth, queue->depth);
	}
	report_u64(r, "total_dsqs", q.waits.nr);
	dsq_rows_done(&q);
	return err ? err : top.has_failed ? -ENOMEM : 0;
}

static const struct totals_mode {
	const char *name;
	int (*show)(struct totals *x, struct report *r);
} modes[] = {
	{ "cpu", show_cpus }, { "llc", show_llcs },      { "node", show_nodes },
	{ "dsq", show_dsqs }, { "process", show_tasks }, { "thread", show_tasks },
};

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	const char *name = args->category ? args->category : modes[0].name;
	struct pass_args by = *args;
	SCOPED(done) struct totals x = { 0 };
	const struct totals_mode *mode = NULL;
	int err;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, name) == 0)
			mode = &modes[i];
	if (!mode)
		return diag_set(d, -EINVAL, "cpu, llc, node, dsq, process or thread",
		                "there are no totals by '%.32s'", name);
	by.by = strcmp(name, "process") == 0 ? PASS_BY_PROCESS : PASS_BY_THREAD;
	err = scope_init(&x.sc, s, &by, d);
	if (!err)
		err = units_init(&x.units, &x.sc, d);
	if (err)
		return err;
	err = collect(&x);
	if (!err)
		err = mode->show(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_totals = {
	.id = "totals",
	.name = "Totals",
	.category = "scxtop",
	.what = "switches, wakeups, migrations and latency in all, by CPU, cache, node, process, thread or queue",
	.uses = EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE) |
	        EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH),
	.cost = 3,
	.default_limit = 100,
	.run = run,
};
