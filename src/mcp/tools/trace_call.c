#include "mcp/tools/trace_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "base/cleanup.h"

/* Rows that an analysis makes at least, so that totals of its lists are true and pages can follow. */
#define ROWS_MADE 5000U

const char *const trace_modes[] = { "per_thread", "per_process", "per_comm",
	                            "per_cgroup", "per_class",   NULL };

static uint32_t rows_wanted(struct tool_call *c)
{
	uint64_t wanted = call_u64(c, "offset") + call_u64(c, "limit") + 1;

	return wanted > ROWS_MADE ? (uint32_t)wanted : ROWS_MADE;
}

static enum pass_by mode_of(const char *mode)
{
	static const char prefix[] = "per_";

	if (!mode || strncmp(mode, prefix, strlen(prefix)) != 0)
		return PASS_BY_DEFAULT;
	for (enum pass_by by = PASS_BY_THREAD; by < PASS_BYS; by++)
		if (strcmp(mode + strlen(prefix), pass_by_name(by)) == 0)
			return by;
	return PASS_BY_DEFAULT;
}

int trace_pass_args(struct tool_call *c, const struct source *s, struct pass_args *out)
{
	*out = (struct pass_args){
		.pid = (uint32_t)call_u64(c, "pid"),
		.tid = (uint32_t)call_u64(c, "tid"),
		.comm = call_string(c, "comm"),
		.cgroup = call_string(c, "cgroup"),
		.cpu = call_has(c, "cpu") ? (uint32_t)call_u64(c, "cpu") : PASS_ANY_CPU,
		.from_ns = call_u64(c, "start_time_ns"),
		.to_ns = call_u64(c, "end_time_ns"),
		.limit = rows_wanted(c),
		.by = mode_of(call_string(c, "aggregation_mode")),
		.method = call_string(c, "method"),
		.category = call_string(c, "category"),
		.layer = call_has(c, "layer_id") ? (uint32_t)call_u64(c, "layer_id") : EV_NO_LAYER,
		.at_ns = call_u64(c, "at_time_ns"),
	};
	if (out->to_ns && out->to_ns <= out->from_ns)
		return diag_set(c->d, -EINVAL, NULL,
		                "\"end_time_ns\" is not after \"start_time_ns\"");
	if (out->from_ns && out->from_ns >= s->end_ns)
		return diag_set(c->d, -EINVAL, "get_trace_summary has its time_range",
		                "\"start_time_ns\" is after the end of the trace");
	if (out->to_ns && out->to_ns <= s->start_ns)
		return diag_set(c->d, -EINVAL, "get_trace_summary has its time_range",
		                "\"end_time_ns\" is before the start of the trace");
	return 0;
}

int trace_pass_run(struct tool_call *c, const struct pass *p, const struct source *s,
                   const struct pass_args *args, struct report **out)
{
	char missing[160];

	if (call_is_cancelled(c))
		return diag_set(c->d, -ECANCELED, NULL, "cancelled");
	if (!pass_applies(p, s))
		return diag_set(c->d, -ENODATA, "analyze with type discover lists which apply",
		                "%s %s, which this trace does not have", p->id,
		                pass_missing(p, s, missing, sizeof(missing)));
	return pass_run(p, s, args, c->d, out);
}

bool call_wants_metadata(const struct tool_call *c)
{
	return c->tool->set != TOOLSET_CORE || call_bool(c, "detail");
}

/* What other tools report, what is repeated, and what the store knows better. */
static bool is_left_out(const char *key)
{
	static const char *const keys[] = {
		"analysis_type", "applicable_analyses", "inapplicable_analyses",
		"file",          "file_bytes",          "analyzers_by_category",
		"high_rates",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static const char *text_of(const struct report_node *n, const char *path)
{
	const struct report_node *at = report_at(n, path);

	return at && at->type == REPORT_STRING ? at->text : "?";
}

/* Bottlenecks in a few words each: a separate tool has the details. */
static void copy_descriptions(struct report *r, const struct report_node *list)
{
	report_begin_array(r, list->key);
	for (const struct report_node *n = list->type == REPORT_ARRAY ? list->first : NULL; n;
	     n = n->next)
		report_string(r, NULL,
		              report_printf(r, "%s. Remedy: %s", text_of(n, "description"),
		                            text_of(n, "remedy")));
	report_end_array(r);
}

int trace_put_summary(struct tool_call *c, const struct source *s, const char *key)
{
	SCOPED(scoped_report) struct report *all = NULL;
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	int err = r ? trace_pass_run(c, &pass_summary, s, &args, &all)
	            : diag_set(c->d, -ENOMEM, NULL, "out of memory");

	if (err)
		return err;
	report_begin_object(r, NULL);
	if (key)
		report_begin_object(r, key);
	for (const struct report_node *n = report_root(all)->first; n; n = n->next)
		if (strcmp(n->key, "bottlenecks") == 0)
			copy_descriptions(r, n);
		else if (strcmp(n->key, "start_unix_timestamp") == 0 && n->type == REPORT_U64)
			report_id(r, n->key,
			          n->u64); /* too large for the numbers of some clients */
		else if (!is_left_out(n->key))
			report_copy(r, n->key, n);
	if (key)
		report_end_object(r);
	report_end_object(r);
	return call_put_report(c, report_root(r));
}
