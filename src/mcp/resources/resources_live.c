/* Resources of live data: aggregated statistics, the stream of events, what is attached. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/event_facts.h"
#include "analyze/live_report.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "mcp/event_stream.h"
#include "mcp/live_desk.h"
#include "mcp/live_status.h"
#include "mcp/resources.h"
#include "mcp/world.h"
#include "model/analyzers.h"
#include "render/live_json.h"
#include "session/live_feed.h"
#include "session/prog_watch.h"

#define REPORT_BYTES  ((size_t)64 << 20)
#define DEFAULT_LIMIT 20U
#define LIMIT_MAX     10000U

static void put_not_available(struct json_writer *out, const char *message)
{
	jw_string(out, "error", "not_available");
	jw_string(out, "message", message);
	jw_string(out, "note",
	          "start 'schedscope mcp --daemon' for live data, or use record_and_analyze");
}

/* One page of the rows; the total stays that of all. */
static void cut(struct live_report *r, uint64_t offset, uint64_t limit)
{
	size_t skip = offset < r->nr ? (size_t)offset : r->nr;

	r->rows += skip;
	r->nr -= skip;
	if (r->nr > limit)
		r->nr = (size_t)limit;
}

/* Of one process: whom it shares CPUs with comes into the records, too, but not wholly. */
static void keep_process(struct live_report *r, uint32_t tgid)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		uint64_t owner = r->kind == LIVE_THREADS ? r->rows[i].tgid : r->rows[i].id;

		if (owner == tgid)
			r->rows[nr++] = r->rows[i];
	}
	r->nr = r->nr_total = nr;
}

static void put_page(struct json_writer *out, const struct live_report *r, uint64_t offset)
{
	uint64_t next = offset + r->nr;

	jw_bool(out, "truncated", offset > 0 || next < r->nr_total);
	if (next < r->nr_total)
		jw_u64(out, "next_offset", next);
	else
		jw_null(out, "next_offset");
}

static int read_aggregated(struct mcp_world *w, const char *query, enum live_kind kind,
                           struct json_writer *out, struct diag *d)
{
	SCOPED(scoped_arena) struct arena *mem = NULL;
	uint64_t limit = DEFAULT_LIMIT, offset = 0;
	bool is_one = w->cfg.pid && (kind == LIVE_THREADS || kind == LIVE_PROCESSES);
	struct live_report report = { 0 };
	struct live_view v;
	int err;

	if (!w->live) {
		put_not_available(out, "this server collects no live data");
		return 0;
	}
	err = resource_query_u64(query, "limit", 1, LIMIT_MAX, &limit, d);
	if (!err)
		err = resource_query_u64(query, "offset", 0, INT32_MAX, &offset, d);
	if (!err)
		err = live_feed_borrow(w->live, LIVE_USE_STATS, live_feed_stats_kinds(), d);
	if (err)
		return err;
	mem = arena_new(REPORT_BYTES);
	v = live_feed_lock(w->live);
	err = mem ? live_report_make(v.live, kind, (size_t)(offset + limit), mem, &report)
	          : -ENOMEM;
	live_feed_unlock(w->live);
	if (err)
		return diag_set(d, err, "ask for less", "the report is too large");
	if (is_one)
		keep_process(&report, w->cfg.pid);
	cut(&report, offset, limit);
	live_json_members(out, &report);
	put_page(out, &report, offset);
	return 0;
}

#define COUNTED ", counted from the first read on, for as long as somebody reads; ?limit, ?offset"
#define AGGREGATED(name_, kind_, title_, description_)                                           \
	static int read_##name_(struct mcp_world *w, const char *query, struct json_writer *out, \
	                        struct diag *d)                                                  \
	{                                                                                        \
		return read_aggregated(w, query, (kind_), out, d);                               \
	}                                                                                        \
	const struct resource resource_stats_##name_ = {                                         \
		.uri = "stats://aggregated/" #name_,                                             \
		.name = "aggregated-" #name_,                                                    \
		.title = (title_),                                                               \
		.description = (description_),                                                   \
		.set = TOOLSET_LIVE,                                                             \
		.read = read_##name_,                                                            \
	}

AGGREGATED(cpu, LIVE_CPUS, "Statistics by CPU",
           "switches, wakeups, migrations and scheduling latency of each CPU" COUNTED);
AGGREGATED(llc, LIVE_LLCS, "Statistics by last-level cache",
           "switches, wakeups, migrations and scheduling latency of each last-level cache" COUNTED);
AGGREGATED(node, LIVE_NODES, "Statistics by NUMA node",
           "switches, wakeups, migrations and scheduling latency of each NUMA node" COUNTED);
AGGREGATED(dsq, LIVE_DSQS, "Statistics by dispatch queue",
           "enqueues, dispatches and depth of the queues of a sched_ext scheduler" COUNTED);
AGGREGATED(process, LIVE_PROCESSES, "Statistics by process",
           "the processes with most switches, their wakeups and scheduling latency" COUNTED);
AGGREGATED(thread, LIVE_THREADS, "Statistics by thread",
           "the threads with most switches, their wakeups, run time and scheduling latency" COUNTED);

static int read_stream(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	struct stream_wish wish;
	int err = stream_wish_parse(query, &wish, d);

	if (err)
		return err;
	jw_string(out, "uri", "events://stream");
	jw_bool(out, "stream", true);
	jw_string(out, "description",
	          "subscribe for updates; each read with ?cursor=next_cursor gives what came since");
	return event_stream_put(w->live, &wish, out, d);
}

static int begin_stream(struct mcp_world *w, const char *query, struct diag *d)
{
	return live_desk_subscribe(w->desk, query, d);
}

static void end_stream(struct mcp_world *w, const char *query)
{
	live_desk_unsubscribe(w->desk, query);
}

static uint64_t stream_revision(struct mcp_world *w, const char *query)
{
	return live_desk_newest(w->desk, query);
}

const struct resource resource_events_stream = {
	.uri = "events://stream",
	.name = "event-stream",
	.title = "Live events",
	.description =
		"scheduler events as they happen; subscribe, then read with ?cursor. Filters: "
		"types (comma-separated), cpu, pid, comm (expression), limit, max_rate "
		"(updates per second)",
	.mime = "application/x-ndjson",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.read = read_stream,
	.begin = begin_stream,
	.end = end_stream,
	.revision = stream_revision,
};

void live_status_put_types(struct json_writer *w, const char *key, uint64_t kinds)
{
	jw_begin_array(w, key);
	for (unsigned int kind = 0; kind < 64; kind++)
		if (kinds & 1ULL << kind)
			jw_string(w, NULL, stream_type_name(kind));
	jw_end_array(w);
}

void live_status_put_tracking(struct json_writer *w, const char *key,
                              const struct live_feed_status *s)
{
	jw_begin_object(w, key);
	jw_bool(w, "enabled", s->is_tracking);
	jw_bool(w, "programs_attached", s->is_attached);
	live_status_put_types(w, "event_types", s->kinds);
	live_status_put_types(w, "unavailable_types", s->missing);
	jw_u64(w, "subscriptions", s->nr_holders);
	jw_u64(w, "readers", s->nr_readers);
	jw_u64(w, "attached_ms", s->attached_ns / 1000000);
	jw_u64(w, "streams_opened", s->nr_streams);
	jw_u64(w, "hole_ns", s->hole_ns);
	jw_string(w, "description",
	          "programs are attached while tracking is enabled, an analyzer runs, or somebody "
	          "subscribes or reads");
	jw_end_object(w);
}

void live_status_put_collection(struct json_writer *w, const char *key, struct prog_watch *programs)
{
	uint64_t interval_ms, nr_looks;
	bool is_running = prog_watch_runs(programs, &interval_ms, &nr_looks);

	jw_begin_object(w, key);
	jw_bool(w, "running", is_running);
	if (is_running)
		jw_u64(w, "interval_ms", interval_ms);
	else
		jw_null(w, "interval_ms");
	jw_u64(w, "samples", nr_looks);
	jw_string(w, "description", "samples of the run times of BPF programs, for bpf://programs");
	jw_end_object(w);
}

static int read_status(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	struct live_feed_status s;

	(void)query;
	(void)d;
	live_feed_status(w->live, &s);
	live_status_put_tracking(out, "event_tracking", &s);
	live_status_put_collection(out, "stats_collection", live_desk_programs(w->desk));
	jw_begin_object(out, "analyzers");
	for (int i = 0; i < ANALYZERS; i++)
		jw_bool(out, analyzers_name((enum analyzer_id)i), s.running & 1U << i);
	jw_end_object(out);
	jw_string(out, "note",
	          "control_event_tracking, control_stats_collection and "
	          "control_analyzers change it");
	return 0;
}

const struct resource resource_events_status = {
	.uri = "control://events/status",
	.name = "collection-status",
	.title = "What is collected now",
	.description =
		"whether programs are attached, for which events, for whom, and which analyzers "
		"run",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.read = read_status,
};
