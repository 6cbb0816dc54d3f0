#include "replay/replay_lanes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"

#define NAMES_MAX (1U << 20)
#define PLACES    (MACHINE_LANES_NAMES + 1) /* of sums: of each name, and of the others */
#define OTHERS    MACHINE_LANES_NAMES
#define COMM      32U

struct name_sum {
	uint32_t name; /* of tasks_string(); 0 = unknown */
	uint32_t place;
	uint64_t run_ns;
};

/* What a column is made of. */
struct column_sum {
	uint64_t busy_ns, idle_ns, waiting_ns;
	uint64_t best_ns; /* that one of the places had */
	uint8_t best;
};

/* The column of a CPU that slices are added to: they come in the order of time. */
struct open_column {
	uint32_t column;
	uint64_t of_place[PLACES];
};

struct replay_lanes {
	struct replay_lanes_cfg cfg;
	uint32_t nr_cpus;
	struct map *place_of; /* name -> index in sums */
	struct name_sum *sums;
	size_t nr_sums, sums_cap;
	struct column_sum *columns;
	struct open_column *open;
	struct machine_lane_column *cells;
	struct machine_lane *lanes;
	struct machine_lane_name names[MACHINE_LANES_NAMES];
	struct pair_wait longest[MACHINE_LANES_WAITS];
	struct machine_lane_wait waits[MACHINE_LANES_WAITS];
	char texts[MACHINE_LANES_NAMES + MACHINE_LANES_WAITS][COMM]; /* of both, in this order */
	struct machine_lanes shown;
};

DEFINE_SCOPED(replay_lanes, replay_lanes_free)

int replay_lanes_new(struct replay_lanes **out)
{
	SCOPED(scoped_replay_lanes) struct replay_lanes *l = calloc(1, sizeof(*l));

	if (!l || map_new(sizeof(uint32_t), NAMES_MAX, &l->place_of))
		return -ENOMEM;
	*out = TAKE_PTR(l);
	return 0;
}

static void drop_columns(struct replay_lanes *l)
{
	free(l->columns);
	free(l->open);
	free(l->cells);
	free(l->lanes);
	l->columns = NULL;
	l->open = NULL;
	l->cells = NULL;
	l->lanes = NULL;
}

void replay_lanes_free(struct replay_lanes *l)
{
	if (!l)
		return;
	drop_columns(l);
	map_free(l->place_of);
	free(l->sums);
	free(l);
}

static int reset(struct replay_lanes *l, const struct replay_lanes_cfg *cfg)
{
	size_t cpus = pair_nr_cpus(cfg->source->pair);

	l->cfg = *cfg;
	if (!l->cfg.nr_columns)
		l->cfg.nr_columns = 1;
	if (l->cfg.nr_columns > MACHINE_LANES_COLUMNS)
		l->cfg.nr_columns = MACHINE_LANES_COLUMNS;
	l->nr_cpus = (uint32_t)cpus;
	l->nr_sums = 0;
	map_clear(l->place_of);
	l->shown = (struct machine_lanes){ 0 };
	drop_columns(l);
	cpus = cpus ? cpus : 1;
	l->columns = calloc(cpus * l->cfg.nr_columns, sizeof(*l->columns));
	l->cells = calloc(cpus * l->cfg.nr_columns, sizeof(*l->cells));
	l->open = calloc(cpus, sizeof(*l->open));
	l->lanes = calloc(cpus, sizeof(*l->lanes));
	return l->columns && l->cells && l->open && l->lanes ? 0 : -ENOMEM;
}

static int find_rows(const struct replay_lanes *l, enum timeline_table table,
                     struct timeline_iter *out)
{
	const struct timeline_query q = { .table = table,
		                          .task = TASKS_NONE,
		                          .cpu = TIMELINE_ANY_CPU,
		                          .from_ns = l->cfg.from_ns,
		                          .to_ns = l->cfg.to_ns };

	return timeline_find(l->cfg.source->timeline, &q, out);
}

static uint64_t cut(uint64_t from_ns, uint64_t to_ns, uint64_t start_ns, uint64_t end_ns)
{
	start_ns = start_ns > from_ns ? start_ns : from_ns;
	end_ns = end_ns < to_ns ? end_ns : to_ns;
	return start_ns < end_ns ? end_ns - start_ns : 0;
}

static uint32_t name_of(const struct replay_lanes *l, const struct pair_slice *slice)
{
	return tasks_comm_at(l->cfg.source->tasks, slice->task, slice->start_ns);
}

static int count_name(struct replay_lanes *l, uint32_t name, uint64_t ns)
{
	uint32_t at = (uint32_t)l->nr_sums;

	if (!map_find(l->place_of, &name, &at)) {
		if (GROW(l->sums, l->sums_cap, l->nr_sums) || map_insert(l->place_of, &name, at))
			return -ENOMEM;
		l->sums[l->nr_sums++] = (struct name_sum){ .name = name };
	}
	l->sums[at].run_ns += ns;
	return 0;
}

static int count_names(struct replay_lanes *l)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find_rows(l, TIMELINE_SLICE, &it);

	while (!err && timeline_next(&it, NULL, &row))
		err = count_name(l, name_of(l, &row.slice),
		                 cut(l->cfg.from_ns, l->cfg.to_ns, row.slice.start_ns,
		                     row.slice.end_ns));
	return err;
}

/* A copy: the source may be gone when it is shown. */
static const char *keep(struct replay_lanes *l, size_t at, const char *comm)
{
	(void)snprintf(l->texts[at], COMM, "%s", comm);
	return l->texts[at];
}

/* Those that ran longest get a place each, in that order. */
static void rank_names(struct replay_lanes *l)
{
	const struct tasks *tasks = l->cfg.source->tasks;

	for (size_t i = 0; i < l->nr_sums; i++)
		l->sums[i].place = OTHERS;
	while (l->shown.nr_names < MACHINE_LANES_NAMES) {
		struct name_sum *best = NULL;
		const char *comm;

		for (size_t i = 0; i < l->nr_sums; i++)
			if (l->sums[i].place == OTHERS && l->sums[i].run_ns &&
			    (!best || l->sums[i].run_ns > best->run_ns))
				best = &l->sums[i];
		if (!best)
			break;
		comm = tasks_string(tasks, best->name);
		best->place = (uint32_t)l->shown.nr_names++;
		l->names[best->place] = (struct machine_lane_name){
			keep(l, best->place, comm && *comm ? comm : "?"), best->run_ns
		};
	}
	for (size_t i = 0; i < l->nr_sums; i++)
		l->shown.others_ns += l->sums[i].place == OTHERS ? l->sums[i].run_ns : 0;
}

static uint64_t column_start(const struct replay_lanes *l, uint32_t column)
{
	uint64_t span_ns = l->cfg.to_ns - l->cfg.from_ns;

	return l->cfg.from_ns + (uint64_t)((unsigned __int128)span_ns * column / l->cfg.nr_columns);
}

static uint32_t column_of(const struct replay_lanes *l, uint64_t ns)
{
	uint64_t span_ns = l->cfg.to_ns - l->cfg.from_ns;
	uint32_t column;

	if (ns <= l->cfg.from_ns)
		return 0;
	column = (uint32_t)((unsigned __int128)(ns - l->cfg.from_ns) * l->cfg.nr_columns / span_ns);
	/* Rounding may lead to one before or behind. */
	if (column >= l->cfg.nr_columns)
		column = l->cfg.nr_columns - 1;
	while (column && column_start(l, column) > ns)
		column--;
	while (column + 1 < l->cfg.nr_columns && column_start(l, column + 1) <= ns)
		column++;
	return column;
}

/* What a row lasted in each of its columns. */
typedef void add_fn(struct replay_lanes *l, uint32_t cpu, uint32_t column, uint64_t ns,
                    uint32_t place);

struct stretch {
	uint64_t start_ns, end_ns;
	uint32_t cpu, place;
};

static void spread(struct replay_lanes *l, const struct stretch *s, add_fn *add)
{
	if (s->cpu >= l->nr_cpus || s->end_ns <= l->cfg.from_ns || s->start_ns >= l->cfg.to_ns)
		return;
	for (uint32_t column = column_of(l, s->start_ns); column < l->cfg.nr_columns; column++) {
		uint64_t from_ns = column_start(l, column), to_ns = column_start(l, column + 1);

		if (from_ns >= s->end_ns)
			break;
		add(l, s->cpu, column, cut(from_ns, to_ns, s->start_ns, s->end_ns), s->place);
	}
}

static struct column_sum *sum_at(struct replay_lanes *l, uint32_t cpu, uint32_t column)
{
	return &l->columns[(size_t)cpu * l->cfg.nr_columns + column];
}

static void add_slice(struct replay_lanes *l, uint32_t cpu, uint32_t column, uint64_t ns,
                      uint32_t place)
{
	struct column_sum *sum = sum_at(l, cpu, column);
	struct open_column *open = &l->open[cpu];

	if (open->column != column)
		*open = (struct open_column){ .column = column };
	open->of_place[place] += ns;
	sum->busy_ns += ns;
	if (open->of_place[place] > sum->best_ns) {
		sum->best_ns = open->of_place[place];
		sum->best = (uint8_t)place;
	}
}

static void add_idle(struct replay_lanes *l, uint32_t cpu, uint32_t column, uint64_t ns,
                     uint32_t place)
{
	(void)place;
	sum_at(l, cpu, column)->idle_ns += ns;
}

static void add_wait(struct replay_lanes *l, uint32_t cpu, uint32_t column, uint64_t ns,
                     uint32_t place)
{
	(void)place;
	sum_at(l, cpu, column)->waiting_ns += ns;
}

static int add_slices(struct replay_lanes *l)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find_rows(l, TIMELINE_SLICE, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		uint32_t name = name_of(l, &row.slice), at;
		struct stretch s = { row.slice.start_ns, row.slice.end_ns, row.slice.cpu, OTHERS };

		if (map_find(l->place_of, &name, &at))
			s.place = l->sums[at].place;
		spread(l, &s, add_slice);
	}
	return err;
}

static int add_idles(struct replay_lanes *l)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find_rows(l, TIMELINE_IDLE, &it);

	while (!err && timeline_next(&it, NULL, &row))
		spread(l, &(struct stretch){ row.idle.start_ns, row.idle.end_ns, row.idle.cpu, 0 },
		       add_idle);
	return err;
}

static uint64_t length_of(const struct pair_wait *w)
{
	return w->end_ns - pair_wait_woken_ns(w);
}

/* Into the list of the longest, which has the shortest last. */
static void take(struct replay_lanes *l, const struct pair_wait *w)
{
	size_t at = l->shown.nr_waits;

	while (at > 0 && length_of(&l->longest[at - 1]) < length_of(w))
		at--;
	if (at == MACHINE_LANES_WAITS)
		return;
	l->shown.nr_waits += l->shown.nr_waits < MACHINE_LANES_WAITS;
	for (size_t i = l->shown.nr_waits - 1; i > at; i--)
		l->longest[i] = l->longest[i - 1];
	l->longest[at] = *w;
}

static int add_waits(struct replay_lanes *l)
{
	const struct source *s = l->cfg.source;
	struct timeline_iter it;
	union timeline_row row;
	int err = find_rows(l, TIMELINE_WAIT, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		spread(l,
		       &(struct stretch){ pair_wait_start_ns(&row.wait), row.wait.end_ns,
		                          row.wait.cpu, 0 },
		       add_wait);
		if (row.wait.end_ns <= l->cfg.to_ns)
			take(l, &row.wait);
	}
	for (size_t i = 0; i < l->shown.nr_waits; i++) {
		const struct pair_wait *w = &l->longest[i];

		l->waits[i] = (struct machine_lane_wait){
			.comm = keep(l, MACHINE_LANES_NAMES + i,
			             source_comm_at(s, w->task, w->end_ns)),
			.tid = source_tid(s, w->task),
			.cpu = w->cpu,
			.wait_ns = length_of(w),
			.end_ns = w->end_ns,
			.is_open = w->is_open,
		};
	}
	return err;
}

/* What is neither busy nor idle is unknown. */
static struct machine_lane_column show_column(const struct column_sum *sum, uint64_t ns)
{
	uint64_t known_ns = sum->busy_ns + sum->idle_ns;
	uint64_t unknown_ns = ns > known_ns ? ns - known_ns : 0;
	struct machine_lane_column shown = {
		.what = sum->best == OTHERS ? MACHINE_LANE_OTHERS : sum->best,
		.busy = known_ns ? (double)sum->busy_ns / (double)known_ns : NAN,
		.waiting = ns ? (double)sum->waiting_ns / (double)ns : 0,
	};

	if (sum->idle_ns > sum->best_ns || !sum->best_ns)
		shown.what = MACHINE_LANE_IDLE;
	if (unknown_ns > sum->best_ns && unknown_ns > sum->idle_ns)
		shown.what = MACHINE_LANE_UNKNOWN;
	return shown;
}

static void show_lane(struct replay_lanes *l, uint32_t cpu)
{
	struct machine_lane_column *to = &l->cells[(size_t)cpu * l->cfg.nr_columns];
	uint64_t waiting_ns = 0;

	for (uint32_t i = 0; i < l->cfg.nr_columns; i++) {
		const struct column_sum *sum = sum_at(l, cpu, i);

		to[i] = show_column(sum, column_start(l, i + 1) - column_start(l, i));
		waiting_ns += sum->waiting_ns;
		if (to[i].waiting > l->shown.waiting_max)
			l->shown.waiting_max = to[i].waiting;
	}
	l->lanes[l->shown.nr++] = (struct machine_lane){
		.cpu = cpu,
		.columns = to,
		.waiting = (double)waiting_ns / (double)(l->cfg.to_ns - l->cfg.from_ns),
	};
}

static void show(struct replay_lanes *l)
{
	struct pair_cpu seen;

	for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++)
		if (pair_cpu_at(l->cfg.source->pair, cpu, &seen))
			show_lane(l, cpu);
	l->shown.lanes = l->lanes;
	l->shown.nr_columns = l->cfg.nr_columns;
	l->shown.names = l->names;
	l->shown.waits = l->waits;
	l->shown.from_ns = l->cfg.from_ns;
	l->shown.to_ns = l->cfg.to_ns;
}

int replay_lanes_fill(struct replay_lanes *l, const struct replay_lanes_cfg *cfg,
                      const struct machine_lanes **out)
{
	int err = reset(l, cfg);

	*out = &l->shown;
	if (!err && l->cfg.from_ns >= l->cfg.to_ns)
		return 0;
	if (!err)
		err = count_names(l);
	if (!err)
		rank_names(l);
	if (!err)
		err = add_slices(l);
	if (!err)
		err = add_idles(l);
	if (!err)
		err = add_waits(l);
	if (err)
		l->shown = (struct machine_lanes){ 0 };
	else
		show(l);
	return err;
}
