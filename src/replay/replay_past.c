#include "replay/replay_past.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/latency.h"
#include "base/cleanup.h"
#include "machine/machine_latency.h"

#define ROWS_PER_REFRESH 100000U /* a few milliseconds */

struct past_column {
	bool is_known;
	uint64_t number; /* of its cell */
	uint32_t heat[MACHINE_HEAT_ROWS];
};

struct replay_past {
	const struct source *s;
	uint32_t nr_cpus;
	struct replay_grid grid;
	struct past_column columns[MACHINE_HISTORY]; /* by number, wrapped */
	double *shares, *waiting;                    /* of each column: by CPU */
	uint64_t *busy_ns, *idle_ns;                 /* by CPU, while a cell is worked out */
	bool is_whole;
	uint64_t newest;             /* number of the last one that is shown */
	uint32_t nr;                 /* of those that are shown, */
	double *lent, *lent_waiting; /* by CPU, oldest first */
	uint32_t (*lent_heat)[MACHINE_HEAT_ROWS];
	double runs[REPLAY_PAST_RUNS][MACHINE_HISTORY];
};

DEFINE_SCOPED(replay_past, replay_past_free)

int replay_past_new(const struct source *s, uint32_t nr_cpus, struct replay_past **out)
{
	SCOPED(scoped_replay_past) struct replay_past *p = calloc(1, sizeof(*p));
	size_t room = nr_cpus ? nr_cpus : 1;

	if (!p)
		return -ENOMEM;
	p->s = s;
	p->nr_cpus = nr_cpus;
	p->shares = calloc(room * MACHINE_HISTORY, sizeof(*p->shares));
	p->lent = calloc(room * MACHINE_HISTORY, sizeof(*p->lent));
	p->busy_ns = calloc(room, sizeof(*p->busy_ns));
	p->idle_ns = calloc(room, sizeof(*p->idle_ns));
	p->lent_heat = calloc(MACHINE_HISTORY, sizeof(*p->lent_heat));
	p->waiting = calloc(room * MACHINE_HISTORY, sizeof(*p->waiting));
	p->lent_waiting = calloc(room * MACHINE_HISTORY, sizeof(*p->lent_waiting));
	if (!p->waiting || !p->lent_waiting)
		return -ENOMEM;
	if (!p->shares || !p->lent || !p->busy_ns || !p->idle_ns || !p->lent_heat)
		return -ENOMEM;
	*out = TAKE_PTR(p);
	return 0;
}

void replay_past_free(struct replay_past *p)
{
	if (!p)
		return;
	free(p->shares);
	free(p->lent);
	free(p->waiting);
	free(p->lent_waiting);
	free(p->busy_ns);
	free(p->idle_ns);
	free(p->lent_heat);
	free(p);
}

static void add(uint64_t *sums, uint32_t nr, uint32_t cpu, uint64_t ns)
{
	if (cpu < nr)
		sums[cpu] += ns;
}

static uint32_t add_ended(struct replay_past *p, const struct replay_cell *c)
{
	struct timeline_ended slices = replay_cell_ended(c, p->s->timeline, TIMELINE_SLICE);
	struct timeline_ended idles = replay_cell_ended(c, p->s->timeline, TIMELINE_IDLE);
	union timeline_row row;
	uint32_t nr = 0;

	for (; timeline_ended_next(&slices, &row); nr++)
		add(p->busy_ns, p->nr_cpus, row.slice.cpu,
		    replay_cell_cut(c, row.slice.start_ns, row.slice.end_ns));
	for (; timeline_ended_next(&idles, &row); nr++)
		add(p->idle_ns, p->nr_cpus, row.idle.cpu,
		    replay_cell_cut(c, row.idle.start_ns, row.idle.end_ns));
	return nr;
}

/* What continues after the cell began before it or in it; after the last one nothing does. */
static void add_lasting(struct replay_past *p, const struct replay_cell *c)
{
	for (uint32_t cpu = 0; cpu < p->nr_cpus && !c->is_last; cpu++) {
		const struct timeline_whose slices = { TIMELINE_SLICE, TASKS_NONE, cpu },
					    idles = { TIMELINE_IDLE, TASKS_NONE, cpu };
		uint64_t moment = replay_cell_moment(c);
		union timeline_row row;

		if (timeline_after(p->s->timeline, &slices, moment, &row))
			p->busy_ns[cpu] += replay_cell_cut(c, row.slice.start_ns, row.slice.end_ns);
		if (timeline_after(p->s->timeline, &idles, moment, &row))
			p->idle_ns[cpu] += replay_cell_cut(c, row.idle.start_ns, row.idle.end_ns);
	}
}

static uint32_t add_latencies(const struct replay_past *p, const struct replay_cell *c,
                              struct past_column *to)
{
	struct timeline_ended waits = replay_cell_ended(c, p->s->timeline, TIMELINE_WAIT);
	union timeline_row row;
	uint32_t nr = 0;

	memset(to->heat, 0, sizeof(to->heat));
	for (; timeline_ended_next(&waits, &row); nr++)
		if (latency_counts(&row.wait))
			to->heat[machine_heat_row(latency_ns(&row.wait))]++;
	return nr;
}

static double *waiting_of(const struct replay_past *p, uint64_t number)
{
	return p->waiting + number % MACHINE_HISTORY * p->nr_cpus;
}

/* Waits that last there, also those that go on behind it. */
static uint32_t add_waits(const struct replay_past *p, const struct replay_cell *c, double *waiting)
{
	const struct timeline_query q = replay_cell_query(c, TIMELINE_WAIT, TASKS_NONE);
	struct timeline_iter it;
	union timeline_row row;
	uint32_t nr = 0;

	memset(waiting, 0, p->nr_cpus * sizeof(*waiting));
	if (timeline_find(p->s->timeline, &q, &it))
		return 0;
	for (; timeline_next(&it, NULL, &row); nr++) {
		uint64_t ns = replay_cell_cut(c, pair_wait_start_ns(&row.wait), row.wait.end_ns);

		if (row.wait.cpu < p->nr_cpus && c->to_ns > c->from_ns)
			waiting[row.wait.cpu] += (double)ns / (double)(c->to_ns - c->from_ns);
	}
	return nr;
}

static double *shares_of(const struct replay_past *p, uint64_t number)
{
	return p->shares + number % MACHINE_HISTORY * p->nr_cpus;
}

/* How many rows it took. */
static uint32_t work_out(struct replay_past *p, uint64_t number)
{
	struct past_column *to = &p->columns[number % MACHINE_HISTORY];
	struct replay_cell c = replay_grid_cell(&p->grid, number);
	double *shares = shares_of(p, number);
	uint32_t nr;

	memset(p->busy_ns, 0, p->nr_cpus * sizeof(*p->busy_ns));
	memset(p->idle_ns, 0, p->nr_cpus * sizeof(*p->idle_ns));
	nr = add_ended(p, &c);
	add_lasting(p, &c);
	for (uint32_t cpu = 0; cpu < p->nr_cpus; cpu++) {
		uint64_t known_ns = p->busy_ns[cpu] + p->idle_ns[cpu];

		shares[cpu] = known_ns ? (double)p->busy_ns[cpu] / (double)known_ns : NAN;
	}
	nr += add_latencies(p, &c, to);
	nr += add_waits(p, &c, waiting_of(p, number));
	to->number = number;
	to->is_known = true;
	return nr;
}

static void lend(struct replay_past *p, uint64_t newest)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		uint64_t number = newest + 1 - p->nr + i;
		const double *shares = shares_of(p, number);

		memcpy(p->lent_heat[i], p->columns[number % MACHINE_HISTORY].heat,
		       sizeof(*p->lent_heat));
		for (uint32_t cpu = 0; cpu < p->nr_cpus; cpu++)
			p->lent[(size_t)cpu * MACHINE_HISTORY + i] = shares[cpu];
		for (uint32_t cpu = 0; cpu < p->nr_cpus; cpu++)
			p->lent_waiting[(size_t)cpu * MACHINE_HISTORY + i] =
				waiting_of(p, number)[cpu];
	}
}

void replay_past_refresh(struct replay_past *p, const struct replay_grid *g, uint64_t number)
{
	uint64_t most = number + 1 < MACHINE_HISTORY ? number + 1 : MACHINE_HISTORY;
	uint32_t rows = 0;

	if (p->grid.interval_ns != g->interval_ns)
		memset(p->columns, 0, sizeof(p->columns));
	p->grid = *g;
	p->newest = number;
	for (p->nr = 0; p->nr < most && rows < ROWS_PER_REFRESH; p->nr++) {
		const struct past_column *c = &p->columns[(number - p->nr) % MACHINE_HISTORY];

		if (!c->is_known || c->number != number - p->nr)
			rows += 1 + work_out(p, number - p->nr);
	}
	p->is_whole = p->nr == most;
	lend(p, number);
}

bool replay_past_is_whole(const struct replay_past *p)
{
	return p->is_whole;
}

struct machine_history replay_past_busy(const struct replay_past *p, uint32_t cpu)
{
	return (struct machine_history){ p->lent + (size_t)cpu * MACHINE_HISTORY, p->nr };
}

struct machine_history replay_past_waiting(const struct replay_past *p, uint32_t cpu)
{
	return (struct machine_history){ p->lent_waiting + (size_t)cpu * MACHINE_HISTORY, p->nr };
}

struct machine_heat replay_past_heat(const struct replay_past *p)
{
	struct machine_heat h = { .columns = (const uint32_t(*)[MACHINE_HEAT_ROWS])p->lent_heat,
		                  .nr = p->nr };

	for (uint32_t i = 0; i < h.nr; i++)
		for (uint32_t row = 0; row < MACHINE_HEAT_ROWS; row++)
			if (h.columns[i][row] > h.max)
				h.max = h.columns[i][row];
	return h;
}

/* The cells that a run is shown of. */
struct run_cells {
	double *values;
	uint64_t first;
	uint32_t nr;
};

static void add_slice(const struct replay_past *p, const struct run_cells *to,
                      const struct pair_slice *row)
{
	const struct replay_cell begin = replay_grid_cell(&p->grid, to->first);
	uint64_t skip = 0;

	if (row->start_ns > begin.from_ns)
		skip = (row->start_ns - begin.from_ns) / p->grid.interval_ns;
	for (uint64_t i = skip; i < to->nr; i++) {
		struct replay_cell c = replay_grid_cell(&p->grid, to->first + i);

		if (c.from_ns >= row->end_ns)
			break;
		if (c.to_ns > c.from_ns)
			to->values[i] += (double)replay_cell_cut(&c, row->start_ns, row->end_ns) /
			                 (double)(c.to_ns - c.from_ns);
	}
}

static void add_task(const struct replay_past *p, const struct run_cells *to, uint32_t task)
{
	const struct timeline_query q = {
		.table = TIMELINE_SLICE,
		.task = task,
		.cpu = TIMELINE_ANY_CPU,
		.from_ns = replay_grid_cell(&p->grid, to->first).from_ns,
		.to_ns = replay_grid_cell(&p->grid, p->newest).to_ns,
	};
	struct timeline_iter it;
	union timeline_row row;

	if (timeline_find(p->s->timeline, &q, &it))
		return;
	while (timeline_next(&it, NULL, &row))
		add_slice(p, to, &row.slice);
}

static uint64_t first_seen_ns(const struct replay_past *p, const uint32_t *tasks, size_t nr)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < nr; i++) {
		const struct task *t = tasks_at(p->s->tasks, tasks[i]);

		if (t && t->first_seen_ns < first_ns)
			first_ns = t->first_seen_ns;
	}
	return first_ns;
}

struct machine_history replay_past_run(struct replay_past *p, uint32_t which, const uint32_t *tasks,
                                       size_t nr_tasks)
{
	struct run_cells to = { .values = p->runs[which] };
	uint64_t seen_ns = first_seen_ns(p, tasks, nr_tasks);

	if (p->newest + 1 > MACHINE_HISTORY)
		to.first = p->newest + 1 - MACHINE_HISTORY;
	if (seen_ns == UINT64_MAX || replay_grid_find(&p->grid, seen_ns + 1) > p->newest)
		return (struct machine_history){ 0 };
	if (replay_grid_find(&p->grid, seen_ns + 1) > to.first)
		to.first = replay_grid_find(&p->grid, seen_ns + 1);
	to.nr = (uint32_t)(p->newest + 1 - to.first);
	memset(to.values, 0, sizeof(p->runs[which]));
	for (size_t i = 0; i < nr_tasks; i++)
		add_task(p, &to, tasks[i]);
	return (struct machine_history){ to.values, to.nr };
}
