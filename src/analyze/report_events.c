#include <errno.h>

#include "analyze/analyzers_report_priv.h"
#include "analyze/event_facts.h"
#include "analyze/event_filter.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "model/event_buffer.h"
#include "model/event_rates.h"

#define DEFAULT_MULTIPLIER 2.0
#define EVENT_BYTES        ((size_t)256 << 10)

static void put_buffer_stats(const struct view *r)
{
	struct facts *f = facts_object(r->out, "stats");
	struct event_buffer_stats s;

	event_buffer_stats(analyzers_event_buffer(r->a), &s);
	facts_bool(f, "enabled", r->status.is_running);
	facts_u64(f, "current_size", s.current_size);
	facts_u64(f, "max_size", s.max_size);
	facts_u64(f, "total_received", s.total_received);
	facts_u64(f, "total_dropped", s.total_dropped);
	facts_known_u64(f, "oldest_timestamp", s.current_size, s.oldest_ns);
	facts_known_u64(f, "newest_timestamp", s.current_size, s.newest_ns);
}

/* Whether the event is wanted. Its facts live in an arena of its own, as most may be for nothing. */
static bool is_wanted(const struct view *r, const struct event_entry *e, struct arena *scratch)
{
	struct facts *f;

	if (e->rec->ts_ns < r->args->from_ns || (r->args->to_ns && e->rec->ts_ns > r->args->to_ns))
		return false;
	if (!r->args->filter)
		return true;
	arena_reset(scratch);
	f = facts_new(scratch);
	if (f)
		event_facts(e, analyzers_tasks(r->a), f);
	return f && event_filter_passes(r->args->filter, &f->node, e->number);
}

static void put_event(const struct view *r, struct facts *list, uint32_t i)
{
	struct event_entry e;
	struct facts *f;

	if (!event_buffer_at(analyzers_event_buffer(r->a), i, &e))
		return;
	f = facts_object(list, NULL);
	if (!f)
		return;
	event_facts(&e, analyzers_tasks(r->a), f);
	facts_u64(f, "number", e.number);
}

/* The last ones, or, after a number, the next ones: the oldest first in both cases. */
static uint32_t choose(const struct view *r, struct arena *scratch, uint32_t *chosen, uint32_t max)
{
	const struct event_buffer *b = analyzers_event_buffer(r->a);
	uint32_t first = r->args->after ? event_buffer_after(b, r->args->after) : 0, nr = 0;
	struct event_buffer_stats s;
	struct event_entry e;

	event_buffer_stats(b, &s);
	if (r->args->after) {
		for (uint32_t i = first; nr < max && event_buffer_at(b, i, &e); i++)
			if (is_wanted(r, &e, scratch))
				chosen[nr++] = i;
		return nr;
	}
	for (uint32_t i = s.current_size; nr < max && i-- > 0 && event_buffer_at(b, i, &e);)
		if (is_wanted(r, &e, scratch))
			chosen[nr++] = i;
	for (uint32_t i = 0; i < nr / 2; i++) {
		uint32_t swap = chosen[i];

		chosen[i] = chosen[nr - 1 - i];
		chosen[nr - 1 - i] = swap;
	}
	return nr;
}

int report_event_buffer(struct view *r)
{
	SCOPED(scoped_arena) struct arena *scratch = arena_new(EVENT_BYTES);
	struct event_buffer_stats s;
	struct event_entry e;
	struct facts *list;
	uint32_t *chosen, max, nr;

	event_buffer_stats(analyzers_event_buffer(r->a), &s);
	max = report_limit(r, s.current_size);
	chosen = ARENA_ARRAY(r->mem, uint32_t, max + 1U);
	if (!scratch || !chosen)
		return -ENOMEM;
	put_buffer_stats(r);
	nr = choose(r, scratch, chosen, max);
	facts_u64(r->out, "count", nr);
	list = facts_list(r->out, "events");
	for (uint32_t i = 0; i < nr; i++)
		put_event(r, list, chosen[i]);
	/* Where to go on, and how many between are gone. */
	if (nr && event_buffer_at(analyzers_event_buffer(r->a), chosen[nr - 1], &e))
		facts_u64(r->out, "next_after", e.number);
	else
		facts_u64(r->out, "next_after", s.total_received);
	facts_u64(r->out, "missed",
	          r->args->after && s.total_dropped > r->args->after
	                  ? s.total_dropped - r->args->after
	                  : 0);
	r->left_out = s.total_dropped;
	return 0;
}

static void put_rate(const struct view *r, struct facts *list, unsigned int kind,
                     const struct event_rates_kind *k)
{
	bool has = event_rates_seconds(analyzers_rates(r->a)) > 0;
	struct facts *f = facts_object(list, NULL);

	facts_string(f, "event_type", stream_type_name(kind));
	facts_u64(f, "total", k->total);
	facts_known_u64(f, "current_rate", has, k->last);
	if (has)
		facts_double(f, "avg_rate", k->per_second);
	else
		facts_null(f, "avg_rate");
	if (k->has_usual)
		facts_double(f, "baseline_avg", k->usual);
	else
		facts_null(f, "baseline_avg");
}

static void put_anomaly(struct facts *list, unsigned int kind, const struct event_rates_kind *k)
{
	struct facts *f = facts_object(list, NULL);

	facts_string(f, "event_type", stream_type_name(kind));
	facts_u64(f, "current_rate", k->last);
	facts_double(f, "baseline_avg", k->usual);
	if (k->usual > 0)
		facts_double(f, "spike_factor", k->spike);
	else
		facts_null(f, "spike_factor"); /* there was nothing before */
}

int report_rates(struct view *r)
{
	double multiplier = r->args->multiplier > 0 ? r->args->multiplier : DEFAULT_MULTIPLIER;
	struct facts *rates = facts_list(r->out, "rates");
	struct facts *anomalies = facts_list(r->out, "anomalies");
	struct event_rates_kind k;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++) {
		if (!stream_type_name(kind) || !event_rates_kind(analyzers_rates(r->a), kind, &k))
			continue;
		put_rate(r, rates, kind, &k);
		if (k.has_usual && (double)k.last > multiplier * k.usual)
			put_anomaly(anomalies, kind, &k);
	}
	facts_u64(r->out, "window_ms", 1000);
	facts_u64(r->out, "windows", event_rates_seconds(analyzers_rates(r->a)));
	return 0;
}
