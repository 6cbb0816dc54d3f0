/* Tools that profile: where CPU time goes, or where tasks block. */
#include <errno.h>

#include "mcp/live_service.h"
#include "mcp/outgoing.h"
#include "mcp/profile_results.h"
#include "mcp/profile_service.h"
#include "mcp/tools/tools.h"
#include "mcp/world.h"

#define NS_PER_SECOND 1000000000ULL

static const struct arg start_args[] = {
	{ .name = "event",
	  .type = ARG_STRING,
	  .description =
	          "hw:NAME, sw:NAME, any PMU event, tracepoint:SUBSYSTEM:NAME, uprobe:PATH:SYMBOL, off-cpu (where tasks "
	          "block, by time) or waker; if not given, cycles where there is a PMU, else cpu-clock" },
	{ .name = "freq",
	  .type = ARG_INTEGER,
	  .description =
	          "samples per second and busy CPU; not for tracepoints, uprobes, off-cpu, waker",
	  .min = 1,
	  .max = 100000 },
	{ .name = "period",
	  .type = ARG_INTEGER,
	  .description = "one sample per this many events, in place of freq",
	  .min = 1,
	  .max = INT64_MAX },
	{ .name = "cpu",
	  .type = ARG_INTEGER,
	  .description = "only this CPU; -1 = all",
	  .min = -1,
	  .max = 65535,
	  .fallback = "-1" },
	{ .name = "pid",
	  .type = ARG_INTEGER,
	  .description = "only this process with its threads; -1 = all",
	  .min = -1,
	  .max = 4194304,
	  .fallback = "-1" },
	{ .name = "max_samples",
	  .type = ARG_INTEGER,
	  .description = "stop after this many; 0 = no limit",
	  .min = 0,
	  .max = INT64_MAX,
	  .fallback = "10000" },
	{ .name = "duration_secs",
	  .type = ARG_NUMBER,
	  .description = "stop after this time; 0 = until stop_perf_profiling",
	  .min = 0,
	  .max = 86400,
	  .fallback = "0" },
	{ 0 },
};

static const struct out_field status_output[] = {
	{ "profiler", "object",
	  "status, samples_collected, duration_ms, config, ended_by, lost, event_note" },
	{ "next", "string", "what to call next" },
	{ 0 },
};

static int start(struct tool_call *call)
{
	int64_t cpu = call_i64(call, "cpu"), pid = call_i64(call, "pid");
	struct profiler_cfg cfg = {
		.event = call_string(call, "event"),
		.frequency = call_u64(call, "freq"),
		.period = call_u64(call, "period"),
		.cpu = cpu < 0 ? PROFILER_ANY_CPU : (uint32_t)cpu,
		.tgid = pid > 0 ? (uint32_t)pid : 0,
		.max_samples = call_u64(call, "max_samples"),
		.duration_ns = (uint64_t)(call_double(call, "duration_secs") *
		                          (double)NS_PER_SECOND),
	};
	int err;

	if (cfg.frequency && cfg.period)
		return diag_set(call->d, -EINVAL, "give one of them",
		                "freq and period contradict each other");
	err = profile_service_start(call->world->profile, &cfg, call->d);
	if (err)
		return err;
	live_service_stopped(call->world->service, BEGUN_PROFILE); /* the one before is over */
	live_service_began(call->world->service, call->owner, BEGUN_PROFILE);
	profile_service_status(call->world->profile, call->out, "profiler");
	jw_string(call->out, "next",
	          "get_perf_results returns what was found so far; stop_perf_profiling ends it");
	return 0;
}

const struct tool tool_start_perf_profiling = {
	.name = "start_perf_profiling",
	.title = "Start profiling",
	.description =
		"Samples the stacks of what runs on this machine, or where tasks block (event off-cpu). Use it to learn which "
		"functions take CPU time, then get_perf_results. Needs privileges. Not for scheduling latency: use record_and_analyze.",
	.set = TOOLSET_PROFILE,
	.changes_something = true,
	.args = start_args,
	.output = status_output,
	.run = start,
};

static const struct arg no_args[] = { { 0 } };

static int stop(struct tool_call *call)
{
	int err = profile_service_stop(call->world->profile, call->d);

	if (err)
		return err;
	live_service_stopped(call->world->service, BEGUN_PROFILE);
	profile_service_status(call->world->profile, call->out, "profiler");
	jw_string(call->out, "next", "get_perf_results");
	return 0;
}

const struct tool tool_stop_perf_profiling = {
	.name = "stop_perf_profiling",
	.title = "Stop profiling",
	.description =
		"Ends what start_perf_profiling began; what was collected stays until the next start.",
	.set = TOOLSET_PROFILE,
	.changes_something = true,
	.is_idempotent = false,
	.args = no_args,
	.output = status_output,
	.run = stop,
};

static const struct arg results_args[] = {
	{ .name = "limit",
	  .type = ARG_INTEGER,
	  .description = "functions; if not given, as many as fit a short answer",
	  .min = 1,
	  .max = 10000 },
	{ .name = "include_stacks",
	  .type = ARG_BOOL,
	  .description = "the heaviest stacks that led to each function",
	  .fallback = "true" },
	{ 0 },
};

static const struct out_field results_output[] = {
	{ "symbols", "array",
	  "functions: symbol, module, file, line, count, percentage, pid, stack_traces" },
	{ "total_samples", "integer", NULL },
	{ "samples_collected", "integer", NULL },
	{ "event", "string", "what was sampled" },
	{ "lost", "integer", "samples that were dropped" },
	{ "truncated", "boolean", "functions or stacks were left out" },
	{ 0 },
};

static int results(struct tool_call *call)
{
	struct profile_page page = { .limit = (uint32_t)call_u64(call, "limit"),
		                     .wants_stacks = call_bool(call, "include_stacks"),
		                     .budget = TOOL_BUDGET };

	return profile_page_put(call->world->profile, &page, call->out, call->d);
}

const struct tool tool_get_perf_results = {
	.name = "get_perf_results",
	.title = "What the profile found",
	.description =
		"Functions by samples, with their stacks, of the profile that runs or ran last. "
		"Use after start_perf_profiling; may be called while it runs.",
	.set = TOOLSET_PROFILE,
	.args = results_args,
	.output = results_output,
	.run = results,
};
