#include "replay/replay_sums.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "analyze/moves.h"
#include "base/hist.h"

static int places_init(struct replay_places *p, uint32_t nr)
{
	p->nr_numbers = nr;
	p->place_of = calloc(nr ? nr : 1, sizeof(*p->place_of));
	p->numbers = calloc(nr ? nr : 1, sizeof(*p->numbers));
	return p->place_of && p->numbers ? 0 : -ENOMEM;
}

static void places_done(struct replay_places *p)
{
	free(p->place_of);
	free(p->numbers);
}

static void places_clear(struct replay_places *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		p->place_of[p->numbers[i]] = 0;
	p->nr = 0;
}

static uint32_t place_of(struct replay_places *p, uint32_t number, bool *is_new)
{
	*is_new = !p->place_of[number];
	if (*is_new) {
		p->numbers[p->nr++] = number;
		p->place_of[number] = p->nr;
	}
	return p->place_of[number] - 1;
}

static void forget_dists(struct replay_sums *x)
{
	for (int i = 0; i < INTERVAL_DISTS; i++) {
		grouped_done(&x->by_task[i]);
		grouped_done(&x->by_unit[i]);
	}
	grouped_done(&x->by_cpu);
	samples_done(&x->waits);
	x->waits = (struct samples){ 0 };
}

void replay_sums_done(struct replay_sums *x)
{
	forget_dists(x);
	places_done(&x->tasks);
	places_done(&x->units);
	free(x->of_tasks);
	free(x->of_units);
	free(x->last_cpus);
	free(x->cpus);
	*x = (struct replay_sums){ 0 };
}

int replay_sums_init(struct replay_sums *x, const struct scope *scope,
                     const struct units *processes)
{
	uint32_t nr = scope->nr_tasks ? scope->nr_tasks : 1;
	uint32_t nr_units = processes->nr ? processes->nr : 1;

	*x = (struct replay_sums){
		.s = scope->s,
		.scope = scope,
		.processes = processes,
		.nr_cpus = scope->nr_cpus,
	};
	x->cpus = calloc(x->nr_cpus ? x->nr_cpus : 1, sizeof(*x->cpus));
	x->of_tasks = calloc(nr, sizeof(*x->of_tasks));
	x->of_units = calloc(nr_units, sizeof(*x->of_units));
	x->last_cpus = calloc(nr, sizeof(*x->last_cpus));
	if (!x->cpus || !x->of_tasks || !x->of_units || !x->last_cpus ||
	    places_init(&x->tasks, scope->nr_tasks) || places_init(&x->units, processes->nr)) {
		replay_sums_done(x);
		return -ENOMEM;
	}
	return 0;
}

static struct replay_cpu_sum *cpu_of(struct replay_sums *x, uint32_t cpu)
{
	return cpu < x->nr_cpus ? &x->cpus[cpu] : NULL;
}

/* NULL for no task, and for one that is not requested. */
static struct machine_interval *task_of(struct replay_sums *x, uint32_t task)
{
	bool is_new;
	uint32_t place;

	if (task >= x->tasks.nr_numbers || !scope_takes_ever(x->scope, task))
		return NULL;
	assert(x->of_tasks && x->last_cpus);
	place = place_of(&x->tasks, task, &is_new);
	if (is_new) {
		x->of_tasks[place] = (struct machine_interval){ .id = task };
		x->last_cpus[place] = PAIR_NO_CPU;
	}
	return &x->of_tasks[place];
}

static uint32_t unit_place(struct replay_sums *x, uint32_t task)
{
	uint32_t unit = units_of(x->processes, task), place;
	bool is_new;

	place = place_of(&x->units, unit, &is_new);
	if (is_new)
		x->of_units[place] = (struct machine_interval){ .id = unit };
	return place;
}

/* Of a task that has a place. */
static void add_duration(struct replay_sums *x, enum interval_dist which, uint32_t task,
                         uint64_t ns)
{
	grouped_add(&x->by_task[which], x->tasks.place_of[task] - 1, ns);
	grouped_add(&x->by_unit[which], unit_place(x, task), ns);
}

static void add_move(struct replay_sums *x, uint32_t task, uint32_t from_cpu, uint32_t to_cpu)
{
	struct machine_interval *t = task_of(x, task);
	struct replay_cpu_sum *c = cpu_of(x, to_cpu);
	enum move_hop hop = move_hop(x->s, from_cpu, to_cpu);

	if (c)
		c->sums.arrivals++;
	if (!t)
		return;
	t->counts[INTERVAL_MIGRATIONS]++;
	t->counts[INTERVAL_LLC_MIGRATIONS] += hop == MOVE_CROSS_LLC;
	t->counts[INTERVAL_NODE_MIGRATIONS] += hop == MOVE_CROSS_NODE;
}

/* Where a task ran before a slice; that before its first one in the cell is looked up. */
static uint16_t cpu_before(const struct replay_sums *x, uint16_t last_cpu,
                           const struct pair_slice *row)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, row->task, TIMELINE_ANY_CPU };
	/* A slice that took no time ended by its own start. */
	uint64_t by_ns = row->start_ns - (row->start_ns && row->end_ns == row->start_ns);
	union timeline_row last;

	if (last_cpu != PAIR_NO_CPU)
		return last_cpu;
	if (!timeline_before(x->s->timeline, &slices, by_ns, &last))
		return PAIR_NO_CPU;
	return last.slice.cpu;
}

/* A slice that begins elsewhere than the last one of its task did, where migrations were not recorded. */
static void add_move_by_slice(struct replay_sums *x, const struct replay_cell *c,
                              const struct machine_interval *task, const struct pair_slice *row)
{
	uint16_t *last_cpu = task ? &x->last_cpus[task - x->of_tasks] : NULL;
	uint16_t from;

	if (x->s->facts->kinds[EV_MIGRATE] || row->task == TASKS_NONE)
		return;
	if (replay_cell_has(c, row->start_ns)) {
		from = cpu_before(x, last_cpu ? *last_cpu : PAIR_NO_CPU, row);
		if (from != PAIR_NO_CPU && from != row->cpu)
			add_move(x, row->task, from, row->cpu);
	}
	if (last_cpu)
		*last_cpu = row->cpu;
}

/* Of a slice that ends in the cell, or continues after it. */
static void add_run(struct replay_sums *x, const struct replay_cell *c,
                    const struct pair_slice *row)
{
	uint64_t ns = replay_cell_cut(c, row->start_ns, row->end_ns);
	struct replay_cpu_sum *cpu = cpu_of(x, row->cpu);
	struct machine_interval *task = task_of(x, row->task);

	if (cpu)
		cpu->busy_ns += ns;
	if (task)
		task->run_ns += ns;
	if (cpu)
		cpu->sums.switches += replay_cell_has(c, row->start_ns);
	add_move_by_slice(x, c, task, row);
}

static void add_slices(struct replay_sums *x, const struct replay_cell *c)
{
	struct timeline_ended it = replay_cell_ended(c, x->s->timeline, TIMELINE_SLICE);
	union timeline_row row;

	while (timeline_ended_next(&it, &row)) {
		struct machine_interval *task = task_of(x, row.slice.task);

		add_run(x, c, &row.slice);
		if (!task || row.slice.end == PAIR_END_OPEN)
			continue;
		if (row.slice.end == PAIR_END_RUNNABLE)
			task->counts[INTERVAL_INVOLUNTARY]++;
		else
			task->counts[INTERVAL_VOLUNTARY]++;
		add_duration(x, INTERVAL_SLICE, row.slice.task,
		             row.slice.end_ns - row.slice.start_ns);
	}
}

static void add_idle(struct replay_cpu_sum *cpu, const struct replay_cell *c,
                     const struct pair_idle *row)
{
	if (!cpu)
		return;
	cpu->idle_ns += replay_cell_cut(c, row->start_ns, row->end_ns);
	cpu->sums.switches += replay_cell_has(c, row->start_ns);
}

static void add_idles(struct replay_sums *x, const struct replay_cell *c)
{
	struct timeline_ended it = replay_cell_ended(c, x->s->timeline, TIMELINE_IDLE);
	union timeline_row row;

	while (timeline_ended_next(&it, &row))
		add_idle(cpu_of(x, row.idle.cpu), c, &row.idle);
}

/*
 * What a CPU does at the last moment; the part after the cell is not counted yet. After the last
 * cell there is none.
 */
static void add_lasting(struct replay_sums *x, const struct replay_cell *c, uint32_t cpu)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, TASKS_NONE, cpu },
				    idles = { TIMELINE_IDLE, TASKS_NONE, cpu };
	uint64_t moment = replay_cell_moment(c);
	union timeline_row row;

	x->cpus[cpu].task = TASKS_NONE;
	if (timeline_after(x->s->timeline, &slices, moment, &row) && row.slice.start_ns <= moment) {
		x->cpus[cpu].task = row.slice.task;
		if (!c->is_last)
			add_run(x, c, &row.slice);
	} else if (timeline_after(x->s->timeline, &idles, moment, &row) &&
	           row.idle.start_ns <= moment) {
		x->cpus[cpu].is_idle = true;
		if (!c->is_last)
			add_idle(&x->cpus[cpu], c, &row.idle);
	}
}

static void add_waits(struct replay_sums *x, const struct replay_cell *c)
{
	struct timeline_ended it = replay_cell_ended(c, x->s->timeline, TIMELINE_WAIT);
	union timeline_row row;

	while (timeline_ended_next(&it, &row)) {
		const struct pair_wait *w = &row.wait;
		struct machine_interval *task = task_of(x, w->task);

		if (task)
			task->wait_ns += replay_cell_cut(c, pair_wait_start_ns(w), w->end_ns);
		if (w->is_open)
			continue;
		samples_add(&x->waits, latency_ns(w));
		if (w->cpu < x->nr_cpus)
			grouped_add(&x->by_cpu, w->cpu, latency_ns(w));
		if (task)
			add_duration(x, latency_counts(w) ? INTERVAL_LATENCY : INTERVAL_PREEMPTED,
			             w->task, latency_ns(w));
	}
}

static void add_rest(struct replay_sums *x, const struct replay_cell *c)
{
	struct timeline_ended sleeps = replay_cell_ended(c, x->s->timeline, TIMELINE_SLEEP);
	struct timeline_ended wakeups = replay_cell_ended(c, x->s->timeline, TIMELINE_WAKEUP);
	struct timeline_ended moves = replay_cell_ended(c, x->s->timeline, TIMELINE_MIGRATION);
	union timeline_row row;

	while (timeline_ended_next(&sleeps, &row))
		if (!row.sleep.is_open && task_of(x, row.sleep.task))
			add_duration(x, INTERVAL_SLEEP, row.sleep.task,
			             row.sleep.end_ns - row.sleep.start_ns);
	while (timeline_ended_next(&wakeups, &row))
		if (row.wakeup.cpu < x->nr_cpus)
			x->cpus[row.wakeup.cpu].sums.wakeups++;
	while (timeline_ended_next(&moves, &row))
		add_move(x, row.migration.task, row.migration.from_cpu, row.migration.to_cpu);
}

static int order(struct replay_sums *x)
{
	int err = grouped_order(&x->by_cpu, x->nr_cpus);

	for (int i = 0; i < INTERVAL_DISTS && !err; i++) {
		err = grouped_order(&x->by_task[i], x->tasks.nr);
		if (!err)
			err = grouped_order(&x->by_unit[i], x->units.nr);
	}
	return err || !x->waits.has_failed ? err : -ENOMEM;
}

static void make_dists(struct machine_interval *of, const struct grouped *by, uint32_t nr)
{
	for (uint32_t place = 0; place < nr; place++) {
		for (int i = 0; i < INTERVAL_DISTS; i++) {
			struct samples durations = grouped_at(&by[i], place);

			of[place].dists[i] = replay_sums_dist(&durations);
		}
	}
}

/* A process has what its threads have counted, those that ended in the cell included. */
static void make_intervals(struct replay_sums *x)
{
	for (uint32_t place = 0; place < x->tasks.nr; place++) {
		const struct machine_interval *task = &x->of_tasks[place];
		struct machine_interval *unit = &x->of_units[unit_place(x, task->id)];

		for (int i = 0; i < INTERVAL_COUNTS; i++)
			unit->counts[i] += task->counts[i];
	}
}

int replay_sums_collect(struct replay_sums *x, const struct replay_cell *c)
{
	int err;

	forget_dists(x);
	places_clear(&x->tasks);
	places_clear(&x->units);
	for (uint32_t i = 0; i < x->nr_cpus; i++)
		x->cpus[i] = (struct replay_cpu_sum){ 0 };
	add_slices(x, c);
	add_idles(x, c);
	for (uint32_t i = 0; i < x->nr_cpus; i++)
		add_lasting(x, c, i);
	add_waits(x, c);
	add_rest(x, c);
	make_intervals(x);
	err = order(x);
	if (err)
		return err;
	make_dists(x->of_tasks, x->by_task, x->tasks.nr);
	make_dists(x->of_units, x->by_unit, x->units.nr);
	return 0;
}

const struct machine_interval *replay_sums_task(const struct replay_sums *x, uint32_t task)
{
	uint32_t place = x->tasks.place_of[task];

	return place ? &x->of_tasks[place - 1] : NULL;
}

struct machine_dist replay_sums_dist(struct samples *of)
{
	struct machine_dist d = { .count = of->nr };

	if (!of->nr)
		return d;
	d.p50_ns = samples_percentile(of, HIST_P(50));
	d.p90_ns = samples_percentile(of, HIST_P(90));
	d.p99_ns = samples_percentile(of, HIST_P(99));
	d.max_ns = samples_percentile(of, HIST_P(100));
	d.mean_ns = samples_mean(of);
	return d;
}

const struct machine_interval *replay_sums_unit(const struct replay_sums *x, uint32_t unit)
{
	uint32_t place = x->units.place_of[unit];

	return place ? &x->of_units[place - 1] : NULL;
}

struct machine_dist replay_sums_cpu_dist(const struct replay_sums *x, uint32_t cpu)
{
	struct samples of = grouped_at(&x->by_cpu, cpu);

	return replay_sums_dist(&of);
}
