/* record_and_analyze: this machine for some seconds, into a trace that is loaded at once. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "collect/event_sets.h"
#include "mcp/tools/core_findings.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "mcp/traces/trace_relay.h"
#include "mcp/traces/trace_store.h"
#include "mcp/world.h"
#include "record/recorder.h"
#include "sys/proc/pid_namespace.h"

/* clang-format off */
static const struct arg record_args[] = {
	{ .name = "duration_secs", .type = ARG_NUMBER, .description = "how long to record", .min = 0, .max = 300,
	  .fallback = "5" },
	{ .name = "pid", .type = ARG_INTEGER, .description = "only this process, all threads", .min = 1, .max = 4194304 },
	{ .name = "events", .type = ARG_STRINGS,
	  .description = "what to record: default, sched, wakeup, sleep, block, net, mm, fs, lock, task, irq, power, ipi, workqueue, other, scx, all, or single "
			 "kinds; switches and wakings always" },
	{ .name = "trace_id", .type = ARG_STRING, .description = "its name; chosen if not given" },
	{ .name = "output_path", .type = ARG_STRING,
	  .description = "keep the file here, below an allowed directory, under a name that is not in use; otherwise "
			 "it is deleted with the trace" },
	{ 0 } };
/* clang-format on */

/* clang-format off */
static const struct arg core_record_args[] = {
	{ .name = "duration_secs", .type = ARG_NUMBER, .description = "how long to record", .min = 0, .max = 300, .fallback = "5" },
	{ .name = "pid", .type = ARG_INTEGER, .description = "only this process; others are then unknown", .min = 1, .max = 4194304 },
	{ .name = "events", .type = ARG_STRINGS, .fallback = "[\"default\",\"sleep\"]",
	  .description = "default and sleep if not given; more: block (disks), lock (of the kernel), wakeup, ipi, workqueue, scx, all" },
	{ .name = "trace_id", .type = ARG_STRING, .description = "its name; chosen if not given" },
	{ .name = "output_path", .type = ARG_STRING, .description = "keep the file, below an allowed directory" },
	ARG_DETAIL, { 0 } };
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

struct record_job {
	struct tool_call *call;
	struct recorder_cfg cfg;
	struct recorder_stats stats;
	int err;
};

static bool on_progress(void *ctx, const struct recorder_stats *s)
{
	struct record_job *job = ctx;

	call_progress(job->call, (double)s->totals.elapsed_ns / SECOND_NS,
	              (double)job->cfg.source.duration_ns / SECOND_NS, "recording");
	return !call_is_cancelled(job->call);
}

/* Gives up privileges when it has attached: on a thread of its own, as those of the server must stay. */
static void *record(void *ctx)
{
	struct record_job *job = ctx;
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

static int run_job(struct record_job *job)
{
	pthread_t thread;
	int err = thread_start(&thread, record, job);

	if (err)
		return diag_set(job->call->d, err, NULL, "cannot start a thread");
	pthread_join(thread, NULL);
	if (!job->err && call_is_cancelled(job->call))
		job->err = diag_set(job->call->d, -ECANCELED, NULL, "cancelled");
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
				"use default, sched, wakeup, sleep, block, net, mm, fs, lock, task, irq, power, ipi, workqueue, other, scx or all",
				"'%.60s' is not an event that can be recorded", word);
	}
	return 0;
}

/* Where requested, which is created at once, or in our own directory. */
static int choose_file(struct tool_call *call, struct record_job *job, char **path)
{
	const char *given = call_string(call, "output_path");
	int err;

	if (given) {
		job->cfg.fd = trace_store_create(call->world->traces, call->owner, given, call->d,
		                                 path);
		return job->cfg.fd < 0 ? job->cfg.fd : 0;
	}
	err = trace_store_temporary(call->world->traces, call->owner, call->d, path);
	job->cfg.path = *path;
	return err;
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
	if (!pid_namespace_is_initial())
		jw_string(w, "note", PID_NAMESPACE_NOTE);
	jw_end_object(w);
}

static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return !call_is_cancelled(ctx);
}

/* Where the trace is. */
static int put_summary(struct tool_call *call)
{
	return trace_put_summary(call, call->s, "summary");
}

static int load_and_report(struct tool_call *call, const struct record_job *job, const char *path)
{
	SCOPED(scoped_trace_answer) struct trace_answer answer = { 0 };
	char id[TRACE_ID_LEN];
	struct trace_load load = { .owner = call->owner,
		                   .path = path,
		                   .id = call_string(call, "trace_id"),
		                   .progress = go_on,
		                   .ctx = call };
	size_t nr_evicted = 0;
	int err = trace_store_load(call->world->traces, &load, call->d, id, &nr_evicted);

	if (!err)
		err = trace_relay(call, id, true, &answer);
	if (err)
		return err;
	call_log_loaded(call, path, id, nr_evicted);
	if (call_wants_metadata(call) || call_has(call, "output_path"))
		jw_string(call->out, "file_path", path);
	if (call_wants_metadata(call) || job->stats.totals.lost || !pid_namespace_is_initial())
		put_recording(call->out, &job->stats);
	jw_raw_members(call->out, answer.json, answer.len);
	return 0;
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
		return diag_set(call->d, -EINVAL, NULL, "there is no process %llu",
		                (unsigned long long)pid);
	return 0;
}

static int record_and_analyze(struct tool_call *call)
{
	SCOPED(scoped_free) char *path = NULL;
	double seconds = call_double(call, "duration_secs");
	struct record_job job = { .call = call,
		                  .cfg = { .fd = -1,
		                           .command_line = "schedscope mcp: record_and_analyze" } };
	int err = check(call, seconds);

	if (!err)
		err = choose_events(call, &job.cfg.source.kinds);
	if (!err)
		err = choose_file(call, &job, &path);
	if (err)
		return err;
	job.cfg.is_real_path = true;
	job.cfg.source.tgid = (uint32_t)call_u64(call, "pid");
	job.cfg.source.duration_ns = (uint64_t)(seconds * SECOND_NS);
	job.cfg.source.is_deaf = true; /* the server obeys signals, and cancels this */
	err = run_job(&job);
	if (err && job.cfg.fd >= 0)
		trace_store_discard(call->world->traces, job.cfg.fd);
	else if (err)
		unlink(path);
	if (job.cfg.fd >= 0)
		close(job.cfg.fd);
	return err ? err : load_and_report(call, &job, path);
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
	.read = put_summary,
};

const struct tool tool_record = {
	.name = "record",
	.title = "Record this machine",
	.description =
		"Records what the scheduler of this machine does for some seconds and answers with findings, the worst first. "
		"The best start for \"what is slow right now\"; needs privileges (doctor). For a file: load. Example: "
		"{\"duration_secs\":5}.",
	.set = TOOLSET_CORE,
	.changes_something = true,
	.args = core_record_args,
	.run = record_and_analyze,
	.read = trace_put_findings,
};
