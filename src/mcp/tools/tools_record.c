/* record_and_analyze: this machine for some seconds, into a trace that is loaded at once. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/tools.h"
#include "mcp/trace_call.h"
#include "mcp/world.h"
#include "session/event_sets.h"
#include "session/recorder.h"

/* clang-format off */
static const struct arg record_args[] = {
	{ .name = "duration_secs", .type = ARG_NUMBER, .description = "how long to record", .min = 0, .max = 300,
	  .fallback = "5" },
	{ .name = "pid", .type = ARG_INTEGER, .description = "only this process, all threads", .min = 1, .max = 4194304 },
	{ .name = "events", .type = ARG_STRINGS,
	  .description = "what to record: default, sched, wakeup, task, irq, power, ipi, workqueue, other, scx, all, or single "
			 "kinds; switches and wakings always" },
	{ .name = "trace_id", .type = ARG_STRING, .description = "its name; chosen if not given" },
	{ .name = "output_path", .type = ARG_STRING,
	  .description = "keep the file here, below an allowed directory; else it goes with the trace" },
	{ 0 } };
/* clang-format on */

static const struct out_field record_output[] = {
	OUT_TRACE_ID,
	{ "file_path", "string", NULL },
	{ "recording", "object", "duration_ms, events, switches, wakings, lost, bytes" },
	{ "summary", "object", "as of get_trace_summary" },
	OUT_PAGE,
	{ 0 },
};

#define SECOND_NS      1e9
#define MIN_DURATION_S 0.05

struct job {
	struct tool_call *call;
	struct recorder_cfg cfg;
	struct recorder_stats stats;
	int err;
};

static bool on_progress(void *ctx, const struct recorder_stats *s)
{
	struct job *job = ctx;

	call_progress(job->call, (double)s->totals.elapsed_ns / SECOND_NS,
	              (double)job->cfg.source.duration_ns / SECOND_NS, "recording");
	return !call_is_cancelled(job->call);
}

/* Gives up privileges when it has attached: on a thread of its own, as those of the server must stay. */
static void *record(void *ctx)
{
	struct job *job = ctx;
	struct recorder *r = NULL;
	enum record_end why;
	int closing;

	job->err = recorder_open(&job->cfg, job->call->d, &r);
	if (job->err)
		return NULL;
	job->err = recorder_run(r, on_progress, job, job->call->d, &why);
	closing = recorder_close(r, &job->stats, job->err ? NULL : job->call->d);
	if (!job->err)
		job->err = closing;
	return NULL;
}

static int run_job(struct job *job)
{
	pthread_t thread;
	int err = thread_start(&thread, record, job);

	if (err)
		return diag_set(job->call->d, err, NULL, "cannot start a thread");
	pthread_join(thread, NULL);
	if (!job->err && call_is_cancelled(job->call))
		job->err = diag_set(job->call->d, -ECANCELED, NULL, "cancelled");
	if (job->err)
		unlink(job->cfg.path);
	return job->err;
}

static int choose_events(struct tool_call *call, uint64_t *kinds)
{
	const json_t *words = json_object_get(call->args, "events");

	*kinds = event_set_always(json_array_size(words) > 0);
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (!event_set_kinds(word, kinds))
			return diag_set(
				call->d, -EINVAL,
				"use default, sched, wakeup, task, irq, power, ipi, workqueue, other, scx or all",
				"'%.60s' is no event that can be recorded", word);
	}
	return 0;
}

static int choose_file(struct tool_call *call, char **path)
{
	const char *given = call_string(call, "output_path");

	return given ? trace_store_allow(call->world->traces, given, true, call->d, path)
	             : trace_store_temporary(call->world->traces, call->d, path);
}

static void put_recording(struct json_writer *w, const struct recorder_stats *s)
{
	jw_begin_object(w, "recording");
	jw_double(w, "duration_ms", (double)s->totals.elapsed_ns / 1e6, 3);
	jw_u64(w, "events", s->totals.events);
	jw_u64(w, "switches", s->totals.switches);
	jw_u64(w, "wakings", s->totals.wakings);
	jw_u64(w, "lost", s->totals.lost);
	jw_u64(w, "bytes", s->bytes);
	jw_end_object(w);
}

static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return !call_is_cancelled(ctx);
}

static int load_and_tell(struct tool_call *call, const struct job *job)
{
	SCOPED(scoped_trace_use) struct trace_use use = { 0 };
	char id[TRACE_ID_LEN];
	struct trace_load load = { .path = job->cfg.path,
		                   .id = call_string(call, "trace_id"),
		                   .progress = go_on,
		                   .ctx = call };
	size_t nr_evicted;
	int err = trace_store_load(call->world->traces, &load, call->d, id, &nr_evicted);

	if (!err)
		err = trace_use_named(call, id, &use);
	if (err)
		return err;
	jw_string(call->out, "trace_id", id);
	jw_string(call->out, "file_path", job->cfg.path);
	put_recording(call->out, &job->stats);
	return trace_put_summary(call, use.s, "summary");
}

static int check(struct tool_call *call, double seconds)
{
	uint64_t pid = call_u64(call, "pid");
	char proc[32];

	if (seconds < MIN_DURATION_S)
		return diag_set(call->d, -EINVAL, NULL,
		                "\"duration_secs\" must be from 0.05 to 300");
	snprintf(proc, sizeof(proc), "/proc/%llu", (unsigned long long)pid);
	if (pid && access(proc, F_OK) != 0)
		return diag_set(call->d, -ESRCH, NULL, "there is no process %llu",
		                (unsigned long long)pid);
	return 0;
}

static int record_and_analyze(struct tool_call *call)
{
	SCOPED(scoped_free) char *path = NULL;
	double seconds = call_double(call, "duration_secs");
	struct job job = { .call = call,
		           .cfg = { .command_line = "schedscope mcp: record_and_analyze" } };
	int err = check(call, seconds);

	if (!err)
		err = choose_events(call, &job.cfg.source.kinds);
	if (!err)
		err = choose_file(call, &path);
	if (err)
		return err;
	job.cfg.path = path;
	job.cfg.source.tgid = (uint32_t)call_u64(call, "pid");
	job.cfg.source.duration_ns = (uint64_t)(seconds * SECOND_NS);
	job.cfg.source.is_deaf = true; /* the server obeys signals, and cancels this */
	err = run_job(&job);
	return err ? err : load_and_tell(call, &job);
}

const struct tool tool_record_and_analyze = {
	.name = "record_and_analyze",
	.title = "Record and analyse",
	.description =
		"Records what the scheduler of this machine does for some seconds, loads it, and answers with the summary and a "
		"trace_id for all trace tools. The best start for \"what is slow right now\". Needs privileges; "
		"for a file that exists use load_perfetto_trace.",
	.set = TOOLSET_TRACE,
	.changes_something = true,
	.args = record_args,
	.output = record_output,
	.run = record_and_analyze,
};
