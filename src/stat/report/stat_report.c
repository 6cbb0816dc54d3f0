#include "stat/report/stat_report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/diag.h"
#include "stat/report/stat_build.h"

#define TASK_GROUPS                                                                        \
	(STAT_GROUP_LATENCY | STAT_GROUP_SLICE | STAT_GROUP_SLEEP | STAT_GROUP_MIGRATION | \
	 STAT_GROUP_WAKING)

/* In the order of showing. */
static const struct table_def {
	enum stat_table_id id;
	enum stat_kind kind;
	uint32_t group;
	const char *name;
	const char *title;
	int (*build)(struct stat_build *b, struct stat_table *t);
} table_defs[] = {
	{ STAT_TABLE_LATENCY, STAT_KIND_DURATIONS, STAT_GROUP_LATENCY, "latency",
	  "Scheduling Delays (microseconds from sched_wakeup)", stat_build_durations },
	{ STAT_TABLE_WAKING, STAT_KIND_DURATIONS, STAT_GROUP_WAKING, "waking",
	  "Waking Delay Statistics (microseconds from sched_waking)", stat_build_durations },
	{ STAT_TABLE_SLICE, STAT_KIND_SLICES, STAT_GROUP_SLICE, "slice",
	  "Time Slice Statistics (microseconds)", stat_build_slices },
	{ STAT_TABLE_SLEEP, STAT_KIND_DURATIONS, STAT_GROUP_SLEEP, "sleep",
	  "Sleep Duration Statistics (microseconds)", stat_build_durations },
	{ STAT_TABLE_DEPTH, STAT_KIND_VALUES, STAT_GROUP_LATENCY, "depth",
	  "Runqueue Depth Statistics (nr_running at wakeup)", stat_build_depth },
	{ STAT_TABLE_MIGRATION, STAT_KIND_VALUES, STAT_GROUP_MIGRATION, "migration",
	  "Migration Statistics (migrations per second)", stat_build_migrations },
	{ STAT_TABLE_CROSS_LLC, STAT_KIND_VALUES, STAT_GROUP_MIGRATION, "migration_cross_llc",
	  "Cross-CCX Migration Statistics (cross-LLC migrations per second)",
	  stat_build_migrations },
	{ STAT_TABLE_CROSS_NODE, STAT_KIND_VALUES, STAT_GROUP_MIGRATION, "migration_cross_node",
	  "Cross-NUMA Migration Statistics (cross-node migrations per second)",
	  stat_build_migrations },
	{ STAT_TABLE_DSQ_TASKS, STAT_KIND_DSQ_TASK, STAT_GROUP_DSQ, "dsq_tasks",
	  "Dispatch Queue Latency (microseconds)", stat_build_dsq_tasks },
	{ STAT_TABLE_DSQ, STAT_KIND_DSQ, STAT_GROUP_DSQ, "dsq", "Dispatch Queues (microseconds)",
	  stat_build_dsqs },
	{ STAT_TABLE_SCHEDSTAT, STAT_KIND_SCHEDSTAT, STAT_GROUP_SCHEDSTAT, "schedstat",
	  "System-wide Schedstat Metrics (deltas)", NULL },
	{ STAT_TABLE_CPU_LATENCY, STAT_KIND_CPU, STAT_GROUP_LATENCY, "cpu_latency",
	  "Per-CPU Scheduling Delays (microseconds from sched_wakeup)", stat_build_cpus },
	{ STAT_TABLE_CPU_IDLE, STAT_KIND_CPU, STAT_GROUP_SLEEP, "cpu_idle",
	  "Per-CPU Idle Duration (microseconds)", stat_build_cpus },
	{ STAT_TABLE_IPC, STAT_KIND_IPC, STAT_GROUP_PERF, "ipc", "CPU Performance Metrics",
	  stat_build_ipc },
};
#define NR_TABLE_DEFS (sizeof(table_defs) / sizeof(table_defs[0]))

const char *stat_cause_name(enum stat_cause cause)
{
	switch (cause) {
	case STAT_CAUSE_WOKEN:
		return "woken";
	case STAT_CAUSE_PREEMPTED:
		return "preempted";
	case STAT_CAUSE_NEW:
		return "new";
	}
	return NULL;
}

static int check(const struct stat_report_in *in, struct diag *d)
{
	if (in->by != in->display && in->by != TALLY_BY_TID)
		return diag_set(d, -EINVAL, "keep the rows by tid",
		                "rows that are already merged cannot be shown by another key");
	if (in->min_latency_us && in->by != TALLY_BY_TID)
		return diag_set(d, -EINVAL, "keep the rows by tid",
		                "the least latency is a property of threads");
	for (size_t i = 0; i < in->nr_counters; i++)
		if (in->counters[i].index >= STAT_COUNTERS)
			return diag_set(d, -EINVAL, NULL, "there is no counter %u",
			                in->counters[i].index);
	return 0;
}

static bool is_wanted(const struct stat_report_in *in, const struct table_def *def)
{
	if (!(in->groups & def->group))
		return false;
	switch (def->id) {
	case STAT_TABLE_CPU_LATENCY:
		return !in->is_by_name;
	case STAT_TABLE_CROSS_LLC:
		return in->nr_llcs > 1;
	case STAT_TABLE_CROSS_NODE:
		return in->nr_nodes > 1;
	case STAT_TABLE_SCHEDSTAT:
		return in->schedstat != NULL;
	case STAT_TABLE_IPC:
		return in->has_ipc;
	default:
		return true;
	}
}

static int add_tables(struct stat_build *b)
{
	struct stat_report *out = b->out;

	for (size_t i = 0; i < NR_TABLE_DEFS; i++) {
		const struct table_def *def = &table_defs[i];
		struct stat_table *t = &out->tables[out->nr_tables];
		int err;

		if (!is_wanted(b->in, def))
			continue;
		t->id = def->id;
		t->kind = def->kind;
		t->name = def->name;
		t->title = def->title;
		err = def->build ? def->build(b, t) : stat_build_schedstat(b, &out->schedstat);
		if (err < 0)
			return err;
		out->nr_tables++;
	}
	return 0;
}

static int add_counters(struct stat_build *b)
{
	const struct stat_report_in *in = b->in;
	struct stat_report *out = b->out;

	for (size_t i = 0; (in->groups & STAT_GROUP_PERF) && i < in->nr_counters; i++) {
		struct stat_table *t = &out->tables[out->nr_tables];
		int err;

		t->id = STAT_TABLE_COUNTER;
		t->kind = STAT_KIND_VALUES;
		t->counter = in->counters[i].name;
		t->name = arena_printf(b->mem, "counter:%s", t->counter);
		t->title = arena_printf(b->mem, "%s (per second)", t->counter);
		if (!t->name || !t->title)
			return -ENOMEM;
		err = stat_build_counter(b, t, &in->counters[i]);
		if (err < 0)
			return err;
		out->nr_tables++;
	}
	return 0;
}

static int compare_waits(const void *pa, const void *pb)
{
	const struct outlier *a = *(const struct outlier *const *)pa;
	const struct outlier *b = *(const struct outlier *const *)pb;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int add_outliers(struct stat_build *b)
{
	const struct stat_report_in *in = b->in;
	struct stat_outliers *out = &b->out->outliers;
	const struct outlier **items = ARENA_ARRAY(b->mem, const struct outlier *, in->outliers.nr);
	size_t limit = in->top ? in->top : STAT_TOP_DEFAULT;

	if (!items)
		return -ENOMEM;
	*out = in->outliers;
	for (size_t i = 0; i < out->nr; i++)
		items[i] = in->outliers.items[i];
	qsort(items, out->nr, sizeof(void *), compare_waits);
	out->items = items;
	if (out->nr_total < out->nr)
		out->nr_total = out->nr;
	if (!in->is_detailed && in->top != STAT_TOP_ALL && out->nr > limit)
		out->nr = limit;
	return 0;
}

static int build(struct stat_build *b)
{
	const struct stat_report_in *in = b->in;
	bool is_filtering = in->min_latency_us > 0;
	int err;

	err = stat_entries_build(b, true, &b->entries);
	if (err < 0)
		return err;
	b->counted = b->entries;
	if (is_filtering && (in->groups & STAT_GROUP_PERF))
		err = stat_entries_build(b, false, &b->counted);
	if (err < 0)
		return err;
	b->cands = ARENA_ARRAY(b->mem, struct stat_cand, in->nr_rows);
	b->out->tables = ARENA_ARRAY(b->mem, struct stat_table, NR_TABLE_DEFS + in->nr_counters);
	if (!b->cands || !b->out->tables)
		return -ENOMEM;
	err = add_tables(b);
	if (!err)
		err = add_counters(b);
	return err ? err : add_outliers(b);
}

int stat_report_build(const struct stat_report_in *in, struct arena *mem, struct diag *d,
                      struct stat_report *out)
{
	struct stat_report report = {
		.display = in->display,
		.view = in->view,
		.is_detailed = in->is_detailed,
		.has_bins = in->has_bins,
		.time_ns = in->time_ns,
		.wall_ns = in->wall_ns,
		.interval_s = in->interval_s,
		.elapsed_s = in->elapsed_s,
		.scx = in->scx,
		.open_waits = in->open_waits,
		.own = in->own,
	};
	struct stat_build b = { .in = in, .mem = mem, .out = &report };
	int err = check(in, d);

	if (err < 0)
		return err;
	err = build(&b);
	if (err < 0)
		return diag_set(d, err, "show fewer rows: --top, or a filter",
		                "the report does not fit into memory");
	report.has_no_cpus = in->is_by_name && (in->groups & STAT_GROUP_LATENCY);
	report.is_nothing_matched = !b.entries.nr && (in->groups & TASK_GROUPS);
	*out = report;
	return 0;
}

uint64_t stat_pairs_total(const struct stat_pairs *pairs)
{
	uint64_t total = 0;

	for (size_t i = 0; i < pairs->nr; i++)
		total += pairs->items[i].is_part ? 0 : pairs->items[i].value;
	return total;
}
