/* report: what a trace shows, as a file for people or programs. */
#include <errno.h>
#include <string.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "mcp/outgoing.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "render/trace_markdown.h"

#define EXPLAINED 5U

static const char *const formats[] = { "markdown", "json", NULL };

/* clang-format off */
static const struct arg report_args[] = { ARG_TRACE_ID,
	{ .name = "output_path", .type = ARG_STRING, .description = "the file, below an allowed directory; an older one is replaced",
	  .is_required = true },
	{ .name = "format", .type = ARG_STRING, .description = "a page to read, or the results of all analyses", .choices = formats,
	  .fallback = "\"markdown\"" },
	ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW, { 0 } };
/* clang-format on */

/* One part of the page; NULL where the analysis does not apply. */
static int make_part(struct tool_call *call, const struct pass *p, const struct pass_args *args,
                     struct report **out)
{
	*out = NULL;
	return pass_applies(p, call->s) ? trace_pass_run(call, p, call->s, args, out) : 0;
}

static const struct report_node *root_of(const struct report *r)
{
	return r ? report_root(r) : NULL;
}

static int make_markdown(struct tool_call *call, struct pass_args *args)
{
	SCOPED(scoped_report) struct report *summary = NULL;
	SCOPED(scoped_report) struct report *waits = NULL;
	SCOPED(scoped_report) struct report *sleeps = NULL;
	SCOPED(scoped_report) struct report *blame = NULL;
	SCOPED(scoped_report) struct report *tasks = NULL;
	struct trace_markdown page = { .name = call->trace_id };
	int err;

	args->limit = 0; /* what each thinks best */
	args->by = PASS_BY_COMM;
	err = make_part(call, &pass_summary, args, &summary);
	if (!err)
		err = make_part(call, &pass_blame, args, &blame);
	if (!err)
		err = make_part(call, pass_find("process_runtime"), args, &tasks);
	args->limit = EXPLAINED;
	if (!err)
		err = make_part(call, &pass_explain, args, &waits);
	args->category = "sleeps";
	args->by = PASS_BY_DEFAULT;
	if (!err)
		err = make_part(call, &pass_explain, args, &sleeps);
	if (err)
		return err;
	page.summary = root_of(summary);
	page.waits = root_of(waits);
	page.sleeps = root_of(sleeps);
	page.blame = root_of(blame);
	page.tasks = root_of(tasks);
	return trace_markdown(&page, call->file->file);
}

static int make_report(struct tool_call *call)
{
	struct pass_args args;
	int err;

	if (strcmp(call_string(call, "format"), "json") == 0)
		return trace_export_json(call);
	err = trace_pass_args(call, call->s, &args);
	return err ? err : make_markdown(call, &args);
}

const struct tool tool_report = {
	.name = "report",
	.title = "Write a report",
	.description =
		"Writes a file: Markdown (verdict, findings with evidence, longest waits, blame, tasks, what is unknown) or JSON of "
		"all analyses. Use it at the end, for people. Example: {\"output_path\":\"report.md\"}.",
	.set = TOOLSET_CORE,
	.changes_something = true,
	.is_destructive = true,
	.is_idempotent = true,
	.args = report_args,
	.run = trace_export_run,
	.read = make_report,
};
