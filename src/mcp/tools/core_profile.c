/* profile: this machine for some seconds, and what was found, in one call. */
#include <errno.h>
#include <unistd.h>

#include "mcp/profile_results.h"
#include "mcp/profile_service.h"
#include "mcp/tools/tools.h"
#include "mcp/world.h"

#define NS_PER_SECOND 1000000000ULL
#define POLL_US       100000U
#define POLLS_PER_S   10.0

/* clang-format off */
static const struct arg profile_args[] = {
	{ .name = "duration_secs", .type = ARG_NUMBER, .description = "how long", .min = 0, .max = 120, .fallback = "5" },
	{ .name = "event", .type = ARG_STRING, .description = "off-cpu (where tasks block), waker, hw:NAME, sw:NAME, "
	  "tracepoint:SUBSYSTEM:NAME, uprobe:PATH:SYMBOL; if not given, CPU time" },
	{ .name = "pid", .type = ARG_INTEGER, .description = "only this process", .min = 1, .max = 4194304 },
	{ .name = "cpu", .type = ARG_INTEGER, .description = "only this CPU", .min = 0, .max = 65535 },
	{ .name = "limit", .type = ARG_INTEGER, .description = "functions; as many as fit if not given", .min = 1, .max = 10000 },
	{ .name = "include_stacks", .type = ARG_BOOL, .description = "the stacks that led there", .fallback = "true" },
	{ 0 } };
/* clang-format on */

/* It ends by itself; sooner if the client gives up. */
static int wait_for_end(struct tool_call *call, double seconds)
{
	for (double done = 0; profile_service_state(call->world->profile) == PROFILER_RUNNING;
	     done++) {
		if (call_is_cancelled(call)) {
			(void)!profile_service_stop(call->world->profile, call->d);
			return diag_set(call->d, -ECANCELED, NULL, "cancelled");
		}
		call_progress(call, done / POLLS_PER_S, seconds, "profiling");
		usleep(POLL_US);
	}
	return 0;
}

static int profile(struct tool_call *call)
{
	double seconds = call_double(call, "duration_secs");
	struct profiler_cfg cfg = {
		.event = call_string(call, "event"),
		.cpu = call_has(call, "cpu") ? (uint32_t)call_u64(call, "cpu") : PROFILER_ANY_CPU,
		.tgid = (uint32_t)call_u64(call, "pid"),
		.duration_ns = (uint64_t)(seconds * (double)NS_PER_SECOND),
	};
	struct profile_page page = { .limit = (uint32_t)call_u64(call, "limit"),
		                     .wants_stacks = call_bool(call, "include_stacks"),
		                     .budget = TOOL_BUDGET };
	int err;

	if (!cfg.duration_ns)
		return diag_set(call->d, -EINVAL, NULL,
		                "\"duration_secs\" must be more than 0, and at most 120");
	err = profile_service_start(call->world->profile, &cfg, call->d);
	if (!err)
		err = wait_for_end(call, seconds);
	return err ? err : profile_page_put(call->world->profile, &page, call->out, call->d);
}

const struct tool tool_profile = {
	.name = "profile",
	.title = "Profile this machine",
	.description =
		"In which functions CPU time goes, or where tasks block (event off-cpu), for some seconds. Needs privileges. Not for "
		"waits for a CPU: record. Example: {\"pid\":4242,\"event\":\"off-cpu\"}.",
	.set = TOOLSET_CORE,
	.changes_something = true,
	.args = profile_args,
	.run = profile,
};
