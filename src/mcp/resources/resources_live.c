/* Resources of live data: aggregated statistics, the stream of events, what is attached. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/event_facts.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "live/live_feed.h"
#include "live/live_shot.h"
#include "mcp/event_stream.h"
#include "mcp/live_service.h"
#include "mcp/live_status.h"
#include "mcp/resources/resources.h"
#include "mcp/world.h"
#include "render/report_json.h"
#include "sys/bpf/prog_watch.h"

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
struct row_page {
	uint64_t offset, limit;
	uint64_t shown, total;
};

static void put_rows(struct json_writer *out, const struct report_node *list, struct row_page *p)
{
	uint64_t i = 0;

	jw_begin_array(out, list->key);
	for (const struct report_node *row = list->first; row; row = row->next, i++) {
		if (i < p->offset || i >= p->offset + p->limit)
			continue;
		report_json(out, NULL, row);
		p->shown++;
	}
	jw_end_array(out);
}

static void put_totals(struct json_writer *out, const struct report_node *root, struct row_page *p)
{
	for (const struct report_node *n = root->first; n; n = n->next) {
		if (n->type == REPORT_ARRAY)
			put_rows(out, n, p);
		else if (strcmp(n->key, "shown") == 0)
			jw_u64(out, "shown", p->shown);
		else if (strcmp(n->key, "analysis_type") != 0)
			report_json(out, n->key, n);
		if (strncmp(n->key, "total_", strlen("total_")) == 0)
			p->total = n->u64;
	}
	jw_bool(out, "truncated", p->offset > 0 || p->offset + p->shown < p->total);
	jw_u64_if(out, "next_offset", p->offset + p->shown < p->total, p->offset + p->shown);
}

void live_status_put_observed(struct json_writer *w, const struct live_observed *o)
{
	jw_begin_object(w, "observed");
	jw_bool(w, "running", o->is_running);
	jw_bool(w, "has_data", o->has_data);
	jw_u64(w, "from_ns", o->from_ns);
	jw_u64(w, "to_ns", o->to_ns);
	jw_u64(w, "duration_ns", o->to_ns - o->from_ns);
	jw_u64(w, "window_ns", LIVE_WINDOW_NS);
	jw_u64(w, "sampled_one_in", o->one_in);
	jw_u64(w, "records", o->records);
	jw_u64(w, "lost_records", o->lost);
	jw_bool(w, "is_cut", o->is_cut);
	jw_u64(w, "cut_rows", o->cut_rows);
	jw_end_object(w);
}

static int read_aggregated(struct mcp_world *w, const char *query, const char *by,
                           struct json_writer *out, struct diag *d)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = NULL;
	SCOPED(scoped_report) struct report *r = NULL;
	bool is_one = strcmp(by, "process") == 0 || strcmp(by, "thread") == 0;
	struct row_page page = { .limit = DEFAULT_LIMIT };
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER, .category = by };
	struct live_observed o;
	int err;

	if (!w->live) {
		put_not_available(out, "this server collects no live data");
		return 0;
	}
	err = resource_query_u64(query, "limit", 1, LIMIT_MAX, &page.limit, d);
	if (!err)
		err = resource_query_u64(query, "offset", 0, INT32_MAX, &page.offset, d);
	if (!err)
		err = live_feed_borrow(w->live, LIVE_USE_STATS, live_feed_stats_kinds(), d);
	if (!err)
		err = live_feed_look(w->live, LIVE_USE_STATS, d, &shot, &o);
	if (err)
		return err;
	args.from_ns = o.from_ns;
	args.limit = (uint32_t)(page.offset + page.limit);
	/* Of one process: the records are also about tasks that share CPUs with it, but not wholly. */
	args.pid = is_one ? w->cfg.pid : 0;
	err = pass_run(&pass_totals, live_shot_source(shot), &args, d, &r);
	if (err)
		return err;
	put_totals(out, report_root(r), &page);
	live_status_put_observed(out, &o);
	return 0;
}

/* Every record that any of the totals counts is one of these. */
static uint64_t stats_revision(struct mcp_world *w, const char *query)
{
	(void)query;
	return w->live ? live_feed_seen(w->live, live_feed_stats_kinds()) : 0;
}

static uint64_t dsq_revision(struct mcp_world *w, const char *query)
{
	(void)query;
	return w->live ? live_feed_seen(w->live, EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH)) : 0;
}

static int begin_stats(struct mcp_world *w, const char *query, struct diag *d)
{
	(void)query;
	return live_service_hold_stats(w->service, d);
}

static void end_stats(struct mcp_world *w, const char *query)
{
	(void)query;
	live_service_drop_stats(w->service);
}

#define COUNTED \
	", of the last 30 seconds, or since the first read; for as long as it is read or subscribed to; ?limit, ?offset"
#define AGGREGATED(name_, revision_, title_, description_)                                       \
	static int read_##name_(struct mcp_world *w, const char *query, struct json_writer *out, \
	                        struct diag *d)                                                  \
	{                                                                                        \
		return read_aggregated(w, query, #name_, out, d);                                \
	}                                                                                        \
	const struct resource resource_stats_##name_ = {                                         \
		.uri = "stats://aggregated/" #name_,                                             \
		.name = "aggregated-" #name_,                                                    \
		.title = (title_),                                                               \
		.description = (description_),                                                   \
		.set = TOOLSET_LIVE,                                                             \
		.read = read_##name_,                                                            \
		.begin = begin_stats,                                                            \
		.end = end_stats,                                                                \
		.revision = (revision_),                                                         \
	}

AGGREGATED(cpu, stats_revision, "Statistics by CPU",
           "switches, wakeups, migrations and scheduling latency of each CPU" COUNTED);
AGGREGATED(llc, stats_revision, "Statistics by last-level cache",
           "switches, wakeups, migrations and scheduling latency of each last-level cache" COUNTED);
AGGREGATED(node, stats_revision, "Statistics by NUMA node",
           "switches, wakeups, migrations and scheduling latency of each NUMA node" COUNTED);
AGGREGATED(
	dsq, dsq_revision, "Statistics by dispatch queue",
	"enqueues, dispatches and depth of the queues of a sched_ext scheduler, without which it changes only when one comes" COUNTED);
AGGREGATED(process, stats_revision, "Statistics by process",
           "the processes with most switches, their wakeups and scheduling latency" COUNTED);
AGGREGATED(thread, stats_revision, "Statistics by thread",
           "the threads with most switches, their wakeups, run time and scheduling latency" COUNTED);

static int read_stream(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	struct stream_request request;
	int err = stream_request_parse(query, &request, d);

	if (err)
		return err;
	jw_string(out, "uri", "events://stream");
	jw_bool(out, "stream", true);
	jw_string(out, "description",
	          "subscribe for updates; each read with ?cursor=next_cursor gives what came since");
	return event_stream_put(w->live, &request, out, d);
}

static int begin_stream(struct mcp_world *w, const char *query, struct diag *d)
{
	return live_service_subscribe(w->service, query, d);
}

static void end_stream(struct mcp_world *w, const char *query)
{
	live_service_unsubscribe(w->service, query);
}

static uint64_t stream_revision(struct mcp_world *w, const char *query)
{
	return live_service_newest(w->service, query);
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
	          "programs are attached while tracking is enabled, an analyzer runs, or a client "
	          "subscribes or reads");
	jw_end_object(w);
}

void live_status_put_collection(struct json_writer *w, const char *key, struct prog_watch *programs)
{
	uint64_t interval_ms = 0, nr_samples;
	bool is_running = prog_watch_runs(programs, &interval_ms, &nr_samples);

	jw_begin_object(w, key);
	jw_bool(w, "running", is_running);
	jw_u64_if(w, "interval_ms", is_running, interval_ms);
	jw_u64(w, "samples", nr_samples);
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
	live_status_put_collection(out, "stats_collection", live_service_programs(w->service));
	jw_begin_object(out, "analyzers");
	for (int i = 0; i < ANALYZERS; i++)
		jw_bool(out, live_analyzers[i].name, s.running & 1U << i);
	jw_end_object(out);
	jw_string(out, "note",
	          "control_event_tracking, control_stats_collection and "
	          "control_analyzers change it");
	return 0;
}

/* All but the times that pass of themselves. */
static uint64_t status_revision(struct mcp_world *w, const char *query)
{
	struct prog_watch *programs = live_service_programs(w->service);
	struct live_feed_status s;
	uint64_t interval_ms = 0, nr_samples;
	uint64_t values[10];

	(void)query;
	live_feed_status(w->live, &s);
	values[0] = prog_watch_runs(programs, &interval_ms, &nr_samples);
	values[1] = interval_ms;
	values[2] = (uint64_t)s.is_attached << 1 | s.is_tracking;
	values[3] = s.uses;
	values[4] = s.nr_holders;
	values[5] = s.nr_readers;
	values[6] = s.running;
	values[7] = s.kinds;
	values[8] = s.missing;
	values[9] = s.nr_streams;
	return hash_bytes(values, sizeof(values), 0);
}

const struct resource resource_events_status = {
	.uri = "control://events/status",
	.name = "collection-status",
	.title = "What is collected now",
	.description =
		"whether programs are attached, for which events, for how many readers, and which analyzers "
		"run",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.read = read_status,
	.revision = status_revision,
};
