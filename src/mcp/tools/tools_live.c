/* Tools that say where statistics are and switch collecting on and off. */
#include <string.h>

#include "live/live_feed.h"
#include "mcp/live_service.h"
#include "mcp/live_status.h"
#include "mcp/resource.h"
#include "mcp/tools/tools.h"
#include "mcp/world.h"
#include "sys/bpf/prog_watch.h"

static const char *const stat_types[] = { "cpu",    "llc",       "node",   "dsq", "process",
	                                  "thread", "scheduler", "system", NULL };

static const struct arg query_args[] = {
	{ .name = "stat_type",
	  .type = ARG_STRING,
	  .description = "only resources of this type; all if not given",
	  .choices = stat_types },
	{ 0 },
};

static const struct out_field query_output[] = {
	{ "description", "string", "what the list holds" },
	{ "resources", "array", "uri and description of each" },
	{ "hint", "string", "how to read them" },
	{ 0 },
};

/* stats://TYPE/... or stats://aggregated/TYPE */
static bool is_of_type(const char *uri, const char *type)
{
	static const char scheme[] = "stats://", group[] = "aggregated/";
	const char *rest = uri + strlen(scheme);
	size_t len = type ? strlen(type) : 0;

	if (strncmp(uri, scheme, strlen(scheme)) != 0)
		return false;
	if (!type)
		return true;
	if (strncmp(rest, group, strlen(group)) == 0)
		return strcmp(rest + strlen(group), type) == 0;
	return strncmp(rest, type, len) == 0 && rest[len] == '/';
}

static int query_stats(struct tool_call *call)
{
	const char *type = call_string(call, "stat_type");
	char line[64] = "Available statistics resources:";

	if (type)
		(void)snprintf(line, sizeof(line), "Statistics resources for %s:", type);
	jw_string(call->out, "description", line);
	jw_begin_array(call->out, "resources");
	for (size_t i = 0; i < nr_resources; i++) {
		if (!is_of_type(resources[i]->uri, type))
			continue;
		jw_begin_object(call->out, NULL);
		jw_string(call->out, "uri", resources[i]->uri);
		jw_string(call->out, "description", resources[i]->description);
		jw_end_object(call->out);
	}
	jw_end_array(call->out);
	jw_string(
		call->out, "hint",
		call->world->live
			? "read them with resources/read; the first read of stats://aggregated/* attaches"
			: "read them with resources/read; stats://aggregated/* need --daemon");
	return 0;
}

const struct tool tool_query_stats = {
	.name = "query_stats",
	.title = "Where statistics are",
	.description =
		"Lists the resources that hold statistics of this machine, by type. Use it to learn which URI to read; it gives "
		"no numbers itself.",
	.set = TOOLSET_LIVE,
	.args = query_args,
	.output = query_output,
	.run = query_stats,
};

static const char *const tracking_actions[] = { "enable", "disable", "status", NULL };

static const struct arg tracking_args[] = {
	{ .name = "action",
	  .type = ARG_STRING,
	  .description = "enable: attach everything until disable; status: say what is attached",
	  .is_required = true,
	  .choices = tracking_actions },
	{ 0 },
};

static const struct out_field tracking_output[] = {
	{ "action", "string", NULL },
	{ "event_tracking", "object",
	  "enabled, programs_attached, event_types, unavailable_types, subscriptions, readers" },
	{ 0 },
};

static int control_tracking(struct tool_call *call)
{
	const char *action = call_string(call, "action");
	struct live_feed *feed = call->world->live;
	struct live_feed_status s;
	int err = 0;

	if (strcmp(action, "status") != 0)
		err = live_feed_track(feed, strcmp(action, "enable") == 0, call->d);
	if (err)
		return err;
	if (strcmp(action, "enable") == 0)
		live_service_began(call->world->service, call->owner, BEGUN_TRACKING);
	else if (strcmp(action, "disable") == 0)
		live_service_stopped(call->world->service, BEGUN_TRACKING);
	live_feed_status(feed, &s);
	jw_string(call->out, "action", action);
	live_status_put_tracking(call->out, "event_tracking", &s);
	return 0;
}

const struct tool tool_control_event_tracking = {
	.name = "control_event_tracking",
	.title = "Attach everything",
	.description =
		"Keeps all event programs attached until it is disabled, so that statistics and "
		"events continue without readers. Not needed for a single query: reading "
		"stats://aggregated/*, get_events and the analyzers attach what they need.",
	.set = TOOLSET_LIVE,
	.changes_something = true,
	.is_idempotent = true,
	.needs_daemon = true,
	.args = tracking_args,
	.output = tracking_output,
	.run = control_tracking,
};

static const char *const collection_actions[] = { "start", "stop", "status", NULL };

static const struct arg collection_args[] = {
	{ .name = "action",
	  .type = ARG_STRING,
	  .description = "start or stop sampling, or say whether it runs",
	  .is_required = true,
	  .choices = collection_actions },
	{ .name = "interval_ms",
	  .type = ARG_INTEGER,
	  .description = "time between two samples",
	  .min = 10,
	  .max = 10000,
	  .fallback = "100" },
	{ 0 },
};

static const struct out_field collection_output[] = {
	{ "action", "string", NULL },
	{ "stats_collection", "object", "running, interval_ms, samples" },
	{ 0 },
};

static int control_collection(struct tool_call *call)
{
	struct prog_watch *programs = live_service_programs(call->world->service);
	const char *action = call_string(call, "action");
	int err = 0;

	if (strcmp(action, "start") == 0)
		err = prog_watch_start(programs, call_u64(call, "interval_ms"), call->d);
	else if (strcmp(action, "stop") == 0)
		prog_watch_stop(programs);
	if (err)
		return err;
	if (strcmp(action, "start") == 0)
		live_service_began(call->world->service, call->owner, BEGUN_PROGRAMS);
	else if (strcmp(action, "stop") == 0)
		live_service_stopped(call->world->service, BEGUN_PROGRAMS);
	jw_string(call->out, "action", action);
	live_status_put_collection(call->out, "stats_collection", programs);
	return 0;
}

const struct tool tool_control_stats_collection = {
	.name = "control_stats_collection",
	.title = "Sample BPF programs",
	.description =
		"Starts or stops sampling the run times of all BPF programs, which bpf://programs then shows as averages, "
		"percentiles and call rates. While it runs the kernel counts runs, which costs about 80 ns per run.",
	.set = TOOLSET_LIVE,
	.changes_something = true,
	.is_idempotent = true,
	.needs_daemon = true,
	.args = collection_args,
	.output = collection_output,
	.run = control_collection,
};
