#include "session/replay_tasks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/moves.h"
#include "base/cleanup.h"
#include "session/machine_sum.h"
#include "session/replay_tracks.h"
#include "trace/reader.h"

#define FIRST_ROOM  256
#define PRIO_RT_MAX 100
#define NO_ROW      UINT32_MAX

/* When a task was there, in the order of its beginning. */
struct life {
	uint64_t first_ns;
	uint64_t end_ns; /* UINT64_MAX = it lives on */
	uint32_t task;
};

struct replay_tasks {
	struct replay_tasks_cfg cfg;
	const struct source *s;
	struct replay_tracks tracks;
	struct life *lives;
	uint32_t nr_lives;
	bool has_places;
	struct machine_task *threads, *processes;
	uint32_t *shown;   /* tasks of the rows of threads */
	uint32_t *members; /* of a process */
	size_t nr_threads, nr_processes, room;
	uint32_t *row_of; /* by unit, in processes; NO_ROW = none */
};

static void scoped_tasks_of(struct replay_tasks *const *t)
{
	replay_tasks_free(*t);
}

static int by_first(const void *a, const void *b)
{
	const struct life *left = a, *right = b;

	if (left->first_ns != right->first_ns)
		return left->first_ns < right->first_ns ? -1 : 1;
	return (left->task > right->task) - (left->task < right->task);
}

static void list_lives(struct replay_tasks *t)
{
	const struct scope *sc = t->cfg.scope;

	for (uint32_t i = 0; i < sc->nr_tasks; i++) {
		const struct task *task = tasks_at(t->s->tasks, i);

		if (task && scope_takes(sc, i))
			t->lives[t->nr_lives++] = (struct life){
				.first_ns = task->first_seen_ns,
				.end_ns = task->end_ns ? task->end_ns : UINT64_MAX,
				.task = i,
			};
	}
	qsort(t->lives, t->nr_lives, sizeof(*t->lives), by_first);
}

int replay_tasks_new(const struct replay_tasks_cfg *cfg, struct replay_tasks **out)
{
	SCOPED(scoped_tasks_of) struct replay_tasks *t = calloc(1, sizeof(*t));
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
	size_t room = t->room ? 2 * t->room : FIRST_ROOM;
	void *more;

	if (t->nr_threads < t->room)
		return true;
	more = reallocarray(t->threads, room, sizeof(*t->threads));
	if (!more)
		return false;
	t->threads = more;
	more = reallocarray(t->processes, room, sizeof(*t->processes));
	if (!more)
		return false;
	t->processes = more;
	more = reallocarray(t->shown, room, sizeof(*t->shown));
	if (!more)
		return false;
	t->shown = more;
	t->room = room;
	return true;
}

static const char *comm_at(const struct replay_tasks *t, uint32_t task, uint64_t ts_ns)
{
	const char *comm = tasks_string(t->s->tasks, tasks_comm_at(t->s->tasks, task, ts_ns));

	return comm && *comm ? comm : "?";
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

/* Whether fair or a scheduler of sched_ext has a task of normal priority, only that one itself tells. */
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

static void show_sums(const struct replay_tasks *t, const struct replay_sums *sums, uint32_t task,
                      double seconds, struct machine_task *row)
{
	static const struct replay_task_sum nothing = { 0 };
	const struct replay_task_sum *sum = replay_sums_task(sums, task);

	if (!sum)
		sum = &nothing;
	row->run = seconds > 0 ? (double)sum->run_ns / 1e9 / seconds : NAN;
	row->wait = seconds > 0 ? (double)sum->wait_ns / 1e9 / seconds : NAN;
	if (seconds > 0) {
		row->voluntary_per_s = (double)sum->voluntary / seconds;
		row->involuntary_per_s = (double)sum->involuntary / seconds;
		row->migrations_per_s = (double)sum->migrations / seconds;
	}
	if (seconds > 0 && t->has_places) {
		row->llc_migrations_per_s = (double)sum->llc_migrations / seconds;
		row->node_migrations_per_s = (double)sum->node_migrations / seconds;
	}
	row->latency = replay_sums_task_dist(sums, task, REPLAY_LATENCY);
	row->preempted = replay_sums_task_dist(sums, task, REPLAY_PREEMPTED);
	row->slice = replay_sums_task_dist(sums, task, REPLAY_SLICE);
	row->sleep = replay_sums_task_dist(sums, task, REPLAY_SLEEP);
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

/* A thread; what it waits for at the last moment goes on behind the cell, where there is something behind. */
static void show_thread(struct replay_tasks *t, const struct replay_cell *c,
                        const struct replay_sums *sums, const struct life *life)
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
		.state = life->end_ns <= moment ? 'X' : track->state,
		.last_cpu = track->cpu,
		.prio = track->prio,
		.voluntary_per_s = NAN,
		.involuntary_per_s = NAN,
		.migrations_per_s = NAN,
		.llc_migrations_per_s = NAN,
		.node_migrations_per_s = NAN,
	};
	show_sums(t, sums, life->task, seconds, row);
	show_scx(t, track, life->task, moment, row);
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
		.layer = -1,
	};
	machine_sum_clear(row);
	return row;
}

/* Who has ended adds what it did, but is none of its threads any more. */
static void add_to_process(struct replay_tasks *t, const struct life *life, uint64_t moment)
{
	const struct machine_task *row = &t->threads[t->nr_threads - 1];
	struct machine_task *sum = process_of(t, units_of(t->cfg.processes, life->task), moment);

	machine_sum_add(sum, row);
	sum->nr_threads -= row->state == 'X';
}

static void show_process_dists(struct replay_tasks *t, const struct replay_sums *sums,
                               const struct life *life)
{
	uint32_t unit = units_of(t->cfg.processes, life->task);
	struct machine_task *row;

	if (t->row_of[unit] == NO_ROW) /* it has its already */
		return;
	row = &t->processes[t->row_of[unit]];
	t->row_of[unit] = NO_ROW;
	row->latency = replay_sums_unit_dist(sums, unit, REPLAY_LATENCY);
	row->preempted = replay_sums_unit_dist(sums, unit, REPLAY_PREEMPTED);
	row->slice = replay_sums_unit_dist(sums, unit, REPLAY_SLICE);
	row->sleep = replay_sums_unit_dist(sums, unit, REPLAY_SLEEP);
}

static bool is_there(const struct life *l, const struct replay_cell *c)
{
	return l->end_ns >= c->from_ns;
}

int replay_tasks_look(struct replay_tasks *t, const struct replay_cell *c,
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
			show_process_dists(t, sums, &t->lives[i]);
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

/* The last one of that tid, where it came back. */
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
