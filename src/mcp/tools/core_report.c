/* report: what a trace shows, as a file for people or programs. */
#include <errno.h>
#include <string.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/version.h"
#include "mcp/outgoing.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "render/trace_markdown.h"
#include "report/compare/compare.h"
#include "report/page.h"

#define EXPLAINED 5U

static const char *const formats[] = { "markdown", "html", "json", NULL };

/* clang-format off */
static const struct arg report_args[] = { ARG_TRACE_ID,
	{ .name = "output_path", .type = ARG_STRING, .description = "the file, below an allowed directory; an older one is replaced",
	  .is_required = true },
	{ .name = "format", .type = ARG_STRING, .description = "text to read, a page with pictures, or the results of all analyses", .choices = formats,
	  .fallback = "\"markdown\"" },
	{ .name = "after_trace_id", .type = ARG_STRING, .description = "with html: the page also says what changed in this trace since" },
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

/* A time of one trace, as long after the start of the other; 0 = none was given. */
static uint64_t time_of_other(const struct tool_call *call, uint64_t ts_ns)
{
	return ts_ns ? ts_ns - call->s->start_ns + call->other->start_ns : 0;
}

/* What has changed in the other trace; NULL in *out where there is none. */
static int compare(struct tool_call *call, const struct pass_args *args,
                   struct report_compare **out)
{
	SCOPED(scoped_report_compare) struct report_compare *c = NULL;
	struct pass_args after = *args;
	int err;

	if (!call->other)
		return 0;
	after.from_ns = time_of_other(call, args->from_ns);
	after.to_ns = time_of_other(call, args->to_ns);
	err = report_compare_new(call->d, &c);
	if (!err)
		err = report_compare_add(c, COMPARE_BEFORE, call->s, args, call->d);
	if (!err)
		err = report_compare_add(c, COMPARE_AFTER, call->other, &after, call->d);
	if (!err)
		err = report_compare_judge(c, call->d);
	if (!err)
		*out = TAKE_PTR(c);
	return err;
}

/* What schedscope report writes. */
static int make_page(struct tool_call *call, struct pass_args *args)
{
	SCOPED(scoped_report_compare) struct report_compare *compared = NULL;
	SCOPED(scoped_page) struct page *page = NULL;
	struct page_cfg cfg = { .s = call->s,
		                .args = args,
		                .command = call->other ? "schedscope report FILE --compare FILE2"
		                                       : "schedscope report FILE",
		                .generator = schedscope_generator };
	int err;

	args->limit = 0;
	err = compare(call, args, &compared);
	if (err)
		return err;
	cfg.compare = compared;
	err = page_make(&cfg, call->d, &page);
	if (err)
		return err;
	err = page_write(page, call->file->file);
	return err ? diag_set(call->d, err, NULL, "the page cannot be written") : 0;
}

static int make_report(struct tool_call *call)
{
	struct pass_args args;
	int err;

	if (strcmp(call_string(call, "format"), "json") == 0)
		return trace_export_json(call);
	err = trace_pass_args(call, call->s, &args);
	if (err)
		return err;
	return strcmp(call_string(call, "format"), "html") == 0 ? make_page(call, &args)
	                                                        : make_markdown(call, &args);
}

static int run_report(struct tool_call *call)
{
	if (call_string(call, "after_trace_id") && strcmp(call_string(call, "format"), "html") != 0)
		return diag_set(call->d, -EINVAL, "add \"format\":\"html\"",
		                "only a page compares two traces");
	return trace_export_run(call);
}

const struct tool tool_report = {
	.name = "report",
	.title = "Write a report",
	.description =
		"Writes a file: Markdown (verdict, findings with evidence, longest waits, blame, tasks, what is unknown), HTML (the same "
		"and pictures, in one page for a browser) or JSON of all analyses. Use it at the end, for people. Example: {\"output_path\":\"report.md\"}.",
	.set = TOOLSET_CORE,
	.changes_something = true,
	.is_destructive = true,
	.is_idempotent = true,
	.args = report_args,
	.run = run_report,
	.read = make_report,
};
