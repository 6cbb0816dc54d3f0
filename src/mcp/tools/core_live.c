/* live: what happens on this machine now, and triggers that say when something happens. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "live/live_feed.h"
#include "live/live_shot.h"
#include "mcp/live_service.h"
#include "mcp/tools/core_findings.h"
#include "mcp/tools/tools.h"
#include "mcp/trigger_service.h"
#include "mcp/trigger_story.h"
#include "mcp/world.h"

#define NS_PER_S  1000000000ULL
#define START_NS  (600 * NS_PER_S) /* after the last start or read */
#define NOW_WAITS 3U

static const char *const actions[] = {
	"start", "read", "stop", "trigger", "untrigger", "list", NULL
};

/* clang-format off */
static const struct arg live_args[] = {
	{ .name = "action", .type = ARG_STRING, .choices = actions, .fallback = "\"read\"",
	  .description = "start collects until stop; read works without, too; trigger and untrigger one condition, list yours" },
	{ .name = "seconds", .type = ARG_NUMBER, .description = "read: the last so many", .min = 1, .max = 30, .fallback = "10" },
	{ .name = "tid", .type = ARG_INTEGER, .description = "read: why this thread waited longest", .min = 1, .max = 4194304 },
	{ .name = "when", .type = ARG_STRING,
	  .description = "trigger: stall>5ms (waits for a CPU now), wakeup-latency>5ms, sleep>1s, throttled>20ms, slice>50ms, "
			 "queue-depth>8 or lost>0, then ,comm=PATTERN ,tid=N ,pid=N ,cgroup=PATTERN" },
	{ .name = "cooldown_secs", .type = ARG_NUMBER, .description = "trigger: tell again after this time", .min = 0,
	  .max = 3600, .fallback = "1" },
	{ .name = "id", .type = ARG_STRING, .description = "a trigger: to read or untrigger it" },
	{ 0 } };
/* clang-format on */

static int no_feed(struct tool_call *call)
{
	return diag_set(call->d, -EINVAL,
	                "start 'schedscope mcp --daemon' with its rights, or use record",
	                "this server collects no live data");
}

static void put_wait(struct json_writer *w, const struct report_node *n)
{
	const char *comm = report_text_at(n, "comm"), *behind = report_text_at(n, "parts.0.text");
	char text[192], t[24];

	(void)snprintf(text, sizeof(text), "%s (%llu) for %s, %s", comm ? comm : "?",
	               (unsigned long long)report_u64_at(n, "tid"),
	               text_duration(t, sizeof(t), report_u64_at(n, "wait_ns")),
	               behind ? behind : "from an unknown cause");
	jw_string(w, NULL, text);
}

/* Waits that last, the longest first, each in a few words. */
static int put_waiting(struct tool_call *call, const struct source *s)
{
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args = { .cpu = PASS_ANY_CPU,
		                  .layer = EV_NO_LAYER,
		                  .at_ns = s->end_ns,
		                  .category = "waits",
		                  .limit = NOW_WAITS };
	const struct report_node *list;
	int err = pass_run(&pass_explain, s, &args, call->d, &r);

	if (err)
		return err;
	list = report_at(report_root(r), "waits");
	jw_begin_array(call->out, "waiting_now");
	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next)
		if (report_at(n, "is_open") && report_at(n, "is_open")->b)
			put_wait(call->out, n);
	jw_end_array(call->out);
	return 0;
}

/* The findings of a recording, of the time asked for. */
static int put_findings(struct tool_call *call, const struct source *s)
{
	json_t *args = json_copy((json_t *)call->args);
	const json_t *given = call->args;
	int err;

	if (!args ||
	    json_object_set_new(args, "start_time_ns", json_integer((json_int_t)s->start_ns))) {
		json_decref(args);
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	}
	call->args = args;
	call->s = s;
	err = trace_put_findings(call);
	call->args = given;
	call->s = NULL;
	json_decref(args);
	return err;
}

static int collect(struct tool_call *call)
{
	struct mcp_world *w = call->world;
	bool is_on = live_service_is_on(w->service, BEGUN_LIVE);

	return is_on ? live_feed_lease(w->live, LIVE_USE_WHY, live_feed_why_kinds(), START_NS,
	                               call->d)
	             : live_feed_borrow(w->live, LIVE_USE_WHY, live_feed_why_kinds(), call->d);
}

/* Why a thread waited for so long, in sentences. */
static int put_thread(struct tool_call *call, const struct source *s, uint32_t tid)
{
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args = { .cpu = PASS_ANY_CPU,
		                  .layer = EV_NO_LAYER,
		                  .tid = tid,
		                  .from_ns = s->start_ns,
		                  .to_ns = s->end_ns,
		                  .limit = 1 };
	bool is_open;
	int err = pass_run(&pass_explain, s, &args, call->d, &r);

	if (err)
		return err;
	jw_double(call->out, "observed_s", (double)(s->end_ns - s->start_ns) / (double)NS_PER_S, 1);
	jw_string(call->out, "in_all", report_text_at(report_root(r), "in_all"));
	if (!trigger_story_put(call->out, report_root(r), &is_open))
		jw_string(call->out, "verdict", "it did not wait for a CPU in this time");
	return 0;
}

static int read_now(struct tool_call *call)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = NULL;
	uint64_t ns = (uint64_t)(call_double(call, "seconds") * (double)NS_PER_S);
	struct live_observed o;
	struct source s;
	int err = collect(call);

	if (!err)
		err = live_feed_look(call->world->live, LIVE_USE_WHY, call->d, &shot, &o);
	if (err)
		return err;
	s = *live_shot_source(shot);
	s.start_ns = o.to_ns > ns && o.to_ns - ns > o.from_ns ? o.to_ns - ns : o.from_ns;
	if (s.start_ns >= s.end_ns)
		return diag_set(call->d, -EAGAIN, "ask again in a second", "nothing was seen yet");
	if (call_has(call, "tid"))
		return put_thread(call, &s, (uint32_t)call_u64(call, "tid"));
	err = put_waiting(call, &s);
	return err ? err : put_findings(call, &s);
}

static int read_trigger(struct tool_call *call)
{
	const char *id = call_string(call, "id");
	int err = trigger_service_put(call->world->triggers, id, call->out);

	return err ? diag_set(call->d, err, "action list shows yours", "there is no trigger %.32s",
	                      id)
	           : 0;
}

static int read_action(struct tool_call *call)
{
	return call_string(call, "id") ? read_trigger(call) : read_now(call);
}

static int start(struct tool_call *call)
{
	struct mcp_world *w = call->world;
	int err = live_feed_lease(w->live, LIVE_USE_WHY, live_feed_why_kinds(), START_NS, call->d);

	if (err)
		return err;
	live_service_began(w->service, call->owner, BEGUN_LIVE);
	jw_bool(call->out, "collecting", true);
	jw_string(call->out, "note",
	          "the last 30 s are kept; it ends with stop, with this client, or 10 minutes after "
	          "the last read");
	return 0;
}

static int stop(struct tool_call *call)
{
	struct mcp_world *w = call->world;
	struct live_feed_status s;

	if (live_service_leave(w->service, call->owner, BEGUN_LIVE))
		live_feed_return(w->live, LIVE_USE_WHY, live_feed_why_kinds());
	live_feed_status(w->live, &s);
	jw_bool(call->out, "collecting",
	        s.nr_holders || s.nr_readers || s.running || s.is_tracking);
	return 0;
}

static int set_trigger(struct tool_call *call)
{
	const char *when = call_string(call, "when");
	uint64_t cooldown_ns = (uint64_t)(call_double(call, "cooldown_secs") * (double)NS_PER_S);
	char id[TRIGGER_ID_LEN], uri[TRIGGER_ID_LEN + 16];
	int err;

	if (!when)
		return diag_set(call->d, -EINVAL, "such as stall>5ms,comm=nginx*",
		                "\"when\" is missing: the condition");
	err = trigger_service_add(call->world->triggers, call->owner, when, cooldown_ns, call->d,
	                          id);
	if (err)
		return err;
	(void)snprintf(uri, sizeof(uri), "trigger://%s", id);
	jw_string(call->out, "id", id);
	jw_string(call->out, "uri", uri);
	jw_string(call->out, "when", when);
	jw_string(
		call->out, "note",
		"subscribe to the uri to be notified; reading it, or action read with the id, says "
		"why it held. It ends with untrigger, with this client, or 10 minutes after it was last read");
	return 0;
}

static int untrigger(struct tool_call *call)
{
	const char *id = call_string(call, "id");

	if (!id)
		return diag_set(call->d, -EINVAL, "action list shows yours", "\"id\" is missing");
	jw_string(call->out, "removed", id);
	return trigger_service_remove(call->world->triggers, call->owner, id, call->d);
}

static int list(struct tool_call *call)
{
	struct trigger_line lines[TRIGGERS_PER_OWNER];
	uint32_t nr = trigger_service_list(call->world->triggers, call->owner, lines);

	jw_begin_array(call->out, "triggers");
	for (uint32_t i = 0; i < nr; i++) {
		jw_begin_object(call->out, NULL);
		jw_string(call->out, "id", lines[i].id);
		jw_string(call->out, "when", lines[i].when);
		jw_u64(call->out, "fired", lines[i].fired);
		jw_end_object(call->out);
	}
	jw_end_array(call->out);
	return 0;
}

static int live(struct tool_call *call)
{
	static int (*const run[])(struct tool_call *) = { start,       read_action, stop,
		                                          set_trigger, untrigger,   list };
	const char *action = call_string(call, "action");
	size_t i = 0;

	while (strcmp(actions[i], action) != 0)
		i++;
	if (!call->world->live)
		return no_feed(call);
	if (call->world->cfg.is_read_only && run[i] != read_action && run[i] != list)
		return diag_set(call->d, -EPERM, "read works", "this server is read-only");
	return run[i](call);
}

const struct tool tool_live = {
	.name = "live",
	.title = "What happens now",
	.description =
		"Who waits on this machine now, for how long and why, CPUs and busiest tasks, ranked by time lost. A trigger makes a "
		"resource trigger://ID that tells its subscribers when a condition holds, and whose reading says why. For a closer look "
		"at some seconds: record. Example: {\"action\":\"trigger\",\"when\":\"stall>5ms,comm=nginx*\"}.",
	.set = TOOLSET_CORE,
	.args = live_args,
	.run = live,
};
