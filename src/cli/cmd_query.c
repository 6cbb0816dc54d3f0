#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/event_check.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/query_sql.h"
#include "cli/trace_args.h"
#include "model/event_log.h"
#include "query/event_fields.h"
#include "query/query.h"
#include "render/events_text.h"
#include "render/report_json.h"
#include "render/report_lines.h"

#define REPORT_BYTES  ((size_t)4 << 30)
#define DEFAULT_LIMIT 100

struct query_args {
	struct trace_args rows;
	struct opt_list events;
	struct opt_list where;
	const char *select;
	const char *sort;
	const char *group_by;
	const char *aggregate;
	const char *sql;
	uint64_t offset;
	int shape;
	bool is_json;
	bool wants_all;
	bool wants_fields;
	bool wants_tables;
};

static const char *const shapes[] = { "table", "json", "jsonl", "csv", NULL };

static const struct query_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_LIST('e', "event", "EVENT[,...]", struct query_args, events,
		"only these events: sched_switch, sched_waking, softirq, ..., all", .heading = "Which events", .list = "events"),
	OPT_LIST('w', "where", "CONDITION", struct query_args, where,
		"only events matching a field condition: next_pid=12, prio<100, comm~ngin",
		.details = "Operators are = != > < >= <= and ~, which takes a part of a text, a glob about all of it (comm~ngin*), or /REGEX/. "
			   "Given more than once, all must hold. --fields lists the fields."),
	TRACE_ARGS_OPTIONS(struct query_args, rows),
	OPT_U64(0, "offset", "N", struct query_args, offset, 0, UINT64_MAX, "skip the first N"),
	OPT_FLAG('a', "all", struct query_args, wants_all, "no limit; without it 100 rows are shown"),

	OPT_STRING(0, "select", "FIELD[,...]", struct query_args, select, "only these fields", .heading = "How to show them", .old_name = 's'),
	OPT_STRING(0, "sort", "FIELD[:desc]", struct query_args, sort, "in this order; by time if not given"),
	OPT_STRING(0, "group-by", "FIELD", struct query_args, group_by, "one row per value of the field, with its count", .old_name = 'g'),
	OPT_STRING(0, "agg", "FUNCTION[:FIELD]", struct query_args, aggregate,
		"one number, or one per group: count, sum, avg, min, max, p50, p95, p99", .alias = "aggregate"),
	OPT_CHOICE(0, "format", "FORMAT", struct query_args, shape, shapes, "table, json, jsonl (one object per line) or csv", .old_name = 'f'),
	OPT_FLAG(0, "json", struct query_args, is_json, "the same as --format json"),
	OPT_FLAG(0, "fields", struct query_args, wants_fields, "list all events with their fields and exit"),

	OPT_STRING(0, "sql", "QUERY", struct query_args, sql, "a SELECT over the tables of the trace instead; - reads it from standard input",
		.heading = "With SQL",
		.details = "Tables are thread, process, cgroup, sched_slice, wait, wait_part, sleep, wakeup, migration and others, as "
			   "--tables lists them. Conditions are those of the query: of the options above only --limit, --all, --format and "
			   "--json hold."),
	OPT_FLAG(0, "tables", struct query_args, wants_tables, "list all tables with their columns, and functions, and exit"),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope query t.pftrace -e sched_switch --cpu 1 -n 20",
	  "the first 20 switches of a CPU" },
	{ "schedscope query t.pftrace -e sched_waking --group-by waker_comm",
	  "which tasks wake others most" },
	{ "schedscope query t.pftrace -e sched_switch -w prev_state=2 --group-by prev_comm",
	  "which tasks sleep uninterruptibly" },
	{ "schedscope query t.pftrace --tid 4242 --from 1.2s --to 1.3s",
	  "everything about a thread, in 100 ms" },
	{ "schedscope query t.pftrace -e sched_switch -a --format csv >switches.csv",
	  "all switches for a spreadsheet" },
	{ "schedscope query t.pftrace --sql 'SELECT comm, ms(sum(dur)) AS wait_ms FROM wait GROUP BY comm ORDER BY 2 DESC LIMIT 5'",
	  "which names waited most" },
	{ 0 },
};

static void list_fields(void)
{
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++) {
		const char *sep = " ";

		if (!event_type_name(kind))
			continue;
		printf("%-24s", event_type_name(kind));
		for (const struct event_field *f = event_fields(kind); f->name; f++, sep = ", ")
			printf("%s%s", sep, f->name);
		printf("\n");
	}
	printf("\nEvery event also has timestamp, cpu, event_type, pid, comm and cgroup.\n");
}

static int not_an_event(const char *name, struct diag *d)
{
	const char *names[EV_KIND_MAX + 1], *near;
	char hint[96], shown[33];
	size_t nr = 0;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (event_type_name(kind))
			names[nr++] = event_type_name(kind);
	names[nr] = NULL;
	near = opt_nearest(name, names);
	snprintf(hint, sizeof(hint), "did you mean '%s'?", near ? near : "");
	return diag_set(d, -EINVAL, near ? hint : "'schedscope query --fields' lists them",
	                "'%s' is not an event",
	                text_printable(shown, sizeof(shown), name, SIZE_MAX));
}

/* Words separated by commas; the kinds of all of them. */
static int find_kinds(const struct opt_list *words, uint64_t *kinds, struct diag *d)
{
	char name[32];

	for (size_t i = 0; i < words->nr; i++)
		for (const char *at = words->items[i];; at++) {
			size_t len = strcspn(at, ",");
			uint64_t found;

			snprintf(name, sizeof(name), "%.*s",
			         (int)(len < sizeof(name) ? len : sizeof(name) - 1), at);
			found = event_kinds_by_name(name);
			if (!found && ev_kind_by_name(name) &&
			    event_type_name(ev_kind_by_name(name)))
				found = EV_BIT(ev_kind_by_name(name));
			if (!found)
				return not_an_event(name, d);
			*kinds |= found;
			at += len;
			if (!*at)
				break;
		}
	return 0;
}

static uint64_t limit_of(const struct query_args *args)
{
	if (args->wants_all)
		return 0;
	return args->rows.has_limit ? args->rows.limit : DEFAULT_LIMIT;
}

static int make_query(const struct query_args *args, struct query *q, struct diag *d)
{
	int err;

	*q = (struct query){
		.cpu = args->rows.has_cpu ? (uint32_t)args->rows.cpu : EVENT_LOG_ANY,
		.tid = args->rows.tid ? (uint32_t)args->rows.tid : EVENT_LOG_ANY,
		.pid = (uint32_t)args->rows.pid,
		.comm = args->rows.comm,
		.cgroup = args->rows.cgroup,
		.limit = limit_of(args),
		.offset = args->offset,
	};
	err = find_kinds(&args->events, &q->kinds, d);
	for (size_t i = 0; i < args->where.nr && !err; i++)
		err = query_parse_where(args->where.items[i], q, d);
	if (!err && args->select)
		err = query_parse_select(args->select, q, d);
	if (!err && args->sort)
		err = query_parse_sort(args->sort, q, d);
	if (!err && args->group_by)
		err = query_set_group(args->group_by, q, d);
	if (!err && args->aggregate)
		err = query_parse_fn(args->aggregate, q, d);
	if (!err && args->wants_all && args->rows.has_limit)
		err = diag_set(d, -EINVAL, "leave one of them out",
		               "--all and --limit contradict each other");
	return err;
}

static int show(const struct report_node *root, const struct source *s, enum query_shape shape,
                struct diag *d)
{
	const struct report_node *rows = report_at(root, "events");
	const struct report_node *total = report_at(root, "total_matched");
	struct report_text_cfg cfg = { .width = trace_args_width(),
		                       .is_utf8 = trace_args_is_utf8(),
		                       .is_colored = trace_args_is_colored(),
		                       .clock = { true, s->start_ns } };
	struct json_writer w;
	int err;

	if (shape == QUERY_TABLE && total && !total->u64) {
		puts("No event matches. 'schedscope query --fields' lists events and their fields.");
		return cli_written(0, d);
	}
	if (!rows)
		rows = report_at(root, "aggregation.groups");
	if (shape == QUERY_TABLE) {
		err = events_text(root, &cfg, stdout);
	} else if (shape == QUERY_JSON || !rows) {
		jw_init(&w, stdout, true);
		report_json(&w, NULL, root);
		err = jw_finish(&w);
	} else {
		err = shape == QUERY_CSV ? report_csv(rows, stdout) : report_jsonl(rows, stdout);
	}
	return cli_written(err, d);
}

static int answer(const struct query_args *args, const struct source *s, struct query *q,
                  struct diag *d)
{
	SCOPED(scoped_report) struct report *r = report_new(REPORT_BYTES);
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	err = query_run(s, q, r, d);
	if (err)
		return err;
	report_end_object(r);
	err = report_error(r);
	if (err)
		return diag_set(d, err, "ask for less with --limit, --from and --to",
		                "the answer is too large");
	return show(report_root(r), s, args->is_json ? QUERY_JSON : (enum query_shape)args->shape,
	            d);
}

/* What SQL says itself. */
static const char *given_with_sql(const struct query_args *args)
{
	const struct trace_args *rows = &args->rows;

	if (args->events.nr)
		return "--event";
	if (args->where.nr)
		return "--where";
	if (args->select || args->sort || args->group_by || args->aggregate)
		return args->select     ? "--select"
		       : args->sort     ? "--sort"
		       : args->group_by ? "--group-by"
		                        : "--agg";
	if (args->offset)
		return "--offset";
	if (rows->pid || rows->tid || rows->comm || rows->cgroup || rows->has_cpu || rows->from ||
	    rows->to)
		return "a filter";
	return NULL;
}

static int run_sql(const struct opt_command *self, const struct query_args *args,
                   const struct opt_list *words)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	SCOPED(scoped_free) char *text = NULL;
	struct query_sql q = { .text = args->sql,
		               .limit = limit_of(args),
		               .shape = args->is_json ? QUERY_JSON
		                                      : (enum query_shape)args->shape };
	const char *other = given_with_sql(args);
	struct diag d = { 0 };

	if (trace_args_one(words, "query", &d))
		return cli_usage_error(self, &d);
	if (other)
		diag_set(&d, -EINVAL, "say it in WHERE, ORDER BY, GROUP BY or LIMIT of the query",
		         "--sql does not go with %s", other);
	else if (args->wants_all && args->rows.has_limit)
		diag_set(&d, -EINVAL, "leave one of them out",
		         "--all and --limit contradict each other");
	else if (strcmp(args->sql, "-") == 0 && strcmp(words->items[0], "-") == 0)
		diag_set(&d, -EINVAL, NULL,
		         "the query and the trace cannot both be standard input");
	if (d.code)
		return cli_usage_error(self, &d);
	if (query_sql_text(&q, &d, &text) || trace_args_open(words->items[0], &d, &rec) ||
	    query_sql(&q, text, recording_source(rec), &d))
		return cli_fail(&d);
	return CLI_OK;
}

static int run_args(const struct opt_command *self, const struct query_args *args,
                    const struct opt_list *words)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct diag d = { 0 };
	struct pass_args cut;
	struct query q;

	if (args->wants_fields) {
		list_fields();
		return CLI_OK;
	}
	if (args->wants_tables)
		return query_sql_tables(args->is_json || args->shape == QUERY_JSON, &d)
		               ? cli_fail(&d)
		               : CLI_OK;
	if (args->sql)
		return run_sql(self, args, words);
	if (trace_args_one(words, "query", &d) || make_query(args, &q, &d))
		return cli_usage_error(self, &d);
	if (trace_args_open(words->items[0], &d, &rec))
		return cli_fail(&d);
	if (trace_args_fill(&args->rows, recording_source(rec), &d, &cut))
		return cli_usage_error(self, &d);
	if (trace_args_find(&cut, recording_source(rec), &d))
		return cli_fail(&d);
	q.from_ns = cut.from_ns;
	q.to_ns = cut.to_ns;
	return answer(args, recording_source(rec), &q, &d) ? cli_fail(&d) : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct query_args args = defaults;
	struct opt_result words = { 0 };
	int exit_code;

	if (cli_parse(self, argc, argv, &args, &words, &exit_code)) {
		exit_code = run_args(self, &args, &words.operands);
		opt_result_done(&words);
	}
	opt_list_done(&args.events);
	opt_list_done(&args.where);
	return exit_code;
}

const struct opt_command cmd_query = {
	.name = "query",
	.summary =
		"single events of a recorded trace, or SQL over its tables: filtered, sorted, grouped, added up",
	.operands = "FILE",
	.description =
		"Shows the events of a trace as they were recorded. All filters must hold; --tid, --comm and --cgroup match any "
		"task of an event: the one switched out, switched in, waking or woken. Counts and sums cover all "
		"events that match, whatever --limit shows.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
