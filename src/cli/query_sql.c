#include "cli/query_sql.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/command.h"
#include "render/report_json.h"
#include "render/report_lines.h"
#include "sql/sql.h"

#define REPORT_BYTES ((size_t)4 << 30)
#define MAX_NS       600000000000ULL /* a query that never ends is ended */
#define CELL_BYTES   256             /* of a value in a table; longer texts are cut */
#define EXACT_DIGITS 16
#define MAX_MEMORY   ((uint64_t)1 << 30)

int query_sql_tables(bool is_json, struct diag *d)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct json_writer w;
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!is_json) {
		sql_help(stdout);
		return cli_written(0, d);
	}
	report_begin_object(r, NULL);
	err = sql_help_report(r, NULL, false, d);
	report_end_object(r);
	if (err)
		return err;
	jw_init(&w, stdout, true);
	report_json(&w, NULL, report_root(r));
	return cli_written(jw_finish(&w), d);
}

int query_sql_text(const struct query_sql *q, struct diag *d, char **out)
{
	int err = 0;

	if (strcmp(q->text, "-") == 0)
		err = text_read_fd(STDIN_FILENO, SQL_TEXT_MAX, out);
	else
		*out = strdup(q->text);
	if (err == -EFBIG)
		return diag_set(d, -EINVAL, NULL, "the query is longer than %u bytes",
		                SQL_TEXT_MAX);
	if (err)
		return diag_set(d, err, NULL, "the query cannot be read from standard input");
	return *out ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

/* A value as it is: people and programs compare it with others. */
static const char *value_text(const struct report_node *node, char buf[CELL_BYTES])
{
	switch (node->type) {
	case REPORT_I64:
		(void)snprintf(buf, CELL_BYTES, "%" PRId64, node->i64);
		return buf;
	case REPORT_DOUBLE:
		(void)snprintf(buf, CELL_BYTES, fabs(node->f) < 1e15 ? "%.*f" : "%.*g",
		               fabs(node->f) < 1e15 ? node->decimals : EXACT_DIGITS, node->f);
		return buf;
	case REPORT_STRING:
		return text_printable(buf, CELL_BYTES, node->text, strlen(node->text));
	default:
		return "-";
	}
}

static void note_widths(const struct report_node *rows, size_t *widths)
{
	char buf[CELL_BYTES];

	for (const struct report_node *row = rows->first; row; row = row->next) {
		size_t i = 0;

		for (const struct report_node *at = row->first; at; at = at->next, i++) {
			size_t width = text_width(value_text(at, buf));

			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
}

/* Numbers are on the right. */
static void put_cell(const char *text, size_t width, bool is_number, bool is_last)
{
	int pad = (int)(width - text_width(text));

	if (is_number)
		printf("%*s%s", pad, "", text);
	else
		printf("%s%*s", text, is_last ? 0 : pad, "");
	fputs(is_last ? "\n" : "  ", stdout);
}

static int show_rows(const struct report_node *columns, const struct report_node *rows)
{
	SCOPED(scoped_free) size_t *widths = calloc(columns->nr, sizeof(*widths));
	const struct report_node *first = rows->first;
	char buf[CELL_BYTES];
	size_t i = 0;

	if (!widths)
		return -ENOMEM;
	for (const struct report_node *at = columns->first; at; at = at->next)
		widths[i++] = text_width(value_text(at, buf));
	note_widths(rows, widths);
	i = 0;
	for (const struct report_node *at = columns->first, *cell = first->first; at && cell;
	     at = at->next, cell = cell->next)
		put_cell(value_text(at, buf), widths[i++], cell->type != REPORT_STRING, !at->next);
	for (const struct report_node *row = first; row; row = row->next) {
		i = 0;
		for (const struct report_node *at = row->first; at; at = at->next)
			put_cell(value_text(at, buf), widths[i++], at->type != REPORT_STRING,
			         !at->next);
	}
	return 0;
}

static int show_table(const struct report_node *root, const struct sql_result *result)
{
	const struct report_node *rows = report_at(root, "rows");
	int err = 0;

	if (rows->nr)
		err = show_rows(report_at(root, "columns"), rows);
	else
		printf("no rows\n");
	if (!err && result->truncated)
		printf("the first %" PRIu64 " rows: --all shows the rest, LIMIT or WHERE fewer\n",
		       result->nr_rows);
	return err;
}

/* The names of the columns, also where no row has any. */
static int show_csv(const struct report_node *root)
{
	const struct report_node *rows = report_at(root, "rows");
	const char *sep = "";

	if (rows->nr)
		return report_csv(rows, stdout);
	for (const struct report_node *at = report_at(root, "columns")->first; at; at = at->next) {
		printf("%s%s", sep, at->text);
		sep = ",";
	}
	printf("\r\n");
	return 0;
}

static int show(const struct query_sql *q, const struct report_node *root,
                const struct sql_result *result, struct diag *d)
{
	struct json_writer w;
	int err;

	if (q->shape == QUERY_TABLE) {
		err = show_table(root, result);
	} else if (q->shape == QUERY_JSON) {
		jw_init(&w, stdout, true);
		report_json(&w, NULL, root);
		err = jw_finish(&w);
	} else if (q->shape == QUERY_JSONL) {
		err = report_jsonl(report_at(root, "rows"), stdout);
	} else {
		err = show_csv(root);
	}
	return cli_written(err, d);
}

int query_sql(const struct query_sql *q, const char *text, const struct source *s, struct diag *d)
{
	struct sql_query query = { .text = text,
		                   .max_rows = q->limit,
		                   .max_ns = MAX_NS,
		                   .max_memory = MAX_MEMORY,
		                   .shape = SQL_OBJECTS };
	SCOPED(scoped_report) struct report *r = report_new(REPORT_BYTES);
	struct sql_result result;
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	err = sql_run(s, &query, r, &result, d);
	if (err)
		return err;
	report_end_object(r);
	err = report_error(r);
	if (err)
		return diag_set(d, -E2BIG, "ask for less with --limit", "the answer is too large");
	return show(q, report_root(r), &result, d);
}
