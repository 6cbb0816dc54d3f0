#include "session/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_fields.h"
#include "base/cleanup.h"
#include "model/allowed.h"
#include "model/event_log.h"
#include "model/pair.h"
#include "model/task_lives.h"
#include "session/recording_stacks.h"
#include "session/sink_thread.h"
#include "trace/reader.h"

#define CLOCK_BOOT      6
#define CLOCK_MONOTONIC 3

struct recording {
	char *name;
	struct tasks *tasks;
	struct pair *pair;
	struct timeline *timeline;
	struct event_log *log;
	struct allowed *affinity;
	struct task_lives *lives;
	struct trace_info *info;
	struct live_place *places;
	struct source_count *events, *categories, *damage;
	struct source_symbol *symbols;
	struct recording_stacks *stacks; /* NULL = none */
	struct source_facts facts;
	struct source source;
	struct ev_sink pair_thread, log_sink, allowed_sink;
	const struct recording_cfg *cfg; /* while it loads */
	bool is_unwanted;                /* it was told so meanwhile */
};

void recording_close(struct recording *r)
{
	if (!r)
		return;
	task_lives_free(r->lives);
	allowed_free(r->affinity);
	event_log_free(r->log);
	timeline_free(r->timeline);
	pair_free(r->pair);
	tasks_free(r->tasks);
	recording_stacks_free(r->stacks);
	trace_info_free(r->info);
	free(r->places);
	free(r->events);
	free(r->categories);
	free(r->damage);
	free(r->symbols);
	free(r->name);
	free(r);
}

void scoped_recording(struct recording *const *r)
{
	recording_close(*r);
}

/* On the thread that reads: what is quick. The machine that pairs works on another. */
static int push(void *ctx, const struct ev_hdr *rec)
{
	struct recording *r = ctx;
	int err;

	if (r->is_unwanted)
		return -ECANCELED;
	r->facts.kinds[rec->kind]++;
	if (rec->kind == EV_LOST)
		r->facts.lost += ((const struct ev_lost *)(const void *)rec)->count;
	if (rec->kind == EV_AFFINITY && (err = r->allowed_sink.push(r->allowed_sink.ctx, rec)))
		return err;
	err = r->log_sink.push(r->log_sink.ctx, rec);
	return err ? err : r->pair_thread.push(r->pair_thread.ctx, rec);
}

/* The time before the first record belongs to the recording too, and nothing is known of it. */
static int advance(void *ctx, __u64 ts_ns)
{
	struct recording *r = ctx;

	return r->pair_thread.advance(r->pair_thread.ctx, ts_ns);
}

/* On the thread that reads, as push() is. */
static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct recording *r = ctx;

	if (!r->is_unwanted && !r->cfg->progress(r->cfg->progress_ctx, done, total))
		r->is_unwanted = true;
}

static int make_tables(struct recording *r)
{
	struct tasks_cfg tasks = { .max_tasks = TASKS_MAX, .keep_dead_ns = UINT64_MAX };
	struct timeline_cfg columns = { .cap_bytes = SIZE_MAX };
	struct event_log_cfg log = { 0 };
	struct pair_cfg pair;
	struct pair_out out;
	int err = tasks_new(&tasks, &r->tasks);

	if (err)
		return err;
	pair = (struct pair_cfg){ .tasks = r->tasks };
	err = pair_new(&pair, &r->pair);
	if (!err)
		err = timeline_new(&columns, &r->timeline);
	if (!err)
		err = event_log_new(&log, &r->log);
	if (!err)
		err = allowed_new(0, &r->affinity);
	if (err)
		return err;
	out = timeline_out(r->timeline);
	r->log_sink = event_log_sink(r->log);
	r->allowed_sink = allowed_sink(r->affinity);
	return pair_add_out(r->pair, &out);
}

static struct source_count *copy_counts(const struct trace_count *from, size_t nr)
{
	struct source_count *to = calloc(nr ? nr : 1, sizeof(*to));

	for (size_t i = 0; to && i < nr; i++)
		to[i] = (struct source_count){ from[i].name, from[i].count };
	return to;
}

static int copy_symbols(struct recording *r)
{
	const struct trace_info *info = r->info;

	r->symbols = calloc(info->nr_symbols ? info->nr_symbols : 1, sizeof(*r->symbols));
	if (!r->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_symbols; i++)
		r->symbols[i] = (struct source_symbol){ info->symbols[i].value,
			                                info->symbols[i].name };
	r->facts.symbols = r->symbols;
	r->facts.nr_symbols = info->nr_symbols;
	return 0;
}

/* Where the CPUs sit, if the file tells. */
static int place_cpus(struct recording *r)
{
	const struct trace_info *info = r->info;
	uint32_t nr = 0;

	for (size_t i = 0; i < info->nr_cpus; i++)
		if (info->cpus[i].cpu >= nr && info->cpus[i].cpu < PAIR_MAX_CPUS)
			nr = info->cpus[i].cpu + 1;
	if (!info->has_topology || !nr)
		return 0;
	r->places = calloc(nr, sizeof(*r->places));
	if (!r->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		r->places[i] = (struct live_place){ .llc = -1, .node = -1 };
	for (size_t i = 0; i < info->nr_cpus; i++)
		if (info->cpus[i].cpu < nr)
			r->places[info->cpus[i].cpu] = (struct live_place){
				.llc = info->cpus[i].llc, .node = info->cpus[i].node
			};
	r->facts.places = r->places;
	r->facts.nr_places = nr;
	return 0;
}

static const char *clock_name(const struct trace_info *info)
{
	if (info->clock == CLOCK_BOOT)
		return "boottime";
	return info->clock == CLOCK_MONOTONIC ? "monotonic" : "of the file";
}

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static int fill_facts(struct recording *r)
{
	const struct trace_info *info = r->info;
	struct source_facts *f = &r->facts;

	f->name = r->name;
	f->producer = known(info->producer_name) ? info->producer_name : "unknown";
	f->clock = clock_name(info);
	f->unix_ns = info->has_wall_clock ? info->start_real_ns : 0;
	f->release = known(info->release);
	f->machine = known(info->machine);
	f->scheduler = known(info->scheduler);
	f->has_scx = f->kinds[EV_SCX_RUN] || f->kinds[EV_DSQ_LEAVE] || f->kinds[EV_DSQ_DEPTH] ||
	             f->scheduler;
	f->bytes = info->nr_bytes;
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		f->nr_events += event_type_name(kind) ? f->kinds[kind] : 0;
	for (size_t i = 0; i < info->nr_cpus; i++)
		f->nr_cpus += info->cpus[i].nr_events > 0;
	if (!f->nr_cpus)
		f->nr_cpus = info->nr_cpus_told;
	r->events = copy_counts(info->events, info->nr_events);
	r->categories = copy_counts(info->categories, info->nr_categories);
	r->damage = copy_counts(info->damage, info->nr_damage);
	if (!r->events || !r->categories || !r->damage)
		return -ENOMEM;
	f->events = r->events;
	f->nr_events_names = info->nr_events;
	f->categories = r->categories;
	f->nr_categories = info->nr_categories;
	f->damage = r->damage;
	f->nr_damage = info->nr_damage;
	f->pmu_names = info->pmu_names;
	f->nr_pmu_names = info->nr_pmu_names;
	return copy_symbols(r) ? -ENOMEM : place_cpus(r);
}

static int finish(struct recording *r)
{
	uint64_t end = r->info->has_time ? r->info->end_ns : 0;
	int err;

	if (end < pair_now_ns(r->pair))
		end = pair_now_ns(r->pair);
	pair_finish(r->pair, end);
	err = fill_facts(r);
	if (!err)
		err = task_lives_new(r->tasks, &r->lives);
	if (!err)
		err = recording_stacks_new(r->info, &r->stacks);
	r->facts.kinds[EV_SAMPLE] = r->info->nr_samples; /* which are no records of the stream */
	r->source = (struct source){
		.timeline = r->timeline,
		.tasks = r->tasks,
		.pair = r->pair,
		.log = r->log,
		.lives = r->lives,
		.affinity = r->facts.kinds[EV_AFFINITY] ? r->affinity : NULL,
		.facts = &r->facts,
		.stacks = recording_stacks_get(r->stacks),
		.start_ns = end - pair_span_ns(r->pair),
		.end_ns = end,
	};
	return err;
}

/* The file is decoded and put in order on this thread, and paired into tables on another. */
static int load(struct recording *r, const char *path, const struct trace_read_cfg *cfg,
                struct diag *d)
{
	struct ev_sink sink = { .push = push, .advance = advance, .ctx = r },
		       pairing_sink = pair_sink(r->pair);
	struct sink_thread *thread;
	int err, pairing;

	if (cfg->progress) /* whoever gave up before it began */
		cfg->progress(cfg->progress_ctx, 0, 0);
	if (r->is_unwanted)
		return diag_set(d, -ECANCELED, NULL, "loading '%s' was given up", path);
	err = sink_thread_open(&pairing_sink, &thread);
	if (err)
		return diag_set(d, err, NULL, "cannot start a thread");
	r->pair_thread = sink_thread_sink(thread);
	err = trace_read_file(path, cfg, &sink, d, &r->info);
	pairing = sink_thread_finish(thread);
	if (r->is_unwanted)
		return diag_set(d, -ECANCELED, NULL, "loading '%s' was given up", path);
	if (!err && pairing)
		err = diag_set(d, pairing, NULL, "cannot keep the events of '%s'", path);
	return err;
}

int recording_open(const char *path, const struct recording_cfg *cfg, struct diag *d,
                   struct recording **out)
{
	SCOPED(scoped_recording) struct recording *r = calloc(1, sizeof(*r));
	struct trace_read_cfg read = {
		.nr_workers = cfg->nr_workers,
		.progress = cfg->progress ? on_progress : NULL,
		.progress_ctx = r,
	};
	const char *name = cfg->name ? cfg->name : strcmp(path, "-") == 0 ? "standard input" : path;
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->cfg = cfg;
	r->name = strdup(name);
	err = r->name ? make_tables(r) : -ENOMEM;
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = load(r, path, &read, d);
	if (err)
		return err;
	r->cfg = NULL;
	err = finish(r);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	*out = TAKE_PTR(r);
	return 0;
}

const struct source *recording_source(const struct recording *r)
{
	return &r->source;
}

const struct trace_info *recording_info(const struct recording *r)
{
	return r->info;
}

size_t recording_bytes(const struct recording *r)
{
	return timeline_bytes(r->timeline) + event_log_bytes(r->log);
}
