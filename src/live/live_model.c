#include "live/live_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/event_log.h"
#include "model/event_notes.h"
#include "model/event_rates.h"
#include "model/history.h"
#include "model/pair.h"
#include "model/tasks.h"
#include "model/timeline.h"
#include "sys/topology.h"

/* What totals are made of. */
#define STATS_TABLES                                                                            \
	(TIMELINE_BIT(SLICE) | TIMELINE_BIT(IDLE) | TIMELINE_BIT(WAIT) | TIMELINE_BIT(WAKEUP) | \
	 TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(COUNTER) | TIMELINE_BIT(RUN))

static struct live_place *places_of(const struct topology *topology, uint32_t nr_cpus)
{
	struct live_place *places = calloc(nr_cpus, sizeof(*places));

	for (uint32_t cpu = 0; places && cpu < nr_cpus; cpu++) {
		const struct topology_cpu *at = topology_cpu(topology, cpu);

		places[cpu] = at ? (struct live_place){ at->llc, at->node, at->core,
			                                at->is_isolated }
		                 : (struct live_place){ .llc = -1, .node = -1, .core = -1 };
	}
	return places;
}

/* An index is given to another task: the history must not go on under it. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct live_model *m = ctx;
	struct pair_out out;

	if (!m->history)
		return;
	out = history_out(m->history);
	out.task_begin(out.ctx, task, ts_ns);
}

static int make_parts(struct live_model *m)
{
	/* Rows hold tasks for as long as the window. */
	struct tasks_cfg tasks = { .keep_dead_ns = 2 * m->window_ns };
	struct timeline_cfg timeline = { .cap_bytes = LIVE_BYTES / 2,
		                         .window_ns = m->window_ns,
		                         .budget = &m->budget };
	struct event_log_cfg log = { .cap_bytes = LIVE_LOG_BYTES,
		                     .window_ns = m->window_ns,
		                     .max_records = LIVE_LOG_RECORDS,
		                     .keeps_whole = true };
	struct pair_out outs[2] = { { .ctx = m, .task_begin = on_task_begin } };
	int err = tasks_new(&tasks, &m->tasks);

	if (!err)
		err = pair_new(&(struct pair_cfg){ .tasks = m->tasks, .nr_cpus = m->nr_cpus },
		               &m->pair);
	if (!err)
		err = timeline_new(&timeline, &m->timeline);
	if (!err)
		err = event_log_new(&log, &m->log);
	if (!err)
		err = event_notes_new(m->tasks, m->log, &m->notes);
	if (err)
		return err;
	timeline_want(m->timeline, 0);
	outs[1] = timeline_out(m->timeline);
	for (int i = 0; !err && i < 2; i++)
		err = pair_add_out(m->pair, &outs[i]);
	return err ? err : live_triggers_init(&m->triggers, m->tasks, m->pair);
}

int live_model_init(struct live_model *m, const struct topology *topology, uint64_t window_ns,
                    struct diag *d)
{
	int err;

	*m = (struct live_model){ .nr_cpus = topology_counts(topology)->nr_cpu_ids,
		                  .window_ns = window_ns };
	budget_init(&m->budget, LIVE_BYTES);
	m->places = places_of(topology, m->nr_cpus);
	err = m->places ? make_parts(m) : -ENOMEM;
	if (!err)
		return 0;
	live_model_done(m);
	return diag_set(d, err, NULL, "cannot prepare for live data: %s", strerror(-err));
}

void live_model_done(struct live_model *m)
{
	for (uint32_t i = 0; i < ANALYZERS; i++)
		live_shot_put(m->observers[i].kept);
	live_events_done(&m->kept);
	live_triggers_done(&m->triggers);
	event_notes_free(m->notes);
	event_log_free(m->log);
	history_free(m->history);
	event_rates_free(m->rates);
	timeline_free(m->timeline);
	pair_free(m->pair);
	tasks_free(m->tasks);
	free(m->places);
	*m = (struct live_model){ 0 };
}

static bool runs(const struct live_model *m, enum analyzer_id id)
{
	return m->observers[id].is_running;
}

static void count(struct live_model *m, const struct ev_hdr *rec)
{
	const struct ev_lost *lost = (const struct ev_lost *)rec;

	if (rec->kind >= EV_KIND_MAX)
		return;
	m->seen[rec->kind]++;
	if (rec->kind == EV_LOST && lost->kind < EV_KIND_MAX) {
		m->lost[lost->kind] += lost->count;
		live_triggers_lost(&m->triggers, lost);
	}
}

static void feed(struct ev_sink sink, const struct ev_hdr *rec)
{
	(void)!sink.push(sink.ctx, rec); /* none of them can fail */
}

static void log_record(struct live_model *m, const struct ev_hdr *rec)
{
	bool is_needed = m->is_streaming || runs(m, ANALYZER_EVENT_BUFFER);

	if (is_needed && !m->is_logging)
		event_notes_resume(m->notes); /* records before this one are missing */
	m->is_logging = is_needed;
	if (is_needed)
		feed(event_notes_sink(m->notes), rec);
}

/* The state machine first: the others ask it who the tasks of a record are. */
static int push(void *ctx, const struct ev_hdr *rec)
{
	struct live_model *m = ctx;
	struct ev_sink pair = pair_sink(m->pair);
	int err = pair.push(pair.ctx, rec);

	if (err)
		return err;
	/* What describes tasks is no event. */
	if (rec->kind == EV_CGROUP || rec->kind == EV_CGROUP_INFO)
		return 0;
	count(m, rec);
	log_record(m, rec);
	if (runs(m, ANALYZER_PROCESS_HISTORY))
		feed(history_sink(m->history), rec);
	if (runs(m, ANALYZER_RATE_MONITOR))
		feed(event_rates_sink(m->rates), rec);
	return 0;
}

/* What stopped analyzers keep may not take more than its half: the oldest goes. */
static void release_kept(struct live_model *m)
{
	while (m->budget.used_bytes > timeline_bytes(m->timeline) + LIVE_BYTES / 2) {
		struct observer *oldest = NULL;

		for (uint32_t i = 0; i < ANALYZERS; i++) {
			struct observer *o = &m->observers[i];

			if (o->kept && (!oldest || o->until_ns < oldest->until_ns))
				oldest = o;
		}
		if (!oldest)
			return; /* shots that are being read: they go by themselves */
		live_shot_put(oldest->kept);
		oldest->kept = NULL;
		oldest->has_data = false;
		oldest->is_released = true;
	}
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct live_model *m = ctx;
	struct ev_sink pair = pair_sink(m->pair), rates;
	int err = pair.advance(pair.ctx, ts_ns);

	if (err)
		return err;
	timeline_advance(m->timeline, ts_ns);
	event_log_advance(m->log, ts_ns);
	live_triggers_advance(&m->triggers, ts_ns);
	release_kept(m);
	if (!runs(m, ANALYZER_RATE_MONITOR))
		return 0;
	rates = event_rates_sink(m->rates);
	return rates.advance(rates.ctx, ts_ns);
}

struct ev_sink live_model_sink(struct live_model *m)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = m };
}

struct live_events live_model_events(const struct live_model *m, bool is_of_buffer)
{
	struct pair_breaks breaks;

	if (is_of_buffer && !runs(m, ANALYZER_EVENT_BUFFER))
		return m->kept;
	pair_breaks(m->pair, &breaks);
	return (struct live_events){ .log = m->log,
		                     .tasks = m->tasks,
		                     .base = is_of_buffer ? m->buffer_base : 0,
		                     .sampling = pair_sampling(m->pair),
		                     .lost = breaks.lost_records };
}

uint32_t live_model_running(const struct live_model *m)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < ANALYZERS; i++)
		set |= (uint32_t)m->observers[i].is_running << i;
	return set;
}

static void want_tables(struct live_model *m)
{
	timeline_want(m->timeline, analyzers_tables(live_model_running(m) |
	                                            (m->why_since_ns ? ANALYZERS_OF_WHY : 0)) |
	                                   (m->stats_since_ns ? STATS_TABLES : 0));
}

void live_model_count(struct live_model *m, uint64_t ts_ns)
{
	m->stats_since_ns = ts_ns;
	want_tables(m);
}

void live_model_explain(struct live_model *m, uint64_t ts_ns)
{
	m->why_since_ns = ts_ns;
	want_tables(m);
}

uint64_t live_model_sum(const uint64_t *counts, enum analyzer_id i)
{
	uint64_t sum = 0;

	for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++)
		if (live_analyzers[i].kinds & EV_BIT(kind))
			sum += counts[kind];
	return sum;
}

/* The state of those that have one; the memory stays for the next start. */
static int own_state(struct live_model *m, enum analyzer_id id)
{
	struct history_cfg history = { .tasks = m->tasks };

	if (id == ANALYZER_PROCESS_HISTORY && !m->history)
		return history_new(&history, &m->history);
	if (id == ANALYZER_RATE_MONITOR && !m->rates)
		return event_rates_new(&m->rates);
	return 0;
}

static void clear_state(struct live_model *m, enum analyzer_id id, uint64_t ts_ns)
{
	if (id == ANALYZER_EVENT_BUFFER) {
		live_events_done(&m->kept);
		m->buffer_base = event_log_end(m->log) - 1;
	}
	if (id == ANALYZER_PROCESS_HISTORY && m->history)
		history_reset(m->history);
	if (id == ANALYZER_RATE_MONITOR && m->rates) {
		event_rates_reset(m->rates);
		event_rates_resume(m->rates, ts_ns);
	}
}

static void begin(struct live_model *m, uint32_t i, uint64_t ts_ns)
{
	struct observer *o = &m->observers[i];

	live_shot_put(o->kept);
	clear_state(m, (enum analyzer_id)i, ts_ns);
	*o = (struct observer){
		.is_running = o->is_running,
		.was_started = o->was_started,
		.has_data = o->is_running,
		.since_ns = ts_ns,
		.until_ns = ts_ns,
		.records = o->is_running ? live_model_sum(m->seen, (enum analyzer_id)i) : 0,
		.lost = o->is_running ? live_model_sum(m->lost, (enum analyzer_id)i) : 0
	};
}

int live_model_start(struct live_model *m, uint32_t set, uint64_t ts_ns, struct diag *d)
{
	int err = 0, failed;

	for (uint32_t i = 0; i < ANALYZERS; i++) {
		if (!(set & 1U << i) || m->observers[i].is_running)
			continue;
		failed = own_state(m, (enum analyzer_id)i);
		if (failed) {
			err = diag_set(d, failed, "start fewer of them", "cannot start %s",
			               live_analyzers[i].name);
			continue;
		}
		m->observers[i].is_running = m->observers[i].was_started = true;
		begin(m, i, ts_ns);
	}
	want_tables(m);
	return err;
}

void live_model_stop(struct live_model *m, uint32_t set)
{
	struct live_events events = live_model_events(m, true);
	struct live_shot *shot = NULL;
	bool has_kept = true;

	set &= live_model_running(m);
	if (set & 1U << ANALYZER_EVENT_BUFFER)
		has_kept = !live_events_copy(&events, &m->kept);
	/* Without memory what was found is lost, as is said then. */
	if (analyzers_tables(set) && live_shot_new(m, false, &shot))
		shot = NULL;
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		struct observer *o = &m->observers[i];

		if (!(set & 1U << i))
			continue;
		o->is_running = false;
		o->until_ns = pair_now_ns(m->pair);
		o->records = live_model_sum(m->seen, (enum analyzer_id)i) - o->records;
		o->lost = live_model_sum(m->lost, (enum analyzer_id)i) - o->lost;
		o->kept = live_analyzers[i].pass ? live_shot_get(shot) : NULL;
		o->is_released = (live_analyzers[i].pass && !shot) ||
		                 (i == ANALYZER_EVENT_BUFFER && !has_kept);
		o->has_data = !o->is_released;
	}
	live_shot_put(shot);
	want_tables(m);
}

void live_model_reset(struct live_model *m, uint32_t set, uint64_t ts_ns)
{
	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (set & 1U << i)
			begin(m, i, ts_ns);
}

/* Those that have left the window make room, or else the oldest one. */
static void open_hole(struct live_model *m, uint64_t ts_ns)
{
	uint32_t nr_old = 0;

	while (nr_old < m->nr_holes && m->holes[nr_old].to_ns < ts_ns &&
	       ts_ns - m->holes[nr_old].to_ns > m->window_ns)
		nr_old++;
	if (!nr_old && m->nr_holes == LIVE_HOLES_MAX)
		nr_old = 1;
	m->nr_holes -= nr_old;
	memmove(m->holes, m->holes + nr_old, m->nr_holes * sizeof(m->holes[0]));
	m->holes[m->nr_holes++] = (struct source_hole){ ts_ns, UINT64_MAX };
}

/* As if records of every kind had been lost, none of them counted. */
void live_model_pause(struct live_model *m, uint64_t ts_ns)
{
	static const uint32_t kinds[] = { EV_SWITCH, EV_WAKING, EV_SOFTIRQ_EXIT, EV_IRQ_EXIT,
		                          EV_IPI_EXIT };
	struct ev_sink pair = pair_sink(m->pair);

	for (uint32_t cpu = 0; cpu < m->nr_cpus; cpu++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct ev_lost rec = {
				.hdr = { sizeof(rec), EV_LOST, 0, cpu, ts_ns },
				.kind = kinds[i],
			};

			(void)!pair.push(pair.ctx, &rec.hdr);
		}
	m->kinds = 0;
	open_hole(m, ts_ns);
	event_notes_resume(m->notes);
}

void live_model_resume(struct live_model *m, uint64_t kinds, uint64_t ts_ns)
{
	m->kinds = kinds;
	if (m->nr_holes && m->holes[m->nr_holes - 1].to_ns == UINT64_MAX)
		m->holes[m->nr_holes - 1].to_ns = ts_ns;
	if (runs(m, ANALYZER_RATE_MONITOR))
		event_rates_resume(m->rates, ts_ns); /* the second with the hole does not count */
}

void live_model_task(struct live_model *m, const struct proc_task *task, uint64_t ts_ns)
{
	struct ev_sink pair = pair_sink(m->pair);
	struct ev_task_info rec = {
		.hdr = { sizeof(rec), EV_TASK_INFO, 0, 0, ts_ns },
		.tid = task->tid,
		.tgid = task->tgid,
		.ppid = task->ppid,
		.flags = task->is_kthread ? EV_TASK_KTHREAD : 0,
		.start_ns = task->start_ns,
	};

	memcpy(rec.comm, task->comm, sizeof(rec.comm));
	(void)!pair.push(pair.ctx, &rec.hdr);
}

void live_model_end_missing(struct live_model *m, bool (*is_there)(void *ctx, uint32_t tid),
                            void *ctx, uint64_t ts_ns)
{
	struct ev_sink pair = pair_sink(m->pair);

	for (uint32_t i = 0; i < tasks_nr(m->tasks); i++) {
		const struct task *t = tasks_at(m->tasks, i);
		struct ev_free rec = { .hdr = { sizeof(rec), EV_FREE, 0, 0, ts_ns } };

		if (!t || !t->is_found || is_there(ctx, t->tid))
			continue;
		rec.tid = t->tid;
		(void)!pair.push(pair.ctx, &rec.hdr);
	}
}
