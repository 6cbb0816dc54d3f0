#include "analyze/event_groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_facts.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/hist.h"
#include "base/intern.h"
#include "model/event_buffer.h"

#define EVENT_BYTES ((size_t)256 << 10) /* facts of one event, also a deep stack */
#define KEY_BYTES   ((size_t)4 << 20)

enum what { MEAN, PERCENTILE, MAX, COUNT };

struct metric {
	const char *name;
	const char *field;
	enum what what;
	uint32_t p10000;
};

struct group {
	uint64_t count;
	const char *values[EVENT_GROUPS_FIELDS]; /* NULL = null */
	double sums[EVENT_GROUPS_METRICS];
	double max[EVENT_GROUPS_METRICS];
	uint64_t nr[EVENT_GROUPS_METRICS];
	uint32_t id;
};

/* Every latency, for percentiles. */
struct sample {
	uint32_t group;
	double value;
};

struct work {
	const struct event_groups_cfg *cfg;
	struct metric metrics[EVENT_GROUPS_METRICS];
	bool has_percentiles;
	struct arena *mem;
	struct arena *event; /* of one event */
	struct intern *keys;
	struct group *groups;
	uint32_t nr_groups;
	struct sample *samples;
	uint32_t nr_samples;
	uint64_t nr_events;
	uint64_t left_out;
};

static struct metric metric_of(const char *name)
{
	static const struct metric known[] = {
		{ "count", NULL, COUNT, 0 },
		{ "avg_slice_ns", "prev_slice_ns", MEAN, 0 },
		{ "avg_used_slice_ns", "prev_used_slice_ns", MEAN, 0 },
		{ "avg_latency_us", "next_dsq_lat_us", MEAN, 0 },
		{ "p50_latency", "next_dsq_lat_us", PERCENTILE, HIST_P(50) },
		{ "p95_latency", "next_dsq_lat_us", PERCENTILE, HIST_P(95) },
		{ "p99_latency", "next_dsq_lat_us", PERCENTILE, HIST_P(99) },
		{ "max_latency", "next_dsq_lat_us", MAX, 0 },
		{ "avg_queue_depth", "next_dsq_nr_queued", MEAN, 0 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i];
	return (struct metric){ name, name, MEAN, 0 };
}

static const char *text_of(const struct report_node *f, struct arena *mem)
{
	if (!f || f->type == REPORT_NULL)
		return NULL;
	switch (f->type) {
	case REPORT_U64:
		return arena_printf(mem, "%" PRIu64, f->u64);
	case REPORT_I64:
		return arena_printf(mem, "%" PRId64, f->i64);
	case REPORT_DOUBLE:
		return arena_printf(mem, "%.3f", f->f);
	case REPORT_BOOL:
		return f->b ? "true" : "false";
	case REPORT_STRING:
		return f->text;
	default:
		return NULL;
	}
}

/* Values with their lengths, so that no two groups look the same. NULL without memory. */
static const char *key_of(struct work *w, const struct report_node *event, const char **values)
{
	const char *key = "";

	for (uint32_t i = 0; i < w->cfg->nr_group_by && key; i++) {
		values[i] = text_of(report_at(event, w->cfg->group_by[i]), w->event);
		key = values[i] ? arena_printf(w->event, "%s%zu:%s", key, strlen(values[i]),
		                               values[i])
		                : arena_printf(w->event, "%s-", key);
	}
	return key;
}

static struct group *group_for(struct work *w, const struct report_node *event)
{
	const char *values[EVENT_GROUPS_FIELDS] = { 0 };
	const char *key = key_of(w, event, values);
	struct group *g;
	uint32_t id;

	if (!key)
		return NULL;
	/* A byte before it, as the empty string is taken. */
	key = arena_printf(w->event, "k%s", key);
	if (!key || intern_add(w->keys, key, strlen(key), &id) < 0)
		return NULL;
	g = &w->groups[id - 1];
	if (id <= w->nr_groups)
		return g;
	w->nr_groups = id;
	g->id = id - 1;
	for (uint32_t i = 0; i < w->cfg->nr_group_by; i++)
		g->values[i] = values[i] ? arena_strdup(w->mem, values[i]) : NULL;
	return g;
}

static void measure(struct work *w, struct group *g, const struct report_node *event)
{
	double value;

	g->count++;
	for (uint32_t i = 0; i < w->cfg->nr_metrics; i++) {
		const struct metric *m = &w->metrics[i];

		if (m->what == COUNT || !report_number(report_at(event, m->field), &value))
			continue;
		g->sums[i] += value;
		if (!g->nr[i] || value > g->max[i])
			g->max[i] = value;
		g->nr[i]++;
	}
	if (w->has_percentiles && report_number(report_at(event, "next_dsq_lat_us"), &value))
		w->samples[w->nr_samples++] = (struct sample){ g->id, value };
}

static void take_event(struct work *w, const struct event_entry *e, const struct tasks *tasks)
{
	struct facts *event;
	const struct report_node *type;
	struct group *g;

	arena_reset(w->event);
	event = facts_new(w->event);
	if (!event)
		return;
	event_facts(e, tasks, event);
	type = report_at(&event->node, "type");
	if (w->cfg->event_type && (!type || strcmp(type->text, w->cfg->event_type) != 0))
		return;
	w->nr_events++;
	g = group_for(w, &event->node);
	if (g)
		measure(w, g, &event->node);
	else
		w->left_out++;
}

static int by_count(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_group(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* Samples are sorted by group, then by value. */
static void put_percentile(const struct work *w, const struct group *g, const struct metric *m,
                           struct facts *out)
{
	uint32_t low = 0, high = w->nr_samples, first;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (w->samples[mid].group < g->id)
			low = mid + 1;
		else
			high = mid;
	}
	for (first = low; low < w->nr_samples && w->samples[low].group == g->id; low++)
		;
	if (low == first)
		facts_null(out, m->name);
	else
		facts_double(out, m->name,
		             w->samples[first + percentile_rank(low - first, m->p10000) - 1].value);
}

static void put_metric(const struct work *w, const struct group *g, uint32_t i, struct facts *out)
{
	const struct metric *m = &w->metrics[i];

	if (m->what == COUNT)
		facts_u64(out, m->name, g->count);
	else if (m->what == PERCENTILE)
		put_percentile(w, g, m, out);
	else if (!g->nr[i])
		facts_null(out, m->name);
	else
		facts_double(out, m->name,
		             m->what == MAX ? g->max[i] : g->sums[i] / (double)g->nr[i]);
}

static void put_groups(struct work *w, struct facts *out)
{
	uint32_t nr = w->cfg->top_n && w->cfg->top_n < w->nr_groups ? w->cfg->top_n : w->nr_groups;
	struct facts *list = facts_list(out, "groups"), *row, *sub;

	qsort(w->samples, w->nr_samples, sizeof(*w->samples), by_group);
	qsort(w->groups, w->nr_groups, sizeof(*w->groups), by_count);
	for (uint32_t i = 0; i < nr; i++) {
		row = facts_object(list, NULL);
		sub = facts_object(row, "group_key");
		for (uint32_t k = 0; k < w->cfg->nr_group_by; k++)
			facts_string(sub, w->cfg->group_by[k], w->groups[i].values[k]);
		facts_u64(row, "count", w->groups[i].count);
		sub = facts_object(row, "metrics");
		for (uint32_t k = 0; k < w->cfg->nr_metrics; k++)
			put_metric(w, &w->groups[i], k, sub);
	}
	facts_u64(out, "total_groups", w->nr_groups);
	facts_u64(out, "events", w->nr_events);
	facts_u64(out, "left_out", w->left_out);
}

static void take_all(struct work *w, const struct event_buffer *b, const struct tasks *tasks)
{
	uint64_t window_ns = w->cfg->time_window_ms > UINT64_MAX / 1000000
	                             ? UINT64_MAX
	                             : w->cfg->time_window_ms * 1000000;
	struct event_buffer_stats stats;
	struct event_entry e;

	event_buffer_stats(b, &stats);
	for (uint32_t i = 0; event_buffer_at(b, i, &e); i++) {
		uint64_t age_ns = stats.newest_ns > e.rec->ts_ns ? stats.newest_ns - e.rec->ts_ns
		                                                 : 0;

		if (!window_ns || age_ns <= window_ns)
			take_event(w, &e, tasks);
	}
}

int event_groups_make(const struct event_groups_cfg *cfg, const struct event_buffer *b,
                      const struct tasks *tasks, struct arena *mem, struct diag *d,
                      struct facts **out)
{
	SCOPED(scoped_arena) struct arena *event = NULL;
	SCOPED(scoped_intern) struct intern *keys = NULL;
	struct work w = { .cfg = cfg, .mem = mem };
	struct event_buffer_stats stats;
	struct facts *f;

	if (cfg->nr_group_by > EVENT_GROUPS_FIELDS || cfg->nr_metrics > EVENT_GROUPS_METRICS)
		return diag_set(d, -EINVAL, "at most 8 fields and 16 metrics",
		                "too many fields or metrics");
	for (uint32_t i = 0; i < cfg->nr_metrics; i++) {
		w.metrics[i] = metric_of(cfg->metrics[i]);
		w.has_percentiles |= w.metrics[i].what == PERCENTILE;
	}
	event_buffer_stats(b, &stats);
	w.event = event = arena_new(EVENT_BYTES);
	w.keys = keys = intern_new(EVENT_GROUPS_MAX, KEY_BYTES);
	w.groups = ARENA_ARRAY(mem, struct group, EVENT_GROUPS_MAX);
	w.samples = ARENA_ARRAY(mem, struct sample, w.has_percentiles ? stats.current_size + 1 : 1);
	f = facts_new(mem);
	if (!event || !keys || !w.groups || !w.samples || !f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	take_all(&w, b, tasks);
	put_groups(&w, f);
	if (!facts_is_whole(f))
		return diag_set(d, -ENOMEM, "ask for fewer groups", "out of memory");
	*out = f;
	return 0;
}
