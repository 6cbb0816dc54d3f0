/* Raw events of a trace: found, filtered, counted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "model/event_log.h"
#include "query/event_fields.h"
#include "query/query.h"

#define DEFAULT_ROWS   50U
#define DEFAULT_GROUPS 20U

static const char *const simple_types[] = {
	"sched_switch", "sched_wakeup", "sched_waking", "sched_migrate", "softirq", "all", NULL
};

/* clang-format off */
#define ARG_EVENT_ROWS ARG_TRACE_ID, ARG_CPU, ARG_PID, ARG_TID, ARG_COMM, ARG_WINDOW, ARG_LIMIT, ARG_OFFSET

static const struct arg events_args[] = { ARG_EVENT_ROWS,
	{ .name = "event_type", .type = ARG_STRING, .description = "which events", .choices = simple_types,
	  .fallback = "\"all\"" }, { 0 } };

static const struct arg query_args[] = { ARG_EVENT_ROWS,
	{ .name = "event_type", .type = ARG_STRING,
	  .description = "as the kernel calls it, such as sched_switch or irq_handler_entry; all if not given" },
	{ .name = "field_filters", .type = ARG_OBJECTS,
	  .description = "all must hold: {field, operator, value}; operators equal, not_equal, greater_than, less_than, "
			 "greater_or_equal, less_or_equal, contains" },
	{ .name = "sort", .type = ARG_STRING, .description = "a field, or field:desc; by time if not given" },
	{ .name = "aggregation", .type = ARG_OBJECT,
	  .description = "{function, field, group_by}: count, sum, avg, min, max, p50, p95, p99 of a field; count_by and "
			 "group_by count the values of a field; group_by splits the others" }, { 0 } };
/* clang-format on */

static int find_kinds(struct tool_call *call, uint64_t *kinds)
{
	const char *type = call_string(call, "event_type");

	*kinds = type ? event_kinds_by_name(type) : 0;
	if (type && !*kinds)
		return diag_set(call->d, -EINVAL, "get_trace_summary lists available_events",
		                "'%.64s' is not an event", type);
	return 0;
}

static int begin_query(struct tool_call *call, const struct source *s, struct query *q)
{
	struct pass_args args;
	int err = trace_pass_args(call, s, &args);

	*q = (struct query){
		.cpu = args.cpu == PASS_ANY_CPU ? EVENT_LOG_ANY : args.cpu,
		.tid = args.tid ? args.tid : EVENT_LOG_ANY,
		.pid = args.pid,
		.comm = args.comm,
		.cgroup = args.cgroup,
		.from_ns = args.from_ns,
		.to_ns = args.to_ns,
		.limit = call_has(call, "limit") ? call_u64(call, "limit") : DEFAULT_ROWS,
		.offset = call_u64(call, "offset"),
	};
	return err ? err : find_kinds(call, &q->kinds);
}

static int add_filter(struct tool_call *call, const json_t *filter, struct query *q)
{
	const char *field = json_string_value(json_object_get(filter, "field"));
	const char *op_name = json_string_value(json_object_get(filter, "operator"));
	const json_t *value = json_object_get(filter, "value");
	const char *text = json_string_value(value);
	enum query_op op;
	char number[32];

	if (!field || !op_name || !value)
		return diag_set(call->d, -EINVAL, NULL,
		                "a field filter needs \"field\", \"operator\" and \"value\"");
	if (!query_op_by_name(op_name, &op))
		return diag_set(
			call->d, -EINVAL,
			"use equal, not_equal, greater_than, less_than, greater_or_equal, less_or_equal or contains",
			"Invalid operator '%.32s'", op_name);
	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
		         json_integer_value(value));
		text = number;
	}
	if (!text)
		return diag_set(call->d, -EINVAL, NULL,
		                "Invalid filter value type: \"value\" is a whole number or a text");
	return query_add_where(q, field, op, text, call->d);
}

static int add_filters(struct tool_call *call, struct query *q)
{
	const json_t *filters = json_object_get(call->args, "field_filters");
	int err = 0;

	for (size_t i = 0; i < json_array_size(filters) && !err; i++)
		err = add_filter(call, json_array_get(filters, i), q);
	return err;
}

struct wanted_sum {
	const char *function; /* NULL = none was asked for */
	const char *field;
	bool is_count_by; /* or group_by: the field names the groups */
};

static int parse_sum(struct tool_call *call, struct query *q, struct wanted_sum *sum)
{
	const json_t *given = json_object_get(call->args, "aggregation");
	const char *group_by = json_string_value(json_object_get(given, "group_by"));
	char text[2 * QUERY_NAME_LEN + 2];
	int err = 0;

	if (!given)
		return 0;
	sum->function = json_string_value(json_object_get(given, "function"));
	sum->field = json_string_value(json_object_get(given, "field"));
	if (!sum->function)
		return diag_set(call->d, -EINVAL, NULL, "\"aggregation\" needs a \"function\"");
	sum->is_count_by = strcmp(sum->function, "count_by") == 0 ||
	                   strcmp(sum->function, "group_by") == 0;
	if (!sum->field && strcmp(sum->function, "count") != 0)
		return diag_set(call->d, -EINVAL, NULL,
		                "\"aggregation\" needs a \"field\" for %.16s", sum->function);
	if (!call_has(call, "limit"))
		q->limit = DEFAULT_GROUPS;
	if (sum->is_count_by)
		return query_set_group(sum->field, q, call->d);
	if (group_by)
		err = query_set_group(group_by, q, call->d);
	snprintf(text, sizeof(text), "%.16s%s%.32s", sum->function, sum->field ? ":" : "",
	         sum->field ? sum->field : "");
	return err ? err : query_parse_fn(text, q, call->d);
}

static int run_query(struct tool_call *call, const struct source *s, struct query *q,
                     struct report *r, uint64_t *took_ns)
{
	uint64_t start_ns = clock_boot_ns();
	int err;

	report_begin_object(r, NULL);
	err = query_run(s, q, r, call->d);
	report_end_object(r);
	if (!err && report_error(r))
		err = diag_set(call->d, report_error(r), "ask for fewer rows with limit",
		               "the answer is too large");
	*took_ns = clock_boot_ns() - start_ns;
	return err;
}

static uint64_t count_at(const struct report_node *root, const char *path)
{
	const struct report_node *n = report_at(root, path);

	return n && n->type == REPORT_U64 ? n->u64 : 0;
}

/* What a page cuts further is counted by the page. */
static void copy_events(const struct report_node *root, struct report *r)
{
	report_u64(r, "total_matched", count_at(root, "total_matched"));
	report_u64(r, "returned_count", count_at(root, "returned_count"));
	report_copy(r, "events", report_at(root, "events"));
}

/* {"value": count} of all groups that are shown. */
static void copy_counts(struct report *r, const char *key, const struct report_node *groups)
{
	report_begin_object(r, key);
	for (const struct report_node *g = groups->first; g; g = g->next) {
		const struct report_node *value = report_at(g, "value");

		report_u64(r, report_printf(r, "%s", value ? value->text : ""),
		           count_at(g, "count"));
	}
	report_end_object(r);
}

static void copy_values(struct report *r, const char *key, const struct report_node *groups)
{
	report_begin_array(r, key);
	for (const struct report_node *g = groups->first; g; g = g->next)
		report_copy(r, NULL, report_at(g, "value"));
	report_end_array(r);
}

static void copy_sum(const struct wanted_sum *sum, const struct query *q,
                     const struct report_node *root, struct report *r)
{
	const struct report_node *made = report_at(root, "aggregation");
	const struct report_node *groups = report_at(made, "groups");

	report_u64(r, "total_matched", count_at(root, "total_matched"));
	report_begin_object(r, "aggregation");
	report_string(r, "function", sum->function);
	report_string(r, "field", sum->field);
	if (groups) {
		uint64_t total = count_at(made, "total_groups"), end = q->offset + groups->nr;

		report_u64(r, "total_groups", total);
		report_u64_if(r, "next_offset", end < total, end);
	}
	if (!groups) {
		report_copy(r, "result", report_at(made, "result"));
	} else if (!sum->is_count_by) {
		report_string(r, "group_by", q->group_by);
		report_copy(r, "groups", groups);
	} else if (strcmp(sum->function, "count_by") == 0) {
		copy_counts(r, "result", groups);
	} else {
		copy_counts(r, "group_counts", groups);
		copy_values(r, "groups", groups);
	}
	report_end_object(r);
}

static int put_query(struct tool_call *call, const struct query *q, const struct wanted_sum *sum,
                     const struct report_node *root)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct call_list known = { .key = sum->function ? "groups" : "events",
		                   .is_from_offset = true };

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	if (sum->function) {
		copy_sum(sum, q, root, r);
		known.total = count_at(root, "aggregation.total_groups");
	} else {
		copy_events(root, r);
		known.total = count_at(root, "total_matched");
	}
	report_end_object(r);
	return call_put_list(call, report_root(r), &known);
}

static const struct out_field query_output[] = {
	OUT_TRACE_ID,
	{ "query_time_ms", "number", NULL },
	{ "total_matched", "integer", "of all, whatever the limit" },
	{ "returned_count", "integer", "events in this answer" },
	{ "events", "array", "timestamp, cpu, event_type, pid, fields" },
	{ "aggregation", "object", "function, field, and result or groups" },
	OUT_PAGE,
	{ 0 },
};

/* The library's advice is for the command line. */
static void advise(struct diag *d)
{
	if (strstr(d->hint, "--fields"))
		snprintf(d->hint, sizeof(d->hint),
		         "query_trace without filters shows which fields events have");
}

static int query_trace(struct tool_call *call)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	const char *sort = call_string(call, "sort");
	struct wanted_sum sum = { 0 };
	uint64_t took_ns;
	struct query q = { 0 };
	int err = r ? begin_query(call, call->s, &q)
	            : diag_set(call->d, -ENOMEM, NULL, "out of memory");

	if (!err)
		err = add_filters(call, &q);
	if (!err && sort)
		err = query_parse_sort(sort, &q, call->d);
	if (!err)
		err = parse_sum(call, &q, &sum);
	if (err == -EINVAL)
		advise(call->d);
	if (!err)
		err = run_query(call, call->s, &q, r, &took_ns);
	if (err)
		return err;
	jw_double(call->out, "query_time_ms", (double)took_ns / 1e6, 3);
	return put_query(call, &q, &sum, report_root(r));
}

const struct tool tool_query_trace = {
	.name = "query_trace",
	.title = "Query events",
	.description =
		"Raw events by type, CPU, task, time and field values, in time order, or counted and added up. Use it "
		"to check a hypothesis in detail; for statistics the analyze_* tools are better and shorter.",
	.set = TOOLSET_TRACE,
	.args = query_args,
	.output = query_output,
	.read = query_trace,
};

static const struct out_field events_output[] = {
	OUT_TRACE_ID,
	{ "event_type", "string", "the filter" },
	{ "total_matched", "integer", "of all, whatever the limit" },
	{ "returned_count", "integer", "events in this answer" },
	{ "events", "array", "type, timestamp, pid, cpu" },
	OUT_PAGE,
	{ 0 },
};

static void copy_row(const struct report_node *row, struct report *r)
{
	report_begin_object(r, NULL);
	report_copy(r, "type", report_at(row, "event_type"));
	report_copy(r, "timestamp", report_at(row, "timestamp"));
	report_copy(r, "pid", report_at(row, "pid"));
	report_copy(r, "cpu", report_at(row, "cpu"));
	report_end_object(r);
}

static int put_events(struct tool_call *call, const struct report_node *root)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct call_list known = { "events", count_at(root, "total_matched"), true };

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	report_string(r, "event_type", call_string(call, "event_type"));
	report_u64(r, "total_matched", known.total);
	report_u64(r, "returned_count", 0);
	report_begin_array(r, "events");
	for (const struct report_node *n = report_at(root, "events")->first; n; n = n->next)
		copy_row(n, r);
	report_end_array(r);
	report_end_object(r);
	return call_put_list(call, report_root(r), &known);
}

static int query_trace_events(struct tool_call *call)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	uint64_t took_ns;
	struct query q = { 0 };
	int err = r ? begin_query(call, call->s, &q)
	            : diag_set(call->d, -ENOMEM, NULL, "out of memory");

	if (!err)
		err = run_query(call, call->s, &q, r, &took_ns);
	return err ? err : put_events(call, report_root(r));
}

const struct tool tool_query_trace_events = {
	.name = "query_trace_events",
	.title = "List events",
	.description =
		"Events of a trace in time order, by type, time, CPU and task; all filters hold together. Only type, time, pid "
		"and cpu of each: query_trace has their fields, conditions on them, and sums.",
	.set = TOOLSET_TRACE,
	.args = events_args,
	.output = events_output,
	.read = query_trace_events,
};
