/* What the live analyzers with a state of their own have found; the keys are those that scxtop's clients know. */
#include "live/live_facts.h"

#include <errno.h>

#include "analyze/event_facts.h"
#include "analyze/facts.h"
#include "analyze/top.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "live/live_events.h"
#include "model/event_log.h"
#include "model/event_notes.h"
#include "model/event_rates.h"
#include "model/history.h"
#include "model/pair.h"
#include "model/tasks.h"

#define DEFAULT_MULTIPLIER 2.0
#define BLOCK              64U /* records that are lent at once */

/* When a record of that number was; 0 if it is not there. */
static uint64_t time_of(const struct live_events *e, uint64_t number)
{
	const struct ev_hdr *rec = NULL;

	return e->log && event_log_lend(e->log, number, &rec, 1) ? rec->ts_ns : 0;
}

static void put_buffer_stats(const struct live_events *e, bool is_running, struct facts *out)
{
	uint64_t first = live_events_first(e), end = live_events_end(e);
	struct facts *f = facts_object(out, "stats");

	facts_bool(f, "enabled", is_running);
	facts_u64(f, "current_size", end - first);
	facts_u64(f, "max_size", LIVE_LOG_RECORDS);
	facts_u64(f, "total_received", end - 1 - e->base);
	facts_u64(f, "total_dropped", first - 1 - e->base);
	facts_known_u64(f, "oldest_timestamp", end > first, time_of(e, first));
	facts_known_u64(f, "newest_timestamp", end > first, time_of(e, end - 1));
}

/* Numbers are those since the analyzer began. */
static uint64_t put_events(const struct live_events *e, uint64_t first, uint64_t nr,
                           struct facts *out)
{
	struct facts *list = facts_list(out, "events"), *f;
	const struct ev_hdr *recs[BLOCK];
	uint64_t number = first;
	uint32_t nr_lent = 1;

	while (number < first + nr && nr_lent) {
		uint64_t left = first + nr - number;

		nr_lent = event_log_lend(e->log, number, recs,
		                         left < BLOCK ? (uint32_t)left : BLOCK);
		for (uint32_t i = 0; i < nr_lent; i++, number++) {
			struct event_entry entry = event_notes_read(recs[i]);

			f = facts_object(list, NULL);
			if (!f)
				return number - 1 - e->base;
			event_facts(&entry, e->tasks, f);
			facts_u64(f, "number", number - e->base);
		}
	}
	return number - 1 - e->base;
}

/* The last ones, or, after a number, the next ones: the oldest first in both cases. */
void event_buffer_facts(const struct live_events *e, const struct live_facts_args *args,
                        struct facts *out)
{
	uint64_t end = live_events_end(e), first = live_events_first(e), nr, next;
	uint64_t gone = first - 1 - e->base;

	if (args->after > gone)
		first = args->after < end - 1 - e->base ? e->base + args->after + 1 : end;
	nr = end - first < args->limit ? end - first : args->limit;
	if (!args->after)
		first = end - nr;
	put_buffer_stats(e, args->is_running, out);
	facts_u64(out, "count", nr);
	next = put_events(e, first, nr, out);
	/* Where to continue, and how many between are gone. */
	facts_u64(out, "next_after", nr ? next : end - 1 - e->base);
	facts_u64(out, "missed", args->after && gone > args->after ? gone - args->after : 0);
}

static void put_rate(bool has, struct facts *list, unsigned int kind,
                     const struct event_rates_kind *k)
{
	struct facts *f = facts_object(list, NULL);

	facts_string(f, "event_type", stream_type_name(kind));
	facts_u64(f, "total", k->total);
	facts_known_u64(f, "current_per_sec", has, k->last);
	if (has)
		facts_double(f, "avg_per_sec", k->per_second);
	else
		facts_null(f, "avg_per_sec");
	if (k->has_usual)
		facts_double(f, "baseline_per_sec", k->usual);
	else
		facts_null(f, "baseline_per_sec");
}

static void put_anomaly(struct facts *list, unsigned int kind, const struct event_rates_kind *k)
{
	struct facts *f = facts_object(list, NULL);

	facts_string(f, "event_type", stream_type_name(kind));
	facts_u64(f, "current_per_sec", k->last);
	facts_double(f, "baseline_per_sec", k->usual);
	if (k->usual > 0)
		facts_double(f, "spike_factor", k->spike);
	else
		facts_null(f, "spike_factor"); /* there was nothing before */
}

void event_rates_facts(const struct event_rates *r, const struct live_facts_args *args,
                       struct facts *out)
{
	double multiplier = args->multiplier > 0 ? args->multiplier : DEFAULT_MULTIPLIER;
	struct facts *rates = facts_list(out, "rates");
	struct facts *anomalies = facts_list(out, "anomalies");
	struct event_rates_kind k;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++) {
		if (!stream_type_name(kind) || !event_rates_kind(r, kind, &k))
			continue;
		put_rate(event_rates_seconds(r) > 0, rates, kind, &k);
		if (k.has_usual && (double)k.last > multiplier * k.usual)
			put_anomaly(anomalies, kind, &k);
	}
	facts_u64(out, "window_ms", 1000);
	facts_u64(out, "windows", event_rates_seconds(r));
}

static const char *comm_of(const struct tasks *tasks, uint32_t comm_id)
{
	return comm_id ? tasks_string(tasks, comm_id) : NULL;
}

static void put_moment(struct facts *list, const struct history_moment *m)
{
	struct facts *f = facts_object(list, NULL), *data;

	facts_u64(f, "timestamp_ns", m->ts_ns);
	facts_string(f, "event_type", stream_type_name(m->kind));
	facts_known_u64(f, "cpu", m->cpu != PAIR_NO_CPU, m->cpu);
	data = facts_object(f, "data");
	if (m->kind == EV_SWITCH) {
		facts_bool(data, "comes_on", m->comes_on);
		if (!m->comes_on)
			facts_u64(data, "prev_state", m->a);
	} else if (m->kind == EV_WAKING || m->kind == EV_WAKEUP || m->kind == EV_WAKEUP_NEW) {
		facts_known_u64(data, "waker_pid", m->kind != EV_WAKEUP && m->a, m->a);
	} else if (m->kind == EV_MIGRATE) {
		facts_u64(data, "from_cpu", m->a);
		facts_u64(data, "to_cpu", m->b);
	} else if (m->kind == EV_FORK) {
		facts_u64(data, "other_pid", m->a);
	}
}

static void put_history_stats(const struct tasks *tasks, const struct history_task *t,
                              const struct history_moment *m, uint32_t nr, struct facts *out)
{
	struct facts *f = facts_object(out, "stats"), *counts;

	facts_u64(f, "pid", t->tid);
	facts_string(f, "comm", comm_of(tasks, t->comm_id));
	facts_u64(f, "total_events", t->nr);
	counts = facts_object(f, "event_counts");
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (t->counts[kind] && stream_type_name(kind))
			facts_u64(counts, stream_type_name(kind), t->counts[kind]);
	facts_known_u64(f, "oldest_timestamp", nr, nr ? m[nr - 1].ts_ns : 0);
	facts_known_u64(f, "newest_timestamp", nr, nr ? m[0].ts_ns : 0);
}

static void put_one_history(const struct history *h, const struct tasks *tasks,
                            const struct live_facts_args *args, struct facts *out)
{
	struct history_moment m[HISTORY_MOMENTS];
	struct facts *list;
	uint32_t i, nr;

	facts_u64(out, "pid", args->pid);
	if (!history_find(h, args->pid, &i)) {
		facts_null(out, "stats");
		(void)facts_list(out, "events");
		return;
	}
	nr = history_read(h, i, m, HISTORY_MOMENTS);
	put_history_stats(tasks, history_task_at(h, i), m, nr, out);
	list = facts_list(out, "events");
	for (i = 0; i < nr && i < args->limit; i++)
		put_moment(list, &m[i]);
}

int history_facts(const struct history *h, const struct tasks *tasks,
                  const struct live_facts_args *args, struct facts *out)
{
	SCOPED(top_done) struct top top = { .limit = args->limit };
	uint32_t nr = 0;
	struct facts *list, *f;

	if (args->has_pid) {
		put_one_history(h, tasks, args, out);
		return 0;
	}
	for (uint32_t i = 0; i < history_nr_tasks(h); i++) {
		if (!history_task_at(h, i))
			continue;
		nr++;
		top_add(&top, history_task_at(h, i)->nr, i);
	}
	top_rank(&top);
	facts_u64(out, "total_processes", nr);
	list = facts_list(out, "processes");
	for (uint32_t i = 0; i < top.nr; i++) {
		const struct history_task *t = history_task_at(h, (uint32_t)top.entries[i].id);

		f = facts_object(list, NULL);
		facts_u64(f, "pid", t->tid);
		facts_string(f, "comm", comm_of(tasks, t->comm_id));
		facts_u64(f, "total_events", t->nr);
	}
	return top.has_failed ? -ENOMEM : 0;
}
