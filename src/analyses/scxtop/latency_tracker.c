/*
 * scxtop's latency_tracker: how long tasks wait, by what they wait for.
 *   WakeupToRun      wakeup latency (analyze/latency)
 *   DsqWait          the stay in a dispatch queue
 *   CpuMigration     from the last migration of a task that waits to its switch-in
 *   SchedulingDelay  any wait, since the task was in a queue (analyze/latency)
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/hist.h"

enum kind { WAKEUP_TO_RUN, DSQ_WAIT, CPU_MIGRATION, SCHEDULING_DELAY, KINDS };

struct latencies {
	struct samples all;
	struct buckets cpus, tasks;
};

struct tracker {
	struct scope sc;
	struct latencies kinds[KINDS];
	uint64_t *moved_ns; /* by task: its last migration so far */
};

static void done(void *work)
{
	struct tracker *x = work;

	for (int i = 0; i < KINDS; i++) {
		samples_done(&x->kinds[i].all);
		buckets_done(&x->kinds[i].cpus);
		buckets_done(&x->kinds[i].tasks);
	}
	free(x->moved_ns);
}

static void add(struct latencies *l, uint32_t cpu, uint32_t task, uint64_t ns)
{
	samples_add(&l->all, ns);
	(void)buckets_add(&l->cpus, cpu, ns);
	(void)buckets_add(&l->tasks, task, ns);
}

static void add_wait(struct tracker *x, const struct pair_wait *w)
{
	uint64_t moved_ns = x->moved_ns[w->task];

	if (latency_counts(w))
		add(&x->kinds[WAKEUP_TO_RUN], w->cpu, w->task, latency_ns(w));
	if (moved_ns && moved_ns >= pair_wait_woken_ns(w))
		add(&x->kinds[CPU_MIGRATION], w->cpu, w->task, w->end_ns - moved_ns);
	add(&x->kinds[SCHEDULING_DELAY], w->cpu, w->task, latency_queue_ns(w));
}

/* Waits end, and migrations happen, in the order of time. */
static void collect_waits(struct tracker *x)
{
	struct pass_args all_args;
	struct scope all = scope_whole(&x->sc, &all_args);
	struct rows waits = { .sc = &x->sc }, moves = { .sc = &all };
	struct pair_migration move;
	struct pair_wait wait;
	bool has_move = rows_migration(&moves, &move);

	while (rows_wait(&waits, &wait)) {
		for (; has_move && move.ts_ns <= wait.end_ns;
		     has_move = rows_migration(&moves, &move))
			if (move.task < x->sc.nr_tasks)
				x->moved_ns[move.task] = move.ts_ns;
		if (!wait.is_open)
			add_wait(x, &wait);
	}
}

static int collect(void *work)
{
	struct tracker *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_DSQ };
	const union timeline_row *row;
	int err = 0;

	x->moved_ns = calloc(x->sc.nr_tasks + 1U, sizeof(*x->moved_ns));
	if (!x->moved_ns)
		return -ENOMEM;
	collect_waits(x);
	while ((row = walk_next(&w)))
		if (row->dsq.has_start)
			add(&x->kinds[DSQ_WAIT], row->dsq.cpu, row->dsq.task,
			    row->dsq.end_ns - row->dsq.start_ns);
	for (int i = 0; !err && i < KINDS; i++) {
		err = x->kinds[i].all.has_failed ? -ENOMEM : buckets_order(&x->kinds[i].cpus);
		if (!err)
			err = buckets_order(&x->kinds[i].tasks);
	}
	return err;
}

static void show_percentile(struct report *r, const char *key, struct samples *s, uint32_t p10000)
{
	figure_us_if(r, key, s->nr, (double)samples_percentile(s, p10000));
}

static void show_stats(struct samples *s, struct report *r)
{
	report_begin_object(r, "stats");
	report_u64(r, "count", s->nr);
	show_percentile(r, "min_us", s, 0);
	show_percentile(r, "max_us", s, HIST_P(100));
	figure_us_if(r, "mean_us", s->nr, samples_mean(s));
	show_percentile(r, "p50_us", s, HIST_P(50));
	show_percentile(r, "p95_us", s, HIST_P(95));
	show_percentile(r, "p99_us", s, HIST_P(99));
	report_end_object(r);
}

/* How many are below so many ns; they are sorted. */
static size_t nr_below(const struct samples *s, uint64_t ns)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->values[mid] < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void show_histogram(const struct samples *s, struct report *r)
{
	static const struct {
		const char *name;
		uint64_t below_ns;
	} rows[] = { { "0-10us", 10000 },
		     { "10-100us", 100000 },
		     { "100-1000us", 1000000 },
		     { "1000-10000us", 10000000 },
		     { ">10000us", UINT64_MAX } };
	size_t before = 0, below;

	report_begin_array(r, "histogram");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		below = i + 1 < sizeof(rows) / sizeof(rows[0]) ? nr_below(s, rows[i].below_ns)
		                                               : s->nr;
		report_begin_object(r, NULL);
		report_string(r, "bucket", rows[i].name);
		report_u64(r, "count", below - before);
		report_end_object(r);
		before = below;
	}
	report_end_array(r);
	report_u64(r, "histogram_samples", s->nr);
}

/* By the 99th percentile. */
static int show_rows(const struct tracker *x, const struct buckets *b, bool is_cpu,
                     struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_latency_tracker, x->sc.args) };

	for (uint32_t i = 0; i < b->nr; i++) {
		struct samples s = buckets_at(b, i);

		top_add(&top, samples_percentile(&s, HIST_P(99)), i);
	}
	top_rank(&top);
	for (uint32_t k = 0; top_row(&top, k, r, is_cpu ? "by_cpu" : "by_pid"); k++) {
		const struct bucket *at = &b->at[top.entries[k].id];

		if (is_cpu) {
			report_u64(r, "cpu", at->key);
		} else {
			report_u64(r, "pid", source_tid(x->sc.s, (uint32_t)at->key));
			report_string(r, "comm", tasks_comm(x->sc.s->tasks, (uint32_t)at->key));
		}
		report_u64(r, "count", at->count);
		figure_us(r, "mean_us", (double)at->sum_ns / (double)at->count);
		figure_us(r, "p99_us", (double)top.entries[k].score);
		figure_us(r, "max_us", (double)at->max_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct tracker *x = work;
	static const char *const names[KINDS] = { "WakeupToRun", "DsqWait", "CpuMigration",
		                                  "SchedulingDelay" };
	int err = 0;

	report_begin_array(r, "latencies");
	for (int i = 0; !err && i < KINDS; i++) {
		struct latencies *l = &x->kinds[i];

		report_begin_object(r, NULL);
		report_string(r, "kind", names[i]);
		show_stats(&l->all, r);
		show_histogram(&l->all, r);
		err = show_rows(x, &l->cpus, true, r);
		if (!err)
			err = show_rows(x, &l->tasks, false, r);
		report_end_object(r);
	}
	report_end_array(r);
	return err;
}

const struct pass pass_latency_tracker = {
	.id = "latency_tracker",
	.name = "Latency Tracker",
	.category = "scxtop",
	.what = "how long tasks wait, by what they wait for, as scxtop's live analyzer shows it",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE) | EV_BIT(EV_DSQ_LEAVE),
	.cost = 4,
	.work = { sizeof(struct tracker), .collect = collect, .show = show, .done = done },
};
