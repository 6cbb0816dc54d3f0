/* query: one SELECT over a trace. */
#include <errno.h>

#include "base/cleanup.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "render/report_json.h"
#include "sql/sql.h"

#define REPORT_BYTES ((size_t)16 << 20)
#define MAX_NS       5000000000ULL
#define MAX_MEMORY   ((uint64_t)256 << 20)
#define MAX_BYTES    32000U /* of the rows, where as many were asked for */
#define MAX_ROWS     1000

/* clang-format off */
static const struct arg query_args[] = {
	{ .name = "sql", .type = ARG_STRING, .is_required = true, .description = "one SELECT of SQLite; aggregate rather than list" },
	ARG_TRACE_ID,
	{ .name = "limit", .type = ARG_INTEGER, .description = "rows; as many as fit if not given", .min = 1, .max = MAX_ROWS },
	{ 0 } };
/* clang-format on */

static const struct out_field query_output[] = {
	OUT_TRACE_ID,
	{ "columns", "array", "names" },
	{ "rows", "array", "an array of values each" },
	{ "row_count", "integer", NULL },
	{ "truncated", "boolean", "there are more rows" },
	{ 0 },
};

static bool is_cancelled(void *ctx)
{
	return call_is_cancelled(ctx);
}

/* The process that holds the trace has no rights: this is where hostile text meets hostile data. */
static int query(struct tool_call *call)
{
	SCOPED(scoped_report) struct report *r = report_new(REPORT_BYTES);
	bool has_limit = call_was_given(call, "limit");
	struct sql_query q = { .text = call_string(call, "sql"),
		               .max_rows = has_limit ? call_u64(call, "limit") : MAX_ROWS,
		               .max_bytes = has_limit ? MAX_BYTES : TOOL_BUDGET,
		               .max_ns = MAX_NS,
		               .max_memory = MAX_MEMORY,
		               .shape = SQL_ARRAYS,
		               .is_cancelled = is_cancelled,
		               .ctx = call };
	struct sql_result result;
	int err;

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	err = sql_run(call->s, &q, r, &result, call->d);
	if (err)
		return err;
	report_end_object(r);
	if (report_error(r))
		return diag_set(call->d, -E2BIG, "select fewer columns", "the answer is too large");
	for (const struct report_node *n = report_root(r)->first; n; n = n->next)
		report_json(call->out, n->key, n);
	if (!result.truncated)
		jw_bool(call->out, "truncated", false);
	return 0;
}

const struct tool tool_query = {
	.name = "query",
	.title = "SQL over a trace",
	.description =
		"Joins, percentiles and filters that no other tool has, over a trace. Tables (times in ns): thread(utid, tid, pid, "
		"name), process, cgroup(cgroup_id, path), sched_slice(ts, dur, cpu, utid, comm, end_state, priority), wait(id, ts, "
		"dur, cpu, utid, comm, cause, waker), wait_part(wait_id, kind, dur, comm, culprit, culprit_utid), sleep(ts, dur, "
		"utid, comm, state, syscall, reason, waker), wakeup, migration, throttle, span(kind, name, ts, dur), counter, "
		"sample, stack, trace(dur, cpus). All columns: resource schema://tables; a wrong name lists them. ms(ns), "
		"percentile(x, 99). Example: {\"sql\":\"SELECT comm, ms(sum(dur)) AS ms FROM wait GROUP BY comm ORDER BY ms DESC "
		"LIMIT 5\"}.",
	.set = TOOLSET_CORE,
	.args = query_args,
	.output = query_output,
	.read = query,
};
