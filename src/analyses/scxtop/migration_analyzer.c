/*
 * scxtop's migration_analyzer: which tasks move between CPUs (analyze/moves), from where to where, and which only go back and
 * forth. A ping-pong is a migration that takes a task back to where its migration before came from.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/moves.h"
#include "analyze/pass.h"
#include "analyze/sort_u64.h"
#include "base/cleanup.h"

struct mover {
	uint64_t nr, ping_pongs;
	uint16_t from, to; /* of the last migration */
};

struct migrations {
	struct scope sc;
	struct moves moves;
	struct mover *tasks;
	struct buckets pairs; /* of CPUs */
	struct buckets cpus;  /* of a task and a CPU where it was */
	uint64_t *where;      /* the same, in order */
	uint64_t total;
};

static void done(void *work)
{
	struct migrations *x = work;

	free(x->tasks);
	free(x->where);
	buckets_done(&x->pairs);
	buckets_done(&x->cpus);
	moves_done(&x->moves);
}

static void add(struct migrations *x, const struct pair_migration *move)
{
	struct mover *m = &x->tasks[move->task];

	m->ping_pongs += m->nr && move->from_cpu == m->to && move->to_cpu == m->from;
	m->nr++;
	m->from = move->from_cpu;
	m->to = move->to_cpu;
	x->total++;
	(void)buckets_count(&x->pairs, bucket_pair(move->from_cpu, move->to_cpu));
	(void)buckets_count(&x->cpus, bucket_pair(move->task, move->from_cpu));
	(void)buckets_count(&x->cpus, bucket_pair(move->task, move->to_cpu));
}

static int collect(void *work)
{
	struct migrations *x = work;
	struct pair_migration move;
	int err = moves_init(&x->moves, &x->sc);

	x->tasks = calloc(x->sc.nr_tasks + 1U, sizeof(*x->tasks));
	if (err || !x->tasks)
		return -ENOMEM;
	while (moves_next(&x->moves, &move))
		if (move.task < x->sc.nr_tasks)
			add(x, &move);
	x->where = calloc(x->cpus.nr + 1U, sizeof(*x->where));
	if (!x->where || x->pairs.has_failed || x->cpus.has_failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->cpus.nr; i++)
		x->where[i] = x->cpus.at[i].key;
	sort_u64(x->where, x->cpus.nr);
	return 0;
}

/* The first place of a task. */
static uint32_t first_of(const struct migrations *x, uint32_t task)
{
	uint32_t low = 0, high = x->cpus.nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (x->where[mid] < bucket_pair(task, 0))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void show_task(const struct migrations *x, uint32_t task, struct report *r)
{
	report_u64(r, "pid", source_tid(x->sc.s, task));
	report_string(r, "comm", tasks_comm(x->sc.s->tasks, task));
	report_u64(r, "migration_count", x->tasks[task].nr);
	report_begin_array(r, "cpu_affinity");
	for (uint32_t i = first_of(x, task); i < x->cpus.nr && bucket_high(x->where[i]) == task;
	     i++)
		report_u64(r, NULL, bucket_low(x->where[i]));
	report_end_array(r);
	report_u64(r, "ping_pong_count", x->tasks[task].ping_pongs);
}

static int show_pairs(const struct migrations *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_migration_analyzer, x->sc.args) };

	buckets_top(&x->pairs, true, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "cpu_pairs"); i++) {
		const struct bucket *b = &x->pairs.at[top.entries[i].id];

		report_u64(r, "from_cpu", bucket_high(b->key));
		report_u64(r, "to_cpu", bucket_low(b->key));
		report_u64(r, "count", b->count);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	const struct migrations *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_migration_analyzer, x->sc.args) };

	for (uint32_t i = 0; i < x->sc.nr_tasks; i++)
		if (x->tasks[i].nr)
			top_add(&top, x->tasks[i].nr, i);
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_migrations", x->total);
	figure_per_sec(r, "migrations_per_sec", (double)x->total, x->sc.covered_ns);
	for (uint32_t i = 0; top_row(&top, i, r, "process_patterns"); i++)
		show_task(x, (uint32_t)top.entries[i].id, r);
	return show_pairs(x, r);
}

const struct pass pass_migration_analyzer = {
	.id = "migration_analyzer",
	.name = "Migration Analyzer",
	.category = "scxtop",
	.what = "which tasks move between CPUs, as scxtop's live analyzer shows it",
	.needs_any = EV_BIT(EV_MIGRATE) | EV_BIT(EV_SWITCH),
	.cost = 2,
	.work = { sizeof(struct migrations), .collect = collect, .show = show, .done = done },
};
