/* Tools around the live analyzers: switch them, ask them. */
#include <errno.h>
#include <string.h>

#include "analyze/facts.h"
#include "analyze/pass.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "live/live_events.h"
#include "live/live_facts.h"
#include "live/live_feed.h"
#include "live/live_shot.h"
#include "mcp/live_service.h"
#include "mcp/live_status.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "mcp/world.h"

#define REPORT_BYTES ((size_t)64 << 20)
#define DEFAULT_ROWS 50U

#define ANALYZER_NAMES                                                                   \
	"event_buffer", "latency_tracker", "cpu_hotspot_analyzer", "migration_analyzer", \
		"process_history", "dsq_monitor", "rate_monitor", "wakeup_tracker",      \
		"waker_wakee_analyzer", "softirq_analyzer", "blame", "explain_wait"

static const char *const names[] = { ANALYZER_NAMES, NULL };
static const char *const names_or_all[] = { ANALYZER_NAMES, "all", NULL };
static const char *const actions[] = { "start", "stop", "reset", "status", NULL };

static const struct arg control_args[] = {
	{ .name = "action",
	  .type = ARG_STRING,
	  .description = "start begins anew, stop keeps what was found, reset forgets it",
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

	live_feed_status(call->world->live, &s);
	jw_begin_object(call->out, "analyzers");
	for (int i = 0; i < ANALYZERS; i++) {
		if (!(s.started & 1U << i))
			jw_null(call->out, live_analyzers[i].name);
		else
			jw_bool(call->out, live_analyzers[i].name, s.running & 1U << i);
	}
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
	if (strcmp(action, "start") == 0)
		live_service_began(call->world->service, call->owner, set);
	else if (strcmp(action, "stop") == 0)
		live_service_stopped(call->world->service, set);
	jw_string(call->out, "action", action);
	put_state(call);
	return 0;
}

const struct tool tool_control_analyzers = {
	.name = "control_analyzers",
	.title = "Start and stop live analyzers",
	.description =
		"Starts, stops or resets live analyzers; each attaches only the events that it "
		"needs. Start one, let some time pass, then query it: analyze_waker_wakee, "
		"analyze_softirq, or get_analyzer_report for the others. Answers cover the last 30 "
		"seconds at most.",
	.set = TOOLSET_LIVE,
	.changes_something = true,
	.is_destructive = true,
	.is_idempotent = true,
	.needs_daemon = true,
	.args = control_args,
	.output = control_output,
	.run = control,
};

/* What is asked for, of all analyzers. */
struct question {
	const char *mode;
	bool has_pid;
	uint32_t pid;    /* a thread */
	uint32_t vector; /* 1 + the softirq; 0 = all */
	double percentile, multiplier;
	uint64_t after;
	enum pass_by by;
	const char *cgroup; /* NULL = all */
};

static uint32_t nr_rows(const struct tool_call *call)
{
	uint64_t rows = call_was_given(call, "limit") ? call_u64(call, "limit") : DEFAULT_ROWS;

	return (uint32_t)(call_u64(call, "offset") + rows);
}

/* By the analysis of that name, over the time observed. */
static int run_pass(struct tool_call *call, const struct pass *pass, const struct live_shot *shot,
                    const struct question *q, const struct live_observed *o)
{
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args = {
		.cpu = PASS_ANY_CPU,
		.layer = EV_NO_LAYER,
		.from_ns = o->from_ns,
		.tid = q->has_pid ? q->pid : 0,
		.cgroup = q->cgroup,
		.category = q->mode,
		.percentile = q->percentile,
		.vector = q->vector,
		.limit = nr_rows(call),
		.by = q->by,
	};
	int err = pass_run(pass, live_shot_source(shot), &args, call->d, &r);

	return err ? err : call_put_report(call, report_root(r));
}

/* Out of the last records, beside the stream. */
static int put_buffer(struct tool_call *call, const struct live_facts_args *args,
                      struct facts *facts)
{
	struct live_events e = { 0 };
	int err = live_feed_buffer(call->world->live, call->d, &e);

	if (err)
		return err;
	event_buffer_facts(&e, args, facts);
	err = facts_is_whole(facts)
	              ? call_put_report(call, &facts->node)
	              : diag_set(call->d, -ENOMEM, "ask for fewer rows", "the report is too large");
	live_events_done(&e);
	return err;
}

/* Out of the state that the analyzer has; the stream waits while it is read. */
static int put_state_of(struct tool_call *call, enum analyzer_id id, const struct question *q,
                        const struct live_observed *o)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(REPORT_BYTES);
	struct facts *facts = mem ? facts_new(mem) : NULL;
	struct live_facts_args args = { .limit = nr_rows(call),
		                        .is_running = o->is_running,
		                        .has_pid = q->has_pid,
		                        .pid = q->pid,
		                        .after = q->after,
		                        .multiplier = q->multiplier };
	struct live_view v;
	int err = 0;

	if (!facts)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	if (id == ANALYZER_EVENT_BUFFER)
		return put_buffer(call, &args, facts);
	v = live_feed_lock_now(call->world->live);
	if (id == ANALYZER_RATE_MONITOR)
		event_rates_facts(v.rates, &args, facts);
	else
		err = history_facts(v.history, v.tasks, &args, facts);
	live_feed_unlock(call->world->live);
	if (err || !facts_is_whole(facts))
		return diag_set(call->d, -ENOMEM, "ask for fewer rows", "the report is too large");
	return call_put_report(call, &facts->node);
}

static const char *note_of(const struct live_observed *o)
{
	if (!o->was_started)
		return "this analyzer was never started: control_analyzers start, then ask again";
	if (o->is_released)
		return "what it had kept at its stop had to make room for newer data: start it again";
	return o->is_cut ? "memory was short: the answer is about less than the window" : NULL;
}

static int report(struct tool_call *call, enum analyzer_id id, const struct question *q)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = NULL;
	struct live_observed o;
	int err = live_feed_observe(call->world->live, id, call->d, &shot, &o);

	if (err)
		return err;
	jw_string(call->out, "analyzer", live_analyzers[id].name);
	if (shot)
		err = run_pass(call, live_analyzers[id].pass, shot, q, &o);
	else if (q->cgroup && o.was_started)
		err = diag_set(call->d, -EINVAL, "leave cgroup out",
		               "%s does not know the cgroups of tasks", live_analyzers[id].name);
	else if (o.was_started)
		err = put_state_of(call, id, q, &o);
	if (err)
		return err;
	live_status_put_observed(call->out, &o);
	if (note_of(&o))
		jw_string(call->out, "note", note_of(&o));
	return 0;
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
	  "whether it runs, the time that the answer covers, records seen and lost, sampling" },
	{ "truncated", "boolean", "lists were cut; page says how to continue" },
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
	ARG_CGROUP,
	PAGE_ARGS,
	{ 0 },
};

static int analyze_waker_wakee(struct tool_call *call)
{
	struct question q = {
		.mode = call_string(call, "mode"),
		.has_pid = call_has(call, "pid"),
		.pid = (uint32_t)call_u64(call, "pid"),
		.cgroup = call_string(call, "cgroup"),
	};

	return report(call, ANALYZER_WAKER_WAKEE, &q);
}

const struct tool tool_analyze_waker_wakee = {
	.name = "analyze_waker_wakee",
	.title = "Which threads wake which",
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
	struct question q = {
		.mode = call_string(call, "mode"),
		.vector = call_has(call, "softirq_nr") ? (uint32_t)call_u64(call, "softirq_nr") + 1
		                                       : 0,
	};

	return report(call, ANALYZER_SOFTIRQ, &q);
}

const struct tool tool_analyze_softirq = {
	.name = "analyze_softirq",
	.title = "Softirq time",
	.description =
		"How often softirqs run and how long they take, by type, CPU or interrupted process, on the running machine. Start "
		"softirq_analyzer with control_analyzers first; readable after a stop. For a trace use analyze_trace_softirq.",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.args = softirq_args,
	.output = report_output,
	.run = analyze_softirq,
};

/* As pass_by_name() has them. */
static const char *const bys[] = { "thread", "process", "comm", "cgroup", "class", NULL };

static const struct arg any_args[] = {
	{ .name = "analyzer",
	  .type = ARG_STRING,
	  .description = "which one",
	  .is_required = true,
	  .choices = names },
	{ .name = "mode",
	  .type = ARG_STRING,
	  .description = "as of analyze_waker_wakee and analyze_softirq" },
	PID_ARG("thread: process_history, wakeup_tracker, latency_tracker, waker_wakee_analyzer, blame, explain_wait"),
	{ .name = "by",
	  .type = ARG_STRING,
	  .description = "blame: what a row adds up; comm if not given",
	  .choices = bys },
	ARG_CGROUP,
	{ .name = "percentile",
	  .type = ARG_NUMBER,
	  .description =
	          "cpu_hotspot_analyzer: a CPU is hot from this percentile on; 90 if not given",
	  .min = 1,
	  .max = 100 },
	{ .name = "multiplier",
	  .type = ARG_NUMBER,
	  .description = "rate_monitor: how far above the usual rate is an anomaly; 2 if not given",
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

static enum pass_by by_of(const char *word)
{
	for (enum pass_by by = PASS_BY_THREAD; word && by < PASS_BYS; by++)
		if (strcmp(word, pass_by_name(by)) == 0)
			return by;
	return PASS_BY_DEFAULT;
}

static int get_report(struct tool_call *call)
{
	struct question q = {
		.mode = call_string(call, "mode"),
		.has_pid = call_has(call, "pid"),
		.pid = (uint32_t)call_u64(call, "pid"),
		.cgroup = call_string(call, "cgroup"),
		.percentile = call_double(call, "percentile"),
		.multiplier = call_double(call, "multiplier"),
		.after = call_u64(call, "after"),
		.by = by_of(call_string(call, "by")),
	};
	const char *name = call_string(call, "analyzer");

	for (int i = 0; i < ANALYZERS; i++)
		if (strcmp(live_analyzers[i].name, name) == 0)
			return report(call, (enum analyzer_id)i, &q);
	return diag_set(call->d, -EINVAL, NULL, "there is no analyzer %s", name);
}

const struct tool tool_get_analyzer_report = {
	.name = "get_analyzer_report",
	.title = "What a live analyzer found",
	.description =
		"What one of the live analyzers has found so far: blame (who keeps whom waiting, waits in progress included), explain_wait "
		"(why the longest waits, or those of one thread, are so long), latency_tracker (scheduling latency), cpu_hotspot_analyzer, "
		"migration_analyzer, process_history, dsq_monitor, rate_monitor, wakeup_tracker (chains), event_buffer and others. "
		"Start it with control_analyzers first; readable after a stop.",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.args = any_args,
	.output = report_output,
	.run = get_report,
};
