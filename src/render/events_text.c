#include "render/events_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/table.h"
#include "render/wrap.h"

#define MEM_BYTES   ((size_t)1 << 30)
#define VALUE_BYTES 1024 /* of one value; longer ones are cut */
#define SECOND_NS   UINT64_C(1000000000)

struct events {
	const struct report_text_cfg *cfg;
	struct table table;
	const char *keys[TABLE_MAX_COLS];
	FILE *out;
};

static uint64_t number_at(const struct report_node *root, const char *path)
{
	const struct report_node *at = report_at(root, path);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

/* Of single events a microsecond is too coarse: two may be in one. */
static void moment(const struct events *e, uint64_t ns, char buf[VALUE_BYTES])
{
	uint64_t start = e->cfg->clock.start_ns;

	if (e->cfg->clock.is_known && ns >= start)
		snprintf(buf, VALUE_BYTES, "%" PRIu64 ".%09" PRIu64 "s", (ns - start) / SECOND_NS,
		         (ns - start) % SECOND_NS);
	else
		snprintf(buf, VALUE_BYTES, "%" PRIu64, ns);
}

static const char *value_text(const struct events *e, const struct report_node *node,
                              char buf[VALUE_BYTES])
{
	if (node && node->type == REPORT_U64 && strcmp(node->key, "timestamp") == 0)
		moment(e, node->u64, buf);
	else if (node && node->type == REPORT_STRING)
		text_printable(buf, VALUE_BYTES, node->text, strlen(node->text));
	else if (node && node->type == REPORT_U64)
		snprintf(buf, VALUE_BYTES, "%" PRIu64, node->u64);
	else if (node && node->type == REPORT_I64)
		snprintf(buf, VALUE_BYTES, "%" PRId64, node->i64);
	else if (node && node->type == REPORT_DOUBLE)
		snprintf(buf, VALUE_BYTES, "%.*f", node->decimals, node->f);
	else if (node && node->type == REPORT_BOOL)
		snprintf(buf, VALUE_BYTES, "%s", node->b ? "yes" : "no");
	else
		snprintf(buf, VALUE_BYTES, "-");
	return buf;
}

/* The type that all of them have; NULL: there are several, or only some fields were asked for. */
static const char *common_type(const struct report_node *rows)
{
	const char *type = NULL;

	for (const struct report_node *row = rows->first; row; row = row->next) {
		const char *one = report_text_at(row, "event_type");

		if (!one || (type && strcmp(one, type) != 0))
			return NULL;
		type = one;
	}
	return type;
}

static bool is_mixed(const struct report_node *rows)
{
	return rows->first && report_text_at(rows->first, "event_type") && !common_type(rows);
}

static const struct report_node *member(const struct report_node *row, const char *key)
{
	const struct report_node *fields = report_at(row, "fields");
	const struct report_node *at = fields ? report_at(fields, key) : NULL;

	return at ? at : report_at(row, key);
}

static bool has_key(const struct events *e, const char *key)
{
	for (uint32_t i = 0; i < e->table.nr_cols; i++)
		if (strcmp(e->keys[i], key) == 0)
			return true;
	return false;
}

/* A text if any row has one: a column of numbers may be unknown in some. */
static bool is_text_column(const struct report_node *rows, const char *key)
{
	for (const struct report_node *row = rows->first; row; row = row->next) {
		const struct report_node *at = member(row, key);

		if (at && at->type != REPORT_NULL)
			return at->type == REPORT_STRING;
	}
	return false;
}

static void add_column(struct events *e, const struct report_node *rows, const char *key)
{
	if (e->table.nr_cols == TABLE_MAX_COLS || has_key(e, key))
		return;
	e->keys[e->table.nr_cols] = key;
	if (is_text_column(rows, key))
		table_col(&e->table, key, 0);
	else
		table_col_right(&e->table, key, 0);
}

static bool ends_in_pid(const struct report_node *fields)
{
	for (const struct report_node *at = fields->first; at; at = at->next) {
		size_t len = strlen(at->key);

		if (len >= 3 && strcmp(at->key + len - 3, "pid") == 0)
			return true;
	}
	return false;
}

/* The type is in the sentence above, and the task of the event often among its fields. */
static void find_columns(struct events *e, const struct report_node *rows)
{
	for (const struct report_node *row = rows->first; row; row = row->next) {
		const struct report_node *fields = report_at(row, "fields");

		for (const struct report_node *at = row->first; at; at = at->next)
			if (at->type != REPORT_OBJECT &&
			    !(fields && strcmp(at->key, "event_type") == 0) &&
			    !(fields && strcmp(at->key, "pid") == 0 && ends_in_pid(fields)))
				add_column(e, rows, at->key);
		for (const struct report_node *at = fields ? fields->first : NULL; at;
		     at = at->next)
			add_column(e, rows, at->key);
	}
}

static int print_table(struct events *e)
{
	size_t width = e->cfg->width;
	uint32_t hidden;
	int err;

	if (width)
		table_fit(&e->table, width);
	err = table_print(&e->table, 0, table_nr_rows(&e->table), "", e->out);
	hidden = e->table.nr_cols - e->table.nr_shown;
	if (!err && hidden) {
		fprintf(e->out, "%s\nno room for", wrap_on(WRAP_ASIDE, e->cfg->is_colored));
		for (uint32_t i = e->table.nr_shown; i < e->table.nr_cols; i++)
			fprintf(e->out, "%s %s", i > e->table.nr_shown ? "," : "", e->keys[i]);
		fprintf(e->out, "; --select chooses%s\n", wrap_off(e->cfg->is_colored));
	}
	return err;
}

static int print_rows(struct events *e, const struct report_node *rows)
{
	char value[VALUE_BYTES];

	find_columns(e, rows);
	for (const struct report_node *row = rows->first; row; row = row->next)
		for (uint32_t i = 0; i < e->table.nr_cols; i++)
			table_cell(&e->table, "%s", value_text(e, member(row, e->keys[i]), value));
	return print_table(e);
}

/* A blank or an empty text in quotes, so that words stay words. */
static void put_word(const struct events *e, const struct report_node *node)
{
	char value[VALUE_BYTES];

	value_text(e, node, value);
	if (node->type == REPORT_STRING && (!*value || strchr(value, ' ')))
		fprintf(e->out, "\"%s\"", value);
	else
		fputs(node->type == REPORT_NULL ? "" : value, e->out);
}

static void print_mixed(const struct events *e, const struct report_node *rows)
{
	char time[VALUE_BYTES], type[VALUE_BYTES];

	fprintf(e->out, "%14s %3s event and its fields\n", "timestamp", "cpu");
	for (const struct report_node *row = rows->first; row; row = row->next) {
		const struct report_node *fields = report_at(row, "fields");

		fprintf(e->out, "%14s %3" PRIu64 " %s",
		        value_text(e, report_at(row, "timestamp"), time), number_at(row, "cpu"),
		        value_text(e, report_at(row, "event_type"), type));
		for (const struct report_node *f = fields ? fields->first : NULL; f; f = f->next) {
			fprintf(e->out, " %s=", f->key);
			put_word(e, f);
		}
		fputc('\n', e->out);
	}
}

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static void put_sentence(const struct events *e, const char *text)
{
	fputs(wrap_on(WRAP_ANSWER, e->cfg->is_colored), e->out);
	wrap_print(e->out, "", text, e->cfg->width);
	fputs(wrap_off(e->cfg->is_colored), e->out);
}

static int print_events(struct events *e, const struct report_node *root,
                        const struct report_node *rows)
{
	uint64_t total = number_at(root, "total_matched"), offset = number_at(root, "offset");
	uint64_t shown = number_at(root, "returned_count");
	const char *type = common_type(rows);
	char text[256];
	size_t len = (size_t)snprintf(text, sizeof(text), "%" PRIu64 " event%s", total,
	                              plural(total));

	if (offset && shown)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        ", of which these are %" PRIu64 " to %" PRIu64, offset + 1,
		                        offset + shown);
	else if (shown && shown < total)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        ", of which these are the first %" PRIu64
		                        " (--all shows all)",
		                        shown);
	if (type)
		snprintf(text + len, sizeof(text) - len, ": %s", type);
	put_sentence(e, text);
	if (!rows->first)
		return 0;
	fputc('\n', e->out);
	if (!is_mixed(rows))
		return print_rows(e, rows);
	print_mixed(e, rows);
	return 0;
}

/* "p99 of prio" */
static const char *function_text(const struct report_node *sum, char *buf, size_t size)
{
	const char *field = report_text_at(sum, "field"), *fn = report_text_at(sum, "function");

	snprintf(buf, size, "%s%s%s", fn ? fn : "", field ? " of " : "", field ? field : "");
	return buf;
}

static void print_sum(const struct events *e, const struct report_node *sum, uint64_t total)
{
	char fn[128], value[VALUE_BYTES], text[2 * VALUE_BYTES];

	if (report_text_at(sum, "field"))
		snprintf(text, sizeof(text), "%s: %s, of %" PRIu64 " event%s",
		         function_text(sum, fn, sizeof(fn)),
		         value_text(e, report_at(sum, "result"), value), total, plural(total));
	else
		snprintf(text, sizeof(text), "%" PRIu64 " event%s", total, plural(total));
	put_sentence(e, text);
}

static int print_groups(struct events *e, const struct report_node *sum, uint64_t total)
{
	const struct report_node *groups = report_at(sum, "groups");
	uint64_t nr = number_at(sum, "total_groups");
	const char *by = report_text_at(sum, "group_by");
	bool has_result = groups->first && report_at(groups->first, "result");
	char fn[128], value[VALUE_BYTES], text[256];
	size_t len = (size_t)snprintf(text, sizeof(text),
	                              "%" PRIu64 " event%s, %" PRIu64
	                              " different %s, the most frequent first",
	                              total, plural(total), nr, by);

	if (groups->nr && groups->nr < nr)
		snprintf(text + len, sizeof(text) - len, "; these are %u (--all shows all)",
		         groups->nr);
	put_sentence(e, text);
	if (!groups->first)
		return 0;
	fputc('\n', e->out);
	table_col(&e->table, by, 0);
	table_col_right(&e->table, "count", 0);
	if (has_result)
		table_col_right(&e->table, function_text(sum, fn, sizeof(fn)), 0);
	for (const struct report_node *row = groups->first; row; row = row->next) {
		table_cell(&e->table, "%s", value_text(e, report_at(row, "value"), value));
		table_u64(&e->table, number_at(row, "count"));
		if (has_result)
			table_cell(&e->table, "%s", value_text(e, report_at(row, "result"), value));
	}
	return table_print(&e->table, 0, table_nr_rows(&e->table), "", e->out);
}

int events_text(const struct report_node *root, const struct report_text_cfg *cfg, FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(MEM_BYTES);
	struct events e = { .cfg = cfg, .out = out };
	const struct report_node *rows = report_at(root, "events");
	const struct report_node *sum = report_at(root, "aggregation");
	const char *incomplete = report_text_at(root, "incomplete");
	uint64_t total = number_at(root, "total_matched");
	char clean[VALUE_BYTES];
	int err = 0;

	if (!mem)
		return -ENOMEM;
	table_init(&e.table, mem);
	if (rows)
		err = print_events(&e, root, rows);
	else if (sum && report_at(sum, "groups"))
		err = print_groups(&e, sum, total);
	else if (sum)
		print_sum(&e, sum, total);
	if (!err && incomplete) {
		fputc('\n', out);
		wrap_print(out,
		           "note: ", text_printable(clean, sizeof(clean), incomplete, SIZE_MAX),
		           cfg->width);
	}
	return err ? err : fflush(out) || ferror(out) ? -EIO : 0;
}
