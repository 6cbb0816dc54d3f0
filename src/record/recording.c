#include "record/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "model/allowed.h"
#include "model/event_log.h"
#include "model/pair.h"
#include "model/task_lives.h"
#include "query/event_fields.h"
#include "record/labels.h"
#include "record/recording_stacks.h"
#include "record/sink_thread.h"
#include "sys/proc/memory_left.h"
#include "trace/reader.h"

#define CLOCK_BOOT      6
#define CLOCK_MONOTONIC 3
#define PROBES_MAX      65536U
#define SPARE           8 /* one part of so many of the free memory is left to others */

#define CACHE_LINE    64
#define METER_RECORDS 1024U /* between two checks of the size of a table */

/* What a table took from the budget. Each belongs to one thread. */
struct meter {
	uint32_t nr_records; /* since the last check */
	uint64_t held_bytes;
};

/* What the thread that pairs uses for each record: on cache lines of its own, or each thread waits for the other. */
struct pairing {
	_Alignas(CACHE_LINE) struct ev_sink sink;
	struct meter meter;
	struct timeline *timeline;
	struct budget *budget;
};

struct recording {
	char *name;
	struct tasks *tasks;
	struct pair *pair;
	struct timeline *timeline;
	struct event_log *log;
	struct allowed *affinity;
	struct task_lives *lives;
	struct trace_info *info;
	struct frame_namer namer;
	struct live_place *places;
	struct source_count *events, *categories;
	struct source_damage *damage;
	struct source_symbol *symbols;
	struct source_symbol *probes;
	size_t nr_probes, cap_probes;
	struct source_count *lost_by;
	struct source_label *labels;
	struct source_end *ends;
	struct recording_stacks *stacks; /* NULL = none */
	struct source_facts facts;
	struct source source;
	struct ev_sink pair_thread, log_sink, allowed_sink;
	struct budget budget; /* of loading: the reader, the log and the timeline count in it */
	struct meter log_meter;
	const struct recording_cfg *cfg; /* while it loads */
	bool is_unwanted;                /* it was cancelled meanwhile */
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
	for (size_t i = 0; i < r->nr_probes; i++)
		free((char *)(uintptr_t)r->probes[i].name);
	free(r->probes);
	free(r->lost_by);
	free(r->labels);
	free(r->ends);
	free(r->name);
	free(r);
}

static bool is_due(struct meter *m)
{
	return m->nr_records++ % METER_RECORDS == 0;
}

/* Names of probes, few and once each; the last one of a number counts. */
static int add_probe(struct recording *r, const struct ev_probe_info *rec)
{
	const char *name = (const char *)(rec + 1);
	char *copy;

	if (r->nr_probes == PROBES_MAX)
		return 0;
	if (GROW(r->probes, r->cap_probes, r->nr_probes))
		return -ENOMEM;
	copy = strndup(name, rec->hdr.size - sizeof(*rec));
	if (!copy)
		return -ENOMEM;
	r->probes[r->nr_probes++] = (struct source_symbol){ rec->probe, copy };
	return 0;
}

/* On the thread that reads: what is quick. The machine that pairs works on another. */
static int push(void *ctx, const struct ev_hdr *rec)
{
	struct recording *r = ctx;
	int err;

	if (r->is_unwanted)
		return -ECANCELED;
	if (rec->kind == EV_LOST &&
	    rec->flags & EV_FLAG_LAST) /* the end of a CPU is not an event */
		return r->pair_thread.push(r->pair_thread.ctx, rec);
	r->facts.kinds[rec->kind]++;
	if (rec->kind == EV_PROBE_INFO && (err = add_probe(r, (const void *)rec)))
		return err;
	if (rec->kind == EV_LOST)
		r->facts.lost += ((const struct ev_lost *)(const void *)rec)->count;
	if (rec->kind == EV_AFFINITY && (err = r->allowed_sink.push(r->allowed_sink.ctx, rec)))
		return err;
	err = r->log_sink.push(r->log_sink.ctx, rec);
	if (!err && is_due(&r->log_meter) &&
	    !budget_hold(&r->budget, &r->log_meter.held_bytes, event_log_bytes(r->log)))
		err = -E2BIG;
	return err ? err : r->pair_thread.push(r->pair_thread.ctx, rec);
}

/* On the other thread. */
static int push_pair(void *ctx, const struct ev_hdr *rec)
{
	struct pairing *p = ctx;

	if (is_due(&p->meter) &&
	    !budget_hold(p->budget, &p->meter.held_bytes, timeline_bytes(p->timeline)))
		return -E2BIG;
	return p->sink.push(p->sink.ctx, rec);
}

static int advance_pair(void *ctx, __u64 ts_ns)
{
	struct pairing *p = ctx;

	return p->sink.advance(p->sink.ctx, ts_ns);
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

static int by_value(const void *a, const void *b)
{
	const struct source_symbol *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
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
	if (r->nr_probes)
		qsort(r->probes, r->nr_probes, sizeof(*r->probes), by_value);
	r->facts.probes = r->probes;
	r->facts.nr_probes = r->nr_probes;
	if (info->nr_symbols)
		qsort(r->symbols, info->nr_symbols, sizeof(*r->symbols), by_value);
	r->facts.symbols = r->symbols;
	r->facts.nr_symbols = info->nr_symbols;
	return 0;
}

/* The topology, if the file has it. */
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
		r->places[i] = (struct live_place){ .llc = -1, .node = -1, .core = -1 };
	for (size_t i = 0; i < info->nr_cpus; i++)
		if (info->cpus[i].cpu < nr)
			r->places[info->cpus[i].cpu] = (struct live_place){
				.llc = info->cpus[i].llc,
				.node = info->cpus[i].node,
				.core = info->cpus[i].core,
				.is_isolated = info->cpus[i].isolated > 0,
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

static const char *after(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* One attribute of the end of our own files. */
static void fill_loss(struct recording *r, const struct trace_key *attr)
{
	struct source_facts *f = &r->facts;
	uint64_t nr = (uint64_t)attr->number;
	const char *kind = after(attr->key, "lost.");
	const char *name = after(attr->key, "loss.");
	enum loss loss;

	if (strcmp(attr->key, "lost") == 0 && nr > f->lost)
		f->lost = nr;
	else if (kind)
		r->lost_by[f->nr_lost_by++] = (struct source_count){ kind, nr };
	else if (name && loss_by_name(name, &loss))
		f->recorder.nr[loss] = nr;
}

/* How much was lost is counted at the end of the file, and not where it happened. */
static int fill_losses(struct recording *r)
{
	const struct trace_info *info = r->info;
	struct source_facts *f = &r->facts;

	r->lost_by = calloc(info->nr_attrs ? info->nr_attrs : 1, sizeof(*r->lost_by));
	if (!r->lost_by)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_attrs && info->producer == TRACE_BY_US; i++)
		if (!info->attrs[i].text && info->attrs[i].number > 0)
			fill_loss(r, &info->attrs[i]);
	for (size_t i = 0; i < info->nr_cpus && info->producer != TRACE_BY_US; i++)
		f->lost += info->cpus[i].nr_lost;
	f->lost_by = r->lost_by;
	return 0;
}

/* The CPUs that end before the file does. */
static int fill_ends(struct recording *r)
{
	const struct trace_info *info = r->info;
	struct source_facts *f = &r->facts;

	r->ends = calloc(info->nr_cpus ? info->nr_cpus : 1, sizeof(*r->ends));
	if (!r->ends)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_cpus; i++)
		if (info->cpus[i].until_ns)
			r->ends[f->nr_ends++] = (struct source_end){ info->cpus[i].cpu,
				                                     info->cpus[i].until_ns };
	f->ends = r->ends;
	return 0;
}

/* Which machine it is of, and what its user wrote into it. */
static int fill_labels(struct recording *r)
{
	const struct trace_info *info = r->info;
	struct source_facts *f = &r->facts;
	const char *label;

	f->host = known(info->machine_name);
	r->labels = calloc(LABELS_MAX, sizeof(*r->labels));
	if (!r->labels)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_attrs && info->producer == TRACE_BY_US; i++) {
		const struct trace_key *attr = &info->attrs[i];

		if (!attr->text)
			continue;
		label = after(attr->key, LABEL_PREFIX);
		if (!f->boot_id && strcmp(attr->key, "boot_id") == 0)
			f->boot_id = known(attr->text);
		else if (label && f->nr_labels < LABELS_MAX)
			r->labels[f->nr_labels++] = (struct source_label){ label, attr->text };
	}
	f->labels = r->labels;
	return 0;
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
	f->filter = info->filter;
	f->incomplete = info->incomplete;
	f->has_scx = f->kinds[EV_SCX_RUN] || f->kinds[EV_DSQ_LEAVE] || f->kinds[EV_DSQ_DEPTH] ||
	             f->scheduler;
	f->bytes = info->nr_bytes;
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		f->nr_events += event_type_count(f, kind);
	for (size_t i = 0; i < info->nr_cpus; i++)
		f->nr_cpus += info->cpus[i].nr_events > 0;
	if (!f->nr_cpus)
		f->nr_cpus = info->nr_cpus_reported;
	r->events = copy_counts(info->events, info->nr_events);
	r->categories = copy_counts(info->categories, info->nr_categories);
	r->damage = calloc(info->nr_damage + 1, sizeof(*r->damage));
	if (!r->events || !r->categories || !r->damage)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_damage; i++)
		r->damage[i] = (struct source_damage){ info->damage[i].name, info->damage[i].count,
			                               info->damage[i].of };
	f->events = r->events;
	f->nr_events_names = info->nr_events;
	f->categories = r->categories;
	f->nr_categories = info->nr_categories;
	f->damage = r->damage;
	f->nr_damage = info->nr_damage;
	f->pmu_names = info->pmu_names;
	f->nr_pmu_names = info->nr_pmu_names;
	if (fill_losses(r) || fill_ends(r) || fill_labels(r))
		return -ENOMEM;
	return copy_symbols(r) ? -ENOMEM : place_cpus(r);
}

static int finish(struct recording *r)
{
	uint64_t end = r->info->has_time ? r->info->end_ns : 0;
	int err;

	if (end < pair_now_ns(r->pair))
		end = pair_now_ns(r->pair);
	if (r->info->scheduler[0])
		pair_note_scx(r->pair);
	for (size_t i = 0; i < r->info->nr_enabled; i++)
		if (strcmp(r->info->enabled[i], "sched/sched_migrate_task") == 0)
			pair_note_moves(r->pair);
	pair_finish(r->pair, end);
	err = fill_facts(r);
	if (!err)
		err = task_lives_new(r->tasks, &r->lives);
	if (!err)
		err = recording_stacks_new(r->info, &r->namer, &r->stacks);
	r->facts.kinds[EV_SAMPLE] = r->info->nr_samples; /* which are not records of the stream */
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

/* The last records, when no thread adds any more. */
static bool hold_all(struct recording *r, struct pairing *p)
{
	return budget_hold(&r->budget, &r->log_meter.held_bytes, event_log_bytes(r->log)) &&
	       budget_hold(&r->budget, &p->meter.held_bytes, timeline_bytes(r->timeline)) &&
	       !budget_is_exceeded(&r->budget);
}

/* The file is decoded and put in order on this thread, and paired into tables on another. */
static int load(struct recording *r, const char *path, const struct trace_read_cfg *cfg,
                struct diag *d)
{
	struct pairing p = { .sink = pair_sink(r->pair),
		             .timeline = r->timeline,
		             .budget = &r->budget };
	struct ev_sink sink = { .push = push, .advance = advance, .ctx = r },
		       pairing_sink = { .push = push_pair, .advance = advance_pair, .ctx = &p };
	struct sink_thread *thread;
	int err, pairing;

	if (cfg->progress) /* cancelled before it began */
		cfg->progress(cfg->progress_ctx, 0, 0);
	if (r->is_unwanted)
		return diag_set(d, -ECANCELED, NULL, "loading '%s' was cancelled", path);
	err = sink_thread_open(&pairing_sink, &thread);
	if (err)
		return diag_set(d, err, NULL, "cannot start a thread");
	r->pair_thread = sink_thread_sink(thread);
	err = trace_read_file(path, cfg, &sink, d, &r->info);
	pairing = sink_thread_finish(thread);
	if (r->is_unwanted)
		return diag_set(d, -ECANCELED, NULL, "loading '%s' was cancelled", path);
	if (!err && !hold_all(r, &p))
		err = trace_too_large(path, &r->budget, d);
	if (!err && pairing)
		err = diag_set(d, pairing, NULL, "cannot keep the events of '%s'", path);
	return err;
}

_Static_assert(RECORDING_PARTS_MAX == TRACE_PARTS_MAX, "of the same folders");

uint64_t recording_limit(uint64_t max_bytes)
{
	uint64_t limit = memory_left("") / SPARE * (SPARE - 1);

	return max_bytes && max_bytes < limit ? max_bytes : limit;
}

/* The caller that set the limit can say what to do. */
static void hint_at_limit(const struct recording *r, const struct recording_cfg *cfg,
                          struct diag *d)
{
	if (cfg->max_hint && budget_is_exceeded(&r->budget) &&
	    budget_limit(&r->budget) == cfg->max_bytes)
		snprintf(d->hint, sizeof(d->hint), "%s", cfg->max_hint);
}

int recording_open(const char *path, const struct recording_cfg *cfg, struct diag *d,
                   struct recording **out)
{
	SCOPED(scoped_recording) struct recording *r = calloc(1, sizeof(*r));
	struct trace_read_cfg read = {
		.nr_workers = cfg->nr_workers,
		.fd = cfg->fd,
		.parts = { .open = cfg->open_part, .ctx = cfg->part_ctx },
		.budget = r ? &r->budget : NULL,
		.progress = cfg->progress ? on_progress : NULL,
		.progress_ctx = r,
	};
	const char *name = cfg->name ? cfg->name : strcmp(path, "-") == 0 ? "standard input" : path;
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->cfg = cfg;
	budget_init(&r->budget, recording_limit(cfg->max_bytes));
	r->name = strdup(name);
	r->namer = cfg->namer;
	err = r->name ? make_tables(r) : -ENOMEM;
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = load(r, path, &read, d);
	if (err) {
		hint_at_limit(r, cfg, d);
		return err;
	}
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
