#include "replay/machine_replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/losses.h"
#include "base/cleanup.h"
#include "machine/machine_log.h"
#include "machine/machine_play.h"
#include "replay/replay_levels.h"
#include "replay/replay_past.h"
#include "replay/replay_sums.h"
#include "replay/replay_tasks.h"
#include "replay/replay_waits.h"
#include "replay/replay_zoom.h"
#include "trace/reader.h"

#define USUAL_INTERVAL_NS 250000000ULL
#define SHORTEST_NS       1000ULL
#define NO_CELL           INT64_MIN

struct machine_replay {
	struct machine_replay_cfg cfg;
	const struct source *s;
	struct pass_args args;
	struct scope scope;
	struct units processes;
	struct replay_sums sums;
	struct replay_tasks *tasks;
	struct replay_past *past;
	struct replay_scx *scx;
	struct replay_levels mhz, pressure;
	struct replay_grid grid;
	bool has_wakeups;
	int64_t number; /* of the cell; NO_CELL before the first refresh */
	uint32_t needs; /* that the machine meets, at this cell */
	struct machine machine;
	struct machine_play play;
	struct machine_play_wait *waits; /* the longest */
	size_t nr_waits;
	struct machine_cpu *cpus;
	struct machine_log log;
	char notice[160];
	struct replay_zoom *zoom;
	uint32_t zoomed; /* tid; 0 = none */
};

DEFINE_SCOPED(machine_replay, machine_replay_close)

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

/* What the file itself says: its recorder, its time, and what went wrong. */
static void emit_facts(struct machine_replay *r)
{
	const struct source_facts *f = r->s->facts;
	time_t seconds = (time_t)(f->unix_ns / 1000000000ULL);
	struct losses losses;
	struct tm when;
	char text[64] = "";

	if (f->unix_ns && gmtime_r(&seconds, &when))
		(void)strftime(text, sizeof(text), ", begun on %Y-%m-%d at %H:%M:%S UTC", &when);
	machine_log_add(&r->log, "a recording by %s: %.3f s, %llu events%s",
	                f->producer ? f->producer : "unknown",
	                (double)(r->s->end_ns - r->s->start_ns) / 1e9,
	                (unsigned long long)f->nr_events, text);
	r->has_wakeups = f->kinds[EV_WAKING] || f->kinds[EV_WAKEUP] || f->kinds[EV_WAKEUP_NEW];
	if (f->lost)
		machine_log_add(&r->log,
		                "%llu events lost; time in these gaps is not attributed to any task",
		                (unsigned long long)f->lost);
	if (f->filter)
		machine_log_add(&r->log, "only %s; other CPU time is unknown", f->filter);
	for (size_t i = 0; i < f->nr_ends; i++)
		machine_log_add(&r->log, "CPU %u is unknown from %.3f s on", f->ends[i].cpu,
		                (double)(f->ends[i].ts_ns - r->s->start_ns) / 1e9);
	if (f->incomplete)
		(void)snprintf(r->notice, sizeof(r->notice), "incomplete: %s", f->incomplete);
	for (size_t i = 0; i < f->nr_damage; i++) {
		const struct source_damage *damage = &f->damage[i];
		char of[32] = " times";

		if (damage->of)
			(void)snprintf(of, sizeof(of), " of %llu", (unsigned long long)damage->of);
		machine_log_add(&r->log, "damaged: %s, %llu%s", damage->name,
		                (unsigned long long)damage->count, of);
	}
	source_losses(r->s, &losses);
	for (int i = 0; i < NR_LOSSES; i++)
		if (losses.nr[i])
			machine_log_add(&r->log, "%llu %s", (unsigned long long)losses.nr[i],
			                loss_what((enum loss)i));
	if (!f->kinds[EV_SWITCH])
		(void)snprintf(r->notice, sizeof(r->notice),
		               "this recording has no switches: what ran is unknown");
	else if (!r->has_wakeups)
		(void)snprintf(
			r->notice, sizeof(r->notice),
			"this recording has no wakeups: only waits after preemption are known");
}

/* All that questions by task and CPU will need. */
static int build_indexes(const struct source *s)
{
	static const struct {
		enum timeline_table table;
		bool is_by_task;
	} wanted[] = {
		{ TIMELINE_SLICE, false }, { TIMELINE_SLICE, true }, { TIMELINE_IDLE, false },
		{ TIMELINE_WAIT, true },   { TIMELINE_SLEEP, true }, { TIMELINE_GAP, true },
		{ TIMELINE_RUN, true },    { TIMELINE_DSQ, true },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !err; i++)
		err = timeline_index(s->timeline, wanted[i].table, wanted[i].is_by_task);
	return err;
}

static int open_parts(struct machine_replay *r)
{
	struct replay_tasks_cfg tasks = { .scope = &r->scope,
		                          .processes = &r->processes,
		                          .info = r->cfg.info };
	int err = build_indexes(r->s);

	if (!err)
		err = replay_sums_init(&r->sums, &r->scope, &r->processes);
	if (!err)
		err = replay_past_new(r->s, r->scope.nr_cpus, &r->past);
	if (!err)
		err = replay_scx_new(r->s, &r->scx);
	tasks.scx = r->scx;
	if (!err)
		err = replay_tasks_new(&tasks, &r->tasks);
	if (!err)
		err = replay_zoom_new(r->s, &r->zoom);
	if (!err)
		err = replay_levels_init(&r->mhz, r->s, PAIR_CPU_FREQ_KHZ);
	if (!err)
		err = replay_levels_init(&r->pressure, r->s, PAIR_HW_PRESSURE);
	if (!err)
		err = replay_waits_find(&r->scope, &r->waits, &r->nr_waits);
	r->cpus = calloc(r->scope.nr_cpus ? r->scope.nr_cpus : 1, sizeof(*r->cpus));
	return err || r->cpus ? err : -ENOMEM;
}

int machine_replay_open(const struct machine_replay_cfg *cfg, struct diag *d,
                        struct machine_replay **out)
{
	SCOPED(scoped_machine_replay) struct machine_replay *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->cfg = *cfg;
	r->s = cfg->source;
	r->number = NO_CELL;
	r->args =
		(struct pass_args){ .cpu = PASS_ANY_CPU, .pid = cfg->tgid, .by = PASS_BY_PROCESS };
	err = scope_init(&r->scope, r->s, &r->args, d);
	if (!err)
		err = units_init(&r->processes, &r->scope, d);
	if (err)
		return err;
	if (open_parts(r))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	emit_facts(r);
	*out = TAKE_PTR(r);
	return 0;
}

void machine_replay_close(struct machine_replay *r)
{
	if (!r)
		return;
	replay_levels_done(&r->mhz);
	replay_levels_done(&r->pressure);
	replay_zoom_free(r->zoom);
	replay_tasks_free(r->tasks);
	replay_scx_free(r->scx);
	replay_past_free(r->past);
	replay_sums_done(&r->sums);
	units_done(&r->processes);
	scope_done(&r->scope);
	free(r->waits);
	free(r->cpus);
	free(r);
}

/* Another length of intervals keeps the place: the one that ends there, or the first to end later. */
static void change_interval(struct machine_replay *r, uint64_t interval_ns)
{
	uint64_t position_ns = r->play.position_ns;

	if (!interval_ns)
		interval_ns = USUAL_INTERVAL_NS;
	if (interval_ns < SHORTEST_NS)
		interval_ns = SHORTEST_NS;
	if (interval_ns == r->grid.interval_ns)
		return;
	r->grid = (struct replay_grid){ r->s->start_ns, r->s->end_ns, interval_ns };
	if (r->number == NO_CELL)
		return;
	r->number = (int64_t)replay_grid_find(&r->grid, position_ns);
	r->needs = 0;
}

/* Before the first refresh the position is before the first cell. */
static void go(struct machine_replay *r, int64_t steps)
{
	int64_t last = (int64_t)(replay_grid_nr(&r->grid) - 1), from = r->number, to;

	if (from == NO_CELL)
		from = -1;
	if (__builtin_add_overflow(from, steps, &to))
		to = steps < 0 ? 0 : last;
	if (to < 0)
		to = 0;
	if (to > last)
		to = last;
	if (to != r->number)
		r->needs = 0;
	r->number = to;
}

static int32_t core_of(const struct machine_replay *r, uint32_t cpu)
{
	const struct trace_info *info = r->cfg.info;

	for (size_t i = 0; info && info->has_topology && i < info->nr_cpus; i++)
		if (info->cpus[i].cpu == cpu)
			return info->cpus[i].core;
	return -1;
}

static void show_cpu(struct machine_replay *r, const struct replay_cell *c, uint32_t cpu)
{
	const struct replay_cpu_sum *sum = &r->sums.cpus[cpu];
	uint64_t known_ns = sum->busy_ns + sum->idle_ns, moment = replay_cell_moment(c);
	struct machine_cpu_interval shown = sum->sums;
	struct pair_cpu seen;

	r->cpus[cpu] = (struct machine_cpu){
		.cpu = cpu,
		.core = core_of(r, cpu),
		.llc = source_llc(r->s, cpu),
		.node = source_node(r->s, cpu),
		.is_online = pair_cpu_at(r->s->pair, cpu, &seen),
		.busy = known_ns ? (double)sum->busy_ns / (double)known_ns : NAN,
		.user = NAN,
		.system = NAN,
		.irq = NAN,
		.iowait = NAN,
		.steal = NAN,
		.mhz = replay_levels_at(&r->mhz, cpu, moment) / 1000,
		.hw_pressure = replay_levels_at(&r->pressure, cpu, moment),
		.wait = replay_sums_cpu_dist(&r->sums, cpu),
		.busy_history = replay_past_busy(r->past, cpu),
		.waiting = NAN,
		.waiting_history = replay_past_waiting(r->past, cpu),
		.tid = sum->is_idle ? 0 : -1,
		.event_per_s = NAN,
		.uncore_mhz = NAN,
	};
	if (r->cpus[cpu].waiting_history.nr)
		r->cpus[cpu].waiting =
			r->cpus[cpu].waiting_history.values[r->cpus[cpu].waiting_history.nr - 1];
	shown.lacks_wakeups = !r->has_wakeups;
	machine_cpu_interval_show(&shown, known_ns ? replay_cell_seconds(c) : 0, &r->cpus[cpu]);
	if (sum->task != TASKS_NONE) {
		r->cpus[cpu].tid = source_tid(r->s, sum->task);
		r->cpus[cpu].comm = tasks_string(r->s->tasks,
		                                 tasks_comm_at(r->s->tasks, sum->task, moment));
	}
}

/* Only the shown thread, and the process of that number, have a history. */
static struct machine_task *show_runs(struct machine_replay *r, uint32_t tid, bool is_shown,
                                      uint32_t *task)
{
	const uint32_t *members;
	size_t nr;
	struct machine_task *thread = replay_tasks_thread(r->tasks, tid, task);
	struct machine_task *process = replay_tasks_process(r->tasks, tid, &members, &nr);
	const struct machine_history none = { 0 };

	if (thread)
		thread->run_history = is_shown ? replay_past_run(r->past, 0, task, 1) : none;
	if (process)
		process->run_history = is_shown ? replay_past_run(r->past, 1, members, nr) : none;
	return thread;
}

static int show_zoom(struct machine_replay *r, const struct replay_cell *c, uint32_t tid)
{
	struct machine_task *row = NULL;
	uint32_t task;

	if (r->zoomed && r->zoomed != tid)
		(void)show_runs(r, r->zoomed, false, &task);
	r->zoomed = tid;
	r->machine.zoom = NULL;
	if (tid)
		row = show_runs(r, tid, true, &task);
	return row ? replay_zoom_refresh(r->zoom, c, task, row, &r->machine.zoom) : 0;
}

static int show_queues(struct machine_replay *r, const struct replay_cell *c, uint32_t needs)
{
	r->machine.nr_dsqs = 0;
	if (!(needs & MACHINE_DSQS))
		return 0;
	return replay_scx_queues(r->scx, c, &r->machine.dsqs, &r->machine.nr_dsqs);
}

static int show_cell(struct machine_replay *r, const struct replay_cell *c, uint32_t needs)
{
	struct machine *m = &r->machine;
	int err = replay_sums_collect(&r->sums, c);

	if (!err)
		err = show_queues(r, c, needs);
	m->nr_threads = m->nr_processes = 0;
	if (!err && needs & MACHINE_TASKS) {
		err = replay_tasks_refresh(r->tasks, c, &r->sums);
		m->threads = replay_tasks_threads(r->tasks, &m->nr_threads);
		m->processes = replay_tasks_processes(r->tasks, &m->nr_processes);
	}
	if (err)
		return err;
	m->wait = replay_sums_dist(&r->sums.waits);
	m->interval_s = replay_cell_seconds(c);
	m->boot_ns = c->to_ns;
	m->scx_state = replay_scx_state(r->scx, replay_cell_moment(c), &m->scheduler);
	return 0;
}

static void show_past(struct machine_replay *r, const struct replay_cell *c)
{
	replay_past_refresh(r->past, &r->grid, (uint64_t)r->number);
	for (uint32_t i = 0; i < r->scope.nr_cpus; i++)
		show_cpu(r, c, i);
	r->machine.cpus = r->cpus;
	r->machine.nr_cpus = r->scope.nr_cpus;
	r->machine.heat = replay_past_heat(r->past);
}

static void show_play(struct machine_replay *r, const struct replay_cell *c,
                      const struct machine_play_request *request)
{
	const struct source_facts *f = r->s->facts;

	r->play = (struct machine_play){
		.name = f->name,
		.start_ns = r->s->start_ns,
		.end_ns = r->s->end_ns,
		.position_ns = c->to_ns,
		.interval_ns = r->grid.interval_ns,
		.unix_ns = f->unix_ns ? f->unix_ns + (c->to_ns - r->s->start_ns) : 0,
		.speed = request->speed,
		.is_paused = request->is_paused,
		.waits = r->waits,
		.nr_waits = r->nr_waits,
		.absent = MACHINE_MEMORY | MACHINE_NET | MACHINE_BPF | MACHINE_EVENT |
		          MACHINE_UNCORE | MACHINE_POWER | MACHINE_BANDWIDTH | MACHINE_PROFILE |
		          MACHINE_GAME,
	};
	r->machine.play = &r->play;
}

static void show_facts(struct machine_replay *r, uint32_t needs)
{
	struct machine *m = &r->machine;

	m->host = r->cfg.info ? known(r->cfg.info->machine_name) : NULL;
	m->release = r->s->facts->release;
	m->source = "trace";
	m->notice = r->notice[0] ? r->notice : NULL;
	m->no_uncore = needs & MACHINE_UNCORE ? "a recording has no uncore frequencies" : NULL;
	m->no_pressure = needs & MACHINE_PRESSURE && !r->pressure.nr
	                         ? "this recording has no hardware pressure"
	                         : NULL;
	m->lost = r->s->facts->lost;
	m->own_cpu = NAN;
	for (int i = 0; i < 3; i++)
		m->load[i] = NAN;
	m->memory = (struct machine_memory){ .minor_faults_per_s = NAN,
		                             .major_faults_per_s = NAN,
		                             .swap_in_per_s = NAN,
		                             .swap_out_per_s = NAN,
		                             .cpu_some = NAN,
		                             .memory_some = NAN,
		                             .memory_full = NAN,
		                             .io_some = NAN,
		                             .io_full = NAN };
	m->log = r->log.lines;
	m->nr_log = r->log.nr;
}

int machine_replay_refresh(struct machine_replay *r, const struct machine_request *request,
                           struct diag *d, const struct machine **out)
{
	uint32_t needs = request->needs | MACHINE_CPUS;
	uint32_t tid = needs & MACHINE_TASKS ? request->tid : 0;
	struct replay_cell c;
	bool is_new;
	int err = 0;

	change_interval(r, request->play.interval_ns);
	go(r, request->play.steps);
	c = replay_grid_cell(&r->grid, (uint64_t)r->number);
	is_new = needs & ~r->needs;
	if (is_new)
		err = show_cell(r, &c, needs);
	if (err) {
		r->needs = 0;
		return diag_set(d, err, NULL, "out of memory");
	}
	if (is_new || !replay_past_is_whole(r->past))
		show_past(r, &c);
	if (is_new)
		r->needs = needs;
	if (is_new || tid != r->zoomed)
		err = show_zoom(r, &c, tid);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show_facts(r, needs);
	show_play(r, &c, &request->play);
	*out = &r->machine;
	return 0;
}
