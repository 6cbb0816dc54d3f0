/* Tools about events: which there are, and those that happen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/match.h"
#include "mcp/event_stream.h"
#include "mcp/outgoing.h"
#include "mcp/tools/tools.h"
#include "mcp/world.h"
#include "sys/pmu/event_names.h"

#define LIST_LIMIT  100U
#define LIST_BUDGET 2600U /* bytes of names in a default answer */
#define PATTERN_LEN 1024U
#define KNOWN_LEN   120U

static const char *const subsystem_types[] = { "kprobe", "perf", "all", NULL };

static const struct arg subsystem_args[] = {
	{ .name = "event_type",
	  .type = ARG_STRING,
	  .description = "which to count",
	  .choices = subsystem_types,
	  .fallback = "\"all\"" },
	{ 0 },
};

static const struct out_field subsystem_output[] = {
	{ "perf_subsystems", "object", "count, subsystems, event_counts, source" },
	{ "kprobe_info", "object", "total_functions, source, note" },
	{ 0 },
};

/* Calls fn with each subsystem and the number of its events, which are adjacent. */
static void each_subsystem(const struct event_names *n,
                           void (*fn)(struct json_writer *w, const char *name, size_t nr),
                           struct json_writer *w)
{
	for (size_t from = 0, to; from < n->nr; from = to) {
		for (to = from + 1;
		     to < n->nr && strcmp(n->items[to].subsystem, n->items[from].subsystem) == 0;)
			to++;
		fn(w, n->items[from].subsystem, to - from);
	}
}

static void put_name(struct json_writer *w, const char *name, size_t nr)
{
	(void)nr;
	jw_string(w, NULL, name);
}

static void put_count(struct json_writer *w, const char *name, size_t nr)
{
	jw_u64(w, name, nr);
}

static size_t nr_subsystems(const struct event_names *n)
{
	size_t nr = 0;

	for (size_t i = 0; i < n->nr; i++)
		nr += i == 0 || strcmp(n->items[i].subsystem, n->items[i - 1].subsystem) != 0;
	return nr;
}

static void put_subsystems(struct json_writer *w)
{
	struct diag d = { 0 };
	struct event_names n;

	jw_begin_object(w, "perf_subsystems");
	if (event_names_tracepoints("", &d, &n)) {
		jw_null(w, "count");
		jw_string(w, "note", d.what);
		jw_string(w, "hint", d.hint);
	} else {
		jw_u64(w, "count", nr_subsystems(&n));
		jw_begin_array(w, "subsystems");
		each_subsystem(&n, put_name, w);
		jw_end_array(w);
		jw_begin_object(w, "event_counts");
		each_subsystem(&n, put_count, w);
		jw_end_object(w);
		jw_string(w, "source", n.source);
		if (strcmp(n.source, "btf") == 0)
			jw_string(w, "note",
			          "tracefs cannot be read: the kernel's types name the tracepoints, "
			          "but not their subsystems");
		event_names_done(&n);
	}
	jw_end_object(w);
}

static void put_functions(struct json_writer *w)
{
	struct diag d = { 0 };
	struct event_names n;

	jw_begin_object(w, "kprobe_info");
	if (event_names_functions("", &d, &n)) {
		jw_null(w, "total_functions");
		jw_string(w, "note", d.what);
	} else {
		jw_u64(w, "total_functions", n.nr);
		jw_string(w, "source", n.source);
		jw_string(w, "note", "list_events with event_type kprobe and a filter lists them");
		event_names_done(&n);
	}
	jw_end_object(w);
}

static int list_subsystems(struct tool_call *call)
{
	const char *type = call_string(call, "event_type");

	if (strcmp(type, "kprobe") != 0)
		put_subsystems(call->out);
	if (strcmp(type, "perf") != 0)
		put_functions(call->out);
	return 0;
}

const struct tool tool_list_event_subsystems = {
	.name = "list_event_subsystems",
	.title = "Subsystems with tracepoints",
	.description =
		"Which subsystems of this kernel have tracepoints and how many, and how many functions can be probed. Use it before "
		"list_events. Not about a recorded trace.",
	.set = TOOLSET_LIVE,
	.args = subsystem_args,
	.output = subsystem_output,
	.run = list_subsystems,
};

static const char *const event_types[] = { "kprobe", "perf", NULL };

static const struct arg list_args[] = {
	{ .name = "event_type",
	  .type = ARG_STRING,
	  .description = "perf: tracepoints; kprobe: functions",
	  .is_required = true,
	  .choices = event_types },
	{ .name = "subsystem",
	  .type = ARG_STRING,
	  .description = "of tracepoints, such as sched; required for perf" },
	{ .name = "filter",
	  .type = ARG_STRING,
	  .description = "expression that names must match, ignoring case" },
	{ .name = "limit",
	  .type = ARG_INTEGER,
	  .description = "names at most; 100, or as many as fit a short answer, if not given",
	  .min = 1,
	  .max = 1000 },
	{ .name = "offset",
	  .type = ARG_INTEGER,
	  .description = "names to skip",
	  .min = 0,
	  .max = 1000000,
	  .fallback = "0" },
	{ 0 },
};

static const struct out_field list_output[] = {
	{ "event_type", "string", NULL },
	{ "total_count", "integer", "that match" },
	{ "returned_count", "integer", NULL },
	{ "offset", "integer", NULL },
	{ "limit", "integer", NULL },
	{ "has_more", "boolean", NULL },
	{ "events", "array", NULL },
	{ "filter_applied", "string|null", NULL },
	{ "searches_aborted", "integer",
	  "only where searches for filter were given up at a limit" },
	{ "incomplete", "string", "only then: what may be missing" },
	{ 0 },
};

static int unknown_subsystem(const struct event_names *n, const char *name, struct diag *d)
{
	char known[KNOWN_LEN] = "";
	size_t len = 0;

	for (size_t i = 0; i < n->nr; i++) {
		if (i && strcmp(n->items[i].subsystem, n->items[i - 1].subsystem) == 0)
			continue;
		if (len + strlen(n->items[i].subsystem) + 6 >= sizeof(known)) {
			(void)snprintf(known + len, sizeof(known) - len, "...");
			break;
		}
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
		                        n->items[i].subsystem);
	}
	return diag_set(d, -EINVAL, "list_event_subsystems lists them all",
	                "there is no subsystem %.40s; there are %s", name, known);
}

static int compile(const char *filter, struct diag *d, struct match **out)
{
	char pattern[PATTERN_LEN];
	const char *patterns[] = { pattern };

	*out = NULL;
	if (!filter)
		return 0;
	if ((size_t)snprintf(pattern, sizeof(pattern), "(?i)%s", filter) >= sizeof(pattern))
		return diag_set(d, -EINVAL, NULL, "\"filter\" is too long");
	return match_new(patterns, 1, d, out);
}

static bool is_wanted(const struct event_name *e, const char *subsystem, struct match *m)
{
	return (!subsystem || strcmp(e->subsystem, subsystem) == 0) &&
	       (!m || match_any(m, e->name, strlen(e->name)));
}

static void put_list(struct tool_call *call, const struct event_names *n, const char *subsystem,
                     struct match *m)
{
	bool is_given = call_was_given(call, "limit");
	uint64_t limit = is_given ? call_u64(call, "limit") : LIST_LIMIT;
	uint64_t offset = call_u64(call, "offset"), total = 0, put = 0;
	size_t bytes = 0;

	jw_begin_array(call->out, "events");
	for (size_t i = 0; i < n->nr; i++) {
		if (!is_wanted(&n->items[i], subsystem, m) || total++ < offset || put == limit)
			continue;
		bytes += strlen(n->items[i].name) + 3;
		if (!is_given && bytes > LIST_BUDGET) {
			limit = put; /* full: the next page begins here */
			continue;
		}
		jw_string(call->out, NULL, n->items[i].name);
		put++;
	}
	jw_end_array(call->out);
	jw_u64(call->out, "total_count", total);
	jw_u64(call->out, "returned_count", put);
	jw_u64(call->out, "offset", offset);
	jw_u64(call->out, "limit", limit);
	jw_bool(call->out, "has_more", offset + put < total);
	jw_string(call->out, "filter_applied", call_string(call, "filter"));
	event_stream_put_aborted(call->out, match_nr_aborted(m));
	jw_string(call->out, "source", n->source);
}

static bool has_subsystem(const struct event_names *n, const char *name)
{
	for (size_t i = 0; i < n->nr; i++)
		if (strcmp(n->items[i].subsystem, name) == 0)
			return true;
	return false;
}

static int list_events(struct tool_call *call)
{
	bool is_perf = strcmp(call_string(call, "event_type"), "perf") == 0;
	const char *subsystem = is_perf ? call_string(call, "subsystem") : NULL;
	SCOPED(scoped_match) struct match *m = NULL;
	struct event_names n;
	int err = compile(call_string(call, "filter"), call->d, &m);

	if (err)
		return err;
	if (is_perf && !subsystem)
		return diag_set(call->d, -EINVAL, "list_event_subsystems lists them",
		                "\"subsystem\" is needed for event_type perf");
	err = is_perf ? event_names_tracepoints("", call->d, &n)
	              : event_names_functions("", call->d, &n);
	if (err)
		return err;
	if (subsystem && !has_subsystem(&n, subsystem)) {
		err = unknown_subsystem(&n, subsystem, call->d);
	} else {
		jw_string(call->out, "event_type", call_string(call, "event_type"));
		if (subsystem)
			jw_string(call->out, "subsystem", subsystem);
		put_list(call, &n, subsystem, m);
	}
	event_names_done(&n);
	return err;
}

const struct tool tool_list_events = {
	.name = "list_events",
	.title = "Events that can be traced",
	.description =
		"Names of tracepoints of a subsystem, or of functions that can be probed, a page at a time and filtered. Use it to "
		"find an event for recording. For events as they happen use get_events.",
	.set = TOOLSET_LIVE,
	.args = list_args,
	.output = list_output,
	.run = list_events,
};

static const struct arg get_args[] = {
	{ .name = "types",
	  .type = ARG_STRINGS,
	  .description =
	          "such as sched_switch, sched_waking, sched_migrate_task, fork, exit, softirq, "
	          "ipi; the usual ones if not given" },
	{ .name = "cpu",
	  .type = ARG_INTEGER,
	  .description = "only of this CPU",
	  .min = 0,
	  .max = 8191 },
	{ .name = "pid",
	  .type = ARG_INTEGER,
	  .description = "only of this thread (of a switch: the one switched in)",
	  .min = 0,
	  .max = 4194304 },
	{ .name = "comm",
	  .type = ARG_STRING,
	  .description = "expression that the task's name must match" },
	{ .name = "min_latency_us",
	  .type = ARG_NUMBER,
	  .description = "only events with at least this latency",
	  .min = 0,
	  .max = 3600000000 },
	{ .name = "sample_rate",
	  .type = ARG_NUMBER,
	  .description = "return this part of the events; all if not given",
	  .min = 0,
	  .max = 1 },
	{ .name = "cursor",
	  .type = ARG_INTEGER,
	  .description = "next_cursor of the last answer: what came since; the newest if not given",
	  .min = 0,
	  .max = INT64_MAX },
	{ .name = "limit",
	  .type = ARG_INTEGER,
	  .description = "events at most; as many as fit a short answer if not given",
	  .min = 1,
	  .max = STREAM_LIMIT_MAX },
	{ 0 },
};

static const struct out_field get_output[] = {
	{ "events", "array", "the oldest first; type, ts, cpu, number and the fields of the type" },
	{ "count", "integer", NULL },
	{ "next_cursor", "integer", "for the next call" },
	{ "has_more", "boolean", "more events are available" },
	{ "dropped", "integer",
	  "events since the cursor that were overwritten before they were read" },
	{ "observed", "object", "sampling and losses" },
	{ "searches_aborted", "integer", "only where searches for comm were given up at a limit" },
	{ "incomplete", "string", "only then: what may be missing" },
	{ 0 },
};

static int join_types(const json_t *types, char *out, size_t size, struct diag *d)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < json_array_size(types); i++) {
		const char *name = json_string_value(json_array_get(types, i));
		int more = snprintf(out + len, size - len, "%s%s", i ? "," : "", name ? name : "");

		if (more < 0 || (size_t)more >= size - len)
			return diag_set(d, -EINVAL, "leave \"types\" out for the usual ones",
			                "\"types\" has too many names");
		len += (size_t)more;
	}
	return 0;
}

static int get_events(struct tool_call *call)
{
	bool is_given = call_was_given(call, "limit");
	const char *comm = call_string(call, "comm");
	struct stream_request r = {
		.has_cpu = call_has(call, "cpu"),
		.cpu = (uint32_t)call_u64(call, "cpu"),
		.has_pid = call_has(call, "pid"),
		.pid = (uint32_t)call_u64(call, "pid"),
		.has_min_latency = call_has(call, "min_latency_us"),
		.min_latency_us = call_double(call, "min_latency_us"),
		.sample_rate = call_has(call, "sample_rate") ? call_double(call, "sample_rate") : 1,
		.has_cursor = call_has(call, "cursor"),
		.cursor = call_u64(call, "cursor"),
		.limit = is_given ? call_u64(call, "limit") : LIST_LIMIT,
		.max_bytes = is_given ? SIZE_MAX : LIST_BUDGET,
	};
	int err = join_types(json_object_get(call->args, "types"), r.types, sizeof(r.types),
	                     call->d);

	if (!err && comm && strlen(comm) >= sizeof(r.comm))
		err = diag_set(call->d, -EINVAL, NULL, "\"comm\" is too long");
	if (err)
		return err;
	if (comm)
		(void)snprintf(r.comm, sizeof(r.comm), "%s", comm);
	err = stream_request_settle(&r, call->d);
	return err ? err : event_stream_put(call->world->live, &r, call->out, call->d);
}

const struct tool tool_get_events = {
	.name = "get_events",
	.title = "Events as they happen",
	.description =
		"The newest scheduler events of this machine, or those since a cursor, filtered. "
		"Attaches for half a minute after each call. Use it to inspect single switches and "
		"wakeups; for totals read stats://aggregated/*.",
	.set = TOOLSET_LIVE,
	.needs_daemon = true,
	.args = get_args,
	.output = get_output,
	.run = get_events,
};
