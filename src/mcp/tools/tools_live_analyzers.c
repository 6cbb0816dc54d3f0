/* Tools around the ten live analyzers: switch them, ask them. */
#include <errno.h>
#include <string.h>

#include "analyze/analyzers_report.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "mcp/live_status.h"
#include "mcp/tools.h"
#include "mcp/world.h"
#include "session/live_feed.h"

#define REPORT_BYTES ((size_t)64 << 20)
#define DEFAULT_ROWS 50U

#define ANALYZER_NAMES                                                                   \
	"event_buffer", "latency_tracker", "cpu_hotspot_analyzer", "migration_analyzer", \
		"process_history", "dsq_monitor", "rate_monitor", "wakeup_tracker",      \
		"waker_wakee_analyzer", "softirq_analyzer"

static const char *const names[] = { ANALYZER_NAMES, NULL };
static const char *const names_or_all[] = { ANALYZER_NAMES, "all", NULL };
static const char *const actions[] = { "start", "stop", "reset", "status", NULL };

static const struct arg control_args[] = {
	{ .name = "action",
	  .type = ARG_STRING,
	  .description = "stop keeps what was found, reset forgets it",
	  .is_required = true,
	  .choices = actions },
	{ .name = "analyzer",
	  .type = ARG_STRING,
	  .description = "which one",
	  .choices = names_or_all,
	  .fallback = "\"all\"" },
	{ 0 },
};

static const struct out_field control_output[] = {
	{ "action", "string", NULL },
	{ "analyzers", "object", "of each name: true running, false stopped, null never started" },
	{ "event_types", "array", "events that are collected now, for all needs together" },
	{ 0 },
};

static void put_state(struct tool_call *call)
{
	struct live_feed_status s;
	struct live_view v;

	live_feed_status(call->world->live, &s);
	v = live_feed_lock_now(call->world->live);
	jw_begin_object(call->out, "analyzers");
	for (int i = 0; i < ANALYZERS; i++) {
		const char *name = analyzers_name((enum analyzer_id)i);

		if (!analyzers_has(v.analyzers, (enum analyzer_id)i))
			jw_null(call->out, name);
		else
			jw_bool(call->out, name, s.running & 1U << i);
	}
	live_feed_unlock(call->world->live);
	jw_end_object(call->out);
	live_status_put_types(call->out, "event_types", s.kinds);
	live_status_put_types(call->out, "unavailable_types", s.missing);
}

static int control(struct tool_call *call)
{
	const char *action = call_string(call, "action");
	struct live_feed *feed = call->world->live;
	uint32_t set = 0;
	int err = analyzers_set(call_string(call, "analyzer"), call->d, &set);

	if (!err && strcmp(action, "start") == 0)
		err = live_feed_start(feed, set, call->d);
	else if (!err && strcmp(action, "stop") == 0)
		live_feed_stop(feed, set);
	else if (!err && strcmp(action, "reset") == 0)
		live_feed_reset(feed, set);
	if (err)
		return err;
	jw_string(call->out, "action", action);
	put_state(call);
	return 0;
}

const struct tool tool_control_analyzers = {
	.name = "control_analyzers",
	.title = "Start and stop live analyzers",
	.description =
		"Starts, stops or resets live analyzers; each attaches just the events that it needs. Start one, let some time pass, "
		"then ask it: analyze_waker_wakee, analyze_softirq, or get_analyzer_report for the others.",
	.set = TOOLSET_LIVE,
	.changes_something = true,
	.is_destructive = true,
	.is_idempotent = true,
	.needs_daemon = true,
	.args = control_args,
	.output = control_output,
	.run = control,
};

static int report(struct tool_call *call, enum analyzer_id id, struct analyzer_args *args)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(REPORT_BYTES);
	uint64_t rows = call_was_given(call, "limit") ? call_u64(call, "limit") : DEFAULT_ROWS;
	struct facts *facts = NULL;
	struct live_view v;
	bool was_started;
	int err;

	if (!mem)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	args->limit = (uint32_t)(call_u64(call, "offset") + rows);
	v = live_feed_lock(call->world->live);
	was_started = analyzers_has(v.analyzers, id);
	err = analyzers_report(v.analyzers, id, args, mem, call->d, &facts);
	live_feed_unlock(call->world->live);
	if (!err)
		err = call_put_report(call, facts ? &facts->node : NULL);
	if (!err && !was_started)
		jw_string(
			call->out, "note",
			"this analyzer was never started: control_analyzers start, then ask again");
	return err;
}

#define PAGE_ARGS                                                                               \
	{ .name = "limit",                                                                      \
	  .type = ARG_INTEGER,                                                                  \
	  .description = "rows of each list; as many as fit a short answer if not given",       \
	  .min = 1,                                                                             \
	  .max = 10000 },                                                                       \
	{                                                                                       \
		.name = "offset", .type = ARG_INTEGER, .description = "rows to skip", .min = 0, \
		.max = 1000000, .fallback = "0"                                                 \
	}

#define PID_ARG(what)                                                                \
	{                                                                            \
		.name = "pid", .type = ARG_INTEGER, .description = (what), .min = 0, \
		.max = 4194304                                                       \
	}

static const struct out_field report_output[] = {
	{ "observed", "object",
	  "whether it runs, for how long it observed, records seen and lost, sampling" },
	{ "truncated", "boolean", "lists were cut; page tells how to go on" },
	{ "page", "object", NULL },
	{ "note", "string", NULL },
	{ 0 },
};

static const char *const waker_modes[] = { "critical", "frequency", "latency", "bidirectional",
	                                   "for_pid",  "summary",   NULL };

static const struct arg waker_args[] = {
	{ .name = "mode",
	  .type = ARG_STRING,
	  .description =
	          "order: critical = wakeups times average latency; bidirectional: pairs that wake "
	          "each other; for_pid: all of one thread",
	  .choices = waker_modes,
	  .fallback = "\"critical\"" },
	PID_ARG("thread, for mode for_pid"),
	PAGE_ARGS,
	{ 0 },
};

static int analyze_waker_wakee(struct tool_call *call)
{
	struct analyzer_args args = {
		.mode = call_string(call, "mode"),
		.has_pid = call_has(call, "pid"),
		.pid = (uint32_t)call_u64(call, "pid"),
	};

	return report(call, ANALYZER_WAKER_WAKEE, &args);
}

const struct tool tool_analyze_waker_wakee = {
	.name = "analyze_waker_wakee",
	.title = "Who wakes whom",
	.description =
		"Which threads wake which, how often, how long the woken ones wait, and across which CPUs and caches, on the running "
		"machine. Start waker_wakee_analyzer with control_analyzers first; readable after a stop. For a trace use "
		"analyze_wakeup_relations.",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.args = waker_args,
	.output = report_output,
	.run = analyze_waker_wakee,
};

static const char *const softirq_modes[] = { "summary", "by_type", "by_cpu", "by_process", NULL };

static const struct arg softirq_args[] = {
	{ .name = "mode",
	  .type = ARG_STRING,
	  .description = "how to group",
	  .choices = softirq_modes,
	  .fallback = "\"summary\"" },
	{ .name = "softirq_nr",
	  .type = ARG_INTEGER,
	  .description = "only this vector, for by_cpu and by_process",
	  .min = 0,
	  .max = 31 },
	PAGE_ARGS,
	{ 0 },
};

static int analyze_softirq(struct tool_call *call)
{
	struct analyzer_args args = {
		.mode = call_string(call, "mode"),
		.has_softirq_nr = call_has(call, "softirq_nr"),
		.softirq_nr = (uint32_t)call_u64(call, "softirq_nr"),
	};

	return report(call, ANALYZER_SOFTIRQ, &args);
}

const struct tool tool_analyze_softirq = {
	.name = "analyze_softirq",
	.title = "Softirq time",
	.description =
		"How often softirqs run and how long they take, by type, CPU or interrupted process, on the running machine. Start "
		"softirq_analyzer with control_analyzers first; readable after a stop. For a trace use analyze_softirq_analysis.",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.args = softirq_args,
	.output = report_output,
	.run = analyze_softirq,
};

static const struct arg any_args[] = {
	{ .name = "analyzer",
	  .type = ARG_STRING,
	  .description = "which one",
	  .is_required = true,
	  .choices = names },
	{ .name = "mode",
	  .type = ARG_STRING,
	  .description = "as of analyze_waker_wakee and analyze_softirq" },
	PID_ARG("thread: process_history, wakeup_tracker, latency_tracker, waker_wakee_analyzer"),
	{ .name = "percentile",
	  .type = ARG_NUMBER,
	  .description =
	          "cpu_hotspot_analyzer: a CPU is hot from this percentile on; 90 if not given",
	  .min = 1,
	  .max = 100 },
	{ .name = "multiplier",
	  .type = ARG_NUMBER,
	  .description = "rate_monitor: how much above the usual is strange; 2 if not given",
	  .min = 1,
	  .max = 1000 },
	{ .name = "after",
	  .type = ARG_INTEGER,
	  .description = "event_buffer: only events with a higher number, the oldest first",
	  .min = 0,
	  .max = INT64_MAX },
	PAGE_ARGS,
	{ 0 },
};

static int get_report(struct tool_call *call)
{
	struct analyzer_args args = {
		.mode = call_string(call, "mode"),
		.has_pid = call_has(call, "pid"),
		.pid = (uint32_t)call_u64(call, "pid"),
		.percentile = call_double(call, "percentile"),
		.multiplier = call_double(call, "multiplier"),
		.after = call_u64(call, "after"),
	};
	const char *name = call_string(call, "analyzer");

	for (int i = 0; i < ANALYZERS; i++)
		if (strcmp(analyzers_name((enum analyzer_id)i), name) == 0)
			return report(call, (enum analyzer_id)i, &args);
	return diag_set(call->d, -EINVAL, NULL, "there is no analyzer %s", name);
}

const struct tool tool_get_analyzer_report = {
	.name = "get_analyzer_report",
	.title = "What a live analyzer found",
	.description =
		"What one of the ten live analyzers has found so far: latency_tracker (scheduling latency), cpu_hotspot_analyzer, "
		"migration_analyzer, process_history, dsq_monitor, rate_monitor, wakeup_tracker (chains), event_buffer and others. "
		"Start it with control_analyzers first; readable after a stop.",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.args = any_args,
	.output = report_output,
	.run = get_report,
};
