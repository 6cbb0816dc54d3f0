#include "render/report_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/table.h"

#define VALUE_BYTES 192
#define MEM_BYTES   ((size_t)256 << 20)
#define NAME_WIDTH  30
#define BAR_WIDTH   40
#define MAX_INDENT  16
#define HIGH_BIT    (1ULL << 63)

struct text {
	const struct report_text_cfg *cfg;
	struct arena *mem;
	FILE *out;
};

/* A column: a key of the rows, or of an object in them. */
struct column {
	const char *outer; /* NULL = the row itself */
	const char *key;
};

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), tail = strlen(end);

	return len >= tail && !strcmp(s + len - tail, end);
}

static bool is_time_ns(const char *key)
{
	return key && ends_with(key, "_ns");
}

/* A moment of the trace is given whole, so that it can be asked for again. */
static bool is_moment(const char *key)
{
	return key && (ends_with(key, "timestamp") || ends_with(key, "_ts") ||
	               ends_with(key, "at_ns") || ends_with(key, "from_ns") ||
	               ends_with(key, "to_ns") || ends_with(key, "time_ns_abs"));
}

static char *show_u64(const struct report_node *node, char *buf, size_t size)
{
	if (node->is_id && node->u64 & HIGH_BIT)
		snprintf(buf, size, "0x%" PRIx64, node->u64);
	else if (!node->is_id && is_time_ns(node->key) && !is_moment(node->key))
		text_duration(buf, size, node->u64);
	else
		snprintf(buf, size, "%" PRIu64, node->u64);
	return buf;
}

char *report_text_value(const struct report_node *node, char *buf, size_t size)
{
	const char *unit =
		node->key && (ends_with(node->key, "percent") || ends_with(node->key, "_pct")) ? "%"
											       : "";

	switch (node->type) {
	case REPORT_NULL:
		snprintf(buf, size, "-");
		break;
	case REPORT_BOOL:
		snprintf(buf, size, "%s", node->b ? "yes" : "no");
		break;
	case REPORT_U64:
		return show_u64(node, buf, size);
	case REPORT_I64:
		snprintf(buf, size, "%" PRId64, node->i64);
		break;
	case REPORT_DOUBLE:
		snprintf(buf, size, "%.*f%s", node->decimals, node->f, unit);
		break;
	case REPORT_STRING:
		snprintf(buf, size, "%s", node->text);
		break;
	case REPORT_ARRAY:
		snprintf(buf, size, "[%u]", node->nr);
		break;
	case REPORT_OBJECT:
		snprintf(buf, size, "{%u}", node->nr);
		break;
	}
	return buf;
}

/* "top_utilized_cpus" -> "top utilized cpus", without units that the values show. */
static const char *title(struct text *t, const char *key, bool is_unit_shown)
{
	char *name = arena_strdup(t->mem, key);
	size_t len;

	if (!name)
		return key;
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = ' ';
	len = strlen(name);
	if (is_unit_shown && ends_with(name, " ns"))
		name[len - 3] = '\0';
	else if (is_unit_shown && ends_with(name, " percent"))
		memcpy(name + len - 8, " %", 3);
	return name;
}

static bool is_scalar(const struct report_node *node)
{
	return node->type != REPORT_ARRAY && node->type != REPORT_OBJECT;
}

static bool is_row_list(const struct report_node *node)
{
	return node->type == REPORT_ARRAY && node->first && node->first->type == REPORT_OBJECT;
}

/* Lists of plain values stand in one cell. */
static char *list_cell(struct text *t, const struct report_node *node)
{
	char *all = arena_printf(t->mem, "%s", "");
	char value[VALUE_BYTES];

	for (const struct report_node *at = node->first; at && all; at = at->next)
		all = arena_printf(t->mem, "%s%s%s", all, all[0] ? ", " : "",
		                   is_scalar(at) ? report_text_value(at, value, sizeof(value))
		                                 : "...");
	return all;
}

static const struct report_node *cell_of(const struct report_node *row, const struct column *c)
{
	const struct report_node *at = row;

	if (c->outer)
		at = report_at(row, c->outer);
	return at && at->type == REPORT_OBJECT ? report_at(at, c->key) : NULL;
}

/* The columns are what the first row has; rows inside rows are shown below, not as columns. */
static uint32_t find_columns(const struct report_node *first, struct column *cols)
{
	uint32_t nr = 0;

	for (const struct report_node *at = first->first; at; at = at->next) {
		if (at->type == REPORT_OBJECT) {
			for (const struct report_node *in = at->first; in && nr < TABLE_MAX_COLS;
			     in = in->next)
				if (is_scalar(in))
					cols[nr++] = (struct column){ at->key, in->key };
		} else if (!is_row_list(at) && nr < TABLE_MAX_COLS) {
			cols[nr++] = (struct column){ NULL, at->key };
		}
	}
	return nr;
}

static bool is_number(const struct report_node *node)
{
	return node && (node->type == REPORT_U64 || node->type == REPORT_I64 ||
	                node->type == REPORT_DOUBLE || node->type == REPORT_NULL);
}

static void add_column(struct text *t, struct table *table, const struct report_node *list,
                       const struct column *c)
{
	const struct report_node *sample = cell_of(list->first, c);
	bool has_unit = sample && sample->type != REPORT_NULL
	                        ? is_number(sample) && !is_moment(c->key)
	                        : true;
	const char *name = title(t, c->key, has_unit);

	if (c->outer && strcmp(c->outer, "fields")) /* of an event: the names say enough */
		name = arena_printf(t->mem, "%s %s", title(t, c->outer, false), name);
	if (is_number(sample))
		table_col_right(table, name ? name : "", 0);
	else
		table_col(table, name ? name : "", 0);
}

static double amount(const struct report_node *node)
{
	if (!node)
		return 0;
	return node->type == REPORT_U64      ? (double)node->u64
	       : node->type == REPORT_DOUBLE ? node->f
	                                     : 0;
}

static double largest_count(const struct report_node *list)
{
	double most = 0;

	for (const struct report_node *row = list->first; row; row = row->next) {
		double count = amount(report_at(row, "count"));

		most = count > most ? count : most;
	}
	return most;
}

static void add_bar(struct text *t, struct table *table, const struct report_node *row, double most)
{
	double count = amount(report_at(row, "count"));
	size_t len = most > 0 ? (size_t)(count / most * BAR_WIDTH + 0.5) : 0;
	char bar[BAR_WIDTH * 3 + 1] = "";

	if (count > 0 && len == 0)
		len = 1;
	for (size_t i = 0; i < len; i++)
		strcat(bar, t->cfg->is_utf8 ? "\u2588" : "#");
	table_cell(table, "%s", bar);
}

static void add_rows(struct text *t, struct table *table, const struct report_node *list,
                     const struct column *cols, uint32_t nr_cols, bool has_bars)
{
	double most = has_bars ? largest_count(list) : 0;
	char value[VALUE_BYTES];

	for (const struct report_node *row = list->first; row; row = row->next) {
		for (uint32_t i = 0; i < nr_cols; i++) {
			const struct report_node *cell = cell_of(row, &cols[i]);

			if (!cell)
				table_cell(table, "-");
			else if (cell->type == REPORT_ARRAY)
				table_cell(table, "%s", list_cell(t, cell));
			else
				table_cell(table, "%s",
				           report_text_value(cell, value, sizeof(value)));
		}
		if (has_bars)
			add_bar(t, table, row, most);
	}
}

static void name_hidden(struct text *t, const struct table *table, const char *indent)
{
	const char *sep = "";

	if (table->nr_shown == table->nr_cols)
		return;
	fprintf(t->out, "%s(no room for: ", indent);
	for (uint32_t i = table->nr_shown; i < table->nr_cols; i++, sep = ", ")
		fprintf(t->out, "%s%s", sep, table->cols[i].title);
	fprintf(t->out, "; --json has all)\n");
}

static int print_table(struct text *t, const struct report_node *list, const char *indent)
{
	bool has_bars = list->key && !strcmp(list->key, "histogram");
	struct column cols[TABLE_MAX_COLS];
	uint32_t nr = find_columns(list->first, cols);
	struct table table;
	int err;

	if (!nr)
		return 0;
	if (has_bars && nr == TABLE_MAX_COLS)
		nr--;
	table_init(&table, t->mem);
	for (uint32_t i = 0; i < nr; i++)
		add_column(t, &table, list, &cols[i]);
	if (has_bars)
		table_col(&table, "", 0);
	add_rows(t, &table, list, cols, nr, has_bars);
	if (t->cfg->width)
		table_fit(&table,
		          t->cfg->width > strlen(indent) ? t->cfg->width - strlen(indent) : 1);
	err = table_print(&table, 0, table_nr_rows(&table), indent, t->out);
	if (!err)
		name_hidden(t, &table, indent);
	return err;
}

static void print_scalar(struct text *t, const struct report_node *node, const char *indent)
{
	char value[VALUE_BYTES], clean[VALUE_BYTES];
	bool has_unit = is_number(node) && !is_moment(node->key);

	report_text_value(node, value, sizeof(value));
	fprintf(t->out, "%s%-*s %s\n", indent, NAME_WIDTH, title(t, node->key, has_unit),
	        text_printable(clean, sizeof(clean), value, sizeof(value)));
}

static int print_object(struct text *t, const struct report_node *node, int depth);

static int print_list(struct text *t, const struct report_node *node, const char *indent, int depth)
{
	char clean[VALUE_BYTES];
	char *all;

	if (is_row_list(node)) {
		fprintf(t->out, "\n%s%s:\n", indent, title(t, node->key, false));
		return print_table(t, node, depth < MAX_INDENT ? "  " : indent);
	}
	all = list_cell(t, node);
	if (!all)
		return -ENOMEM;
	fprintf(t->out, "%s%-*s %s\n", indent, NAME_WIDTH, title(t, node->key, false),
	        all[0] ? text_printable(clean, sizeof(clean), all, strlen(all)) : "none");
	return 0;
}

static int print_member(struct text *t, const struct report_node *node, const char *indent,
                        int depth)
{
	if (is_scalar(node)) {
		print_scalar(t, node, indent);
		return 0;
	}
	if (node->type == REPORT_ARRAY)
		return print_list(t, node, indent, depth);
	fprintf(t->out, "%s%s:\n", indent, title(t, node->key, false));
	return print_object(t, node, depth + 1);
}

/* Single values first, then what is large. */
static int print_object(struct text *t, const struct report_node *node, int depth)
{
	char indent[2 * MAX_INDENT + 1];
	int width = 2 * (depth < MAX_INDENT ? depth : MAX_INDENT), err = 0;

	memset(indent, ' ', (size_t)width);
	indent[width] = '\0';
	for (const struct report_node *at = node->first; at && !err; at = at->next)
		if (!is_row_list(at))
			err = print_member(t, at, indent, depth);
	for (const struct report_node *at = node->first; at && !err; at = at->next)
		if (is_row_list(at))
			err = print_member(t, at, indent, depth);
	return err;
}

int report_text(const struct report_node *root, const struct report_text_cfg *cfg, FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(MEM_BYTES);
	struct text t = { .cfg = cfg, .mem = mem, .out = out };
	int err;

	if (!mem)
		return -ENOMEM;
	err = print_object(&t, root, 0);
	if (!err && ferror(out))
		err = -EIO;
	return err;
}
