#include "replay/replay_tasks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/moves.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "machine/machine_sum.h"
#include "replay/replay_tracks.h"
#include "trace/reader.h"

#define PRIO_RT_MAX 100
#define NO_ROW      UINT32_MAX

/* When a task was there, in the order of its beginning. */
struct replay_life {
	uint64_t first_ns;
	uint64_t end_ns; /* UINT64_MAX = still alive */
	uint32_t task;
};

struct replay_tasks {
	struct replay_tasks_cfg cfg;
	const struct source *s;
	struct replay_tracks tracks;
	struct replay_life *lives;
	uint32_t nr_lives;
	bool has_places;
	struct machine_task *threads, *processes;
	uint32_t *shown;   /* tasks of the rows of threads */
	uint32_t *members; /* of a process */
	size_t nr_threads, nr_processes, room;
	uint32_t *row_of; /* by unit, in processes; NO_ROW = none */
};

DEFINE_SCOPED(replay_tasks, replay_tasks_free)

static int by_first(const void *a, const void *b)
{
	const struct replay_life *left = a, *right = b;

	if (left->first_ns != right->first_ns)
		return left->first_ns < right->first_ns ? -1 : 1;
	return (left->task > right->task) - (left->task < right->task);
}

static void list_lives(struct replay_tasks *t)
{
	const struct scope *sc = t->cfg.scope;

	for (uint32_t i = 0; i < sc->nr_tasks; i++) {
		const struct task *task = tasks_at(t->s->tasks, i);

		if (task && scope_takes_ever(sc, i))
			t->lives[t->nr_lives++] = (struct replay_life){
				.first_ns = task->first_seen_ns,
				.end_ns = task->end_ns ? task->end_ns : UINT64_MAX,
				.task = i,
			};
	}
	qsort(t->lives, t->nr_lives, sizeof(*t->lives), by_first);
}

int replay_tasks_new(const struct replay_tasks_cfg *cfg, struct replay_tasks **out)
{
	SCOPED(scoped_replay_tasks) struct replay_tasks *t = calloc(1, sizeof(*t));
	uint32_t nr_units = cfg->processes->nr ? cfg->processes->nr : 1;

	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	t->s = cfg->scope->s;
	t->has_places = move_knows_places(t->s);
	t->lives = calloc(cfg->scope->nr_tasks ? cfg->scope->nr_tasks : 1, sizeof(*t->lives));
	t->row_of = malloc(nr_units * sizeof(*t->row_of));
	if (!t->lives || !t->row_of || replay_tracks_init(&t->tracks, t->s))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_units; i++)
		t->row_of[i] = NO_ROW;
	list_lives(t);
	*out = TAKE_PTR(t);
	return 0;
}

void replay_tasks_free(struct replay_tasks *t)
{
	if (!t)
		return;
	replay_tracks_done(&t->tracks);
	free(t->lives);
	free(t->row_of);
	free(t->threads);
	free(t->processes);
	free(t->shown);
	free(t->members);
	free(t);
}

/* There are never more processes than threads. */
static bool has_room(struct replay_tasks *t)
{
	size_t processes = t->room, shown = t->room;

	return !GROW(t->processes, processes, t->nr_threads) &&
	       !GROW(t->shown, shown, t->nr_threads) && !GROW(t->threads, t->room, t->nr_threads);
}

static const char *comm_at(const struct replay_tasks *t, uint32_t task, uint64_t ts_ns)
{
	const char *comm = tasks_string(t->s->tasks, tasks_comm_at(t->s->tasks, task, ts_ns));

	return comm && *comm ? comm : "?";
}

static const char *cgroup_at(const struct replay_tasks *t, uint32_t task, uint64_t moment)
{
	return tasks_cgroup_path(t->s->tasks, tasks_cgroup_at(t->s->tasks, task, moment));
}

static const char *cmdline_of(const struct replay_tasks *t, uint32_t tgid)
{
	size_t low = 0, high = t->cfg.info ? t->cfg.info->nr_processes : 0;
	const struct trace_process *all = high ? t->cfg.info->processes : NULL;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (all[mid].tgid == tgid)
			return *all[mid].cmdline ? all[mid].cmdline : NULL;
		if (all[mid].tgid < tgid)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Whether fair or a sched_ext scheduler has a task of normal priority, only the scheduler itself reports. */
static const char *class_of(const struct replay_track *track, bool is_ext, bool is_scx_on)
{
	if (!track->has_prio)
		return NULL;
	if (track->prio < 0)
		return "dl";
	if (track->prio < PRIO_RT_MAX)
		return "rt";
	if (is_ext)
		return "ext";
	return is_scx_on ? NULL : "fair";
}

/* NULL = it did nothing. */
static void show_sums(const struct replay_tasks *t, const struct machine_interval *sum,
                      double seconds, struct machine_task *row)
{
	static const struct machine_interval nothing = { 0 };

	machine_interval_show(sum ? sum : &nothing, seconds, row);
	if (!t->has_places)
		row->llc_migrations_per_s = row->node_migrations_per_s = NAN;
}

static void show_scx(const struct replay_tasks *t, const struct replay_track *track, uint32_t task,
                     uint64_t moment, struct machine_task *row)
{
	const char *name;
	const char *state = replay_scx_state(t->cfg.scx, moment, &name);
	bool is_on = state && state[0] == 'e';
	struct pair_run run;
	bool is_ext = is_on && replay_scx_of_task(t->cfg.scx, task, moment, &run);

	row->class_name = class_of(track, is_ext, is_on);
	row->layer = is_ext && run.layer != EV_NO_LAYER ? (int64_t)run.layer : -1;
	row->has_dsq = is_ext && run.dsq_id != EV_DSQ_INVALID;
	row->dsq = row->has_dsq ? run.dsq_id : 0;
}

/* A thread; its wait at the last moment continues after the cell, unless it is the last. */
static void show_thread(struct replay_tasks *t, const struct replay_cell *c,
                        const struct replay_sums *sums, const struct replay_life *life)
{
	struct machine_task *row = &t->threads[t->nr_threads];
	uint64_t moment = replay_cell_moment(c);
	const struct replay_track *track = replay_tracks_at(&t->tracks, life->task, moment);
	const struct task *task = tasks_at(t->s->tasks, life->task);
	double seconds = replay_cell_seconds(c);

	t->shown[t->nr_threads++] = life->task;
	*row = (struct machine_task){
		.tid = task->tid,
		.tgid = task->tgid ? task->tgid : task->tid,
		.nr_threads = 1,
		.comm = comm_at(t, life->task, moment),
		.cmdline = cmdline_of(t, task->tgid),
		.cgroup = cgroup_at(t, life->task, moment),
		.state = life->end_ns <= moment ? 'X' : track->state,
		.last_cpu = track->cpu,
		.prio = track->has_prio ? track->prio : MACHINE_NO_PRIO,
	};
	machine_sum_clear_rates(row); /* nothing is known of no time */
	show_sums(t, replay_sums_task(sums, life->task), seconds, row);
	show_scx(t, track, life->task, moment, row);
	if (track->doing == REPLAY_WAITS && moment - track->since_ns >= MACHINE_STALL_NS)
		row->stall_ns = moment - track->since_ns;
	if (track->doing == REPLAY_WAITS && !c->is_last && seconds > 0)
		row->wait += (double)replay_cell_cut(c, track->since_ns, track->until_ns) / 1e9 /
		             seconds;
}

static struct machine_task *process_of(struct replay_tasks *t, uint32_t unit, uint64_t moment)
{
	uint32_t id = units_pid(t->cfg.processes, unit);
	struct machine_task *row;

	if (t->row_of[unit] != NO_ROW)
		return &t->processes[t->row_of[unit]];
	t->row_of[unit] = (uint32_t)t->nr_processes;
	row = &t->processes[t->nr_processes++];
	*row = (struct machine_task){
		.tid = id,
		.tgid = id,
		.comm = comm_at(t, t->cfg.processes->names[unit], moment),
		.cmdline = cmdline_of(t, id),
		.cgroup = cgroup_at(t, t->cfg.processes->names[unit], moment),
		.layer = -1,
		.memory_bytes = NAN,
	};
	machine_sum_clear(row);
	return row;
}

/* An exited thread adds what it did, but is not counted as a thread any more. */
static void add_to_process(struct replay_tasks *t, const struct replay_life *life, uint64_t moment)
{
	const struct machine_task *row = &t->threads[t->nr_threads - 1];
	struct machine_task *sum = process_of(t, units_of(t->cfg.processes, life->task), moment);

	machine_sum_add(sum, row);
	sum->nr_threads -= row->state == 'X';
}

/* Its times are the sums of those of its threads, which know what still goes on. */
static void show_process(struct replay_tasks *t, const struct replay_sums *sums, double seconds,
                         const struct replay_life *life)
{
	uint32_t unit = units_of(t->cfg.processes, life->task);
	const struct machine_interval *sum = replay_sums_unit(sums, unit);
	struct machine_task *row;
	uint64_t stall_ns;
	double run, wait;

	if (t->row_of[unit] == NO_ROW) /* it has its already */
		return;
	row = &t->processes[t->row_of[unit]];
	t->row_of[unit] = NO_ROW;
	if (!sum)
		return;
	run = row->run;
	wait = row->wait;
	stall_ns = row->stall_ns;
	show_sums(t, sum, seconds, row);
	row->run = run;
	row->wait = wait;
	row->stall_ns = stall_ns;
}

static bool is_there(const struct replay_life *l, const struct replay_cell *c)
{
	return l->end_ns >= c->from_ns;
}

int replay_tasks_refresh(struct replay_tasks *t, const struct replay_cell *c,
                         const struct replay_sums *sums)
{
	uint64_t moment = replay_cell_moment(c);
	uint32_t nr = 0;
	int err = 0;

	t->nr_threads = t->nr_processes = 0;
	while (nr < t->nr_lives && replay_cell_has(&(struct replay_cell){ 0, c->to_ns, c->is_last },
	                                           t->lives[nr].first_ns))
		nr++;
	for (uint32_t i = 0; i < nr && !err; i++) {
		if (!is_there(&t->lives[i], c))
			continue;
		err = has_room(t) ? 0 : -ENOMEM;
		if (err)
			break;
		show_thread(t, c, sums, &t->lives[i]);
		add_to_process(t, &t->lives[i], moment);
	}
	for (uint32_t i = 0; i < nr; i++)
		if (is_there(&t->lives[i], c))
			show_process(t, sums, replay_cell_seconds(c), &t->lives[i]);
	return err;
}

const struct machine_task *replay_tasks_threads(const struct replay_tasks *t, size_t *nr)
{
	*nr = t->nr_threads;
	return t->threads;
}

const struct machine_task *replay_tasks_processes(const struct replay_tasks *t, size_t *nr)
{
	*nr = t->nr_processes;
	return t->processes;
}

/* The last one of that tid, if it was reused. */
struct machine_task *replay_tasks_thread(struct replay_tasks *t, uint32_t tid, uint32_t *task)
{
	for (size_t i = t->nr_threads; i-- > 0;) {
		if (t->threads[i].tid == tid) {
			*task = t->shown[i];
			return &t->threads[i];
		}
	}
	return NULL;
}

struct machine_task *replay_tasks_process(struct replay_tasks *t, uint32_t tgid,
                                          const uint32_t **tasks, size_t *nr)
{
	struct machine_task *row = NULL;

	for (size_t i = 0; i < t->nr_processes && !row; i++)
		if (t->processes[i].tid == tgid)
			row = &t->processes[i];
	if (row && !t->members)
		t->members = calloc(t->nr_lives, sizeof(*t->members));
	if (!row || !t->members)
		return NULL;
	*nr = 0;
	for (uint32_t i = 0; i < t->nr_lives; i++)
		if (units_pid(t->cfg.processes, units_of(t->cfg.processes, t->lives[i].task)) ==
		    tgid)
			t->members[(*nr)++] = t->lives[i].task;
	*tasks = t->members;
	return row;
}
