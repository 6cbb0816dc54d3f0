#include "analyze/diff_side.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hist.h"

#define SECOND_NS 1e9
#define US_NS     1e3
#define NAME_LEN  64

static struct diff_group *add_group(struct diff_side *side, const char *name)
{
	struct diff_group *g;

	if (GROW(side->groups, side->capacity, side->nr))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->name = strdup(name);
	side->groups[side->nr++] = g;
	return g->name ? g : NULL;
}

/* Names alone are the same in two recordings; a thread or process is also its id. */
static const char *name_of(const struct diff_side *side, uint32_t task, uint32_t unit,
                           char buf[NAME_LEN])
{
	const char *path = NULL;

	switch (side->args.by) {
	case PASS_BY_CGROUP:
		path = tasks_cgroup_path(side->s->tasks, unit);
		return path ? path : "unknown";
	case PASS_BY_CLASS:
		return class_name(unit);
	case PASS_BY_COMM:
		return source_comm(side->s, task);
	default:
		task = units_task(&side->units, unit);
		(void)snprintf(buf, NAME_LEN, "%s/%u", source_comm(side->s, task),
		               units_pid(&side->units, unit));
		return buf;
	}
}

/* Of what a task is counted by when a row about it begins. */
static struct diff_group *group_of(struct diff_side *side, uint32_t task, uint64_t ts_ns)
{
	uint32_t unit = units_at(&side->units, task, ts_ns);
	struct diff_group *g;
	char buf[NAME_LEN];
	const char *name;

	if (side->by_unit[unit])
		return side->groups[side->by_unit[unit] - 1];
	name = name_of(side, task, unit, buf);
	for (uint32_t i = 1; i < side->nr; i++)
		if (strcmp(side->groups[i]->name, name) == 0) {
			side->by_unit[unit] = i + 1;
			return side->groups[i];
		}
	g = add_group(side, name);
	if (g)
		side->by_unit[unit] = side->nr;
	return g;
}

static uint32_t window_of(const struct diff_side *side, uint64_t ts_ns)
{
	uint64_t nr = ts_ns > side->start_ns ? (ts_ns - side->start_ns) / side->window_ns : 0;

	return nr < DIFF_WINDOWS ? (uint32_t)nr : DIFF_WINDOWS - 1;
}

static void add_runtime(const struct diff_side *side, struct diff_group *g, uint64_t from,
                        uint64_t to)
{
	while (from < to) {
		uint32_t window = window_of(side, from);
		uint64_t end = window + 1 < DIFF_WINDOWS
		                       ? side->start_ns + (window + 1) * side->window_ns
		                       : to;

		end = end < to ? end : to;
		g->runtime_ns[window] += end - from;
		g->weight += end - from;
		from = end;
	}
}

static void add_slice(const struct diff_side *side, struct diff_group *g,
                      const struct pair_slice *row)
{
	uint64_t from = row->start_ns, to = row->end_ns;
	uint32_t window = window_of(side, row->end_ns);

	if (!pass_cut(side->s, &side->args, &from, &to))
		return;
	add_runtime(side, g, from, to);
	g->nr_switches[window]++;
	if (row->end != PAIR_END_OPEN)
		samples_add(&g->sets[DIFF_SLICE][window], row->end_ns - row->start_ns);
}

static void add_wait(const struct diff_side *side, struct diff_group *g,
                     const struct pair_wait *row)
{
	uint64_t start = row->waking_ns ? row->waking_ns : row->wakeup_ns, from = start,
		 to = row->end_ns;
	enum diff_set set = row->cause == PAIR_PREEMPTED ? DIFF_PREEMPTED : DIFF_WAKE;

	if (row->is_open || !pass_cut(side->s, &side->args, &from, &to))
		return;
	samples_add(&g->sets[set][window_of(side, row->end_ns)], row->end_ns - start);
}

static void add_row(const struct diff_side *side, struct diff_group *g, enum timeline_table table,
                    const union timeline_row *row)
{
	uint64_t from, to;

	if (table == TIMELINE_SLICE) {
		add_slice(side, g, &row->slice);
	} else if (table == TIMELINE_WAIT) {
		add_wait(side, g, &row->wait);
	} else {
		from = row->migration.ts_ns;
		to = from + 1;
		if (pass_cut(side->s, &side->args, &from, &to))
			g->nr_migrations[window_of(side, from)]++;
	}
}

/* The task, and when the row begins. */
static uint32_t task_of(enum timeline_table table, const union timeline_row *row, uint64_t *ts_ns)
{
	switch (table) {
	case TIMELINE_SLICE:
		*ts_ns = row->slice.start_ns;
		return row->slice.task;
	case TIMELINE_WAIT:
		*ts_ns = pair_wait_start_ns(&row->wait);
		return row->wait.task;
	default:
		*ts_ns = row->migration.ts_ns;
		return row->migration.task;
	}
}

static int add_table(struct diff_side *side, enum timeline_table table)
{
	struct timeline_query q = {
		.table = table, .task = TASKS_NONE, .cpu = TIMELINE_ANY_CPU, .to_ns = UINT64_MAX
	};
	struct timeline_iter it;
	union timeline_row row;

	if (timeline_find(side->s->timeline, &q, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row)) {
		uint64_t ts_ns;
		uint32_t task = task_of(table, &row, &ts_ns);
		struct diff_group *g;

		if (task == TASKS_NONE || !scope_takes(&side->sc, task, ts_ns))
			continue;
		g = group_of(side, task, ts_ns);
		if (!g)
			return -ENOMEM;
		add_row(side, g, table, &row);
		add_row(side, side->groups[0], table, &row);
	}
	return 0;
}

int diff_side_fill(struct diff_side *side, const struct source *s, const struct pass_args *args,
                   struct diag *d)
{
	static const enum timeline_table tables[] = { TIMELINE_SLICE, TIMELINE_WAIT,
		                                      TIMELINE_MIGRATION };
	uint64_t from = 0, to = UINT64_MAX;
	int err;

	*side = (struct diff_side){ .s = s, .args = *args };
	if (side->args.by == PASS_BY_DEFAULT)
		side->args.by = PASS_BY_COMM;
	err = scope_init(&side->sc, s, &side->args, d);
	if (!err)
		err = units_init(&side->units, &side->sc, d);
	if (err)
		return err;
	if (!pass_cut(s, args, &from, &to))
		to = from + DIFF_WINDOWS;
	side->start_ns = from;
	side->window_ns = (to - from) / DIFF_WINDOWS ? (to - from) / DIFF_WINDOWS : 1;
	side->by_unit = calloc(side->units.nr + 1UL, sizeof(*side->by_unit));
	if (!side->by_unit || !add_group(side, DIFF_ALL))
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++)
		err = add_table(side, tables[i]);
	return err;
}

void diff_side_done(struct diff_side *side)
{
	for (uint32_t i = 0; i < side->nr; i++) {
		for (int set = 0; set < DIFF_SETS; set++)
			for (int w = 0; w < DIFF_WINDOWS; w++)
				samples_done(&side->groups[i]->sets[set][w]);
		free(side->groups[i]->name);
		free(side->groups[i]);
	}
	free(side->groups);
	free(side->by_unit);
	units_done(&side->units);
	scope_done(&side->sc);
}

struct diff_group *diff_side_find(const struct diff_side *side, const char *name)
{
	for (uint32_t i = 0; i < side->nr; i++)
		if (!strcmp(side->groups[i]->name, name))
			return side->groups[i];
	return NULL;
}

/* Of one part; false where it has none. */
static bool window_value(const struct diff_side *side, struct diff_group *g,
                         enum diff_metric metric, uint32_t w, double *out, uint64_t *nr)
{
	static const enum diff_set sets[] = { [DIFF_WAKE_MEAN] = DIFF_WAKE,
		                              [DIFF_WAKE_P50] = DIFF_WAKE,
		                              [DIFF_WAKE_P99] = DIFF_WAKE,
		                              [DIFF_PREEMPTED_MEAN] = DIFF_PREEMPTED,
		                              [DIFF_SLICE_MEAN] = DIFF_SLICE };
	double seconds = (double)side->window_ns / SECOND_NS;
	struct samples *s;

	*nr = 1;
	*out = 0;
	if (metric == DIFF_RUNTIME)
		*out = 100.0 * (double)g->runtime_ns[w] / (double)side->window_ns;
	else if (metric == DIFF_SWITCHES)
		*out = (double)g->nr_switches[w] / seconds;
	else if (metric == DIFF_MIGRATIONS)
		*out = (double)g->nr_migrations[w] / seconds;
	if (metric >= DIFF_RUNTIME)
		return true;
	s = &g->sets[sets[metric]][w];
	*nr = s->nr;
	if (metric == DIFF_WAKE_P50)
		*out = (double)samples_percentile(s, HIST_P(50)) / US_NS;
	else if (metric == DIFF_WAKE_P99)
		*out = (double)samples_percentile(s, HIST_P(99)) / US_NS;
	else
		*out = samples_mean(s) / US_NS;
	return s->nr > 0;
}

struct diff_value diff_value_of(const struct diff_side *side, struct diff_group *g,
                                enum diff_metric metric)
{
	struct diff_value v = { 0 };
	double sum = 0;

	for (uint32_t w = 0; g && w < DIFF_WINDOWS; w++) {
		uint64_t nr;

		if (!window_value(side, g, metric, w, &v.values[v.nr_windows], &nr))
			continue;
		sum += v.values[v.nr_windows++];
		v.nr_samples += nr;
	}
	v.mean = v.nr_windows ? sum / v.nr_windows : 0;
	v.interval = diff_interval(v.values, v.nr_windows);
	return v;
}
